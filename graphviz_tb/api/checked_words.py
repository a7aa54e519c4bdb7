"""The results of assertions in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphviz_tb.diff.report.explain import printable
from graphviz_tb.model.costs import QUANTITIES
from graphviz_tb.model.units import format_micros, plural
from graphviz_tb.search.assertions import COUNT
from graphviz_tb.summary import displayed_name

if TYPE_CHECKING:
    from graphviz_tb.api import Node
    from graphviz_tb.api.checking import CheckedAssertion, CheckedModel

SHOWN = 5  # nodes that are named
SIGNS = {"passed": "✓", "failed": "✗", "unknown": "?"}


def lines(checked: CheckedModel, most: int = SHOWN) -> Iterator[str]:
    """A line for each assertion with the value that was found; below it why it did not pass."""
    for each in checked:
        yield f"{SIGNS[each.state]} {printable(each.assertion.text)}: {value_words(each)}"
        if each.state == "unknown" or (each.why and not each):
            yield f"    not known: {each.why}"
        names = [named(checked, each, node) for node in each.nodes[:most]]
        if names:
            more = len(each.nodes) - len(names)
            rest = f", … {more:,} more" if more else ""
            yield f"    {printable(', '.join(names))}{rest}"


def named(checked: CheckedModel, each: CheckedAssertion, node: Node) -> str:
    """The name of a node as an address; where a sum is too large with what it adds."""
    name, quantity = displayed_name(checked.model.hierarchy, node.row), each.assertion.compared.quantity
    share = node.time if quantity == "time" else getattr(node.cost, quantity) if quantity in QUANTITIES else None
    return f"{name} ({amount(quantity, share)})" if each.state == "failed" and share is not None else name


def value_words(each: CheckedAssertion) -> str:
    """The value that was found; of one with an unknown part what is known of it.

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
    """A number of a quantity, to the last digit: next to its limit three are not enough."""
    if quantity == "time":
        return format_micros(number)
    word = " found" if quantity == COUNT else " bytes" if quantity.endswith("bytes") or quantity == "memory" else ""
    return f"{int(number):,}{word}"


def verdict(checked: CheckedModel) -> str:
    """How many of the assertions passed.

    >>> from graphviz_tb import load
    >>> verdict(load(b'node { name: "a" op: "Cast" }').check("ops == 1", "count(op:Cast) == 0"))
    '1 of 2 assertions passed; 1 failed'
    """
    states = [each.state for each in checked]
    count = len(states)
    said = [f"{states.count('passed'):,} of {count:,} {plural(count, 'assertion')} passed"]
    said += [f"{states.count(word):,} {word}" for word in ("failed", "unknown") if word in states]
    return "; ".join(said)
