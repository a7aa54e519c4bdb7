"""Draw the points of an embedding on two axes, with a colour for each category or a ramp of numbers, and a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.axes import RUN_HUES
from graphviz_tb.chart.lines import blend_colours
from graphviz_tb.limits import MAX_COLOURED_CATEGORIES, MAX_DRAWN_POINTS
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Label, Pen, Primitive, Rectangle, Section
from graphviz_tb.model.formatting import format_number
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.logs import PointColumn, Points
from graphviz_tb.model.measure import elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.paths import natural_name_key
from graphviz_tb.model.theme import Theme

# px around the sheet, of the title, and below the plot
CLOUD_MARGIN, CLOUD_HEADING_HEIGHT, CLOUD_FOOT_HEIGHT = 24, 52, 22
CLOUD_PLOT_SIZE, CLOUD_LEGEND_WIDTH = (720, 560), 170  # px
MIN_POINT_RADIUS, MAX_POINT_RADIUS = 1.2, 3.2  # px: the radius of a point among many, and among few
NAME_GAP = 3  # px between a point and its name
MAX_NUMBER_CATEGORIES = 12  # up to so many distinct integers are categories
POINT_RAMP = {"light": ("#E07B00", "#C0338F", "#1B1B7F"), "dark": ("#5566E0", "#E0609F", "#FFE08A")}
RAMP_STRIPES = 32  # of the ramp in the legend
REPEATED_HUE_SHARE = 0.55  # share of the colour in a hue that is used again
OTHERS_WORD = "others"


@dataclass(frozen=True, slots=True)
class CloudPlot:
    """The content of a plot: `axes` [points, 2], `names` of the axes across and up, `column` for the colours (None for
    a single colour)."""

    title: str
    about: str
    axes: Points
    names: tuple[str, str]
    column: PointColumn | None


@dataclass(frozen=True, slots=True, eq=False)
class PointColourGroup:
    """Points of one colour, by their rows."""

    word: str
    colour: str
    rows: NDArray[np.intp]


def cloud_sheet(plot: CloudPlot, theme: Theme) -> Drawing:
    """Draw at most `MAX_DRAWN_POINTS` points, spread over all rows, with a heading, a frame and a key of colours."""
    finite = np.flatnonzero(np.isfinite(plot.axes).all(axis=1))
    is_sampled = len(finite) > MAX_DRAWN_POINTS
    drawn = finite[(np.arange(MAX_DRAWN_POINTS) * len(finite)) // MAX_DRAWN_POINTS] if is_sampled else finite
    has_names = plot.column is not None and _is_categorical(plot.column)
    groups = _group_by_colour(plot.column, drawn, theme)
    width, height = CLOUD_PLOT_SIZE
    places = _plot_pixels(plot.axes, drawn)
    radius = float(np.clip(MAX_POINT_RADIUS - np.log10(max(1, len(drawn)) / 300), MIN_POINT_RADIUS, MAX_POINT_RADIUS))
    point_groups = [_draw_points(group, places, radius) for group in groups]
    names = tuple(_draw_category_names(groups, places, radius, theme)) if has_names else ()
    parts = (
        Section("title", (CLOUD_MARGIN, CLOUD_MARGIN), (Group(tuple(_draw_heading(plot, theme))),)),
        Section(
            "graph",
            (CLOUD_MARGIN, CLOUD_MARGIN + CLOUD_HEADING_HEIGHT),
            (Group(tuple(_draw_plot_frame(plot, theme))), *point_groups, Group(names)),
        ),
        Section(
            "legend",
            (CLOUD_MARGIN + width + 16, CLOUD_MARGIN + CLOUD_HEADING_HEIGHT),
            tuple(_draw_cloud_legend(plot, groups, theme)),
        ),
    )
    size = (
        CLOUD_MARGIN + width + 16 + CLOUD_LEGEND_WIDTH + CLOUD_MARGIN,
        CLOUD_MARGIN + CLOUD_HEADING_HEIGHT + height + CLOUD_FOOT_HEIGHT + CLOUD_MARGIN,
    )
    summary = f"{len(drawn):,} points. " + "; ".join(
        f"{replace_unsafe_characters(group.word)}: {len(group.rows):,}" for group in groups[:40]
    )
    return Drawing(*size, replace_unsafe_characters(plot.title), summary, theme.background, parts)


def _is_categorical(column: PointColumn) -> bool:
    """Return whether a column has a colour for each value: texts, and few distinct integers."""
    if not column.numeric:
        return True
    said = {text.strip() for text in column.texts} - {""}
    return len(said) <= MAX_NUMBER_CATEGORIES and all(float(text).is_integer() for text in said)


def _group_by_colour(column: PointColumn | None, rows: NDArray[np.intp], theme: Theme) -> list[PointColourGroup]:
    """Return the points by colour: categories in natural order, the rest last; numbers from low to high."""
    if column is None:
        return [PointColourGroup("", theme.selected, rows)]
    if _is_categorical(column):
        return _group_by_category(column, rows, theme)
    values = column.numbers()[rows]
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    steps = np.where(np.isfinite(share), np.rint(np.nan_to_num(share) * (RAMP_STRIPES - 1)), -1).astype(int)
    found = [PointColourGroup("", theme.stroke, rows[steps < 0])] if np.any(steps < 0) else []
    return found + [
        PointColourGroup(
            format_number(low + (high - low) * step / (RAMP_STRIPES - 1)),
            _ramp_colour(step / (RAMP_STRIPES - 1), theme),
            rows[steps == step],
        )
        for step in range(RAMP_STRIPES)
        if np.any(steps == step)
    ]


def _group_by_category(column: PointColumn, rows: NDArray[np.intp], theme: Theme) -> list[PointColourGroup]:
    """Return the points of each text; if there are many texts, only of the most common."""
    texts = [column.texts[row] for row in rows.tolist()]
    counts = Counter(texts)
    common = sorted(counts, key=lambda text: (-counts[text], natural_name_key(text)))
    if len(common) > MAX_COLOURED_CATEGORIES:
        common = common[: MAX_COLOURED_CATEGORIES - 1]
    chosen = {text: at for at, text in enumerate(sorted(common, key=natural_name_key))}
    number_of = np.array([chosen.get(text, -1) for text in texts])
    groups = [PointColourGroup(text, _category_hue(at, theme), rows[number_of == at]) for text, at in chosen.items()]
    rest = rows[number_of < 0]
    return (
        [*groups, PointColourGroup(f"{len(counts) - len(chosen)} {OTHERS_WORD}", theme.stroke, rest)]
        if len(rest)
        else groups
    )


def _category_hue(at: int, theme: Theme) -> str:
    """Return the colour of a category: twelve hues, then the same hues fainter."""
    own = RUN_HUES[theme.name][at % len(RUN_HUES[theme.name])]
    return own if at < len(RUN_HUES[theme.name]) else blend_colours(own, theme.background, REPEATED_HUE_SHARE)


def _ramp_colour(share: float, theme: Theme) -> str:
    """Return a colour between the ends of the ramp.

    >>> from graphviz_tb.model.theme import LIGHT_THEME
    >>> _ramp_colour(0, LIGHT_THEME), _ramp_colour(1, LIGHT_THEME)
    ('#E07B00', '#1B1B7F')
    """
    stops = POINT_RAMP[theme.name]
    at = share * (len(stops) - 1)
    first = min(int(at), len(stops) - 2)
    return blend_colours(stops[first + 1], stops[first], at - first)


def _plot_pixels(axes: Points, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the pixels [points, 2] of points in the plot, with one scale for both axes; NaN for rows not drawn."""
    out = np.full((len(axes), 2), np.nan)
    if not len(rows):
        return out
    values = axes[rows, :2].astype(np.float64)
    low, high = np.min(values, axis=0), np.max(values, axis=0)
    room = np.array(CLOUD_PLOT_SIZE) - 48
    spread = np.max((high - low) / room)
    scale = 1 / spread if spread > 0 else 0.0
    middle = (low + high) / 2
    out[rows, 0] = CLOUD_PLOT_SIZE[0] / 2 + (values[:, 0] - middle[0]) * scale
    out[rows, 1] = CLOUD_PLOT_SIZE[1] / 2 - (values[:, 1] - middle[1]) * scale
    return out


