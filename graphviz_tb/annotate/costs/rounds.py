"""How often a loop runs, where a counter says it: from a number, by a number, as long as it is below another one.

    while counter < limit and time < steps:    # all of them are compared
        counter, time = counter + 1, time + 1

The limit may be what another loop has counted: gradients run as often as their loop.
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference
from graphviz_tb.annotate.infer.frame import CallFrame
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.wiring import OutputRef
from graphviz_tb.limits import CARRIERS_FOLLOWED
from graphviz_tb.ops.roles import LOOPS, PASS_THROUGH

# comparison ─▶ whether the counter is the first operand where it grows, and whether it may be equal
GROWS = {"Less": (True, 0), "LessEqual": (True, 1), "Greater": (False, 0), "GreaterEqual": (False, 1)}
SUMS = frozenset({"Add", "AddV2"})
NOWHERE: OutputRef = (-1, 0)
MOST_COMPARED = 8  # comparisons of one condition


class Rounds:
    """How often the loops of one inference run, each looked at once."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.graph = inference.graph
        self._known: dict[tuple[CallFrame, int], int | None] = {}

    def of(self, frame: CallFrame, node: int) -> int | None:
        """How often a `While` runs its body; None where no number says it."""
        key = frame, node
        if key not in self._known:
            self._known[key] = None  # a loop whose limit is what it counts itself
            self._known[key] = self._counted(frame, node)
        return self._known[key]

    def _counted(self, frame: CallFrame, node: int) -> int | None:
        functions = self.functions(node)
        if not {"cond", "body"} <= functions.keys():
            return None
        compared = self.compared(functions["cond"])
        counts = [self.until(frame, node, each, functions) for each in compared]
        known = [count for count in counts if count is not None]
        # All of them must hold: one that nobody knows may end the loop earlier.
        return min(known) if known and len(known) == len(counts) else None

    def compared(self, cond: int) -> list[int]:
        """The comparisons that a condition is made of; one that is no comparison is among them."""
        waiting = [self.returned(cond, 0)[0]]
        found: list[int] = []
        while waiting and len(found) < MOST_COMPARED:
            node = waiting.pop()
            if node >= 0 and self.inference.op(node) == "LogicalAnd":
                waiting += [operand[0] for operand in self.operands(node)]
            else:
                found.append(node)
        return [*found, *waiting]

    def until(self, frame: CallFrame, node: int, comparison: int, functions: dict[str, int]) -> int | None:
        """How often a counter is below the limit that one comparison sets."""
        if comparison < 0 or self.inference.op(comparison) not in GROWS:
            return None
        counter_first, equal = GROWS[self.inference.op(comparison)]
        operands = self.operands(comparison)
        if len(operands) != 2:
            return None
        counter, limit = operands if counter_first else operands[::-1]
        position = self.argument(counter, functions["cond"])
        if position is None:
            return None
        start, step = self.given(frame, node, position), self.step(frame, node, position)
        end = self.fixed(frame, node, limit, functions["cond"])
        if start is None or end is None or step is None or step <= 0:
            return None
        return max(0, -(-(end + equal - start) // step))

    def step(self, frame: CallFrame, node: int, position: int) -> int | None:
        """What the body adds to one of its arguments; None where it does something else with it."""
        body = self.functions(node)["body"]
        end = self.returned(body, position)
        if end[0] < 0 or self.inference.op(end[0]) not in SUMS:
            return None
        operands = self.operands(end[0])
        added = [operand for operand in operands if self.argument(operand, body) != position]
        return self.fixed(frame, node, added[0], body) if len(operands) == 2 and len(added) == 1 else None

    def fixed(self, frame: CallFrame, node: int, source: OutputRef, function: int) -> int | None:
        """A number in the body or the condition that is the same in every round."""
        position = self.argument(source, function)
        if position is None:
            return self.number(None, source)
        body = self.functions(node)["body"]
        kept = self.argument(self.returned(body, position), body) == position
        return self.given(frame, node, position) if kept else None

    def given(self, frame: CallFrame, node: int, position: int) -> int | None:
        """The number that a loop is given at a position."""
        inputs = self.inference.wiring.inputs(node)
        source = inputs[position] if position < len(inputs) else None
        return None if source is None else self.number(frame, source)

    def number(self, frame: CallFrame | None, source: OutputRef) -> int | None:
        """The one number that an output is, in a frame or in all; that of a counter when its loop has ended."""
        node, output = source
        if node < 0:
            return None
        outs = self.inference.outs(node) if frame is None else self.inference.ask(frame, node)
        value = outs[output].value if output < len(outs) else None
        if value is not None and len(value) == 1 and value[0] > HIDDEN:
            return value[0]
        if frame is None or self.inference.op(node) not in LOOPS or (count := self.of(frame, node)) is None:
            return None
        start, step = self.given(frame, node, output), self.step(frame, node, output)
        return None if start is None or step is None else start + count * step

    def functions(self, node: int) -> dict[str, int]:
        """The functions of a loop, by attribute."""
        return {call.attr: call.function for call in self.inference.wiring.calls.get(node, ())}

    def returned(self, function: int, position: int) -> OutputRef:
        """What a function gives at a position, behind what only hands it on."""
        returns = self.graph.functions[function].returns
        if position >= len(returns) or returns[position][0] < 0:
            return NOWHERE
        node, key = returns[position]
        return self.through((node, self.inference.wiring.place(node, key)))

    def operands(self, node: int) -> list[OutputRef]:
        """The inputs of an op, behind what only hands them on."""
        return [NOWHERE if source is None else self.through(source) for source in self.inference.wiring.inputs(node)]

    def through(self, source: OutputRef) -> OutputRef:
        """What an output is, behind identities."""
        for _ in range(CARRIERS_FOLLOWED):
            if source[0] < 0 or self.inference.op(source[0]) not in PASS_THROUGH:
                return source
            inputs = self.inference.wiring.inputs(source[0])
            source = (inputs[0] if inputs else None) or NOWHERE
        return source

    def argument(self, source: OutputRef, function: int) -> int | None:
        """Return which argument of a function an output is; None for any other output."""
        node = source[0]
        if node < 0 or int(self.graph.function[node]) != function or self.graph.node_def(node) is not None:
            return None
        return self.graph.functions[function].place(node)
