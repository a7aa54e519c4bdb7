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

from graphviz_tb.choices import validate_picture_options, with_choices
from graphviz_tb.errors import MalformedText, ReadError, RequestError, nearest_names, require_type, short_repr
from graphviz_tb.limits import MAX_VIEW_FILE_BYTES
from graphviz_tb.model.saved_view import ByPattern, SavedView
from graphviz_tb.options import COLOR_BY_PATTERNS, Options
from graphviz_tb.read.inputs import read_small_file

PROJECT_FILE = "pyproject.toml"
PATTERN_LISTS = ("open", "aside", "main", "hide")  # lists of patterns
PATTERN_TABLES = ("colors", "titles")
# Options that a view file may set: name on the command line → Python name.
VIEW_OPTIONS = {
    "group": "group", "ungroup": "ungroup", "series-min": "series_min", "depth": "depth", "all-members": "all_members",
    "color-by": "color_by", "direction": "direction", "theme": "theme", "title": "title", "legend": "legend",
    "engine": "engine", "wrap": "wrap", "select": "select",
}  # fmt: skip
VIEW_KEYS = (*PATTERN_LISTS, *VIEW_OPTIONS, *PATTERN_TABLES)
# Colours by name: the palette of Okabe and Ito, distinguishable for colour-blind readers, and greys.
COLOURS_BY_NAME = {
    "orange": "#E69F00", "sky": "#56B4E9", "green": "#009E73", "yellow": "#F0E442", "blue": "#0072B2",
    "red": "#D55E00", "pink": "#CC79A7", "gray": "#999999", "grey": "#999999", "black": "#000000", "white": "#FFFFFF",
}  # fmt: skip
HEX_COLOUR = re.compile(r"#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
TOML_ERROR_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
OPENING_CHOICES = ("open", "depth", "open_all")  # options that choose the open groups


def as_saved_view(source: Any) -> SavedView | None:
    """Return the view given by a file's path, by a dict of its values, or by a `SavedView`; None for None."""
    require_type("view", source, str, os.PathLike, Mapping, SavedView, type(None))
    if source is None or isinstance(source, SavedView):
        return source
    return view_of_values(source, "view") if isinstance(source, Mapping) else read_view_file(source)


def read_view_file(path: str | os.PathLike[str]) -> SavedView:
    """Read a view file. Raises `ReadError` for invalid TOML, `RequestError` for an unknown key or illegal value."""
    path = Path(path)
    if not path.is_file():
        raise ReadError(f"no view file {str(path)!r}", hint="write one: docs/view.md says what it may hold")
    values = parse_view_toml(
        read_small_file(path, MAX_VIEW_FILE_BYTES, "docs/view.md says what a view file holds"), path.name
    )
    if path.name == PROJECT_FILE:
        tool = values.get("tool", {})
        values = tool.get("tbgraph", {}) if isinstance(tool, dict) else {}
        if not isinstance(values, dict):
            raise RequestError(f"{PROJECT_FILE}: tool.tbgraph is no table", hint="[tool.tbgraph]")
    return view_of_values(values, path.name)


def parse_view_toml(data: bytes, name: str) -> dict[str, Any]:
    """Parse TOML. Raises `MalformedText` with line and column."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} is not UTF-8 at byte {error.start}", hint="save it as UTF-8") from None
    except RecursionError:
        raise ReadError(f"{name}: lists in lists too deep") from None
    except tomllib.TOMLDecodeError as error:
        told = TOML_ERROR_PLACE.fullmatch(str(error))
        last = data.decode("utf-8").rstrip("\n").split("\n")
        line, column = (int(told[2]), int(told[3])) if told and told[2] else (len(last), len(last[-1]) + 1)
        message = told[1] if told else str(error)
        hint = 'TOML: a list is ["a", "b"], a text in quotes, a comment after #'
        raise MalformedText(message, line=line, column=column, name=name, hint=hint) from None


def view_of_values(values: Mapping[str, Any], name: str) -> SavedView:
    """Return the view of parsed values. Raises `RequestError`, which names the key and says what it takes.

    >>> view_of_values({"hide": "op:NoOp", "colors": {"op:Add": "#FA0"}}, "x.toml").colors
    (('op:Add', '#FFAA00'),)
    >>> view_of_values({"colour-by": "device"}, "x.toml")
    Traceback (most recent call last):
    graphviz_tb.errors.RequestError: x.toml: no key 'colour-by'; nearest: color-by, colors
    """
    said: dict[str, Any] = {}
    choices: dict[str, Any] = {}
    for key, value in values.items():
        word = str(key).replace("_", "-")
        if word in PATTERN_LISTS:
            said[word] = pattern_list(f"{name}: {word}", value)
        elif word in PATTERN_TABLES:
            said[word] = pattern_table(f"{name}: {word}", value, word == "colors")
        elif word in VIEW_OPTIONS:
            choices[VIEW_OPTIONS[word]] = value
            check_view_option(name, word, value)
        else:
            near = nearest_names(word, VIEW_KEYS)
            raise RequestError(
                f"{name}: no key {short_repr(str(key))}" + (f"; nearest: {', '.join(near)}" if near else ""),
                hint=f"keys: {', '.join(VIEW_KEYS)}",
            )
    if said.get("colors") and "color_by" not in choices:
        choices["color_by"] = COLOR_BY_PATTERNS
    return SavedView(name, **said, choices=tuple((key, as_immutable(value)) for key, value in choices.items()))


def check_view_option(name: str, word: str, value: Any) -> None:
    """Raise `RequestError` for a value that the option does not take."""
    try:
        validate_picture_options(with_choices(Options(), {VIEW_OPTIONS[word]: value}).picture)
    except RequestError as error:
        message = error.message.replace(f"{VIEW_OPTIONS[word]} is ", f"{word} is ", 1)
        raise RequestError(f"{name}: {message}", hint=error.hint) from None


def as_immutable(value: Any) -> Any:
    """Return an immutable value: a list as a tuple."""
    return tuple(value) if isinstance(value, list) else value


def pattern_list(where: str, value: Any) -> tuple[str, ...]:
    """Return a pattern, or a list of them, as a tuple."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) and each for each in listed):
        raise RequestError(
            f"{where} is {short_repr(value)}; it takes a list of patterns", hint='["encoder", "op:Cast"]'
        )
    return tuple(listed)


def pattern_table(where: str, value: Any, colours: bool) -> ByPattern:
    """Return a table of texts or colours by pattern as pairs."""
    example = '"op:Conv2D" = "orange"' if colours else '"encoder" = "Text encoder"'
    if not isinstance(value, Mapping):
        raise RequestError(f"{where} is {short_repr(value)}; it takes a table", hint=f"[{where.split()[-1]}] {example}")
    for pattern, text in value.items():
        if not isinstance(pattern, str) or not pattern or not isinstance(text, str) or not text.strip():
            raise RequestError(f"{where}: {short_repr(pattern)} is {short_repr(text)}; it takes a text", hint=example)
    return tuple(
        (pattern, parse_colour(f"{where}: {short_repr(pattern)}", text) if colours else text)
        for pattern, text in value.items()
    )


def parse_colour(where: str, text: str) -> str:
    """Return a colour as `#RRGGBB`.

    >>> parse_colour("x", "#fA0"), parse_colour("x", "Orange")
    ('#FFAA00', '#E69F00')
    """
    if text.lower() in COLOURS_BY_NAME:
        return COLOURS_BY_NAME[text.lower()]
    if HEX_COLOUR.fullmatch(text) is None:
        known = ", ".join(name for name in COLOURS_BY_NAME if name != "grey")
        raise RequestError(f"{where} is {short_repr(text)}, which is no colour", hint=f"#RRGGBB, or one of: {known}")
    digits = text[1:] if len(text) == 7 else "".join(digit * 2 for digit in text[1:])
    return f"#{digits.upper()}"


def view_file_values(view: SavedView) -> dict[str, Any]:
    """Return the non-empty keys of a view file for this view, except which groups are open."""
    options = {key: value for key, value in VIEW_OPTIONS.items() if key not in ("depth", "color-by")}
    said = dict(view.choices)
    kept: dict[str, Any] = {key: list(getattr(view, key)) for key in PATTERN_LISTS if key != "open"}
    kept |= {key: said[name] for key, name in options.items() if name in said}
    kept |= {key: dict(getattr(view, key)) for key in PATTERN_TABLES}
    return {key: value for key, value in kept.items() if value not in ([], {}, ())}


def without_overridden(view: SavedView, said: Mapping[str, Any]) -> SavedView:
    """Return the view without what the options in `said` override.

    Any option that opens groups overrides all keys of the view that do.
    """
    choices = tuple((name, value) for name, value in view.choices if name not in said)
    if any(name in said for name in OPENING_CHOICES):
        choices = tuple(pair for pair in choices if pair[0] not in OPENING_CHOICES)
        view = replace(view, open=())
    if "aux" in said:
        view = replace(view, aside=())
    if "main" in said:
        view = replace(view, main=())
    if "hide" in said:
        view = replace(view, hide=pattern_list("hide", said["hide"]))
    return replace(view, choices=choices)
