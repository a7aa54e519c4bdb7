"""Sources elsewhere, by fsspec: files, log directories, what grows, and what is missing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import diff, load, open_log
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import ReadError, ToolMissing
from graphviz_tb.sources import remote

GRAPH = b'node { name: "in" op: "Placeholder" } node { name: "enc/a" op: "Relu" input: "in" }'


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file system in memory, empty."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed (pip install 'tbgraph[remote]')")
    monkeypatch.setattr(remote, "MIRROR_BY_ADDRESS", {})
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    yield files
    files.store.clear()


def test_a_file_is_loaded_diffed_and_keeps_its_name(memory: Any) -> None:
    memory.pipe_file("/bucket/model.pbtxt", GRAPH)
    memory.pipe_file("/bucket/other.pbtxt", GRAPH.replace(b"Relu", b"Tanh"))
    model = load("memory://bucket/model.pbtxt")
    assert (len(model), model.name) == (2, "model.pbtxt")
    assert not diff("memory://bucket/model.pbtxt", "memory://bucket/other.pbtxt").same


@pytest.mark.usefixtures("models_are_kept")
def test_a_source_is_called_what_its_user_called_it(memory: Any, capsys: pytest.CaptureFixture[str]) -> None:
    memory.pipe_file("/bucket/a/model.pbtxt", GRAPH)
    memory.pipe_file("/bucket/b/model.pbtxt", GRAPH.replace(b"Relu", b"Tanh"))
    pair = [f"memory://bucket/{side}/model.pbtxt" for side in "ab"]
    changes = diff(*pair)
    assert [changes.old_name, changes.new_name] == pair
    assert _run_command_line(["diff", *pair, "--format", "markdown"]) == 1
    assert _run_command_line(["info", pair[0]]) == 0
    assert _run_command_line(["check", *pair, "--assert", "ops == 2"]) == 0
    told = capsys.readouterr().out
    assert told.count(pair[0]) == 3
    assert "tbgraph-" not in told


def test_the_command_line_takes_addresses(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    memory.pipe_file("/bucket/model.pbtxt", GRAPH)
    assert _run_command_line(["render", "memory://bucket/model.pbtxt", "-o", "x.svg"]) == 0
    assert "model.pbtxt" in Path("x.svg").read_text()
    assert _run_command_line(["check", "memory://bucket/model.pbtxt", "--assert", "count(op:Relu) == 1"]) == 0
    capsys.readouterr()
    assert _run_command_line(["info", "memory://bucket/none.pb"]) == 3
    assert "no file or folder 'memory://bucket/none.pb'" in capsys.readouterr().err
    assert _run_command_line(["info", "nosuch://bucket/none.pb"]) == 3


def test_a_log_directory_grows(memory: Any, fixtures: Path) -> None:
    source = next((fixtures / "logged/torch_layers").rglob("*tfevents*"))
    data = source.read_bytes()
    memory.pipe_file(f"/logs/run/{source.name}", data[: len(data) // 2])
    memory.pipe_file("/logs/run/variables/big.data-00000-of-00001", b"x" * 99)
    log = open_log("memory://logs")
    before = sum(len(log.series(run, tag).step) for run in log.runs for tag in log.tags())
    mirror = remote._mirror_of_address("memory://logs")
    assert not mirror.refresh()
    memory.pipe_file(f"/logs/run/{source.name}", data)
    asked: list[tuple[Any, Any]] = []
    cat = memory.cat_file
    memory.cat_file = lambda name, start=None, end=None: asked.append((start, end)) or cat(name, start, end)
    try:
        assert mirror.refresh()
    finally:
        del memory.cat_file
    assert asked == [(len(data) // 2, len(data))]  # nothing is read twice
    log.refresh()
    assert sum(len(log.series(run, tag).step) for run in log.runs for tag in log.tags()) > before
    assert not list(Path(mirror.path).rglob("big*"))
    memory.rm_file(f"/logs/run/{source.name}")
    assert mirror.refresh()
    assert not list(Path(mirror.path).rglob("*tfevents*"))


def test_a_server_follows_what_grows_elsewhere(memory: Any, fixtures: Path) -> None:
    from graphviz_tb.serve.session import ServedSource
    from graphviz_tb.serve.settings import Settings

    source = next((fixtures / "logged/torch_layers").rglob("*tfevents*"))
    data = source.read_bytes()
    memory.pipe_file(f"/logs/{source.name}", data[: len(data) // 2])
    session = ServedSource(Settings(source=remote.local_copy("memory://logs")))
    session.read_log()
    assert not session.read_log()
    memory.pipe_file(f"/logs/{source.name}", data)
    assert session.read_log()


def test_names_never_lead_out_of_the_copy(memory: Any) -> None:
    memory.pipe_file("/logs/../../x.pb", GRAPH)
    memory.pipe_file("/logs/a:b/model.pbtxt", GRAPH)
    mirror = remote._mirror_of_address("memory://logs")
    for name in ("/logs/../../etc/x.pb", "/logs/./a", "/logs//b"):
        assert Path(mirror.path) in mirror._local_path(name).parents


def test_a_server_of_files(memory: Any, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="aiohttp is not installed (pip install aiohttp)")
    (tmp_path / "model.pbtxt").write_bytes(GRAPH)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert len(load(f"http://127.0.0.1:{server.server_address[1]}/model.pbtxt")) == 2
    finally:
        server.shutdown()
        server.server_close()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MIRROR_BY_ADDRESS", {})
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ToolMissing, match="gs:// needs fsspec") as error:
        load("gs://bucket/model.pb")
    assert error.value.hint == "pip install 'tbgraph[remote]'"


def test_a_package_of_the_place_is_named(memory: Any) -> None:
    with pytest.raises((ToolMissing, ReadError), match="gs://"):
        load("gs://bucket/model.pb")


def test_a_file_here_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert not remote.is_remote("a/b")
    assert not remote.is_remote(b"gs://x")
    assert not remote.is_remote(Path("gs://x"))
