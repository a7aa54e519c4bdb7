"""Coordinates of one level: x within ranks, y of ranks, parts on their shelves, and the routes of the lines.

    attach ─ columns ─ upright ends ─ tracks and bands ─ breaks ─ shelves ─ routes

Plain integer steps with one rule for ties, because the viewer repeats them in JavaScript and must get equal numbers:
`a // b` rounds down everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.scene import Point, Size
from graphviz_tb.model.skeleton import LevelGaps, LevelLayout, Skeleton, WireStroke
from graphviz_tb.place.attachment import attach_lines, downward_chains
from graphviz_tb.place.bands import Band, item_ranks, rank_bands
from graphviz_tb.place.columns import Alignment, align_columns
from graphviz_tb.place.routes import wire_routes
from graphviz_tb.place.tracks import RankHop
from graphviz_tb.place.upright import reach_tracks, straighten_ends, straighten_passing_lines

# Place a long part in columns next to each other, and the lines that lead from one column to the next.
#
# With the flow running down, a line leaves a column at its foot, runs up next to it, and enters the next at its head.
# The rightmost line turns first, and so on outwards: this adds no crossing.

COLUMN_LINE_STEP = 12  # px between neighbouring lines of a gap between columns; lines are up to 6 px thick
COLUMN_LINE_MARGIN = 20  # px from a column to the nearest line
COLUMN_TURN = 26  # px for a turn below a column, and for one above with its arrow head

ColumnJoint = tuple[int, int]  # wire, and the step of its chain that leads to the next column


def _column_joints(skeleton: Skeleton, chains: Sequence[Sequence[int]]) -> list[list[list[ColumnJoint]]]:
    """Return by part and break what leads from one column to the next; of lines that run as one, the first."""
    passing: list[list[list[ColumnJoint]]] = [[[] for _ in broken] for broken in skeleton.breaks]
    if not passing:
        return []
    seen: set[tuple[int, int]] = set()
    place = {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    for wire, chain in enumerate(chains):
        part, rank = place[chain[0]]
        for number, break_ in enumerate(skeleton.breaks[part]):
            if rank < break_ < rank + len(chain):  # one item a rank: the chain is on both sides of the break
                step = break_ - rank - 1
                if (chain[step], chain[step + 1]) in seen and _is_shared_step(chain, step):
                    continue
                seen.add((chain[step], chain[step + 1]))
                passing[part][number].append((wire, step))
    return passing


def _is_shared_step(chain: Sequence[int], step: int) -> bool:
    """Return whether lines through both ends of a step run as one: not from box to box."""
    return step > 0 and step < len(chain) - 2


def _place_columns(
    skeleton: Skeleton,
    layers: Sequence[Sequence[Band]],
    lefts: list[int],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[ColumnJoint]]],
) -> list[int]:
    """Move the columns of each broken part to their places; return the height of every part.

    The first column begins at the left, each other one next to the previous one, with room next to and above it for the
    lines that lead there.
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
                left += high - low + 2 * COLUMN_LINE_MARGIN + (lines - 1) * COLUMN_LINE_STEP
                head = COLUMN_TURN + lines * COLUMN_LINE_STEP  # room for the turns above the next column
    return [_part_height(bands, p, skeleton, between) for p, bands in enumerate(layers)]


def _part_height(
    bands: Sequence[Band], part: int, skeleton: Skeleton, between: Sequence[Sequence[Sequence[ColumnJoint]]]
) -> int:
    """Return the height of a part in pixels, with the lines that turn below its columns."""
    tall = bands[-1].bottom if bands else 0
    if between:
        for number, break_ in enumerate(skeleton.breaks[part]):
            tall = max(tall, bands[break_ - 1].bottom + COLUMN_TURN + len(between[part][number]) * COLUMN_LINE_STEP)
    return tall


