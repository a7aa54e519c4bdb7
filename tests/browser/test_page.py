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
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphviz_tb
from graphviz_tb.commands import _run_command_line as run_command
from graphviz_tb.model.scene import Scene
from graphviz_tb.proto import AttrValue, Event, GraphDef, RunMetadata
from tests.event_files import event, strings, write
from tests.logs.bad_training import write_training
from tests.serve.writing import Writer, record

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
    "//",  # a scope without a name
    "//a",
]


def hostile(more: int = 0) -> GraphDef:
    """Every name, device, function and attribute wants to be more than a text."""
    graph = GraphDef()
    for number, name in enumerate(HOSTILE):
        node = graph.node.add(name=name, op=name[:60] or "A", device=f"/device:{name[:40]}:0")
        node.attr[name[:80]].CopyFrom(AttrValue(s=name.encode()[:3000]))
        if number:
            node.input.append(HOSTILE[number - 1])
    for number, name in enumerate(HOSTILE[:6]):
        function = graph.library.function.add()
        function.signature.name = name
        function.node_def.add(name=name, op=name[:60])
        call = graph.node.add(name=f"{name}/call", op=name)
        call.attr["_output_shapes"].CopyFrom(AttrValue(s=b"</script>" * number))
    for number in range(more):
        graph.node.add(name=f"<svg onload=alert({number})>", op="</style>")
    return graph


def sets_and_scenes() -> list[Any]:
    """Fifty sets of open groups of the MNIST graph, and the scene that Python makes of each."""
    model, chance = graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt", folds=False), random.Random(50)
    hierarchy = model.hierarchy
    groups = [hierarchy.name[row] for row in range(1, len(hierarchy)) if hierarchy.can_open(row)]
    sets = [tuple(sorted(chance.sample(groups, chance.randint(0, 12)))) for _ in range(50)]
    return [[opened, plain(model.picture(depth=0, open=opened).scene)] for opened in sets]


def plain(scene: Scene) -> dict[str, Any]:
    """A scene as the page tells it."""
    boxes = [[one.address, one.kind, one.x, one.y, one.width, one.height, one.open] for one in scene.boxes]
    lines = [[one.identity.source, one.identity.target, one.kind, one.points] for one in scene.routes]
    return {"width": scene.width, "height": scene.height, "boxes": boxes, "lines": lines}


MNIST = FIXTURES / "real" / "mnist_cnn.pbtxt"


def drawn(name: str, source: Any = None, **choices: Any) -> Callable[[Path], None]:
    """What writes the page of a fixture, or of another source."""
    reading = {word: choices.pop(word) for word in ("folds", "group") if word in choices}
    return lambda folder: graphviz_tb.load(source or FIXTURES / "real" / name, **reading).save(
        folder / "page.html", **choices
    )


def blocks(count: int) -> GraphDef:
    """A row of blocks of one structure."""
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}]
    for at in range(count):
        last = f"b_{at - 1}/sum" if at else "x"
        nodes.append({"name": f"b_{at}/mul", "op": "Mul", "input": [last]})
        nodes.append({"name": f"b_{at}/sum", "op": "Add", "input": [f"b_{at}/mul", last]})
    return GraphDef(node=[*nodes, {"name": "y", "op": "Relu", "input": [f"b_{count - 1}/sum"]}])


def steps(folder: Path, pace: int = 1) -> None:
    """The page of a graph with two traced steps; in the second convolutions take `pace` times as long."""
    step = FIXTURES / "run_metadata" / "mnist_cnn_step099.pb"
    slower = RunMetadata.FromString(step.read_bytes())
    for device in slower.step_stats.dev_stats:
        for node in device.node_stats:
            if node.node_name.startswith("conv"):
                node.all_end_rel_nanos *= pace
                node.op_end_rel_nanos *= pace
    (folder / "step199.pb").write_bytes(slower.SerializeToString())
    traced = (str(step), str(folder / "step199.pb"))
    graphviz_tb.load(MNIST, folds=False, run_metadata=traced).save(folder / "page.html")


