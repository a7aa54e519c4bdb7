"""Names that a program gives its layers, where the scopes of a file add counters to them.

Keras 3 opens the scope of a layer twice, to build it and to call it (`Layer.__call__` in keras/src/layers/layer.py),
and TensorFlow makes names unique: layer `dense` is scope `dense_1`, called again `dense_3`; layer `dense_1` next to it
is `dense_1_2`. So the scope of a layer always has a counter, and nothing in the file has the name without it.

keras_layer_names       layers of a model that is known with the graph
scopes_with_counter     otherwise, scopes with a counter whose name without it is free
types_of_numbered_nodes ops of data pipelines, named by type and number
is_made_by_keras_3      Keras 3 is recognised by variable names without counters, or, in a file without variable
                        names (frozen graphs, functions), by the ops that read weights
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, pairwise

import numpy as np

from graphviz_tb.algorithms.quiet import count_ops_below
from graphviz_tb.limits import MAX_ASKED_WEIGHTS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS

COUNTER_SUFFIX = re.compile(r"(?<=[^/])_[1-9][0-9]{0,8}\Z")  # e.g. the "_12" of "dense_12"; TensorFlow counts from 1
MAX_COUNTER_LETTERS = 10  # letters: "_" and nine digits; not to search in more only saves time
# Ops that read a kernel in Keras 3 (Keras 2: MatMul/ReadVariableOp, Conv2D/ReadVariableOp).
KERAS_3_READ = re.compile(r".*/(Cast|convolution|Reshape|GatherV2)(_\d+)?/ReadVariableOp(/resource)?", re.DOTALL)
UNNAMED_VARIABLE = "/resource"  # function arguments are named after the op that reads them

CodeNames = dict[int, str]  # row: name without counter


def find_code_names(hierarchy: Hierarchy, numbered: Iterable[int] = ()) -> CodeNames:
    """Return the program's names of layers whose scopes have a different name, by row of the scope.

    Before: scopes, without series and folds; `numbered` from `find_numbered_nodes`. After: empty unless the names come
    from Keras 3. Scopes of gradients are renamed like the layers they belong to.
    """
    known = keras_layer_names(hierarchy) | types_of_numbered_nodes(hierarchy, numbered)
    counted = scopes_with_counter(hierarchy)
    if not counted:
        return known
    # Scopes of gradients repeat layer names: no evidence, and renamed only together with the layers.
    gradients = gradient_only_rows(hierarchy)
    forward = {row: name for row, name in counted.items() if not gradients[row]}
    if not forward or not is_made_by_keras_3(hierarchy, forward):
        return known
    layers = {last_segment(hierarchy.name[row]) for row in forward}
    names = {row: last_segment(name) for row, name in counted.items() if last_segment(hierarchy.name[row]) in layers}
    return names | known


def types_of_numbered_nodes(hierarchy: Hierarchy, numbered: Iterable[int]) -> CodeNames:
    """Return the types of ops named by nothing but type and number."""
    graph = hierarchy.graph
    rows = {int(hierarchy.row_of_node[node]): node for node in numbered}
    # An op that is also a scope has a different name there.
    return {
        row: graph.op_types[graph.op[node]] for row, node in rows.items() if hierarchy.name[row] == graph.name[node]
    }


def keras_layer_names(hierarchy: Hierarchy) -> CodeNames:
    """Return the names of Keras layers of the main graph whose scopes add a counter."""
    layers, names = hierarchy.graph.layers, hierarchy.name
    # Rows up to the end of the root: functions come after the main graph.
    rows = [row for row in range(int(hierarchy.end[0])) if names[row] in layers] if layers else []
    called = {row: str(layers[names[row]].config.get("name")) for row in rows}
    return {row: name for row, name in called.items() if is_name_with_counter(last_segment(names[row]), name)}


def is_name_with_counter(segment: str, name: str) -> bool:
    """Return whether a segment is a name followed by a counter.

    >>> (
    ...     is_name_with_counter("dense_1_2", "dense_1"),
    ...     is_name_with_counter("dense", "dense"),
    ...     is_name_with_counter("dense_x", "dense"),
    ... )
    (True, False, False)
    """
    return strip_counter(segment) == name


def strip_counter(name: str) -> str | None:
    """Return a name without its counter; None if it has none. Only the end of a long name is searched.

    >>> strip_counter("block_1/dense_12"), strip_counter("block_1/dense"), strip_counter("block/_1")
    ('block_1/dense', None, None)
    """
    match = COUNTER_SUFFIX.search(name, len(name) - MAX_COUNTER_LETTERS)
    return name[: match.start()] if match else None


def scopes_with_counter(hierarchy: Hierarchy) -> CodeNames:
    """Return the scopes whose name is a free name and a counter."""
    names: CodeNames = {}
    # Names are unique within one graph or function.
    for root, stop in pairwise((0, *hierarchy.function_rows, len(hierarchy))):
        rows = (root + np.flatnonzero(hierarchy.kind[root:stop] == SCOPE_ROW)).tolist()
        # Only saves time: most names do not end in a digit.
        rows = [row for row in rows if hierarchy.name[row][-1:].isdigit()]
        counted = ((row, strip_counter(hierarchy.name[row])) for row in rows)
        held = {row: name for row, name in counted if name is not None}
        inside = hierarchy.name[root + 1 : stop] if held else []
        taken = set(held.values()).intersection(inside)
        # All names are needed only if a taken one has a counter itself, which is rare.
        taken = set(inside) if any(map(strip_counter, taken)) else taken
        names |= {row: name for row, name in held.items() if is_free_name(name, taken)}
    return names


def is_free_name(name: str, taken: set[str]) -> bool:
    """Return whether a name is unused, or used only by names with a counter themselves.

    >>> is_free_name("dense", {"dense_1"}), is_free_name("dense_1", {"dense_1"}), is_free_name("dense", {"dense"})
    (True, True, False)
    """
    # e.g. "dense_1" of "dense_1_2": a scope has this name, but as the layer `dense` with its counter.
    while name in taken:
        shorter = strip_counter(name)
        if shorter is None:
            return False
        name = shorter
    return True


def is_made_by_keras_3(hierarchy: Hierarchy, counted: CodeNames) -> bool:
    """Return whether Keras 3 made the scopes: by most variable names, or, without any, by how a weight is read."""
    asked = list(islice(weight_uses_inside(hierarchy, counted), MAX_ASKED_WEIGHTS))
    votes = [counter_vote(variable, scopes) for _, variable, scopes in asked if not variable.endswith(UNNAMED_VARIABLE)]
    # Variable names decide; the op that reads a weight only if no variable name does.
    return sum(votes) > 0 if any(votes) else any(KERAS_3_READ.fullmatch(read) for read, _, _ in asked)


def weight_uses_inside(hierarchy: Hierarchy, counted: CodeNames) -> Iterator[tuple[str, str, list[str]]]:
    """Yield for each use of a weight inside such scopes: the op that brings it, its variable, its scopes from the
    outside in.

    The variable of a constant in a weight slot is `UNNAMED_VARIABLE`.
    """
    graph, name = hierarchy.graph, hierarchy.name
    beside = graph.beside

    @cache  # one op may use thousands of weights
    def scopes_around(row: int) -> list[str]:
        return [last_segment(name[scope]) for scope in hierarchy.ancestors(row) if scope in counted]

    for index in np.flatnonzero(beside.inward & (graph.mark[beside.mark] == Mark.WEIGHT)).tolist():
        scopes, mark = scopes_around(int(hierarchy.row_of_node[beside.host[index]])), int(beside.mark[index])
        if scopes and (weight := graph.meaning.weights.get(mark)) is not None:
            variable = UNNAMED_VARIABLE if graph.op_types[graph.op[mark]] in CONSTANT_OPS else weight.variable
            yield graph.name[mark], variable, scopes


def counter_vote(variable: str, scopes: Iterable[str]) -> int:
    """Return 1 if a variable's name contains a scope without its counter, -1 if with it, 0 if neither.

    >>> (
    ...     counter_vote("dense/kernel", ["small_1", "dense_1"]),
    ...     counter_vote("dense_1/kernel", ["dense_1"]),
    ...     counter_vote("w", ["dense_1"]),
    ... )
    (1, -1, 0)
    """
    words = set(variable.split("/"))  # a set: names may have thousands of scopes
    plain = any(strip_counter(scope) in words for scope in scopes)
    return 1 if plain else -1 if any(scope in words for scope in scopes) else 0


def gradient_only_rows(hierarchy: Hierarchy) -> Bools:
    """Return which rows contain only ops in scopes of gradients."""
    ops = hierarchy.op_prefix_sum[hierarchy.end] - hierarchy.op_prefix_sum[:-1]
    inside: Bools = (ops > 0) & (count_ops_below(hierarchy, hierarchy.graph.meaning.flow().named) == ops)
    return inside
