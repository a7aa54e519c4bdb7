"""Order the children of a level along its data edges."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from graphviz_tb.algorithms.topological import longest_path_lengths, topological_order
from graphviz_tb.model.metagraph import Metaedge


def tensorboard_order(edges: Sequence[Metaedge]) -> dict[int, int]:
    """Return TensorBoard's order: breadth first from the sources, where the last visit counts.

    Its preset keeps the errors of this order: a → b → c → d, a → d, d → e gives e before d.
    """
    after: dict[int, list[int]] = {}
    targets = set()
    for edge in edges:
        if edge.tensors:
            after.setdefault(edge.source, []).append(edge.target)
            targets.add(edge.target)
    queue = deque(node for node in after if node not in targets)
    order: dict[int, int] = {}
    done: set[int] = set()
    count = 0
    while queue:
        node = queue.popleft()
        order[node] = count
        count += 1
        # A node is numbered at each visit but followed only once: that makes the order wrong.
        if node not in done:
            done.add(node)
            queue.extend(after.get(node, ()))
    return order


def data_order(edges: Sequence[Metaedge]) -> dict[int, int]:
    """Return the length of the longest path of data edges to each child; children on cycles have none.

    >>> line = [Metaedge(0, 1, 1, 0, 0), Metaedge(1, 2, 1, 0, 0), Metaedge(0, 2, 1, 0, 0)]
    >>> data_order(line)
    {0: 0, 1: 1, 2: 2}
    """
    data = [edge for edge in edges if edge.tensors]
    nodes = list(dict.fromkeys(node for edge in data for node in (edge.source, edge.target)))
    index = {node: number for number, node in enumerate(nodes)}
    after: list[list[int]] = [[] for _ in nodes]
    for edge in data:
        after[index[edge.source]].append(index[edge.target])
    order = topological_order(after)
    depth = longest_path_lengths(after, order)
    return {nodes[number]: depth[number] for number in order}
