"""Follow runs while they are written: a line a run, rewritten on a terminal, else a new line for each change."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from graphviz_tb.commands.scalars_text import sparkline
from graphviz_tb.commands.table import clip_end, columns_of_terminal, encodable
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.log import Log
from graphviz_tb.model.logged import Series
from graphviz_tb.model.units import number

SOONEST, LATEST = 1.0, 5.0  # seconds between two looks: longer while nothing changes
SPARK = 8  # places of the curve of each tag


def watch(log: Log, choose: Callable[[], Sequence[Series]]) -> None:
    """Print the present values, then new ones as they are written, until Ctrl-C."""
    live = sys.stdout.isatty()
    printed = rewrite_lines(lines_of(choose(), live), 0, live)
    wait = SOONEST
    while True:
        time.sleep(wait)
        changes = log.refresh()
        if not changes:
            wait = min(LATEST, wait * 1.5)
            continue
        wait = SOONEST
        changed = {run for run, _ in (*changes.points, *changes.again)}
        series = [each for each in choose() if live or each.run in changed]
        printed = rewrite_lines(lines_of(series, live), printed, live)


def rewrite_lines(lines: list[str], before: int, live: bool) -> int:
    """Print lines, on a terminal over the `before` lines printed last; return how many."""
    encoding = sys.stdout.encoding or "utf-8"
    if live and before:
        sys.stdout.write(f"\x1b[{before}F\x1b[J")  # up to the first of them, and clear the rest
    for line in lines:
        print(encodable(line, encoding))
    sys.stdout.flush()
    return len(lines)


def lines_of(series: Sequence[Series], live: bool) -> list[str]:
    """Return a line a run: its name, its last step, the last value of each tag."""
    runs: dict[str, list[Series]] = {}
    for each in series:
        runs.setdefault(each.run, []).append(each)
    width = columns_of_terminal()
    lines = []
    for run, held in runs.items():
        last = max((int(each.step[-1]) for each in held if len(each)), default=0)
        line = "  ".join([one_line(run), f"step {last}", *(_value(each, live) for each in held)])
        lines.append(clip_end(line, width) if live else line)
    return lines


def _value(series: Series, live: bool) -> str:
    points = series.in_order()
    if not len(points):
        return one_line(series.tag)
    values = series.value[points].astype(float)
    curve = f" {sparkline(values, SPARK)}" if live else ""
    return f"{one_line(series.tag)} {number(float(values[-1]))}{curve}"
