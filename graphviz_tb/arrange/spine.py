"""The main path of a level: what a reader follows from input to output."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.algorithms.topological import topological
from graphviz_tb.model.skeleton import Skeleton


def spine(count: int, edges: Sequence[tuple[int, int]], weights: Sequence[int], boxes: int) -> tuple[int, ...]:
    """Of all paths through the most boxes the one that carries the most, as the numbers of its edges from its start.

    Before: no cycle; items from `boxes` on are ports; edges with weight 0 are no data and not part of any path.
    After: among equal paths the one whose items come first in the file.

    >>> spine(4, [(0, 1), (1, 2), (0, 2), (1, 3)], [1, 2, 9, 3], 4)
    (0, 3)
    """
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    out: list[list[int]] = [[] for _ in range(count)]
    for edge, (source, target) in enumerate(edges):
        if weights[edge]:
            above[target].append(source)
            below[source].append(target)
            out[source].append(edge)
    length, carried, onward = [0] * count, [0] * count, [-1] * count
    # From the ends back: by item the most boxes and the greatest load of any path from it, and its first edge.
    for item in reversed(topological(below)):
        length[item] = 1 if item < boxes else 0
        for edge in out[item]:
            after = edges[edge][1]
            steps, load = length[after] + (1 if item < boxes else 0), carried[after] + weights[edge]
            if onward[item] < 0 or (steps, load, -after) > (length[item], carried[item], -edges[onward[item]][1]):
                length[item], carried[item], onward[item] = steps, load, edge
    current = max(range(count), key=lambda item: (length[item], carried[item], -item), default=0)
    path = []
    while count and onward[current] >= 0:
        path.append(onward[current])
        current = edges[onward[current]][1]
    return tuple(path)


def spines(skeleton: Skeleton, thick: Sequence[int]) -> tuple[int, ...]:
    """The main path of each part, as numbers of wires; `thick` is how thick each wire is, 0 for one without data."""
    # Parts as they are drawn: boxes put in by hand may have joined two.
    part_of = {item: number for number, part in enumerate(skeleton.parts) for row in part for item in row}
    wires: list[list[int]] = [[] for _ in skeleton.parts]
    for number, wire in enumerate(skeleton.wires):
        wires[part_of[wire.chain[0]]].append(number)
    main_edges: list[int] = []
    for inside in wires:
        ends = [(skeleton.wires[number].chain[0], skeleton.wires[number].chain[-1]) for number in inside]
        local = {item: index for index, item in enumerate(sorted({item for pair in ends for item in pair}))}
        weights = [0 if skeleton.wires[number].turned else thick[number] for number in inside]
        edges = [(local[source], local[target]) for source, target in ends]
        boxes = sum(item < skeleton.children for item in local)
        main_edges += [inside[edge] for edge in spine(len(local), edges, weights, boxes)]
    return tuple(main_edges)
