"""Where time and memory go: the ops and scopes that took most, and how much of the graph was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from graphviz_tb.algorithms.calls import leading_on, measured_through
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import OP, SCOPE, Hierarchy
from graphviz_tb.model.paths import Path, address
from graphviz_tb.model.stats import DeviceUse, Figures, Stats


@dataclass(frozen=True, slots=True)
class Top:
    """One line of a list: where, what op type (empty for a group), its figures, its share of the whole."""

    address: str
    op: str
    figures: Figures
    share: float


@dataclass(frozen=True, slots=True)
class Account:
    """The run statistics that `info` shows.

    `measured` of `ops` have statistics, counted in each place (`ops` is None where recursion makes it endless);
    `joined` of the `executions` of the traces have the name of an op, `compiled` of the others are of compiled
    code whose ops nobody names, `unmatched` are all others with their time.
    Each list is sorted, largest first; a scope whose whole value is in one other entry of the list is left out.
    """

    steps: tuple[str, ...]
    whole: Figures
    measured: int
    ops: int | None
    joined: int
    executions: int
    compiled: int
    ops_by_time: tuple[Top, ...]
    ops_by_memory: tuple[Top, ...]
    scopes_by_time: tuple[Top, ...]
    scopes_by_memory: tuple[Top, ...]
    devices: tuple[DeviceUse, ...]
    unmatched: tuple[tuple[str, float], ...]


def account(hierarchy: Hierarchy, stats: Stats, most: int = 10) -> Account:
    """The lists of `info`, at most `most` lines each."""
    measured, ops = measured_through(hierarchy, stats)
    places = op_places(hierarchy, stats)
    scopes = scope_places(hierarchy, stats)
    return Account(
        steps=stats.steps,
        whole=stats.figures(0),
        measured=measured,
        ops=ops,
        joined=stats.joined,
        executions=stats.executions,
        compiled=stats.compiled,
        ops_by_time=top(hierarchy, stats, places, time_of, most),
        ops_by_memory=top(hierarchy, stats, places, bytes_of, most),
        scopes_by_time=top(hierarchy, stats, without_wrappers(hierarchy, scopes, time_of), time_of, most),
        scopes_by_memory=top(hierarchy, stats, without_wrappers(hierarchy, scopes, bytes_of), bytes_of, most),
        devices=stats.devices,
        unmatched=stats.unmatched[:most],
    )


PathFigures = list[tuple[Path, Figures]]


def time_of(figures: Figures) -> float:
    """Microseconds."""
    return figures.time


def bytes_of(figures: Figures) -> float:
    """Bytes."""
    return figures.bytes


def op_places(hierarchy: Hierarchy, stats: Stats) -> PathFigures:
    """Every op that was measured, in each place; a call only where nothing inside it was."""
    inside = stats.paths_inside()
    around = leading_on(inside)  # the time of these calls is that of what is inside
    first = {path[0] for path in inside if len(path) > 1}
    main = np.flatnonzero(stats.known[: int(hierarchy.end[0])] & (hierarchy.kind[: int(hierarchy.end[0])] == OP))
    paths: list[Path] = [(row,) for row in main.tolist() if row not in first]
    paths += [path for path in inside if path not in around]
    return [(path, stats.at(path)) for path in paths]


def scope_places(hierarchy: Hierarchy, stats: Stats) -> PathFigures:
    """Every scope of the main graph, and every call in each place, under which something was measured."""
    rows = np.flatnonzero(stats.known[: int(hierarchy.end[0])])
    groups = [row for row in rows.tolist() if row and (hierarchy.kind[row] == SCOPE or row in hierarchy.calls)]
    calls = calls_around(stats.paths_inside())
    return [((row,), stats.figures(row)) for row in groups] + [(path, stats.at(path)) for path in calls]


def calls_around(paths: Sequence[Path]) -> list[Path]:
    """Return the calls on the way of each path, without the first row, which is in the main graph; both are sorted.

    >>> calls_around([(1, 5, 6, 7), (1, 5, 6, 8), (1, 5, 9), (2, 5)])
    [(1, 5), (1, 5, 6)]
    """
    calls: dict[Path, None] = {}
    before: Path = ()
    for path in paths:
        # Those that a path shares with the one before are there, but for that one itself: it may be a call.
        shared = next(
            (place for place, (one, other) in enumerate(zip(before, path, strict=False)) if one != other), len(before)
        )
        start = min(shared + 1, len(before))
        calls.update((path[:length], None) for length in range(max(2, start), len(path)))
        before = path
    return sorted(calls)


def without_wrappers(hierarchy: Hierarchy, places: PathFigures, value: Callable[[Figures], float]) -> PathFigures:
    """Leave out a scope whose whole value is that of the next scope below it: the list would repeat it."""
    # Places are in preorder: where there is one below a scope, the first of them comes next.
    wrappers = {
        path
        for (path, figures), (inner, those) in pairwise(places)
        if lies_in(hierarchy, inner, path) and value(those) == value(figures)
    }
    return [place for place in places if place[0] not in wrappers]


def lies_in(hierarchy: Hierarchy, inner: Path, outer: Path) -> bool:
    """Whether one path leads into the group or call that the other one ends in."""
    last = len(outer) - 1
    return inner[:last] == outer[:last] and outer[last] <= inner[last] < int(hierarchy.end[outer[last]])


def top(
    hierarchy: Hierarchy, stats: Stats, places: PathFigures, value: Callable[[Figures], float], most: int
) -> tuple[Top, ...]:
    """The places of the largest values, ties in the order of the file; zeros are left out."""
    # Where the whole is nothing no place is left below, and 1 spares a division by zero.
    whole = value(stats.figures(0)) or 1.0
    # `sorted` is stable: ties keep the order of the file.
    ranked = sorted((place for place in places if value(place[1]) > 0), key=lambda place: -value(place[1]))
    return tuple(
        Top(address(hierarchy, path), op_of(hierarchy, path[-1]), figures, value(figures) / whole)
        for path, figures in ranked[:most]
    )


def op_of(hierarchy: Hierarchy, row: int) -> str:
    """The op type of a row, empty for a group."""
    node = int(hierarchy.node[row])
    return hierarchy.graph.op_types[hierarchy.graph.op[node]] if node >= 0 else ""


def library(hierarchy: Hierarchy) -> list[tuple[str, int, int, int]]:
    """The functions of the library: name, ops of the body, how many calls name it, its row."""
    callers: dict[int, int] = dict.fromkeys(hierarchy.function_rows, 0)
    for bodies in hierarchy.calls.values():
        # A call that names a function twice is one caller.
        for body in {body for _, body in bodies}:
            callers[body] += 1
    functions = hierarchy.graph.functions
    return [
        (functions[number].name, hierarchy.ops(row), callers[row], row)
        for number, row in enumerate(hierarchy.function_rows)
    ]
