"""Compute the coordinates of one level: x within ranks, y of ranks, parts on their shelves, and routes of lines.

    attach ─ columns ─ upright ends ─ tracks and bands ─ breaks ─ shelves ─ routes

All steps use integers, because the viewer repeats them in JavaScript and must compute equal numbers; `a // b` rounds
down everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.graphs.drawing_math import straighten_polyline
from graphviz_tb.model.scene import Point, Size
from graphviz_tb.model.skeleton import LevelGaps, LevelLayout, Skeleton, WireStroke, capped_wires
from graphviz_tb.place.attachment import LineEnds, attach_lines, downward_chains
from graphviz_tb.place.bands import Band, item_ranks, rank_bands
from graphviz_tb.place.columns import Alignment, align_columns
from graphviz_tb.place.lanes import (
    column_detours,
    column_heads,
    place_columns,
    set_training_apart,
    shorten_detours,
    split_off_training,
    training_rules,
    wires_across_to_gutter,
    wires_at_joints,
)
from graphviz_tb.place.tracks import RankHop
from graphviz_tb.place.upright import reach_tracks, straighten_ends, straighten_passing_lines

PLAIN_STROKE = WireStroke()
# Links between boxes have weight 1, long lines 2 and 8. With weight 16 for the main path, four more of its 570 steps
# would be straight in pictures one level deep, but all lines 3 % longer.
MAIN_PATH_WEIGHT = 11
MIN_TALL_RATIO = 4  # a box may be off the middle of its rank if the rank is at least so many times as high


def place_level(
    skeleton: Skeleton,
    sizes: Sequence[Size],
    gaps: LevelGaps | None = None,
    *,
    line_ends: LineEnds | None = None,
    strokes: Mapping[int, WireStroke] | None = None,
    trained: set[int] | None = None,
    room: Mapping[int, int] | None = None,
) -> LevelLayout:
    """Place one level whose flow runs down.

    - `sizes`: (across, along) of each child, (0, 0) for a child that is not drawn.
    - `line_ends`: where lines touch children; None for the best places.
    - `strokes`: how wires are drawn; a gap with a label is wider.
    - `trained`: items that train the model or do its bookkeeping, which are right of all others.
    - `room`: by item, the least distance to the next item in its rank.
    No two boxes overlap, no line runs through a box that is not its end, and all is within (0, 0) to (width, height).

    >>> from graphviz_tb.model.skeleton import Skeleton, Wire
    >>> chain = Skeleton(2, (), (Wire(0, -1, (0, 1)),), (), (((0,), (1,)),), ((0,),))
    >>> level = place_level(chain, [(80, 24), (60, 24)])
    >>> level.positions, level.routes
    (((0, 0), (10, 51)), (((40, 24), (40, 51)),))
    """
    gaps = gaps or LevelGaps()
    drawn = [(strokes or {}).get(wire, PLAIN_STROKE) for wire in range(len(skeleton.wires))]
    chains = downward_chains(skeleton)
    if line_ends is None:
        ends = attach_lines(skeleton, chains, sizes, gaps)
    else:
        ends = _anchored_ends(skeleton, line_ends.anchors)
    # Columns from here on are by item: children, then ports, then waypoints.
    widths, heights = _item_sizes(skeleton, sizes)
    thick = _item_thicknesses(skeleton, drawn)
    trained_items, rooms = trained or set(), room or {}
    steps = [[_rank_distances(row, skeleton, widths, thick, gaps, rooms) for row in part] for part in skeleton.parts]
    lefts = _place_across(skeleton, chains, ends, widths, steps, trained_items, rooms)
    if line_ends is not None:
        ends = straighten_ends(skeleton, chains, ends, lefts, line_ends.sides, gaps, line_ends.entries)
        ends = reach_tracks(skeleton, chains, ends, lefts, widths, steps, line_ends.entries)
    return _place_along(skeleton, chains, ends, lefts, (widths, heights), drawn, gaps, trained_items)


def _place_across(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    widths: Sequence[int],
    steps: Sequence[Sequence[Sequence[int]]],
    trained: set[int],
    room: Mapping[int, int],
) -> list[int]:
    """Return the left edge of each item; every part begins at 0. `trained` items are right of all others, and at least
    `room` px from the box whose weights they write."""
    above, below = _item_alignments(skeleton, chains, ends, len(widths), trained)
    parts, between = split_off_training(skeleton.parts, steps, trained)
    lefts = align_columns(parts, widths, between, above, below, _main_path_items(skeleton))
    _draw_near(skeleton, chains, lefts, steps)
    set_training_apart(skeleton, lefts, widths, trained, room)
    _flush_parts_left(skeleton, lefts)
    straighten_passing_lines(skeleton, chains, ends, lefts, steps)
    return lefts


def _draw_near(
    skeleton: Skeleton, chains: Sequence[tuple[int, ...]], lefts: list[int], steps: Sequence[Sequence[Sequence[int]]]
) -> None:
    """Move boxes that begin a rank and have no line from rank to rank, only one beside the ranks, to the next item."""
    linked = {item for chain in chains for item in (chain[0], chain[-1])}
    for part, distances in zip(skeleton.parts, steps, strict=True):
        for row, apart in zip(part, distances, strict=True):
            if len(row) > 1 and row[0] < skeleton.children and row[0] not in linked:
                lefts[row[0]] = max(lefts[row[0]], lefts[row[1]] - apart[0])


def _place_along(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    lefts: list[int],
    extents: tuple[Sequence[int], Sequence[int]],
    strokes: Sequence[WireStroke],
    gaps: LevelGaps,
    trained: set[int],
) -> LevelLayout:
    """Compute the heights of ranks, move columns and parts to their places, and route the lines along tracks.

    `extents` are the widths and the heights of the items.
    """
    widths, heights = extents
    wires, passing = _find_hops(skeleton, chains, ends, lefts, strokes)
    # Each part begins at (0, 0) until `_shelve_parts` moves it.
    layers = rank_bands(skeleton, chains, heights, passing, strokes, gaps)
    joint_wires = wires_at_joints(skeleton, chains)
    part_heights = place_columns(skeleton, layers, lefts, widths, joint_wires, gaps.column)
    width, height = _shelve_parts(skeleton, layers, lefts, widths, part_heights, gaps)
    detours = column_detours(skeleton, chains, ends, layers, lefts, widths, joint_wires, gaps.column)
    band = {item: layers[p][r] for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    tops = _item_tops(chains, band, heights, trained)
    _shift_hops(chains, wires, ends, lefts)
    shorten_detours(skeleton, chains, wires, lefts, band, detours)
    lines = _wire_routes(skeleton, chains, wires, gaps, tops, heights, band, detours, height)
    boxes = list(zip(lefts, tops, widths, heights, strict=True))
    # A level with ports cannot grow on its last side.
    open_end = height if gaps.upward and not skeleton.ports else -1
    rules = training_rules(skeleton, boxes, layers, lines, trained, gaps.heading, open_end)
    return LevelLayout(
        tuple((lefts[child], tops[child]) for child in range(skeleton.children)),
        tuple(lefts[skeleton.children : skeleton.first_waypoint]),
        tuple(lines),
        width,
        max([height, *(rule.bottom for rule in rules)]),
        rules,
    )


def _item_tops(
    chains: Sequence[Sequence[int]], band: Mapping[int, Band], heights: Sequence[int], trained: set[int]
) -> list[int]:
    """Return the top of each item, centred in its rank; 0 for items on no rank.

    Beside a far higher box, a box that only feeds others is at the edge of the rank near these, such as a label next to
    its loss, and a box that is only fed at the edge near its inputs; but not if a line passes inside its rank.
    """
    feeding, fed = {chain[0] for chain in chains}, {chain[-1] for chain in chains}
    steps = [(one, other) for chain in chains for one, other in pairwise(chain) if one in band and other in band]
    on_level_line = {item for one, other in steps if band[one].top == band[other].top for item in (one, other)}
    tops: list[int] = []
    for item, height in enumerate(heights):
        strip = band.get(item)
        if strip is None:
            tops.append(0)
            continue
        is_tall_rank = strip.bottom - strip.top > MIN_TALL_RATIO * height
        if not is_tall_rank or item in trained or item in on_level_line or (item in feeding) == (item in fed):
            tops.append(strip.middle - height // 2)
        else:
            tops.append(strip.bottom - height if item in feeding else strip.top)
    return tops


def _anchored_ends(skeleton: Skeleton, anchors: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Return where each wire touches its upper and its lower item; ports and waypoints in the middle."""
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
    return {item for wire in skeleton.main_path for item in skeleton.wires[wire].chain}


