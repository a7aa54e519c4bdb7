"""A child in its slot: its box, the stubs next to it, and the rectangle around both."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point, Stub, Text
from graphviz_tb.model.view import LevelWords, NodeLabel, StubWords
from graphviz_tb.place.beside import (
    RAIL_GAP,
    STUB_GAP,
    STUB_ROW,
    stub_column,
    stub_column_width,
    stub_rail,
    stub_rows_height,
    stub_width,
)
from graphviz_tb.place.names import BoxName, outline_kind
from graphviz_tb.place.sizes import SHEET_OFFSET, ClosedBox, closed_box

LOOP_ROOM = 16  # px at the right of a box for its self loop

Stubs = Sequence[StubWords]


@dataclass(frozen=True, slots=True)
class Piece:
    """A slot of `width` × `height` with the box at (`x`, `y`) in it; texts and stubs are relative to the box.

    `sheet_margins`: the pixels at the right and at the top of an open stack that its sheets take; lines pass over them.
    """

    width: int
    height: int
    x: int
    y: int
    box: tuple[int, int]
    sheets: int = 0
    pill: bool = False
    texts: tuple[Text, ...] = ()
    stubs: tuple[Stub, ...] = ()
    loop: tuple[Point, ...] = ()
    behind: tuple[int, int] = (0, 0)


def open_piece(size: tuple[int, int], node: NodeLabel) -> Piece:
    """Return the piece of an open child: the frame fills its slot, with the sheets of a stack."""
    return Piece(*size, 0, 0, size, 2 if node.stacked else 0, behind=sheet_margins(node))


def sheet_margins(node: NodeLabel) -> tuple[int, int]:
    """Return the pixels that the sheets behind an open stack take at the right and at the top of its frame, as those of
    a closed one do."""
    if not node.stacked:
        return 0, 0
    return (0, 2 * SHEET_OFFSET) if node.connected else (2 * SHEET_OFFSET, 0)


def closed_piece(node: NodeLabel, name: BoxName, words: LevelWords, position: int, upright: bool) -> Piece:
    """Return the piece of a closed child; `upright` for a vertical flow."""
    shape = closed_box(node, name, words.seconds[position])
    pill = outline_kind(node) == "op"
    make = vertical_piece if upright else horizontal_piece
    return make(shape, words.incoming[position], words.outgoing[position], position in words.loops, pill)


def vertical_piece(shape: ClosedBox, incoming: Stubs, outgoing: Stubs, loop: bool, pill: bool) -> Piece:
    """Place stub columns on the left and on the right."""
    wide, tall = box = (shape.width, shape.height)
    lead = stub_column_width(incoming) + STUB_GAP if incoming else 0
    tail = stub_column_width(outgoing) + STUB_GAP if outgoing else 0
    room = LOOP_ROOM if loop else 0
    stack = max(len(incoming), len(outgoing)) * STUB_ROW
    height = max(tall, stack)
    middle = shape.middle
    reach = max(0, (tall - shape.top) // 2 - 10)
    left = stub_column(incoming, "in", middle, 0, reach, 0)
    right = stub_column(outgoing, "out", middle, wide, reach, room)
    y = max(0, height // 2 - middle)  # the box is centred on its columns, by the middle of its front sheet
    return Piece(
        lead + wide + max(tail + room, room),
        max(height, y + tall),
        lead,
        y,
        box,
        shape.sheets,
        pill,
        shape.texts + left.texts + right.texts,
        left.stubs + right.stubs,
        loop_points(box, middle) if loop else (),
    )


def horizontal_piece(shape: ClosedBox, incoming: Stubs, outgoing: Stubs, loop: bool, pill: bool) -> Piece:
    """Place stub rows above and below."""
    wide, tall = box = (shape.width, shape.height)
    above, below = stub_rows_height(incoming), stub_rows_height(outgoing)
    room = LOOP_ROOM if loop else 0
    start = 14
    over = stub_rail(incoming, "in", box, start)
    under = stub_rail(outgoing, "out", box, start)
    reach = max((start + RAIL_GAP + stub_width(stub) for stub in (*incoming, *outgoing)), default=0)
    return Piece(
        max(wide + room, reach),
        above + tall + below,
        0,
        above,
        box,
        shape.sheets,
        pill,
        shape.texts + over.texts + under.texts,
        over.stubs + under.stubs,
        loop_points(box, shape.middle) if loop else (),
    )


def loop_points(box: tuple[int, int], middle: int) -> tuple[Point, ...]:
    """Return an edge from a box to itself, at its right side."""
    x, up = box[0], box[1] // 4
    return ((x, middle - up), (x + LOOP_ROOM - 4, middle - up), (x + LOOP_ROOM - 4, middle + up), (x, middle + up))
