"""Frames (the main graph, or a function's body with certain arguments) and lazily inferred inputs of ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from graphviz_tb.annotate.infer.values import UNKNOWN_OUTPUT, Out
from graphviz_tb.annotate.infer.wiring import OutputRef


@dataclass(slots=True, eq=False)
class CallFrame:
    """A scope of inference: `function` is -1 for the main graph, `caller` the frame of the first call."""

    function: int
    args: tuple[Out, ...] = ()
    caller: CallFrame | None = None
    outs: dict[int, tuple[Out, ...]] = field(default_factory=dict)
    waiting: dict[int, OpInputs] = field(default_factory=dict)
    heads: dict[int, Out] = field(default_factory=dict)  # assumed values of loop heads

    depth: int = field(init=False)
    far: CallFrame = field(init=False)  # a jump pointer to an outer frame

    def __post_init__(self) -> None:
        caller = self.caller
        if caller is None:
            self.depth, self.far = 0, self
            return
        self.depth = caller.depth + 1
        # Jump pointers of a skew-binary list: any outer frame is reached in O(log depth) steps
        # (E. W. Myers, "An applicative random-access stack", 1983).
        step, next_step = caller.depth - caller.far.depth, caller.far.depth - caller.far.far.depth
        self.far = caller.far.far if step == next_step else caller

    def encloses(self, other: CallFrame) -> bool:
        """Return whether a frame is this one or inside it."""
        while other.depth > self.depth:
            caller = other.caller
            assert caller is not None, "only the outermost frame has none"
            other = other.far if other.far.depth >= self.depth else caller
        return other is self


InferenceTask = tuple[CallFrame, int]  # a node to infer, and where


class NotInferredError(Exception):
    """Raised when a rule reads inputs, at `places`, that are not inferred yet."""

    def __init__(self, places: list[int]) -> None:
        super().__init__(places)
        self.places = places


class OpInputs(Sequence[Out]):
    """The inputs of a node, each inferred when it is read, as most rules read few of them. Reading an input that is not
    inferred raises NotInferredError; an input on a cycle that is not a loop is `UNKNOWN_OUTPUT`.

    `read` are the inputs that were read, in this order.
    """

    __slots__ = ("_frame", "place", "read", "sources")

    def __init__(self, frame: CallFrame, sources: Sequence[OutputRef | None]) -> None:
        self._frame = frame
        self.sources = sources
        self.read: dict[int, Out] = {}
        self.place = -1  # among the outcomes of equal ops (`Outcomes`)

    def __len__(self) -> int:
        return len(self.sources)

    @overload
    def __getitem__(self, index: int) -> Out: ...
    @overload
    def __getitem__(self, index: slice) -> list[Out]: ...
    def __getitem__(self, index: int | slice) -> Out | list[Out]:
        if isinstance(index, slice):
            places = range(len(self.sources))[index]
            # In one order, whatever was inferred before; stop at the first missing input.
            for place in places:
                if self.read_place(place) is None:
                    raise NotInferredError([later for later in places if self.output_at_place(later) is None])
            return [self.read[place] for place in places]
        place = range(len(self.sources))[index]
        if self.read_place(place) is None:
            raise NotInferredError([place])
        return self.read[place]

    def __iter__(self) -> Iterator[Out]:
        return iter(self[:])

    def read_place(self, place: int) -> Out | None:
        """Read the input at a place; None if it is not inferred."""
        out = self.read.get(place)
        if out is None and (out := self.output_at_place(place)) is not None:
            self.read[place] = out
        return out

    def output_at_place(self, place: int) -> Out | None:
        """Return the input at a place without recording the read; None if it is not inferred."""
        source = self.sources[place]
        if source is None:
            return UNKNOWN_OUTPUT
        outs = self._frame.outs.get(source[0])
        if outs is None:
            # A waiting node is deeper on the stack: the graph has a cycle.
            return UNKNOWN_OUTPUT if source[0] in self._frame.waiting else None
        return outs[source[1]] if source[1] < len(outs) else UNKNOWN_OUTPUT

    def tasks_for_places(self, places: Iterable[int]) -> list[InferenceTask]:
        """Return the tasks for some places, the first one last, as the top of the stack."""
        wanted = [self.sources[place] for place in places]
        return [(self._frame, source[0]) for source in reversed(wanted) if source is not None]