def _draw_points(one: PointColourGroup, places: NDArray[np.float64], radius: float) -> Group:
    rounded = np.round(places[one.rows], 1).tolist()
    dots = tuple(Disc(x, y, round(radius, 2), one.colour) for x, y in rounded)
    return Group(
        dots,
        None,
        f"{replace_unsafe_characters(one.word)}: {len(one.rows):,} points" if one.word else "",
        (("points", one.word),),
    )


def _draw_category_names(
    groups: Sequence[PointColourGroup], places: NDArray[np.float64], radius: float, theme: Theme
) -> Iterator[Primitive]:
    """Yield the name of each category in its middle, or beside its only point, so that colour is not the only sign."""
    for group in groups:
        if group.colour != theme.stroke and len(group.rows) and group.word.strip():
            x, y = (round(float(value), 1) for value in np.median(places[group.rows], axis=0))
            word = elide_text(replace_unsafe_characters(group.word), 120, 12, True)
            long = text_width(word, 12, True)
            anchor: Literal["start", "middle", "end"] = "middle"
            if len(group.rows) == 1:
                gap = radius + NAME_GAP
                anchor = "start" if x + gap + long <= CLOUD_PLOT_SIZE[0] else "end"
                x = round(x + gap if anchor == "start" else x - gap, 1)
            yield Label(word, x, y + 4, 12, long, theme.text, anchor, semibold=True, halo=theme.background)


