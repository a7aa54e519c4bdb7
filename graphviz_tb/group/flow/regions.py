"""Flow of one level: independent parts, narrow places, the regions between them, and repeats.

A place is narrow where a single box is all that is used after it. Such boxes are dominators of the end that
post-dominate the beginning. What is between two of them is a region, with branches and an exit:

       ┌─▶ b ─▶ c ─┐
  a ───┤           ├──▶ e ──▶ f       narrow after a, e and f: the region is {b, c, d, e},
       └─▶ d ──────┘                  its branches b c and d, its exit e

The regions are a sequence, in which repeats are stacks. A level without narrow places is tried with wider cuts, box by
box, and without its longest edges; the result with the least reading cost wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from graphviz_tb.algorithms.components import union_root
from graphviz_tb.group.flow.box import MIN_STACK_OPS, FlowBox, copy_groups_onto, make_group, make_stack, walk_groups
from graphviz_tb.group.flow.dag import Dag, dag_components, sub_dag, wiring_key
from graphviz_tb.group.flow.everywhere import boxes_needing_few, place_span, with_ancestors
from graphviz_tb.group.flow.heads import fold_heads
from graphviz_tb.group.flow.order import FlowOrder, ignore_far_lines
from graphviz_tb.group.flow.readable import reading_cost
from graphviz_tb.group.flow.repeats import fold_repeats
from graphviz_tb.group.flow.sequence import BoxLine, SequenceElement, Stretch, has_same_content
from graphviz_tb.group.flow.setting import MAX_FLOW_DEPTH, PEELING_COST, FoldContext
from graphviz_tb.group.flow.sizes import cut_into_segments, narrow_to_limit, total_child_count
from graphviz_tb.group.flow.stages import fold_stages
from graphviz_tb.group.flow.tokens import MAX_TOKEN_DISTANCE, box_tokens
from graphviz_tb.model.hierarchy import GroupOrigin

SMALL_REGION_BOXES = 7  # boxes; the branches of a smaller region need no groups
MAX_CROSSING_LINES = 6  # edges that may cross a narrow place if there is no narrower one
MAX_REGION_SHARE = 0.8  # of a level in one region
NEAR_DISTANCES = 8  # distances that matter if every box is an element
LARGE_LEVEL_BOXES = 33  # boxes; smaller levels are seen at once, whatever far edges and meeting paths they have
HUGE_LEVEL_BOXES = 20_000  # boxes; no network has as many in one scope, and a second pass takes seconds
FAR_LINE_DIVISOR = 3  # an edge over a third of the level passes whole stages
MIN_COST_RATIO = 1.1  # a sequence of single boxes must be cheaper by this factor
MAX_SHORTENED_SHARE = 0.8  # of a level; longer sequences of single boxes do not repeat enough
MAX_BRANCH_WIDTH = 28  # boxes of a branch that fit in a picture next to its surroundings
MIN_PARALLEL_PATHS, MAX_SHARED_NEEDS = 3, 8  # paths behind shared inputs; boxes that such an input may need
# of a level before the place where its paths meet; of these, on one path
MIN_SHARE_BEFORE_MEETING, MAX_PATH_BEFORE_MEETING = 0.5, 0.67
MAX_PATH_SHARE = 0.5  # of the level on one path: otherwise the rest are its branches
MIN_HEAD_SHARE = 0.5  # of the ops of a stretch in a head: it is no region then
MIN_LARGE_STACK, MIN_SMALL_STACK, NO_STACK = 2, 5, 1 << 30  # equal boxes in a stack
MIN_PAIR_OPS = 20  # ops of a branch of which two make a stack


def fold_flow(dag: Dag, setting: FoldContext, limit: int, deep: int = 0) -> list[FlowBox]:
    """Return the boxes of a level, along its flow.

    After: groups, each convex, in an order along the flow; at most `limit` of them if possible.
    """
    if len(dag) <= 2:  # nothing to fold
        return [dag.boxes[index] for index in setting.order(dag).line]
    order = setting.order(dag)
    if deep > MAX_FLOW_DEPTH or not setting.budget.take(len(dag)):
        return narrow_to_limit([dag.boxes[index] for index in order.line], setting, limit)
    early = with_ancestors(dag, order.broadcast) if order.broadcast else set()
    parts = dag_components(dag, early)
    # Broadcasts and what they need join nothing, so each is a separate component.
    if sum(1 for component in parts if len(component) > 1) != 1 or len(parts) - len(early) > limit:
        return fold_independent_parts(dag, order, parts, early, setting, deep)
    return fold_connected_part(dag, order, setting, limit, deep)


def fold_independent_parts(
    dag: Dag, order: FlowOrder, parts: list[list[int]], early: set[int], setting: FoldContext, deep: int
) -> list[FlowBox]:
    """Fold independent parts, each alone, and stack equal ones sideways. What feeds several comes first."""
    place = order.place
    first = [dag.boxes[index] for index in sorted(early, key=place.__getitem__)]
    folded: list[FlowBox] = []
    for members in sorted(
        (component for component in parts if component[0] not in early),
        key=lambda component: min(map(place.__getitem__, component)),
    ):
        folded.append(fold_branch(dag, sorted(members, key=place.__getitem__), setting, deep))
    return first + (stack_parallel_parts(folded, setting) if len(folded) > 4 else folded)


def fold_branch(dag: Dag, members: list[int], setting: FoldContext, deep: int) -> FlowBox:
    """Fold some boxes of a level to one. Branches of equal structure and wiring are folded once."""
    if len(members) == 1:
        return dag.boxes[members[0]]
    here, key = [dag.boxes[member] for member in members], wiring_key(dag, members)
    known = setting.branches.get(key)
    if known is None:
        inside = sub_dag(dag, members)
        # Equal tokens are equal boxes with equal wiring (up to very long edges): no isomorphism test is needed.
        symbol = setting.symbols.symbol_of("shape", *box_tokens(inside, setting.order(inside), setting.symbols))
        boxes = fold_flow(inside, setting, setting.soft, deep + 1)
        if total_child_count(boxes) > MAX_BRANCH_WIDTH:
            boxes = cut_into_segments(boxes, setting)
        if not any(box.how == GroupOrigin.SEGMENT for box in walk_groups(boxes)):  # segment cuts depend on names
            setting.branches[key] = here, copy_groups_onto(boxes, here, here), symbol  # copied: see `fold_region`
    else:
        first, folded_first, symbol = known
        boxes = copy_groups_onto(folded_first, first, here)
    return boxes[0] if len(boxes) == 1 else make_group(GroupOrigin.BRANCH, boxes, symbol)


def stack_parallel_parts(boxes: list[FlowBox], setting: FoldContext) -> list[FlowBox]:
    """Stack equal parts that do not feed each other: two of some ops; five small ones if the level is too wide."""
    plain = MIN_SMALL_STACK if total_child_count(boxes) > setting.most else NO_STACK
    return stack_equal_boxes(boxes, setting, lambda box: MIN_LARGE_STACK if box.ops >= MIN_STACK_OPS else plain)


def stack_equal_boxes(
    boxes: Sequence[FlowBox], setting: FoldContext, fewest: Callable[[FlowBox], int]
) -> list[FlowBox]:
    """Stack boxes of one symbol if there are enough, in the place of the first."""
    alike: dict[int, list[FlowBox]] = {}
    for box in boxes:
        alike.setdefault(box.symbol, []).append(box)
    kept: list[FlowBox] = []
    for symbol, members in alike.items():
        if len(members) >= fewest(members[0]):
            kept.append(make_stack(setting.symbols, members, symbol, sideways=True))
        else:
            kept += members
    return kept


def fold_connected_part(dag: Dag, order: FlowOrder, setting: FoldContext, limit: int, deep: int) -> list[FlowBox]:
    """Fold one connected part to a sequence of regions, stacks and stages."""
    if len(dag) > setting.soft and (shared := find_shared_inputs(dag, order)):
        return fold_independent_parts(dag, order, dag_components(dag, shared), shared, setting, deep)
    # Paths with separate beginnings, such as towers, are no stem and region.
    if len(dag) >= LARGE_LEVEL_BOXES and (joint := find_meeting_place(dag, order)):
        return fold_meeting_paths(dag, order.line[:joint], order.line[joint:], setting, limit, deep)
    best = cheapest_sequence(dag, order, setting, deep)
    boxes = [dag.boxes[index] for index in order.line] if best is None else [element.box for element in best]
    return narrow_to_limit(boxes, setting, limit)


def cheapest_sequence(dag: Dag, order: FlowOrder, setting: FoldContext, deep: int) -> list[SequenceElement] | None:
    """Return the cheapest sequence of the level, None if there is none.

    If the sequence between narrow places explains little, try single boxes, and places narrow apart from far edges.
    """
    wide, ends = find_narrow_places(dag, order, setting)
    best: list[SequenceElement] | None = None
    if wide < MAX_CROSSING_LINES or len(dag) <= setting.soft:
        sequence = make_elements(dag, order, ends, box_tokens(dag, order, setting.symbols), setting, deep)
        largest = max((element.box.ops for element in sequence if element.fork), default=0)
        best = fold_sequence(sequence, setting)
        # Good enough: a small level, or narrow places without a region that holds most ops.
        if len(dag) <= setting.soft or (wide == 1 and largest <= dag.total_ops() / 2):
            return best
    single = single_box_sequence(dag, order, setting)
    if len(single) < MAX_SHORTENED_SHARE * len(dag):
        other = fold_stages(single, setting)
        best = other if best is None or MIN_COST_RATIO * sequence_cost(other) < sequence_cost(best) else best
    if LARGE_LEVEL_BOXES <= len(dag) <= HUGE_LEVEL_BOXES and (
        near := sequence_ignoring_far_lines(dag, order, setting, deep)
    ):
        other = fold_sequence(near, setting)
        best = other if best is None or sequence_cost(other) < sequence_cost(best) else best
    return best


def fold_sequence(sequence: Sequence[SequenceElement], setting: FoldContext) -> list[SequenceElement]:
    """Fold heads, repeats and stages of a sequence."""
    return fold_stages(fold_repeats(fold_heads(sequence, setting), setting), setting)


def sequence_cost(sequence: Sequence[SequenceElement]) -> int:
    """Return the reading cost of the boxes of a sequence."""
    return reading_cost([element.box for element in sequence])


def find_meeting_place(dag: Dag, order: FlowOrder) -> int:
    """Return the place in the line at which paths with separate beginnings meet; 0 if there is none.

    They must be all boxes before it and most of the level, and none of them most of these.
    """
    # Union-find along the line: `head` of each component so far, `size` at each head.
    head = list(range(len(dag)))
    size = [1] * len(dag)
    for position, box in enumerate(order.line):
        ways = {union_root(head, source) for source in dag.before[box]}
        sizes = [size[way] for way in ways]
        # All boxes before this place are on the paths that meet here.
        if (
            len(ways) > 1
            and sum(sizes) == position >= MIN_SHARE_BEFORE_MEETING * len(dag)
            and max(sizes) <= MAX_PATH_BEFORE_MEETING * position
        ):
            return position
        for way in ways:
            head[way] = box
        size[box] += sum(sizes)
    return 0


def fold_meeting_paths(
    dag: Dag, ways: list[int], rest: list[int], setting: FoldContext, limit: int, deep: int
) -> list[FlowBox]:
    """Fold paths that meet, each as a branch and equal ones as a stack, and what comes after the meeting place."""
    before = sub_dag(dag, ways)
    folded = [fold_branch(before, members, setting, deep) for members in dag_components(before)]
    return [
        *stack_equal_boxes(folded, setting, min_equal_branches),
        *fold_flow(sub_dag(dag, rest), setting, limit, deep + 1),
    ]


def find_shared_inputs(dag: Dag, order: FlowOrder) -> set[int]:
    """Return small inputs shared by parallel paths all over the level that nothing else joins: rates of an
    optimizer."""
    by_many = [
        index
        for index, users in enumerate(dag.after)
        if len(users) >= MIN_PARALLEL_PATHS and place_span(order.place, users) >= len(dag) / 3
    ]
    shared_by_ways = boxes_needing_few(dag, by_many, MAX_SHARED_NEEDS)
    if not shared_by_ways:  # only saves time
        return shared_by_ways
    shared = with_ancestors(dag, shared_by_ways)
    ways = [len(component) for component in dag_components(dag, shared) if component[0] not in shared]
    return shared if len(ways) >= MIN_PARALLEL_PATHS and max(ways) <= MAX_PATH_SHARE * sum(ways) else set()


def sequence_ignoring_far_lines(dag: Dag, order: FlowOrder, setting: FoldContext, deep: int) -> list[SequenceElement]:
    """Return the sequence between places that are narrow apart from far edges; empty without far edges or such
    places."""
    far = len(dag) // FAR_LINE_DIVISOR
    near = ignore_far_lines(dag, order, far)
    wide, ends = find_narrow_places(dag, near, setting)
    if wide > 1 or near.cut() == order.cut():  # no edge is far
        return []
    return make_elements(dag, near, ends, box_tokens(dag, near, setting.symbols), setting, deep)


def find_narrow_places(dag: Dag, order: FlowOrder, setting: FoldContext) -> tuple[int, list[int]]:
    """Return how many edges may cross, and the places where no more do; the last place always counts."""
    count = len(dag)
    # Increase the width until there are enough places and no stretch between two holds most of the level.
    for wide in range(1, MAX_CROSSING_LINES + 1):
        ends = [*(position for position, cut in enumerate(order.cut()[: count - 1]) if cut <= wide), count - 1]
        inner = len(ends) - 1
        longest = max(stop - start for start, stop in pairwise([-1, *ends]))
        if longest < MAX_REGION_SHARE * count or (wide == 1 and inner >= 3):
            break
        # Wider places would be inside the parallel paths: after the first, after the second …
        if wide == 1 and inner and has_parallel_paths(dag, order, ends):
            break
        if count <= setting.soft:
            break
    return wide, ends


def has_parallel_paths(dag: Dag, order: FlowOrder, ends: Sequence[int]) -> bool:
    """Return whether the longest stretch between narrow places is parallel paths that meet at its end."""
    length, stop = max((stop - start, stop) for start, stop in pairwise([-1, *ends]))
    ways = [len(way) for way in dag_components(sub_dag(dag, order.line[stop - length + 1 : stop]))]
    return len(ways) >= MIN_PARALLEL_PATHS and max(ways) <= MAX_PATH_SHARE * sum(ways)


def single_box_sequence(dag: Dag, order: FlowOrder, setting: FoldContext) -> list[SequenceElement]:
    """Return the sequence of single boxes, for levels with long edges: U-Nets, unrolled cells."""
    symbols = box_tokens(dag, order, setting.symbols, NEAR_DISTANCES)
    return fold_repeats(make_elements(dag, order, list(range(len(dag))), symbols, setting, 0), setting)


def make_elements(
    dag: Dag, order: FlowOrder, ends: list[int], symbols: list[int], setting: FoldContext, deep: int
) -> list[SequenceElement]:
    """Return one element for each stretch that ends at a narrow place; equal stretches are folded once."""
    sequence: list[SequenceElement] = []
    line, side, cut, boxes = order.line, order.side, order.cut(), dag.boxes
    start = 0
    along = BoxLine([boxes[box] for box in line], line, order.place, dag.before)
    for end in places_around_heads(dag, order, ends):
        first = line[start]
        fork = start < end
        if fork:
            box, symbol = fold_region(dag, line[start : end + 1], tuple(symbols[start : end + 1]), setting, deep)
        else:
            box, symbol = boxes[first], symbols[start]
        held = tuple([boxes[place].symbol for place in line[start : end + 1]])
        shortcut = fork and any(order.place[source] < start for source in dag.before[line[end]])
        source = not fork and not dag.before[first] and not (dag.outside and dag.outside[first])
        at = Stretch(along, start, end + 1)
        sequence.append(
            SequenceElement(box, symbol, symbol, cut[end], fork, False, side[first], held, shortcut, source, at)
        )
        start = end + 1
    return sequence


def places_around_heads(dag: Dag, order: FlowOrder, ends: Sequence[int]) -> list[int]:
    """Return narrow places, and the borders of heads that are most of the stretch between two of them.

    A head has a name or a scope and leads to no narrow place, so it is no branch of a region.
    """
    line, place, boxes = order.line, order.place, dag.boxes
    kept: list[int] = []
    for start, stop in pairwise([-1, *ends]):
        stretch = line[start + 1 : stop]
        least = (
            max(MIN_STACK_OPS, MIN_HEAD_SHARE * sum([boxes[box].ops for box in line[start + 1 : stop + 1]]))
            if stretch
            else 0
        )
        large = [box for box in stretch if boxes[box].ops >= least]
        if not any(boxes[box].how == GroupOrigin.NAME or boxes[box].scope for box in large):  # only saves time
            kept.append(stop)
            continue
        leads = dict.fromkeys(stretch, False) | {line[stop]: True}
        for box in reversed(stretch):
            leads[box] = any(place[user] > stop or leads[user] for user in dag.after[box])
        ways = list(leads.values())
        borders = [start + number for number, (one, other) in enumerate(pairwise(ways), 1) if one != other]
        called = [box for box in large if not leads[box] and (boxes[box].how == GroupOrigin.NAME or boxes[box].scope)]
        if not called:
            kept.append(stop)
            continue
        for first, last in pairwise([start, *borders, stop]):
            # A small stretch before or after a head is not folded.
            kept += range(first + 1, last) if leads[line[last]] and last - first <= MIN_STACK_OPS else ()
            kept.append(last)
    return kept


def fold_region(dag: Dag, ids: list[int], key: tuple[int, ...], setting: FoldContext, deep: int) -> tuple[FlowBox, int]:
    """Fold a stretch of several boxes to one; return it and its symbol. Equal tokens (`key`) are folded once."""
    symbol = setting.symbols.symbol_of("region", *key)
    here = [dag.boxes[index] for index in ids]
    known = setting.known.get(key)
    if len(ids) > MAX_REGION_SHARE * len(dag) and not setting.budget.take(PEELING_COST * len(ids)):
        boxes = narrow_to_limit(here, setting, setting.soft)
    elif known is None:
        inside, limit = sub_dag(dag, ids), setting.soft
        one_more = len(ids) < len(dag) and has_same_content(inside.boxes[-1], inside.boxes[-2])  # exit of an equal one
        boxes = (
            fold_flow(inside, setting, limit, deep + 1) if one_more else fold_inside_region(inside, setting, deep + 1)
        )
        # In longer stretches tokens do not determine the wiring, as distances are capped.
        if len(key) <= MAX_TOKEN_DISTANCE:
            setting.known[key] = here, copy_groups_onto(boxes, here, here)  # copied: returned boxes are changed later
    else:
        boxes = copy_groups_onto(known[1], known[0], here)
    return boxes[0] if len(boxes) == 1 else make_group(GroupOrigin.REGION, boxes, symbol), symbol


def fold_inside_region(dag: Dag, setting: FoldContext, deep: int) -> list[FlowBox]:
    """Return the branches of a region, and its exit."""
    line = setting.order(dag).line
    if len(dag) <= 3:
        return [dag.boxes[index] for index in line]
    rest = sub_dag(dag, line[:-1])
    parts = dag_components(rest)
    # A single branch needs no group; a small region shows all boxes.
    alone = sum(1 for component in parts if len(component) > 1) == 1 or len(dag) <= SMALL_REGION_BOXES
    branching: list[FlowBox] = []
    branches: list[FlowBox] = []
    for members in parts:
        if alone and len(members) > 1:
            branching += fold_flow(sub_dag(rest, members), setting, setting.soft, deep + 1)
        else:
            branches.append(fold_branch(rest, members, setting, deep))
    return [*branching, *stack_equal_boxes(branches, setting, min_equal_branches), dag.boxes[line[-1]]]


def min_equal_branches(box: FlowBox) -> int:
    """Return how many equal branches make a stack: three, or two large ones; small ones never do."""
    return MIN_LARGE_STACK if box.ops >= MIN_PAIR_OPS else 3 if box.ops >= MIN_STACK_OPS else NO_STACK
