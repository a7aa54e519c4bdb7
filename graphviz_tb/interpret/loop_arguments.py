"""Labels of loop arguments: name a carried value after its initial value, as TensorFlow only names its position.

first_token ─▶ While     in the body: while_placeholder_1   drawn as: first_token
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import LOOP_OPS

# python/ops/while_v2.py of TensorFlow
LOOP_PLACEHOLDER = re.compile(r"(.*_)?(placeholder|loop_counter|maximum_iterations)(_\d+)?", re.DOTALL)


def label_loop_arguments(graph: Graph) -> dict[int, str]:
    """Return labels for arguments of loop conditions and bodies whose names only state their position."""
    labels: dict[int, str] = {}
    for call in graph.calls:
        if graph.op_types[graph.op[call.node]] in LOOP_OPS:
            arguments = graph.functions[call.function].args
            given = ((slot, source) for slot, source in data_inputs_by_slot(graph, call.node) if slot < len(arguments))
            # A function may serve several loops: the first call decides.
            for slot, source in given:
                if LOOP_PLACEHOLDER.fullmatch(graph.name[arguments[slot]]) and last_segment(graph.name[source]):
                    labels.setdefault(arguments[slot], last_segment(graph.name[source]))
    return labels


def data_inputs_by_slot(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    """Yield the data inputs of a node: slot and source."""
    first, stop = sorted_value_range(graph.target, node, node + 1)
    edges = np.arange(first, stop)[~graph.control[first:stop]]
    return zip(graph.slot[edges].tolist(), graph.source[edges].tolist(), strict=True)
