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
from graphviz_tb.search.names import NamePattern, has_wildcards

TextTest = Callable[[str], bool]
COMPARE_FUNCTIONS: dict[str, Callable[[Any, float], Any]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
FREE_TEXT_FIELDS = ("name", "op", "device", "attr")  # fields that are searched for a text without a field
INTERNED_FIELDS = ("op", "device")
NO_STATISTICS_HINT = "no run statistics were read", "--run-metadata FILE reads them"
NO_WEIGHTS_HINT = ("a trace of PyTorch has no shapes of weights", "export the model, or count them in the program")
MISSING_FACT_HINTS: dict[str, tuple[str, str | None]] = {
    "time": NO_STATISTICS_HINT,
    "memory": NO_STATISTICS_HINT,
    "parameters": NO_WEIGHTS_HINT,
    "weight_bytes": NO_WEIGHTS_HINT,
}
SIZE_SEPARATOR = re.compile(r"(?<=[0-9?])[x,](?=[0-9?])|, ")


class SearchedRows(Protocol):
    """A graph as seen by search: texts and numbers of its rows."""

    def __len__(self) -> int: ...

    def interned_texts(self, field: str) -> tuple[Longs, Sequence[str]]:
        """Return for each row the number of its text, and all texts, for "op" or "device"; "" means no text."""

    def field_texts(self, field: str) -> Iterator[tuple[int, str]]:
        """Yield each row and text of a field: "name" (labels too), "attr" (`name=value`), "shape", "dtype", "source"
        (`model.py:41 x = f(x)`, and `model.py:41`)."""

    def quantity_values(self, quantity: str) -> Floats | None:
        """Return a number for each row, NaN if unknown; None if unknown for all rows."""


class BoundedRows(SearchedRows, Protocol):
    """Rows that also know which of their numbers are lower bounds."""

    def undercounted_rows(self, quantity: str) -> Bools:
        """Mask the rows that may have more of a quantity than their number."""


def match_rows(rows: SearchedRows, query: Query) -> Bools:
    """Mask the rows for which a query holds; never row 0, the whole.

    Raises `MissingFacts` for a quantity that is unknown for all rows, `RequestError` for an invalid regular expression.
    """
    marked = _evaluate_query(rows, query)
    marked[:1] = False
    return marked


def _evaluate_query(rows: SearchedRows, query: Query) -> Bools:
    """Mask the rows for which a query holds, row 0 included."""
    if isinstance(query, Negated):
        return ~_evaluate_query(rows, query.query)
    if isinstance(query, Joined):
        join = np.logical_and if query.every else np.logical_or
        joined: Bools = join.reduce([_evaluate_query(rows, part) for part in query.queries])
        return joined
    if isinstance(query, NumberTerm):
        return _compare_rows(rows, query)
    marked = np.zeros(len(rows), bool)
    for field in [query.field] if query.field else FREE_TEXT_FIELDS:
        marked |= _rows_with_text(rows, field, query)
    return marked


def match_row_bounds(rows: BoundedRows, query: Query) -> tuple[Bools, Bools]:
    """Mask the rows for which a query certainly holds, and those for which it may hold, given lower bounds of numbers.

    Never row 0, the whole. Raises as `match_rows` does.
    """
    certain, possible = _evaluate_bounds(rows, query)
    certain[:1] = possible[:1] = False
    return certain, possible


def _evaluate_bounds(rows: BoundedRows, query: Query) -> tuple[Bools, Bools]:
    """Mask the rows for which a query certainly holds, and possibly holds, row 0 included."""
    if isinstance(query, Negated):
        certain, possible = _evaluate_bounds(rows, query.query)
        return ~possible, ~certain
    if isinstance(query, Joined):
        join = np.logical_and if query.every else np.logical_or
        bounds = [_evaluate_bounds(rows, part) for part in query.queries]
        return join.reduce([certain for certain, _ in bounds]), join.reduce([possible for _, possible in bounds])
    mask = _evaluate_query(rows, query)
    if not isinstance(query, NumberTerm):
        return mask, mask.copy()
    undercounted = rows.undercounted_rows(query.quantity)
    # The true number may exceed any limit, and is never below its lower bound.
    exceeds = _compare_rows(rows, NumberTerm(query.quantity, ">", query.limit))
    grows = query.sign in (">", ">=", "!=")
    certain = mask & (exceeds | ~undercounted) if query.sign == "!=" else mask if grows else mask & ~undercounted
    return certain, mask | (undercounted if grows else undercounted & ~exceeds if query.sign == "==" else False)


def _compare_rows(rows: SearchedRows, query: NumberTerm) -> Bools:
    """Mask the rows with a known number that satisfies a comparison."""
    numbers = known_values(rows, query.quantity)
    with np.errstate(invalid="ignore"):
        return np.asarray(~np.isnan(numbers) & COMPARE_FUNCTIONS[query.sign](numbers, query.limit), bool)


def known_values(rows: SearchedRows, quantity: str) -> Floats:
    """Return the number of each row, NaN if unknown. Raises `MissingFacts` if it is unknown for all rows."""
    numbers = rows.quantity_values(quantity)
    if numbers is None:
        reason, hint = MISSING_FACT_HINTS.get(quantity, ("its costs were not worked out", None))
        verb = "are" if quantity.endswith("s") else "is"
        raise MissingFacts(f"{quantity.replace('_', ' ')} {verb} not known in this graph: {reason}", hint=hint)
    return numbers


def _rows_with_text(rows: SearchedRows, field: str, query: TextTerm) -> Bools:
    """Mask the rows with a text in a field. Except in names, a text equal to a whole value matches only that value."""
    marked = np.zeros(len(rows), bool)
    if not query.text:
        return marked
    if field in INTERNED_FIELDS:
        numbers, texts = rows.interned_texts(field)
        test = _text_test(query, field, texts)
        matching = [number for number, text in enumerate(texts) if text and test(text)]
        marked |= np.isin(numbers, matching)
        return marked
    pairs = rows.field_texts(field)
    if query.field and field != "name":  # a first pass finds out whether any value equals the text
        pairs = iter(listed := list(pairs))
        test = _text_test(query, field, [text for _, text in listed])
    else:
        test = _text_test(query, field, ())
    for row, text in pairs:
        if test(text):
            marked[row] = True
    return marked


def _text_test(query: TextTerm, field: str, texts: Sequence[str]) -> TextTest:
    """Return the test of a text. A text that equals one of `texts`, all values of its field, matches only equal
    values."""
    if query.regex:
        return _regex_test(query.text)
    wanted = query.text.lower()
    if field == "shape":
        wanted = SIZE_SEPARATOR.sub("×", wanted)
    if query.field and any(text.lower() == wanted for text in texts):
        return lambda text: text.lower() == wanted
    if has_wildcards(wanted) and field != "shape":
        matches = NamePattern(wanted if field == "name" else wanted.replace("*", "**")).matches_name
        return lambda text: matches(text.lower())
    return lambda text: wanted in text.lower()


def _regex_test(text: str) -> TextTest:
    """Return the test of a regular expression. Raises `RequestError` if it is invalid."""
    try:
        search = re.compile(text).search
    except re.error as error:
        raise RequestError(f"{text!r} is not a valid regular expression: {error}") from error
    return lambda name: search(name) is not None
