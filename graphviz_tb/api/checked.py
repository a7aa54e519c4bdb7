"""Results of assertions, and their text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from graphviz_tb.diff.report.explain import printable
from graphviz_tb.model.costs import QUANTITIES
from graphviz_tb.model.units import counted, format_micros
from graphviz_tb.search.assertions import COUNT
from graphviz_tb.summary import displayed_name

if TYPE_CHECKING:
    from graphviz_tb.api.nodes import Node, NodeList
    from graphviz_tb.model.folded import Folded
    from graphviz_tb.search.assertions import Assertion

SHOWN = 5  # nodes that are listed
PASSED, FAILED, UNKNOWN = "passed", "failed", "unknown"
NOTHING_FOUND = "the query finds nothing; count(…) == 0 asserts that"
SIGNS = {PASSED: "✓", FAILED: "✗", UNKNOWN: "?"}


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
        return self.state == PASSED


class CheckedModel(Sequence[CheckedAssertion]):
    """The results of all assertions, in order; true if every one passed."""

    def __init__(self, model: Folded, checked: Sequence[CheckedAssertion]) -> None:
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


def assertion_lines(checked: CheckedModel, most: int = SHOWN) -> Iterator[str]:
    """Yield a line for each assertion with its value, and below it why it did not pass."""
    for each in checked:
        yield f"{SIGNS[each.state]} {printable(each.assertion.text)}: {value_words(each)}"
        if each.why == NOTHING_FOUND:
            yield f"    {each.why}"
        elif each.state == UNKNOWN or (each.why and not each):
            yield f"    not known: {each.why}"
        names = [named(checked, each, node) for node in each.nodes[:most]]
        if names:
            more = len(each.nodes) - len(names)
            rest = f", … {more:,} more" if more else ""
            yield f"    {printable(', '.join(names))}{rest}"


def named(checked: CheckedModel, each: CheckedAssertion, node: Node) -> str:
    """Return the address of a node, with its share of the sum if the sum is too large."""
    name, quantity = displayed_name(checked.model.hierarchy, node.row), each.assertion.compared.quantity
    share = node.time if quantity == "time" else getattr(node.cost, quantity) if quantity in QUANTITIES else None
    return f"{name} ({amount(quantity, share)})" if each.state == FAILED and share is not None else name


def value_words(each: CheckedAssertion) -> str:
    """Return the value in words; of a partly unknown one its range.

    >>> from graphviz_tb import load
    >>> value_words(load(b'node { name: "a" op: "Cast" }').check("count(op:Cast) < 1")[0])
    '1 found'
    """
    quantity = each.assertion.compared.quantity
    least = amount(quantity, each.least)
    if each.least == each.most:
        return least
    if math.isinf(each.most):
        return f"at least {least}" if each.least else "unknown"
    return f"{int(each.least):,} to {amount(quantity, each.most)}"


def amount(quantity: str, number: float) -> str:
    """Return a number with all digits: close to a limit, three would not be enough."""
    if quantity == "time":
        return format_micros(number)
    word = " found" if quantity == COUNT else " bytes" if quantity.endswith("bytes") or quantity == "memory" else ""
    return f"{int(number):,}{word}"


def verdict(checked: CheckedModel) -> str:
    """Return how many of the assertions passed.

    >>> from graphviz_tb import load
    >>> verdict(load(b'node { name: "a" op: "Cast" }').check("ops == 1", "count(op:Cast) == 0"))
    '1 of 2 assertions passed; 1 failed'
    """
    states = [each.state for each in checked]
    count = len(states)
    said = [f"{states.count(PASSED):,} of {counted(count, 'assertion')} passed"]
    said += [f"{states.count(word):,} {word}" for word in (FAILED, UNKNOWN) if word in states]
    return "; ".join(said)
