"""Compute the bands of a level: the height of each rank, and the room in the gaps between ranks.

A gap holds the straight ends of the lines at its two ranks, the tracks between them, and room for labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Size
from graphviz_tb.model.skeleton import LevelGaps, Skeleton, WireStroke, capped_wires
from graphviz_tb.place.tracks import RankHop, assign_tracks, track_pitch

# The length of an arrow head on a thin line, and on the thickest, in tenths of a pixel.
MIN_HEAD_LENGTH, MAX_HEAD_LENGTH = 80, 100
LABEL_LINE_GAP = 10  # px from a line, over its label, to the next line
PORT_LABEL_ROOM = 6  # px that a label needs at a port, in addition to its height
LABEL_MARGIN = 12  # px above and below a label that are free of lines


@dataclass(slots=True)
class Band:
    """The strip of one rank, in pixels.

    - `top`, `bottom`: the strip of the boxes.
    - `before`, `after`: the parts of the gaps above and below that are kept for straight line ends.
    - `first`, `pitch`: the distance to the first track below, and from track to track.
    """

    top: int
    bottom: int
    before: int = 0
    after: int = 0
    first: int = 0
    pitch: int = 0

    @property
    def middle(self) -> int:
        """The y on which the boxes are centred."""
        return (self.top + self.bottom) // 2

    def track_y(self, number: int) -> int:
        """Return the y of a track of the gap below."""
        return self.bottom + self.first + number * self.pitch

    def move(self, down: int) -> None:
        """Shift the strip."""
        self.top += down
        self.bottom += down


def _arrow_head_length(thick: int) -> int:
    """Return the length of an arrow head in pixels on a line of `thick` tenths, rounded up.

    >>> _arrow_head_length(10), _arrow_head_length(60)
    (8, 10)
    """
    return (min(MAX_HEAD_LENGTH, MIN_HEAD_LENGTH + thick - 10) + 9) // 10


def rank_bands(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    heights: Sequence[int],
    passing: Sequence[Sequence[Sequence[RankHop]]],
    strokes: Sequence[WireStroke],
    gaps: LevelGaps,
) -> list[list[Band]]:
    """Return the bands of each part, and assign tracks to all hops."""
    place = item_ranks(skeleton)
    labelled = _labelled_short_wires(skeleton, chains, place, strokes)
    heads = _line_end_rooms(skeleton, chains, place, strokes, gaps)
    made = []
    for p, part_rows in enumerate(skeleton.parts):
        strip: list[Band] = []
        top = 0
        for r, row in enumerate(part_rows):
            ports = skeleton.children <= row[0] < skeleton.first_waypoint
            before, after = (0, 0) if ports else heads[p][r]
            if r:
                top = _next_rank_top(strip[-1], before, passing[p][r - 1], labelled[p].get(r - 1, []), strokes, gaps)
            bottom = top + max(heights[item] + heights[item] % 2 for item in row)  # even, so its half is an integer
            strip.append(Band(top, bottom, before, after))
        made.append(strip)
    return made


def _next_rank_top(
    band: Band,
    before: int,
    hops: Sequence[RankHop],
    labelled: Sequence[int],
    strokes: Sequence[WireStroke],
    gaps: LevelGaps,
) -> int:
    """Return the top of the rank below a band, and assign the tracks of the gap between them.

    `before` px of the gap are for line ends at that rank; `labelled` are the wires with a label that pass only this
    gap.
    """
    is_at_ports = not (band.after and before)
    after = max(band.after, gaps.start) if band.after else 0
    count = assign_tracks(hops)
    step = track_pitch(count, max([hop.thick for hop in hops], default=0))
    least = gaps.ranks - (gaps.beyond if is_at_ports else 0)
    for wire in labelled:
        # A label at a port needs room only for itself, and only on a main path, where it must be drawn.
        label_room = strokes[wire].label[1] + PORT_LABEL_ROOM if strokes[wire].is_main else 0
        least = max(least, label_room if is_at_ports else gaps.labelled)
    if not count:
        band.first = max(least, band.after + before) // 2
        return band.bottom + max(least, band.after + before)
    above, under = after, before
    for wire in labelled:
        if strokes[wire].is_main:
            room = _main_label_room(wire, hops, strokes[wire].label)
            above, under = max(above, room[0]), max(under, room[1])
    tracks_height = (count - 1) * step
    height = max(least, above + tracks_height + under)
    band.first, band.pitch = above + (height - above - tracks_height - under) // 2, step
    return band.bottom + height


def _main_label_room(wire: int, hops: Sequence[RankHop], label: Size) -> tuple[int, int]:
    """Return the room that a gap needs above and below its tracks for a label next to its line."""
    own_hop = next((hop for hop in hops if hop.wire == wire), None)
    if own_hop is None:
        return 0, 0
    across, along = label
    reach = across + LABEL_LINE_GAP
    if own_hop.track < 0 and any(
        not any(min(hop.start, hop.end) < high and max(hop.start, hop.end) > low for hop in hops if hop is not own_hop)
        for low, high in ((own_hop.start, own_hop.start + reach), (own_hop.start - reach, own_hop.start))
    ):
        return 0, 0  # one side of the line is free
    if any(
        not any(low < hop.end < high for hop in hops if hop is not own_hop)
        for low, high in ((own_hop.end, own_hop.end + reach), (own_hop.end - reach, own_hop.end))
    ):
        return 0, along + LABEL_MARGIN
    return along + LABEL_MARGIN, 0


def _labelled_short_wires(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    place: Mapping[int, tuple[int, int]],
    strokes: Sequence[WireStroke],
) -> list[dict[int, list[int]]]:
    """Return for each part, by rank, the wires with a label that lead to the next rank; longer wires have room for
    their labels beside boxes."""
    labelled: list[dict[int, list[int]]] = [{} for _ in skeleton.parts]
    for wire, chain in enumerate(chains):
        if len(chain) == 2 and strokes[wire].label[1]:
            part, rank = place[chain[0]]
            labelled[part].setdefault(rank, []).append(wire)
    return labelled


def _line_end_rooms(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    place: Mapping[int, tuple[int, int]],
    strokes: Sequence[WireStroke],
    gaps: LevelGaps,
) -> list[list[tuple[int, int]]]:
    """Return for each rank of each part the room above and below it for straight line ends with arrow heads."""
    heads = [[[gaps.box, gaps.box] for _ in part] for part in skeleton.parts]
    capped = capped_wires(skeleton)
    for wire, chain in enumerate(chains):
        stroke = strokes[wire]
        if stroke.tip == 1 and wire in capped:
            part, rank = place[chain[-1]]
            heads[part][rank][1] = max(heads[part][rank][1], _arrow_head_length(stroke.thick) + gaps.straight)
        elif stroke.tip >= 0:
            part, rank = place[chain[0]]
            upper = stroke.tip == skeleton.wires[wire].turned
            room = heads[part][rank if upper else rank + len(chain) - 1]
            room[upper] = max(room[upper], _arrow_head_length(stroke.thick) + gaps.straight)
    return [[(head[0], head[1]) for head in part] for part in heads]


def item_ranks(skeleton: Skeleton) -> dict[int, tuple[int, int]]:
    return {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
