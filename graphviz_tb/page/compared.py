"""The page of a diff: both graphs as one, and the list of changes to walk through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.algorithms.colours import mix_colours
from graphviz_tb.diff.picture.both import Both
from graphviz_tb.diff.picture.overlay import BAND, DARK, HOLDING, LIGHT, Overlay
from graphviz_tb.diff.picture.tints import EdgesBetween
from graphviz_tb.diff.report.explain import remarks, verdict
from graphviz_tb.diff.report.words import SIGNS
from graphviz_tb.limits import MAX_LISTED_CHANGES
from graphviz_tb.model.bundles import Bundles
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.paint import LegendRow
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.blocks import DataBlock, TextTable, ints_block, json_block
from graphviz_tb.page.build import PageExtras, page_data
from graphviz_tb.page.cards import listed_edges
from graphviz_tb.page.colours import row_colouring_blocks
from graphviz_tb.page.held import level_key
from graphviz_tb.page.listing import ChangeListing
from graphviz_tb.render.html import page_bytes

if TYPE_CHECKING:
    from graphviz_tb.diff.comparison import Comparison
    from graphviz_tb.openable import BaseModel

EDGES_KEPT, EDGES_ADDED, EDGES_REMOVED = 1, 2, 4  # states of the edges behind a line, as bits


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
            changes_head(model, changes, painters),
            first,
            lambda *made: diff_colouring_blocks(model, painters, *made),
            each=True,
        ),
    )


def changes_head(model: BaseModel, changes: Comparison, painters: list[Overlay]) -> dict[str, Any]:
    """Return the additions to the head of the page: the changes, and the colours of lines."""
    colours = [LIGHT, DARK]
    grounds = [painter.theme.background for painter in painters]
    listing = ChangeListing(model, painters[0].sign)
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
                [side[sign], mix_colours(ground, side[sign], BAND)]
                for side, ground in zip(colours, grounds, strict=True)
            ]
            for sign in ("+", "−", "~")
        },
    }


def diff_colouring_blocks(
    model: BaseModel, painters: list[Overlay], table: TextTable, levels: Iterable[RowPath]
) -> Iterator[DataBlock]:
    """Yield the colouring of the diff, and the state of the lines of each level of the page."""
    hierarchy = model.hierarchy
    fills, columns = row_colouring_blocks(hierarchy, [without_legend(each) for each in painters], table)
    yield fills
    yield columns
    legend = [[(row.label, row.fill) for row in general_legend(each, len(hierarchy))] for each in painters]
    yield json_block(
        "changes/legend",
        [
            [label, [list(fill_as_list(fill)), list(fill_as_list(other))]]
            for (label, fill), (_, other) in zip(*legend, strict=True)
        ],
    )
    states, between = painters[0].edges, EdgesBetween(hierarchy)
    became = LineStates(states)
    index: dict[str, int] = {}
    numbers: list[int] = []
    for path in levels:
        bits = list(level_state_bits(model.metagraph(path), became, between))
        if any(each not in (0, EDGES_KEPT) for each in bits):  # most levels have no change, and are not listed
            index[level_key(path)] = len(numbers)
            numbers += bits
    yield json_block("changes/index", index)
    yield ints_block("changes/bits", numbers)
    yield ints_block("changes/edges", states[listed_edges(hierarchy)].tolist())


class LegendlessOverlay(Overlay):
    """An overlay without a legend: a page has one legend for all rows."""

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return no rows."""
        return []


def without_legend(painter: Overlay) -> LegendlessOverlay:
    """Return a copy of a painter without its legend."""
    return LegendlessOverlay(**{field.name: getattr(painter, field.name) for field in fields(painter)})


def general_legend(painter: Overlay, rows: int) -> list[Any]:
    """Return the rows of the legend that explain the colours, without the single changes."""
    totals = len({SIGNS[change.kind] for change in painter.changes})
    legend = painter.legend_rows([(row,) for row in range(rows)])
    return [row for index, row in enumerate(legend) if index < totals or row.label in (HOLDING, "unchanged")]


def fill_as_list(fill: Any) -> list[Any]:
    return list(astuple(fill))


def level_state_bits(level: Metagraph, became: LineStates, between: EdgesBetween) -> Iterator[int]:
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
        self._lines: dict[int, tuple[Bundles, bytes]] = {}  # by id of the table: a level can have a million lines

    def bits_of_edges(self, edges: Ints) -> int:
        """Return the combined bits of several edges."""
        bits = self._bits[edges]
        return sum(bit for bit in (EDGES_KEPT, EDGES_ADDED, EDGES_REMOVED) if (bits & bit).any())

    def bits_of_line(self, line: Metaedge | Bridge) -> int:
        """Return the bits of the edges behind a line; 0 if they are unknown."""
        table = line.bundles
        if not isinstance(table, Bundles):
            return 0 if line.flat_edges is None else self.bits_of_edges(line.flat_edges)
        if id(table) not in self._lines:
            # No bundle is empty, as `reduceat` asks.
            bits = np.bitwise_or.reduceat(self._bits[table.edge], table.start[:-1]) if len(table.edge) else table.edge
            self._lines[id(table)] = table, bits.tobytes()
        return self._lines[id(table)][1][line.number]