def _column_detours(
    skeleton: Skeleton,
    chains: Sequence[Sequence[int]],
    ends: Sequence[Point],
    layers: Sequence[Sequence[Band]],
    lefts: Sequence[int],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[ColumnJoint]]],
) -> dict[ColumnJoint, tuple[Point, ...]]:
    """Return the four bends of each line from column to column."""
    around: dict[ColumnJoint, tuple[Point, ...]] = {}
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
            leave = [(_joint_x(joint, 0, chains, ends, lefts), joint) for joint in lines]
            leave.sort()
            # From the right: the first turns nearest to the foot and to the column.
            for turn, (x, joint) in enumerate(leave[::-1]):
                foot = layers[p][break_ - 1].bottom + COLUMN_TURN + turn * COLUMN_LINE_STEP
                head = layers[p][break_].top - COLUMN_TURN - (len(lines) - 1 - turn) * COLUMN_LINE_STEP
                lane, goal = (
                    right + COLUMN_LINE_MARGIN + turn * COLUMN_LINE_STEP,
                    _joint_x(joint, 1, chains, ends, lefts),
                )
                around[joint] = (x, foot), (lane, foot), (lane, head), (goal, head)
    bends = {(chains[wire][step], chains[wire][step + 1]): turns for (wire, step), turns in around.items()}
    for wire, chain in enumerate(chains):
        for step in range(1, len(chain) - 2):
            turns = bends.get((chain[step], chain[step + 1]))
            if turns is not None:
                around[wire, step] = turns
    return around


def _shorten_detours(
    skeleton: Skeleton,
    chains: Sequence[Sequence[int]],
    wires: Sequence[Sequence[RankHop]],
    lefts: Sequence[int],
    band: Mapping[int, Band],
    around: dict[ColumnJoint, tuple[Point, ...]],
) -> None:
    """Let a line that passes at the right of its column go to the gap between columns where it turns, not at the foot.

    column │ │     ┌─▶        column │       ┌─▶
           ├─┐     │     to          ├───────┘
           │ │     │                 │
             └─────┘
    """
    row_of = {item: row for part in skeleton.parts for row in part for item in row}
    place = item_ranks(skeleton)
    users = [0] * len(lefts)
    farthest: dict[tuple[int, int], int] = {}  # by part and rank: the greatest x of the hops below it
    for wire, chain in enumerate(chains):
        for step, hop in enumerate(wires[wire]):
            users[chain[step]] += 1
            rank = place[chain[step]]
            farthest[rank] = max(farthest.get(rank, 0), hop.start, hop.end)
    for (wire, step), turns in [*around.items()]:
        chain = chains[wire]
        last = step
        # The ranks that the line passes as the rightmost one, alone.
        while last >= 1 and row_of[chain[last]][-1] == chain[last] and users[chain[last]] == 1:
            last -= 1
        first = step - 1
        while first >= last and wires[wire][first].track < 0:
            first -= 1
        if first < last:
            continue
        hop = wires[wire][first]
        if hop.last >= 0 or hop.start >= hop.end or farthest[place[chain[first]]] > hop.end:
            continue
        y = band[chain[first]].track(hop.track)
        around[wire, first] = (hop.start, y), (turns[1][0], y), *turns[2:]
        for number in range(first + 1, step + 1):
            around[wire, number] = ()


def _joint_x(
    joint: ColumnJoint, end: int, chains: Sequence[Sequence[int]], ends: Sequence[Point], lefts: Sequence[int]
) -> int:
    """Return the x at which a line leaves a column (`end` 0), or enters the next (1)."""
    wire, step = joint
    chain = chains[wire]
    item = chain[step + end]
    if not step and not end:
        return lefts[item] + ends[wire][0]
    if step == len(chain) - 2 and end:
        return lefts[item] + ends[wire][1]
    return lefts[item]


PLAIN_STROKE = WireStroke()
# weight of the main path, against 1 for a link between boxes, and 2 and 8 for long lines; 16 would
MAIN_PATH_WEIGHT = 11
# straighten four more of 570 steps in pictures one level deep, and lengthen all lines by 3 %


