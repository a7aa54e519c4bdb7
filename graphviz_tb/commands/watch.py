"""Follow runs while they are written: a line a run, rewritten on a terminal, else a new line for each change."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from graphviz_tb.commands.scalars_text import sparkline
from graphviz_tb.commands.table import as_encodable, clip_end, terminal_width
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.log import Log
from graphviz_tb.model.logged import Series
from graphviz_tb.model.units import format_number

MIN_WATCH_SECONDS, MAX_WATCH_SECONDS = 1.0, 5.0  # seconds between two looks: longer while nothing changes
WATCH_SPARK_WIDTH = 8  # places of the curve of each tag


def watch_runs(log: Log, choose: Callable[[], Sequence[Series]]) -> None:
    """Print the present values, then new ones as they are written, until Ctrl-C."""
    live = sys.stdout.isatty()
    printed = rewrite_lines(run_status_lines(choose(), live), 0, live)
    wait = MIN_WATCH_SECONDS
    while True:
        time.sleep(wait)
        changes = log.refresh()
        if not changes:
            wait = min(MAX_WATCH_SECONDS, wait * 1.5)
            continue
        wait = MIN_WATCH_SECONDS
        changed = {run for run, _ in (*changes.points, *changes.again)}
        series = [each for each in choose() if live or each.run in changed]
        printed = rewrite_lines(run_status_lines(series, live), printed, live)


def rewrite_lines(lines: list[str], before: int, live: bool) -> int:
    """Print lines, on a terminal over the `before` lines printed last; return how many."""
    encoding = sys.stdout.encoding or "utf-8"
    if live and before:
        sys.stdout.write(f"\x1b[{before}F\x1b[J")  # up to the first of them, and clear the rest
    for line in lines:
        print(as_encodable(line, encoding))
    sys.stdout.flush()
    return len(lines)


def run_status_lines(series: Sequence[Series], live: bool) -> list[str]:
    """Return a line a run: its name, its last step, the last value of each tag."""
    runs: dict[str, list[Series]] = {}
    for each in series:
        runs.setdefault(each.run, []).append(each)
    width = terminal_width()
    lines = []
    for run, held in runs.items():
        last = max((int(each.step[-1]) for each in held if len(each)), default=0)
        line = "  ".join([one_line(run), f"step {last}", *(series_status(each, live) for each in held)])
        lines.append(clip_end(line, width) if live else line)
    return lines


def series_status(series: Series, live: bool) -> str:
    points = series.point_order()
    if not len(points):
        return one_line(series.tag)
    values = series.value[points].astype(float)
    curve = f" {sparkline(values, WATCH_SPARK_WIDTH)}" if live else ""
    return f"{one_line(series.tag)} {format_number(float(values[-1]))}{curve}"
