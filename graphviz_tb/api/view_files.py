"""Read and check view files: `tbgraph.toml`, or `[tool.tbgraph]` of a `pyproject.toml`.

open = ["encoder", "op:While"]     # groups that are open
hide = ["op:NoOp"]                 # nodes that are not drawn
aside = ["**/metrics"]             # nodes to move to the auxiliary area
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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.api.choices import validate_picture_options, with_choices
from graphviz_tb.api.finding import ModelRows
from graphviz_tb.errors import (
    MalformedText,
    MissingFacts,
    ReadError,
    RequestError,
    UnknownNode,
    nearest_names,
    require_type,
    short_repr,
)
from graphviz_tb.graphs.rows import rows_within
from graphviz_tb.limits import MAX_VIEW_FILE_BYTES, MAX_VIEW_OPENED_GROUPS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.facts import ByPattern, Facts, PatternColours, SavedView
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import path_address
from graphviz_tb.options import COLOR_BY_PATTERNS, Options
from graphviz_tb.search.language import parse_query
from graphviz_tb.search.rows import match_rows
from graphviz_tb.sources.streams import read_small_file

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel

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
    return _view_of_values(source, "view") if isinstance(source, Mapping) else read_view_file(source)


def read_view_file(path: str | os.PathLike[str]) -> SavedView:
    """Read a view file. Raises `ReadError` for invalid TOML, `RequestError` for an unknown key or illegal value."""
    path = Path(path)
    if not path.is_file():
        raise ReadError(f"no view file {str(path)!r}", hint="check the path; docs/view.md describes view files")
    values = _parse_view_toml(
        read_small_file(path, MAX_VIEW_FILE_BYTES, "docs/view.md says what a view file holds"), path.name
    )
    if path.name == PROJECT_FILE:
        tool = values.get("tool", {})
        values = tool.get("tbgraph", {}) if isinstance(tool, dict) else {}
        if not isinstance(values, dict):
            raise RequestError(f"{PROJECT_FILE}: tool.tbgraph is not a table", hint="[tool.tbgraph]")
    return _view_of_values(values, path.name)


def _parse_view_toml(data: bytes, name: str) -> dict[str, Any]:
    """Parse TOML. Raises `MalformedText` with line and column."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} is not UTF-8 at byte {error.start}", hint="save it as UTF-8") from None
    except RecursionError:
        raise ReadError(f"{name}: lists in lists too deep") from None
    except tomllib.TOMLDecodeError as error:
        placed = TOML_ERROR_PLACE.fullmatch(str(error))
        last = data.decode("utf-8").rstrip("\n").split("\n")
        line, column = (int(placed[2]), int(placed[3])) if placed and placed[2] else (len(last), len(last[-1]) + 1)
        message = placed[1] if placed else str(error)
        hint = 'TOML: a list is ["a", "b"], a text in quotes, a comment after #'
        raise MalformedText(message, line=line, column=column, name=name, hint=hint) from None


def _view_of_values(values: Mapping[str, Any], name: str) -> SavedView:
    """Return the view of parsed values. Raises `RequestError`, which names the key and the legal values.

    >>> _view_of_values({"hide": "op:NoOp", "colors": {"op:Add": "#FA0"}}, "x.toml").colors
    (('op:Add', '#FFAA00'),)
    >>> try:
    ...     _view_of_values({"colour-by": "device"}, "x.toml")
    ... except RequestError as error:
    ...     print(error)
    x.toml: no key 'colour-by'; nearest: color-by, colors
    """
    patterns: dict[str, Any] = {}
    choices: dict[str, Any] = {}
    for key, value in values.items():
        word = str(key).replace("_", "-")
        if word in PATTERN_LISTS:
            patterns[word] = _pattern_list(f"{name}: {word}", value)
        elif word in PATTERN_TABLES:
            patterns[word] = _pattern_table(f"{name}: {word}", value, word == "colors")
        elif word in VIEW_OPTIONS:
            choices[VIEW_OPTIONS[word]] = value
            _check_view_option(name, word, value)
        else:
            near = nearest_names(word, VIEW_KEYS)
            raise RequestError(
                f"{name}: no key {short_repr(str(key))}" + (f"; nearest: {', '.join(near)}" if near else ""),
                hint=f"keys: {', '.join(VIEW_KEYS)}",
            )
    if patterns.get("colors") and "color_by" not in choices:
        choices["color_by"] = COLOR_BY_PATTERNS
    return SavedView(name, **patterns, choices=tuple((key, _as_immutable(value)) for key, value in choices.items()))


