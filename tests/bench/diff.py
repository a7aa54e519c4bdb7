"""Time and memory of a diff against those of loading both graphs.

python tests/bench/diff.py big.pb            time: loading both, then the diff of the file and a changed copy
python tests/bench/diff.py big.pb --memory   peak memory of either, each in a process of its own
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def changed(path: str, seed: int = 1) -> bytes:
    """The graph with a new scope on an edge, a renamed scope, another attribute and another input."""
    from graphviz_tb.formats.reading import read_source

    luck = random.Random(seed)
    graph = read_source(path).graph_def
    scopes = sorted({node.name.rpartition("/")[0] for node in graph.node} - {""})
    name = luck.choice(scopes)
    rename(graph, name, name + "_renamed")
    luck.choice(graph.node).attr["bench"].i = 7
    fed = [node for node in graph.node if node.input and not node.input[0].startswith("^")]
    first, second = luck.sample(fed, 2)
    second.input[0] = graph.node[0].name
    graph.node.add(name="bench_scope/a", op="Elu", input=[first.input[0]])
    graph.node.add(name="bench_scope/b", op="Selu", input=["bench_scope/a"])
    first.input[0] = "bench_scope/b"
    data: bytes = graph.SerializeToString()
    return data


def rename(graph: Any, old: str, new: str) -> None:
    """Another name for a scope."""
    for node in graph.node:
        if node.name.startswith(old + "/"):
            node.name = new + node.name[len(old) :]
        for at, text in enumerate(node.input):
            bare = text.removeprefix("^")
            if bare.startswith(old + "/"):
                node.input[at] = text[: len(text) - len(bare)] + new + bare[len(old) :]


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load_both(old: str, new: str) -> None:
    """Load both graphs and hold them."""
    from graphviz_tb import load

    start = process_time()
    models = [load(old), load(new)]
    print(f"load both  {process_time() - start:8.2f} s  {peak():8.0f} MB  {len(models)} models")


def diff_both(old: str, new: str) -> None:
    """The diff, from the files."""
    from graphviz_tb.diff.run import compare_sources  # imported before the clock starts
    from graphviz_tb.options import DiffOptions

    start = process_time()
    changes = compare_sources(old, new, DiffOptions(), {})
    print(f"diff       {process_time() - start:8.2f} s  {peak():8.0f} MB  {len(changes)} changes")
    print(changes.explain(limit=4), end="")


def main() -> None:
    """Run the bench, each part in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--copy", default=str(Path(tempfile.gettempdir()) / "bench_diff_copy.pb"))
    parser.add_argument("--part", choices=("copy", "load", "diff"))
    options = parser.parse_args()
    if options.part == "copy":
        Path(options.copy).write_bytes(changed(options.graph))
    elif options.part == "load":
        load_both(options.graph, options.copy)
    elif options.part == "diff":
        diff_both(options.graph, options.copy)
    else:
        for part in ("copy", "load", "diff"):
            command = [sys.executable, __file__, options.graph, "--copy", options.copy, "--part", part]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
