"""Find nodes by name, op type, device, attribute and cost.

"conv*", "**attn*"      name; `*` within a segment, `**` across slashes, `?` one letter
op:Conv*  device:*GPU*  op type, device
attr:padding=SAME       an attribute and its value; attr:padding for any value
params>1M  flops<=2G    parameters, FLOPs, macs, activation_bytes, weight_bytes, with K, M, G, T
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from graphviz_tb.api.nodes import Node, NodeList
from graphviz_tb.errors import RequestError, demand
from graphviz_tb.model.costs import QUANTITIES
from graphviz_tb.model.folded import Folded
from graphviz_tb.page.cards import value_word
from graphviz_tb.view.wildcards import Pattern

NodeTest = Callable[[Node], bool]
COMPARISON = re.compile(r"([a-z_]+)\s*(>=|<=|==|!=|>|<|=)\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?", re.IGNORECASE)
FIELD = re.compile(r"(name|op|device|attr):\s*(.*)", re.DOTALL)
COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
SHORT = {"params": "parameters", "param": "parameters", "size": "weight_bytes", "memory": "activation_bytes"}
SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def find(model: Folded, *terms: str) -> NodeList:
    """The nodes and groups of the main graph for which every term holds, in the order of the hierarchy.

    Raises `RequestError` for a term that is not understood.
    """
    tests = [test_of(term) for term in terms]
    rows = range(1, int(model.hierarchy.end[0]))
    return NodeList(model, [row for row in rows if all(test(Node(model, row)) for test in tests)])


def test_of(term: str) -> NodeTest:
    """What a term asks of a node."""
    demand("term", term, str)
    compared = COMPARISON.fullmatch(term)
    if compared:
        name, sign, number, scale = compared.groups()
        quantity = SHORT.get(name.lower(), name.lower())
        if quantity not in QUANTITIES:
            known = ", ".join([*QUANTITIES, *SHORT])
            raise RequestError(f"nothing to compare is called {name!r}", hint=f"choose one of: {known}")
        limit, holds = float(number) * SCALE[scale.upper()], COMPARE[sign]
        return lambda node: holds(getattr(node.cost, quantity), limit)
    field = FIELD.fullmatch(term)
    word, text = field.groups() if field else ("name", term)
    if word == "attr":
        return attribute_test(text)
    matches = Pattern(text).matches
    if word == "op":
        return lambda node: bool(node.op) and matches(node.op)
    if word == "device":
        return lambda node: bool(node.device) and matches(node.device.replace("/", ""))
    return lambda node: matches(node.name)


def attribute_test(text: str) -> NodeTest:
    """Whether a node has an attribute, and its value where one is named."""
    name, equals, wanted = text.partition("=")

    def holds(node: Node) -> bool:
        if not node.op or name not in (attributes := node.attrs):
            return False
        return not equals or value_word(attributes[name]) == wanted

    return holds
