"""Stacks outside of sequences: parallel boxes, numbered series, and chains of scopes with skip connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, Dag, FlowBox, SymbolTable, contract_groups, make_stack, walk_groups
from graphviz_tb.fold.flow.invariants import FoldContext, as_stack_member, rows_inside
from graphviz_tb.fold.flow.levels import Siblings
from graphviz_tb.fold.flow.names import name_form
from graphviz_tb.fold.flow.near_repeats import are_numbered
from graphviz_tb.fold.flow.widths import is_layer_type
from graphviz_tb.fold.series import SeriesRun
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.model.paths import last_segment

# Equal structures between the same neighbours become one stack: towers, experts, heads.

MIN_ALIKE_BOXES = 3  # equal parallel boxes


def stack_same_neighbours(dag: Dag, symbols: SymbolTable) -> Dag:
    """Stack boxes of one symbol that have the same inputs and the same users."""
    alike: dict[tuple[int, tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for index, box in enumerate(dag.boxes):
        # Boxes without edges have no neighbours to compare.
        if box.ops >= MIN_STACK_OPS and (dag.before[index] or dag.after[index]):
            key = (box.symbol, tuple(sorted(dag.before[index])), tuple(sorted(dag.after[index])))
            alike.setdefault(key, []).append(index)
    return contract_groups(
        dag,
        [
            (members, make_stack(symbols, [dag.boxes[index] for index in members], key[0], sideways=True))
            for key, members in alike.items()
            if len(members) >= MIN_ALIKE_BOXES
        ],
    )


# Series on a folded level: runs of numbered names that are side by side in one group.

MAX_PAIRING_ROUNDS = 8  # rounds of dropping runs; after them, only runs that depend on no other are kept


def _make_series_box(members: Sequence[FlowBox], run: SeriesRun, symbols: SymbolTable) -> FlowBox:
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
        (members, _make_series_box([dag.boxes[index] for index in members], run, symbols))
        for run, members in _parallel_runs(dag, {run: [place[row] for row in run.members] for run in whole})
    ]
    return contract_groups(dag, stacks)


def _parallel_runs(dag: Dag, runs: Mapping[SeriesRun, list[int]]) -> list[tuple[SeriesRun, list[int]]]:
    """Return the runs whose members all have the same inputs and the same users.

    Members with numbered users (`head_0 ─▶ prior_0`, `head_1 ─▶ prior_1` …) count as equal if both runs fold and each
    also has other neighbours; otherwise each number is a separate tower. Runs depend on each other: drop those that
    fail, and check the rest again.
    """
    left = dict(runs)
    for _ in range(MAX_PAIRING_ROUNDS):
        known = {member: (run.name, number) for run, members in left.items() for number, member in enumerate(members)}
        fitting = {run: members for run, members in left.items() if _have_same_neighbours(dag, members, known)}
        if len(fitting) == len(left):
            return list(left.items())
        left = fitting
    return [(run, members) for run, members in left.items() if _have_same_neighbours(dag, members, {})]


def _have_same_neighbours(dag: Dag, members: Sequence[int], known: Mapping[int, tuple[str, int]]) -> bool:
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
            box.members = _gather_runs(box.members, by_row, symbols)
    return _gather_runs(boxes, by_row, symbols)


def _gather_runs(boxes: list[FlowBox], by_row: dict[int, SeriesRun], symbols: SymbolTable) -> list[FlowBox]:
    """Return a list of boxes with each complete run folded, in the place of its first member."""
    boxes = _absorb_run_ends(boxes, by_row, symbols)
    held: dict[str, list[FlowBox]] = {}
    for box in boxes:
        if box.row in by_row and not box.feeders:
            held.setdefault(by_row[box.row].name, []).append(box)
    kept: list[FlowBox] = []
    for box in boxes:
        run = by_row.get(box.row)
        members = held.get(run.name, []) if run else []
        # An incomplete run is not a series, and a run that is all of a group needs no box.
        if run is None or box.feeders or len(members) < len(run.members) or len(members) == len(boxes):
            kept.append(box)
        elif members[0] is box:
            in_order = {row: position for position, row in enumerate(run.members)}
            kept.append(_make_series_box(sorted(members, key=lambda member: in_order[member.row]), run, symbols))
    return kept


def _absorb_run_ends(boxes: list[FlowBox], by_row: dict[int, SeriesRun], symbols: SymbolTable) -> list[FlowBox]:
    """Move the first and last members of a run into the stack of its other members.

    The first member often has different inputs.
    """
    kept: list[FlowBox] = []
    taken = 0
    for place, box in enumerate(boxes):
        run = by_row.get(box.members[0].row) if box.is_repetition else None
        if run is None or not all(by_row.get(member.row) is run and not member.feeders for member in box.members):
            continue
        start, stop = place, place + 1
        while start > taken and _is_run_member(boxes[start - 1], run, by_row):
            start -= 1
        while stop < len(boxes) and _is_run_member(boxes[stop], run, by_row):
            stop += 1
        members = [*boxes[start:place], *box.members, *boxes[place + 1 : stop]]
        if len(members) == len(run.members) and len(members) > len(box.members):
            by_number = {row: number for number, row in enumerate(run.members)}
            members.sort(key=lambda member: by_number[member.row])
            kept += [*boxes[taken:start], _make_series_box(members, run, symbols)]
            taken = stop
    return [*kept, *boxes[taken:]]


def _is_run_member(box: FlowBox, run: SeriesRun, by_row: dict[int, SeriesRun]) -> bool:
    """Return whether a box is a member of a run, without feeders."""
    return by_row.get(box.row) is run and not box.feeders


# Stacks of numbered scopes in a chain, even with skip connections: the levels of a U-Net.
#
# down_0 ─▶ down_1 ─▶ down_2 ─▶ up_2 ─▶ up_1 ─▶ up_0        two stacks of three
#    └─────────┴─────────┴────────▲───────▲───────▲

MIN_CHAIN_SCOPES = 3  # of two, both are shown
MIN_SHARED_OPS = 0.5  # of the larger of two numbered scopes


def _scope_in_member(box: FlowBox) -> FlowBox:
    """Return the scope in a member that is a group of a scope and small ops; otherwise the box itself."""
    if box.how == GroupOrigin.REGION:
        return next((member for member in box.members if member.scope and member.symbol == box.symbol), box)
    scopes = [member for member in box.members if member.scope] if box.how == GroupOrigin.REPEAT else []
    return scopes[0] if len(scopes) == 1 and box.ops - scopes[0].ops < MIN_STACK_OPS else box


def stack_chains(boxes: list[FlowBox], level: Siblings, context: FoldContext) -> list[FlowBox]:
    """Stack chains in every list of boxes of a level. Lists follow the flow, so each stretch is convex."""
    found = [run for each in _box_lists(boxes) for run in _find_numbered_runs(each, context)]
    return _stack_runs(boxes, [run for run in found if not context.widths.are_stages(_blocks_of(run))], level, context)


def _stack_runs(
    boxes: list[FlowBox], found: Sequence[list[FlowBox]], level: Siblings, context: FoldContext
) -> list[FlowBox]:
    """Stack each run in which every block feeds the next."""
    if not found:
        return boxes
    blocks = {id(run[0]): _blocks_of(run) for run in found}
    owner = {row.row: box for run in blocks.values() for box in run for row in rows_inside(box)}
    rows, edges = level.rows, level.edges
    fed = {
        (id(source), id(target))
        for start, stop in zip(edges.source.tolist(), edges.target.tolist(), strict=True)
        if (source := owner.get(rows[start])) and (target := owner.get(rows[stop])) and source is not target
    }
    chains = [run for run in found if all((id(one), id(other)) in fed for one, other in pairwise(blocks[id(run[0])]))]
    made = {
        id(first): make_stack(
            context.symbols, list(map(as_stack_member, blocks[id(first)])), blocks[id(first)][-1].symbol
        )
        for first, *_ in chains
    }
    gone = {id(box) for run in chains for box in run[1:]}
    for each in _box_lists(boxes):
        each[:] = [made.get(id(box), box) for box in each if id(box) not in gone]
    return boxes


def _blocks_of(run: Iterable[FlowBox]) -> list[FlowBox]:
    """Return the boxes of a run, and the members of the stacks in it."""
    return [block for box in run for block in (box.members if box.is_repetition else [box])]


def _box_lists(boxes: list[FlowBox]) -> list[list[FlowBox]]:
    """Return the boxes of a level, and those of each group in it except stacks."""
    return [boxes, *(box.members for box in walk_groups(boxes) if not box.is_repetition)]


def _find_numbered_runs(boxes: list[FlowBox], context: FoldContext) -> list[list[FlowBox]]:
    """Return runs of adjacent scopes and stacks of scopes that are numbered in order and nearly equal.

    A run must contain all scopes of its name in the list. The first scope may compute inputs for the others, and the
    last may compute less.
    """
    scopes = {
        place: held
        for place, box in enumerate(boxes)
        if not box.sideways and all(map(_is_scope_box, held := [_scope_in_member(each) for each in _blocks_of([box])]))
    }
    if len(scopes) < 2:  # only saves time
        return []
    forms = {place: name_form(held[0].name) for place, held in scopes.items()}
    count = Counter(forms.values())
    found = []
    for form, places in groupby(range(len(boxes)), forms.get):
        if form is None or count[form] < 2 or len(run := list(places)) < count[form]:
            continue
        members = [scope for place in run for scope in scopes[place]]
        usual = [scope for place in run for scope in _usual_members(scopes[place])]
        whole = MIN_CHAIN_SCOPES <= len(members) <= context.most and are_numbered(members)
        if whole and not context.widths.stage_borders(members) and _are_alike(usual, context):
            found.append([boxes[place] for place in run])
    return found


def _usual_members(stacked: Sequence[FlowBox]) -> Sequence[FlowBox]:
    """Return the members of a stack without the first and the last, which may differ; all members of a short stack."""
    return stacked[1:-1] if len(stacked) > MIN_CHAIN_SCOPES + 1 else stacked


def _are_alike(scopes: Sequence[FlowBox], context: FoldContext) -> bool:
    """Return whether scopes have equal ops, and channels that do not change.

    The first and the last may have more ops, or lack ops that are no layers.
    """
    widths = [context.widths.output_channels([scope]) for scope in scopes]
    if any(one and other and one.isdisjoint(other) for one, other in pairwise(widths)):
        return False
    first, *middle, last = (context.types.type_counts(scope) for scope in scopes)
    if any(ops != middle[0] for ops in middle):
        return False
    for ops in (first, last):
        less, more = sorted((ops, middle[0]), key=Counter.total)
        if not less <= more or less.total() < MIN_SHARED_OPS * more.total() or any(map(is_layer_type, middle[0] - ops)):
            return False
    return True


def _is_scope_box(box: FlowBox) -> bool:
    """Return whether a box is a scope of the file or a group by name."""
    return (box.scope or box.how == GroupOrigin.NAME) and not box.is_repetition
