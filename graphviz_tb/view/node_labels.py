"""The label of each closed box: its name, second line and badge."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

import numpy as np

from graphviz_tb.algorithms.calls import OpsThroughCalls, at_least, listed_functions
from graphviz_tb.algorithms.nameless import nameless
from graphviz_tb.limits import NAMES_LOOKED_AT
from graphviz_tb.model.hierarchy import FUNCTION, OP, Hierarchy
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, address, last_segment
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.stacks import is_stack, repeated, repetitions, stack_in
from graphviz_tb.model.units import plural
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.view.words import as_stack

KINDS: tuple[BoxKind, ...] = ("scope", "op", "series", "fold", "function")  # by `Kind`
HASHED = re.compile(r"(\w+)_[0-9a-f]{8}(?:_\d+)?", re.ASCII)  # TensorFlow 1 adds a hash: "swish_f2c5eb10"
MISSING = "function not in the file"  # the second line of a call
COUNTER = re.compile(r"_[0-9]{1,9}", re.ASCII)


class NodeLabels:
    """Makes the labels of nodes.

    `second(path)` is the second line that a picture wants, None for the usual one. Labels that are not `placed` have no
    address. `alone`: stacks show one member, and a group that holds only a stack is drawn as that stack.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        second: Callable[[Path], str | None],
        placed: bool = True,
        alone: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.second = second
        self.placed = placed
        self.alone = alone
        self.ops = OpsThroughCalls(hierarchy)
        self.nameless = without_names(hierarchy)
        self.numbers: dict[int, dict[int, str]] = {}

    def node_label(self, path: Path, content: Path | None = None) -> NodeLabel:
        """Return the label of the child at `path`; `content` is the member whose content a stack shows."""
        if content is None or content == path:
            return self.plain_label(path)
        node, member = self.plain_label(path), self.plain_label(content)
        members = self.hierarchy.children(stack_in(self.hierarchy, path[-1])).tolist()
        shown = members.index(content[-1])
        return as_stack(node, self.second(path), member, shown, len(members))

    def plain_label(self, path: Path) -> NodeLabel:
        """Return the label of the child at `path`, closed or with its own content."""
        hierarchy, row = self.hierarchy, path[-1]
        held = stack_in(hierarchy, row) if self.alone else -1
        like = held if held >= 0 else row  # the row it is drawn as
        kind = self.kind(like)
        stack = kind in ("series", "fold")
        members = hierarchy.children(like)[:1].tolist() if stack else []
        said = self.second(path)
        return NodeLabel(
            row=row,
            address=address(hierarchy, path) if self.placed else "",
            kind=kind,
            label=self.label(path),
            full=hierarchy.name[row],
            second=self.usual(row) if said is None else said,
            badge=badge(kind, repetitions(hierarchy, like)) if stack else "",
            openable=hierarchy.opens(row),
            connected=bool(hierarchy.connected[like]),
            member=self.kind(members[0]) if members else "scope",
            about=layer.account if (layer := self.layer(row)) is not None else "",
        )

    def own(self, row: int) -> tuple[object, ...]:
        """Return the parts of a row's label that depend on its name: rows of equal content with equal keys have equal
        labels."""
        return self.label((row,)), self.layer(row), int(self.hierarchy.node[row]) in self.hierarchy.graph.missing

    def layer(self, row: int) -> Layer | None:
        """Return the Keras layer of a row of the main graph, if it is one."""
        layers = self.hierarchy.graph.layers
        return layers.get(self.hierarchy.name[row]) if layers and row < self.hierarchy.end[0] else None

    def usual(self, row: int) -> str:
        """Return the default second line: the layer, the number of ops, or, if names are little more than numbers, the
        type of an op."""
        if (layer := self.layer(row)) is not None:
            return layer.line
        if int(self.hierarchy.node[row]) in self.hierarchy.graph.missing:
            return MISSING
        if self.nameless and not self.hierarchy.opens(row):
            graph = self.hierarchy.graph
            return str(graph.op_types[graph.op[self.hierarchy.node[row]]])
        return self.count(row)

    def kind(self, row: int) -> BoxKind:
        """Return the kind as which the box of a row is drawn."""
        return "call" if row in self.hierarchy.calls else KINDS[self.hierarchy.kind[row]]

    def label(self, path: Path) -> str:
        """Return the last segment of the name; for one of several functions of a call, its attribute in the call."""
        hierarchy, row = self.hierarchy, path[-1]
        if hierarchy.kind[row] != FUNCTION:
            return hierarchy.leaf(row) + self.number(row)
        if len(path) > 1:
            return hierarchy.attr_of[path[-2], row]
        if hashed := HASHED.fullmatch(hierarchy.name[row]):
            return hashed[1]
        return hierarchy.leaf(row)

    def number(self, row: int) -> str:
        """Return the number that distinguishes unnamed groups with equal labels in one group."""
        if row not in self.hierarchy.labels or row <= 0:
            return ""
        parent = int(self.hierarchy.parent[row])
        if parent not in self.numbers:
            self.numbers[parent] = sibling_numbers(self.hierarchy, parent)
        return self.numbers[parent].get(row, "")

    def count(self, row: int) -> str:
        """Return how many ops a group holds, through calls; "" for an op. For a stack, the number in each of its
        members if all are equal."""
        if not self.hierarchy.opens(row):
            return ""
        stack = stack_in(self.hierarchy, row) if self.alone else row
        if stack >= 0 and is_stack(self.hierarchy, stack):
            inside = {self.ops(member) for member in repeated(self.hierarchy, stack)}
            return f"{ops_word(inside.pop())} each" if len(inside) == 1 else f"{ops_word(self.ops(row))} in all"
        return ops_word(self.ops(row))

    def functions(self, level: Metagraph, opened: Container[Path] = ()) -> tuple[NodeLabel, ...]:
        """Return the labels of library functions that no call leads to, and of those opened on their own."""
        shown, _ = listed_functions(self.hierarchy, opened)
        return tuple(self.node_label((row,)) for row in level.functions if row in shown)


