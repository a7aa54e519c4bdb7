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

from graphviz_tb.render.svg import escape_text

# The modules of the viewer in the order in which they are joined: definitions before uses.
LAYOUT_MODULES = ("keyed.js", "python.js", "words.js", "place.js")  # in a separate scope, because of their many names
DATA_MODULES = (
    "dom",
    "strings",
    "icons",
    "data",
    "moves",
    "reader",
    "levels",
    "views",
    "colours",
    "changes",
    "facts",
    "state",
)
PART_MODULES = (
    *("shapes", "draw", "camera", "rows_table", "card", "beside", "query", "find", "outline", "table", "minimap"),
    *("trace", "save", "view_file", "share"),
)
PAGE_MODULES = ("standing", "framed", "shown", "choosing", "acting", "app", "arrows", "keys", "begin")
VIEWER_MODULES = tuple(f"{name}.js" for name in (*DATA_MODULES, *PART_MODULES, *PAGE_MODULES))
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
FILE_MODULES = (*VIEWER_MODULES, "pristine.js", "start.js")  # for a file
FILE_LOG_MODULES = (
    *VIEWER_MODULES,
    *LOG_MODULES,
    "logs/file.js",
    "logs/bare.js",
    "pristine.js",
    "start.js",
)  # for a file with a log
SERVED_ONLY = ("served/log.js", "served/graphs.js", "logs/bare.js", "served/start.js")
# For a server; only these request data.
SERVED_MODULES = (*VIEWER_MODULES, "served/server.js", *LOG_MODULES, *SERVED_ONLY)
LAYOUT_EXPORTS = "...exported, width: hand_text_width, setAdvances, TupleMap"


class PageBlock(Protocol):
    """A block of data."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def base64_text(self) -> str: ...
    def digest(self) -> str: ...


def page_bytes(head: Mapping[str, Any], blocks: Iterable[PageBlock], title: str = "tbgraph") -> bytes:
    """Return the page as UTF-8 bytes."""
    logs = bool(head.get("log"))
    code, look = joined_script(FILE_LOG_MODULES if logs else FILE_MODULES), style_sheet(logs)
    held = "\n".join(
        f'<script type="text/plain" data-block="{block.name}" data-kind="{block.kind}" data-digest="{block.digest()}">'
        f"{block.base64_text}</script>"
        for block in blocks
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_content_policy(code, look)}">\n'
    return _fill_page(meta, title, f"<style>{look}</style>", _script_safe_json(head), held, f"<script>{code}</script>")


def served_page(title: str, code: str, look: str) -> bytes:
    """Return the page of a server, without data: the script at the address `code` requests it. `look` is the address of
    the style."""
    head = _script_safe_json({"server": True, "title": title})
    sheet = f'<link rel="stylesheet" href="{look}">'
    return _fill_page("", title, sheet, head, "", f'<script src="{code}"></script>')


def _fill_page(meta: str, title: str, look: str, head: str, held: str, code: str) -> bytes:
    """Return the page around its parts, all of them markup except for the title."""
    parts = {
        "{{policy}}": meta,
        "{{title}}": escape_text(title),
        "{{style}}": look,
        "{{head}}": head,
        "{{blocks}}": held,
        "{{script}}": code,
    }
    return _fill_template(viewer_source("index.html"), parts).encode()


def _fill_template(shell: str, parts: Mapping[str, str]) -> str:
    """Replace each mark of a template once; inserted text is not searched again.

    >>> _fill_template("a {{x}} b {{y}}", {"{{x}}": "{{y}}", "{{y}}": "1"})
    'a {{y}} b 1'
    """
    pieces = []
    for mark, part in parts.items():
        before, _, shell = shell.partition(mark)  # marks in the order of the shell
        pieces += [before, part]
    return "".join([*pieces, shell])


def _script_safe_json(value: Any) -> str:
    """Return JSON for a script element: nothing in it ends the element or begins a comment.

    >>> _script_safe_json("</script><!--é")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--\\\\u00e9"'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def joined_script(modules: Iterable[str] = FILE_MODULES) -> str:
    """Return the layout and the given modules as one script, in two scopes."""
    layout = "\n".join(map(viewer_source, LAYOUT_MODULES))
    rest = "\n".join(map(viewer_source, modules))
    return (
        f'"use strict";\n(() => {{\nconst layout = (() => {{\n{layout}\nreturn {{ {LAYOUT_EXPORTS} }};\n}})();\n'
        f"{rest}\n}})();\n"
    )


def style_sheet(logs: bool = False) -> str:
    """Return the style sheet."""
    return viewer_source("style.css") + (viewer_source("logs/style.css") if logs else "")


def viewer_source(name: str) -> str:
    """Return a file of the viewer."""
    return (files("graphviz_tb") / "viewer" / name).read_text(encoding="utf-8")


def _content_policy(code: str, look: str) -> str:
    """Return the policy: nothing is loaded; this script, this style and pictures made by the page are allowed."""
    return (
        f"default-src 'none'; script-src 'sha256-{_content_hash(code)}'; style-src 'sha256-{_content_hash(look)}'; "
        "img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
    )


def _content_hash(text: str) -> str:
    """Return the hash by which a browser identifies an inline script or style."""
    return b64encode(sha256(text.encode()).digest()).decode("ascii")
