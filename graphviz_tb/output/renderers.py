"""Output formats of graphs. A format is one row of `RENDERERS` and one file in `render/`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, cast

from graphviz_tb.caches import import_on_call
from graphviz_tb.errors import RequestError, UnknownChoice, check_choice, require_type
from graphviz_tb.model.drawing import Drawing
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.subject import DrawableGraph
from graphviz_tb.options import LOGGED_COLOR_OPTIONS, PictureOptions

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel

RenderProduct = TypeVar("RenderProduct")
RenderFunction = Callable[[DrawableGraph, PictureOptions], bytes]
ShortfallsFunction = Callable[[DrawableGraph, PictureOptions], tuple[Notice, ...]]

# Options by effect; each format lists those that change its bytes.
OPENING_OPTIONS = frozenset({"open", "depth", "open_all", "all_members", "max_open"})
STUB_OPTIONS = frozenset({"max_annotations"})
WORD_OPTIONS = frozenset({"title", "stats", "color_by", "theme", *LOGGED_COLOR_OPTIONS})
DRAWING_OPTIONS = OPENING_OPTIONS | STUB_OPTIONS | WORD_OPTIONS | {"engine", "wrap", "direction", "legend", "select"}
FONT_OPTIONS = frozenset({"font_files"})
PIXEL_OPTIONS = frozenset({"scale", "width"})
PAPER_OPTIONS = frozenset({"paper", "width_mm"})


def _render_from_drawing(
    make: Callable[[Drawing, PictureOptions], RenderProduct],
) -> Callable[[DrawableGraph, PictureOptions], RenderProduct]:
    """Adapt a function of the finished drawing to the signature of a renderer."""
    return lambda subject, options: make(subject.picture(options).drawing, options)


def _render_by_export(name: str) -> RenderFunction:
    """Make a renderer of a function of `render.exports`, which takes the rows of a graph and their facts."""
    export = import_on_call("graphviz_tb.render.exports", name)
    return lambda subject, options: export(subject.hierarchy, subject.facts)


def _render_svg(drawing: Drawing, options: PictureOptions) -> bytes:
    """Render the sheet as SVG. Here and below, a format's module is imported when it is first used."""
    from graphviz_tb.render.svg import svg_bytes

    return svg_bytes(drawing)


def _render_png(drawing: Drawing, options: PictureOptions) -> bytes:
    from graphviz_tb.render.png import png_bytes, with_software

    return with_software(png_bytes(drawing, options))


def _without_paper(options: PictureOptions) -> PictureOptions:
    """Return the options of a picture that is not printed in its true size."""
    return replace(options, paper=False, width_mm=None)


def _render_dot(subject: DrawableGraph, options: PictureOptions) -> bytes:
    """Write the picture in DOT, for Graphviz to lay out."""
    from graphviz_tb.render.dot import dot_text

    sheet = subject.picture(_without_paper(options))
    return dot_text(sheet.scene, sheet.paint, sheet.caption)


def _render_html(subject: DrawableGraph, options: PictureOptions) -> bytes:
    from graphviz_tb.page import html

    return html(cast("BaseModel", subject), _without_paper(options))


def _render_json(subject: DrawableGraph, options: PictureOptions) -> bytes:
    """Write the whole folded graph, whatever is open."""
    return subject.document().encode_document()


def _render_model_explorer(subject: DrawableGraph, options: PictureOptions) -> bytes:
    from graphviz_tb.render.exports import model_explorer_json

    return model_explorer_json(subject.hierarchy, subject.facts, cast("BaseModel", subject).name)


def _render_mermaid(subject: DrawableGraph, options: PictureOptions) -> bytes:
    from graphviz_tb.render.exports import mermaid_text

    sheet = subject.picture(_without_paper(options))
    return mermaid_text(sheet.scene, sheet.paint)


