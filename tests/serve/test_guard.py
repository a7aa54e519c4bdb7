"""Who may ask the server, and what every answer bears."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.each import each
from tests.serve.serving import Program

ADDRESSES = [
    "/",
    "/api/state",
    "/api/tags",
    "/api/series/0",
    "/api/export",
    "/api/graphs/0",
    "/nothing",
    "/api/series/x",
]


def status(told: bytes) -> int:
    """The status of an answer; 0 where there is none."""
    return int(told.split(b" ", 2)[1]) if told.startswith(b"HTTP/1.1 ") else 0


@each("address", ADDRESSES)
def test_every_answer_has_its_headers(client: Callable[..., Any], logs: Path, address: str) -> None:
    told = client(logs).get(address).headers
    policy = dict(part.split(" ", 1) for part in told["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert told["x-content-type-options"] == "nosniff"
    assert told["referrer-policy"] == "no-referrer"
    assert told["cross-origin-resource-policy"] == told["cross-origin-opener-policy"] == "same-origin"
    assert not [name for name in told if name.startswith("access-control")]


@each("host", ["localhost", "localhost:6006", "127.0.0.1:9", "[::1]:6006", "LOCALHOST", "named"])
def test_our_names(client: Callable[..., Any], logs: Path, host: str) -> None:
    assert client(logs, allowed_hosts=("named",)).get("/api/state", headers={"host": host}).status_code == 200


FOREIGN = ("evil.example", "localhost.evil.example", "a@localhost", "localhost:6006@evil.example", "", "localhost:x",
           "localhost/", "10.0.0.1", "localhost:6006, evil.example")  # fmt: skip


@each("host", FOREIGN)
def test_other_names(client: Callable[..., Any], logs: Path, host: str) -> None:
    answer = client(logs).get("/api/state", headers={"host": host})
    assert answer.status_code == 403
    assert "error" in answer.json()


@pytest.mark.slow
def test_names_and_targets_as_they_are_sent(program: Callable[..., Program], logs: Path) -> None:
    """Before a client has made them tidy."""
    server = program(str(logs), "--port", "0")
    ours = f"Host: localhost:{server.place[1]}"
    assert status(server.talk("GET /api/state HTTP/1.1", ours, "Connection: close", "")) == 200
    refused = [
        ("GET /api/state HTTP/1.1", ""),  # no name
        ("GET /api/state HTTP/1.0", ""),
        ("GET /api/state HTTP/1.1", ours, "Host: evil.example", ""),  # two
        ("GET /api/state HTTP/1.1", ours, ours, ""),
        ("GET http://evil.example/api/state HTTP/1.1", ours, ""),  # in the target
        (f"GET http://{ours[6:]}/api/state HTTP/1.1", ours, ""),
        ("GET a@b HTTP/1.1", ours, ""),
        ("OPTIONS * HTTP/1.1", ours, ""),
    ]
    for lines in refused:
        told = server.talk(*lines, wait=2)
        assert status(told) in (400, 403), (lines, told)
        assert b"runs" not in told


@each("path", ["/../../etc/passwd", "/static/../app.py", "/static/..%2f..%2fapp.py", "/%2e%2e/x",
                                  "/static//etc/passwd", "//etc/passwd", "/api/graphs/..%2f0", "/api/blob/..%2f..%2fx",
                                  "/api/graphs/0/blocks/../../x", "/static/%00", "/api/series/%ff"])  # fmt: skip
def test_no_address_leads_out(program: Callable[..., Program], logs: Path, path: str) -> None:
    server = program(str(logs), "--port", "0")
    told = server.talk(f"GET {path} HTTP/1.1", f"Host: localhost:{server.place[1]}", "Connection: close", "")
    assert status(told) in (400, 404, 409), told  # 409: the graph is still being read
    assert b"root:" not in told
    assert b"Traceback" not in told


@each("site", ["cross-site", "same-site", "odd"])
def test_pages_of_other_origins(client: Callable[..., Any], logs: Path, site: str) -> None:
    asked = client(logs)
    assert asked.get("/api/state", headers={"sec-fetch-site": site}).status_code == 403
    assert asked.get("/api/state", headers={"origin": "http://evil.example"}).status_code == 403
    assert asked.get("/api/state", headers={"origin": "null"}).status_code == 403
    assert asked.get("/api/state", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_link_leads_to_the_page_alone(client: Callable[..., Any], logs: Path) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    asked = client(logs)
    assert asked.get("/", headers=link).status_code == 200
    assert asked.get("/api/export", headers=link).status_code == 403
    assert asked.get("/", headers={**link, "sec-fetch-dest": "iframe"}).status_code == 403
    framed = client(logs, allowed_frames=("http://localhost:8888",))
    answer = framed.get("/", headers={**link, "sec-fetch-dest": "iframe"})
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].endswith("frame-ancestors http://localhost:8888")


def test_what_changes_something_has_its_header(client: Callable[..., Any], logs: Path) -> None:
    asked = client(logs)
    assert asked.post("/api/load/0").status_code == 403
    assert asked.post("/api/load/0", headers={"x-tbgraph": "1"}).status_code == 202
    assert asked.get("/api/load/0").status_code == 405
    assert asked.get("/api/load/0", {"x-tbgraph": "1"}, "PUT").status_code == 405


def test_sizes(client: Callable[..., Any], logs: Path) -> None:
    asked = client(logs)
    assert asked.get("/api/series/" + "1," * 5000 + "1").status_code in (400, 414)
    assert asked.get("/api/state?" + "x" * 9000).status_code == 414
    assert asked.post("/api/load/0", content=b"x" * 65_000, headers={"x-tbgraph": "1"}).status_code == 413
    assert asked.get("/api/series/" + ",".join(["0"] * 201)).status_code == 400


def test_a_token_is_demanded_and_kept_as_a_cookie(client: Callable[..., Any], logs: Path) -> None:
    token = "a" * 43
    asked = client(logs, host="0.0.0.0", token=token, prefix="/tb")
    assert asked.get("/api/state").status_code == 403
    assert asked.get("/?token=" + "b" * 43).status_code == 403
    answer = asked.get(f"/?token={token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/tb/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "path=/tb/" in cookie.lower()
    assert asked.get("/api/state").status_code == 200
    asked.cookies.clear()
    assert asked.get("/api/state").status_code == 403


@pytest.mark.slow
def test_a_slow_head_is_not_waited_for(program: Callable[..., Program], logs: Path) -> None:
    server = program(str(logs), "--port", "0")
    with socket.create_connection(server.place, timeout=20) as slow, socket.create_connection(server.place) as silent:
        slow.sendall(b"GET / HT")
        slow.settimeout(0.5)
        for _ in range(30):  # 15 seconds, more on a busy machine
            try:
                slow.sendall(b"T")
                if not slow.recv(100):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            raise AssertionError("it is waited for")
        silent.settimeout(15)
        assert silent.recv(100) == b""
    assert server.get("/api/state")["runs"]
