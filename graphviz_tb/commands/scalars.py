"""`tbgraph scalars`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.completion import complete_runs, complete_tags
from graphviz_tb.commands.options import FiniteRange, GroupedCommand, points_format_options, theme_option
from graphviz_tb.commands.terminal import print_notices
from graphviz_tb.errors import RequestError
from graphviz_tb.model.formatting import printable

if TYPE_CHECKING:
    from graphviz_tb.logs.log import Log
    from graphviz_tb.model.logs import Series
    from graphviz_tb.model.notice import Notice


class RegexType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A regular expression."""

    name = "pattern"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> re.Pattern[str]:
        """Compile it, or fail with the place of the error."""
        if isinstance(value, re.Pattern):
            return value
        try:
            return re.compile(value)
        except (re.error, OverflowError, RecursionError) as error:
            return self.fail(f"{value!r} is not a regular expression: {error}", param, ctx)


@click.command(cls=GroupedCommand, epilog="Exit codes: 0 done, 2 request, 3 file, 5 machine.")
@click.argument("logdir")
@click.option(
    "--run",
    "runs",
    type=RegexType(),
    metavar="RE",
    multiple=True,
    shell_complete=complete_runs,
    help="Only runs that match.",
)
@click.option(
    "--tag",
    "tags",
    type=RegexType(),
    metavar="RE",
    multiple=True,
    shell_complete=complete_tags,
    help="Only tags that match.",
)
@points_format_options()
@click.option(
    "--group-by",
    metavar="WHAT",
    help="Group runs by differs, a part of names such as 'seed*', or a hyperparameter.",
)
@click.option("--wide", is_flag=True, help="With --csv: one row per step, one column per run.")
@click.option("--curves", is_flag=True, help="Draw curves in the terminal.")
@click.option("--watch", is_flag=True, help="Follow runs that are being written, until Ctrl-C.")
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Draw a chart (.svg .png .pdf), or write all points (.csv .json).",
)
@click.option("--smooth", type=FiniteRange(0, 1), default=0.0, metavar="W", help="Smoothing of curves [0].")
@click.option(
    "--axis",
    type=click.Choice(["step", "time", "relative"]),
    default="step",
    metavar="WHAT",
    help="Horizontal axis: step, time or relative [step].",
)
@click.option("--log", "log_y", is_flag=True, help="Use a logarithmic axis of values.")
@click.option(
    "--restarts",
    type=click.Choice(["last", "keep"]),
    default="last",
    metavar="WHAT",
    help="last marks points that a restarted run wrote again; keep marks none [last].",
)
@click.option("--checksum", is_flag=True, help="Check the payload of every record.")
@theme_option
@click.option("-q", "--quiet", is_flag=True, help="Print no notices.")
def scalars(logdir: str, runs: tuple[re.Pattern[str], ...], tags: tuple[re.Pattern[str], ...], **values: Any) -> None:
    """Print the scalars of the runs in LOGDIR.

    Print a table with a line for each tag of each run: the number of points, the first, last and best value, and a
    small curve. Every point is read. RE is a regular expression that may match anywhere in a name.

    \b
    tbgraph scalars logdir
    tbgraph scalars logdir --tag loss --run 'train|test' --curves
    tbgraph scalars logdir --csv > scalars.csv
    tbgraph scalars logdir --tag loss -o loss.svg --smooth 0.6
    tbgraph scalars logdir --group-by 'seed*'
    tbgraph scalars logdir --tag loss --csv --wide
    tbgraph scalars logdir --watch
    """
    from graphviz_tb.commands.progress_bar import waiting
    from graphviz_tb.logs.log import open_log

    modes = [mode for mode in ("as_csv", "as_json", "curves", "watch", "outputs") if values[mode]]
    if len(modes) > 1:
        words = {"as_csv": "--csv", "as_json": "--json", "outputs": "-o"}
        raise RequestError(f"{' and '.join(words.get(mode, f'--{mode}') for mode in modes)} exclude each other")
    if values["outputs"]:
        check_chart_outputs(logdir, values["outputs"], tables=True)
    if values["wide"] and not values["as_csv"]:
        raise RequestError("--wide needs --csv")
    if values["group_by"] and (values["wide"] or (modes and modes[0] not in ("as_csv", "as_json"))):
        raise RequestError("--group-by gives a table, --csv or --json")
    with waiting("read runs", values["quiet"]):
        log = open_log(logdir, values["restarts"], checksum=values["checksum"])
    _show_scalars(modes[0] if modes else "table", log, lambda: _matching_series(log, runs, tags), values)
    if not values["quiet"]:
        print_notices(_scalar_notices(log, _matching_series(log, runs, tags), runs))


