"""What the steps of `place` make of levels, lines and areas that are drawn by a seed: sizes, and checksums."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from drawn_levels import MANY, level, outside

from graphviz_tb.arrange.level import arrange
from graphviz_tb.graphs.skyline import Skyline, SkylineRect
from graphviz_tb.model.scene import Text
from graphviz_tb.model.skeleton import LevelGaps, WireStroke
from graphviz_tb.place.coordinates import place_level
from graphviz_tb.place.frames import _place_blocks
from graphviz_tb.place.labels import LineLabel, place_labels
from graphviz_tb.place.tracks import (
    RankHop,
    assign_tracks,
    cross_steeply,
    gap_height,
    is_label_shut_in,
    is_wire_crossed,
)

WIDTHS = (24, 60, 88, 88, 140, 300)
GAPS = (
    LevelGaps(),
    LevelGaps(bar=(24, 0)),
    LevelGaps(bar=(0, 24), upward=True),
    LevelGaps(siblings=4, parts=10, spread=5),
)


def checksum(thing: object) -> int:
    """A number that changes with what is written of a thing."""
    return zlib.crc32(str(thing).encode())


def stroke(luck: random.Random) -> WireStroke:
    """How a line is drawn, with a label now and then."""
    label = (luck.choice((20, 40, 90)), 12) if luck.random() < 0.4 else (0, 0)
    room = tuple(luck.choice((0, 0, 6)) for _ in range(4)) if label[0] else (0, 0, 0, 0)
    return WireStroke(
        luck.choice((10, 10, 25, 70)), luck.choice((1, 1, 0, -1)), label, (room[0], room[1], room[2], room[3])
    )


def coordinated(name: str) -> Iterator[Any]:
    """The coordinates of a level, and the places of its labels."""
    luck, metagraph = random.Random(name), level(name.replace("place", "level"))
    skeleton = arrange(metagraph, outside=outside(name, metagraph))
    core = set(metagraph.core_children())
    for gaps in (GAPS[0], luck.choice(GAPS[1:])):
        tall = luck.choice((24, 40))
        sizes = [
            (luck.choice(WIDTHS), luck.choice((tall, tall, 24, 200))) if child in core else (0, 0)
            for child in range(len(metagraph.children))
        ]
        strokes = {wire: stroke(luck) for wire in range(len(skeleton.wires))}
        found = place_level(skeleton, sizes, gaps, strokes=strokes)
        yield found.width, found.height, checksum(found.positions), checksum(found.ports), checksum(found.routes)
        boxes: list[SkylineRect] = [
            (x, y, x + wide, y + high) for (x, y), (wide, high) in zip(found.positions, sizes, strict=True) if wide
        ]
        labels = {
            wire: LineLabel(each.label, each.thick, wire in skeleton.spine)
            for wire, each in strokes.items()
            if each.label[0]
        }
        thick = {wire: each.thick for wire, each in strokes.items()}
        placed = place_labels(
            dict(enumerate(found.routes)), labels, boxes, (0, 0, found.width, found.height), None, thick
        )
        yield len(placed), checksum(placed)


def beside(name: str) -> Iterator[Any]:
    """Where what was taken out of a drawing is."""
    for number in range(MANY):
        luck = random.Random(f"{name} {number}")
        core = luck.choice((0, 60, 300, 900, 1440, 2000)), luck.choice((0, 40, 300, 900, 1600))
        sky = Skyline()
        for _ in range(luck.randrange(1, 5)):
            left, top = luck.randrange(core[0] + 1), luck.randrange(core[1] + 1)
            sky.add_rect((left, top, luck.randrange(left, core[0] + 1), luck.randrange(top, core[1] + 1)))
        blocks = [
            (heading, [[thing(luck) for _ in range(luck.randrange(luck.choice((2, 5, 30))))] for _ in range(2)])
            for heading in luck.sample(["", "Auxiliary", "Functions"], luck.randrange(3))
        ]
        lines = [
            Text(0, 14 * line, "x", "x", 10, luck.choice((30, 200)), "note", "start")
            for line in range(luck.randrange(3))
        ]
        area = _place_blocks(core, sky, blocks, lines)
        yield area.width, area.height, checksum((area.places, area.texts, area.rules))


def thing(luck: random.Random) -> tuple[int, int, int]:
    """The size of a box and its axis."""
    wide = luck.choice(WIDTHS)
    return wide, luck.choice((24, 24, 40)), luck.choice((wide // 2, 12))


def tracked(name: str) -> Iterator[Any]:
    """How lines turn between two ranks."""
    for number in range(MANY):
        luck = random.Random(f"{name} {number}")
        hops = [
            RankHop(wire, 0, luck.randrange(0, 200, 4), luck.randrange(0, 200, 4), luck.choice((10, 20, 50)))
            for wire in range(luck.randrange(1, 8))
        ]
        if luck.random() < 0.5:
            hops.append(replace(hops[0], wire=len(hops), end=hops[0].start, start=hops[0].start))
        assign_tracks(hops)
        height = gap_height(hops, luck.choice((0, 10)), luck.choice((0, 11)), luck.choice((0, 5)), LevelGaps())
        crossed = [
            (is_wire_crossed(hop.wire, hops), is_label_shut_in(hop.wire, hops, luck.choice((10, 40)))) for hop in hops
        ]
        turns = [(hop.late, hop.early) for hop in hops]
        cross_steeply(hops, height)
        yield height, crossed, turns, [(hop.late, hop.early) for hop in hops]
