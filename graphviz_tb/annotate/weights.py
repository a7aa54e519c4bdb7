"""Count the elements of the weights of a graph: each weight once, with what makes the number a bound."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from graphviz_tb.annotate.infer.symbols import all_sizes_known
from graphviz_tb.annotate.shapes import keras_layer_nodes
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.costs import COST_VALUES, Cost
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import Variable, VariableUse
from graphviz_tb.model.tensors import element_size
from graphviz_tb.ops.roles import CONSTANT_OPS, HANDLE_OPS, PARAMETER_OP, Role, has_role

if TYPE_CHECKING:
    from graphviz_tb.annotate.infer.engine import Inference


def total_weight_cost(inference: Inference) -> Cost:
    """Return the cost of all weights of a graph and of the functions that it calls."""
    graph = inference.graph
    functions = {-1, *callers_in_main_graph(graph)}
    counted = [COST_VALUES(cost) for node, cost in iter_weight_costs(inference) if graph.function[node] in functions]
    return Cost(*map(sum, zip(*counted, strict=True)))


def iter_weight_costs(inference: Inference) -> Iterator[tuple[int, Cost]]:
    """Yield the nodes of weights, and nodes that are Keras layers, with the costs of their weights. A weight of unknown
    size counts as one `unsized`."""
    graph = inference.graph
    for node in graph.meaning.doubtful:
        yield node, Cost(doubtful=1)
    for node in _traced_parameters(graph):
        yield node, Cost(unsized=1)
    for variable in graph.meaning.variables():
        if variable.use == VariableUse.BUFFER:
            continue
        if variable.use == VariableUse.STATE:
            # A constant that standardises an input: Keras counts it in some models.
            if graph.op_types[graph.op[variable.node]] in CONSTANT_OPS:
                yield variable.node, Cost(doubtful=1)
            continue
        elements = _variable_element_count(inference, variable)
        copy = variable.use == VariableUse.COPY
        if elements is None:
            yield variable.node, Cost(unsized=int(bool(variable.users) and not copy))
        elif copy:
            yield variable.node, Cost(copied=elements)
        else:
            size, is_decided = element_size(variable.dtype), variable.trainable is not None
            untrained = elements if variable.trainable is False else 0
            yield (
                variable.node,
                Cost(
                    elements,
                    weight_bytes=elements * size,
                    non_trainable=untrained,
                    undecided=int(not is_decided),
                    repeated=elements if _may_repeat(graph, variable.node) else 0,
                ),
            )
    for node, layer in keras_layer_nodes(inference.graph).items():
        dtype, count, fixed = layer.config.get("dtype"), layer.parameters, layer.non_trainable
        weight_bytes = layer.weight_bytes
        if weight_bytes is None:
            weight_bytes = (count or 0) * element_size(dtype if isinstance(dtype, str) else "")
        yield (
            node,
            Cost(unsized=1)
            if count is None
            else Cost(count, weight_bytes=weight_bytes, non_trainable=fixed or 0, undecided=int(fixed is None)),
        )


def _traced_parameters(graph: Graph) -> list[int]:
    """Return the first read of each parameter or buffer in a trace of values, which does not state their shapes; other
    reads are of modules, whose members are read in turn.

    Net/Linear[fc]/weight/weight.3 ─▶ aten::linear        read again: Net/Linear[fc]/weight/weight.7
    """
    if not graph.is_value_trace:
        return []
    reads = graph.nodes_of_types(lambda op: has_role(op, Role.TRACE_WEIGHT))
    used = reads[graph.source] & ~reads[graph.target] & ~graph.control
    first: dict[str, int] = {}
    for node in distinct_values(graph.source[used]).tolist():
        first.setdefault(graph.name[node].rpartition("/")[0] or graph.name[node], node)
    return list(first.values())


def _may_repeat(graph: Graph, node: int) -> bool:
    """Return whether a weight of an exported program may be a copy of another one."""
    definition = graph.node_def(node) if graph.op_types[graph.op[node]] == PARAMETER_OP else None
    return definition is not None and "_may_repeat" in definition.attr


def _variable_element_count(inference: Inference, variable: Variable) -> int | None:
    sizes = [] if variable.shape is None else [size for size in variable.shape if size is not None]
    if variable.shape is not None and len(sizes) == len(variable.shape):
        return prod(sizes)
    if not inference.graph.meaning.variable[variable.node]:
        return None
    # A handle is a scalar; the shape of the variable is that of its value.
    out = inference.first_output(variable.node)
    shape = out.held if inference.op_type(variable.node) in HANDLE_OPS else out.shape
    return prod(shape or ()) if all_sizes_known(shape) else None


def callers_in_main_graph(graph: Graph) -> dict[int, int]:
    """Return for each function the first node of the main graph that calls it, directly or through other functions."""
    inner: dict[int, list[int]] = {}
    waiting: list[tuple[int, int]] = []
    for call in graph.calls:
        function = int(graph.function[call.node])
        if function < 0:
            waiting.append((call.function, call.node))
        else:
            inner.setdefault(function, []).append(call.function)
    found: dict[int, int] = {}
    waiting.reverse()
    while waiting:
        function, node = waiting.pop()
        if function not in found:
            found[function] = node
            waiting += [(called, node) for called in inner.get(function, ())]
    return found
