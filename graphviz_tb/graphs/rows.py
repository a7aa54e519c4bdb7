"""Rows in preorder: number a tree, sum over the descendants of rows, and find the rows outside of the model."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.model.columns import (
    Bools,
    Ints,
    Longs,
    freeze_array,
    int32_column,
    places_of_runs,
    prefix_sums,
    run_bounds,
)
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import TRAINING_ORIGIN, Hierarchy
from graphviz_tb.ops.roles import BATCH_PRODUCT_OPS, CONVOLUTION_OPS, MATRIX_PRODUCT_OPS, Role, has_role

# Preorder numbering of a tree: parents before children, the descendants of a row are the rows up to its end.


@dataclass(frozen=True, slots=True, eq=False)
class Preorder:
    """A tree in preorder: `order[row]` is an id, `row_of[id]` its row; parents (-1 for roots), ends, depths by row."""

    order: Ints
    row_of: Ints
    parent: Ints
    end: Ints
    depth: Ints


def number_tree(parent: Longs, key: Longs) -> Preorder:
    """Number the tree given the `parent` of each id (-1 for roots); siblings are sorted by `key`. Does not recurse.

    >>> names = ["", "b", "a", "a/x"]
    >>> numbered = number_tree(np.array([-1, 0, 0, 2]), np.array([0, 2, 1, 3]))
    >>> [names[id] for id in numbered.order], numbered.end.tolist(), numbered.depth.tolist()
    (['', 'a', 'a/x', 'b'], [4, 3, 3, 4], [0, 1, 2, 1])
    """
    levels = _tree_levels(parent, key)
    # By id; the last entry is the virtual parent of all roots.
    size, row = np.ones(len(parent) + 1, np.int64), np.full(len(parent) + 1, -1)
    # From the deepest level up, so that subtree sizes are complete before they are added to their parents.
    for level in reversed(levels):
        size[level.parents] += np.add.reduceat(size[level.ids], level.start)
    order, above, end, depth = (np.empty(len(parent), np.int32) for _ in range(4))
    for deep, level in enumerate(levels):
        # Its parent's row, plus one, plus the sizes of the siblings before it.
        sizes, fan = size[level.ids], level.fan
        before = np.cumsum(sizes) - sizes
        rows = before + np.repeat(row[level.parents] + 1 - before[level.start], fan)
        row[level.ids], order[rows] = rows, level.ids
        above[rows], end[rows], depth[rows] = np.repeat(row[level.parents], fan), rows + sizes, deep
    return Preorder(
        freeze_array(order), int32_column(row[:-1]), freeze_array(above), freeze_array(end), freeze_array(depth)
    )


@dataclass(frozen=True, slots=True, eq=False)
class TreeLevel:
    """The `ids` of one depth, siblings adjacent: `fan` children of each of `parents`, from `start` on."""

    ids: Longs
    parents: Longs
    fan: Longs
    start: Longs


def _tree_levels(parent: Longs, key: Longs) -> list[TreeLevel]:
    """Return the levels of a tree from the roots down, siblings sorted by key. One step per depth, no recursion."""
    order = np.lexsort((key, parent))
    cuts = run_bounds(parent[order])
    heads = parent[order[cuts[:-1]]]
    # By parent: where its children begin in `order`, and their number; the last entry is parent -1, of the roots.
    first, count = np.zeros((2, len(parent) + 1), np.int64)
    first[heads], count[heads] = cuts[:-1], np.diff(cuts)
    levels: list[TreeLevel] = []
    parents = np.full(1, -1)
    while len(parents := parents[count[parents] > 0]):
        fan = count[parents]
        start = np.cumsum(fan) - fan
        ids = order[places_of_runs(first[parents], fan)]
        levels.append(TreeLevel(ids, parents, fan, start))
        parents = ids
    return levels


# Op counts below rows, and which groups hold only gradients or updates.

MAX_FORWARD_SHARE = 0.05  # of forward ops in a group of gradients; with more, it is a part of the model


def flag_op_rows(hierarchy: Hierarchy, column: Bools) -> Bools:
    """Return which rows are ordinary ops for which a node column holds."""
    flags: Bools = hierarchy.is_ordinary_op & column[hierarchy.node]  # groups have node -1
    return flags


def sums_below(hierarchy: Hierarchy, own: NDArray[Any]) -> Longs:
    """Return, for each row, the sum of `own` over the row and everything in it."""
    # Rows are in preorder: a row and everything in it is the slice row … end[row].
    total = prefix_sums(own)
    sums: Longs = total[hierarchy.end] - total[:-1]
    return sums


def count_ops_below(hierarchy: Hierarchy, column: Bools) -> Longs:
    """Count, for each row, the ops in it (or itself) for which a node column holds."""
    return sums_below(hierarchy, flag_op_rows(hierarchy, column))


def rows_within(hierarchy: Hierarchy, heads: Sequence[int] | NDArray[Any], inner: bool = False) -> Bools:
    """Mark the `heads` and all rows in them; without the heads themselves if `inner`."""
    # +1 where a head begins, -1 behind its end: the running sum counts the heads around each row.
    change = np.zeros(len(hierarchy) + 1, np.int64)
    some = np.asarray(heads, np.int64)
    np.add.at(change, some + inner, 1)
    np.add.at(change, hierarchy.end[some].astype(np.int64), -1)
    within: Bools = np.cumsum(change[:-1]) > 0
    return within


def training_rows(hierarchy: Hierarchy) -> tuple[Bools, Longs]:
    """Return which rows are gradients or updates without a model, and how many ops in each row feed gradients."""
    flow = hierarchy.graph.meaning.flow()
    forward, behind = count_ops_below(hierarchy, flow.forward), count_ops_below(hierarchy, flow.behind)
    quiet: Bools = (behind > 0) & (forward <= MAX_FORWARD_SHARE * (forward + behind))
    return quiet, forward


# Rows that compute with the weights of a model are its flow, even if they are also connected to other parts.

MIN_PRODUCTS_SHARE = 0.1  # of the products in the largest sibling; a part with fewer is a measure or a helper


def _weighted_products(graph: Graph) -> Bools:
    """Mark the ops of the forward pass that multiply with weights or convolve."""
    flow, origin = graph.meaning.flow(), graph.meaning.origin
    multiplies = graph.nodes_of_types(
        lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS or op in BATCH_PRODUCT_OPS
    )
    weighed = np.zeros(len(graph), bool)
    weighed[graph.target[(origin[graph.source] >= 0) & ~graph.control]] = True
    found: Bools = multiplies & weighed & ~flow.behind & ~flow.between
    return found


def computing_rows(hierarchy: Hierarchy) -> Bools:
    """Mark the groups outside of training with many of the products with weights on their level, through calls too."""
    products = _weighted_products(hierarchy.graph)
    none = np.zeros(len(hierarchy), bool)
    if not products.any():
        return none
    count = count_ops_below(hierarchy, products)
    for row in sorted(hierarchy.calls, reverse=True):
        count[row] += sum(int(count[body]) for body in {body for _, body in hierarchy.calls[row]})
    most = np.zeros(len(hierarchy), np.int64)
    np.maximum.at(most, hierarchy.parent[1:], count[1:])
    quiet, _ = training_rows(hierarchy)
    opens = hierarchy.end - np.arange(len(hierarchy)) > 1
    opens[list(hierarchy.calls)] = True
    found: Bools = opens & ~quiet & (count > 0) & (count >= MIN_PRODUCTS_SHARE * most[hierarchy.parent])
    return found


# Rows outside of the model: gradients, updates, initialisers, savers.

STORING_SHARE = 0.25  # of the ops in an initialiser or a saver write, save or restore variables


def quiet_rows(hierarchy: Hierarchy) -> Bools:
    """Mark the rows outside of the model: gradients, updates, savers, loop conditions, functions only for these."""
    training, forward = training_rows(hierarchy)
    stored = _storing_rows(hierarchy) & (forward == 0)
    if stored.any():
        stored &= (count_ops_below(hierarchy, _answering_ops(hierarchy.graph)) == 0) & ~computing_rows(hierarchy)
    tops = training | (hierarchy.how == TRAINING_ORIGIN) | stored
    tops[0] = False
    tops[[loop["cond"] for loop in loop_functions(hierarchy)]] = True
    quiet = rows_within(hierarchy, np.flatnonzero(tops))
    # By function, the number of calls in the model that are left: at 0 the function and its callees are outside too.
    callers = Counter(body for bodies in hierarchy.calls.values() for body in {body for _, body in bodies})
    calls = sorted(hierarchy.calls)
    unvisited = [call for call in calls if quiet[call]]
    while unvisited:
        for body in {body for _, body in hierarchy.calls[unvisited.pop()]}:
            callers[body] -= 1
            if not callers[body] and not quiet[body]:
                inner_calls = calls[bisect_left(calls, body) : bisect_left(calls, int(hierarchy.end[body]))]
                unvisited += [call for call in inner_calls if not quiet[call]]
                quiet[body : hierarchy.end[body]] = True
    return quiet


def _storing_rows(hierarchy: Hierarchy) -> Bools:
    """Mark the rows of which a large share writes, saves or restores variables."""
    ops = hierarchy.op_prefix_sum
    stored = count_ops_below(hierarchy, hierarchy.graph.meaning.stores)
    mostly_stored: Bools = stored > STORING_SHARE * (ops[hierarchy.end] - ops[:-1])
    return mostly_stored


def _answering_ops(graph: Graph) -> Bools:
    """Mark the ops computed from inputs that do not lead to storage; a layer with such ops may contain initialisers."""
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    given = graph.nodes_of_types(lambda op: has_role(op, Role.INPUT, Role.NEXT_ELEMENT))
    from_inputs: Bools = reachable_mask(given, source, target) & ~given
    return from_inputs & ~reachable_mask(graph.meaning.stores, target, source)


def loop_functions(hierarchy: Hierarchy) -> Iterator[dict[str, int]]:
    """Yield the functions of each loop by attribute: `cond` and `body`."""
    for bodies in hierarchy.calls.values():
        if {attr for attr, _ in bodies} == {"cond", "body"}:
            yield dict(bodies)
