"""Runs of numbered names that are side by side in one group become series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.group.flow.box import FlowBox, SymbolNumbers
from graphviz_tb.group.flow.dag import Dag, contract
from graphviz_tb.group.series import SeriesRun
from graphviz_tb.model.hierarchy import How
from graphviz_tb.model.paths import last_segment


def series_box(members: Sequence[FlowBox], run: SeriesRun, symbols: SymbolNumbers) -> FlowBox:
    """A run as a stack."""
    symbol, ops = symbols.of("run", *(member.symbol for member in members)), sum(member.ops for member in members)
    box = FlowBox(last_segment(run.name), symbol, ops, how=How.NAME, members=list(members))
    box.unit = members[0].symbol
    return box


def stack_runs(dag: Dag, runs: Iterable[SeriesRun], symbols: SymbolNumbers) -> Dag:
    """Fold runs whose members all have the same inputs and the same users: they are side by side in any picture."""
    place = {box.row: index for index, box in enumerate(dag.boxes) if not box.feeders}
    stacks: list[tuple[list[int], FlowBox]] = []
    for run in runs:
        members = [place[row] for row in run.members if row in place]
        if len(members) == len(run.members) and side_by_side(dag, members):
            stacks.append((members, series_box([dag.boxes[index] for index in members], run, symbols)))
    return contract(dag, stacks)


def side_by_side(dag: Dag, members: Sequence[int]) -> bool:
    """Whether boxes all have the same inputs and the same users."""
    ways = {(tuple(sorted(dag.before[index])), tuple(sorted(dag.after[index]))) for index in members}
    return len(ways) == 1


def with_series(boxes: list[FlowBox], runs: Iterable[SeriesRun], symbols: SymbolNumbers) -> list[FlowBox]:
    """Fold runs whose members all are in one group, or on the level itself; members of other stacks stay there."""
    by_row = {row: run for run in runs for row in run.members}
    if not by_row:
        return boxes
    todo = [box for box in boxes if box.members]  # grows while it is gone through: groups in groups
    for box in todo:
        todo += [member for member in box.members if member.members]
        if not box.stack:
            box.members = gathered(box.members, by_row, symbols)
    return gathered(boxes, by_row, symbols)


def gathered(boxes: list[FlowBox], by_row: dict[int, SeriesRun], symbols: SymbolNumbers) -> list[FlowBox]:
    """One list of boxes with its whole runs in the places of their first members."""
    held: dict[str, list[FlowBox]] = {}
    for box in boxes:
        if box.row in by_row and not box.feeders:
            held.setdefault(by_row[box.row].name, []).append(box)
    kept: list[FlowBox] = []
    for box in boxes:
        run = by_row.get(box.row)
        members = held.get(run.name, []) if run else []
        # A run that is not whole here is no series, and one that is all of a group needs no box around it.
        if run is None or box.feeders or len(members) < len(run.members) or len(members) == len(boxes):
            kept.append(box)
        elif members[0] is box:
            in_order = {row: position for position, row in enumerate(run.members)}
            kept.append(series_box(sorted(members, key=lambda member: in_order[member.row]), run, symbols))
    return kept
