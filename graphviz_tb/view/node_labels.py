"""The label of each closed box: its name, second line and badge."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

import numpy as np

from graphviz_tb.algorithms.calls import OpCounter, listed_functions, lower_bound_sign
from graphviz_tb.algorithms.nameless import are_names_numbers
from graphviz_tb.limits import MAX_COMPARED_NAMES
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, Hierarchy
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath, last_segment, path_address
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.stacks import is_stack, repeated_rows, repetition_count, sole_stack
from graphviz_tb.model.units import plural_noun
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.view.words import stack_label

LABEL_KINDS: tuple[BoxKind, ...] = ("scope", "op", "series", "fold", "function")  # by `Kind`
HASHED_NAME = re.compile(r"(\w+)_[0-9a-f]{8}(?:_\d+)?", re.ASCII)  # TensorFlow 1 adds a hash: "swish_f2c5eb10"
MISSING_FUNCTION = "function not in the file"  # the second line of a call
LABEL_COUNTER = re.compile(r"_[0-9]{1,9}", re.ASCII)


class NodeLabels:
    """Makes the labels of nodes.

    `second(path)` is the second line that a picture wants, None for the usual one. Labels that are not `placed` have no
    address. `alone`: stacks show one member, and a group that holds only a stack is drawn as that stack.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        second: Callable[[RowPath], str | None],
        placed: bool = True,
        alone: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.second = second
        self.placed = placed
        self.alone = alone
        self.ops = OpCounter(hierarchy)
        self.nameless = has_nameless_ops(hierarchy)
        self.numbers: dict[int, dict[int, str]] = {}

    def node_label(self, path: RowPath, content: RowPath | None = None) -> NodeLabel:
        """Return the label of the child at `path`; `content` is the member whose content a stack shows."""
        if content is None or content == path:
            return self.plain_label(path)
        node, member = self.plain_label(path), self.plain_label(content)
        members = self.hierarchy.children(sole_stack(self.hierarchy, path[-1])).tolist()
        shown = members.index(content[-1])
        return stack_label(node, self.second(path), member, shown, len(members))

    def plain_label(self, path: RowPath) -> NodeLabel:
        """Return the label of the child at `path`, closed or with its own content."""
        hierarchy, row = self.hierarchy, path[-1]
        held = sole_stack(hierarchy, row) if self.alone else -1
        like = held if held >= 0 else row  # the row it is drawn as
        kind = self.box_kind(like)
        stack = kind in ("series", "fold")
        members = hierarchy.children(like)[:1].tolist() if stack else []
        said = self.second(path)
        return NodeLabel(
            row=row,
            address=path_address(hierarchy, path) if self.placed else "",
            kind=kind,
            label=self.short_label(path),
            full=hierarchy.name[row],
            second=self.usual_second_line(row) if said is None else said,
            badge=repeat_badge(kind, repetition_count(hierarchy, like)) if stack else "",
            openable=hierarchy.can_open(row),
            connected=bool(hierarchy.connected[like]),
            member=self.box_kind(members[0]) if members else "scope",
            about=layer.tooltip_text if (layer := self.keras_layer(row)) is not None else "",
        )

    def label_key(self, row: int) -> tuple[object, ...]:
        """Return the parts of a row's label that depend on its name: rows of equal content with equal keys have equal
        labels."""
        return (
            self.short_label((row,)),
            self.keras_layer(row),
            int(self.hierarchy.node[row]) in self.hierarchy.graph.missing,
        )

    def keras_layer(self, row: int) -> Layer | None:
        """Return the Keras layer of a row of the main graph, if it is one."""
        layers = self.hierarchy.graph.layers
        return layers.get(self.hierarchy.name[row]) if layers and row < self.hierarchy.end[0] else None

    def usual_second_line(self, row: int) -> str:
        """Return the default second line: the layer, the number of ops, or, if names are little more than numbers, the
        type of an op."""
        if (layer := self.keras_layer(row)) is not None:
            return layer.one_line
        if int(self.hierarchy.node[row]) in self.hierarchy.graph.missing:
            return MISSING_FUNCTION
        if self.nameless and not self.hierarchy.can_open(row):
            graph = self.hierarchy.graph
            return str(graph.op_types[graph.op[self.hierarchy.node[row]]])
        return self.op_count_text(row)

    def box_kind(self, row: int) -> BoxKind:
        """Return the kind as which the box of a row is drawn."""
        return "call" if row in self.hierarchy.calls else LABEL_KINDS[self.hierarchy.kind[row]]

    def short_label(self, path: RowPath) -> str:
        """Return the last segment of the name; for one of several functions of a call, its attribute in the call."""
        hierarchy, row = self.hierarchy, path[-1]
        if hierarchy.kind[row] != FUNCTION_ROW:
            return hierarchy.display_label(row) + self.sibling_number(row)
        if len(path) > 1:
            return hierarchy.call_attributes[path[-2], row]
        if hashed := HASHED_NAME.fullmatch(hierarchy.name[row]):
            return hashed[1]
        return hierarchy.display_label(row)

    def sibling_number(self, row: int) -> str:
        """Return the number that distinguishes unnamed groups with equal labels in one group."""
        if row not in self.hierarchy.labels or row <= 0:
            return ""
        parent = int(self.hierarchy.parent[row])
        if parent not in self.numbers:
            self.numbers[parent] = sibling_numbers(self.hierarchy, parent)
        return self.numbers[parent].get(row, "")

    def op_count_text(self, row: int) -> str:
        """Return how many ops a group holds, through calls; "" for an op. For a stack, the number in each of its
        members if all are equal."""
        if not self.hierarchy.can_open(row):
            return ""
        stack = sole_stack(self.hierarchy, row) if self.alone else row
        if stack >= 0 and is_stack(self.hierarchy, stack):
            inside = {self.ops(member) for member in repeated_rows(self.hierarchy, stack)}
            return f"{ops_text(inside.pop())} each" if len(inside) == 1 else f"{ops_text(self.ops(row))} in all"
        return ops_text(self.ops(row))

    def function_labels(self, level: Metagraph, opened: Container[RowPath] = ()) -> tuple[NodeLabel, ...]:
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
        for number, row in enumerate(sorted(rows, key=lambda row: name_counter(hierarchy.name[row], label)), 1)
    }


