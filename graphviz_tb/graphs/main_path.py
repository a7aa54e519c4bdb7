"""The main path of a level, which a reader follows from input to output, and the main tributary beside it.

x ─▶ a ─▶ b ─▶ c ─▶ out        main path
          ▲
y ─▶ d ─▶ e ─▶ f ─▶ end        tributary: it begins with another input
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.graphs.traversal import topological_order
from graphviz_tb.model.skeleton import Skeleton, backward_wires

MIN_TRIBUTARY_BOXES = 3  # boxes with data results; a shorter chain is no path


def main_path(count: int, edges: Sequence[tuple[int, int]], weights: Sequence[int], boxes: int) -> tuple[int, ...]:
    """Return the edges, by index, of the path through the most boxes with data results.

    Boxes that compute indices from data count negatively. Ties are decided by the sum of weights, then by the number of
    edges, then by the order of items in the file. Before: there is no cycle; items from `boxes` on are ports. Edges of
    weight 0 are on no path; edges of negative weight carry only indices, sizes and masks.

    >>> main_path(4, [(0, 1), (1, 2), (0, 2), (1, 3)], [1, 2, 9, 3], 4)
    (0, 3)
    >>> main_path(3, [(0, 1), (1, 2), (0, 2)], [1, -1, 1], 3)
    (2,)
    """
    successors: list[list[int]] = [[] for _ in range(count)]
    outgoing: list[list[int]] = [[] for _ in range(count)]
    for edge, (source, target) in enumerate(edges):
        if weights[edge]:
            successors[source].append(target)
            outgoing[source].append(edge)
    fed_items = {target for (_, target), weight in zip(edges, weights, strict=True) if weight > 0}
    next_edge = [-1] * count  # by item the first edge of its best path; -1: none
    best = [(0, 0, 0)] * count  # by item: boxes with data results, load of data, edges
    # Backwards from the ends.
    for item in reversed(topological_order(successors)):
        step = 1 if item < boxes else 0
        for edge in outgoing[item]:
            after, weight = edges[edge][1], weights[edge]
            data, load, length = best[after]
            gain = step if weight > 0 else -step if item in fed_items else 0
            candidate = (data + gain, load + max(weight, 0), length + 1)
            if next_edge[item] < 0 or (*candidate, -after) > (*best[item], -edges[next_edge[item]][1]):
                best[item], next_edge[item] = candidate, edge
    current = max(range(count), key=lambda item: (*best[item], -item), default=0)
    path = []
    while count and next_edge[current] >= 0:
        path.append(next_edge[current])
        current = edges[next_edge[current]][1]
    return tuple(path)


def tributaries(
    edges: Sequence[tuple[int, int]], weights: Sequence[int], boxes: int, path: Sequence[int]
) -> tuple[int, ...]:
    """Return the edges of the main path among items off `path` that begins with an input; () if there is none.

    Such a path is an encoder beside a decoder, or a second tower. The other arguments are those of `main_path`.

    >>> level = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7), (7, 2), (7, 8)]
    >>> tributaries(level, [1] * 8, 9, (3, 4, 5, 6)), tributaries(level, [1] * 8, 9, (0, 1, 2))
    ((), (3, 4, 5, 7))
    """
    on_path = {end for edge in path for end in edges[edge]}
    off_path = [
        edge
        for edge, (source, target) in enumerate(edges)
        if weights[edge] and not (source in on_path or target in on_path)
    ]
    if sum(weights[edge] > 0 for edge in off_path) < MIN_TRIBUTARY_BOXES - 1:
        return ()
    local = {item: number for number, item in enumerate(sorted({end for edge in off_path for end in edges[edge]}))}
    inner = [(local[edges[edge][0]], local[edges[edge][1]]) for edge in off_path]
    box_count = sum(item < boxes for item in local)
    found = [off_path[edge] for edge in main_path(len(local), inner, [weights[edge] for edge in off_path], box_count)]
    fed = {edges[edge][1] for edge in range(len(edges)) if weights[edge]}
    source_boxes = {edges[edge][0] for edge in found if weights[edge] > 0 and edges[edge][0] < boxes}
    return tuple(found) if len(source_boxes) >= MIN_TRIBUTARY_BOXES and edges[found[0]][0] not in fed else ()


def main_paths(skeleton: Skeleton, thick: Sequence[int]) -> tuple[int, ...]:
    """Return the main path of each part and its tributary, as indices of wires.

    `thick` is the thickness of each wire: below 0 for one that carries only indices, sizes and masks, 0 without data.
    """
    # Parts as drawn: boxes inserted by hand may have joined two.
    part_of = {item: number for number, part in enumerate(skeleton.parts) for row in part for item in row}
    wires: list[list[int]] = [[] for _ in skeleton.parts]
    backward = backward_wires(skeleton)
    for number, wire in enumerate(skeleton.wires):
        wires[part_of[wire.chain[0]]].append(number)
    main_edges: list[int] = []
    for part_wires in wires:
        ends = [(skeleton.wires[number].chain[0], skeleton.wires[number].chain[-1]) for number in part_wires]
        local_of = {item: index for index, item in enumerate(sorted({item for pair in ends for item in pair}))}
        weights = [0 if number in backward else thick[number] for number in part_wires]
        edges = [(local_of[source], local_of[target]) for source, target in ends]
        boxes = sum(item < skeleton.children for item in local_of)
        main = main_path(len(local_of), edges, weights, boxes)
        main_edges += [part_wires[edge] for edge in (*main, *tributaries(edges, weights, boxes, main))]
    return tuple(main_edges)
