"""Loops of TensorFlow 1: a Merge is assumed to carry its outside input until the back edge shows otherwise."""

from __future__ import annotations

from graphviz_tb.annotate.infer.calls import CallInference, assumption_holds, widen_assumption
from graphviz_tb.annotate.infer.evaluator import OutputEvaluator
from graphviz_tb.annotate.infer.frame import CallFrame, InferenceTask
from graphviz_tb.annotate.infer.values import UNKNOWN_OUTPUT, Out, join_outputs
from graphviz_tb.ops.roles import FRAME_NEXT_OPS

# Rounds after which a changing head becomes unknown, and after which all heads do: nested loops widen each other.
ROUNDS_BEFORE_HEAD_UNKNOWN, ROUNDS_BEFORE_ALL_UNKNOWN = 4, 8


class LoopAssumptions:
    """The assumptions of one inference. Values are passed on only once their assumptions are confirmed."""

    def __init__(self, inference: OutputEvaluator, calls: CallInference) -> None:
        self.inference, self.calls = inference, calls
        self.varying: set[int] = set()
        self._open: dict[InferenceTask, Out] = {}  # heads with an unconfirmed assumption
        self._order: list[InferenceTask] = []
        self._since: list[InferenceTask] = []  # tasks done since the first of these

    def assumed_head(self, frame: CallFrame, node: int) -> Out | None:
        """Return the assumed value of a loop head; None for a Merge that is not a head."""
        inputs, backs = self.inference.wiring.input_sources(node), set(self.back_inputs(node))
        if not backs:
            return None
        assumed = frame.heads.get(node)
        if assumed is None:
            into = [source for source in inputs if source is not None and source not in backs]
            carried = [self.inference.input_output(frame, source) for source in into] or [UNKNOWN_OUTPUT]
            first = carried[0]
            for other in carried[1:]:
                first = join_outputs(first, other, self.inference.symbols)
            # Elements change between rounds: assume only shapes.
            assumed = frame.heads[node] = Out(first.shape, None, first.held)
        if (frame, node) not in self._open:
            self._order.append((frame, node))
        self._open[frame, node] = assumed
        return assumed

    def back_inputs(self, node: int) -> list[tuple[int, int]]:
        """Return the back edges into a Merge, from the previous round."""
        inputs = self.inference.wiring.input_sources(node)
        return [
            source for source in inputs if source is not None and self.inference.op_type(source[0]) in FRAME_NEXT_OPS
        ]

    def record_dependent(self, frame: CallFrame, node: int) -> None:
        """Record a task that may depend on an assumption."""
        if self._open:
            self._since.append((frame, node))

    def infer_until_settled(self, frame: CallFrame, node: int) -> None:
        """Infer a node until all assumptions made on the way hold."""
        # Start with the outside inputs, then widen; heads that still change become unknown, finally all open ones.
        for rounds in range(ROUNDS_BEFORE_ALL_UNKNOWN + 2):
            self.inference.infer_with_inputs(frame, node)
            if not self._open:
                return
            wrong = self._failed_assumptions()
            if not wrong:
                break
            if rounds >= ROUNDS_BEFORE_ALL_UNKNOWN:
                wrong = dict.fromkeys(self._open, UNKNOWN_OUTPUT)
            elif rounds >= ROUNDS_BEFORE_HEAD_UNKNOWN:
                wrong = dict.fromkeys(wrong, UNKNOWN_OUTPUT)
            for (inside, head), wide in wrong.items():
                inside.heads[head] = wide
            # Infer everything again that may depend on a wrong assumption.
            for inside, inferred in self._since:
                inside.outs.pop(inferred, None)
                self.calls.forget_results(inside, inferred)
            self._clear_assumptions()
        self._clear_assumptions()

    def _failed_assumptions(self) -> dict[InferenceTask, Out]:
        """Return the heads whose back edge has a different value, with the widened value."""
        wrong: dict[InferenceTask, Out] = {}
        checked = 0
        while checked < len(self._order):  # the check may open more heads
            frame, node = self._order[checked]
            checked += 1
            for source in self.back_inputs(node):
                self.inference.infer_with_inputs(frame, source[0])
                brought = self.inference.input_output(frame, source)
                assumed = wrong.get((frame, node), self._open[frame, node])
                if not assumption_holds(assumed, brought, self.varying):
                    wrong[frame, node] = widen_assumption(assumed, brought, self.varying, self.inference.symbols)
        return wrong

    def _clear_assumptions(self) -> None:
        self._open.clear()
        self._order.clear()
        self._since.clear()
