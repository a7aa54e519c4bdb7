"""render: a scene becomes bytes. A format is one word in `RENDERERS` and one file.

Formats that draw the whole folded graph, whatever is open, are made elsewhere from the model.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, Painter
from graphviz_tb.model.scene import Scene
from graphviz_tb.options import PictureOptions

Renderer = Callable[[Scene, Painter, Caption, PictureOptions], bytes]

# Format to module and function: loaded when first used, so that an SVG needs no rasteriser.
RENDERERS: dict[str, tuple[str, str]] = {
    "svg": ("graphviz_tb.render.svg", "svg"),
    "png": ("graphviz_tb.render.png", "png"),
    "pdf": ("graphviz_tb.render.pdf", "pdf"),
    "dot": ("graphviz_tb.render.dot", "dot"),
}

__all__ = ["RENDERERS", "Renderer", "notices", "render"]


def render(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions, format: str) -> bytes:
    """Before: `format` is a word of `RENDERERS` (else `UnknownChoice`). After: a whole file."""
    if format not in RENDERERS:
        raise UnknownChoice.among("format", format, RENDERERS)
    module, name = RENDERERS[format]
    draw: Renderer = getattr(import_module(module), name)
    return draw(scene, painter, caption, options)


def notices(
    scene: Scene, painter: Painter, caption: Caption, options: PictureOptions, format: str
) -> tuple[Notice, ...]:
    """What `render` in this format cannot do quite as asked: a cap on pixels, letters that the font lacks."""
    tell = getattr(import_module(RENDERERS[format][0]), "notices", None)
    return tell(scene, painter, caption, options) if tell else ()