def _check_view_option(name: str, word: str, value: Any) -> None:
    """Raise `RequestError` for a value that the option does not take."""
    try:
        validate_picture_options(with_choices(Options(), {VIEW_OPTIONS[word]: value}).picture)
    except RequestError as error:
        message = error.message.replace(f"{VIEW_OPTIONS[word]} is ", f"{word} is ", 1)
        raise RequestError(f"{name}: {message}", hint=error.hint) from None


def _as_immutable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _pattern_list(where: str, value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(text, str) and text for text in listed):
        raise RequestError(
            f"{where} is {short_repr(value)}; it takes a list of patterns", hint='["encoder", "op:Cast"]'
        )
    return tuple(listed)


def _pattern_table(where: str, value: Any, colours: bool) -> ByPattern:
    """Return a table of texts or colours by pattern as pairs."""
    example = '"op:Conv2D" = "orange"' if colours else '"encoder" = "Text encoder"'
    if not isinstance(value, Mapping):
        raise RequestError(f"{where} is {short_repr(value)}; it takes a table", hint=f"[{where.split()[-1]}] {example}")
    for pattern, text in value.items():
        if not isinstance(pattern, str) or not pattern or not isinstance(text, str) or not text.strip():
            raise RequestError(f"{where}: {short_repr(pattern)} is {short_repr(text)}; it takes a text", hint=example)
    return tuple(
        (pattern, _parse_colour(f"{where}: {short_repr(pattern)}", text) if colours else text)
        for pattern, text in value.items()
    )


def _parse_colour(where: str, text: str) -> str:
    """Return a colour as `#RRGGBB`.

    >>> _parse_colour("x", "#fA0"), _parse_colour("x", "Orange")
    ('#FFAA00', '#E69F00')
    """
    if text.lower() in COLOURS_BY_NAME:
        return COLOURS_BY_NAME[text.lower()]
    if HEX_COLOUR.fullmatch(text) is None:
        known = ", ".join(name for name in COLOURS_BY_NAME if name != "grey")
        raise RequestError(f"{where} is {short_repr(text)}, which is not a colour", hint=f"#RRGGBB, or one of: {known}")
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
        view = replace(view, hide=_pattern_list("hide", said["hide"]))
    return replace(view, choices=choices)


# Apply a view file to a model: resolve patterns to rows, then hide, set aside, open, colour and title these.


