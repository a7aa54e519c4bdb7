"""Op counts below rows, and which groups hold only gradients or updates."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Bools, Longs
from graphviz_tb.model.hierarchy import Hierarchy

MAX_FORWARD_SHARE = 0.05  # of a group's ops that feed or come from gradients: with fewer forward ops it is no model


def flag_op_rows(hierarchy: Hierarchy, column: Bools) -> Bools:
    """Return which rows are ordinary ops for which a node column holds."""
    flags: Bools = hierarchy.is_ordinary_op & column[hierarchy.node]  # groups have node -1
    return flags


def prefix_counts(flags: Bools) -> Longs:
    """Return prefix counts: `total[end[r]] - total[r]` of the rows in row r are flagged."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(flags)))


def count_ops_below(hierarchy: Hierarchy, column: Bools) -> Longs:
    """Count, for each row, the ops in it (or itself) for which a node column holds."""
    total = prefix_counts(flag_op_rows(hierarchy, column))
    counts: Longs = total[hierarchy.end] - total[:-1]
    return counts


def training_rows(hierarchy: Hierarchy) -> tuple[Bools, Longs]:
    """Return which rows are gradients or updates without a model, and how many ops in each row feed gradients."""
    flow = hierarchy.graph.meaning.flow()
    forward, behind = count_ops_below(hierarchy, flow.forward), count_ops_below(hierarchy, flow.behind)
    quiet: Bools = (behind > 0) & (forward <= MAX_FORWARD_SHARE * (forward + behind))
    return quiet, forward
