"""Output formats of graphs. A format is one row of `RENDERERS` and one file in `render/`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, cast

from graphviz_tb.errors import RequestError, UnknownChoice, demand
from graphviz_tb.model.drawing import Drawing
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.subject import Subject
from graphviz_tb.options import OF_LOGS, PictureOptions

if TYPE_CHECKING:
    from graphviz_tb.openable import OpenableModel

Product = TypeVar("Product")
Render = Callable[[Subject, PictureOptions], bytes]
Shortfalls = Callable[[Subject, PictureOptions], tuple[Notice, ...]]

# Options by effect; each format lists those that change its bytes.
OPENING = frozenset({"open", "depth", "open_all", "all_members", "max_open"})
STUBS = frozenset({"max_annotations"})
WORDS = frozenset({"title", "stats", "color_by", "theme", *OF_LOGS})
LOOKS = OPENING | STUBS | WORDS | {"engine", "wrap", "direction", "legend", "select"}
FONTS = frozenset({"font_files"})
PIXELS = frozenset({"scale", "width"})


def of_drawing(make: Callable[[Drawing, PictureOptions], Product]) -> Callable[[Subject, PictureOptions], Product]:
    """Adapt a function of the finished drawing to the signature of a renderer."""
    return lambda subject, options: make(subject.picture(options).drawing, options)


def as_svg(drawing: Drawing, options: PictureOptions) -> bytes:
    """Render the sheet as SVG. Here and below, a format's module is imported when it is first used."""
    from graphviz_tb.render.svg import svg

    return svg(drawing)


def as_png(drawing: Drawing, options: PictureOptions) -> bytes:
    """Render the sheet as pixels."""
    from graphviz_tb.render.png import png

    return png(drawing, options)


