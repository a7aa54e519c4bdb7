"""The stubs next to a box: constants, summaries, extracted neighbours, the "+N" rest, and self loops.

With a vertical flow, inputs are on the left and outputs on the right, each in a column; with a horizontal flow, inputs
are above and outputs below, in rows on a rail. The two flow sides of the box stay free for its edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_SIZE, width
from graphviz_tb.model.metagraph import Side
from graphviz_tb.model.scene import Identity, Point, Stub, Text
from graphviz_tb.model.view import StubWords
from graphviz_tb.place.sizes import BASELINE

ROW = 14  # from one stub to the next
LABEL_GAP = 4  # px between a stub and its label
LEAD = 18  # the line between a stub and its box
RAIL = 10  # from the rail to the first stub, horizontal flow
EXTENT: dict[str, tuple[int, int]] = {
    "shortcut": (18, 10),
    "constant": (10, 10),
    "summary": (12, 12),
    "weight": (10, 10),
    "more": (0, 10),
}
GAP = 4  # px after a label


@dataclass(frozen=True, slots=True)
class StubColumn:
    """The stubs on one side of a box, relative to the box's upper left corner."""

    stubs: tuple[Stub, ...] = ()
    texts: tuple[Text, ...] = ()


def stub_width(stub: StubWords) -> int:
    """Return the width of a stub with its label."""
    return EXTENT[stub.kind][0] + (LABEL_GAP if stub.kind != "more" else 0) + width(stub.label, SMALL_SIZE)


def column_width(column: Sequence[StubWords]) -> int:
    """Return the width of a column of stubs, including its lines."""
    return max((stub_width(stub) for stub in column), default=-LEAD) + LEAD


def column(words: Sequence[StubWords], side: Side, middle: int, edge: int, reach: int, off: int) -> StubColumn:
    """Lay out a column of stubs around the height `middle`, outwards from `edge` (the x of the box's side) plus `off`.

    The lines meet the side within `reach` of the middle.
    """
    top = middle - ROW * (len(words) - 1) // 2  # the y of the first stub's middle
    sign = -1 if side == "in" else 1  # outwards: inputs to the left
    stubs, texts = [], []
    for index, stub in enumerate(words):
        y = top + ROW * index
        meet = _spread(index, len(words), middle, min(reach, ROW * (len(words) - 1) // 2))
        near = edge + sign * (LEAD + off)
        stubs.append(_stub(stub, side, near if sign > 0 else near - EXTENT[stub.kind][0], y, ((near, y), (edge, meet))))
        far = near + sign * (EXTENT[stub.kind][0] + (LABEL_GAP if stub.kind != "more" else 0))
        texts.append(_label(stub, far, y, "start" if sign > 0 else "end"))
    return StubColumn(tuple(stubs), tuple(texts))


def rows_height(words: Sequence[StubWords]) -> int:
    """Return the height of the stubs above or below a box."""
    return ROW * len(words) + LABEL_GAP if words else 0


def rail(words: Sequence[StubWords], side: Side, box: tuple[int, int], x: int) -> StubColumn:
    """Lay out stubs above (in) or below (out) a box, each joined to a rail at `x` that meets the box."""
    stubs, texts = [], []
    border = 0 if side == "in" else box[1]
    for index, stub in enumerate(words):
        away = LABEL_GAP + ROW * (len(words) - 1 - index if side == "in" else index) + ROW // 2
        y = border - away if side == "in" else border + away
        left = x + RAIL
        stubs.append(_stub(stub, side, left, y, ((left, y), (x, y), (x, border))))
        texts.append(_label(stub, left + EXTENT[stub.kind][0] + (LABEL_GAP if stub.kind != "more" else 0), y, "start"))
    return StubColumn(tuple(stubs), tuple(texts))


def _stub(stub: StubWords, side: Side, left: int, middle: int, line: tuple[Point, ...]) -> Stub:
    """Return a stub. `line` goes from the stub to the box and is reversed for an outgoing edge."""
    across, along = EXTENT[stub.kind]
    points = line if side == "in" else line[::-1]
    top = middle - along // 2
    notes = tuple(Identity(kind="annotation", index=index) for index in stub.notes)
    return Stub(left, top, across, along, stub.kind, side, -1, stub.other, points, stub.control, stub.title, notes)


def _label(stub: StubWords, x: int, middle: int, anchor: Literal["start", "end"]) -> Text:
    wide = width(stub.label, SMALL_SIZE)
    y = middle + BASELINE[SMALL_SIZE]
    return Text(x, y, stub.label, stub.title, SMALL_SIZE, wide, "stub", anchor)


def _spread(index: int, count: int, middle: int, reach: int) -> int:
    """Return where the line of one stub meets the side of the box."""
    if count < 2:
        return middle
    return middle - reach + 2 * reach * index // (count - 1)
