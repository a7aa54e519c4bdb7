"""Apply a view file to a model: resolve patterns to rows, then hide, set aside, open, colour and title these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.api.finding import ModelRows
from graphviz_tb.errors import MissingFacts, RequestError, UnknownNode
from graphviz_tb.limits import MAX_VIEW_OPENED_GROUPS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import path_address
from graphviz_tb.model.saved_view import ByPattern, PatternColours, SavedView
from graphviz_tb.model.units import format_counted_noun
from graphviz_tb.options import Options
from graphviz_tb.search import match_rows, parse_query

if TYPE_CHECKING:
    from graphviz_tb.openable import BaseModel


class AppliedView:
    """The parts of a model after a view was applied: hierarchy with titles, facts with colours, options with open and
    extracted groups, hidden rows, and patterns that match nothing."""

    def __init__(self, model: BaseModel, view: SavedView) -> None:
        self.model, self.view = model, view
        self.unknown: list[str] = []
        self.rows = ModelRows(model, functions=True)
        hierarchy = model.hierarchy
        self.hidden = mark_hidden_rows(
            hierarchy, [row for pattern in view.hide for row in self.matching_rows("hide", pattern)]
        )
        self.hierarchy = with_titles(hierarchy, self.texts_by_row("titles", view.titles))
        self.facts = with_painted_rows(
            model.facts, hierarchy, view.colors, [self.matching_rows("colors", key) for key, _ in view.colors]
        )
        self.options = self._view_options()

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return notices of the view's name, the hidden ops, and patterns that match nothing."""
        named = self.view.source
        said = [Notice("view", f"the view of {named} (--no-view leaves it out)", strict=False)] if named else []
        if self.hidden.any():
            said.append(Notice("hidden", f"{describe_hidden(self.model.hierarchy, self.hidden)} hidden", strict=False))
        if self.unknown:
            text = f"{named or 'view'}: nothing in this graph is {', '.join(self.unknown[:3])}"
            said.append(Notice("view-pattern", text, strict=False))
        return tuple(said)

    def matching_rows(self, key: str, pattern: str) -> Sequence[int]:
        """Return the rows of a pattern: those with the name, else those that it finds as a query."""
        try:
            rows = list(dict.fromkeys(path[-1] for path in self.model.names.find_paths(pattern)))
        except UnknownNode:
            rows = self.query_rows(key, pattern)
        if not rows:
            self.unknown.append(f"{key} {pattern!r}")
        return rows

    def query_rows(self, key: str, pattern: str) -> list[int]:
        """Return the rows that a query finds; none if it asks for something that was not measured."""
        try:
            marked = match_rows(self.rows, parse_query(pattern))
        except MissingFacts:
            return []
        except RequestError as error:
            raise RequestError(f"{self.view.source}: {key}: {pattern!r}: {error.message}", hint=error.hint) from None
        return [row for row in np.flatnonzero(marked).tolist() if row]

    def texts_by_row(self, key: str, table: ByPattern) -> dict[int, str]:
        """Return the text of each row that a pattern of the table matches."""
        return {row: text for pattern, text in table for row in self.matching_rows(key, pattern)}

    def _view_options(self) -> Options:
        options, hierarchy = self.model.options, self.model.hierarchy
        end = int(hierarchy.end[0])

        def names_matching(key: str, patterns: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
            rows = [row for pattern in patterns for row in self.matching_rows(key, pattern) if row < end]
            return tuple(dict.fromkeys((*before, *(hierarchy.name[row] for row in rows))))

        opened = dict.fromkeys(each for pattern in self.view.open for each in self.opened_addresses(pattern))
        aux = names_matching("aside", self.view.aside, options.expand.aux)
        expand = replace(options.expand, aux=aux, main=names_matching("main", self.view.main, options.expand.main))
        return replace(options, expand=expand, picture=replace(options.picture, open=(*options.picture.open, *opened)))

    def opened_addresses(self, pattern: str) -> Iterable[str]:
        """Return the addresses that a pattern opens: a name itself, else a limited number of found rows."""
        try:
            self.model.names.find_paths(pattern)
        except UnknownNode:
            hierarchy = self.model.hierarchy
            rows = [row for row in self.matching_rows("open", pattern) if row < int(hierarchy.end[0])]
            return [path_address(hierarchy, (row,)) for row in rows[:MAX_VIEW_OPENED_GROUPS]]
        return [pattern]


def mark_hidden_rows(hierarchy: Hierarchy, rows: Sequence[int]) -> Bools:
    """Mark rows, everything below them, and groups left empty; never a whole graph or function."""
    steps = np.zeros(len(hierarchy) + 1, np.int64)
    chosen = np.unique(np.array(rows, np.int64))
    np.add.at(steps, chosen, 1)
    np.add.at(steps, hierarchy.end[chosen].astype(np.int64), -1)
    marked: Bools = np.cumsum(steps)[:-1] > 0
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


def describe_hidden(hierarchy: Hierarchy, rows: Bools) -> str:
    """Return "3 ops and 2 constants, …" for some rows, counted as the boxes of groups do."""
    ops = int(np.count_nonzero(hierarchy.is_ordinary_op & rows))
    marks = int(np.count_nonzero((hierarchy.node >= 0) & rows)) - ops
    said = [format_counted_noun(ops, "op")] if ops else []
    said += (
        [format_counted_noun(marks, "constant, weight or summary", "constants, weights and summaries")] if marks else []
    )
    return " and ".join(said) or "nothing"


def with_titles(hierarchy: Hierarchy, titles: dict[int, str]) -> Hierarchy:
    """Return the hierarchy with other labels for some rows."""
    short = {row: label for row, label in hierarchy.short.items() if row not in titles}
    return replace(hierarchy, labels={**hierarchy.labels, **titles}, short=short) if titles else hierarchy


def with_painted_rows(facts: Facts, hierarchy: Hierarchy, colors: ByPattern, meant: Sequence[Sequence[int]]) -> Facts:
    """Return the facts with a colour for every op that a pattern matches, itself or by a group around it."""
    if not colors:
        return facts
    category = np.full(len(hierarchy), -1, np.int32)
    for number, rows in enumerate(meant):
        for row in rows:
            category[row : hierarchy.end[row]] = number
    category.setflags(write=False)
    names, tones = zip(*colors, strict=True)
    return replace(facts, painted=PatternColours(category, names, tones))
