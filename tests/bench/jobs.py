"""CPU of whole jobs, beside those of another version: file to picture, JSON and page, start included.

    python -m tests.bench.jobs [FILE…] [--against REV] [--runs N] [--only JOB…] [--keep DIR]

Without files, generated graphs; with files, picture, JSON and page of each. Programs of people are less regular than
what is generated: `python fixtures/make.py --out DIR bert_adam resnet50_sgd inception_flat` makes some with TensorFlow.
A job is a process of its own. Versions run in turn, and of each the shortest run counts: the ratio says more than
seconds, which depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.million import COMPILED, ROOT, generate

TWO = 'node { name: "x" op: "Placeholder" } node { name: "y" op: "Relu" input: "x" }'
JOBS = {  # nodes, format
    "a picture of two ops": (2, "svg"),
    "a picture of 16,000 nodes": (16_000, "svg"),
    "a picture of 100,000 nodes": (100_000, "svg"),
    "JSON of 16,000 nodes": (16_000, "json"),
    "a page of 16,000 nodes": (16_000, "html"),
}
OF_FILE = {"a picture of {}": "svg", "JSON of {}": "json", "a page of {}": "html"}


def main() -> None:
    """Print one line a job."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.jobs", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    parser.add_argument("--against", metavar="REV")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--keep", type=Path, metavar="DIR")
    chosen = parser.parse_args()
    with TemporaryDirectory() as temporary, checked_out(chosen.against, Path(temporary)) as trees:
        generated = () if chosen.files else chosen.only
        jobs = [(job, JOBS[job][1], made(JOBS[job][0], chosen.keep or Path(temporary))) for job in generated]
        jobs += [
            (job.format(file.name), form, file.resolve()) for file in chosen.files for job, form in OF_FILE.items()
        ]
        for job, form, source in jobs:
            runs = [[seconds(tree, source, form, Path(temporary)) for tree in trees] for _ in range(chosen.runs)]
            best = [min(times) for times in zip(*runs, strict=True)]
            ratio = f"{best[0] / best[-1]:>8.2f}" if len(best) > 1 else ""
            print(f"{job:<36}" + "".join(f"{cpu:>8.2f}" for cpu in best) + ratio, flush=True)


@contextmanager
def checked_out(revision: str | None, folder: Path) -> Iterator[list[Path]]:
    """This version, and the other one in a folder of its own."""
    if revision is None:
        yield [ROOT]
        return
    other = folder / "other"
    subprocess.run(["git", "worktree", "add", "--detach", str(other), revision], cwd=ROOT, check=True)
    try:
        yield [ROOT, other]
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)


def made(nodes: int, folder: Path) -> Path:
    """A graph of so many nodes."""
    if nodes > 2:
        return generate(nodes, folder)
    path = folder / "two.pbtxt"
    path.write_text(TWO)
    return path


def seconds(tree: Path, source: Path, format: str, folder: Path) -> float:
    """User and system seconds of `tbgraph render` as one version has it, compiled before."""
    environment = {**os.environ, COMPILED: "", "PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    before = os.times()
    command = [sys.executable, "-m", "graphviz_tb", "render", str(source), "-q", "-o", str(folder / f"out.{format}")]
    subprocess.run(command, cwd=tree, env=environment, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
