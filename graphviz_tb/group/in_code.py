"""The names that a program gives its layers, where the scopes of a file have counters behind them.

Keras 3 opens the scope of a layer twice, to build it and to call it (`Layer.__call__` in keras/src/layers/layer.py),
and TensorFlow uses no name twice: layer `dense` is scope `dense_1`, called again `dense_3`; layer `dense_1` next to
it is `dense_1_2`. So the scope of a layer always has a counter, and nothing in the file has the name without it.

layer_names       names of layers where the model is known beside the graph
counted_scopes    elsewhere, scopes with a counter whose name without it is free
numbered_types    ops of data pipelines, whose names are their types and a number
made_by_keras_3   whether Keras 3 made them: its variables have the names without counters; where a file has none of
                  their names (frozen ones, functions), weights are read where Keras 3 reads them
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, pairwise

import numpy as np

from graphviz_tb.algorithms.quiet import under
from graphviz_tb.limits import WEIGHTS_ASKED
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import SCOPE, Hierarchy
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANTS

COUNTER = re.compile(r"(?<=[^/])_[1-9][0-9]{0,8}\Z")  # e.g. the "_12" of "dense_12"; TensorFlow counts from 1
LONGEST_COUNTER = 10  # letters: "_" and nine digits; to search in no more only saves time
# Where Keras 3 reads a kernel (Keras 2: MatMul/ReadVariableOp, Conv2D/ReadVariableOp).
READ = re.compile(r".*/(Cast|convolution|Reshape|GatherV2)(_\d+)?/ReadVariableOp(/resource)?", re.DOTALL)
UNNAMED = "/resource"  # an argument of a function has the name of the op that reads it

CodeNames = dict[int, str]  # row: name without counter


def names_in_code(hierarchy: Hierarchy, numbered: Iterable[int] = ()) -> CodeNames:
    """Return the program's names of layers whose scopes have another name, by row of the scope.

    Before: scopes, no series and folds yet; which nodes are `numbered_nodes`. After: empty where the names do not come
    from Keras 3. Scopes of gradients are called as those that they are gradients of.
    """
    known = layer_names(hierarchy) | numbered_types(hierarchy, numbered)
    counted = counted_scopes(hierarchy)
    if not counted:
        return known
    # Scopes of gradients repeat the names of the layers: they prove nothing, and are renamed only with these.
    gradients = among_gradients(hierarchy)
    forward = {row: name for row, name in counted.items() if not gradients[row]}
    if not forward or not made_by_keras_3(hierarchy, forward):
        return known
    layers = {last_segment(hierarchy.name[row]) for row in forward}
    names = {row: last_segment(name) for row, name in counted.items() if last_segment(hierarchy.name[row]) in layers}
    return names | known


def numbered_types(hierarchy: Hierarchy, numbered: Iterable[int]) -> CodeNames:
    """The types of ops that have no name but their type and a number."""
    graph = hierarchy.graph
    rows = {int(hierarchy.row_of_node[node]): node for node in numbered}
    # An op that is a scope, too, has another name there.
    return {
        row: graph.op_types[graph.op[node]] for row, node in rows.items() if hierarchy.name[row] == graph.name[node]
    }


def layer_names(hierarchy: Hierarchy) -> CodeNames:
    """The names of the Keras layers of the main graph whose scopes have another one: theirs and a counter."""
    layers, names = hierarchy.graph.layers, hierarchy.name
    # Rows up to the end of the root: functions come after the main graph.
    rows = [row for row in range(int(hierarchy.end[0])) if names[row] in layers] if layers else []
    called = {row: str(layers[names[row]].config.get("name")) for row in rows}
    return {row: name for row, name in called.items() if is_counted(last_segment(names[row]), name)}


def is_counted(segment: str, name: str) -> bool:
    """Whether a segment is a name with a counter behind it.

    >>> is_counted("dense_1_2", "dense_1"), is_counted("dense", "dense"), is_counted("dense_x", "dense")
    (True, False, False)
    """
    return without_counter(segment) == name


def without_counter(name: str) -> str | None:
    """Return a name without its counter; None where it has none. Only the end of a long name is searched.

    >>> without_counter("block_1/dense_12"), without_counter("block_1/dense"), without_counter("block/_1")
    ('block_1/dense', None, None)
    """
    match = COUNTER.search(name, len(name) - LONGEST_COUNTER)
    return name[: match.start()] if match else None


def counted_scopes(hierarchy: Hierarchy) -> CodeNames:
    """The scopes whose name is a free one and a counter."""
    names: CodeNames = {}
    # A name is unique within one of them only.
    for root, stop in pairwise((0, *hierarchy.function_rows, len(hierarchy))):
        rows = (root + np.flatnonzero(hierarchy.kind[root:stop] == SCOPE)).tolist()
        # Only saves time: most names end in no digit.
        rows = [row for row in rows if hierarchy.name[row][-1:].isdigit()]
        counted = ((row, without_counter(hierarchy.name[row])) for row in rows)
        held = {row: name for row, name in counted if name is not None}
        inside = hierarchy.name[root + 1 : stop] if held else []
        taken = set(held.values()).intersection(inside)
        # Few are taken, and of these few have a counter themselves: only then all names are asked for.
        taken = set(inside) if any(map(without_counter, taken)) else taken
        names |= {row: name for row, name in held.items() if is_free(name, taken)}
    return names


def is_free(name: str, taken: set[str]) -> bool:
    """Whether nothing has a name, or only what is counted itself.

    >>> is_free("dense", {"dense_1"}), is_free("dense_1", {"dense_1"}), is_free("dense", {"dense"})
    (True, True, False)
    """
    # e.g. "dense_1" of "dense_1_2": a scope has this name, but only as the layer `dense` with its counter.
    while name in taken:
        shorter = without_counter(name)
        if shorter is None:
            return False
        name = shorter
    return True


def made_by_keras_3(hierarchy: Hierarchy, counted: CodeNames) -> bool:
    """Whether Keras 3 made the scopes: most variables with a name say so; where none has one, how a weight is read."""
    asked = list(islice(weights_inside(hierarchy, counted), WEIGHTS_ASKED))
    votes = [vote(variable, scopes) for _, variable, scopes in asked if not variable.endswith(UNNAMED)]
    # Names of variables decide. Only where none of them says anything does the op that reads a weight.
    return sum(votes) > 0 if any(votes) else any(READ.fullmatch(read) for read, _, _ in asked)


def weights_inside(hierarchy: Hierarchy, counted: CodeNames) -> Iterator[tuple[str, str, list[str]]]:
    """For each use of a weight inside such scopes: the op that brings it, its variable, the scopes from the outside. A
    constant in a weight's place has no variable."""
    graph, name = hierarchy.graph, hierarchy.name
    beside = graph.beside

    @cache  # one op may use thousands of weights
    def scopes_around(row: int) -> list[str]:
        return [last_segment(name[scope]) for scope in hierarchy.ancestors(row) if scope in counted]

    for index in np.flatnonzero(beside.inward & (graph.mark[beside.mark] == Mark.WEIGHT)).tolist():
        scopes, mark = scopes_around(int(hierarchy.row_of_node[beside.host[index]])), int(beside.mark[index])
        if scopes and (weight := graph.meaning.weights.get(mark)) is not None:
            variable = UNNAMED if graph.op_types[graph.op[mark]] in CONSTANTS else weight.variable
            yield graph.name[mark], variable, scopes


def vote(variable: str, scopes: Iterable[str]) -> int:
    """Return the vote of a variable's name: 1 if a scope is in it without its counter, -1 if with it, 0 if none is.

    >>> vote("dense/kernel", ["small_1", "dense_1"]), vote("dense_1/kernel", ["dense_1"]), vote("w", ["dense_1"])
    (1, -1, 0)
    """
    words = set(variable.split("/"))  # a set: both names may have thousands of scopes
    plain = any(without_counter(scope) in words for scope in scopes)
    return 1 if plain else -1 if any(scope in words for scope in scopes) else 0


def among_gradients(hierarchy: Hierarchy) -> Bools:
    """Return which rows contain only ops in scopes of gradients."""
    ops = hierarchy.op_total[hierarchy.end] - hierarchy.op_total[:-1]
    inside: Bools = (ops > 0) & (under(hierarchy, hierarchy.graph.meaning.flow().named) == ops)
    return inside
