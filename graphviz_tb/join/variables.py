"""Rule 2: a tag is the name of a variable, and belongs to the ops that use it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graphviz_tb.join.tags import LookedUpTag
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.model.joins import MeasuredAspect, RuleMatch, box_rows_of_nodes
from graphviz_tb.ops.inputs import weight_input_names

NUMBER_SUFFIX = re.compile(r"_\d+$")  # Keras 2 numbers the weights of a layer, TensorFlow 1 duplicate tags
MODULE_SCOPE = re.compile(r"[^\[\]]*\[(.*)\]", re.DOTALL)  # PyTorch scope: class[attribute]


def join_by_variable(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Return, for tags that are names of variables, the rows of the ops that use the variable."""
    graph = hierarchy.graph
    if graph.is_pytorch:
        return join_by_parameter(hierarchy, tags)
    users = variable_users_by_name(graph)
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        names = [name for form in tag.forms for name in (form, NUMBER_SUFFIX.sub("", form))]
        name = next((name for name in names if name in users), None)
        rows = box_rows_of_nodes(hierarchy, users[name]) if name is not None else ()
        if rows:
            found[tag.name] = RuleMatch(rows, MeasuredAspect.WEIGHT)
    return found


def variable_users_by_node(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Return the ops that use each variable, by the node of the variable."""
    return {variable.node: preferred_users(graph, variable.users) for variable in graph.meaning.variables()}


def variable_users_by_name(graph: Graph) -> dict[str, tuple[int, ...]]:
    """Return the ops that use each variable, by name."""
    users: dict[str, tuple[int, ...]] = {}
    by_mark: dict[int, list[int]] = {}
    for mark, host in zip(graph.beside.mark.tolist(), graph.beside.host.tolist(), strict=True):
        by_mark.setdefault(mark, []).append(host)
    for mark, weight in graph.meaning.weights.items():
        name = weight.variable.removesuffix(":0")
        users[name] = (*users.get(name, ()), *by_mark.get(mark, ()))
    for variable in graph.meaning.variables():
        users.setdefault(variable.name.removesuffix(":0"), variable.users)
    return {name: preferred_users(graph, nodes) for name, nodes in users.items()}


def preferred_users(graph: Graph, users: Sequence[int]) -> tuple[int, ...]:
    """Return the users of a variable that take it as a weight and are not downstream of gradients; if none, those that
    have gradients; if none, all not downstream of gradients; else all."""
    flow = graph.meaning.flow()
    ahead = [node for node in users if not (len(flow.behind) and flow.behind[node])]
    weighted = [node for node in ahead if weight_input_names(graph.op_types[graph.op[node]])]
    forward = [node for node in users if len(flow.forward) and flow.forward[node]]
    return tuple(weighted or forward or ahead or users)


def join_by_parameter(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Join parameters that a PyTorch model has outside of its modules to the scope of the model."""
    paths = parameter_paths(hierarchy.graph)
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        node = next((paths[form] for form in tag.forms if "." not in form and form in paths), -1)
        row = int(hierarchy.row_of_node[node]) if node >= 0 else -1
        while row >= 0 and int(hierarchy.parent[row]) > 0:
            row = int(hierarchy.parent[row])
        if row >= 0 and hierarchy.kind[row] == SCOPE_ROW:
            found[tag.name] = RuleMatch((row,), MeasuredAspect.WEIGHT)
    return found


def parameter_paths(graph: Graph) -> dict[str, int]:
    """Return the node of each parameter of a PyTorch model, by its name in `named_parameters`."""
    paths: dict[str, int] = {}
    for node in map(int, np.flatnonzero(graph.nodes_of_types("prim::GetAttr".__eq__))):
        modules = [found[1] for part in graph.name[node].split("/") if (found := MODULE_SCOPE.fullmatch(part))]
        paths.setdefault(".".join([*modules, graph.labels.get(node, "")]), node)
    return paths
