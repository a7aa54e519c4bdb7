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

from graphviz_tb.algorithms.components import root
from graphviz_tb.group.flow.box import FEWEST_OPS, FlowBox, group, groups_of, put_over, stack
from graphviz_tb.group.flow.dag import Dag, dag_components, part, wiring
from graphviz_tb.group.flow.everywhere import ancestors, needing_few, spread
from graphviz_tb.group.flow.heads import with_heads
from graphviz_tb.group.flow.order import FlowOrder, without_far
from graphviz_tb.group.flow.readable import cost
from graphviz_tb.group.flow.repeats import fold_repeats
from graphviz_tb.group.flow.sequence import BoxLine, Element, Stretch, same_inside
from graphviz_tb.group.flow.setting import DEEPEST, PEEL, Setting
from graphviz_tb.group.flow.sizes import cut_up, narrowed, width
from graphviz_tb.group.flow.stages import fold_stages
from graphviz_tb.group.flow.tokens import FAR, tokens
from graphviz_tb.model.hierarchy import How

SMALL = 7  # boxes; the branches of a smaller region need no groups
WIDEST = 6  # edges that may cross a narrow place if there is no narrower one
MOST_OF = 0.8  # of a level in one region
NEAR = 8  # distances that matter if every box is an element
LARGE = 33  # boxes; smaller levels are seen at once, whatever far edges and meeting paths they have
HUGE = 20_000  # boxes; no network has as many in one scope, and a second pass takes seconds
ALONG = 3  # an edge over a third of the level passes whole stages
DEARER = 1.1  # a sequence of single boxes must be cheaper by this factor
SHORTER = 0.8  # of a level; longer sequences of single boxes do not repeat enough
FITTING = 28  # boxes of a branch that fit in a picture next to its surroundings
WAYS, FEW = 3, 8  # paths behind shared inputs; boxes that such an input may need
MEETING, MOST_BEFORE = 0.5, 0.67  # of a level before the place where its paths meet; of these, on one path
WAY_MOST = 0.5  # of the level on one path: otherwise the rest are its branches
HEAD = 0.5  # of the ops of a stretch in a head: it is no region then
PAIR, PLAIN, NEVER = 2, 5, 1 << 30  # equal boxes in a stack
PAIR_OPS = 20  # ops of a branch of which two make a stack


def fold_flow(dag: Dag, setting: Setting, limit: int, deep: int = 0) -> list[FlowBox]:
    """Return the boxes of a level, along its flow.

    After: groups, each convex, in an order along the flow; at most `limit` of them if possible.
    """
    if len(dag) <= 2:  # nothing to fold
        return [dag.boxes[index] for index in setting.order(dag).line]
    order = setting.order(dag)
    if deep > DEEPEST or not setting.budget.take(len(dag)):
        return narrowed([dag.boxes[index] for index in order.line], setting, limit)
    early = ancestors(dag, order.broadcast) if order.broadcast else set()
    parts = dag_components(dag, early)
    # Broadcasts and what they need join nothing, so each is a separate component.
    if sum(1 for component in parts if len(component) > 1) != 1 or len(parts) - len(early) > limit:
        return fold_parts(dag, order, parts, early, setting, deep)
    return fold_spine(dag, order, setting, limit, deep)


def fold_parts(
    dag: Dag, order: FlowOrder, parts: list[list[int]], early: set[int], setting: Setting, deep: int
) -> list[FlowBox]:
    """Fold independent parts, each alone, and stack equal ones sideways. What feeds several comes first."""
    place = order.place
    first = [dag.boxes[index] for index in sorted(early, key=place.__getitem__)]
    folded: list[FlowBox] = []
    for members in sorted(
        (component for component in parts if component[0] not in early),
        key=lambda component: min(map(place.__getitem__, component)),
    ):
        folded.append(branch(dag, sorted(members, key=place.__getitem__), setting, deep))
    return first + (side_by_side(folded, setting) if len(folded) > 4 else folded)


