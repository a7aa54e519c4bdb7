"""Points of an embedding on two axes: a plot, a colour for each category or a ramp of numbers, and a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.lines import blend
from graphviz_tb.chart.order import HUES
from graphviz_tb.limits import COLOURED_CATEGORIES, POINTS_DRAWN
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Label, Pen, Primitive, Rectangle, Section
from graphviz_tb.model.embeddings import PointColumn, Points
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import clean, elide, width
from graphviz_tb.model.paths import natural
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import number

MARGIN, HEADING, FOOT = 24, 52, 22  # px around the sheet, of the title, and below the plot
PLOT, LEGEND = (720, 560), 170  # px
SMALLEST, LARGEST = 1.2, 3.2  # px: the radius of a point among many, and among few
SCALE = 12  # distinct whole numbers that are still categories
RAMP = {"light": ("#E07B00", "#C0338F", "#1B1B7F"), "dark": ("#5566E0", "#E0609F", "#FFE08A")}
STRIPES = 32  # of the ramp in the legend
FAINT = 0.55  # of its colour that a reused hue keeps
REST = "others"


@dataclass(frozen=True, slots=True)
class CloudPlot:
    """The content of a plot: `axes` [points, 2], `names` of the axes across and up, `column` for the colours (None:
    one)."""

    title: str
    about: str
    axes: Points
    names: tuple[str, str]
    column: PointColumn | None


@dataclass(frozen=True, slots=True, eq=False)
class PointGroup:
    """Points of one colour, by their rows."""

    word: str
    colour: str
    rows: NDArray[np.intp]


def cloud_sheet(plot: CloudPlot, theme: Theme) -> Drawing:
    """Return the whole sheet."""
    shown = np.flatnonzero(np.isfinite(plot.axes).all(axis=1))
    some = shown if len(shown) <= POINTS_DRAWN else shown[(np.arange(POINTS_DRAWN) * len(shown)) // POINTS_DRAWN]
    categories = plot.column is not None and is_category(plot.column)
    groups = colour_groups(plot.column, some, theme)
    wide, high = PLOT
    places = pixels(plot.axes, some)
    radius = float(np.clip(LARGEST - np.log10(max(1, len(some)) / 300), SMALLEST, LARGEST))
    drawn = [cloud_group(one, places, radius) for one in groups]
    names = tuple(group_names(groups, places, theme)) if categories else ()
    parts = (
        Section("title", (MARGIN, MARGIN), (Group(tuple(heading(plot, theme))),)),
        Section("graph", (MARGIN, MARGIN + HEADING), (Group(tuple(frame(plot, theme))), *drawn, Group(names))),
        Section("legend", (MARGIN + wide + 16, MARGIN + HEADING), tuple(legend(plot, groups, theme))),
    )
    size = MARGIN + wide + 16 + LEGEND + MARGIN, MARGIN + HEADING + high + FOOT + MARGIN
    summary = f"{len(some):,} points. " + "; ".join(f"{clean(one.word)}: {len(one.rows):,}" for one in groups[:40])
    return Drawing(*size, clean(plot.title), summary, theme.background, parts)


def is_category(column: PointColumn) -> bool:
    """Return whether a column gets one colour for each value: texts, and few distinct whole numbers."""
    if not column.numeric:
        return True
    said = {text.strip() for text in column.texts} - {""}
    return len(said) <= SCALE and all(float(text).is_integer() for text in said)


def colour_groups(column: PointColumn | None, rows: NDArray[np.intp], theme: Theme) -> list[PointGroup]:
    """Return the points by colour: categories in natural order, the rest last; numbers from low to high."""
    if column is None:
        return [PointGroup("", theme.selected, rows)]
    if is_category(column):
        return by_category(column, rows, theme)
    values = column.numbers()[rows]
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    steps = np.where(np.isfinite(share), np.rint(np.nan_to_num(share) * (STRIPES - 1)), -1).astype(int)
    found = [PointGroup("", theme.stroke, rows[steps < 0])] if np.any(steps < 0) else []
    return found + [
        PointGroup(
            number(low + (high - low) * step / (STRIPES - 1)), ramp(step / (STRIPES - 1), theme), rows[steps == step]
        )
        for step in range(STRIPES)
        if np.any(steps == step)
    ]


def by_category(column: PointColumn, rows: NDArray[np.intp], theme: Theme) -> list[PointGroup]:
    """Return the points of each text; of very many texts the most common."""
    texts = [column.texts[row] for row in rows.tolist()]
    counts = Counter(texts)
    common = sorted(counts, key=lambda text: (-counts[text], natural(text)))
    if len(common) > COLOURED_CATEGORIES:
        common = common[: COLOURED_CATEGORIES - 1]
    chosen = {text: at for at, text in enumerate(sorted(common, key=natural))}
    number_of = np.array([chosen.get(text, -1) for text in texts])
    groups = [PointGroup(text, hue(at, theme), rows[number_of == at]) for text, at in chosen.items()]
    rest = rows[number_of < 0]
    return [*groups, PointGroup(f"{len(counts) - len(chosen)} {REST}", theme.stroke, rest)] if len(rest) else groups


def hue(at: int, theme: Theme) -> str:
    """Return the colour of a category: twelve hues, then fainter ones."""
    own = HUES[theme.name][at % len(HUES[theme.name])]
    return own if at < len(HUES[theme.name]) else blend(own, theme.background, FAINT)


def ramp(share: float, theme: Theme) -> str:
    """Return a colour between the ends of the ramp.

    >>> from graphviz_tb.model.theme import LIGHT
    >>> ramp(0, LIGHT), ramp(1, LIGHT)
    ('#E07B00', '#1B1B7F')
    """
    stops = RAMP[theme.name]
    at = share * (len(stops) - 1)
    first = min(int(at), len(stops) - 2)
    return blend(stops[first + 1], stops[first], at - first)


def pixels(axes: Points, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return where points are in the plot, both axes to one scale; [points, 2], with NaN for rows not drawn."""
    out = np.full((len(axes), 2), np.nan)
    if not len(rows):
        return out
    values = axes[rows, :2].astype(np.float64)
    low, high = np.min(values, axis=0), np.max(values, axis=0)
    room = np.array(PLOT) - 48
    spread = np.max((high - low) / room)
    scale = 1 / spread if spread > 0 else 0.0
    middle = (low + high) / 2
    out[rows, 0] = PLOT[0] / 2 + (values[:, 0] - middle[0]) * scale
    out[rows, 1] = PLOT[1] / 2 - (values[:, 1] - middle[1]) * scale
    return out


