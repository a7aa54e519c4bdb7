"""The rank of each node, with small total edge length."""

from __future__ import annotations

from graphviz_tb.arrange.part import Part


def rank(part: Part) -> list[int]:
    """Longest paths, then each node is drawn to the side where it has more edges.

    Before: no cycle. After: every edge runs at least one rank down; ports stand alone on the outer ranks.

    >>> rank(Part(4, ((0, 1), (1, 2), (3, 2))))
    [0, 1, 2, 1]
    """
    above: list[list[int]] = [[] for _ in range(part.count)]
    below: list[list[int]] = [[] for _ in range(part.count)]
    for source, target in part.edges:
        below[source].append(target)
        above[target].append(source)
    topological = sort(above, below)
    ranks = [0] * part.count
    base = 1 if part.first else 0
    for node in topological:
        if node not in part.first:
            ranks[node] = max((ranks[other] + 1 for other in above[node]), default=base)
            ranks[node] = max(ranks[node], base)
    free = [node for node in topological if node not in part.first and node not in part.last]
    bottom = max((ranks[node] for node in free), default=base - 1)
    for _ in range(8):
        if not tighten(free, above, below, ranks, base, bottom, part.last):
            break
    for node in part.last:
        ranks[node] = bottom + 1
    return ranks


def tighten(
    free: list[int],
    above: list[list[int]],
    below: list[list[int]],
    ranks: list[int],
    base: int,
    bottom: int,
    last: frozenset[int],
) -> bool:
    """Move each node as far as it goes towards its heavier side."""
    moved = False
    for node in [*reversed(free), *free]:
        pull = len(below[node]) - len(above[node])
        low = max((ranks[other] + 1 for other in above[node]), default=base)
        high = min((ranks[other] - 1 for other in below[node] if other not in last), default=bottom)
        best = ranks[node] if not pull else high if pull > 0 else max(low, base)
        if best != ranks[node]:
            ranks[node] = best
            moved = True
    return moved


def sort(above: list[list[int]], below: list[list[int]]) -> list[int]:
    """A topological order (Kahn 1962), smallest number first among the ready ones of one wave."""
    waiting = [len(nodes) for nodes in above]
    ready = [node for node, count in enumerate(waiting) if not count]
    for node in ready:
        for other in below[node]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return ready
