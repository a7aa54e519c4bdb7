"""Loops of TensorFlow 1: a Merge is assumed to carry what enters it, until what comes back shows otherwise."""

from __future__ import annotations

from graphviz_tb.annotate.infer.calls import CallInference, fits, widened
from graphviz_tb.annotate.infer.evaluator import Evaluator
from graphviz_tb.annotate.infer.frame import CallFrame, Task
from graphviz_tb.annotate.infer.values import UNKNOWN, Out, join_outs
from graphviz_tb.ops.roles import FRAME_NEXTS

# Rounds after which a head that still changes is not known, and then no head is: nested loops widen one another.
PATIENCE, MOST_ROUNDS = 4, 8


class Loops:
    """The assumptions of one inference. Nothing is passed on before they are found to hold."""

    def __init__(self, inference: Evaluator, calls: CallInference) -> None:
        self.inference, self.calls = inference, calls
        self.varying: set[int] = set()
        self._open: dict[Task, Out] = {}  # heads that were assumed and are not confirmed
        self._order: list[Task] = []
        self._since: list[Task] = []  # what was inferred since the first of them

    def head(self, frame: CallFrame, node: int) -> Out | None:
        """Return the value that the head of a loop is assumed to carry; None for a Merge that is not a head."""
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
            # The elements change from round to round: only shapes are assumed.
            assumed = frame.heads[node] = Out(first.shape, None, first.held)
        if (frame, node) not in self._open:
            self._order.append((frame, node))
        self._open[frame, node] = assumed
        return assumed

    def backs(self, node: int) -> list[tuple[int, int]]:
        """The inputs of a Merge that come from the round before."""
        inputs = self.inference.wiring.inputs(node)
        return [source for source in inputs if source is not None and self.inference.op(source[0]) in FRAME_NEXTS]

    def note(self, frame: CallFrame, node: int) -> None:
        """Remember what may depend on an assumption."""
        if self._open:
            self._since.append((frame, node))

    def settle(self, frame: CallFrame, node: int) -> None:
        """Infer a node; after, all that was assumed on the way holds."""
        # First as they enter, then widened; heads that still change then are not known, at last no open one is.
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
            # All that may rest on what was wrong is inferred again.
            for inside, inferred in self._since:
                inside.outs.pop(inferred, None)
                self.calls.forget(inside, inferred)
            self._clear()
        self._clear()

    def _wrong(self) -> dict[Task, Out]:
        """Return the heads to which another value comes back, with the value that they carry then."""
        wrong: dict[Task, Out] = {}
        checked = 0
        while checked < len(self._order):  # looking at one may lead to others
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
