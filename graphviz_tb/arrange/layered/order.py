"""Order the items within ranks so that few lines cross.

1. Sweep up and down the ranks, and sort each by the medians of its neighbours; do this from several start orders.
2. Reroute long edges in each result (`reroute.py`).
3. Combine the results, rank by rank, and reroute again.
4. Lead other lines around the main path.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise

from graphviz_tb.arrange.component import Component, Ranks, Row
from graphviz_tb.arrange.layered.reroute import RankState, Rerouter, edge_paths
from graphviz_tb.limits import MAX_REROUTED_WORK, MAX_SEARCHED_RANK_ITEMS, MAX_SWEPT_ITEMS, Meter

# Sweeps and start orders.


def _median_sweep(state: RankState, down: bool) -> None:
    """Sort each rank by the median places of its items' neighbours in the rank before (Eades & Wormald 1994).

    Items of equal median keep their order, items without a neighbour on that side their place, `fixed_ranks` their
    order.
    """
    ranks = state.ranks
    if down:
        for rank in range(1, len(ranks)):
            if rank not in state.fixed_ranks:
                _sort_by_medians(ranks[rank], state.above, state.place)
    else:
        for rank in range(len(ranks) - 2, -1, -1):
            if rank not in state.fixed_ranks:
                _sort_by_medians(ranks[rank], state.below, state.place)


def _sort_by_medians(row: list[int], links: list[list[int]], place: list[int]) -> None:
    """Sort one rank by the mean of the lower and the upper median."""
    keyed = []
    for number, item in enumerate(row):
        near = links[item]
        count = len(near)
        if count == 1:
            key = 2 * place[near[0]]  # keys are twice the median, an integer
        elif count == 2:
            key = place[near[0]] + place[near[1]]
        elif count:
            places = sorted([place[other] for other in near])
            key = places[(count - 1) // 2] + places[count // 2]
        else:
            continue
        keyed.append((key, number, item))
    # Distribute the sorted items over their old places; items without neighbours stay in between.
    slots = [number for _, number, _ in keyed]
    keyed.sort()
    for number, (_, _, item) in zip(slots, keyed, strict=True):
        row[number] = item
        place[item] = number


def _depth_first_order(state: RankState, down: bool) -> list[list[int]]:
    """Return each rank in the order in which a depth-first walk from the first rank (the last, if not `down`) meets its
    items."""
    ahead, behind = (state.below, state.above) if down else (state.above, state.below)
    order: list[list[int]] = [[] for _ in state.ranks]
    seen = [False] * len(state.rank)
    for row in state.ranks if down else state.ranks[::-1]:
        for root in row:
            stack = [root]
            while stack:
                item = stack.pop()
                if not seen[item]:
                    seen[item] = True
                    order[state.rank[item]].append(item)
                    stack += behind[item][::-1]
                    stack += ahead[item][::-1]  # visited first
    for rank in state.fixed_ranks:
        order[rank] = state.ranks[rank]
    return order


# Keep a lane for the main path: other lines pass on one side, and it runs in the middle of equal items.

LANE_PASSES = 2  # a third pass rarely moves an item
LANE_CROSSING_WEIGHT = 3  # crossing the main path costs more than crossing two other lines


def _lane_items(part: Component, layers: Ranks) -> list[int]:
    """Return the items of the main path, one on each rank, from its first rank on."""
    lane: list[int] = []
    for edge in part.main_path:
        lane += layers.chains[edge][1 if lane else 0 :]
    return lane


def _keep_lane(state: RankState, lane: list[int], paths: list[list[int]]) -> None:
    """Lead other paths around the lane if that costs few crossings, then center the lane among equal items."""
    if not lane:
        return
    inside = set(lane)
    others = [path for path in paths if not inside.intersection(path)]
    rerouter = Rerouter(state, others, set(pairwise(lane)), LANE_CROSSING_WEIGHT)
    passes = LANE_PASSES
    while passes and rerouter.reroute_changed():
        passes -= 1
    for item in lane:
        _swap_to_middle(state, item)
        _center_among_ends(state, item)


def _swap_to_middle(state: RankState, item: int) -> None:
    """Swap an item with the middle one of the items in its rank that have the same links, which changes no crossing.

    >>> state = RankState(5, [[0], [1, 2, 3], [4]], [[0, 1, 4], [0, 2, 4], [0, 3, 4]])
    >>> _swap_to_middle(state, 1)
    >>> state.ranks[1]
    [2, 1, 3]
    """
    row = state.ranks[state.rank[item]]
    above, below = set(state.above[item]), set(state.below[item])
    if state.rank[item] in state.fixed_ranks or not (above or below):
        return
    equal = [other for other in row if set(state.above[other]) == above and set(state.below[other]) == below]
    middle = equal[(len(equal) - 1) // 2]
    here, there = state.place[item], state.place[middle]
    row[here], row[there] = middle, item
    state.place[item], state.place[middle] = there, here


def _center_among_ends(state: RankState, item: int) -> None:
    """Center an item among adjacent items of its rank that have the same links above, and none below, or the reverse.

    >>> state = RankState(5, [[0], [1, 2, 3], [4]], [[0, 1], [0, 2], [0, 3, 4]])
    >>> _center_among_ends(state, 3)
    >>> state.ranks[1]
    [1, 3, 2]
    """
    row, here = state.ranks[state.rank[item]], state.place[item]
    if state.rank[item] in state.fixed_ranks:
        return
    for near, far in ((state.above, state.below), (state.below, state.above)):
        links = set(near[item])
        low = high = here
        while low and links and not far[row[low - 1]] and set(near[row[low - 1]]) == links:
            low -= 1
        while high + 1 < len(row) and links and not far[row[high + 1]] and set(near[row[high + 1]]) == links:
            high += 1
        if low < high:
            row.insert((low + high) // 2, row.pop(here))
            for at in range(low, high + 1):
                state.place[row[at]] = at
            return


Sweeps = tuple[bool, ...]
DOWN_UP: Sweeps = (True, False)
UP_DOWN: Sweeps = (False, True)
# Whether to start from a depth-first walk, and the sweeps.
SWEEP_STARTS: tuple[tuple[bool, Sweeps], ...] = (
    (False, DOWN_UP),
    (False, UP_DOWN),
    (True, DOWN_UP),
    (True, UP_DOWN),
    (False, DOWN_UP * 2),
    (True, UP_DOWN * 2),
)
# Up to so many boxes and items, several starts take less than a second; a level with more items per box is dense.
MAX_BOXES_MANY_STARTS, MAX_ITEMS_MANY_STARTS, DENSE_ITEMS_PER_BOX = 100, 900, 3


def order_ranks(part: Component, layers: Ranks, quick: bool = False) -> Ranks:
    """Order each rank so that few lines cross, especially the main path. With `quick`, sweep once from one start.

    Every item stays on its rank, and ports keep their order if the part says so.
    """
    if max(map(len, layers.ranks), default=0) < 2:  # nothing to order
        return layers
    # All nodes and waypoints: each chain has two ends that are nodes.
    count = part.count + sum(map(len, layers.chains)) - 2 * len(layers.chains)
    fixed = _port_ranks(part, len(layers.ranks)) if part.fixed_ports else frozenset()
    state = RankState(count, layers.ranks, layers.chains, fixed)
    if quick:
        _run_sweeps(state, DOWN_UP)
        _keep_lane(state, _lane_items(part, layers), [])
        return Ranks(state.ranks, layers.chains)
    movable = [
        [item for item in path if state.rank[item] not in fixed] for path in edge_paths(state.above, state.below)
    ]
    paths = _affordable_paths(state, [path for path in movable if path])
    _minimize_crossings(state, part.count, paths)
    _keep_lane(state, _lane_items(part, layers), paths)
    return Ranks(state.ranks, layers.chains)


def _port_ranks(part: Component, ranks: int) -> frozenset[int]:
    """Return the ranks of ports: the first, the last, or both."""
    return frozenset(rank for rank, ports in ((0, part.first), (ranks - 1, part.last)) if ports)


def _minimize_crossings(state: RankState, boxes: int, paths: list[list[int]]) -> None:
    """Find an order with few crossings; the effort depends on the size of the level."""
    count = len(state.rank)
    starts = _start_count(boxes, count)
    if starts == 1:
        sweeps, passes = (DOWN_UP * 8, 1) if count < MAX_SWEPT_ITEMS else (DOWN_UP, 2)
        _run_sweeps(state, sweeps)
        _reroute_paths(state, paths, passes)
        return
    initial, orders = state.copy_ranks(), dict[tuple[tuple[int, ...], ...], list[Row]]()
    for is_depth_first, sweeps in SWEEP_STARTS[:starts]:
        state.set_order(_depth_first_order(state, sweeps[0]) if is_depth_first else initial)
        _run_sweeps(state, sweeps)
        # Several starts often lead to the same order.
        swept = tuple(map(tuple, state.ranks))
        if swept not in orders:
            _reroute_paths(state, paths, 1)
            orders[swept] = state.copy_ranks()
    # Where two combined orders meet, paths may improve, so reroute again.
    state.set_order(_combine_orders(state, list(orders.values())))
    _reroute_paths(state, paths, 2)


def _start_count(boxes: int, items: int) -> int:
    """Return how many starts are tried: several for a small level, one for a large dense level.

    >>> (
    ...     _start_count(99, 296),
    ...     _start_count(99, 297),
    ...     _start_count(100, 299),
    ...     _start_count(100, 300),
    ...     _start_count(99, 900),
    ... )
    (4, 6, 2, 1, 1)
    """
    dense = items >= DENSE_ITEMS_PER_BOX * boxes
    if boxes < MAX_BOXES_MANY_STARTS and items < MAX_ITEMS_MANY_STARTS:
        return 6 if dense else 4
    return 1 if dense else 2


def _run_sweeps(state: RankState, sweeps: Sweeps) -> None:
    for down in sweeps:
        _median_sweep(state, down)


def _affordable_paths(state: RankState, paths: list[list[int]]) -> list[list[int]]:
    """Return the first paths, as many as `MAX_REROUTED_WORK` ranks allow.

    A wide rank counts as ten, plus one for every 200 items, because all its lines are inspected.
    """
    cost = [0, *accumulate(10 + len(row) // 200 if len(row) > MAX_SEARCHED_RANK_ITEMS else 1 for row in state.ranks)]
    work = Meter(MAX_REROUTED_WORK)
    for number, path in enumerate(paths):
        top = state.rank[path[0]]
        if not work.take(cost[top + len(path)] - cost[top]):
            return paths[:number]
    return paths


def _reroute_paths(state: RankState, paths: list[list[int]], passes: int) -> None:
    """Move edge paths to their best positions until no path moves, at most `passes` times."""
    rerouter = Rerouter(state, paths)
    while passes and rerouter.reroute_changed():
        passes -= 1


# Combine the best of several orders, rank by rank.
#
# Distant parts of a drawing hardly influence each other, so different orders are best for different ranks. Each rank
# takes the order of one candidate, or its mirror image. The choice with the fewest crossings in total, then with the
# least sideways drift of lines, is a shortest path through the ranks (Viterbi 1967).

CROSSING_WEIGHT = 1 << 20  # one crossing costs more than any drift
FORBIDDEN_COST = 1 << 80  # costs more than all crossings, so that fixed ranks are not mirrored


def _combine_orders(state: RankState, orders: list[list[Row]]) -> list[Row]:
    """Choose for each rank one of the `orders`, all of which have the same items on the same ranks.

    The result has at most as many crossings as the best of them.
    """
    choices = [_distinct_rows([order[r] for order in orders]) for r in range(len(state.ranks))]
    # cost[2 * k] is the cost of choice k, cost[2 * k + 1] of its mirror image; `back` has, by rank, the best choice
    # above.
    cost = [0, 0] * len(choices[0])
    if 0 in state.fixed_ranks:
        cost[1] = FORBIDDEN_COST
    back: list[list[int]] = []
    for upper, lower in pairwise(choices):
        cost, best = _next_rank_costs(state, upper, lower, cost)
        back.append(best)
    if len(choices) - 1 in state.fixed_ranks:
        cost[1] = FORBIDDEN_COST
    choice = cost.index(min(cost))
    combined: list[Row] = []
    for r in range(len(choices) - 1, -1, -1):
        row = choices[r][choice // 2]
        combined.append(row[::-1] if choice % 2 else row[:])
        if r:
            choice = back[r - 1][choice]
    return combined[::-1]


def _distinct_rows(rows: list[Row]) -> list[Row]:
    """Return the distinct rows, counting mirror images as equal."""
    kept: list[Row] = []
    seen: set[tuple[int, ...]] = set()
    for row in rows:
        key = tuple(row)
        if key not in seen and key[::-1] not in seen:
            seen.add(key)
            kept.append(row)
    return kept


def _next_rank_costs(
    state: RankState, upper: list[Row], lower: list[Row], cost: list[int]
) -> tuple[list[int], list[int]]:
    """Return the least cost of each choice of the next rank, plain and mirrored, and its best predecessor.

    `cost` has the least cost of each choice of this rank.
    """
    pairs = _crossable_pairs(state, upper[0], lower[0]) * CROSSING_WEIGHT
    total: list[int] = []
    back: list[int] = []
    place = state.place
    for row in lower:
        for number, item in enumerate(row):
            place[item] = number  # temporary: the final order sets all places
        plain = [_count_crossings(other, place, state.below) * CROSSING_WEIGHT for other in upper]
        drift = [_sideways_drift(other, place, state.below, len(row)) for other in upper]
        for flip in (0, 1):
            sums = []
            for number, count in enumerate(plain):
                # If one rank is mirrored, exactly the pairs cross that did not; if both are, nothing changes.
                forward, mirrored = (pairs - count, count) if flip else (count, pairs - count)
                same, other = drift[number][::-1] if flip else drift[number]
                sums.append(cost[2 * number] + forward + same)
                sums.append(cost[2 * number + 1] + mirrored + other)
            least = min(sums)
            total.append(least)
            back.append(sums.index(least))
    return total, back


def _sideways_drift(row: Row, place: list[int], below: list[list[int]], wide: int) -> tuple[int, int]:
    """Return how far lines run sideways in total, in half places from the middle of the ranks: as it is, and with one
    rank mirrored."""
    plain = mirrored = 0
    here = 1 - len(row)  # twice the distance from the middle, an integer
    for item in row:
        for other in below[item]:
            there = 2 * place[other] + 1 - wide
            plain += abs(here - there)
            mirrored += abs(here + there)
        here += 2
    return plain, mirrored


def _crossable_pairs(state: RankState, upper: Row, lower: Row) -> int:
    """Count the pairs of lines between two ranks that share no end. Each crosses either as it is, or mirrored."""
    down = [len(state.below[item]) for item in upper]
    count = sum(down)
    shared = sum(n * (n - 1) for n in down) + sum(len(state.above[i]) * (len(state.above[i]) - 1) for i in lower)
    return (count * (count - 1) - shared) // 2


def _count_crossings(row: Row, place: list[int], below: list[list[int]]) -> int:
    """Count the crossings below one rank, by insertion into a sorted list (Barth, Jünger & Mutzel 2004)."""
    total = 0
    seen: list[int] = []
    for item in row:
        near = below[item]
        if len(near) == 1:
            end = place[near[0]]
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
        elif near:
            ends = sorted([place[other] for other in near])
            for end in ends:
                total += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return total


# Mirror the left parts of ranks whose right parts are fixed.


def choose_mirrored_rows(
    halves: Sequence[tuple[Row, Row]], chains: Sequence[Sequence[int]], fixed_ranks: Collection[int]
) -> list[Row]:
    """Join the left and the right half of each rank, with left halves mirrored where that saves crossings.

    `fixed_ranks` stay as they are.

    >>> choose_mirrored_rows([([0], []), ([1, 2], [3]), ([4], [5])], [[0, 1], [0, 3], [0, 2], [1, 5], [2, 4]], ())
    [[0], [2, 1, 3], [4, 5]]
    """
    state = RankState(1 + max(max(chain) for chain in chains), [left + right for left, right in halves], chains)
    choices = [
        [left + right] if number in fixed_ranks or len(left) < 2 else [left + right, left[::-1] + right]
        for number, (left, right) in enumerate(halves)
    ]
    cost = [*range(len(choices[0]))]  # of equal choices, prefer not to mirror
    back: list[list[int]] = []
    for upper, lower in pairwise(choices):
        sums: list[list[int]] = []
        for number, row in enumerate(lower):
            for place, item in enumerate(row):
                state.place[item] = place
            crossings = [_count_crossings(other, state.place, state.below) * CROSSING_WEIGHT for other in upper]
            sums.append([here + crossed + number for here, crossed in zip(cost, crossings, strict=True)])
        cost = [min(found) for found in sums]
        back.append([found.index(min(found)) for found in sums])
    choice = cost.index(min(cost))
    rows = [choices[-1][choice]]
    for number in range(len(back) - 1, -1, -1):
        choice = back[number][choice]
        rows.append(choices[number][choice])
    return rows[::-1]
