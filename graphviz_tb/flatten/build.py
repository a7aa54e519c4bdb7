"""Build the columns of a flat graph: list the nodes of the main graph and all functions, then resolve their inputs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.errors import DuplicateNode, GraphError, UnknownInput
from graphviz_tb.graphs.calls import function_attributes
from graphviz_tb.graphs.node_columns import NodeColumns, append_graph_nodes
from graphviz_tb.model.columns import Bools, Bytes, Ints, Longs, freeze_array, int32_column, run_bounds
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Call, Function, Graph, MarkPairs
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.ops.roles import REFERENCE_OPS, Role, has_role
from graphviz_tb.ops.signatures import arities
from graphviz_tb.ops.table import op_row
from graphviz_tb.options import FlattenOptions

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

# Convert input strings to edges.

# An input is ^name, name, name:index or, inside functions, name:output:index.
INPUT_PATTERN = re.compile(r"([^:]+):((?:\w*:)?\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class EdgeColumns:
    """Edge columns, sorted by target and slot; `keys[key]` names the output of the source."""

    source: Ints
    target: Ints
    key: Ints
    keys: tuple[str, ...]
    slot: Ints
    control: Bools
    reference: Bools
    notices: tuple[Notice, ...] = ()

    def select_edges(self, rows: np.ndarray) -> EdgeColumns:
        """Return the edges in `rows` (a mask or positions)."""
        return EdgeColumns(
            self.source[rows], self.target[rows], self.key[rows], self.keys, self.slot[rows],
            self.control[rows], self.reference[rows], self.notices,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedMarks:
    """The mark of each node, the nodes that are kept, the remaining edges, and the marks next to nodes."""

    mark: Bytes
    kept: Bools
    edges: EdgeColumns
    beside: MarkPairs


def split_input(text: str) -> tuple[str, str, bool]:
    """Split an input string into name, output key and control flag.

    >>> split_input("a/b:1"), split_input("^a"), split_input("f:out:0"), split_input("a:b:c")
    (('a/b', '1', False), ('a', '0', True), ('f', 'out:0', False), ('a:b:c', '0', False))
    """
    control = text.startswith("^")
    if control:
        text = text[1:]
    # Nearly all inputs: skip the slower pattern.
    if ":" not in text:
        return text, "0", control
    # A colon without a position after it is part of the name.
    match = INPUT_PATTERN.fullmatch(text)
    return (match[1], match[2], control) if match else (text, "0", control)


def resolve_inputs(nodes: NodeColumns, options: FlattenOptions) -> EdgeColumns:
    """Return one edge for each input that names a node of the same graph or function body.

    `nodes` has the sources of inputs that are plain names, and the texts of all other inputs. `options.tensorboard`
    drops an input with the name of the input before it, like TensorBoard.
    """
    keys = {"0": 0}
    found = [
        each
        for index, texts in zip(nodes.index, nodes.others, strict=True)
        for each in _look_up_inputs(keys, index, texts)
    ]
    unknown = [text for text, each in zip(chain(*nodes.others), found, strict=True) if each[0] < 0]
    source = np.array(nodes.source, np.int32)
    control, at = source < -1, np.flatnonzero(source == -1)
    source[control] = -2 - source[control]  # see `NodeNumbers`
    key = np.zeros(len(source), np.int32)
    if found:
        source[at], key[at], control[at] = np.array(found, np.int32).T
    return _make_edges(nodes, source, key, control, tuple(keys), unknown, options)


def _look_up_inputs(keys: dict[str, int], index: dict[str, int], inputs: list[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield the source of each input (-1: none), its output's number in `keys`, and whether it is a control input."""
    # Many nodes may use one output, so each text is split once.
    split: dict[str, tuple[int, int, bool]] = {}
    for text in inputs:
        if text not in split:
            name, key, control = split_input(text)
            split[text] = index.get(name, -1), keys.setdefault(key, len(keys)), control
        yield split[text]


def _make_edges(
    nodes: NodeColumns,
    source: Ints,
    key: Ints,
    control: Bools,
    keys: tuple[str, ...],
    unknown: list[str],
    options: FlattenOptions,
) -> EdgeColumns:
    """Assemble the columns and drop inputs that name no node."""
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int32), fan_in)
    # Position in the list of all inputs minus that of the first input of the node.
    slot = (np.arange(len(source)) - np.repeat(np.cumsum(fan_in) - fan_in, fan_in)).astype(np.int32)
    modifies = np.array([op in REFERENCE_OPS for op in nodes.op_types], bool)[nodes.op_id]
    # For TensorBoard, the first input of any kind is a reference, except a control input.
    first = (slot == 0) & ~control if options.tensorboard else _first_data_inputs(target, control)
    reference = modifies[target] & first
    edges = EdgeColumns(source, target, key, keys, slot, control, reference)
    notices = _report_unknown_inputs(_unexpected_inputs(nodes, edges, unknown), options)
    return replace(edges.select_edges(_edge_mask(edges, options)), notices=notices)


def _unexpected_inputs(nodes: NodeColumns, edges: EdgeColumns, unknown: list[str]) -> list[str]:
    """Return the inputs that name no node but should."""
    if not unknown:
        return []
    # `unknown` lists the inputs without a source in the order of `edges`.
    fine = _expected_missing(nodes, edges)[edges.source < 0].tolist()
    # "" is an argument that is not a tensor (formats/exported.py).
    return [text for text, well in zip(unknown, fine, strict=True) if text and not well]


