"""Write the page: one file with its data, script and style, which makes no network requests.

The content security policy allows only the script and the style with the right hash, and forbids all loading.
"""

from __future__ import annotations

import json
import posixpath
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Protocol

from graphviz_tb.render.svg import escape_text

LAYOUT_MODULES = ("keyed.js", "python.js", "words.js", "place.js")  # in a separate scope, because of their many names
GRAPH_ENTRY = "start_graph.js"  # of a page with its data
LOG_ENTRY = "logs/start_file.js"  # of a page with its data and a log
SERVER_ENTRY = "served/start_server.js"  # of the page of a server; only this entry requests data
LAYOUT_EXPORTS = "...exported, width: hand_text_width, setAdvances, TupleMap"


class PageBlock(Protocol):
    """A block of data."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def base64_text(self) -> str: ...
    @property
    def digest(self) -> str: ...


def page_bytes(head: Mapping[str, Any], blocks: Iterable[PageBlock], title: str = "tbgraph") -> bytes:
    """Return the page as UTF-8 bytes."""
    logs = bool(head.get("log"))
    code, look = joined_script(LOG_ENTRY if logs else GRAPH_ENTRY), style_sheet(logs)
    held = "\n".join(
        f'<script type="text/plain" data-block="{block.name}" data-kind="{block.kind}" data-digest="{block.digest}">'
        f"{block.base64_text}</script>"
        for block in blocks
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_content_policy(code, look)}">\n'
    return _fill_page(meta, title, f"<style>{look}</style>", _script_safe_json(head), held, f"<script>{code}</script>")


def served_page(title: str, code: str, look: str) -> bytes:
    """Return the page of a server, without data, which the script at the address `code` requests. `look` is the address
    of the style."""
    head = _script_safe_json({"server": True, "title": title})
    sheet = f'<link rel="stylesheet" href="{look}">'
    return _fill_page("", title, sheet, head, "", f'<script src="{code}"></script>')


def _fill_page(meta: str, title: str, look: str, head: str, held: str, code: str) -> bytes:
    """Return the page with its parts, all of which are markup except the title."""
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
    """Replace each placeholder of a template once; inserted text is not searched again.

    >>> _fill_template("a {{x}} b {{y}}", {"{{x}}": "{{y}}", "{{y}}": "1"})
    'a {{y}} b 1'
    """
    pieces = []
    for mark, part in parts.items():
        before, _, shell = shell.partition(mark)  # placeholders have the order of the template
        pieces += [before, part]
    return "".join([*pieces, shell])


def _script_safe_json(value: Any) -> str:
    """Return JSON for a script element, in which nothing ends the element or begins a comment.

    >>> _script_safe_json("</script><!--é")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--\\\\u00e9"'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def joined_script(entry: str = GRAPH_ENTRY) -> str:
    """Return the layout and the modules of an entry as one script, in two scopes."""
    rest = "\n".join(map(viewer_source, modules_of(entry)))
    return f'"use strict";\n(() => {{\n{_layout_script()}{rest}\n}})();\n'


def _layout_script() -> str:
    """Return the script that defines `layout`, the code translated from Python."""
    inside = "\n".join(map(viewer_source, LAYOUT_MODULES))
    return f"const layout = (() => {{\n{inside}\nreturn {{ {LAYOUT_EXPORTS} }};\n}})();\n"


def style_sheet(logs: bool = False) -> str:
    return viewer_source("style.css") + (viewer_source("logs/style.css") if logs else "")


def _content_policy(code: str, look: str) -> str:
    """Return the policy, which allows this script, this style and pictures that the page makes, but no loading."""
    return (
        f"default-src 'none'; script-src 'sha256-{_content_hash(code)}'; style-src 'sha256-{_content_hash(look)}'; "
        "img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
    )


def _content_hash(text: str) -> str:
    """Return the hash by which a browser identifies an inline script or style."""
    return b64encode(sha256(text.encode()).digest()).decode("ascii")


# The modules of the viewer, joined into one script.
#
# Each is an ES module that says with `import` what it needs. A page is given its entry and all that the entry needs, in
# the order in which a browser would run them, as one script without `import` and `export`.

# Of a text that begins with a new line: a literal beginning is found ten times as fast as the beginning of a line.
_IMPORT = re.compile(r'\nimport (?:\{[^}\n]*\} from )?"([^"\n]+)";(?=\n)')


def viewer_source(name: str) -> str:
    """Return a file of the viewer as part of a joined script, without `import` and `export`."""
    return _IMPORT.sub("", _viewer_text(name)).replace("\nexport ", "\n")[1:]


@cache
def modules_of(entry: str) -> tuple[str, ...]:
    """Return the modules that an entry needs, each after its imports, with the entry at the end.

    If modules import each other in a cycle, the module that is reached first comes last, as in a browser.
    """
    order: list[str] = []
    seen = {entry}
    path = [(entry, iter(_imported_modules(entry)))]
    while path:
        module, rest = path[-1]
        needed = next((name for name in rest if name not in seen), None)
        if needed is None:
            order.append(module)
            path.pop()
        else:
            seen.add(needed)
            path.append((needed, iter(_imported_modules(needed))))
    return tuple(order)


def _imported_modules(name: str) -> list[str]:
    """Return the modules that a module imports, by their paths in the viewer's folder."""
    folder = posixpath.dirname(name)
    return [posixpath.normpath(posixpath.join(folder, found)) for found in _IMPORT.findall(_viewer_text(name))]


@cache
def _viewer_text(name: str) -> str:
    """Return the text of a file of the viewer, after a newline for `_IMPORT`."""
    return "\n" + (files("graphviz_tb") / "viewer" / name).read_text(encoding="utf-8")
