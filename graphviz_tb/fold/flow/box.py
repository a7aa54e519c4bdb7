"""Boxes of one level and the flow between them, without cycles."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from graphviz_tb.graphs.traversal import strong_components, topological_order, weak_components
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin

# Boxes of a level during folding: a row, or a group of boxes.

MIN_STACK_OPS = 3  # smaller structures are not worth a stack


@dataclass(slots=True, eq=False)
class FlowBox:
    """A row of the hierarchy, or a group of boxes that is drawn as one.

    symbol    equal for boxes of equal structure
    ops       number of ops inside, feeders included
    members   boxes of a group; the repetitions of a stack
    feeders   small inputs that nothing else uses, drawn next to the box
    unit      symbol of one repetition of a stack
    sideways  the members of the stack are parallel
    scope     a row that is a scope
    op        op type of a row that is an op
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
    op: str = ""

    @property
    def is_repetition(self) -> bool:
        """Return whether it is a stack: its members are repetitions of one structure."""
        return self.unit >= 0

    @property
    def ops_per_repetition(self) -> float:
        """Number of ops in one repetition of a stack, or in any other box."""
        return self.ops / len(self.members) if self.is_repetition else self.ops

    @property
    def child_count(self) -> int:
        """Number of children that it adds to a group: itself and its feeders."""
        return 1 + sum([feeder.child_count for feeder in self.feeders]) if self.feeders else 1

    def first_row(self) -> FlowBox:
        box = self
        while box.members:
            box = box.members[0]
        return box

    def last_row(self) -> FlowBox:
        box = self
        while box.members:
            box = box.members[-1]
        return box


