"""Sources that are odd and can be read: several graphs in a run, a torn log, random bytes, a moved projector."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphviz_tb import load
from graphviz_tb.commands.info import info
from graphviz_tb.errors import NoGraph
from graphviz_tb.formats.projector import find_embeddings
from graphviz_tb.proto import GraphDef
from tests.event_files import event, field, record, scalar

VERSION = field(3, b"brain.Event:2")  # what a log begins with


def graph_of(*ops: str) -> bytes:
    graph = GraphDef(node=[{"name": op, "op": op} for op in ops])
    return field(4, graph.SerializeToString())


def log(folder: Path, *events: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.out.tfevents.1700000000.host").write_bytes(b"".join(map(record, events)))
    return folder


def test_each_of_several_graphs_of_a_run_can_be_taken(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", VERSION, graph_of("A"), graph_of("A", "B"), graph_of("A", "B", "C"))
    assert [len(load(folder, tag=tag).hierarchy.graph) for tag in (None, "graph@1", "graph@2")] == [3, 1, 2]


def test_a_torn_log_without_a_graph_has_no_graph_and_is_torn(tmp_path: Path) -> None:
    folder = log(
        tmp_path / "run", VERSION, event(1, scalar("loss", 1)), event(2, scalar("loss", 2)), event(3, scalar("loss", 3))
    )
    path = next(folder.iterdir())
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(NoGraph, match=r"no graph in .*3 events hold none; the last record of .* is not whole"):
        load(folder)


def test_an_event_file_of_random_bytes_is_a_notice(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", VERSION, graph_of("A"))
    (folder / "events.out.tfevents.1700000001.host").write_bytes(os.urandom(300))
    assert any("does not begin with an event" in notice.message for notice in load(folder).notices)


def test_metadata_of_a_log_that_was_moved_is_the_file_of_that_name_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tensors.tsv").write_text("1\t2\n3\t4\n5\t6\n")
    (tmp_path / "metadata.tsv").write_text("a\nb\nc\n")
    config = 'embeddings { tensor_path: "tensors.tsv" metadata_path: "C:\\\\logs\\\\metadata.tsv" }'
    (tmp_path / "projector_config.pbtxt").write_text(config)
    found = find_embeddings(tmp_path)
    assert [one.metadata for one in found.found] == [tmp_path.resolve() / "metadata.tsv"]
    assert any("the file of that name beside it is read" in notice.message for notice in found.notices)
    shown = CliRunner().invoke(info, [str(tmp_path)])
    assert shown.exit_code == 0
    assert "tensors.tsv" in shown.output