def compared(folder: Path) -> None:
    """The page of a diff in which a scope is renamed and ops are others."""
    new = re.sub(r'\bdropout\b(?=[/"])', "drop_out", MNIST.read_text(encoding="utf-8")).replace(
        'op: "Relu"', 'op: "Elu"'
    )
    (folder / "new.pbtxt").write_text(new, encoding="utf-8")
    assert run_command(["diff", "-q", str(MNIST), str(folder / "new.pbtxt"), "-o", str(folder / "page.html")]) == 1


def edited(old: str, new: str) -> Callable[[Path], None]:
    """What writes the page of the diff of two edits of one network."""
    files = [str(FIXTURES / "edits" / name) for name in (old, new)]

    def write(folder: Path) -> None:
        assert run_command(["diff", "-q", *files, "-o", str(folder / "page.html")]) in (0, 1)

    return write


def same_diff(folder: Path) -> None:
    """The page of a diff, and its first picture as render draws it."""
    edits = str(FIXTURES / "edits" / "base.train.pb"), str(FIXTURES / "edits" / "sgd.train.pb")
    for file in ("page.html", "../same_diff.svg"):
        assert run_command(["diff", "-q", *edits, "-o", str(folder / file)]) == 1


def hostile_diff(folder: Path) -> None:
    """The page of a diff of hostile graphs, whose files have hostile names too."""
    files = folder / "<img src=x onerror=alert(1)>.pb", folder / "\"'><script>alert(1)<%2fscript>.pb"
    for number, file in enumerate(files):
        file.write_bytes(hostile(number).SerializeToString())
    assert run_command(["diff", "-q", *map(str, files), "-o", str(folder / "page.html")]) == 1


def hostile_run(folder: Path) -> None:
    """The page of a hostile graph with what was measured in steps of hostile names."""
    traced = [folder / f"<b onclick=alert({number})>.pb" for number in range(2)]
    for number, file in enumerate(traced):
        run_metadata = RunMetadata()
        for device in ("/device:<i>:0", "javascript:alert(1)"):
            stats = run_metadata.step_stats.dev_stats.add(device=device)
            for name in HOSTILE[:9]:
                stats.node_stats.add(node_name=name, all_end_rel_micros=10 + number, op_end_rel_micros=9)
        file.write_bytes(run_metadata.SerializeToString())
    model = graphviz_tb.load(hostile(), run_metadata=tuple(map(str, traced)))
    model.save(folder / "page.html", title="</title><script>alert(1)</script>")


