"""Costs of weights: parameters and bytes, and the op of the network at which each counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from graphviz_tb.annotate.definitions import keras_layer_nodes
from graphviz_tb.annotate.infer.engine import Inference
from graphviz_tb.annotate.infer.symbols import all_sizes_known
from graphviz_tb.model.costs import COST_ROLES, Cost
from graphviz_tb.model.dtypes import element_size
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.weights import Variable, VariableUse
from graphviz_tb.ops.roles import HANDLE_OPS

FORWARD_ROLE, GRADIENT_ROLE, OPTIMIZER_ROLE = range(len(COST_ROLES))
COST_ROLE_BY_PART = {Part.GRADIENT: GRADIENT_ROLE, Part.UPDATE: OPTIMIZER_ROLE}  # every other part is forward


def cost_roles_of_nodes(graph: Graph) -> list[int]:
    """Return an index into `COST_ROLES` for each node."""
    table = np.array([COST_ROLE_BY_PART.get(part, FORWARD_ROLE) for part in Part])
    roles: list[int] = table[graph.meaning.part()].tolist()
    return roles


def iter_weight_costs(inference: Inference) -> Iterator[tuple[int, Cost]]:
    """Yield the nodes that bring weights of the network, with their costs; a weight of unknown size costs one
    `unsized`. A node that is a Keras layer brings the weights of its class."""
    for variable in inference.graph.meaning.variables():
        if variable.use == VariableUse.STATE:
            continue
        elements = variable_element_count(inference, variable)
        copy = variable.use == VariableUse.COPY
        if elements is None:
            yield variable.node, Cost(unsized=int(bool(variable.users) and not copy))
        elif copy:
            yield variable.node, Cost(copied=elements)
        else:
            size, decided = element_size(variable.dtype), variable.trainable is not None
            untrained = elements if variable.trainable is False else 0
            yield (
                variable.node,
                Cost(elements, weight_bytes=elements * size, non_trainable=untrained, undecided=int(not decided)),
            )
    for node, layer in keras_layer_nodes(inference.graph).items():
        dtype = layer.config.get("dtype")
        size, count = element_size(dtype if isinstance(dtype, str) else ""), layer.parameters
        kept = layer.non_trainable
        yield (
            node,
            Cost(unsized=1)
            if count is None
            else Cost(count, weight_bytes=count * size, non_trainable=kept or 0, undecided=int(kept is None)),
        )


def variable_element_count(inference: Inference, variable: Variable) -> int | None:
    """Return the number of elements of a variable; None if it is unknown."""
    sizes = [] if variable.shape is None else [size for size in variable.shape if size is not None]
    if variable.shape is not None and len(sizes) == len(variable.shape):
        return prod(sizes)
    if not inference.graph.meaning.variable[variable.node]:
        return None
    # A handle is a scalar; the shape of the variable is that of its value.
    out = inference.first_output(variable.node)
    shape = out.held if inference.op_type(variable.node) in HANDLE_OPS else out.shape
    return prod(shape or ()) if all_sizes_known(shape) else None


def weight_owners(graph: Graph, roles: Sequence[int]) -> dict[int, int]:
    """Return the owner of each variable or frozen constant that is drawn as a mark: the first op of the network, in the
    same graph or body, that uses it.

    Before: `roles` has the role of every node. Only variables outside of the scopes of all such ops are returned, such
    as the handles of TensorFlow 2; the rest count where they are.
    """
    owner_of: dict[int, int] = {}
    for variable in graph.meaning.variables():
        node, function = variable.node, graph.function[variable.node]
        if graph.mark[node] != Mark.WEIGHT:
            continue
        users = [user for user in variable.users if roles[user] == FORWARD_ROLE and graph.function[user] == function]
        if users and not shares_scope_with_user(graph, node, users):
            owner_of[node] = users[0]
    return owner_of


def shares_scope_with_user(graph: Graph, node: int, users: list[int]) -> bool:
    """Return whether a variable is in the scope of an op that uses it."""
    scope = graph.name[node].rpartition("/")[0]
    return bool(scope) and any(graph.name[user].startswith(f"{scope}/") for user in users)
