"""Rule 1: the graph has the summary op that writes the tag, so the measured op is known.

The tag is the constant at the input of that name. The value is followed back through ops that only pass it on, and out
of the scope that a tf.summary call opened. If it is a variable, the ops that use the variable count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from graphviz_tb.join.tags import LookedUpTag
from graphviz_tb.join.variables import variable_users_by_node
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS
from graphviz_tb.model.columns import group_by_key
from graphviz_tb.model.graph import INPUT_ARG_OP, Call, Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.joins import MeasuredAspect, RuleMatch, box_rows_of_nodes
from graphviz_tb.model.wiring import wiring_of_call
from graphviz_tb.ops.inputs import summary_input_slots
from graphviz_tb.ops.roles import CONSTANT_OPS, Role, has_role

VALUE_PRESERVING_ROLES = (
    Role.PASS,
    Role.CAST,
    Role.READ,
    Role.REARRANGE,
    Role.UNIT_AXES,
    Role.GRADIENT_STOP,
    Role.CHECK,
)
SUMMARY_SCOPE = "/write_summary"  # the scope that tf.summary.write opens


def join_by_summary_op(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Return the measured rows of tags that an op of the graph writes."""
    graph = hierarchy.graph
    inputs = {op: slots for op in graph.op_types if (slots := summary_input_slots(op)) is not None}
    if not inputs:
        return {}
    back = InputTracer(graph)
    users = variable_users_by_node(graph)
    measured: dict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.nodes_of_types(inputs.__contains__)).tolist():
        tag_slot, slot = inputs[graph.op_types[graph.op[node]]]
        tag, value = back.constant_text(node, tag_slot), back.measured_op(node, slot)
        if tag and value >= 0:
            measured[tag].append(value)
    return {tag.name: found for tag in tags if (found := measured_rows(hierarchy, users, measured, tag)) is not None}


def measured_rows(
    hierarchy: Hierarchy, users: dict[int, tuple[int, ...]], measured: dict[str, list[int]], tag: LookedUpTag
) -> RuleMatch | None:
    """Return the rows measured under a tag; None if no op writes it."""
    nodes = next((measured[form] for form in tag.forms if form in measured), None)
    if nodes is None:
        return None
    origin = hierarchy.graph.meaning.origin
    makers = [int(origin[node]) if len(origin) else -1 for node in nodes]
    used = [user for maker in makers for user in users.get(maker, ())]
    rows = box_rows_of_nodes(hierarchy, used or nodes)
    return (
        RuleMatch(rows, MeasuredAspect.WEIGHT if used else aspect_of_node(hierarchy.graph, nodes[0])) if rows else None
    )


def aspect_of_node(graph: Graph, node: int) -> MeasuredAspect:
    """Return the aspect of a measured op by its part of the program."""
    part = graph.meaning.part()
    words = {
        Part.GRADIENT: MeasuredAspect.GRADIENT,
        Part.LOSS: MeasuredAspect.LOSS,
        Part.MODEL: MeasuredAspect.ACTIVATION,
    }
    return words.get(Part(int(part[node])), MeasuredAspect.OTHER) if len(part) else MeasuredAspect.OTHER


class InputTracer:
    """Traces a value back from an input to the node that made it, also out of functions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        data = np.flatnonzero(~graph.control)
        order, self.start = group_by_key(graph.target[data], len(graph))
        self.source, self.slot = graph.source[data[order]], graph.slot[data[order]]
        self.calls: dict[int, Call] = {}
        for call in graph.calls:
            self.calls.setdefault(call.function, call)  # a summary measures the same in each call

    def sources_by_slot(self, node: int) -> Iterator[tuple[int, int]]:
        """Return slot and source of each data input."""
        run = slice(self.start[node], self.start[node + 1])
        return zip(self.slot[run].tolist(), self.source[run].tolist(), strict=True)

    def source_at(self, node: int, slot: int) -> int:
        """Return the node at an input; -1 for none."""
        return next((source for number, source in self.sources_by_slot(node) if number == slot), -1)

    def type_of_node(self, node: int) -> str:
        """Return the op type of a node."""
        return self.graph.op_types[int(self.graph.op[node])]

    def previous_node(self, node: int) -> int:
        """Return the node whose value a node passes on or takes as an argument; -1 if it computes its own."""
        if self.type_of_node(node) == INPUT_ARG_OP:
            call = self.calls.get(int(self.graph.function[node]))
            if call is None:
                return -1
            function = self.graph.functions[call.function]
            definition = self.graph.node_def(call.node)
            pairs = wiring_of_call(
                self.type_of_node(call.node), definition, call.attr, len(function.args)
            ).input_argument_pairs()
            place = function.argument_position(node)
            return next((self.source_at(call.node, slot) for slot, argument in pairs if argument == place), -1)
        if has_role(self.type_of_node(node), *VALUE_PRESERVING_ROLES) and not self.is_variable_value(node):
            return self.source_at(node, 0)
        return -1

    def is_variable_value(self, node: int) -> bool:
        """Return whether a node passes on the value of a variable."""
        origin = self.graph.meaning.origin
        return bool(len(origin)) and int(origin[node]) >= 0

    def producer(self, node: int) -> int:
        """Return the op that computes the value of a node, past ops that only pass it on."""
        for _ in range(MAX_FOLLOWED_CARRIERS):
            before = self.previous_node(node)
            if before < 0:
                break
            node = before
        return node

    def constant_text(self, node: int, slot: int) -> str:
        """Return the text of the constant at an input; "" for any other input."""
        source = self.source_at(node, slot)
        constant = self.producer(source) if source >= 0 else -1
        definition = (
            self.graph.node_def(constant) if constant >= 0 and self.type_of_node(constant) in CONSTANT_OPS else None
        )
        if definition is None or "value" not in definition.attr:
            return ""
        texts = definition.attr["value"].tensor.string_val
        return str(texts[0], "utf-8", "replace") if texts else ""

    def measured_op(self, node: int, slot: int) -> int:
        """Return the op that computes the value of a summary; -1 if unknown."""
        source = self.source_at(node, slot)
        if source < 0:
            return -1
        scope = self.graph.name[node]
        end = scope.rfind(SUMMARY_SCOPE)
        found = self.producer(source)
        return found if end < 0 else self.first_op_outside(found, scope[: end + len(SUMMARY_SCOPE)] + "/")

    def first_op_outside(self, node: int, scope: str) -> int:
        """Return the first op outside the scope in which a summary computes buckets and ranges; -1 for none."""
        seen, waiting = {node}, [node]
        for node in waiting:  # breadth first: the list grows during the loop
            node = self.producer(node)
            if not self.graph.name[node].startswith(scope):
                if self.type_of_node(node) not in CONSTANT_OPS:
                    return node
                continue
            fresh = [source for _, source in self.sources_by_slot(node) if source not in seen]
            seen.update(fresh)
            waiting += fresh[: MAX_FOLLOWED_CARRIERS - len(waiting)]
        return -1
