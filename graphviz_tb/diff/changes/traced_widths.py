"""Widths of PyTorch modules: a trace has no shapes of weights, but the shapes of all outputs.

How wide the result of a linear layer or a convolution is, its own weights alone decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, Edits
from graphviz_tb.model.graph import Graph

TRACED = "aten::"  # how types of ops begin in PyTorch
SHAPE = "_output_shapes"
# The setting, and which dimension of the result it is.
WIDTHS = {
    "aten::linear": ("units", -1),
    "aten::embedding": ("output_dim", -1),
    **dict.fromkeys(
        ("aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution"), ("filters", 1)
    ),
}


def is_traced(graph: Graph) -> bool:
    """Whether a graph is a trace of PyTorch."""
    return any(op.startswith(TRACED) for op in graph.op_types)


def other_widths(m: Matching) -> Iterator[Change]:
    """Modules that are wider or narrower now, those with the same two widths as one change."""
    if not (is_traced(m.a.graph) and is_traced(m.b.graph)):
        return
    old, new = m.together()
    differ = np.flatnonzero(m.a.labels.shapes[old] != m.b.labels.shapes[new])
    groups: dict[tuple[str, int, int], list[tuple[int, int]]] = defaultdict(list)
    for mine, other in zip(old[differ].tolist(), new[differ].tolist(), strict=True):
        key, place = WIDTHS.get(m.b.graph.op_types[m.b.graph.op[other]], ("", 0))
        widths = [width(graph, node, place) for graph, node in ((m.a.graph, mine), (m.b.graph, other)) if key]
        if key and None not in widths and widths[0] != widths[1]:
            groups[key, widths[0] or 0, widths[1] or 0].append((mine, other))
    for (key, before, after), pairs in groups.items():
        names = {(module(m.a.graph, mine), module(m.b.graph, other)): None for mine, other in pairs}
        first, *also = names
        edits = Edits(attributes=tuple((mine, other, SHAPE) for mine, other in pairs))
        detail = {"key": key, "old": before, "new": after}
        yield Change("changed", "attribute", *first, len(pairs), detail, tuple(also), edits=edits)


def width(graph: Graph, node: int, place: int) -> int | None:
    """One dimension of the only result of an op; None where it is unknown."""
    definition = graph.node_def(node)
    if definition is None or SHAPE not in definition.attr:
        return None
    shapes = list(definition.attr[SHAPE].list.shape)
    dims = [dim.size for dim in shapes[0].dim] if len(shapes) == 1 else []
    return int(dims[place]) if len(dims) > 1 and dims[place] >= 0 else None


def module(graph: Graph, node: int) -> str:
    """The module that an op is in; of an op outside of all its own name."""
    name = graph.name[node]
    return name.rpartition("/")[0] or name
