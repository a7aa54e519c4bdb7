"""Sums over the ops of groups, and which groups are gradients or updates and nothing of a model."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Bools, Longs
from graphviz_tb.model.hierarchy import Hierarchy

FORWARD = 0.05  # of the ops of a group that feed gradients or come from them: as few forward ones make no model


def by_row(hierarchy: Hierarchy, column: Bools) -> Bools:
    """For each row whether it is an op, no mark, of which a column over nodes holds."""
    flags: Bools = hierarchy.ordinary & column[hierarchy.node]  # groups have node -1
    return flags


def sums(flags: Bools) -> Longs:
    """Prefix sums: `total[end[r]] - total[r]` of the rows in row r are flagged."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(flags)))


def under(hierarchy: Hierarchy, column: Bools) -> Longs:
    """For each row how many ops under it, or it itself, a column over nodes holds of."""
    total = sums(by_row(hierarchy, column))
    counts: Longs = total[hierarchy.end] - total[:-1]
    return counts


def training_rows(hierarchy: Hierarchy) -> tuple[Bools, Longs]:
    """For each row whether it is gradients or updates and nothing of a model; how many ops in it feed gradients."""
    flow = hierarchy.graph.meaning.flow()
    forward, behind = under(hierarchy, flow.forward), under(hierarchy, flow.behind)
    quiet: Bools = (behind > 0) & (forward <= FORWARD * (forward + behind))
    return quiet, forward
