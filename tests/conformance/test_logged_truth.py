"""What runs logged equals what TensorBoard 2.21 answers, to the last float.

Each directory of `fixtures/logged` has an answer in `logged/` (see README.md): what TensorBoard's Python loader keeps
when nothing is sampled. Where we differ on purpose, the test says so.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb import Log, open_log
from graphviz_tb.events.plugins import read_custom_charts
from graphviz_tb.model.logs import BlobPoints, CurvePoints, HistogramPoints, Series, TensorPoints
from graphviz_tb.page.log import trials_table
from graphviz_tb.page.points import describe_point

LOGS = Path(__file__).parents[2] / "fixtures" / "logged"
ANSWERS = Path(__file__).parent / "logged"
NAMES = sorted(path.name.partition(".")[0] for path in ANSWERS.glob("*.json.gz"))
GRAPHS = ("graphs", "graph_keras_model", "graph_run_metadata", "graph_run_metadata_graph", "graph_tagged_run_metadata")
KINDS = {
    "scalars": "scalar",
    "histograms": "histogram",
    "images": "image",
    "audio": "audio",
    "text": "text",
    "pr_curves": "pr_curve",
    "hparams": "hparams",
    "mesh": "mesh",
    "custom_scalars": "layout",
    **dict.fromkeys(GRAPHS, "graph"),
}
CURVE_NAMES = {
    "thresholds": "thresholds",
    "precision": "precision",
    "recall": "recall",
    "true_positives": "tp",
    "false_positives": "fp",
    "true_negatives": "tn",
    "false_negatives": "fn",
}
NO_TRIALS = {"experiment": {"hparamInfos": [], "metricInfos": []}, "session_groups": {"sessionGroups": []}}
Rows = list[list[Any]]


@cache
def answer(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(gzip.decompress((ANSWERS / f"{name}.json.gz").read_bytes()))
    return loaded


@cache
def log(name: str) -> Log:
    return open_log(LOGS / name)


def number(value: Any) -> float:
    """TensorBoard writes NaN and infinities as text."""
    return float(value)


def same(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))


def shown(series: Series) -> list[int]:
    """The points that TensorBoard keeps: all of a run with a mark of its restart but those that it purges."""
    return np.flatnonzero(~series.superseded).tolist()


def points_of(name: str, series: Series) -> list[int]:
    return shown(series) if name == "session_restart" else list(range(len(series)))


def series_of(name: str) -> list[dict[str, Any]]:
    """TensorBoard's series; graphs and run statistics that are no summaries are read by what reads graphs."""
    own = ("__run_graph__", "graph_tagged_run_metadata")
    rows = [row for row in answer(name)["series"] if row["tag"] not in own and row["plugin"] not in own]
    return [row for row in rows if not row["run"].startswith("link")]


def of_plugin(name: str, plugin: str) -> list[tuple[Series, Rows]]:
    """Our series beside each of TensorBoard's answers; a run behind a link is no second run here."""
    pairs = []
    for row in answer(name)["python"][plugin]["data"]:
        if row["run"].startswith("link"):
            continue
        tag = row["tag"]
        if name == "odd_names" and tag == "text":  # of two kinds: two series here, one that TensorBoard cannot show
            continue
        pairs.append((log(name).series(row["run"], tag), row["data"]))
    return pairs


@pytest.mark.parametrize("name", NAMES)
def test_every_series_is_there_with_its_steps_and_times(name: str) -> None:
    ours = {(each.run, each.logged_as): each for each in log(name).logged.series}
    expected = series_of(name)
    for row in expected:
        if (name, row["tag"]) == ("odd_names", "text"):
            continue
        series = ours[row["run"], row["tag"]]
        points = points_of(name, series)
        count = len(row["steps"]) if row["run"] == "bad_payload" else len(points)  # TensorBoard stops at the damage
        assert series.step[points][:count].tolist() == row["steps"]
        assert series.wall[points][:count].tolist() == row["wall"]
        assert series.kind == KINDS.get(row["plugin"], "tensor")
        assert series.about.description == row["description"]
        assert series.about.display_name in (row["display_name"], "")  # TensorBoard puts the tag where there is none
    names = {(row["run"], row["tag"]) for row in expected}
    # TensorBoard leaves out tensors that no plugin claims.
    assert {key for key, series in ours.items() if series.kind != "graph" and series.about.plugin} <= names


