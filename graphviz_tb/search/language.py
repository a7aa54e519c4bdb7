"""Queries: words with fields and comparisons, joined by `and` (or nothing), `or`, `not` and parentheses.

conv                     in a name, op type, device, label or attribute
op:Conv2D  device:GPU    in one field: name op device attr shape dtype
attr:padding=SAME        an attribute and its value; attr:padding for any value
**attn*  op:Conv*        `*` within a segment of a name, `**` across slashes, `?` one letter
params>1M  time>=2ms     parameters, FLOPs, macs, activations, weights, memory, time
/conv\\d/  "two words"    a regular expression; a text with spaces
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphviz_tb.errors import RequestError, UnknownChoice, nearest, suggestions
from graphviz_tb.limits import QUERY_TERMS

FIELDS = ("name", "op", "device", "attr", "shape", "dtype")
QUANTITIES = {
    "parameters": "parameters", "params": "parameters", "param": "parameters",
    "flops": "flops", "macs": "macs",
    "activations": "activation_bytes", "activation_bytes": "activation_bytes",
    "weights": "weight_bytes", "weight_bytes": "weight_bytes", "size": "weight_bytes",
    "memory": "memory", "time": "time",
}  # fmt: skip
UNITS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}  # microseconds
SIGNS = (">=", "<=", "==", "!=", ">", "<", "=")

SIGN = "|".join(SIGNS)
NUMBER = r"[0-9]+(?:\.[0-9]+)?"
FIELD = re.compile(rf"({'|'.join(FIELDS)}|key):(.*)", re.IGNORECASE | re.DOTALL)
NO_FIELD = re.compile(r"([a-z_]+):(?!:|[0-9]+$).*", re.IGNORECASE | re.DOTALL)  # `dense:0` and `aten::add` are names
COMPARISON = re.compile(rf"([a-z_]+)({SIGN})({NUMBER})([a-zµ]*)", re.IGNORECASE)
UNIT = re.compile(r"([kmgt]?)(i?)b?", re.IGNORECASE)
REGEX = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)
SPACED_FIELD = re.compile(rf"(^|[\s(])({'|'.join(FIELDS)}|key):[ \t]+(?=[^\s])", re.IGNORECASE)
SPACED_SIGN = re.compile(rf"\b({'|'.join(QUANTITIES)})\s*({SIGN})\s*(?=[0-9])", re.IGNORECASE)
WORD = re.compile(r'\(|(?:[^\s"]|"[^"]*"?)+')
JOINING = frozenset(("and", "or", "not", "(", ")"))


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


def parse(text: str) -> Query:
    """Parse a query. Raises `RequestError` if it is malformed.

    Several words without any field or sign also match as one text.

    >>> parse("op:Conv2D not params>1k")
    Joined(every=True, queries=(TextTerm(field='op', text='Conv2D', regex=False), \
Negated(query=NumberTerm(quantity='parameters', sign='>', limit=1000.0))))
    >>> parse("a b").every
    False
    """
    words = list(words_of_query(text))
    if not words:
        raise RequestError("nothing to look for", hint="a name, op:Conv2D, params>1M …")
    if len(words) > QUERY_TERMS:
        raise RequestError(f"more than {QUERY_TERMS} words to look for", hint="look for fewer at once")
    reader = QueryReader(words)
    query = reader.any()
    if reader.words:
        raise RequestError("a ) closes nothing", hint="put text with parentheses in quotes")
    plain = len(words) > 1 and all(map(is_plain, words))
    return Joined(False, (query, TextTerm("", text.strip()))) if plain else query


def is_plain(word: str) -> bool:
    """Return whether a word is plain text: no field, sign, quotes or keyword."""
    return word not in JOINING and '"' not in word and term(word) == TextTerm("", word)


def words_of_query(text: str) -> Iterator[str]:
    """Split a text into words; parentheses around words become words, quotes are kept."""
    if REGEX.fullmatch(text.strip()):
        yield text.strip()
        return
    text = SPACED_SIGN.sub(r"\1\2", SPACED_FIELD.sub(r"\1\2:", text))
    for found in WORD.finditer(text):
        word = found[0]
        closing = 0
        while word.endswith(")") and word.count(")") > word.count("(") and word != "(":
            word, closing = word[:-1], closing + 1
        joining = word.lower() if word.lower() in JOINING else word
        yield from ([joining] if word else [])
        yield from ")" * closing


class QueryReader:
    """Recursive descent parser; each method consumes the words of its rule."""

    def __init__(self, words: list[str]) -> None:
        self.words = words[::-1]
        self.depth = 0

    def any(self) -> Query:
        """Parse queries with `or` between them."""
        queries = [self.every()]
        while self.next_is("or"):
            self.words.pop()
            queries.append(self.every())
        return queries[0] if len(queries) == 1 else Joined(False, tuple(queries))

    def every(self) -> Query:
        """Parse queries in sequence, with or without `and`."""
        queries = [self.one()]
        while self.words and not self.next_is("or", ")"):
            if self.next_is("and"):
                self.words.pop()
            queries.append(self.one())
        return queries[0] if len(queries) == 1 else Joined(True, tuple(queries))

    def one(self) -> Query:
        """Parse a term or a query in parentheses, perhaps negated."""
        negated = False
        while self.next_is("not"):
            self.words.pop()
            negated = not negated
        if not self.words or self.next_is("and", "or", ")"):
            raise RequestError("a word is missing", hint='look for the words and, or, not as "and", "or", "not"')
        word = self.words.pop()
        query = self.inside() if word == "(" else term(word)
        return Negated(query) if negated else query

    def inside(self) -> Query:
        """Parse the rest of a query in parentheses."""
        query = self.any()
        if not self.next_is(")"):
            raise RequestError("a ( is not closed", hint="put text with parentheses in quotes")
        self.words.pop()
        return query

    def next_is(self, *words: str) -> bool:
        """Return whether the next word is one of these."""
        return bool(self.words) and self.words[-1] in words


def term(word: str) -> Query:
    """Parse one word: a text or a comparison. Raises `RequestError` for an unknown quantity or field.

    >>> term("time>2ms"), term('"time>2ms"')
    (NumberTerm(quantity='time', sign='>', limit=2000.0), TextTerm(field='', text='time>2ms', regex=False))
    >>> term("params<=1.001K")
    NumberTerm(quantity='parameters', sign='<=', limit=1001.0)
    """
    compared = COMPARISON.fullmatch(word)
    if compared:
        quantity = QUANTITIES.get(compared[1].lower())
        if quantity is None and compared[2] in "==":  # an attribute: `name=value`
            return TextTerm("", word)
        if quantity is None:
            hint = f"choose one of: {', '.join(QUANTITIES)}; or put a name in quotes"
            raise RequestError(f"nothing to compare is called {compared[1]!r}", hint=hint)
        # Round to 15 digits: 1.001K is 1001, but the product of the two floats is slightly less.
        number = float(f"{float(compared[3]) * scale(quantity, compared[4]):.15g}")
        return NumberTerm(quantity, "==" if compared[2] == "=" else compared[2], number)
    found = FIELD.fullmatch(word)
    if found is None and (misspelt := NO_FIELD.fullmatch(word)):
        raise no_field(misspelt[1], word)
    if found and not found[2].replace('"', ""):
        raise RequestError(f"{found[1]}: is followed by nothing to look for", hint=f"{found[1]}:TEXT, in one word")
    field, text = (found[1].lower().replace("key", "attr"), found[2]) if found else ("", word)
    regex = REGEX.fullmatch(text)
    if regex:
        return TextTerm(field, ("(?i)" if "i" in regex[2] else "") + regex[1], regex=True)
    return TextTerm(field, text.replace('"', ""))


def no_field(name: str, word: str) -> RequestError:
    """Return the error for a word that begins like a field but names no field."""
    if name.lower() in QUANTITIES:
        return RequestError(f"{name} is compared, not looked for: {word!r}", hint=f"{name}>1M, {name}<=2k …")
    hint = f"fields: {', '.join(FIELDS)}; a text with a colon is put in quotes"
    return UnknownChoice(f"unknown field {name!r}{suggestions(nearest(name.lower(), FIELDS), ())}", hint=hint)


def scale(quantity: str, unit: str) -> float:
    """Return the factor of a unit to the base unit of a quantity. Raises `RequestError` for an unknown unit."""
    if quantity == "time" and unit.lower() in UNITS:
        return UNITS[unit.lower()]
    found = UNIT.fullmatch(unit)
    if found is None or (quantity == "time" and unit):
        known = ", ".join(UNITS) if quantity == "time" else "K, M, G, T, KB, MiB …"
        raise RequestError(f"{unit!r} is no unit of {quantity.replace('_', ' ')}", hint=f"one of: {known}")
    power = "kmgt".index(found[1].lower()) + 1 if found[1] else 0
    return float((1024 if found[2] else 1000) ** power)


def has_regex(query: Query) -> bool:
    """Return whether a query has a regular expression, which may take unbounded time."""
    if isinstance(query, Joined):
        return any(map(has_regex, query.queries))
    return has_regex(query.query) if isinstance(query, Negated) else isinstance(query, TextTerm) and query.regex
