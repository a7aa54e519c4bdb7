"""Marks as TensorBoard embeds them: taken out of the graph, their edges led on to their users.

Only the TensorBoard preset uses this. What passes through a constant keeps the constant's own input; what passes
through a summary keeps the user's input flags.
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.flatten.edges import Edges
from graphviz_tb.flatten.marks import Marks, unique_pairs
from graphviz_tb.model.columns import Bools, Bytes
from graphviz_tb.model.graph import Beside, Mark


def embed(mark: Bytes, last: Bools, edges: Edges) -> Marks:
    """Replace every edge that touches a mark.

    Before: all edges. After: edges join ordinary nodes only, no self edges; a mark without an ordinary host is not
    kept, nor a definition that is not the `last` of its name.
    """
    beside = hosts(mark, edges)
    kept = (mark == Mark.NONE) & last
    kept[beside.mark] = True
    return Marks(mark, kept, lead_on(mark, edges), beside, {})


def hosts(mark: Bytes, edges: Edges) -> Beside:
    """A constant beside each ordinary node that has it as an input, a summary beside each of its ordinary inputs."""
    into = np.flatnonzero((mark[edges.source] == Mark.CONSTANT) & (mark[edges.target] == 0))
    out = np.flatnonzero((mark[edges.source] == 0) & (mark[edges.target] == Mark.SUMMARY))
    return unique_pairs(
        np.concatenate((edges.source[into], edges.target[out])),
        np.concatenate((edges.target[into], edges.source[out])),
        np.concatenate((np.ones(len(into), bool), np.zeros(len(out), bool))),
    )


def lead_on(mark: Bytes, edges: Edges) -> Edges:
    """The edges between ordinary nodes, in the order of the file, with those that pass through a mark."""
    user = np.flatnonzero((mark[edges.source] > 0) & (mark[edges.target] == 0))
    start = np.searchsorted(edges.target, edges.source[user], side="left")
    stop = np.searchsorted(edges.target, edges.source[user], side="right")
    repeat = stop - start
    outer = np.repeat(user, repeat)
    offset = np.arange(int(repeat.sum())) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    inner = np.repeat(start, repeat) + offset
    plain = np.flatnonzero((mark[edges.source] == 0) & (mark[edges.target] == 0))
    constant = mark[edges.source[outer]] == Mark.CONSTANT
    order = np.argsort(np.concatenate((plain, outer)), kind="stable")
    flags = np.where(constant, inner, outer)
    joined = Edges(
        np.concatenate((edges.source[plain], edges.source[inner]))[order],
        np.concatenate((edges.target[plain], edges.target[outer]))[order],
        np.concatenate((edges.key[plain], edges.key[flags]))[order],
        edges.keys,
        np.concatenate((edges.slot[plain], edges.slot[outer]))[order],
        np.concatenate((edges.control[plain], edges.control[flags]))[order],
        np.concatenate((edges.reference[plain], edges.reference[outer]))[order],
        edges.notices,
    )
    return joined.pick((mark[joined.source] == 0) & (joined.source != joined.target))
