"""Assertions about a whole graph, in the query language: `count(op:Cast) == 0`, `params(name:encoder) < 5M`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphviz_tb.errors import MalformedAssertion, RequestError
from graphviz_tb.search.language import (
    NUMBER_PATTERN,
    QUERY_QUANTITIES,
    SIGN_PATTERN,
    NumberTerm,
    Query,
    parse_query,
    unit_factor,
)

MATCH_COUNT, OP_COUNT = "count", "ops"  # asserted besides quantities: the number of matches, and of ops
ASSERTED_QUANTITIES = {**QUERY_QUANTITIES, MATCH_COUNT: MATCH_COUNT, OP_COUNT: OP_COUNT}
ASSERTION_EXAMPLES = "'count(op:Cast) == 0', 'params < 5M', 'flops(name:encoder) <= 2G'"

QUANTITY_NAME = re.compile(r"\s*([A-Za-z_]+)\s*")
COMPARISON_SIGN = re.compile(rf"\s*({SIGN_PATTERN})\s*")
LIMIT_WITH_UNIT = re.compile(rf"({NUMBER_PATTERN})([A-Za-zµ]*)\s*")


@dataclass(frozen=True, slots=True)
class Assertion:
    """A quantity of the whole graph, or of the matches of a query, and the number to compare it with.

    `text` is the assertion as written; `query` is None for the whole graph.
    """

    text: str
    query: Query | None
    compared: NumberTerm


def parse_assertion(text: str) -> Assertion:
    """Parse an assertion. Raises `MalformedAssertion` with the position of the error.

    >>> parse_assertion("params < 5M").compared
    NumberTerm(quantity='parameters', sign='<', limit=5000000.0)
    >>> parse_assertion("count(op:Cast) = 0").query
    TextTerm(field='op', text='Cast', regex=False)
    >>> parse_assertion("params 5M")
    Traceback (most recent call last):
    graphviz_tb.errors.MalformedAssertion: a comparison is missing (< <= > >= == !=):
      params 5M
             ^
    """
    name = QUANTITY_NAME.match(text)
    if name is None or name[1].lower() not in ASSERTED_QUANTITIES:
        what = "a quantity is missing" if name is None else f"nothing to assert is called {name[1]!r}"
        hint = f"it begins with one of: {', '.join(ASSERTED_QUANTITIES)}; examples: {ASSERTION_EXAMPLES}"
        raise MalformedAssertion(what, text, name.start(1) if name else 0, hint=hint)
    quantity = ASSERTED_QUANTITIES[name[1].lower()]
    at = query_end(text, name.end())
    query = parse_inner_query(text, name.end(), at) if at > name.end() else None
    if quantity == MATCH_COUNT and query is None:
        raise MalformedAssertion("count takes a query", text, at, hint="count(op:Cast) == 0")
    sign, limit = parse_comparison(text, at, quantity)
    return Assertion(text.strip(), query, NumberTerm(quantity, "==" if sign == "=" else sign, limit))


def query_end(text: str, start: int) -> int:
    """Return the position after the parenthesis that closes the one at `start`; `start` itself if none opens there."""
    if not text.startswith("(", start):
        return start
    # Numbers have no parentheses, so the last one closes the query, even if quoted texts contain some.
    end = text.rfind(")")
    if end < 0:
        raise MalformedAssertion("a ( is not closed", text, start, hint=f"examples: {ASSERTION_EXAMPLES}")
    return end + 1


def parse_inner_query(text: str, start: int, stop: int) -> Query:
    """Parse the query between the parentheses at `start` and before `stop`."""
    try:
        return parse_query(text[start + 1 : stop - 1])
    except RequestError as error:
        raise MalformedAssertion(error.message, text, start + 1, hint=error.hint) from None


def parse_comparison(text: str, start: int, quantity: str) -> tuple[str, float]:
    """Parse the sign and the number from `start` to the end, in FLOPs, bytes or microseconds."""
    compared = COMPARISON_SIGN.match(text, start)
    if compared is None:
        at = start + len(text[start:]) - len(text[start:].lstrip())
        hint = f"examples: {ASSERTION_EXAMPLES}"
        raise MalformedAssertion("a comparison is missing (< <= > >= == !=)", text, at, hint=hint)
    amount = LIMIT_WITH_UNIT.match(text, compared.end())
    if amount is None:
        raise MalformedAssertion("a number is missing", text, compared.end(), hint="5000, 5M, 1.5G, 10MB, 2ms")
    try:
        limit = float(amount[1]) * unit_factor(quantity, amount[2])
    except RequestError as error:
        raise MalformedAssertion(error.message, text, amount.start(2), hint=error.hint) from None
    if amount.end() < len(text):
        hint = "one assertion takes one comparison: give --assert once for each"
        raise MalformedAssertion("the assertion should end here", text, amount.end(), hint=hint)
    return compared[1], limit