def _flush_parts_left(skeleton: Skeleton, lefts: list[int]) -> None:
    """Move every part so that it begins at 0."""
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
            key = (upper, lower, start, end)  # wires of a bus share a hop, as thick as the thickest wire
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
    """Update the x of all hops after the items moved."""
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
    """Return the width and the height of each item; 0 for ports and waypoints."""
    none = [0] * (len(skeleton.ports) + len(skeleton.waypoint))
    return [width for width, _ in sizes] + none, [height for _, height in sizes] + none


def _rank_distances(
    row: Sequence[int],
    skeleton: Skeleton,
    widths: Sequence[int],
    thick: Sequence[int],
    gaps: LevelGaps,
    room: Mapping[int, int],
) -> list[int]:
    """Return the least distances between the left edges of neighbours in one rank."""
    first = skeleton.first_waypoint
    result = []
    for left, right in pairwise(row):
        lines = (left >= first) + (right >= first)
        clearance = _line_clearance(lines, thick[left] + thick[right], gaps) if lines else gaps.siblings
        result.append(widths[left] + max(clearance, room.get(left, 0)))
    return result


def _item_alignments(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    count: int,
    trained: set[int],
) -> tuple[list[list[Alignment]], list[list[Alignment]]]:
    """Return for each item the items above and below with which to align it, weighted as by Gansner et al."""
    above: list[list[Alignment]] = [[] for _ in range(count)]
    below: list[list[Alignment]] = [[] for _ in range(count)]
    first = skeleton.first_waypoint
    heads = column_heads(skeleton)
    trunks: set[tuple[int, int]] = set()
    main, capped = set(skeleton.main_path), capped_wires(skeleton)
    turning = wires_across_to_gutter(skeleton, chains)
    order = [*skeleton.main_path, *(wire for wire in range(len(chains)) if wire not in main)]  # main paths own trunks
    for wire in order:
        chain, (start, end) = chains[wire], ends[wire]
        final = len(chain) - 2
        for number in range(final + 1):
            upper, lower = chain[number], chain[number + 1]
            if lower in heads or (upper in trained) != (lower in trained) or (number == final and wire in capped):
                continue
            if not number and wire in turning and upper < skeleton.children:
                continue  # the line runs across right away
            if upper >= first or lower >= first:
                if (upper, lower) in trunks:  # a link that lines share counts once
                    continue
                trunks.add((upper, lower))
            shift = (start if not number else 0) - (end if number == final else 0)
            # The weight of a link depends on how many of its ends are waypoints.
            weight = MAIN_PATH_WEIGHT if wire in main else (1, 2, 8)[(upper >= first) + (lower >= first)]
            above[lower].append((upper, shift, weight))
            below[upper].append((lower, -shift, weight))
    return above, below


