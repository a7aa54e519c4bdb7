"""The page: one file with its data, script and style that makes no network requests.

The policy names by hash the script and the style that the browser may run, and forbids to load anything.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Protocol

from graphviz_tb.render.markup import words

# The modules of the viewer in the order in which they are joined: definitions before uses.
LAYOUT = ("keyed.js", "python.js", "words.js", "place.js")  # in a separate scope, because of their many names
DATA = ("dom", "strings", "icons", "data", "moves", "reader", "levels", "views", "colours", "changes", "facts", "state")
PARTS = (
    *("shapes", "draw", "camera", "rows_table", "card", "beside", "query", "find", "outline", "table", "minimap"),
    *("trace", "save", "view_file", "share"),
)
PAGE = ("standing", "framed", "shown", "choosing", "acting", "app", "arrows", "keys", "begin")
VIEWER = tuple(f"{name}.js" for name in (*DATA, *PARTS, *PAGE))
# The pages of a log, only for pages with a log.
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
MODULES = (*VIEWER, "pristine.js", "start.js")  # for a file
FILE_LOG_MODULES = (
    *VIEWER,
    *LOG_MODULES,
    "logs/file.js",
    "logs/bare.js",
    "pristine.js",
    "start.js",
)  # for a file with a log
SERVED_ONLY = ("served/log.js", "served/graphs.js", "logs/bare.js", "served/start.js")
# For a server; only these request data.
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
    """Return the page as UTF-8 bytes."""
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
    """Return the page of a server, without data: the script at the address `code` requests it. `look` is the address of
    the style."""
    head = safe_json({"server": True, "title": title})
    sheet = f'<link rel="stylesheet" href="{look}">'
    return shell("", title, sheet, head, "", f'<script src="{code}"></script>')


def shell(meta: str, title: str, look: str, head: str, held: str, code: str) -> bytes:
    """Return the page around its parts, all of them markup except for the title."""
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
    """Replace each mark of a template once; inserted text is not searched again.

    >>> shell_filled("a {{x}} b {{y}}", {"{{x}}": "{{y}}", "{{y}}": "1"})
    'a {{y}} b 1'
    """
    pieces = []
    for mark, part in parts.items():
        before, _, shell = shell.partition(mark)  # marks in the order of the shell
        pieces += [before, part]
    return "".join([*pieces, shell])


def safe_json(value: Any) -> str:
    """Return JSON for a script element: nothing in it ends the element or begins a comment.

    >>> safe_json("</script><!--é")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--\\\\u00e9"'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def script(modules: Iterable[str] = MODULES) -> str:
    """Return the layout and the given modules as one script, in two scopes."""
    layout = "\n".join(map(source, LAYOUT))
    rest = "\n".join(map(source, modules))
    return (
        f'"use strict";\n(() => {{\nconst layout = (() => {{\n{layout}\nreturn {{ {EXPORTS} }};\n}})();\n'
        f"{rest}\n}})();\n"
    )


def style(logs: bool = False) -> str:
    """Return the style sheet."""
    return source("style.css") + (source("logs/style.css") if logs else "")


def source(name: str) -> str:
    """Return a file of the viewer."""
    return (files("graphviz_tb") / "viewer" / name).read_text(encoding="utf-8")


def policy(code: str, look: str) -> str:
    """Return the policy: nothing is loaded; this script, this style and pictures made by the page are allowed."""
    return (
        f"default-src 'none'; script-src 'sha256-{fingerprint(code)}'; style-src 'sha256-{fingerprint(look)}'; "
        "img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
    )


def fingerprint(text: str) -> str:
    """Return the hash by which a browser identifies an inline script or style."""
    return b64encode(sha256(text.encode()).digest()).decode("ascii")
