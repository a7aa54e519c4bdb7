"""Loops of TensorFlow 1: a Merge is assumed to carry its outside input until the back edge shows otherwise."""

from __future__ import annotations

from graphviz_tb.annotate.infer.calls import CallInference, fits, widened
from graphviz_tb.annotate.infer.evaluator import Evaluator
from graphviz_tb.annotate.infer.frame import CallFrame, Task
from graphviz_tb.annotate.infer.values import UNKNOWN, Out, join_outs
from graphviz_tb.ops.roles import FRAME_NEXTS

# Rounds after which a changing head becomes unknown, and after which all heads do: nested loops widen each other.
PATIENCE, MOST_ROUNDS = 4, 8


class Loops:
    """The assumptions of one inference. Values are passed on only once their assumptions are confirmed."""

    def __init__(self, inference: Evaluator, calls: CallInference) -> None:
        self.inference, self.calls = inference, calls
        self.varying: set[int] = set()
        self._open: dict[Task, Out] = {}  # heads with an unconfirmed assumption
        self._order: list[Task] = []
        self._since: list[Task] = []  # tasks done since the first of these

    def head(self, frame: CallFrame, node: int) -> Out | None:
        """Return the assumed value of a loop head; None for a Merge that is not a head."""
        inputs, backs = self.inference.wiring.inputs(node), set(self.backs(node))
        if not backs:
            return None
        assumed = frame.heads.get(node)
        if assumed is None:
            into = [source for source in inputs if source is not None and source not in backs]
            carried = [self.inference.input(frame, source) for source in into] or [UNKNOWN]
            first = carried[0]
            for other in carried[1:]:
                first = join_outs(first, other, self.inference.symbols)
            # Elements change between rounds: assume only shapes.
            assumed = frame.heads[node] = Out(first.shape, None, first.held)
        if (frame, node) not in self._open:
            self._order.append((frame, node))
        self._open[frame, node] = assumed
        return assumed

    def backs(self, node: int) -> list[tuple[int, int]]:
        """Return the back edges into a Merge, from the previous round."""
        inputs = self.inference.wiring.inputs(node)
        return [source for source in inputs if source is not None and self.inference.op(source[0]) in FRAME_NEXTS]

    def note(self, frame: CallFrame, node: int) -> None:
        """Record a task that may depend on an assumption."""
        if self._open:
            self._since.append((frame, node))

    def settle(self, frame: CallFrame, node: int) -> None:
        """Infer a node until all assumptions made on the way hold."""
        # Start with the outside inputs, then widen; heads that still change become unknown, finally all open ones.
        for rounds in range(MOST_ROUNDS + 2):
            self.inference.run(frame, node)
            if not self._open:
                return
            wrong = self._wrong()
            if not wrong:
                break
            if rounds >= MOST_ROUNDS:
                wrong = dict.fromkeys(self._open, UNKNOWN)
            elif rounds >= PATIENCE:
                wrong = dict.fromkeys(wrong, UNKNOWN)
            for (inside, head), wide in wrong.items():
                inside.heads[head] = wide
            # Infer everything again that may depend on a wrong assumption.
            for inside, inferred in self._since:
                inside.outs.pop(inferred, None)
                self.calls.forget(inside, inferred)
            self._clear()
        self._clear()

    def _wrong(self) -> dict[Task, Out]:
        """Return the heads whose back edge has a different value, with the widened value."""
        wrong: dict[Task, Out] = {}
        checked = 0
        while checked < len(self._order):  # the check may open more heads
            frame, node = self._order[checked]
            checked += 1
            for source in self.backs(node):
                self.inference.run(frame, source[0])
                brought = self.inference.input(frame, source)
                assumed = wrong.get((frame, node), self._open[frame, node])
                if not fits(assumed, brought, self.varying):
                    wrong[frame, node] = widened(assumed, brought, self.varying, self.inference.symbols)
        return wrong

    def _clear(self) -> None:
        self._open.clear()
        self._order.clear()
        self._since.clear()
