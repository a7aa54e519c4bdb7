"""The last step of flatten: plain lists become frozen columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.flatten.hosts import Marks
from graphviz_tb.flatten.nodes import Nodes
from graphviz_tb.model.columns import freeze, ints
from graphviz_tb.model.graph import Call, Function, Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.weights import Weight

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef


def assemble(
    graph_def: GraphDef,
    nodes: Nodes,
    marks: Marks,
    functions: tuple[Function, ...],
    calls: tuple[Call, ...],
    labels: Mapping[int, str],
    weights: Mapping[int, Weight],
    layers: Mapping[str, Layer],
) -> Graph:
    """Freeze everything into a `Graph`."""
    edges = marks.edges
    for column in (edges.source, edges.target, edges.key, edges.slot, edges.control, edges.reference):
        freeze(column)
    return Graph(
        name=nodes.name,
        op=nodes.op_id,
        op_types=nodes.op_types,
        device=ints(np.array(nodes.device, np.int32)),
        devices=tuple(nodes.device_numbers),
        function=nodes.function_column(),
        mark=freeze(marks.mark),
        definition=freeze(np.concatenate(nodes.definition)),
        kept=freeze(marks.kept),
        source=edges.source,
        target=edges.target,
        key=edges.key,
        # An output that only results of functions name has no edge; the numbers that edges use stay as they are.
        keys=tuple(dict.fromkeys((*edges.keys, *(key for each in functions for _, key in each.returns)))),
        slot=edges.slot,
        control=edges.control,
        reference=edges.reference,
        functions=functions,
        calls=calls,
        beside=marks.beside,
        within=marks.within,
        graph_def=graph_def,
        index=tuple(nodes.index),
        labels=labels,
        weights=weights,
        layers=layers,
        notices=(*nodes.notices, *edges.notices),
    )
