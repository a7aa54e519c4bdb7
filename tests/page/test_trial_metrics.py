"""Trials are judged by what was logged, not by a placeholder."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from graphviz_tb.model.logs import Metric, Trials, TrialSession
from graphviz_tb.page.log import _metrics_of_trials


class LoggedScalar:
    """A scalar with its last value."""

    def __init__(self, last: float) -> None:
        self.last = (0, 0.0, last)

    def extent(self) -> LoggedScalar:
        return self


def judged(declared: tuple[str, ...], scalars: Mapping[tuple[str, str], float]) -> list[str]:
    sessions = tuple(TrialSession(run, "") for run in ("a", "b"))
    found = {key: LoggedScalar(value) for key, value in scalars.items()}
    return [one.tag for one in _metrics_of_trials(Trials((), tuple(map(Metric, declared)), sessions), found)]  # type: ignore[arg-type]


LOGGED = {(run, tag): 0.5 for run in "ab" for tag in ("loss", "acc10", "acc9")}


@pytest.mark.parametrize(
    ("declared", "more", "expected"),
    [
        (("hp_metric",), {("a", "hp_metric"): -1.0}, ["acc9", "acc10", "loss", "hp_metric"]),
        (("hp_metric",), {("a", "hp_metric"): 0.7}, ["hp_metric"]),
        ((), {("a", "once"): 1.0, ("other", "elsewhere"): 1.0}, ["acc9", "acc10", "loss", "once"]),
        (("loss",), {}, ["loss"]),
    ],
)
def test_metrics(declared: tuple[str, ...], more: Mapping[tuple[str, str], float], expected: list[str]) -> None:
    assert judged(declared, {**LOGGED, **more}) == expected
