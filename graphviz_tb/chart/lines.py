"""Line charts: series of several runs on shared axes, as the shapes of one card of a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.axes import Axis, axis, duration, moment, padded, ticks, time_ticks
from graphviz_tb.chart.decimate import decimated
from graphviz_tb.chart.order import HUES, LineStyle
from graphviz_tb.chart.smooth import smoothed
from graphviz_tb.model.columns import Floats
from graphviz_tb.model.drawing import Curve, Group, Label, PathStep, Pen, Primitive, Rectangle
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import clean, elide, width
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.units import number

AxisKind = Literal["step", "wall", "relative"]

CARD = (440, 280)  # px
PLOT = (56, 40, 16, 30)  # px left, above, right of and below the lines
TITLE_SIZE, TICK_SIZE = 13, 10  # px
FAINT = 0.25  # of its colour that a line behind another keeps
MARK = 4  # px: half the side of the triangle at a value that is not finite


@dataclass(frozen=True, slots=True)
class ChartLine:
    """The points of one run, in drawing order; `superseded` marks those that a restart of the run replaced."""

    label: str
    style: LineStyle
    step: Floats
    wall: Floats
    value: Floats
    superseded: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ChartLook:
    """Options of line charts: `axis` is the horizontal axis, `smooth` a weight in [0, 1), `log_x` and `log_y` the
    scales."""

    axis: AxisKind = "step"
    smooth: float = 0.0
    log_x: bool = False
    log_y: bool = False
    outliers: bool = True


@dataclass(frozen=True, slots=True)
class Plot:
    """Place of the lines in a card: its corner, its size, and both axes."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    def points(self, x: Floats, y: Floats) -> Floats:
        """Return the pixels [n, 2] of points, clipped just beyond the upper and lower border."""
        across = self.left + self.x.share(x) * self.width
        down = self.top + (1 - np.clip(self.y.share(y), -0.02, 1.02)) * self.height
        return np.stack([across, down], axis=1)


def card(title: str, lines: Sequence[ChartLine], look: ChartLook, theme: Theme, at: tuple[float, float]) -> Group:
    """Return one chart as a group of shapes, its corner at `at`."""
    xs = [axis_positions(line, look.axis) for line in lines]
    shown = [_smoothed(line, look.smooth) for line in lines]
    plot = _plot(xs, shown, look)
    shapes = [
        Rectangle(0, 0, *CARD, 6, theme.frames[1], Pen(theme.rule)),
        _text(elide(clean(title), CARD[0] - 32, TITLE_SIZE, True), 16, 24, theme.text, TITLE_SIZE, semibold=True),
        *_grid(plot, look, theme),
    ]
    for line, x in zip(lines, xs, strict=True):  # faint strokes are drawn behind every line
        shapes += _faint(line, x, plot, look, theme)
    for line, x, value in zip(lines, xs, shown, strict=True):
        shapes += _clear(line, x, value, plot, theme)
    if not any(np.isfinite(value).any() for value in shown):
        shapes.append(_text("no finite values", CARD[0] / 2, CARD[1] / 2, theme.secondary, 11, "middle"))
    if hidden := _hidden(lines, xs, look):
        shapes.append(_text(f"not on the log axis: {hidden}", CARD[0] - 16, PLOT[1] - 2, theme.secondary, 10, "end"))
    told = "; ".join(f"{clean(line.label)}: last {number(float(line.value[-1]))}" for line in lines if len(line.value))
    return Group(tuple(shapes), None, f"{clean(title)}: {told}", (("tag", title),), at)


def _hidden(lines: Sequence[ChartLine], xs: Sequence[Floats], look: ChartLook) -> int:
    """Count the points with a value that a logarithmic axis cannot show: zero or less."""
    return sum(
        int((((line.value <= 0) & look.log_y) | ((x <= 0) & look.log_x)).sum())
        for line, x in zip(lines, xs, strict=True)
    )


def _smoothed(line: ChartLine, weight: float) -> Floats:
    """Return the values of a line, smoothed except for the superseded ones."""
    out, stays = line.value.astype(np.float64), ~line.superseded
    out[stays] = smoothed(out[stays], weight)
    return out


def axis_positions(line: ChartLine, kind: AxisKind) -> Floats:
    """Return the position of each point: its step, its wall time, or the seconds since the first point of the line."""
    if kind == "step":
        return line.step.astype(np.float64)
    finite = line.wall[np.isfinite(line.wall)]
    return line.wall - (np.min(finite) if kind == "relative" and len(finite) else 0)


def _plot(xs: Sequence[Floats], values: Sequence[Floats], look: ChartLook) -> Plot:
    every = np.concatenate([*values, np.zeros(0)])
    across = axis(np.concatenate([*xs, np.zeros(0)]), look.log_x)
    left, top, right, below = PLOT
    size = CARD[0] - left - right, CARD[1] - top - below
    return Plot(left, top, *size, across, padded(axis(every, look.log_y, look.outliers)))


