"""Make graphs like those of neural networks, to bench on more than one of each size.

    python -m tests.bench.graphs DIR [--seeds N] [--nodes N…] [--ratio R…]

A chain of blocks, each of 1 to 4 branches of 1 to 4 ops, some with a residual edge; a fifth of all nodes are
constants that feed one op; then edges of geometric span (8 on average, 2 in 100 of up to 200) until the ratio is
reached.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any


def main() -> None:
    """Write the graphs, named NODES_RATIO_SEED.json."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.graphs", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50, 100, 500])
    parser.add_argument("--ratio", type=float, nargs="+", default=[1.3, 2.5])
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for nodes in chosen.nodes:
        for ratio in chosen.ratio:
            for seed in range(chosen.seeds):
                path = chosen.folder / f"{nodes}_{ratio}_{seed}.json"
                path.write_text(json.dumps(graph(nodes, ratio, seed)))


def graph(nodes: int, ratio: float, seed: int) -> dict[str, Any]:
    """One graph; node numbers rise along the edges, but for the constants, which come last."""
    random = Random(f"{nodes} {ratio} {seed}")
    ops = nodes * 4 // 5
    edges = blocks(random, ops)
    while len(edges) < ratio * nodes - (nodes - ops):
        span = random.randint(10, 200) if random.random() < 0.02 else geometric(random, 8)
        source = random.randrange(ops)
        if source + span < ops:
            edges.add((source, source + span))
    feeding = [(constant, random.randrange(ops)) for constant in range(ops, nodes)]
    boxes = [[random.randint(40, 180), random.randint(24, 44)] for _ in range(nodes)]
    return {"nodes": boxes, "edges": [list(edge) for edge in [*sorted(edges), *feeding]]}


def blocks(random: Random, ops: int) -> set[tuple[int, int]]:
    """The chain of blocks."""
    edges = set()
    entry, fresh = 0, 1
    while fresh < ops:
        ends = []
        for _ in range(random.randint(1, 4)):
            last = entry
            for _ in range(random.randint(1, 4)):
                if fresh < ops:
                    edges.add((last, fresh))
                    last, fresh = fresh, fresh + 1
            ends.append(last)
        if fresh < ops:
            edges |= {(end, fresh) for end in ends if end != entry}
            if random.random() < 0.3:
                edges.add((entry, fresh))
            entry, fresh = fresh, fresh + 1
    return edges


def geometric(random: Random, mean: int) -> int:
    """A geometric number from 1 on."""
    count = 1
    while random.random() > 1 / mean:
        count += 1
    return count


if __name__ == "__main__":
    main()
