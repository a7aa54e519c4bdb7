"""Boxes of a level during folding: a row, or a group of boxes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphviz_tb.model.hierarchy import GroupOrigin

MIN_STACK_OPS = 3  # smaller structures are not worth a stack


@dataclass(slots=True, eq=False)
class FlowBox:
    """A row of the hierarchy, or boxes that are drawn as one.

    `symbol` is equal for boxes of equal structure, `ops` counts the ops inside, feeders included. `feeders` are small
    inputs that nobody else uses, drawn next to their consumer. The members of a stack are its repetitions; `unit` is
    the symbol of one. `inside` is equal for groups by name with equal content and inner wiring, whatever feeds them;
    None for other boxes. `op` is the op type of a row that is an op.
    """

    name: str
    symbol: int
    ops: int
    row: int = -1  # -1: a group
    how: GroupOrigin = GroupOrigin.NONE
    members: list[FlowBox] = field(default_factory=list)
    feeders: list[FlowBox] = field(default_factory=list)
    unit: int = -1  # -1: no stack
    sideways: bool = False
    scope: bool = False
    inside: int | None = None
    op: str = ""

    @property
    def is_repetition(self) -> bool:
        """Return whether its members are repetitions of one structure."""
        return self.unit >= 0

    @property
    def ops_per_repetition(self) -> float:
        """Ops of one repetition of a stack; of the box itself otherwise."""
        return self.ops / len(self.members) if self.is_repetition else self.ops

    @property
    def child_count(self) -> int:
        """Number of children it adds to a group: itself and its feeders."""
        return 1 + sum([feeder.child_count for feeder in self.feeders]) if self.feeders else 1

    def first_row(self) -> FlowBox:
        """Return the first row inside."""
        box = self
        while box.members:
            box = box.members[0]
        return box

    def last_row(self) -> FlowBox:
        """Return the last row inside."""
        box = self
        while box.members:
            box = box.members[-1]
        return box


class SymbolTable:
    """Small numbers for equal keys, in the order of first appearance."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}

    def symbol_of(self, *key: Hashable) -> int:
        """Return the number of `key`."""
        return self.known.setdefault(key, len(self.known))


def make_group(
    how: GroupOrigin, members: Sequence[FlowBox], symbol: int, name: str = "", sideways: bool = False
) -> FlowBox:
    """Make one box of several."""
    return FlowBox(name, symbol, sum(box.ops for box in members), -1, how, list(members), sideways=sideways)


def make_stack(symbols: SymbolTable, members: Sequence[FlowBox], unit: int, sideways: bool = False) -> FlowBox:
    """Make a stack of repetitions of one structure."""
    box = make_group(
        GroupOrigin.REPEAT, members, symbols.symbol_of("stack", unit, len(members), sideways), sideways=sideways
    )
    box.unit = unit
    return box


def walk_boxes(boxes: Sequence[FlowBox]) -> Iterator[FlowBox]:
    """Yield all boxes, feeders too, groups before their members."""
    todo = list(reversed(boxes))
    while todo:
        box = todo.pop()
        yield box
        todo.extend(reversed(box.members))
        todo.extend(box.feeders)


def walk_groups(boxes: Sequence[FlowBox]) -> Iterator[FlowBox]:
    """Yield the groups among all boxes, in the order of `walk_boxes`."""
    todo = [box for box in reversed(boxes) if box.members or box.feeders]
    while todo:
        box = todo.pop()
        if box.members:
            yield box
        todo += [held for held in (*reversed(box.members), *box.feeders) if held.members or held.feeders]


def copy_groups_onto(boxes: Sequence[FlowBox], old: Sequence[FlowBox], new: Sequence[FlowBox]) -> list[FlowBox]:
    """Copy groups made of `old` boxes of a level onto the corresponding `new` ones."""
    return copy_over(boxes, {id(one): other for one, other in zip(old, new, strict=True)})


def copy_over(boxes: Sequence[FlowBox], other: Mapping[int, FlowBox]) -> list[FlowBox]:
    """Copy groups over other boxes: `other` maps the `id` of a box of the level to its replacement."""
    return [known if (known := other.get(id(box))) else _copy_group(box, other) for box in boxes]


def _copy_group(box: FlowBox, other: Mapping[int, FlowBox]) -> FlowBox:
    members = copy_over(box.members, other)
    made = FlowBox(box.name, box.symbol, sum(member.ops for member in members), -1, box.how, members)
    made.unit, made.sideways = box.unit, box.sideways
    return made
