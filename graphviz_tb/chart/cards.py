"""A sheet of charts: one card for each tag, in columns, below a title and the legend of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphviz_tb.chart.lines import CARD_SIZE, ChartLine, ChartLook, chart_card
from graphviz_tb.chart.order import RUN_HUES, LineStyle
from graphviz_tb.model.drawing import Curve, Drawing, Group, Label, Pen, Section
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.theme import Theme

SHEET_MARGIN, CARD_GAP = 24, 16  # px around the sheet and between cards
MAX_CARD_COLUMNS = 3  # cards next to each other
SHEET_TITLE_HEIGHT = 40  # px of the title
# px: a row of the legend, a sample of a line, the longest name of a run
LEGEND_ROW_HEIGHT, LINE_SAMPLE_WIDTH, MAX_RUN_NAME_WIDTH = 20, 22, 240


@dataclass(frozen=True, slots=True)
class LineChart:
    """One tag: its name and the line of each run that logged it."""

    title: str
    lines: tuple[ChartLine, ...]


def chart_sheet(title: str, charts: Sequence[LineChart], look: ChartLook, theme: Theme) -> Drawing:
    """Return all charts on one sheet, in the given order."""
    columns = max(1, min(MAX_CARD_COLUMNS, len(charts)))
    wide = columns * (CARD_SIZE[0] + CARD_GAP) - CARD_GAP
    styles = {line.label: line.style for chart in charts for line in chart.lines}
    legend, deep = run_name_legend(styles, wide, theme)
    top = SHEET_MARGIN + (SHEET_TITLE_HEIGHT if title else 0) + deep
    cards = tuple(
        chart_card(
            chart.title,
            chart.lines,
            look,
            theme,
            (at % columns * (CARD_SIZE[0] + CARD_GAP), at // columns * (CARD_SIZE[1] + CARD_GAP)),
        )
        for at, chart in enumerate(charts)
    )
    rows = -(-len(charts) // columns)
    height = top + max(0, rows * (CARD_SIZE[1] + CARD_GAP) - CARD_GAP) + SHEET_MARGIN
    parts = (
        Section("title", (SHEET_MARGIN, SHEET_MARGIN), (Group(tuple(sheet_title(title, wide, theme))),)),
        Section("legend", (SHEET_MARGIN, SHEET_MARGIN + (SHEET_TITLE_HEIGHT if title else 0)), legend),
        Section("graph", (SHEET_MARGIN, top), cards),
    )
    summary = f"{len(charts)} charts of {len(styles)} runs: " + "; ".join(group.tooltip for group in cards)
    return Drawing(wide + 2 * SHEET_MARGIN, height, replace_unsafe_characters(title), summary, theme.background, parts)


def sheet_title(title: str, room: int, theme: Theme) -> Iterator[Label]:
    if title:
        name = elide_text(replace_unsafe_characters(title), room, 16, True)
        yield Label(name, 0, 16, 16, text_width(name, 16, True), theme.text, semibold=True)


def run_name_legend(styles: Mapping[str, LineStyle], room: int, theme: Theme) -> tuple[tuple[Group, ...], int]:
    """Return an entry for each run, in rows that fit the room, and the height of all rows."""
    entries: list[Group] = []
    x = y = 0
    for run, style in styles.items():
        name = elide_text(replace_unsafe_characters(run) or ".", MAX_RUN_NAME_WIDTH, OP_FONT_PX)
        long = LINE_SAMPLE_WIDTH + 6 + text_width(name, OP_FONT_PX)
        if x and x + long > room:
            x, y = 0, y + LEGEND_ROW_HEIGHT
        pen = Pen(RUN_HUES[theme.name][style.hue], 2.5, style.dashes)
        line = Curve((("M", (0, 6)), ("H", (LINE_SAMPLE_WIDTH,))), pen=pen)
        label = Label(name, LINE_SAMPLE_WIDTH + 6, 10, OP_FONT_PX, text_width(name, OP_FONT_PX), theme.text)
        entries.append(Group((line, label), None, replace_unsafe_characters(run), (("run", run),), (x, y)))
        x += long + 20
    return tuple(entries), y + LEGEND_ROW_HEIGHT + 8 if entries else 0
