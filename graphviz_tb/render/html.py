"""A page: one file with its data, its script and its style, that asks nothing of any network.

A hash names the script and the style that the browser may run, and that nothing may be loaded.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Protocol

from graphviz_tb.render.markup import words

# The modules of the viewer in the order in which they are joined: what is used comes before what uses it.
LAYOUT = ("keyed.js", "python.js", "words.js", "place.js")  # in a separate scope: their names are many
DATA = ("dom", "strings", "icons", "data", "moves", "reader", "levels", "views", "colours", "changes", "facts", "state")
PARTS = (
    *("shapes", "draw", "camera", "rows_table", "card", "beside", "query", "find", "outline", "table", "minimap"),
    *("trace", "save", "view_file", "share"),
)
PAGE = ("standing", "framed", "shown", "choosing", "acting", "app", "arrows", "keys", "begin")
VIEWER = tuple(f"{name}.js" for name in (*DATA, *PARTS, *PAGE))
# The pages of a log, which only a page that has one is given.
LOG_MODULES = tuple(
    f"logs/{name}.js"
    for name in (
        *(
            "words",
            "curves",
            "svg_pen",
            "feed",
            "runs",
            "plot",
            "chart",
            "card",
            "tag_page",
            "whole_page",
            "scalar_card",
            "scalars",
        ),
        *(
            "custom",
            "ridges",
            "bands",
            "histograms",
            "steps",
            "media",
            "markdown",
            "text",
            "pr",
            "tensors",
            "joined",
            "stepper",
            "scheme",
            "trials",
            "trial_filters",
            "hparams",
            "cloud_view",
            "cloud_paint",
            "cloud_colours",
            "cloud",
            "cloud_card",
            "projector",
            "notices",
            *("profile_words", "slices", "timeline_paint", "timeline", "op_table", "profile"),
            "logs",
            "begin",
        ),
    )
)
MODULES = (*VIEWER, "pristine.js", "start.js")  # of a file
FILE_LOG_MODULES = (
    *VIEWER,
    *LOG_MODULES,
    "logs/file.js",
    "logs/bare.js",
    "pristine.js",
    "start.js",
)  # of a file that has a log
SERVED_ONLY = ("served/log.js", "served/graphs.js", "logs/bare.js", "served/start.js")
# Of a server: this alone asks for data.
SERVED_MODULES = (*VIEWER, "served/server.js", *LOG_MODULES, *SERVED_ONLY)
EXPORTS = "...exported, width: hand_width, setAdvances, TupleMap"


class Data(Protocol):
    """A block of data."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def packed(self) -> str: ...
    def digest(self) -> str: ...


def document(head: Mapping[str, Any], blocks: Iterable[Data], title: str = "tbgraph") -> bytes:
    """The page as UTF-8 bytes."""
    logs = bool(head.get("log"))
    code, look = script(FILE_LOG_MODULES if logs else MODULES), style(logs)
    held = "\n".join(
        f'<script type="text/plain" data-block="{block.name}" data-kind="{block.kind}" data-digest="{block.digest()}">'
        f"{block.packed}</script>"
        for block in blocks
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(code, look)}">\n'
    return shell(meta, title, f"<style>{look}</style>", safe_json(head), held, f"<script>{code}</script>")


def served(title: str, code: str, look: str) -> bytes:
    """The page of a server, without data: the script at the address `code` asks for it. `look` is that of the style."""
    head = safe_json({"server": True, "title": title})
    sheet = f'<link rel="stylesheet" href="{look}">'
    return shell("", title, sheet, head, "", f'<script src="{code}"></script>')


def shell(meta: str, title: str, look: str, head: str, held: str, code: str) -> bytes:
    """The page around its parts, each of them markup but for the title."""
    parts = {
        "{{policy}}": meta,
        "{{title}}": words(title),
        "{{style}}": look,
        "{{head}}": head,
        "{{blocks}}": held,
        "{{script}}": code,
    }
    return shell_filled(source("index.html"), parts).encode()


def shell_filled(shell: str, parts: Mapping[str, str]) -> str:
    """The shell with its parts put in, each once: what is put in is not looked at again.

    >>> shell_filled("a {{x}} b {{y}}", {"{{x}}": "{{y}}", "{{y}}": "1"})
    'a {{y}} b 1'
    """
    pieces = []
    for mark, part in parts.items():
        before, _, shell = shell.partition(mark)  # marks in the order of the shell
        pieces += [before, part]
    return "".join([*pieces, shell])


def safe_json(value: Any) -> str:
    """JSON that may be in a script element: nothing in it ends the element or begins a comment.

    >>> safe_json("</script><!--é")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--\\\\u00e9"'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def script(modules: Iterable[str] = MODULES) -> str:
    """The layout and the given modules as one script, in two scopes."""
    layout = "\n".join(map(source, LAYOUT))
    rest = "\n".join(map(source, modules))
    return (
        f'"use strict";\n(() => {{\nconst layout = (() => {{\n{layout}\nreturn {{ {EXPORTS} }};\n}})();\n'
        f"{rest}\n}})();\n"
    )


def style(logs: bool = False) -> str:
    """The style sheet."""
    return source("style.css") + (source("logs/style.css") if logs else "")


def source(name: str) -> str:
    """A file of the viewer."""
    return (files("graphviz_tb") / "viewer" / name).read_text(encoding="utf-8")


def policy(code: str, look: str) -> str:
    """Nothing is loaded; this script and this style may run, and pictures that the page itself makes."""
    return (
        f"default-src 'none'; script-src 'sha256-{fingerprint(code)}'; style-src 'sha256-{fingerprint(look)}'; "
        "img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
    )


def fingerprint(text: str) -> str:
    """The hash by which a browser knows an inline script or style."""
    return b64encode(sha256(text.encode()).digest()).decode("ascii")
