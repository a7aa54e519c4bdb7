"""Lay out graphs with every engine present, print CPU seconds, and write the drawings.

    python -m tests.bench.layout GRAPH.json… [--engine NAME…] [--limit SECONDS] [--dump DIR]

Times are CPU seconds, warm: the median of 3 where one takes under 5 s. A file that holds a list of graphs is only
timed: the sum and the time for each graph. Drawings are named ENGINE__GRAPH.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

from tests.bench.engines import Drawing, Graph, Run, present


def main() -> None:
    """One line for each engine and graph."""
    engines = present()
    parser = argparse.ArgumentParser(prog="python -m tests.bench.layout", description=__doc__)
    parser.add_argument("graphs", nargs="+", type=Path, metavar="GRAPH.json")
    parser.add_argument("--engine", nargs="+", action="extend", choices=sorted(engines), metavar="NAME")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--dump", type=Path, metavar="DIR")
    chosen = parser.parse_args()
    print(f"{'engine':10} {'graph':24} {'CPU s':>9}")
    for path in chosen.graphs:
        data = json.loads(path.read_text())
        for name in dict.fromkeys(chosen.engine or engines):
            if isinstance(data, list):
                print(f"{name:10} {path.stem:24} {series(engines[name], data, chosen.limit)}", flush=True)
                continue
            found = timed(engines[name], data, chosen.limit)
            print(f"{name:10} {path.stem:24} {'over' if found is None else f'{found[0]:9.4f}'}", flush=True)
            if found is not None and chosen.dump:
                dump(chosen.dump, name, path, found[1])


def timed(run: Run, graph: Graph, limit: float) -> tuple[float, Drawing] | None:
    """The median of 3 warm runs where one takes under 5 s, else the one."""
    found = run(graph, limit)
    if found is None or found[0] >= 5:
        return found
    times = []
    for _ in range(3):
        again = run(graph, limit)
        if again is not None:
            times.append(again[0])
    return median(times or [found[0]]), found[1]


def series(run: Run, graphs: list[Graph], limit: float) -> str:
    """All graphs of a list once, after one to warm up."""
    run(graphs[0], limit)
    used = 0.0
    for graph in graphs:
        found = run(graph, limit)
        if found is None or used > limit:
            return "over"
        used += found[0]
    return f"{used:9.4f}  ({1000 * used / len(graphs):.2f} ms each of {len(graphs)})"


def dump(folder: Path, engine: str, graph: Path, drawing: Drawing) -> None:
    """Write a drawing as the scorer reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {"engine": engine, "graph": graph.name, "pos": drawing[0], "edges": drawing[1]}
    (folder / f"{engine}__{graph.name}").write_text(json.dumps(data))


if __name__ == "__main__":
    main()
