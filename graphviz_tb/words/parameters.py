"""Count the elements of the weights below each row of a hierarchy, and find the ops that use their kernels.

A weight belongs to the rows around the ops that read it, wherever it is stored.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence, Set
from functools import cached_property
from itertools import compress
from math import prod

import numpy as np

from graphviz_tb.model.columns import Bools
from graphviz_tb.model.formatting import format_count
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Part, VariableUse
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    EMBEDDING_LOOKUP_OPS,
    MATRIX_PRODUCT_OPS,
    Role,
    has_role,
)
from graphviz_tb.words.layer_steps import TensorFlowSteps


class ParameterCounts:
    """Counts parameters below rows; cached by row."""

    def __init__(self, hierarchy: Hierarchy, steps: TensorFlowSteps) -> None:
        self.hierarchy, self.graph, self.steps = hierarchy, hierarchy.graph, steps
        self._counts: dict[int, tuple[int, int]] = {}

    @cached_property
    def of_model(self) -> Bools:
        """Nodes that compute: no gradients, updates, inputs, bookkeeping or arithmetic of shapes."""
        mask = np.zeros(1 + max(Part), bool)
        mask[list(COMPUTING_PARTS)] = True
        of_model: Bools = mask[self.graph.meaning.part()] & ~self.graph.meaning.indexes()
        return of_model

    def counts_below(self, row: int) -> tuple[int, int]:
        """Return the number of elements of the weights below a row, each weight once, and the number of kernels among
        them; 0 elements if constants may be weights, too, because a bound is no size."""
        if row not in self._counts:
            self._counts[row] = self._count_below(row)
        return self._counts[row]

    def _count_below(self, row: int) -> tuple[int, int]:
        doubtful = self.places_below(row, self._doubtful_rows)
        rows, makers, _ = self._uses
        shapes = {node: self.steps.shapes.get(node) for node in set(makers[self.places_below(row, rows)])}
        if any(shape is None or None in shape for shape in shapes.values()):
            return 0, 0  # a partial number would mislead
        layers = sum(len(shapes[node] or ()) > 1 for node in self.kernels_below(row))
        if doubtful.start < doubtful.stop:
            return 0, layers
        return sum(prod(size or 0 for size in shape) for shape in shapes.values() if shape), layers

    def holds_weight(self, row: int) -> bool:
        below = self.places_below(row, self._uses[0])
        return bool(below.start < below.stop)

    def kernels_below(self, row: int) -> set[int]:
        """Return the nodes of the kernels that are used below a row."""
        rows, made, kernel = self._uses
        below = self.places_below(row, rows)
        return set(compress(made[below], kernel[below]))

    def weights_below(self, row: int, among: Set[int]) -> Hashable:
        """Return a key of the weights used below a row: places, equalities, sizes, which are kernels, and which are
        only used by ops in `among`."""
        rows, makers, kernels = self._uses
        numbers: dict[int, int] = {}
        uses = [
            (
                rows[use] - row,
                numbers.setdefault(makers[use], len(numbers)),
                self.steps.shapes.get(makers[use]),
                kernels[use],
                self.kernel_users.get(makers[use], frozenset()) <= among,
            )
            for use in range(len(rows))[self.places_below(row, rows)]
        ]
        doubtful = self._doubtful_rows[self.places_below(row, self._doubtful_rows)]
        return tuple(uses), tuple([each - row for each in doubtful])

    def places_below(self, row: int, rows: Sequence[int]) -> slice:
        """Return the slice of a sorted list of rows that is a row or below it."""
        return slice(bisect_left(rows, row), bisect_left(rows, int(self.hierarchy.end[row])))

    @cached_property
    def kernel_users(self) -> dict[int, set[int]]:
        """Ops of the model that use each kernel, by the node of the kernel."""
        graph, origin = self.graph, self.graph.meaning.origin
        wanted = self._kernel_ops & (graph.meaning.part() == Part.MODEL)
        edges = np.flatnonzero(wanted[graph.target] & (origin[graph.source] >= 0) & ~graph.control)
        users: dict[int, set[int]] = {}
        for made, user in zip(origin[graph.source[edges]].tolist(), graph.target[edges].tolist(), strict=True):
            users.setdefault(made, set()).add(user)
        return users

    @cached_property
    def _kernel_ops(self) -> Bools:
        """Nodes that multiply with a kernel, or look up rows of a table."""
        types = BATCH_PRODUCT_OPS | MATRIX_PRODUCT_OPS | CONVOLUTION_OPS | EMBEDDING_LOOKUP_OPS
        return self.graph.nodes_of_types(lambda op: op in types or has_role(op, Role.TRANSPOSED_CONVOLUTION))

    @cached_property
    def _convolutions(self) -> Bools:
        """Nodes with a kernel that is no known weight."""
        graph = self.graph
        has_computed_kernel = np.zeros(len(graph), bool)
        has_computed_kernel[
            graph.target[(graph.meaning.origin[graph.source] < 0) & (graph.slot == 1) & ~graph.control]
        ] = True
        return has_computed_kernel & graph.nodes_of_types((CONVOLUTION_OPS | DEPTHWISE_OPS).__contains__)

    @cached_property
    def _uses(self) -> tuple[list[int], list[int], list[bool]]:
        """Rows that use weights, in order, the node of each weight, and whether it is a kernel there. Lists are faster
        than columns here, because each of thousands of members reads a few entries."""
        graph, origin, meaning = self.graph, self.graph.meaning.origin, self.graph.meaning
        edges = np.flatnonzero((origin[graph.source] >= 0) & (origin[graph.target] < 0) & ~graph.control)
        edges = edges[(self.of_model & ~meaning.stores)[graph.target[edges]]]
        # The state of a metric or an optimizer is not a weight of a layer, and a buffer not a parameter.
        silent = np.zeros(len(graph), bool)
        uses = (VariableUse.STATE, VariableUse.BUFFER)
        silent[[variable.node for variable in meaning.variables() if variable.use in uses]] = True
        edges = edges[~silent[origin[graph.source[edges]]]]
        rows = self.hierarchy.row_of_node[graph.target[edges]].astype(np.int64)
        order = np.argsort(rows, kind="stable")
        edges = edges[order]
        makers = origin[graph.source[edges]]
        standardized = np.zeros(len(graph), bool)
        for node in np.flatnonzero(self._convolutions).tolist():
            if (made := self.steps.standardized_kernel(node)[0]) >= 0:
                standardized[made] = True
        kernels = self._kernel_ops[graph.target[edges]] | standardized[makers]
        return rows[order].tolist(), makers.tolist(), kernels.tolist()

    @cached_property
    def _doubtful_rows(self) -> list[int]:
        """Rows of constants that may be weights, in order."""
        return sorted(self.hierarchy.row_of_node[list(self.graph.meaning.doubtful)].tolist())


def size_words(size: int, layers: int) -> str | None:
    """Return the number of layers and parameters.

    >>> size_words(1_200_000, 4), size_words(1, 0), size_words(0, 0)
    ('4 layers · 1.2 M', '1 parameter', None)
    """
    if not size:
        return None
    count = f"{format_count(size)} parameters" if layers < 2 else f"{layers} layers · {format_count(size)}"
    return count.replace("parameters", "parameter") if size == 1 else count
