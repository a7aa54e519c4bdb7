"""Every available colouring, in all themes: a fill, a second line and legend rows for each row.

The colours of a measured colouring depend on the largest box shown, so it is written as values and a ramp of fills.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from graphviz_tb.color import SCHEMES, Colouring, make_colouring
from graphviz_tb.color.colouring import ColourValues, NumberColouring
from graphviz_tb.color.measured import faint_line_colour, stats_colouring
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.columns import Longs, places_of_runs, prefix_sums
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paint import RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import COLOR_BY_LOGGED
from graphviz_tb.page.blocks import DataBlock, TextTable, ints_block, json_block

# Units of the colourings by a number.
COLOURING_UNITS = {
    "compute-time": "micros", "memory": "bytes", "flops": "flops", "parameters": "parameters", "activations": "bytes",
}  # fmt: skip
FILL_VALUES = attrgetter(*(field.name for field in fields(RowFill)))
RAMP_STEPS = 300  # fills along a ramp, each one per cent of the way between two colours


def colouring_blocks(
    hierarchy: Hierarchy, facts: Facts, inside: list[RowPath], table: TextTable, stats: bool = False
) -> Iterator[DataBlock]:
    """Yield two blocks for each colouring: its fills and legend, and its columns by row.

    `inside` are the paths of groups inside calls, which a measured colouring distinguishes.
    """
    for scheme in SCHEMES:
        try:
            painters = _colour_in_all_themes(hierarchy, facts, scheme)
        except MissingFacts:
            continue
        numeric = _numeric_colourings(painters)
        if numeric:
            yield from _ramp_blocks(numeric, inside, table, scheme)
        else:
            yield from row_colouring_blocks(
                hierarchy, [stats_colouring(painter, facts.stats) if stats else painter for painter in painters], table
            )


def _colour_in_all_themes(hierarchy: Hierarchy, facts: Facts, scheme: str) -> list[Colouring]:
    first, *others = THEMES
    painter = make_colouring(hierarchy, facts, scheme, first)
    return [
        painter,
        *(painter.in_theme(THEMES[theme]) or make_colouring(hierarchy, facts, scheme, theme) for theme in others),
    ]


def _numeric_colourings(painters: Sequence[Colouring]) -> list[NumberColouring]:
    return [painter for painter in painters if isinstance(painter, NumberColouring)]


def step_colouring_blocks(
    hierarchy: Hierarchy, facts: Facts, each: Iterable[Callable[[], Stats]], inside: list[RowPath], table: TextTable
) -> Iterator[DataBlock]:
    """Yield the measured colourings of each single step, named by its number; the fills are written for the first step
    only."""
    for number, stats in enumerate(each):
        alone = replace(facts, stats=stats(), before=None)
        for scheme in SCHEMES:
            if SCHEMES[scheme].measured:
                painters = [make_colouring(hierarchy, alone, scheme, theme) for theme in THEMES]
                fills = f"colour/{scheme}@0" if number else None
                yield from _ramp_blocks(_numeric_colourings(painters), inside, table, f"{scheme}@{number}", fills)


def logged_colouring_blocks(hierarchy: Hierarchy, each: Iterable[Facts], table: TextTable) -> Iterator[DataBlock]:
    """Yield the colouring by logged values of each step, named by the number of the step."""
    for number, facts in enumerate(each):
        painters = _colour_in_all_themes(hierarchy, facts, COLOR_BY_LOGGED)
        yield from row_colouring_blocks(
            hierarchy, [replace(painter, scheme=f"logged@{number}") for painter in painters], table
        )


def row_colouring_blocks(hierarchy: Hierarchy, painters: list[Colouring], table: TextTable) -> Iterator[DataBlock]:
    """Yield the blocks of a colouring whose fills do not depend on the rows shown."""
    looks, columns = row_looks(painters, table, range(len(hierarchy)))
    scheme = painters[0].scheme
    yield json_block(f"colour/{scheme}", looks)
    yield ints_block(f"colour/{scheme}/rows", np.concatenate(columns))


def row_looks(
    painters: Sequence[Colouring], table: TextTable, rows: Sequence[int]
) -> tuple[dict[str, Any], tuple[Longs, ...]]:
    """Return fills, legend rows with their order, and the heading; and five columns: the fill of each row, its second
    line (0: the usual text), its tooltip, the start of its legend rows, and all these legend rows."""
    fills: dict[tuple[RowFill, ...], int] = {}
    legend: dict[tuple[str, int, str], int] = {}
    # By fill, second line and tooltip in the light theme: the number of the fill, and the legend rows.
    look_of: dict[tuple[RowFill, str | None, str], tuple[int, list[int]]] = {}

    def fill_number(*looks: RowFill) -> int:
        return fills.setdefault(looks, len(fills))

    def number_look(row: int, first: RowFill) -> tuple[int, list[int]]:
        legends = zip(*(painter.whole_row_legend(row) for painter in painters), strict=True)
        keys = [(rows[0].label, fill_number(*(entry.fill for entry in rows)), rows[0].kind) for rows in legends]
        drawn = fill_number(first, *(painter.fill_of((row,)) for painter in painters[1:]))  # in all themes
        return drawn, [legend.setdefault(key, len(legend)) for key in keys]

    def look_of_row(row: int) -> tuple[int, list[int], int, int]:
        path = (row,)
        appearance = light_theme.fill_of(path), light_theme.second_line(path), light_theme.tooltip_text(path)
        if appearance not in look_of:  # rows that look alike have equal legend rows
            look_of[appearance] = number_look(row, appearance[0])
        return *look_of[appearance], 0 if appearance[1] is None else 1 + table(appearance[1]), table(appearance[2])

    light_theme = painters[0]
    look_index: dict[Hashable, int] = {}
    distinct_looks: list[tuple[int, list[int], int, int]] = []
    look_of_each_row = []  # as indices; rows with equal keys share a look
    for row, key in zip(rows, light_theme.look_keys(rows), strict=True):
        if key not in look_index:
            look_index[key] = len(distinct_looks)
            distinct_looks.append(look_of_row(row))
        look_of_each_row.append(look_index[key])
    fill, entries, second_line, tooltip = zip(*distinct_looks, strict=True) if distinct_looks else ((), (), (), ())
    by_row = np.array(look_of_each_row, np.int64)
    columns = [np.array(column, np.int64)[by_row] for column in (fill, second_line, tooltip)]
    columns += _concatenate_lists(entries, by_row)
    order = _legend_ranks([key[1] for key in legend], list(fills), light_theme.hue_order())
    shared = {
        "fills": [theme_fill_values(pair) for pair in fills],
        "legend": list(legend),
        "order": order,
        "heading": painters[0].heading,
    }
    return shared, tuple(columns)


def _concatenate_lists(lists: Sequence[Sequence[int]], which: Longs) -> tuple[Longs, Longs]:
    """Return the start of each row's list, then the end of the last, and all lists concatenated.

    >>> [column.tolist() for column in _concatenate_lists([[7, 8], [9]], np.array([1, 0, 1]))]
    [[0, 1, 3, 4], [9, 7, 8, 9]]
    """
    joined = np.fromiter(chain.from_iterable(lists), np.int64)
    sizes = np.array([len(entries) for entries in lists], np.int64)
    return prefix_sums(sizes[which]), joined[places_of_runs(prefix_sums(sizes)[which], sizes[which])]


def _legend_ranks(numbers: list[int], fills: list[tuple[RowFill, ...]], hues: tuple[str, ...]) -> list[int]:
    """Return the rank of each legend row, in which letters and hues are assigned."""

    def key(number: int) -> tuple[int, int, str, int]:
        fill = fills[number][0]
        hue = hues.index(fill.fill) if fill.fill in hues else len(hues)
        return (not fill.hued, len(fill.badge), fill.badge, hue)

    order = sorted(range(len(numbers)), key=lambda index: (key(numbers[index]), index))
    rank = [0] * len(numbers)
    for place, index in enumerate(order):
        rank[index] = place
    return rank


def _ramp_blocks(
    painters: list[NumberColouring], inside: list[RowPath], table: TextTable, name: str, fills: str | None = None
) -> Iterator[DataBlock]:
    """Yield the blocks of a colouring by a number: the value and text of each row, and the fills or the name of another
    block with the same fills."""
    light = painters[0]
    numbers = light.number_values(inside)
    ops = (light.hierarchy.node >= 0).nonzero()[0]
    sample_rows = 0, (int(ops[0]) if len(ops) else 0)
    unknown = [[painter.unknown_fill(row) for painter in painters] for row in sample_rows]  # for a group and for an op
    yield json_block(
        f"colour/{name}",
        {
            "fills": fills or _ramp_fills(painters, numbers.signed),
            "unknown": [theme_fill_values(tuple(pair)) for pair in unknown],
            "heading": light.heading,
            "measured": COLOURING_UNITS[light.scheme],
            "inside": [".".join(map(str, path)) for path in inside] if numbers.missing else [],
            "rest": [row.label for row in light.legend_rows([]) if row.shape == "rest"],
            "values": [None if value is None else round(value, 3) for value in numbers.values],
            **dict(_ramp_details(numbers, painters, table)),
        },
    )
    yield ints_block(f"colour/{name}/rows", [table(text) for text in numbers.words])


def _ramp_fills(painters: list[NumberColouring], signed: bool) -> list[Any]:
    """Return the fills from zero, or from the largest loss if values may be negative, to the largest value."""
    sides = [replace(painter, top=1.0) for painter in painters]
    # `shade` takes the square root of a share: (step / STEPS)² is step / STEPS along the ramp.
    shares = [step * abs(step) / RAMP_STEPS**2 for step in range(-RAMP_STEPS if signed else 0, RAMP_STEPS + 1)]
    return [theme_fill_values(tuple(side.shade_of(share) for side in sides)) for share in shares]


def _ramp_details(numbers: ColourValues, painters: Sequence[Colouring], table: TextTable) -> Iterator[tuple[str, Any]]:
    """Yield the fields that only some colourings by a number have."""
    if numbers.missing:
        kinds = ("data", "control", "reference")
        yield "faint", {kind: [faint_line_colour(kind, painter.theme) for painter in painters] for kind in kinds}
        yield "missing", numbers.missing
    if numbers.signed:
        yield "signed", True
    if numbers.accounts:
        yield "accounts", [table(account) for account in numbers.accounts]
    if numbers.bounds:
        yield "bounds", list(numbers.bounds)
    if numbers.batch is not None:
        yield from (("whole", True), ("batch", numbers.batch), ("lacks", dict(numbers.lacks)))


def theme_fill_values(pair: tuple[RowFill, ...]) -> list[Any]:
    return [list(FILL_VALUES(fill)) for fill in pair]
