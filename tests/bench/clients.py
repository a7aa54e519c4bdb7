"""Many pages that follow a log while it is written: `python -m tests.bench.clients [--clients 32] [--seconds 60]`.

Starts `tbgraph serve` on a log of scalars, a writer that appends a point to each series of one run twice a second, and
clients in a process of their own that do what an open page does: they listen, and at each event that tells of points
they ask for runs, tags and the points of nine charts. Prints the time of a request, errors, CPU of the server, and its
memory a quarter of the time after the start and at the end. Where the cores are busy with other things, judge by CPU.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.bench.logged import NAME, runs
from tests.event_files import append, event, scalar

CHARTS, RUNS_SHOWN = 9, 20  # on a screen
TAGS, STEPS = 10, 1_000
QUIET = 0.5  # seconds between two updates of a page, and between two points


class Page:
    """An open page: a connection for requests, and the answers that it knows by their entity tags."""

    def __init__(self, port: int, runs: int) -> None:
        self._port, self._known = port, dict[str, str]()
        self._asking = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        shown = [",".join(str(run * TAGS + tag) for run in range(min(runs, RUNS_SHOWN))) for tag in range(CHARTS)]
        charts = (f"/api/series/{ids}?restarts=all&axis=step&px=600" for ids in shown)
        self._paths = ["/api/state", "/api/tags?kind=scalar", *charts]
        self.seconds: list[float] = []
        self.errors = 0

    def update(self) -> None:
        """Ask for all that the page shows."""
        for path in self._paths:
            begun = time.perf_counter()
            known = {"If-None-Match": self._known[path]} if path in self._known else {}
            try:
                self._asking.request("GET", path, headers={"Accept-Encoding": "gzip", **known})
                answer = self._asking.getresponse()
                answer.read()
                self.errors += answer.status not in (200, 304)
                self._known[path] = answer.headers.get("etag", "")
            except (OSError, http.client.HTTPException):
                self.errors += 1
                self._asking.close()
            self.seconds.append(time.perf_counter() - begun)

    def follow(self, end: float) -> None:
        """Update whenever points come."""
        with socket.create_connection(("127.0.0.1", self._port)) as listening:
            listening.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost:{self._port}\r\n\r\n".encode())
            listening.settimeout(1)
            while time.perf_counter() < end:
                try:
                    heard = listening.recv(1 << 16)
                except TimeoutError:
                    continue
                if b"event: points" in heard:
                    self.update()
                    time.sleep(QUIET)


def follow(port: int, runs: int, clients: int, seconds: float) -> None:
    """Some pages, each in a thread of this process; prints what they saw as JSON."""
    end = time.perf_counter() + seconds
    pages = [Page(port, runs) for _ in range(clients)]
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda page: page.follow(end), pages))
    print(json.dumps([[each for page in pages for each in page.seconds], sum(page.errors for page in pages)]))


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server that has read its source, and its port."""
    command = [sys.executable, "-m", "graphviz_tb", "serve", str(folder), "--port", "0", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r":(\d+)/", server.stdout.readline())
        assert found is not None
        try:
            while not state(int(found[1]))["ready"]:
                time.sleep(0.1)
            yield server, int(found[1])
        finally:
            server.terminate()


def state(port: int) -> dict[str, bool]:
    """What the server says of itself."""
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    asking.request("GET", "/api/state")
    told: dict[str, bool] = json.loads(asking.getresponse().read())
    return told


def cost(process: int) -> tuple[float, float]:
    """CPU seconds so far, and megabytes in memory."""
    words = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=20, help="of ten tags and a thousand steps each [20]")
    parser.add_argument("--follow", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.follow:
        follow(options.follow, options.runs, options.clients, options.seconds)
        return 0
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        runs(folder, options.runs, TAGS, STEPS, scalar)
        with served(folder) as (server, port):
            sizes = (f"--{name}={getattr(options, name)}" for name in ("clients", "seconds", "runs"))
            words = ["--follow", str(port), *sizes]
            before, _ = cost(server.pid)
            command = [sys.executable, "-m", "tests.bench.clients", *words]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pages:
                held, step, begun = 0.0, STEPS, time.monotonic()
                while pages.poll() is None and time.monotonic() - begun < options.seconds:
                    values = (scalar(f"group{tag // 5}/metric_{tag}", step / 1e3) for tag in range(TAGS))
                    append(folder / "run_000" / NAME, event(step, *values, wall=1.6e9 + step))
                    time.sleep(QUIET)
                    step += 1
                    if not held and time.monotonic() - begun > options.seconds / 4:
                        _, held = cost(server.pid)
                after, end = cost(server.pid)
                seconds, errors = json.loads(pages.communicate()[0])
    middle, late = np.percentile(seconds, [50, 95])
    each = (after - before) / max(1, len(seconds))
    growth = end / max(held, 1) - 1
    print(f"{options.clients} clients, {options.seconds:.0f} s, {step - STEPS} writes: {errors} errors")
    print(f"{len(seconds):,} requests, median {middle * 1e3:.0f} ms, 95th percentile {late * 1e3:.0f} ms (goal 200)")
    print(f"server: {after - before:.1f} s CPU, {each * 1e3:.2f} ms a request")
    print(f"memory: {held:.0f} MB after a quarter, {end:.0f} MB at the end ({growth:+.1%}; goal 10 %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
