"""The bands of a level: the height of each rank, and the room in the gaps between ranks kept free for ends and
labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.level import LevelGaps, WireStroke
from graphviz_tb.model.scene import Size
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.funnel import Band
from graphviz_tb.place.routes import arrow_head_length, rank_bands
from graphviz_tb.place.steep import cross_steeply
from graphviz_tb.place.tracks import FLAT_LINE_PX, RankHop, is_label_shut_in, is_wire_crossed

SLANTED_LABEL_ROOM = 24  # px along a labelled line taken by a line that crosses or joins it


def level_bands(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    heights: Sequence[int],
    passing: Sequence[Sequence[Sequence[RankHop]]],
    strokes: Sequence[WireStroke],
    gaps: LevelGaps,
) -> list[list[Band]]:
    """Return the bands of each part, with hops that cross steeply."""
    place = item_ranks(skeleton)
    labelled = label_rooms(skeleton, chains, place, passing, strokes)
    straight = straight_margins(skeleton, chains, place, passing, strokes, gaps)
    made = []
    for p, part_rows in enumerate(skeleton.parts):
        ends = [
            (0, 0) if skeleton.children <= row[0] < skeleton.first_waypoint else straight[p][r]
            for r, row in enumerate(part_rows)
        ]
        strip = rank_bands(part_rows, heights, ends, passing[p], labelled[p], gaps)
        for hops, (band, following) in zip(passing[p], pairwise(strip), strict=True):
            cross_steeply(hops, following.top - following.before - band.bottom - band.after)
        made.append(strip)
    return made


def label_rooms(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    place: Mapping[int, tuple[int, int]],
    passing: Sequence[Sequence[Sequence[RankHop]]],
    strokes: Sequence[WireStroke],
) -> list[dict[int, int]]:
    """Return for each part the ranks with a label below, with the room it needs in addition."""
    labelled: list[dict[int, int]] = [{} for _ in skeleton.parts]
    main = set(skeleton.spine)
    for wire, chain in enumerate(chains):
        stroke = strokes[wire]
        part, rank = place[chain[0]]
        if len(chain) == 2 and stroke.label[1]:  # a longer line has room next to boxes
            more = main_label_room(wire, stroke.label, passing[part][rank]) if wire in main else 0
            labelled[part][rank] = max(labelled[part].get(rank, 0), more)
        slants = stroke.room[1]
        if slants:
            labelled[part][rank] = max(labelled[part].get(rank, 0), slants)
    return labelled


def straight_margins(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    place: Mapping[int, tuple[int, int]],
    passing: Sequence[Sequence[Sequence[RankHop]]],
    strokes: Sequence[WireStroke],
    gaps: LevelGaps,
) -> list[list[tuple[int, int]]]:
    """Return for each rank of each part how much of the gaps above and below is kept straight: for arrow heads, for
    lines that go far aside, and for labels."""
    # By part and rank: margins above and below.
    heads = [[[gaps.box, gaps.box] for _ in part] for part in skeleton.parts]
    straight = [[[0, 0] for _ in part] for part in skeleton.parts]
    for wire, chain in enumerate(chains):
        stroke = strokes[wire]
        part, rank = place[chain[0]]
        top, _, bottom, late = stroke.room
        straight[part][rank][1] = max(straight[part][rank][1], top)
        straight[part][rank + 1][0] = max(straight[part][rank + 1][0], bottom)
        final = rank + len(chain) - 2
        straight[part][final][1] = max(straight[part][final][1], late)  # at the top of its last gap
        if stroke.tip >= 0:
            upper = stroke.tip == skeleton.wires[wire].turned
            room = heads[part][rank if upper else rank + len(chain) - 1]
            # [0]: above the rank, [1]: below it.
            room[upper] = max(room[upper], arrow_head_length(stroke.thick) + gaps.straight)
    for p, part_gaps in enumerate(passing):
        for r, hops in enumerate(part_gaps):
            if any(hop.sideways > FLAT_LINE_PX for hop in hops):
                heads[p][r][1] = max(heads[p][r][1], gaps.start)
    return [
        [(head[0] + run[0], head[1] + run[1]) for head, run in zip(part_heads, runs, strict=True)]
        for part_heads, runs in zip(heads, straight, strict=True)
    ]


def main_label_room(wire: int, label: Size, hops: Sequence[RankHop]) -> int:
    """Return the additional room a gap needs for the label of a main path; a label along its line fits before or behind
    close lines."""
    across, along = label
    lies = along > across
    if is_label_shut_in(wire, hops, across) or (lies and is_wire_crossed(wire, hops)):
        return along + (SLANTED_LABEL_ROOM if lies else 0)
    return 0


def item_ranks(skeleton: Skeleton) -> dict[int, tuple[int, int]]:
    """Return the part and the rank of each item."""
    return {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
