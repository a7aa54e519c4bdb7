"""Limits, and `--max-bytes`, hold for all that a source holds: events, traces, run statistics beside a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.errors import TooLarge
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import Event, RunMetadata, XSpace
from graphviz_tb.read.source import list_contents, list_profiles, read_source
from tests.effort import part
from tests.events.test_read_events import events, plugin

EMPTY = b"\n\0" * 250_000
LAYERLESS = b'{"class_name":"Sequential","config":{"layers":[' + b'{"a":{}},' * 60_000 + b"{}]}}"


@pytest.mark.parametrize(
    "event",
    [
        Event(wall_time=1.5, graph_def=EMPTY),
        Event(wall_time=1.5, meta_graph_def=EMPTY),
        plugin("graphs", "g", EMPTY),
        plugin("graph_keras_model", "k", LAYERLESS),
    ],
    ids=["graph", "meta_graph", "tagged", "keras"],
)
def test_what_an_event_holds_is_bounded_as_in_a_file_of_its_own(event: Event) -> None:
    with pytest.raises(TooLarge, match=r"empty messages|60,001 layers"):
        read_source(events(event))
    with pytest.raises(TooLarge, match="holds more than 1,000 bytes"):
        read_source(events(event), ReadOptions(max_bytes=1000))


def test_run_statistics_of_an_event_are_bounded_too() -> None:
    devices = [{"device": "x", "node_stats": [{"node_name": "y"}]}]
    data = RunMetadata(step_stats={"dev_stats": devices}).SerializeToString()
    made = Event(wall_time=1.5, tagged_run_metadata={"tag": "t", "run_metadata": data + EMPTY})
    with pytest.raises(TooLarge, match="empty messages"):
        list_profiles(events(made))["t"]
    with pytest.raises(TooLarge, match="holds more than 1,000 bytes"):
        list_profiles(events(made), ReadOptions(max_bytes=1000))["t"]


@pytest.mark.parametrize("how", part(["run_metadata", "against", "step"], 3))
def test_the_limit_holds_for_run_statistics_and_lifts_their_bounds(how: str, tmp_path: Path) -> None:
    space = XSpace(planes=[{"name": "/host:CPU", "lines": [{"events": [{"metadata_id": 1}] * 4}]}])
    space.planes[0].event_metadata[1].name = "x:Relu"
    folder = tmp_path / "plugins" / "profile" / "p"
    folder.mkdir(parents=True)
    (tmp_path / "events.out.tfevents.1").write_bytes(events(Event(wall_time=1.5, graph_def=b"\n\3\n\1x")))
    for name, data in (("small", b""), ("large", EMPTY)):
        (folder / f"{name}.xplane.pb").write_bytes(space.SerializeToString() + data)
    asked: dict[str, Any] = {"step": "all"}
    if how != "step":
        traces = tuple(str(folder / f"{name}.xplane.pb") for name in ("small", "large"))
        asked = {"run_metadata": traces[:1], "against": traces} if how == "against" else {how: traces}
    with pytest.raises(TooLarge, match="empty messages"):
        load(tmp_path, **asked).facts.stats  # noqa: B018
    with pytest.raises(TooLarge, match="holds more than 10,000 bytes"):
        load(tmp_path, max_bytes=10_000, **asked).facts.stats  # noqa: B018
    stats = load(tmp_path, max_bytes=1_000_000, **asked).facts.stats
    assert stats is not None
    assert len(stats.steps) == 2 - (how == "against")


def test_a_model_beside_others_is_listed_within_the_limit(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(events(plugin("graphs", "g", EMPTY)))
    assert list_contents(tmp_path)[0].nodes is None
    assert list_contents(tmp_path, ReadOptions(max_bytes=1_000_000))[0].nodes == 250_000


def test_files_of_no_size_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link may lead to /proc, where files are of no size, and to read one may wait for ever."""
    (tmp_path / "kmsg").write_bytes(b"")
    (tmp_path / "events.out.tfevents.1").write_bytes(events(Event(wall_time=1.5, graph_def=b"\n\3\n\1x")))
    opened, really = [], Path.open

    def open_it(path: Path, *how: Any, **more: Any) -> Any:
        opened.append(path.name)
        return really(path, *how, **more)

    monkeypatch.setattr(Path, "open", open_it)
    assert [node.name for node in read_source(tmp_path).graph_def.node] == ["x"]
    assert set(opened) == {"events.out.tfevents.1"}
