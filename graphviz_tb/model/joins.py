"""Joins of logged tags to rows of a hierarchy, and the measured values of rows at a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum
from itertools import takewhile
from math import nan
from typing import Literal

from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.logs import Doubles

# Joins: the rows of a hierarchy to which a logged tag belongs, the rule that found them, and the measured property.


class JoinRule(StrEnum):
    """The reason why a tag belongs to rows, in the order in which rules are tried."""

    SUMMARY_OP = "summary-op"  # the graph has the op that writes the tag
    VARIABLE = "variable"  # the tag is the name of a variable; it belongs to the ops that use it
    NAME = "name"  # the tag is the name of an op or a scope
    PATH = "path"  # the tag contains the path of a layer or module
    SCOPE_ABOVE = "scope-above"  # as PATH, after removing more parts from the end of the tag
    SEVERAL = "several"  # several rows fit equally: not joined
    RUN = "run"  # no row fits: the tag belongs to the run


def runs_of_graph(graph: str | None, graph_runs: Iterable[str | None], runs: Iterable[str]) -> list[str]:
    """Return the runs that belong to the graph of run `graph`: the run itself, and runs without a graph whose folder is
    nearer to it than to the other runs with graphs.

    >>> runs_of_graph("a/train", ["a/train", "b/train"], ["a/train", "a/validation", "b/train", "c"])
    ['a/train', 'a/validation']
    >>> runs_of_graph("a", ["a"], ["a", "b"])
    ['a', 'b']
    """
    others = {run for run in graph_runs if run is not None} - {graph}
    if graph is None or not others:
        return list(runs)
    return [
        run
        for run in runs
        if run == graph
        or (run not in others and _shared_folders(run, graph) > max(_shared_folders(run, other) for other in others))
    ]


def _shared_folders(run: str, other: str) -> int:
    parts = zip(run.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], parts))


class MeasuredAspect(StrEnum):
    """The measured property of a row."""

    GRADIENT = "gradient"
    WEIGHT = "weight"
    ACTIVATION = "activation"
    LOSS = "loss"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TagJoin:
    """A tag and its rows: the rows of all calls of its layer; or, for the rule `SEVERAL`, equally good candidates,
    which are not joined."""

    tag: str
    rule: JoinRule
    rows: tuple[int, ...] = ()
    aspect: MeasuredAspect = MeasuredAspect.OTHER

    @property
    def is_joined(self) -> bool:
        """Return whether the tag is joined to its rows."""
        return self.rule not in (JoinRule.SEVERAL, JoinRule.RUN)


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """Rows found for a tag by one rule; `several` if they are equally good candidates, which are not joined."""

    rows: tuple[int, ...]
    aspect: MeasuredAspect | None = None
    several: bool = False


def nearest_box_row(hierarchy: Hierarchy, row: int) -> int:
    """Return the nearest row that is drawn as a box: the row itself, or the group that contains a mark. A mark outside
    of all groups is shown as a separate box."""
    box = row
    while box > 0 and hierarchy.mark[box]:
        box = int(hierarchy.parent[box])
    return box if box > 0 else row


def box_rows_of_nodes(hierarchy: Hierarchy, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return the rows at which nodes are shown, without duplicates, in hierarchy order."""
    rows = {nearest_box_row(hierarchy, int(hierarchy.row_of_node[node])) for node in nodes}
    return tuple(sorted(row for row in rows if row > 0))


# Measured values of a tag, point by point, and the values of the rows of a hierarchy at one step.

GatherRule = Literal["root of squares", "root of mean squares", "mean", "largest", "ratio"]


class ValueCondition(IntEnum):
    """Ways in which a value is abnormal, the most severe last."""

    NONE = 0
    ZERO = 1
    VANISHED = 2  # below 1e-7 of the median
    EXPLODED = 3  # above 1e3 times the median, and grown as much
    NAN = 4  # not finite


@dataclass(frozen=True, slots=True, eq=False)
class TagValues:
    """One value of a measure for each point of a joined tag, by ascending step; `number` is the number of elements
    measured.

    `exact` is false if the value was estimated from buckets, or is only a bound.
    """

    join: TagJoin
    step: Longs
    value: Doubles
    number: Doubles
    exact: bool = True


@dataclass(frozen=True, slots=True)
class RowValue:
    """The logged value of a row, or of the rows below it, at one step.

    `layers` of `of` joined rows have a value; the newest point is of `step`, and their sizes range from `least` to
    `most` (NaN if none is finite). `hit` of them are in the `condition`, the first since step `since`. `value` is NaN
    if nothing is finite.
    """

    value: float
    step: int
    layers: int
    of: int
    least: float = nan
    most: float = nan
    condition: ValueCondition = ValueCondition.NONE
    hit: int = 0
    since: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class LoggedValues:
    """Values of a measure at step `at`, by row; `silent` rows logged something, but not this measure by then.

    `heading` is the title of the scale, which covers all steps: from `low` to `high`, logarithmic if `log`; from
    `-high` to `high` if `signed`. `percent`: values are shares.
    """

    heading: str
    at: int
    rows: Mapping[int, RowValue]
    silent: frozenset[int]
    low: float
    high: float
    log: bool = False
    signed: bool = False
    percent: bool = False
    times: bool = False  # a value is the ratio to the value of a second run
    noun: str = "layers"  # name of the counted rows
    bound: str = "≈"  # prefix of a value that is not exact
