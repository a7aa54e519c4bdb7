"""List the nodes of the main graph and of all functions as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphviz_tb.algorithms.node_columns import NodeColumns, append_graph_nodes
from graphviz_tb.errors import DuplicateNode
from graphviz_tb.model.notice import Notice

if TYPE_CHECKING:
    from graphviz_tb.model.loaded import GraphSource


def list_nodes(graph: GraphSource) -> NodeColumns:
    """List the nodes of the main graph and of every function body, arguments before bodies."""
    read: NodeColumns | None = getattr(graph, "columns", None)  # columns that the reader made already
    if read is not None:
        return read
    nodes = NodeColumns()
    append_graph_nodes(nodes, graph.node)
    for function in graph.library.function:
        append_graph_nodes(nodes, function.node_def, [arg.name for arg in function.signature.input_arg])
    return nodes


def find_duplicates(nodes: NodeColumns, graph: GraphSource, strict: bool) -> Iterator[Notice]:
    """Yield a notice for each graph or function with duplicate names. Raises DuplicateNode if `strict`."""
    for block, index in enumerate(nodes.index):
        names = nodes.name[nodes.starts[block] : nodes.starts[block + 1]]
        if len(index) < len(names):
            function = graph.library.function[block - 1].signature.name if block else ""
            yield duplicate_notice(names, strict, f" in function {function!r}" if function else "")


def duplicate_notice(names: Sequence[str], strict: bool, where: str) -> Notice:
    """Return the notice for duplicate names. Raises DuplicateNode if `strict`."""
    # Reversed, so that the first position of a name wins.
    first = {name: position for position, name in reversed(list(enumerate(names)))}
    twice = [name for position, name in enumerate(names) if first[name] < position]
    message = f"node {twice[0]!r}{where} is defined more than once; inputs go to its last definition"
    if strict:
        raise DuplicateNode(message, hint="leave out --strict to draw all definitions")
    return Notice("duplicate-node", message, twice[0], len(twice))