def sibling_numbers(hierarchy: Hierarchy, parent: int) -> dict[int, str]:
    """Number the children of a row that share a label, by the counters of their names, else in file order."""
    called: dict[str, list[int]] = {}
    for row in hierarchy.children(parent).tolist():
        if row in hierarchy.labels:
            called.setdefault(hierarchy.labels[row], []).append(row)
    alike = [(label, rows) for label, rows in called.items() if len(rows) > 1]
    return {
        row: f" #{number}"
        for label, rows in alike
        for number, row in enumerate(sorted(rows, key=lambda row: counter(hierarchy.name[row], label)), 1)
    }


def counter(name: str, label: str) -> int:
    """Return the counter that TensorFlow appended to a layer's name, or 0.

    >>> counter("net/dense_13", "dense"), counter("net/a → b", "a")
    (13, 0)
    """
    behind = last_segment(name).removeprefix(label)
    return int(behind[1:]) if COUNTER.fullmatch(behind) else 0


def without_names(hierarchy: Hierarchy) -> bool:
    """Return whether names of ops are little more than numbers, judged by a sample."""
    ops = np.flatnonzero((hierarchy.kind == OP) & (hierarchy.mark == 0))
    # Sample the whole file: its beginning may differ from the rest.
    some = ops[:: 1 + len(ops) // NAMES_LOOKED_AT].tolist()
    return nameless(map(hierarchy.leaf, some), len(some))


def ops_word(ops: int | None) -> str:
    """Return a number of ops as text; None represents endless recursion.

    >>> ops_word(1), ops_word(None)
    ('1 op', '∞ ops')
    """
    return "∞ ops" if ops is None else f"{at_least(ops)}{thousands(ops)} {plural(ops, 'op')}"


def badge(kind: BoxKind, members: int) -> str:
    """Return how often a series repeats, or how many different parts a fold has.

    >>> badge("series", 12), badge("fold", 3)
    ('×12', '3 parts')
    """
    return f"×{members}" if kind == "series" else f"{members} {plural(members, 'part')}"
