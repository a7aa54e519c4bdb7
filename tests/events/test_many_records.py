"""Logs of many records, or of many values in one, are read in time that follows their size."""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path

import pytest

from graphviz_tb.proto import Event, RunMetadata
from graphviz_tb.read.source import list_contents, read_source
from tests.conftest import cpu_seconds
from tests.events.test_read_events import events, graph, graph_event, plugin, write
from tests.timing import within


@pytest.mark.slow
def test_an_event_of_many_values(tmp_path: Path) -> None:
    made = Event(wall_time=1.5)
    for number in range(5000):
        data = RunMetadata(function_graphs=[{"pre_optimization_graph": graph(f"x{number}")}]).SerializeToString()
        made.MergeFrom(plugin("graph_run_metadata", f"t{number}", data))
    path = write(tmp_path, ".", made)
    assert {entry.tag for entry in list_contents(path)} == {f"t{number}" for number in range(5000)}
    assert within(cpu_seconds(lambda: list_contents(path)), 8)


@pytest.mark.slow
def test_a_packed_log_of_many_records() -> None:
    junk = [Event(wall_time=1.5, file_version=sha256(b"%d" % number).hexdigest()) for number in range(150_000)]
    data = gzip.compress(events(graph_event("x"), *junk))
    assert within(cpu_seconds(lambda: read_source(data)), 8)


@pytest.mark.slow
def test_members_of_a_packed_file_one_behind_the_other() -> None:
    whole = graph("x").SerializeToString()
    for size in range(8180, 8200):
        # An empty member, its length made up by the name of a file: the next one begins anywhere in a piece.
        empty = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (size - 21) + b"\0" + b"\x03\0" + bytes(8)
        assert [node.name for node in read_source(empty + gzip.compress(whole)).graph_def.node] == ["x"]
    many = gzip.compress(b"") * 240_000 + gzip.compress(whole)
    assert within(cpu_seconds(lambda: read_source(many)), 4)


def test_records_before_the_damage_of_a_packed_log() -> None:
    data = bytearray(gzip.compress(events(graph_event("x"), *(graph_event(f"y{n}" * 9) for n in range(3000)))))
    data[len(data) // 2] ^= 0xFF
    assert read_source(bytes(data)).graph_def.node