def _draw_heading(plot: CloudPlot, theme: Theme) -> Iterator[Label]:
    """Yield the title, and the description of the points."""
    room = CLOUD_PLOT_SIZE[0] + CLOUD_LEGEND_WIDTH
    for word, y, size, colour, strong in (
        (plot.title, 16, 16, theme.text, True),
        (plot.about, 36, 11, theme.secondary, False),
    ):
        text = elide_text(replace_unsafe_characters(word), room, size, strong)
        yield Label(text, 0, y, size, text_width(text, size, strong), colour, semibold=strong)


def _draw_plot_frame(plot: CloudPlot, theme: Theme) -> Iterator[Primitive]:
    """Yield the plot's frame and the names of its axes."""
    wide, high = CLOUD_PLOT_SIZE
    yield Rectangle(0, 0, wide, high, 6, theme.frames[1], Pen(theme.rule))
    across, up = (elide_text(replace_unsafe_characters(name), 240, 11) for name in plot.names)
    if across:
        yield Label(f"{across} →", wide, high + 16, 11, text_width(f"{across} →", 11), theme.secondary, "end")
    if up:
        yield Label(f"{up} ↑", 10, 18, 11, text_width(f"{up} ↑", 11), theme.secondary)


def _draw_cloud_legend(plot: CloudPlot, groups: Sequence[PointColourGroup], theme: Theme) -> Iterator[Group]:
    if plot.column is None:
        return
    name = elide_text(replace_unsafe_characters(plot.column.name), CLOUD_LEGEND_WIDTH, 12, True)
    yield Group((Label(name, 0, 12, 12, text_width(name, 12, True), theme.text, semibold=True),))
    if not _is_categorical(plot.column):
        yield from _draw_ramp_legend(groups, theme)
        return
    for at, group in enumerate(groups):
        count = f"{len(group.rows):,}"
        word = elide_text(
            replace_unsafe_characters(group.word) or "∅", CLOUD_LEGEND_WIDTH - 24 - text_width(count, 11), 11
        )
        yield Group(
            (
                Disc(6, 8, 5, group.colour),
                Label(word, 18, 12, 11, text_width(word, 11), theme.text),
                Label(count, CLOUD_LEGEND_WIDTH, 12, 11, text_width(count, 11), theme.secondary, "end"),
            ),
            None,
            replace_unsafe_characters(group.word),
            (("legend", group.word),),
            (0, 22 + 20 * at),
        )


def _draw_ramp_legend(groups: Sequence[PointColourGroup], theme: Theme) -> Iterator[Group]:
    ends = [group.word for group in groups if group.word]
    step = CLOUD_LEGEND_WIDTH / RAMP_STRIPES
    stripes = [
        Curve(
            (("M", (step * (at + 0.5), 22)), ("V", (34,))),
            pen=Pen(_ramp_colour(at / (RAMP_STRIPES - 1), theme), step + 0.4),
        )
        for at in range(RAMP_STRIPES)
    ]
    low, high = (ends[0], ends[-1]) if ends else ("", "")
    labels = (
        Label(low, 0, 48, 11, text_width(low, 11), theme.secondary),
        Label(high, CLOUD_LEGEND_WIDTH, 48, 11, text_width(high, 11), theme.secondary, "end"),
    )
    yield Group((*stripes, *labels))
