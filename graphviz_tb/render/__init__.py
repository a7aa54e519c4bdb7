"""render: a scene becomes bytes. A format is one word in `RENDERERS` and one file.

Formats that draw the whole folded graph, whatever is open, are made elsewhere from the model.
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, Painter
from graphviz_tb.model.scene import Scene
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.compose import compose
from graphviz_tb.render.pdf import notices as pdf_notices
from graphviz_tb.render.pdf import pdf as write_pdf
from graphviz_tb.render.png import notices as png_notices
from graphviz_tb.render.png import png as write_png
from graphviz_tb.render.svg import svg as write_svg

Renderer = Callable[[Scene, Painter, Caption, PictureOptions], bytes]


def svg(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> bytes:
    """A standing document."""
    return write_svg(compose(scene, painter, caption, options.legend))


def png(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> bytes:
    """Pixels."""
    return write_png(compose(scene, painter, caption, options.legend), options)


def pdf(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> bytes:
    """A page."""
    return write_pdf(compose(scene, painter, caption, options.legend), options)


def dot(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> bytes:
    """The graph for Graphviz."""
    from graphviz_tb.render.dot import dot as write_dot

    return write_dot(scene, painter, caption, options)


RENDERERS: dict[str, Renderer] = {"svg": svg, "png": png, "pdf": pdf, "dot": dot}

__all__ = ["RENDERERS", "Renderer", "notices", "render"]


def render(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions, format: str) -> bytes:
    """Before: `format` is a word of `RENDERERS` (else `UnknownChoice`). After: a whole file."""
    if format not in RENDERERS:
        raise UnknownChoice.among("format", format, RENDERERS)
    return RENDERERS[format](scene, painter, caption, options)


def notices(
    scene: Scene, painter: Painter, caption: Caption, options: PictureOptions, format: str
) -> tuple[Notice, ...]:
    """What `render` in this format cannot do quite as asked: a cap on pixels, letters that the font lacks."""
    tell = {"png": png_notices, "pdf": pdf_notices}.get(format)
    return tell(compose(scene, painter, caption, options.legend), options) if tell else ()