def place_level(
    skeleton: Skeleton,
    sizes: Sequence[Size],
    gaps: LevelGaps | None = None,
    *,
    anchors: Mapping[tuple[int, int], int] | None = None,
    strokes: Mapping[int, WireStroke] | None = None,
    sides: Sequence[tuple[int, int]] | None = None,
    entries: Mapping[int, int] | None = None,
) -> LevelLayout:
    """Place one level, its flow running down.

    Before: `sizes` are (across, along) of each child, (0, 0) where it is not drawn; `anchors[wire, 0 or 1]` is
    where a wire touches the child that is its source or target, from the child's left edge (None: at the best place);
    `strokes` say how wires are drawn: a gap with a label is wider; `sides` are where on each child a wire that is not
    straight may touch it instead, from where to where ((0, 0): nowhere else); `entries` end next to their lower
    item, on its left (-1) or right (1) side.
    After: no two boxes overlap, no line runs through a foreign box, and all is within (0, 0) to (width, height).

    >>> from graphviz_tb.model.skeleton import Skeleton, Wire
    >>> chain = Skeleton(2, (), (Wire(0, -1, (0, 1)),), (), (((0,), (1,)),), ((0,),))
    >>> level = place_level(chain, [(80, 24), (60, 24)])
    >>> level.positions, level.routes
    (((0, 0), (10, 51)), (((40, 24), (40, 51)),))
    """
    gaps = gaps or LevelGaps()
    drawn = [(strokes or {}).get(wire, PLAIN_STROKE) for wire in range(len(skeleton.wires))]
    chains = downward_chains(skeleton)
    ends = attach_lines(skeleton, chains, sizes, gaps) if anchors is None else _anchored_ends(skeleton, anchors)
    # From here on by item: children, then ports, then waypoints.
    widths, heights = _item_sizes(skeleton, sizes)
    thick = _item_thicknesses(skeleton, drawn)
    above, below = _item_alignments(skeleton, chains, ends, len(widths))
    steps = [[_rank_distances(row, skeleton, widths, thick, gaps) for row in part] for part in skeleton.parts]
    lefts = align_columns(skeleton.parts, widths, steps, above, below, _main_path_items(skeleton))
    _flush_parts_left(skeleton, lefts)
    straighten_passing_lines(skeleton, chains, ends, lefts, steps)
    if sides is not None:
        ends = straighten_ends(skeleton, chains, ends, lefts, sides, gaps, entries or {})
        ends = reach_tracks(skeleton, chains, ends, lefts, widths, steps, entries or {})
    wires, passing = _find_hops(skeleton, chains, ends, lefts, drawn)
    # Each part begins at (0, 0) until `_shelve_parts` moves it.
    layers = rank_bands(skeleton, chains, heights, passing, drawn, gaps)
    between = _column_joints(skeleton, chains)
    tall = _place_columns(skeleton, layers, lefts, widths, between)
    width, height = _shelve_parts(skeleton, layers, lefts, widths, tall, gaps)
    around = _column_detours(skeleton, chains, ends, layers, lefts, widths, between)
    band = {item: layers[p][r] for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    tops = _centred_tops(band, heights)
    _shift_hops(chains, wires, ends, lefts)
    _shorten_detours(skeleton, chains, wires, lefts, band, around)
    lines = wire_routes(skeleton, chains, wires, gaps, tops, heights, band, around)
    return LevelLayout(
        tuple((lefts[child], tops[child]) for child in range(skeleton.children)),
        tuple(lefts[skeleton.children : skeleton.first_waypoint]),
        tuple(lines),
        width,
        height,
    )


def _centred_tops(band: Mapping[int, Band], heights: Sequence[int]) -> list[int]:
    """Return the top of each item, centred on the middle of its rank; 0 for items on none."""
    return [band[item].middle - height // 2 if item in band else 0 for item, height in enumerate(heights)]


def _anchored_ends(skeleton: Skeleton, anchors: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Return where each wire touches its upper and its lower item; a port, in its middle."""
    ends = [(anchors.get((wire, 0), 0), anchors.get((wire, 1), 0)) for wire in range(len(skeleton.wires))]
    return [end[::-1] if wire.turned else end for wire, end in zip(skeleton.wires, ends, strict=True)]


def _item_thicknesses(skeleton: Skeleton, strokes: Sequence[WireStroke]) -> list[int]:
    """Return the thickness of the line through each item, in tenths of a pixel; 0 for children."""
    thick = [0] * (skeleton.first_waypoint + len(skeleton.waypoint))
    for wire, stroke in zip(skeleton.wires, strokes, strict=True):
        for item in wire.chain:
            if item >= skeleton.children:
                thick[item] = max(thick[item], stroke.thick)
    return thick


def _main_path_items(skeleton: Skeleton) -> set[int]:
    """Return the items on the main paths."""
    return {item for wire in skeleton.spine for item in skeleton.wires[wire].chain}


def _flush_parts_left(skeleton: Skeleton, lefts: list[int]) -> None:
    """Let every part begin at 0."""
    for part in skeleton.parts:
        least = min((lefts[row[0]] for row in part), default=0)
        for row in part:
            for item in row:
                lefts[item] -= least


def _find_hops(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    lefts: Sequence[int],
    strokes: Sequence[WireStroke],
) -> tuple[list[list[RankHop]], list[list[list[RankHop]]]]:
    """Return the hops of each wire from rank to rank: by wire, and by part and gap."""
    place = item_ranks(skeleton)
    known: dict[tuple[int, int, int, int], RankHop] = {}  # equal hops share one track
    wires: list[list[RankHop]] = []
    passing: list[list[list[RankHop]]] = [[[] for _ in part[1:]] for part in skeleton.parts]
    for wire, chain in enumerate(chains):
        wires.append([])
        part, rank = place[chain[0]]
        for step in range(len(chain) - 1):
            upper, lower = chain[step], chain[step + 1]
            start = lefts[upper] + (ends[wire][0] if not step else 0)
            end = lefts[lower] + (ends[wire][1] if step == len(chain) - 2 else 0)
            key = (upper, lower, start, end)  # wires of a bus share a hop as thick as the thickest
            if key not in known:
                known[key] = RankHop(wire, step, start, end, strokes[wire].thick, upper, lower)
                passing[part][rank + step].append(known[key])
            known[key].thick = max(known[key].thick, strokes[wire].thick)
            wires[wire].append(known[key])
    return wires, passing


def _shift_hops(
    chains: Sequence[tuple[int, ...]],
    wires: Sequence[Sequence[RankHop]],
    ends: Sequence[tuple[int, int]],
    lefts: list[int],
) -> None:
    """Move all hops to where their parts are now."""
    moved: set[tuple[int, int]] = set()
    for wire, chain in enumerate(chains):
        for step, hop in enumerate(wires[wire]):
            if (hop.wire, hop.step) in moved or hop.wire != wire:
                continue
            moved.add((hop.wire, hop.step))
            start = lefts[chain[step]] + (ends[wire][0] if not step else 0)
            end = lefts[chain[step + 1]] + (ends[wire][1] if step == len(chain) - 2 else 0)
            hop.middle += start - hop.start
            hop.start, hop.end = start, end


def _item_sizes(skeleton: Skeleton, sizes: Sequence[Size]) -> tuple[list[int], list[int]]:
    """Return the width and the height of each item; those of ports and waypoints are 0."""
    none = [0] * (len(skeleton.ports) + len(skeleton.waypoint))
    return [width for width, _ in sizes] + none, [height for _, height in sizes] + none


def _rank_distances(
    row: Sequence[int], skeleton: Skeleton, widths: Sequence[int], thick: Sequence[int], gaps: LevelGaps
) -> list[int]:
    """Return the least distances between the left edges of neighbours in one rank."""
    first = skeleton.first_waypoint
    result = []
    for left, right in pairwise(row):
        lines = (left >= first) + (right >= first)
        result.append(
            widths[left] + (_line_clearance(lines, thick[left] + thick[right], gaps) if lines else gaps.siblings)
        )
    return result


def _item_alignments(
    skeleton: Skeleton, chains: Sequence[tuple[int, ...]], ends: Sequence[tuple[int, int]], count: int
) -> tuple[list[list[Alignment]], list[list[Alignment]]]:
    """Return for each item those above and below with which it should be straight, weighted as by Gansner et al."""
    above: list[list[Alignment]] = [[] for _ in range(count)]
    below: list[list[Alignment]] = [[] for _ in range(count)]
    first = skeleton.first_waypoint
    heads = _column_heads(skeleton)
    trunks: set[tuple[int, int]] = set()
    main = set(skeleton.spine)
    order = [*skeleton.spine, *(wire for wire in range(len(chains)) if wire not in main)]  # main paths own trunks
    for wire in order:
        chain, (start, end) = chains[wire], ends[wire]
        final = len(chain) - 2
        for number in range(final + 1):
            upper, lower = chain[number], chain[number + 1]
            if lower in heads:
                continue
            if upper >= first or lower >= first:
                if (upper, lower) in trunks:  # lines that share waypoints pull once
                    continue
                trunks.add((upper, lower))
            shift = (start if not number else 0) - (end if number == final else 0)
            # By the number of ends that are waypoints.
            weight = MAIN_PATH_WEIGHT if wire in main else (1, 2, 8)[(upper >= first) + (lower >= first)]
            above[lower].append((upper, shift, weight))
            below[upper].append((lower, -shift, weight))
    return above, below


def _column_heads(skeleton: Skeleton) -> set[int]:
    """Return the items of the first rank of each column but the first of its part: each column is straight on its
    own."""
    return {
        item for part, breaks in zip(skeleton.parts, skeleton.breaks, strict=False) for r in breaks for item in part[r]
    }


def _shelve_parts(
    skeleton: Skeleton,
    layers: list[list[Band]],
    lefts: list[int],
    widths: Sequence[int],
    tall: Sequence[int],
    gaps: LevelGaps,
) -> tuple[int, int]:
    """Move the parts of heights `tall` to their places: the one with ports at the left, the others on shelves to its
    right."""
    spans = [
        (max((lefts[row[-1]] + widths[row[-1]] for row in part), default=0), high)
        for part, high in zip(skeleton.parts, tall, strict=True)
    ]
    origin = width = height = 0
    if skeleton.main >= 0:
        width, height = spans[skeleton.main]
        origin = width + gaps.parts
    top = 0
    # On the screen the first shelf is the upper one.
    for shelf in skeleton.shelves[::-1] if gaps.upward else skeleton.shelves:
        left, deep = origin, 0
        for part in shelf:
            for row in skeleton.parts[part]:
                for item in row:
                    lefts[item] += left
            for band in layers[part]:
                band.move(top)
            left += spans[part][0] + gaps.parts
            deep = max(deep, spans[part][1])
        width = max(width, left - gaps.parts)
        height = max(height, top + deep)
        top += deep + gaps.parts
    # Ports of the last side are on the frame, below everything.
    if skeleton.main >= 0 and skeleton.ports and not skeleton.ports[-1].first:
        layers[skeleton.main][-1].move(height - layers[skeleton.main][-1].top)
    return width, height


def _line_clearance(lines: int, thick: int, gaps: LevelGaps) -> int:
    """Return the distance of the middle of a line from a box (`lines` 1) or from another line (`lines` 2).

    `thick` is the sum of their thicknesses, in tenths of a pixel.

    >>> _line_clearance(1, 10, LevelGaps()), _line_clearance(2, 20, LevelGaps()), _line_clearance(2, 120, LevelGaps())
    (10, 8, 13)
    """
    return (gaps.box if lines == 1 else gaps.edge) + (thick + 19) // 20  # half of tenths of a pixel, rounded up
