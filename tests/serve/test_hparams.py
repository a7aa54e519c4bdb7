"""Hyperparameters: columns and rows, from what runs say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphviz_tb.proto import Event, HParamsPluginData
from tests.event_files import record
from tests.serve.writing import BEGIN, Writer


def say(writer: Writer, tag: str, content: bytes) -> None:
    """What a writer of hyperparameters writes: a tag whose metadata has the message."""
    event = Event(wall_time=BEGIN)
    value = event.summary.value.add(tag=f"_hparams_/{tag}")
    value.tensor.dtype = 1
    value.tensor.tensor_shape.dim.add(size=0)
    value.metadata.plugin_data.plugin_name = "hparams"
    value.metadata.plugin_data.content = content
    writer.raw(record(event.SerializeToString()))


def start(writer: Writer, group: str = "", **hparams: float | bool | str | None) -> None:
    """A session begins."""
    data = HParamsPluginData()
    data.session_start_info.group_name = group.encode()
    for name, value in hparams.items():
        pair = data.session_start_info.hparams.add(key=name.encode())
        if isinstance(value, str):
            pair.value.string_value = value.encode("utf-8", "surrogateescape")
        elif isinstance(value, bool):
            pair.value.bool_value = value
        elif value is not None:
            pair.value.number_value = value
    say(writer, "session_start_info", data.SerializeToString())


def names(told: Any) -> list[str]:
    return [column["name"] for column in told["columns"]]


def test_sessions_without_an_experiment(client: Callable[..., Any], tmp_path: Path) -> None:
    """Columns come from the sessions; a run below a session is a group of its metrics."""
    first, second = Writer(tmp_path / "one"), Writer(tmp_path / "two")
    start(first, "g", lr=0.1, name="adam", nest=True, odd=None, many=float("nan"))
    start(second, lr=0.01, name="sgd\udcff", nest=False)
    for step in (1, 3, 2):
        first.scalars(step, loss=step / 2)
    Writer(tmp_path / "one" / "validation").scalars(5, acc=0.5)
    Writer(tmp_path / "apart").scalars(5, other=0.5)
    asked = client(tmp_path)
    told = asked.get("/api/hparams").json()
    assert names(told) == ["lr", "many", "name", "nest", "odd", "validation.acc", "loss"]
    columns = {column["name"]: column for column in told["columns"]}
    assert columns["lr"]["domain"] == {"min": 0.01, "max": 0.1}
    assert columns["name"] | {"type": "string", "domain": ["adam", "sgd\ufffd"]} == columns["name"]
    assert (columns["nest"]["type"], columns["many"]["domain"], columns["odd"]["type"]) == ("bool", None, "")
    assert [(row["session"], row["group"], row["status"]) for row in told["rows"]] == [
        ("one", "g", "unknown"),
        ("two", "two", "unknown"),
    ]
    assert told["rows"][0]["values"] == [0.1, "NaN", "adam", True, None, 0.5, 1.5]
    assert told["rows"][1]["values"] == [0.01, None, "sgd\ufffd", False, None, None, None]
    runs = {run["name"]: run["id"] for run in asked.get("/api/state").json()["runs"]}
    assert [row["run"] for row in told["rows"]] == [runs["one"], runs["two"]]


def test_experiments_of_several_runs_are_one_table(client: Callable[..., Any], tmp_path: Path) -> None:
    """Torch writes an experiment into each trial; what none of them names is shown too; damage says nothing."""
    for number, name in enumerate(("lr", "depth")):
        writer = Writer(tmp_path / name)
        data = HParamsPluginData()
        info = data.experiment.hparam_infos.add(name=name.encode(), display_name=b"<b>", type=99)
        info.domain_discrete.values.add(number_value=1.0)
        data.experiment.metric_infos.add().name.tag = b"loss"
        say(writer, "experiment", data.SerializeToString())
        start(writer, **{name: float(number), "more": 1.0})
        say(writer, "session_end_info", b"\x22\x02\x08\x02" if number else b"\xff\xff")
        writer.scalars(1, loss=2.0)
    told = client(tmp_path).get("/api/hparams").json()
    assert names(told) == ["depth", "lr", "more", "loss"]
    assert (told["columns"][0]["title"], told["columns"][0]["type"]) == ("<b>", "")
    assert [(row["session"], row["status"], row["values"]) for row in told["rows"]] == [
        ("depth", "failure", [1.0, None, 1.0, 2.0]),
        ("lr", "unknown", [None, 0.0, 1.0, 2.0]),
    ]


def test_a_log_without_hyperparameters(client: Callable[..., Any], logs: Path) -> None:
    told = client(logs).get("/api/hparams").json()
    assert (told["columns"], told["rows"]) == ([], [])
