"""The fonts that pictures are drawn with: the one that texts are measured with, then files that were asked for."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb.errors import RequestError, ToolMissing
from graphviz_tb.model.drawing import Drawing, Label
from graphviz_tb.model.measure import known
from graphviz_tb.render.typeface import Typeface


def font_files(more: tuple[str, ...]) -> list[str]:
    """The font files that the rasteriser gets: the font that texts are measured with, then those asked
    for."""
    check_fonts(more)
    try:
        import fontpkg_arimo
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the font of the pictures is not installed", hint="pip install fontpkg-arimo") from error
    return [str(path) for path in sorted(Path(fontpkg_arimo.ROOT).glob("files/Arimo[[]*.ttf"))] + list(more)


def check_fonts(more: tuple[str, ...]) -> None:
    """Refuse a font file that is not there, or is none."""
    for name in more:
        typeface(name)


def typeface(name: str) -> Typeface:
    """The font in a file; `RequestError` where there is none."""
    if not Path(name).is_file():
        raise RequestError(f"no font file {name!r}")
    try:
        return Typeface(Path(name).read_bytes())
    except ValueError as error:
        raise RequestError(f"{name!r} is {error}", hint="give a .ttf or .otf file") from error


def foreign(drawing: Drawing, more: tuple[str, ...]) -> str:
    """The first text that neither the font nor one of the files asked for has glyphs for; "" where there is none."""
    texts = (shape.content for shape in drawing.shapes() if isinstance(shape, Label))
    strange = [text for text in texts if not known(text)]
    if not strange:
        return ""
    have = {code for name in more for code in typeface(name).glyphs}
    return next((text for text in strange if not all(known(char) or ord(char) in have for char in text)), "")
