"""Frames of inference: the main graph or a function's body with certain arguments, and the inputs of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Protocol, overload

import numpy as np

from graphviz_tb.annotate.infer.symbols import UNKNOWN_OUTPUT, Out, Symbols
from graphviz_tb.annotate.shapes import output_index
from graphviz_tb.model.columns import key_starts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Call, Graph
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import BRANCH_OPS, CALL_OPS, LAUNCH_OPS, LOOP_OPS
from graphviz_tb.proto import NodeDef

# Sources of the inputs of each node, as positions of outputs.

DIRECT_CALL_ATTRS = ("f", "function")  # attributes by which an op calls a function with its own inputs
MAX_STORED_POSITION = np.iinfo(np.int32).max  # the largest stored position; only hostile files exceed it
OutputRef = tuple[int, int]  # node, position of its output


class NodeInputs:
    """The inputs of every node, computed on request."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        data = ~graph.control
        target, slot = graph.target[data], graph.slot[data]
        # The inputs of node n are the run starts[n] ... starts[n + 1]: edges are sorted by target.
        starts = key_starts(target, len(graph))
        # "2" is an output's position; "output:2" of a function body needs the op's definition. Nine digits fit int32.
        plain = np.array([int(key) if key.isdecimal() and len(key) < 10 else -1 for key in graph.keys] or [0], np.int32)
        # If every input names a node, slots are positions in the run.
        self._whole = np.array_equal(slot, np.arange(len(slot)) - starts[target])
        self._slot, self._key = slot, graph.key[data]
        columns = graph.source[data], plain[self._key], starts
        # Memory views give plain ints, in a fifth of the time.
        self._source, self._position, self._starts = (memoryview(each) for each in columns)  # type: ignore[arg-type,unused-ignore]

    def input_sources(self, node: int) -> list[OutputRef | None]:
        """Return the outputs that a node takes, by slot; None for an input that names nothing."""
        start, stop = self._starts[node], self._starts[node + 1]
        if start == stop:
            return []
        sources, positions = self._source[start:stop].tolist(), self._position[start:stop].tolist()
        # Text keys are rare outside of functions.
        if -1 in positions:
            keys = self._key[start:stop].tolist()
            positions = list(map(self.output_position, sources, keys))
            # Stored: a body is inferred for many sets of arguments.
            if max(positions) <= MAX_STORED_POSITION:
                for place, position in enumerate(positions, start):
                    self._position[place] = position
        pairs: list[OutputRef | None] = list(zip(sources, positions, strict=True))
        if self._whole:
            return pairs
        slots: list[OutputRef | None] = []
        for slot, pair in zip(self._slot[start:stop].tolist(), pairs, strict=True):
            # An input that names no node has no edge: its slot stays empty.
            slots += [None] * (slot - len(slots))
            slots.append(pair)
        return slots

    def output_position(self, source: int, key: int) -> int:
        """Return the position of the output `key` (an id into `Graph.keys`) of a node."""
        return self.position_of_key(source, self.graph.keys[key])

    def position_of_key(self, source: int, key: str) -> int:
        """Return the position of the output `key` of a node, as text."""
        definition = self.graph.node_def(source)
        return 0 if definition is None else output_index(definition, key)

    @cached_property
    def calls_by_node(self) -> dict[int, list[Call]]:
        """Calls of a node that produce its results, excluding those of datasets and the like."""
        calls_of: dict[int, list[Call]] = {}
        for call in self.graph.calls:
            if self.passes_values(call):
                calls_of.setdefault(call.node, []).append(call)
        return calls_of

    def passes_values(self, call: Call) -> bool:
        """Return whether a function takes the inputs of the calling node and gives it its results."""
        op = self.graph.op_types[int(self.graph.op[call.node])]
        direct = call.attr in DIRECT_CALL_ATTRS and op in CALL_OPS | LAUNCH_OPS
        return call.attr == "" or direct or op in BRANCH_OPS or op in LOOP_OPS

    @cached_property
    def callers_by_function(self) -> dict[int, list[int]]:
        """The calling nodes of the main graph (-1) and of each function."""
        callers: dict[int, list[int]] = {}
        for node in self.calls_by_node:
            callers.setdefault(int(self.graph.function[node]), []).append(node)
        return callers


# Frames (the main graph, or a function's body with certain arguments) and lazily inferred inputs of ops.


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
        self.place = -1  # among the outcomes of equal ops (`RuleCache`)

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


# The engine as seen by the inference of calls and loops.

# The shapes that the file declares for the outputs of a node; None where it declares none.
DeclaredShapes = Callable[[int, NodeDef | None], list[Shape] | None]


class OutputEvaluator(Protocol):
    """Infers the outputs of nodes in frames."""

    graph: Graph
    declared: DeclaredShapes
    wiring: NodeInputs
    symbols: Symbols
    main: CallFrame

    def op_type(self, node: int) -> str:
        """Return the op type of a node."""

    def infer_outputs(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Infer the outputs of a node and all that they need."""

    def infer_with_inputs(self, frame: CallFrame, node: int) -> None:
        """Infer a node under the current assumptions about loops."""

    def input_output(self, frame: CallFrame, source: OutputRef | None) -> Out:
        """Return the output that an input takes, as far as it is inferred."""

    def merge_declared_shapes(self, node: int, outs: tuple[Out, ...], declared: list[Shape] | None) -> tuple[Out, ...]:
        """Merge inferred outputs with declared shapes."""
