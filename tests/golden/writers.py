"""What is composed of scenes that no graph has to be found for, and what each writer makes of that."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

from drawings import catalogue

from graphviz_tb.model.drawing import Drawing
from graphviz_tb.model.paint import Caption
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import compose
from graphviz_tb.render.dot import dot_text
from graphviz_tb.render.pdf import pdf_bytes
from graphviz_tb.render.svg import replace_hatch, svg_bytes


def written(name: str) -> Iterator[Any]:
    """What one writer makes of the catalogue."""
    scene, paint, caption = catalogue("light", 1)
    drawing = compose(scene, paint, caption)
    if name == "svg":
        yield from svg_bytes(drawing).decode().splitlines()
    elif name == "hatches":
        yield from (rounded(shape.steps) for shape in hatched(drawing))
    elif name == "pdf":
        yield from objects(pdf_bytes(drawing, PictureOptions()))
    else:
        yield from dot_text(scene, paint, caption if name == "dot" else Caption("", "")).decode().splitlines()


def hatched(drawing: Drawing) -> Iterator[Any]:
    """The lines of hatches."""
    pairs = ((replace_hatch(shape, drawing.ground), shape) for shape in drawing.shapes())
    return (lines for lines, before in pairs if lines != before)


def objects(data: bytes) -> Iterator[str]:
    """What a PDF says outside of its streams but for their lengths, and the operators of its page."""
    streams = re.findall(rb"stream\n(.*?)\nendstream", data, re.DOTALL)
    text = re.sub(rb"stream\n.*?\nendstream", b"stream", data, flags=re.DOTALL).decode("latin-1")
    yield from re.sub(r"/Length1? \d+|(?<=\n)\d{10}|startxref\n\d+", "", text).splitlines()
    for packed in (streams[0], streams[-1]):
        yield from zlib.decompress(packed).decode("latin-1").splitlines()


def rounded(value: Any) -> Any:
    """The same with numbers to a thousandth of a pixel, and without the names of fields."""
    if isinstance(value, float):
        return round(value, 3) + 0.0
    if isinstance(value, tuple | list):
        return [rounded(inner) for inner in value]
    return [type(value).__name__, *map(rounded, parts_of(value))] if hasattr(value, "__slots__") else value


def parts_of(value: Any) -> list[Any]:
    """The fields of a primitive, those at the end left out that are as usual."""
    parts = [getattr(value, field) for field in value.__slots__]
    while parts and parts[-1] in (None, "", (), 0, 1, "butt", "miter", "start"):
        del parts[-1]
    return parts
