"""The auxiliary area: extracted children in columns under a heading, next to the drawing and separated by a rule.

It is placed where the whole becomes smallest: in a free corner at the right, below, or at the side of everything.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import text_width
from graphviz_tb.model.scene import Point, Separator, Size, Text
from graphviz_tb.model.skyline import Skyline
from graphviz_tb.place.sizes import BASELINE_OFFSET, move_text

AREA_DISTANCE = 32  # px from the drawing to the area, with the rule half way
HEADING_SIZE, HEADING_ROOM = 11, 24  # px: the font, and the strip of the heading
AREA_GAP = 16  # px between two boxes of a column, and between two columns
COLUMN_LENGTHS = (96, 160, 240, 320, 480, 0)  # px after which a column is broken, as alternatives; 0: a row
SCREEN_HEIGHT_PX = 900  # largest height (and 8/5 of it as width) that is shown at full size

AxisExtent = tuple[int, int, int]  # width, height, and its axis: boxes of a column share one axis


@dataclass(frozen=True, slots=True)
class AuxiliaryArea:
    """Places (upper left corners, in the order of the sizes given), and the size of everything."""

    places: tuple[Point, ...]
    texts: tuple[Text, ...]
    rules: tuple[Separator, ...]
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class BlockPlacement:
    """One way to place a block: its corner, its size, the size of the whole, and on which side its rule is."""

    corner: Point
    size: Size
    whole: Size
    beside: bool
    places: tuple[Point, ...]

    @property
    def placement_cost(self) -> int:
        """Area of the whole plus area of the screen that shows it."""
        wide, tall = self.whole
        screen = max(5 * wide // 8, tall, SCREEN_HEIGHT_PX)  # the height of the smallest 8:5 screen that shows all
        return wide * tall + 8 * screen * screen // 5


def place_blocks(
    core: Size, sky: Skyline, blocks: Sequence[tuple[str, Sequence[Sequence[AxisExtent]]]], notes: Sequence[Text] = ()
) -> AuxiliaryArea:
    """Place blocks and lines of notes next to a drawing of size `core` with the outline `sky`.

    A block is a heading ("" for none, and no rule) and columns of sizes.

    >>> sky = Skyline()
    >>> sky.add_rect((0, 0, 100, 300))
    >>> area = place_blocks((100, 300), sky, [("Auxiliary", [[(80, 24, 40), (60, 24, 30)], []])])
    >>> area.places, area.width
    (((0, 356), (10, 396)), 100)
    """
    places: list[Point] = []
    texts: list[Text] = []
    rules: list[Separator] = []
    whole = core
    for heading, columns in blocks:
        if not any(columns):
            continue
        room = HEADING_ROOM if heading else 0
        placement = cheapest_placement(whole, sky, columns, text_width(heading, HEADING_SIZE, True), room)
        (left, top), (wide, tall) = placement.corner, placement.size
        places += [(left + x, top + room + y) for x, y in placement.places]
        half = AREA_DISTANCE // 2
        if heading:
            texts.append(_heading(heading, placement.corner))
            beside = Separator(left - half, top, left - half, top + tall)
            rules.append(beside if placement.beside else Separator(left, top - half, left + wide, top - half))
        # Include its rule, so that the next block keeps clear of both.
        sky.add_rect((left - half, top - half, left + wide, top + tall))
        whole = placement.whole
    if notes:
        size = max(note.width for note in notes), notes[-1].y + 4
        placement = min(corner_placements(whole, sky, size, ()), key=lambda placement: placement.placement_cost)
        texts += [move_text(note, *placement.corner) for note in notes]
        whole = placement.whole
    return AuxiliaryArea(tuple(places), tuple(texts), tuple(rules), *whole)


def cheapest_placement(
    core: Size, sky: Skyline, columns: Sequence[Sequence[AxisExtent]], least: int, room: int
) -> BlockPlacement:
    """Return the cheapest placement of all shapes of a block (`room` for its heading) in all corners; the first of
    equals."""
    possible: list[BlockPlacement] = []
    # Shapes as high as the drawing, in one, two or three columns, and some of fixed length.
    for limit in (core[1], *COLUMN_LENGTHS, core[1] // 2, core[1] // 3):
        places, (wide, tall) = block_places(columns, limit)
        wide, tall = max(wide, least), tall + room
        possible += corner_placements(core, sky, (wide, tall), tuple(places))
    return min(possible, key=lambda placement: placement.placement_cost)


def corner_placements(core: Size, sky: Skyline, size: Size, places: tuple[Point, ...]) -> list[BlockPlacement]:
    """Slide a block against the drawing: from the right at the top and the bottom, from below at the left and the
    right."""
    (wide, tall), (across, along) = core, size
    possible = []
    for top in (0, max(0, tall - along)):
        reach = sky.right_extent(top - AREA_DISTANCE, top + along + AREA_DISTANCE)
        left = reach + AREA_DISTANCE if reach else 0
        possible.append(BlockPlacement((left, top), size, (max(wide, left + across), max(tall, along)), True, places))
    for left in (0, max(0, wide - across)):
        reach = sky.bottom_extent(left - AREA_DISTANCE, left + across + AREA_DISTANCE)
        top = reach + AREA_DISTANCE if reach else 0
        possible.append(BlockPlacement((left, top), size, (max(wide, across), max(tall, top + along)), False, places))
    return possible


def _heading(content: str, origin: Point) -> Text:
    wide = text_width(content, HEADING_SIZE, True)
    y = origin[1] + HEADING_ROOM // 2 + BASELINE_OFFSET[HEADING_SIZE] - 6
    return Text(origin[0], y, content, content, HEADING_SIZE, wide, "heading", "start", True)


def block_places(columns: Sequence[Sequence[AxisExtent]], limit: int) -> tuple[list[Point], Size]:
    """Return the places within one block, and its size: columns from top to bottom, broken beyond `limit`.

    >>> block_places([[(80, 24, 40), (60, 24, 30)]], 30)
    ([(0, 0), (96, 0)], (156, 24))
    """
    places: list[Point] = []
    start = longest = 0
    for column in columns:
        for part in break_column(column, limit):
            axis = max(thing[2] for thing in part)
            along = 0
            for _, tall, own_axis in part:
                places.append((start + axis - own_axis, along))
                along += tall + AREA_GAP
            longest = max(longest, along - AREA_GAP)
            # The largest extents left and right of the axis.
            start += axis + max(thing[0] - thing[2] for thing in part) + AREA_GAP
    return places, (start - AREA_GAP, longest)


def break_column(column: Sequence[AxisExtent], limit: int) -> list[list[AxisExtent]]:
    """Return a column broken where it gets longer than `limit`.

    >>> break_column([(10, 30, 5)] * 3, 80)
    [[(10, 30, 5), (10, 30, 5)], [(10, 30, 5)]]
    """
    parts: list[list[AxisExtent]] = []
    along = 0
    for thing in column:
        if not parts or along + thing[1] > limit:
            parts.append([])
            along = 0
        parts[-1].append(thing)
        along += thing[1] + AREA_GAP
    return parts
