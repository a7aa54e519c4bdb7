"""Read and check view files: `tbgraph.toml`, or `[tool.tbgraph]` of a `pyproject.toml`.

open = ["encoder", "op:While"]     # groups that are open
hide = ["op:NoOp"]                 # what is not drawn
aside = ["**/metrics"]             # what is in the auxiliary area
color-by = "device"                # and other options, named as on the command line

[colors]
"op:Conv2D" = "orange"

[titles]
"encoder" = "Text encoder"
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphviz_tb.choices import check_picture, with_choices
from graphviz_tb.errors import MalformedText, ReadError, RequestError, demand, nearest, spoken
from graphviz_tb.limits import VIEW_FILE_BYTES
from graphviz_tb.model.saved_view import ByPattern, SavedView
from graphviz_tb.options import PATTERNS, Options
from graphviz_tb.read.inputs import bounded

PROJECT = "pyproject.toml"
LISTS = ("open", "aside", "main", "hide")  # lists of patterns
TABLES = ("colors", "titles")
# Options that a view file may set: name on the command line → Python name.
CHOICES = {
    "group": "group", "ungroup": "ungroup", "series-min": "series_min", "depth": "depth", "all-members": "all_members",
    "color-by": "color_by", "direction": "direction", "theme": "theme", "title": "title", "legend": "legend",
    "engine": "engine", "wrap": "wrap", "select": "select",
}  # fmt: skip
KEYS = (*LISTS, *CHOICES, *TABLES)
# Colours by name: the palette of Okabe and Ito, distinguishable for colour-blind readers, and greys.
NAMED = {
    "orange": "#E69F00", "sky": "#56B4E9", "green": "#009E73", "yellow": "#F0E442", "blue": "#0072B2",
    "red": "#D55E00", "pink": "#CC79A7", "gray": "#999999", "grey": "#999999", "black": "#000000", "white": "#FFFFFF",
}  # fmt: skip
HEX = re.compile(r"#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
OPENING = ("open", "depth", "open_all")  # options that choose the open groups


def view_of(source: Any) -> SavedView | None:
    """Return the view given by a file's path, by a dict of its values, or by a `SavedView`; None for None."""
    demand("view", source, str, os.PathLike, Mapping, SavedView, type(None))
    if source is None or isinstance(source, SavedView):
        return source
    return checked(source, "view") if isinstance(source, Mapping) else read_view(source)


def read_view(path: str | os.PathLike[str]) -> SavedView:
    """Read a view file. Raises `ReadError` for invalid TOML, `RequestError` for an unknown key or illegal value."""
    path = Path(path)
    if not path.is_file():
        raise ReadError(f"no view file {str(path)!r}", hint="write one: docs/view.md says what it may hold")
    values = parsed(bounded(path, VIEW_FILE_BYTES, "docs/view.md says what a view file holds"), path.name)
    if path.name == PROJECT:
        tool = values.get("tool", {})
        values = tool.get("tbgraph", {}) if isinstance(tool, dict) else {}
        if not isinstance(values, dict):
            raise RequestError(f"{PROJECT}: tool.tbgraph is no table", hint="[tool.tbgraph]")
    return checked(values, path.name)


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """Parse TOML. Raises `MalformedText` with line and column."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} is not UTF-8 at byte {error.start}", hint="save it as UTF-8") from None
    except RecursionError:
        raise ReadError(f"{name}: lists in lists too deep") from None
    except tomllib.TOMLDecodeError as error:
        told = PLACE.fullmatch(str(error))
        last = data.decode("utf-8").rstrip("\n").split("\n")
        line, column = (int(told[2]), int(told[3])) if told and told[2] else (len(last), len(last[-1]) + 1)
        message = told[1] if told else str(error)
        hint = 'TOML: a list is ["a", "b"], a text in quotes, a comment after #'
        raise MalformedText(message, line=line, column=column, name=name, hint=hint) from None


def checked(values: Mapping[str, Any], name: str) -> SavedView:
    """Return the view of parsed values. Raises `RequestError`, which names the key and says what it takes.

    >>> checked({"hide": "op:NoOp", "colors": {"op:Add": "#FA0"}}, "x.toml").colors
    (('op:Add', '#FFAA00'),)
    >>> checked({"colour-by": "device"}, "x.toml")
    Traceback (most recent call last):
    graphviz_tb.errors.RequestError: x.toml: no key 'colour-by'; nearest: color-by, colors
    """
    said: dict[str, Any] = {}
    choices: dict[str, Any] = {}
    for key, value in values.items():
        word = str(key).replace("_", "-")
        if word in LISTS:
            said[word] = patterns(f"{name}: {word}", value)
        elif word in TABLES:
            said[word] = table(f"{name}: {word}", value, word == "colors")
        elif word in CHOICES:
            choices[CHOICES[word]] = value
            choice(name, word, value)
        else:
            near = nearest(word, KEYS)
            raise RequestError(
                f"{name}: no key {spoken(str(key))}" + (f"; nearest: {', '.join(near)}" if near else ""),
                hint=f"keys: {', '.join(KEYS)}",
            )
    if said.get("colors") and "color_by" not in choices:
        choices["color_by"] = PATTERNS
    return SavedView(name, **said, choices=tuple((key, frozen(value)) for key, value in choices.items()))


def choice(name: str, word: str, value: Any) -> None:
    """Raise `RequestError` for a value that the option does not take."""
    try:
        check_picture(with_choices(Options(), {CHOICES[word]: value}).picture)
    except RequestError as error:
        message = error.message.replace(f"{CHOICES[word]} is ", f"{word} is ", 1)
        raise RequestError(f"{name}: {message}", hint=error.hint) from None


def frozen(value: Any) -> Any:
    """Return an immutable value: a list as a tuple."""
    return tuple(value) if isinstance(value, list) else value


def patterns(where: str, value: Any) -> tuple[str, ...]:
    """Return a pattern, or a list of them, as a tuple."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) and each for each in listed):
        raise RequestError(f"{where} is {spoken(value)}; it takes a list of patterns", hint='["encoder", "op:Cast"]')
    return tuple(listed)


