"""Coordinates of one level: x within ranks, y of ranks, parts on their shelves, and the routes of the lines.

    attach ─ columns ─ bands ─ breaks ─ shelves ─ routes ─ labels

Plain steps on integers with one rule for ties, because the viewer does the same in JavaScript and must give equal
numbers: `a // b` rounds down everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.level import Gaps, Level, Stroke
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.attach import attach, downward
from graphviz_tb.place.breaks import detours, joints, side_by_side
from graphviz_tb.place.columns import Link, columns
from graphviz_tb.place.funnel import Band, Corridors, beside
from graphviz_tb.place.routes import bands, head_length, routes
from graphviz_tb.place.steep import cross_steeply
from graphviz_tb.place.tracks import FLAT, Hop, give_tracks, is_crossed, is_shut_in

Size = tuple[int, int]
PLAIN = Stroke()
ASLANT = 24  # px along a line that another takes which crosses it or joins it, where a label is beside the line
LANE = 11  # how much straighter the main path is than a link between boxes, of weight 1 (long lines: 2 and 8); 16 would
# straighten four more of 570 steps in pictures one level deep, and lengthen all lines by 3 %


def coordinates(
    skeleton: Skeleton,
    sizes: Sequence[Size],
    gaps: Gaps | None = None,
    *,
    anchors: Mapping[tuple[int, int], int] | None = None,
    strokes: Mapping[int, Stroke] | None = None,
) -> Level:
    """Place one level, its flow running down.

    Before: `sizes` are (across, along) of each child, (0, 0) where it is not drawn; `anchors[wire, 0 or 1]` is
    where a wire touches the child that is its source or target, from the child's left edge (None: where it lies best);
    `strokes` say how wires are drawn: the gap that a label lies in is wider.
    After: no two boxes overlap, no line runs through a foreign box, and all lies in (0, 0) to (width, height).

    >>> from graphviz_tb.model.skeleton import Skeleton, Wire
    >>> chain = Skeleton(2, (), (Wire(0, -1, (0, 1)),), (), (((0,), (1,)),), ((0,),))
    >>> level = coordinates(chain, [(80, 24), (60, 24)])
    >>> level.positions, level.routes
    (((0, 0), (10, 52)), (((40, 24), (40, 52)),))
    """
    gaps = gaps or Gaps()
    given = strokes or {}
    drawn = [given.get(wire, PLAIN) for wire in range(len(skeleton.wires))]
    chains = downward(skeleton)
    ends = attach(skeleton, chains, sizes, gaps) if anchors is None else anchored(skeleton, anchors)
    widths, heights = extents(skeleton, sizes)
    thick = thicknesses(skeleton, drawn)
    above, below = links(skeleton, chains, ends, len(widths))
    steps = [[distances(row, skeleton, widths, thick, gaps) for row in part] for part in skeleton.parts]
    lefts = columns(skeleton.parts, widths, steps, above, below, lane(skeleton))
    flush_left(skeleton, lefts)
    wires, passing = hops_of(skeleton, chains, ends, lefts, drawn)
    layers = strips(skeleton, chains, heights, passing, drawn, gaps)
    between = joints(skeleton, chains)
    tall = side_by_side(skeleton, layers, lefts, widths, between)
    width, height = shelve(skeleton, layers, lefts, widths, tall, gaps)
    around = detours(skeleton, chains, ends, layers, lefts, widths, between)
    band = {item: layers[p][r] for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    tops = [band[item].middle - heights[item] // 2 if item in band else 0 for item in range(len(widths))]
    corridors = Corridors(skeleton, lefts, widths, thick, gaps)
    lines = routes(skeleton, chains, ends, wires, drawn, corridors, tops, heights, band, around)
    base = skeleton.children
    return Level(
        tuple((lefts[item], tops[item]) for item in range(base)),
        tuple(lefts[base : skeleton.first_waypoint]),
        tuple(lines),
        width,
        height,
    )


def anchored(skeleton: Skeleton, anchors: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Where each wire touches its upper and its lower item; a port, in its middle."""
    ends = [(anchors.get((wire, 0), 0), anchors.get((wire, 1), 0)) for wire in range(len(skeleton.wires))]
    return [end[::-1] if wire.turned else end for wire, end in zip(skeleton.wires, ends, strict=True)]


