"""Charts laid out by the training program (TensorBoard's plugin `custom_scalars`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from graphviz_tb.errors import ReadError
from graphviz_tb.limits import CUSTOM_CHARTS
from graphviz_tb.model.custom import CustomCategory, CustomChart, Margin
from graphviz_tb.model.logged import Blobs, Logged, Place
from graphviz_tb.proto import CustomLayout
from graphviz_tb.read.logged.structure import text
from graphviz_tb.read.pb import BROKEN

ReadPlace = Callable[[str, Place], bytes]  # (run, place) → bytes


def custom_charts(logged: Logged, read: ReadPlace) -> tuple[CustomCategory, ...]:
    """Return the categories of all layouts, run by run.

    A category in several runs is merged, without duplicate charts, as in TensorBoard. The last layout of a run counts.
    Damaged layouts and charts over the limit are left out.
    """
    found: dict[str, CustomCategory] = {}
    room: int = CUSTOM_CHARTS
    for layout in layouts(logged, read):
        for category in layout.category:
            charts = tuple(map(chart_of, category.chart[:room]))
            title = text(category.title)
            before = found.get(title, CustomCategory(title, category.closed, ()))
            found[title] = replace(before, charts=tuple(dict.fromkeys((*before.charts, *charts))))
            room -= len(charts)
    return tuple(found.values())


def layouts(logged: Logged, read: ReadPlace) -> Iterator[CustomLayout]:
    """Yield the last layout of each run."""
    for series in sorted(logged.series, key=lambda one: one.run):
        if series.kind != "layout" or not isinstance(series.data, Blobs) or not len(series):
            continue
        try:
            for place in series.data.places(int(series.in_order()[-1]))[:1]:
                yield CustomLayout.FromString(read(series.run, place))
        except (ReadError, *BROKEN):
            continue


def chart_of(chart: CustomLayout.Chart) -> CustomChart:
    """Convert one chart of a layout."""
    margins = (Margin(text(one.value), text(one.lower), text(one.upper)) for one in chart.margin.series)
    return CustomChart(text(chart.title), tuple(map(text, chart.multiline.tag)), tuple(margins))
