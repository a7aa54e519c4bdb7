"""State of a level while its boxes are sorted into flow and aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.model.columns import Longs


@dataclass(slots=True, eq=False)
class FlowSorting:
    """Boxes of a level, and what is known of them so far.

    before, after   flow between `boxes`
    variable        which boxes are variables
    away            boxes that move aside
    busy            scopes in `away` that close cycles
    stored          boxes in `away` that only feed storage or are storage
    rings           remaining cycles
    back            edges that make each control flow v1 loop one cycle (see `loop_closing_edges`)
    """

    boxes: Sequence[FlowBox]
    before: list[dict[int, None]]
    after: list[list[int]]
    variable: Sequence[bool]
    away: set[int] = field(default_factory=set)
    busy: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)
    rings: list[list[int]] = field(default_factory=list)
    back: list[tuple[int, int]] = field(default_factory=list)

    def count_ops(self, boxes: Iterable[int]) -> int:
        """Return the number of ops in some boxes."""
        return sum(self.boxes[box].ops for box in boxes)

    def flow_users(self, box: int) -> list[int]:
        """Return the boxes of the flow that use one."""
        return [user for user in self.after[box] if user not in self.away] if self.away else self.after[box]

    def set_storage_aside(self, feeding: Iterable[int], stores: Iterable[int]) -> None:
        """Set aside what only feeds storage, and what only feeds that; `feeding` boxes feed it, `stores` hold it."""
        # Remaining users of each box in the flow; at 0 it feeds storage only.
        left = (
            [len(self.flow_users(box)) for box in range(len(self.boxes))] if self.away else list(map(len, self.after))
        )
        for box in {source for busy in self.busy for source in self.before[busy]}:
            left[box] += 1
        # A busy scope of a cycle feeds the flow: what feeds it is flow too.
        ends = [box for box in self.away if box not in self.busy]
        feeds = set(feeding).union(source for box in ends for source in self.before[box])
        todo = sorted(box for box in feeds if box not in self.away and not left[box])
        while todo:
            self.away.update(todo)
            self.stored.update(todo)
            stored: set[int] = set()
            for box in todo:
                for source in self.before[box]:
                    left[source] -= 1
                    if not left[source] and source not in self.away:
                        stored.add(source)
            todo = sorted(stored)  # in rounds: each takes what only fed the previous ones
        self.stored.update(box for box in stores if not self.boxes[box].scope and not left[box])

    def set_unconnected_aside(self) -> None:
        """Set aside boxes without flow, and variables with several readers."""
        loose = {box for box in range(len(self.boxes)) if box not in self.away and not self._has_flow(box)}
        if len(loose) < len(self.boxes) - len(self.away):  # unless nothing flows at all
            self.away |= loose
        self.away |= {box for box, variable in enumerate(self.variable) if variable and len(self.flow_users(box)) != 1}

    def _has_flow(self, box: int) -> bool:
        if not self.away.issuperset(self.after[box]):
            return True
        return any(source not in self.away and not self.variable[source] for source in self.before[box])


def start_sorting(boxes: Sequence[FlowBox], source: Longs, target: Longs, variable: Sequence[bool]) -> FlowSorting:
    """Return a sorting with everything in the flow. Edges are ordered by target and slot."""
    before: list[dict[int, None]] = [{} for _ in boxes]
    for start, stop in zip(source.tolist(), target.tolist(), strict=True):
        before[stop][start] = None
    after: list[list[int]] = [[] for _ in boxes]
    for stop, sources in enumerate(before):
        for start in sources:
            after[start].append(stop)
    return FlowSorting(boxes, before, after, variable)
