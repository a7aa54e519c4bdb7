"""Find the ops that run, and the number of rounds of loops.

Ops on which no result and no side effect depends never run. In loops of control flow v1, the ops between the inputs
(Enter) and outputs (Exit) of a frame run once per round.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Protocol

import numpy as np

from graphviz_tb.annotate.infer.engine import Inference
from graphviz_tb.annotate.infer.frame import CallFrame, OutputRef
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.limits import MAX_CHAINED_LOOPS, MAX_CONDITION_COMPARISONS, MAX_FOLLOWED_CARRIERS, MAX_NESTED_LOOPS
from graphviz_tb.model.columns import Bools, Ints, group_by_key
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import (
    ADD_OPS,
    FILL_OPS,
    FRAME_CONDITION_OPS,
    FRAME_ENTER_OPS,
    FRAME_EXIT_OPS,
    FRAME_MERGE_OPS,
    FRAME_NEXT_OPS,
    FRAME_SWITCH_OPS,
    IDENTITY_OPS,
    LOOP_OPS,
    RESULT_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.table import equal_op, op_row

NO_FRAME = 0  # the frame of ops outside of any loop
# Ops with side effects, certain or possible.
EFFECT_ROLES = (
    Role.ASSIGN, Role.SCATTER, Role.UPDATE, Role.REFERENCE, Role.SUMMARY, Role.RESULT, Role.CHECK,
    Role.INPUT_PIPELINE, Role.CALL, Role.LAUNCH, Role.REMOTE_CALL, Role.MAP, Role.BRANCH, Role.COUNTED_LOOP,
    Role.LOOP,
)  # fmt: skip
# Ops that only forward a value.
FORWARDING_ROLES = (
    Role.PASS, Role.PASS_EACH, Role.CAST, Role.UNIT_AXES, Role.REARRANGE, Role.WRAP, Role.INDEX, Role.SIZE,
    Role.READ, Role.COUNT, Role.RANGE, Role.FILL, Role.CONSTANT,
)  # fmt: skip


def unused_nodes(graph: Graph) -> Bools:
    """Return which ops never run: ops used only for their shape, as the cell of a recurrent layer that Keras calls once
    more; and ops on which no result and no side effect depends, in functions and in a main graph with explicit results.

    >>> from graphviz_tb import load
    >>> text = '''node { name: "x" op: "Placeholder" } node { name: "y" op: "Relu" input: "x" }
    ... node { name: "z" op: "Elu" input: "x" } node { name: "r" op: "_Retval" input: "y" }'''
    >>> graph = load(text.encode()).hierarchy.graph
    >>> [name for name, never in zip(graph.name, unused_nodes(graph)) if never]
    ['z']
    """
    main = graph.function < 0
    results = graph.nodes_of_types(RESULT_OPS.__contains__)
    last = np.ones(len(graph), bool)
    last[graph.source] = False
    # Without explicit results, any unused output may be a result, and a cycle without outputs runs.
    has_results = np.array(
        [*(any(node >= 0 for node, _ in function.returns) for function in graph.functions), (results & main).any()]
    )
    wanted = np.where(
        has_results[graph.function],
        last & ~graph.nodes_of_types(_is_pure_op),
        last | ~reachable_mask(last, *_reversed_edges(graph)),
    )
    alive = results | graph.nodes_of_types(_may_have_effect) | wanted
    for body in graph.functions:
        alive[[node for node, _ in body.returns if node >= 0]] = True
    # Ops that read or fill a shape do not need the value.
    never: Bools = ~reachable_mask(
        alive, *_reversed_edges(graph, graph.control | ~graph.nodes_of_types(_reads_only_shape)[graph.target])
    )
    return never


def _reversed_edges(graph: Graph, edges: Bools | slice = slice(None)) -> tuple[Ints, Ints]:
    """Return the targets and the sources of edges."""
    return graph.target[edges], graph.source[edges]


def _reads_only_shape(op: str) -> bool:
    """Return whether an op uses only the shape of its input.

    >>> _reads_only_shape("Shape"), _reads_only_shape("ZerosLike"), _reads_only_shape("Fill"), _reads_only_shape("Mul")
    (True, True, False, False)
    """
    known = op_row(op)
    return has_role(op, Role.SIZE) or (op in FILL_OPS and known is not None and known.shape == "same")


def _may_have_effect(op: str) -> bool:
    """Return whether an op has a side effect, or may have one because it is unknown.

    >>> (
    ...     _may_have_effect("AssignSub"),
    ...     _may_have_effect("While"),
    ...     _may_have_effect("Mine"),
    ...     _may_have_effect("StackPushV2"),
    ...     _may_have_effect("Mul"),
    ... )
    (True, True, True, False, False)
    """
    known = op_row(op)
    return known is None or not known.outputs or has_role(op, *EFFECT_ROLES)


def _is_pure_op(op: str) -> bool:
    """Return whether an op only computes or forwards a value.

    >>> _is_pure_op("Mul"), _is_pure_op("StridedSlice"), _is_pure_op("StackPushV2")
    (True, True, False)
    """
    known = op_row(op)
    return (known is not None and known.flops not in ("", "0")) or has_role(op, *FORWARDING_ROLES)


def branch_nodes(graph: Graph) -> Bools:
    """Return which ops are in branches of control flow v1: after a `Switch` outside of loops, before its `Merge`.

    >>> from graphviz_tb import load
    >>> text = '''node { name: "x" op: "Placeholder" } node { name: "s" op: "Switch" input: "x" input: "x" }
    ... node { name: "y" op: "Relu" input: "s:1" } node { name: "m" op: "Merge" input: "s" input: "y" }
    ... node { name: "z" op: "Elu" input: "m" }'''
    >>> graph = load(text.encode()).hierarchy.graph
    >>> [name for name, inside in zip(graph.name, branch_nodes(graph)) if inside]
    ['y']
    """
    switches, merges = (graph.nodes_of_types(ops.__contains__) for ops in (FRAME_SWITCH_OPS, FRAME_MERGE_OPS))
    if not (switches.any() and merges.any()):
        return np.zeros(len(graph), bool)
    source, target, data = graph.source, graph.target, ~graph.control
    inner = data & graph.nodes_of_types(FRAME_CONDITION_OPS.__contains__)[source] & switches[target]
    again = data & graph.nodes_of_types(FRAME_NEXT_OPS.__contains__)[source] & merges[target]
    switches[target[inner]] = merges[target[again]] = False
    on = ~merges[target]
    reached = reachable_mask(switches, source[on], target[on])
    found: Bools = reached & ~switches
    return found


def loop_conditions(graph: Graph) -> dict[int, tuple[int | None, ...]]:
    """Return, for each node inside a loop (except its inputs and outputs), the conditions of all enclosing loops,
    outermost first; None for a loop that has no condition, or several.

    >>> from graphviz_tb import load
    >>> text = 'node { name: "x" } node { name: "in" op: "Enter" input: "x" } node { name: "y" op: "Relu" input: "in" }'
    >>> graph = load((text + 'node { name: "out" op: "Exit" input: "y" }').encode()).hierarchy.graph
    >>> {graph.name[node]: around for node, around in loop_conditions(graph).items()}
    {'y': (None,)}
    """
    enters = graph.nodes_of_types(FRAME_ENTER_OPS.__contains__)
    exits = graph.nodes_of_types(FRAME_EXIT_OPS.__contains__)
    if not enters.any():
        return {}
    order, begin = group_by_key(graph.source, len(graph))
    first, targets = begin.tolist(), graph.target[order].tolist()
    is_enter, is_exit = enters.tolist(), exits.tolist()
    # A frame is identified by its enclosing frame and its name.
    number: dict[tuple[int, str], int] = {}
    outer, depth = [NO_FRAME], [0]
    frame = [NO_FRAME] * len(graph)
    todo = np.flatnonzero(enters).tolist()
    while todo:
        node = todo.pop()
        inside = outer[frame[node]] if is_exit[node] else frame[node]
        if is_enter[node] and depth[inside] < MAX_NESTED_LOOPS:
            inside = number.setdefault((inside, _loop_frame_name(graph, node)), len(outer))
            if inside == len(outer):
                outer.append(frame[node])
                depth.append(depth[frame[node]] + 1)
        # A node is in the deepest frame of its inputs: constants of the body are in no frame.
        for user in targets[first[node] : first[node + 1]]:
            if depth[inside] > depth[frame[user]]:
                frame[user] = inside
                todo.append(user)
    conditions_of: dict[int, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.nodes_of_types(FRAME_CONDITION_OPS.__contains__)).tolist():
        conditions_of[frame[node]].append(node)
    around: list[tuple[int | None, ...]] = [()]
    for loop in range(1, len(outer)):
        conditions = conditions_of[loop]
        around.append((*around[outer[loop]], conditions[0] if len(conditions) == 1 else None))
    return {node: around[loop] for node, loop in enumerate(frame) if loop and not is_enter[node] and not is_exit[node]}


def _loop_frame_name(graph: Graph, node: int) -> str:
    """Return the name shared by all inputs (Enter ops) of one loop."""
    definition = graph.node_def(node)
    name = definition.attr["frame_name"].s if definition is not None and "frame_name" in definition.attr else b""
    return str(name, "utf-8", "replace")


# The number of rounds of a loop with a counter, for known start, step and limit.
#
# while counter < limit and time < steps:    # the first condition to fail ends the loop
#         counter, time = counter + 1, time + 1
#
# The limit may be the final counter of another loop: gradients run as often as their loop. Loops may count down.

# By comparison: whether the first operand is the lower one, and 1 if the loop continues for equal operands.
COMPARISON_ORDERS = {"Less": (True, 0), "LessEqual": (True, 1), "Greater": (False, 0), "GreaterEqual": (False, 1)}
DIFFERENCE_OPS = frozenset({"Sub"})
NO_SOURCE: OutputRef = (-1, 0)


class CountableLoop(Protocol):
    """A loop with values that are carried from round to round, each identified by a number."""

    @property
    def frame(self) -> CallFrame | None:
        """The frame in which its ops are inferred; None for loops of functions, which have many."""

    @property
    def condition(self) -> OutputRef:
        """The output tested before each round."""

    def loop_value_of(self, source: OutputRef) -> int | None:
        """Return the loop value that an output is at the start of a round; None for any other output."""

    def initial_value(self, value: int) -> OutputRef:
        """Return a value before the first round."""

    def next_value(self, value: int) -> OutputRef:
        """Return a value after a round."""


class LoopRounds:
    """Round counts of the loops of one inference, each computed once."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._known: dict[tuple[CallFrame, int], int | None] = {}
        self._depth = 0  # of loops that need the count of another loop

    def round_count(self, frame: CallFrame, node: int) -> int | None:
        """Return how often a `While` runs its body, or a `LoopCond` starts a round; None if unknown."""
        key = frame, node
        if key not in self._known and self._depth < MAX_CHAINED_LOOPS:
            self._known[key] = None  # for a loop whose limit is its own counter
            self._depth += 1
            self._known[key] = self._find_round_count(frame, node)
            self._depth -= 1
        return self._known.get(key)

    def _find_round_count(self, frame: CallFrame, node: int) -> int | None:
        loop = self.loop_of_node(frame, node)
        if loop is None:
            return None
        counts = [
            self.rounds_until_limit(frame, loop, comparison) for comparison in self.comparisons_of(loop.condition)
        ]
        known = [count for count in counts if count is not None]
        # An unknown comparison may end the loop earlier.
        return min(known) if known and len(known) == len(counts) else None

    def loop_of_node(self, frame: CallFrame, node: int) -> CountableLoop | None:
        """Return the loop of a `While` or of a condition of control flow v1."""
        if self.inference.op_type(node) in FRAME_CONDITION_OPS:
            return FrameLoop(self.inference, frame, node)
        functions = {call.attr: call.function for call in self.inference.wiring.calls_by_node.get(node, ())}
        return CallLoop(self.inference, node, functions) if {"cond", "body"} <= functions.keys() else None

    def comparisons_of(self, condition: OutputRef) -> list[int]:
        """Return the ops that a condition joins by `LogicalAnd`, comparisons or not."""
        waiting = [condition[0]]
        found: list[int] = []
        while waiting and len(found) < MAX_CONDITION_COMPARISONS:
            node = waiting.pop()
            if node >= 0 and equal_op(self.inference.op_type(node)) == "LogicalAnd":
                waiting += [operand[0] for operand in _source_operands(self.inference, node)]
            else:
                found.append(node)
        return [*found, *waiting]

    def rounds_until_limit(self, frame: CallFrame, loop: CountableLoop, comparison: int) -> int | None:
        """Return the number of rounds until a counter passes the limit of a comparison; None if unknown."""
        compares = equal_op(self.inference.op_type(comparison)) if comparison >= 0 else ""
        if compares not in COMPARISON_ORDERS:
            return None
        lower_first, equal = COMPARISON_ORDERS[compares]
        compared = _source_operands(self.inference, comparison)
        if len(compared) != 2:
            return None
        lower, upper = compared if lower_first else compared[::-1]
        # The counter is the lower operand and counts up, or the upper one and counts down.
        for counter, limit, way in ((lower, upper, 1), (upper, lower, -1)):
            value = loop.loop_value_of(counter)
            step = None if value is None else self.step_per_round(frame, loop, value)
            if value is None or step is None or way * step <= 0:
                continue
            start, end = self.known_number(frame, loop.initial_value(value)), self.constant_number(frame, loop, limit)
            if start is not None and end is not None:
                return max(0, -(-(way * (end - start) + equal) // abs(step)))
        return None

    def step_per_round(self, frame: CallFrame, loop: CountableLoop, value: int) -> int | None:
        """Return the number that a round adds to a value; None if it changes the value in another way."""
        end = loop.next_value(value)
        op = self.inference.op_type(end[0]) if end[0] >= 0 else ""
        if op not in ADD_OPS | DIFFERENCE_OPS:
            return None
        terms = _source_operands(self.inference, end[0])
        added = [term for term in terms if loop.loop_value_of(term) != value]
        if len(terms) != 2 or len(added) != 1 or (op in DIFFERENCE_OPS and loop.loop_value_of(terms[0]) != value):
            return None
        number = self.constant_number(frame, loop, added[0])
        return -number if number is not None and op in DIFFERENCE_OPS else number

    def constant_number(self, frame: CallFrame, loop: CountableLoop, source: OutputRef) -> int | None:
        """Return the number in an output that is equal in every round; None for other outputs."""
        value = loop.loop_value_of(source)
        if value is None:
            return self.known_number(loop.frame, source)
        return (
            self.known_number(frame, loop.initial_value(value))
            if loop.loop_value_of(loop.next_value(value)) == value
            else None
        )

    def known_number(self, frame: CallFrame | None, source: OutputRef) -> int | None:
        """Return the number in an output, in a frame or in all frames; for the counter of a finished loop its final
        value."""
        node, output = source
        if node < 0:
            return None
        outs = self.inference.outputs_of_node(node) if frame is None else self.inference.infer_outputs(frame, node)
        value = outs[output].value if output < len(outs) else None
        if value is not None and len(value) == 1 and value[0] > SYMBOL_LIMIT:
            return value[0]
        return None if frame is None else self.final_number(frame, source)

    def final_number(self, frame: CallFrame, source: OutputRef) -> int | None:
        """Return the value of a counter after its loop; None for any other output."""
        # A loop is a While op with a value at each output, or, in v1, the node of its condition with a Merge by value.
        loop_node, value = _source_behind_carriers(self.inference, source, IDENTITY_OPS | FRAME_ENTER_OPS)
        if loop_node >= 0 and self.inference.op_type(loop_node) in FRAME_EXIT_OPS:
            # The input of an Exit is a Switch of the value and the condition.
            switch = _source_behind_carriers(self.inference, _first_loop_op_input(self.inference, loop_node))[0]
            operands = _source_operands(self.inference, switch) if switch >= 0 else []
            if len(operands) != 2 or self.inference.op_type(switch) not in FRAME_SWITCH_OPS:
                return None
            (value, _), (loop_node, _) = operands
        if loop_node < 0 or self.inference.op_type(loop_node) not in LOOP_OPS | FRAME_CONDITION_OPS:
            return None
        loop, count = self.loop_of_node(frame, loop_node), self.round_count(frame, loop_node)
        if loop is None or count is None:
            return None
        start, step = self.known_number(frame, loop.initial_value(value)), self.step_per_round(frame, loop, value)
        return None if start is None or step is None else start + count * step


class CallLoop:
    """A `While`, whose condition and body are functions: a value is identified by its position."""

    frame: CallFrame | None = None  # a known number in a function is equal in all its calls

    def __init__(self, inference: Inference, node: int, functions: dict[str, int]) -> None:
        self.inference, self.node = inference, node
        self.body, self.cond = functions["body"], functions["cond"]

    @cached_property
    def condition(self) -> OutputRef:
        return self.function_result(self.cond, 0)

    def loop_value_of(self, source: OutputRef) -> int | None:
        """Return the position of an argument of the condition or the body."""
        node, graph = source[0], self.inference.graph
        function = int(graph.function[node]) if node >= 0 else -1
        if function not in (self.cond, self.body) or graph.node_def(node) is not None:
            return None
        return graph.functions[function].argument_position(node)

    def initial_value(self, value: int) -> OutputRef:
        """Return the input of the loop at a position."""
        inputs = _loop_op_inputs(self.inference, self.node)
        return inputs[value] if value < len(inputs) else NO_SOURCE

    def next_value(self, value: int) -> OutputRef:
        """Return the result of the body at a position."""
        return self.function_result(self.body, value)

    def function_result(self, function: int, position: int) -> OutputRef:
        """Return the source of a function's result at a position, before ops that only forward it."""
        returns = self.inference.graph.functions[function].returns
        if position >= len(returns) or returns[position][0] < 0:
            return NO_SOURCE
        node, key = returns[position]
        return _source_behind_carriers(self.inference, (node, self.inference.wiring.position_of_key(node, key)))


class FrameLoop:
    """A loop of control flow v1, given by its condition. A value is identified by its Merge, which joins the value from
    outside and that of the previous round."""

    def __init__(self, inference: Inference, frame: CallFrame, node: int) -> None:
        self.inference, self.node = inference, node
        self.frame: CallFrame | None = frame

    @cached_property
    def condition(self) -> OutputRef:
        return _source_behind_carriers(self.inference, _first_loop_op_input(self.inference, self.node))

    def loop_value_of(self, source: OutputRef) -> int | None:
        """Return the Merge of the loop value that an output is."""
        node, _ = self.source_in_round(source)
        return node if self.merge_inputs(node) else None

    def initial_value(self, value: int) -> OutputRef:
        """Return the input of the loop."""
        for source in self.merge_inputs(value):
            if self.inference.op_type(source[0]) in FRAME_ENTER_OPS:
                return _first_loop_op_input(self.inference, source[0])
        return NO_SOURCE

    def next_value(self, value: int) -> OutputRef:
        """Return the value that a round passes to the next."""
        for source in self.merge_inputs(value):
            if self.inference.op_type(source[0]) in FRAME_NEXT_OPS:
                return self.source_in_round(_first_loop_op_input(self.inference, source[0]))
        return NO_SOURCE

    def source_in_round(self, source: OutputRef) -> OutputRef:
        """Return the source of an output, before forwarding ops and the switches that start a round."""
        return _source_behind_carriers(self.inference, source, IDENTITY_OPS | FRAME_SWITCH_OPS)

    def merge_inputs(self, node: int) -> list[OutputRef]:
        """Return the inputs of a Merge, from outside the loop and from the previous round; [] for any other node."""
        if node < 0 or self.inference.op_type(node) not in FRAME_MERGE_OPS:
            return []
        inputs = [source for source in _loop_op_inputs(self.inference, node) if source[0] >= 0]
        kinds = [self.inference.op_type(source[0]) for source in inputs]
        enters = sum(kind in FRAME_ENTER_OPS for kind in kinds)
        backs = sum(kind in FRAME_NEXT_OPS for kind in kinds)
        return inputs if enters == backs == 1 and len(inputs) == 2 else []


def _loop_op_inputs(inference: Inference, node: int) -> list[OutputRef]:
    return [source or NO_SOURCE for source in inference.wiring.input_sources(node)]


def _first_loop_op_input(inference: Inference, node: int) -> OutputRef:
    return (*_loop_op_inputs(inference, node), NO_SOURCE)[0]


def _source_operands(inference: Inference, node: int) -> list[OutputRef]:
    """Return the inputs of an op, before ops that only forward them."""
    return [
        _source_behind_carriers(inference, source, IDENTITY_OPS | FRAME_SWITCH_OPS)
        for source in _loop_op_inputs(inference, node)
    ]


def _source_behind_carriers(
    inference: Inference, source: OutputRef, carriers: frozenset[str] = IDENTITY_OPS
) -> OutputRef:
    """Return the source of an output, before ops that only forward it."""
    for _ in range(MAX_FOLLOWED_CARRIERS):
        if source[0] < 0 or inference.op_type(source[0]) not in carriers:
            return source
        source = _first_loop_op_input(inference, source[0])
    return source
