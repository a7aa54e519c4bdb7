"""What is composed of scenes that no graph has to be found for, and what each writer makes of that."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from drawings import catalogue, scattered

from graphviz_tb.errors import RequestError
from graphviz_tb.model.drawing import Drawing, Label
from graphviz_tb.model.paint import Caption
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import compose
from graphviz_tb.render.compose import SheetLayout
from graphviz_tb.render.dot import dot_text
from graphviz_tb.render.legend import LegendBlock, LegendEntry, legend_shapes
from graphviz_tb.render.pdf import pdf_bytes
from graphviz_tb.render.png import _raster_size
from graphviz_tb.render.raster_work import RasterWork, raster_work
from graphviz_tb.render.svg import replace_hatch, svg_bytes


def composed(name: str) -> Iterator[Any]:
    """The catalogue as primitives, and how much ink there is in each group of them."""
    theme, shift = name.split()
    drawing = compose(*catalogue(theme, int(shift)))
    yield from ((part.name, part.at) for part in drawing.parts)
    for group in (group for part in drawing.parts for group in part.groups):
        ink = raster_work(replace(drawing, parts=(replace(drawing.parts[0], groups=(group,)),)))
        yield rounded((group.at, group.address, group.tooltip, ink.lines, ink.filled, *group.shapes))


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


def sheets(name: str) -> Iterator[Any]:
    """The size of a sheet, the place of the scene and of the legend, and each row of that."""
    bare, drawing = compose(*scattered(name), with_legend=False), compose(*scattered(name))
    yield bare.width, bare.height, [part.at for part in bare.parts]
    yield (
        SheetLayout(bare.width, drawing.height, (0, 0)).screen_cost,
        SheetLayout(drawing.height, bare.width, (0, 0)).screen_cost,
    )
    yield drawing.width, drawing.height, [part.at for part in drawing.parts]
    labels = [shape for group in drawing.parts[0].groups for shape in group.shapes if isinstance(shape, Label)]
    yield [(label.content, label.x, label.y, label.width) for label in labels]
    for group in drawing.parts[2].groups if len(drawing.parts) > 2 else ():
        yield group.at, [(shape.content, shape.x, shape.y) for shape in group.shapes if isinstance(shape, Label)]


def legend_columns(name: str) -> Iterator[Any]:
    """The shapes that a legend of two blocks may have, whose columns are so many pixels wide."""
    most = int(name.split()[1])
    texts = ["W" * 60] * (most % 9 + 1), ["W" * 60] * (most % 5 + 1)
    one, other = (LegendBlock("H", tuple(LegendEntry((), text) for text in each), most) for each in texts)
    wide = replace(other, most=2 * most % 211 + 40, heading=("a heading, another heading, " * 3)[: most % 70])
    single = [replace(one, entries=one.entries[:1], most=most + more) for more in range(4)]
    rows = [[single[0]] * count + [last] for count in range(1, 4) for last in single]  # of every width in all
    for blocks in ([one], [one, other], [wide, one, other], *rows):
        forms = [
            (form.width, form.height, [placed.columns for placed in form.blocks]) for form in legend_shapes(blocks)
        ]
        yield len(forms), zlib.crc32(repr(forms).encode())


def rasters(name: str) -> Iterator[Any]:
    """The size of a PNG, or why there is none, of sheets and ink that are drawn by a seed."""
    luck = random.Random(name)
    for _ in range(40):
        wide, high = (int(2 ** luck.uniform(0, 15)) for _ in range(2))
        drawn = (2 ** luck.uniform(10, 27), 2 ** luck.uniform(10, 40)) if luck.random() < 0.7 else ()
        options = luck.choice(({}, {}, {"scale": luck.choice((0.5, 1.0, 3.0))}, {"width": luck.randrange(1, 20_000)}))
        try:
            size = _raster_size(RasterWork(wide, high, *drawn), PictureOptions(**options))
            yield wide, high, options, size.width, size.height, round(size.zoom, 4), round(size.asked, 4), size.limit
        except RequestError as error:
            yield wide, high, options, str(error)


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
