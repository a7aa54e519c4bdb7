"""The parts of a chain of ops and scopes that came or went, as data runs through them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from graphviz_tb.diff.changes.layers import PLUMBING
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.model.change import Change
from graphviz_tb.ops.roles import GROUP_OPS, PASS_EACH_OPS, SIZE_OPS, UNIT_AXES_OPS

# Op types that only bring, hand on or reshape what others compute with: they name an edit only where all are such.
QUIET = PLUMBING | PASS_EACH_OPS | UNIT_AXES_OPS | SIZE_OPS | GROUP_OPS


def in_flow(side: GraphColumns, parts: list[Change]) -> list[Change]:
    """Parts as data runs through them, those by themselves by name; what holds only constants and reads last."""
    # By node its part; by part those that feed it and are not in the order yet (`ahead`), and those that it feeds.
    of = {node: number for number, part in enumerate(parts) for node in (*part.edits.added, *part.edits.removed)}
    ahead: list[set[int]] = [set() for _ in parts]
    behind: list[set[int]] = [set() for _ in parts]
    for node, number in of.items():
        for source in side.graph.source[side.in_edges(node)].tolist():
            if of.get(source, number) != number:
                ahead[number].add(of[source])
                behind[of[source]].add(number)
    ranks = [(is_quiet(side, part), part.name, number) for number, part in enumerate(parts)]
    ready = [rank for rank in ranks if not ahead[rank[-1]]]
    heapify(ready)
    ordered: dict[int, bool] = {}  # part → whether it is quiet
    # On a cycle nothing is ready: the first by name of what is left goes on.
    for otherwise in (*sorted(ranks), None):
        while ready:
            quiet, _, number = heappop(ready)
            if number in ordered:
                continue
            ordered[number] = quiet
            for follower in behind[number]:
                ahead[follower].discard(number)
                if not ahead[follower]:
                    heappush(ready, ranks[follower])
        if otherwise is not None:
            ready.append(otherwise)
    return [parts[number] for number in sorted(ordered, key=ordered.__getitem__)]


def is_quiet(side: GraphColumns, change: Change) -> bool:
    """Whether only constants, reads and their like came or went."""
    nodes = (*change.edits.added, *change.edits.removed)
    return all(side.graph.op_types[side.graph.op[node]] in QUIET for node in nodes)
