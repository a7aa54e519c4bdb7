"""Which rows of a graph a query asks for."""

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
EVERYWHERE = ("name", "op", "device", "attr")  # the fields in which a text without a field is looked for
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
    """A graph as search sees it: the texts and numbers of its rows."""

    def __len__(self) -> int: ...

    def interned(self, field: str) -> tuple[Longs, Sequence[str]]:
        """For each row the number of its text, and all texts: "op" or "device". No text is ""."""

    def each(self, field: str) -> Iterator[tuple[int, str]]:
        """Rows with a text that they have in a field: "name" (labels too), "attr" (`name=value`), "shape", "dtype"."""

    def numbers(self, quantity: str) -> Floats | None:
        """A number for each row, NaN where it is not known; None where it is known of none."""


class BoundedRows(SearchedRows, Protocol):
    """Rows that also know where a number is more than is counted."""

    def lacking(self, quantity: str) -> Bools:
        """Which rows have more of a quantity than their number says."""


def matching(rows: SearchedRows, query: Query) -> Bools:
    """Mark the rows for which a query holds; never row 0, the whole.

    Raises `MissingFacts` for a quantity that is known of no row, `RequestError` for a wrong regular expression.
    """
    marked = holds(rows, query)
    marked[:1] = False
    return marked


def holds(rows: SearchedRows, query: Query) -> Bools:
    """Mark the rows for which a query holds."""
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
    """Mark the rows for which a query holds whatever their unknown parts are, and those for which it may hold.

    Never row 0, the whole. Raises as `matching` does.
    """
    certain, possible = bounds(rows, query)
    certain[:1] = possible[:1] = False
    return certain, possible


def bounds(rows: BoundedRows, query: Query) -> tuple[Bools, Bools]:
    """Mark the rows for which a query holds certainly, and possibly."""
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
    # More than is counted may pass any limit, and is never less than what is counted.
    over = rows_compared(rows, NumberTerm(query.quantity, ">", query.limit))
    grows = query.sign in (">", ">=", "!=")
    certain = held & (over | ~lacking) if query.sign == "!=" else held if grows else held & ~lacking
    return certain, held | (lacking if grows else lacking & ~over if query.sign == "==" else False)


def rows_compared(rows: SearchedRows, query: NumberTerm) -> Bools:
    """Mark the rows of which a number is known that compares as asked."""
    numbers = known_numbers(rows, query.quantity)
    with np.errstate(invalid="ignore"):
        return np.asarray(~np.isnan(numbers) & COMPARE[query.sign](numbers, query.limit), bool)


def known_numbers(rows: SearchedRows, quantity: str) -> Floats:
    """The number of each row, NaN where it is not known. Raises `MissingFacts` where it is known of none."""
    numbers = rows.numbers(quantity)
    if numbers is None:
        reason, hint = WHY_UNKNOWN.get(quantity, ("its costs were not worked out", None))
        verb = "are" if quantity.endswith("s") else "is"
        raise MissingFacts(f"{quantity.replace('_', ' ')} {verb} not known in this graph: {reason}", hint=hint)
    return numbers


def of_field(rows: SearchedRows, field: str, query: TextTerm) -> Bools:
    """Mark the rows with a text in a field. A text that is there whole means itself alone, but in names."""
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
    if query.field and field != "name":  # looked through twice: is it there whole?
        pairs = iter(kept := list(pairs))
        test = test_of(query, field, [text for _, text in kept])
    else:
        test = test_of(query, field, ())
    for row, text in pairs:
        if test(text):
            marked[row] = True
    return marked


def test_of(query: TextTerm, field: str, texts: Sequence[str]) -> TextTest:
    """The test of a text; `texts` are all texts of its field, where it may be one of them."""
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
    """The test of a regular expression. Raises `RequestError` where it is none."""
    try:
        search = re.compile(text).search
    except re.error as error:
        raise RequestError(f"{text!r} is not a valid regular expression: {error}") from error
    return lambda name: search(name) is not None