def branch(dag: Dag, members: list[int], setting: Setting, deep: int) -> FlowBox:
    """Fold some boxes of a level to one. Branches of equal structure and wiring are folded once."""
    if len(members) == 1:
        return dag.boxes[members[0]]
    here, key = [dag.boxes[member] for member in members], wiring(dag, members)
    known = setting.branches.get(key)
    if known is None:
        inside = part(dag, members)
        # Equal tokens are equal boxes with equal wiring (up to very long edges): no isomorphism test is needed.
        symbol = setting.symbols.of("shape", *tokens(inside, setting.order(inside), setting.symbols))
        boxes = fold_flow(inside, setting, setting.soft, deep + 1)
        if width(boxes) > FITTING:
            boxes = cut_up(boxes, setting)
        if not any(box.how == How.SEGMENT for box in groups_of(boxes)):  # segment cuts depend on names
            setting.branches[key] = here, put_over(boxes, here, here), symbol  # copied: see `fold_region`
    else:
        first, folded_first, symbol = known
        boxes = put_over(folded_first, first, here)
    return boxes[0] if len(boxes) == 1 else group(How.BRANCH, boxes, symbol)


def side_by_side(boxes: list[FlowBox], setting: Setting) -> list[FlowBox]:
    """Stack equal parts that do not feed each other: two of some ops; five small ones if the level is too wide."""
    plain = PLAIN if width(boxes) > setting.most else NEVER
    return stacked(boxes, setting, lambda box: PAIR if box.ops >= FEWEST_OPS else plain)


def stacked(boxes: Sequence[FlowBox], setting: Setting, fewest: Callable[[FlowBox], int]) -> list[FlowBox]:
    """Stack boxes of one symbol if there are enough, in the place of the first."""
    alike: dict[int, list[FlowBox]] = {}
    for box in boxes:
        alike.setdefault(box.symbol, []).append(box)
    kept: list[FlowBox] = []
    for symbol, members in alike.items():
        if len(members) >= fewest(members[0]):
            kept.append(stack(setting.symbols, members, symbol, sideways=True))
        else:
            kept += members
    return kept


def fold_spine(dag: Dag, order: FlowOrder, setting: Setting, limit: int, deep: int) -> list[FlowBox]:
    """Fold one connected part to a sequence of regions, stacks and stages."""
    if len(dag) > setting.soft and (shared := shared_inputs(dag, order)):
        return fold_parts(dag, order, dag_components(dag, shared), shared, setting, deep)
    # Paths with separate beginnings, such as towers, are no stem and region.
    if len(dag) >= LARGE and (joint := meeting(dag, order)):
        return fold_ways(dag, order.line[:joint], order.line[joint:], setting, limit, deep)
    best = cheapest(dag, order, setting, deep)
    boxes = [dag.boxes[index] for index in order.line] if best is None else [element.box for element in best]
    return narrowed(boxes, setting, limit)


def cheapest(dag: Dag, order: FlowOrder, setting: Setting, deep: int) -> list[Element] | None:
    """Return the cheapest sequence of the level, None if there is none.

    If the sequence between narrow places explains little, try single boxes, and places narrow apart from far edges.
    """
    wide, ends = narrow_places(dag, order, setting)
    best: list[Element] | None = None
    if wide < WIDEST or len(dag) <= setting.soft:
        sequence = atoms(dag, order, ends, tokens(dag, order, setting.symbols), setting, deep)
        largest = max((element.box.ops for element in sequence if element.fork), default=0)
        best = folded(sequence, setting)
        # Good enough: a small level, or narrow places without a region that holds most ops.
        if len(dag) <= setting.soft or (wide == 1 and largest <= dag.ops() / 2):
            return best
    single = single_boxes(dag, order, setting)
    if len(single) < SHORTER * len(dag):
        other = fold_stages(single, setting)
        best = other if best is None or DEARER * price(other) < price(best) else best
    if LARGE <= len(dag) <= HUGE and (near := beside_far_lines(dag, order, setting, deep)):
        other = folded(near, setting)
        best = other if best is None or price(other) < price(best) else best
    return best


def folded(sequence: Sequence[Element], setting: Setting) -> list[Element]:
    """Fold heads, repeats and stages of a sequence."""
    return fold_stages(fold_repeats(with_heads(sequence, setting), setting), setting)


def price(sequence: Sequence[Element]) -> int:
    """Return the reading cost of the boxes of a sequence."""
    return cost([element.box for element in sequence])