def png_shortfalls(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return notices of requests that a PNG cannot meet."""
    from graphviz_tb.render.png import notices

    return notices(drawing, options)


def as_pdf(drawing: Drawing, options: PictureOptions) -> bytes:
    """Render the sheet as a one-page PDF."""
    from graphviz_tb.render.pdf import pdf

    return pdf(drawing, options)


def pdf_shortfalls(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return notices of requests that a PDF cannot meet."""
    from graphviz_tb.render.pdf import notices

    return notices(drawing, options)


def as_dot(subject: Subject, options: PictureOptions) -> bytes:
    """Write the picture in DOT, for Graphviz to lay out."""
    from graphviz_tb.render.dot import dot

    sheet = subject.picture(options)
    return dot(sheet.scene, sheet.paint, sheet.caption)


def as_html(subject: Subject, options: PictureOptions) -> bytes:
    """Write the interactive page."""
    from graphviz_tb.page import html

    return html(cast("OpenableModel", subject), options)


def as_json(subject: Subject, options: PictureOptions) -> bytes:
    """Write the whole folded graph, whatever is open."""
    return subject.document().encode()


def as_graphml(subject: Subject, options: PictureOptions) -> bytes:
    """Write the ops and edges of the main graph."""
    from graphviz_tb.render.graphml import graphml

    return graphml(subject.hierarchy, subject.facts)


def as_cytoscape(subject: Subject, options: PictureOptions) -> bytes:
    """Write ops, groups and edges of the main graph."""
    from graphviz_tb.render.cytoscape import cytoscape

    return cytoscape(subject.hierarchy, subject.facts)


def as_model_explorer(subject: Subject, options: PictureOptions) -> bytes:
    """Write the main graph for Model Explorer."""
    from graphviz_tb.render.model_explorer import model_explorer

    return model_explorer(subject.hierarchy, subject.facts, cast("OpenableModel", subject).name)


def as_node_data(subject: Subject, options: PictureOptions) -> bytes:
    """Write the user's facts as node data for Model Explorer."""
    from graphviz_tb.render.model_explorer import node_data

    return node_data(subject.hierarchy, subject.facts)


def as_mermaid(subject: Subject, options: PictureOptions) -> bytes:
    """Write the picture as a Mermaid flowchart."""
    from graphviz_tb.render.mermaid import mermaid

    sheet = subject.picture(options)
    return mermaid(sheet.scene, sheet.paint)


def nothing(subject: Subject, options: PictureOptions) -> tuple[Notice, ...]:
    """Return no notices."""
    return ()


@dataclass(frozen=True, slots=True)
class Renderer:
    """An output format: `render` makes the whole file, whose name ends in `suffix`.

    `uses` are the fields of `PictureOptions` that change the file. `shortfalls` returns notices of requests that the
    format cannot meet fully (a cap on pixels, letters missing from the font).
    """

    render: Render
    suffix: str
    uses: frozenset[str]
    shortfalls: Shortfalls = nothing


RENDERERS: dict[str, Renderer] = {
    "svg": Renderer(of_drawing(as_svg), ".svg", LOOKS),
    "png": Renderer(of_drawing(as_png), ".png", LOOKS | FONTS | PIXELS, of_drawing(png_shortfalls)),
    "pdf": Renderer(of_drawing(as_pdf), ".pdf", LOOKS | FONTS, of_drawing(pdf_shortfalls)),
    "html": Renderer(as_html, ".html", LOOKS | {"page_max"}),
    "dot": Renderer(as_dot, ".dot", OPENING | STUBS | WORDS | {"direction"}),
    "json": Renderer(as_json, ".json", frozenset()),
    "mermaid": Renderer(as_mermaid, ".mmd", OPENING | {"color_by", "theme", "direction", "stats", *OF_LOGS}),
    "graphml": Renderer(as_graphml, ".graphml", frozenset()),
    "cytoscape": Renderer(as_cytoscape, ".cyjs", frozenset()),
    "model-explorer": Renderer(as_model_explorer, ".modelexplorer", frozenset()),
    "node-data": Renderer(as_node_data, ".nodedata", frozenset()),
}


def renderer(format: str) -> Renderer:
    """Return the row of a format. Raises `UnknownChoice` for an unknown format.

    >>> renderer("svg").suffix
    '.svg'
    """
    demand("format", format, str)
    if format not in RENDERERS:
        raise UnknownChoice.among("format", format, RENDERERS)
    return RENDERERS[format]


def format_of(target: str | os.PathLike[str], format: str | None = None) -> str:
    """Return the format of an output: the one asked for, else by suffix. Standard output ("-") defaults to SVG.

    >>> format_of("a/b.SVG"), format_of("-", "png")
    ('svg', 'png')
    """
    demand("target", target, str, os.PathLike)
    if not str(target):
        raise RequestError("the name of an output is empty", hint="name a file, or - for standard output")
    if format is not None:
        renderer(format)
        return format
    if str(target) == "-":
        return "svg"
    by_suffix = {row.suffix: word for word, row in RENDERERS.items()}
    suffix = Path(target).suffix.lower()
    if suffix not in by_suffix:
        what = f"output {str(target)!r} has no suffix that says its format"
        raise UnknownChoice(f"{what}; use one of {', '.join(by_suffix)}", hint="or say --format")
    return by_suffix[suffix]


def check_used(asked: Iterable[str], formats: Iterable[str], said: Mapping[str, str] = MappingProxyType({})) -> None:
    """Raise for a picture option that changes none of the outputs. `said` maps options to how the user wrote them.

    >>> check_used(["depth"], ["json", "svg"])
    >>> check_used(["depth"], ["json"])
    Traceback (most recent call last):
    graphviz_tb.errors.RequestError: depth changes nothing in json
    """
    words = list(dict.fromkeys(formats))
    used = {name for word in words for name in renderer(word).uses}
    of_pictures = {field.name for field in fields(PictureOptions)}
    for name in asked:
        if name in of_pictures - used:
            users = [word for word, row in RENDERERS.items() if name in row.uses]
            what = f"{said.get(name, name)} changes nothing in {' or '.join(words)}"
            raise RequestError(what, hint=f"it is for {', '.join(users)}")
