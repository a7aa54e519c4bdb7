"""MetaGraphDefs, one (.meta) or several (SavedModel): their signatures, and the graph of one signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.formats.contents import NO_SIGNATURE_MESSAGE, GraphContent, SourceContents, SourceItem
from graphviz_tb.formats.object_graph import captured_variables
from graphviz_tb.formats.protobuf import BYTES_TYPE, CutError, wire_fields
from graphviz_tb.limits import MAX_COMPARED_SIGNATURES
from graphviz_tb.model.graph import TRAINABLE_ATTR
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import Signature, SourceEntry, TensorSpec
from graphviz_tb.ops.roles import VARIABLE_OPS
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import CollectionDef, GraphDef, MetaGraphDef, TensorInfo, TensorShapeProto
from graphviz_tb.unwrap.signatures import (
    MetaGraphProgram,
    add_function_calls,
    count_unneeded_ops,
    signature_body,
    signature_body_size,
    signature_dtype_name,
)

SERVING_SIGNATURE = "serving_default"  # the signature that TensorFlow Serving calls
BUILT_IN_SIGNATURES = ("__saved_model_init_op", "__saved_model_train_op")  # entries that are not signatures
TRAINABLE_COLLECTION = "trainable_variables"  # tf.compat.v1.GraphKeys
VARIABLE_COLLECTIONS = ("variables", "global_variables", "model_variables", "local_variables", TRAINABLE_COLLECTION)
VARIABLE_NAME_FIELD = 1  # VariableDef of TensorFlow's variable.proto


def contents_of_meta_graphs(
    graphs: list[MetaGraphDef],
    format: str,
    sizes: list[int],
    notices: tuple[Notice, ...],
    name: str,
    options: ReadOptions,
) -> SourceContents:
    """Return an item for each tag set of decoded MetaGraphDefs: the first one with it, as TensorFlow loads it."""
    found = []
    tag_set_counts = Counter(frozenset(graph.meta_info_def.tags) for graph in graphs)
    for graph, size in zip(graphs, sizes, strict=True):
        if not (count := tag_set_counts.pop(frozenset(graph.meta_info_def.tags), 0)):
            continue
        whole, signatures = _graph_and_signatures(graph)
        tags = ",".join(graph.meta_info_def.tags)
        entry = SourceEntry("op", tag_set=tags or None, bytes=size, format=format, signatures=signatures)
        graph_notices = (*notices, *_same_tag_set_notices(tags, count - 1))
        found.append(SourceItem(entry, partial(_signature_content, graph, whole, signatures, graph_notices, options)))
    return SourceContents(tuple(found), what=name)


def _same_tag_set_notices(tags: str, more: int) -> tuple[Notice, ...]:
    """Return a notice if `more` graphs of a file share the tags of the one that is read.

    >>> [notice.message for notice in _same_tag_set_notices("serve", 1)]
    ["the first graph with the tag set 'serve' is read, as TensorFlow does; 1 more has the same"]
    """
    if not more:
        return ()
    said = f"the first graph with the tag set {tags!r} is read, as TensorFlow does"
    return (Notice("same-tag-set", f"{said}; {more:,} more {'has' if more == 1 else 'have'} the same", count=more),)


def _graph_and_signatures(graph: MetaGraphDef) -> tuple[GraphDef, tuple[Signature, ...]]:
    """Return the graph and its signatures; without any, add calls of the functions of the program's objects."""
    signatures = _list_signatures(graph)
    if signatures or not graph.graph_def.library.function:
        return graph.graph_def, signatures
    return add_function_calls(graph.graph_def, captured_variables(graph.object_graph_def.SerializeToString()))


def _signature_content(
    graph: MetaGraphDef,
    whole: GraphDef,
    signatures: tuple[Signature, ...],
    notices: tuple[Notice, ...],
    options: ReadOptions,
) -> GraphContent:
    """Return the graph of a signature; that of the whole file on request, or if there is nothing to call."""
    mark_trained(graph)
    program = MetaGraphProgram(whole)
    chosen = _choose_signature(program, signatures, options)
    if chosen is None:
        return GraphContent(graph.graph_def, notices, signatures)
    captured = captured_variables(graph.object_graph_def.SerializeToString())
    body = signature_body(program, chosen, captured, graph.meta_info_def.stripped_op_list.op)
    return GraphContent(body, notices, signatures, chosen.name, count_unneeded_ops(program, signatures))


def _choose_signature(
    program: MetaGraphProgram, signatures: tuple[Signature, ...], options: ReadOptions
) -> Signature | None:
    """Return the requested signature, else `serving_default`, else the one with the largest body; None for the whole
    file. Raises RequestError for an unknown signature."""
    by_name = {signature.name: signature for signature in signatures}
    if options.signature is not None and not by_name:
        raise RequestError(NO_SIGNATURE_MESSAGE)
    if options.signature is not None and options.signature not in by_name:
        raise UnknownChoice.among("signature", options.signature, list(by_name))
    if options.signature is not None:
        return by_name[options.signature]
    # A signature without outputs has nothing to draw.
    drawable = [signature for signature in signatures if signature.outputs]
    if options.whole_file or not drawable:
        return None
    if SERVING_SIGNATURE in by_name:
        return by_name[SERVING_SIGNATURE]
    sizes: list[int] = []
    for signature in drawable[:MAX_COMPARED_SIGNATURES]:
        if not program.walk_budget_spent:
            sizes.append(signature_body_size(program, signature))
    return drawable[sizes.index(max(sizes))]


def _list_signatures(graph: MetaGraphDef) -> tuple[Signature, ...]:
    """Return the signatures sorted by name, their tensors by key."""
    return tuple(
        Signature(name, made.method_name, _tensor_specs(made.inputs), _tensor_specs(made.outputs))
        for name, made in sorted(graph.signature_def.items())
        if name not in BUILT_IN_SIGNATURES
    )


def _tensor_specs(tensors: Mapping[str, TensorInfo]) -> tuple[TensorSpec, ...]:
    return tuple(_tensor_spec(key, tensors[key]) for key in sorted(tensors))


def _tensor_spec(key: str, info: TensorInfo) -> TensorSpec:
    # A sparse tensor has three parts; the values carry the data.
    tensor = info.name or info.coo_sparse.values_tensor_name
    return TensorSpec(key, tensor, signature_dtype_name(info.dtype), _spec_shape(info.tensor_shape))


def _spec_shape(shape: TensorShapeProto) -> tuple[int, ...] | None:
    return None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)


# Collections: which variables a program trains, as `tf.train.Saver` of TensorFlow 1 writes it.


def mark_trained(graph: MetaGraphDef) -> None:
    """Write on the variables of a graph that was just decoded whether its collections list them as trained; nothing is
    written where no collection does."""
    if TRAINABLE_COLLECTION not in graph.collection_def:
        return
    trained = set(_listed_names(graph.collection_def[TRAINABLE_COLLECTION]))
    known = {
        name
        for key in VARIABLE_COLLECTIONS
        if key in graph.collection_def
        for name in _listed_names(graph.collection_def[key])
    }
    for node in graph.graph_def.node if trained else ():
        if node.op in VARIABLE_OPS and node.name in known:
            node.attr[TRAINABLE_ATTR].b = node.name in trained


def _listed_names(collection: CollectionDef) -> Iterator[str]:
    for value in collection.bytes_list.value:
        try:
            for piece in wire_fields(value):
                if piece.number == VARIABLE_NAME_FIELD and piece.wire == BYTES_TYPE:
                    yield value[piece.first : piece.last].decode().removesuffix(":0")
        except (CutError, UnicodeDecodeError):
            continue  # of another kind than variables