def thicknesses(skeleton: Skeleton, strokes: Sequence[Stroke]) -> list[int]:
    """How thick the line is that passes each item, in tenths of a pixel; 0 for children."""
    thick = [0] * (skeleton.first_waypoint + len(skeleton.waypoint))
    for wire, stroke in zip(skeleton.wires, strokes, strict=True):
        for item in wire.chain:
            if item >= skeleton.children:
                thick[item] = max(thick[item], stroke.thick)
    return thick


def lane(skeleton: Skeleton) -> set[int]:
    """The items that the main paths pass."""
    return {item for wire in skeleton.spine for item in skeleton.wires[wire].chain}


def flush_left(skeleton: Skeleton, lefts: list[int]) -> None:
    """Let every part begin at 0."""
    for part in skeleton.parts:
        least = min((lefts[row[0]] for row in part), default=0)
        for row in part:
            for item in row:
                lefts[item] -= least


def hops_of(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    lefts: Sequence[int],
    strokes: Sequence[Stroke],
) -> tuple[list[list[Hop]], list[list[list[Hop]]]]:
    """Each wire from rank to rank, with its tracks: by wire, and by part and gap."""
    place = ranks_of(skeleton)
    known: dict[tuple[int, int, int, int], Hop] = {}  # lines that run together share their tracks
    wires: list[list[Hop]] = []
    passing: list[list[list[Hop]]] = [[[] for _ in part[1:]] for part in skeleton.parts]
    for wire, chain in enumerate(chains):
        wires.append([])
        part, rank = place[chain[0]]
        for step in range(len(chain) - 1):
            upper, lower = chain[step], chain[step + 1]
            start = lefts[upper] + (ends[wire][0] if not step else 0)
            end = lefts[lower] + (ends[wire][1] if step == len(chain) - 2 else 0)
            key = (upper, lower, start, end)
            if key not in known:
                known[key] = Hop(wire, step, start, end, strokes[wire].thick)
                passing[part][rank + step].append(known[key])
            known[key].thick = max(known[key].thick, strokes[wire].thick)
            wires[wire].append(known[key])
    for part_gaps in passing:
        for hops in part_gaps:
            give_tracks(hops)
    return wires, passing


def ranks_of(skeleton: Skeleton) -> dict[int, tuple[int, int]]:
    """The part and the rank of each item."""
    return {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}


def strips(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    heights: Sequence[int],
    passing: Sequence[Sequence[Sequence[Hop]]],
    strokes: Sequence[Stroke],
    gaps: Gaps,
) -> list[list[Band]]:
    """The bands of each part. After: hops that cross do so steeply."""
    place = ranks_of(skeleton)
    labelled = rooms_for_labels(skeleton, chains, place, passing, strokes)
    straight = straight_ends(skeleton, chains, place, passing, strokes, gaps)
    made = []
    for p, part_rows in enumerate(skeleton.parts):
        ends = [
            (0, 0) if skeleton.children <= row[0] < skeleton.first_waypoint else straight[p][r]
            for r, row in enumerate(part_rows)
        ]
        strip = bands(part_rows, heights, ends, passing[p], labelled[p], gaps)
        for hops, (band, following) in zip(passing[p], pairwise(strip), strict=True):
            cross_steeply(hops, following.top - following.before - band.bottom - band.after)
        made.append(strip)
    return made


def rooms_for_labels(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    place: Mapping[int, tuple[int, int]],
    passing: Sequence[Sequence[Sequence[Hop]]],
    strokes: Sequence[Stroke],
) -> list[dict[int, int]]:
    """For each part the ranks below which a label must find room, with what it needs besides all that passes."""
    labelled: list[dict[int, int]] = [{} for _ in skeleton.parts]
    main = set(skeleton.spine)
    for wire, chain in enumerate(chains):
        stroke = strokes[wire]
        part, rank = place[chain[0]]
        if len(chain) == 2 and stroke.label[1]:
            more = beside_main(wire, stroke.label, passing[part][rank]) if wire in main else 0
            labelled[part][rank] = max(labelled[part].get(rank, 0), more)
        slants = stroke.room[1]
        if slants:
            labelled[part][rank] = max(labelled[part].get(rank, 0), slants)
    return labelled


