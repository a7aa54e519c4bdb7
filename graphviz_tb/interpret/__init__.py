"""Stage `interpret`: decide for each node of a flat graph whether it is an op, a weight or a different mark.

weights         variables and constants that are weights, and the ops that pass their values on
training        gradients, ops that feed them, ops computed from them; parts of a training program
variables       name, shape and uses of each weight
marks           nodes drawn as marks next to the ops that use them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from graphviz_tb.caches import Lazy
from graphviz_tb.graphs.index_arithmetic import index_arithmetic_ops, nodes_from_inputs
from graphviz_tb.interpret.marks import decide_marks, find_outside_values, label_loop_arguments
from graphviz_tb.interpret.training import (
    find_evaluation_copies,
    find_model_nodes,
    find_program_parts,
    find_training_flow,
)
from graphviz_tb.interpret.variables import LazyMapping, VariableClassifier, describe_weights, list_variables
from graphviz_tb.interpret.weights import ValueOrigins, find_weight_origins
from graphviz_tb.model.columns import Bools, freeze_array
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import Interpretation, Weight
from graphviz_tb.ops.roles import FILL_OPS, SIZE_OPS, VARIABLE_OPS, Role, has_role
from graphviz_tb.options import FlattenOptions

__all__ = ["interpret"]

STORAGE_ROLES = (Role.ASSIGN, Role.SAVE, Role.RESTORE, Role.VARIABLE_CHECK)


def interpret(graph: Graph, options: FlattenOptions = FlattenOptions()) -> Graph:  # noqa: B008
    """Attach to a flat graph its marks and its `meaning`.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.proto import GraphDef
    >>> nodes = [{"name": "w", "op": "VariableV2"}, {"name": "y", "op": "Relu", "input": ["w"]}]
    >>> graph = interpret(flatten(GraphDef(node=nodes)))
    >>> graph.mark.tolist(), graph.meaning.origin.tolist(), graph.meaning.weights[0].variable
    ([3, 0], [0, -1], 'w')
    """
    carried = find_weight_origins(graph)
    if options.tensorboard:
        return _attach_interpretation(graph, carried, {})
    handed, called = find_outside_values(graph)
    # With `show_variables`, variables stay ops.
    shown = options.show_variables
    marks = decide_marks(graph, None if shown else carried.origin >= 0, None if shown else handed)
    graph = replace(graph, mark=freeze_array(marks.mark), beside=marks.beside, within=marks.within)
    weights = {} if shown else describe_weights(graph, carried)
    # PyTorch names nodes after values ("530"), so all nodes are labelled by kind; elsewhere only some arguments are.
    if graph.is_value_trace:
        from graphviz_tb.interpret.pytorch import label_pytorch_nodes

        kinds = label_pytorch_nodes(graph)
    else:
        kinds = {**label_loop_arguments(graph), **called}
    # On demand: a picture shows dozens of up to 100,000 weights.
    labels = LazyMapping((*kinds, *weights), lambda node: weights[node].label if node in weights else kinds[node])
    return _attach_interpretation(replace(graph, labels=labels), carried, weights)


def _attach_interpretation(graph: Graph, carried: ValueOrigins, weights: Mapping[int, Weight]) -> Graph:
    """Attach an `Interpretation`: the columns that every picture needs; the rest is computed on demand."""
    part = Lazy(lambda: find_program_parts(known, _find_weight_users(known, carried)))
    listed = Lazy(lambda: list_variables(known, carried))
    meaning = Interpretation(
        freeze_array(carried.origin),
        weights,
        variable=graph.nodes_of_types(VARIABLE_OPS.__contains__),
        writes=graph.nodes_of_types(lambda op: has_role(op, Role.ASSIGN, Role.UPDATE, Role.SCATTER)),
        stores=graph.nodes_of_types(lambda op: has_role(op, *STORAGE_ROLES)),
        sizes=graph.nodes_of_types(lambda op: op in SIZE_OPS or op in FILL_OPS),
        flow=Lazy(lambda: find_training_flow(known)),
        indexes=Lazy(lambda: index_arithmetic_ops(known)),
        from_inputs=Lazy(lambda: freeze_array(nodes_from_inputs(known))),
        model=Lazy(lambda: freeze_array(find_model_nodes(known, known.meaning.flow()))),
        copies=Lazy(lambda: freeze_array(find_evaluation_copies(known, _find_weight_users(known, carried)))),
        part=part,
        variables=Lazy(lambda: tuple(VariableClassifier(known, carried, part(), listed()).classify_all())),
        shapes=Lazy(lambda: listed().shapes_by_node()),
        doubtful=carried.doubtful,
    )
    known = replace(graph, meaning=meaning)
    return known


def _find_weight_users(graph: Graph, carried: ValueOrigins) -> Bools:
    """Mark the ops that compute with the value of a weight: no reads, writes or savers."""
    meaning, origin = graph.meaning, carried.origin
    taken = (origin[graph.source] >= 0) & (origin[graph.target] < 0) & ~graph.control
    uses = np.zeros(len(graph), bool)
    uses[graph.target[taken]] = True
    return uses & ~meaning.stores & ~meaning.writes