def name_counter(name: str, label: str) -> int:
    """Return the counter that TensorFlow appended to a layer's name, or 0.

    >>> name_counter("net/dense_13", "dense"), name_counter("net/a → b", "a")
    (13, 0)
    """
    behind = last_segment(name).removeprefix(label)
    return int(behind[1:]) if LABEL_COUNTER.fullmatch(behind) else 0


def has_nameless_ops(hierarchy: Hierarchy) -> bool:
    """Return whether names of ops are little more than numbers, judged by a sample."""
    ops = np.flatnonzero((hierarchy.kind == OP_ROW) & (hierarchy.mark == 0))
    # Sample the whole file: its beginning may differ from the rest.
    some = ops[:: 1 + len(ops) // MAX_COMPARED_NAMES].tolist()
    return are_names_numbers(map(hierarchy.display_label, some), len(some))


def ops_text(ops: int | None) -> str:
    """Return a number of ops as text; None represents endless recursion.

    >>> ops_text(1), ops_text(None)
    ('1 op', '∞ ops')
    """
    return "∞ ops" if ops is None else f"{lower_bound_sign(ops)}{group_thousands(ops)} {plural_noun(ops, 'op')}"


def repeat_badge(kind: BoxKind, members: int) -> str:
    """Return how often a series repeats, or how many different parts a fold has.

    >>> repeat_badge("series", 12), repeat_badge("fold", 3)
    ('×12', '3 parts')
    """
    return f"×{members}" if kind == "series" else f"{members} {plural_noun(members, 'part')}"
