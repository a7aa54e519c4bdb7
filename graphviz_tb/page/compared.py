"""The page of a diff: both graphs as one, and the list of changes to walk through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.algorithms.colours import mixed
from graphviz_tb.diff.picture.both import Both
from graphviz_tb.diff.picture.overlay import BAND, DARK, HOLDING, LIGHT, Overlay
from graphviz_tb.diff.picture.tints import EdgesBetween
from graphviz_tb.diff.report.explain import remarks, verdict
from graphviz_tb.diff.report.words import SIGNS
from graphviz_tb.limits import CHANGES_LISTED
from graphviz_tb.model.bundles import Bundles
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.paint import LegendRow
from graphviz_tb.model.paths import Path
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.blocks import DataBlock, TextTable, ints, words
from graphviz_tb.page.build import Extra, data
from graphviz_tb.page.cards import listed
from graphviz_tb.page.colours import named
from graphviz_tb.page.held import key_of
from graphviz_tb.page.listing import Listing
from graphviz_tb.render.html import document

if TYPE_CHECKING:
    from graphviz_tb.diff.comparison import Comparison
    from graphviz_tb.openable import OpenableModel

KEPT, CAME, GONE = 1, 2, 4  # states of the edges behind a line, as bits


def changes_html(both: Both, options: PictureOptions | None = None) -> bytes:
    """Return the whole page; it begins with the picture that `both` draws."""
    head, blocks = changes_data(both, options)
    return document(head, blocks, head["title"] or "diff")


def changes_data(both: Both, options: PictureOptions | None = None) -> tuple[dict[str, Any], list[DataBlock]]:
    """Return the head and the blocks of the page."""
    model, changes = both.model, both.changes
    first = both.picture(options or PictureOptions())
    painters = [both.overlay(theme) for theme in THEMES]
    return data(
        model,
        replace(first.options, color_by="diff"),
        # Lines of copies may differ from those of the usual member.
        Extra(
            ("diff",), head_of(model, changes, painters), first, lambda *made: shades(model, painters, *made), each=True
        ),
    )


def head_of(model: OpenableModel, changes: Comparison, painters: list[Overlay]) -> dict[str, Any]:
    """Return the additions to the head of the page: the changes, and the colours of lines."""
    colours = [LIGHT, DARK]
    grounds = [painter.theme.background for painter in painters]
    listing = Listing(model, painters[0].sign)
    entries = [listing.entry(change) for change in changes.items[:CHANGES_LISTED]]
    more = [f"the first {CHANGES_LISTED:,} of {len(changes):,} changes are listed (--format json lists all)"]
    return {
        "verdict": verdict(changes).replace("; ", " · "),
        "same": changes.same,
        "remarks": [text for text in remarks(changes) if text] + (more if len(changes) > CHANGES_LISTED else []),
        "changes": entries,
        "beside": listing.beside(painters[0].words, entries),
        "tints": {
            sign: [[side[sign], mixed(ground, side[sign], BAND)] for side, ground in zip(colours, grounds, strict=True)]
            for sign in ("+", "−", "~")
        },
    }


def shades(
    model: OpenableModel, painters: list[Overlay], table: TextTable, levels: Iterable[Path]
) -> Iterator[DataBlock]:
    """Yield the colouring of the diff, and the state of the lines of each level of the page."""
    hierarchy = model.hierarchy
    fills, columns = named(hierarchy, [unlisted(each) for each in painters], table)
    yield fills
    yield columns
    legend = [[(row.label, row.fill) for row in general(each, len(hierarchy))] for each in painters]
    yield words(
        "changes/legend",
        [
            [label, [list(as_list(fill)), list(as_list(other))]]
            for (label, fill), (_, other) in zip(*legend, strict=True)
        ],
    )
    states, between = painters[0].edges, EdgesBetween(hierarchy)
    became = Became(states)
    index: dict[str, int] = {}
    numbers: list[int] = []
    for path in levels:
        bits = list(level_bits(model.metagraph(path), became, between))
        if any(each not in (0, KEPT) for each in bits):  # most levels have no change, and are not listed
            index[key_of(path)] = len(numbers)
            numbers += bits
    yield words("changes/index", index)
    yield ints("changes/bits", numbers)
    yield ints("changes/edges", states[listed(hierarchy)].tolist())


class Unlisted(Overlay):
    """An overlay without a legend: a page has one legend for all rows."""

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return no rows."""
        return []


def unlisted(painter: Overlay) -> Unlisted:
    """Return a copy of a painter without its legend."""
    return Unlisted(**{field.name: getattr(painter, field.name) for field in fields(painter)})


def general(painter: Overlay, rows: int) -> list[Any]:
    """Return the rows of the legend that explain the colours, without the single changes."""
    totals = len({SIGNS[change.kind] for change in painter.changes})
    legend = painter.legend([(row,) for row in range(rows)])
    return [row for index, row in enumerate(legend) if index < totals or row.label in (HOLDING, "unchanged")]


def as_list(fill: Any) -> list[Any]:
    return list(astuple(fill))


def level_bits(level: Metagraph, became: Became, between: EdgesBetween) -> Iterator[int]:
    """Yield the state bits of the edges of each metaedge, each bridge and each stub of a level."""
    lines: Iterable[Metaedge | Bridge] = (*level.edges, *level.bridges)
    yield from map(became.line, lines)
    for note in level.annotations:
        if note.kind == "shortcut":
            yield 0
            continue
        row = level.children[note.child]
        edges = between(note.other, row) if note.side == "in" else between(row, note.other)
        yield became.edges(edges) if len(edges) else KEPT


class Became:
    """The state bits of edges, bundles and stubs. `states` is by edge: 0 kept, 1 added, 2 removed."""

    def __init__(self, states: np.ndarray) -> None:
        self._bits = (1 << states).astype(np.uint8)
        self._lines: dict[int, tuple[Bundles, bytes]] = {}  # by id of the table: a level can have a million lines

    def edges(self, edges: Ints) -> int:
        """Return the combined bits of several edges."""
        bits = self._bits[edges]
        return sum(bit for bit in (KEPT, CAME, GONE) if (bits & bit).any())

    def line(self, line: Metaedge | Bridge) -> int:
        """Return the bits of the edges behind a line; 0 if they are unknown."""
        table = line.bundles
        if not isinstance(table, Bundles):
            return 0 if line.edges is None else self.edges(line.edges)
        if id(table) not in self._lines:
            # No bundle is empty, as `reduceat` asks.
            bits = np.bitwise_or.reduceat(self._bits[table.edge], table.start[:-1]) if len(table.edge) else table.edge
            self._lines[id(table)] = table, bits.tobytes()
        return self._lines[id(table)][1][line.number]
