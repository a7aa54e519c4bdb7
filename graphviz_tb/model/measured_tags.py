"""What a tag measured, point by point, and what that makes of the rows of a hierarchy at one step."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from math import nan
from typing import Literal

from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.joins import Join
from graphviz_tb.model.logged import Doubles

GatherRule = Literal["root of squares", "root of mean squares", "mean", "largest", "ratio"]


class Condition(IntEnum):
    """How a value is out of the ordinary, the most severe last."""

    NONE = 0
    ZERO = 1
    VANISHED = 2  # below 1e-7 of the median
    EXPLODED = 3  # above 1e3 times the median, and grown as much
    NAN = 4  # not finite


@dataclass(frozen=True, slots=True, eq=False)
class TagValues:
    """One value of a measure for each point of a joined tag, by ascending step; `number` is how many elements it is of.

    `exact`: false where it was estimated from buckets, or is only a bound.
    """

    join: Join
    step: Longs
    value: Doubles
    number: Doubles
    exact: bool = True


@dataclass(frozen=True, slots=True)
class RowValue:
    """What was logged at a row, or gathered below it, at one step.

    `layers` of `of` joined rows gave the value, whose newest point is of `step`; theirs go from `least` to `most` in
    size (NaN where none is finite). `hit` of them are in the `condition`, the first since step `since`. `value` is NaN
    where nothing is finite.
    """

    value: float
    step: int
    layers: int
    of: int
    least: float = nan
    most: float = nan
    condition: Condition = Condition.NONE
    hit: int = 0
    since: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class LoggedValues:
    """What rows show of a measure at step `at`: `rows` have a value; `silent` logged something, but not this by then.

    `heading` says what it is. The scale goes from `low` to `high` over all steps, by orders of magnitude where `log`;
    `signed` values go from `-high` to `high`. `percent`: they are shares.
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
    times: bool = False  # a value is how many times that of another run
    noun: str = "layers"  # what the rows are that are counted
    bound: str = "≈"  # what stands before a value that is not exact
