"""The page in a real browser: each thing a person does is a test of `page.js`, run in one browser and told here."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.commands import run as run_command
from graphviz_tb.model.scene import Scene
from graphviz_tb.proto import AttrValue, GraphDef

HERE = Path(__file__).parent
FIXTURES = HERE.parents[1] / "fixtures"


def names_in(suite: str) -> list[str]:
    """The names of the tests of a suite."""
    return re.findall(r'^test\(\s*"([^"]+)"', (HERE / suite).read_text(encoding="utf-8"), re.MULTILINE)


HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "\"'`${alert(1)}",
    "<!--",
    "javascript:alert(1)",
    "a\u202eb\u0007\u2028c",
    "x" * 100_000,
    "&lt;b&gt;",
    "__proto__",
    "constructor",
    "{{script}}",
]


def hostile() -> GraphDef:
    """Every name, device and attribute wants to be more than a text."""
    graph = GraphDef()
    for number, name in enumerate(HOSTILE):
        node = graph.node.add(name=name, op=name[:60] or "A", device=f"/device:{name[:40]}:0")
        node.attr[name[:80]].CopyFrom(AttrValue(s=name.encode()[:3000]))
        if number:
            node.input.append(HOSTILE[number - 1])
    return graph


def sets_and_scenes() -> list[Any]:
    """Fifty sets of open groups of the MNIST graph, and the scene that Python makes of each."""
    model, chance = graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt", folds=False), random.Random(50)
    hierarchy = model.hierarchy
    groups = [hierarchy.name[row] for row in range(1, len(hierarchy)) if hierarchy.opens(row)]
    sets = [tuple(sorted(chance.sample(groups, chance.randint(0, 12)))) for _ in range(50)]
    return [[opened, plain(model.picture(depth=0, open=opened).scene)] for opened in sets]


def plain(scene: Scene) -> dict[str, Any]:
    """A scene as the page tells it."""
    boxes = [[one.address, one.kind, one.x, one.y, one.width, one.height, one.open] for one in scene.boxes]
    lines = [[one.identity.source, one.identity.target, one.kind, one.points] for one in scene.routes]
    return {"width": scene.width, "height": scene.height, "boxes": boxes, "lines": lines}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages that the tests open."""
    folder = tmp_path_factory.mktemp("pages")
    graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt", folds=False).save(folder / "mnist.html")
    graphviz_tb.load(FIXTURES / "real" / "lstm_dynamic_rnn.pb").save(folder / "cut.html", page_max=0.1)
    graphviz_tb.load(FIXTURES / "real" / "func_library_recursive.pbtxt").save(folder / "recursive.html")
    graphviz_tb.load(hostile()).save(folder / "hostile.html")
    graphviz_tb.load(FIXTURES / "real" / "xor.pbtxt", folds=False).save(folder / "hub.html")
    (folder / "sets.json").write_text(json.dumps(sets_and_scenes()), encoding="utf-8")
    step = FIXTURES / "run_metadata" / "mnist_cnn_step099.pb"
    (folder / "step199.pb").write_bytes(step.read_bytes())
    traced = (str(step), str(folder / "step199.pb"))
    graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt", folds=False, run_metadata=traced).save(
        folder / "steps.html"
    )
    old = (FIXTURES / "real" / "mnist_cnn.pbtxt").read_text(encoding="utf-8")
    new = re.sub(r'\bdropout\b(?=[/"])', "drop_out", old).replace('op: "Relu"', 'op: "Elu"')
    (folder / "new.pbtxt").write_text(new, encoding="utf-8")
    graphs = str(FIXTURES / "real" / "mnist_cnn.pbtxt"), str(folder / "new.pbtxt")
    assert run_command(["diff", "-q", *graphs, "-o", str(folder / "diff.html")]) == 1
    cell = graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt", folds=False).show()._repr_html_()
    (folder / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{cell}", encoding="utf-8")
    edits = str(FIXTURES / "edits" / "base.train.pb"), str(FIXTURES / "edits" / "sgd.train.pb")
    assert run_command(["diff", "-q", *edits, "-o", str(folder / "consequences.html")]) == 1
    command = [sys.executable, str(FIXTURES / "generate.py"), "--nodes", "6000", "-o", str(folder / "big.pb")]
    subprocess.run(command, check=True, capture_output=True)
    graphviz_tb.load(folder / "big.pb").save(folder / "big.html")
    whole = (folder / "mnist.html").read_text(encoding="utf-8")
    block = re.search(r'data-block="attributes/0"[^>]*>([^<]+)<', whole)
    assert block
    (folder / "damaged.html").write_text(whole.replace(block[1], block[1][: len(block[1]) // 2]), encoding="utf-8")
    return folder


def run(folder: Path, suite: str, **environment: str) -> dict[str, list[str]]:
    """The faults of each test of a suite."""
    command = ["node", str(HERE / "harness.js"), str(HERE / suite), str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def chromium(pages: Path, require: Callable[..., None]) -> Callable[[str], dict[str, list[str]]]:
    """What happened in Chromium, suite by suite."""
    require("chromium", "node", "playwright-core")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    known: dict[str, dict[str, list[str]]] = {}

    def suite(name: str) -> dict[str, list[str]]:
        if name not in known:
            known[name] = run(pages, name, TBGRAPH_BROWSER_PATH=program)
        return known[name]

    return suite


SUITES = ("page.js", "contract.js", "big.js", "diff.js")


@pytest.mark.parametrize(("suite", "name"), [(one, name) for one in SUITES for name in names_in(one)])
def test_the_page(suite: str, name: str, chromium: Callable[[str], dict[str, list[str]]]) -> None:
    assert chromium(suite)[name] == []


def test_it_asks_for_nothing_and_says_so(pages: Path) -> None:
    told = (pages / "mnist.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', told)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert re.findall(r"(?:src|href)=\"?([^\" >]+)", told.partition("<script")[0]) == ["data:,"]


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    model = graphviz_tb.load(FIXTURES / "real" / "hidden_scope.pbtxt")
    told = model.show(height=300)._repr_html_()
    assert told.startswith('<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;!doctype html&gt;')
    assert "allow-same-origin" not in told
    assert model.picture(depth=0).show()._repr_html_() != told


class Slow(BaseHTTPRequestHandler):
    """An image that comes late: until then Firefox takes no picture of the page around it."""

    def do_GET(self) -> None:
        time.sleep(5)
        self.send_response(404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_firefox_shows_it_too(pages: Path, require: Callable[..., None], tmp_path: Path) -> None:
    require("firefox-esr")
    program = shutil.which("firefox-esr")
    assert program
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    frame = f'<iframe src="{(pages / "mnist.html").as_uri()}#open=conv1&select=conv1" width=1200 height=780></iframe>'
    late = f'<img src="http://127.0.0.1:{server.server_port}/late">'
    (tmp_path / "around.html").write_text(f"<!doctype html>{frame}{late}", encoding="utf-8")
    (tmp_path / "profile").mkdir()
    shot = tmp_path / "shot.png"
    command = [program, "--headless", "--no-remote", "--profile", str(tmp_path / "profile")]
    command += ["--window-size", "1240,820", "--screenshot", str(shot), (tmp_path / "around.html").as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    server.shutdown()
    server.server_close()
    colours = colours_of(shot)
    assert b"\x77\xaa\xdd" in colours, "the hue of conv1"
    assert b"\x09\x69\xda" in colours, "the ring around what is chosen"


def colours_of(path: Path) -> set[bytes]:
    """The colours of the pixels of a PNG."""
    width, channels, rows = pixels(path.read_bytes())
    return {bytes(row[at : at + 3]) for row in rows for at in range(0, width * channels, channels)}


def pixels(data: bytes) -> tuple[int, int, list[bytes]]:
    """Width, channels and the rows of an 8-bit PNG."""
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    channels = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    raw, stride = zlib.decompress(packed), width * channels
    rows: list[bytes] = []
    before = bytes(stride)
    for number in range(height):
        start = number * (stride + 1)
        before = unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), before, channels)
        rows.append(before)
    return width, channels, rows


def unfiltered(how: int, row: bytearray, above: bytes, channels: int) -> bytes:
    """A row of a PNG as it was before it was filtered."""
    for at in range(len(row) if how else 0):
        left = row[at - channels] if at >= channels else 0
        corner = above[at - channels] if at >= channels else 0
        row[at] = (row[at] + (0, left, above[at], (left + above[at]) // 2, paeth(left, above[at], corner))[how]) & 255
    return bytes(row)


def paeth(left: int, above: int, corner: int) -> int:
    """The neighbour that is nearest to what the three of them foretell."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))
