"""What colourings say of graphs that are drawn by a seed, and of numbers at the ends of their scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forests import forest, stretched

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import SCHEMES, make_colouring
from graphviz_tb.color.colouring import Colouring, NumberColouring
from graphviz_tb.model.paths import RowPath
from graphviz_tb.proto import GraphDef

VALUES = (-2.0, -1.0, -0.3, 0.0, 0.001, 0.1, 0.24, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 3.0)
SHARES = ("device", "op-type", "xla-cluster", "none")
COSTS = ("flops", "parameters", "activations")


def striped(name: str) -> Iterator[Any]:
    """Hues, letters and words of every row of a graph without names."""
    yield from structured(graphviz_tb.load(GraphDef(node=stretched(name))))


def structured(model: Model) -> Iterator[Any]:
    """The same of a model."""
    paths: list[RowPath] = [(row,) for row in range(len(model.hierarchy))]
    found = make_colouring(model.hierarchy, model.facts)
    yield from ((row.label, row.fill.badge, row.fill.fill) for row in found.legend_rows(paths))
    yield [[row, fill.badge, fill.fill] for row, fill in fills(found, paths) if fill.hued]
    yield alike(found, len(paths))


def painted(name: str) -> Iterator[Any]:
    """Hues, letters and words of every row, and which rows are alike."""
    model = graphviz_tb.load(GraphDef(node=forest(name)))
    paths: list[RowPath] = [(row,) for row in range(len(model.hierarchy))]
    yield from structured(model)
    for scheme in SHARES:
        found = make_colouring(model.hierarchy, model.facts, scheme)
        groups = [path for path in paths if model.hierarchy.can_open(path[0])]
        yield scheme, found.legend_rows(paths), alike(found, len(paths))
        for path, (_, fill) in zip(groups, fills(found, groups), strict=True):
            yield path[0], found.second_line(path), found.tooltip_text(path), fill.fill, fill.bands
        yield [
            fill.badge + (found.second_line(path) or "")
            for path, (_, fill) in zip(paths, fills(found, paths), strict=True)
        ]


def fills(colouring: Colouring, paths: list[RowPath]) -> list[tuple[int, Any]]:
    """Rows with their fills."""
    return [(path[-1], colouring.fill_of(path)) for path in paths]


def alike(colouring: Colouring, rows: int) -> list[int]:
    """For each row the first one that looks as it does."""
    first: dict[Any, int] = {}
    return [first.setdefault(colouring.look_key(row), row) for row in range(rows)]


def numbers(model: Model, schemes: tuple[str, ...]) -> Iterator[Any]:
    """All that colourings by a number say, and their colours along the scale."""
    for scheme in schemes:
        for theme in ("light", "dark"):
            found = make_colouring(model.hierarchy, model.facts, scheme, theme).as_number_colouring()
            assert found is not None
            values = [value for value in VALUES if value >= 0 or found.number_values([]).signed]
            tones = [found.scaled_to_one().shade_of(value) for value in values]
            yield (
                scheme,
                theme,
                [(tone.fill, tone.text) for tone in tones],
                tones[1],
                found.unknown_fill(0),
                found.unknown_fill(1),
            )
        yield from said(found)


def said(colouring: NumberColouring) -> Iterator[Any]:
    """Its numbers, and its legends where all, little and nothing is shown closed."""
    told = colouring.number_values([(1,), (2,)])
    yield list(told.values), list(told.words), list(told.accounts)
    yield told.missing, told.signed, told.batch, told.lacks
    rows: list[RowPath] = [(row,) for row in range(len(colouring.hierarchy))]
    for paths in (rows[:1], rows[-3:], []):
        yield (
            colouring.scaled_to(paths).legend_rows(rows),
            [colouring.scaled_to(paths).fill_of(path).fill for path in rows[:9]],
        )


def costed(name: str) -> Iterator[Any]:
    """What the costs of a graph that is drawn by a seed look like."""
    yield from numbers(graphviz_tb.load(GraphDef(node=forest(name))), COSTS)


def metered(model: Model) -> Iterator[Any]:
    """What run statistics look like."""
    yield from numbers(model, tuple(scheme for scheme, row in SCHEMES.items() if row.measured))


def resolved(model: Model) -> Iterator[Any]:
    """Every colour of a picture with all open."""
    for scheme in ("structure", "op-type", "device"):
        paint = model.picture(open_all=True, max_open=60, max_annotations=2, color_by=scheme).paint
        yield [(fill.fill, fill.badge) for fill in paint.boxes], paint.accounts
        yield [None if fill is None else (fill.fill, fill.badge) for fill in paint.stubs]
        yield paint.scheme, paint.heading, [row.label for row in paint.legend]
