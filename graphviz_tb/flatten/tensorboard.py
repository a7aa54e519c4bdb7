"""Embed marks (constants, summaries) as TensorBoard does: remove them and connect their inputs to their users.

Only the TensorBoard preset uses this. An edge through a constant has the flags of the edge into it; an edge through a
summary has those of the edge out of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviz_tb.flatten.build import EdgeColumns, EmbeddedMarks
from graphviz_tb.graphs.node_columns import NodeColumns
from graphviz_tb.limits import FREE_BYPASS_EDGES
from graphviz_tb.model.columns import Bytes, Ints, places_of_runs
from graphviz_tb.model.graph import Mark, MarkPairs, count_mark_pairs
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment

# Limit of edges through marks, per edge of the graph: a constant with a thousand inputs and users would make a million.
BYPASSES_PER_EDGE = 10


SUMMARY_TYPE = re.compile(r"[a-zA-Z]+Summary")


def embed_marks(nodes: NodeColumns, edges: EdgeColumns) -> EmbeddedMarks:
    """Replace every edge that touches a mark.

    Afterwards edges join ordinary nodes only, without self edges. Of nodes with one strict name the last is kept and
    gets the edges of all; a mark without a kept host is dropped.
    """
    mark: Bytes = np.array([_mark_of(op) for op in nodes.op_types], np.uint8)[nodes.op_id]
    last = _last_definitions(nodes, mark)
    kept = (mark == Mark.NONE) & (last == np.arange(len(mark)))
    pairs = _mark_hosts(mark, edges)
    drawn = kept[pairs.host]
    pairs = MarkPairs(pairs.mark[drawn], pairs.host[drawn], pairs.inward[drawn], pairs.edges[drawn])
    kept[pairs.mark] = True
    direct = _bypass_marks(mark, edges)
    direct = replace(direct, source=last[direct.source], target=last[direct.target])
    # Edges from mark to mark are not followed further; self edges, also from merged strict names, are dropped.
    joining = (mark[direct.source] == 0) & (direct.source != direct.target)
    return EmbeddedMarks(mark, kept, direct.select_edges(joining), pairs)


def _mark_of(op: str) -> Mark:
    """Return the mark that TensorBoard draws for an op type."""
    if "Const" in op:
        return Mark.CONSTANT
    return Mark.SUMMARY if SUMMARY_TYPE.fullmatch(op) else Mark.NONE


def _last_definitions(nodes: NodeColumns, mark: Bytes) -> Ints:
    """Return for each ordinary node the last node with the same strict name."""
    last = np.arange(len(nodes), dtype=np.int32)
    for block, index in enumerate(nodes.index):
        start, stop = nodes.starts[block], nodes.starts[block + 1]
        plain = [node for node in range(start, stop) if not mark[node]]
        scopes = {name for node in plain if (name := nodes.name[node].rpartition("/")[0])}
        # Strict names differ from names only if a name is also a scope, and matter only if two are equal.
        clashes = len(index) < stop - start or any(scope in index for scope in scopes)
        if not clashes:
            continue
        listed = sorted(scopes)
        final = {node: _tensorboard_strict_name(nodes.name[node], listed) for node in plain}
        # The later of two replaces the earlier, as in TensorBoard's map of names.
        owner = {name: node for node, name in final.items()}
        for node, name in final.items():
            last[node] = owner[name]
    return last


def _tensorboard_strict_name(name: str, scopes: Sequence[str]) -> str:
    """Return the name of an op, moved inside the scope of that name if one of `scopes` (sorted) is or is below it.

    >>> (
    ...     _tensorboard_strict_name("a", ["a/b"]),
    ...     _tensorboard_strict_name("a/b", ["a/b"]),
    ...     _tensorboard_strict_name("b", ["a/b", "bc"]),
    ... )
    ('a/(a)', 'a/b/(b)', 'b')
    """
    # Sorted, so scopes inside a scope are adjacent. Listing all parents of each would be quadratic in the depth.
    inside = f"{name}/"
    next_to = [scopes[at] for at in (bisect_left(scopes, name), bisect_left(scopes, inside)) if at < len(scopes)]
    within = name and any(f"{scope}/".startswith(inside) for scope in next_to)
    return f"{name}/({last_segment(name)})" if within else name


def _mark_hosts(mark: Bytes, edges: EdgeColumns) -> MarkPairs:
    """Pair each constant with its ordinary users, and each summary with its ordinary inputs."""
    into = np.flatnonzero((mark[edges.source] == Mark.CONSTANT) & (mark[edges.target] == 0))
    out = np.flatnonzero((mark[edges.source] == 0) & (mark[edges.target] == Mark.SUMMARY))
    return count_mark_pairs(edges.source, edges.target, into, out)


def _bypass_marks(mark: Bytes, edges: EdgeColumns) -> EdgeColumns:
    """Return the edges between ordinary nodes, direct or through one mark, in the order of the file."""
    # Edges are sorted by target: the inputs of a mark are the run start ... stop.
    #
    #     inner       outer = user
    #   x ─────▶ mark ─────▶ y        becomes  x ─▶ y, once for each input x of the mark
    user = np.flatnonzero((mark[edges.source] > 0) & (mark[edges.target] == 0))
    start = np.searchsorted(edges.target, edges.source[user], side="left")
    stop = np.searchsorted(edges.target, edges.source[user], side="right")
    fits = np.cumsum(stop - start) <= FREE_BYPASS_EDGES + BYPASSES_PER_EDGE * len(edges.source)
    beyond = int(np.count_nonzero(~fits))
    user, start, stop = user[fits], start[fits], stop[fits]
    repeat = stop - start
    outer = np.repeat(user, repeat)
    inner = places_of_runs(start, repeat)
    plain = np.flatnonzero((mark[edges.source] == 0) & (mark[edges.target] == 0))
    constant = mark[edges.source[outer]] == Mark.CONSTANT
    # `plain` and `outer` are positions in the file; several inputs of one mark keep their order.
    order = np.argsort(np.concatenate((plain, outer)), kind="stable")
    flags = np.where(constant, inner, outer)
    control = np.concatenate((edges.control[plain], edges.control[flags]))[order]
    reference = np.concatenate((edges.reference[plain], edges.reference[outer]))[order]
    return EdgeColumns(
        np.concatenate((edges.source[plain], edges.source[inner]))[order],
        np.concatenate((edges.target[plain], edges.target[outer]))[order],
        np.concatenate((edges.key[plain], edges.key[flags]))[order],
        edges.keys,
        np.concatenate((edges.slot[plain], edges.slot[outer]))[order],
        control,
        reference & ~control,  # an output of a constant may be a reference, its control inputs may not
        (*edges.notices, *_bypass_limit_notices(beyond)),
    )


def _bypass_limit_notices(beyond: int) -> tuple[Notice, ...]:
    """Return a notice for uses of marks that exceed the limit."""
    if not beyond:
        return ()
    text = f"{beyond:,} uses of constants and summaries lead no edges on: in all these would be too many"
    return (Notice("mark-limit", text, count=beyond, strict=False),)
