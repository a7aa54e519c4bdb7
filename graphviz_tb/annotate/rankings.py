"""Rankings of ops and scopes by time and memory, and the share of the graph that was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from graphviz_tb.graphs.calls import count_measured_ops, paths_with_children
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import OP_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.paths import RowPath, path_address
from graphviz_tb.model.stats import DeviceUse, RunFigures, Stats


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """A line of a ranking; `op` is the op type, empty for a group, and `share` that of the total."""

    address: str
    op: str
    figures: RunFigures
    share: float


@dataclass(frozen=True, slots=True)
class StatsSummary:
    """Run statistics for `info`. Lists are sorted, largest first.

    measured, ops           ops with statistics, and all ops, in each place; `ops` is None for endless recursion
    joined, executions      executions with the name of an op, and all executions of the traces
    compiled                executions of compiled code without op names
    unmatched               other names with their time; `unmatched_time` is the sum over all of them
    scopes_by_time, …       without scopes whose whole value is that of one scope inside

    Shares of time refer to all executions, in the graph or not.
    """

    steps: tuple[str, ...]
    whole: RunFigures
    measured: int
    ops: int | None
    joined: int
    executions: int
    compiled: int
    ops_by_time: tuple[RankedPlace, ...]
    ops_by_memory: tuple[RankedPlace, ...]
    scopes_by_time: tuple[RankedPlace, ...]
    scopes_by_memory: tuple[RankedPlace, ...]
    devices: tuple[DeviceUse, ...]
    unmatched: tuple[tuple[str, float], ...]
    unmatched_time: float = 0.0


def summarize_stats(hierarchy: Hierarchy, stats: Stats, most: int = 10) -> StatsSummary:
    """Return the rankings of `info`, at most `most` lines each."""
    measured, ops = count_measured_ops(hierarchy, stats)
    places = _figures_of_ops(hierarchy, stats)
    scopes = _figures_of_scopes(hierarchy, stats)
    return StatsSummary(
        steps=stats.steps,
        whole=stats.figures(0),
        measured=measured,
        ops=ops,
        joined=stats.joined,
        executions=stats.executions,
        compiled=stats.compiled,
        ops_by_time=_rank_places(hierarchy, stats, places, figures_time, most),
        ops_by_memory=_rank_places(hierarchy, stats, places, figures_bytes, most),
        scopes_by_time=_rank_places(
            hierarchy, stats, _drop_wrapper_scopes(hierarchy, scopes, figures_time), figures_time, most
        ),
        scopes_by_memory=_rank_places(
            hierarchy, stats, _drop_wrapper_scopes(hierarchy, scopes, figures_bytes), figures_bytes, most
        ),
        devices=stats.devices,
        unmatched=stats.unmatched[:most],
        unmatched_time=_unmatched_time(stats),
    )


def _unmatched_time(stats: Stats) -> float:
    """Return the time of all executions without an op in the graph, in microseconds."""
    return sum(time for _, time in stats.unmatched)


PathFigures = list[tuple[RowPath, RunFigures]]


def figures_time(figures: RunFigures) -> float:
    return figures.time


def figures_bytes(figures: RunFigures) -> float:
    return figures.bytes


def _figures_of_ops(hierarchy: Hierarchy, stats: Stats) -> PathFigures:
    """Return every measured op in each place; a call only if nothing inside it was measured."""
    inside = stats.measured_call_paths()
    around = paths_with_children(inside)
    first = {path[0] for path in inside if len(path) > 1}
    main = np.flatnonzero(stats.known[: int(hierarchy.end[0])] & (hierarchy.kind[: int(hierarchy.end[0])] == OP_ROW))
    paths: list[RowPath] = [(row,) for row in main.tolist() if row not in first]
    paths += [path for path in inside if path not in around]
    return [(path, stats.figures_at(path)) for path in paths]


def _figures_of_scopes(hierarchy: Hierarchy, stats: Stats) -> PathFigures:
    """Return every scope of the main graph, and every call in each place, that contains measurements."""
    rows = np.flatnonzero(stats.known[: int(hierarchy.end[0])])
    groups = [row for row in rows.tolist() if row and (hierarchy.kind[row] == SCOPE_ROW or row in hierarchy.calls)]
    calls = _calls_around(stats.measured_call_paths())
    return [((row,), stats.figures(row)) for row in groups] + [(path, stats.figures_at(path)) for path in calls]


def _calls_around(paths: Sequence[RowPath]) -> list[RowPath]:
    """Return the calls along each path, without the first row, which is in the main graph; both lists are sorted.

    >>> _calls_around([(1, 5, 6, 7), (1, 5, 6, 8), (1, 5, 9), (2, 5)])
    [(1, 5), (1, 5, 6)]
    """
    calls: dict[RowPath, None] = {}
    before: RowPath = ()
    for path in paths:
        # Calls along the common prefix with the previous path are known; that path itself may be a call.
        shared = next(
            (place for place, (one, other) in enumerate(zip(before, path, strict=False)) if one != other), len(before)
        )
        start = min(shared + 1, len(before))
        calls.update((path[:length], None) for length in range(max(2, start), len(path)))
        before = path
    return sorted(calls)


def _drop_wrapper_scopes(
    hierarchy: Hierarchy, places: PathFigures, value: Callable[[RunFigures], float]
) -> PathFigures:
    """Drop scopes whose whole value is that of the first scope inside."""
    # Places are in preorder: the first place inside a scope follows it.
    wrappers = {
        path
        for (path, figures), (inner, inner_figures) in pairwise(places)
        if _is_path_inside(hierarchy, inner, path) and value(inner_figures) == value(figures)
    }
    return [place for place in places if place[0] not in wrappers]


def _is_path_inside(hierarchy: Hierarchy, inner: RowPath, outer: RowPath) -> bool:
    """Return whether a path leads into the group or call at the end of `outer`."""
    last = len(outer) - 1
    return inner[:last] == outer[:last] and outer[last] <= inner[last] < int(hierarchy.end[outer[last]])


def _rank_places(
    hierarchy: Hierarchy, stats: Stats, places: PathFigures, value: Callable[[RunFigures], float], most: int
) -> tuple[RankedPlace, ...]:
    """Return the places of the largest values, ties in file order; zeros are left out."""
    # For a total of zero there are no places; 1 avoids a division by zero.
    total = value(stats.figures(0)) + (_unmatched_time(stats) if value is figures_time else 0) or 1.0
    # `sorted` is stable: ties keep the order of the file.
    ranked = sorted((place for place in places if value(place[1]) > 0), key=lambda place: -value(place[1]))
    return tuple(
        RankedPlace(path_address(hierarchy, path), op_type_of_row(hierarchy, path[-1]), figures, value(figures) / total)
        for path, figures in ranked[:most]
    )


def op_type_of_row(hierarchy: Hierarchy, row: int) -> str:
    """Return the op type of a row, empty for a group."""
    node = int(hierarchy.node[row])
    return hierarchy.graph.op_types[hierarchy.graph.op[node]] if node >= 0 else ""
