"""Build the columns of a flat graph: list the nodes of the main graph and of all functions, then freeze them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.errors import DuplicateNode
from graphviz_tb.flatten.edges import EdgeColumns, split_input
from graphviz_tb.graphs.calls import function_attributes
from graphviz_tb.graphs.node_columns import NodeColumns, append_graph_nodes
from graphviz_tb.model.columns import freeze_array, int32_column
from graphviz_tb.model.graph import Call, Function, Graph, MarkPairs
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.ops.table import op_row

if TYPE_CHECKING:
    from graphviz_tb.flatten.tensorboard import EmbeddedMarks
    from graphviz_tb.proto import NodeDef


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
    mark = np.zeros(len(nodes), np.uint8)
    kept = np.ones(len(nodes), bool)
    beside = MarkPairs(none, none, none > 0, none)
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
        keys=tuple(dict.fromkeys((*edges.keys, *(key for function in functions for _, key in function.returns)))),
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


# Functions of the library: their calls, arguments and results.

# Types that call functions, even if the first node of the type names none.
CALL_LIKE_TYPE = re.compile(r"Call|While|If$|Case|For$|Dataset|Launch|Defun|Function|Gradient")


def find_calls(nodes: NodeColumns, graph_def: GraphSource) -> tuple[tuple[Call, ...], dict[int, str]]:
    """Return all function-valued attributes that name a function of the library, in node order, and for each node the
    first function that it names and the library lacks.

    An op type has function-valued attributes on all its nodes or on none, so only the first node of each type is
    examined, unless the type is named like a call; a million ordinary nodes cost nothing.
    """
    names = {function.signature.name: index for index, function in enumerate(graph_def.library.function)}
    calling: dict[str, bool] = {}
    calls: list[Call] = []
    missing: dict[int, str] = {}
    for node, op in _possible_callers(nodes, bool(names)):
        # A direct call: the op type is the name of the function, as TensorFlow 1 wrote calls of a `Defun`.
        if op in names:
            calls.append(Call(node, "", names[op], 1))
            continue
        # None is a type that was not seen yet.
        if calling.get(op) is False:
            continue
        definition = _node_message(nodes, graph_def, node)
        named = [] if definition is None else list(function_attributes(definition))
        calling.setdefault(op, bool(named) or bool(CALL_LIKE_TYPE.search(op)))
        known = [
            (attr, callee)
            for attr, name in named
            if (callee := _library_index(names, name, nodes, graph_def, node)) >= 0
        ]
        calls.extend(Call(node, attr, function, len(known)) for attr, function in known)
        if len(known) < len(named):
            lacking = [name for _, name in named if _is_missing_function(names, name, nodes, graph_def, node)]
            if lacking:
                missing[node] = lacking[0]
    return tuple(calls), missing


def _possible_callers(nodes: NodeColumns, library: bool) -> Iterator[tuple[int, str]]:
    """Return nodes that may call a function, with their op types; without a library only those named like a call."""
    if library:
        return enumerate(map(nodes.op_types.__getitem__, nodes.op))
    types = np.array([bool(CALL_LIKE_TYPE.search(op)) for op in nodes.op_types], bool)
    return ((node, nodes.op_types[nodes.op_id[node]]) for node in np.flatnonzero(types[nodes.op_id]).tolist())


def _is_missing_function(
    names: dict[str, int], name: str, nodes: NodeColumns, graph_def: GraphSource, node: int
) -> bool:
    """Return whether a name is neither a function of the library nor an op type, which is also allowed."""
    return bool(name) and _library_index(names, name, nodes, graph_def, node) < 0 and op_row(name) is None


def missing_function_notices(nodes: NodeColumns, missing: dict[int, str]) -> tuple[Notice, ...]:
    """Return a notice for calls of functions that the file lacks."""
    if not missing:
        return ()
    name, function = next((nodes.name[node], function) for node, function in missing.items())
    text = f"{name!r} calls the function {function!r}, which the file lacks: its ops are not drawn or counted"
    return (Notice("missing-function", text, name, len(missing)),)


# TensorBoard merges graphs under such names, but renames only some of the references to functions.
MERGED_PREFIX = re.compile(r"graph_\d+(?=[/_])")


def _library_index(names: dict[str, int], name: str, nodes: NodeColumns, graph_def: GraphSource, node: int) -> int:
    """Return the position of a function in the library, -1 if there is none.

    A graph that TensorBoard merged names `f` for the library's `graph_1_f`.
    """
    if name in names:
        return names[name]
    block = _block_of_node(nodes, node)
    around = nodes.name[node] if block == 0 else graph_def.library.function[block - 1].signature.name
    merged = MERGED_PREFIX.match(around)
    return names.get(f"{merged[0]}_{name}", -1) if merged else -1


def _node_message(nodes: NodeColumns, graph_def: GraphSource, node: int) -> NodeDef | None:
    """Return the message of a node; None for an argument."""
    block = _block_of_node(nodes, node)
    position = int(nodes.definition[block][node - nodes.starts[block]])
    if position < 0:
        return None
    block_nodes: Sequence[NodeDef] = graph_def.library.function[block - 1].node_def if block else graph_def.node
    return block_nodes[position]


def _block_of_node(nodes: NodeColumns, node: int) -> int:
    return bisect_right(nodes.starts, node) - 1


def list_functions(nodes: NodeColumns, graph_def: GraphSource) -> tuple[Function, ...]:
    """Return every function with its argument nodes and the nodes that make its results."""
    functions = []
    for index, function in enumerate(graph_def.library.function):
        names = nodes.index[index + 1]
        returns = []
        for result in function.signature.output_arg:
            # `ret` maps a result to "node:output:0"; without an entry, a node has the name of the result.
            name, key, _ = split_input(function.ret.get(result.name, result.name))
            returns.append((names.get(name, -1), key))
        functions.append(
            Function(
                function.signature.name,
                index,
                nodes.args[index + 1],
                tuple(returns),
                tuple(arg.name for arg in function.signature.output_arg),
            )
        )
    return tuple(functions)
