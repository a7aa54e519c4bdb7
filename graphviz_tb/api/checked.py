"""Results of assertions, and their text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from graphviz_tb.diff.report.explain import printable
from graphviz_tb.model.costs import COST_QUANTITIES
from graphviz_tb.model.units import format_counted_noun, format_micros
from graphviz_tb.search.assertions import MATCH_COUNT
from graphviz_tb.summary import row_display_name

if TYPE_CHECKING:
    from graphviz_tb.api.nodes import Node, NodeList
    from graphviz_tb.model.folded import FoldedGraph
    from graphviz_tb.search.assertions import Assertion

LISTED_NODES = 5  # nodes that are listed
ASSERTION_PASSED, ASSERTION_FAILED, ASSERTION_UNKNOWN = "passed", "failed", "unknown"
EMPTY_QUERY_REASON = "the query finds nothing; count(…) == 0 asserts that"
STATE_SIGNS = {ASSERTION_PASSED: "✓", ASSERTION_FAILED: "✗", ASSERTION_UNKNOWN: "?"}


@dataclass(frozen=True, slots=True)
class CheckedAssertion:
    """The result of one assertion.

    `state` is "passed", "failed" or "unknown" (undecided). The value is `least`, or if a part of it is unknown between
    `least` and `most` (may be infinite), and `why` names the unknown part. Units: FLOPs, bytes, microseconds. `nodes`
    explain a failure: those that are too many or cost most, or whose part is unknown; empty if too few were found.
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
    for each in checked:
        yield f"{STATE_SIGNS[each.state]} {printable(each.assertion.text)}: {value_in_words(each)}"
        if each.why == EMPTY_QUERY_REASON:
            yield f"    {each.why}"
        elif each.state == ASSERTION_UNKNOWN or (each.why and not each):
            yield f"    not known: {each.why}"
        names = [node_with_share(checked, each, node) for node in each.nodes[:most]]
        if names:
            more = len(each.nodes) - len(names)
            rest = f", … {more:,} more" if more else ""
            yield f"    {printable(', '.join(names))}{rest}"


def node_with_share(checked: CheckedModel, each: CheckedAssertion, node: Node) -> str:
    """Return the address of a node, with its share of the sum if the sum is too large."""
    name, quantity = row_display_name(checked.model.hierarchy, node.row), each.assertion.compared.quantity
    share = node.time if quantity == "time" else getattr(node.cost, quantity) if quantity in COST_QUANTITIES else None
    return (
        f"{name} ({format_quantity(quantity, share)})" if each.state == ASSERTION_FAILED and share is not None else name
    )


def value_in_words(each: CheckedAssertion) -> str:
    """Return the value in words; of a partly unknown one its range.

    >>> from graphviz_tb import load
    >>> value_in_words(load(b'node { name: "a" op: "Cast" }').check("count(op:Cast) < 1")[0])
    '1 found'
    """
    quantity = each.assertion.compared.quantity
    least = format_quantity(quantity, each.least)
    if each.least == each.most:
        return least
    if math.isinf(each.most):
        return f"at least {least}" if each.least else "unknown"
    return f"{int(each.least):,} to {format_quantity(quantity, each.most)}"


def format_quantity(quantity: str, number: float) -> str:
    """Return a number with all digits: close to a limit, three would not be enough."""
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
    states = [each.state for each in checked]
    count = len(states)
    said = [f"{states.count(ASSERTION_PASSED):,} of {format_counted_noun(count, 'assertion')} passed"]
    said += [f"{states.count(word):,} {word}" for word in (ASSERTION_FAILED, ASSERTION_UNKNOWN) if word in states]
    return "; ".join(said)