def _shelve_parts(
    skeleton: Skeleton,
    layers: list[list[Band]],
    lefts: list[int],
    widths: Sequence[int],
    tall: Sequence[int],
    gaps: LevelGaps,
) -> tuple[int, int]:
    """Move the parts, whose heights are `tall`, to their places: the part with ports at the left, other parts on
    shelves to its right; return the width and height of the level."""
    spans = [
        (max((lefts[row[-1]] + widths[row[-1]] for row in part), default=0), high)
        for part, high in zip(skeleton.parts, tall, strict=True)
    ]
    origin = width = height = 0
    if skeleton.port_part >= 0:
        width, height = spans[skeleton.port_part]
        origin = width + gaps.parts
    top = 0
    # On the screen the first shelf is the upper one.
    for shelf in skeleton.shelves[::-1] if gaps.upward else skeleton.shelves:
        left, shelf_height = origin, 0
        for part in shelf:
            for row in skeleton.parts[part]:
                for item in row:
                    lefts[item] += left
            for band in layers[part]:
                band.move(top)
            left += spans[part][0] + gaps.parts
            shelf_height = max(shelf_height, spans[part][1])
        width = max(width, left - gaps.parts)
        height = max(height, top + shelf_height)
        top += shelf_height + gaps.parts
    # Ports of the last side are on the frame, below everything.
    if skeleton.port_part >= 0 and skeleton.ports and not skeleton.ports[-1].first:
        layers[skeleton.port_part][-1].move(height - layers[skeleton.port_part][-1].top)
    return width, height


