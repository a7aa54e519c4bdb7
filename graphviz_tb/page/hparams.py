"""Trials for a page or a server: a column for each hyperparameter and metric, a row for each session."""

from __future__ import annotations

from posixpath import join, normpath
from typing import Any

from graphviz_tb.model.hparams import HParam, HParamInterval, HParamSetting, Metric
from graphviz_tb.model.json_values import replace_non_finite
from graphviz_tb.model.logged import LogContents, Series
from graphviz_tb.read.logged.hparams import read_trials


def trials_table(logged: LogContents) -> dict[str, Any]:
    """Return `columns` and `rows`: the last value of each metric that counts, None if a session has none."""
    trials = read_trials(logged)
    scalars = {(series.run, series.logged_as): series for series in logged.series if series.kind == "scalar"}
    rows = []
    for session in trials.sessions:
        metrics = [scalars.get((metric_run(session.run, one), one.tag)) for one in trials.metrics]
        values = [json_hparam_value(session.hparams.get(one.name)) for one in trials.hparams]
        rows.append(
            {
                "session": session.run,
                "group": session.group,
                "run": session.run,
                "status": session.status,
                "start": replace_non_finite(session.start),
                "end": replace_non_finite(session.end),
                "values": [*values, *(None if series is None else last_metric_value(series) for series in metrics)],
            }
        )
    return {"columns": [*map(hparam_column, trials.hparams), *map(metric_column, trials.metrics)], "rows": rows}


def metric_run(session: str, metric: Metric) -> str:
    """Return the run of a metric of a session.

    >>> metric_run("trial", Metric("loss", "validation")), metric_run(".", Metric("loss"))
    ('trial/validation', '.')
    """
    return normpath(join(session, metric.group))


def last_metric_value(series: Series) -> float | str | None:
    """Return the value of the last point that counts."""
    known = series.extent()
    return None if known is None or known.last is None else replace_non_finite(known.last[2])


def json_hparam_value(value: HParamSetting) -> str | bool | float | None:
    """Return a value as JSON can hold it."""
    return replace_non_finite(value) if isinstance(value, float) else value


def hparam_column(hparam: HParam) -> dict[str, Any]:
    """Return the column of a hyperparameter. A domain is a list of values, or the least and the greatest; None if
    unknown."""
    domain: Any = hparam.domain
    if isinstance(domain, HParamInterval):
        domain = {"min": replace_non_finite(domain.least), "max": replace_non_finite(domain.greatest)}
    elif domain is not None:
        domain = [json_hparam_value(value) for value in domain]
    words = {"name": hparam.name, "title": hparam.title, "about": hparam.about}
    return {**words, "kind": "hparam", "type": hparam.type, "domain": domain}


def metric_column(metric: Metric) -> dict[str, Any]:
    """Return the column of a metric, named by group and tag as in TensorBoard."""
    name = f"{metric.group}.{metric.tag}" if metric.group else metric.tag
    words = {"name": name, "title": metric.title, "about": metric.about, "group": metric.group, "tag": metric.tag}
    return {**words, "kind": "metric", "type": "float64", "domain": None}
