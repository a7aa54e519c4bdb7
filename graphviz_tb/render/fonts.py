"""The fonts that pictures are drawn with: the one that texts are measured with, then files that were asked for."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb.errors import RequestError, ToolMissing
from graphviz_tb.model.drawing import Drawing, Label
from graphviz_tb.model.measure import known
from graphviz_tb.render.truetype import Face


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
        if not Path(name).is_file():
            raise RequestError(f"no font file {name!r}")
        if not Face(Path(name).read_bytes()).tables:
            raise RequestError(f"{name!r} is no font, or a damaged one", hint="give a .ttf or .otf file")


def foreign(drawing: Drawing, more: tuple[str, ...]) -> str:
    """The first text that neither the font nor one of the files asked for has glyphs for; "" where there is none."""
    texts = (shape.content for shape in drawing.shapes() if isinstance(shape, Label))
    strange = [text for text in texts if not known(text)]
    if not strange:
        return ""
    faces = [Face(Path(name).read_bytes()) for name in more if Path(name).is_file()]
    have = {code for face in faces for code in face.glyphs}
    return next((text for text in strange if not all(known(char) or ord(char) in have for char in text)), "")
