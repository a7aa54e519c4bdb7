"""What tests of the server share: waiting, talking to a socket, reading columns and events."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

PATIENCE = 30.0  # seconds
PAUSE = 0.02  # seconds between two looks


@dataclass
class Program:
    """A running `tbgraph serve` and the address that it printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.address)
        return "127.0.0.1", parts.port or 0

    def talk(self, *lines: str, body: bytes = b"", wait: float = 5.0) -> bytes:
        """Send a request as it is written here, and give back all that is answered, until nothing more comes."""
        with socket.create_connection(self.place, timeout=PATIENCE) as talking:
            talking.sendall("".join(f"{line}\r\n" for line in lines).encode("latin-1") + body)
            return heard(talking, wait)

    def get(self, path: str) -> Any:
        """The JSON at a path."""
        _, port = self.place
        told = self.talk(f"GET {path} HTTP/1.1", f"Host: localhost:{port}", "Connection: close", "")
        head, _, body = told.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), told
        return json.loads(body)


@dataclass
class Answer:
    """What a server answered; names of headers are small letters."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode()

    def json(self) -> Any:
        """The body as JSON."""
        data = gzip.decompress(self.content) if self.headers.get("content-encoding") == "gzip" else self.content
        return json.loads(data)


class Client:
    """Asks an application in this process, which runs in a thread of its own; keeps its cookies."""

    def __init__(self, app: Any, prefix: str = "") -> None:
        self.cookies: dict[str, str] = {}
        self._app, self._prefix = app, prefix
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._streams: list[Any] = []
        self._begun, self._end = threading.Event(), asyncio.Event()

    def __enter__(self) -> Client:
        self._thread.start()
        self._life = asyncio.run_coroutine_threadsafe(self._live(), self._loop)
        assert self._begun.wait(PATIENCE)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._life.result(PATIENCE)
        for stream in self._streams:
            stream.result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _live(self) -> None:
        """The life of the application: its start, and its end when the client is left."""
        words = iter(["lifespan.startup", "lifespan.shutdown"])

        async def receive() -> dict[str, Any]:
            word = next(words)
            if word == "lifespan.shutdown":
                await self._end.wait()
            return {"type": word}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._begun.set()

        await self._app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    def get(self, path: str, headers: Mapping[str, str] = {}, method: str = "GET", content: bytes = b"") -> Answer:
        """Ask for a path below the prefix."""
        asked = asyncio.run_coroutine_threadsafe(self._ask(method, path, dict(headers), content), self._loop)
        return asked.result(PATIENCE)

    def post(self, path: str, headers: Mapping[str, str] = {}, content: bytes = b"") -> Answer:
        """Ask for something to be done."""
        return self.get(path, headers, "POST", content)

    def listen(self, headers: Mapping[str, str] = {}) -> list[tuple[str, dict[str, Any]]]:
        """The events of the server: a list that grows, of names and data."""
        found: list[tuple[str, dict[str, Any]]] = []

        async def receive() -> dict[str, Any]:
            await self._end.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            for part in message.get("body", b"").decode().split("\n\n"):
                lines = dict(line.split(": ", 1) for line in part.splitlines() if ": " in line and line[0] != ":")
                if "event" in lines:
                    found.append((lines["event"], json.loads(lines["data"])))

        scope = self.scope("GET", "/api/events", dict(headers))
        self._streams.append(asyncio.run_coroutine_threadsafe(self._app(scope, receive, send), self._loop))
        until(lambda: found)  # it begins with a greeting
        return found

    def scope(self, method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        """A request as the application is given it."""
        way, _, query = (self._prefix + path).partition("?")
        told = {"host": "localhost:6006", **headers}
        if self.cookies:
            told["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        pairs = [(name.encode(), value.encode("latin-1")) for name, value in told.items()]
        return {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(way), "raw_path": way.encode(), "query_string": query.encode(), "root_path": "",
            "headers": pairs, "server": ("127.0.0.1", 6006), "client": ("127.0.0.1", 9), "state": {},
        }  # fmt: skip

    async def _ask(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Answer:
        sent: list[dict[str, Any]] = []
        bodies = iter([{"type": "http.request", "body": content}])

        async def receive() -> dict[str, Any]:
            body = next(bodies, None)
            if body is None:
                await asyncio.Event().wait()  # the client stays
            return body or {}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        if content:
            headers = {"content-length": str(len(content)), **headers}
        await self._app(self.scope(method, path, headers), receive, send)
        told = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        if "set-cookie" in told:
            name, _, value = told["set-cookie"].partition(";")[0].partition("=")
            self.cookies[name] = value
        return Answer(sent[0]["status"], told, b"".join(message.get("body", b"") for message in sent[1:]))


def heard(talking: socket.socket, wait: float) -> bytes:
    """All that comes until the other side is gone, or silent for `wait` seconds after it began."""
    told = b""
    try:
        while part := talking.recv(65536):
            told += part
            talking.settimeout(wait)
    except (TimeoutError, ConnectionResetError):
        pass
    return told


def until(look: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """What `look` gives as soon as that is something. Looks are counted: on a busy machine they take longer, too."""
    for _ in range(round(patience / PAUSE)):
        found = look()
        if found:
            return found
        time.sleep(PAUSE)
    raise AssertionError("it did not come")


def settled(state: Callable[[], Any]) -> Any:
    """The state of a server when it has read its source once."""
    return until(lambda: (told := state())["ready"] and told)


def columns(body: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The head and the arrays of an answer in columns."""
    size = int.from_bytes(body[:4], "little")
    head, start = json.loads(body[4 : 4 + size]), -(-(4 + size) // 8) * 8
    kinds = {"i4": "<i4", "f4": "<f4", "f8": "<f8", "u1": "u1"}
    found = {}
    for block in head["blocks"]:
        assert block["at"] % 8 == 0
        found[block["name"]] = np.frombuffer(body, kinds[block["type"]], block["count"], start + block["at"])
    return head, found
