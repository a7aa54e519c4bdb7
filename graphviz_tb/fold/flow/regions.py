"""Fold one level along its flow: independent parts, narrow places, the regions between them, and repeats.

A place is narrow if everything after it uses only one box before it (a dominator of the end). The stretch between two
narrow places is a region, with branches and an exit:

       ┌─▶ b ─▶ c ─┐
  a ───┤           ├──▶ e ──▶ f       narrow after a, e and f: the region is {b, c, d, e},
       └─▶ d ──────┘                  its branches b c and d, its exit e

The regions are a sequence, in which repeats become stacks. A level without narrow places is tried with wider cuts,
without its longest edges, and box by box; the result with the least reading cost wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from graphviz_tb.fold.flow.box import (
    MIN_STACK_OPS,
    Dag,
    FlowBox,
    contract_groups,
    copy_groups_onto,
    dag_components,
    make_group,
    make_stack,
    sub_dag,
    walk_groups,
    wiring_key,
)
from graphviz_tb.fold.flow.invariants import (
    MAX_FLOW_DEPTH,
    PEELING_COST,
    FoldContext,
    cut_into_segments,
    narrow_to_limit,
    total_child_count,
)
from graphviz_tb.fold.flow.names import find_name_families, join_words
from graphviz_tb.fold.flow.order import (
    MAX_TOKEN_DISTANCE,
    FlowOrder,
    box_tokens,
    boxes_needing_few,
    ignore_far_lines,
    place_span,
    with_ancestors,
)
from graphviz_tb.fold.flow.repeats import fold_repeats
from graphviz_tb.fold.flow.sequence import SequenceElement
from graphviz_tb.fold.flow.stacks import stack_same_neighbours
from graphviz_tb.fold.flow.stages import (
    MIN_STAGE_HEAD_SHARE,
    equate_residual_blocks,
    fold_heads,
    fold_stages,
    join_residual_blocks,
)
from graphviz_tb.fold.flow.streams import order_by_blocks
from graphviz_tb.model.hierarchy import GroupOrigin

# Reading cost of a level, and removal of groups that hide too little.

# share of a level in one group; boxes of a level in which a group is nearly alone
LARGE_GROUP_SHARE, NEARLY_ALONE_BOXES = 0.3, 5


def _reading_cost(boxes: Sequence[FlowBox]) -> int:
    """Return the number of boxes that a reader sees after opening each distinct group once."""
    seen: set[int] = set()
    total = len(boxes)
    todo = list(boxes)
    while todo:
        box = todo.pop()
        if box.is_repetition:  # one repetition is opened
            box = box.members[0]
        if not box.members or box.symbol in seen:
            continue
        seen.add(box.symbol)
        total += len(box.members)
        todo += box.members
    return total


def _dissolve_groups(boxes: list[FlowBox], limit: int, total: int) -> list[FlowBox]:
    """Open groups without a name, the largest first, while the level has at most `limit` boxes.

    A group is opened if it has two members, holds much of the level, is nearly alone, or the level has no stacks.
    """
    unnamed = (GroupOrigin.REGION, GroupOrigin.BRANCH, GroupOrigin.SEGMENT)
    plain = not any(box.is_repetition for box in boxes)
    while True:
        # Terminates: each round opens one group, and none that would exceed `limit`.
        candidates = [
            place
            for place, box in enumerate(boxes)
            if box.how in unnamed
            and len(boxes) - 1 + len(box.members) <= limit
            and (
                plain
                or box.ops > LARGE_GROUP_SHARE * total
                or (len(boxes) < NEARLY_ALONE_BOXES and box.how != GroupOrigin.SEGMENT)
                or len(box.members) == 2  # hides only one box
            )
        ]
        if not candidates:
            return boxes
        largest = max(candidates, key=lambda place: (boxes[place].ops, -place))
        boxes = [*boxes[:largest], *boxes[largest].members, *boxes[largest + 1 :]]


def _open_plain_stages(boxes: list[FlowBox], limit: int) -> list[FlowBox]:
    """Replace all stages by their members if there is room and no head counts as a repetition."""
    stages = [box for box in boxes if box.how == GroupOrigin.STAGE and not box.is_repetition]
    if not stages or any(_is_head_counted(box) for box in stages):
        return boxes
    opened = [member for box in boxes for member in (box.members if box in stages else [box])]
    return opened if len(opened) <= limit else boxes


def _simplify_level(boxes: list[FlowBox], limit: int, total: int) -> list[FlowBox]:
    """Open the groups that a level need not have."""
    return _open_plain_stages(_dissolve_groups(boxes, limit, total), limit)


def _is_head_counted(stage: FlowBox) -> bool:
    """Return whether the head of a stage is nearly as large as a repetition, so that a reader counts it."""
    stacks = [box for box in stage.members if box.is_repetition] or stage.members[-1:]
    if not stacks:  # a single scope
        return True
    least = MIN_STAGE_HEAD_SHARE * max(box.ops_per_repetition for box in stacks)
    return any(box.ops >= least for box in stage.members if box not in stacks)


SMALL_REGION_BOXES = 7  # groups by name up to this size need no regions
SHOWN_REGION_BOXES = 12  # regions up to this size have no groups for branches
MAX_CROSSING_LINES = 6  # edges that may cross a narrow place if there is no narrower one
MAX_REGION_SHARE = 0.8  # of a level in one region
NEAR_DISTANCES = 8  # distances that matter if every box is an element
LARGE_LEVEL_BOXES = 33  # in smaller levels, far edges do not matter
HUGE_LEVEL_BOXES = 20_000  # larger levels get no second pass, which takes seconds
FAR_LINE_DIVISORS = (3, 6, 12)  # an edge over a third of the level passes whole stages; a last stage is smaller
MIN_FAR_LINE = 8  # boxes; a shortcut passes fewer
MIN_COST_RATIO = 1.1  # a sequence of single boxes must be cheaper by this factor
MAX_SHORTENED_SHARE = 0.8  # of a level; longer sequences of single boxes do not repeat enough
MAX_BRANCH_WIDTH = 28  # boxes of a branch that fit in a picture next to its surroundings
MIN_PARALLEL_PATHS, MAX_SHARED_NEEDS = 3, 8  # paths behind shared inputs; ancestors of such an input
MAX_PATH_SHARE = 0.5  # of the level on one path; with more, the others are its branches
MIN_LARGE_STACK, MIN_SMALL_STACK, NO_STACK = 2, 5, 1 << 30  # equal boxes in a stack
MIN_PAIR_OPS = 20  # ops of a branch of which two make a stack


def _fold_flow(dag: Dag, context: FoldContext, limit: int, depth: int = 0) -> list[FlowBox]:
    """Return the boxes of a level in an order along its flow, groups convex; at most `limit` boxes if possible."""
    if len(dag) <= 2:  # nothing to fold
        return [dag.boxes[index] for index in context.order(dag).line]
    order = context.order(dag)
    if depth > MAX_FLOW_DEPTH or not context.budget.take(len(dag)):
        return narrow_to_limit([dag.boxes[index] for index in order.line], context, limit)
    early = with_ancestors(dag, order.broadcast) if order.broadcast else set()
    parts = dag_components(dag, early)
    # Each broadcast and each of its ancestors is a separate component.
    if sum(1 for component in parts if len(component) > 1) != 1 or len(parts) - len(early) > limit:
        return _fold_independent_parts(dag, order, parts, early, context, depth)
    if len(dag) > context.soft and (shared := _find_shared_inputs(dag, order)):
        return _fold_independent_parts(dag, order, dag_components(dag, shared), shared, context, depth)
    best = _cheapest_sequence(dag, order, context, depth)
    boxes = [dag.boxes[index] for index in order.line] if best is None else [element.box for element in best]
    return narrow_to_limit(boxes, context, limit, dag)


def _fold_independent_parts(
    dag: Dag, order: FlowOrder, parts: list[list[int]], early: set[int], context: FoldContext, depth: int
) -> list[FlowBox]:
    """Fold independent parts separately, and stack equal ones sideways; boxes that feed them (`early`) come first."""
    place = order.place
    first = [dag.boxes[index] for index in sorted(early, key=place.__getitem__)]
    folded: list[FlowBox] = []
    for members in sorted(
        (component for component in parts if component[0] not in early),
        key=lambda component: min(map(place.__getitem__, component)),
    ):
        folded.append(_fold_branch(dag, sorted(members, key=place.__getitem__), context, depth))
    return first + (_stack_parallel_parts(folded, context) if len(folded) > 4 else folded)


def _fold_branch(dag: Dag, members: list[int], context: FoldContext, depth: int = 0) -> FlowBox:
    """Fold some boxes of a level to one. Branches with equal structure and wiring are folded once."""
    if len(members) == 1:
        return dag.boxes[members[0]]
    here, key = [dag.boxes[member] for member in members], wiring_key(dag, members)
    known = context.branches.get(key)
    if known is None:
        inside = sub_dag(dag, members)
        # Equal tokens are equal boxes with equal wiring (up to very long edges): no isomorphism test is needed.
        symbol = context.symbols.symbol_of("shape", *box_tokens(inside, context.order(inside), context.symbols))
        boxes = _fold_flow(inside, context, context.soft, depth + 1)
        if total_child_count(boxes) > MAX_BRANCH_WIDTH:
            boxes = cut_into_segments(boxes, context)
        if not any(box.how == GroupOrigin.SEGMENT for box in walk_groups(boxes)):  # segment cuts depend on names
            context.branches[key] = here, copy_groups_onto(boxes, here, here), symbol  # copied: see `_fold_region`
    else:
        first, folded_first, symbol = known
        boxes = copy_groups_onto(folded_first, first, here)
    return boxes[0] if len(boxes) == 1 else make_group(GroupOrigin.BRANCH, boxes, symbol)


def _stack_parallel_parts(boxes: list[FlowBox], context: FoldContext) -> list[FlowBox]:
    """Stack equal parts that do not feed each other: at least two, or five small ones if the level is too wide."""
    plain = MIN_SMALL_STACK if total_child_count(boxes) > context.most else NO_STACK
    return _stack_equal_boxes(boxes, context, lambda box: MIN_LARGE_STACK if box.ops >= MIN_STACK_OPS else plain)


def _stack_equal_boxes(
    boxes: Sequence[FlowBox], context: FoldContext, fewest: Callable[[FlowBox], int]
) -> list[FlowBox]:
    """Stack boxes of one symbol, in the place of the first, if there are at least `fewest(box)`."""
    alike: dict[int, list[FlowBox]] = {}
    for box in boxes:
        alike.setdefault(box.symbol, []).append(box)
    kept: list[FlowBox] = []
    for symbol, members in alike.items():
        if len(members) >= fewest(members[0]):
            kept.append(make_stack(context.symbols, members, symbol, sideways=True))
        else:
            kept += members
    return kept


def _cheapest_sequence(dag: Dag, order: FlowOrder, context: FoldContext, depth: int) -> list[SequenceElement] | None:
    """Return the sequence of the level with the least reading cost, None if there is none.

    If the sequence between narrow places explains little, try ignoring far edges, and single boxes.
    """
    wide, ends = _find_narrow_places(dag, order, context)
    best: list[SequenceElement] | None = None
    if wide < MAX_CROSSING_LINES or len(dag) <= context.soft:
        sequence = _make_elements(dag, order, ends, box_tokens(dag, order, context.symbols), context, depth)
        largest = max((element.box.ops for element in sequence if element.fork), default=0)
        best = _fold_sequence(sequence, context)
        # Good enough: a small level, or narrow places without a region that holds most ops.
        if len(dag) <= context.soft or (wide == 1 and largest <= dag.total_ops() / 2):
            return best
    if LARGE_LEVEL_BOXES <= len(dag) <= HUGE_LEVEL_BOXES:
        for near in _sequences_ignoring_far_lines(dag, order, context, depth):
            other = _fold_sequence(near, context)
            best = other if best is None or _sequence_cost(other) < _sequence_cost(best) else best
        if paired := order_by_blocks(dag, order):
            by_blocks, ends = paired
            tokens = box_tokens(dag, by_blocks, context.symbols)
            other = _fold_sequence(_make_elements(dag, by_blocks, ends, tokens, context, depth), context)
            best = other if best is None or _sequence_cost(other) < _sequence_cost(best) else best
    single = _single_box_sequence(dag, order, context)
    if len(single) < MAX_SHORTENED_SHARE * len(dag):
        other = fold_stages(single, context)
        best = other if best is None or MIN_COST_RATIO * _sequence_cost(other) < _sequence_cost(best) else best
    return best


def _fold_sequence(sequence: Sequence[SequenceElement], context: FoldContext) -> list[SequenceElement]:
    """Fold heads, repeats, residual blocks and stages of a sequence."""
    folded = fold_repeats(fold_heads(equate_residual_blocks(sequence, context), context), context)
    return fold_stages(join_residual_blocks(folded, sequence, context), context)


def _sequence_cost(sequence: Sequence[SequenceElement]) -> int:
    """Return the reading cost of the boxes of a sequence."""
    return _reading_cost([element.box for element in sequence])


def _find_shared_inputs(dag: Dag, order: FlowOrder) -> set[int]:
    """Return small inputs that alone connect the parallel paths of a level, such as the rates of an optimizer."""
    widely_used = [
        index
        for index, users in enumerate(dag.after)
        if len(users) >= MIN_PARALLEL_PATHS and place_span(order.place, users) >= len(dag) / 3
    ]
    shared_by_paths = boxes_needing_few(dag, widely_used, MAX_SHARED_NEEDS)
    if not shared_by_paths:  # only saves time
        return shared_by_paths
    shared = with_ancestors(dag, shared_by_paths)
    paths = [len(component) for component in dag_components(dag, shared) if component[0] not in shared]
    return shared if len(paths) >= MIN_PARALLEL_PATHS and max(paths) <= MAX_PATH_SHARE * sum(paths) else set()


def _sequences_ignoring_far_lines(
    dag: Dag, order: FlowOrder, context: FoldContext, depth: int
) -> Iterator[list[SequenceElement]]:
    """Yield the sequences between places that are narrow without far edges, such as those from a backbone to a head.

    Edges over a third of the level are ignored first, then shorter ones.
    """
    cut = order.cut()
    for divisor in FAR_LINE_DIVISORS:
        far = max(len(dag) // divisor, MIN_FAR_LINE)
        near = ignore_far_lines(dag, order, far)
        wide, ends = _find_narrow_places(dag, near, context)
        if wide == 1 and near.cut() != cut:  # more edges are far
            tokens = box_tokens(dag, near, context.symbols, min(far, MAX_TOKEN_DISTANCE))
            yield _make_elements(dag, near, ends, tokens, context, depth)
        cut = near.cut()


def _find_narrow_places(dag: Dag, order: FlowOrder, context: FoldContext) -> tuple[int, list[int]]:
    """Return the number of edges that may cross a narrow place, and the narrow places; the last place is always one."""
    count = len(dag)
    # Increase the width until no stretch between two places holds most of the level.
    for wide in range(1, MAX_CROSSING_LINES + 1):
        ends = [*(position for position, cut in enumerate(order.cut()[: count - 1]) if cut <= wide), count - 1]
        inner = len(ends) - 1
        longest = max(stop - start for start, stop in pairwise([-1, *ends]))
        if longest < MAX_REGION_SHARE * count or (wide == 1 and inner >= 3):
            break
        # Wider places would separate the parallel paths.
        if wide == 1 and inner and _has_parallel_paths(dag, order, ends):
            break
        if count <= context.soft:
            break
    return wide, ends


def _has_parallel_paths(dag: Dag, order: FlowOrder, ends: Sequence[int]) -> bool:
    """Return whether the longest stretch between narrow places consists of parallel paths that meet at its end."""
    length, stop = max((stop - start, stop) for start, stop in pairwise([-1, *ends]))
    paths = [len(path) for path in dag_components(sub_dag(dag, order.line[stop - length + 1 : stop]))]
    return len(paths) >= MIN_PARALLEL_PATHS and max(paths) <= MAX_PATH_SHARE * sum(paths)


def _single_box_sequence(dag: Dag, order: FlowOrder, context: FoldContext) -> list[SequenceElement]:
    """Return the folded sequence of single boxes, for levels with long edges: U-Nets, unrolled cells."""
    symbols = box_tokens(dag, order, context.symbols, NEAR_DISTANCES)
    return fold_repeats(_make_elements(dag, order, list(range(len(dag))), symbols, context, 0), context)


def _make_elements(
    dag: Dag, order: FlowOrder, ends: list[int], symbols: list[int], context: FoldContext, depth: int
) -> list[SequenceElement]:
    """Return one element for each stretch that ends at a narrow place; equal stretches are folded once."""
    sequence: list[SequenceElement] = []
    line, side, cut, boxes = order.line, order.side, order.cut(), dag.boxes
    start = 0
    for end in _part_equal_scopes(dag, line, ends):
        first = line[start]
        fork = start < end
        if fork:
            box, symbol = _fold_region(dag, line[start : end + 1], tuple(symbols[start : end + 1]), context, depth)
        else:
            box, symbol = boxes[first], symbols[start]
        stretch = [boxes[place] for place in line[start : end + 1]]
        shortcut = fork and any(order.place[source] < start for source in dag.before[line[end]])
        source = not fork and not dag.before[first] and not (dag.outside and dag.outside[first])
        memory = not order.memory.isdisjoint(line[start : end + 1])
        sequence.append(
            SequenceElement(box, symbol, symbol, cut[end], fork, False, side[first], stretch, shortcut, source, memory)
        )
        start = end + 1
    return sequence


def _part_equal_scopes(dag: Dag, line: Sequence[int], ends: Sequence[int]) -> Iterator[int]:
    """Yield the places at which stretches end; a stretch of equal scopes that feed each other is split after each
    scope.

    Their other inputs, such as a table that the first layer computes, are not branches.
    """
    start = 0
    for end in ends:
        first = dag.boxes[line[start]]
        pairs = pairwise(line[start : end + 1])
        if first.scope and all(
            one in dag.before[other] and dag.boxes[other].symbol == first.symbol for one, other in pairs
        ):
            yield from range(start, end)
        yield end
        start = end + 1


def _fold_region(
    dag: Dag, ids: list[int], key: tuple[int, ...], context: FoldContext, depth: int
) -> tuple[FlowBox, int]:
    """Fold a stretch of several boxes to one, once for equal tokens (`key`); return it and its symbol."""
    symbol = context.symbols.symbol_of("region", *key)
    here = [dag.boxes[index] for index in ids]
    known = context.known.get(key)
    if len(ids) > MAX_REGION_SHARE * len(dag) and not context.budget.take(PEELING_COST * len(ids)):
        boxes = narrow_to_limit(here, context, context.soft)
    elif known is None:
        inside, limit = sub_dag(dag, ids), context.soft
        # The exit may equal the box before it.
        one_more = len(ids) < len(dag) and inside.boxes[-1].symbol == inside.boxes[-2].symbol
        boxes = (
            _fold_flow(inside, context, limit, depth + 1)
            if one_more
            else _fold_inside_region(inside, context, depth + 1)
        )
        # In longer stretches tokens do not determine the wiring, as distances are capped.
        if len(key) <= MAX_TOKEN_DISTANCE:
            context.known[key] = (
                here,
                copy_groups_onto(boxes, here, here),
            )  # copied, since returned boxes are changed later
    else:
        boxes = copy_groups_onto(known[1], known[0], here)
    return boxes[0] if len(boxes) == 1 else make_group(GroupOrigin.REGION, boxes, symbol), symbol


def _fold_inside_region(dag: Dag, context: FoldContext, depth: int) -> list[FlowBox]:
    """Return the branches of a region, and its exit."""
    line = context.order(dag).line
    if len(dag) <= 3:
        return [dag.boxes[index] for index in line]
    rest = sub_dag(dag, line[:-1])
    parts = dag_components(rest)
    # A single branch needs no group; a small region shows all boxes.
    alone = sum(1 for component in parts if len(component) > 1) == 1 or len(dag) <= SHOWN_REGION_BOXES
    branching: list[FlowBox] = []
    branches: list[FlowBox] = []
    for members in parts:
        if alone and len(members) > 1:
            branching += _fold_flow(sub_dag(rest, members), context, context.soft, depth + 1)
        else:
            branches.append(_fold_branch(rest, members, context, depth))
    return [*branching, *_stack_equal_boxes(branches, context, _min_equal_branches), dag.boxes[line[-1]]]


def _min_equal_branches(box: FlowBox) -> int:
    """Return how many branches equal to this one make a stack: three, or two large ones; small ones are not stacked."""
    return MIN_LARGE_STACK if box.ops >= MIN_PAIR_OPS else 3 if box.ops >= MIN_STACK_OPS else NO_STACK


# Fold one level: equal neighbours, names, flow; without names if these do not help.

NAMELESS_COST_RATIO = 0.75  # of the cost with names; if the cost without names is less, names are dropped
MAX_UNNAMED_LEVEL = 3  # boxes; levels up to this size need no groups by name


def fold_dag(dag: Dag, context: FoldContext, limit: int, depth: int = 0) -> list[FlowBox]:
    """Return the boxes of a level, along its flow."""
    alike = stack_same_neighbours(dag, context.symbols)
    total = dag.total_ops()
    named = _fold_name_families(alike, context, depth) if depth <= MAX_FLOW_DEPTH else alike
    named = stack_same_neighbours(named, context.symbols) if named is not alike else alike  # heads with names
    boxes = _simplify_level(_fold_flow(named, context, limit, depth), limit, total)
    # Try without names, at the top of a level only: doing so at every depth would double the work each time.
    if depth == 0 and named is not alike:
        bare = _simplify_level(_fold_flow(alike, context, limit), limit, total)
        if _reading_cost(bare) < NAMELESS_COST_RATIO * _reading_cost(boxes):
            return bare
    return boxes


def _fold_name_families(dag: Dag, context: FoldContext, depth: int) -> Dag:
    """Fold the groups by name of a level, each with its content folded."""
    if len(dag) <= MAX_UNNAMED_LEVEL:
        return dag
    groups = []
    for named in find_name_families(dag, context.order(dag), context.vocabulary):
        inner = sub_dag(dag, named.members)
        symbol = context.symbols.symbol_of("shape", *box_tokens(inner, context.order(inner), context.symbols))
        fold = fold_dag if len(inner) > SMALL_REGION_BOXES else _fold_flow
        members = fold(inner, context, context.soft, depth + 1)
        groups.append((named.members, make_group(GroupOrigin.NAME, members, symbol, join_words(named.words))))
    return contract_groups(dag, groups)
