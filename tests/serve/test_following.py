"""What is written while the server runs is there within two seconds, and said to every page."""

from __future__ import annotations

import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.event_files import record
from tests.serve.serving import PATIENCE, Client, Program, columns, until
from tests.serve.test_answers import ids_of
from tests.serve.writing import Writer, chain

FIXTURES = Path(__file__).parents[2] / "fixtures"
Events = list[tuple[str, dict[str, Any]]]
SOON = 8.0  # seconds; two on a machine that has nothing else to do


def heard(events: Events, name: str, start: int = 0) -> dict[str, Any]:
    """The next event of a name."""
    found: dict[str, Any] = until(lambda: next((data for word, data in events[start:] if word == name), None), SOON)
    return found


def steps(asked: Client, number: int) -> list[int]:
    """The steps of a series."""
    found: list[int] = columns(asked.get(f"/api/series/{number}").content)[1][f"{number}.step"].tolist()
    return found


def test_a_point_comes(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    events, number = asked.listen(), ids_of(asked, "loss")["train"]
    before = asked.get(f"/api/series/{number}").headers["etag"]
    Writer(logs / "train").scalars(10, loss=0.5)
    told = heard(events, "points")
    assert told["series"] == {str(number): 11}
    assert steps(asked, number) == list(range(11))
    assert asked.get(f"/api/series/{number}", {"if-none-match": before}).status_code == 200
    assert asked.get("/api/state").json()["generation"] == told["generation"]


def test_half_a_record_waits(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    writer, number = Writer(logs / "train"), ids_of(asked, "loss")["train"]
    events = asked.listen()
    whole = record(writer.event(10, loss=0.5).SerializeToString())
    writer.raw(whole[:20])
    time.sleep(1)
    assert steps(asked, number) == list(range(10))
    writer.raw(whole[20:])
    assert heard(events, "points")["series"] == {str(number): 11}


def test_new_runs_and_graphs(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    events = asked.listen()
    writer = Writer(logs / "deep" / "new")
    writer.scalars(0, loss=1.0)
    assert heard(events, "run")["runs"] == [2]
    writer.graph(chain("x", "y"))
    told = until(lambda: [data for name, data in events if name == "graph" and len(data["graphs"]) == 2], SOON)
    assert told[-1]["graphs"][-1]["run"] == "deep/new"


def test_an_exported_program_that_comes_later(client: Callable[..., Client], logs: Path) -> None:
    """It is a file of its own, in a run or in a folder without event files: no event file grows with it."""
    asked = client(logs)
    events = asked.listen()
    until(lambda: asked.get("/api/state").json()["ready"])
    (logs / "exports").mkdir()
    for folder in ("exports", "train"):
        shutil.copy(FIXTURES / "exports" / "dynamic.pt2", logs / folder / "model.pt2")
    told = until(lambda: [data for name, data in events if name == "graph" and len(data["graphs"]) == 3], SOON)
    added = [one for one in told[-1]["graphs"] if one["tag"] == "model.pt2"]
    assert {one["run"] for one in added} == {"exports", "train"}
    for one in added:
        asked.post(f"/api/load/{one['id']}", {"x-tbgraph": "1"})
        until(lambda one=one: asked.get(f"/api/graphs/{one['id']}").status_code == 200)


def test_a_graph_that_is_written_again(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    events = asked.listen()
    asked.post("/api/load/0", {"x-tbgraph": "1"})
    until(lambda: asked.get("/api/graphs/0").status_code == 200)
    Writer(logs / "train").graph(chain("a", "b", "c", "d"))
    until(lambda: any(name == "graph" and data["graphs"][0]["version"] == 1 for name, data in events), SOON)
    answer = until(lambda: (told := asked.get("/api/graphs/0")).status_code == 200 and told)
    assert answer.json()["head"]["opsThrough"] == 4


def test_a_file_that_is_replaced_or_cut_is_read_again(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    events, number = asked.listen(), ids_of(asked, "loss")["test"]
    path = Writer(logs / "test").path
    path.unlink()
    writer = Writer(logs / "test")
    for step in range(3):
        writer.scalars(step, loss=5.0)
    until(lambda: steps(asked, number) == [0, 1, 2], SOON)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    until(lambda: len(steps(asked, number)) < 3, SOON)
    assert any(number in data.get("again", ()) for name, data in events if name == "points")


def test_a_run_that_is_gone(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    events = asked.listen()
    shutil.rmtree(logs / "test")
    assert heard(events, "gone")["runs"] == [0]
    states = {run["name"]: run["state"] for run in asked.get("/api/state").json()["runs"]}
    assert states == {"train": "ready", "test": "gone"}


def test_a_source_that_is_gone(client: Callable[..., Client], logs: Path) -> None:
    """What was read can still be looked at; the page is told, and told again when the source is back."""
    asked = client(logs)
    events, number = asked.listen(), ids_of(asked, "loss")["test"]
    logs.rename(logs.with_name("away"))
    assert "no file or folder" in heard(events, "notice")["text"]
    state = asked.get("/api/state").json()
    assert [one["code"] for one in state["notices"]] == ["unread"]
    assert {run["state"] for run in state["runs"]} == {"gone"}
    assert steps(asked, number) == list(range(10))
    logs.with_name("away").rename(logs)
    Writer(logs / "test").scalars(10, loss=1.0)
    until(lambda: steps(asked, number) == list(range(11)), SOON)
    state = asked.get("/api/state").json()
    assert state["notices"] == []
    assert {run["state"] for run in state["runs"]} == {"ready"}


def test_a_folder_that_is_still_empty(client: Callable[..., Client], tmp_path: Path) -> None:
    asked = client(tmp_path)
    assert asked.get("/api/state").json()["runs"] == []
    events = asked.listen()
    Writer(tmp_path).scalars(0, loss=1.0)
    heard(events, "points")
    assert [run["name"] for run in asked.get("/api/state").json()["runs"]] == ["."]


def test_who_was_away_catches_up(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    events, writer = asked.listen(), Writer(logs / "train")
    writer.scalars(10, loss=0.5)
    first = heard(events, "points")["generation"]
    writer.scalars(11, loss=0.5)
    until(lambda: len([name for name, _ in events if name == "points"]) == 2, SOON)
    late = asked.listen({"last-event-id": first})
    assert [data["series"] for name, data in late if name == "points"] == [{str(ids_of(asked, "loss")["train"]): 12}]
    other = asked.listen({"last-event-id": "another-5"})
    assert [name for name, _ in other] == ["hello"]


def test_no_more_listeners_than_there_is_room_for(client: Callable[..., Client], logs: Path) -> None:
    asked = client(logs)
    for _ in range(32):
        asked.listen()
    assert asked.get("/api/events").status_code == 429


@pytest.mark.slow
def test_control_c_ends_it_at_once(program: Callable[..., Program], logs: Path) -> None:
    """Whoever listens, and whatever is read."""
    server = program(str(logs), "--port", "0")
    port = server.place[1]
    with socket.create_connection(server.place) as listening:
        listening.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        told = b""
        while b"event: hello" not in told:
            told += listening.recv(65536)
        server.process.send_signal(signal.SIGINT)
        # A second on a machine that has nothing else to do; an open stream would hold it for ever.
        assert server.process.wait(20) == 130
    assert server.process.stderr is not None
    assert "Traceback" not in server.process.stderr.read()


@pytest.mark.slow
def test_a_server_that_is_started_again_has_another_generation(program: Callable[..., Program], logs: Path) -> None:
    first = program(str(logs), "--port", "0")
    one = first.get("/api/state")["generation"]
    port = first.place[1]
    first.process.send_signal(signal.SIGTERM)
    first.process.wait(PATIENCE)
    second = program(str(logs), "--port", str(port), "-q")
    assert second.place[1] == port
    assert second.get("/api/state")["generation"].split("-")[0] != one.split("-")[0]


@pytest.mark.slow
def test_a_port_that_is_taken(program: Callable[..., Program], logs: Path) -> None:
    first = program(str(logs), "--port", "0")
    port = first.place[1]
    second = program(str(logs), "--port", str(port), "--title", "x")
    assert second.place[1] > port
    assert second.process.stdout is not None
    assert second.process.stdout.readline().strip() == f"port {port} is taken: this is the next free one"
