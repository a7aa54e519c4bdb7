"""Levels drawn by a seed, as `expand` and `arrange` are given them: children, lines between them, lines that leave."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from graphviz_tb.arrange.level import ArrangeOptions, PortConstraints, arrange, child_port_constraints
from graphviz_tb.arrange.plain_rows import arrange_plain_rows as plain_rows
from graphviz_tb.expand.extract import ExtractInput, choose_extracted
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph
from graphviz_tb.options import ExpandOptions

MANY = 20  # of one name
OUTSIDE = 1000  # rows of neighbours begin here
KINDS = ((1, 0, 0), (1, 0, 0), (1, 0, 0), (3, 0, 0), (40, 0, 0), (0, 1, 0), (0, 5, 0), (1, 1, 0), (0, 0, 1), (2, 0, 1))
NO_SIDE: frozenset[str] = frozenset()
SIDES = (NO_SIDE, NO_SIDE, frozenset(("in",)), frozenset(("out",)), frozenset(("in", "out")))
Pair = tuple[int, int]


def anyhow(luck: random.Random) -> list[Pair]:
    """Few boxes, any lines: circles, several pieces, boxes alone."""
    count = luck.randrange(1, 14)
    return [(luck.randrange(count), luck.randrange(count)) for _ in range(luck.randrange(2 * count))]


def forward(luck: random.Random) -> list[Pair]:
    """Lines from earlier boxes to later ones, most of them short."""
    count = luck.randrange(5, 30)
    pairs = []
    for target in range(1, count):
        for _ in range(luck.choice((1, 1, 1, 2, 3))):
            pairs.append((max(0, target - luck.choice((1, 1, 2, 3, 8, 20))), target))
    return pairs


def crossed(luck: random.Random) -> list[Pair]:
    """Ranks of several boxes, lines from each rank to the next, and some further."""
    ranks = [range(start, start + luck.randrange(1, 8)) for start in range(0, 8 * luck.randrange(2, 8), 8)]
    pairs = [(luck.choice(above), box) for above, below in pairwise(ranks) for box in below]
    pairs += [(luck.choice(above), luck.choice(below)) for above, below in pairwise(ranks)] * 2
    return [*pairs, *((luck.choice(ranks[0]), luck.choice(ranks[-1])) for _ in range(3))]


def wide(luck: random.Random) -> list[Pair]:
    """One box that feeds very many, some of which meet again; further ones feed the same."""
    count = luck.choice((12, 20, 30, 31, 40, 60))
    pairs = [(0, box) for box in range(1, count)]
    pairs += [(box, count) for box in range(1, count) if luck.random() < 0.5]
    return [*pairs, *((count + 1, luck.randrange(1, count)) for _ in range(luck.randrange(6)))]


def long(luck: random.Random) -> list[Pair]:
    """A long chain with shortcuts, a box aside now and then, and what leads back."""
    count = luck.choice((12, 16, 24, 25, 33, 48))
    pairs = [(box, box + 1) for box in range(count)]
    for box in range(count - 4):
        if luck.random() < 0.3:
            pairs.append((box, box + luck.choice((2, 3, 4))))
        if luck.random() < 0.15:
            pairs.append((count + 1 + box, box))
    return [*pairs, *((count - luck.randrange(3), luck.randrange(3)) for _ in range(luck.randrange(2)))]


def apart(luck: random.Random) -> list[Pair]:
    """Several small pieces side by side."""
    pairs, start = [], 0
    for _ in range(luck.randrange(2, 9)):
        size = luck.randrange(1, 7)
        pairs += [(start + luck.randrange(box), start + box) for box in range(1, size)]
        start += size
    return pairs


def broad(luck: random.Random) -> list[Pair]:
    """Ranks of very many boxes, with lines from each to the next or far on."""
    size, ranks = luck.choice((30, 79, 80, 81, 110)), luck.choice((2, 3, 5))
    boxes = size * ranks
    pairs = [(box, luck.randrange(size) + (box // size + 1) * size) for box in range(boxes - size) for _ in range(2)]
    if luck.random() < 0.4:
        pairs += [(luck.randrange(size), boxes - 1 - luck.randrange(size)) for _ in range(boxes // 2)]
    return pairs


SHAPES: tuple[Callable[[random.Random], list[Pair]], ...] = (anyhow, forward, crossed, wide, long, apart)


def level(name: str) -> Metagraph:
    """A level, the same for the same name."""
    luck = random.Random(name)
    shape = broad if name.startswith("broad") else luck.choice(SHAPES)
    pairs = list(dict.fromkeys((source, target) for source, target in shape(luck) if source != target))
    count = max((max(pair) for pair in pairs), default=0) + 1 + luck.choice((0, 0, 1, 3))
    same = luck.random() < 0.5
    edges = tuple(
        Metaedge(*pair, *((1, 0, 0) if same else luck.choice(KINDS)), back=luck.random() < 0.02) for pair in pairs
    )
    units = tuple(2 if same else luck.choice((2, 2, 3, 4)) for _ in range(count))
    bridges = tuple(bridge(luck, count) for _ in range(luck.choice((0, 0, 1, 3, 8, 12, 24))))
    bridges = tuple({(each.child, each.other, each.inbound): each for each in bridges}.values())
    automatic = mask(luck, count, len(edges)) if luck.random() < 0.4 else DrawingMask()
    moved = mask(luck, count, len(edges)) if luck.random() < 0.3 else automatic
    children = luck.sample(range(1, count + 1), count)
    return Metagraph(0, tuple(children), units, edges, bridges, moved, automatic)


def bridge(luck: random.Random, count: int) -> Bridge:
    """A line that leaves the level."""
    child, other = luck.randrange(count), OUTSIDE + luck.randrange(14)
    return Bridge(child, other, luck.random() < 0.5, *luck.choice(KINDS), luck.random() < 0.9)


def mask(luck: random.Random, count: int, edges: int) -> DrawingMask:
    """Some boxes and lines that are not drawn, never all boxes."""
    away = luck.sample(range(count), min(luck.randrange(4), count - 1))
    cut = luck.randrange(len(away) + 1)
    return DrawingMask(
        tuple(away[:cut]), tuple(away[cut:]), frozenset(luck.sample(range(edges), min(edges, luck.randrange(3))))
    )


def outside(name: str, metagraph: Metagraph) -> PortConstraints:
    """What the level around says of the bridges."""
    luck = random.Random(name)
    others = sorted({(each.other, each.inbound) for each in metagraph.bridges})
    turned = frozenset(other for other in others if luck.random() < 0.15)
    order = luck.sample(others, len(others))
    return PortConstraints(turned, tuple(order) if luck.random() < 0.7 else ())


def crowd(name: str) -> tuple[ExtractInput, ExpandOptions]:
    """A level as the auxiliary area is decided from, and options of all sizes."""
    luck = random.Random(name)
    count = luck.choice((1, 3, 8, 9, 14, 15, 16, 25, 40, 41, 50))
    hubs = [luck.randrange(count) for _ in range(3)]
    ends = [
        (luck.choice(hubs) if luck.random() < 0.3 else luck.randrange(count), luck.randrange(count))
        for _ in range(3 * count)
    ]
    pairs = dict.fromkeys(pair if luck.random() < 0.8 else pair[::-1] for pair in ends[: luck.randrange(3 * count)])
    few = luck.random() < 0.5
    edges = [Metaedge(*pair, *(luck.choice(KINDS[-4:] if few else KINDS))) for pair in pairs if pair[0] != pair[1]]
    theirs = luck.random() < 0.4
    handing = [] if theirs else sorted({edge.source for edge in edges if edge.tensors})  # what circles hands data on
    held = ExtractInput(
        count,
        edges,
        [luck.random() < 0.05 for _ in range(count)],
        [luck.choice(SIDES) if few else NO_SIDE for _ in range(count)],
        luck.choice((0, 0, 1, 3)),
        frozenset(luck.sample(handing, min(len(handing), luck.choice((0, 0, 0, 1))))),
        frozenset(luck.sample(range(count), min(count, luck.choice((0, 0, 1, 3))))),
    )
    options = ExpandOptions(
        extract=luck.random() < 0.95,
        auto_extract=luck.random() < 0.9,
        min_nodes=luck.choice((1, 15, 16)),
        min_degree=luck.choice((0, 2, 5)),
        max_control_degree=luck.choice((0, 1, 4)),
        tensorboard=theirs,
    )
    return held, options


def decided(name: str) -> Iterator[Any]:
    """What leaves the main area of levels that are drawn by a seed."""
    for number in range(MANY):
        yield choose_extracted(*crowd(f"{name} {number}"))


def arranged_levels(name: str) -> Iterator[Any]:
    """The skeletons of a level that is drawn by a seed: as it is, inside another, in one column, and in plain rows."""
    metagraph = level(name)
    around = outside(name, metagraph)
    skeleton = arrange(metagraph, outside=around)
    yield skeleton, skeleton.notices
    yield from child_port_constraints(metagraph, skeleton, range(len(metagraph.children))).items()
    for other in (arrange(metagraph), arrange(metagraph, ArrangeOptions(wrap=False), around)):
        if other != skeleton:
            yield other
    yield plain_rows(metagraph, around)


def arranged_broad(name: str) -> Iterator[Any]:
    """Checksums of the ranks of a level of hundreds of boxes, and of its lines."""
    skeleton = arrange(level(name))
    yield from (zlib.crc32(str(thing).encode()) for thing in (skeleton.parts, skeleton.wires, skeleton.breaks))