def check_chart_outputs(logdir: str, outputs: tuple[str, ...], tables: bool = False) -> None:
    """Refuse outputs that cannot be written before anything is read; with `tables`, CSV and JSON are not charts."""
    from graphviz_tb.commands.charts import chart_suffix
    from graphviz_tb.output.files import check_inputs_kept, check_outputs_writable

    for output in outputs:
        if not tables or _table_suffix(output) is None:
            chart_suffix(output)
    check_outputs_writable(outputs)
    check_inputs_kept((logdir,), outputs)


def _table_suffix(output: str) -> str | None:
    """Return the suffix of an output that lists points; None for any other."""
    suffix = Path(output).suffix.lower()
    return suffix if suffix in (".csv", ".json") else None


def _all_points(suffix: str | None, chosen: list[Series]) -> Iterable[str]:
    """Return every point as the text of a CSV file or a JSON document."""
    from graphviz_tb.logs import scalars_export

    return (scalars_export.scalars_as_csv if suffix == ".csv" else scalars_export.scalars_as_json)(chosen)


def _matching_series(log: Log, runs: tuple[re.Pattern[str], ...], tags: tuple[re.Pattern[str], ...]) -> list[Series]:
    """Return the scalars whose run and tag match a pattern, or all without patterns; by run and tag."""
    return [
        series
        for series in log.logged.series
        if series.kind == "scalar" and _matches_any(series.run, runs) and _matches_any(series.tag, tags)
    ]


def _matches_any(name: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    return not patterns or any(pattern.search(name) for pattern in patterns)


def _show_scalars(mode: str, log: Log, choose: Any, values: dict[str, Any]) -> None:
    """Print, draw or follow."""
    from graphviz_tb.commands.table import output_style, print_lines, terminal_width

    if values["group_by"] or values["wide"]:
        _show_grouped(mode, log, choose(), values)
    elif mode == "watch":
        from graphviz_tb.commands.scalars_text import watch_runs

        watch_runs(log, choose)
    elif mode == "outputs":
        from graphviz_tb.commands.charts import draw_scalars
        from graphviz_tb.output.files import write_outputs

        tables = {
            output: _all_points(suffix, choose()) for output in values["outputs"] if (suffix := _table_suffix(output))
        }
        charts = {**values, "outputs": [output for output in values["outputs"] if output not in tables]}
        chart_files = draw_scalars(log, choose(), charts) if charts["outputs"] else ()
        table_files = ((name, "".join(points).encode("utf-8", "replace")) for name, points in tables.items())
        write_outputs(chain(chart_files, table_files))
    elif mode in ("as_csv", "as_json"):
        _print_unchanged(_all_points(mode.replace("as_", "."), choose()))
    elif mode == "curves":
        from graphviz_tb.commands.scalars_text import curve_lines

        print_lines(curve_lines(choose(), values, terminal_width(), output_style()))
    else:
        from graphviz_tb.commands.scalars_text import scalar_table_lines

        print_lines(scalar_table_lines(choose(), terminal_width(), output_style()))


def _show_grouped(way: str, log: Log, chosen: list[Series], values: dict[str, Any]) -> None:
    """Print groups of runs, or one row per step."""
    from graphviz_tb.commands.scalars_text import group_csv, group_json, group_table, grouped_series, wide_csv
    from graphviz_tb.commands.table import output_style, print_lines, terminal_width

    if values["wide"]:
        return _print_unchanged(wide_csv(chosen))
    groups = grouped_series(log, chosen, values["group_by"])
    if way == "table":
        return print_lines(group_table(groups, terminal_width(), output_style()))
    return _print_unchanged((group_csv if way == "as_csv" else group_json)(groups))


def _print_unchanged(parts: Iterable[str]) -> None:
    """Print text as UTF-8 with its own line ends; on a terminal without characters that move its cursor."""
    for part in parts:
        if sys.stdout.isatty():
            part = "".join(f"{printable(line)}\n" for line in part.splitlines())
        sys.stdout.buffer.write(part.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _scalar_notices(log: Log, shown: list[Series], runs: tuple[re.Pattern[str], ...]) -> list[Notice]:
    """Return the notices of the log and of the chosen runs, and one with the reason if nothing is shown."""
    from graphviz_tb.model.notice import Notice

    of_runs = (notice for run in log.logged.runs if _matches_any(run.name, runs) for notice in run.notices)
    notices = [*log.logged.notices, *of_runs]
    kinds = {series.kind for series in log.logged.series}
    if "scalar" not in kinds:
        others = ", ".join(sorted(kinds))
        notices.append(Notice("no-scalars", f"the log holds no scalars{f', but {others}' if others else ''}"))
    elif not shown:
        notices.append(Notice("no-match", f"no scalar matches; the tags are {', '.join(log.tags('scalar')[:9])}"))
    return notices