def cloud_group(one: PointGroup, places: NDArray[np.float64], radius: float) -> Group:
    """Return the points of one colour."""
    rounded = np.round(places[one.rows], 1).tolist()
    dots = tuple(Disc(x, y, round(radius, 2), one.colour) for x, y in rounded)
    return Group(
        dots, None, f"{clean(one.word)}: {len(one.rows):,} points" if one.word else "", (("points", one.word),)
    )


def group_names(groups: Sequence[PointGroup], places: NDArray[np.float64], theme: Theme) -> Iterator[Primitive]:
    """Yield the name of each category in its middle, so that colour is not the only sign."""
    for one in groups:
        if one.colour != theme.stroke and len(one.rows) and one.word.strip():
            x, y = (round(float(value), 1) for value in np.median(places[one.rows], axis=0))
            word = elide(clean(one.word), 120, 12, True)
            long = width(word, 12, True)
            yield Label(word, x, y + 4, 12, long, theme.text, "middle", semibold=True, halo=theme.background)


def heading(plot: CloudPlot, theme: Theme) -> Iterator[Label]:
    """Yield the title, and the description of the points."""
    room = PLOT[0] + LEGEND
    for word, y, size, colour, strong in (
        (plot.title, 16, 16, theme.text, True),
        (plot.about, 36, 11, theme.secondary, False),
    ):
        text = elide(clean(word), room, size, strong)
        yield Label(text, 0, y, size, width(text, size, strong), colour, semibold=strong)


def frame(plot: CloudPlot, theme: Theme) -> Iterator[Primitive]:
    """Yield the plot's frame and the names of its axes."""
    wide, high = PLOT
    yield Rectangle(0, 0, wide, high, 6, theme.frames[1], Pen(theme.rule))
    across, up = (elide(clean(name), 240, 11) for name in plot.names)
    if across:
        yield Label(f"{across} →", wide, high + 16, 11, width(f"{across} →", 11), theme.secondary, "end")
    if up:
        yield Label(f"{up} ↑", 10, 18, 11, width(f"{up} ↑", 11), theme.secondary)


def legend(plot: CloudPlot, groups: Sequence[PointGroup], theme: Theme) -> Iterator[Group]:
    """Yield the meaning of the colours."""
    if plot.column is None:
        return
    name = elide(clean(plot.column.name), LEGEND, 12, True)
    yield Group((Label(name, 0, 12, 12, width(name, 12, True), theme.text, semibold=True),))
    if not is_category(plot.column):
        yield from ramp_legend(groups, theme)
        return
    for at, one in enumerate(groups):
        count = f"{len(one.rows):,}"
        word = elide(clean(one.word) or "∅", LEGEND - 24 - width(count, 11), 11)
        yield Group(
            (
                Disc(6, 8, 5, one.colour),
                Label(word, 18, 12, 11, width(word, 11), theme.text),
                Label(count, LEGEND, 12, 11, width(count, 11), theme.secondary, "end"),
            ),
            None,
            clean(one.word),
            (("legend", one.word),),
            (0, 22 + 20 * at),
        )


def ramp_legend(groups: Sequence[PointGroup], theme: Theme) -> Iterator[Group]:
    """Yield the ramp with its ends."""
    ends = [one.word for one in groups if one.word]
    step = LEGEND / STRIPES
    stripes = [
        Curve((("M", (step * (at + 0.5), 22)), ("V", (34,))), pen=Pen(ramp(at / (STRIPES - 1), theme), step + 0.4))
        for at in range(STRIPES)
    ]
    low, high = (ends[0], ends[-1]) if ends else ("", "")
    labels = (
        Label(low, 0, 48, 11, width(low, 11), theme.secondary),
        Label(high, LEGEND, 48, 11, width(high, 11), theme.secondary, "end"),
    )
    yield Group((*stripes, *labels))
