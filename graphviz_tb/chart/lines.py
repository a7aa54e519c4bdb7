"""Line charts: one card for each tag, and the sheet of all cards with its title and legend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.axes import (
    RUN_HUES,
    Axis,
    LineStyle,
    axis_positions,
    axis_ticks,
    axis_time_ticks,
    fit_axis,
    format_duration,
    format_wall_time,
    pad_axis,
)
from graphviz_tb.chart.runs import short_run_names, spread_labels
from graphviz_tb.chart.series import decimate_series, smooth_series
from graphviz_tb.model.columns import Floats, distinct_values
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Label, PathStep, Pen, Primitive, Rectangle, Section
from graphviz_tb.model.formatting import format_number
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.theme import Theme

# A sheet of charts: one card for each tag, in columns, below a title and the legend of the runs.

# Line charts: series of several runs on shared axes, as the shapes of one card of a drawing.

AxisKind = Literal["step", "wall", "relative"]
RunNames = Mapping[str, str]  # the short name of each run

CARD_SIZE = (440, 292)  # px
PLOT_INSETS = (56, 40, 16, 42)  # px left, above, right of and below the lines
AXIS_WORDS: dict[str, AxisKind] = {"step": "step", "time": "wall", "relative": "relative"}
AXIS_NAMES = {"step": "step", "wall": "time (UTC)", "relative": "time since the first point"}
MAX_END_LABELS = 8  # runs whose names are at the ends of their lines; more are in the legend
MIN_END_LABEL_ROOM, MAX_END_LABEL_ROOM, END_LABEL_PITCH = 92, 160, 12  # px
LINE_WIDTH, LINE_RIM = 1.5, 2.5  # px; the second is added for each later line that covers a line
POINT_RADIUS, ALONE_RADIUS = 4, 2  # px; of the only point of a line, and of a point between gaps
CHART_TITLE_SIZE, TICK_SIZE = 13, 10  # px
FAINT_LINE_SHARE = 0.25  # share of the colour in a line behind another
NONFINITE_MARK = 4  # px: half the side of the triangle at a value that is not finite


@dataclass(frozen=True, slots=True)
class ChartLine:
    """The points of one run, in drawing order. `superseded` marks points that a restart of the run replaced; `group` is
    the meaning of the colour, if that is not the run."""

    label: str
    style: LineStyle
    step: Floats
    wall: Floats
    value: Floats
    superseded: NDArray[np.bool_]
    group: str = ""


@dataclass(frozen=True, slots=True)
class ChartLook:
    """Options of line charts: `axis` is the horizontal axis, `smooth` a weight in [0, 1), `log_x` and `log_y` the
    scales; without `outliers` the most extreme values are cut off."""

    axis: AxisKind = "step"
    smooth: float = 0.0
    log_x: bool = False
    log_y: bool = False
    outliers: bool = True


@dataclass(frozen=True, slots=True)
class PlotArea:
    """Place of the lines in a card: its corner, its size, and both axes."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    def to_pixels(self, x: Floats, y: Floats) -> Floats:
        """Return the pixels [n, 2] of points, clipped just beyond the upper and lower border."""
        across = self.left + axis_positions(self.x, x) * self.width
        down = self.top + (1 - np.clip(axis_positions(self.y, y), -0.02, 1.02)) * self.height
        return np.stack([across, down], axis=1)


