"""Shapes of weights: as declared by constants, handles and arguments, or else implied by their users."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import Shape, shape_from_proto
from graphviz_tb.model.wiring import parse_output_number
from graphviz_tb.ops.roles import RESOURCE_ASSIGN_OPS

if TYPE_CHECKING:
    from graphviz_tb.proto import AttrValue

    Attributes = Mapping[str, AttrValue]

LOOKUP_OP = "ResourceGather"


def constant_value_shape(attrs: Attributes) -> Shape:
    """Return the shape of the value of a constant."""
    if "value" in attrs:
        return shape_from_proto(attrs["value"].tensor.tensor_shape)
    return shape_from_proto(attrs["shape"].shape) if "shape" in attrs else None


def handle_shape(attrs: Attributes) -> Shape:
    """Return the shape behind a handle, if TensorFlow wrote it with the argument."""
    shapes = list(attrs["_handle_shapes"].list.shape) if "_handle_shapes" in attrs else []
    return shape_from_proto(shapes[0]) if shapes else None


def shapes_implied_by_uses(graph: Graph, handles: Collection[int]) -> dict[int, Shape]:
    """Return shapes of variables by handle: of an assigned value, else, with unknown rows, of what a lookup returns."""
    works = graph.nodes_of_types(lambda op: op in RESOURCE_ASSIGN_OPS or op == LOOKUP_OP)
    into = np.flatnonzero(works[graph.target] & ~graph.control)
    given: dict[int, dict[int, int]] = {}
    # Inputs of each op by slot: 0 the handle, 1 the value or the indices.
    for edge, user, slot in zip(into.tolist(), graph.target[into].tolist(), graph.slot[into].tolist(), strict=True):
        given.setdefault(user, {})[slot] = edge
    looked: dict[int, Shape] = {}
    assigned: dict[int, Shape] = {}
    for user, slots in given.items():
        if not {0, 1} <= slots.keys() or (handle := int(graph.source[slots[0]])) not in handles:
            continue
        second = stated_output_shape(graph, int(graph.source[slots[1]]), graph.keys[graph.key[slots[1]]])
        if graph.op_types[graph.op[user]] == LOOKUP_OP:
            looked[handle] = table_shape(stated_output_shape(graph, user, "0"), second)
        elif second is not None:
            assigned[handle] = second
    # Assigned shapes override looked-up ones, which leave the number of rows open.
    return looked | assigned


def table_shape(taken: Shape, indices: Shape) -> Shape:
    """Return the shape of a table, rows unknown, from the shape of the rows that were looked up.

    >>> table_shape((None, 8, 5), (None, 8)), table_shape((None, 5), None)
    ((None, 5), None)
    """
    return None if taken is None or indices is None else (None, *taken[len(indices) :])


def stated_output_shape(graph: Graph, node: int, key: str) -> Shape:
    """Return the shape that a node states for one of its outputs."""
    definition, index = graph.node_def(node), parse_output_number(key.rpartition(":")[2])
    if definition is None or "_output_shapes" not in definition.attr:
        return None
    shapes = definition.attr["_output_shapes"].list.shape
    return shape_from_proto(shapes[index]) if index < len(shapes) else None
