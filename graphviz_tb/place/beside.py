"""The stubs next to a box: constants, summaries, extracted neighbours, the "+N" rest, and self loops.

With a vertical flow, inputs are on the left and outputs on the right, each in a column; with a horizontal flow, inputs
are above and outputs below, in rows on a rail. The two flow sides of the box stay free for its edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import Side
from graphviz_tb.model.scene import LineIdentity, Point, Stub, Text
from graphviz_tb.model.view import StubWords
from graphviz_tb.place.sizes import BASELINE_OFFSET

STUB_ROW = 14  # from one stub to the next
STUB_LABEL_GAP = 4  # px between a stub and its label
STUB_LEAD = 18  # the line between a stub and its box
RAIL_GAP = 10  # from the rail to the first stub, horizontal flow
STUB_SIZES: dict[str, tuple[int, int]] = {
    "shortcut": (18, 10),
    "constant": (10, 10),
    "summary": (12, 12),
    "weight": (10, 10),
    "more": (0, 10),
}
STUB_GAP = 4  # px after a label


@dataclass(frozen=True, slots=True)
class StubColumn:
    """The stubs on one side of a box, relative to the box's upper left corner."""

    stubs: tuple[Stub, ...] = ()
    texts: tuple[Text, ...] = ()


def stub_width(stub: StubWords) -> int:
    """Return the width of a stub with its label."""
    return (
        STUB_SIZES[stub.kind][0]
        + (STUB_LABEL_GAP if stub.kind != "more" else 0)
        + text_width(stub.label, SMALL_FONT_PX)
    )


def stub_column_width(column: Sequence[StubWords]) -> int:
    """Return the width of a column of stubs, including its lines."""
    return max((stub_width(stub) for stub in column), default=-STUB_LEAD) + STUB_LEAD


def stub_column(words: Sequence[StubWords], side: Side, middle: int, edge: int, reach: int, off: int) -> StubColumn:
    """Lay out a column of stubs around the height `middle`, outwards from `edge` (the x of the box's side) plus `off`.

    The lines meet the side within `reach` of the middle.
    """
    top = middle - STUB_ROW * (len(words) - 1) // 2  # the y of the first stub's middle
    sign = -1 if side == "in" else 1  # outwards: inputs to the left
    stubs, texts = [], []
    for index, stub in enumerate(words):
        y = top + STUB_ROW * index
        meet = stub_meeting_point(index, len(words), middle, min(reach, STUB_ROW * (len(words) - 1) // 2))
        near = edge + sign * (STUB_LEAD + off)
        stubs.append(
            stub_shape(stub, side, near if sign > 0 else near - STUB_SIZES[stub.kind][0], y, ((near, y), (edge, meet)))
        )
        far = near + sign * (STUB_SIZES[stub.kind][0] + (STUB_LABEL_GAP if stub.kind != "more" else 0))
        texts.append(stub_text(stub, far, y, "start" if sign > 0 else "end"))
    return StubColumn(tuple(stubs), tuple(texts))


def stub_rows_height(words: Sequence[StubWords]) -> int:
    """Return the height of the stubs above or below a box."""
    return STUB_ROW * len(words) + STUB_LABEL_GAP if words else 0


def stub_rail(words: Sequence[StubWords], side: Side, box: tuple[int, int], x: int) -> StubColumn:
    """Lay out stubs above (in) or below (out) a box, each joined to a rail at `x` that meets the box."""
    stubs, texts = [], []
    border = 0 if side == "in" else box[1]
    for index, stub in enumerate(words):
        away = STUB_LABEL_GAP + STUB_ROW * (len(words) - 1 - index if side == "in" else index) + STUB_ROW // 2
        y = border - away if side == "in" else border + away
        left = x + RAIL_GAP
        stubs.append(stub_shape(stub, side, left, y, ((left, y), (x, y), (x, border))))
        texts.append(
            stub_text(
                stub, left + STUB_SIZES[stub.kind][0] + (STUB_LABEL_GAP if stub.kind != "more" else 0), y, "start"
            )
        )
    return StubColumn(tuple(stubs), tuple(texts))


def stub_shape(stub: StubWords, side: Side, left: int, middle: int, line: tuple[Point, ...]) -> Stub:
    """Return a stub. `line` goes from the stub to the box and is reversed for an outgoing edge."""
    across, along = STUB_SIZES[stub.kind]
    points = line if side == "in" else line[::-1]
    top = middle - along // 2
    notes = tuple(LineIdentity(kind="annotation", index=index) for index in stub.notes)
    return Stub(left, top, across, along, stub.kind, side, -1, stub.other, points, stub.control, stub.title, notes)


def stub_text(stub: StubWords, x: int, middle: int, anchor: Literal["start", "end"]) -> Text:
    wide = text_width(stub.label, SMALL_FONT_PX)
    y = middle + BASELINE_OFFSET[SMALL_FONT_PX]
    return Text(x, y, stub.label, stub.title, SMALL_FONT_PX, wide, "stub", anchor)


def stub_meeting_point(index: int, count: int, middle: int, reach: int) -> int:
    """Return where the line of one stub meets the side of the box."""
    if count < 2:
        return middle
    return middle - reach + 2 * reach * index // (count - 1)
