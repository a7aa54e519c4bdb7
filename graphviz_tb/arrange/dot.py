"""The engine `dot_ranks`: Graphviz decides ranks and order.

One process lays out all parts of a level, each as a graph of boxes of one size with polylines, and with ports pinned to
the outer ranks. The y of a node is its rank, and items of a rank are in the order of their x; a waypoint is where its
line passes the rank. After the time limit, or if the program fails, `layered_ranks` lays the level out.
"""

from __future__ import annotations

import subprocess
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pydot
from graphviz.backend.dot_command import command

from graphviz_tb.arrange.component import ArrangeOptions, Component, Ranks
from graphviz_tb.arrange.layered import layered_ranks
from graphviz_tb.arrange.layered.rank import split_long_edges
from graphviz_tb.errors import ToolFailed, ToolMissing
from graphviz_tb.limits import MAX_BEST_DOT_BOXES, MAX_DOT_ITEMS
from graphviz_tb.model.notice import Notice

PlainPoint = tuple[float, float]
PlainLayout = tuple[dict[int, PlainPoint], dict[tuple[int, int], list[list[PlainPoint]]]]
QUICK_DOT_OPTIONS = {"nslimit": "2", "nslimit1": "2", "mclimit": "0.5"}  # a quarter of the time, no more crossings
DOT_NODE_ATTRIBUTES = {"shape": "box", "fixedsize": "true", "width": "0.5", "height": "0.25", "label": ""}


def dot_ranks(parts: Sequence[Component], options: ArrangeOptions) -> list[Ranks]:
    """Return the ranks of each part in the order of Graphviz; those of `layered_ranks` after the time limit, for a
    level too large for it, or if a quick order is requested.

    Raises ToolMissing if the program `dot` is not installed.
    """
    if options.quick:
        return layered_ranks(parts, options)
    drawings = dict(enumerate(layered_ranks([part if part.count == 1 else EMPTY_COMPONENT for part in parts], options)))
    numbers = [number for number, part in enumerate(parts) if part.count > 1]
    large = sum(parts[number].count + len(parts[number].edges) for number in numbers) > MAX_DOT_ITEMS
    text: str | None = ""
    if numbers:
        text = None if large else _run_dot("\n".join(_dot_source(parts[number]) for number in numbers), options.limit)
    if text is None:
        took = "would take" if large else "took"
        late = f"dot {took} more than {options.limit} s for a level; it is laid out by the engine layered"
        notices = (Notice("engine-limit", late, strict=False),)
        return [replace(laid, notices=notices) for laid in layered_ranks(parts, options)]
    plains = list(_parse_plain(text))
    if len(plains) != len(numbers):
        raise ToolFailed("the program 'dot' printed no positions: it is not that of Graphviz")
    for number, plain in zip(numbers, plains, strict=True):
        drawings[number] = _ranks_from_plain(parts[number], plain)
    return [drawings[number] for number in range(len(parts))]


EMPTY_COMPONENT = Component(0, ())


def _dot_source(part: Component) -> str:
    graph = pydot.Dot(
        "part",
        graph_type="digraph",
        splines="polyline",
        **(QUICK_DOT_OPTIONS if part.count > MAX_BEST_DOT_BOXES else {}),
    )
    graph.set_node_defaults(**DOT_NODE_ATTRIBUTES)
    graph.set_edge_defaults(arrowhead="none")
    for node in range(part.count):
        graph.add_node(pydot.Node(str(node)))
    for ports, rank in ((part.first, "source"), (part.last, "sink")):
        if ports:
            same = pydot.Subgraph(rank=rank)
            for node in sorted(ports):
                same.add_node(pydot.Node(str(node)))
            graph.add_subgraph(same)
    for upper, lower in part.edges:
        graph.add_edge(pydot.Edge(str(upper), str(lower)))
    return str(graph.to_string())


