"""Names of outputs that nobody named, and what protects the files of a user from them.

A file is known as an output of this program by its content: formats have a mark of their own, and a file without one
is never written over unless `-o` names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from graphviz_tb.errors import CannotWrite
from graphviz_tb.model.sources import URL_SEPARATOR
from graphviz_tb.render.svg import FONT_STACK

HEAD_BYTES, TAIL_BYTES = 300_000, 100_000  # in which the mark of a format is looked for; the style of a page is long
# Where the mark of a format is, and the mark: of SVG, PNG, PDF, pages, DOT, JSON and Cytoscape.
OUTPUT_MARKS = (
    ("start", f'font-family="{FONT_STACK}">\n<title>'.encode()),
    ("start", b"tEXtSoftware\0tbgraph"),
    ("end", b"/Producer(tbgraph)"),
    ("start", b'"format":"tbgraph page"'),
    ("start", b"digraph tbgraph {"),
    ("start", b'{"format": "tbgraph'),
    ("start", b'{"data":{"name":"tbgraph"}'),
)
MODEL_SUFFIX = re.compile(
    r"(\.(pb|pbtxt|prototxt|graphdef|keras|json|h5|hdf5|meta|tflite|onnx|pt2|pt|savedmodel|txt))?(\.gz)?$",
    re.IGNORECASE,
)
SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt")


def default_output(source: str, suffix: str) -> str:
    """Return the name of an output that nobody named: that of the model, in the current folder.

    >>> default_output("models/conv.pb.gz", ".svg"), default_output("logs/run_1/", ".html"), default_output("-", ".svg")
    ('conv.svg', 'run_1.html', 'graph.svg')
    """
    path = Path(source.partition("?")[0].rstrip("/") if URL_SEPARATOR in source else source)
    if path.name in SAVED_MODEL_NAMES and path.parent.name:
        path = path.parent  # the folder has a name of its own
    name = path.name if path.name not in ("", ".", "..") else Path(os.path.realpath(path)).name
    bare = MODEL_SUFFIX.sub("", name, count=1).lstrip(".") if source != "-" else ""
    return f"{bare or 'graph'}{suffix}"


def _is_own_output(path: Path) -> bool:
    """Return whether this program wrote the file at `path`, as far as its content shows; an empty one is nobody's."""
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
        with suppress(OSError, ValueError):  # a name that no file can have: it is refused where it is written
            if path.is_file() and not _is_own_output(path):
                raise CannotWrite(
                    f"{target!r} is there already, and tbgraph did not write it",
                    hint=f"-o {target} writes over it; -o NAME writes elsewhere",
                )
