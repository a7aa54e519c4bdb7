"""The legend: the colours and the signs that occur in this picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from graphviz_tb.model.drawing import Primitive
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_SIZE, width
from graphviz_tb.model.paint import Fill, LegendRow, Paint, Tint
from graphviz_tb.model.scene import Box, Route, Scene, Stub
from graphviz_tb.model.theme import Theme
from graphviz_tb.render import boxes
from graphviz_tb.render.lines import route
from graphviz_tb.render.texts import written

WIDEST_COLUMN = 260  # px: slightly more than the widest box; longer labels are shortened
WIDEST = 480  # px, if the rows are sentences
SAMPLE, GAP = 28, 8  # px: the width of a sample, and from it to its label
BECAME = {
    ("+", True): "new wire",
    ("−", True): "removed wire",
    ("~", True): "new and removed",
    ("+", False): "partly new",
    ("−", False): "partly removed",
    ("~", False): "partly new, removed",
}


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One row: a sample drawn in a box of `SAMPLE` × 16 at the origin, and its label; `more` is a second line, in a
    legend of one column."""

    sample: tuple[Primitive, ...]
    label: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class LegendBlock:
    """A heading and its rows, each at most `most` pixels wide."""

    heading: str
    entries: tuple[LegendEntry, ...]
    most: int = WIDEST_COLUMN

    @property
    def column(self) -> int:
        """The width of one column of rows."""
        longest = max(width(text, OP_SIZE) for entry in self.entries for text in (entry.label, entry.more))
        return min(self.most, longest + SAMPLE + GAP)


def legend(scene: Scene, paint: Paint) -> tuple[LegendBlock, ...]:
    """Return the legend of one picture; empty if there is nothing to explain."""
    colours = tuple(_colour(row, paint.theme) for row in paint.legend)
    blocks = (
        LegendBlock(paint.heading, colours, WIDEST if paint.scheme == "diff" else WIDEST_COLUMN),
        LegendBlock("Signs", (*signs(scene, paint.theme), *became(paint))),
    )
    return tuple(block for block in blocks if block.entries)


def became(paint: Paint) -> list[LegendEntry]:
    """Return samples of the lines that were added or removed between two graphs, if there are any."""
    tints: dict[tuple[str, bool], Tint] = {}
    for tint in (*paint.tints.routes, *paint.tints.stubs):
        if tint is not None and tint.sign:
            tints.setdefault((tint.sign, tint.whole), tint)  # one sample of each kind
    return [
        LegendEntry(route(SAMPLE_EDGE, paint.theme, False, tints[key]).shapes, label)
        for key, label in BECAME.items()
        if key in tints
    ]


def _colour(row: LegendRow, theme: Theme) -> LegendEntry:
    """Return a sample of one colour, with its badge."""
    if row.shape == "rest":
        return LegendEntry((), row.label)
    sample = boxes.closed_box(SAMPLE_BOX, row.fill, theme)
    if row.fill.badge:
        sample += written(row.fill.badge, SAMPLE / 2, 12, 10, width(row.fill.badge, 10), row.fill.text, "middle")
    return LegendEntry(tuple(sample), row.label, row.more)


DrawSample = Callable[[Fill, Theme], Sequence[Primitive]]
NONE = -1  # samples represent no row and no box
SAMPLE_BOX = Box("", NONE, "scope", NONE, 0, 0, 0, SAMPLE, 16, open=False, openable=False)
SAMPLE_EDGE = Route(((0, 8), (SAMPLE, 8)), "data", NONE, NONE, 10)


def _box_sign(box: Box) -> DrawSample:
    return lambda fill, theme: boxes.closed_box(box, fill, theme)


def _frame_sign(box: Box) -> DrawSample:
    return lambda fill, theme: boxes.frame(box, fill, theme)


def _edge_sign(edge: Route) -> DrawSample:
    return lambda fill, theme: route(edge, theme, chosen=False).shapes


def _stub_sign(stub: Stub) -> DrawSample:
    return lambda fill, theme: boxes.stub(stub, fill, theme)


def _mark_sign(fill: Fill, theme: Theme) -> list[Primitive]:
    return boxes.mark(7, 8, theme, opened=False) + boxes.mark(21, 8, theme, opened=True)


LINE = ((16, 8), (28, 8))  # from the end of the sample stub to the end of the sample
SIGNS: tuple[tuple[str, str, DrawSample], ...] = (
    ("opens", "opens, is open", _mark_sign),
    ("op", "operation", _box_sign(replace(SAMPLE_BOX, kind="op"))),
    ("call", "function call", _box_sign(replace(SAMPLE_BOX, kind="call"))),
    ("function", "function", _box_sign(replace(SAMPLE_BOX, kind="function"))),
    ("series", "repeated, side by side", _box_sign(replace(SAMPLE_BOX, kind="series", sheets=2))),
    (
        "chain",
        "repeated, one after another",
        _box_sign(replace(SAMPLE_BOX, kind="series", sheets=2, connected=True, height=18, y=-1)),
    ),
    (
        "shown",
        "repeated, one is shown",
        _frame_sign(replace(SAMPLE_BOX, kind="series", sheets=2, connected=True, open=True, height=20, y=-2)),
    ),
    ("fold", "many in one box", _box_sign(replace(SAMPLE_BOX, kind="fold", sheets=2))),
    ("constant", "constant", _stub_sign(Stub(4, 3, 10, 10, "constant", "in", NONE, NONE, LINE))),
    ("weight", "weight", _stub_sign(Stub(4, 3, 10, 10, "weight", "in", NONE, NONE, LINE))),
    ("summary", "summary", _stub_sign(Stub(3, 2, 12, 12, "summary", "in", NONE, NONE, LINE))),
    (
        "shortcut",
        "leads elsewhere",
        _stub_sign(Stub(0, 3, 18, 10, "shortcut", "in", NONE, NONE, ((18, 8), (28, 8)))),
    ),
    ("data", "data", _edge_sign(SAMPLE_EDGE)),
    ("control", "control", _edge_sign(replace(SAMPLE_EDGE, kind="control"))),
    ("reference", "reference", _edge_sign(replace(SAMPLE_EDGE, kind="reference"))),
    ("back", "against the flow", _edge_sign(replace(SAMPLE_EDGE, back=True))),
)


def occurring(scene: Scene) -> set[str]:
    """Return the names of the signs that occur in a scene."""
    names: set[str] = {stub.kind for stub in scene.stubs}
    names |= {edge.kind for edge in scene.routes} | {web.kind for web in scene.webs}
    for box in scene.boxes:
        if box.openable:
            names.add("opens")
        if box.open and box.sheets:
            names.add("shown")
        if not box.open and box.kind != "scope":
            names.add("chain" if box.kind == "series" and box.connected else box.kind)
    if any(edge.back for edge in scene.routes):
        names.add("back")
    return names


def signs(scene: Scene, theme: Theme) -> list[LegendEntry]:
    """Return the signs of this picture, in the order of the table."""
    names = occurring(scene)
    plain = Fill(theme.op, theme.stroke, theme.text, theme.secondary)
    return [LegendEntry(tuple(draw(plain, theme)), label) for name, label, draw in SIGNS if name in names]
