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
    """Makes the labels of nodes; `second(path)` is the second line that a picture wants, None for the usual one. Labels
    that are not `placed` have no address. `alone`: stacks show one member, and what holds nothing but a stack is drawn
    as that."""

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
        """The label of the child at `path`; of a stack that shows what another path, a member, holds as `content`."""
        if content is None or content == path:
            return self.plain_label(path)
        node, member = self.plain_label(path), self.plain_label(content)
        members = self.hierarchy.children(stack_in(self.hierarchy, path[-1])).tolist()
        shown = members.index(content[-1])
        return as_stack(node, self.second(path), member, shown, len(members))

    def plain_label(self, path: Path) -> NodeLabel:
        """The label of the child at `path`, closed or with all that it holds."""
        hierarchy, row = self.hierarchy, path[-1]
        held = stack_in(hierarchy, row) if self.alone else -1
        like = held if held >= 0 else row  # what it is drawn as
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
        """What the label of a row has of its name: rows that hold equal things and have these alike are labelled
        alike."""
        return self.label((row,)), self.layer(row), int(self.hierarchy.node[row]) in self.hierarchy.graph.missing

    def layer(self, row: int) -> Layer | None:
        """The Keras layer that a row of the main graph is."""
        layers = self.hierarchy.graph.layers
        return layers.get(self.hierarchy.name[row]) if layers and row < self.hierarchy.end[0] else None

    def usual(self, row: int) -> str:
        """The second line where the picture has no other: what layer it is, how many ops it holds, or, where names are
        little else than numbers, the type of an op."""
        if (layer := self.layer(row)) is not None:
            return layer.line
        if int(self.hierarchy.node[row]) in self.hierarchy.graph.missing:
            return MISSING
        if self.nameless and not self.hierarchy.opens(row):
            graph = self.hierarchy.graph
            return str(graph.op_types[graph.op[self.hierarchy.node[row]]])
        return self.count(row)

    def kind(self, row: int) -> BoxKind:
        """What the box of a row is drawn as."""
        return "call" if row in self.hierarchy.calls else KINDS[self.hierarchy.kind[row]]

    def label(self, path: Path) -> str:
        """The last segment of the name; one of several functions of a call is called what it is to the call."""
        hierarchy, row = self.hierarchy, path[-1]
        if hierarchy.kind[row] != FUNCTION:
            return hierarchy.leaf(row) + self.number(row)
        if len(path) > 1:
            return hierarchy.attr_of[path[-2], row]
        if hashed := HASHED.fullmatch(hierarchy.name[row]):
            return hashed[1]
        return hierarchy.leaf(row)

    def number(self, row: int) -> str:
        """What tells groups that have no name of their own from others of the same group that are called the same."""
        if row not in self.hierarchy.labels or row <= 0:
            return ""
        parent = int(self.hierarchy.parent[row])
        if parent not in self.numbers:
            self.numbers[parent] = sibling_numbers(self.hierarchy, parent)
        return self.numbers[parent].get(row, "")

    def count(self, row: int) -> str:
        """How many ops a group holds, through calls; nothing for an op. Of a stack, how many each of its members holds
        where all hold equally many."""
        if not self.hierarchy.opens(row):
            return ""
        stack = stack_in(self.hierarchy, row) if self.alone else row
        if stack >= 0 and is_stack(self.hierarchy, stack):
            inside = {self.ops(member) for member in repeated(self.hierarchy, stack)}
            return f"{ops_word(inside.pop())} each" if len(inside) == 1 else f"{ops_word(self.ops(row))} in all"
        return ops_word(self.ops(row))

    def functions(self, level: Metagraph, opened: Container[Path] = ()) -> tuple[NodeLabel, ...]:
        """Functions of the library that no call leads to, and those that were opened by themselves."""
        shown, _ = listed_functions(self.hierarchy, opened)
        return tuple(self.node_label((row,)) for row in level.functions if row in shown)


def sibling_numbers(hierarchy: Hierarchy, parent: int) -> dict[int, str]:
    """Numbers for the children of a row that share a label, by the counters of their names, else in file order."""
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
    """The counter that TensorFlow put behind what a layer is called, 0 where there is none.

    >>> counter("net/dense_13", "dense"), counter("net/a → b", "a")
    (13, 0)
    """
    behind = last_segment(name).removeprefix(label)
    return int(behind[1:]) if COUNTER.fullmatch(behind) else 0


def without_names(hierarchy: Hierarchy) -> bool:
    """Whether names of ops are little else than numbers; judged by a thousand of them."""
    ops = np.flatnonzero((hierarchy.kind == OP) & (hierarchy.mark == 0))
    # From all over the file: its beginning may be other than the rest.
    some = ops[:: 1 + len(ops) // NAMES_LOOKED_AT].tolist()
    return nameless(map(hierarchy.leaf, some), len(some))


def ops_word(ops: int | None) -> str:
    """A number of ops in words; None where calls lead back without end.

    >>> ops_word(1), ops_word(None)
    ('1 op', '∞ ops')
    """
    return "∞ ops" if ops is None else f"{at_least(ops)}{thousands(ops)} {plural(ops, 'op')}"


def badge(kind: BoxKind, members: int) -> str:
    """How often a series repeats what it holds, or how many unlike parts a fold has.

    >>> badge("series", 12), badge("fold", 3)
    ('×12', '3 parts')
    """
    return f"×{members}" if kind == "series" else f"{members} {plural(members, 'part')}"
