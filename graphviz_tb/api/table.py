"""The layers of a model as a text table, like Keras' `model.summary()`."""

from __future__ import annotations

import numpy as np

from graphviz_tb.algorithms.layer_rows import layer_rows
from graphviz_tb.algorithms.reached import reachable_mask
from graphviz_tb.api.nodes import Node, NodeList
from graphviz_tb.interpret.parts import nodes_serving_only
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.folded import FoldedGraph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Part
from graphviz_tb.model.measure import truncate_text
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.model.units import format_bytes, format_count
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import INPUT_OPS, Role, has_role

LAYER_NAME_WIDTH = 56  # characters
NON_OUTPUT_ROLES = (
    Role.SUMMARY,
    Role.SUMMARY_MERGE,
    Role.INPUT,
    Role.CHECK,
    Role.SIZE,
    Role.FRAME_EXIT,
    Role.FRAME_SWITCH,
)


def list_layers(model: FoldedGraph) -> NodeList:
    """Return the layers of the main graph, in the order of the hierarchy (`layer_rows`)."""
    return NodeList(model, layer_rows(model.hierarchy))


def list_inputs(model: FoldedGraph) -> NodeList:
    """Return the ops of the main graph that are fed from outside: placeholders and arguments, no variables."""
    hierarchy = model.hierarchy
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    fed = graph.nodes_of_types(INPUT_OPS.__contains__) & (graph.function < 0)
    if graph.layers:
        named = {name for name, layer in graph.layers.items() if has_layer_role(layer.class_name, LayerRole.INPUT)}
        return NodeList(model, [row for row in range(1, int(hierarchy.end[0])) if hierarchy.name[row] in named])
    held = meaning.variable | (meaning.origin >= 0) | np.isin(meaning.part(), (Part.UPDATE, Part.BOOKKEEPING))
    held[graph.source[meaning.stores[graph.target]]] = True  # the name of a checkpoint file
    held |= nodes_serving_only(graph, held)
    return NodeList(model, rows_of_marked_nodes(hierarchy, fed & ~held))


def list_outputs(model: FoldedGraph) -> NodeList:
    """Return the model's ops that depend on fed values and whose tensors only gradients, updates, summaries or savers
    take."""
    hierarchy = model.hierarchy
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    data = ~graph.control
    ours = np.isin(meaning.part(), COMPUTING_PARTS) & (graph.mark == 0) & (graph.function < 0)
    ours &= ~meaning.sizes & ~meaning.stores & ~graph.nodes_of_types(lambda op: has_role(op, *NON_OUTPUT_ROLES))
    fed = meaning.part() == Part.INPUT
    fed[hierarchy.node[[node.row for node in list_inputs(model)]]] = True
    if fed.any():
        ours &= reachable_mask(fed, graph.source[data], graph.target[data])
    takers = ~np.isin(meaning.part(), (Part.GRADIENT, Part.UPDATE, Part.BOOKKEEPING))
    takers &= ~graph.nodes_of_types(lambda op: has_role(op, Role.SUMMARY, Role.SUMMARY_MERGE))
    taken = np.zeros(len(graph), bool)
    taken[graph.source[takers[graph.target] & data]] = True
    return NodeList(model, rows_of_marked_nodes(hierarchy, ours & ~taken))


def rows_of_marked_nodes(hierarchy: Hierarchy, nodes: Bools) -> list[int]:
    """Return the rows of marked nodes, in the order of the file."""
    rows = hierarchy.row_of_node[np.flatnonzero(nodes)]
    found: list[int] = rows[rows >= 0].tolist()
    return found


def layer_table(model: FoldedGraph) -> str:
    """Return one line per layer (name, class or op type, output shape, parameters), then the totals."""
    named = model.hierarchy.graph.layers
    rows = [("Layer", "Output shape", "Parameters")]
    listed = list_layers(model)
    for node, result in zip(listed, layer_result_ops(model, listed), strict=True):
        shape = result.shape if result is not None else None
        of_class = named[node.name].class_name if node.name in named else node.op
        title = truncate_text(node.name, LAYER_NAME_WIDTH) + (f" ({of_class})" if of_class else "")
        rows.append((title, "" if shape is None else shape_text(shape) or "scalar", f"{node.parameters:,}"))
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    rule = "─" * (sum(widths) + 4)
    lines = [f"{one:<{widths[0]}}  {two:<{widths[1]}}  {three:>{widths[2]}}".rstrip() for one, two, three in rows]
    return "\n".join([lines[0], rule, *lines[1:], rule, *total_lines(model)])


def layer_result_ops(model: FoldedGraph, nodes: NodeList) -> list[Node | None]:
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
    takes = (
        ~graph.control & np.isin(graph.meaning.part(), COMPUTING_PARTS)[graph.target] & (graph.mark[graph.target] == 0)
    )
    leaves = takes & (layer[graph.source] >= 0) & (layer[graph.source] != layer[graph.target])
    last = np.full(len(starts), -1, np.int64)
    np.maximum.at(last, layer[graph.source[leaves]], rows[graph.source[leaves]])
    found = zip(nodes, last.tolist(), strict=True)
    return [node if node.kind == "op" else Node(model, row) if row >= 0 else None for node, row in found]


def total_lines(model: FoldedGraph) -> list[str]:
    """Return lines with parameters, bytes and FLOPs of the main graph; "at least" where something is not counted."""
    from graphviz_tb.color.cost import mark_incomplete  # the colouring code, which most pictures do not use

    cost = Node(model, 0).cost
    parameters = mark_incomplete(cost, "parameters", f"{cost.parameters:,} ({format_bytes(cost.weight_bytes)})")
    trained, fixed = (
        cost.parameters - cost.non_trainable,
        mark_incomplete(cost, "non_trainable", f"{cost.non_trainable:,}"),
    )
    most = (
        "at most " if cost.is_lower_bound("non_trainable") else "at least " if cost.is_lower_bound("parameters") else ""
    )
    apart = f" · trainable: {most}{trained:,} · non-trainable: {fixed}" if cost.non_trainable else ""
    return [f"Parameters: {parameters}{apart}", f"FLOPs: {mark_incomplete(cost, 'flops', format_count(cost.flops))}"]
