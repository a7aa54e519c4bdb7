"""Every colouring that can be had, in both themes: a fill, a second line and legend rows for each row.

What a measured colouring says depends on the largest box shown, so it is written as values and a ramp of fills.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any

import numpy as np

from graphviz_tb.color import SCHEMES, Colouring, colour
from graphviz_tb.color.against import Against
from graphviz_tb.color.cost import ByCost
from graphviz_tb.color.hues import mixed, plain
from graphviz_tb.color.measured import FADED, Measured, unmeasured
from graphviz_tb.color.shares import Shares
from graphviz_tb.color.with_stats import with_stats
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import STACKS, Hierarchy
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.paths import Path
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.page.blocks import Block, Words, ints, words

# What a colouring by a number counts in.
UNITS = {
    "compute-time": "micros", "memory": "bytes", "flops": "flops", "parameters": "parameters", "activations": "bytes",
}  # fmt: skip
FILL = attrgetter(*(one.name for one in fields(Fill)))
# What may be missing from a number: fields of `Cost`.
LACKS = {"flops": ("uncounted", "guessed"), "parameters": ("unsized",), "activations": ("guessed",)}
STEPS = 300  # fills along a ramp: a per cent of the way between two of its colours each


def colourings(
    hierarchy: Hierarchy, facts: Facts, inside: list[Path], table: Words, stats: bool = False
) -> Iterator[Block]:
    """Two blocks for each colouring: its fills and legend, and its columns by row.

    `inside` are the groups' children that lie in calls, which a measured colouring keeps apart.
    """
    for scheme in SCHEMES:
        try:
            painters = in_all_themes(hierarchy, facts, scheme)
        except MissingFacts:
            continue
        if isinstance(painters[0], Measured):
            yield from measured(painters, inside, table, scheme)
        elif isinstance(painters[0], Against):
            yield from against(painters, inside, table, scheme)
        elif isinstance(painters[0], ByCost):
            yield from costly(painters, table)
        else:
            yield from named(
                hierarchy, [with_stats(painter, facts.stats) if stats else painter for painter in painters], table
            )


def in_all_themes(hierarchy: Hierarchy, facts: Facts, scheme: str) -> list[Colouring]:
    """A colouring in each theme. Shares are counted once: they are the same in every theme."""
    first, *others = THEMES
    painter = colour(hierarchy, facts, scheme, first)
    if isinstance(painter, Shares):
        return [painter, *(replace(painter, theme=THEMES[theme]) for theme in others)]
    return [painter, *(colour(hierarchy, facts, scheme, theme) for theme in others)]


def step_by_step(
    hierarchy: Hierarchy, facts: Facts, each: Sequence[Stats], inside: list[Path], table: Words
) -> Iterator[Block]:
    """What was measured in each step by itself: the colourings of the number of the step."""
    for number, stats in enumerate(each):
        for scheme in SCHEMES:
            if SCHEMES[scheme].measured:
                alone = replace(facts, stats=stats, before=None)
                painters = [colour(hierarchy, alone, scheme, theme) for theme in THEMES]
                yield from measured(painters, inside, table, f"{scheme}@{number}")


def named(hierarchy: Hierarchy, painters: list[Colouring], table: Words) -> Iterator[Block]:
    """A colouring that gives each row its fill, whatever is shown."""
    fills: dict[tuple[Fill, ...], int] = {}
    legend: dict[tuple[str, int], int] = {}
    known: dict[tuple[Fill, str | None, str], tuple[int, list[int]]] = {}

    def number(*looks: Fill) -> int:
        return fills.setdefault(looks, len(fills))

    def look(row: int, first: Fill) -> tuple[int, list[int]]:
        legends = zip(*(legend_of(painter, row) for painter in painters), strict=True)
        keys = [(rows[0].label, number(*(entry.fill for entry in rows))) for rows in legends]
        drawn = number(first, *(painter.fill((row,)) for painter in painters[1:]))
        return drawn, [legend.setdefault(key, len(legend)) for key in keys]

    def ask(row: int) -> tuple[int, list[int], int, int]:
        path = (row,)
        said = light.fill(path), light.second(path), light.account(path)
        if said not in known:  # rows that look alike and say the same have the same rows of the legend
            known[said] = look(row, said[0])
        return *known[said], 0 if said[1] is None else 1 + table(said[1]), table(said[2])

    light = painters[0]
    asked: dict[Hashable, tuple[int, list[int], int, int]] = {}
    looks = []
    for row in range(len(hierarchy)):
        key = light.alike(row)
        if key not in asked:
            asked[key] = ask(row)
        looks.append(asked[key])
    fill, entries, second, account = zip(*looks, strict=True)
    start = accumulate(map(len, entries), initial=0)
    scheme = painters[0].scheme
    order = in_order([key[1] for key in legend], list(fills), [painter.theme.hues for painter in painters])
    yield words(
        f"colour/{scheme}",
        {
            "fills": [told(pair) for pair in fills],
            "legend": list(legend),
            "order": order,
            "heading": painters[0].heading,
        },
    )
    yield ints(f"colour/{scheme}/rows", [*fill, *second, *account, *start, *chain.from_iterable(entries)])


def legend_of(painter: Colouring, row: int) -> list[LegendRow]:
    """What the legend says of one row."""
    return [entry for entry in painter.legend([(row,)]) if entry.shape != "rest"]


def in_order(numbers: list[int], fills: list[tuple[Fill, ...]], hues: list[tuple[str, ...]]) -> list[int]:
    """The rank of each legend row: as its letters and hues are given out."""

    def key(number: int) -> tuple[int, int, str, int]:
        fill = fills[number][0]
        hue = hues[0].index(fill.fill) if fill.fill in hues[0] else len(hues[0])
        return (not fill.hued, len(fill.badge), fill.badge, hue)

    order = sorted(range(len(numbers)), key=lambda index: (key(numbers[index]), index))
    rank = [0] * len(numbers)
    for place, index in enumerate(order):
        rank[index] = place
    return rank


def measured(painters: list[Colouring], inside: list[Path], table: Words, name: str) -> Iterator[Block]:
    """A colouring by what was measured: hatched is what was not."""
    light = painters[0]
    assert isinstance(light, Measured)
    paths: list[Path] = [*((row,) for row in range(len(light.hierarchy))), *inside]
    figures = [light.figures(path) for path in paths]
    values = [light.value(figure) if figure.known else -1 for figure in figures]
    said = [light.format_value(value) if value >= 0 else "" for value in values]
    unknown = [[painter.unknown(row) for painter in over(painters)] for row in (0, first_op(light.hierarchy))]
    lines = {kind: [faint(kind, painter.theme) for painter in painters] for kind in ("data", "control", "reference")}
    more = {"inside": [".".join(map(str, path)) for path in inside], "faint": lines, "missing": "not measured"}
    yield from ramp(painters, table, name, values, said, unknown, more)


def against(painters: list[Colouring], inside: list[Path], table: Words, name: str) -> Iterator[Block]:
    """A colouring by the difference of two measurements: less than before to one side of nothing, more to the other."""
    light = painters[0]
    assert isinstance(light, Against)
    paths: list[Path] = [*((row,) for row in range(len(light.hierarchy))), *inside]
    changes = [light.change(path) for path in paths]
    said = [light.second(path) or "" for path in paths]
    first = first_op(light.hierarchy)
    unknown = [[unmeasured(light.hierarchy, side.theme, row) for side in painters] for row in (0, first)]
    lines = {kind: [faint(kind, painter.theme) for painter in painters] for kind in ("data", "control", "reference")}
    more = {
        "inside": [".".join(map(str, path)) for path in inside],
        "faint": lines,
        "missing": "not measured twice",
        "signed": True,
        "accounts": [table(light.account(path)) for path in paths[: len(light.hierarchy)]],
        "values": [None if change is None else round(change, 3) for change in changes],
    }
    yield from ramp(painters, table, name, [], said, unknown, more)


def costly(painters: list[Colouring], table: Words) -> Iterator[Block]:
    """A colouring by what ops cost; one that costs nothing is white."""
    light = painters[0]
    assert isinstance(light, ByCost)
    distinct, costs = light.costs.distinct(len(light.hierarchy))
    value = [light.value(cost) or -1 for cost in distinct]
    values = list(map(value.__getitem__, costs))
    stack = np.isin(light.hierarchy.kind, list(STACKS))
    _, first, alike = np.unique(2 * np.array(costs, np.int64) + stack, return_index=True, return_inverse=True)
    listed = [((row,), bool(distinct[costs[row]])) for row in first.tolist()]
    second = [(light.second(path) or "") if costing else "" for path, costing in listed]
    account = [light.account(path) if costing else "" for path, costing in listed]
    said = list(map(second.__getitem__, alike.tolist()))
    shares = list(map(account.__getitem__, alike.tolist()))
    white = [plain(painter.theme, True) for painter in painters]
    lacks = {name: [getattr(distinct[index], name) for index in costs] for name in LACKS[light.scheme]}
    more = {
        "accounts": [table(share) for share in shares],
        "whole": True,
        "batch": light.costs.batch,
        "lacks": {name: counts for name, counts in lacks.items() if any(counts)},
    }
    yield from ramp(painters, table, light.scheme, values, said, [white, white], more)


def ramp(
    painters: list[Colouring],
    table: Words,
    name: str,
    values: Sequence[float],
    said: list[str],
    unknown: list[list[Fill]],
    more: dict[str, Any],
) -> Iterator[Block]:
    """A colouring by a number: each row's value, its text, and the fills from nothing (from the largest loss
    where it may be less than nothing) to the largest.

    `unknown` are the fills where there is no number (-1): of a group and of an op, in each theme.
    """
    light = painters[0]
    least = -STEPS if isinstance(light, Against) else 0
    fills = [[side.shade(step * abs(step) / STEPS**2) for side in over(painters)] for step in range(least, STEPS + 1)]
    yield words(
        f"colour/{name}",
        {
            "fills": [told(tuple(pair)) for pair in fills],
            "unknown": [told(tuple(pair)) for pair in unknown],
            "heading": light.heading,
            "measured": UNITS[light.scheme],
            "inside": [],
            "rest": [row.label for row in light.legend([]) if row.shape == "rest"],
            "values": [round(value, 3) for value in values],
            **more,
        },
    )
    yield ints(f"colour/{name}/rows", [table(side) for side in said])


def faint(kind: str, theme: Theme) -> str:
    """The colour of a line that leads to a box of which nothing is known."""
    return mixed(theme.reference if kind == "reference" else theme.data, theme.background, FADED)


def over(painters: list[Colouring]) -> list[Any]:
    """The same painters with a scale from 0 to 1."""
    return [replace(painter, top=1) for painter in painters if isinstance(painter, Measured | Against | ByCost)]


def first_op(hierarchy: Hierarchy) -> int:
    """A row that is an op, if there is one."""
    ops = (hierarchy.node >= 0).nonzero()[0]
    return int(ops[0]) if len(ops) else 0


def told(pair: tuple[Fill, ...]) -> list[Any]:
    """A fill in each theme, as plain values."""
    return [list(FILL(fill)) for fill in pair]