def _chart_card(
    title: str, lines: Sequence[ChartLine], look: ChartLook, theme: Theme, at: tuple[float, float], names: RunNames
) -> Group:
    """Return one chart as a group of shapes with its corner at `at`; `names` are drawn at the ends of lines."""
    xs = [axis_values(line.step, line.wall, look.axis) for line in lines]
    smoothed = [_smooth_line(line, look.smooth) for line in lines]
    is_covered = _covered_lines(lines, xs)
    name_widths = [16 + text_width(name, TICK_SIZE) for name in names.values()]  # of the names at the ends of lines
    plot = _fit_plot(xs, smoothed, look, max(MIN_END_LABEL_ROOM, *name_widths) if names else PLOT_INSETS[2])
    shapes = [
        Rectangle(0, 0, *CARD_SIZE, 6, theme.frames[1], Pen(theme.rule)),
        _chart_text(
            elide_text(replace_unsafe_characters(title), CARD_SIZE[0] - 32, CHART_TITLE_SIZE, True),
            16,
            24,
            theme.text,
            CHART_TITLE_SIZE,
            semibold=True,
        ),
        *_draw_grid(plot, look, theme, distinct_values(np.concatenate([*xs, np.zeros(0)]))),
        *_draw_notes(lines, xs, look, theme),
    ]
    for line, x in zip(lines, xs, strict=True):  # faint strokes are drawn behind every line
        shapes += _draw_faint_lines(line, x, plot, look, theme)
    for number, (line, x, value) in enumerate(zip(lines, xs, smoothed, strict=True)):
        shapes += _draw_main_line(line, x, value, plot, theme, LINE_WIDTH + LINE_RIM * is_covered[number])
    shapes += _draw_end_labels(lines, xs, smoothed, plot, theme, names)
    if not any(np.isfinite(value).any() for value in smoothed):
        shapes.append(
            _chart_text("no finite values", CARD_SIZE[0] / 2, CARD_SIZE[1] / 2, theme.secondary, 11, "middle")
        )
    words = "; ".join(
        f"{replace_unsafe_characters(line.label)}: last {format_number(float(line.value[-1]))}"
        for line in lines
        if len(line.value)
    )
    return Group(tuple(shapes), None, f"{replace_unsafe_characters(title)}: {words}", (("tag", title),), at)


def _covered_lines(lines: Sequence[ChartLine], xs: Sequence[Floats]) -> list[int]:
    """Return for each line how many later lines have the same points; it is drawn wider, so that all are visible."""
    points = [
        (x[~line.superseded].tobytes(), line.value[~line.superseded].tobytes())
        for line, x in zip(lines, xs, strict=True)
    ]
    return [points[number + 1 :].count(own) for number, own in enumerate(points)]


def _draw_notes(lines: Sequence[ChartLine], xs: Sequence[Floats], look: ChartLook, theme: Theme) -> Iterator[Primitive]:
    """Yield the name of the axis across, the meaning of triangles, and the number of points that an axis cannot
    show."""
    foot = CARD_SIZE[1] - 8
    yield _chart_text(AXIS_NAMES[look.axis], CARD_SIZE[0] - 16, foot, theme.secondary, TICK_SIZE, "end")
    values = np.concatenate([*(line.value[~line.superseded] for line in lines), np.zeros(0)])
    counts = ((int(np.isnan(values).sum()), "NaN"), (int((values == np.inf).sum()), "+∞"))
    marks = [f"{count} {word}" for count, word in (*counts, (int((values == -np.inf).sum()), "−∞")) if count]
    if marks:
        yield _chart_text(f"triangles: {', '.join(marks)}", PLOT_INSETS[0], foot, theme.secondary, TICK_SIZE)
    if hidden := _count_hidden(lines, xs, look):
        words = f"not on the log axis: {hidden}"
        yield _chart_text(words, CARD_SIZE[0] - 16, PLOT_INSETS[1] - 2, theme.secondary, 10, "end")


def _draw_end_labels(
    lines: Sequence[ChartLine],
    xs: Sequence[Floats],
    smoothed: Sequence[Floats],
    plot: PlotArea,
    theme: Theme,
    names: RunNames,
) -> Iterator[Primitive]:
    """Yield the name of each line at its end, in its colour; if lines end at one point, one name after the other."""
    ends: list[tuple[float, ChartLine]] = []
    for line, x, value in zip(lines, xs, smoothed, strict=True):
        drawn = np.flatnonzero(np.isfinite(value) & np.isfinite(x) & ~line.superseded)
        if line.label in names and len(drawn):
            place = plot.to_pixels(x[drawn[-1:]], value[drawn[-1:]])[0, 1]
            if np.isfinite(place):
                ends.append((float(place), line))
    foot = plot.top + plot.height
    places = spread_labels([place for place, _ in ends], plot.top + 4, foot, END_LABEL_PITCH)
    for (_, line), place in zip(ends, places, strict=True):
        colour = RUN_HUES[theme.name][line.style.hue]
        yield _chart_text(names[line.label], plot.left + plot.width + 8, _pixel_middle(place) + 3, colour, TICK_SIZE)