class AppliedView:
    """The parts of a model after a view was applied: hierarchy with titles, facts with colours, options with open and
    extracted groups, hidden rows, and patterns that match nothing."""

    def __init__(self, model: BaseModel, view: SavedView) -> None:
        self.model, self.view = model, view
        self.unknown: list[str] = []
        self.rows = ModelRows(model, functions=True)
        hierarchy = model.hierarchy
        self.hidden = _mark_hidden_rows(
            hierarchy, [row for pattern in view.hide for row in self.matching_rows("hide", pattern)]
        )
        self.hierarchy = _with_titles(hierarchy, self.title_texts(view.titles))
        self.facts = _with_painted_rows(
            model.facts, hierarchy, view.colors, [self.matching_rows("colors", key) for key, _ in view.colors]
        )
        self.options = self._view_options()

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return notices of the view's name, the hidden ops, and patterns that match nothing."""
        named = self.view.source
        said = [Notice("view", f"the view of {named} (--no-view leaves it out)", strict=False)] if named else []
        if self.hidden.any():
            said.append(Notice("hidden", f"{_describe_hidden(self.model.hierarchy, self.hidden)} hidden", strict=False))
        if self.unknown:
            text = f"{named or 'view'}: nothing in this graph is {', '.join(self.unknown[:3])}"
            said.append(Notice("view-pattern", text, strict=False))
        return tuple(said)

    def matching_rows(self, key: str, pattern: str) -> Sequence[int]:
        """Return the rows of a pattern: rows with that name, else the matches of a query."""
        try:
            rows = list(dict.fromkeys(path[-1] for path in self.model.names.find_paths(pattern)))
        except UnknownNode:
            rows = self.query_rows(key, pattern)
        if not rows:
            self.unknown.append(f"{key} {pattern!r}")
        return rows

    def query_rows(self, key: str, pattern: str) -> list[int]:
        """Return the matches of a query; none if it compares a quantity that was not measured."""
        try:
            marked = match_rows(self.rows, parse_query(pattern))
        except MissingFacts:
            return []
        except RequestError as error:
            raise RequestError(f"{self.view.source}: {key}: {pattern!r}: {error.message}", hint=error.hint) from None
        return [row for row in np.flatnonzero(marked).tolist() if row]

    def title_texts(self, titles: ByPattern) -> dict[int, str]:
        """Return the title of each row that a pattern matches."""
        return {row: text for pattern, text in titles for row in self.matching_rows("titles", pattern)}

    def _view_options(self) -> Options:
        options, hierarchy = self.model.options, self.model.hierarchy
        end = int(hierarchy.end[0])

        def names_matching(key: str, patterns: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
            rows = [row for pattern in patterns for row in self.matching_rows(key, pattern) if row < end]
            return tuple(dict.fromkeys((*before, *(hierarchy.name[row] for row in rows))))

        opened = dict.fromkeys(address for pattern in self.view.open for address in self.opened_addresses(pattern))
        aux = names_matching("aside", self.view.aside, options.expand.aux)
        expand = replace(options.expand, aux=aux, main=names_matching("main", self.view.main, options.expand.main))
        return replace(options, expand=expand, picture=replace(options.picture, open=(*options.picture.open, *opened)))

    def opened_addresses(self, pattern: str) -> Iterable[str]:
        """Return the addresses that a pattern opens: the name itself, else a limited number of matches."""
        try:
            self.model.names.find_paths(pattern)
        except UnknownNode:
            hierarchy = self.model.hierarchy
            rows = [row for row in self.matching_rows("open", pattern) if row < int(hierarchy.end[0])]
            return [path_address(hierarchy, (row,)) for row in rows[:MAX_VIEW_OPENED_GROUPS]]
        return [pattern]


def _mark_hidden_rows(hierarchy: Hierarchy, rows: Sequence[int]) -> Bools:
    """Mark rows, everything below them, and groups left empty; never a whole graph or function."""
    marked = rows_within(hierarchy, rows)
    if not marked.any():
        return marked
    left = np.zeros(len(hierarchy), np.int64)  # number of visible children
    parent = hierarchy.parent
    for row in range(len(hierarchy) - 1, 0, -1):
        around = int(parent[row])
        gone = marked[row] or (hierarchy.can_open(row) and row not in hierarchy.calls and not left[row])
        marked[row] = gone and around >= 0
        if around >= 0 and not marked[row]:
            left[around] += 1
    marked[0] = False
    return marked


def _describe_hidden(hierarchy: Hierarchy, rows: Bools) -> str:
    """Return "3 ops and 2 constants, …" for some rows, counted as the boxes of groups do."""
    ops = int(np.count_nonzero(hierarchy.is_ordinary_op & rows))
    marks = int(np.count_nonzero((hierarchy.node >= 0) & rows)) - ops
    said = [format_counted_noun(ops, "op")] if ops else []
    said += (
        [format_counted_noun(marks, "constant, weight or summary", "constants, weights and summaries")] if marks else []
    )
    return " and ".join(said) or "nothing"


def _with_titles(hierarchy: Hierarchy, titles: dict[int, str]) -> Hierarchy:
    """Return the hierarchy with other labels for some rows."""
    short = {row: label for row, label in hierarchy.short.items() if row not in titles}
    return replace(hierarchy, labels={**hierarchy.labels, **titles}, short=short) if titles else hierarchy


def _with_painted_rows(facts: Facts, hierarchy: Hierarchy, colors: ByPattern, meant: Sequence[Sequence[int]]) -> Facts:
    """Return the facts with a colour for every op that matches a pattern or is in a matching group."""
    if not colors:
        return facts
    category = np.full(len(hierarchy), -1, np.int32)
    for number, rows in enumerate(meant):
        for row in rows:
            category[row : hierarchy.end[row]] = number
    category.setflags(write=False)
    names, tones = zip(*colors, strict=True)
    return replace(facts, painted=PatternColours(category, names, tones))
