"""Input strings become edges."""

from __future__ import annotations

import re
from dataclasses import field, replace

import numpy as np

from graphviz_tb.errors import UnknownInput
from graphviz_tb.flatten.nodes import Nodes
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

    Before: one flat list of input strings. After: one edge for each input that names a node of the same graph or
    function body, every distinct output kept. With `options.tensorboard` an input whose name equals that of the
    input before it is dropped, as TensorBoard does. The strings are let go: a million take 70 MB.
    """
    resolved = InputColumns()
    # Cuts of `nodes.inputs`, one for each graph: the inputs before a node, taken at the nodes where graphs begin.
    ends = np.concatenate(([0], np.cumsum(nodes.fan_in, dtype=np.int64)))[nodes.starts].tolist()
    for index, start, stop in zip(nodes.index, ends, ends[1:], strict=False):
        look_up(resolved, index, nodes.inputs[start:stop], start)
    nodes.inputs.clear()
    return make_edges(nodes, resolved, options)


@dataclass(slots=True)
class InputColumns:
    """The sources of all inputs so far (-1: none), where plain control inputs are, and the others that are not
    simply output 0 of a node: their positions, output keys and control flags."""

    source: list[int] = field(default_factory=list)
    control_at: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    control: list[bool] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=lambda: {"0": 0})
    unknown: list[str] = field(default_factory=list)


def look_up(found: InputColumns, index: dict[str, int], inputs: list[str], start: int) -> None:
    """Find the sources of one graph's inputs; most name a node as they stand, the others are split once each."""
    # Whether no name has a colon or begins with ^: then an input that is a name as it stands means that node.
    joined = "\n" + "\n".join(index)
    plain = ":" not in joined and "\n^" not in joined
    source: list[int | None] = list(map(index.get, inputs)) if plain else [None] * len(inputs)
    odd = []
    get = index.get
    # One lookup for each input of a million, all in C; what follows is for the few that it left open.
    for position in [position for position, node in enumerate(source) if node is None]:
        node = get(inputs[position][1:]) if plain and inputs[position][:1] == "^" else None
        if node is None:
            odd.append(position)
        else:
            source[position] = node
            found.control_at.append(start + position)
    # An output that many nodes take is the same text in all of them.
    split: dict[str, tuple[int, int, bool]] = {}
    for position in odd:
        text = inputs[position]
        if text not in split:
            name, key, control = split_input(text)
            split[text] = index.get(name, -1), found.keys.setdefault(key, len(found.keys)), control
        source[position] = split[text][0]
    found.unknown += [inputs[position] for position in odd if source[position] == -1]
    found.at += [start + position for position in odd]
    found.key += [split[inputs[position]][1] for position in odd]
    found.control += [split[inputs[position]][2] for position in odd]
    found.source += source  # type: ignore[arg-type]


def make_edges(nodes: Nodes, found: InputColumns, options: FlattenOptions) -> Edges:
    """Put the columns together and drop what names no node."""
    source = np.array(found.source, np.int32)
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int32), fan_in)
    # Place in the whole list, less the place where the inputs of its node begin.
    slot = (np.arange(len(source)) - np.repeat(np.cumsum(fan_in) - fan_in, fan_in)).astype(np.int32)
    key, control = np.zeros(len(source), np.int32), np.zeros(len(source), bool)
    key[found.at], control[found.at] = found.key, found.control
    control[found.control_at] = True
    modifies = np.array([op in REFERENCES for op in nodes.op_types], bool)[nodes.op_id]
    # TensorBoard takes the first input, whatever it is; one that is a control input carries no reference.
    first = (slot == 0) & ~control if options.tensorboard else first_data_inputs(target, control)
    reference = modifies[target] & first
    edges = Edges(source, target, key, tuple(found.keys), slot, control, reference)
    notices = unknown_inputs(truly_unknown(nodes, edges, found.unknown), options)
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
