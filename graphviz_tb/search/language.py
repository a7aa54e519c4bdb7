"""Queries: words with fields and comparisons, joined by `and` (or nothing), `or`, `not` and parentheses.

conv                     in a name, op type, device, label or attribute
op:Conv2D  device:GPU    in one field: name op device attr shape dtype source
attr:padding=SAME        an attribute and its value; attr:padding for any value
source:model.py:41       the line of source code that made an op, if an exported program records it
**attn*  op:Conv*        `*` within a segment of a name, `**` across slashes, `?` one letter
params>1M  time>=2ms     parameters, FLOPs, macs, activations, weights, memory, time
/conv\\d/  "two words"    a regular expression; a text with spaces
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphviz_tb.errors import MalformedAssertion, RequestError, UnknownChoice, nearest_names, suggest_names
from graphviz_tb.limits import MAX_QUERY_TERMS

QUERY_FIELDS = ("name", "op", "device", "attr", "shape", "dtype", "source")
QUERY_QUANTITIES = {
    "parameters": "parameters", "params": "parameters", "param": "parameters",
    "flops": "flops", "macs": "macs",
    "activations": "activation_bytes", "activation_bytes": "activation_bytes",
    "weights": "weight_bytes", "weight_bytes": "weight_bytes", "size": "weight_bytes",
    "memory": "memory", "time": "time",
}  # fmt: skip
TIME_UNITS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}  # microseconds
COMPARISON_SIGNS = (">=", "<=", "==", "!=", ">", "<", "=")

SIGN_PATTERN = "|".join(COMPARISON_SIGNS)
NUMBER_PATTERN = r"[0-9]+(?:\.[0-9]+)?"
FIELD_TERM = re.compile(rf"({'|'.join(QUERY_FIELDS)}|key):(.*)", re.IGNORECASE | re.DOTALL)
# `dense:0` and `aten::add` are names
UNKNOWN_FIELD_TERM = re.compile(r"([a-z_]+):(?!:|[0-9]+$).*", re.IGNORECASE | re.DOTALL)
COMPARISON_TERM = re.compile(rf"([a-z_]+)({SIGN_PATTERN})({NUMBER_PATTERN})([a-zµ]*)", re.IGNORECASE)
SI_UNIT = re.compile(r"([kmgt]?)(i?)b?", re.IGNORECASE)
REGEX_TERM = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)
SPACED_FIELD = re.compile(rf"(^|[\s(])({'|'.join(QUERY_FIELDS)}|key):[ \t]+(?=[^\s])", re.IGNORECASE)
SPACED_SIGN = re.compile(rf"\b({'|'.join(QUERY_QUANTITIES)})\s*({SIGN_PATTERN})\s*(?=[0-9]|$)", re.IGNORECASE)
# A quantity before a sign, but not `size=SAME`: that is an attribute.
COMPARED_QUANTITY = re.compile(rf"({'|'.join(QUERY_QUANTITIES)})(>=|<=|==|!=|>|<)(.*)", re.IGNORECASE | re.DOTALL)
QUERY_WORD = re.compile(r'\(|(?:[^\s"]|"[^"]*"?)+')
QUERY_KEYWORDS = frozenset(("and", "or", "not", "(", ")"))


@dataclass(frozen=True, slots=True)
class TextTerm:
    """A text in one field, or in all ("" as field); with `regex` a regular expression."""

    field: str
    text: str
    regex: bool = False


@dataclass(frozen=True, slots=True)
class NumberTerm:
    """A quantity compared with a number, in FLOPs, bytes or microseconds."""

    quantity: str
    sign: str
    limit: float


@dataclass(frozen=True, slots=True)
class Joined:
    """Queries that must all hold (`every`), or at least one."""

    every: bool
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """A query that must not hold."""

    query: Query


Query = TextTerm | NumberTerm | Joined | Negated


def parse_query(text: str) -> Query:
    """Parse a query. Raises `RequestError` if it is malformed.

    Several words without any field or sign also match as one text.

    >>> parse_query("op:Conv2D not params>1k")
    Joined(every=True, queries=(TextTerm(field='op', text='Conv2D', regex=False), \
Negated(query=NumberTerm(quantity='parameters', sign='>', limit=1000.0))))
    >>> parse_query("a b").every
    False
    """
    words = list(_split_query(text))
    if not words:
        raise _query_error("nothing")
    if len(words) > MAX_QUERY_TERMS:
        raise _query_error("long", str(MAX_QUERY_TERMS))
    reader = QueryParser(words)
    query = reader.parse_or()
    if reader.words:
        raise _query_error("closes")
    plain = len(words) > 1 and all(map(_is_plain_word, words))
    return Joined(False, (query, TextTerm("", text.strip()))) if plain else query


def _is_plain_word(word: str) -> bool:
    """Return whether a word is plain text: no field, sign, quotes or keyword."""
    return word not in QUERY_KEYWORDS and '"' not in word and _parse_term(word) == TextTerm("", word)


def _split_query(text: str) -> Iterator[str]:
    """Split a text into words; parentheses around words become words, quotes are kept."""
    if REGEX_TERM.fullmatch(text.strip()):
        yield text.strip()
        return
    text = SPACED_SIGN.sub(r"\1\2", SPACED_FIELD.sub(r"\1\2:", text))
    for found in QUERY_WORD.finditer(text):
        word = found[0]
        closing = 0
        while word.endswith(")") and word.count(")") > word.count("(") and word != "(":
            word, closing = word[:-1], closing + 1
        joining = word.lower() if word.lower() in QUERY_KEYWORDS else word
        yield from ([joining] if word else [])
        yield from ")" * closing


class QueryParser:
    """Recursive descent parser; each method consumes the words of its rule."""

    def __init__(self, words: list[str]) -> None:
        self.words = words[::-1]

    def parse_or(self) -> Query:
        """Parse queries with `or` between them."""
        queries = [self.parse_and()]
        while self.next_is("or"):
            self.words.pop()
            queries.append(self.parse_and())
        return queries[0] if len(queries) == 1 else Joined(False, tuple(queries))

    def parse_and(self) -> Query:
        """Parse queries in sequence, with or without `and`."""
        queries = [self.parse_factor()]
        while self.words and not self.next_is("or", ")"):
            if self.next_is("and"):
                self.words.pop()
            queries.append(self.parse_factor())
        return queries[0] if len(queries) == 1 else Joined(True, tuple(queries))

    def parse_factor(self) -> Query:
        """Parse a term or a query in parentheses, perhaps negated."""
        negated = False
        while self.next_is("not"):
            self.words.pop()
            negated = not negated
        if not self.words or self.next_is("and", "or", ")"):
            raise _query_error("missing")
        word = self.words.pop()
        query = self.parse_parentheses() if word == "(" else _parse_term(word)
        return Negated(query) if negated else query

    def parse_parentheses(self) -> Query:
        """Parse the rest of a query in parentheses."""
        query = self.parse_or()
        if not self.next_is(")"):
            raise _query_error("open")
        self.words.pop()
        return query

    def next_is(self, *words: str) -> bool:
        """Return whether the next word is one of these."""
        return bool(self.words) and self.words[-1] in words


def _parse_term(word: str) -> Query:
    """Parse one word: a text or a comparison. Raises `RequestError` for an unknown quantity or field.

    >>> _parse_term("time>2ms"), _parse_term('"time>2ms"')
    (NumberTerm(quantity='time', sign='>', limit=2000.0), TextTerm(field='', text='time>2ms', regex=False))
    >>> _parse_term("params<=1.001K")
    NumberTerm(quantity='parameters', sign='<=', limit=1001.0)
    """
    comparison = COMPARISON_TERM.fullmatch(word)
    if comparison:
        quantity = QUERY_QUANTITIES.get(comparison[1].lower())
        if quantity is None and comparison[2] in "==":  # an attribute: `name=value`
            return TextTerm("", word)
        if quantity is None:
            raise _query_error("quantity", comparison[1])
        # Round to 15 digits: 1.001K is 1001, but the product of the two floats is slightly less.
        number = float(f"{float(comparison[3]) * _unit_factor(quantity, comparison[4]):.15g}")
        return NumberTerm(quantity, "==" if comparison[2] == "=" else comparison[2], number)
    if without_number := COMPARED_QUANTITY.fullmatch(word):
        raise _query_error("number", without_number[1] + without_number[2], without_number[3])
    field_match = FIELD_TERM.fullmatch(word)
    if field_match is None and (misspelt := UNKNOWN_FIELD_TERM.fullmatch(word)):
        raise _query_error("field", misspelt[1], word)
    if field_match and not field_match[2].replace('"', ""):
        raise _query_error("empty", field_match[1])
    field, text = (field_match[1].lower().replace("key", "attr"), field_match[2]) if field_match else ("", word)
    regex = REGEX_TERM.fullmatch(text)
    if regex:
        return TextTerm(field, ("(?i)" if "i" in regex[2] else "") + regex[1], regex=True)
    return TextTerm(field, text.replace('"', ""))


def _query_error(kind: str, word: str = "", about: str = "") -> RequestError:
    """Return the error of a kind about a word of a query. The page translates each kind."""
    known_units = ", ".join(TIME_UNITS) if about == "time" else "K, M, G, T, KB, MiB …"
    wrong = f"{about!r} is not a number" if about else "it is followed by nothing"
    message, hint = {
        "nothing": ("nothing to look for", "a name, op:Conv2D, params>1M …"),
        "long": (f"more than {word} words to look for", "look for fewer at once"),
        "closes": ("a ) closes nothing", "put text with parentheses in quotes"),
        "open": ("a ( is not closed", "put text with parentheses in quotes"),
        "missing": ("a word is missing", 'look for the words and, or, not as "and", "or", "not"'),
        "quantity": (
            f"nothing to compare is called {word!r}",
            f"choose one of: {', '.join(QUERY_QUANTITIES)}; or put a name in quotes",
        ),
        "number": (f"{word} compares with a number: {wrong}", f"{word}1M, {word}2.5k …"),
        "empty": (f"{word}: is followed by nothing to look for", f"{word}:TEXT, in one word"),
        "unit": (f"{word!r} is not a unit of {about.replace('_', ' ')}", f"one of: {known_units}"),
    }.get(kind, ("", ""))
    return RequestError(message, hint=hint) if message else _unknown_field_error(word, about)


def _unknown_field_error(name: str, word: str) -> RequestError:
    """Return the error for a word that begins like a field but names no field."""
    if name.lower() in QUERY_QUANTITIES:
        return RequestError(f"{name} is compared, not looked for: {word!r}", hint=f"{name}>1M, {name}<=2k …")
    hint = f"fields: {', '.join(QUERY_FIELDS)}; a text with a colon is put in quotes"
    return UnknownChoice(
        f"unknown field {name!r}{suggest_names(nearest_names(name.lower(), QUERY_FIELDS), ())}", hint=hint
    )


def _unit_factor(quantity: str, unit: str) -> float:
    """Return the factor of a unit to the base unit of a quantity. Raises `RequestError` for an unknown unit."""
    if quantity == "time" and unit.lower() in TIME_UNITS:
        return TIME_UNITS[unit.lower()]
    found = SI_UNIT.fullmatch(unit)
    if found is None or (quantity == "time" and unit):
        raise _query_error("unit", unit, quantity)
    power = "kmgt".index(found[1].lower()) + 1 if found[1] else 0
    return float((1024 if found[2] else 1000) ** power)


# Assertions about a whole graph, in the query language: `count(op:Cast) == 0`, `params(name:encoder) < 5M`.

MATCH_COUNT, OP_COUNT = "count", "ops"  # asserted in addition to quantities: the number of matches, and of ops
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
    >>> try:
    ...     parse_assertion("params 5M")
    ... except MalformedAssertion as error:
    ...     print(error)
    a comparison is missing (< <= > >= == !=):
      params 5M
             ^
    """
    name = QUANTITY_NAME.match(text)
    if name is None or name[1].lower() not in ASSERTED_QUANTITIES:
        what = "a quantity is missing" if name is None else f"unknown quantity {name[1]!r}"
        hint = f"it begins with one of: {', '.join(ASSERTED_QUANTITIES)}; examples: {ASSERTION_EXAMPLES}"
        raise MalformedAssertion(what, text, name.start(1) if name else 0, hint=hint)
    quantity = ASSERTED_QUANTITIES[name[1].lower()]
    position = _query_end(text, name.end())
    query = _parse_inner_query(text, name.end(), position) if position > name.end() else None
    if quantity == MATCH_COUNT and query is None:
        raise MalformedAssertion("count takes a query", text, position, hint="count(op:Cast) == 0")
    sign, limit = _parse_comparison(text, position, quantity)
    return Assertion(text.strip(), query, NumberTerm(quantity, "==" if sign == "=" else sign, limit))


def _query_end(text: str, start: int) -> int:
    """Return the position after the parenthesis that closes the one at `start`; `start` itself if none opens there."""
    if not text.startswith("(", start):
        return start
    # Numbers have no parentheses, so the last one closes the query, even if quoted texts contain some.
    end = text.rfind(")")
    if end < 0:
        raise MalformedAssertion("a ( is not closed", text, start, hint=f"examples: {ASSERTION_EXAMPLES}")
    return end + 1


def _parse_inner_query(text: str, start: int, stop: int) -> Query:
    """Parse the query between the parentheses at `start` and before `stop`."""
    try:
        return parse_query(text[start + 1 : stop - 1])
    except RequestError as error:
        raise MalformedAssertion(error.message, text, start + 1, hint=error.hint) from None


def _parse_comparison(text: str, start: int, quantity: str) -> tuple[str, float]:
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
        limit = float(amount[1]) * _unit_factor(quantity, amount[2])
    except RequestError as error:
        raise MalformedAssertion(error.message, text, amount.start(2), hint=error.hint) from None
    if amount.end() < len(text):
        hint = "one assertion takes one comparison: give --assert once for each"
        raise MalformedAssertion("the assertion should end here", text, amount.end(), hint=hint)
    return compared[1], limit
