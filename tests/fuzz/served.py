"""Requests that nobody should send, to a server in this process: `python -m tests.fuzz.served --minutes 1 --seed 5`.

A log of a family of `families/logged.py` is served; its addresses are asked with ids, queries, heads and forms of
every kind. What comes back is an answer that the contract knows: a known status, JSON with a reason where it is an
error, the headers of the guard, no traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import sys
import tempfile
import time
from contextlib import redirect_stderr
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from tests.fuzz.families import logged
from tests.serve.serving import Client

STATUSES = {200, 202, 204, 206, 303, 304, 307, 400, 403, 404, 405, 409, 413, 414, 416, 429, 503}
PATHS = (
    "/", "/api/state", "/api/tags", "/api/series/{id}", "/api/series/{ids}", "/api/histograms/{id}", "/api/media/{id}",
    "/api/blob/{id}", "/api/text/{id}", "/api/pr/{id}", "/api/tensors/{id}", "/api/hparams", "/api/export",
    "/api/graphs/{id}", "/api/graphs/{id}/blocks/{word}",
    "/api/graphs/{id}/joins", "/api/graphs/{id}/logged",
    "/api/projector", "/api/projector/{id}/points", "/api/projector/{id}/metadata", "/api/projector/{id}/neighbours",
    "/api/projector/{id}/sprite",
    "/api/load/{id}", "/api/cancel/{id}", "/static/{word}",
    "/favicon.ico", "/{word}", "/api/{word}",
)  # fmt: skip
IDS = ("0", "1", "2", "7", "-1", "99", "999999999", "9" * 30, "0-1", "1-0", "x", "", "１", "1e3", "0x1", "..", "%00")
WORDS = ("..", "../../etc/passwd", "%2e%2e%2fetc%2fpasswd", "words", "rows", "levels/0", "\x00", "é", "a" * 9000, "//x")
PARAMETERS = "from to axis px smooth restarts steps view at format kind runs tags text limit row way hops digest token"
NAMES = (*PARAMETERS.split(), "pattern", "measure", "run", "against")
WORDY = "step wall relative all last csv json scalar ridges bands buckets in out op:* nan inf -inf"
VALUES = ("0", "1", "-1", "0.6", "1e308", "", "x", "1,2", "/(a+)+$/", "\x00", "é", "%", "9" * 40, *WORDY.split())
HEADS: tuple[dict[str, str], ...] = (
    {}, {"host": "evil.example"}, {"host": ""}, {"host": "localhost@evil.example"},
    {"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    {"content-length": "99999999"}, {"content-length": "-1"}, {"content-length": "x"}, {"x-tbgraph": "1"},
    {"range": "bytes=0-3"}, {"range": "bytes=9-1"}, {"range": "bytes=-0"}, {"range": "x"}, {"if-none-match": "*"},
    {"if-none-match": 'W/"x", "y'}, {"accept-encoding": "gzip"}, {"cookie": "a=\x01; =;;"}, {"last-event-id": "x-y"},
)  # fmt: skip
REAL = sorted(path for path in logged.LOGGED.iterdir() if path.is_dir())
GUARDED = ("content-security-policy", "x-content-type-options", "referrer-policy", "cross-origin-resource-policy")


def request(random: Random) -> tuple[str, str, dict[str, str]]:
    """A method, a path with its query, and headers."""
    path = random.choice(PATHS)
    ids = ",".join(random.choice(IDS[:6]) for _ in range(random.choice((1, 2, 5, 201))))
    number = random.choice(IDS) if random.random() < 0.4 else str(random.randrange(60))
    path = path.format(id=quote(number, safe="%"), ids=ids, word=quote(random.choice(WORDS), safe="%/"))
    pairs = [(random.choice(NAMES), random.choice(VALUES)) for _ in range(random.choice((0, 0, 1, 1, 2, 3)))]
    query = "&".join(f"{name}={quote(value, safe='%')}" for name, value in pairs)
    method = random.choice(("GET",) * 8 + ("POST", "HEAD", "PUT", "OPTIONS"))
    return method, f"{path}?{query}" if query else path, dict(random.choice(HEADS))


def faults(method: str, path: str, heads: dict[str, str], answer: Any) -> list[str]:
    """What is wrong with an answer."""
    found = [f"status {answer.status_code}"] if answer.status_code not in STATUSES else []
    found += [f"no {name}" for name in GUARDED if name not in answer.headers]
    if b"Traceback" in answer.content:
        found.append("a traceback")
    kind = answer.headers.get("content-type", "")
    if answer.status_code >= 400 and method != "HEAD":
        try:
            found += [] if json.loads(answer.content)["error"] else ["no reason"]
        except (ValueError, KeyError, TypeError):
            found.append("an error that is no JSON")
    elif kind.startswith("application/json") and answer.content and "content-encoding" not in answer.headers:
        json.loads(answer.content)
    ours = "host" not in heads and "origin" not in heads and "sec-fetch-site" not in heads
    return found + ([] if ours or answer.status_code in (403, 414) else [f"{heads} was let in"])


def written(random: Random, folder: Path) -> Path:
    """A log that is odd or damaged."""
    files, _ = logged.logs(random)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / "log"


def trial(seed: int, count: int) -> list[str]:
    """Serve one log, and ask it so many things; what is wrong."""
    from graphviz_tb.serve.server import application
    from graphviz_tb.serve.settings import Settings

    random, wrong = Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        source = random.choice(REAL) if random.random() < 0.5 else written(random, Path(folder))
        said = io.StringIO()
        with redirect_stderr(said), Client(application(Settings(str(source)))) as client:
            for _ in range(200):
                if client.get("/api/state").json()["ready"]:
                    break
                time.sleep(0.02)
            for _ in range(count):
                method, path, heads = request(random)
                try:
                    answer = client.get(path, heads, method)
                    told = faults(method, path, heads, answer)
                except (Exception, asyncio.CancelledError) as error:
                    told = [f"{type(error).__name__}: {error}"]
                wrong += [f"seed {seed}: {method} {path[:200]} {heads}: {one}" for one in told]
        if "Traceback" in said.getvalue():
            wrong.append(f"seed {seed}: {said.getvalue()[-2000:]}")
    return wrong


def main() -> int:
    """Ask until the time is over; say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100, help="requests for each log [100]")
    options = parser.parse_args()
    end, seed, wrong = time.monotonic() + 60 * options.minutes, options.seed, []
    while time.monotonic() < end and len(wrong) < 50:
        wrong += trial(seed, options.count)
        seed += 1
    print(*wrong, f"{seed - options.seed} logs, {len(wrong)} faults", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
