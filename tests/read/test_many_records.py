"""Logs of many records, or of many values in one, are read in time that follows their size."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb.proto import Event, RunMetadata
from graphviz_tb.read import contents
from tests.conftest import cpu_seconds
from tests.read.test_read_events import graph, plugin, write


def test_an_event_of_many_values(tmp_path: Path) -> None:
    made = Event(wall_time=1.5)
    for number in range(5000):
        data = RunMetadata(function_graphs=[{"pre_optimization_graph": graph(f"x{number}")}]).SerializeToString()
        made.MergeFrom(plugin("graph_run_metadata", f"t{number}", data))
    path = write(tmp_path, ".", made)
    assert {entry.tag for entry in contents(path)} == {f"t{number}" for number in range(5000)}
    assert cpu_seconds(lambda: contents(path)) < 2
