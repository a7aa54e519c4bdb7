"""Event files and log folders: records, runs, tags, profiles, damage."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.errors import Ambiguous, MalformedRecord, NoGraph, RequestError, TooLarge, UnknownChoice
from graphviz_tb.events.graphs import _scan_event_file
from graphviz_tb.formats.records import _crc_in_python, crc, masked_crc
from graphviz_tb.options import Options, ReadOptions
from graphviz_tb.proto import Event, GraphDef, MetaGraphDef, RunMetadata, SavedModel
from graphviz_tb.read.source import list_contents, list_profiles, read_source, with_first_graph
from graphviz_tb.sources import walk
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOGS = FIXTURES / "logdirs"


def record(payload: bytes) -> bytes:
    header = struct.pack("<Q", len(payload))
    return b"".join((header, struct.pack("<I", masked_crc(header)), payload, struct.pack("<I", masked_crc(payload))))


def events(*made: Event) -> bytes:
    first = Event(wall_time=1.5, file_version="brain.Event:2")
    return b"".join(record(event.SerializeToString()) for event in (first, *made))


def graph(*names: str) -> GraphDef:
    return GraphDef(node=[{"name": name, "op": "NoOp"} for name in names])


def graph_event(*names: str, step: int = 0) -> Event:
    return Event(wall_time=1.5, step=step, graph_def=graph(*names).SerializeToString())


def plugin(name: str, tag: str, data: bytes, content: bytes = b"1", step: int = 0) -> Event:
    event = Event(wall_time=1.5, step=step)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name = name
    value.metadata.plugin_data.content = content
    value.tensor.string_val.append(data)
    return event


def profile(tag: str, step: int = 0, device: str = "/cpu:0") -> Event:
    devices = [{"device": device, "node_stats": [{"node_name": "x"}]}]
    data = RunMetadata(step_stats={"dev_stats": devices}).SerializeToString()
    return Event(wall_time=1.5, step=step, tagged_run_metadata={"tag": tag, "run_metadata": data})


def names(source: object, **choice: str) -> list[str]:
    return [node.name for node in read_source(source, ReadOptions(**choice)).graph_def.node]  # type: ignore[arg-type]


def write(folder: Path, run: str, *made: Event, name: str = "events.out.tfevents.1.host") -> Path:
    path = folder / run / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(events(*made))
    return path


# Real log folders.


@each(
    ("folder", "kind", "nodes", "label", "tags"),
    [
        ("xor_filewriter", "op", 150, "", []),
        ("mnist_runs", "op", 530, " · run train", ["step002", "step004"]),
        ("trace_export", "op", 48, " · tag my_func_trace", []),
        ("keras2_callback", "op", 647, " · run train", []),
        ("keras3_callback", "conceptual", 10, " · run train · tag keras", []),
        ("torch_transformer", "op", 204, "", []),  # `add_graph` names a device and no execution
    ],
)
def test_real_log_folders_open_by_their_path(folder: str, kind: str, nodes: int, label: str, tags: list[str]) -> None:
    loaded = read_source(LOGS / folder)
    assert (loaded.kind, len(loaded.graph_def.node), loaded.label) == (kind, nodes, f"{LOGS / folder}{label}")
    assert sorted(loaded.run_metadata) == tags
    for tag in tags:
        assert loaded.run_metadata[tag].step_stats.dev_stats


def test_a_log_with_a_conceptual_graph_only_says_so() -> None:
    (notice,) = read_source(LOGS / "keras3_callback").notices
    assert notice.code == "conceptual-graph"
    assert read_source(LOGS / "keras3_callback", ReadOptions(kind="conceptual")).notices == ()


def test_kind_chooses_the_conceptual_graph() -> None:
    loaded = read_source(LOGS / "keras2_callback", ReadOptions(kind="conceptual"))
    assert (loaded.kind, len(loaded.graph_def.node)) == ("conceptual", 10)


@each(("ops", "kind"), [(2, "conceptual"), (3, "op"), (9, "op")])
def test_an_op_graph_of_fewer_ops_than_the_model_has_layers_is_of_something_else(
    tmp_path: Path, ops: int, kind: str
) -> None:
    layers = [{"class_name": "Dense", "name": f"d{at}", "config": {"name": f"d{at}", "units": 4}} for at in range(3)]
    model = {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}
    write(
        tmp_path,
        "train",
        plugin("graph_keras_model", "keras", json.dumps(model).encode()),
        graph_event(*(f"op_{at}" for at in range(ops))),
    )
    assert read_source(tmp_path).kind == kind
    assert read_source(tmp_path, ReadOptions(kind="op")).kind == "op"
    assert [entry.kind for entry in list_contents(tmp_path) if entry.preferred] == [kind]
    assert with_first_graph(tmp_path, Options())[0].read.kind == kind


def test_the_events_of_a_trace_give_the_graph_that_the_merge_gives() -> None:
    merged = read_source(FIXTURES / "real/func_trace.pb").graph_def
    traced = read_source(LOGS / "trace_export").graph_def
    assert {node.name.split("/")[0] for node in traced.node} == {f"graph_{number}" for number in (1, 2, 3, 4)}
    assert all(not name.split("/", 1)[1].startswith("^") for node in traced.node for name in node.input)
    assert len(merged.node) == 19


def test_info_lists_everything() -> None:
    listed = list_contents(LOGS / "mnist_runs")
    assert [(entry.kind, entry.run, entry.tag) for entry in listed] == [
        ("op", "train", "__run_graph__"),
        ("profile", "train", "step002"),
        ("profile", "train", "step004"),
    ]
    assert listed[0].nodes == 530
    assert listed[0].profile


def test_profiles_of_a_log_and_of_a_file() -> None:
    assert set(list_profiles(LOGS / "mnist_runs")) == {"step002", "step004"}
    (metadata,) = list_profiles(FIXTURES / "run_metadata/mnist_cnn_step099.pb").values()
    assert metadata.step_stats.dev_stats
    with pytest.raises(NoGraph):
        list_profiles(FIXTURES / "real/colocate.pb")


# Runs and tags.


def test_several_runs_must_be_chosen(tmp_path: Path) -> None:
    write(tmp_path, "a", graph_event("x"))
    write(tmp_path, "b/c", graph_event("y"))
    write(tmp_path, "b/empty", Event(wall_time=1.5, step=3))
    with pytest.raises(Ambiguous) as caught:
        read_source(tmp_path)
    assert "--run a" in str(caught.value)
    assert "--run b/c" in str(caught.value)
    assert "--run" in (caught.value.hint or "")
    assert names(tmp_path, run="a") == ["x"]
    assert names(tmp_path, run="b/c") == ["y"]
    with pytest.raises(UnknownChoice, match="a, b/c"):
        read_source(tmp_path, ReadOptions(run="z"))


def test_the_graph_of_a_run_and_tagged_graphs_are_told_apart(tmp_path: Path) -> None:
    traced = RunMetadata(
        function_graphs=[{"pre_optimization_graph": graph("t"), "post_optimization_graph": graph("o")}]
    )
    path = write(tmp_path, ".", graph_event("x"), plugin("graph_run_metadata_graph", "fn", traced.SerializeToString()))
    for source in (tmp_path, path):
        with pytest.raises(Ambiguous):
            read_source(source)
        assert names(source, tag="__run_graph__") == ["x"]
        assert names(source, tag="fn") == ["t"]
        assert names(source, tag="fn:post_optimization") == ["o"]
    with pytest.raises(RequestError):
        read_source(path, ReadOptions(run="nowhere"))


def test_the_last_graph_of_a_run_is_taken(tmp_path: Path) -> None:
    write(tmp_path, ".", graph_event("x"), graph_event("y", "z", step=5))
    write(tmp_path, ".", graph_event("q", "r", "s"), name="events.out.tfevents.2.host")
    loaded = read_source(tmp_path)
    assert len(loaded.graph_def.node) == 3
    assert [notice.code for notice in loaded.notices] == ["several-graphs"]


def test_a_meta_graph_serves_where_there_is_no_graph(tmp_path: Path) -> None:
    meta = Event(wall_time=1.5, meta_graph_def=MetaGraphDef(graph_def=graph("m")).SerializeToString())
    assert names(events(meta)) == ["m"]
    assert names(events(meta, graph_event("g"))) == ["g"]


def test_the_graphs_plugin_and_tagged_profiles_of_tensorboard_data() -> None:
    data = graph("p").SerializeToString()
    devices = [{"device": "d", "node_stats": [{"node_name": "x"}]}]
    stats = RunMetadata(step_stats={"dev_stats": devices}).SerializeToString()
    source = events(plugin("graphs", "__run_graph__", data, b""), plugin("graph_tagged_run_metadata", "s", stats, b""))
    assert names(source) == ["p"]
    assert read_source(source).run_metadata["s"].step_stats.dev_stats[0].device == "d"


def test_every_step_of_a_profile_is_kept() -> None:
    loaded = read_source(events(graph_event("x"), profile("t", 1, "a"), profile("t", 2, "b"), profile("u", 3, "c")))
    assert sorted(loaded.run_metadata) == ["t", "t@1", "u"]
    assert loaded.run_metadata["t"].step_stats.dev_stats[0].device == "b"


def test_a_plugin_of_another_version_is_skipped_and_told() -> None:
    source = events(graph_event("x"), plugin("graph_keras_model", "k", b"{}", b"7"))
    (notice,) = read_source(source).notices
    assert notice.code == "unknown-version"


def test_event_files_are_known_by_content(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.fake").write_bytes(b"not one")
    (tmp_path / "checkpoint").write_text("text")
    write(tmp_path, "run", graph_event("x"), name="renamed.bin")
    assert names(tmp_path) == ["x"]


# Framing and damage.


@given(st.binary(max_size=300))
def test_checksums(data: bytes) -> None:
    assert _crc_in_python(data) == crc(data)


def test_known_checksums() -> None:
    assert _crc_in_python(bytes(32)) == 0x8A9136AA
    assert _crc_in_python(b"\xff" * 32) == 0x62A8AB43


def test_every_cut_of_a_file_is_survived_once_the_graph_is_whole() -> None:
    whole = events(graph_event("x"))
    data = whole + record(Event(wall_time=1.5, step=1).SerializeToString())
    for end in range(len(whole), len(data) + 1):
        assert names(data[:end]) == ["x"]
    for end in range(13, len(whole)):
        with pytest.raises((MalformedRecord, NoGraph)):
            read_source(data[:end])


def test_a_log_that_changes_while_it_is_read(tmp_path: Path) -> None:
    """What was found is read again when it is chosen: by then other bytes may lie there, as many as before."""
    path = write(tmp_path, ".", graph_event("x"))
    with path.open("rb") as stream:
        (found,) = _scan_event_file(stream, path.name, path).finds
    assert GraphDef.FromString(found.data()).node[0].name == "x"
    for changed in (events(graph_event("y")), path.read_bytes()[:-8]):
        path.write_bytes(changed)
        with pytest.raises(MalformedRecord, match="changed while it was read"):
            found.data()


def test_a_torn_last_record_is_told_with_its_byte() -> None:
    whole = events(graph_event("x"))
    (notice,) = read_source(whole + b"\1\2\3").notices
    assert (notice.code, notice.where) == ("torn-record", f"byte {len(whole)}")


def test_a_damaged_length_ends_the_file() -> None:
    whole = events(graph_event("x"))
    bad = bytes(8) + b"\1\2\3\4" + bytes(20)
    (notice,) = read_source(whole + bad).notices
    assert (notice.code, notice.where) == ("damaged-record", f"byte {len(whole)}")
    with pytest.raises(MalformedRecord) as caught:
        read_source(events() + bad)
    assert caught.value.offset == len(events())


def test_a_damaged_payload_is_skipped() -> None:
    damaged = bytearray(record(graph_event("bad").SerializeToString()))
    damaged[20] ^= 1
    loaded = read_source(events() + bytes(damaged) + record(graph_event("x").SerializeToString()))
    assert [node.name for node in loaded.graph_def.node] == ["x"]
    assert loaded.notices[0].where == f"byte {len(events())}"


@pytest.mark.parametrize("size", [2**60, 2**63, 2**31])
def test_a_record_that_claims_too_much(size: int) -> None:
    header = struct.pack("<Q", size)
    hostile = header + struct.pack("<I", masked_crc(header)) + b"x" * 100
    with pytest.raises(MalformedRecord):
        read_source(events() + hostile)
    assert names(events(graph_event("x")) + hostile) == ["x"]


# Folders of models.


def test_a_saved_model_folder_wins_over_logs_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "logs", graph_event("x"))
    made = SavedModel(saved_model_schema_version=1)
    made.meta_graphs.add(meta_info_def={"tags": ["serve"]}, graph_def=graph("s"))
    (tmp_path / "saved_model.pb").write_bytes(made.SerializeToString())
    assert names(tmp_path) == ["s"]


def test_folders_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(NoGraph, match="it is empty"):
        read_source(tmp_path)
    (tmp_path / "graph.pb").write_bytes(graph("x").SerializeToString())
    with pytest.raises(NoGraph) as caught:
        read_source(tmp_path)
    assert "graph.pb" in (caught.value.hint or "")


@each(
    ("data", "why", "next_step"),
    [
        (b"", "e.tfevents.1 holds no whole event yet", "wait"),
        (b"\0" * 11, "e.tfevents.1 holds no whole event yet", "wait"),
        (b"x" * 50, "e.tfevents.1 does not begin with an event", "another log"),
    ],
)
def test_a_log_whose_file_holds_no_event_is_told_from_no_log(
    data: bytes, why: str, next_step: str, tmp_path: Path
) -> None:
    (tmp_path / "e.tfevents.1").write_bytes(data)
    with pytest.raises(NoGraph) as caught:
        read_source(tmp_path)
    assert why in str(caught.value)
    assert next_step in (caught.value.hint or "")


# What cannot be read, or is too much, is said.


def codes(folder: Path) -> list[str]:
    return [notice.code for notice in read_source(folder).notices]


def test_a_run_whose_folder_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "open", graph_event("x"))
    write(tmp_path, "shut", graph_event("y"))
    listing = os.scandir

    def forbidden(path: Path) -> Any:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    assert names(tmp_path) == ["x"]
    assert codes(tmp_path) == ["unread-folder"]


def test_an_event_file_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "run", graph_event("x"))
    write(tmp_path, "other", graph_event("y"), name="events.out.tfevents.2")
    opening = Path.open

    def forbidden(path: Path, *words: Any, **options: Any) -> Any:
        if path.name.endswith(".2"):
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *words, **options)

    monkeypatch.setattr(Path, "open", forbidden)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith(".2"))
    assert names(tmp_path) == ["x"]
    assert codes(tmp_path) == ["unread-file"]


def test_a_link_to_more_than_a_log_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MAX_LINKED_FILES", 30)
    write(tmp_path / "logs", "run", graph_event("x"))
    for number in range(40):
        (tmp_path / "machine" / str(number)).mkdir(parents=True)
        (tmp_path / "machine" / str(number) / "file").touch()
    (tmp_path / "logs/link").symlink_to("../machine")
    assert names(tmp_path / "logs") == ["x"]
    assert codes(tmp_path / "logs") == ["many-linked-files"]
    assert len(walk.list_files_below(tmp_path / "logs").files) < 40


def test_a_folder_of_more_than_any_log_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole disk: minutes, and whatever it has is not what was meant."""
    monkeypatch.setattr(walk, "WALKED_FILES", 30)
    write(tmp_path, "run", graph_event("x"))
    assert names(tmp_path) == ["x"]
    for number in range(40):
        (tmp_path / str(number)).touch()
    with pytest.raises(TooLarge, match="more than 30 files"):
        read_source(tmp_path)


@pytest.mark.parametrize("runs", [("train", "validation"), ("train",)])
def test_one_event_file_says_which_runs_are_beside_it(runs: tuple[str, ...], tmp_path: Path) -> None:
    for run in runs:
        (tmp_path / run).mkdir()
        (tmp_path / run / "events.out.tfevents.1").write_bytes(events(Event(wall_time=1.5, graph_def=b"\n\3\n\1x")))
    said = [notice.message for notice in read_source(tmp_path / "train" / "events.out.tfevents.1").notices]
    wanted = f"this is one event file of 2 runs (train, validation): give '{tmp_path}' for all of them"
    assert said == ([wanted] if len(runs) > 1 else [])
