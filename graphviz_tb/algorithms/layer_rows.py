"""Rows of a hierarchy that are layers: those of a Keras file, or else those that hold their own weights."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS
from graphviz_tb.model.weights import Variable, VariableUse


def layer_rows(hierarchy: Hierarchy) -> list[int]:
    """Return the layers of the main graph, ascending: those that a Keras file lists; else the scopes that hold an op
    and the weights that it uses, and ops with weights outside of such scopes."""
    if hierarchy.graph.layers:
        return [row for row in range(1, int(hierarchy.end[0])) if hierarchy.name[row] in hierarchy.graph.layers]
    weighing: dict[int, list[int]] = {}  # group → ops whose weights count in it
    for row, variables in parameters_by_op(hierarchy).items():
        weighing.setdefault(scope_around_weights(hierarchy, row, variables), []).append(row)
    groups = sorted(weighing)
    within = {group: groups[at + 1 : bisect_left(groups, int(hierarchy.end[group]))] for at, group in enumerate(groups)}
    found: list[int] = []
    past = 0  # rows before it are part of a layer
    for group in groups:
        # A layer with a kernel inside and a bias outside is one layer; a model with its own weight is not.
        if group >= past and len(within[group]) < 2:
            found.append(group)
            past = int(hierarchy.end[group])
        elif group >= past:
            found += weighing[group]
    return sorted(found)


def parameters_by_op(hierarchy: Hierarchy) -> dict[int, list[Variable]]:
    """Return the parameters of each op of the main graph, by row; each parameter at its first user, preferably one that
    feeds gradients."""
    graph, meaning, rows = hierarchy.graph, hierarchy.graph.meaning, hierarchy.row_of_node
    forward = meaning.flow().forward
    ours = np.isin(meaning.part(), COMPUTING_PARTS) & (graph.function < 0) & (graph.mark == 0) & (rows >= 0)
    found: dict[int, list[Variable]] = {}
    for variable in meaning.variables():
        users = [user for user in variable.users if variable.use == VariableUse.PARAMETER and ours[user]]
        if users:
            first = next((user for user in users if forward[user]), users[0])
            found.setdefault(int(rows[first]), []).append(variable)
    return found


def scope_around_weights(hierarchy: Hierarchy, row: int, variables: list[Variable]) -> int:
    """Return the innermost scope around an op and its variables; around the op if the variables are elsewhere; the op
    itself outside all scopes."""
    scopes = [above for above in hierarchy.ancestors(row)[1:] if hierarchy.kind[above] == SCOPE_ROW]
    names = [variable.name for variable in variables]
    common = [above for above in scopes if all(name.startswith(f"{hierarchy.name[above]}/") for name in names)]
    return (common or scopes or [row])[-1]
