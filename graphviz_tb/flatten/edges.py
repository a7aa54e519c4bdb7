"""Input strings become edges."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from graphviz_tb.errors import UnknownInput
from graphviz_tb.flatten.nodes import Nodes
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import FlattenOptions

# An input is ^name, name, name:index or, inside functions, name:output:index.
INPUT = re.compile(r"([^:]+):((?:\w*:)?\d+)", re.ASCII)

# Op types whose first input is a reference that they modify.
REFERENCE_OPS = frozenset(
    (
        *("Assign", "AssignAdd", "AssignSub", "assign", "assign_add", "assign_sub", "count_up_to"),
        *("ScatterAdd", "ScatterSub", "ScatterUpdate", "scatter_add", "scatter_sub", "scatter_update"),
    )
)


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
        """The same table with only `rows` (a mask or a list of positions)."""
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
    found = INPUT.fullmatch(text)
    return (found[1], found[2], control) if found else (text, "0", control)


def resolve(nodes: Nodes, options: FlattenOptions) -> Edges:
    """Find the node that each input names.

    Before: one flat list of input strings. After: one edge for each input that names a node of the same graph or
    function body, every distinct output kept. With `options.tensorboard` an input whose name equals that of the
    input before it is dropped, as TensorBoard does.
    """
    keys: dict[str, int] = {"0": 0}
    sources: list[int] = []
    odd: dict[int, tuple[int, bool]] = {}
    unknown: list[str] = []
    position = 0
    for block, index in enumerate(nodes.index):
        stop = position + sum(nodes.fan_in[nodes.starts[block] : nodes.starts[block + 1]])
        inputs = nodes.inputs[position:stop] if len(nodes.index) > 1 else nodes.inputs
        plain = not any(":" in name or name[:1] == "^" for name in index)
        found = [index.get(text, -1) for text in inputs] if plain else [-1] * len(inputs)
        memo: dict[str, tuple[int, int, bool]] = {}
        for at in [at for at, node in enumerate(found) if node < 0]:
            text = inputs[at]
            if text not in memo:
                name, key, control = split_input(text)
                memo[text] = index.get(name, -1), keys.setdefault(key, len(keys)), control
            found[at], key_id, control = memo[text]
            if found[at] < 0:
                unknown.append(text)
            elif key_id or control:
                odd[position + at] = key_id, control
        sources.extend(found)
        position = stop
    return make_edges(nodes, sources, odd, tuple(keys), unknown, options)


def make_edges(
    nodes: Nodes,
    sources: list[int],
    odd: dict[int, tuple[int, bool]],
    keys: tuple[str, ...],
    unknown: list[str],
    options: FlattenOptions,
) -> Edges:
    """Put the columns together and drop what names no node."""
    source = np.array(sources, np.int32)
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int32), fan_in)
    slot = (np.arange(len(source)) - np.repeat(np.cumsum(fan_in) - fan_in, fan_in)).astype(np.int32)
    key, control = np.zeros(len(source), np.int32), np.zeros(len(source), bool)
    if odd:
        at = np.fromiter(odd, np.int64, len(odd))
        key[at] = [pair[0] for pair in odd.values()]
        control[at] = [pair[1] for pair in odd.values()]
    types = {op for op in set(nodes.op) if op in REFERENCE_OPS}
    modifies = np.fromiter((op in types for op in nodes.op), bool, len(nodes)) if types else np.zeros(len(nodes), bool)
    reference = modifies[target] & (slot == 0) & (options.tensorboard | ~control)
    edges = Edges(source, target, key, keys, slot, control, reference, unknown_inputs(unknown, options))
    return edges.pick(wanted(edges, options))


def wanted(edges: Edges, options: FlattenOptions) -> Bools:
    """Which inputs become edges."""
    known: Bools = edges.source >= 0
    if options.tensorboard and len(known) > 1:
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
