"""Lay out graphs with every engine present, print CPU seconds, and write the drawings.

    python -m tests.bench.layout GRAPH.json… [--engine NAME…] [--limit SECONDS] [--dump DIR] [--history FILE]

Times are CPU seconds, warm: the median of 3 where one takes under 5 s; beside them how many times as long as
`layered` an engine took in this run. A file that holds a list of graphs is only timed: the sum and the time for each
graph. Drawings are named ENGINE__GRAPH.json. Each run adds a line to the history: the date, the version, and by graph
and engine the seconds (null: over the limit).
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from statistics import geometric_mean, median

from graphviz_tb import __version__
from tests.bench.engines import Drawing, Graph, Run, present

HISTORY = Path(__file__).with_name("history.jsonl")
OURS = "layered"
Seconds = dict[str, float | None]  # by engine; None where it took longer than the limit


def main() -> None:
    """One line for each engine and graph."""
    engines = present()
    parser = argparse.ArgumentParser(prog="python -m tests.bench.layout", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("graphs", nargs="+", type=Path, metavar="GRAPH.json")
    parser.add_argument("--engine", nargs="+", action="extend", choices=sorted(engines), metavar="NAME")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--dump", type=Path, metavar="DIR")
    parser.add_argument("--history", type=Path, default=HISTORY, metavar="FILE")
    chosen = parser.parse_args()
    names = sorted(dict.fromkeys(chosen.engine or engines), key=lambda name: name != OURS)
    print(f"{'engine':10} {'graph':24} {'CPU s':>9} {'÷ ' + OURS:>10}")
    found = {path.stem: one(path, {name: engines[name] for name in names}, chosen) for path in chosen.graphs}
    summary(found)
    remember(chosen.history, found)


def one(path: Path, engines: dict[str, Run], chosen: argparse.Namespace) -> Seconds:
    """Lay out one file with each engine; print, and dump where asked to."""
    data = json.loads(path.read_text())
    taken: Seconds = {}
    for name, run in engines.items():
        each = ""
        if isinstance(data, list):
            taken[name] = used = series(run, data, chosen.limit)
            each = "" if used is None else f"  ({1000 * used / len(data):.2f} ms each of {len(data)})"
        else:
            found = timed(run, data, chosen.limit)
            taken[name] = found[0] if found else None
            if found and chosen.dump:
                dump(chosen.dump, name, path, found[1])
        seconds = taken[name]
        shown = "over" if seconds is None else f"{seconds:9.4f}"
        print(f"{name:10} {path.stem:24} {shown:>9} {times(taken, name):>10}{each}", flush=True)
    return taken


def ratio(taken: Seconds, name: str) -> float | None:
    """How many times as long as ours an engine took."""
    theirs, ours = taken.get(name), taken.get(OURS)
    return theirs / ours if theirs and ours and name != OURS else None


def times(taken: Seconds, name: str) -> str:
    """The same, to print."""
    found = ratio(taken, name)
    return "" if found is None else f"{found:.1f}"


def summary(found: dict[str, Seconds]) -> None:
    """Each engine beside ours over all graphs that both laid out."""
    for name in dict.fromkeys(name for taken in found.values() for name in taken):
        ratios = [number for taken in found.values() if (number := ratio(taken, name))]
        if len(ratios) > 1:
            told = f"least {min(ratios):.1f}, geometric mean {geometric_mean(ratios):.1f} of {len(ratios)} graphs"
            print(f"{name} ÷ {OURS}: {told}")


def remember(history: Path, found: dict[str, Seconds]) -> None:
    """Add this run to the history."""
    rounded = {
        graph: {name: seconds and round(seconds, 5) for name, seconds in taken.items()}
        for graph, taken in found.items()
    }
    entry = {"date": date.today().isoformat(), "version": __version__, "seconds": rounded}
    history.parent.mkdir(parents=True, exist_ok=True)
    with history.open("a") as file:
        file.write(json.dumps(entry) + "\n")


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


def series(run: Run, graphs: list[Graph], limit: float) -> float | None:
    """All graphs of a list once, after one to warm up: the sum, or None where that is over the limit."""
    run(graphs[0], limit)
    used = 0.0
    for graph in graphs:
        found = run(graph, limit)
        if found is None or used > limit:
            return None
        used += found[0]
    return used


def dump(folder: Path, engine: str, graph: Path, drawing: Drawing) -> None:
    """Write a drawing as the scorer reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {"engine": engine, "graph": graph.name, "pos": drawing[0], "edges": drawing[1]}
    (folder / f"{engine}__{graph.name}").write_text(json.dumps(data))


if __name__ == "__main__":
    main()
