"""A sheet of charts: one card for each tag, in columns, below a title and the legend of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphviz_tb.chart.lines import CARD, ChartLine, ChartLook, card
from graphviz_tb.chart.order import HUES, LineStyle
from graphviz_tb.model.drawing import Curve, Drawing, Group, Label, Pen, Section
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_SIZE, clean, elide, width
from graphviz_tb.model.theme import Theme

MARGIN, GAP = 24, 16  # px around the sheet and between cards
COLUMNS = 3  # cards next to each other
HEADING = 40  # px of the title
ENTRY, SAMPLE, MOST_LABEL = 20, 22, 240  # px: a row of the legend, a sample of a line, the longest name of a run


@dataclass(frozen=True, slots=True)
class LineChart:
    """One tag: its name and the line of each run that logged it."""

    title: str
    lines: tuple[ChartLine, ...]


def chart_sheet(title: str, charts: Sequence[LineChart], look: ChartLook, theme: Theme) -> Drawing:
    """Return all charts on one sheet, in the given order."""
    columns = max(1, min(COLUMNS, len(charts)))
    wide = columns * (CARD[0] + GAP) - GAP
    styles = {line.label: line.style for chart in charts for line in chart.lines}
    legend, deep = _legend(styles, wide, theme)
    top = MARGIN + (HEADING if title else 0) + deep
    cards = tuple(
        card(chart.title, chart.lines, look, theme, (at % columns * (CARD[0] + GAP), at // columns * (CARD[1] + GAP)))
        for at, chart in enumerate(charts)
    )
    rows = -(-len(charts) // columns)
    height = top + max(0, rows * (CARD[1] + GAP) - GAP) + MARGIN
    parts = (
        Section("title", (MARGIN, MARGIN), (Group(tuple(_title(title, wide, theme))),)),
        Section("legend", (MARGIN, MARGIN + (HEADING if title else 0)), legend),
        Section("graph", (MARGIN, top), cards),
    )
    summary = f"{len(charts)} charts of {len(styles)} runs: " + "; ".join(group.tooltip for group in cards)
    return Drawing(wide + 2 * MARGIN, height, clean(title), summary, theme.background, parts)


def _title(title: str, room: int, theme: Theme) -> Iterator[Label]:
    if title:
        name = elide(clean(title), room, 16, True)
        yield Label(name, 0, 16, 16, width(name, 16, True), theme.text, semibold=True)


def _legend(styles: Mapping[str, LineStyle], room: int, theme: Theme) -> tuple[tuple[Group, ...], int]:
    """Return an entry for each run, in rows that fit the room, and the height of all rows."""
    entries: list[Group] = []
    x = y = 0
    for run, style in styles.items():
        name = elide(clean(run) or ".", MOST_LABEL, OP_SIZE)
        long = SAMPLE + 6 + width(name, OP_SIZE)
        if x and x + long > room:
            x, y = 0, y + ENTRY
        pen = Pen(HUES[theme.name][style.hue], 2.5, style.dashes)
        line = Curve((("M", (0, 6)), ("H", (SAMPLE,))), pen=pen)
        label = Label(name, SAMPLE + 6, 10, OP_SIZE, width(name, OP_SIZE), theme.text)
        entries.append(Group((line, label), None, clean(run), (("run", run),), (x, y)))
        x += long + 20
    return tuple(entries), y + ENTRY + 8 if entries else 0
