"""Ops with more or fewer inputs than their type takes: TensorFlow would not load such a graph."""

from __future__ import annotations

from itertools import chain

import numpy as np

from graphviz_tb.errors import GraphError
from graphviz_tb.graphs.node_columns import NodeColumns
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.ops.arity import arities


def wrong_input_counts(nodes: NodeColumns, graph_def: GraphSource, strict: bool) -> tuple[Notice, ...]:
    """Tell (or refuse) ops with another number of inputs than their type takes. One without any is a sketch, and fine.
    Raises GraphError with `strict`."""
    own = {function.signature.name for function in graph_def.library.function}
    known = arities()
    takes = np.array([-1 if op in own else known.get(op, -1) for op in nodes.op_types], np.int64)
    if not (takes >= 0).any():
        return ()
    wanted, has = takes[nodes.op_id], _data_inputs(nodes)
    wrong = np.flatnonzero((wanted >= 0) & (has != wanted) & (has > 0))
    if not len(wrong):
        return ()
    first = int(wrong[0])
    op, name = nodes.op_types[int(np.asarray(nodes.op_id)[first])], nodes.name[first]
    message = f"{op} takes {format_counted_noun(int(wanted[first]), 'input')}, {name!r} has {int(has[first]):,}"
    if strict:
        raise GraphError(message, hint="leave out --strict to draw it all the same")
    return (Notice("input-count", message, name, len(wrong)),)


def _data_inputs(nodes: NodeColumns) -> Longs:
    """Input counts by node, without control inputs."""
    fan_in = np.array(nodes.fan_in, np.int64)
    target = np.repeat(np.arange(len(nodes), dtype=np.int64), fan_in)
    source = np.array(nodes.source, np.int64)
    data = source >= -1  # see `NodeNumbers`
    texts = np.array([not text.startswith("^") for text in chain(*nodes.others)], bool)
    data[source == -1] = texts
    counts: Longs = np.bincount(target[data], minlength=len(nodes))
    return counts
