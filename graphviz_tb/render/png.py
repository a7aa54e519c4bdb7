"""PNG: the SVG, drawn by a rasteriser from a wheel with the font files of a wheel, so that a bare machine can do it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from pathlib import Path

from graphviz_tb.errors import RequestError, ToolFailed, ToolMissing
from graphviz_tb.model.drawing import Drawing, Label
from graphviz_tb.model.measure import known
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.svg import svg
from graphviz_tb.render.truetype import Face

FAMILY = "Arimo"
WIDEST = 8_000  # pixels, unless asked
MOST = 64_000_000  # pixels in all, unless asked
NEVER = 256_000_000  # the rasteriser would take gigabytes, and end the process where there are none
USUAL = PictureOptions().scale


@dataclass(frozen=True, slots=True)
class Raster:
    """The size of the PNG in pixels, and the scale that the options asked for."""

    width: int
    height: int
    zoom: float
    asked: float


def png(drawing: Drawing, options: PictureOptions) -> bytes:
    """The drawing as PNG bytes. After: never more pixels than the cap."""
    try:
        import resvg_py
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the PNG rasteriser is not installed", hint="pip install resvg-py") from error
    size = raster(drawing.width, drawing.height, options)
    try:
        data = resvg_py.svg_to_bytes(
            svg_string=svg(drawing).decode(),
            width=size.width,
            height=size.height,
            font_files=font_files(options),
            skip_system_fonts=not foreign(drawing, options),
            font_family=FAMILY,
            sans_serif_family=FAMILY,
            serif_family=FAMILY,
            monospace_family=FAMILY,
        )
    except ValueError as error:
        raise ToolFailed(f"the PNG rasteriser stopped: {error}") from error
    return bytes(data)


def raster(width: int, height: int, options: PictureOptions) -> Raster:
    """How large the PNG of a picture of `width` × `height` comes out.

    >>> raster(1000, 500, PictureOptions()).width
    2000
    >>> raster(8000, 8000, PictureOptions()).width
    8000
    """
    asked = options.width / width if options.width else options.scale
    zoom = asked
    if options.width is None and options.scale == USUAL:
        zoom = min(zoom, WIDEST / width)
        if width * height * zoom * zoom > MOST:
            zoom = isqrt(MOST * 1_000_000 // (width * height)) / 1000
    size = Raster(max(1, int(width * zoom)), max(1, int(height * zoom)), zoom, asked)
    if size.width * size.height > NEVER:
        raise RequestError(
            f"a PNG of {size.width} × {size.height} pixels is too large",
            hint="ask for a smaller --scale or --width, open fewer groups, or write SVG",
        )
    return size


def font_files(options: PictureOptions) -> list[str]:
    """The font files that the rasteriser gets: the font that texts are measured with, then those asked
    for."""
    check_fonts(options)
    try:
        import fontpkg_arimo
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the font of the pictures is not installed", hint="pip install fontpkg-arimo") from error
    return [str(path) for path in sorted(Path(fontpkg_arimo.ROOT).glob("files/Arimo[[]*.ttf"))] + list(
        options.font_files
    )


def check_fonts(options: PictureOptions) -> None:
    """Refuse a font file that is not there, or is none."""
    for name in options.font_files:
        if not Path(name).is_file():
            raise RequestError(f"no font file {name!r}")
        if not Face(Path(name).read_bytes()).tables:
            raise RequestError(f"{name!r} is no font, or a damaged one", hint="give a .ttf or .otf file")


def foreign(drawing: Drawing, options: PictureOptions) -> str:
    """The first text that neither the font nor one of the files asked for has glyphs for; "" where there is none."""
    texts = (shape.content for shape in drawing.shapes() if isinstance(shape, Label))
    strange = [text for text in texts if not known(text)]
    if not strange:
        return ""
    faces = [Face(Path(name).read_bytes()) for name in options.font_files if Path(name).is_file()]
    have = {code for face in faces for code in face.glyphs}
    return next((text for text in strange if not all(known(char) or ord(char) in have for char in text)), "")


def notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """What a PNG of this drawing does not do as asked: fewer pixels, letters from a face of this machine."""
    size = raster(drawing.width, drawing.height, options)
    told = []
    if size.zoom < size.asked:
        told.append(
            Notice(
                "png-scaled", f"the PNG is drawn at scale {size.zoom:.2f} to stay within {MOST // 1_000_000} megapixels"
            )
        )
    text = foreign(drawing, options)
    if text:
        message = "a name has letters that the font lacks: they come from a face of this machine (see --font-file)"
        told.append(Notice("png-font", message, text))
    return tuple(told)