def _line_clearance(lines: int, thick: int, gaps: LevelGaps) -> int:
    """Return the distance from the middle of a line to a box (`lines` 1) or to the middle of another line (2).

    `thick` is the sum of their thicknesses, in tenths of a pixel.

    >>> _line_clearance(1, 10, LevelGaps()), _line_clearance(2, 20, LevelGaps()), _line_clearance(2, 120, LevelGaps())
    (10, 8, 13)
    """
    return (gaps.box if lines == 1 else gaps.edge) + (thick + 19) // 20  # half of tenths of a pixel, rounded up


# The polylines of the lines of a level; every stretch runs along an axis.
#
# A line passes a rank straight, at its waypoint, which keeps it clear of boxes. It runs across only in the gaps between
# ranks, on tracks. So no line touches a box that is not its end.


def _wire_routes(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    hops: Sequence[Sequence[RankHop]],
    gaps: LevelGaps,
    tops: Sequence[int],
    heights: Sequence[int],
    band: Mapping[int, Band],
    around: Mapping[tuple[int, int], tuple[Point, ...]],
    height: int,
) -> list[tuple[Point, ...]]:
    """Return the polyline of each wire from the border of its source to that of its target.

    `height` is that of the level; `around` are the bends of lines that lead to another column, by wire and step. A wire
    that runs against the ranks leaves the top of its source and ends at the bottom of its target.
    """
    result = []
    capped = capped_wires(skeleton)
    for wire, chain in enumerate(chains):
        upper, lower = chain[0], chain[-1]
        points: list[Point] = [(hops[wire][0].start, tops[upper] + heights[upper])]
        for number in range(len(chain) - 1):
            turns = around.get((wire, number))
            points += _hop_bends(hops[wire][number], band[chain[number]]) if turns is None else turns
        points.append((hops[wire][-1].end, tops[lower] + (heights[lower] if wire in capped else 0)))
        # Extend lines of ports straight to the border, through the title bar.
        if upper >= skeleton.children:
            # Ports of a later column are on its first rank, below the border, ports of an earlier column on its last.
            points.insert(0, (points[0][0], -gaps.beyond - gaps.bar[0]))
        if lower >= skeleton.children:
            points.append((points[-1][0], height + gaps.beyond + gaps.bar[1]))
        line = straighten_polyline(points)
        result.append(tuple(line[::-1] if skeleton.wires[wire].turned else line))
    return result


def _hop_bends(hop: RankHop, above: Band) -> list[Point]:
    """Return the corners of a hop in the gap below a band.

    >>> _hop_bends(RankHop(0, 0, 5, 90, 10, track=1), Band(0, 20, first=12, pitch=16))
    [(5, 48), (90, 48)]
    """
    if hop.track < 0:
        return []
    upper = above.track_y(hop.track)
    if hop.last < 0:
        return [(hop.start, upper), (hop.end, upper)]
    lower = above.track_y(hop.last)
    return [(hop.start, upper), (hop.middle, upper), (hop.middle, lower), (hop.end, lower)]
