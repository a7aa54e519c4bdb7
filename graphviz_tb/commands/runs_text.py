"""The runs of a log in `tbgraph info`: their last steps and last values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphviz_tb.commands.table import TextStyle, format_table, join_fitting
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.errors import ReadError
from graphviz_tb.export import json_number
from graphviz_tb.log import Log, open_log
from graphviz_tb.model.logged import Run, Series
from graphviz_tb.model.units import format_number

MAX_LAST_VALUES = 6  # last values in a line of text


def open_run_log(source: object) -> Log | None:
    """Return the log at a path; None if there is none, or for a model."""
    from graphviz_tb.read.saved_model import saved_model_file

    if not isinstance(source, str) or source == "-":
        return None
    path = Path(source)
    if path.is_dir() and saved_model_file(path) is not None:
        return None
    try:
        log = open_log(path)
    except ReadError:
        return None
    return log if any(run.points for run in log.logged.runs) else None


def runs_with_scalars(log: Log | None, name: str | None) -> list[tuple[Run, list[Series]]]:
    """Return the runs with data, or the run of a name, each with its scalars."""
    if log is None:
        return []
    runs = [run for run in log.logged.runs if run.points and name in (None, run.name)]
    return [
        (run, [each for each in log.logged.series if each.run == run.name and each.kind == "scalar"]) for run in runs
    ]


def last_scalar_value(series: Series) -> float:
    """Return the value at the last step."""
    points = series.point_order()
    return float(series.value[points[-1]]) if len(points) else float("nan")


def run_lines(runs: Sequence[tuple[Run, list[Series]]], width: int, look: TextStyle) -> list[str]:
    """Return a line a run: points, last step, last values."""
    if not runs:
        return []
    rows = [("run", "points", "last step", "last values")]
    for run, scalars in runs:
        said = [f"{one_line(each.tag)} {format_number(last_scalar_value(each))}" for each in scalars[:MAX_LAST_VALUES]]
        values = join_fitting(said, max(20, width // 2), more=len(scalars) > MAX_LAST_VALUES)
        rows.append((one_line(run.name), f"{run.points:,}", str(run.last_step), values))
    return format_table(rows, width, right=(1, 2), gives=(0, 3), header=True, look=look)


def run_values(runs: Sequence[tuple[Run, list[Series]]]) -> list[dict[str, Any]]:
    """Return runs as plain values for JSON, with every tag."""
    return [
        {
            "run": run.name,
            "points": run.points,
            "superseded": run.superseded,
            "first_step": run.first_step,
            "last_step": run.last_step,
            "restarts": [restart.step for restart in run.restarts],
            "last_values": {each.tag: json_number(last_scalar_value(each)) for each in scalars},
        }
        for run, scalars in runs
    ]