@pytest.mark.parametrize("name", NAMES)
def test_scalars(name: str) -> None:
    for series, rows in of_plugin(name, "scalars"):
        points = points_of(name, series)[: len(rows)]
        assert len(points) == len(rows)
        assert series.step[points].tolist() == [row[1] for row in rows]
        assert series.wall[points].tolist() == [row[0] for row in rows]
        assert all(same(float(value), number(row[2])) for value, row in zip(series.value[points], rows, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_histograms(name: str) -> None:
    for series, rows in of_plugin(name, "histograms"):
        held = series.data
        assert isinstance(held, HistogramPoints)
        assert (series.step.tolist(), series.wall.tolist()) == ([row[1] for row in rows], [row[0] for row in rows])
        for point, (_, _, buckets) in enumerate(rows):
            part = slice(held.start[point], held.start[point + 1])
            ours = np.stack([held.left[part], held.right[part], held.count[part]], axis=1)
            if not np.isnan(held.number[point]):  # version 1: TensorBoard rounds what was written
                with np.errstate(over="ignore"):
                    ours = ours.astype(np.float32)
            theirs = [[number(value) for value in bucket] for bucket in buckets]
            assert np.array_equal(ours, np.array(theirs).reshape(-1, 3), equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("plugin", ["images", "audio"])
def test_blobs_are_where_they_are_said_to_be(name: str, plugin: str) -> None:
    for row in answer(name)["python"][plugin]["data"]:
        series = log(name).series(row["run"], row["tag"])
        for point, theirs in enumerate(row["data"]):
            place = log(name).places(series, point)[row["sample"]]
            data = log(name).read(series.run, place)
            assert (int(series.step[point]), float(series.wall[point])) == (theirs["step"], theirs["wall_time"])
            assert len(data) == theirs["blob"]["bytes"]
            assert hashlib.sha256(data).hexdigest() == theirs["blob"]["sha256"]
            assert_size(series, point, data)


def assert_size(series: Series, point: int, data: bytes) -> None:
    """What the columns say of a picture or a sound is what its own first bytes say."""
    held = series.data
    assert isinstance(held, BlobPoints)
    if data.startswith(b"\x89PNG"):
        size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
        assert (held.width[point], held.height[point]) == size
    if data.startswith(b"RIFF"):
        assert held.rate[point] == int.from_bytes(data[24:28], "little")
        assert held.frames[point] > 0


@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_dtypes(name: str) -> None:
    for row in series_of(name):
        if not row["shapes"]:
            continue
        series = log(name).series(row["run"], row["tag"])
        shapes = sorted(map(tuple, row["shapes"]))
        if isinstance(series.data, TensorPoints):
            assert sorted({log(name).tensor(series, point).shape for point in range(len(series))}) == shapes
            assert str(log(name).tensor(series, 0).dtype) == row["dtype"]
            assert series.data.forms[series.data.form[0]].dtype == row["dtype"]
        elif series.kind == "text" and name != "odd_names":
            assert isinstance(series.data, BlobPoints)
            assert sorted({series.data.shapes[number] for number in series.data.shape.tolist()}) == shapes
            assert all(len(log(name).texts(series, at)) == math.prod(shapes[0]) for at in range(len(series)))
        elif series.kind == "scalar" and name != "odd_names":
            assert str(series.value.dtype) == row["dtype"]


@pytest.mark.parametrize("name", NAMES)
def test_curves(name: str) -> None:
    for row in answer(name)["python"]["pr_curves"]["data"]:
        for run, curves in row["data"].items():
            series = log(name).series(run, row["tag"])
            held = series.data
            assert isinstance(held, CurvePoints)
            assert series.step.tolist() == [curve["step"] for curve in curves]
            for point, curve in enumerate(curves):
                part = slice(held.start[point], held.start[point + 1])
                for ours, theirs in (
                    (held.true_positives, "true_positives"),
                    (held.false_negatives, "false_negatives"),
                ):
                    assert ours[part].astype(int).tolist()[: len(curve[theirs])] == curve[theirs]
                assert held.precision[part].tolist()[: len(curve["precision"])] == curve["precision"]
                assert held.recall[part].tolist()[: len(curve["recall"])] == curve["recall"]
                told = describe_point(log(name), series, point, lambda place: 0)
                assert {key: told[ours] for key, ours in CURVE_NAMES.items()} == {
                    key: curve[key] for key in CURVE_NAMES
                }


@pytest.mark.parametrize("name", NAMES)
def test_charts_that_a_training_laid_out(name: str) -> None:
    told = answer(name)["python"].get("custom_scalars", {}).get("category", [])
    one = log(name)
    ours = read_custom_charts(one.logged, one.read)
    assert [(category.title, category.closed) for category in ours] == [
        (each["title"], each["closed"]) for each in told
    ]
    charts = [chart for category in told for chart in category["chart"]]
    assert [(chart.title, list(chart.tags)) for category in ours for chart in category.charts] == [
        (chart["title"], chart["multiline"]["tag"]) for chart in charts
    ]


@pytest.mark.parametrize("name", NAMES)
def test_hyperparameters_and_the_metrics_of_each_session(name: str) -> None:
    told = answer(name)["python"].get("hparams", NO_TRIALS)
    table = trials_table(log(name).logged)
    columns = {column["name"]: column for column in table["columns"]}
    for theirs in told["experiment"]["hparamInfos"]:
        ours = columns[theirs["name"]]
        assert (ours["title"], ours["about"]) == (theirs["displayName"], theirs["description"])
        assert ours["type"] == theirs["type"].removeprefix("DATA_TYPE_").lower()
        interval = theirs.get("domainInterval")
        span = interval and {"min": interval["minValue"], "max": interval["maxValue"]}
        assert (sorted(ours["domain"]) if "domainDiscrete" in theirs else ours["domain"]) == theirs.get(
            "domainDiscrete", span
        )
    metrics = [(one["group"], one["tag"], one["title"]) for one in table["columns"] if one["kind"] == "metric"]
    infos = told["experiment"]["metricInfos"]
    assert metrics == [(one["name"]["group"], one["name"]["tag"], one["displayName"]) for one in infos]
    groups = told["session_groups"]["sessionGroups"]
    sessions = [(group, session) for group in groups for session in group["sessions"]]
    assert len(table["rows"]) == len(sessions)
    for row, (group, session) in zip(table["rows"], sessions, strict=True):
        assert (row["session"], row["group"]) == (session["name"], group["name"])
        assert row["status"] == session["status"].removeprefix("STATUS_").lower()
        assert (row["start"] or 0, row["end"] or 0) == (session["startTimeSecs"], session["endTimeSecs"])
        values = dict(zip(columns, row["values"], strict=True))
        assert {name: values[name] for name in group["hparams"]} == group["hparams"]
        theirs = [(one["name"]["group"], one["name"]["tag"], one["value"]) for one in session["metricValues"]]
        assert [(*key[:2], value) for key, value in zip(metrics, row["values"][-len(metrics) :], strict=True)] == theirs


def test_texts() -> None:
    runs = log("tf2_summaries")
    table = runs.series("train", "table")
    assert [runs.texts(table, point) for point in range(2)] == [["a", "b", "c", "*d*"]] * 2
    assert runs.texts(runs.series("train", "words"), 1)[0].startswith("step **2**\n\n| a | b |")
    note = log("torch_writer").series(".", "note/text_summary")
    assert log("torch_writer").texts(note, 1) == ["*step* 3 <script>alert(1)</script>"]


def test_a_tag_of_two_kinds_is_two_series() -> None:
    runs = log("odd_names")
    assert runs.series("plain", "text").kind == "text"
    assert runs.series("plain", "text (scalar)").value.tolist() == [5.0]
    assert runs.series("plain", "text (scalar)").logged_as == "text"


# `--restarts last`: what TensorBoard's data server keeps.
@pytest.mark.parametrize("name", ["restart_without_mark", "session_restart"])
def test_a_restart_supersedes_what_the_data_server_deletes(name: str) -> None:
    rust = answer(name)["rust"]
    theirs = (answer(name)["python"] if rust == "as python" else rust)["scalars"]["data"]
    for row in theirs:
        series = log(name).series(row["run"], row["tag"])
        kept = shown(series)
        assert series.step[kept].tolist() == [point[1] for point in row["data"]]
        assert series.value[kept].tolist() == [point[2] for point in row["data"]]
    assert len(series) > len(kept)


def test_two_writers_lose_no_point() -> None:
    shared = log("two_writers").series(".", "shared")
    assert not shared.superseded.any()
    assert shared.step[shared.point_order()].tolist() == list(range(20))


def test_steps_that_go_back_lose_no_point() -> None:
    runs = log("odd_steps")
    assert not any(series.superseded.any() for series in runs.logged.series)
    assert np.max(np.unique(runs.series(".", "same").step, return_counts=True)[1]) == 3
    assert runs.series(".", "large").step.tolist() == [-3, 0, 2**31, 2**53 + 1]


def test_a_damaged_payload_is_found_with_checksum() -> None:
    default = open_log(LOGS / "torn").series("bad_payload", "loss")
    checked = open_log(LOGS / "torn", checksum=True)
    assert (len(default), len(checked.series("bad_payload", "loss"))) == (10, 9)
    assert "is damaged and was skipped" in checked.run("bad_payload").notices[0].message


def test_a_link_to_a_folder_inside_is_no_second_run(tmp_path: Path) -> None:
    shutil.copytree(LOGS / "nested_runs", tmp_path / "log")
    (tmp_path / "log" / "link").symlink_to("a")
    assert open_log(tmp_path / "log").runs == [".", "a", "a/b", "d/e/f"]