def _grid(plot: Plot, look: ChartLook, theme: Theme) -> Iterator[Primitive]:
    """Yield lines at round values, with the values next to them."""
    foot, end = plot.top + plot.height, plot.left + plot.width
    for value in ticks(plot.y):
        y = foot - float(plot.y.share(np.array([value]))[0]) * plot.height
        yield Curve((("M", (plot.left, _whole(y))), ("H", (end,))), pen=Pen(theme.rule))
        yield _text(number(value), plot.left - 6, _whole(y) + 3.5, theme.secondary, TICK_SIZE, "end")
    free = -1e9
    for value in ticks(plot.x, 6) if look.axis == "step" or look.log_x else time_ticks(plot.x, 5):
        x = plot.left + float(plot.x.share(np.array([value]))[0]) * plot.width
        label = _x_label(value, plot.x, look.axis)
        half = width(label, TICK_SIZE) / 2
        if x - half < free or x + half > CARD[0] - 2:
            continue
        free = x + half + 8
        yield Curve((("M", (_whole(x), foot)), ("V", (foot + 4,))), pen=Pen(theme.rule))
        yield _text(label, _whole(x), foot + 16, theme.secondary, TICK_SIZE, "middle")


def _x_label(value: float, of: Axis, kind: AxisKind) -> str:
    if kind == "relative":
        return duration(value)
    return moment(value, of.high - of.low) if kind == "wall" else number(value)


def _faint(line: ChartLine, x: Floats, plot: Plot, look: ChartLook, theme: Theme) -> Iterator[Primitive]:
    """Yield the points that a restart replaced, and those behind smoothing."""
    pen = Pen(blend(HUES[theme.name][line.style.hue], theme.frames[1], FAINT), 1.5)
    if line.superseded.any():
        yield from _outline(x[line.superseded], line.value[line.superseded], plot, pen)
    if look.smooth:
        yield from _outline(x[~line.superseded], line.value[~line.superseded], plot, pen)


def _clear(line: ChartLine, x: Floats, shown: Floats, plot: Plot, theme: Theme) -> Iterator[Primitive]:
    """Yield the line of the current points, and marks for those that are not finite."""
    colour, stays = HUES[theme.name][line.style.hue], ~line.superseded
    yield from _outline(x[stays], shown[stays], plot, Pen(colour, 1.5, line.style.dashes, "round", "round"))
    yield from _marks(x[stays], line.value[stays], plot, colour)


def _outline(x: Floats, values: Floats, plot: Plot, pen: Pen) -> Iterator[Primitive]:
    """Yield a line through the points, broken at values that cannot be shown; a single point is a dot."""
    kept = decimated(x, values, int(plot.width))
    x, values = x[kept], values[kept]
    good = np.isfinite(values) & np.isfinite(x)
    good &= (values > 0) if plot.y.log else True
    good &= (x > 0) if plot.x.log else True
    edges = np.flatnonzero(np.diff(good.astype(np.int8), prepend=0, append=0))
    steps: list[PathStep] = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        points = [(round(a, 1), round(b, 1)) for a, b in plot.points(x[begin:end], values[begin:end]).tolist()]
        steps.append(("M", points[0]))
        steps += [("L", point) for point in points[1:]] or [("L", (points[0][0] + 0.1, points[0][1]))]
    if steps:
        yield Curve(tuple(steps), pen=pen)


def _marks(x: Floats, values: Floats, plot: Plot, colour: str) -> Iterator[Primitive]:
    """Yield a triangle for each value that is not finite: +∞ at the top, NaN and −∞ at the bottom."""
    odd = np.flatnonzero(~np.isfinite(values))
    places = plot.left + plot.x.share(x[odd]) * plot.width
    seen: set[tuple[int, bool]] = set()
    for place, value in zip(places.tolist(), values[odd].tolist(), strict=True):
        up = value > 0  # False for NaN
        if not np.isfinite(place) or (key := (int(place), up)) in seen:
            continue
        seen.add(key)
        tip = plot.top if up else plot.top + plot.height
        base = tip + (2 * MARK if up else -2 * MARK)
        place = round(place, 1)
        yield Curve((("M", (place, tip)), ("L", (place - MARK, base)), ("L", (place + MARK, base)), ("Z", ())), colour)


def blend(colour: str, ground: str, share: float) -> str:
    """Blend a share of a colour with a background.

    >>> blend("#000000", "#FFFFFF", 0.25)
    '#BFBFBF'
    """
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(ground[1:]), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def _whole(value: float) -> float:
    """Return the middle of a pixel: a line of one pixel is sharp there."""
    return int(value) + 0.5


def _text(
    content: str,
    x: float,
    y: float,
    colour: str,
    size: int,
    anchor: Literal["start", "middle", "end"] = "start",
    semibold: bool = False,
) -> Label:
    return Label(content, x, y, size, width(content, size, semibold), colour, anchor, semibold)
