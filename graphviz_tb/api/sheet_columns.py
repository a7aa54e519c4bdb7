"""Break levels of a first picture into columns, so that the sheet fills a wide screen.

The sizes of the first picture decide, once for each level: groups that are opened later change no column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from graphviz_tb.arrange.cache import CacheKey, ColumnBreaks, level_key, rank_counts
from graphviz_tb.arrange.lanes import (
    RankExtent,
    column_joints,
    cut_into_columns,
    extent_in_columns,
    has_lone_column,
    longest_part,
)
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.scene import Direction, Scene, Size
from graphviz_tb.model.view import View
from graphviz_tb.open.groups import OpenSet
from graphviz_tb.place.frames import FRAME_PADDING, GroupLayout, OpenGroup, list_open_groups
from graphviz_tb.place.picture import FrameCache
from graphviz_tb.render.close_frame import Extent, drawn_size

LAPTOP_SCREEN_PX = (1440, 840)  # a laptop's window
SHEET_MARGINS_PX = (48, 96)  # margins and title of a sheet
MAX_SCALE_THOUSANDTHS = 1400  # a picture gains nothing from a larger scale
MAX_HEIGHT_RATIO = 2  # height to width of a picture above which it is a tower
MIN_SHEET_PX = 240  # the width of a sheet with a title, so that a few boxes in a row are not a tower
MAX_COLUMNS = 4  # of a level; also the most levels with columns
LAST_RESORT = 2  # rank of columns that are tried only where no others are
MAX_LEVELS_TRIED = 3  # without a gain, before the search stops
# Scale of a picture with another column, in percent of the scale without: estimated, and when laid out.
MIN_ESTIMATED_PERCENT, MIN_GAIN_PERCENT = 106, 104
PASSING_LINE_PX = 12  # room for a line that passes the boxes of a rank
USUAL_GAP_PX = 36  # between two ranks that were in different columns

PartBreaks = tuple[tuple[int, ...], ...]
LayOutAgain = Callable[[ColumnBreaks], "Layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture without colours. `notices` report what was odd on the way, `columns` say which levels are broken into
    columns."""

    opened: OpenSet
    view: View
    scene: Scene
    notices: tuple[Notice, ...]
    columns: ColumnBreaks = field(default_factory=dict)

    @cached_property
    def size(self) -> Size:
        """The width and height, as drawn."""
        return drawn_size(self.scene)


def choose_columns(lay: LayOutAgain, layout: Layout, frames: FrameCache, target: SheetTarget) -> Layout:
    """Return a picture with some levels in columns, if that shows it larger.

    `lay` lays the picture out again with given columns. If a picture with levels in the form of a U must be reduced, it
    is tried without the U too: columns may show it larger.
    """
    chosen = _choose_breaks(lay, layout, frames, target)
    bent = [group.view for group in list_open_groups(chosen.view) if group.view.skeleton.falling]
    if not bent or (was := _own_scale(chosen, target)) >= 1000:
        return chosen
    straight: ColumnBreaks = {level_key(level.metagraph): (rank_counts(level.skeleton), ()) for level in bent}
    other = _choose_breaks(lay, lay(straight), frames, target)
    return other if 100 * _own_scale(other, target) >= MIN_GAIN_PERCENT * was else chosen


def _own_scale(layout: Layout, target: SheetTarget) -> int:
    """Return the scale of a picture in thousandths, at most 1000."""
    return min(1000, _shown_scale(*_flow_extent(layout), layout.scene.direction, target))


def _choose_breaks(lay: LayOutAgain, layout: Layout, frames: FrameCache, target: SheetTarget) -> Layout:
    """Return a picture with further columns: level by level, the largest gain first, until none is left."""
    direction = layout.scene.direction
    tried: set[tuple[CacheKey, int]] = set()
    for _ in range(MAX_COLUMNS):
        groups, columns, extent = list_open_groups(layout.view), layout.columns, _flow_extent(layout)
        made = [frames.known[group.view.path].frame for group in groups]
        scale = _shown_scale(*extent, direction, target)
        offers = _column_offers(groups, made, extent, direction, target)
        for offer in sorted(offers, key=lambda offer: (offer.resort, -offer.scale))[:MAX_LEVELS_TRIED]:
            counts, key = rank_counts(offer.group.view.skeleton), level_key(offer.group.view.metagraph)
            if (key, offer.resort) in tried or (offer.resort == LAST_RESORT and columns):
                continue
            if key in columns and columns[key][0] != counts:
                continue  # inputs were moved to columns: `breaks` are of other ranks
            tried.add((key, offer.resort))
            more = lay({**columns, key: (counts, offer.breaks)})
            if 100 * _shown_scale(*_flow_extent(more), direction, target) >= MIN_GAIN_PERCENT * scale:
                layout = more
                break
        else:
            break  # no offer was a gain
    return layout


