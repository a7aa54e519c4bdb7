"""Sources of the inputs of each node, as positions of outputs."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphviz_tb.annotate.outputs import output_index
from graphviz_tb.model.columns import key_starts
from graphviz_tb.model.graph import Call, Graph
from graphviz_tb.ops.roles import BRANCH_OPS, CALL_OPS, LAUNCH_OPS, LOOP_OPS

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
        self._source, self._position, self._slot = graph.source[data], plain[graph.key[data]], slot
        self._key = graph.key[data]
        self._starts = memoryview(starts)  # type: ignore[arg-type,unused-ignore]  # gives plain ints, in a fifth of the time

    def input_sources(self, node: int) -> list[OutputRef | None]:
        """Return the outputs that a node takes, by slot; None for an input that names nothing."""
        start, stop = self._starts[node], self._starts[node + 1]
        if start == stop:
            return []
        sources, positions = self._source[start:stop].tolist(), self._position[start:stop].tolist()
        # Text keys are rare outside of functions.
        if -1 in positions:
            keys = self._key[start:stop].tolist()
            positions = [self.output_position(*each) for each in zip(sources, keys, strict=True)]
            # Stored: a body is inferred for many sets of arguments.
            if max(positions) <= MAX_STORED_POSITION:
                self._position[start:stop] = positions
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
