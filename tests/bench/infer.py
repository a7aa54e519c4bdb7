"""What inferring shapes costs beside reading and folding, on graphs whose listed shapes were taken off.

    python -m tests.bench.infer [--nodes N …] [--keep DIR]

CPU seconds of one process each: `flatten + group`; the closed picture with `--no-infer` and with inference, which asks
for what is shown only; then the shapes of every output, and the costs of every op. Ratios are what counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.million import ROOT, generate

SIZES = (1_000, 100_000, 1_000_000)
MOST = (
    1.2  # of the closed picture without inference, in a large graph: a small picture shows a larger part of its graph
)
LARGE = 1_000_000

STRIP = """
import sys
from graphviz_tb.proto import GraphDef
graph = GraphDef.FromString(open(sys.argv[1], "rb").read())
for node in graph.node:
    node.attr.pop("_output_shapes", None)
open(sys.argv[2], "wb").write(graph.SerializeToString())
"""

MEASURE = """
import json, sys
from time import process_time
from graphviz_tb import load
from tests.flat import flatten
from graphviz_tb.group import group
from graphviz_tb.read import read

taken = {}

def timed(name, work):
    start = process_time()
    made = work()
    taken[name] = taken.get(name, 0) + process_time() - start
    return made

if sys.argv[2] == "fold":
    graph_def = read(sys.argv[1]).graph_def
    timed("fold", lambda: group(flatten(graph_def)))
else:
    infer = sys.argv[2] == "infer"
    model = timed("picture", lambda: load(sys.argv[1], infer=infer))
    timed("picture", lambda: model.render("svg"))
    if infer:
        timed("shapes", model.shapes)
        timed("costs", lambda: model.cost)
print(json.dumps(taken))
"""


def stripped(nodes: int, folder: Path) -> Path:
    """A generated graph whose shapes are to be inferred."""
    path = folder / f"bare_{nodes}.pb"
    if not path.exists():
        subprocess.run([sys.executable, "-c", STRIP, str(generate(nodes, folder)), str(path)], check=True, cwd=ROOT)
    return path


def measure(path: Path, how: str) -> dict[str, float]:
    """CPU seconds by name: the least of three runs, of two for large files."""
    runs = []
    for _ in range(3 if path.stat().st_size < 50e6 else 2):
        command = [sys.executable, "-c", MEASURE, str(path), how]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        runs.append(json.loads(done.stdout))
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    """Print the table; the exit code is 1 where inference takes more of a closed picture than it may."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--keep", type=Path, help="make the graphs here and leave them")
    arguments = parser.parse_args()
    print(f"{'nodes':>10} {'flatten+group':>14} {'picture bare':>13} {'with infer':>11} {'ratio':>6}", end="")
    print(f" {'all shapes':>11} {'of fold':>8} {'all costs':>10} {'of fold':>8}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as temporary:
        for nodes in arguments.nodes:
            path = stripped(nodes, arguments.keep or Path(temporary))
            fold, bare, full = measure(path, "fold"), measure(path, "bare"), measure(path, "infer")
            ratio = full["picture"] / bare["picture"]
            worst = max(worst, ratio if nodes >= LARGE else 0.0)
            print(f"{nodes:>10,} {fold['fold']:>14.3f} {bare['picture']:>13.3f} {full['picture']:>11.3f} {ratio:>6.2f}",
                  end="")  # fmt: skip
            for name in ("shapes", "costs"):
                print(f" {full[name]:>{11 - (name == 'costs')}.3f} {full[name] / fold['fold']:>8.2f}", end="")
            print()
    sys.exit(worst > MOST)


if __name__ == "__main__":
    main()
