"""Draw edges: rounded polylines, arrow heads, chevrons of back edges; and the signs of a diff on boxes and lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from graphviz_tb.graphs.drawing_math import straighten_polyline
from graphviz_tb.model.drawing import Curve, Disc, DrawingPoint, Group, PathStep, Pen, Primitive, Rectangle
from graphviz_tb.model.paint import LineTint, RowFill
from graphviz_tb.model.scene import Port, Route, Scene, Web
from graphviz_tb.model.theme import Theme

# The signs of a diff: a disc at the upper left, and an outline, show the change of a box without colour.
#
# +  added     solid 2.5        −  removed           dashed 6 3
# ~  changed   double           →  renamed or moved  dotted 1 3

# px: long dashes for removed boxes, dots for renamed ones.
SIGN_DASHES: dict[str, tuple[float, ...]] = {"−": (6, 3), "→": (1, 3)}
SIGN_WIDTHS = {"+": 2.5, "−": 2, "~": 1, "→": 2}  # px
SIGN_DISC_RADIUS = 6  # px
BEAD_RADIUS = 4.5  # px; the disc on a line or on a stub
# In a square of 6 px around the middle of the disc.
SIGN_STROKES: dict[str, tuple[PathStep, ...]] = {
    "+": (("M", (-3, 0)), ("H", (3,)), ("M", (0, -3)), ("V", (3,))),
    "−": (("M", (-3, 0)), ("H", (3,))),
    "~": (("M", (-3.5, 1)), ("C", (-2.5, -2.5, -1, -1.5, 0, 0)), ("C", (1, 1.5, 2.5, 2.5, 3.5, -1))),
    "→": (("M", (-3.5, 0)), ("H", (3,)), ("M", (0.5, -2.5)), ("L", (3, 0)), ("L", (0.5, 2.5))),
}


def sign_outline(x: float, y: float, width: float, height: float, radius: float, fill: RowFill) -> list[Primitive]:
    """Return the outline of a box that has a sign, within the bounds of the box."""
    if not fill.sign:
        return []
    thick = SIGN_WIDTHS[fill.sign]
    insets = (thick / 2, 3) if fill.sign == "~" else (thick / 2,)
    return [_sign_ring(x, y, width, height, radius, fill, inset) for inset in insets]


def _sign_ring(
    x: float, y: float, width: float, height: float, radius: float, fill: RowFill, inset: float
) -> Rectangle:
    dotted = fill.sign == "→"
    pen = Pen(fill.stroke, SIGN_WIDTHS[fill.sign], SIGN_DASHES.get(fill.sign, ()), cap="round" if dotted else "butt")
    rounded = max(0, radius - inset)
    return Rectangle(x + inset, y + inset, width - 2 * inset, height - 2 * inset, rounded, pen=pen)


def sign_disc(x: float, y: float, fill: RowFill, theme: Theme) -> list[Primitive]:
    """Return the sign in its disc, the middle at `x`, `y`."""
    return _draw_sign(x, y, SIGN_DISC_RADIUS, fill.stroke, fill.sign, theme) if fill.sign else []


def sign_bead(x: float, y: float, tint: LineTint, theme: Theme) -> list[Primitive]:
    """Return the sign of an added or removed line, in a smaller disc."""
    return _draw_sign(x, y, BEAD_RADIUS, tint.colour, tint.sign, theme)


def _draw_sign(x: float, y: float, radius: float, colour: str, sign: str, theme: Theme) -> list[Primitive]:
    pen = Pen(theme.background, 1.5, cap="round")
    ground = Disc(x, y, radius, colour, Pen(theme.background))
    return [ground, Curve(SIGN_STROKES[sign], pen=pen, at=(x, y), scale=radius / SIGN_DISC_RADIUS)]


BEND_RADIUS = 8  # px; less on a short run
# An arrow head on a thin line in px, its largest growth, and the thickness in px that adds 1 to the growth.
ARROW_LENGTH, ARROW_WIDTH, MAX_ARROW_GROWTH, ARROW_GROWTH_STEP = 8.0, 6.4, 1.25, 8.0
PAPER_REFERENCE_DASHES = (8, 3, 2, 3)  # px: a reference edge in print
CONTROL_LINE_DASHES = (4, 3)  # px
SELECTED_THICKENING = 15  # tenths of a pixel
MIN_CHANGED_THICKNESS = 1.8  # px: an added or removed line
TINT_BAND = 2.5  # px of the band under a line on either side
WEB_THICKNESS = 0.6  # px: a line of a web, thin because there are so many
WEB_BUNDLE = 100  # lines of a web in one outline; more slow down SVG renderers
PARTING_RADIUS = 2.6  # px; the dot where a line parts from another
BEAD_DISTANCE = 20  # px from the tip of the arrow to the sign of an added or removed line


def draw_route(line: Route, theme: Theme, chosen: bool, tint: LineTint | None = None) -> Group:
    """Draw an edge as one group: its line, its arrow head, and the chevron of a back edge.

    `tint` is its change between two graphs: the colour of the line, or of a band under it if only a part changed.
    """
    whole = tint if tint is not None and tint.whole else None
    colour = edge_colour(line, theme, chosen) if whole is None else whole.colour
    thickness = (line.thickness + (SELECTED_THICKENING if chosen else 0)) / 10
    thickness = max(thickness, MIN_CHANGED_THICKNESS) if whole and whole.sign else thickness
    points: list[DrawingPoint] = [*straighten_polyline(line.points)]
    parting = line.parting
    if parting is not None and parting in points and not chosen:  # up to there, the other line is drawn
        points = points[points.index(parting) :]
    if len(points) < 2:
        return Group((), tooltip=line.title)
    backwards = line.kind == "reference"
    marks = []
    if line.arrow:
        tip, before = (points[0], points[1]) if backwards else (points[-1], points[-2])
        growth = min(MAX_ARROW_GROWTH, 1 + (thickness - 1) / ARROW_GROWTH_STEP)
        marks.append(arrow_head(tip, before, growth))
        run_length = sqrt((tip[0] - before[0]) ** 2 + (tip[1] - before[1]) ** 2)
        # End the line up to 2 px inside the head, without a visible seam.
        points = shorten_line(points, min(ARROW_LENGTH * growth - 2, run_length - 1), backwards)
    if line.back:
        marks.append(_chevron_outline(points, thickness))
    dashes = (whole.dashes if whole else ()) or (CONTROL_LINE_DASHES if line.kind == "control" else ())
    if line.kind == "reference" and theme.reference == theme.main and not whole:
        dashes = PAPER_REFERENCE_DASHES  # in print, colour is not enough
    shapes: list[Primitive] = [_tint_band(points, thickness, tint)] if tint and not whole else []
    # Dashes begin at the arrow, so that the dashes of lines that share a trunk coincide.
    outline = rounded_outline(points[::-1] if line.kind == "control" else points)
    shapes.append(Curve(outline, pen=Pen(colour, thickness, dashes)))
    shapes += [Curve(mark, colour) for mark in marks]
    if line.parting:
        dot = theme.main if line.kind == "data" and not whole and not chosen else colour
        shapes.append(Disc(*line.parting, PARTING_RADIUS, dot))
    if whole and whole.sign and line.arrow:
        shapes += _draw_line_bead(line, whole, theme)
    return Group(tuple(shapes), tooltip=line.title)


def draw_web(bundle: Web, scene: Scene, theme: Theme) -> list[Group]:
    """Draw straight lines from middle to middle, many in one outline; SVG readers refuse outlines of millions of
    steps."""
    dashes = CONTROL_LINE_DASHES if bundle.kind == "control" else ()
    pen = Pen(edge_colour(bundle, theme), WEB_THICKNESS, dashes)
    # Compute each end once, because a million lines have only some thousand distinct ends.
    starts: dict[int, PathStep] = {source: ("M", _web_end_point(scene, source)) for source in set(bundle.sources)}
    ends: dict[int, PathStep] = {target: ("L", _web_end_point(scene, target)) for target in set(bundle.targets)}
    groups = []
    for start in range(0, len(bundle.sources), WEB_BUNDLE):
        steps: list[PathStep] = []
        stop = start + WEB_BUNDLE
        for source, target in zip(bundle.sources[start:stop], bundle.targets[start:stop], strict=True):
            steps += [starts[source], ends[target]]
        groups.append(Group((Curve(tuple(steps), pen=pen),)))
    return groups


def _web_end_point(scene: Scene, end: int) -> DrawingPoint:
    if end < 0:
        port = scene.ports[-1 - end]
        return port.x, port.y
    box = scene.boxes[end]
    return box.x + box.width // 2, box.y + box.height // 2


def straight_line(start: DrawingPoint, end: DrawingPoint, pen: Pen) -> Curve:
    return Curve((("M", start), ("L", end)), pen=pen)


def _tint_band(points: Sequence[DrawingPoint], thickness: float, tint: LineTint) -> Curve:
    """Return the band under a line of which only a part changed."""
    return Curve(rounded_outline(points), pen=Pen(tint.colour, thickness + 2 * TINT_BAND, tint.dashes))


def _draw_line_bead(line: Route, tint: LineTint, theme: Theme) -> list[Primitive]:
    """Draw the sign of an added or removed line on its last run, before the arrow head."""
    points: list[DrawingPoint] = [*straighten_polyline(line.points)]
    tip, before = (points[0], points[1]) if line.kind == "reference" else (points[-1], points[-2])
    away = min(BEAD_DISTANCE, _distance_between(tip, before) * 0.6)
    return sign_bead(*_step_towards(tip, before, away), tint, theme)


def edge_colour(line: Route | Port | Web, theme: Theme, chosen: bool = False) -> str:
    """Return the colour of an edge's line and head, and of its port; the main path stands out."""
    if chosen:
        return theme.selected
    if isinstance(line, Route) and line.kind == "data" and line.main:
        return theme.main
    return theme.reference if line.kind == "reference" else theme.data


