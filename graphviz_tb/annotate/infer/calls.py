"""Inference of calls: a function is inferred once per set of arguments, and its results are those of the call.

PartitionedCall and the like      the results of the function
If, Case                          the common part of the results of all branches
While                             a fixed point: the inputs, joined with the results of the body, until nothing changes
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from graphviz_tb.annotate.infer.evaluator import Evaluator
from graphviz_tb.annotate.infer.frame import CallFrame, Task
from graphviz_tb.annotate.infer.symbols import HIDDEN, Symbols
from graphviz_tb.annotate.infer.values import UNKNOWN, Dims, Out, join_outs
from graphviz_tb.annotate.infer.wiring import OutputRef
from graphviz_tb.limits import FRAMES, LOOP_ROUNDS, NODES_AGAIN, RESULTS_GIVEN, Meter
from graphviz_tb.ops.roles import BRANCHES, LOOPS


class CallInference:
    """The calls of one inference."""

    def __init__(self, inference: Evaluator) -> None:
        self.inference = inference
        self.graph = inference.graph
        self.opened: dict[tuple[CallFrame, int], tuple[CallFrame, ...]] = {}  # frames of an inferred call
        self._frames: dict[tuple[int, tuple[Out, ...]], CallFrame] = {}
        self._made: dict[int, list[CallFrame]] = {}  # by function
        self._rounds: dict[tuple[CallFrame, int], Round] = {}
        self.limited = False  # whether a body was not inferred for some of its arguments
        self._again = 0  # nodes of bodies that were inferred again, for more sets of arguments
        self._given = Meter(RESULTS_GIVEN)  # budget for results of calls
        self._ends: dict[int, list[OutputRef | None]] = {}  # sources of the results, by function
        self._born: dict[
            tuple[CallFrame, tuple[Out, ...]], list[int]
        ] = {}  # symbols of results that do not derive from arguments

    def argument(self, frame: CallFrame, node: int) -> Out:
        """Merge the value that the caller passes for an argument with the shape that the file declares."""
        position = self.graph.functions[int(self.graph.function[node])].place(node)
        given = frame.args[position] if position < len(frame.args) else UNKNOWN
        declared = self.inference.with_declared(node, (given,), self.inference.declared(node, None))
        return declared[0]

    def needs(self, frame: CallFrame, node: int) -> list[Task]:
        """Return the function results that a call still waits for; none when all are inferred."""
        if self.full:
            return []
        if self.inference.op(node) in LOOPS:
            return self._round(frame, node).needs()
        return unmet(task for sub in self._entered(frame, node) for task in self.returns(sub))

    def results(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Return the outputs of a call whose functions are inferred."""
        if self.full:
            return ()
        if self.inference.op(node) in LOOPS:
            return self._round(frame, node).results()
        subs = self._entered(frame, node)
        self.opened[frame, node] = tuple(subs)
        # Each call of a function has separate symbols for the results of the body.
        each = [self.fresh(sub, self.given(sub)) for sub in subs]
        if not each or len(subs) < len(self._functions(node)):
            return ()  # a branch is recursive: its results are unknown
        joined = each[0]
        for other in each[1:]:
            pairs = zip(joined, other, strict=False)
            joined = tuple(join_outs(mine, another, self.inference.symbols) for mine, another in pairs)
        return joined

    def arguments(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Return the inputs of a call that are arguments of its functions."""
        ins = [self.inference.input(frame, source) for source in self.inference.wiring.inputs(node)]
        return tuple(ins[1:] if self.inference.op(node) in BRANCHES else ins)

    def _entered(self, frame: CallFrame, node: int) -> list[CallFrame]:
        args = self.arguments(frame, node)
        # Pass each function only as many as it has arguments: thousands of functions may have none.
        counts = ((function, len(self.graph.functions[function].args)) for function in self._functions(node))
        frames = [self.enter(frame, function, args[:count]) for function, count in counts]
        return [sub for sub in frames if sub is not None]

    def _functions(self, node: int) -> list[int]:
        """Return the functions that a node calls, without duplicates: it may name one of them thousands of times."""
        return list(dict.fromkeys(call.function for call in self.inference.wiring.calls[node]))

    def enter(self, caller: CallFrame, function: int, args: tuple[Out, ...]) -> CallFrame | None:
        """Return the frame of a function with these arguments; None for recursion."""
        made = self._made.setdefault(function, [])
        if any(frame.holds(caller) for frame in made):
            # Recursion: the results of a call inside of itself are unknown.
            return None
        # Past the limits, all further calls share one frame with unknown arguments.
        if len(made) >= FRAMES or (made and self._again + self._sizes[function] > NODES_AGAIN):
            known = (function, args) in self._frames
            self.limited |= not known
            args = args if known else ()
        frame = self._frames.get((function, args))
        if frame is None:
            self._again += self._sizes[function] if made else 0
            frame = self._frames[function, args] = CallFrame(function, args, caller)
            made.append(frame)
        return frame

    def returns(self, frame: CallFrame) -> list[Task]:
        """Return the tasks of the nodes that make the results of a frame."""
        return [(frame, end[0]) for end in self._ends_of(frame.function) if end is not None]

    def given(self, frame: CallFrame) -> tuple[Out, ...]:
        """Return the results of an inferred frame; none once the budget is spent."""
        ends = self._ends_of(frame.function)
        self._given.take(len(ends))
        if self.full:
            self.limited = True
            return ()
        return tuple([self.inference.input(frame, end) for end in ends])

    @property
    def full(self) -> bool:
        """Return whether the budget for results of calls is spent."""
        return self._given.spent

    def _ends_of(self, function: int) -> list[OutputRef | None]:
        """Return the source of each result of a function: a node and which of its outputs; None where there is none."""
        if function not in self._ends:
            place = self.inference.wiring.place
            returns = self.graph.functions[function].returns
            self._ends[function] = [(node, place(node, key)) if node >= 0 else None for node, key in returns]
        return self._ends[function]

    def fresh(self, frame: CallFrame, outs: tuple[Out, ...]) -> tuple[Out, ...]:
        """Return results as one call sees them: sizes created in the body are new in each call, those of arguments are
        not."""
        symbols = self.inference.symbols
        born = self._born.get((frame, outs))
        if born is None:
            # A size derived from arguments ("batch * 7") is equal inside and outside of the body.
            decided = dict.fromkeys(symbols_of(frame.args), True)
            found = dict.fromkeys(symbols_of(outs))
            born = self._born[frame, outs] = [symbol for symbol in found if not symbols.made_of(symbol, decided)]
        new = {symbol: symbols.like(symbol) for symbol in born}
        return tuple(Out(renamed(out.shape, new), renamed(out.value, new), renamed(out.held, new)) for out in outs)

    def _round(self, frame: CallFrame, node: int) -> Round:
        known = self._rounds.get((frame, node))
        if known is None:
            known = self._rounds[frame, node] = Round(self, frame, node)
        return known

    def forget(self, frame: CallFrame, node: int) -> None:
        """Drop results that were found under a wrong assumption."""
        self._rounds.pop((frame, node), None)
        self.opened.pop((frame, node), None)

    def frames_of(self, function: int) -> list[CallFrame]:
        """Return all reachable frames of a function; one with unknown arguments if there is none."""
        frames = self._reached.get(function)
        if not frames:
            frame = self._frames.get((function, ()))
            if frame is None:
                frame = self._frames[function, ()] = CallFrame(function)
                self._made.setdefault(function, []).append(frame)
            frames = [frame]
        return frames

    @cached_property
    def _sizes(self) -> list[int]:
        """The number of nodes of each function."""
        inside = self.graph.function[self.graph.function >= 0]
        sizes: list[int] = np.bincount(inside, minlength=len(self.graph.functions)).tolist()
        return sizes

    @cached_property
    # Frames reachable by calls from the main graph, by function.
    def _reached(self) -> dict[int, list[CallFrame]]:
        inference = self.inference
        waiting = [inference.main]
        seen: dict[CallFrame, None] = {inference.main: None}
        while waiting:
            frame = waiting.pop()
            for node in inference.wiring.calls_in.get(frame.function, ()):
                inference.ask(frame, node)
                new = [sub for sub in self.opened.get((frame, node), ()) if sub not in seen]
                seen.update(dict.fromkeys(new))
                waiting += new
        frames: dict[int, list[CallFrame]] = {}
        for frame in seen:
            frames.setdefault(frame.function, []).append(frame)
        return frames


class Round:
    """One `While`: its body is inferred with the inputs of the loop; sizes that change between rounds are unknown."""

    def __init__(self, calls: CallInference, frame: CallFrame, node: int) -> None:
        self.calls = calls
        self.frame = frame
        bodies = {call.attr: call.function for call in calls.inference.wiring.calls[node]}
        self.body, self.cond = bodies.get("body"), bodies.get("cond")
        # Elements change between rounds; shapes usually do not.
        self.args = tuple(Out(arg.shape, None, arg.held) for arg in calls.arguments(frame, node))
        self.varying: set[int] = set()
        self.rounds = 0
        self.node = node

    def needs(self) -> list[Task]:
        """Return the tasks that the current round waits for; if there are none, run rounds up to a fixed point."""
        while self.body is not None:
            # The frame of the body with the current assumption; reused if the assumption did not change.
            sub = self.calls.enter(self.frame, self.body, self.args)
            if sub is None:
                self.args = (UNKNOWN,) * len(self.args)
                return []
            if tasks := unmet(self.calls.returns(sub)):
                return tasks
            given = self.calls.given(sub)
            if self.calls.full:
                self.args = (UNKNOWN,) * len(self.args)
                return []
            # A fixed point: the body returns its arguments.
            if all(fits(arg, out, self.varying) for arg, out in zip(self.args, given, strict=False)):
                return []
            self.rounds += 1
            self.args = tuple(
                self._widened(arg, given[index] if index < len(given) else UNKNOWN)
                for index, arg in enumerate(self.args)
            )
        return []

    def _widened(self, arg: Out, out: Out) -> Out:
        if fits(arg, out, self.varying):
            return arg
        if self.rounds >= LOOP_ROUNDS:
            return UNKNOWN
        return widened(arg, out, self.varying, self.calls.inference.symbols)

    def results(self) -> tuple[Out, ...]:
        """Return the outputs of the loop: the values of every round, with one new symbol for each size that varies."""
        calls = self.calls
        functions = [function for function in (self.cond, self.body) if function is not None]
        subs = [calls.enter(self.frame, function, self.args) for function in functions]
        calls.opened[self.frame, self.node] = tuple(sub for sub in subs if sub is not None)
        if self.body is None:
            return ()
        # Outside of the loop, a varying size is one number: its value after the last round.
        new = {symbol: calls.inference.symbols.fresh() for symbol in sorted(self.varying)}
        return tuple(Out(renamed(arg.shape, new), None, renamed(arg.held, new)) for arg in self.args)


def fits(assumed: Out, brought: Out, varying: set[int]) -> bool:
    """Return whether the value at the end of a round agrees with the assumed value."""
    return _fits(assumed.shape, brought.shape, varying) and _fits(assumed.held, brought.held, varying)


def _fits(assumed: Dims, brought: Dims, varying: set[int]) -> bool:
    # Nothing was assumed, or the assumption holds.
    if assumed is None or assumed == brought:
        return True
    if brought is None or len(brought) != len(assumed):
        return False
    # A varying size may be any number in each round.
    return all(mine == other or mine in varying for mine, other in zip(assumed, brought, strict=True))


def widened(assumed: Out, brought: Out, varying: set[int], symbols: Symbols) -> Out:
    """Merge the assumed value with that at the end of a round; sizes that differ become symbols, which are added to
    `varying`."""

    def widen_dims(mine: Dims, other: Dims) -> Dims:
        if mine is None or other is None or len(mine) != len(other):
            return None
        dims = tuple(a if a == b or a in varying else symbols.fresh() for a, b in zip(mine, other, strict=True))
        # Only new symbols: an assumed symbol may be a size outside of the loop.
        varying.update(symbol for symbol in dims if symbol not in mine)
        return dims

    return Out(widen_dims(assumed.shape, brought.shape), None, widen_dims(assumed.held, brought.held))


def unmet(tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks that are neither done nor in progress."""
    return [(frame, node) for frame, node in tasks if node not in frame.outs and node not in frame.waiting]


def symbols_of(outs: Iterable[Out]) -> list[int]:
    """Return every symbol in some outputs."""
    return [
        number
        for out in outs
        for numbers in (out.shape, out.value, out.held)
        for number in numbers or ()
        if number <= HIDDEN
    ]


def renamed(numbers: Dims, new: dict[int, int]) -> Dims:
    """Replace symbols by others, as `new` maps them."""
    return None if numbers is None else tuple(new.get(number, number) for number in numbers)
