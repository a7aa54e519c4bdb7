"""Rule 1: the graph has the summary op that writes the tag, so the measured op is known.

The tag is the constant at the input of that name. The value is followed back through ops that only pass it on, and out
of the scope that a tf.summary call opened. If it is a variable, the ops that use the variable count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from graphviz_tb.join.tags import LookedUpTag
from graphviz_tb.join.variables import users_by_node
from graphviz_tb.limits import CARRIERS_FOLLOWED
from graphviz_tb.model.columns import filed
from graphviz_tb.model.graph import INPUT_ARG, Call, Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.joins import Aspect, FoundRows, rows_of_nodes
from graphviz_tb.model.wiring import wiring
from graphviz_tb.ops.inputs import summary_inputs
from graphviz_tb.ops.roles import CONSTANTS, Role, has_role

HANDS_ON = (Role.PASS, Role.CAST, Role.READ, Role.REARRANGE, Role.UNIT_AXES, Role.GRADIENT_STOP, Role.CHECK)
WRITER = "/write_summary"  # the scope that tf.summary.write opens


def by_summary_op(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, FoundRows]:
    """Return the measured rows of tags that an op of the graph writes."""
    graph = hierarchy.graph
    inputs = {op: slots for op in graph.op_types if (slots := summary_inputs(op)) is not None}
    if not inputs:
        return {}
    back = Backward(graph)
    users = users_by_node(graph)
    measured: dict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.of_types(inputs.__contains__)).tolist():
        tag_slot, slot = inputs[graph.op_types[graph.op[node]]]
        tag, value = back.text(node, tag_slot), back.value(node, slot)
        if tag and value >= 0:
            measured[tag].append(value)
    return {tag.name: found for tag in tags if (found := look(hierarchy, users, measured, tag)) is not None}


def look(
    hierarchy: Hierarchy, users: dict[int, tuple[int, ...]], measured: dict[str, list[int]], tag: LookedUpTag
) -> FoundRows | None:
    """Return the rows measured under a tag; None if no op writes it."""
    nodes = next((measured[form] for form in tag.forms if form in measured), None)
    if nodes is None:
        return None
    origin = hierarchy.graph.meaning.origin
    makers = [int(origin[node]) if len(origin) else -1 for node in nodes]
    used = [user for maker in makers for user in users.get(maker, ())]
    rows = rows_of_nodes(hierarchy, used or nodes)
    return FoundRows(rows, Aspect.WEIGHT if used else aspect_at(hierarchy.graph, nodes[0])) if rows else None


def aspect_at(graph: Graph, node: int) -> Aspect:
    """Return the aspect of a measured op by its part of the program."""
    part = graph.meaning.part()
    words = {Part.GRADIENT: Aspect.GRADIENT, Part.LOSS: Aspect.LOSS, Part.MODEL: Aspect.ACTIVATION}
    return words.get(Part(int(part[node])), Aspect.OTHER) if len(part) else Aspect.OTHER


class Backward:
    """Traces a value back from an input to the node that made it, also out of functions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        data = np.flatnonzero(~graph.control)
        order, self.start = filed(graph.target[data], len(graph))
        self.source, self.slot = graph.source[data[order]], graph.slot[data[order]]
        self.calls: dict[int, Call] = {}
        for call in graph.calls:
            self.calls.setdefault(call.function, call)  # a summary measures the same in each call

    def inputs(self, node: int) -> Iterator[tuple[int, int]]:
        """Return slot and source of each data input."""
        run = slice(self.start[node], self.start[node + 1])
        return zip(self.slot[run].tolist(), self.source[run].tolist(), strict=True)

    def at(self, node: int, slot: int) -> int:
        """Return the node at an input; -1 for none."""
        return next((source for number, source in self.inputs(node) if number == slot), -1)

    def op(self, node: int) -> str:
        """Return the op type of a node."""
        return self.graph.op_types[int(self.graph.op[node])]

    def step(self, node: int) -> int:
        """Return the node whose value a node passes on or takes as an argument; -1 if it computes its own."""
        if self.op(node) == INPUT_ARG:
            call = self.calls.get(int(self.graph.function[node]))
            if call is None:
                return -1
            function = self.graph.functions[call.function]
            definition = self.graph.node_def(call.node)
            pairs = wiring(self.op(call.node), definition, call.attr, len(function.args)).arguments()
            place = function.place(node)
            return next((self.at(call.node, slot) for slot, argument in pairs if argument == place), -1)
        if has_role(self.op(node), *HANDS_ON) and not self.is_weight(node):
            return self.at(node, 0)
        return -1

    def is_weight(self, node: int) -> bool:
        """Return whether a node passes on the value of a variable."""
        origin = self.graph.meaning.origin
        return bool(len(origin)) and int(origin[node]) >= 0

    def made(self, node: int) -> int:
        """Return the op that computes the value of a node, past ops that only pass it on."""
        for _ in range(CARRIERS_FOLLOWED):
            before = self.step(node)
            if before < 0:
                break
            node = before
        return node

    def text(self, node: int, slot: int) -> str:
        """Return the text of the constant at an input; "" for any other input."""
        source = self.at(node, slot)
        constant = self.made(source) if source >= 0 else -1
        definition = self.graph.node_def(constant) if constant >= 0 and self.op(constant) in CONSTANTS else None
        if definition is None or "value" not in definition.attr:
            return ""
        texts = definition.attr["value"].tensor.string_val
        return str(texts[0], "utf-8", "replace") if texts else ""

    def value(self, node: int, slot: int) -> int:
        """Return the op that computes the value of a summary; -1 if unknown."""
        source = self.at(node, slot)
        if source < 0:
            return -1
        scope = self.graph.name[node]
        end = scope.rfind(WRITER)
        found = self.made(source)
        return found if end < 0 else self.outside(found, scope[: end + len(WRITER)] + "/")

    def outside(self, node: int, scope: str) -> int:
        """Return the first op outside the scope in which a summary computes buckets and ranges; -1 for none."""
        seen, waiting = {node}, [node]
        for node in waiting:  # breadth first: the list grows during the loop
            node = self.made(node)
            if not self.graph.name[node].startswith(scope):
                if self.op(node) not in CONSTANTS:
                    return node
                continue
            fresh = [source for _, source in self.inputs(node) if source not in seen]
            seen.update(fresh)
            waiting += fresh[: CARRIERS_FOLLOWED - len(waiting)]
        return -1
