"""Input strings become edges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from graphviz_tb.algorithms.node_columns import Nodes
from graphviz_tb.errors import UnknownInput
from graphviz_tb.model.columns import Bools, Ints, runs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.ops.roles import REFERENCES
from graphviz_tb.options import FlattenOptions

# An input is ^name, name, name:index or, inside functions, name:output:index.
INPUT = re.compile(r"([^:]+):((?:\w*:)?\d+)", re.ASCII)

PARAMETER = "prim::GetAttr"  # of PyTorch


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Columns, sorted by target in file order and by slot; `keys[key]` is the output of the source."""

    source: Ints
    target: Ints
    key: Ints
    keys: tuple[str, ...]
    slot: Ints
    control: Bools
    reference: Bools
    notices: tuple[Notice, ...] = ()

    def pick(self, rows: np.ndarray) -> Edges:
        """Return a table with only `rows` (a mask or a list of positions)."""
        return Edges(
            self.source[rows], self.target[rows], self.key[rows], self.keys, self.slot[rows],
            self.control[rows], self.reference[rows], self.notices,
        )  # fmt: skip


def split_input(text: str) -> tuple[str, str, bool]:
    """The name, output key and control flag of an input string.

    >>> split_input("a/b:1"), split_input("^a"), split_input("f:out:0"), split_input("a:b:c")
    (('a/b', '1', False), ('a', '0', True), ('f', 'out:0', False), ('a:b:c', '0', False))
    """
    control = text.startswith("^")
    if control:
        text = text[1:]
    # Nearly all inputs: the pattern is for the rest.
    if ":" not in text:
        return text, "0", control
    # A colon that no position follows belongs to the name.
    match = INPUT.fullmatch(text)
    return (match[1], match[2], control) if match else (text, "0", control)


def resolve(nodes: Nodes, options: FlattenOptions) -> Edges:
    """Find the node that each input names.

    Before: the sources of inputs that are names of nodes, and the texts of the others. After: one edge for each input
    that names a node of the same graph or function body, every distinct output kept. With `options.tensorboard` an
    input whose name equals that of the input before it is dropped, as TensorBoard does.
    """
    keys = {"0": 0}
    found = [
        each for index, texts in zip(nodes.index, nodes.others, strict=True) for each in look_up(keys, index, texts)
    ]
    unknown = [text for text, each in zip(chain(*nodes.others), found, strict=True) if each[0] < 0]
    source = np.array(nodes.source, np.int32)
    control, at = source < -1, np.flatnonzero(source == -1)
    source[control] = -2 - source[control]  # see `NodeNumbers`
    key = np.zeros(len(source), np.int32)
    if found:
        source[at], key[at], control[at] = np.array(found, np.int32).T
    return make_edges(nodes, source, key, control, tuple(keys), unknown, options)


def look_up(keys: dict[str, int], index: dict[str, int], inputs: list[str]) -> Iterator[tuple[int, int, bool]]:
    """The source of each input (-1: none), the number of its output among `keys`, and whether it is a control input."""
    # An output that many nodes take is the same text in all of them: it is split once.
    split: dict[str, tuple[int, int, bool]] = {}
    for text in inputs:
        if text not in split:
            name, key, control = split_input(text)
            split[text] = index.get(name, -1), keys.setdefault(key, len(keys)), control
        yield split[text]


def make_edges(
    nodes: Nodes,
    source: Ints,
    key: Ints,
    control: Bools,
    keys: tuple[str, ...],
    unknown: list[str],
    options: FlattenOptions,
) -> Edges:
    """Put the columns together and drop what names no node."""
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int32), fan_in)
    # Place in the whole list, less the place where the inputs of its node begin.
    slot = (np.arange(len(source)) - np.repeat(np.cumsum(fan_in) - fan_in, fan_in)).astype(np.int32)
    modifies = np.array([op in REFERENCES for op in nodes.op_types], bool)[nodes.op_id]
    # TensorBoard takes the first input, whatever it is; one that is a control input carries no reference.
    first = (slot == 0) & ~control if options.tensorboard else first_data_inputs(target, control)
    reference = modifies[target] & first
    edges = Edges(source, target, key, keys, slot, control, reference)
    notices = unknown_inputs(truly_unknown(nodes, edges, unknown), options)
    return replace(edges.pick(wanted(edges, options)), notices=notices)


def truly_unknown(nodes: Nodes, edges: Edges, unknown: list[str]) -> list[str]:
    """The inputs that name no node and should."""
    if not unknown:
        return []
    # `unknown` lists the inputs without a source in the order of `edges`.
    fine = expected(nodes, edges)[edges.source < 0].tolist()
    return [text for text, well in zip(unknown, fine, strict=True) if not well]


def first_data_inputs(target: Ints, control: Bools) -> Bools:
    """Which inputs are the first of their node, control inputs not counted; `target` is sorted.

    >>> first_data_inputs(np.array([0, 0, 1, 1]), np.array([True, False, False, False])).tolist()
    [False, True, True, False]
    """
    data = np.flatnonzero(~control)
    first = np.zeros(len(target), bool)
    first[data[runs(target[data])[:-1]]] = True
    return first


def wanted(edges: Edges, options: FlattenOptions) -> Bools:
    """Which inputs become edges."""
    known: Bools = edges.source >= 0
    if options.tensorboard and len(known) > 1:
        # TensorBoard compares each input with the one before it only: a, b, a stay three.
        repeat = (edges.source[1:] == edges.source[:-1]) & (edges.target[1:] == edges.target[:-1])
        known[1:] &= ~repeat
    return known


def unknown_inputs(unknown: list[str], options: FlattenOptions) -> tuple[Notice, ...]:
    """Tell (or refuse) inputs that name no node."""
    if not unknown:
        return ()
    message = f"input {unknown[0]!r} names no node; its edge is left out"
    if options.strict:
        raise UnknownInput(message, hint="leave out --strict to draw the rest")
    return (Notice("unknown-input", message, unknown[0], len(unknown)),)


def expected(nodes: Nodes, edges: Edges) -> Bools:
    """Which inputs name no node and need not: the module that a parameter belongs to."""
    parameter = np.array([op == PARAMETER for op in nodes.op_types], bool)[nodes.op_id]
    missing: Bools = (edges.source < 0) & parameter[edges.target]
    return missing