def table(where: str, value: Any, colours: bool) -> ByPattern:
    """Return a table of texts or colours by pattern as pairs."""
    example = '"op:Conv2D" = "orange"' if colours else '"encoder" = "Text encoder"'
    if not isinstance(value, Mapping):
        raise RequestError(f"{where} is {spoken(value)}; it takes a table", hint=f"[{where.split()[-1]}] {example}")
    for pattern, text in value.items():
        if not isinstance(pattern, str) or not pattern or not isinstance(text, str) or not text.strip():
            raise RequestError(f"{where}: {spoken(pattern)} is {spoken(text)}; it takes a text", hint=example)
    return tuple(
        (pattern, colour(f"{where}: {spoken(pattern)}", text) if colours else text) for pattern, text in value.items()
    )


def colour(where: str, text: str) -> str:
    """Return a colour as `#RRGGBB`.

    >>> colour("x", "#fA0"), colour("x", "Orange")
    ('#FFAA00', '#E69F00')
    """
    if text.lower() in NAMED:
        return NAMED[text.lower()]
    if HEX.fullmatch(text) is None:
        known = ", ".join(name for name in NAMED if name != "grey")
        raise RequestError(f"{where} is {spoken(text)}, which is no colour", hint=f"#RRGGBB, or one of: {known}")
    digits = text[1:] if len(text) == 7 else "".join(digit * 2 for digit in text[1:])
    return f"#{digits.upper()}"


def values_of(view: SavedView) -> dict[str, Any]:
    """Return the non-empty keys of a view file for this view, except which groups are open."""
    options = {key: value for key, value in CHOICES.items() if key not in ("depth", "color-by")}
    said = dict(view.choices)
    kept: dict[str, Any] = {key: list(getattr(view, key)) for key in LISTS if key != "open"}
    kept |= {key: said[name] for key, name in options.items() if name in said}
    kept |= {key: dict(getattr(view, key)) for key in TABLES}
    return {key: value for key, value in kept.items() if value not in ([], {}, ())}


def without(view: SavedView, said: Mapping[str, Any]) -> SavedView:
    """Return the view without what the options in `said` override.

    Any option that opens groups overrides all keys of the view that do.
    """
    choices = tuple((name, value) for name, value in view.choices if name not in said)
    if any(name in said for name in OPENING):
        choices = tuple(pair for pair in choices if pair[0] not in OPENING)
        view = replace(view, open=())
    if "aux" in said:
        view = replace(view, aside=())
    if "main" in said:
        view = replace(view, main=())
    if "hide" in said:
        view = replace(view, hide=patterns("hide", said["hide"]))
    return replace(view, choices=choices)