def _count_hidden(lines: Sequence[ChartLine], xs: Sequence[Floats], look: ChartLook) -> int:
    """Count the points that a logarithmic axis cannot show, with a value of zero or less."""
    return sum(
        int((((line.value <= 0) & look.log_y) | ((x <= 0) & look.log_x)).sum())
        for line, x in zip(lines, xs, strict=True)
    )


def _smooth_line(line: ChartLine, weight: float) -> Floats:
    """Return the values of a line, smoothed except where superseded."""
    out, stays = line.value.astype(np.float64), ~line.superseded
    out[stays] = smooth_series(out[stays], weight)
    return out


def axis_values(step: NDArray[Any], wall: Floats, kind: AxisKind) -> Floats:
    """Return the position of each point: its step, its wall time, or the seconds since the first point."""
    if kind == "step":
        return step.astype(np.float64)
    finite = wall[np.isfinite(wall)]
    return wall - (np.min(finite) if kind == "relative" and len(finite) else 0)


def _fit_plot(xs: Sequence[Floats], values: Sequence[Floats], look: ChartLook, right: int) -> PlotArea:
    every = np.concatenate([*values, np.zeros(0)])
    across = fit_axis(np.concatenate([*xs, np.zeros(0)]), look.log_x)
    left, top, _, below = PLOT_INSETS
    size = CARD_SIZE[0] - left - right, CARD_SIZE[1] - top - below
    return PlotArea(left, top, *size, across, pad_axis(fit_axis(every, look.log_y, look.outliers)))


def _draw_grid(plot: PlotArea, look: ChartLook, theme: Theme, across: Floats) -> Iterator[Primitive]:
    """Yield lines at round values, with the values next to them; if all points have the same x, only its value."""
    foot, end = plot.top + plot.height, plot.left + plot.width
    for value in axis_ticks(plot.y):
        y = foot - float(axis_positions(plot.y, np.array([value]))[0]) * plot.height
        yield Curve((("M", (plot.left, _pixel_middle(y))), ("H", (end,))), pen=Pen(theme.rule))
        yield _chart_text(
            format_number(value), plot.left - 6, _pixel_middle(y) + 3.5, theme.secondary, TICK_SIZE, "end"
        )
    free_from = -1e9
    ticks = axis_ticks(plot.x, 6) if look.axis == "step" or look.log_x else axis_time_ticks(plot.x, 5)
    for value in across.tolist() if len(across) == 1 and np.isfinite(across[0]) else ticks:
        x = plot.left + float(axis_positions(plot.x, np.array([value]))[0]) * plot.width
        label = axis_label(value, plot.x, look.axis)
        half = text_width(label, TICK_SIZE) / 2
        if x - half < free_from or x + half > CARD_SIZE[0] - 2:
            continue
        free_from = x + half + 8
        yield Curve((("M", (_pixel_middle(x), foot)), ("V", (foot + 4,))), pen=Pen(theme.rule))
        yield _chart_text(label, _pixel_middle(x), foot + 16, theme.secondary, TICK_SIZE, "middle")


def axis_label(value: float, of: Axis, kind: AxisKind) -> str:
    """Return the text of a number below an axis."""
    if kind == "relative":
        return format_duration(value)
    return format_wall_time(value, of.high - of.low) if kind == "wall" else format_number(value)


