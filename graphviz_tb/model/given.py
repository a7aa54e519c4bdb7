"""Facts that a user supplies about nodes: numbers and texts by name."""

from __future__ import annotations

from collections.abc import Mapping

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.units import format_number

FactValue = float | str


@dataclass(frozen=True, slots=True, eq=False)
class UserFacts:
    """Columns by name, each with the values of some rows; `shown` is the column that colours the graph."""

    columns: Mapping[str, Mapping[int, FactValue]]
    shown: str

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in file order."""
        return tuple(self.columns)

    def values_of_row(self, row: int) -> dict[str, FactValue]:
        """Return the values of a row, by column."""
        return {name: values[row] for name, values in self.columns.items() if row in values}

    def is_numeric(self, name: str) -> bool:
        """Return whether a column holds only numbers."""
        return all(not isinstance(value, str) for value in self.columns[name].values())

    def text_of_row(self, row: int) -> str:
        """Return the values of a row as text."""
        return " · ".join(f"{name}: {fact_text(value)}" for name, value in self.values_of_row(row).items())


def fact_text(value: FactValue) -> str:
    """Format a value for people.

    >>> fact_text("gpu"), fact_text(2.0), fact_text(0.123456)
    ('gpu', '2', '0.123')
    """
    return value if isinstance(value, str) else format_number(value, 3)
