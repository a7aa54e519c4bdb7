"""Where everything stands on the sheet, and the title row at its top."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.model.drawing import Group
from graphviz_tb.model.measure import clean, elide, width
from graphviz_tb.model.paint import Caption
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.legend import Legend
from graphviz_tb.render.texts import written

MARGIN = 24
TITLE_SIZE, FACTS_SIZE, TITLE_ROW = 16, 11, 48
LEGEND_GAP = 32
LEAST_WIDTH = 240
MOST_TITLE = 480  # pixels that a title may widen the picture to


@dataclass(frozen=True, slots=True)
class Sheet:
    """The whole picture: its size, where the scene stands in it, where the legend."""

    width: int
    height: int
    scene: tuple[int, int]
    legend: tuple[int, int]


def sheet(scene: Scene, key: Legend | None, caption: Caption) -> Sheet:
    """Where everything stands. The legend goes below the drawing, at the left; beside it where the drawing is
    tall."""
    top = MARGIN + (TITLE_ROW if caption.title else 0)
    wide, tall = max(scene.width, _title_width(caption)), scene.height
    if key is None:
        return Sheet(wide + 2 * MARGIN, top + tall + MARGIN, (MARGIN, top), (0, 0))
    if tall > wide and tall >= key.height:
        left = MARGIN + key.width + LEGEND_GAP
        size = (left + scene.width + MARGIN, top + tall + MARGIN)
        return Sheet(max(size[0], wide + 2 * MARGIN), size[1], (left, top), (MARGIN, top + tall - key.height))
    under = top + tall + LEGEND_GAP
    return Sheet(max(wide, key.width) + 2 * MARGIN, under + key.height + MARGIN, (MARGIN, top), (MARGIN, under))


def _title_width(caption: Caption) -> int:
    if not caption.title:
        return 0
    return max(LEAST_WIDTH, min(MOST_TITLE, width(caption.title, TITLE_SIZE, True)))


def title_row(caption: Caption, theme: Theme, page_width: int) -> tuple[Group, ...]:
    """The name of the model, and the facts of the picture below it."""
    if not caption.title:
        return ()
    room = page_width - 2 * MARGIN
    name = elide(clean(caption.title), room, TITLE_SIZE, True)
    facts = elide(caption.facts, room, FACTS_SIZE)
    size = TITLE_SIZE, width(name, TITLE_SIZE, True)
    first = written(name, MARGIN, MARGIN + 14, *size, theme.text, semibold=True)
    second = written(facts, MARGIN, MARGIN + 32, FACTS_SIZE, width(facts, FACTS_SIZE), theme.secondary)
    return (Group((*first, *second)),)
