"""Widths of PyTorch modules: a trace has no shapes of weights, but the shapes of all outputs.

How wide the result of a linear layer or a convolution is, its own weights alone decide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphviz_tb.diff.changes.wiring import rewired
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import SHAPE
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.interpret.pytorch import PORT_OP, is_pytorch_module
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import shape_text

TRACED = "aten::"  # how types of ops begin in PyTorch
BOTH_WAYS = "bidirectional"
# The setting, and which dimension of the result it is.
WIDTHS = {
    "aten::linear": ("units", -1),
    "aten::embedding": ("output_dim", -1),
    **dict.fromkeys(("aten::gru", "aten::lstm", "aten::rnn_tanh", "aten::rnn_relu"), ("hidden_size", -1)),
    **dict.fromkeys(
        ("aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution"), ("filters", 1)
    ),
}


WIDTH_KEYS = frozenset(key for key, _ in WIDTHS.values())  # Keras has the same words


def is_traced(graph: Graph) -> bool:
    """Whether a graph is a trace of PyTorch."""
    return any(op.startswith(TRACED) for op in graph.op_types)


def other_widths(m: Matching) -> Iterator[Change]:
    """Modules that are wider or narrower now, each a change; and ops that give another shape though they take the same
    ones in the same way: a trace holds nothing else of a kernel or of a parameter."""
    if not (is_traced(m.a.graph) and is_traced(m.b.graph)):
        return
    old, new = m.together()
    other_shape = m.a.labels.shapes[old] != m.b.labels.shapes[new]
    other_way = np.zeros(len(m.b), bool)
    other_way[new[m.a.node_label[old] != m.b.node_label[new]]] = True
    other_way[rewired(m)[1]] = True
    reshaped = np.zeros(len(m.b), bool)
    reshaped[new[other_shape]] = True
    reshaped |= m.to_a < 0
    reshaped = through_lists(m.b, reshaped)
    for mine, other in zip(old[other_shape].tolist(), new[other_shape].tolist(), strict=True):
        key, place = WIDTHS.get(m.b.graph.op_types[m.b.graph.op[other]], ("", 0))
        before, after = (width(graph, node, place) for graph, node in ((m.a.graph, mine), (m.b.graph, other)))
        if ways(m.a.graph, mine) != ways(m.b.graph, other):
            continue
        names = module(m.a.graph, mine), module(m.b.graph, other)
        edits = NodeEdits(attributes=((mine, other, SHAPE),))
        if key and before and after and before != after:
            yield Change("changed", "attribute", *names, 1, {"key": key, "old": before, "new": after}, edits=edits)
        elif not other_way[other] and not reshaped[m.b.graph.source[m.b.in_edges(other)]].any():
            words = recorded(m.a.graph, mine), recorded(m.b.graph, other)
            port = m.b.graph.op_types[m.b.graph.op[other]] == PORT_OP
            if words[0] and words[1] and words[0] != words[1]:
                detail = {"key": "shape", "old": words[0], "new": words[1]}
                yield Change("changed", "signature" if port else "attribute", *names, 1, detail, edits=edits)


def through_lists(side: GraphColumns, reshaped: Bools) -> Bools:
    """Nodes that give other shapes, with those of no recorded shape that take such ones: lists, and what takes them
    apart."""
    graph = side.graph
    silent = np.fromiter((not recorded(graph, node) for node in range(len(graph))), bool, len(graph))
    inner = silent[graph.target]
    return reachable_mask(reshaped, graph.source[inner], graph.target[inner])


def recorded(graph: Graph, node: int) -> str:
    """The shape of the first result of an op in words; "" where it is unknown."""
    definition = graph.node_def(node)
    shapes = list(definition.attr[SHAPE].list.shape) if definition is not None and SHAPE in definition.attr else []
    return shape_text([dim.size for dim in shapes[0].dim]) if shapes and not shapes[0].unknown_rank else ""


def width(graph: Graph, node: int, place: int) -> int | None:
    """One dimension of the first result of an op; None where it is unknown."""
    definition = graph.node_def(node)
    if definition is None or SHAPE not in definition.attr:
        return None
    shapes = list(definition.attr[SHAPE].list.shape)
    dims = [dim.size for dim in shapes[0].dim] if shapes else []
    return int(dims[place]) if len(dims) > max(place, 0) and dims[place] >= 0 else None


def ways(graph: Graph, node: int) -> bytes:
    """Whether a recurrent module runs both ways, as its trace says it: what it gives is as wide as both together."""
    definition = graph.node_def(node)
    return definition.attr[BOTH_WAYS].s if definition is not None and BOTH_WAYS in definition.attr else b""


def module(graph: Graph, node: int) -> str:
    """The module that an op is in; of an op outside of all its own name."""
    name = graph.name[node]
    around = name.rpartition("/")[0]
    return around if is_pytorch_module(last_segment(around)) and not is_pytorch_module(last_segment(name)) else name