def shorten_line(points: list[DrawingPoint], by: float, at_start: bool) -> list[DrawingPoint]:
    """Return the polyline shortened at its end (or start), so that the line ends inside the arrow head."""
    if by <= 0:
        return points
    turned = points[::-1] if at_start else points
    turned = [*turned[:-1], _step_towards(turned[-1], turned[-2], by)]
    return turned[::-1] if at_start else turned


def _step_towards(start: DrawingPoint, goal: DrawingPoint, distance: float) -> DrawingPoint:
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    length = sqrt(dx * dx + dy * dy)
    return (start[0] + dx * distance / length, start[1] + dy * distance / length) if length else start


def rounded_outline(points: Sequence[DrawingPoint]) -> tuple[PathStep, ...]:
    """Return an outline through the points with rounded corners.

    A corner may take all of a run at an end of the line, and half of a run between two corners.

    >>> rounded_outline([(0, 0), (0, 40), (30, 40)])
    (('M', (0, 0)), ('L', (0.0, 32.0)), ('Q', (0, 40, 8.0, 40.0)), ('L', (30, 40)))
    """
    steps: list[PathStep] = [("M", points[0])]
    for index in range(1, len(points) - 1):
        before, corner, after = points[index - 1 : index + 2]
        radius = min(
            BEND_RADIUS,
            _distance_between(before, corner) / (1 if index == 1 else 2),
            _distance_between(corner, after) / (1 if index == len(points) - 2 else 2),
        )
        steps += [("L", _step_towards(corner, before, radius)), ("Q", (*corner, *_step_towards(corner, after, radius)))]
    return (*steps, ("L", points[-1]))


