"""MetaGraphDefs, one (.meta) or several (SavedModel): their signatures, and the graph of one signature."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.limits import SIGNATURES_COMPARED
from graphviz_tb.model.loaded import Entry, Signature, TensorSpec
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, TensorInfo, TensorShapeProto
from graphviz_tb.read.bare_functions import with_calls
from graphviz_tb.read.body import Program, body_of, bookkeeping, size_of_body
from graphviz_tb.read.callables import NO_SIGNATURE
from graphviz_tb.read.holding import Content, Holding, SourceItem
from graphviz_tb.read.objects import captured_names
from graphviz_tb.read.type_names import dtype_name

SERVING = "serving_default"  # the signature that TensorFlow Serving calls
BUILT_IN = ("__saved_model_init_op", "__saved_model_train_op")  # entries that are not signatures
FILES = ("saved_model.pb", "saved_model.pbtxt")  # in a SavedModel folder


def model_file(folder: Path) -> Path | None:
    """Return the model file of a SavedModel folder; None if it has none, or cannot be entered."""
    # Unlike Path.is_file, this does not raise if the folder may not be entered.
    return next((folder / name for name in FILES if os.path.isfile(folder / name)), None)  # noqa: PTH113


def of_meta_graphs(
    graphs: list[MetaGraphDef],
    format: str,
    sizes: list[int],
    notices: tuple[Notice, ...],
    name: str,
    options: ReadOptions,
) -> Holding:
    """Return an item for each tag set of decoded MetaGraphDefs: the first one with it, as TensorFlow loads it."""
    found = []
    alike = Counter(frozenset(graph.meta_info_def.tags) for graph in graphs)
    for graph, size in zip(graphs, sizes, strict=True):
        if not (count := alike.pop(frozenset(graph.meta_info_def.tags), 0)):
            continue
        whole, signatures = asked_for(graph)
        tags = ",".join(graph.meta_info_def.tags)
        entry = Entry("op", tag_set=tags or None, bytes=size, format=format, signatures=signatures)
        told = (*notices, *same_tags(tags, count - 1))
        found.append(SourceItem(entry, partial(_content, graph, whole, signatures, told, options)))
    return Holding(tuple(found), what=name)


def same_tags(tags: str, more: int) -> tuple[Notice, ...]:
    """Return a notice if `more` graphs of a file share the tags of the one that is read.

    >>> [notice.message for notice in same_tags("serve", 1)]
    ["the first graph with the tag set 'serve' is read, as TensorFlow does; 1 more has the same"]
    """
    if not more:
        return ()
    said = f"the first graph with the tag set {tags!r} is read, as TensorFlow does"
    return (Notice("same-tag-set", f"{said}; {more:,} more {'has' if more == 1 else 'have'} the same", count=more),)


def asked_for(graph: MetaGraphDef) -> tuple[GraphDef, tuple[Signature, ...]]:
    """Return the graph and its signatures; without any, add calls of the functions of the program's objects."""
    signatures = signatures_of(graph)
    if signatures or not graph.graph_def.library.function:
        return graph.graph_def, signatures
    return with_calls(graph.graph_def, captured_names(graph.object_graph_def.SerializeToString()))


def _content(
    graph: MetaGraphDef,
    whole: GraphDef,
    signatures: tuple[Signature, ...],
    notices: tuple[Notice, ...],
    options: ReadOptions,
) -> Content:
    """Return the graph of a signature; the whole graph if that is requested, or no signature has outputs."""
    program = Program(whole)
    chosen = chosen_signature(program, signatures, options)
    if chosen is None:
        return Content(graph.graph_def, notices, signatures)
    captured = captured_names(graph.object_graph_def.SerializeToString())
    body = body_of(program, chosen, captured, graph.meta_info_def.stripped_op_list.op)
    return Content(body, notices, signatures, chosen.name, bookkeeping(program, signatures))


def chosen_signature(program: Program, signatures: tuple[Signature, ...], options: ReadOptions) -> Signature | None:
    """Return the requested signature, else `serving_default`, else the one with the largest body; None for the whole
    file. Raises RequestError for an unknown signature."""
    named = {signature.name: signature for signature in signatures}
    if options.signature is not None and not named:
        raise RequestError(NO_SIGNATURE)
    if options.signature is not None and options.signature not in named:
        raise UnknownChoice.among("signature", options.signature, list(named))
    if options.signature is not None:
        return named[options.signature]
    # A signature without outputs has nothing to draw.
    alive = [signature for signature in signatures if signature.outputs]
    if options.whole_file or not alive:
        return None
    if SERVING in named:
        return named[SERVING]
    sizes: list[int] = []
    for signature in alive[:SIGNATURES_COMPARED]:
        if not program.tired:
            sizes.append(size_of_body(program, signature))
    return alive[sizes.index(max(sizes))]


def signatures_of(graph: MetaGraphDef) -> tuple[Signature, ...]:
    """Return the signatures sorted by name, their tensors by key."""
    return tuple(
        Signature(name, made.method_name, _specs(made.inputs), _specs(made.outputs))
        for name, made in sorted(graph.signature_def.items())
        if name not in BUILT_IN
    )


def _specs(tensors: Mapping[str, TensorInfo]) -> tuple[TensorSpec, ...]:
    return tuple(_spec(key, tensors[key]) for key in sorted(tensors))


def _spec(key: str, info: TensorInfo) -> TensorSpec:
    # A sparse tensor has three parts; the values carry the data.
    tensor = info.name or info.coo_sparse.values_tensor_name
    return TensorSpec(key, tensor, dtype_name(info.dtype), _shape(info.tensor_shape))


def _shape(shape: TensorShapeProto) -> tuple[int, ...] | None:
    return None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
