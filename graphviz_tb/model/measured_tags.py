"""Measured values of a tag, point by point, and the values of the rows of a hierarchy at one step."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from math import nan
from typing import Literal

from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.joins import TagJoin
from graphviz_tb.model.logged import Doubles

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
