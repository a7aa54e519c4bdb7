"""What the server answers."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.each import each
from tests.serve.serving import columns, until
from tests.serve.writing import Writer


def ids_of(asked: Any, tag: str) -> dict[str, int]:
    """The series of a tag by the name of the run."""
    runs = {run["id"]: run["name"] for run in asked.get("/api/state").json()["runs"]}
    entry = next(one for one in asked.get("/api/tags").json()["tags"] if one["name"] == tag)
    return {runs[run]: series for run, series, *_ in entry["runs"]}


def test_what_there_is(client: Callable[..., Any], logs: Path) -> None:
    told = client(logs).get("/api/state").json()
    assert told["format"] == 1
    assert [(run["name"], run["series"], run["state"]) for run in told["runs"]] == [
        ("test", 1, "ready"),
        ("train", 2, "ready"),
    ]
    assert told["kinds"]["scalar"] == 3
    assert [(one["run"], one["kind"], one["nodes"]) for one in told["graphs"]] == [("train", "op", 3)]
    assert told["title"] == "logs"


def test_tags_and_their_series(client: Callable[..., Any], logs: Path) -> None:
    tags = client(logs).get("/api/tags?kind=scalar").json()["tags"]
    assert [one["name"] for one in tags] == ["acc", "loss"]
    loss = tags[1]
    assert loss["kind"] == "scalar"
    assert [one[2:5] for one in loss["runs"]] == [[10, 0, 9], [10, 0, 9]]


def test_points_as_columns(client: Callable[..., Any], logs: Path) -> None:
    asked = client(logs)
    ids = ids_of(asked, "loss")
    answer = asked.get(f"/api/series/{ids['train']},{ids['test']}?px=100")
    assert answer.headers["content-type"] == "application/vnd.tbgraph.columns"
    head, found = columns(answer.content)
    train, test = (str(ids[run]) for run in ("train", "test"))
    assert found[f"{train}.step"].tolist() == list(range(10))
    assert found[f"{train}.value"].dtype == np.float32
    assert found[f"{test}.value"].tolist() == [np.float32(2 / (step + 1)) for step in range(10)]
    assert head["n"] == 20
    assert f"{train}.superseded" not in found
    again = asked.get(
        f"/api/series/{ids['train']},{ids['test']}?px=100", headers={"if-none-match": answer.headers["etag"]}
    )
    assert again.status_code == 304
    assert not again.content
    other = asked.get(f"/api/series/{ids['train']},{ids['test']}?px=101")
    assert other.headers["etag"] != answer.headers["etag"]


def test_part_of_a_long_series(client: Callable[..., Any], tmp_path: Path) -> None:
    """The extremes of what is asked for are in what is sent; smoothing comes before."""
    writer = Writer(tmp_path / "run")
    values = np.sin(np.arange(5000) / 7) + (np.arange(5000) == 2345) * 9
    writer.raw(b"".join(record_of(writer, step, float(value)) for step, value in enumerate(values)))
    asked = client(tmp_path)
    [number] = ids_of(asked, "x").values()
    _, whole = columns(asked.get(f"/api/series/{number}?px=50&smooth=0.6&restarts=all").content)
    steps, sent = whole[f"{number}.step"], whole[f"{number}.value"]
    assert 2345 in steps
    assert len(steps) <= 8 * 50
    assert sent.max() == np.float32(values.max())
    assert np.array_equal(sent, np.float32(values)[steps])
    assert not whole[f"{number}.superseded"].any()
    assert len(whole[f"{number}.smoothed"]) == len(steps)
    _, part = columns(asked.get(f"/api/series/{number}?px=50&from=100.5&to=120").content)
    assert part[f"{number}.step"].tolist() == list(range(100, 122))  # one more on either side


def test_a_zoom_smooths_a_long_series_once(
    client: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graphviz_tb.serve.routes import scalars

    writer, calls, smoothed = Writer(tmp_path / "run"), [], scalars.smooth_series
    values = np.sin(np.arange(3000) / 7)
    writer.raw(b"".join(record_of(writer, step, float(value)) for step, value in enumerate(values)))
    asked = client(tmp_path)
    [number] = ids_of(asked, "x").values()
    monkeypatch.setattr(scalars, "smooth_series", lambda *given: calls.append(1) or smoothed(*given))
    expected = smoothed(np.float32(values).astype(float), 0.6)
    for start, end in ((0, 2999), (0, 1000), (500, 600)):
        way = f"/api/series/{number}?px=50&smooth=0.6&from={start}&to={end}"
        _, part = columns(asked.get(way).content)
        assert np.array_equal(part[f"{number}.smoothed"], expected[part[f"{number}.step"]])
    assert calls == [1]
    asked.get(f"/api/series/{number}?px=50&smooth=0.5")
    assert calls == [1, 1]


def record_of(writer: Writer, step: int, value: float) -> bytes:
    """One record of a scalar."""
    from tests.event_files import record

    return record(writer.event(step, x=value).SerializeToString())


NO_SENSE = ("px=0", "px=x", "px=1e9", "smooth=2", "smooth=nan", "axis=foo", "from=inf", "from=2&to=1", "restarts=maybe",
            "foo=1", "px=1&px=2")  # fmt: skip


@each("query", NO_SENSE)
def test_what_makes_no_sense(client: Callable[..., Any], logs: Path, query: str) -> None:
    answer = client(logs).get(f"/api/series/0?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]


NOWHERE = ("/api/series/99", "/api/graphs/99", "/api/graphs/0-0", "/api/graphs/x", "/static/x.js", "/api/graphs/0-99",
           "/api/graphs/-", "/api", "/API/state")  # fmt: skip


@each("address", NOWHERE)
def test_what_is_not_there(client: Callable[..., Any], logs: Path, address: str) -> None:
    answer = client(logs).get(address)
    assert answer.status_code == 404
    assert set(answer.json()) >= {"error", "hint"}


def test_every_point_is_exported(client: Callable[..., Any], tmp_path: Path) -> None:
    writer = Writer(tmp_path / 'a "run", odd')
    numbers = [0.1, math.nan, math.inf, -math.inf, 3.0]
    for step, value in enumerate(numbers):
        writer.scalars(step, loss=value)
    asked = client(tmp_path)
    text = asked.get("/api/export").content.decode()
    assert text.startswith("run,tag,step,wall_time,value,superseded\r\n")
    rows = list(csv.reader(io.StringIO(text)))[1:]
    assert [row[4] for row in rows] == ["0.10000000149011612", "NaN", "Infinity", "-Infinity", "3.0"]
    assert {(row[0], row[1], row[5]) for row in rows} == {('a "run", odd', "loss", "0")}
    assert rows[2][3] == "1600000002.0"
    told = json.loads(asked.get("/api/export?format=json").content)
    assert (told["format"], told["version"]) == ("tbgraph-scalars", 1)
    assert told["series"][0]["value"] == [0.10000000149011612, "NaN", "Infinity", "-Infinity", 3.0]
    assert asked.get("/api/export?runs=99").content.decode().count("\n") == 1


def test_a_graph_is_read_when_it_is_asked_for(client: Callable[..., Any], logs: Path) -> None:
    asked = client(logs)
    assert asked.get("/api/graphs/0").status_code in (200, 409)
    answer = until(lambda: (told := asked.get("/api/graphs/0")).status_code == 200 and told)
    told = answer.json()
    assert told["head"]["rows"] == 5  # the root, m, its two ops, c
    names = [name for name, *_ in told["blocks"]]
    assert {"words", "rows", "levels", "levels/0", "edges"} <= set(names)
    block = asked.get("/api/graphs/0/blocks/levels/0")
    assert block.content.startswith(b"\x1f\x8b")
    assert (
        asked.get("/api/graphs/0/blocks/levels/0", headers={"if-none-match": block.headers["etag"]}).status_code == 304
    )
    assert asked.get("/api/graphs/0/blocks/nothing").status_code == 404


def test_the_graph_that_a_run_shows_first_is_that_of_commands(client: Callable[..., Any], fixtures: Path) -> None:
    listed = client(fixtures / "logdirs" / "keras2_callback").get("/api/state").json()["graphs"]
    assert {graph["kind"]: graph["preferred"] for graph in listed} == {"op": True, "conceptual": False}


def test_a_graph_is_a_file_of_its_own(client: Callable[..., Any], logs: Path) -> None:
    asked = client(logs)
    asked.post("/api/load/0", headers={"X-Tbgraph": "1"})
    until(lambda: asked.get("/api/graphs/0").status_code == 200)
    answer = asked.get("/api/graphs/0/page")
    assert answer.headers["content-disposition"] == "attachment"
    page = answer.text
    assert page.startswith("<!doctype html>")
    assert page.count('"view":""') == 1
    names = [one[0] for one in asked.get("/api/graphs/0").json()["blocks"]]
    assert all(f'data-block="{name}"' in page for name in names)


def test_a_graph_that_is_no_graph(client: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "x.pb").write_bytes(b"\x0a\xff\xff")
    told = client(tmp_path / "x.pb").get("/api/state").json()
    assert told["graphs"] == []
    assert told["notices"]


def test_one_file(client: Callable[..., Any], fixtures: Path) -> None:
    asked = client(fixtures / "real" / "xor.pbtxt")
    assert [one["run"] for one in asked.get("/api/state").json()["graphs"]] == [None]
    asked.post("/api/load/0", headers={"x-tbgraph": "1"})
    until(lambda: asked.get("/api/graphs/0").status_code == 200)


def test_the_viewer(client: Callable[..., Any], logs: Path) -> None:
    asked = client(logs, title="<b>odd</b>", prefix="/a/b")
    page = asked.get("/")
    assert "&lt;b&gt;odd" in page.text
    assert "<script>" not in page.text
    code = page.text.split('<script src="')[1].split('"')[0]
    answer = asked.get("/" + code)
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    style = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
    assert asked.get("/" + style).headers["content-type"].startswith("text/css")
    outside = asked.scope("GET", "/api/state", {})
    assert outside["path"] == "/a/b/api/state"
