"""Build the columns of a flat graph: list the nodes of the main graph and of all functions, then freeze them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.errors import DuplicateNode
from graphviz_tb.flatten.edges import EdgeColumns
from graphviz_tb.flatten.tensorboard import EmbeddedMarks
from graphviz_tb.graphs.node_columns import NodeColumns, append_graph_nodes
from graphviz_tb.model.columns import freeze_array, int32_column
from graphviz_tb.model.graph import Call, Function, Graph, MarkPairs
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice

if TYPE_CHECKING:
    from graphviz_tb.model.sources import GraphSource


# List the nodes of the main graph and of all functions as columns.


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
            yield _duplicate_notice(names, strict, f" in function {function!r}" if function else "")


def _duplicate_notice(names: Sequence[str], strict: bool, where: str) -> Notice:
    """Return the notice for duplicate names. Raises DuplicateNode if `strict`."""
    # Reversed, so that the first position of a name wins.
    first = {name: position for position, name in reversed(list(enumerate(names)))}
    twice = [name for position, name in enumerate(names) if first[name] < position]
    message = f"node {twice[0]!r}{where} is defined more than once; inputs go to its last definition"
    if strict:
        raise DuplicateNode(message, hint="leave out --strict to draw all definitions")
    return Notice("duplicate-node", message, twice[0], len(twice))


# The last step of flatten: plain lists become frozen columns.


def build_graph(
    graph_def: GraphSource,
    nodes: NodeColumns,
    edges: EdgeColumns,
    functions: tuple[Function, ...],
    calls: tuple[Call, ...],
    layers: Mapping[str, Layer],
    embedded: EmbeddedMarks | None,
) -> Graph:
    """Freeze all columns into a `Graph`; only TensorBoard's preset has marks at this point."""
    none = np.zeros(0, np.int32)
    mark, kept, beside = (
        np.zeros(len(nodes), np.uint8),
        np.ones(len(nodes), bool),
        MarkPairs(none, none, none > 0, none),
    )
    if embedded:
        mark, kept, beside, edges = embedded.mark, embedded.kept, embedded.beside, embedded.edges
    for column in (edges.source, edges.target, edges.key, edges.slot, edges.control, edges.reference):
        freeze_array(column)
    return Graph(
        name=nodes.name,
        op=nodes.op_id,
        op_types=nodes.op_types,
        device=int32_column(np.array(nodes.device, np.int32)),
        devices=tuple(nodes.device_numbers),
        function=nodes.function_column(),
        mark=freeze_array(mark),
        definition=freeze_array(np.concatenate(nodes.definition)),
        kept=freeze_array(kept),
        source=edges.source,
        target=edges.target,
        key=edges.key,
        # Append outputs that only results of functions name; the numbers that edges use do not change.
        keys=tuple(dict.fromkeys((*edges.keys, *(key for each in functions for _, key in each.returns)))),
        slot=edges.slot,
        control=edges.control,
        reference=edges.reference,
        functions=functions,
        calls=calls,
        beside=beside,
        within={},
        graph_def=graph_def,
        index=tuple(nodes.index),
        layers=layers,
        notices=edges.notices,
    )
