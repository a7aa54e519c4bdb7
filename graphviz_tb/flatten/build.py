"""The last step of flatten: plain lists become frozen columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.algorithms.node_columns import NodeColumns
from graphviz_tb.flatten.edges import EdgeColumns
from graphviz_tb.flatten.embedding import EmbeddedMarks
from graphviz_tb.model.columns import freeze_array, int32_column
from graphviz_tb.model.graph import Call, Function, Graph, MarkPairs
from graphviz_tb.model.layers import Layer

if TYPE_CHECKING:
    from graphviz_tb.model.loaded import GraphSource


def build_graph(
    graph_def: GraphSource,
    nodes: NodeColumns,
    edges: EdgeColumns,
    functions: tuple[Function, ...],
    calls: tuple[Call, ...],
    layers: Mapping[str, Layer],
    embedded: EmbeddedMarks | None,
) -> Graph:
    """Freeze all columns into a `Graph`; only TensorBoard's preset has marks at this point."""
    none = np.zeros(0, np.int32)
    mark, kept, beside = (
        np.zeros(len(nodes), np.uint8),
        np.ones(len(nodes), bool),
        MarkPairs(none, none, none > 0, none),
    )
    if embedded:
        mark, kept, beside, edges = embedded.mark, embedded.kept, embedded.beside, embedded.edges
    for column in (edges.source, edges.target, edges.key, edges.slot, edges.control, edges.reference):
        freeze_array(column)
    return Graph(
        name=nodes.name,
        op=nodes.op_id,
        op_types=nodes.op_types,
        device=int32_column(np.array(nodes.device, np.int32)),
        devices=tuple(nodes.device_numbers),
        function=nodes.function_column(),
        mark=freeze_array(mark),
        definition=freeze_array(np.concatenate(nodes.definition)),
        kept=freeze_array(kept),
        source=edges.source,
        target=edges.target,
        key=edges.key,
        # Append outputs that only results of functions name; the numbers that edges use do not change.
        keys=tuple(dict.fromkeys((*edges.keys, *(key for each in functions for _, key in each.returns)))),
        slot=edges.slot,
        control=edges.control,
        reference=edges.reference,
        functions=functions,
        calls=calls,
        beside=beside,
        within={},
        graph_def=graph_def,
        index=tuple(nodes.index),
        layers=layers,
        notices=edges.notices,
    )
