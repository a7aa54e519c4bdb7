"""The whole pipeline at 10 … 1,000,000 nodes, beside a bare `GraphDef.FromString` and one loop over all nodes.

    python -m tests.bench.million [--nodes N …] [--keep DIR]

Every figure of one table comes from one run. CPU is user and system seconds of a process of its own, without what
importing numpy and protobuf costs; memory is the process's peak. Ratios are what counts: seconds depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SIZES = (10, 1_000, 10_000, 100_000, 1_000_000)

# What the real TensorBoard 2.21 took in headless Chromium on two cores: seconds from choosing the run to the first
# picture, and megabytes of browser heap.
TENSORBOARD = {10_000: (3.9, 81), 100_000: (15.2, 238), 1_000_000: (168.0, 2272)}

COMPILED = "PYTHONDONTWRITEBYTECODE"  # where it is set, each process compiles all modules anew
NOTHING = "import numpy, google.protobuf"

BASELINE = """
import numpy
import sys
from graphviz_tb.proto import GraphDef
graph = GraphDef.FromString(open(sys.argv[1], "rb").read())
count = 0
for node in graph.node:
    node.name, node.op
    for text in node.input:
        count += 1
"""

OURS = """
import sys
from graphviz_tb import load
load(sys.argv[1]).picture().save(sys.argv[1] + ".svg")
"""

GROUPS = """
import json, random, sys
from time import process_time
from graphviz_tb import load
from graphviz_tb.arrange import arrange
from graphviz_tb.place import place
from graphviz_tb.view.build import one_view
from graphviz_tb.view.node_labels import NodeLabels

model = load(sys.argv[1])
hierarchy = model.hierarchy
rows = [row for row in range(1, len(hierarchy)) if hierarchy.opens(row)]
large = sorted(rows, key=lambda row: int(row - hierarchy.end[row]))[:50]
some = random.Random(1).sample(rows, min(300, len(rows)))
node_labels = NodeLabels(hierarchy, lambda row: None)
model.metagraph((0,))
taken = []
for row in dict.fromkeys([*large, *some]):
    start = process_time()
    level = model.metagraph((row,))
    view = one_view(hierarchy, level, (row,), arrange(level), {}, node_labels, model.options.picture.max_annotations)
    place(view, model.options.picture)
    taken.append((process_time() - start, hierarchy.name[row]))
print(json.dumps(taken))
"""


def measure(code: str, *arguments: str) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a fresh Python that runs `code`, compiled before, as what is installed is."""
    wrapped = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', sys.argv[1], *sys.argv[2:]], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)\n"
    )
    command, environment = [sys.executable, "-c", wrapped, code, *arguments], {**os.environ, COMPILED: ""}
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    cpu, memory = done.stdout.split()[-2:]
    return float(cpu), float(memory)


def generate(nodes: int, folder: Path) -> Path:
    """A realistic training graph of about `nodes` nodes."""
    path = folder / f"gen_{nodes}.pb"
    if not path.exists():
        command = [sys.executable, str(ROOT / "fixtures" / "generate.py"), "--nodes", str(nodes), "-o", str(path)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return path


def table(sizes: list[int], folder: Path) -> None:
    """File to default picture, beside the baseline and what TensorBoard took."""
    start = statistics.median(measure(NOTHING)[0] for _ in range(3))
    head = f"{'nodes':>10} {'MB':>7} {'bare CPU s':>11} {'ours CPU s':>11} {'ratio':>6} {'us/node':>8}"
    print(f"{head} {'bare MB':>8} {'ours MB':>8} {'ratio':>6} {'TensorBoard s':>14} {'heap MB':>8}")
    for nodes in sizes:
        path = generate(nodes, folder)
        bare, bare_memory = measure(BASELINE, str(path))
        ours, memory = measure(OURS, str(path))
        theirs, heap = TENSORBOARD.get(nodes, (None, None))
        print(
            f"{nodes:>10,} {path.stat().st_size / 1e6:>7.1f} {bare - start:>11.2f} {ours - start:>11.2f} "
            f"{(ours - start) / max(bare - start, 1e-3):>6.2f} {(ours - start) / nodes * 1e6:>8.1f} "
            f"{bare_memory:>8.0f} {memory:>8.0f} {memory / bare_memory:>6.2f} "
            f"{theirs if theirs is not None else '–':>14} {heap if heap is not None else '–':>8}"
        )


def groups(nodes: int, folder: Path) -> None:
    """Opening groups of a loaded graph: expand, arrange and place, CPU milliseconds each."""
    path = generate(nodes, folder)
    done = subprocess.run(
        [sys.executable, "-c", GROUPS, str(path)], check=True, capture_output=True, text=True, cwd=ROOT
    )
    taken = sorted(json.loads(done.stdout))
    seconds, name = taken[-1]
    middle = statistics.median(entry[0] for entry in taken)
    print(f"opening {len(taken)} groups of {nodes:,} nodes:", end=" ")
    print(f"median {middle * 1000:.1f} ms, longest {seconds * 1000:.0f} ms")
    print(f"  ({name})")


def one_model(folder: Path) -> None:
    """A training graph of a twelve-layer encoder's size, file to SVG: the whole process, start-up included."""
    path = generate(12_670, folder)
    cpu = statistics.median(measure(OURS, str(path))[0] for _ in range(3))
    print(f"12,670 nodes, whole process from file to SVG: {cpu:.2f} s CPU (TensorBoard: 3.9 s to the first picture)")


def light_start() -> None:
    """`tbgraph --help` beside importing click, medians of 20."""
    ours = statistics.median(measure("from graphviz_tb.commands import run; run(['--help'])")[0] for _ in range(20))
    click = statistics.median(measure("import click")[0] for _ in range(20))
    print(f"tbgraph --help {ours * 1000:.0f} ms, import click {click * 1000:.0f} ms: {ours / click:.2f} times")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--keep", type=Path, help="make the graphs here and leave them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        table(arguments.nodes, folder)
        groups(max(arguments.nodes), folder)
        one_model(folder)
        light_start()


if __name__ == "__main__":
    main()