def _distance_between(a: DrawingPoint, b: DrawingPoint) -> float:
    return sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


def arrow_head(tip: DrawingPoint, before: DrawingPoint, grow: float = 1.0) -> tuple[PathStep, ...]:
    """Return an arrow head: a triangle whose tip is `tip`.

    >>> arrow_head((0, 10), (0, 0))
    (('M', (0, 10)), ('L', (-3.2, 2.0)), ('L', (3.2, 2.0)), ('Z', ()))
    """
    length = _distance_between(tip, before) or 1.0
    ux, uy = (tip[0] - before[0]) / length, (tip[1] - before[1]) / length
    long, wide = ARROW_LENGTH * grow, ARROW_WIDTH * grow / 2
    foot = (tip[0] - ux * long, tip[1] - uy * long)
    left = (foot[0] - uy * wide, foot[1] + ux * wide)
    right = (foot[0] + uy * wide, foot[1] - ux * wide)
    return (("M", tip), ("L", left), ("L", right), ("Z", ()))


def _chevron_outline(points: Sequence[DrawingPoint], thickness: float) -> tuple[PathStep, ...]:
    """Return the sign of a back edge: a double head in the middle of the longest run."""
    start, stop = max(pairwise(points), key=lambda run: _distance_between(*run))
    half = _distance_between(start, stop) / 2
    grow = min(MAX_ARROW_GROWTH, 1 + (thickness - 1) / ARROW_GROWTH_STEP)
    first = _step_towards(start, stop, half + 1)
    second = _step_towards(start, stop, half + 1 + ARROW_LENGTH * grow * 0.75)
    return arrow_head(first, start, grow) + arrow_head(second, start, grow)
