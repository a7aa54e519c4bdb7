"""The number of rounds of a loop with a counter: start, step and limit must be known numbers.

while counter < limit and time < steps:    # the first condition to fail ends the loop
        counter, time = counter + 1, time + 1

The limit may be the final counter of a second loop: gradients run as often as their loop. Some loops count down.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from graphviz_tb.annotate.infer.engine import Inference
from graphviz_tb.annotate.infer.frame import CallFrame
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.wiring import OutputRef
from graphviz_tb.limits import CARRIERS_FOLLOWED, COMPARISONS, LOOPS_CHAINED
from graphviz_tb.ops.roles import (
    ADDS,
    FRAME_CONDITIONS,
    FRAME_ENTERS,
    FRAME_EXITS,
    FRAME_MERGES,
    FRAME_NEXTS,
    FRAME_SWITCHES,
    LOOPS,
    PASS_THROUGH,
)

# comparison ─▶ (the first operand is the lower one, 1 if both may be equal)
LOWER_FIRST = {"Less": (True, 0), "LessEqual": (True, 1), "Greater": (False, 0), "GreaterEqual": (False, 1)}
DIFFERENCES = frozenset({"Sub"})
NOWHERE: OutputRef = (-1, 0)


class Loop(Protocol):
    """A loop with values that are carried from round to round, each identified by a number."""

    @property
    def frame(self) -> CallFrame | None:
        """The frame in which its ops are inferred; None for loops of functions, which have many."""

    @property
    def condition(self) -> OutputRef:
        """The output tested before each round."""

    def carried(self, source: OutputRef) -> int | None:
        """Return the loop value that an output is at the start of a round; None for any other output."""

    def given(self, value: int) -> OutputRef:
        """Return a value before the first round."""

    def brought(self, value: int) -> OutputRef:
        """Return a value after a round."""


class Rounds:
    """Round counts of the loops of one inference, each computed once."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._known: dict[tuple[CallFrame, int], int | None] = {}
        self._asked = 0  # depth of loops that need each other's count

    def of(self, frame: CallFrame, node: int) -> int | None:
        """Return how often a `While` runs its body, or a `LoopCond` starts a round; None if it is unknown."""
        key = frame, node
        if key not in self._known and self._asked < LOOPS_CHAINED:
            self._known[key] = None  # if the limit of a loop is its own counter
            self._asked += 1
            self._known[key] = self._counted(frame, node)
            self._asked -= 1
        return self._known.get(key)

    def _counted(self, frame: CallFrame, node: int) -> int | None:
        loop = self.loop(frame, node)
        if loop is None:
            return None
        counts = [self.until(frame, loop, comparison) for comparison in self.compared(loop.condition)]
        known = [count for count in counts if count is not None]
        # All comparisons must hold: an unknown one may end the loop earlier.
        return min(known) if known and len(known) == len(counts) else None

    def loop(self, frame: CallFrame, node: int) -> Loop | None:
        """Return the loop of a `While` or of a condition of control flow v1."""
        if self.inference.op(node) in FRAME_CONDITIONS:
            return FrameLoop(self.inference, frame, node)
        functions = {call.attr: call.function for call in self.inference.wiring.calls.get(node, ())}
        return CallLoop(self.inference, node, functions) if {"cond", "body"} <= functions.keys() else None

    def compared(self, condition: OutputRef) -> list[int]:
        """Return the comparisons joined in a condition; parts that are no comparisons are included."""
        waiting = [condition[0]]
        found: list[int] = []
        while waiting and len(found) < COMPARISONS:
            node = waiting.pop()
            if node >= 0 and self.inference.op(node) == "LogicalAnd":
                waiting += [operand[0] for operand in operands(self.inference, node)]
            else:
                found.append(node)
        return [*found, *waiting]

    def until(self, frame: CallFrame, loop: Loop, comparison: int) -> int | None:
        """Return in how many rounds a counter passes the limit of one comparison."""
        if comparison < 0 or self.inference.op(comparison) not in LOWER_FIRST:
            return None
        lower_first, equal = LOWER_FIRST[self.inference.op(comparison)]
        compared = operands(self.inference, comparison)
        if len(compared) != 2:
            return None
        lower, upper = compared if lower_first else compared[::-1]
        # Up to the limit above, or down to the one below.
        for counter, limit, way in ((lower, upper, 1), (upper, lower, -1)):
            value = loop.carried(counter)
            step = None if value is None else self.step(frame, loop, value)
            if value is None or step is None or way * step <= 0:
                continue
            start, end = self.number(frame, loop.given(value)), self.fixed(frame, loop, limit)
            if start is not None and end is not None:
                return max(0, -(-(way * (end - start) + equal) // abs(step)))
        return None

    def step(self, frame: CallFrame, loop: Loop, value: int) -> int | None:
        """Return the number that a round adds to a value; None if it does anything else with it."""
        end = loop.brought(value)
        op = self.inference.op(end[0]) if end[0] >= 0 else ""
        if op not in ADDS | DIFFERENCES:
            return None
        terms = operands(self.inference, end[0])
        added = [term for term in terms if loop.carried(term) != value]
        if len(terms) != 2 or len(added) != 1 or (op in DIFFERENCES and loop.carried(terms[0]) != value):
            return None
        number = self.fixed(frame, loop, added[0])
        return -number if number is not None and op in DIFFERENCES else number

    def fixed(self, frame: CallFrame, loop: Loop, source: OutputRef) -> int | None:
        """Return a number that is equal in every round."""
        value = loop.carried(source)
        if value is None:
            return self.number(loop.frame, source)
        return self.number(frame, loop.given(value)) if loop.carried(loop.brought(value)) == value else None

    def number(self, frame: CallFrame | None, source: OutputRef) -> int | None:
        """Return the number in an output, in a frame or in all frames; for the counter of a finished loop its final
        value."""
        node, output = source
        if node < 0:
            return None
        outs = self.inference.outs(node) if frame is None else self.inference.ask(frame, node)
        value = outs[output].value if output < len(outs) else None
        if value is not None and len(value) == 1 and value[0] > HIDDEN:
            return value[0]
        return None if frame is None else self.ended(frame, source)

    def ended(self, frame: CallFrame, source: OutputRef) -> int | None:
        """Return the value of a counter after its loop; None for any other output."""
        node, value = through(self.inference, source, PASS_THROUGH | FRAME_ENTERS)
        op = self.inference.op(node) if node >= 0 else ""
        if op in FRAME_EXITS:
            # An Exit takes its value from a Switch, which the condition of the loop controls.
            switch = through(self.inference, first_input(self.inference, node))[0]
            ways = operands(self.inference, switch) if switch >= 0 else []
            if len(ways) != 2 or self.inference.op(switch) not in FRAME_SWITCHES:
                return None
            (value, _), (node, _) = ways
        if node < 0 or self.inference.op(node) not in LOOPS | FRAME_CONDITIONS:
            return None
        loop, count = self.loop(frame, node), self.of(frame, node)
        if loop is None or count is None:
            return None
        start, step = self.number(frame, loop.given(value)), self.step(frame, loop, value)
        return None if start is None or step is None else start + count * step


class CallLoop:
    """A `While`, whose condition and body are functions: a value is identified by its position."""

    frame: CallFrame | None = None  # a known number in a function is equal in all its calls

    def __init__(self, inference: Inference, node: int, functions: dict[str, int]) -> None:
        self.inference, self.node = inference, node
        self.body, self.cond = functions["body"], functions["cond"]

    @cached_property
    def condition(self) -> OutputRef:
        return self.returned(self.cond, 0)

    def carried(self, source: OutputRef) -> int | None:
        """Return the position of an argument of the condition or the body."""
        node, graph = source[0], self.inference.graph
        function = int(graph.function[node]) if node >= 0 else -1
        if function not in (self.cond, self.body) or graph.node_def(node) is not None:
            return None
        return graph.functions[function].place(node)

    def given(self, value: int) -> OutputRef:
        """Return the input of the loop at a position."""
        inputs = inputs_of(self.inference, self.node)
        return inputs[value] if value < len(inputs) else NOWHERE

    def brought(self, value: int) -> OutputRef:
        """Return the result of the body at a position."""
        return self.returned(self.body, value)

    def returned(self, function: int, position: int) -> OutputRef:
        """Return the result of a function at a position, before ops that only forward it."""
        returns = self.inference.graph.functions[function].returns
        if position >= len(returns) or returns[position][0] < 0:
            return NOWHERE
        node, key = returns[position]
        return through(self.inference, (node, self.inference.wiring.place(node, key)))


class FrameLoop:
    """A loop of control flow v1, found by its condition. A value is identified by its Merge, which joins the value from
    outside with the one from the previous round."""

    def __init__(self, inference: Inference, frame: CallFrame, node: int) -> None:
        self.inference, self.node = inference, node
        self.frame: CallFrame | None = frame

    @cached_property
    def condition(self) -> OutputRef:
        return through(self.inference, first_input(self.inference, self.node))

    def carried(self, source: OutputRef) -> int | None:
        """Return the Merge of the loop value that an output is."""
        node, _ = self.in_round(source)
        return node if self.ways(node) else None

    def given(self, value: int) -> OutputRef:
        """Return the input of the loop."""
        for source in self.ways(value):
            if self.inference.op(source[0]) in FRAME_ENTERS:
                return first_input(self.inference, source[0])
        return NOWHERE

    def brought(self, value: int) -> OutputRef:
        """Return the value that a round passes to the next."""
        for source in self.ways(value):
            if self.inference.op(source[0]) in FRAME_NEXTS:
                return self.in_round(first_input(self.inference, source[0]))
        return NOWHERE

    def in_round(self, source: OutputRef) -> OutputRef:
        """Return the source of an output, before forwarding ops and the switches that start a round."""
        return through(self.inference, source, PASS_THROUGH | FRAME_SWITCHES)

    def ways(self, node: int) -> list[OutputRef]:
        """Return the inputs of a Merge, from outside the loop and from the previous round; [] for any other node."""
        if node < 0 or self.inference.op(node) not in FRAME_MERGES:
            return []
        inputs = [source for source in inputs_of(self.inference, node) if source[0] >= 0]
        kinds = [self.inference.op(source[0]) for source in inputs]
        enters = sum(kind in FRAME_ENTERS for kind in kinds)
        backs = sum(kind in FRAME_NEXTS for kind in kinds)
        return inputs if enters == backs == 1 and len(inputs) == 2 else []


def inputs_of(inference: Inference, node: int) -> list[OutputRef]:
    """Return the inputs of an op."""
    return [source or NOWHERE for source in inference.wiring.inputs(node)]


def first_input(inference: Inference, node: int) -> OutputRef:
    """Return the first input of an op."""
    return (*inputs_of(inference, node), NOWHERE)[0]


def operands(inference: Inference, node: int) -> list[OutputRef]:
    """Return the inputs of an op, before ops that only forward them."""
    return [through(inference, source, PASS_THROUGH | FRAME_SWITCHES) for source in inputs_of(inference, node)]


def through(inference: Inference, source: OutputRef, carriers: frozenset[str] = PASS_THROUGH) -> OutputRef:
    """Return the source of an output, before ops that only forward it."""
    for _ in range(CARRIERS_FOLLOWED):
        if source[0] < 0 or inference.op(source[0]) not in carriers:
            return source
        source = first_input(inference, source[0])
    return source
