"""Find the rows of a graph that match a query."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from graphviz_tb.errors import MissingFacts, RequestError
from graphviz_tb.model.columns import Bools, Floats, Longs
from graphviz_tb.search.language import Joined, Negated, NumberTerm, Query, TextTerm
from graphviz_tb.view.wildcards import Pattern, is_wild

TextTest = Callable[[str], bool]
COMPARE: dict[str, Callable[[Any, float], Any]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
EVERYWHERE = ("name", "op", "device", "attr")  # fields that are searched for a text without a field
INTERNED = ("op", "device")
NO_STATISTICS = "no run statistics were read", "--run-metadata FILE reads them"
NO_WEIGHTS = ("a trace of PyTorch has no shapes of weights", "export the model, or count them in the program")
WHY_UNKNOWN: dict[str, tuple[str, str | None]] = {
    "time": NO_STATISTICS,
    "memory": NO_STATISTICS,
    "parameters": NO_WEIGHTS,
    "weight_bytes": NO_WEIGHTS,
}
SIZE = re.compile(r"(?<=[0-9?])[x,](?=[0-9?])|, ")


class SearchedRows(Protocol):
    """A graph as seen by search: texts and numbers of its rows."""

    def __len__(self) -> int: ...

    def interned(self, field: str) -> tuple[Longs, Sequence[str]]:
        """Return for each row the number of its text, and all texts, for "op" or "device"; "" means no text."""

    def each(self, field: str) -> Iterator[tuple[int, str]]:
        """Yield each row and text of a field: "name" (labels too), "attr" (`name=value`), "shape", "dtype"."""

    def numbers(self, quantity: str) -> Floats | None:
        """Return a number for each row, NaN if unknown; None if unknown for all rows."""


class BoundedRows(SearchedRows, Protocol):
    """Rows that also know which of their numbers are lower bounds."""

    def lacking(self, quantity: str) -> Bools:
        """Mask the rows that may have more of a quantity than their number."""


def matching(rows: SearchedRows, query: Query) -> Bools:
    """Mask the rows for which a query holds; never row 0, the whole.

    Raises `MissingFacts` for a quantity that is unknown for all rows, `RequestError` for an invalid regular expression.
    """
    marked = holds(rows, query)
    marked[:1] = False
    return marked


def holds(rows: SearchedRows, query: Query) -> Bools:
    """Mask the rows for which a query holds, row 0 included."""
    if isinstance(query, Negated):
        return ~holds(rows, query.query)
    if isinstance(query, Joined):
        join = np.logical_and if query.every else np.logical_or
        joined: Bools = join.reduce([holds(rows, one) for one in query.queries])
        return joined
    if isinstance(query, NumberTerm):
        return rows_compared(rows, query)
    marked = np.zeros(len(rows), bool)
    for field in [query.field] if query.field else EVERYWHERE:
        marked |= of_field(rows, field, query)
    return marked


def matching_bounds(rows: BoundedRows, query: Query) -> tuple[Bools, Bools]:
    """Mask the rows for which a query certainly holds, and those for which it may hold, given lower bounds of numbers.

    Never row 0, the whole. Raises as `matching` does.
    """
    certain, possible = bounds(rows, query)
    certain[:1] = possible[:1] = False
    return certain, possible


def bounds(rows: BoundedRows, query: Query) -> tuple[Bools, Bools]:
    """Mask the rows for which a query certainly holds, and possibly holds, row 0 included."""
    if isinstance(query, Negated):
        certain, possible = bounds(rows, query.query)
        return ~possible, ~certain
    if isinstance(query, Joined):
        join = np.logical_and if query.every else np.logical_or
        each = [bounds(rows, one) for one in query.queries]
        return join.reduce([certain for certain, _ in each]), join.reduce([possible for _, possible in each])
    held = holds(rows, query)
    if not isinstance(query, NumberTerm):
        return held, held.copy()
    lacking = rows.lacking(query.quantity)
    # A lower bound may exceed any limit in truth, and is never more than the true number.
    over = rows_compared(rows, NumberTerm(query.quantity, ">", query.limit))
    grows = query.sign in (">", ">=", "!=")
    certain = held & (over | ~lacking) if query.sign == "!=" else held if grows else held & ~lacking
    return certain, held | (lacking if grows else lacking & ~over if query.sign == "==" else False)


def rows_compared(rows: SearchedRows, query: NumberTerm) -> Bools:
    """Mask the rows with a known number that satisfies a comparison."""
    numbers = known_numbers(rows, query.quantity)
    with np.errstate(invalid="ignore"):
        return np.asarray(~np.isnan(numbers) & COMPARE[query.sign](numbers, query.limit), bool)


def known_numbers(rows: SearchedRows, quantity: str) -> Floats:
    """Return the number of each row, NaN if unknown. Raises `MissingFacts` if it is unknown for all rows."""
    numbers = rows.numbers(quantity)
    if numbers is None:
        reason, hint = WHY_UNKNOWN.get(quantity, ("its costs were not worked out", None))
        verb = "are" if quantity.endswith("s") else "is"
        raise MissingFacts(f"{quantity.replace('_', ' ')} {verb} not known in this graph: {reason}", hint=hint)
    return numbers


def of_field(rows: SearchedRows, field: str, query: TextTerm) -> Bools:
    """Mask the rows with a text in a field. Except in names, a text equal to a whole value matches only that value."""
    marked = np.zeros(len(rows), bool)
    if not query.text:
        return marked
    if field in INTERNED:
        numbers, texts = rows.interned(field)
        test = test_of(query, field, texts)
        fitting = [number for number, text in enumerate(texts) if text and test(text)]
        marked |= np.isin(numbers, fitting)
        return marked
    pairs = rows.each(field)
    if query.field and field != "name":  # two passes: does any value equal the text?
        pairs = iter(kept := list(pairs))
        test = test_of(query, field, [text for _, text in kept])
    else:
        test = test_of(query, field, ())
    for row, text in pairs:
        if test(text):
            marked[row] = True
    return marked


def test_of(query: TextTerm, field: str, texts: Sequence[str]) -> TextTest:
    """Return the test of a text; `texts` are all values of its field, one of which it may equal."""
    if query.regex:
        return regex_test(query.text)
    wanted = query.text.lower()
    if field == "shape":
        wanted = SIZE.sub("×", wanted)
    if query.field and any(text.lower() == wanted for text in texts):
        return lambda text: text.lower() == wanted
    if is_wild(wanted) and field != "shape":
        matches = Pattern(wanted if field == "name" else wanted.replace("*", "**")).matches
        return lambda text: matches(text.lower())
    return lambda text: wanted in text.lower()


def regex_test(text: str) -> TextTest:
    """Return the test of a regular expression. Raises `RequestError` if it is invalid."""
    try:
        search = re.compile(text).search
    except re.error as error:
        raise RequestError(f"{text!r} is not a valid regular expression: {error}") from error
    return lambda name: search(name) is not None
