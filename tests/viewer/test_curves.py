"""The viewer smooths, thins and marks series as Python does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphviz_tb.chart.axes import Axis, axis_ticks, axis_time_ticks, fit_axis, format_duration, pad_axis
from graphviz_tb.chart.series import smooth_series
from graphviz_tb.color.cost import _format_flops, _format_parameters
from graphviz_tb.model.formatting import format_bytes, format_count, format_micros, format_number
from graphviz_tb.render.html import _layout_script, viewer_source
from tests.viewer.node import answered

REVIVE = (
    "const revived = (x) => Array.isArray(x) ? x.map(revived) : x === 'NaN' ? NaN : x === 'inf' ? Infinity : x;"
    "const plain = (x) => x instanceof Float64Array ? plain([...x]) : Array.isArray(x) ? x.map(plain)"
    " : Number.isNaN(x) ? 'NaN' : x === Infinity ? 'inf' : x;"
)


def asked(calls: list[tuple[str, list[Any]]]) -> list[Any]:
    """What functions of the viewer answer."""
    table = "const table = {smoothed: smoothSeries, rangeOf, paddedRange, ticksOf, "
    table += "shortNumber, durationWord, outliersOf};"
    read = "JSON.parse(require('fs').readFileSync(0, 'utf8'))"
    code = f"{_layout_script()}{viewer_source('logs/curves.js')}\n{table}{REVIVE}"
    code += f"console.log(JSON.stringify({read}.map(([name, args]) => plain(table[name](...revived(args))))));"
    found: list[Any] = answered(code, calls)
    return found


def sent(values: np.ndarray[Any, Any]) -> list[Any]:
    """Values as JSON can hold them."""
    return ["NaN" if v != v else "inf" if v == np.inf else v for v in values.tolist()]


def series() -> list[np.ndarray[Any, Any]]:
    """Noise with holes, long and short."""
    rng = np.random.default_rng(5)
    made = [rng.standard_normal(size).cumsum() for size in (0, 1, 5, 300, 5000)]
    for one in made[3:]:
        one[rng.integers(0, len(one), 20)] = np.nan
        one[rng.integers(0, len(one), 5)] = np.inf
    return made


def test_smoothing(require: Callable[..., None]) -> None:
    require("node")
    cases = [(one, weight) for one in series() for weight in (0.0, 0.3, 0.9, 1.0)]
    answers = asked([("smoothed", [sent(one), weight]) for one, weight in cases])
    for (one, weight), answer in zip(cases, answers, strict=True):
        found = np.array([float(value) for value in answer])
        assert found == pytest.approx(smooth_series(one, weight), rel=1e-9, nan_ok=True)


def test_axes(require: Callable[..., None]) -> None:
    require("node")
    values = [one for one in series() if len(one)]
    kinds = [(log, outliers) for log in (False, True) for outliers in (False, True)]
    cases = [(one, *kind) for one in values for kind in kinds]
    ranges = asked([("rangeOf", [sent(one), log, outliers]) for one, log, outliers in cases])
    for (one, log, outliers), found in zip(cases, ranges, strict=True):
        wanted = fit_axis(one, log, outliers)
        assert (found["low"], found["high"], found["log"]) == (wanted.low, wanted.high, wanted.log)
    axes = [fit_axis(one, log) for one in values for log in (False, True)] + [Axis(0.001, 3e7, True), Axis(0.0, 1e-9)]
    plain = [{"low": one.low, "high": one.high, "log": one.log} for one in axes]
    wider = asked([("paddedRange", [one]) for one in plain])
    assert [(one["low"], one["high"]) for one in wider] == [
        pytest.approx((pad_axis(one).low, pad_axis(one).high)) for one in axes
    ]
    assert asked([("ticksOf", [one, 5]) for one in plain]) == [axis_ticks(one) for one in axes]
    spans = [Axis(0, span) for span in (3.0, 100.0, 5000.0, 90000.0, 1e7)]
    assert asked([("ticksOf", [{"low": 0, "high": one.high, "log": False}, 5, True]) for one in spans]) == [
        axis_time_ticks(one) for one in spans
    ]


def numbers() -> list[float]:
    """Numbers of all sizes, and those halfway between two words."""
    rng = np.random.default_rng(8)
    drawn = (rng.standard_normal(200) * 10.0 ** rng.integers(-9, 20, 200)).tolist()
    halves = [1.125, 2.5, 0.5, 1.5, 1023.5, 1024.5, 12345.0, 12355.0, 0.0001225, 999.5, 99950.0, 2**53 + 1.0]
    known = [0.0, -0.0, 0.25, 1234.5678, 99999.0, 1e6, 1.5e9, 2.5e-7, -3.25e13, 1e-4, 0.00012345, -0.5, 1e25, 5e-324]
    return [*known, *halves, *drawn]


@pytest.mark.parametrize(
    "words", [format_number, format_count, format_bytes, format_micros, _format_flops, _format_parameters]
)
def test_numbers_in_words(words: Callable[[float], str], require: Callable[..., None]) -> None:
    require("node")
    code = f"{_layout_script()}const run = layout.{words.__name__.lstrip('_')};"
    code += "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0, 'utf8')).map((x) => run(x))));"
    assert answered(code, numbers()) == [words(value) for value in numbers()]


def test_times_in_words(require: Callable[..., None]) -> None:
    require("node")
    times = [0, 0.5, 90, 5400, 172800]
    assert asked([("durationWord", [value]) for value in times]) == [format_duration(value) for value in times]


CHART = """
const line = {x: Array.from({length: POINTS}, (_, at) => at)};
const y = line.x.map((at) => at === 7 ? 99 : (at % 2) * HEIGHT);
const chart = Object.assign(Object.create(LineChart.prototype), {
  lines: [line], width: 200 + PLOT.left + PLOT.right, height: 100, rightMargin: PLOT.right, x: {}, y: {},
  xPosition: (x) => PLOT.left + x / POINTS * 200, yPosition: (y) => y,
});
Object.assign(chart, LOOK);
const at = [];
const widths = [];
const pen = {
  beginPath() {}, stroke() { widths.push(this.lineWidth); }, rect() {}, setLineDash(dashes) { this.dashes = dashes; },
  moveTo(x, y) { at.push(["M", x, y]); }, lineTo(x, y) { at.push(["L", x, y]); },
};
chart.strokeLine(pen, line, y, () => true, [6, 4]);
console.log(JSON.stringify({at, widths, dashes: pen.dashes}));
"""


def drawn(points: int, height: float, **look: Any) -> dict[str, Any]:
    """What a chart of 200 × 100 pixels draws of a line that goes up and down by some pixels with each point."""
    scripts = viewer_source("logs/plot.js") + viewer_source("logs/chart.js")
    code = f"const POINTS = {points}, HEIGHT = {height}, LOOK = {json.dumps(look)};{scripts}{CHART}"
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_dense_line_is_drawn_as_the_band_that_it_covers(require: Callable[..., None]) -> None:
    """One stroke upright a pixel column, however many points there are: long strokes on each other take seconds."""
    require("node")
    dense = drawn(10_000, 50)
    strokes = list(zip(dense["at"][::2], dense["at"][1::2], strict=True))
    assert len(strokes) == 200
    assert dense["dashes"] == []
    assert all(low[0] == "M" and high[0] == "L" and low[1] == high[1] for low, high in strokes)
    assert [high[2] for _, high in strokes] == [99, *[50] * 199]  # the extremes of the whole are those of what is drawn
    assert [low[2] for low, _ in strokes] == pytest.approx([0] * 200, abs=1e-9)


def test_a_line_that_is_not_dense_keeps_its_points_and_dashes(require: Callable[..., None]) -> None:
    require("node")
    for points, height in ((150, 50), (10_000, 0.1)):
        calm = drawn(points, height)
        assert len(calm["at"]) == points
        assert calm["dashes"] == [6, 4]


def test_very_many_points_are_drawn_in_strokes_of_a_pixel_of_the_screen(require: Callable[..., None]) -> None:
    """A thicker stroke takes twenty times as long: two thin ones, half a pixel apart, look like one of 1.5 px."""
    require("node")
    assert drawn(150, 50)["widths"] == [1.5]
    thin = drawn(150, 50, thinPx=1)
    assert thin["widths"] == [1, 1]
    assert {second[1] - first[1] for first, second in zip(thin["at"][:150], thin["at"][150:], strict=True)} == {0.5}
    sharp = drawn(150, 50, thinPx=0.5)  # two pixels of the screen are a pixel of the page
    assert sharp["widths"] == [0.5] * 3
    moving = drawn(1000, 0.1, thinPx=1, isQuick=True)
    assert moving["widths"] == [1]
    assert len(moving["at"]) == 200  # a point a pixel
    assert moving["dashes"] == []
    others = [{"x": {"length": 120_000}}]
    assert len(drawn(1000, 0.1, thinPx=1, isQuick=True, lines=others)["at"]) == 100  # of 120,000 points 12,000


def test_outliers_are_those_that_were_logged_so(require: Callable[..., None]) -> None:
    require("node")
    rng = np.random.default_rng(3)
    values = np.exp(-np.arange(300) / 100) + 0.05 * rng.random(300)
    values[150], values[40], values[220] = 9, np.nan, -4
    replaced = [0] * 300
    replaced[220] = 1
    calm, spiky, one_live = asked(
        [
            ("outliersOf", [sent(np.arange(300.0))]),
            ("outliersOf", [sent(values)]),
            ("outliersOf", [sent(values), replaced]),
        ]
    )
    assert (calm, spiky, one_live) == ([], [150, 220], [150])


def test_what_waits_for_a_frame_keeps_its_turn(require: Callable[..., None]) -> None:
    """A slider that moves asks for all cards again in each frame: those drawn last must not be drawn first."""
    require("node")
    queue = viewer_source("logs/frame_queue.js")
    code = f"""{queue}
    let now = 0;
    let frame = null;
    Object.defineProperty(globalThis, "performance", {{value: {{now: () => now}}}});
    globalThis.requestAnimationFrame = (next) => (frame = next);
    const order = [];
    const frames = new FrameQueue();
    for (let nth = 0; nth < 6; nth++) {{
      for (const card of "abc") frames.add(card, () => {{ order.push(card); now += 4; }});
      frame();
    }}
    console.log(order.join(""));"""
    assert subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True).stdout == "abcabc\n"


def test_a_long_name_keeps_what_tells_it_from_a_short_one(require: Callable[..., None]) -> None:
    """`sweep_of_rates/run0/validation` beside `sweep_of_rates/run0`: not `…run0`."""
    require("node")
    names = [f"sweep_of_rates/run{nth}{end}" for nth in range(3) for end in ("", "/validation")]
    code = f"const naturalOrder = null;{viewer_source('logs/run_names.js')}"
    code += f"console.log(JSON.stringify([...shortNames({json.dumps(names)}, 20)]));"
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    shown = dict(json.loads(done.stdout))
    assert list(shown) == names[1::2]
    assert all(cut.endswith(name.split("/", 1)[1]) and len(cut) <= 20 for name, cut in shown.items()), shown
