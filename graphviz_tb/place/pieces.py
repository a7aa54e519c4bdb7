"""A child in its slot: its box, what stands beside it, and the rectangle that holds them both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphviz_tb.model.metagraph import Annotation
from graphviz_tb.model.scene import Point, Stub, Text
from graphviz_tb.model.view import Face
from graphviz_tb.place import beside
from graphviz_tb.place.sizes import Shape, closed, drawn_as

LOOP = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A slot of `width` × `height` with the box at (`x`, `y`) in it; texts and stubs are relative to the
    box."""

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


def framed(size: tuple[int, int]) -> Piece:
    """The piece of an open child: the frame fills its slot."""
    return Piece(*size, 0, 0, size)


def piece(
    face: Face,
    annotations: Sequence[tuple[int, Annotation]],
    names: Mapping[int, str],
    labels: Mapping[int, str],
    most: int,
    loop: bool,
    upright: bool,
) -> Piece:
    """The piece of a closed child; `upright` where the flow is vertical, `most` stubs at each side."""
    shape = closed(face)
    told_in = beside.rows(annotations, "in", names, most, labels)
    told_out = beside.rows(annotations, "out", names, most, labels)
    pill = drawn_as(face) == "op"
    make = _upright if upright else _lying
    return make(shape, told_in, told_out, loop, pill)


def _upright(shape: Shape, told_in: list[beside.Row], told_out: list[beside.Row], loop: bool, pill: bool) -> Piece:
    """Columns on the left and on the right."""
    wide, tall = box = (shape.width, shape.height)
    lead = beside.column_width(told_in) + beside.GAP if told_in else 0
    tail = beside.column_width(told_out) + beside.GAP if told_out else 0
    room = LOOP if loop else 0
    stack = max(len(told_in), len(told_out)) * beside.ROW
    height = max(tall, stack)
    middle = shape.middle
    reach = max(0, (tall - shape.top) // 2 - 10)
    left = beside.column(told_in, "in", middle, 0, reach, 0)
    right = beside.column(told_out, "out", middle, wide, reach, room)
    y = max(0, height // 2 - middle)
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


def _lying(shape: Shape, told_in: list[beside.Row], told_out: list[beside.Row], loop: bool, pill: bool) -> Piece:
    """Rows above and below."""
    wide, tall = box = (shape.width, shape.height)
    above, below = beside.rows_height(told_in), beside.rows_height(told_out)
    room = LOOP if loop else 0
    at = 14
    over = beside.rail(told_in, "in", box, at)
    under = beside.rail(told_out, "out", box, at)
    reach = max((at + beside.RAIL + row.extent for row in (*told_in, *told_out)), default=0)
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
    """An edge from a box to itself, at its right side."""
    x, up = box[0], box[1] // 4
    return ((x, middle - up), (x + LOOP - 4, middle - up), (x + LOOP - 4, middle + up), (x, middle + up))