def meeting(dag: Dag, order: FlowOrder) -> int:
    """Return the place in the line at which paths with separate beginnings meet; 0 if there is none.

    They must be all boxes before it and most of the level, and none of them most of these.
    """
    # Union-find along the line: `head` of each component so far, `size` at each head.
    head = list(range(len(dag)))
    size = [1] * len(dag)
    for position, box in enumerate(order.line):
        ways = {root(head, source) for source in dag.before[box]}
        sizes = [size[way] for way in ways]
        # All boxes before this place are on the paths that meet here.
        if len(ways) > 1 and sum(sizes) == position >= MEETING * len(dag) and max(sizes) <= MOST_BEFORE * position:
            return position
        for way in ways:
            head[way] = box
        size[box] += sum(sizes)
    return 0


def fold_ways(dag: Dag, ways: list[int], rest: list[int], setting: Setting, limit: int, deep: int) -> list[FlowBox]:
    """Fold paths that meet, each as a branch and equal ones as a stack, and what comes after the meeting place."""
    before = part(dag, ways)
    folded = [branch(before, members, setting, deep) for members in dag_components(before)]
    return [*stacked(folded, setting, stack_from), *fold_flow(part(dag, rest), setting, limit, deep + 1)]


def shared_inputs(dag: Dag, order: FlowOrder) -> set[int]:
    """Return small inputs shared by parallel paths all over the level that nothing else joins: rates of an
    optimizer."""
    by_many = [
        index
        for index, users in enumerate(dag.after)
        if len(users) >= WAYS and spread(order.place, users) >= len(dag) / 3
    ]
    shared_by_ways = needing_few(dag, by_many, FEW)
    if not shared_by_ways:  # only saves time
        return shared_by_ways
    shared = ancestors(dag, shared_by_ways)
    ways = [len(component) for component in dag_components(dag, shared) if component[0] not in shared]
    return shared if len(ways) >= WAYS and max(ways) <= WAY_MOST * sum(ways) else set()


def beside_far_lines(dag: Dag, order: FlowOrder, setting: Setting, deep: int) -> list[Element]:
    """Return the sequence between places that are narrow apart from far edges; empty without far edges or such
    places."""
    far = len(dag) // ALONG
    near = without_far(dag, order, far)
    wide, ends = narrow_places(dag, near, setting)
    if wide > 1 or near.cut() == order.cut():  # no edge is far
        return []
    return atoms(dag, near, ends, tokens(dag, near, setting.symbols), setting, deep)


def narrow_places(dag: Dag, order: FlowOrder, setting: Setting) -> tuple[int, list[int]]:
    """Return how many edges may cross, and the places where no more do; the last place always counts."""
    count = len(dag)
    # Increase the width until there are enough places and no stretch between two holds most of the level.
    for wide in range(1, WIDEST + 1):
        ends = [*(position for position, cut in enumerate(order.cut()[: count - 1]) if cut <= wide), count - 1]
        inner = len(ends) - 1
        longest = max(stop - start for start, stop in pairwise([-1, *ends]))
        if longest < MOST_OF * count or (wide == 1 and inner >= 3):
            break
        # Wider places would be inside the parallel paths: after the first, after the second …
        if wide == 1 and inner and parallel(dag, order, ends):
            break
        if count <= setting.soft:
            break
    return wide, ends


def parallel(dag: Dag, order: FlowOrder, ends: Sequence[int]) -> bool:
    """Return whether the longest stretch between narrow places is parallel paths that meet at its end."""
    length, stop = max((stop - start, stop) for start, stop in pairwise([-1, *ends]))
    ways = [len(way) for way in dag_components(part(dag, order.line[stop - length + 1 : stop]))]
    return len(ways) >= WAYS and max(ways) <= WAY_MOST * sum(ways)


def single_boxes(dag: Dag, order: FlowOrder, setting: Setting) -> list[Element]:
    """Return the sequence of single boxes, for levels with long edges: U-Nets, unrolled cells."""
    symbols = tokens(dag, order, setting.symbols, NEAR)
    return fold_repeats(atoms(dag, order, list(range(len(dag))), symbols, setting, 0), setting)


def atoms(
    dag: Dag, order: FlowOrder, ends: list[int], symbols: list[int], setting: Setting, deep: int
) -> list[Element]:
    """Return one element for each stretch that ends at a narrow place; equal stretches are folded once."""
    sequence: list[Element] = []
    line, side, cut, boxes = order.line, order.side, order.cut(), dag.boxes
    start = 0
    along = BoxLine([boxes[box] for box in line], line, order.place, dag.before)
    for end in beside_heads(dag, order, ends):
        first = line[start]
        fork = start < end
        if fork:
            box, symbol = region(dag, line[start : end + 1], tuple(symbols[start : end + 1]), setting, deep)
        else:
            box, symbol = boxes[first], symbols[start]
        held = tuple([boxes[place].symbol for place in line[start : end + 1]])
        shortcut = fork and any(order.place[source] < start for source in dag.before[line[end]])
        source = not fork and not dag.before[first] and not (dag.outside and dag.outside[first])
        at = Stretch(along, start, end + 1)
        sequence.append(Element(box, symbol, symbol, cut[end], fork, False, side[first], held, shortcut, source, at))
        start = end + 1
    return sequence


