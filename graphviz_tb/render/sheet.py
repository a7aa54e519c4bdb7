"""The position of everything on the sheet, and the title row at its top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphviz_tb.model.drawing import Group
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.paint import Caption
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.skyline import Skyline
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.legend import LegendBlock
from graphviz_tb.render.rows import LegendShape, legend_shapes
from graphviz_tb.render.texts import text_labels

PAGE_MARGIN = 24  # px around the sheet
TITLE_SIZE, FACTS_SIZE, TITLE_ROW = 16, 11, 48  # px: two lines of text, and the strip they are in
LEGEND_GAP = 24  # px between the drawing and its legend
MIN_TITLE_WIDTH = 240  # px: a shorter title is not readable
MAX_TITLE_GROWTH = 480  # px to which a title, or the facts below it, may widen the picture
SCREEN_HEIGHT = 1155  # px, and 12/7 of it wide: names of 11 px are still 8 px in a window of 840 px


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """The whole picture: its size, the place of the scene, and the legend with its place."""

    width: int
    height: int
    scene: tuple[int, int]
    legend: LegendShape | None = None
    at: tuple[int, int] = (0, 0)

    @property
    def screen_cost(self) -> int:
        """Area of the sheet plus area of the screen that shows it."""
        screen = max(7 * self.width // 12, self.height, SCREEN_HEIGHT)
        return self.width * self.height + 12 * screen * screen // 7


def lay_out_sheet(scene: Scene, blocks: Sequence[LegendBlock], caption: Caption) -> SheetLayout:
    """Return the position of everything, with the legend in the shape and at the place that make the sheet smallest."""
    title = title_width(caption), TITLE_ROW if caption.title else 0
    if not blocks:
        return sheet_with_legend(scene, title, None, (0, 0))
    sky = scene_skyline(scene)
    pages = [
        sheet_with_legend(scene, title, form, corner)
        for form in legend_shapes(blocks)
        for corner in legend_corners(scene, sky, form)
    ]
    return min(pages, key=lambda page: page.screen_cost)


def legend_corners(scene: Scene, sky: Skyline, form: LegendShape) -> Iterator[tuple[int, int]]:
    """Yield places of a legend, from the corner of the scene: slid against the drawing at each of its corners, from
    below and from the sides, the upper left first."""
    # Level with the foot, and with the right side.
    high, out = max(0, scene.height - form.height), scene.width - form.width
    for left in (0, max(0, out)):
        reach = sky.bottom_extent(left - LEGEND_GAP, left + form.width + LEGEND_GAP)
        yield left, max(reach + LEGEND_GAP if reach else 0, high)
    for top in (0, high):
        reach = sky.left_extent(top - LEGEND_GAP, top + form.height + LEGEND_GAP)
        yield min(out - reach - LEGEND_GAP if reach else out, 0), top
        reach = sky.right_extent(top - LEGEND_GAP, top + form.height + LEGEND_GAP)
        yield max(reach + LEGEND_GAP if reach else 0, out), top


def sheet_with_legend(
    scene: Scene, title: tuple[int, int], form: LegendShape | None, corner: tuple[int, int]
) -> SheetLayout:
    """Return the sheet of the scene, its title (width, height) above it, and its legend at `corner` next to it."""
    across, deep = (form.width, form.height) if form else (0, 0)
    left, top = min(0, corner[0]), PAGE_MARGIN + title[1]  # a legend on the left moves the scene to the right
    wide = max(max(scene.width, corner[0] + across) - left, title[0])
    size = wide + 2 * PAGE_MARGIN, top + max(scene.height, corner[1] + deep) + PAGE_MARGIN
    return SheetLayout(*size, (PAGE_MARGIN - left, top), form, (PAGE_MARGIN - left + corner[0], top + corner[1]))


def scene_skyline(scene: Scene) -> Skyline:
    """Return how far the scene reaches to all sides, from everything outside of open boxes."""
    sky = Skyline(len(scene.routes), scene.width)
    outer = {index for index, box in enumerate(scene.boxes) if box.parent < 0} | {-1}
    for box in scene.boxes:
        if box.parent < 0:
            sky.add_rect((box.x, box.y, box.x + box.width, box.y + box.height))
    if scene.webs:  # lines from anywhere to anywhere
        sky.add_rect((0, 0, scene.width, scene.height))
    lines = [route.points for route in scene.routes if route.frame < 0]
    for points in (*lines, *(stub.points for stub in scene.stubs if stub.box in outer)):
        sky.add_line(points)
    for text in scene.texts:
        if text.box not in outer:
            continue
        left = text.x - {"start": 0, "middle": text.width // 2, "end": text.width}[text.anchor]
        sky.add_rect((left, text.y - text.size, left + text.width, text.y + 3))
    for rule in scene.rules:
        sky.add_rect((rule.x1, rule.y1, rule.x2, rule.y2))
    return sky


def title_width(caption: Caption) -> int:
    if not caption.title:
        return 0
    wanted = max(text_width(caption.title, TITLE_SIZE, True), text_width(caption.facts, FACTS_SIZE))
    return max(MIN_TITLE_WIDTH, min(MAX_TITLE_GROWTH, wanted))


def title_row(caption: Caption, theme: Theme, page_width: int) -> tuple[Group, ...]:
    """Return the name of the model, and the facts of the picture below it."""
    if not caption.title:
        return ()
    room = page_width - 2 * PAGE_MARGIN
    name = elide_text(replace_unsafe_characters(caption.title), room, TITLE_SIZE, True)
    facts = elide_text(caption.facts, room, FACTS_SIZE)
    size = TITLE_SIZE, text_width(name, TITLE_SIZE, True)
    first = text_labels(name, PAGE_MARGIN, PAGE_MARGIN + 14, *size, theme.text, semibold=True)
    second = text_labels(
        facts, PAGE_MARGIN, PAGE_MARGIN + 32, FACTS_SIZE, text_width(facts, FACTS_SIZE), theme.secondary
    )
    return (Group((*first, *second)),)
