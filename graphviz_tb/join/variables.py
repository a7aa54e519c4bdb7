"""Rule 2: a tag is the name of a variable. It belongs to the ops that use the variable."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graphviz_tb.join.tags import LookedUpTag
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import SCOPE, Hierarchy
from graphviz_tb.model.joins import Aspect, FoundRows, rows_of_nodes
from graphviz_tb.ops.inputs import weight_names

NUMBER = re.compile(r"_\d+$")  # Keras 2 numbers the weights of a layer, TensorFlow 1 tags that are there twice
OF_CLASS = re.compile(r"[^\[\]]*\[(.*)\]", re.DOTALL)  # of a PyTorch scope: the attribute that holds the module


def by_variable(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, FoundRows]:
    """Before: tags. After: those that are names of variables, with the rows of the ops that use them."""
    graph = hierarchy.graph
    if graph.of_pytorch:
        return by_parameter(hierarchy, tags)
    users = users_by_name(graph)
    found: dict[str, FoundRows] = {}
    for tag in tags:
        names = [name for form in tag.forms for name in (form, NUMBER.sub("", form))]
        name = next((name for name in names if name in users), None)
        rows = rows_of_nodes(hierarchy, users[name]) if name is not None else ()
        if rows:
            found[tag.name] = FoundRows(rows, Aspect.WEIGHT)
    return found


def users_by_node(graph: Graph) -> dict[int, tuple[int, ...]]:
    """The ops that use each variable, by the node that makes it."""
    return {variable.node: those_that_compute(graph, variable.users) for variable in graph.meaning.variables()}


def users_by_name(graph: Graph) -> dict[str, tuple[int, ...]]:
    """The ops that use each variable, by its name."""
    users: dict[str, tuple[int, ...]] = {}
    by_mark: dict[int, list[int]] = {}
    for mark, host in zip(graph.beside.mark.tolist(), graph.beside.host.tolist(), strict=True):
        by_mark.setdefault(mark, []).append(host)
    for mark, weight in graph.meaning.weights.items():
        name = weight.variable.removesuffix(":0")
        users[name] = (*users.get(name, ()), *by_mark.get(mark, ()))
    for variable in graph.meaning.variables():
        users.setdefault(variable.name.removesuffix(":0"), variable.users)
    return {name: those_that_compute(graph, nodes) for name, nodes in users.items()}


def those_that_compute(graph: Graph, users: Sequence[int]) -> tuple[int, ...]:
    """The users of the forward pass that take a variable as their weight; where none does, those that gradients reach;
    else all."""
    flow = graph.meaning.flow()
    ahead = [node for node in users if not (len(flow.behind) and flow.behind[node])]
    weighted = [node for node in ahead if weight_names(graph.op_types[graph.op[node]])]
    forward = [node for node in users if len(flow.forward) and flow.forward[node]]
    return tuple(weighted or forward or ahead or users)


def by_parameter(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, FoundRows]:
    """Tags that are parameters of a whole PyTorch model, which has them in no module: its scope has them."""
    paths = parameter_paths(hierarchy.graph)
    found: dict[str, FoundRows] = {}
    for tag in tags:
        node = next((paths[form] for form in tag.forms if "." not in form and form in paths), -1)
        row = int(hierarchy.row_of_node[node]) if node >= 0 else -1
        while row >= 0 and int(hierarchy.parent[row]) > 0:
            row = int(hierarchy.parent[row])
        if row >= 0 and hierarchy.kind[row] == SCOPE:
            found[tag.name] = FoundRows((row,), Aspect.WEIGHT)
    return found


def parameter_paths(graph: Graph) -> dict[str, int]:
    """The node of each parameter of a PyTorch model, by its name as `named_parameters` has it."""
    paths: dict[str, int] = {}
    for node in map(int, np.flatnonzero(graph.of_types("prim::GetAttr".__eq__))):
        modules = [found[1] for part in graph.name[node].split("/") if (found := OF_CLASS.fullmatch(part))]
        paths.setdefault(".".join([*modules, graph.labels.get(node, "")]), node)
    return paths