def notebook(folder: Path) -> None:
    """A page in a frame."""
    cell = graphviz_tb.load(MNIST, folds=False).show()._repr_html_()
    (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{cell}", encoding="utf-8")


def big(folder: Path) -> None:
    """The page of a training graph of 6,000 nodes."""
    command = [sys.executable, str(FIXTURES / "generate.py"), "--nodes", "6000", "-o", str(folder / "big.pb")]
    subprocess.run(command, check=True, capture_output=True)
    graphviz_tb.load(folder / "big.pb").save(folder / "page.html")


def web(folder: Path) -> None:
    """A level with more lines than are drawn one by one: each of 205 ops takes what 205 others give."""
    graph = GraphDef(node=[{"name": f"a{at}", "op": "Placeholder"} for at in range(205)])
    for at in range(205):
        graph.node.add(name=f"b{at}", op="AddN", input=[f"a{other}" for other in range(205)])
    graphviz_tb.load(graph, folds=False, series_min=1000).save(folder / "page.html")


def damaged(folder: Path) -> None:
    """A page one of whose blocks is cut in half."""
    drawn("mnist_cnn.pbtxt", folds=False)(folder)
    whole = (folder / "page.html").read_text(encoding="utf-8")
    block = re.search(r'data-block="attributes/0"[^>]*>([^<]+)<', whole)
    assert block
    (folder / "page.html").write_text(whole.replace(block[1], block[1][: len(block[1]) // 2]), encoding="utf-8")


def failing(folder: Path) -> None:
    """A page whose program fails as it places the boxes."""
    drawn("mnist_cnn.pbtxt", folds=False)(folder)
    whole = (folder / "page.html").read_text(encoding="utf-8")
    broken, count = re.subn(r"(?m)^ *function place\(.*\{$", r"\g<0> throw new Error('no room at all');", whole)
    broken = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", broken)
    assert count == 1
    (folder / "page.html").write_text(broken, encoding="utf-8")


def against(folder: Path) -> None:
    """The page of a trace compared with an earlier one, and the colours that Python gives some pictures of it."""
    trace = FIXTURES / "run_metadata" / "mnist_cnn_step099.pb"
    half = RunMetadata.FromString(trace.read_bytes())
    for device in half.step_stats.dev_stats:
        for at, node in enumerate(device.node_stats):
            node.op_end_rel_micros = node.op_end_rel_micros * (at % 5) // 2
            node.all_end_rel_micros = node.all_end_rel_micros * (at % 5) // 2
    (folder / "before.pb").write_bytes(half.SerializeToString())
    model = graphviz_tb.load(MNIST, folds=False, run_metadata=str(trace), against=str(folder / "before.pb"))
    model.save(folder / "page.html", color_by="compute-time")
    told = []
    for opened in ([""], ["conv1"], ["train", "fc1"]):
        picture = model.picture(color_by="compute-time", depth=0, open=tuple(filter(None, opened)))
        fills = {box.address: fill.fill for box, fill in zip(picture.scene.boxes, picture.paint.boxes, strict=True)}
        told.append([opened, fills, [row.label for row in picture.paint.legend]])
    (folder.parent / "against.json").write_text(json.dumps(told), encoding="utf-8")


def wild(folder: Path) -> None:
    """The page of functions that call themselves, and what patterns open there and in the MNIST graph."""
    cases = {
        "mnist": ("conv*", "fc?", "*/dropout", "train/*", "**_grad"),
        "wild": ("*", "*::*", "**", "*::*::*", "legacy*::self*"),
    }
    files = {"mnist": MNIST, "wild": FIXTURES / "real" / "func_library_recursive.pbtxt"}
    told = []
    for page, patterns in cases.items():
        model = graphviz_tb.load(files[page], folds=False)
        for pattern in patterns:
            boxes = model.picture(depth=0, open=(pattern,)).scene.boxes
            told.append([page, pattern, sorted(box.address for box in boxes if box.open)])
    (folder.parent / "wild.json").write_text(json.dumps(told), encoding="utf-8")
    graphviz_tb.load(files["wild"], folds=False).save(folder / "page.html")


def same(folder: Path) -> None:
    """The page of a traced graph, and two pictures of it that render draws."""
    trace = str(FIXTURES / "run_metadata" / "mnist_cnn_step099.pb")
    model = graphviz_tb.load(MNIST, folds=False, run_metadata=trace)
    model.save(folder / "page.html")
    model.picture(depth=0, open=("conv1", "train")).save(folder.parent / "same_light.svg")
    dark = model.picture(depth=0, open=("fc1",), color_by="compute-time", theme="dark")
    dark.save(folder.parent / "same_dark.svg")


def log_of(graph: GraphDef | None, names: tuple[str, ...] = ("first", "second")) -> Callable[[Path], None]:
    """What writes the page of a log of two runs."""

    def write(folder: Path) -> None:
        for number, name in enumerate(names):
            falling = [float(np.float32(2 / (step + 1 + number))) for step in range(50)]
            rising = [float(np.float32(1 - one / 3)) for one in falling]
            values = {"loss": falling, "acc/train": rising, "acc/validation": rising, "lr": [0.5] * 50}
            if name.startswith("<"):
                values = {one: falling for one in HOSTILE if one}
            writer = Writer(folder / "logs" / name)
            for tag, each in values.items():
                for step, value in enumerate(each):
                    event = Event(wall_time=1e9 + step, step=step)
                    event.summary.value.add(tag=tag, simple_value=value)
                    writer.raw(record(event.SerializeToString()))
            if graph is not None and not number:
                writer.raw(record(Event(wall_time=1e9, graph_def=graph.SerializeToString()).SerializeToString()))
        assert run_command(["render", "-q", str(folder / "logs"), "-o", str(folder / "page.html")]) == 0

    return write


def seeds(folder: Path) -> None:
    """The page of three seeds of each of two models, whose losses differ by known amounts."""
    for model in range(2):
        for seed in range(3):
            writer = Writer(folder / "logs" / f"model_{'AB'[model]}" / f"seed{seed}")
            for step in range(100):
                event = Event(wall_time=1e9 + step, step=step + 1000 * model)
                for tag, more in (("loss/train", 0.0), ("loss/validation", 1.0)):
                    event.summary.value.add(tag=tag, simple_value=10 * model + seed + more)
                writer.raw(record(event.SerializeToString()))
    assert run_command(["render", "-q", str(folder / "logs"), "-o", str(folder / "page.html")]) == 0


def many_tags(folder: Path) -> None:
    """The page of a run of a thousand tags in one group."""
    writer = Writer(folder / "logs" / "run")
    for step in range(3):
        writer.scalars(step, **{f"gauge_{number}": float(number) for number in range(1000)})
    assert run_command(["render", "-q", str(folder / "logs"), "-o", str(folder / "page.html")]) == 0


def long_names(folder: Path) -> None:
    """The page of runs whose long names differ in two places; one has a point far from all others."""
    for lr in ("0.1", "0.01", "0.001"):
        for version in (2, 10):
            name = f"experiment_resnet50_imagenet_batch256_augment_lr{lr}_wd0.0001_version_{version}"
            writer = Writer(folder / "logs" / name)
            for step in range(100):
                writer.scalars(step, loss=9.0 if (lr, version, step) == ("0.01", 2, 50) else 1 + step / 1000)
    assert run_command(["render", "-q", str(folder / "logs"), "-o", str(folder / "page.html")]) == 0


NOTE = """# Notes

A *small* **run** with `code` and [docs](https://example.com/a_(b)), <img src=x onerror=window.hacked=1>,
[no](javascript:alert(1)) and ![an image](http://127.0.0.1:9/x.png).

- one
- two
  three

| lr | loss |
|---|---:|
| 0.1 | 2 |

> quoted <script>window.hacked=1</script>
"""
HOSTILE_TAG = "head/dense_1/<img src=x onerror=window.hacked=1>"
SLOW = "\n".join(
    ["*" * 9000, "[" * 9000, "> " * 9000, "- " * 9000, "`" * 9000, "a " * 9000 + "_b", " " * 9000 + "x|", "|-" * 9000]
)


def tabs(folder: Path) -> None:
    """The page of runs that logged one of everything, and of one that logged what is hostile."""
    logged = FIXTURES / "logged"
    shutil.copytree(logged / "tf2_summaries", folder / "logs" / "tf2")
    shutil.copytree(logged / "plugin_v1", folder / "logs" / "v1")
    shutil.copytree(logged / "hparams_domains", folder / "logs" / "trials")
    size = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    huge = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + size + zlib.crc32(b"IHDR" + size).to_bytes(4, "big")
    picture = b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked=1'/>"
    (folder / "logs" / "hostile").mkdir()
    write(
        folder / "logs" / "hostile" / "events.out.tfevents.1.host",
        event(1, strings("note", [NOTE.encode()], "text", ()), strings("slow", [SLOW.encode()], "text", ())),
        event(1, strings("picture", [b"2", b"2", picture], "images", (3,))),
        event(1, strings("huge", [b"1", b"1", huge], "images", (3,))),
    )
    assert run_command(["render", "-q", str(folder / "logs"), "-o", str(folder / "page.html")]) == 0


def training(folder: Path) -> None:
    """The page of a network that trains badly, with an image and a hostile name at one of its layers."""
    write_training(folder / "logs", (HOSTILE_TAG, NOTE))
    assert run_command(["render", "-q", str(folder / "logs"), "-o", str(folder / "page.html")]) == 0


PAGES: dict[str, Callable[[Path], None]] = {
    "training": training,
    "seeds": seeds,
    "long_names": long_names,
    "many_tags": many_tags,
    "tabs": tabs,
    "log": log_of(GraphDef(node=[{"name": "a", "op": "Placeholder"}, {"name": "b", "op": "Relu", "input": ["a"]}])),
    "log_alone": log_of(None),
    "log_hostile": log_of(None, ("<img src=x onerror=window.hacked=1>", "second")),
    "mnist": drawn("mnist_cnn.pbtxt", folds=False),
    "cut": drawn("lstm_dynamic_rnn.pb", page_max=0.1),
    "frozen": drawn("frozen_mlp.pb"),
    "keras": drawn("", FIXTURES / "models" / "keras3" / "cnn.json"),
    "recursive": drawn("func_library_recursive.pbtxt"),
    "hub": drawn("xor.pbtxt", folds=False),
    "renamed": drawn("", FIXTURES / "edits" / "base.train.pb"),
    "hostile": lambda folder: drawn("", hostile())(folder),
    "hostile_diff": hostile_diff,
    "hostile_run": hostile_run,
    "steps": steps,
    "paces": lambda folder: steps(folder, 30),
    "against": against,
    "wild": wild,
    "same": same,
    "same_diff": same_diff,
    "diff": compared,
    "consequences": edited("base.train.pb", "sgd.train.pb"),
    "rebuilt": edited("base.train.pb", "rebuilt.train.pb"),
    "inserted": edited("base.frozen.pb", "inserted.frozen.pb"),
    "nameless": drawn("", GraphDef(node=[{"name": name} for name in ("/m/a", "/m/b", "/k", "x/", "a//b")])),
    "stack": lambda folder: drawn("", blocks(6), group="b_[0-5]")(folder),
    "notebook": notebook,
    "big": big,
    "series": drawn("numbered_series.pb"),
    "web": web,
    "damaged": damaged,
    "failing": failing,
}


class Pages:
    """The pages that the tests open, each made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str) -> Path:
        """The file of a page."""
        page = self.folder / f"{name}.html"
        if not page.exists():
            (self.folder / name).mkdir()
            PAGES[name](self.folder / name)
            (self.folder / name / "page.html").rename(page)
        return page


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The pages of this run."""
    return Pages(tmp_path_factory.mktemp("pages"))


SUITES = (
    *("page.js", "explore.js", "haste.js", "contract.js", "big.js", "diff.js", "hostile.js", "pixels.js", "both.js"),
    *("scalars.js", "tabs.js", "joined.js", "table.js", "share.js", "legend.js", "card.js", "states.js", "runs.js"),
    "daily.js",
)


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest, pages: Pages, require: Callable[..., None]) -> dict[str, list[str]]:
    """The faults of each test that was asked for, all run in one browser, by suite and name."""
    require("chromium", "node", "playwright-core")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = [f"{call.params['suite']}: {call.params['name']}" for call in calls if call and "suite" in call.params]
    for name in PAGES:
        if any(f'"{name}.html"' in text_of(one) or f"/{name}.html" in text_of(one) for one in wanted):
            pages(name)
    if any("number for number" in one for one in wanted):
        (pages.folder / "sets.json").write_text(json.dumps(sets_and_scenes()), encoding="utf-8")
    (pages.folder / "wanted.json").write_text(json.dumps(wanted), encoding="utf-8")
    suites = [str(HERE / suite) for suite in SUITES]
    command = ["node", str(HERE / "harness.js"), str(pages.folder), *suites]
    environment = {**os.environ, "TBGRAPH_BROWSER_PATH": str(program)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=7200)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def text_of(test: str) -> str:
    """What a test of a suite says."""
    suite, _, name = test.partition(": ")
    text = (HERE / suite).read_text(encoding="utf-8")
    return text[text.index(f'"{name}"') :].split("\ntest(")[0]


@pytest.mark.machine
@pytest.mark.parametrize(("suite", "name"), [(one, name) for one in SUITES for name in names_in(one)])
def test_the_page(suite: str, name: str, chromium: dict[str, list[str]]) -> None:
    assert chromium[f"{suite}: {name}"] == []


HASTY = re.compile(r"\b(?:ok|equal)\(.*\bawait\b|\.isVisible\(|waitForTimeout")
UNAWAITED = re.compile(r"(?<!await )(?<!=> )\b(?:eventually|until|becomes|seen|gone|settled|saved)\(")
ADDRESS = r"(?:\b(?:hash|address)\(|location\.h|\.url\(\))"
READ = re.compile(r"^\s+(?:const|let) \w+ = (?!(?:async )?\(\w*\) =>).*" + ADDRESS)
WAITED = re.compile(r"\bawait until\(.*" + ADDRESS)


def test_checks_wait_for_what_they_look_at() -> None:
    """A page does what a gesture asks a little later, on a busy machine much later: see `until` in harness.js."""
    lines = [line for suite in SUITES for line in (HERE / suite).read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if HASTY.search(line) or UNAWAITED.search(line)] == []


def test_an_address_is_read_after_a_wait_for_what_it_says() -> None:
    """It is written after the picture is drawn, and once the camera rests."""
    suites = [*(HERE / suite for suite in SUITES), *sorted((HERE.parent / "serve").glob("*.js"))]
    for suite in suites:
        lines = suite.read_text(encoding="utf-8").splitlines()
        hasty = [line for before, line in pairwise(lines) if READ.search(line) and not WAITED.search(before)]
        assert hasty == [], suite


def test_it_asks_for_nothing_and_says_so(pages: Pages) -> None:
    told = pages("mnist").read_text(encoding="utf-8")
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


class Late(BaseHTTPRequestHandler):
    """An image that comes late: until then Firefox takes no picture of the page around it."""

    seconds = 5.0

    def do_GET(self) -> None:
        time.sleep(self.seconds)
        self.send_response(404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


HUE, RING = b"\x77\xaa\xdd", b"\x09\x69\xda"  # of conv1, and around what is chosen


@pytest.mark.machine
def test_firefox_shows_it_too(pages: Pages, require: Callable[..., None], tmp_path: Path) -> None:
    require("firefox-esr")
    program = shutil.which("firefox-esr")
    assert program
    frame = f'<iframe src="{pages("mnist").as_uri()}#open=conv1&select=conv1" width=1200 height=780></iframe>'
    colours: set[bytes] = set()
    for seconds in (5, 20, 80):  # a busy machine needs more
        if not {HUE, RING} <= colours:
            colours = colours_of(photographed(program, frame, seconds, tmp_path / str(seconds)))
    assert HUE in colours
    assert RING in colours


def photographed(program: str, frame: str, seconds: float, folder: Path) -> Path:
    """A picture that Firefox takes of a frame after some seconds."""
    handler = type("Handler", (Late,), {"seconds": seconds})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    late = f'<img src="http://127.0.0.1:{server.server_port}/late">'
    (folder / "profile").mkdir(parents=True)
    (folder / "around.html").write_text(f"<!doctype html>{frame}{late}", encoding="utf-8")
    command = [program, "--headless", "--no-remote", "--profile", str(folder / "profile")]
    command += ["--window-size", "1240,820", "--screenshot", str(folder / "shot.png")]
    subprocess.run([*command, (folder / "around.html").as_uri()], check=True, capture_output=True, timeout=900)
    server.shutdown()
    server.server_close()
    return folder / "shot.png"


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
