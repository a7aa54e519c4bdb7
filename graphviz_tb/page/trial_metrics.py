"""The metrics by which trials are judged: those that were declared, and scalars where these say nothing.

Lightning declares one metric, `hp_metric`, and logs -1 for it unless a program gives it a value. Others write
hyperparameters and no metrics at all. Both log what they are judged by as scalars of the same run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.logs import Metric, Series, Trials
from graphviz_tb.model.paths import natural_name_key

PLACEHOLDER = "hp_metric"  # of Lightning
PLACEHOLDER_VALUE = -1.0
MOST_OFFERED = 40  # scalars offered as metrics


def judged_metrics(trials: Trials, scalars: Mapping[tuple[str, str], Series]) -> tuple[Metric, ...]:
    """Return the metrics of trials: the declared ones, and scalars where none of those was given a value.

    A placeholder stays, behind the scalars; a scalar is offered where its tag was logged by most sessions.
    """
    declared = tuple(trials.metrics)
    if any(one.tag != PLACEHOLDER for one in declared) or _has_real_value(trials, scalars):
        return declared
    sessions = {session.run for session in trials.sessions}
    counts: dict[str, int] = {}
    for run, tag in scalars:
        if run in sessions and tag != PLACEHOLDER:
            counts[tag] = counts.get(tag, 0) + 1
    most = max(counts.values(), default=0)
    offered = sorted(
        (tag for tag, count in counts.items() if 2 * count >= most),
        key=lambda tag: (-counts[tag], natural_name_key(tag)),
    )
    return (*(Metric(tag) for tag in offered[:MOST_OFFERED]), *declared)


def _has_real_value(trials: Trials, scalars: Mapping[tuple[str, str], Series]) -> bool:
    """Return whether any session gave the placeholder a value of its own."""
    found: Sequence[Series | None] = [scalars.get((session.run, PLACEHOLDER)) for session in trials.sessions]
    known = [one.extent() for one in found if one is not None]
    return any(one is not None and one.last is not None and one.last[2] != PLACEHOLDER_VALUE for one in known)
