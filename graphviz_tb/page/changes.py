"""The page of a diff: both graphs as one, and the list of changes to walk through."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.diff.comparison import Comparison
from graphviz_tb.diff.picture.overlay import BAND_PERCENT, DARK, HOLDING_WORDS, LIGHT, Both, Overlay, change_line
from graphviz_tb.diff.picture.rows import HOLDS_SIGN, DrawnNames, EdgesBetween
from graphviz_tb.diff.report.explain import remarks, verdict
from graphviz_tb.diff.report.words import KIND_SIGNS, change_facts, program_line_words
from graphviz_tb.graphs.drawing_math import mix_colours
from graphviz_tb.limits import MAX_LISTED_CHANGES, MAX_LISTED_INPUTS, MAX_LISTED_PLACES
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.metagraph import Bridge, Bundles, Metaedge, Metagraph
from graphviz_tb.model.paint import LegendRow
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.blocks import DataBlock, TextTable, ints_block, json_block
from graphviz_tb.page.build import PageExtras, page_data
from graphviz_tb.page.cards import listed_edges
from graphviz_tb.page.colours import row_colouring_blocks, theme_fill_values
from graphviz_tb.page.levels import page_level_key
from graphviz_tb.render.html import page_bytes

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel

# The list of changes of a page: each with its rows, and with the names in the picture.


class ChangeListing:
    """Makes the entries of the list; `sign` is the sign (added, removed, changed) of each row of the merged graph."""

    def __init__(self, model: BaseModel, sign: Sequence[str], changes: Comparison) -> None:
        self.model, self.changes = model, changes
        self.sign = sign
        self.drawn = DrawnNames(model.hierarchy, model.names.index(0))

    def change_entry(self, change: Change) -> dict[str, Any]:
        """Return one change, with its consequences and inner changes; `full` has the names of the file."""
        behind = (*change.inside, *change.consequences)
        setting = change.setting
        detail = {"key": setting.key, "old": setting.old, "new": setting.new} if setting else {}
        text, line = change_line(change), program_line_words(*self.changes.program_lines(change))
        return {
            "sign": KIND_SIGNS[change.kind],
            "kind": change.kind,
            "severity": change.severity,
            "text": self.drawn.in_text(text),
            "full": text,
            "facts": [*map(self.drawn.in_text, change_facts(change)), *([line] if line else [])],
            "detail": {key: _text_of_value(value) for key, value in detail.items()},
            "old": change.old,
            "new": change.new,
            "rows": self.rows_of_change(change),
            "behind": [self.change_entry(change) for change in behind],
        }

    def rewired_entries(self, words: Mapping[int, str], entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the ops that are drawn as changed only because one of their inputs has a new source."""
        listed_rows = {row for entry in entries for listed in (entry, *entry["behind"]) for row in listed["rows"]}
        hierarchy = self.model.hierarchy
        rows = [
            row
            for row, sign in enumerate(self.sign)
            if sign == HOLDS_SIGN and hierarchy.node[row] >= 0 and row in words and row not in listed_rows
        ]
        return [
            {
                "sign": "~",
                "text": f"{self.drawn.name_of(row)}: {words[row]}",
                "full": hierarchy.name[row],
                "rows": [row],
            }
            for row in rows[:MAX_LISTED_INPUTS]
        ]

    def rows_of_change(self, change: Change) -> list[int]:
        """Return the rows of a change, its other places and its parts in the merged graph, if added or removed."""
        listed: dict[int, None] = {}
        parts = change.unit.parts[:MAX_LISTED_PLACES] if change.unit else ()
        within = [(part, None) if change.new is None else (None, part) for part in parts]
        for old, new in ((change.old, change.new), *change.also[:MAX_LISTED_PLACES], *within):
            # If old and new share a name, the merged graph calls the old one "NAME (old)".
            names = [name for name in (new, old, f"{old} (old)" if old else None) if name]
            rows = [row for name in names if (row := self.rows_by_name.get(name, -1)) > 0]
            listed.update((row, None) for row in (*rows[:1], *(row for row in rows[1:] if self.sign[row] == "−")))
        if not listed and change.function is not None:
            listed.update((row, None) for row in self.functions_with_prefix(change.function))
        return list(listed)

    def functions_with_prefix(self, name: str) -> Collection[int]:
        first = bisect_left(self._functions, (name, -1))
        behind = (self._functions[place] for place in range(first, len(self._functions)))
        return sorted(row for _, row in takewhile(lambda function: function[0].startswith(name), behind))

    @cached_property
    def _functions(self) -> list[tuple[str, int]]:
        """Functions sorted by name, for a binary search per change."""
        hierarchy = self.model.hierarchy
        return sorted((hierarchy.name[row], row) for row in hierarchy.function_rows)

    @cached_property
    def rows_by_name(self) -> dict[str, int]:
        """The first row of each name, the main graph before the functions."""
        found: dict[str, int] = {}
        for root in (0, *self.model.hierarchy.function_rows):
            for name, row in self.model.names.index(root).items():
                found.setdefault(name, row)
        return found