def straight_ends(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    place: Mapping[int, tuple[int, int]],
    passing: Sequence[Sequence[Sequence[Hop]]],
    strokes: Sequence[Stroke],
    gaps: Gaps,
) -> list[list[tuple[int, int]]]:
    """For each rank of each part, how much of the gaps above and below is kept for straight ends: for arrow heads, for
    lines that go far aside, and for labels."""
    heads = [[[gaps.box, gaps.box] for _ in part] for part in skeleton.parts]
    straight = [[[0, 0] for _ in part] for part in skeleton.parts]
    for wire, chain in enumerate(chains):
        stroke = strokes[wire]
        part, rank = place[chain[0]]
        top, _, bottom, late = stroke.room
        straight[part][rank][1] = max(straight[part][rank][1], top)
        straight[part][rank + 1][0] = max(straight[part][rank + 1][0], bottom)
        final = rank + len(chain) - 2
        straight[part][final][1] = max(straight[part][final][1], late)
        if stroke.tip >= 0:
            upper = stroke.tip == skeleton.wires[wire].turned
            room = heads[part][rank if upper else rank + len(chain) - 1]
            room[upper] = max(room[upper], head_length(stroke.thick) + gaps.straight)
    for p, part_gaps in enumerate(passing):
        for r, hops in enumerate(part_gaps):
            if any(hop.aside > FLAT for hop in hops):
                heads[p][r][1] = max(heads[p][r][1], gaps.start)
    return [
        [(head[0] + run[0], head[1] + run[1]) for head, run in zip(part_heads, runs, strict=True)]
        for part_heads, runs in zip(heads, straight, strict=True)
    ]


def beside_main(wire: int, label: Size, hops: Sequence[Hop]) -> int:
    """How much room a gap needs, besides all that passes, for the label of a main path: one that lies along its line
    finds a place before or behind what comes near."""
    across, along = label
    lies = along > across
    if is_shut_in(wire, hops, across) or (lies and is_crossed(wire, hops)):
        return along + (ASLANT if lies else 0)
    return 0


def extents(skeleton: Skeleton, sizes: Sequence[Size]) -> tuple[list[int], list[int]]:
    """Width and height of each item; ports and waypoints have none."""
    none = [0] * (len(skeleton.ports) + len(skeleton.waypoint))
    return [width for width, _ in sizes] + none, [height for _, height in sizes] + none


def distances(
    row: Sequence[int], skeleton: Skeleton, widths: Sequence[int], thick: Sequence[int], gaps: Gaps
) -> list[int]:
    """The least distance of the left edges of neighbours in one rank."""
    first = skeleton.first_waypoint
    result = []
    for left, right in pairwise(row):
        lines = (left >= first) + (right >= first)
        result.append(widths[left] + (beside(lines, thick[left] + thick[right], gaps) if lines else gaps.siblings))
    return result


def links(
    skeleton: Skeleton, chains: Sequence[tuple[int, ...]], ends: Sequence[tuple[int, int]], count: int
) -> tuple[list[list[Link]], list[list[Link]]]:
    """For each item those above and below that it wants to be straight with, weighted as by Gansner et al."""
    above: list[list[Link]] = [[] for _ in range(count)]
    below: list[list[Link]] = [[] for _ in range(count)]
    first = skeleton.first_waypoint
    trunks: set[tuple[int, int]] = set()
    main = set(skeleton.spine)
    order = [*skeleton.spine, *(wire for wire in range(len(chains)) if wire not in main)]  # a trunk is the main path's
    for wire in order:
        chain, (start, end) = chains[wire], ends[wire]
        final = len(chain) - 2
        for number in range(final + 1):
            upper, lower = chain[number], chain[number + 1]
            if upper >= first or lower >= first:
                if (upper, lower) in trunks:
                    continue
                trunks.add((upper, lower))
            shift = (start if not number else 0) - (end if number == final else 0)
            weight = LANE if wire in main else (1, 2, 8)[(upper >= first) + (lower >= first)]
            above[lower].append((upper, shift, weight))
            below[upper].append((lower, -shift, weight))
    return above, below


def shelve(
    skeleton: Skeleton,
    layers: list[list[Band]],
    lefts: list[int],
    widths: Sequence[int],
    tall: Sequence[int],
    gaps: Gaps,
) -> tuple[int, int]:
    """Move the parts, so `tall`, to their places: that of the ports on the left, the others on shelves to its right."""
    spans = [
        (max((lefts[row[-1]] + widths[row[-1]] for row in part), default=0), high)
        for part, high in zip(skeleton.parts, tall, strict=True)
    ]
    origin = width = height = 0
    if skeleton.main >= 0:
        width, height = spans[skeleton.main]
        origin = width + gaps.parts
    top = 0
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
    if skeleton.main >= 0 and skeleton.ports and not skeleton.ports[-1].first:
        layers[skeleton.main][-1].move(height - layers[skeleton.main][-1].top)
    return width, height