def _no_shortfalls(subject: DrawableGraph, options: PictureOptions) -> tuple[Notice, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Renderer:
    """An output format: `render` makes the whole file, whose name ends in `suffix`.

    `uses` are the fields of `PictureOptions` that change the file. `shortfalls` returns notices of requests that the
    format cannot meet fully (a cap on pixels, letters missing from the font).
    """

    render: RenderFunction
    suffix: str
    uses: frozenset[str]
    shortfalls: ShortfallsFunction = _no_shortfalls


RENDERERS: dict[str, Renderer] = {
    "svg": Renderer(_render_from_drawing(_render_svg), ".svg", DRAWING_OPTIONS | PAPER_OPTIONS),
    "png": Renderer(
        _render_from_drawing(_render_png),
        ".png",
        DRAWING_OPTIONS | FONT_OPTIONS | PIXEL_OPTIONS | PAPER_OPTIONS,
        _render_from_drawing(import_on_call("graphviz_tb.render.png", "png_notices")),
    ),
    "pdf": Renderer(
        _render_from_drawing(import_on_call("graphviz_tb.render.pdf", "pdf_bytes")),
        ".pdf",
        DRAWING_OPTIONS | FONT_OPTIONS | PAPER_OPTIONS,
        _render_from_drawing(import_on_call("graphviz_tb.render.pdf", "pdf_notices")),
    ),
    "html": Renderer(_render_html, ".html", DRAWING_OPTIONS | {"page_max"}),
    "dot": Renderer(_render_dot, ".dot", OPENING_OPTIONS | STUB_OPTIONS | WORD_OPTIONS | {"direction"}),
    "json": Renderer(_render_json, ".json", frozenset()),
    "mermaid": Renderer(
        _render_mermaid, ".mmd", OPENING_OPTIONS | {"color_by", "theme", "direction", "stats", *LOGGED_COLOR_OPTIONS}
    ),
    "graphml": Renderer(_render_by_export("graphml_text"), ".graphml", frozenset()),
    "cytoscape": Renderer(_render_by_export("cytoscape_json"), ".cyjs", frozenset()),
    "model-explorer": Renderer(_render_model_explorer, ".modelexplorer", frozenset()),
    "node-data": Renderer(_render_by_export("node_data_json"), ".nodedata", frozenset()),
}


def find_renderer(format: str) -> Renderer:
    """Return the row of a format. Raises `UnknownChoice` for an unknown format.

    >>> find_renderer("svg").suffix
    '.svg'
    """
    require_type("format", format, str)
    check_choice("format", format, RENDERERS)
    return RENDERERS[format]


def output_format(target: str | os.PathLike[str], format: str | None = None) -> str:
    """Return the format of an output: the requested format, else that of the suffix. Standard output ("-") defaults to
    SVG.

    >>> output_format("a/b.SVG"), output_format("-", "png")
    ('svg', 'png')
    """
    require_type("target", target, str, os.PathLike)
    if not str(target):
        raise RequestError("the name of an output is empty", hint="name a file, or - for standard output")
    if format is not None:
        find_renderer(format)
        return format
    if str(target) == "-":
        return "svg"
    by_suffix = {row.suffix: word for word, row in RENDERERS.items()}
    suffix = Path(target).suffix.lower()
    if suffix not in by_suffix:
        from graphviz_tb.output.default_names import SPELLED_SUFFIXES, nearest_output  # few outputs need it

        if suffix in SPELLED_SUFFIXES:
            return SPELLED_SUFFIXES[suffix]
        what = f"output {str(target)!r} has no known suffix"
        hint = nearest_output(str(target)) or "or give --format"
        raise UnknownChoice(f"{what}; use one of {', '.join(by_suffix)}", hint=hint)
    return by_suffix[suffix]


def check_options_used(
    asked: Iterable[str], formats: Iterable[str], said: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raise for a picture option that changes none of the outputs. `said` maps options to how the user wrote them.

    >>> check_options_used(["depth"], ["json", "svg"])
    >>> try:
    ...     check_options_used(["depth"], ["json"])
    ... except RequestError as error:
    ...     print(error)
    depth changes nothing in json
    """
    words = list(dict.fromkeys(formats))
    used = {name for word in words for name in find_renderer(word).uses}
    of_pictures = {field.name for field in fields(PictureOptions)}
    for name in asked:
        if name in of_pictures - used:
            users = [word for word, row in RENDERERS.items() if name in row.uses]
            what = f"{said.get(name, name)} changes nothing in {' or '.join(words)}"
            raise RequestError(what, hint=f"it is for {', '.join(users)}")
