"""Convert input strings to edges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from graphviz_tb.errors import GraphError, UnknownInput
from graphviz_tb.graphs.node_columns import NodeColumns
from graphviz_tb.model.columns import Bools, Ints, Longs, run_bounds
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.ops.roles import REFERENCE_OPS, Role, has_role
from graphviz_tb.ops.signatures import arities
from graphviz_tb.options import FlattenOptions

# An input is ^name, name, name:index or, inside functions, name:output:index.
INPUT_PATTERN = re.compile(r"([^:]+):((?:\w*:)?\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class EdgeColumns:
    """Edge columns, sorted by target in file order and by slot; `keys[key]` is the output of the source."""

    source: Ints
    target: Ints
    key: Ints
    keys: tuple[str, ...]
    slot: Ints
    control: Bools
    reference: Bools
    notices: tuple[Notice, ...] = ()

    def select_edges(self, rows: np.ndarray) -> EdgeColumns:
        """Return a table with only `rows` (a mask or a list of positions)."""
        return EdgeColumns(
            self.source[rows], self.target[rows], self.key[rows], self.keys, self.slot[rows],
            self.control[rows], self.reference[rows], self.notices,
        )  # fmt: skip


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

    `nodes` has the sources of inputs that are plain names, and the texts of all other inputs. With
    `options.tensorboard` an input with the name of the input before it is dropped, as TensorBoard does.
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
    # Many nodes may take one output: each text is split once.
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
    # Position in the whole list minus the position of the first input of its node.
    slot = (np.arange(len(source)) - np.repeat(np.cumsum(fan_in) - fan_in, fan_in)).astype(np.int32)
    modifies = np.array([op in REFERENCE_OPS for op in nodes.op_types], bool)[nodes.op_id]
    # TensorBoard takes the first input of any kind; a control input carries no reference.
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
    # "" keeps the place of an argument that is not a tensor (formats/exported.py).
    return [text for text, well in zip(unknown, fine, strict=True) if text and not well]


def _first_data_inputs(target: Ints, control: Bools) -> Bools:
    """Mask the inputs that are the first data input of their node; `target` is sorted.

    >>> _first_data_inputs(np.array([0, 0, 1, 1]), np.array([True, False, False, False])).tolist()
    [False, True, True, False]
    """
    data = np.flatnonzero(~control)
    first = np.zeros(len(target), bool)
    first[data[run_bounds(target[data])[:-1]]] = True
    return first


def _edge_mask(edges: EdgeColumns, options: FlattenOptions) -> Bools:
    """Mask the inputs that become edges."""
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
    """Mask inputs that rightly name no node: the module of a traced parameter."""
    parameter = np.array([has_role(op, Role.TRACE_WEIGHT) for op in nodes.op_types], bool)[nodes.op_id]
    missing: Bools = (edges.source < 0) & parameter[edges.target]
    return missing


# Ops with more or fewer inputs than their type takes: TensorFlow would not load such a graph.


def wrong_input_counts(nodes: NodeColumns, graph_def: GraphSource, strict: bool) -> tuple[Notice, ...]:
    """Report (or refuse) ops with another number of inputs than their type takes. One without any inputs is a sketch,
    and accepted."""
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
    """Input counts by node, without control inputs."""
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int64), fan_in)
    source = np.array(nodes.source, np.int64)
    data = source >= -1  # see `NodeNumbers`
    texts = np.array([not text.startswith("^") for text in chain(*nodes.others)], bool)
    data[source == -1] = texts
    counts: Longs = np.bincount(target[data], minlength=len(nodes))
    return counts
