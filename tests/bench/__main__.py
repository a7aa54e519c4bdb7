"""All benches in small sizes, one after the other: `python -m tests.bench`, which is `make bench`.

Each can be run alone, on larger graphs and with more options: `python -m tests.bench.layout --help` and so on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.graphs import graph

ROOT = Path(__file__).parents[2]
SIZES = ((20, 1.3), (20, 2.5), (100, 1.3), (100, 2.5), (500, 1.3))
DIFFED = "fixtures/real/lstm_dynamic_rnn.pb"
READ = ("fixtures/real/mnist_cnn.pbtxt", "fixtures/real/lstm_dynamic_rnn.pb")


def main() -> int:
    """Print every table; the number of benches that failed."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        benches = {
            "layout": [*graphs(folder), "--limit", "20"],
            "read": [*READ],
            "million": ["--nodes", "10", "1000", "10000", "--keep", temporary],
            "infer": ["--nodes", "1000", "10000", "--keep", temporary],
            "page": ["--keep", temporary],
            "jobs": ["--keep", temporary, "--runs", "1", "--only", "a picture of two ops", "a picture of 16,000 nodes"],
            "logged": ["--size", "0.02"],
            "diff": [DIFFED, "--copy", str(folder / "copy.pb")],
        }
        return sum(bench(name, arguments) for name, arguments in benches.items())


def bench(name: str, arguments: list[str]) -> bool:
    """Run one bench in a process of its own; whether it failed."""
    print(f"\n== {name} ==", flush=True)
    command = [sys.executable, "-m", f"tests.bench.{name}", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode != 0


def graphs(folder: Path) -> list[str]:
    """Write one generated graph of each size."""
    paths = []
    for nodes, ratio in SIZES:
        path = folder / f"{nodes}_{ratio}.json"
        path.write_text(json.dumps(graph(nodes, ratio, 0)))
        paths.append(str(path))
    return paths


if __name__ == "__main__":
    sys.exit(main())
