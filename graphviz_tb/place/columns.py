"""Choose the x of each item of one part: near its neighbours, with long edges straight.

Minimize the weighted sum of the horizontal lengths of all links, as Gansner et al. 1993 do, rank by rank. With adjacent
ranks fixed, the best places of one rank are an isotonic regression under absolute deviations, found exactly by pooling
adjacent violators (Ayer et al. 1955); a pool is at its weighted median. If the median is a range, its middle counts,
rounded down.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

Alignment = tuple[int, int, int]  # neighbour, best offset of the left edge from the neighbour's, weight
WeightedPlace = tuple[int, int]  # place, weight
Alignments = Sequence[Sequence[Alignment]]

SETTLE_ROUNDS = 1  # a second round would move a line by a pixel or two
LARGE_PART_ITEMS = 150_000  # parts of more items have one round
MAX_POOL_WISHES = 64  # more wishes are replaced by a single wish for their median
UNBOUNDED_X = 1 << 40  # beyond any coordinate


def align_columns(
    parts: Sequence[Sequence[Sequence[int]]],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[int]]],
    above: Alignments,
    below: Alignments,
    lane: Container[int] = (),
) -> list[int]:
    """Return the left edge of each item (indexed like `widths`), each part on its own. Items in `lane` are on a main
    path.

    `between[p][r][k]` is the least distance between the left edges of items k and k + 1 of rank r of part p.
    """
    x = [0] * len(widths)  # by item of all parts; each part has its own zero
    room = RankNeighbours(len(widths))
    # Go down, up, then align with both adjacent ranks; straighten long edges before and after the last step.
    both = [[*up, *down] for up, down in zip(above, below, strict=True)]
    for ranks, distances in zip(parts, between, strict=True):
        starts = _pack_ranks(ranks, widths, distances, x)
        if len(ranks) < 2:
            continue
        room.add_part(ranks, distances)
        down, up = range(len(ranks)), range(len(ranks) - 2, -1, -1)
        large = sum(map(len, ranks)) > LARGE_PART_ITEMS
        for _ in range(1 if large else SETTLE_ROUNDS):
            for r in down[1:]:
                _settle_rank(ranks[r], starts[r], x, above)
            for r in up:
                _settle_rank(ranks[r], starts[r], x, below)
        paths = [path for path in _straight_paths(ranks, above, below) if not any(item in lane for item in path)]
        for path in paths:
            _straighten_path(path, x, above, below, room)
        if large:
            continue
        for r in (*down, *up):
            _settle_rank(ranks[r], starts[r], x, both)
        for path in paths:
            _straighten_path(path, x, above, below, room)
    return x


def _pack_ranks(
    ranks: Sequence[Sequence[int]], widths: Sequence[int], between: Sequence[Sequence[int]], x: list[int]
) -> list[list[int]]:
    """Pack each rank tightly around x = 0; return for each rank the distances of its items from the first."""
    starts = []
    for row, steps in zip(ranks, between, strict=True):
        start = [0]
        for step in steps:
            start.append(start[-1] + step)
        starts.append(start)
        middle = (start[-1] + widths[row[-1]]) // 2  # half of the whole row, with the last item
        for item, left in zip(row, start, strict=True):
            x[item] = left - middle
    return starts


class RankNeighbours:
    """The left and right neighbour of each item in its rank (-1 if there is none), and the least distances to them."""

    def __init__(self, count: int) -> None:
        self.left, self.right = [-1] * count, [-1] * count
        self.before, self.after = [0] * count, [0] * count

    def add_part(self, ranks: Sequence[Sequence[int]], between: Sequence[Sequence[int]]) -> None:
        """Record the neighbours in the ranks of one part."""
        for row, steps in zip(ranks, between, strict=True):
            last = row[0]
            for item, step in zip(row[1:], steps, strict=True):
                self.left[item], self.before[item] = last, step
                self.right[last], self.after[last] = item, step
                last = item


def _straight_paths(ranks: Sequence[Sequence[int]], above: Alignments, below: Alignments) -> list[list[int]]:
    """Return the maximal paths of items with at most one link up and one down, from the top, left to right."""
    paths = []
    for row in ranks:
        for item in row:
            up = above[item]
            if len(up) > 1 or len(below[item]) > 1 or (up and _is_thin(up[0][0], above, below)):
                continue
            path = [item]
            while below[path[-1]] and _is_thin(below[path[-1]][0][0], above, below):
                path.append(below[path[-1]][0][0])
            if up or below[item]:  # an item without links has no neighbour to align with
                paths.append(path)
    return paths


def _is_thin(item: int, above: Alignments, below: Alignments) -> bool:
    """Return whether an item has at most one link up and one down."""
    return len(above[item]) < 2 and len(below[item]) < 2


def _straighten_path(
    path: Sequence[int], x: list[int], above: Alignments, below: Alignments, room: RankNeighbours
) -> None:
    """Place a path on as few verticals as adjacent items allow.

    Each run is as near as possible to the previous one; the last run aligns with the end of the path.
    """
    # All items of the current run have room from `low` to `high`; `offset` is the distance of an item from the first.
    low, high, offset = -UNBOUNDED_X, UNBOUNDED_X, 0
    run: list[tuple[int, int]] = []
    up, down = above[path[0]], below[path[-1]]
    goal = x[up[0][0]] + up[0][1] if up else None
    for item in path:
        if run:
            offset += above[item][0][1]
        left, right = room.left[item], room.right[item]
        least = x[left] + room.before[item] - offset if left >= 0 else -UNBOUNDED_X
        most = x[right] - room.after[item] - offset if right >= 0 else UNBOUNDED_X
        if least > high or most < low:  # no common vertical, so start a new run
            goal = _place_run(run, goal if goal is not None else x[run[-1][0]] - run[-1][1], low, high, x)
            run, low, high = [], -UNBOUNDED_X, UNBOUNDED_X
        if least > low:
            low = least
        if most < high:
            high = most
        run.append((item, offset))
    if down:
        end = x[down[0][0]] + down[0][1] - offset
        if goal is None or not low <= goal <= high:
            goal = end
    elif goal is None:
        goal = x[run[-1][0]] - offset
    _place_run(run, goal, low, high, x)


def _place_run(run: Sequence[tuple[int, int]], goal: int, low: int, high: int, x: list[int]) -> int:
    """Place a run as near to its goal as `low` and `high` allow."""
    goal = min(max(goal, low), high)
    for item, offset in run:
        x[item] = goal + offset
    return goal


def _settle_rank(row: Sequence[int], start: Sequence[int], x: list[int], links: Alignments) -> None:
    """Move the items of one rank to their best places with all others fixed."""
    first: list[int] = []  # of each pool: first item, wishes, place
    wishes: list[list[WeightedPlace]] = []
    places: list[int] = []
    for number, item in enumerate(row):
        # Subtracting `start` turns the minimum distances into a monotonicity constraint.
        shift = start[number]
        if links[item]:
            place, wish = _own_wishes(links[item], x, shift)
        else:
            place = x[item] - shift
            wish = [(place, 1)]
        begin = number
        # If the previous pool is too far right, merge both at the median of all their wishes.
        while places and places[-1] > place:
            begin = first.pop()
            places.pop()
            wish += wishes.pop()
            wish.sort()
            place = _weighted_median(wish)
            if len(wish) > MAX_POOL_WISHES:
                wish = [(place, sum([weight for _, weight in wish]))]
        first.append(begin)
        wishes.append(wish)
        places.append(place)
    first.append(len(row))
    for pool, place in enumerate(places):
        for number in range(first[pool], first[pool + 1]):
            x[row[number]] = place + start[number]  # packed within the pool


def _own_wishes(near: Sequence[Alignment], x: Sequence[int], shift: int) -> tuple[int, list[WeightedPlace]]:
    """Return the best place of an item without regard to its rank, and the wish of each of its links, sorted."""
    if len(near) == 1:
        other, offset, weight = near[0]
        place = x[other] + offset - shift
        return place, [(place, weight)]
    if len(near) == 2:
        (first, offset, weight), (second, aside, heavy) = near
        place, end = x[first] + offset - shift, x[second] + aside - shift
        wish = [(place, weight), (end, heavy)] if place < end else [(end, heavy), (place, weight)]
        return (place + end) // 2 if weight == heavy else end if heavy > weight else place, wish
    wish = [(x[other] + offset - shift, weight) for other, offset, weight in near]
    wish.sort()
    return _weighted_median(wish), wish


def _weighted_median(wishes: Sequence[WeightedPlace]) -> int:
    """Return the weighted median of sorted wishes; if that is a range, its middle, rounded down.

    >>> _weighted_median([(0, 1), (10, 1)]), _weighted_median([(0, 1), (10, 2)])
    (5, 10)
    """
    half = sum([weight for _, weight in wishes])
    seen = 0
    for number, (place, weight) in enumerate(wishes):
        seen += 2 * weight
        if seen > half:
            return place
        if seen == half:  # anywhere up to the next wish is equally good
            return (place + wishes[number + 1][0]) // 2
    return 0
