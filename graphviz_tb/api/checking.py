"""Check assertions about a model, and find the nodes that explain a failure.

A value with an unknown part is a range from the counted part to infinity. An assertion passes only if it holds for
the whole range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from graphviz_tb.api.finding import MEASURED_QUANTITIES, ModelRows
from graphviz_tb.api.nodes import Node, NodeList
from graphviz_tb.api.summary import row_display_name
from graphviz_tb.errors import RequestError, require_type
from graphviz_tb.graphs.rows import rows_within
from graphviz_tb.model.columns import Bools, Floats, Longs
from graphviz_tb.model.costs import COST_QUANTITIES, EXCESS_OF_QUANTITY, NO_COST, Cost
from graphviz_tb.model.facts import FoldedGraph
from graphviz_tb.model.formatting import format_counted_noun, format_micros, printable
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW
from graphviz_tb.search.language import MATCH_COUNT, OP_COUNT, Assertion, parse_assertion
from graphviz_tb.search.rows import known_values, match_row_bounds

# Results of assertions, and their text.

LISTED_NODES = 5  # nodes listed for each assertion
ASSERTION_PASSED, ASSERTION_FAILED, ASSERTION_UNKNOWN = "passed", "failed", "unknown"
EMPTY_QUERY_REASON = "the query finds nothing; count(…) == 0 asserts that"
STATE_SIGNS = {ASSERTION_PASSED: "✓", ASSERTION_FAILED: "✗", ASSERTION_UNKNOWN: "?"}


@dataclass(frozen=True, slots=True)
class CheckedAssertion:
    """The result of one assertion.

    `state` is "passed", "failed" or "unknown" (undecided). The value is `least`, or if a part of it is unknown between
    `least` and `most` (may be infinite), and `why` names the unknown part. Units: FLOPs, bytes, microseconds. `nodes`
    explain a failure: the surplus matches, the most expensive nodes, or those with an unknown part; empty if too few
    were found.
    """

    assertion: Assertion
    state: str
    least: float
    most: float
    why: str
    nodes: NodeList

    def __bool__(self) -> bool:
        return self.state == ASSERTION_PASSED


class CheckedModel(Sequence[CheckedAssertion]):
    """The results of all assertions, in order; true if every one passed."""

    def __init__(self, model: FoldedGraph, checked: Sequence[CheckedAssertion]) -> None:
        self.model = model
        self._checked = tuple(checked)

    @overload
    def __getitem__(self, at: int) -> CheckedAssertion: ...
    @overload
    def __getitem__(self, at: slice) -> CheckedModel: ...
    def __getitem__(self, at: int | slice) -> CheckedAssertion | CheckedModel:
        """Return one result, or several by a slice."""
        return CheckedModel(self.model, self._checked[at]) if isinstance(at, slice) else self._checked[at]

    def __len__(self) -> int:
        return len(self._checked)

    def __bool__(self) -> bool:
        return all(self._checked)

    def __repr__(self) -> str:
        return "\n".join(assertion_lines(self))


def assertion_lines(checked: CheckedModel, most: int = LISTED_NODES) -> Iterator[str]:
    """Yield a line for each assertion with its value, and below it why it did not pass."""
    for assertion in checked:
        yield f"{STATE_SIGNS[assertion.state]} {printable(assertion.assertion.text)}: {_value_in_words(assertion)}"
        if assertion.why == EMPTY_QUERY_REASON:
            yield f"    {assertion.why}"
        elif assertion.state == ASSERTION_UNKNOWN or (assertion.why and not assertion):
            yield f"    not known: {assertion.why}"
        names = [_node_with_share(checked, assertion, node) for node in assertion.nodes[:most]]
        if names:
            more = len(assertion.nodes) - len(names)
            rest = f", … {more:,} more" if more else ""
            yield f"    {printable(', '.join(names))}{rest}"


def _node_with_share(checked: CheckedModel, each: CheckedAssertion, node: Node) -> str:
    """Return the address of a node, with its share of the sum if the sum is too large."""
    name, quantity = row_display_name(checked.model.hierarchy, node.row), each.assertion.compared.quantity
    share = node.time if quantity == "time" else getattr(node.cost, quantity) if quantity in COST_QUANTITIES else None
    return (
        f"{name} ({_format_quantity(quantity, share)})"
        if each.state == ASSERTION_FAILED and share is not None
        else name
    )


def _value_in_words(each: CheckedAssertion) -> str:
    """Return the value in words, as a range if it is partly unknown.

    >>> from graphviz_tb import load
    >>> _value_in_words(load(b'node { name: "a" op: "Cast" }').check("count(op:Cast) < 1")[0])
    '1 found'
    """
    quantity = each.assertion.compared.quantity
    least = _format_quantity(quantity, each.least)
    if each.least == each.most:
        return least
    if math.isinf(each.most):
        return f"at least {least}" if each.least else "unknown"
    return f"{int(each.least):,} to {_format_quantity(quantity, each.most)}"


def _format_quantity(quantity: str, number: float) -> str:
    """Return a number with all digits, since near a limit three are not enough."""
    if quantity == "time":
        return format_micros(number)
    word = (
        " found" if quantity == MATCH_COUNT else " bytes" if quantity.endswith("bytes") or quantity == "memory" else ""
    )
    return f"{int(number):,}{word}"


def assertions_verdict(checked: CheckedModel) -> str:
    """Return how many of the assertions passed.

    >>> from graphviz_tb import load
    >>> assertions_verdict(load(b'node { name: "a" op: "Cast" }').check("ops == 1", "count(op:Cast) == 0"))
    '1 of 2 assertions passed; 1 failed'
    """
    states = [assertion.state for assertion in checked]
    count = len(states)
    said = [f"{states.count(ASSERTION_PASSED):,} of {format_counted_noun(count, 'assertion')} passed"]
    said += [f"{states.count(word):,} {word}" for word in (ASSERTION_FAILED, ASSERTION_UNKNOWN) if word in states]
    return "; ".join(said)


# Name of a count in `Cost` → words for what is missing, singular and plural.
MISSING_WORDS: Mapping[str, tuple[str, str]] = {
    "uncounted": ("op whose operations are not counted", "ops whose operations are not counted"),
    "partial": ("op counted in part", "ops counted in part"),
    "unsized": ("weight of unknown size", "weights of unknown size"),
    "doubtful": ("constant or op that may hold weights", "constants and ops that may hold weights"),
    "unshaped": ("op with an output of unknown shape", "ops with an output of unknown shape"),
}
# Sign → (least, most, limit) → (holds for certain, possibly holds).
SIGN_TESTS: Mapping[str, Callable[[float, float, float], tuple[bool, bool]]] = {
    "<": lambda least, most, limit: (most < limit, least < limit),
    "<=": lambda least, most, limit: (most <= limit, least <= limit),
    ">": lambda least, most, limit: (least > limit, most > limit),
    ">=": lambda least, most, limit: (least >= limit, most >= limit),
    "==": lambda least, most, limit: (least == most == limit, least <= limit <= most),
    "!=": lambda least, most, limit: (not least <= limit <= most, not least == most == limit),
}


@dataclass(frozen=True, slots=True)
class ValueRange:
    """A value from `least` to `most`, why the two differ, and the rows it consists of, largest first."""

    least: float
    most: float
    why: str
    rows: Longs
    lacking: Longs


def check_assertions(model: FoldedGraph, assertions: Sequence[str], ignore_unknown: bool = False) -> CheckedModel:
    """Check every assertion. With `ignore_unknown` the counted part of a value decides.

    A quantity of a query without matches fails. Raises `RequestError` if nothing is asserted, `MalformedAssertion`, and
    `MissingFacts` for a quantity that is unknown everywhere.
    """
    if not assertions:
        raise RequestError("no assertion given", hint='model.check("params < 5M", "count(op:Cast) == 0")')
    for text in assertions:
        require_type("assertion", text, str)
    rows = ModelRows(model, functions=True)
    parsed = list(map(parse_assertion, assertions))
    return CheckedModel(model, [_check_assertion(rows, assertion, ignore_unknown) for assertion in parsed])


def _check_assertion(rows: ModelRows, assertion: Assertion, ignore_unknown: bool) -> CheckedAssertion:
    counts = assertion.compared.quantity == MATCH_COUNT
    if not counts and assertion.query is not None and not _rows_asked_about(rows, assertion)[1].any():
        # Otherwise a misspelt name would pass `params(name:encodr) < 5M` forever.
        return CheckedAssertion(assertion, ASSERTION_FAILED, 0, 0, EMPTY_QUERY_REASON, NodeList(rows.model, []))
    value = _count_matches(rows, assertion) if counts else _sum_quantity(rows, assertion)
    most = value.least if ignore_unknown else value.most
    sign, limit = assertion.compared.sign, assertion.compared.limit
    certain, possible = SIGN_TESTS[sign](value.least, most, limit)
    state = ASSERTION_PASSED if certain else ASSERTION_UNKNOWN if possible else ASSERTION_FAILED
    too_much = state == ASSERTION_FAILED and sign not in (">", ">=") and value.least >= limit
    reason = value.lacking if state == ASSERTION_UNKNOWN else value.rows[: None if too_much else 0]
    nodes = NodeList(rows.model, [int(row) for row in reason])
    return CheckedAssertion(assertion, state, value.least, value.most, value.why, nodes)


def _rows_asked_about(rows: ModelRows, assertion: Assertion) -> tuple[Bools, Bools]:
    """Return the rows that certainly match, and those that possibly do. Without a query: the whole graph, row 0."""
    if assertion.query is None:
        whole = np.arange(len(rows)) == 0
        return whole, whole
    certain, possible = match_row_bounds(rows, assertion.query)
    proper = rows.hierarchy.kind != FUNCTION_ROW  # a function body is not a group: the call opens
    return certain & proper, possible & proper


def _count_matches(rows: ModelRows, assertion: Assertion) -> ValueRange:
    """Count the ops and groups a query finds; each function body counts once."""
    certain, possible = _rows_asked_about(rows, assertion)
    open_rows = np.flatnonzero(possible & ~certain)
    count = len(open_rows)
    why = (
        f"{format_counted_noun(count, 'node')} of which the number that is compared is not fully known" if count else ""
    )
    least = int(np.count_nonzero(certain))
    return ValueRange(least, least + count, why, np.flatnonzero(certain), open_rows)


def _sum_quantity(rows: ModelRows, assertion: Assertion) -> ValueRange:
    """Sum a quantity over the outermost rows that a query finds, each part once."""
    certain, possible = _rows_asked_about(rows, assertion)
    tops, quantity = _outermost_rows(rows, certain), assertion.compared.quantity
    inside = rows_within(rows.hierarchy, tops)
    reasons = list(_describe_unknown_parts(rows, quantity, tops))
    undercounted = inside & rows.undercounted_rows(quantity)
    in_bodies, undecided = np.asarray(certain), possible & ~rows_within(rows.hierarchy, tops)
    in_bodies = in_bodies & (np.arange(len(rows)) >= int(rows.hierarchy.end[0]))
    for mark, word in ((in_bodies, "in functions, which run once for each call"), (undecided, "that may belong to it")):
        if count := int(np.count_nonzero(mark)):
            reasons.append(f"{format_counted_noun(count, 'node')} {word}")
    open_rows = np.flatnonzero((undercounted & (rows.hierarchy.kind == OP_ROW)) | in_bodies | undecided)
    numbers = _quantity_by_row(rows, quantity)
    total = least = float(np.nansum(numbers[tops]))
    most = math.inf if reasons else total
    excess = _possible_excess(rows, quantity, tops)
    if excess.branched and total:
        reasons.append(format_counted_noun(excess.branched, "call", "calls") + " whose dearest branch is counted")
        least = 0.0
    if excess.repeated and total:
        reasons.append(format_counted_noun(excess.repeated, "number", "numbers") + " that may be stored twice")
        least = total - excess.repeated if quantity == "parameters" else 0.0
    ops = np.flatnonzero(inside & (rows.hierarchy.kind == OP_ROW) & (numbers > 0))
    largest = ops[np.argsort(-numbers[ops], kind="stable")]
    return ValueRange(least, most, ", ".join(reasons), largest, open_rows)


def _possible_excess(rows: ModelRows, quantity: str, tops: Sequence[int]) -> Cost:
    """Count the reasons why a quantity may be too large: calls that run one of several unequal branches, numbers that
    may be stored twice."""
    if quantity not in EXCESS_OF_QUANTITY or rows.model.facts.cost is None:
        return NO_COST
    costs = rows.model.facts.cost()
    whole = sum((costs.under(row) for row in tops), NO_COST)
    return Cost(**{name: getattr(whole, name) for name in EXCESS_OF_QUANTITY[quantity]})


def _outermost_rows(rows: ModelRows, marked: Bools) -> list[int]:
    tops, end = [], rows.hierarchy.end
    stop = 0
    for row in np.flatnonzero(marked).tolist():
        if row >= stop:
            tops.append(row)
            stop = int(end[row])
    return tops


def _quantity_by_row(rows: ModelRows, quantity: str) -> Floats:
    """Return the quantity of each row. Raises `MissingFacts` if no row has it."""
    if quantity == OP_COUNT:
        total = rows.hierarchy.op_prefix_sum
        return (total[rows.hierarchy.end] - total[: len(rows)]).astype(float)
    return known_values(rows, quantity)


def _describe_unknown_parts(rows: ModelRows, quantity: str, tops: Sequence[int]) -> Iterator[str]:
    """Yield, in words, each kind of part that is missing from the sum of a quantity over rows."""
    if quantity in MEASURED_QUANTITIES:
        if tops and np.isnan(_quantity_by_row(rows, quantity)[tops]).all():
            yield "nothing of it was measured"
    elif quantity != OP_COUNT and rows.model.facts.cost is not None:
        costs = rows.model.facts.cost()
        for name, count in sum((costs.under(row) for row in tops), NO_COST).gap_counts(quantity).items():
            if count and name in MISSING_WORDS:
                yield format_counted_noun(count, *MISSING_WORDS[name])
