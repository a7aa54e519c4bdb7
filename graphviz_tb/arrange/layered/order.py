"""Order the items within ranks, with few crossings.

sweeps of medians from several starts ─ edge paths rerouted ─ combined ─ rerouted ─ a lane for the main path
"""

from __future__ import annotations

from itertools import accumulate

from graphviz_tb.arrange.layered.combine import combine
from graphviz_tb.arrange.layered.lane import keep_lane, lane_of
from graphviz_tb.arrange.layered.reroute import Rerouter, edge_paths
from graphviz_tb.arrange.layered.state import RankState
from graphviz_tb.arrange.layered.sweep import depth_first, sweep
from graphviz_tb.arrange.part import Component, Ranks, Row
from graphviz_tb.limits import RANK_SEARCHED, REROUTED_WORK, SWEPT_ITEMS, Meter

Sweeps = tuple[bool, ...]
DOWN_UP: Sweeps = (True, False)
UP_DOWN: Sweeps = (False, True)
STARTS: tuple[tuple[bool, Sweeps], ...] = (  # whether from a depth-first walk, and the sweeps
    (False, DOWN_UP),
    (False, UP_DOWN),
    (True, DOWN_UP),
    (True, UP_DOWN),
    (False, DOWN_UP * 2),
    (True, UP_DOWN * 2),
)
# Most boxes and items for which several starts take under a second; items per box that make a level dense.
SMALL, CHEAP, DENSE = 100, 900, 3


def order(part: Component, layers: Ranks, quick: bool = False) -> Ranks:
    """Order each rank so that few lines cross, and fewest the main path; `quick`: by sweeps from one start alone.

    Ports are given in the order of their numbers if they are held. Every item stays on its rank.
    """
    if max(map(len, layers.ranks), default=0) < 2:  # nothing to order
        return layers
    # Nodes, and waypoints by chain without its ends.
    count = part.count + sum(map(len, layers.chains)) - 2 * len(layers.chains)
    held = sides_with_ports(part, len(layers.ranks)) if part.held else frozenset()
    state = RankState(count, layers.ranks, layers.chains, held)
    if quick:
        begin(state, DOWN_UP)
        keep_lane(state, lane_of(part, layers), [])
        return Ranks(state.ranks, layers.chains)
    free = [[item for item in path if state.rank[item] not in held] for path in edge_paths(state.above, state.below)]
    paths = affordable(state, [path for path in free if path])
    few_crossings(state, part.count, paths)
    keep_lane(state, lane_of(part, layers), paths)
    return Ranks(state.ranks, layers.chains)


def sides_with_ports(part: Component, ranks: int) -> frozenset[int]:
    """Return the ranks of ports: the first, the last, or both."""
    return frozenset(rank for rank, ports in ((0, part.first), (ranks - 1, part.last)) if ports)


def few_crossings(state: RankState, boxes: int, paths: list[list[int]]) -> None:
    """Find the order with the fewest crossings in the time that a level of this size has."""
    count = len(state.rank)
    starts = starts_of(boxes, count)
    if starts == 1:
        sweeps, passes = (DOWN_UP * 8, 1) if count < SWEPT_ITEMS else (DOWN_UP, 2)
        begin(state, sweeps)
        reroute(state, paths, passes)
        return
    given, tried = state.copy(), dict[tuple[tuple[int, ...], ...], list[Row]]()
    for walked, sweeps in STARTS[:starts]:
        state.put(depth_first(state, sweeps[0]) if walked else given)
        begin(state, sweeps)
        # Several starts often lead to one order.
        swept = tuple(map(tuple, state.ranks))
        if swept not in tried:
            reroute(state, paths, 1)
            tried[swept] = state.copy()
    # Each rank from its best start, then reroute again: where two orders meet, paths may improve.
    state.put(combine(state, list(tried.values())))
    reroute(state, paths, 2)


def starts_of(boxes: int, items: int) -> int:
    """Return how many starts are tried: several if that is cheap, one for a large dense level.

    >>> starts_of(99, 296), starts_of(99, 297), starts_of(100, 299), starts_of(100, 300), starts_of(99, 900)
    (4, 6, 2, 1, 1)
    """
    dense = items >= DENSE * boxes
    if boxes < SMALL and items < CHEAP:
        return 6 if dense else 4
    return 1 if dense else 2


def begin(state: RankState, sweeps: Sweeps) -> None:
    """Sweep down (true) and up."""
    for down in sweeps:
        sweep(state, down)


def affordable(state: RankState, paths: list[list[int]]) -> list[list[int]]:
    """Return the paths that may be rerouted, short ones first, until they pass `REROUTED_WORK` ranks.

    A wide rank counts ten, plus one for every 200 items, because all its lines are inspected.
    """
    cost = [0, *accumulate(10 + len(row) // 200 if len(row) > RANK_SEARCHED else 1 for row in state.ranks)]
    work = Meter(REROUTED_WORK)
    for number, path in enumerate(paths):
        top = state.rank[path[0]]
        if not work.take(cost[top + len(path)] - cost[top]):
            return paths[:number]
    return paths


def reroute(state: RankState, paths: list[list[int]], passes: int) -> None:
    """Move edge paths to their best positions until none moves, at most `passes` times."""
    rerouter = Rerouter(state, paths)
    while passes and rerouter.pass_over():
        passes -= 1
