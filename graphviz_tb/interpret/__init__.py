"""Stage `interpret`: decide for each node of a flat graph whether it is an op, a weight or a different mark.

weights         variables and constants, and the ops that pass their values on
training        gradients, ops that feed them, ops computed from them; parts of a training program
variables       name, shape and uses of each weight
marks           nodes drawn as marks next to the ops that use them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from graphviz_tb.algorithms.index_arithmetic import index_arithmetic
from graphviz_tb.interpret.gradients import flow_of
from graphviz_tb.interpret.handed import find_handed
from graphviz_tb.interpret.lazily import Lazily
from graphviz_tb.interpret.loop_arguments import call_carried
from graphviz_tb.interpret.marks import settle_marks
from graphviz_tb.interpret.origins import ValueOrigins, find_weights
from graphviz_tb.interpret.parts import copies, model_nodes, parts_of
from graphviz_tb.interpret.pytorch import call_by_kind
from graphviz_tb.interpret.variables import listed_variables, variables_of
from graphviz_tb.interpret.weight_names import name_weights
from graphviz_tb.model.columns import Bools, freeze
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import Interpretation
from graphviz_tb.model.later import Later
from graphviz_tb.model.weights import Weight
from graphviz_tb.ops.roles import FILLED, SIZES, VARIABLES, Role, has_role
from graphviz_tb.options import FlattenOptions

__all__ = ["interpret"]

STORES = (Role.ASSIGN, Role.SAVE, Role.RESTORE, Role.VARIABLE_CHECK)


def interpret(graph: Graph, options: FlattenOptions = FlattenOptions()) -> Graph:  # noqa: B008
    """Attach to a flat graph its marks and its `meaning`.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.proto import GraphDef
    >>> nodes = [{"name": "w", "op": "VariableV2"}, {"name": "y", "op": "Relu", "input": ["w"]}]
    >>> graph = interpret(flatten(GraphDef(node=nodes)))
    >>> graph.mark.tolist(), graph.meaning.origin.tolist(), graph.meaning.weights[0].variable
    ([3, 0], [0, -1], 'w')
    """
    carried = find_weights(graph)
    if options.tensorboard:
        return with_meaning(graph, carried, {})
    handed, called = find_handed(graph)
    # With `show_variables`, variables stay ops.
    shown = options.show_variables
    marks = settle_marks(graph, None if shown else carried.origin >= 0, None if shown else handed)
    graph = replace(graph, mark=freeze(marks.mark), beside=marks.beside, within=marks.within)
    weights = {} if shown else name_weights(graph, carried)
    # PyTorch names nodes after values ("530"), so all are labelled by kind; elsewhere only some arguments are.
    kinds = call_by_kind(graph) if graph.of_pytorch else {**call_carried(graph), **called}
    # On demand: a picture shows dozens of up to 100,000 weights.
    labels = Lazily((*kinds, *weights), lambda node: weights[node].label if node in weights else kinds[node])
    return with_meaning(replace(graph, labels=labels), carried, weights)


def with_meaning(graph: Graph, carried: ValueOrigins, weights: Mapping[int, Weight]) -> Graph:
    """Attach an `Interpretation`: the columns that every picture needs; the rest is computed on demand."""
    part = Later(lambda: parts_of(known, uses_weight(known, carried)))
    listed = Later(lambda: listed_variables(known, carried))
    meaning = Interpretation(
        freeze(carried.origin),
        weights,
        variable=graph.of_types(VARIABLES.__contains__),
        writes=graph.of_types(lambda op: has_role(op, Role.ASSIGN, Role.UPDATE, Role.SCATTER)),
        stores=graph.of_types(lambda op: has_role(op, *STORES)),
        sizes=graph.of_types(lambda op: op in SIZES or op in FILLED),
        flow=Later(lambda: flow_of(known)),
        indexes=Later(lambda: index_arithmetic(known)),
        model=Later(lambda: freeze(model_nodes(known, known.meaning.flow()))),
        copies=Later(lambda: freeze(copies(known, uses_weight(known, carried)))),
        part=part,
        variables=Later(lambda: variables_of(known, carried, part(), listed())),
        shapes=Later(lambda: listed().shapes()),
    )
    known = replace(graph, meaning=meaning)
    return known


def uses_weight(graph: Graph, carried: ValueOrigins) -> Bools:
    """Return the ops that compute with the value of a weight: no reads, writes or savers."""
    meaning, origin = graph.meaning, carried.origin
    taken = (origin[graph.source] >= 0) & (origin[graph.target] < 0) & ~graph.control
    uses = np.zeros(len(graph), bool)
    uses[graph.target[taken]] = True
    return uses & ~meaning.stores & ~meaning.writes