class SymbolTable:
    """Small numbers for equal keys, in the order of first appearance."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}

    def symbol_of(self, *key: Hashable) -> int:
        return self.known.setdefault(key, len(self.known))


def make_group(
    how: GroupOrigin, members: Sequence[FlowBox], symbol: int, name: str = "", sideways: bool = False
) -> FlowBox:
    return FlowBox(name, symbol, sum(box.ops for box in members), -1, how, list(members), sideways=sideways)


def make_stack(symbols: SymbolTable, members: Sequence[FlowBox], unit: int, sideways: bool = False) -> FlowBox:
    """Make a stack of repetitions; `unit` is the symbol of one."""
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
        todo += [inner for inner in (*reversed(box.members), *box.feeders) if inner.members or inner.feeders]


def copy_groups_onto(boxes: Sequence[FlowBox], old: Sequence[FlowBox], new: Sequence[FlowBox]) -> list[FlowBox]:
    """Copy groups made of `old` boxes of a level onto the corresponding `new` ones."""
    return _copy_over(boxes, {id(one): other for one, other in zip(old, new, strict=True)})


def _copy_over(boxes: Sequence[FlowBox], other: Mapping[int, FlowBox]) -> list[FlowBox]:
    """Copy groups; `other` maps the `id` of a box of the level to its replacement."""
    return [known if (known := other.get(id(box))) else _copy_group(box, other) for box in boxes]


def _copy_group(box: FlowBox, other: Mapping[int, FlowBox]) -> FlowBox:
    members = _copy_over(box.members, other)
    made = FlowBox(box.name, box.symbol, sum(member.ops for member in members), -1, box.how, members)
    made.unit, made.sideways = box.unit, box.sideways
    return made


WiringKey = tuple[tuple[int, ...], ...]  # see `wiring_key`

MAX_ENTRY_READERS = 3  # boxes that may read a single outside source


@dataclass(frozen=True, slots=True, eq=False)
class Dag:
    """Boxes and the flow between them.

    `before[v]` are the boxes that feed box `v`, by slot, each once; `after[v]` are its users. `outside[v]` are its
    sources (by `id`) outside a part of a level; None for a whole level.
    """

    boxes: list[FlowBox]
    before: list[list[int]]
    after: list[list[int]]
    outside: list[list[int]] | None = None

    def __len__(self) -> int:
        return len(self.boxes)

    def total_ops(self) -> int:
        """Return the number of ops inside."""
        return sum(box.ops for box in self.boxes)


def make_dag(boxes: list[FlowBox], before: list[list[int]], outside: list[list[int]] | None = None) -> Dag:
    """Make a graph from the inputs of each box."""
    after: list[list[int]] = [[] for _ in boxes]
    for target, sources in enumerate(before):
        for source in sources:
            after[source].append(target)
    return Dag(boxes, before, after, outside)


def sub_dag(dag: Dag, ids: Sequence[int]) -> Dag:
    """Return the graph of some boxes, in this order.

    Sources outside of `dag` are kept only if the boxes have a single outside source.
    """
    index = {box: place for place, box in enumerate(ids)}
    before = [[index[source] for source in dag.before[box] if source in index] for box in ids]
    outside = [[id(dag.boxes[source]) for source in dag.before[box] if source not in index] for box in ids]
    if dag.outside is not None:
        farther = [dag.outside[box] + sources for box, sources in zip(ids, outside, strict=True)]
        outside = farther if len({source for sources in farther for source in sources}) == 1 else outside
    return make_dag([dag.boxes[box] for box in ids], before, outside)


def wiring_key(dag: Dag, ids: Sequence[int]) -> WiringKey:
    """Return a key that is equal for boxes of equal structure and order with equal wiring, also from outside.

    For each box: its symbol and the numbers of its sources: positions in `ids`, then outside sources as they appear.
    """
    number = {box: place for place, box in enumerate(ids)}
    key = [
        (dag.boxes[box].symbol, *[number.setdefault(source, len(number)) for source in dag.before[box]]) for box in ids
    ]
    if dag.outside is None:
        return tuple(key)
    farther: dict[int, int] = {}  # outside sources as -1, -2 …
    return tuple(
        (*near, *[~farther.setdefault(source, len(farther)) for source in dag.outside[box]])
        for near, box in zip(key, ids, strict=True)
    )


def has_single_entry(outside: Sequence[Sequence[int]]) -> bool:
    """Return whether at most `MAX_ENTRY_READERS` boxes read from outside, all from one source."""
    sources = {source for box_sources in outside for source in box_sources}
    return len(sources) == 1 and sum(map(bool, outside)) <= MAX_ENTRY_READERS


def contract_groups(dag: Dag, groups: Iterable[tuple[Sequence[int], FlowBox]]) -> Dag:
    """Put the box of each group in the place of its first member; its inputs are in the order of `members`."""
    owner = list(range(len(dag)))
    boxes = list(dag.boxes)
    grouped: list[int] = []
    for members, box in groups:
        grouped += members
        for member in members:
            owner[member] = len(boxes)
        boxes.append(box)
    if len(boxes) == len(dag):
        return dag
    # Boxes keep the order of their first members; dictionaries keep slot order, each source once.
    place: dict[int, int] = {}
    for box_id in owner:
        place.setdefault(box_id, len(place))
    before: list[dict[int, None]] = [{} for _ in place]
    for target in [*grouped, *(box for box in range(len(dag)) if owner[box] == box)]:
        target_place = place[owner[target]]
        for source in dag.before[target]:
            if (source_place := place[owner[source]]) != target_place:
                before[target_place][source_place] = None
    outside: list[list[int]] | None = None
    if dag.outside is not None:
        outside = [[] for _ in place]
        for target, outside_sources in enumerate(dag.outside):
            listed_sources = outside[place[owner[target]]]
            listed_sources += [source for source in outside_sources if source not in listed_sources]
    return make_dag([boxes[box_id] for box_id in place], [list(sources) for sources in before], outside)


def _is_acyclic(after: Sequence[Sequence[int]]) -> bool:
    return len(topological_order(after)) == len(after)


def find_cycles(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components of more than one node."""
    if _is_acyclic(after):
        return []
    filed: dict[int, list[int]] = {}
    for node, component in enumerate(strong_components(after)):
        filed.setdefault(component, []).append(node)
    return sorted(members for members in filed.values() if len(members) > 1)


def dag_components(dag: Dag, skip: Collection[int] = ()) -> list[list[int]]:
    """Return the weak components of a graph; edges that touch `skip` join nothing."""
    return weak_components(
        len(dag),
        (
            (source, target)
            for target, sources in enumerate(dag.before)
            if target not in skip
            for source in sources
            if source not in skip
        ),
    )
