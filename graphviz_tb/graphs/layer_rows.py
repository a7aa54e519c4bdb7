"""Layers: rows of a hierarchy that are layers, and scopes of an op graph that are layers of a Keras model."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from graphviz_tb.limits import MAX_LAYER_DEPTH
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Variable, VariableUse
from graphviz_tb.model.paths import without_counter
from graphviz_tb.ops.roles import KERNEL_OPS

# Rows of a hierarchy that are layers: those of a Keras file, or else scopes with an op and its weights.


def layer_rows(hierarchy: Hierarchy) -> list[int]:
    """Return the layers of the main graph, ascending: the layers of a Keras file, or else scopes with weights.

    Such a scope contains an op and the weights that it uses. Ops with weights outside of such scopes are layers too.
    """
    if not hierarchy.known_layers:
        hierarchy.known_layers.append(_find_layer_rows(hierarchy))
    return hierarchy.known_layers[0]


def _find_layer_rows(hierarchy: Hierarchy) -> list[int]:
    if hierarchy.graph.layers:
        return [row for row in range(1, int(hierarchy.end[0])) if hierarchy.name[row] in hierarchy.graph.layers]
    ops_by_group: dict[int, list[int]] = {}  # group → ops whose weights count in it
    for row, variables in _parameters_by_op(hierarchy).items():
        ops_by_group.setdefault(_scope_around_weights(hierarchy, row, variables), []).append(row)
    groups = sorted(ops_by_group)
    inner = {
        group: groups[place + 1 : bisect_left(groups, int(hierarchy.end[group]))] for place, group in enumerate(groups)
    }
    found: list[int] = []
    layers_end = 0  # the end of the last layer
    for group in groups:
        # A scope with one inner scope of weights is one layer; with several it is a model with further weights.
        if group >= layers_end and len(inner[group]) < 2:
            found.append(group)
            layers_end = int(hierarchy.end[group])
        elif group >= layers_end:
            found += ops_by_group[group]
    return sorted(found)


def rows_with_parameters(hierarchy: Hierarchy) -> list[int]:
    """Return the rows of the ops of the main graph that use a parameter, ascending.

    If the file has no parameters, the rows of ops that usually use one.
    """
    users = {user for _, users in _users_of_parameters(hierarchy) for user in users}
    if not users:
        users = set(np.flatnonzero(hierarchy.graph.nodes_of_types(KERNEL_OPS.__contains__)).tolist())
    return sorted({int(hierarchy.row_of_node[user]) for user in users})


def scopes_of_shared_weights(hierarchy: Hierarchy) -> set[int]:
    """Return the innermost scopes around ops that share a parameter: calls of one layer."""
    rows = {int(hierarchy.row_of_node[user]) for _, users in _users_of_parameters(hierarchy, least=2) for user in users}
    return {next(_scopes_around(hierarchy, row), row) for row in rows}


def _parameters_by_op(hierarchy: Hierarchy) -> dict[int, list[Variable]]:
    """Return the parameters of the main graph by row of their first user, preferably in the forward pass."""
    forward: list[bool] = hierarchy.graph.meaning.flow().forward.tolist()
    found: dict[int, list[Variable]] = {}
    for variable, users in _users_of_parameters(hierarchy):
        first = next((user for user in users if forward[user]), users[0])
        found.setdefault(int(hierarchy.row_of_node[first]), []).append(variable)
    return found


def _users_of_parameters(hierarchy: Hierarchy, least: int = 1) -> Iterator[tuple[Variable, list[int]]]:
    """Yield each parameter of the main graph that at least `least` ops use, with these ops."""
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    computing = np.isin(meaning.part(), COMPUTING_PARTS) & (graph.function < 0) & (graph.mark == 0)
    is_computing = (computing & (hierarchy.row_of_node >= 0)).tolist()
    for variable in meaning.variables():
        if variable.use != VariableUse.PARAMETER or len(variable.users) < least:
            continue
        if len(users := [user for user in variable.users if is_computing[user]]) >= least:
            yield variable, users


def _scope_around_weights(hierarchy: Hierarchy, row: int, variables: list[Variable]) -> int:
    """Return the innermost scope around an op and its variables, else around the op, else the op itself."""
    names = [variable.name for variable in variables]
    for above in _scopes_around(hierarchy, row):
        prefix = f"{hierarchy.name[above]}/"
        if all(name.startswith(prefix) for name in names):
            return above
    return next(_scopes_around(hierarchy, row), row)


def _scopes_around(hierarchy: Hierarchy, row: int) -> Iterator[int]:
    while (row := hierarchy.parent.item(row)) > 0:
        if hierarchy.kind[row] == SCOPE_ROW:
            yield row


# Match scopes of an op graph to the layers of a Keras model by their names.
#
# Build the tree of scopes and the tree of layers, find where the model starts among the scopes (graphs of TensorFlow 1
# begin with its layers), then match level by level: a scope has the name of its layer, or that name with a counter.

GRADIENT_SCOPE_SEGMENT = re.compile(r"(gradient_tape|gradients)(_\d+)?", re.ASCII)  # these repeat the model's names
ScopeMembers = Mapping[str, Collection[str]]  # names inside each scope or model, by its path, in order


def match_layers_to_scopes(names: Iterable[str], layers: Iterable[str]) -> dict[str, str]:
    """Return layer paths by scope name. Before: the names of all ops, and the layer paths of a model
    ("model/block/dense").

    A layer that is called several times may have several scopes.

    >>> match_layers_to_scopes(["m_1/a_1/MatMul", "m_1/a_2/MatMul", "x"], ["m", "m/a"])
    {'m_1': 'm', 'm_1/a_1': 'm/a', 'm_1/a_2': 'm/a'}
    """
    layers = dict.fromkeys(filter(is_possible_layer_path, layers))
    scopes, models = _scope_tree(filter(is_possible_layer_path, names)), _layer_tree(layers)
    layer_of: dict[str, str] = {}
    unvisited = list(_find_model_scopes(scopes, models))
    while unvisited:
        scope, path = unvisited.pop()
        if path in layers and scope:
            layer_of[scope] = path
        matches = _match_scope_names(scopes.get(scope, ()), models.get(path, ()))
        unvisited += [
            (_join_scope_path(scope, inner), _join_scope_path(path, name)) for inner, name in reversed(matches.items())
        ]
    return layer_of


def is_possible_layer_path(name: str) -> bool:
    """Return whether a name may be that of a layer or of an op in one."""
    return name.count("/") < MAX_LAYER_DEPTH and not name.startswith("/")


def _join_scope_path(around: str, name: str) -> str:
    return f"{around}/{name}" if around else name


def _scope_tree(names: Iterable[str]) -> ScopeMembers:
    """Return the scopes in each scope, in the order of their first ops; the key "" is the graph."""
    tree: dict[str, dict[str, None]] = defaultdict(dict)
    seen: set[str] = set()
    for name in names:
        inner = name.rpartition("/")[0]
        while inner and inner not in seen:
            seen.add(inner)
            around, _, last = inner.rpartition("/")
            tree[around][last] = None
            inner = around
    return tree


def _layer_tree(layers: Collection[str]) -> ScopeMembers:
    """Return the names of the layers in each model; the key "" is the outermost model. A name may contain a slash."""
    tree: dict[str, dict[str, None]] = defaultdict(dict)
    # The model around a layer is its longest proper prefix that is a layer: a slash may be part of a name.
    for path in layers:
        around = path.rpartition("/")[0]
        while around and around not in layers:
            around = around.rpartition("/")[0]
        tree[around][path[len(around) + 1 :] if around else path] = None
    return tree


def _find_model_scopes(scopes: ScopeMembers, models: ScopeMembers) -> Iterator[tuple[str, str]]:
    """Yield (scope, model): outermost scopes with the name and layers of a model; if there are none, ("", model)."""
    matched = False
    for model in models.get("", ()):
        enclosing = [""]
        for around in enclosing:
            names = [name for name in scopes.get(around, ()) if not GRADIENT_SCOPE_SEGMENT.fullmatch(name)]
            model_scopes = [
                _join_scope_path(around, name)
                for name in _match_scope_names(names, [model])
                if _match_scope_names(scopes.get(_join_scope_path(around, name), ()), models.get(model, ()))
            ]
            yield from ((scope, model) for scope in model_scopes)
            matched |= bool(model_scopes)
            if not matched:
                enclosing += [_join_scope_path(around, name) for name in names]
        if not matched:
            yield "", model


def _match_scope_names(scopes: Collection[str], names: Collection[str]) -> dict[str, str]:
    """Return the layer of each scope.

    Keras 2 names scopes as layers, Keras 3 adds a counter to each: `dense_1` is `dense` and `dense_1_1` is `dense_1`.
    The convention that finds more layers is preferred.

    >>> _match_scope_names(["a_1", "a_1_2"], ["a", "a_1"]), _match_scope_names(["a", "a_1"], ["a", "a_1"])
    ({'a_1': 'a', 'a_1_2': 'a_1'}, {'a': 'a', 'a_1': 'a_1'})
    """
    plain = {scope: scope for scope in scopes if scope in names}
    counted = {scope: kept for scope in scopes if (kept := without_counter(scope)) != scope and kept in names}
    first, second = (counted, plain) if len(set(counted.values())) > len(plain) else (plain, counted)
    both = {**second, **first}
    return {scope: both[scope] for scope in scopes if scope in both}
