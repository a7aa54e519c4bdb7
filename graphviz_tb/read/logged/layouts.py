"""Charts laid out by the training program (TensorBoard's plugin `custom_scalars`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from graphviz_tb.errors import ReadError
from graphviz_tb.limits import MAX_CUSTOM_CHARTS
from graphviz_tb.model.custom import CustomCategory, CustomChart, MarginLine
from graphviz_tb.model.logged import BlobPoints, FileRange, LogContents
from graphviz_tb.proto import CustomLayout
from graphviz_tb.read.logged.structure import decode_log_text
from graphviz_tb.read.pb import DECODE_ERRORS

ReadPlace = Callable[[str, FileRange], bytes]  # (run, place) → bytes


def read_custom_charts(logged: LogContents, read: ReadPlace) -> tuple[CustomCategory, ...]:
    """Return the categories of all layouts, run by run.

    A category in several runs is merged, without duplicate charts, as in TensorBoard. The last layout of a run counts.
    Damaged layouts and charts over the limit are left out.
    """
    found: dict[str, CustomCategory] = {}
    room: int = MAX_CUSTOM_CHARTS
    for layout in last_layouts(logged, read):
        for category in layout.category:
            charts = tuple(map(convert_chart, category.chart[:room]))
            title = decode_log_text(category.title)
            before = found.get(title, CustomCategory(title, category.closed, ()))
            found[title] = replace(before, charts=tuple(dict.fromkeys((*before.charts, *charts))))
            room -= len(charts)
    return tuple(found.values())


def last_layouts(logged: LogContents, read: ReadPlace) -> Iterator[CustomLayout]:
    """Yield the last layout of each run."""
    for series in sorted(logged.series, key=lambda one: one.run):
        if series.kind != "layout" or not isinstance(series.data, BlobPoints) or not len(series):
            continue
        try:
            for place in series.data.sample_ranges(int(series.point_order()[-1]))[:1]:
                yield CustomLayout.FromString(read(series.run, place))
        except (ReadError, *DECODE_ERRORS):
            continue


def convert_chart(chart: CustomLayout.Chart) -> CustomChart:
    """Convert one chart of a layout."""
    margins = (
        MarginLine(decode_log_text(one.value), decode_log_text(one.lower), decode_log_text(one.upper))
        for one in chart.margin.series
    )
    return CustomChart(decode_log_text(chart.title), tuple(map(decode_log_text, chart.multiline.tag)), tuple(margins))