def _draw_faint_lines(line: ChartLine, x: Floats, plot: PlotArea, look: ChartLook, theme: Theme) -> Iterator[Primitive]:
    """Yield the lines of superseded points and, behind a smoothed line, of the original points."""
    pen = Pen(blend_colours(RUN_HUES[theme.name][line.style.hue], theme.frames[1], FAINT_LINE_SHARE), 1.5)
    if line.superseded.any():
        yield from _draw_polyline(x[line.superseded], line.value[line.superseded], plot, pen)
    if look.smooth:
        yield from _draw_polyline(x[~line.superseded], line.value[~line.superseded], plot, pen)


def _draw_main_line(
    line: ChartLine, x: Floats, shown: Floats, plot: PlotArea, theme: Theme, width: float
) -> Iterator[Primitive]:
    """Yield the line of the current points, or a disc with its value for a single point, and marks for values that are
    not finite."""
    colour, stays = RUN_HUES[theme.name][line.style.hue], ~line.superseded
    finite = np.flatnonzero(np.isfinite(shown[stays]) & np.isfinite(x[stays]))
    if len(finite) == 1:
        ((across, down),) = plot.to_pixels(x[stays][finite], shown[stays][finite]).tolist()
        if np.isfinite(across) and np.isfinite(down):
            yield Disc(round(across, 1), round(down, 1), POINT_RADIUS + (width - LINE_WIDTH) / 2, colour)
            value = format_number(float(line.value[stays][finite[0]]))
            yield _chart_text(value, round(across, 1) + 8, round(down, 1) - 6, colour, TICK_SIZE)
    else:
        pen = Pen(colour, width, line.style.dashes, "round", "round")
        yield from _draw_polyline(x[stays], shown[stays], plot, pen)
    yield from _draw_nonfinite_marks(x[stays], line.value[stays], plot, colour)


def _draw_polyline(x: Floats, values: Floats, plot: PlotArea, pen: Pen) -> Iterator[Primitive]:
    """Yield a line through the points, broken at values that cannot be shown; a single point is a dot."""
    kept = decimate_series(x, values, int(plot.width))
    x, values = x[kept], values[kept]
    good = np.isfinite(values) & np.isfinite(x)
    good &= (values > 0) if plot.y.log else True
    good &= (x > 0) if plot.x.log else True
    edges = np.flatnonzero(np.diff(good.astype(np.int8), prepend=0, append=0))
    steps: list[PathStep] = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        points = [(round(a, 1), round(b, 1)) for a, b in plot.to_pixels(x[begin:end], values[begin:end]).tolist()]
        if len(points) == 1:
            yield Disc(*points[0], ALONE_RADIUS, pen.colour)
            continue
        steps.append(("M", points[0]))
        steps += [("L", point) for point in points[1:]]
    if steps:
        yield Curve(tuple(steps), pen=pen)


def _draw_nonfinite_marks(x: Floats, values: Floats, plot: PlotArea, colour: str) -> Iterator[Primitive]:
    """Yield a triangle for each value that is not finite: +∞ at the top, NaN and −∞ at the bottom."""
    odd = np.flatnonzero(~np.isfinite(values))
    places = plot.left + axis_positions(plot.x, x[odd]) * plot.width
    seen: set[tuple[int, bool]] = set()
    for place, value in zip(places.tolist(), values[odd].tolist(), strict=True):
        up = value > 0  # False for NaN
        if not np.isfinite(place) or (key := (int(place), up)) in seen:
            continue
        seen.add(key)
        tip = plot.top if up else plot.top + plot.height
        base = tip + (2 * NONFINITE_MARK if up else -2 * NONFINITE_MARK)
        place = round(place, 1)
        yield Curve(
            (
                ("M", (place, tip)),
                ("L", (place - NONFINITE_MARK, base)),
                ("L", (place + NONFINITE_MARK, base)),
                ("Z", ()),
            ),
            colour,
        )


