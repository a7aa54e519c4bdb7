"""A child in its slot: its box, the stubs next to it, and the rectangle around both."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point, Stub, Text
from graphviz_tb.model.view import LevelWords, NodeLabel, StubWords
from graphviz_tb.place.beside import GAP, RAIL, ROW, column, column_width, rail, rows_height, stub_width
from graphviz_tb.place.names import Name, drawn_as
from graphviz_tb.place.sizes import SHEET, ClosedBox, closed

LOOP = 16  # px at the right of a box for its self loop

Stubs = Sequence[StubWords]


@dataclass(frozen=True, slots=True)
class Piece:
    """A slot of `width` × `height` with the box at (`x`, `y`) in it; texts and stubs are relative to the box.

    `behind`: the pixels at the right and at the top of an open stack that its sheets take; lines pass over them.
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


def framed(size: tuple[int, int], node: NodeLabel) -> Piece:
    """Return the piece of an open child: the frame fills its slot, with the sheets of a stack."""
    return Piece(*size, 0, 0, size, 2 if node.stacked else 0, behind=behind(node))


def behind(node: NodeLabel) -> tuple[int, int]:
    """Return the pixels that the sheets behind an open stack take at the right and at the top of its frame, as those of
    a closed one do."""
    if not node.stacked:
        return 0, 0
    return (0, 2 * SHEET) if node.connected else (2 * SHEET, 0)


def piece(node: NodeLabel, name: Name, words: LevelWords, position: int, upright: bool) -> Piece:
    """Return the piece of a closed child; `upright` for a vertical flow."""
    shape = closed(node, name, words.seconds[position])
    pill = drawn_as(node) == "op"
    make = _upright if upright else _lying
    return make(shape, words.incoming[position], words.outgoing[position], position in words.loops, pill)


def _upright(shape: ClosedBox, incoming: Stubs, outgoing: Stubs, loop: bool, pill: bool) -> Piece:
    """Place stub columns on the left and on the right."""
    wide, tall = box = (shape.width, shape.height)
    lead = column_width(incoming) + GAP if incoming else 0
    tail = column_width(outgoing) + GAP if outgoing else 0
    room = LOOP if loop else 0
    stack = max(len(incoming), len(outgoing)) * ROW
    height = max(tall, stack)
    middle = shape.middle
    reach = max(0, (tall - shape.top) // 2 - 10)
    left = column(incoming, "in", middle, 0, reach, 0)
    right = column(outgoing, "out", middle, wide, reach, room)
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
        _loop(box, middle) if loop else (),
    )


def _lying(shape: ClosedBox, incoming: Stubs, outgoing: Stubs, loop: bool, pill: bool) -> Piece:
    """Place stub rows above and below."""
    wide, tall = box = (shape.width, shape.height)
    above, below = rows_height(incoming), rows_height(outgoing)
    room = LOOP if loop else 0
    start = 14
    over = rail(incoming, "in", box, start)
    under = rail(outgoing, "out", box, start)
    reach = max((start + RAIL + stub_width(stub) for stub in (*incoming, *outgoing)), default=0)
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
        _loop(box, shape.middle) if loop else (),
    )


def _loop(box: tuple[int, int], middle: int) -> tuple[Point, ...]:
    """Return an edge from a box to itself, at its right side."""
    x, up = box[0], box[1] // 4
    return ((x, middle - up), (x + LOOP - 4, middle - up), (x + LOOP - 4, middle + up), (x, middle + up))
