"""Infer calls, `While` loops and loops of TensorFlow 1. A function is inferred once per set of arguments.

PartitionedCall and similar ops   the results of the function
If, Case                          the common part of the results of all branches
While                             a fixed point: inputs joined with the results of the body until nothing changes
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from graphviz_tb.annotate.infer.frame import CallFrame, InferenceTask, OutputEvaluator, OutputRef
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, UNKNOWN_OUTPUT, Dims, Out, Symbols, join_outputs
from graphviz_tb.limits import MAX_ARGUMENT_SETS, MAX_LOOP_ROUNDS, NODES_AGAIN, RESULTS_GIVEN, Meter
from graphviz_tb.ops.roles import BRANCH_OPS, FRAME_NEXT_OPS, LOOP_OPS


class CallInference:
    """The calls of one inference."""

    def __init__(self, inference: OutputEvaluator) -> None:
        self.inference = inference
        self.graph = inference.graph
        self.opened: dict[tuple[CallFrame, int], tuple[CallFrame, ...]] = {}  # frames of an inferred call
        self._frames: dict[tuple[int, tuple[Out, ...]], CallFrame] = {}
        self._made: dict[int, list[CallFrame]] = {}  # by function
        self._rounds: dict[tuple[CallFrame, int], WhileLoop] = {}
        self.limited = False  # whether a body was not inferred for some of its arguments
        self._repeated = 0  # nodes of bodies that were inferred for further sets of arguments
        self._given = Meter(RESULTS_GIVEN)  # budget for results of calls
        self._ends: dict[int, list[OutputRef | None]] = {}  # sources of the results, by function
        self._born: dict[
            tuple[CallFrame, tuple[Out, ...]], list[int]
        ] = {}  # symbols of results that do not derive from arguments

    def argument_output(self, frame: CallFrame, node: int) -> Out:
        """Merge the value that the caller passes for an argument with the shape that the file declares."""
        position = self.graph.functions[int(self.graph.function[node])].argument_position(node)
        given = frame.args[position] if position < len(frame.args) else UNKNOWN_OUTPUT
        declared = self.inference.merge_declared_shapes(node, (given,), self.inference.declared(node, None))
        return declared[0]

    def pending_tasks(self, frame: CallFrame, node: int) -> list[InferenceTask]:
        """Return the function results that a call still waits for; none when all are inferred."""
        if self.budget_spent:
            return []
        if self.inference.op_type(node) in LOOP_OPS:
            return self._loop_at(frame, node).pending_tasks()
        return _unfinished_tasks(task for sub in self._enter_all(frame, node) for task in self.result_tasks(sub))

    def call_results(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Return the outputs of a call whose functions are inferred."""
        if self.budget_spent:
            return ()
        if self.inference.op_type(node) in LOOP_OPS:
            return self._loop_at(frame, node).loop_results()
        frames = self._enter_all(frame, node)
        self.opened[frame, node] = tuple(frames)
        # Each call of a function has separate symbols for the results of the body.
        results = [self.with_fresh_symbols(body, self.frame_results(body)) for body in frames]
        if not results or len(frames) < len(self._called_functions(node)):
            return ()  # a branch is recursive: its results are unknown
        joined = results[0]
        for more in results[1:]:
            pairs = zip(joined, more, strict=False)
            joined = tuple(join_outputs(mine, another, self.inference.symbols) for mine, another in pairs)
        return joined

    def call_arguments(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Return the inputs of a call that are arguments of its functions."""
        ins = [self.inference.input_output(frame, source) for source in self.inference.wiring.input_sources(node)]
        return tuple(ins[1:] if self.inference.op_type(node) in BRANCH_OPS else ins)

    def _enter_all(self, frame: CallFrame, node: int) -> list[CallFrame]:
        args = self.call_arguments(frame, node)
        # Pass only as many arguments as the function has: thousands of functions may have none.
        counts = ((function, len(self.graph.functions[function].args)) for function in self._called_functions(node))
        frames = [self.enter_frame(frame, function, args[:count]) for function, count in counts]
        return [sub for sub in frames if sub is not None]

    def _called_functions(self, node: int) -> list[int]:
        """Return the functions that a node calls, without duplicates."""
        return list(dict.fromkeys(call.function for call in self.inference.wiring.calls_by_node[node]))

    def enter_frame(self, caller: CallFrame, function: int, args: tuple[Out, ...]) -> CallFrame | None:
        """Return the frame of a function with these arguments; None for recursion."""
        frames = self._made.setdefault(function, [])
        if any(frame.encloses(caller) for frame in frames):
            return None
        # Past the limits, all further calls share one frame with unknown arguments.
        size = self._function_sizes[function]
        if len(frames) >= MAX_ARGUMENT_SETS or (frames and self._repeated + size > NODES_AGAIN):
            is_stored = (function, args) in self._frames
            self.limited |= not is_stored
            args = args if is_stored else ()
        frame = self._frames.get((function, args))
        if frame is None:
            self._repeated += size if frames else 0
            frame = self._frames[function, args] = CallFrame(function, args, caller)
            frames.append(frame)
        return frame

    def result_tasks(self, frame: CallFrame) -> list[InferenceTask]:
        """Return the tasks of the nodes whose outputs are the results of a frame."""
        return [(frame, end[0]) for end in self._result_sources(frame.function) if end is not None]

    def frame_results(self, frame: CallFrame) -> tuple[Out, ...]:
        """Return the results of an inferred frame; none once the budget is spent."""
        ends = self._result_sources(frame.function)
        self._given.take(len(ends))
        if self.budget_spent:
            self.limited = True
            return ()
        return tuple([self.inference.input_output(frame, end) for end in ends])

    @property
    def budget_spent(self) -> bool:
        return self._given.spent

    def _result_sources(self, function: int) -> list[OutputRef | None]:
        """Return the source of each result of a function, a node and an output; None if there is none."""
        if function not in self._ends:
            place = self.inference.wiring.position_of_key
            returns = self.graph.functions[function].returns
            self._ends[function] = [(node, place(node, key)) if node >= 0 else None for node, key in returns]
        return self._ends[function]

    def with_fresh_symbols(self, frame: CallFrame, outs: tuple[Out, ...]) -> tuple[Out, ...]:
        """Return the results of one call: sizes that the body creates are new symbols in each call, sizes of arguments
        are not."""
        symbols = self.inference.symbols
        born = self._born.get((frame, outs))
        if born is None:
            # A size derived from arguments ("batch * 7") is equal inside and outside of the body.
            decided = dict.fromkeys(_symbols_in_outputs(frame.args), True)
            found = dict.fromkeys(_symbols_in_outputs(outs))
            born = self._born[frame, outs] = [symbol for symbol in found if not symbols.is_made_of(symbol, decided)]
        new = {symbol: symbols.new_symbol_like(symbol) for symbol in born}
        return tuple(
            Out(_rename_symbols(out.shape, new), _rename_symbols(out.value, new), _rename_symbols(out.held, new))
            for out in outs
        )

    def _loop_at(self, frame: CallFrame, node: int) -> WhileLoop:
        known = self._rounds.get((frame, node))
        if known is None:
            known = self._rounds[frame, node] = WhileLoop(self, frame, node)
        return known

    def forget_results(self, frame: CallFrame, node: int) -> None:
        """Drop results that were found under a wrong assumption."""
        self._rounds.pop((frame, node), None)
        self.opened.pop((frame, node), None)

    def frames_of(self, function: int) -> list[CallFrame]:
        """Return all reachable frames of a function; one with unknown arguments if there is none."""
        frames = self._reached_frames.get(function)
        if not frames:
            frame = self._frames.get((function, ()))
            if frame is None:
                frame = self._frames[function, ()] = CallFrame(function)
                self._made.setdefault(function, []).append(frame)
            frames = [frame]
        return frames

    @cached_property
    def _function_sizes(self) -> list[int]:
        inside = self.graph.function[self.graph.function >= 0]
        sizes: list[int] = np.bincount(inside, minlength=len(self.graph.functions)).tolist()
        return sizes

    @cached_property
    def _reached_frames(self) -> dict[int, list[CallFrame]]:
        """Return the frames reachable by calls from the main graph, by function."""
        inference = self.inference
        waiting = [inference.main]
        seen: dict[CallFrame, None] = {inference.main: None}
        while waiting:
            frame = waiting.pop()
            for node in inference.wiring.callers_by_function.get(frame.function, ()):
                inference.infer_outputs(frame, node)
                new = [sub for sub in self.opened.get((frame, node), ()) if sub not in seen]
                seen.update(dict.fromkeys(new))
                waiting += new
        frames: dict[int, list[CallFrame]] = {}
        for frame in seen:
            frames.setdefault(frame.function, []).append(frame)
        return frames


class WhileLoop:
    """A `While`, whose body is inferred with the inputs of the loop; sizes that change between rounds are unknown."""

    def __init__(self, calls: CallInference, frame: CallFrame, node: int) -> None:
        self.calls = calls
        self.frame = frame
        bodies = {call.attr: call.function for call in calls.inference.wiring.calls_by_node[node]}
        self.body, self.cond = bodies.get("body"), bodies.get("cond")
        # Elements change between rounds; shapes usually do not.
        self.args = tuple(Out(arg.shape, None, arg.held) for arg in calls.call_arguments(frame, node))
        self.varying: set[int] = set()
        self.rounds = 0
        self.node = node

    def pending_tasks(self) -> list[InferenceTask]:
        """Return the tasks that the current round waits for; if there are none, run rounds up to a fixed point."""
        while self.body is not None:
            sub = self.calls.enter_frame(self.frame, self.body, self.args)
            if sub is None:
                self.args = (UNKNOWN_OUTPUT,) * len(self.args)
                return []
            if tasks := _unfinished_tasks(self.calls.result_tasks(sub)):
                return tasks
            results = self.calls.frame_results(sub)
            if self.calls.budget_spent:
                self.args = (UNKNOWN_OUTPUT,) * len(self.args)
                return []
            # A fixed point: the body returns its arguments.
            if all(_assumption_holds(arg, out, self.varying) for arg, out in zip(self.args, results, strict=False)):
                return []
            self.rounds += 1
            self.args = tuple(
                self._widen_argument(arg, results[index] if index < len(results) else UNKNOWN_OUTPUT)
                for index, arg in enumerate(self.args)
            )
        return []

    def _widen_argument(self, arg: Out, out: Out) -> Out:
        if _assumption_holds(arg, out, self.varying):
            return arg
        if self.rounds >= MAX_LOOP_ROUNDS:
            return UNKNOWN_OUTPUT
        return _widen_assumption(arg, out, self.varying, self.calls.inference.symbols)

    def loop_results(self) -> tuple[Out, ...]:
        """Return the outputs of the loop: the assumed values, with a new symbol for each size that varies."""
        calls = self.calls
        functions = [function for function in (self.cond, self.body) if function is not None]
        subs = [calls.enter_frame(self.frame, function, self.args) for function in functions]
        calls.opened[self.frame, self.node] = tuple(sub for sub in subs if sub is not None)
        if self.body is None:
            return ()
        # Outside of the loop, a varying size is a single number, that of the last round.
        new = {symbol: calls.inference.symbols.new_symbol() for symbol in sorted(self.varying)}
        return tuple(Out(_rename_symbols(arg.shape, new), None, _rename_symbols(arg.held, new)) for arg in self.args)


def _assumption_holds(assumed: Out, brought: Out, varying: set[int]) -> bool:
    """Return whether the value at the end of a round agrees with the assumed value."""
    return _dims_hold(assumed.shape, brought.shape, varying) and _dims_hold(assumed.held, brought.held, varying)


def _dims_hold(assumed: Dims, brought: Dims, varying: set[int]) -> bool:
    # Nothing was assumed, or the assumption holds.
    if assumed is None or assumed == brought:
        return True
    if brought is None or len(brought) != len(assumed):
        return False
    # A varying size may be any number in each round.
    return all(mine == other or mine in varying for mine, other in zip(assumed, brought, strict=True))


def _widen_assumption(assumed: Out, brought: Out, varying: set[int], symbols: Symbols) -> Out:
    """Merge the assumed value with that at the end of a round; sizes that differ become symbols, which are added to
    `varying`."""

    def widen_dims(mine: Dims, other: Dims) -> Dims:
        if mine is None or other is None or len(mine) != len(other):
            return None
        dims = tuple(a if a == b or a in varying else symbols.new_symbol() for a, b in zip(mine, other, strict=True))
        # Only new symbols: an assumed symbol may be a size outside of the loop.
        varying.update(symbol for symbol in dims if symbol not in mine)
        return dims

    return Out(widen_dims(assumed.shape, brought.shape), None, widen_dims(assumed.held, brought.held))


def _unfinished_tasks(tasks: Iterable[InferenceTask]) -> list[InferenceTask]:
    """Return the tasks that are neither done nor in progress."""
    return [(frame, node) for frame, node in tasks if node not in frame.outs and node not in frame.waiting]


def _symbols_in_outputs(outs: Iterable[Out]) -> list[int]:
    return [
        number
        for out in outs
        for numbers in (out.shape, out.value, out.held)
        for number in numbers or ()
        if number <= SYMBOL_LIMIT
    ]


def _rename_symbols(numbers: Dims, new: dict[int, int]) -> Dims:
    """Replace symbols by others, as `new` maps them."""
    return None if numbers is None else tuple(new.get(number, number) for number in numbers)


# Loops of TensorFlow 1: a Merge is assumed to carry its outside input until the back edge shows otherwise.

# Rounds after which a changing head becomes unknown, and after which all heads do, since nested loops widen each other.
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
            outside = [source for source in inputs if source is not None and source not in backs]
            initial_values = [self.inference.input_output(frame, source) for source in outside] or [UNKNOWN_OUTPUT]
            first = initial_values[0]
            for other in initial_values[1:]:
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
            widened = self._failed_assumptions()
            if not widened:
                break
            if rounds >= ROUNDS_BEFORE_ALL_UNKNOWN:
                widened = dict.fromkeys(self._open, UNKNOWN_OUTPUT)
            elif rounds >= ROUNDS_BEFORE_HEAD_UNKNOWN:
                widened = dict.fromkeys(widened, UNKNOWN_OUTPUT)
            for (loop_frame, head), value in widened.items():
                loop_frame.heads[head] = value
            # Forget everything that may depend on a wrong assumption.
            for loop_frame, inferred in self._since:
                loop_frame.outs.pop(inferred, None)
                self.calls.forget_results(loop_frame, inferred)
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
                if not _assumption_holds(assumed, brought, self.varying):
                    wrong[frame, node] = _widen_assumption(assumed, brought, self.varying, self.inference.symbols)
        return wrong

    def _clear_assumptions(self) -> None:
        self._open.clear()
        self._order.clear()
        self._since.clear()