def beside_heads(dag: Dag, order: FlowOrder, ends: Sequence[int]) -> list[int]:
    """Return narrow places, and the borders of heads that are most of the stretch between two of them.

    A head has a name or a scope and leads to no narrow place, so it is no branch of a region.
    """
    line, place, boxes = order.line, order.place, dag.boxes
    kept: list[int] = []
    for start, stop in pairwise([-1, *ends]):
        stretch = line[start + 1 : stop]
        least = max(FEWEST_OPS, HEAD * sum([boxes[box].ops for box in line[start + 1 : stop + 1]])) if stretch else 0
        large = [box for box in stretch if boxes[box].ops >= least]
        if not any(boxes[box].how == How.NAME or boxes[box].scope for box in large):  # only saves time
            kept.append(stop)
            continue
        leads = dict.fromkeys(stretch, False) | {line[stop]: True}
        for box in reversed(stretch):
            leads[box] = any(place[user] > stop or leads[user] for user in dag.after[box])
        ways = list(leads.values())
        borders = [start + number for number, (one, other) in enumerate(pairwise(ways), 1) if one != other]
        called = [box for box in large if not leads[box] and (boxes[box].how == How.NAME or boxes[box].scope)]
        if not called:
            kept.append(stop)
            continue
        for first, last in pairwise([start, *borders, stop]):
            # A small stretch before or after a head is not folded.
            kept += range(first + 1, last) if leads[line[last]] and last - first <= FEWEST_OPS else ()
            kept.append(last)
    return kept


def region(dag: Dag, ids: list[int], key: tuple[int, ...], setting: Setting, deep: int) -> tuple[FlowBox, int]:
    """Fold a stretch of several boxes to one; return it and its symbol. Equal tokens (`key`) are folded once."""
    symbol = setting.symbols.of("region", *key)
    here = [dag.boxes[index] for index in ids]
    known = setting.known.get(key)
    if len(ids) > MOST_OF * len(dag) and not setting.budget.take(PEEL * len(ids)):
        boxes = narrowed(here, setting, setting.soft)
    elif known is None:
        inside, limit = part(dag, ids), setting.soft
        one_more = len(ids) < len(dag) and same_inside(inside.boxes[-1], inside.boxes[-2])  # exit of an equal one
        boxes = fold_flow(inside, setting, limit, deep + 1) if one_more else inside_region(inside, setting, deep + 1)
        # In longer stretches tokens do not determine the wiring, as distances are capped.
        if len(key) <= FAR:
            setting.known[key] = here, put_over(boxes, here, here)  # copied: returned boxes are changed later
    else:
        boxes = put_over(known[1], known[0], here)
    return boxes[0] if len(boxes) == 1 else group(How.REGION, boxes, symbol), symbol


def inside_region(dag: Dag, setting: Setting, deep: int) -> list[FlowBox]:
    """Return the branches of a region, and its exit."""
    line = setting.order(dag).line
    if len(dag) <= 3:
        return [dag.boxes[index] for index in line]
    rest = part(dag, line[:-1])
    parts = dag_components(rest)
    # A single branch needs no group; a small region shows all boxes.
    alone = sum(1 for component in parts if len(component) > 1) == 1 or len(dag) <= SMALL
    branching: list[FlowBox] = []
    branches: list[FlowBox] = []
    for members in parts:
        if alone and len(members) > 1:
            branching += fold_flow(part(rest, members), setting, setting.soft, deep + 1)
        else:
            branches.append(branch(rest, members, setting, deep))
    return [*branching, *stacked(branches, setting, stack_from), dag.boxes[line[-1]]]


def stack_from(box: FlowBox) -> int:
    """Return how many equal branches make a stack: three, or two large ones; small ones never do."""
    return PAIR if box.ops >= PAIR_OPS else 3 if box.ops >= FEWEST_OPS else NEVER
