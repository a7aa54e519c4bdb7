"""Merge several GraphDefs, each under its own prefix, as TensorBoard's server does, without its mistakes.

TensorBoard turns `^x` into `graph_1/^x`, which is no control input any more, and renames a function only where a
PartitionedCall names it. Here every reference follows its target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.notice import Notice
from graphviz_tb.proto import AttrValue, FunctionDef, GraphDef, NodeDef


def merge_graph_defs(graphs: Sequence[GraphDef], numbers: Sequence[int] = ()) -> tuple[GraphDef, tuple[Notice, ...]]:
    """Merge graphs: nodes go under `graph_1/`, functions get the prefix `graph_1_`. A single graph stays as it is.

    `numbers` replace the counting from 1. Returns the graph and notices.

    >>> one, two = (GraphDef(node=[NodeDef(name="x"), NodeDef(name="y", input=["^x"])]) for _ in range(2))
    >>> [(node.name, *node.input) for node in merge_graph_defs([one, two])[0].node][2:]
    [('graph_2/x',), ('graph_2/y', '^graph_2/x')]
    """
    if len(graphs) == 1:
        return graphs[0], ()
    merged = GraphDef()
    if graphs and graphs[0].HasField("versions"):
        merged.versions.CopyFrom(graphs[0].versions)
    for number, graph in zip(numbers or range(1, len(graphs) + 1), graphs, strict=True):
        add_prefixed_graph(merged, graph, f"graph_{number}")
    return merged, mixed_versions_notice(graphs)


def mixed_versions_notice(graphs: Sequence[GraphDef]) -> tuple[Notice, ...]:
    producers = {graph.versions.producer for graph in graphs}
    if len(producers) < 2:
        return ()
    versions = ", ".join(map(str, sorted(producers)))
    return (Notice("mixed-versions", f"the merged graphs are of different versions: {versions}"),)


def add_prefixed_graph(merged: GraphDef, graph: GraphDef, prefix: str) -> None:
    # Functions have no scopes: the prefix becomes part of the name.
    names = {function.signature.name: f"{prefix}_{function.signature.name}" for function in graph.library.function}
    for node in graph.node:
        made = merged.node.add()
        made.CopyFrom(node)
        made.name = f"{prefix}/{node.name}"
        made.input[:] = [prefix_input(each, prefix) for each in node.input]
        rename_function_references(made, names)
        prefix_colocation(made, prefix)
    for function in graph.library.function:
        copy = merged.library.function.add()
        copy.CopyFrom(function)
        rename_merged_function(copy, names)
    for gradient in graph.library.gradient:
        merged.library.gradient.add(
            function_name=names.get(gradient.function_name, f"{prefix}_{gradient.function_name}"),
            gradient_func=names.get(gradient.gradient_func, f"{prefix}_{gradient.gradient_func}"),
        )
    for registered in graph.library.registered_gradients:
        merged.library.registered_gradients.add(
            gradient_func=names.get(registered.gradient_func, registered.gradient_func),
            registered_op_type=registered.registered_op_type,
        )


def prefix_input(name: str, prefix: str) -> str:
    return f"^{prefix}/{name[1:]}" if name.startswith("^") else f"{prefix}/{name}"


def rename_merged_function(function: FunctionDef, names: Mapping[str, str]) -> None:
    function.signature.name = names[function.signature.name]
    for node in function.node_def:
        rename_function_references(node, names)
    # "forward_function_name", "backward_function_name": references between the halves of a gradient.
    for key, value in function.attr.items():
        if key.endswith("_function_name") and value.s.decode("utf-8", "replace") in names:
            value.s = names[value.s.decode()].encode()


def rename_function_references(node: NodeDef, names: Mapping[str, str]) -> None:
    if not names:
        return
    if node.op in names:
        node.op = names[node.op]
    waiting: list[AttrValue] = list(node.attr.values())
    while waiting:
        value = waiting.pop()
        which = value.WhichOneof("value")
        functions = [value.func] if which == "func" else list(value.list.func) if which == "list" else []
        for function in functions:
            function.name = names.get(function.name, function.name)
            waiting += function.attr.values()


def prefix_colocation(node: NodeDef, prefix: str) -> None:
    """Rename nodes in `_class: "loc:@x"`."""
    if COLOCATION_ATTR in node.attr:
        places = node.attr[COLOCATION_ATTR].list.s
        # each[5:] follows "loc:@".
        places[:] = [
            b"loc:@" + prefix.encode() + b"/" + each[5:] if each.startswith(b"loc:@") else each for each in places
        ]
