"""Scalars as a file: a sheet of charts, SVG, PNG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.chart.axes import group_tags, run_styles
from graphviz_tb.chart.lines import AXIS_WORDS, MAX_END_LABELS, ChartLine, ChartLook, LineChart, chart_sheet
from graphviz_tb.chart.runs import colour_values
from graphviz_tb.errors import RequestError, UnknownChoice, check_choice
from graphviz_tb.events.plugins import read_trials
from graphviz_tb.model.drawing import Drawing
from graphviz_tb.model.logs import Series
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.options import PictureOptions
from graphviz_tb.output.default_names import nearest_output
from graphviz_tb.render import pdf, png, svg

if TYPE_CHECKING:
    from graphviz_tb.logs.log import Log

CHART_SUFFIXES = (".svg", ".png", ".pdf")
MAX_CHARTS = 300  # cards on a sheet: a log of gradients has thousands of tags


def chart_suffix(output: str) -> str:
    """Return the suffix of an output; standard output is SVG. Raises UnknownChoice for an unknown one."""
    suffix = ".svg" if output == "-" else Path(output).suffix.lower()
    if suffix not in CHART_SUFFIXES:
        what = f"output {output!r} has no suffix of a chart; use one of {', '.join(CHART_SUFFIXES)}"
        raise UnknownChoice(what, hint=nearest_output(output))
    return suffix


def draw_scalars(log: Log, chosen: Sequence[Series], values: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield each output with its bytes: a chart for each chosen tag, with the line of each run."""
    tags: dict[str, list[Series]] = {}
    for series in chosen:
        tags.setdefault(series.tag, []).append(series)
    if not tags:
        raise RequestError(
            "no scalars match, so that there is nothing to draw", hint="tbgraph scalars LOGDIR lists them"
        )
    if len(tags) > MAX_CHARTS:
        raise RequestError(
            f"{len(tags):,} tags are too many for one sheet", hint=f"choose at most {MAX_CHARTS} with --tag"
        )
    look = ChartLook(AXIS_WORDS[values["axis"]], min(values["smooth"], 0.999), log_y=values["log_y"])
    ordered = [tag for _, inner in group_tags(tags) for tag in inner]
    styles = run_styles({run.name: run.first_wall or 0.0 for run in log.logged.runs})
    drawn_runs = sorted({series.run for series in chosen})
    groups = colour_values(read_trials(log.logged), drawn_runs) if len(drawn_runs) > MAX_END_LABELS else {}
    group_styles = run_styles({group: float(number) for number, group in enumerate(dict.fromkeys(groups.values()))})
    styles |= {run: group_styles[group] for run, group in groups.items()}
    charts = [
        LineChart(
            tag, tuple(_chart_line(series, styles[series.run], groups.get(series.run, "")) for series in tags[tag])
        )
        for tag in ordered
    ]
    yield from encode_sheet(
        lambda theme: chart_sheet(log.name, charts, look, theme), values["outputs"], values["theme"]
    )


def encode_sheet(
    draw_sheet: Callable[[Theme], Drawing], outputs: Sequence[str], theme: str | None
) -> Iterator[tuple[str, bytes]]:
    """Yield each output with its bytes: a sheet in the colours of a theme. Raises UnknownChoice for an unknown
    theme."""
    word: Any = theme or "light"
    check_choice("theme", word, THEMES)
    sheet, options = draw_sheet(THEMES[word]), PictureOptions(theme=word)
    encoders = {
        ".svg": lambda: svg.svg_bytes(sheet),
        ".png": lambda: png.png_bytes(sheet, options),
        ".pdf": lambda: pdf.pdf_bytes(sheet, options),
    }
    for output in outputs:
        yield output, encoders[chart_suffix(output)]()


def _chart_line(series: Series, style: Any, group: str) -> ChartLine:
    points = series.point_order(superseded=True)
    return ChartLine(
        label=series.run,
        style=style,
        step=series.step[points].astype(np.float64),
        wall=series.wall[points],
        value=series.value[points].astype(np.float64),
        superseded=series.superseded[points],
        group=group,
    )