def blend_colours(colour: str, ground: str, share: float) -> str:
    """Blend a share of a colour with a background.

    >>> blend_colours("#000000", "#FFFFFF", 0.25)
    '#BFBFBF'
    """
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(ground[1:]), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def _pixel_middle(value: float) -> float:
    """Return the middle of a pixel, where a line of one pixel is sharp."""
    return int(value) + 0.5


def _chart_text(
    content: str,
    x: float,
    y: float,
    colour: str,
    size: int,
    anchor: Literal["start", "middle", "end"] = "start",
    semibold: bool = False,
) -> Label:
    return Label(content, x, y, size, text_width(content, size, semibold), colour, anchor, semibold)


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
    width = columns * (CARD_SIZE[0] + CARD_GAP) - CARD_GAP
    styles = {line.group or line.label: line.style for chart in charts for line in chart.lines}
    runs = list(dict.fromkeys(line.label for chart in charts for line in chart.lines))
    # The names of a few runs are at the ends of their lines, those of many in a legend above all charts.
    end_labels: dict[str, str] = {}
    legend: tuple[Group, ...] = ()
    legend_height = 0
    if len(runs) <= MAX_END_LABELS:
        short_names = short_run_names(runs, MAX_END_LABEL_ROOM - 16, TICK_SIZE)
        end_labels = dict(zip(runs, short_names, strict=True))
    else:
        legend, legend_height = _run_name_legend(styles, width, theme)
    below_title = SHEET_MARGIN + (SHEET_TITLE_HEIGHT if title else 0)
    top = below_title + legend_height
    cards = tuple(
        _chart_card(
            chart.title,
            chart.lines,
            look,
            theme,
            (number % columns * (CARD_SIZE[0] + CARD_GAP), number // columns * (CARD_SIZE[1] + CARD_GAP)),
            end_labels,
        )
        for number, chart in enumerate(charts)
    )
    rows = -(-len(charts) // columns)
    height = top + max(0, rows * (CARD_SIZE[1] + CARD_GAP) - CARD_GAP) + SHEET_MARGIN
    parts = (
        Section("title", (SHEET_MARGIN, SHEET_MARGIN), (Group(tuple(_sheet_title(title, width, theme))),)),
        Section("legend", (SHEET_MARGIN, below_title), legend),
        Section("graph", (SHEET_MARGIN, top), cards),
    )
    summary = f"{len(charts)} charts of {len(runs)} runs: " + "; ".join(group.tooltip for group in cards)
    return Drawing(width + 2 * SHEET_MARGIN, height, replace_unsafe_characters(title), summary, theme.background, parts)


def _sheet_title(title: str, room: int, theme: Theme) -> Iterator[Label]:
    if title:
        name = elide_text(replace_unsafe_characters(title), room, 16, True)
        yield Label(name, 0, 16, 16, text_width(name, 16, True), theme.text, semibold=True)


def _run_name_legend(styles: Mapping[str, LineStyle], room: int, theme: Theme) -> tuple[tuple[Group, ...], int]:
    """Return an entry for each run, in rows that fit the room, and the height of all rows."""
    entries: list[Group] = []
    x = y = 0
    short = short_run_names(list(styles), MAX_RUN_NAME_WIDTH, OP_FONT_PX)
    for (run, style), name in zip(styles.items(), short, strict=True):
        long = LINE_SAMPLE_WIDTH + 6 + text_width(name, OP_FONT_PX)
        if x and x + long > room:
            x, y = 0, y + LEGEND_ROW_HEIGHT
        pen = Pen(RUN_HUES[theme.name][style.hue], 2.5, style.dashes)
        line = Curve((("M", (0, 6)), ("H", (LINE_SAMPLE_WIDTH,))), pen=pen)
        label = Label(name, LINE_SAMPLE_WIDTH + 6, 10, OP_FONT_PX, text_width(name, OP_FONT_PX), theme.text)
        entries.append(Group((line, label), None, replace_unsafe_characters(run), (("run", run),), (x, y)))
        x += long + 20
    return tuple(entries), y + LEGEND_ROW_HEIGHT + 8 if entries else 0
