"""A model as a view file has it: patterns become rows, and these are hidden, aside, open, coloured and titled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.api.finding import ModelRows
from graphviz_tb.errors import MissingFacts, RequestError, UnknownNode
from graphviz_tb.limits import VIEW_OPENED
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import address
from graphviz_tb.model.saved_view import ByPattern, Painted, SavedView
from graphviz_tb.model.units import counted
from graphviz_tb.options import Options
from graphviz_tb.search import matching, parse

if TYPE_CHECKING:
    from graphviz_tb.openable import OpenableModel


class Viewed:
    """The parts of a model with a view: the tree with its titles, the facts with its colours, the options with what is
    open and aside; which rows are hidden, and what meant nothing."""

    def __init__(self, model: OpenableModel, view: SavedView) -> None:
        self.model, self.view = model, view
        self.unknown: list[str] = []
        self.rows = ModelRows(model, functions=True)
        hierarchy = model.hierarchy
        self.hidden = hidden(hierarchy, [row for pattern in view.hide for row in self.meant("hide", pattern)])
        self.hierarchy = titled(hierarchy, self.by_row("titles", view.titles))
        self.facts = painted(model.facts, hierarchy, view.colors, [self.meant("colors", key) for key, _ in view.colors])
        self.options = self._options()

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the view is of, and which of its patterns mean nothing in this graph."""
        named = self.view.source
        said = [Notice("view", f"the view of {named} (--no-view leaves it out)", strict=False)] if named else []
        if self.hidden.any():
            said.append(Notice("hidden", f"{ops_and_marks(self.model.hierarchy, self.hidden)} hidden", strict=False))
        if self.unknown:
            text = f"{named or 'view'}: nothing in this graph is {', '.join(self.unknown[:3])}"
            said.append(Notice("view-pattern", text, strict=False))
        return tuple(said)

    def meant(self, key: str, pattern: str) -> Sequence[int]:
        """The rows that a pattern means: those of a name, else those that it finds as a query."""
        try:
            rows = list(dict.fromkeys(path[-1] for path in self.model.names.find(pattern)))
        except UnknownNode:
            rows = self.found(key, pattern)
        if not rows:
            self.unknown.append(f"{key} {pattern!r}")
        return rows

    def found(self, key: str, pattern: str) -> list[int]:
        """The rows that a query finds; none where it asks for what was not measured."""
        try:
            marked = matching(self.rows, parse(pattern))
        except MissingFacts:
            return []
        except RequestError as error:
            raise RequestError(f"{self.view.source}: {key}: {pattern!r}: {error.message}", hint=error.hint) from None
        return [row for row in np.flatnonzero(marked).tolist() if row]

    def by_row(self, key: str, table: ByPattern) -> dict[int, str]:
        """The text of each row that a table of patterns has one for."""
        return {row: text for pattern, text in table for row in self.meant(key, pattern)}

    def _options(self) -> Options:
        options, hierarchy = self.model.options, self.model.hierarchy
        end = int(hierarchy.end[0])

        def named(key: str, patterns: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
            rows = [row for pattern in patterns for row in self.meant(key, pattern) if row < end]
            return tuple(dict.fromkeys((*before, *(hierarchy.name[row] for row in rows))))

        opened = dict.fromkeys(each for pattern in self.view.open for each in self.opened(pattern))
        aux = named("aside", self.view.aside, options.expand.aux)
        expand = replace(options.expand, aux=aux, main=named("main", self.view.main, options.expand.main))
        return replace(options, expand=expand, picture=replace(options.picture, open=(*options.picture.open, *opened)))

    def opened(self, pattern: str) -> Iterable[str]:
        """The addresses that a pattern opens: itself, where it is a name; of what a query finds only so many."""
        try:
            self.model.names.find(pattern)
        except UnknownNode:
            hierarchy = self.model.hierarchy
            rows = [row for row in self.meant("open", pattern) if row < int(hierarchy.end[0])]
            return [address(hierarchy, (row,)) for row in rows[:VIEW_OPENED]]
        return [pattern]


def hidden(hierarchy: Hierarchy, rows: Sequence[int]) -> Bools:
    """Mark some rows, all below them, and groups of which nothing is left; never the whole graph or function."""
    steps = np.zeros(len(hierarchy) + 1, np.int64)
    chosen = np.unique(np.array(rows, np.int64))
    np.add.at(steps, chosen, 1)
    np.add.at(steps, hierarchy.end[chosen].astype(np.int64), -1)
    marked: Bools = np.cumsum(steps)[:-1] > 0
    if not marked.any():
        return marked
    left = np.zeros(len(hierarchy), np.int64)  # children that are shown
    parent = hierarchy.parent
    for row in range(len(hierarchy) - 1, 0, -1):
        around = int(parent[row])
        gone = marked[row] or (hierarchy.opens(row) and row not in hierarchy.calls and not left[row])
        marked[row] = gone and around >= 0
        if around >= 0 and not marked[row]:
            left[around] += 1
    marked[0] = False
    return marked


def ops_and_marks(hierarchy: Hierarchy, rows: Bools) -> str:
    """How many ops some rows are, as the boxes of groups count them, and how many marks beside them."""
    ops = int(np.count_nonzero(hierarchy.ordinary & rows))
    marks = int(np.count_nonzero((hierarchy.node >= 0) & rows)) - ops
    said = [counted(ops, "op")] if ops else []
    said += [counted(marks, "constant, weight or summary", "constants, weights and summaries")] if marks else []
    return " and ".join(said) or "nothing"


def titled(hierarchy: Hierarchy, titles: dict[int, str]) -> Hierarchy:
    """The tree with rows called otherwise."""
    short = {row: label for row, label in hierarchy.short.items() if row not in titles}
    return replace(hierarchy, labels={**hierarchy.labels, **titles}, short=short) if titles else hierarchy


def painted(facts: Facts, hierarchy: Hierarchy, colors: ByPattern, meant: Sequence[Sequence[int]]) -> Facts:
    """The facts with the colour of every op that a pattern means, or that is in a group which it means."""
    if not colors:
        return facts
    category = np.full(len(hierarchy), -1, np.int32)
    for number, rows in enumerate(meant):
        for row in rows:
            category[row : hierarchy.end[row]] = number
    category.setflags(write=False)
    names, tones = zip(*colors, strict=True)
    return replace(facts, painted=Painted(category, names, tones))