def _text_of_value(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


EDGES_KEPT, EDGES_ADDED, EDGES_REMOVED = 1, 2, 4  # states of the edges behind a line, as bits


@garbage_collection_paused()
def changes_html(both: Both, options: PictureOptions | None = None) -> bytes:
    """Return the whole page; it begins with the picture that `both` draws."""
    head, blocks = changes_data(both, options)
    return page_bytes(head, blocks, head["title"] or "diff")


def changes_data(both: Both, options: PictureOptions | None = None) -> tuple[dict[str, Any], list[DataBlock]]:
    """Return the head and the blocks of the page."""
    model, changes = both.model, both.changes
    first = both.picture(options or PictureOptions())
    painters = [both.overlay(theme) for theme in THEMES]
    return page_data(
        model,
        replace(first.options, color_by="diff"),
        # Lines of copies may differ from those of the usual member.
        PageExtras(
            ("diff",),
            _changes_head(model, changes, painters),
            first,
            lambda *made: _diff_colouring_blocks(model, painters, *made),
            each=True,
        ),
    )


def _changes_head(model: BaseModel, changes: Comparison, painters: list[Overlay]) -> dict[str, Any]:
    """Return the additions to the head of the page: the changes, and the colours of lines."""
    colours = [LIGHT, DARK]
    grounds = [painter.theme.background for painter in painters]
    listing = ChangeListing(model, painters[0].sign, changes)
    entries = [listing.change_entry(change) for change in changes.items[:MAX_LISTED_CHANGES]]
    more = [f"the first {MAX_LISTED_CHANGES:,} of {len(changes):,} changes are listed (--format json lists all)"]
    return {
        "verdict": verdict(changes).replace("; ", " · "),
        "same": changes.same,
        "remarks": [text for text in remarks(changes) if text] + (more if len(changes) > MAX_LISTED_CHANGES else []),
        "changes": entries,
        "beside": listing.rewired_entries(painters[0].words, entries),
        "tints": {
            sign: [
                [side[sign], mix_colours(ground, side[sign], BAND_PERCENT)]
                for side, ground in zip(colours, grounds, strict=True)
            ]
            for sign in ("+", "−", "~")
        },
    }


def _diff_colouring_blocks(
    model: BaseModel, painters: list[Overlay], table: TextTable, levels: Iterable[RowPath]
) -> Iterator[DataBlock]:
    """Yield the colouring of the diff, and the state of the lines of each level of the page."""
    hierarchy = model.hierarchy
    fills, columns = row_colouring_blocks(hierarchy, [_without_legend(painter) for painter in painters], table)
    yield fills
    yield columns
    legend = [[(row.label, row.fill) for row in _general_legend(painter, len(hierarchy))] for painter in painters]
    yield json_block(
        "changes/legend",
        [[label, theme_fill_values((fill, other))] for (label, fill), (_, other) in zip(*legend, strict=True)],
    )
    states, between = painters[0].edges, EdgesBetween(hierarchy)
    line_states = LineStates(states)
    index: dict[str, int] = {}
    numbers: list[int] = []
    for path in levels:
        bits = list(_level_state_bits(model.metagraph(path), line_states, between))
        if any(bit not in (0, EDGES_KEPT) for bit in bits):  # most levels have no change, and are not listed
            index[page_level_key(path)] = len(numbers)
            numbers += bits
    yield json_block("changes/index", index)
    yield ints_block("changes/bits", numbers)
    yield ints_block("changes/edges", states[listed_edges(hierarchy)].tolist())


class LegendlessOverlay(Overlay):
    """An overlay without a legend: a page has one legend for all rows."""

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        return []


def _without_legend(painter: Overlay) -> LegendlessOverlay:
    return LegendlessOverlay(**{field.name: getattr(painter, field.name) for field in fields(painter)})


def _general_legend(painter: Overlay, rows: int) -> list[Any]:
    """Return the rows of the legend that explain the colours, without the single changes."""
    totals = len({KIND_SIGNS[change.kind] for change in painter.changes})
    legend = painter.legend_rows([(row,) for row in range(rows)])
    return [row for index, row in enumerate(legend) if index < totals or row.label in (HOLDING_WORDS, "unchanged")]


def _level_state_bits(level: Metagraph, became: LineStates, between: EdgesBetween) -> Iterator[int]:
    """Yield the state bits of the edges of each metaedge, each bridge and each stub of a level."""
    lines: Iterable[Metaedge | Bridge] = (*level.edges, *level.bridges)
    yield from map(became.bits_of_line, lines)
    for note in level.annotations:
        if note.kind == "shortcut":
            yield 0
            continue
        row = level.children[note.child]
        edges = between(note.other, row) if note.side == "in" else between(row, note.other)
        yield became.bits_of_edges(edges) if len(edges) else EDGES_KEPT


class LineStates:
    """The state bits of edges, bundles and stubs. `states` is by edge: 0 kept, 1 added, 2 removed."""

    def __init__(self, states: np.ndarray) -> None:
        self._bits = (1 << states).astype(np.uint8)
        self._lines: dict[int, tuple[Bundles, bytes]] = {}  # by id of the bundles: a level can have a million lines

    def bits_of_edges(self, edges: Ints) -> int:
        bits = self._bits[edges]
        return sum(bit for bit in (EDGES_KEPT, EDGES_ADDED, EDGES_REMOVED) if (bits & bit).any())

    def bits_of_line(self, line: Metaedge | Bridge) -> int:
        """Return the bits of the edges behind a line; 0 if they are unknown."""
        table = line.bundles
        if not isinstance(table, Bundles):
            return 0 if line.flat_edges is None else self.bits_of_edges(line.flat_edges)
        if id(table) not in self._lines:
            # `reduceat` requires that no bundle is empty.
            bits = np.bitwise_or.reduceat(self._bits[table.edge], table.start[:-1]) if len(table.edge) else table.edge
            self._lines[id(table)] = table, bits.tobytes()
        return self._lines[id(table)][1][line.number]
