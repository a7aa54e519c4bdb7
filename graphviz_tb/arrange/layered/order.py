"""Order the items within ranks, with few crossings.

sweeps of medians from several starts ─ edge paths rerouted ─ combined ─ rerouted ─ a lane for the main path
"""

from __future__ import annotations

from itertools import accumulate

from graphviz_tb.arrange.layered.combine import combine_orders
from graphviz_tb.arrange.layered.lane import keep_lane, lane_items
from graphviz_tb.arrange.layered.reroute import Rerouter, edge_paths
from graphviz_tb.arrange.layered.state import RankState
from graphviz_tb.arrange.layered.sweep import depth_first_order, median_sweep
from graphviz_tb.arrange.part import Component, Ranks, Row
from graphviz_tb.limits import MAX_REROUTED_WORK, MAX_SEARCHED_RANK_ITEMS, MAX_SWEPT_ITEMS, Meter

Sweeps = tuple[bool, ...]
DOWN_UP: Sweeps = (True, False)
UP_DOWN: Sweeps = (False, True)
SWEEP_STARTS: tuple[tuple[bool, Sweeps], ...] = (  # whether from a depth-first walk, and the sweeps
    (False, DOWN_UP),
    (False, UP_DOWN),
    (True, DOWN_UP),
    (True, UP_DOWN),
    (False, DOWN_UP * 2),
    (True, UP_DOWN * 2),
)
# Most boxes and items for which several starts take under a second; items per box that make a level dense.
MAX_BOXES_MANY_STARTS, MAX_ITEMS_MANY_STARTS, DENSE_ITEMS_PER_BOX = 100, 900, 3


def order_ranks(part: Component, layers: Ranks, quick: bool = False) -> Ranks:
    """Order each rank so that few lines cross, and fewest the main path; `quick`: by sweeps from one start alone.

    Ports are given in the order of their numbers if they are held. Every item stays on its rank.
    """
    if max(map(len, layers.ranks), default=0) < 2:  # nothing to order
        return layers
    # Nodes, and waypoints by chain without its ends.
    count = part.count + sum(map(len, layers.chains)) - 2 * len(layers.chains)
    held = port_ranks(part, len(layers.ranks)) if part.held else frozenset()
    state = RankState(count, layers.ranks, layers.chains, held)
    if quick:
        run_sweeps(state, DOWN_UP)
        keep_lane(state, lane_items(part, layers), [])
        return Ranks(state.ranks, layers.chains)
    free = [[item for item in path if state.rank[item] not in held] for path in edge_paths(state.above, state.below)]
    paths = affordable_paths(state, [path for path in free if path])
    minimize_crossings(state, part.count, paths)
    keep_lane(state, lane_items(part, layers), paths)
    return Ranks(state.ranks, layers.chains)


def port_ranks(part: Component, ranks: int) -> frozenset[int]:
    """Return the ranks of ports: the first, the last, or both."""
    return frozenset(rank for rank, ports in ((0, part.first), (ranks - 1, part.last)) if ports)


def minimize_crossings(state: RankState, boxes: int, paths: list[list[int]]) -> None:
    """Find the order with the fewest crossings in the time that a level of this size has."""
    count = len(state.rank)
    starts = start_count(boxes, count)
    if starts == 1:
        sweeps, passes = (DOWN_UP * 8, 1) if count < MAX_SWEPT_ITEMS else (DOWN_UP, 2)
        run_sweeps(state, sweeps)
        reroute_paths(state, paths, passes)
        return
    given, tried = state.copy_ranks(), dict[tuple[tuple[int, ...], ...], list[Row]]()
    for walked, sweeps in SWEEP_STARTS[:starts]:
        state.set_order(depth_first_order(state, sweeps[0]) if walked else given)
        run_sweeps(state, sweeps)
        # Several starts often lead to one order.
        swept = tuple(map(tuple, state.ranks))
        if swept not in tried:
            reroute_paths(state, paths, 1)
            tried[swept] = state.copy_ranks()
    # Each rank from its best start, then reroute again: where two orders meet, paths may improve.
    state.set_order(combine_orders(state, list(tried.values())))
    reroute_paths(state, paths, 2)


def start_count(boxes: int, items: int) -> int:
    """Return how many starts are tried: several if that is cheap, one for a large dense level.

    >>> start_count(99, 296), start_count(99, 297), start_count(100, 299), start_count(100, 300), start_count(99, 900)
    (4, 6, 2, 1, 1)
    """
    dense = items >= DENSE_ITEMS_PER_BOX * boxes
    if boxes < MAX_BOXES_MANY_STARTS and items < MAX_ITEMS_MANY_STARTS:
        return 6 if dense else 4
    return 1 if dense else 2


def run_sweeps(state: RankState, sweeps: Sweeps) -> None:
    """Sweep down (true) and up."""
    for down in sweeps:
        median_sweep(state, down)


def affordable_paths(state: RankState, paths: list[list[int]]) -> list[list[int]]:
    """Return the paths that may be rerouted, short ones first, until they pass `MAX_REROUTED_WORK` ranks.

    A wide rank counts ten, plus one for every 200 items, because all its lines are inspected.
    """
    cost = [0, *accumulate(10 + len(row) // 200 if len(row) > MAX_SEARCHED_RANK_ITEMS else 1 for row in state.ranks)]
    work = Meter(MAX_REROUTED_WORK)
    for number, path in enumerate(paths):
        top = state.rank[path[0]]
        if not work.take(cost[top + len(path)] - cost[top]):
            return paths[:number]
    return paths


def reroute_paths(state: RankState, paths: list[list[int]], passes: int) -> None:
    """Move edge paths to their best positions until none moves, at most `passes` times."""
    rerouter = Rerouter(state, paths)
    while passes and rerouter.reroute_changed():
        passes -= 1
