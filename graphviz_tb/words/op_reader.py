"""Read ops for the words of papers: their inputs, weights and constants, in plain numbers, cached by node."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.graphs.tensors import constant_tensor, first_elements
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.graph import wiring_of_call
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import CONSTANT_OPS, EQUAL_NUMBER_OPS, RESHAPE_OPS, Role, has_role

if TYPE_CHECKING:
    from graphviz_tb.proto import TensorProto

MAX_SCALING_OPS = 8  # between an input and its gate
MAX_USERS = 6  # users of an activation that are inspected
OutputOf = tuple[int, int]  # a node, and the number of its output in `Graph.keys`


class OpReader:
    """Reads the inputs, weights and constants of TensorFlow ops; subclasses for other frameworks replace methods."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.graph = hierarchy.graph
        self._inputs: dict[int, tuple[tuple[int, OutputOf], ...]] = {}
        self._tensors: dict[int, Sequence[OutputOf]] = {}

    @cached_property
    def shapes(self) -> dict[int, Shape]:
        """Shapes of weights, by node of the weight."""
        return dict(self.graph.meaning.shapes())

    def inputs_of(self, node: int) -> tuple[tuple[int, OutputOf], ...]:
        """Return the data inputs of a node as (slot, output)."""
        if node not in self._inputs:
            begins, control, slot, source, key = self._edge_columns
            edges = range(begins[node], begins[node + 1])
            self._inputs[node] = tuple([(slot[edge], (source[edge], key[edge])) for edge in edges if not control[edge]])
        return self._inputs[node]

    def input_source(self, node: int, slot: int = 0) -> int:
        """Return the op that feeds an input of a node; -1 if there is none."""
        return next((source for at, (source, _) in self.inputs_of(node) if at == slot), -1)

    def sources_of(self, node: int) -> Sequence[int]:
        """Return the nodes that feed a node; through calls, the results and arguments of functions."""
        through = self.sources_through_calls.get(node)
        return [source for _, (source, _) in self.inputs_of(node)] if through is None else through

    @cached_property
    def places(self) -> Ints:
        """A reusable column for the place of each node in a list, -1 for others."""
        return np.full(len(self.graph), -1, np.int32)

    @cached_property
    def sources_through_calls(self) -> dict[int, list[int]]:
        """Sources of each argument of a function, over all calls, and results of the function at each call."""
        graph = self.graph
        found: dict[int, list[int]] = {}
        for call in graph.calls:
            op, function = self.op_of(call.node), graph.functions[call.function]
            if call.attr and not has_role(op, Role.CALL, Role.LAUNCH):
                continue
            found.setdefault(call.node, []).extend([node for node, _ in function.returns if node >= 0])
            wiring = wiring_of_call(op, graph.node_def(call.node), call.attr, len(function.args))
            for slot, (source, _) in self.inputs_of(call.node):
                for argument in wiring.arguments_of_input(slot):
                    found.setdefault(function.args[argument], []).append(source)
        return found

    @cached_property
    def _edge_columns(self) -> list[memoryview]:
        """The first input edge of each node, and columns of edges, as views with plain numbers, which are five times as
        fast to read."""
        graph = self.graph
        columns = self.hierarchy.first_input_edge, graph.control, graph.slot, graph.source, graph.key
        return [memoryview(column) for column in columns]  # type: ignore[arg-type,unused-ignore]

    def _users_of(self, node: int) -> list[int]:
        order, start = self.hierarchy.edges_by_source
        edges = order[start[node] : start[node + 1]][:MAX_USERS]
        targets: list[int] = self.graph.target[edges[~self.graph.control[edges]]].tolist()
        return targets

    def weights_of(self, node: int) -> list[tuple[int, int, tuple[int | None, ...]]]:
        """Return the inputs of an op that are weights of known rank, as (slot, node, sizes)."""
        origin = self.graph.meaning.origin
        found = ((slot, source, int(origin[self.weight_source(source)])) for slot, (source, _) in self.inputs_of(node))
        taken = [(slot, source, made) for slot, source, made in found if made >= 0]
        given = [(slot, made, self._given_shape(source, made)) for slot, source, made in taken]
        return [(slot, made, shape) for slot, made, shape in given if shape]

    def standardized_kernel(self, node: int) -> tuple[int, Shape]:
        """Return the weight from which a few ops compute the kernel of a convolution, and the sizes of the kernel; -1
        if there is none."""
        return -1, ()

    def _given_shape(self, source: int, made: int) -> Shape:
        """Return the sizes of a weight as the input of an op, after a reshape that may join axes of heads."""
        shape = self.shapes.get(made)
        if not shape or None in shape or self.op_of(source) not in RESHAPE_OPS:
            return shape
        total, sizes = prod(size or 0 for size in shape), self.constant_input(source, 1)
        known = prod(size for size in sizes if size > 0)
        if not sizes or min(sizes) < -1 or sizes.count(-1) > 1 or total % known:
            return shape
        given = tuple(total // known if size < 0 else size for size in sizes)
        return given if prod(given) == total else shape

    def weight_source(self, node: int) -> int:
        """Return the weight to which an op only adds axes of size one, as TensorFlow does for the kernel of a row, or
        whose axes it joins or splits, as Keras does for the kernel of several heads; otherwise the op."""
        origin, op = self.graph.meaning.origin, self.op_of(node)
        if origin[node] >= 0 or not (op == "ExpandDims" or op in RESHAPE_OPS):
            return node
        source = self.input_source(node)
        return source if source >= 0 and (op == "ExpandDims" or origin[source] >= 0) else node

    def op_of(self, node: int) -> str:
        return self.graph.op_types[self._type_column[node]]

    @cached_property
    def _type_column(self) -> memoryview:
        """The number of the type of each node, as a view."""
        return memoryview(self.graph.op)  # type: ignore[arg-type,unused-ignore]

    def formula_op(self, node: int) -> str:
        """Return TensorFlow's name for the type of a node, for formulas of several ops."""
        return self.op_of(node)

    def constant_input(self, node: int, slot: int) -> list[int]:
        """Return the integers of a constant input, or of concatenated numbers; -1 for unknown numbers."""
        source = self.input_source(node, slot)
        if source < 0:
            return []
        if self.op_of(source) == "Pack":
            parts = [self._constant(part, 1) for _, (part, _) in self.inputs_of(source)]
            return [int(part[0]) if part else -1 for part in parts]
        return [int(value) for value in self._constant(source, 8) if not isinstance(value, bytes)]

    def _source_past(self, node: int, passed: Container[str]) -> int:
        """Return the op that feeds the first input of a node, past ops of the types `passed`; -1 if there is none."""
        for _ in range(MAX_SCALING_OPS):
            node = self.input_source(node)
            if node < 0 or self.op_of(node) not in passed:
                return node
        return -1

    def _constant(self, node: int, most: int) -> list[Any]:
        if self.op_of(node) in EQUAL_NUMBER_OPS and (source := self._source_past(node, EQUAL_NUMBER_OPS)) >= 0:
            node = source
        tensor = self._constant_tensor(node)
        return [] if tensor is None else first_elements(tensor, most)

    def _constant_tensor(self, node: int) -> TensorProto | None:
        return constant_tensor(self.graph, node) if self.op_of(node) in CONSTANT_OPS else None

    def is_number(self, node: int) -> bool:
        """Return whether a node is a constant of one number."""
        tensor = self._constant_tensor(node)
        return tensor is not None and all(dim.size == 1 for dim in tensor.tensor_shape.dim)

    def number(self, node: int) -> float | None:
        """Return the value of a constant of one number; None if unknown."""
        values = [value for value in self._constant(node, 1) if not isinstance(value, bytes)]
        return float(values[0]) if values else None

    def tensors_into(self, node: int) -> Sequence[OutputOf]:
        """Return the inputs of an op that are not constant numbers."""
        if node not in self._tensors:
            self._tensors[node] = [port for _, port in self.inputs_of(node) if not self.is_number(port[0])]
        return self._tensors[node]
