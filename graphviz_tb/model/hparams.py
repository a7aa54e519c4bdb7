"""Hyperparameters of trials: the settings of each session, and the metrics to compare sessions by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from graphviz_tb.model.frozen import dataclass

HParamWord = Literal["", "string", "bool", "float64"]  # "": not stated
StatusWord = Literal["unknown", "success", "failure", "running"]
HParamSetting = str | bool | float | None


class HParamInterval(NamedTuple):
    """All numbers from `least` to `greatest`."""

    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class HParam:
    """A hyperparameter. `domain` are the values to be tried (None: not stated); `about` is Markdown."""

    name: str
    title: str = ""
    about: str = ""
    type: HParamWord = ""
    domain: tuple[HParamSetting, ...] | HParamInterval | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A scalar to compare sessions by: its tag, in the run of the session or in the run `group` below it."""

    tag: str
    group: str = ""
    title: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class TrialSession:
    """One run with hyperparameters. Sessions of one `group` repeat one trial; times are in seconds since 1970."""

    run: str
    group: str
    hparams: Mapping[str, HParamSetting] = field(default_factory=dict)
    status: StatusWord = "unknown"
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Trials:
    """All sessions of a log, in the order of their runs, with hyperparameters and metrics."""

    hparams: tuple[HParam, ...] = ()
    metrics: tuple[Metric, ...] = ()
    sessions: tuple[TrialSession, ...] = ()
