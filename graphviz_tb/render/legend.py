"""The legend: the colours and the signs that occur in this picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from graphviz_tb.model.drawing import Primitive
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_FONT_PX, text_width
from graphviz_tb.model.paint import LegendRow, LineTint, Paint, RowFill
from graphviz_tb.model.scene import Box, Route, Scene, Stub
from graphviz_tb.model.theme import Theme
from graphviz_tb.render import boxes
from graphviz_tb.render.lines import draw_route
from graphviz_tb.render.texts import text_labels

MAX_COLUMN_WIDTH = 260  # px: slightly more than the widest box; longer labels are shortened
MAX_SENTENCE_WIDTH = 480  # px, if the rows are sentences
SAMPLE_WIDTH, SAMPLE_GAP = 28, 8  # px: the width of a sample, and from it to its label
CHANGE_LABELS = {
    ("+", True): "new wire",
    ("−", True): "removed wire",
    ("~", True): "new and removed",
    ("+", False): "partly new",
    ("−", False): "partly removed",
    ("~", False): "partly new, removed",
}


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One row: a sample drawn in a box of `SAMPLE_WIDTH` × 16 at the origin, and its label; `more` is a second line, in
    a
    legend of one column."""

    sample: tuple[Primitive, ...]
    label: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class LegendBlock:
    """A heading and its rows, each at most `most` pixels wide."""

    heading: str
    entries: tuple[LegendEntry, ...]
    most: int = MAX_COLUMN_WIDTH

    @property
    def column_width(self) -> int:
        """The width of one column of rows."""
        longest = max(text_width(text, OP_FONT_PX) for entry in self.entries for text in (entry.label, entry.more))
        return min(self.most, longest + SAMPLE_WIDTH + SAMPLE_GAP)


def legend_blocks(scene: Scene, paint: Paint) -> tuple[LegendBlock, ...]:
    """Return the legend of one picture; empty if there is nothing to explain."""
    colours = tuple(colour_entry(row, paint.theme) for row in paint.legend)
    blocks = (
        LegendBlock(paint.heading, colours, MAX_SENTENCE_WIDTH if paint.scheme == "diff" else MAX_COLUMN_WIDTH),
        LegendBlock("Signs", (*sign_entries(scene, paint.theme), *change_entries(paint))),
    )
    return tuple(block for block in blocks if block.entries)


def change_entries(paint: Paint) -> list[LegendEntry]:
    """Return samples of the lines that were added or removed between two graphs, if there are any."""
    tints: dict[tuple[str, bool], LineTint] = {}
    for tint in (*paint.tints.routes, *paint.tints.stubs):
        if tint is not None and tint.sign:
            tints.setdefault((tint.sign, tint.whole), tint)  # one sample of each kind
    return [
        LegendEntry(draw_route(SAMPLE_EDGE, paint.theme, False, tints[key]).shapes, label)
        for key, label in CHANGE_LABELS.items()
        if key in tints
    ]


def colour_entry(row: LegendRow, theme: Theme) -> LegendEntry:
    """Return a sample of one colour, with its badge."""
    if row.shape == "rest":
        return LegendEntry((), row.label)
    sample = boxes.draw_closed_box(SAMPLE_BOX, row.fill, theme)
    if row.fill.badge:
        sample += text_labels(
            row.fill.badge, SAMPLE_WIDTH / 2, 12, 10, text_width(row.fill.badge, 10), row.fill.text, "middle"
        )
    return LegendEntry(tuple(sample), row.label, row.more)


DrawSample = Callable[[RowFill, Theme], Sequence[Primitive]]
NO_ROW = -1  # samples represent no row and no box
SAMPLE_BOX = Box("", NO_ROW, "scope", NO_ROW, 0, 0, 0, SAMPLE_WIDTH, 16, open=False, openable=False)
SAMPLE_EDGE = Route(((0, 8), (SAMPLE_WIDTH, 8)), "data", NO_ROW, NO_ROW, 10)


def box_sample(box: Box) -> DrawSample:
    return lambda fill, theme: boxes.draw_closed_box(box, fill, theme)


def frame_sample(box: Box) -> DrawSample:
    return lambda fill, theme: boxes.draw_frame(box, fill, theme)


def edge_sample(edge: Route) -> DrawSample:
    return lambda fill, theme: draw_route(edge, theme, chosen=False).shapes


def stub_sample(stub: Stub) -> DrawSample:
    return lambda fill, theme: boxes.draw_stub(stub, fill, theme)


def mark_sample(fill: RowFill, theme: Theme) -> list[Primitive]:
    return boxes.draw_open_mark(7, 8, theme, opened=False) + boxes.draw_open_mark(21, 8, theme, opened=True)


SAMPLE_STUB_LINE = ((16, 8), (28, 8))  # from the end of the sample stub to the end of the sample
SIGN_SAMPLES: tuple[tuple[str, str, DrawSample], ...] = (
    ("opens", "opens, is open", mark_sample),
    ("op", "operation", box_sample(replace(SAMPLE_BOX, kind="op"))),
    ("call", "function call", box_sample(replace(SAMPLE_BOX, kind="call"))),
    ("function", "function", box_sample(replace(SAMPLE_BOX, kind="function"))),
    ("series", "repeated, side by side", box_sample(replace(SAMPLE_BOX, kind="series", sheets=2))),
    (
        "chain",
        "repeated, one after another",
        box_sample(replace(SAMPLE_BOX, kind="series", sheets=2, connected=True, height=18, y=-1)),
    ),
    (
        "shown",
        "repeated, one is shown",
        frame_sample(replace(SAMPLE_BOX, kind="series", sheets=2, connected=True, open=True, height=20, y=-2)),
    ),
    ("fold", "many in one box", box_sample(replace(SAMPLE_BOX, kind="fold", sheets=2))),
    ("constant", "constant", stub_sample(Stub(4, 3, 10, 10, "constant", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))),
    ("weight", "weight", stub_sample(Stub(4, 3, 10, 10, "weight", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))),
    ("summary", "summary", stub_sample(Stub(3, 2, 12, 12, "summary", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))),
    (
        "shortcut",
        "leads elsewhere",
        stub_sample(Stub(0, 3, 18, 10, "shortcut", "in", NO_ROW, NO_ROW, ((18, 8), (28, 8)))),
    ),
    ("data", "data", edge_sample(SAMPLE_EDGE)),
    ("control", "control", edge_sample(replace(SAMPLE_EDGE, kind="control"))),
    ("reference", "reference", edge_sample(replace(SAMPLE_EDGE, kind="reference"))),
    ("back", "against the flow", edge_sample(replace(SAMPLE_EDGE, back=True))),
)


def occurring_signs(scene: Scene) -> set[str]:
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


def sign_entries(scene: Scene, theme: Theme) -> list[LegendEntry]:
    """Return the signs of this picture, in the order of the table."""
    names = occurring_signs(scene)
    plain = RowFill(theme.op, theme.stroke, theme.text, theme.secondary)
    return [LegendEntry(tuple(draw(plain, theme)), label) for name, label, draw in SIGN_SAMPLES if name in names]
