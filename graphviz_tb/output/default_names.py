"""Default names of outputs, and the protection of a user's files from being overwritten by them.

An output of this program is recognised by a mark in its content. A file without a mark is overwritten only if `-o`
names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from graphviz_tb.caches import compile_on_use
from graphviz_tb.errors import CannotWrite
from graphviz_tb.model.sources import URL_SEPARATOR
from graphviz_tb.render.svg import FONT_STACK

HEAD_BYTES, TAIL_BYTES = 300_000, 100_000  # parts of a file that are searched for a mark; the style of a page is long
# Position and mark of each format: SVG, PNG, PDF, pages, DOT, JSON and Cytoscape.
OUTPUT_MARKS = (
    ("start", f'font-family="{FONT_STACK}">\n<title>'.encode()),
    ("start", b"tEXtSoftware\0tbgraph"),
    ("end", b"/Producer(tbgraph)"),
    ("start", b'"format":"tbgraph page"'),
    ("start", b"digraph tbgraph {"),
    ("start", b'{"format": "tbgraph'),
    ("start", b'{"data":{"name":"tbgraph"}'),
)
MODEL_SUFFIX = compile_on_use(
    r"(\.(pb|pbtxt|prototxt|graphdef|keras|json|h5|hdf5|meta|tflite|onnx|pt2|pt|savedmodel|txt))?(\.gz)?$",
    re.IGNORECASE,
)
SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt")


def default_output(source: str, suffix: str) -> str:
    """Return the default name of an output: that of the model, in the current folder.

    >>> default_output("models/conv.pb.gz", ".svg"), default_output("logs/run_1/", ".html"), default_output("-", ".svg")
    ('conv.svg', 'run_1.html', 'graph.svg')
    """
    path = Path(source.partition("?")[0].rstrip("/") if URL_SEPARATOR in source else source)
    if path.name in SAVED_MODEL_NAMES and path.parent.name:
        path = path.parent  # the folder has its own name
    name = path.name if path.name not in ("", ".", "..") else Path(os.path.realpath(path)).name
    bare = MODEL_SUFFIX.sub("", name, count=1).lstrip(".") if source != "-" else ""
    return f"{bare or 'graph'}{suffix}"


def _is_own_output(path: Path) -> bool:
    """Return whether this program wrote the file at `path`, judging by its content; an empty file counts as ours."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        head = stream.read(HEAD_BYTES)
        stream.seek(max(0, size - TAIL_BYTES))
        parts = {"start": head, "end": stream.read()}
    return not size or any(mark in parts[place] for place, mark in OUTPUT_MARKS)


def keep_foreign_files(targets: Iterable[str]) -> None:
    """Refuse to write over files that this program did not write. Raises `CannotWrite` before anything is done."""
    for target in targets:
        path = Path(target)
        with suppress(OSError, ValueError):  # an impossible name, which is refused when it is written
            if path.is_file() and not _is_own_output(path):
                raise CannotWrite(
                    f"{target!r} is there already, and tbgraph did not write it",
                    hint=f"-o {target} writes over it; -o NAME writes elsewhere",
                )


# Other spellings of suffixes → their format.
SPELLED_SUFFIXES: dict[str, str] = {
    ".gv": "dot",
    ".htm": "html",
    ".mermaid": "mermaid",
}
_PIXELS = "pixels are written as PNG: -o {stem}.png"
_VECTORS = "vectors are written as PDF or SVG: -o {stem}.pdf"
_GRAPHS = "graphs for other programs are .graphml, .cyjs, .dot and .json: -o {stem}.graphml"
_TABLES = "points of a log are written by `tbgraph scalars LOGDIR -o {stem}.csv`"
_MODELS = "tbgraph reads models and writes pictures of them: -o {stem}.svg"
_WORDS = "`tbgraph tree MODEL` and `tbgraph info MODEL` say it in words"
NEAR_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".ico", ".heic"), _PIXELS),
    **dict.fromkeys((".eps", ".ps", ".emf", ".wmf", ".svgz", ".tex", ".tikz", ".ai", ".drawio"), _VECTORS),
    **dict.fromkeys((".gml", ".gexf", ".graphson", ".yaml", ".yml", ".xml", ".gpickle"), _GRAPHS),
    **dict.fromkeys((".pb", ".pbtxt", ".keras", ".h5", ".onnx", ".tflite", ".pt", ".pth", ".pt2", ".ckpt"), _MODELS),
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".parquet"), _TABLES),
    **dict.fromkeys((".txt", ".log", ".rst", ".docx", ".pptx"), _WORDS),
    ".md": "a flowchart for Markdown is Mermaid: -o {stem}.mmd",
}


def nearest_output(target: str) -> str | None:
    """Return a hint about what to write instead of an output with an unknown suffix; None if nothing is similar.

    >>> nearest_output("figs/net.jpg"), nearest_output("net.xyz")
    ('pixels are written as PNG: -o figs/net.png', None)
    """
    stem, dot, suffix = target.rpartition(".")
    near = NEAR_SUFFIXES.get(dot + suffix.lower())
    return None if near is None else near.format(stem=stem or "graph")
