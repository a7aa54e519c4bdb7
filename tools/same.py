"""Compare every output of two revisions, byte by byte.

    python tools/same.py --base main~3                 all fixtures and 40 generated graphs
    python tools/same.py --base v0.1.0 --seed 7 --graphs 200 --only 'render *conv*'

Both revisions run the same commands on the same inputs: the fixtures of this checkout and graphs drawn from a seed.
Each command runs in a process forked from one that has imported the package, so a run costs no start-up. The results of
a base revision are kept in `.same/` and reused. Exits 0 where all outputs are equal, 1 where some differ (their two
versions are left in `.same/differs/`), 2 where a revision cannot be run.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import hashlib
import importlib
import io
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from networks import network
from programs import program

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".same"
OUT = "OUT"
"""Stands in a command for the folder that its files are written to."""
SECONDS = 120
"""A command that takes longer is stopped, and counted as failed."""


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--base", default="HEAD", metavar="REV", help="the revision to compare this working tree with")
    ask.add_argument("--seed", type=int, default=int(time.time()) % 100_000, help="draw the graphs from this seed")
    ask.add_argument("--graphs", type=int, default=40, help="so many generated graphs")
    ask.add_argument("--only", default="*", metavar="PATTERN", help="commands that match, as a shell pattern")
    ask.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    ask.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    asked = ask.parse_args()
    if asked.run:
        run_commands(Path(asked.run[0]), Path(asked.run[1]))
        return 0
    drawn = write_graphs(asked.seed, asked.graphs)
    commands = [
        line for line in [*fixture_commands(), *graph_commands(drawn)] if fnmatch.fnmatch(" ".join(line), asked.only)
    ]
    print(f"{len(commands)} commands, seed {asked.seed}")
    revision = git("rev-parse", "--short=12", asked.base)
    base = results(checkout(revision), commands, asked.jobs, revision)
    here = results(ROOT, commands, asked.jobs, None)
    return compare(commands, base, here)


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def checkout(revision: str) -> Path:
    """Unpack the package of a revision, once."""
    folder = KEPT / "trees" / revision
    if not folder.is_dir():
        packed = subprocess.run(
            ["git", "archive", revision, "graphviz_tb", "tbgraph"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
    return folder


# Commands


def fixture_commands() -> Iterator[list[str]]:
    """Every command on every fixture that it takes."""
    folder = ROOT / "fixtures"
    inputs = [path for path in sorted(folder.rglob("*")) if is_input(path)]
    for path in inputs:
        name = path.relative_to(ROOT).as_posix()
        yield ["render", name, "-o", f"{OUT}/x.svg", "-o", f"{OUT}/x.json"]
        yield ["info", name]
        yield ["info", name, "--json"]
        yield ["tree", name, "--depth", "3"]
    for name in (
        "fixtures/real/mnist_cnn.pbtxt",
        "fixtures/models/keras3/custom_saved",
        "fixtures/logged/torch_layers",
    ):
        yield ["render", name, "-o", f"{OUT}/x.html"]
        yield ["render", name, "-o", f"{OUT}/x.pdf", "-o", f"{OUT}/x.dot", "--depth", "2", "--theme", "dark"]
        yield ["render", name, "-o", f"{OUT}/x.svg", "--preset", "tensorboard", "--color-by", "device"]
        yield ["find", name, "op:Conv2D or params>10"]
        yield ["check", name, "--assert", "params < 5M"]
    for path in sorted((folder / "logged").iterdir()) + sorted((folder / "logdirs").iterdir()):
        if path.is_dir():
            yield ["scalars", path.relative_to(ROOT).as_posix()]
            yield ["scalars", path.relative_to(ROOT).as_posix(), "-o", f"{OUT}/x.csv", "-o", f"{OUT}/x.svg"]
    for form in ("frozen.pb", "train.pb", "json"):
        old = f"fixtures/edits/base.{form}"
        for path in sorted((folder / "edits").glob(f"*.{form}")):
            new = path.relative_to(ROOT).as_posix()
            yield ["diff", old, new, "-o", f"{OUT}/x.svg"]
            yield ["diff", new, old, "--format", "json"]
            yield ["diff", old, new, "--format", "markdown"]


def is_input(path: Path) -> bool:
    """Return whether a path is handed to the commands: a file of a graph or log, or a SavedModel."""
    inside = {part for parent in path.parents for part in (parent.name,) if (parent / "saved_model.pb").is_file()}
    if path.is_dir():
        return (path / "saved_model.pb").is_file() or path.parent.name in ("logdirs", "logged", "steps")
    return not inside and path.suffix not in (".py", ".md", ".csv", ".toml", ".txt") and path.stat().st_size < 3_000_000


def graph_commands(paths: list[Path]) -> Iterator[list[str]]:
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        yield ["render", name, "-o", f"{OUT}/x.svg", "-o", f"{OUT}/x.json"]
        yield ["render", name, "-o", f"{OUT}/x.svg", "--open-all", "--direction", "LR"]
        yield ["render", name, "-o", f"{OUT}/x.svg", "--preset", "tensorboard"]
        yield ["info", name, "--json"]
    for old, new in zip(paths[::2], paths[1::2], strict=False):
        yield ["diff", old.relative_to(ROOT).as_posix(), new.relative_to(ROOT).as_posix(), "--format", "json"]


# Generated graphs


def write_graphs(seed: int, count: int) -> list[Path]:
    folder = KEPT / "graphs" / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number}.pb" for number in range(count)]
    for number, path in enumerate(paths):
        # Neighbours have one name: they are two versions of one graph, so that comparing them means something.
        path.write_bytes(graph_bytes(f"{seed} {number // 2}", edited=bool(number % 2)))
    return paths


def graph_bytes(name: str, edited: bool) -> bytes:
    """Draw a network or a program by its name; every second is an edited version of the one before."""
    from graphviz_tb.proto import GraphDef  # of this checkout

    graph = program(name) if name.endswith("0") else GraphDef(node=network(name))
    if edited:
        graph.node.add(name="extra/Elu", op="Elu", input=[graph.node[-1].name])
    return graph.SerializeToString()


# Running


def results(tree: Path, commands: list[list[str]], jobs: int, revision: str | None) -> Path:
    """Run the commands with the package of a tree; return the folder of their outputs, one a command."""
    key = hashlib.sha256(json.dumps(commands).encode()).hexdigest()[:12]
    folder = KEPT / "results" / (f"{revision}-{key}" if revision else "here")
    if revision and (folder / "done").is_file():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tree), str(Path(__file__).parent))),  # -P leaves out the folder of a script
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }

    def work(share: int) -> int:
        listed = folder / f"commands{share}.json"
        listed.write_text(
            json.dumps([[number, line] for number, line in enumerate(commands) if number % jobs == share])
        )
        words = [sys.executable, "-P", __file__, "--run", str(listed), str(folder)]
        return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode

    with ThreadPoolExecutor(jobs) as pool:
        if any(pool.map(work, range(jobs))):
            sys.exit(2)
    (folder / "done").touch()
    return folder


def run_commands(listed: Path, folder: Path) -> None:
    """Run each command in a fork of this process, its outputs and messages in a folder of its number."""
    from graphviz_tb.__main__ import main as tbgraph

    import_all()
    for number, line in json.loads(listed.read_text()):
        place = folder / str(number)
        place.mkdir()
        child = os.fork()
        if child == 0:
            run_one(tbgraph, [word.replace(OUT, str(place)) for word in line], place)
        stopped = time.monotonic() + SECONDS
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > stopped:
                os.kill(child, 9)
            time.sleep(0.002)


def import_all() -> None:
    """Import the whole package, before the first fork."""
    package = importlib.import_module("graphviz_tb")
    for found in pkgutil.walk_packages(package.__path__, "graphviz_tb."):
        if not found.name.endswith(("__main__", "pytest_plugin")):
            with contextlib.suppress(ImportError):  # parts that want what is not installed
                importlib.import_module(found.name)


def run_one(tbgraph: object, line: list[str], place: Path) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(place / name, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["tbgraph", *line]
    code: object = 0
    try:
        code = tbgraph()  # type: ignore[operator]
    except SystemExit as stopped:
        code = stopped.code
    except BaseException as error:
        code = f"{type(error).__name__}: {error}"
    sys.stdout.flush()
    sys.stderr.flush()
    (place / "exit").write_text(str(code or 0))
    os._exit(0)


# Comparing


def compare(commands: list[list[str]], base: Path, here: Path) -> int:
    """Print which commands differ in which output; keep both versions of these."""
    shutil.rmtree(KEPT / "differs", ignore_errors=True)
    differing = 0
    for number, line in enumerate(commands):
        old, new = outputs(base / str(number)), outputs(here / str(number))
        names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        if names:
            differing += 1
            print(f"differs in {', '.join(names)}: tbgraph {' '.join(line)}   [{number}]")
            for side, made in (("old", old), ("new", new)):
                place = KEPT / "differs" / str(number) / side
                place.mkdir(parents=True)
                for name in names:
                    (place / name).write_bytes(made.get(name, b""))
    print(f"{len(commands) - differing} of {len(commands)} commands give the same bytes")
    return 1 if differing else 0


def outputs(place: Path) -> dict[str, bytes]:
    """The files of one run, without the paths that only this run has."""
    return {path.name: path.read_bytes().replace(str(place).encode(), b"OUT") for path in place.iterdir()}


if __name__ == "__main__":
    sys.exit(main())
