"""MetaGraphDefs, alone (.meta) or several in a SavedModel: their graphs and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.loaded import Entry, Signature, TensorSpec
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import DataType, GraphDef, MetaGraphDef, TensorInfo, TensorShapeProto
from graphviz_tb.read.holding import Content, Found, Holding

FILES = ("saved_model.pb", "saved_model.pbtxt")  # in a SavedModel folder


def model_file(folder: Path) -> Path | None:
    """The file that makes a folder a SavedModel."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def of_meta_graphs(
    graphs: list[MetaGraphDef],
    format: str,
    sizes: list[int],
    notices: tuple[Notice, ...],
    name: str,
    options: ReadOptions,
) -> Holding:
    """Before: decoded MetaGraphDefs. After: one entry for each, under its tag set."""
    found = []
    for graph, size in zip(graphs, sizes, strict=True):
        signatures = signatures_of(graph)
        tags = ",".join(graph.meta_info_def.tags)
        entry = Entry("op", tag_set=tags or None, bytes=size, format=format, signatures=signatures)
        found.append(Found(entry, partial(_content, graph, signatures, notices, options)))
    return Holding(tuple(found), what=name)


def _content(
    graph: MetaGraphDef, signatures: tuple[Signature, ...], notices: tuple[Notice, ...], options: ReadOptions
) -> Content:
    whole = graph.graph_def
    if options.signature is None:
        return Content(whole, notices, signatures)
    chosen = [signature for signature in signatures if signature.name == options.signature]
    if not chosen:
        raise UnknownChoice.among("signature", options.signature, [each.name for each in signatures])
    return Content(needed_by(whole, chosen[0]), notices, tuple(chosen))


def signatures_of(graph: MetaGraphDef) -> tuple[Signature, ...]:
    """The signatures by name; tensors in the order of their keys."""
    return tuple(
        Signature(name, made.method_name, _specs(made.inputs), _specs(made.outputs))
        for name, made in sorted(graph.signature_def.items())
        if name != "__saved_model_init_op"
    )


def _specs(tensors: Mapping[str, TensorInfo]) -> tuple[TensorSpec, ...]:
    return tuple(_spec(key, tensors[key]) for key in sorted(tensors))


def _spec(key: str, info: TensorInfo) -> TensorSpec:
    tensor = info.name or info.coo_sparse.values_tensor_name
    return TensorSpec(key, tensor, dtype_name(info.dtype), _shape(info.tensor_shape))


def dtype_name(number: int) -> str:
    """The name of a type as it is spoken: float32's is "float".

    >>> dtype_name(1), dtype_name(9), dtype_name(777)
    ('float', 'int64', 'type 777')
    """
    try:
        return DataType.Name(number).removeprefix("DT_").lower()
    except ValueError:
        return f"type {number}"


def _shape(shape: TensorShapeProto) -> tuple[int, ...] | None:
    return None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)


def needed_by(graph: GraphDef, signature: Signature) -> GraphDef:
    """Before: a whole graph. After: what the outputs of a signature need, its inputs, and the library."""
    by_name = {node.name: node for node in graph.node}
    waiting = [_node_of(spec.tensor) for spec in (*signature.inputs, *signature.outputs)]
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in kept or name not in by_name:
            continue
        kept.add(name)
        waiting += [_node_of(each) for each in by_name[name].input]
    made = GraphDef(versions=graph.versions, library=graph.library)
    made.node.extend(node for node in graph.node if node.name in kept)
    return made


def _node_of(tensor: str) -> str:
    """The node of an input string: "^x", "x:1" and "x" are all x."""
    name = tensor.removeprefix("^")
    head, colon, number = name.rpartition(":")
    return head if colon and number.isdigit() else name
