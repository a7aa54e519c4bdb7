"""The layers of a model as a text table, like Keras' `model.summary()`."""

from __future__ import annotations

import numpy as np

from graphviz_tb.algorithms.layer_rows import layer_rows
from graphviz_tb.algorithms.reached import spread_from
from graphviz_tb.api.nodes import Node, NodeList
from graphviz_tb.interpret.parts import serving
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.folded import Folded
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.interpretation import OF_MODEL, Part
from graphviz_tb.model.measure import cut
from graphviz_tb.model.tensors import shape_word
from graphviz_tb.model.units import format_bytes, format_count
from graphviz_tb.ops.layers import LayerRole, is_layer
from graphviz_tb.ops.roles import INPUTS, Role, has_role

NAME_WIDTH = 56  # characters
NO_OUTPUT = (Role.SUMMARY, Role.SUMMARY_MERGE, Role.INPUT, Role.CHECK, Role.SIZE, Role.FRAME_EXIT, Role.FRAME_SWITCH)


def layers(model: Folded) -> NodeList:
    """Return the layers of the main graph, in the order of the hierarchy (`layer_rows`)."""
    return NodeList(model, layer_rows(model.hierarchy))


def inputs(model: Folded) -> NodeList:
    """Return the ops of the main graph that are fed from outside: placeholders and arguments, no variables."""
    hierarchy = model.hierarchy
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    fed = graph.of_types(INPUTS.__contains__) & (graph.function < 0)
    if graph.layers:
        named = {name for name, layer in graph.layers.items() if is_layer(layer.class_name, LayerRole.INPUT)}
        return NodeList(model, [row for row in range(1, int(hierarchy.end[0])) if hierarchy.name[row] in named])
    held = meaning.variable | (meaning.origin >= 0) | np.isin(meaning.part(), (Part.UPDATE, Part.BOOKKEEPING))
    held[graph.source[meaning.stores[graph.target]]] = True  # the name of a checkpoint file
    held |= serving(graph, held)
    return NodeList(model, node_rows(hierarchy, fed & ~held))


def outputs(model: Folded) -> NodeList:
    """Return the model's ops that depend on fed values and whose tensors only gradients, updates, summaries or savers
    take."""
    hierarchy = model.hierarchy
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    data = ~graph.control
    ours = np.isin(meaning.part(), OF_MODEL) & (graph.mark == 0) & (graph.function < 0)
    ours &= ~meaning.sizes & ~meaning.stores & ~graph.of_types(lambda op: has_role(op, *NO_OUTPUT))
    fed = meaning.part() == Part.INPUT
    fed[hierarchy.node[[node.row for node in inputs(model)]]] = True
    if fed.any():
        ours &= spread_from(fed, graph.source[data], graph.target[data])
    takers = ~np.isin(meaning.part(), (Part.GRADIENT, Part.UPDATE, Part.BOOKKEEPING))
    takers &= ~graph.of_types(lambda op: has_role(op, Role.SUMMARY, Role.SUMMARY_MERGE))
    taken = np.zeros(len(graph), bool)
    taken[graph.source[takers[graph.target] & data]] = True
    return NodeList(model, node_rows(hierarchy, ours & ~taken))


def node_rows(hierarchy: Hierarchy, nodes: Bools) -> list[int]:
    """Return the rows of marked nodes, in the order of the file."""
    rows = hierarchy.row_of_node[np.flatnonzero(nodes)]
    found: list[int] = rows[rows >= 0].tolist()
    return found


def summary_text(model: Folded) -> str:
    """Return one line per layer (name, class or op type, output shape, parameters), then the totals."""
    named = model.hierarchy.graph.layers
    rows = [("Layer", "Output shape", "Parameters")]
    listed = layers(model)
    for node, result in zip(listed, results_of(model, listed), strict=True):
        shape = result.shape if result is not None else None
        of_class = named[node.name].class_name if node.name in named else node.op
        title = cut(node.name, NAME_WIDTH) + (f" ({of_class})" if of_class else "")
        rows.append((title, "" if shape is None else shape_word(shape) or "scalar", f"{node.parameters:,}"))
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    rule = "─" * (sum(widths) + 4)
    lines = [f"{one:<{widths[0]}}  {two:<{widths[1]}}  {three:>{widths[2]}}".rstrip() for one, two, three in rows]
    return "\n".join([lines[0], rule, *lines[1:], rule, *totals(model)])


def results_of(model: Folded, nodes: NodeList) -> list[Node | None]:
    """Return for each layer the op that gives its result: a layer op itself, else the last op in it that feeds the rest
    of the model.

    `nodes` are in the order of the hierarchy. Ops of a nested layer count as the inner layer's.
    """
    hierarchy = model.hierarchy
    graph, rows = hierarchy.graph, hierarchy.row_of_node
    starts = np.array([node.row for node in nodes], np.int64)
    layer = np.searchsorted(starts, rows, side="right") - 1  # layer of each node, corrected below
    if len(starts):
        layer[(layer >= 0) & (rows >= hierarchy.end[starts[layer]])] = -1
    takes = ~graph.control & np.isin(graph.meaning.part(), OF_MODEL)[graph.target] & (graph.mark[graph.target] == 0)
    leaves = takes & (layer[graph.source] >= 0) & (layer[graph.source] != layer[graph.target])
    last = np.full(len(starts), -1, np.int64)
    np.maximum.at(last, layer[graph.source[leaves]], rows[graph.source[leaves]])
    found = zip(nodes, last.tolist(), strict=True)
    return [node if node.kind == "op" else Node(model, row) if row >= 0 else None for node, row in found]


def totals(model: Folded) -> list[str]:
    """Return lines with parameters, bytes and FLOPs of the main graph; "at least" where something is not counted."""
    from graphviz_tb.color.cost import at_least  # the colouring code, which most pictures do not use

    cost = Node(model, 0).cost
    parameters = at_least(cost, "parameters", f"{cost.parameters:,} ({format_bytes(cost.weight_bytes)})")
    trained, fixed = cost.parameters - cost.non_trainable, at_least(cost, "non_trainable", f"{cost.non_trainable:,}")
    most = "at most " if cost.lacks("non_trainable") else "at least " if cost.lacks("parameters") else ""
    apart = f" · trainable: {most}{trained:,} · non-trainable: {fixed}" if cost.non_trainable else ""
    return [f"Parameters: {parameters}{apart}", f"FLOPs: {at_least(cost, 'flops', format_count(cost.flops))}"]