def _run_dot(text: str, limit: int) -> str | None:
    """Return the output of `dot -Tplain`, or None after the time limit."""
    try:
        done = subprocess.run(
            command("dot", "plain"),
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit,
            check=False,
        )
    except FileNotFoundError:
        hint = "install Graphviz (apt-get install graphviz, brew install graphviz), or use the engine 'layered'"
        raise ToolMissing("the program 'dot' of Graphviz is not installed", hint=hint) from None
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise ToolFailed(f"dot stopped with an error: {done.stderr.strip()[-400:]}")
    return done.stdout


def _parse_plain(text: str) -> Iterator[PlainLayout]:
    """Yield the positions of nodes and lines for each graph of the output; y grows downward."""
    nodes: dict[int, PlainPoint] = {}
    lines: dict[tuple[int, int], list[list[PlainPoint]]] = {}
    for line in text.splitlines():
        words = line.split() or [""]
        if words[0] == "node":  # node name x y width height label …; lengths in inches
            nodes[int(words[1])] = (float(words[2]), -float(words[3]))
        elif words[0] == "edge":  # edge tail head n x1 y1 … xn yn …
            # Y grows upward in Graphviz.
            points = [(float(words[4 + 2 * i]), -float(words[5 + 2 * i])) for i in range(int(words[3]))]
            lines.setdefault((int(words[1]), int(words[2])), []).append(points)
        elif words[0] == "stop":
            yield nodes, lines
            nodes, lines = {}, {}


def _ranks_from_plain(part: Component, plain: PlainLayout) -> Ranks:
    """Rank by y, order by x, with waypoints where the lines pass.

    >>> lines = {(0, 2): [[(1.0, 0.2), (1.4, 1.0), (1.0, 1.8)]]}
    >>> plain = {0: (1.0, 0.0), 1: (0.0, 1.0), 2: (1.0, 2.0)}, lines
    >>> _ranks_from_plain(Component(3, ((0, 1), (1, 2), (0, 2))), plain).ranks
    [[0], [1, 3], [2]]
    """
    nodes, lines = plain
    # In hundredths of an inch: ranks are farther apart, and boxes of one rank differ by rounding only.
    heights = sorted({round(y * 100) for _, y in nodes.values()})
    laid = split_long_edges(
        part,
        _pin_ports(
            part, [bisect_left(heights, round(y * 100)) for _, y in (nodes[node] for node in range(part.count))]
        ),
    )
    across = {node: nodes[node][0] for node in range(part.count)}
    unused_lines = {ends: list(points) for ends, points in lines.items()}
    height = {item: nodes[row[0]][1] for row in laid.ranks for item in row}
    for ends, chain in zip(part.edges, laid.chains, strict=True):
        # Each parallel edge has its line.
        line = unused_lines[ends].pop(0) if unused_lines.get(ends) else [nodes[ends[0]], nodes[ends[1]]]
        for item in chain[1:-1]:
            across[item] = _x_at_height(line, height[item])
    rows = [sorted(row, key=lambda item: (across[item], item)) for row in laid.ranks]
    return Ranks(rows, laid.chains)


def _pin_ports(part: Component, ranks: list[int]) -> list[int]:
    """Return the ranks with the ports alone on the outer ranks."""
    if part.first:
        down = 1 - min((1, *(rank for node, rank in enumerate(ranks) if node not in part.first)))
        ranks = [0 if node in part.first else rank + down for node, rank in enumerate(ranks)]
    bottom = max((rank for node, rank in enumerate(ranks) if node not in part.last), default=-1) + 1
    return [bottom if node in part.last else rank for node, rank in enumerate(ranks)]


def _x_at_height(line: Sequence[PlainPoint], y: float) -> float:
    for (x1, y1), (x2, y2) in pairwise(line):
        if y <= y2:
            return x1 if y <= y1 else x1 + (x2 - x1) * (y - y1) / (y2 - y1)
    return line[-1][0]
