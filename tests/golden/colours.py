"""What colourings say of graphs that are drawn by a seed, and of numbers at the ends of their scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import SCHEMES, make_colouring
from graphviz_tb.color.colouring import NumberColouring
from graphviz_tb.model.paths import RowPath

VALUES = (-2.0, -1.0, -0.3, 0.0, 0.001, 0.1, 0.24, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 3.0)


def numbers(model: Model, schemes: tuple[str, ...]) -> Iterator[Any]:
    """All that colourings by a number say, and their colours along the scale."""
    for scheme in schemes:
        for theme in ("light", "dark"):
            found = make_colouring(model.hierarchy, model.facts, scheme, theme)
            assert isinstance(found, NumberColouring)
            values = [value for value in VALUES if value >= 0 or found.number_values([]).signed]
            tones = [replace(found, top=1.0).shade_of(value) for value in values]
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


def metered(model: Model) -> Iterator[Any]:
    """What run statistics look like."""
    yield from numbers(model, tuple(scheme for scheme, row in SCHEMES.items() if row.measured))
