"""Boxes of one level and the flow between them, without cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from graphviz_tb.algorithms.components import strong_components, weak_components
from graphviz_tb.algorithms.topological import topological_order
from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.model.frozen import dataclass

WiringKey = tuple[tuple[int, ...], ...]  # see `wiring_key`

MAX_ENTRY_READERS = 3  # boxes that may read a single outside source


@dataclass(frozen=True, slots=True, eq=False)
class Dag:
    """`before[v]` are the boxes that feed box `v`, by slot, each once; `after[v]` those that use it.

    `outside[v]` are its sources (by `id`) left out when the graph was cut from a larger one; None for a whole level.
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
    """Return the graph of some boxes, in the given order. Sources further out are kept if all is fed from a single
    one."""
    index = {box: place for place, box in enumerate(ids)}
    before = [[index[source] for source in dag.before[box] if source in index] for box in ids]
    outside = [[id(dag.boxes[source]) for source in dag.before[box] if source not in index] for box in ids]
    if dag.outside is not None:
        farther = [dag.outside[box] + held for box, held in zip(ids, outside, strict=True)]
        outside = farther if len({source for held in farther for source in held}) == 1 else outside
    return make_dag([dag.boxes[box] for box in ids], before, outside)


def wiring_key(dag: Dag, ids: Sequence[int]) -> WiringKey:
    """Return a key that is equal for equal structures, in one order, with equal wiring, also from outside.

    For each box: its symbol and the numbers of its sources (positions in `ids`, then outside ones as they appear).
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
    sources = {source for held in outside for source in held}
    return len(sources) == 1 and sum(1 for held in outside if held) <= MAX_ENTRY_READERS


def contract_groups(dag: Dag, groups: Iterable[tuple[Sequence[int], FlowBox]]) -> Dag:
    """Put each group's box in the place of its first member."""
    owner = list(range(len(dag)))
    boxes = list(dag.boxes)
    for members, box in groups:
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
    for target, sources in enumerate(dag.before):
        to = place[owner[target]]
        for source in sources:
            if (start := place[owner[source]]) != to:
                before[to][start] = None
    outside: list[list[int]] | None = None
    if dag.outside is not None:
        outside = [[] for _ in place]
        for target, held in enumerate(dag.outside):
            known = outside[place[owner[target]]]
            known += [source for source in held if source not in known]
    return make_dag([boxes[box_id] for box_id in place], [list(sources) for sources in before], outside)


def is_acyclic(after: Sequence[Sequence[int]]) -> bool:
    """Return whether there are no cycles."""
    return len(topological_order(after)) == len(after)


def find_cycles(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components of more than one node."""
    if is_acyclic(after):
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