def _first_data_inputs(target: Ints, control: Bools) -> Bools:
    """Mark the inputs that are the first data input of their node; `target` is sorted.

    >>> _first_data_inputs(np.array([0, 0, 1, 1]), np.array([True, False, False, False])).tolist()
    [False, True, True, False]
    """
    data = np.flatnonzero(~control)
    first = np.zeros(len(target), bool)
    first[data[run_bounds(target[data])[:-1]]] = True
    return first


def _edge_mask(edges: EdgeColumns, options: FlattenOptions) -> Bools:
    """Mark the inputs that become edges."""
    known: Bools = edges.source >= 0
    if options.tensorboard and len(known) > 1:
        # TensorBoard compares each input only with the one before it: a, b, a remain three.
        repeat = (edges.source[1:] == edges.source[:-1]) & (edges.target[1:] == edges.target[:-1])
        known[1:] &= ~repeat
    return known


def _report_unknown_inputs(unknown: list[str], options: FlattenOptions) -> tuple[Notice, ...]:
    """Return a notice for inputs that name no node. Raises UnknownInput with `options.strict`."""
    if not unknown:
        return ()
    message = f"input {unknown[0]!r} names no node; its edge is left out"
    if options.strict:
        raise UnknownInput(message, hint="leave out --strict to draw the rest")
    return (Notice("unknown-input", message, unknown[0], len(unknown)),)


def _expected_missing(nodes: NodeColumns, edges: EdgeColumns) -> Bools:
    """Mark the inputs that may name no node: the module of a traced parameter."""
    parameter = np.array([has_role(op, Role.TRACE_WEIGHT) for op in nodes.op_types], bool)[nodes.op_id]
    missing: Bools = (edges.source < 0) & parameter[edges.target]
    return missing


# Ops with a wrong number of inputs: TensorFlow would not load such a graph.


def wrong_input_counts(nodes: NodeColumns, graph_def: GraphSource, strict: bool) -> tuple[Notice, ...]:
    """Return a notice for ops with a wrong number (not 0) of inputs. Raises GraphError if `strict`."""
    own = {function.signature.name for function in graph_def.library.function}
    known = arities()
    takes = np.array([-1 if op in own else known.get(op, -1) for op in nodes.op_types], np.int64)
    if not (takes >= 0).any():
        return ()
    wanted, has = takes[nodes.op_id], _data_inputs(nodes)
    wrong = np.flatnonzero((wanted >= 0) & (has != wanted) & (has > 0))
    if not len(wrong):
        return ()
    first = int(wrong[0])
    op, name = nodes.op_types[int(np.asarray(nodes.op_id)[first])], nodes.name[first]
    message = f"{op} takes {format_counted_noun(int(wanted[first]), 'input')}, {name!r} has {int(has[first]):,}"
    if strict:
        raise GraphError(message, hint="leave out --strict to draw it anyway")
    return (Notice("input-count", message, name, len(wrong)),)


def _data_inputs(nodes: NodeColumns) -> Longs:
    """Return the number of data inputs of each node."""
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int64), fan_in)
    source = np.array(nodes.source, np.int64)
    data = source >= -1  # see `NodeNumbers`
    texts = np.array([not text.startswith("^") for text in chain(*nodes.others)], bool)
    data[source == -1] = texts
    counts: Longs = np.bincount(target[data], minlength=len(nodes))
    return counts


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


# The last step of flatten: freeze the columns.


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
        # Outputs that only results of functions name are appended, so the numbers in edges stay.
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
    """Return all calls of functions in node order, and for each node the first missing function that it names.

    All nodes of an op type have function-valued attributes, or none has: only the first node of each type is examined,
    unless the type is named like a call.
    """
    names = {function.signature.name: index for index, function in enumerate(graph_def.library.function)}
    type_calls: dict[str, bool] = {}
    calls: list[Call] = []
    missing: dict[int, str] = {}
    for node, op in _possible_callers(nodes, bool(names)):
        # A direct call: the op type is the name of the function, as TensorFlow 1 wrote calls of a `Defun`.
        if op in names:
            calls.append(Call(node, "", names[op], 1))
            continue
        # None: the type was not seen yet.
        if type_calls.get(op) is False:
            continue
        definition = _node_message(nodes, graph_def, node)
        functions = [] if definition is None else list(function_attributes(definition))
        type_calls.setdefault(op, bool(functions) or bool(CALL_LIKE_TYPE.search(op)))
        found = [
            (attr, callee)
            for attr, name in functions
            if (callee := _library_index(names, name, nodes, graph_def, node)) >= 0
        ]
        calls.extend(Call(node, attr, function, len(found)) for attr, function in found)
        if len(found) < len(functions):
            missing_names = [name for _, name in functions if _is_missing_function(names, name, nodes, graph_def, node)]
            if missing_names:
                missing[node] = missing_names[0]
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
    """Return whether a name is neither a function of the library nor an op type."""
    return bool(name) and _library_index(names, name, nodes, graph_def, node) < 0 and op_row(name) is None


def missing_function_notices(nodes: NodeColumns, missing: dict[int, str]) -> tuple[Notice, ...]:
    """Return a notice for calls of functions that the file lacks."""
    if not missing:
        return ()
    name, function = next((nodes.name[node], function) for node, function in missing.items())
    text = f"{name!r} calls the function {function!r}, which the file lacks: its ops are not drawn or counted"
    return (Notice("missing-function", text, name, len(missing)),)


# TensorBoard merges graphs under these prefixes, but renames only some references to functions.
MERGED_PREFIX = compile_on_use(r"graph_\d+(?=[/_])")


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
    """Return every function with the nodes of its arguments and results."""
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
