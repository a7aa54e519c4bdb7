"""Series on a folded level: runs of numbered names that are side by side in one group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphviz_tb.group.flow.box import FlowBox, SymbolTable
from graphviz_tb.group.flow.dag import Dag, contract_groups
from graphviz_tb.group.series import SeriesRun
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.model.paths import last_segment

MAX_PAIRING_ROUNDS = 8  # of dropping runs paired with a dropped run; after these, only unpaired runs are kept


def make_series_box(members: Sequence[FlowBox], run: SeriesRun, symbols: SymbolTable) -> FlowBox:
    """Make a stack of a run."""
    symbol, ops = (
        symbols.symbol_of("run", *(member.symbol for member in members)),
        sum(member.ops for member in members),
    )
    box = FlowBox(last_segment(run.name), symbol, ops, how=GroupOrigin.NAME, members=list(members))
    box.unit = members[0].symbol
    return box


def stack_parallel_runs(dag: Dag, runs: Iterable[SeriesRun], symbols: SymbolTable) -> Dag:
    """Fold runs whose members all have the same inputs and the same users: they are parallel in any picture."""
    place = {box.row: index for index, box in enumerate(dag.boxes) if not box.feeders}
    whole = [run for run in runs if all(row in place for row in run.members)]
    stacks = [
        (members, make_series_box([dag.boxes[index] for index in members], run, symbols))
        for run, members in parallel_runs(dag, {run: [place[row] for row in run.members] for run in whole})
    ]
    return contract_groups(dag, stacks)


def parallel_runs(dag: Dag, runs: Mapping[SeriesRun, list[int]]) -> list[tuple[SeriesRun, list[int]]]:
    """Return the runs whose members all have the same inputs and the same users.

    Members with numbered users (`head_0 ─▶ prior_0`, `head_1 ─▶ prior_1` …) count as equal if both runs fold and each
    also has other neighbours; otherwise each number is a separate tower. As runs depend on each other, drop those that
    fail and repeat.
    """
    left = dict(runs)
    for _ in range(MAX_PAIRING_ROUNDS):
        known = {member: (run.name, number) for run, members in left.items() for number, member in enumerate(members)}
        fitting = {run: members for run, members in left.items() if have_same_neighbours(dag, members, known)}
        if len(fitting) == len(left):
            return list(left.items())
        left = fitting
    return [(run, members) for run, members in left.items() if have_same_neighbours(dag, members, {})]


def have_same_neighbours(dag: Dag, members: Sequence[int], known: Mapping[int, tuple[str, int]]) -> bool:
    """Return whether the members of a run have equal inputs and users.

    A neighbour in a run of `known` (run name and position by box) counts as the run if it has the member's number.
    """

    def side(number: int, box: int, others: Sequence[int]) -> tuple[tuple[str, int], ...]:
        of_number = [other for other in others if known.get(other, ("", -1))[1] == number]
        paired = {other: known[other][0] for other in of_number if dag.boxes[box].scope or dag.boxes[other].scope}
        if len(paired) == len(others):
            paired = {}
        return tuple(sorted((paired[other], -1) if other in paired else ("", other) for other in others))

    ways = (
        (side(number, box, dag.before[box]), side(number, box, dag.after[box])) for number, box in enumerate(members)
    )
    first = next(ways)
    return all(way == first for way in ways)


def fold_series(boxes: list[FlowBox], runs: Iterable[SeriesRun], symbols: SymbolTable) -> list[FlowBox]:
    """Fold runs whose members all are in one group, or on the level itself; members of other stacks stay there."""
    by_row = {row: run for run in runs for row in run.members}
    if not by_row:
        return boxes
    todo = [box for box in boxes if box.members]  # grows during the loop: groups in groups
    for box in todo:
        todo += [member for member in box.members if member.members]
        if not box.is_repetition:
            box.members = gather_runs(box.members, by_row, symbols)
    return gather_runs(boxes, by_row, symbols)


def gather_runs(boxes: list[FlowBox], by_row: dict[int, SeriesRun], symbols: SymbolTable) -> list[FlowBox]:
    """Return one list of boxes with its complete runs in the places of their first members."""
    boxes = absorb_run_ends(boxes, by_row, symbols)
    held: dict[str, list[FlowBox]] = {}
    for box in boxes:
        if box.row in by_row and not box.feeders:
            held.setdefault(by_row[box.row].name, []).append(box)
    kept: list[FlowBox] = []
    for box in boxes:
        run = by_row.get(box.row)
        members = held.get(run.name, []) if run else []
        # An incomplete run is no series, and a run that is all of a group needs no box.
        if run is None or box.feeders or len(members) < len(run.members) or len(members) == len(boxes):
            kept.append(box)
        elif members[0] is box:
            in_order = {row: position for position, row in enumerate(run.members)}
            kept.append(make_series_box(sorted(members, key=lambda member: in_order[member.row]), run, symbols))
    return kept


def absorb_run_ends(boxes: list[FlowBox], by_row: dict[int, SeriesRun], symbols: SymbolTable) -> list[FlowBox]:
    """Move members of a run right before and after a stack of all its other members into that stack.

    The first member often has different inputs, but belongs to the series all the same.
    """
    kept: list[FlowBox] = []
    taken = 0
    for place, box in enumerate(boxes):
        run = by_row.get(box.members[0].row) if box.is_repetition else None
        if run is None or not all(by_row.get(member.row) is run and not member.feeders for member in box.members):
            continue
        start, stop = place, place + 1
        while start > taken and is_run_member(boxes[start - 1], run, by_row):
            start -= 1
        while stop < len(boxes) and is_run_member(boxes[stop], run, by_row):
            stop += 1
        members = [*boxes[start:place], *box.members, *boxes[place + 1 : stop]]
        if len(members) == len(run.members) and len(members) > len(box.members):
            by_number = {row: number for number, row in enumerate(run.members)}
            members.sort(key=lambda member: by_number[member.row])
            kept += [*boxes[taken:start], make_series_box(members, run, symbols)]
            taken = stop
    return [*kept, *boxes[taken:]]


def is_run_member(box: FlowBox, run: SeriesRun, by_row: dict[int, SeriesRun]) -> bool:
    """Return whether a box is a member of a run, without feeders."""
    return by_row.get(box.row) is run and not box.feeders