def _flow_extent(layout: Layout) -> tuple[int, int]:
    """Return the extent of a picture across the flow, and along it."""
    return layout.size if layout.scene.direction in ("BT", "TB") else layout.size[::-1]


@dataclass(frozen=True, slots=True)
class SheetTarget:
    """The size in px to which a picture is fitted, `room` of it for margins, title and legend, and the largest scale in
    thousandths."""

    size: tuple[int, int] = LAPTOP_SCREEN_PX
    room: tuple[int, int] = SHEET_MARGINS_PX
    largest: int = MAX_SCALE_THOUSANDTHS

    @property
    def is_page(self) -> bool:
        """Return whether this is a printed page, where text has one size, so that a drawing fits or does not."""
        return self.largest == 1000

    def scale(self, wide: int, tall: int) -> int:
        """Return the scale of a drawing in thousandths."""
        wide, tall = wide + self.room[0], tall + self.room[1]
        return min(1000 * self.size[0] // wide, 1000 * self.size[1] // tall, self.largest)


def covered_percent(size: Size, target: SheetTarget) -> int:
    """Return the share of the target that a picture covers, in percent, when it is not enlarged."""
    wide, tall = size
    scale = min(1000, target.scale(wide, tall))
    covered = (wide + target.room[0]) * (tall + target.room[1]) * scale**2
    return 100 * covered // (target.size[0] * target.size[1] * 1000**2)


def _shown_scale(across: int, along: int, direction: Direction, target: SheetTarget) -> int:
    """Return the scale of a picture in thousandths: less for a tower, more for any picture that fits a page."""
    wide, tall = (across, along) if direction in ("BT", "TB") else (along, across)
    scale, slim = target.scale(wide, tall), 1000
    if _is_tower(across, along, direction, target):
        slim = 1000 * MAX_HEIGHT_RATIO * (max(wide, MIN_SHEET_PX) + target.room[0]) // (tall + target.room[1])
    if target.is_page:
        return scale + (scale >= target.largest) * (target.largest + slim)
    return scale * slim // 1000


def _is_tower(across: int, along: int, direction: Direction, target: SheetTarget) -> bool:
    """Return whether a picture is more than `MAX_HEIGHT_RATIO` times as high as wide, and slimmer than its target."""
    wide, tall = (across, along) if direction in ("BT", "TB") else (along, across)
    ratio = max(1000 * MAX_HEIGHT_RATIO, 1000 * target.size[1] // target.size[0])
    return 1000 * (tall + target.room[1]) > ratio * (max(wide, MIN_SHEET_PX) + target.room[0])


@dataclass(frozen=True, slots=True)
class ColumnOffer:
    """Columns for the level of one group: the estimated `scale` of the picture with them, and where they begin.

    Offers with a lower `resort` are tried first: 0 usually, 1 for a column of a single box, `LAST_RESORT` for such a
    column next to the only open group of the graph.
    """

    scale: int
    group: OpenGroup
    breaks: PartBreaks
    resort: int


def _column_offers(
    groups: Sequence[OpenGroup],
    layouts: Sequence[GroupLayout],
    size: tuple[int, int],
    direction: Direction,
    target: SheetTarget,
) -> Iterator[ColumnOffer]:
    """Yield columns that would show a picture of `size` larger; for each group in ascending order of scale."""
    parent_of = {child: (number, place) for number, group in enumerate(groups) for place, child in group.below.items()}
    # A column of one box is better than a tower on a screen; on paper it is not.
    allows_lone = _is_tower(*size, direction, target) and not target.is_page
    stacked = _stacked_children(groups, parent_of)
    for number, group in enumerate(groups):
        skeleton = group.view.skeleton
        part = longest_part(skeleton)
        if part < 0:
            continue
        ranks = _rank_extents(group, layouts[number], part, direction)
        joints = column_joints(skeleton, part, stacked[number], _training_wires(group)) if ranks else []
        if not joints:
            continue
        extent_before = extent_in_columns(ranks, skeleton.breaks[part] if skeleton.breaks else ())
        best = _shown_scale(*size, direction, target)
        for count in range(1, MAX_COLUMNS + 1):
            cuts = cut_into_columns(ranks, joints, count)
            is_lone = has_lone_column(ranks, cuts)
            if len(cuts) != count - 1 or (is_lone and not allows_lone):
                continue
            extent = extent_in_columns(ranks, cuts)
            change = (extent[0] - extent_before[0], extent[1] - extent_before[1])
            growth = _picture_growth(number, change, groups, layouts, parent_of, direction)
            scale = _shown_scale(size[0] + growth[0], size[1] + growth[1], direction, target)
            if 100 * scale >= MIN_ESTIMATED_PERCENT * best:
                best = scale
                breaks = tuple(cuts if index == part else () for index in range(len(skeleton.parts)))
                resort = (LAST_RESORT if _holds_one_frame(group) else 1) if is_lone else 0
                yield ColumnOffer(scale, group, breaks if cuts else (), resort)


def _holds_one_frame(group: OpenGroup) -> bool:
    """Return whether a level is the whole graph with a single open group, not a stack, among ops."""
    labels = enumerate(group.view.node_labels)
    around = len(group.view.path) == 1 and len(group.below) == 1
    return (
        around
        and all((place in group.below) is not (label.kind == "op") for place, label in labels)
        and all(group.view.node_labels[place].kind != "series" for place in group.below)
    )


def _stacked_children(groups: Sequence[OpenGroup], around: Mapping[int, tuple[int, int]]) -> list[set[int]]:
    """Return for each level the positions of stacks of groups, and of the open groups around such a stack."""
    stacked = [
        {
            position
            for position, label in enumerate(group.view.node_labels)
            if label.kind == "series" and label.member != "op"
        }
        for group in groups
    ]
    for number in range(len(groups)):
        inner = number
        while stacked[number] and inner in around:
            inner, place = around[inner]
            stacked[inner].add(place)
    return stacked


def _training_wires(group: OpenGroup) -> set[int]:
    """Return the wires of a level to or from ops that train the model."""
    return {wire for wire, line in group.view.drawn_lines().items() if line.training}


def _picture_growth(
    number: int,
    change: tuple[int, int],
    groups: Sequence[OpenGroup],
    layouts: Sequence[GroupLayout],
    parent_of: Mapping[int, tuple[int, int]],
    direction: Direction,
) -> tuple[int, int]:
    """Return how much the picture grows across and along when one open group grows by `change`."""
    across, along = change
    while number in parent_of:
        number, place = parent_of[number]
        layout, skeleton = layouts[number], groups[number].view.skeleton
        row = next((row for part in skeleton.parts for row in part if place in row), (place,))
        extents = {
            item: _child_extent(layout, item, direction)
            for item in row
            if item < skeleton.children and layout.slots[item]
        }
        if place not in extents:
            return 0, 0
        lengths = {item: extent.end - extent.start for item, extent in extents.items()}
        length, others_length = lengths.pop(place), max(lengths.values(), default=0)
        along = max(others_length, length + along) - max(others_length, length)
        room = layout.width if direction in ("BT", "TB") else layout.height
        boxes_width = max(box.right for box in extents.values()) - min(box.left for box in extents.values())
        across = max(0, boxes_width + across - (room - 2 * FRAME_PADDING)) if across > 0 else 0
    return across, along


def _child_extent(layout: GroupLayout, item: int, direction: Direction) -> Extent:
    """Return the rectangle of a child across and along the flow."""
    slot = layout.slots[item]
    assert slot is not None
    piece, (x, y) = slot
    across, along = (x, x + piece.width), (y, y + piece.height)
    if direction in ("LR", "RL"):
        across, along = along, across
    if direction in ("BT", "RL"):
        along = -along[1], -along[0]
    return Extent(*across, *along)


def _rank_extents(group: OpenGroup, layout: GroupLayout, part: int, direction: Direction) -> list[RankExtent]:
    skeleton = group.view.skeleton
    ranks: list[RankExtent] = []
    last_stop: int | None = None
    break_numbers = set(skeleton.breaks[part]) if skeleton.breaks else set()
    for number, row in enumerate(skeleton.parts[part]):
        boxes = [
            _child_extent(layout, item, direction) for item in row if item < skeleton.children and layout.slots[item]
        ]
        if not boxes:
            ranks.append(RankExtent(0, 0, ranks[-1].low if ranks else 1 << 30, ranks[-1].high if ranks else -1))
            continue
        start, stop = min(box.start for box in boxes), max(box.end for box in boxes)
        if last_stop is not None:
            gap = USUAL_GAP_PX if number in break_numbers or start < last_stop else start - last_stop
            ranks[-1] = replace(ranks[-1], gap=gap)
        last_stop = stop
        inner = [place for place, item in enumerate(row) if item < skeleton.children]
        low = min(box.left for box in boxes) - PASSING_LINE_PX * inner[0]
        high = max(box.right for box in boxes) + PASSING_LINE_PX * (len(row) - 1 - inner[-1])
        ranks.append(RankExtent(stop - start, 0, low, high))
    # Ranks of ports take no room.
    with_boxes = [rank for rank in ranks if rank.high >= 0]
    if not with_boxes:
        return []
    return [rank if rank.high >= 0 else replace(rank, low=with_boxes[0].low, high=with_boxes[0].high) for rank in ranks]
