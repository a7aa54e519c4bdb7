"""Place the columns of a part, and the training at the right of a rule.

columns ─ joints ─ detours
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.scene import Point, Size
from graphviz_tb.model.skeleton import Skeleton, TrainingRule
from graphviz_tb.place.bands import Band, item_ranks
from graphviz_tb.place.tracks import RankHop

# Place a long part in columns next to each other, and route the lines from one column to the next.
#
# With the flow running down, a line leaves a column at its bottom, runs up next to it, and enters the next column at
# its top. The rightmost line is nearest to the column, and so on outwards, which adds no crossing.

COLUMN_LINE_STEP = 12  # px between neighbouring lines of a gap between columns; lines are up to 6 px thick
COLUMN_TURN = 26  # px for a turn below a column, and for a turn above with its arrow head

ColumnJoint = tuple[int, int]  # wire, and the link of its chain that leads to the next column


def wires_at_joints(skeleton: Skeleton, chains: Sequence[Sequence[int]]) -> list[list[list[ColumnJoint]]]:
    """Return, by part and break, the lines from one column to the next; only the first of lines that run as one."""
    passing: list[list[list[ColumnJoint]]] = [[[] for _ in broken] for broken in skeleton.breaks]
    if not passing:
        return []
    seen: set[tuple[int, int]] = set()
    place = {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    for wire, chain in enumerate(chains):
        part, rank = place[chain[0]]
        for number, break_ in enumerate(skeleton.breaks[part]):
            if rank < break_ < rank + len(chain):  # the chain, with one item on each rank, crosses the break
                step = break_ - rank - 1
                # Lines that share a link run as one, unless the link begins or ends at a box.
                if (chain[step], chain[step + 1]) in seen and 0 < step < len(chain) - 2:
                    continue
                seen.add((chain[step], chain[step + 1]))
                passing[part][number].append((wire, step))
    return passing


def wires_across_to_gutter(skeleton: Skeleton, chains: Sequence[Sequence[int]]) -> set[int]:
    """Return the wires that run across right away: they lead to the next column along the right end of theirs, and
    begin left of other items of their rank."""
    if not any(skeleton.breaks):
        return set()
    place = item_ranks(skeleton)
    found: set[int] = set()
    for wire, chain in enumerate(chains):
        part, rank = place[chain[0]]
        rows = skeleton.parts[part]
        end = min([start for start in skeleton.breaks[part] if start > rank], default=-1)
        passed = range(rank + 1, end)
        leaves = rank + 1 < end < rank + len(chain) and rows[rank][-1] != chain[0]
        if leaves and all(rows[r][-1] == chain[r - rank] for r in passed):
            found.add(wire)
    return found


def place_columns(
    skeleton: Skeleton,
    layers: Sequence[Sequence[Band]],
    lefts: list[int],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[ColumnJoint]]],
    margin: int,
) -> list[int]:
    """Move the columns of each broken part to their places; return the height of every part.

    Each column is next to the previous one, with room beside and above it for the lines between them, `margin` px from
    the columns. Shorter columns begin beside the first boxes of the others if the part does not grow.
    """
    for p, passing in enumerate(between):
        ends = [0, *skeleton.breaks[p], len(skeleton.parts[p])]
        left = head = 0
        for number, (first, last) in enumerate(pairwise(ends)):
            rows = skeleton.parts[p][first:last]
            low = min(lefts[row[0]] for row in rows)
            high = max(lefts[row[-1]] + widths[row[-1]] for row in rows)
            top = layers[p][first].top
            for row in rows:
                for item in row:
                    lefts[item] += left - low
            for r in range(first, last):
                layers[p][r].move(head - top)
            if number < len(passing):
                lines = len(passing[number])
                left += high - low + 2 * margin + (lines - 1) * COLUMN_LINE_STEP
                # Keep room for the turns above the next column, or beside the lines from its ports.
                entry = last + _port_rank_count(skeleton, p, last)
                head = max(0, COLUMN_TURN + lines * COLUMN_LINE_STEP + layers[p][last].top - layers[p][entry].top)
        _align_column_starts(skeleton, p, layers[p], passing)
    return [_part_height(bands, p, skeleton, between) for p, bands in enumerate(layers)]


def _align_column_starts(
    skeleton: Skeleton, part: int, bands: Sequence[Band], passing: Sequence[Sequence[ColumnJoint]]
) -> None:
    """Move the columns of a part down to the start of the lowest one, as far as the part does not grow."""
    ends = [0, *skeleton.breaks[part], len(bands)]
    feet = [
        bands[last - 1].bottom + (COLUMN_TURN + len(passing[number]) * COLUMN_LINE_STEP if number < len(passing) else 0)
        for number, last in enumerate(ends[1:])
    ]
    starts = [bands[first + _port_rank_count(skeleton, part, first)].top for first in ends[:-1]]
    for number, (first, last) in enumerate(pairwise(ends)):
        down = min(max(starts) - starts[number], max(feet) - feet[number])
        for band in bands[first:last]:
            band.move(down)


def _port_rank_count(skeleton: Skeleton, part: int, rank: int) -> int:
    """Return 1 if a column begins at a rank of ports, so that lines from other columns join at the next rank; else
    0."""
    return int(any(skeleton.children <= item < skeleton.first_waypoint for item in skeleton.parts[part][rank]))


def _part_height(
    bands: Sequence[Band], part: int, skeleton: Skeleton, between: Sequence[Sequence[Sequence[ColumnJoint]]]
) -> int:
    """Return the height of a part in pixels, including the lines that turn below its columns."""
    tall = bands[-1].bottom if bands else 0
    if between:
        for number, break_ in enumerate(skeleton.breaks[part]):
            tall = max(tall, bands[break_ - 1].bottom + COLUMN_TURN + len(between[part][number]) * COLUMN_LINE_STEP)
    return tall


def column_detours(
    skeleton: Skeleton,
    chains: Sequence[Sequence[int]],
    ends: Sequence[Point],
    layers: Sequence[Sequence[Band]],
    lefts: Sequence[int],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[ColumnJoint]]],
    margin: int,
) -> dict[ColumnJoint, tuple[Point, ...]]:
    """Return the four bends of each line from column to column, at least `margin` px from both."""
    detours: dict[ColumnJoint, tuple[Point, ...]] = {}
    for p, passing in enumerate(between):
        starts = [0, *skeleton.breaks[p]]
        for number, lines in enumerate(passing):
            break_ = skeleton.breaks[p][number]
            rows = skeleton.parts[p][starts[number] : break_]
            right = max(lefts[row[-1]] + widths[row[-1]] for row in rows)
            # column │        ┌── head ──┐
            #        │        │          ▼ next column
            #        └─ foot ─┘
            #        x      lane       goal
            lines_by_x = [(_joint_x(joint, 0, chains, ends, lefts), joint) for joint in lines]
            lines_by_x.sort()
            skipped = _port_rank_count(skeleton, p, break_)
            # The rightmost line turns nearest to the foot and to the column.
            for turn, (x, joint) in enumerate(lines_by_x[::-1]):
                foot = layers[p][break_ - 1].bottom + COLUMN_TURN + turn * COLUMN_LINE_STEP
                top = layers[p][break_ + skipped].top
                head = top - COLUMN_TURN - (len(lines) - 1 - turn) * COLUMN_LINE_STEP
                lane, goal = (
                    right + margin + turn * COLUMN_LINE_STEP,
                    _joint_x(joint, 1 + skipped, chains, ends, lefts),
                )
                detours[joint] = (x, foot), (lane, foot), (lane, head), (goal, head)
                if skipped:
                    detours[joint[0], joint[1] + 1] = ()
    bends = {(chains[wire][step], chains[wire][step + 1]): turns for (wire, step), turns in detours.items()}
    for wire, chain in enumerate(chains):
        for step in range(1, len(chain) - 2):
            turns = bends.get((chain[step], chain[step + 1]))
            if turns is not None:
                detours[wire, step] = turns
    return detours


def shorten_detours(
    skeleton: Skeleton,
    chains: Sequence[Sequence[int]],
    wires: Sequence[Sequence[RankHop]],
    lefts: Sequence[int],
    band: Mapping[int, Band],
    around: dict[ColumnJoint, tuple[Point, ...]],
) -> None:
    """Lead a line that passes at the right of its column straight to the gap between columns, not around the foot.

    column │ │     ┌─▶        column │       ┌─▶
           ├─┐     │     to          ├───────┘
           │ │     │                 │
             └─────┘

    A line that is straight from its box on turns in the first gap between ranks if other lines run across there.
    """
    row_of = {item: row for part in skeleton.parts for row in part for item in row}
    place, users = item_ranks(skeleton), [0] * len(lefts)
    for chain in chains:
        for item in chain[:-1]:
            users[item] += 1
    farthest = _farthest_hops(chains, wires, place)
    for (wire, step), turns in [*around.items()]:
        if not turns:
            continue
        chain = chains[wire]
        last = step
        # Find the ranks that the line passes alone, as the rightmost item.
        while last >= 1 and row_of[chain[last]][-1] == chain[last] and users[chain[last]] == 1:
            last -= 1
        first = step - 1
        while first >= last and wires[wire][first].track < 0:
            first -= 1
        straight = first < last
        if straight:
            first = 0
        hop, strip = wires[wire][first], band[chain[first]]
        if straight and (last > 0 or step == 0 or strip.first == 0):
            continue
        if not straight and hop.start >= hop.end:
            continue
        if hop.last >= 0 or farthest[place[chain[first]]] > hop.end:
            continue
        y = strip.track_y(max(hop.track, 0))
        around[wire, first] = (hop.start, y), (turns[1][0], y), *turns[2:]
        for number in range(first + 1, step + 1):
            around[wire, number] = ()


def _farthest_hops(
    chains: Sequence[Sequence[int]],
    wires: Sequence[Sequence[RankHop]],
    place: Mapping[int, tuple[int, int]],
) -> dict[tuple[int, int], int]:
    """Return by part and rank the greatest x of the hops below the rank."""
    farthest: dict[tuple[int, int], int] = {}
    for wire, chain in enumerate(chains):
        for step, hop in enumerate(wires[wire]):
            rank = place[chain[step]]
            farthest[rank] = max(farthest.get(rank, 0), hop.start, hop.end)
    return farthest


def _joint_x(
    joint: ColumnJoint, end: int, chains: Sequence[Sequence[int]], ends: Sequence[Point], lefts: Sequence[int]
) -> int:
    """Return the x at which a line leaves a column (`end` 0), or enters the next at its first (1) or second rank
    (2)."""
    wire, step = joint
    chain = chains[wire]
    item = chain[step + end]
    if not step and not end:
        return lefts[item] + ends[wire][0]
    if end and step + end == len(chain) - 1:
        return lefts[item] + ends[wire][1]
    return lefts[item]


def column_heads(skeleton: Skeleton) -> set[int]:
    """Return the items of the first rank of each column except the first, where alignment starts anew."""
    return {
        item for part, breaks in zip(skeleton.parts, skeleton.breaks, strict=False) for r in breaks for item in part[r]
    }


# Items that train the model are on the right of a rule, in a separate column.

RULE_MARGIN = 20  # px from the rule to the nearest box or line on either side
MIN_LEVEL_HEADINGS = 25  # a level at least as high as so many headings may grow by the height of one
RAIL_MARGIN = 12  # px from the boxes of a column to a line that leads to their training in another column

Rows = Sequence[Sequence[int]]


def split_off_training(
    parts: Sequence[Rows], steps: Sequence[Rows], trained: set[int]
) -> tuple[list[Rows], list[Rows]]:
    """Split the ranks of parts, and the distances of neighbours in `steps`, into the model and the training.

    >>> split_off_training([[(0, 1), (2,)]], [[[9], []]], {1})
    ([[(0,), (2,)], [(1,)]], [[[], []], [[]]])
    """
    rows_apart: list[Rows] = []
    steps_apart: list[Rows] = []
    for part, distances in zip(parts, steps, strict=True):
        cuts = [_first_trained(row, trained) for row in part]
        if min(cuts) < 0:
            cuts = [len(row) for row in part]
        rows_apart.append([row[:cut] for row, cut in zip(part, cuts, strict=True) if cut])
        steps_apart.append([near[: cut - 1] for near, cut in zip(distances, cuts, strict=True) if cut])
        if any(cut < len(row) for row, cut in zip(part, cuts, strict=True)):
            rows_apart.append([row[cut:] for row, cut in zip(part, cuts, strict=True) if cut < len(row)])
            steps_apart.append(
                [near[cut:] for row, near, cut in zip(part, distances, cuts, strict=True) if cut < len(row)]
            )
    return rows_apart, steps_apart


def _first_trained(row: Sequence[int], trained: set[int]) -> int:
    """Return the place in a rank from which on all items train; -1 if items of training are elsewhere, too, or missing.

    >>> _first_trained((1, 5, 2), {5, 2}), _first_trained((1, 2), {5}), _first_trained((5, 1), {5})
    (1, 2, -1)
    """
    cut = len(row)
    while cut and row[cut - 1] in trained:
        cut -= 1
    return -1 if any(item in trained for item in row[:cut]) else cut


def set_training_apart(
    skeleton: Skeleton, lefts: list[int], widths: Sequence[int], trained: set[int], room: Mapping[int, int]
) -> None:
    """Move the boxes and lines of training to the right of all others in their column.

    `room` is, by child of the model, the least distance to the box that writes its weights, so that the rule keeps
    clear of the label between them.
    """
    for rows, inside in _training_columns(skeleton, trained):
        margin = 2 * RULE_MARGIN if any(item < skeleton.children for item in inside) else RAIL_MARGIN
        others = [
            lefts[item] + widths[item] + max(margin, room.get(item, 0) + RULE_MARGIN)
            for row in rows
            for item in row
            if item not in trained
        ]
        move = max(others, default=0) - min(lefts[item] for item in inside)
        for item in inside:
            lefts[item] += move


def training_rules(
    skeleton: Skeleton,
    boxes: Sequence[tuple[int, int, int, int]],
    layers: Sequence[Sequence[Band]],
    lines: Sequence[Sequence[Point]],
    trained: set[int],
    heading: Size,
    height: int = -1,
) -> tuple[TrainingRule, ...]:
    """Return the rules left of the training, one for each column with training; `boxes` are the left, top, width and
    height of each item, `heading` is the size of the heading of a rule with its margins.

    `height` is the height of the level if it is drawn with its end first, else -1. In the first case a heading is at
    the end of its rule, which may extend a little beyond the level; in the second where the column begins.
    """
    place = item_ranks(skeleton)
    rules = []
    for rows, inside in _training_columns(skeleton, trained):
        children = [item for item in inside if item < skeleton.children]
        if children:
            part, first = place[rows[0][0]]
            bands = layers[part][first : first + len(rows)]
            left = min(boxes[item][0] for item in inside) - RULE_MARGIN
            right = left + heading[0]
            taken = [(boxes[item][1], boxes[item][1] + boxes[item][3]) for item in children if boxes[item][0] < right]
            for points in lines:
                for (ax, ay), (bx, by) in pairwise(points):
                    if min(ax, bx) < right and max(ax, bx) > left:
                        taken.append((min(ay, by), max(ay, by)))
            top, bottom = bands[0].top, bands[-1].bottom
            heading_start = max([bottom - heading[1], *(last for _, last in taken)])
            # There is room beyond the level, but beyond a column there may be another part.
            limit = height + height // MIN_LEVEL_HEADINGS if bottom >= height else bottom
            if heading_start + heading[1] > limit:
                heading_start = _first_free_place(taken, top, bottom, heading[1])
            rules.append(TrainingRule(left, top, max(bottom, heading_start + heading[1]), heading_start))
    return tuple(rules)


def _first_free_place(taken: Sequence[tuple[int, int]], start: int, end: int, room: int) -> int:
    """Return the first place from `start` on where `room` px are free before `end`; -1 if there is none.

    >>> _first_free_place([(30, 50), (10, 35)], 0, 99, 20), _first_free_place([(10, 90)], 0, 99, 20)
    (50, -1)
    """
    for first, last in sorted(taken):
        if first - start >= room:
            break
        start = max(start, last)
    return start if end - start >= room else -1


def _training_columns(skeleton: Skeleton, trained: set[int]) -> list[tuple[Rows, list[int]]]:
    """Return the ranks of each column with items of training at the right of all others, and these items."""
    columns: list[tuple[Rows, list[int]]] = []
    for p, part in enumerate(skeleton.parts if trained else ()):
        if min(_first_trained(row, trained) for row in part) < 0:
            continue
        ends = [0, *(skeleton.breaks[p] if skeleton.breaks else ()), len(part)]
        for first, last in pairwise(ends):
            inside = [item for row in part[first:last] for item in row if item in trained]
            if inside:
                columns.append((part[first:last], inside))
    return columns
