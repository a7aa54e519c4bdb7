"""What a page costs: its size, the time to write it, and in a browser the first picture, opening a group, a pan.

    python -m tests.bench.page [--nodes N …] [--keep DIR]

CPU is user and system seconds of a process of its own, the start included. Milliseconds are medians in headless
Chromium; a pan is the main thread's work in a frame at the 95th percentile, from the trace.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from graphviz_tb.proto import GraphDef
from tests.bench.million import TENSORBOARD, generate, measure

HERE = Path(__file__).parent
SIZES = (1_000, 12_670)
MOST_OPEN = 5_000
WRITE = """
import sys
from graphviz_tb import load
load(sys.argv[1], folds=sys.argv[4] == "True").save(sys.argv[2], **eval(sys.argv[3]))
"""
OPEN_ALL = {"open_all": True, "max_open": MOST_OPEN}


def browse(page: Path, *arguments: str) -> dict[str, Any]:
    """What a browser makes of a page; empty where there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None or shutil.which("node") is None:
        return {}
    command = ["node", str(HERE / "page.js"), str(page), *arguments]
    environment = {**os.environ, "TBGRAPH_BROWSER_PATH": program}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


def line(what: str, graph: Path, page: Path, *arguments: str, folds: bool = True, **choices: Any) -> None:
    """One line of the table."""
    cpu, _ = measure(WRITE, str(graph), str(page), repr(choices), str(folds))
    seen = browse(page, *arguments)
    told = [f"{seen[key]:>9.1f}" if seen.get(key) is not None else f"{'–':>9}" for key in ("first", "open", "pan")]
    print(f"{what:>22} {page.stat().st_size / 1e6:>7.2f} {cpu:>7.2f} {' '.join(told)} {seen.get('boxes', '–'):>7}")


def wide(folder: Path) -> Path:
    """A graph with a group of a thousand children, each the input of the next but one."""
    graph = GraphDef()
    for at in range(1_000):
        node = graph.node.add(name=f"wide/n{at}_x", op="Relu")
        if at > 1:
            node.input.append(f"wide/n{at - 2}_x")
    path = folder / "wide.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        measure("import graphviz_tb.page.build")
        print(f"{'page':>22} {'MB':>7} {'CPU s':>7} {'first ms':>9} {'open ms':>9} {'pan ms':>9} {'boxes':>7}")
        for nodes in options.nodes:
            line(f"{nodes:,} nodes", generate(nodes, folder), folder / f"page_{nodes}.html")
        most = generate(max(options.nodes), folder)
        line("everything open", most, folder / "open.html", **OPEN_ALL)
        line("1,000 in one group", wide(folder), folder / "wide.html", "wide", folds=False, depth=0)
    told = ", ".join(f"{nodes:,} nodes {seconds} s" for nodes, (seconds, _) in TENSORBOARD.items())
    print(f"TensorBoard, from choosing the run to the first picture: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
