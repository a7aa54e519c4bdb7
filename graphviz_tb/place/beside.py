"""What stands beside a box: constants, summaries, extracted neighbours, the "+N" rest, and edges to itself.

Where the flow is vertical, what comes in stands on the left and what goes out on the right, each in a column;
where it is horizontal, what comes in stands above and what goes out below, in rows that hang on a rail.
Either way the two flow sides of the box stay free for its edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from graphviz_tb.model.measure import clean, elide, width
from graphviz_tb.model.metagraph import Annotation, Side, StubKind
from graphviz_tb.model.scene import Identity, Point, Stub, Text
from graphviz_tb.place.labels import brief
from graphviz_tb.place.sizes import BASELINE, SMALL_SIZE

ROW = 14  # from one stub to the next
LABEL_MOST, LABEL_GAP = 100, 4
LEAD = 18  # the line between a stub and its box
RAIL = 10  # from the rail to the first stub, horizontal flow
EXTENT: dict[str, tuple[int, int]] = {
    "shortcut": (18, 10),
    "constant": (10, 10),
    "summary": (12, 12),
    "weight": (10, 10),
    "more": (0, 10),
}
GAP = 4  # between a label and whatever comes next


@dataclass(frozen=True, slots=True)
class Row:
    """One stub before it has a place: `other` is -1 for the rest; `notes` are the annotations it stands for."""

    kind: Literal["shortcut", "constant", "summary", "weight", "more"]
    label: str
    title: str
    other: int
    control: bool
    notes: tuple[int, ...] = ()

    @property
    def extent(self) -> int:
        """Its width with its label."""
        return EXTENT[self.kind][0] + (LABEL_GAP if self.kind != "more" else 0) + width(self.label, SMALL_SIZE)


@dataclass(frozen=True, slots=True)
class Beside:
    """The rows on one side of a box, placed relative to the box's upper left corner."""

    stubs: tuple[Stub, ...] = ()
    texts: tuple[Text, ...] = ()


def rows(
    annotations: Sequence[tuple[int, Annotation]],
    side: Side,
    names: Mapping[int, str],
    most: int,
    labels: Mapping[int, str] = MappingProxyType({}),
) -> list[Row]:
    """The rows of one side: at most `most`, then one that counts the rest and names them in its tooltip. A row is
    called by the last segment of its name, or by what `labels` says.

    >>> stubs = [(row, Annotation(0, "in", row, "constant")) for row in range(4)]
    >>> [row.label for row in rows(stubs, "in", {row: f"a/c{row}" for row in range(4)}, 2)]
    ['c0', 'c1', '+2']
    """
    mine = [(index, annotation) for index, annotation in annotations if annotation.side == side]
    told = [_row(index, annotation, names, labels) for index, annotation in mine[:most]]
    rest = mine[most:]
    if rest:
        title = f"{len(rest)} more: " + ", ".join(brief(names.get(one.other, "")) for _, one in rest[:40])
        told.append(Row("more", f"+{len(rest)}", title, -1, False, tuple(index for index, _ in rest)))
    return told


WORDS: dict[StubKind, str] = {
    "shortcut": "linked",
    "constant": "constant",
    "summary": "summary",
    "weight": "weight",
}


def _row(index: int, annotation: Annotation, names: Mapping[int, str], labels: Mapping[int, str]) -> Row:
    full = clean(names.get(annotation.other, ""))
    count = f", {annotation.edges} edges" if annotation.edges > 1 else ""
    control = ", control" if annotation.control else ""
    title = f"{brief(full)} ({WORDS[annotation.kind]}{count}{control})"
    called = clean(labels.get(annotation.other, "")) or full.rsplit("/", 1)[-1] or full
    label = elide(called, LABEL_MOST, SMALL_SIZE)
    return Row(annotation.kind, label, title, annotation.other, annotation.control, (index,))


def column_width(column: Sequence[Row]) -> int:
    """The room that a column beside a box takes, its lines included."""
    return max((row.extent for row in column), default=-LEAD) + LEAD


def column(told: Sequence[Row], side: Side, middle: int, edge: int, reach: int, off: int) -> Beside:
    """A column of rows round the height `middle`, from `edge` (the x of the side that it hangs on) outwards,
    `off` further away. The lines meet the side within `reach` of the middle."""
    top = middle - ROW * (len(told) - 1) // 2
    sign = -1 if side == "in" else 1
    stubs, texts = [], []
    for index, row in enumerate(told):
        y = top + ROW * index
        meet = _spread(index, len(told), middle, min(reach, ROW * (len(told) - 1) // 2))
        near = edge + sign * (LEAD + off)
        stubs.append(_stub(row, side, near if sign > 0 else near - EXTENT[row.kind][0], y, ((near, y), (edge, meet))))
        far = near + sign * (EXTENT[row.kind][0] + (LABEL_GAP if row.kind != "more" else 0))
        texts.append(_label(row, far, y, "start" if sign > 0 else "end"))
    return Beside(tuple(stubs), tuple(texts))


def rows_height(told: Sequence[Row]) -> int:
    """The room that rows above or below a box take."""
    return ROW * len(told) + LABEL_GAP if told else 0


def rail(told: Sequence[Row], side: Side, box: tuple[int, int], x: int) -> Beside:
    """Rows above (in) or below (out) a box, each joined to a rail at `x` that meets the box."""
    stubs, texts = [], []
    border = 0 if side == "in" else box[1]
    for index, row in enumerate(told):
        away = LABEL_GAP + ROW * (len(told) - 1 - index if side == "in" else index) + ROW // 2
        y = border - away if side == "in" else border + away
        left = x + RAIL
        stubs.append(_stub(row, side, left, y, ((left, y), (x, y), (x, border))))
        texts.append(_label(row, left + EXTENT[row.kind][0] + (LABEL_GAP if row.kind != "more" else 0), y, "start"))
    return Beside(tuple(stubs), tuple(texts))


def _stub(row: Row, side: Side, left: int, middle: int, line: tuple[Point, ...]) -> Stub:
    """`line` goes from the stub to the box; an edge that goes out runs the other way."""
    across, along = EXTENT[row.kind]
    points = line if side == "in" else line[::-1]
    top = middle - along // 2
    notes = tuple(Identity(kind="annotation", index=index) for index in row.notes)
    return Stub(left, top, across, along, row.kind, side, -1, row.other, points, row.control, row.title, notes)


def _label(row: Row, x: int, middle: int, anchor: Literal["start", "end"]) -> Text:
    wide = width(row.label, SMALL_SIZE)
    y = middle + BASELINE[SMALL_SIZE]
    return Text(x, y, row.label, row.title, SMALL_SIZE, wide, "stub", anchor)


def _spread(index: int, count: int, middle: int, reach: int) -> int:
    """Where the line of one row meets the side of the box."""
    if count < 2:
        return middle
    return middle - reach + 2 * reach * index // (count - 1)
