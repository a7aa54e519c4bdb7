"""Constants, weights and summaries: small marks next to the nodes that use them."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from graphviz_tb.interpret.pytorch import mark_plumbing
from graphviz_tb.limits import MARKS_DEEP
from graphviz_tb.model.columns import Bools, Bytes, Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph, Mark, MarkPairs, unique_pairs
from graphviz_tb.ops.roles import CONSTANTS, Role, has_role

SUMMARY = re.compile(r".*Summary(V2)?", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Mark of each node, pairs of mark and host node, and for marks without a host the marks that own them."""

    mark: Bytes
    beside: MarkPairs
    within: dict[int, tuple[int, ...]]


def mark_of(op: str) -> Mark:
    """Return the mark that an op type is drawn as.

    >>> mark_of("Const").name, mark_of("ScalarSummary").name, mark_of("MergeSummary").name
    ('CONSTANT', 'SUMMARY', 'NONE')
    """
    if op in CONSTANTS:
        return Mark.CONSTANT
    return Mark.SUMMARY if not has_role(op, Role.SUMMARY_MERGE) and SUMMARY.fullmatch(op) else Mark.NONE


def settle_marks(graph: Graph, weights: Bools | None, handed: Bools | None) -> Marks:
    """Decide which constants, weights and summaries are drawn as marks, and next to which nodes.

    `weights` carry a weight; `handed` are constants to the program although their op type does not say so. After: each
    mark is drawn next to an ordinary node, or belongs to marks that are; a mark that nobody uses is an ordinary node.
    """
    kinds = np.array([mark_of(op) for op in graph.op_types], np.uint8)
    mark: Bytes = kinds[graph.op]
    if graph.of_pytorch:
        mark = mark_plumbing(graph, mark)
    if handed is not None:
        mark = np.where(handed, np.uint8(Mark.CONSTANT), mark)
    if weights is not None:
        mark = np.where(weights, np.uint8(Mark.WEIGHT), mark)
    mark = keep_lonely_ordinary(mark, graph)
    return Marks(mark, place_beside(mark, graph), belong(mark, graph))


def keep_lonely_ordinary(mark: Bytes, graph: Graph) -> Bytes:
    """Unmark nodes that touch no ordinary node, not even through other marks."""
    mark = mark.copy()
    has_user = np.zeros(len(mark), bool)
    has_user[graph.source[graph.source != graph.target]] = True
    stray = ~reached(mark, graph)
    mark[stray & ((mark == Mark.SUMMARY) | ~has_user)] = Mark.NONE
    # All users of a remaining node remain too: they lead into cycles, and one node of each becomes ordinary.
    mark[one_of_each_circle(np.flatnonzero(stray & ~reached(mark, graph)).tolist(), graph)] = Mark.NONE
    return mark


def one_of_each_circle(stray: list[int], graph: Graph) -> list[int]:
    """Return the first of `stray`, then the first of those that do not lead to it, and so on. Linear in edges."""
    inputs: dict[int, list[int]] = {node: [] for node in stray}
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True) if inputs else ():
        if source in inputs and target in inputs:
            inputs[target].append(source)
    chosen: list[int] = []
    done: set[int] = set()
    for first in inputs:
        if first in done:
            continue
        chosen.append(first)
        done.add(first)
        waiting = [first]
        while waiting:
            fresh = [source for source in inputs[waiting.pop()] if source not in done]
            done.update(fresh)
            waiting += fresh
    return chosen


def reached(mark: Bytes, graph: Graph) -> Bools:
    """Return which nodes are ordinary, or connected to an ordinary one through marks."""
    tied = np.flatnonzero((mark[graph.source] > 0) | (mark[graph.target] > 0))  # only saves time
    source, target = graph.source[tied], graph.target[tied]
    done: Bools = mark == Mark.NONE
    hangs = (mark[target] == Mark.SUMMARY) | (unused(mark, graph)[target] & (mark[source] == Mark.WEIGHT))
    for _ in range(MARKS_DEEP):
        count = int(done.sum())
        done[source[done[target]]] = True
        done[target[done[source] & hangs]] = True
        if int(done.sum()) == count:
            return done
    return reached_far(hangs, source, target, done)


def unused(mark: Bytes, graph: Graph) -> Bools:
    """Return which weights nobody uses: an unused read belongs to its variable, as a summary to its input."""
    used = np.zeros(len(mark), bool)
    used[graph.source] = True
    idle: Bools = (mark == Mark.WEIGHT) & ~used
    return idle


def reached_far(hangs: Bools, source: Ints, target: Ints, done: Bools) -> Bools:
    """Continue `anchored_nodes` along long chains of marks, each edge once."""
    beyond: dict[int, list[int]] = defaultdict(list)
    for here, there, hanging in zip(source.tolist(), target.tolist(), hangs.tolist(), strict=True):
        beyond[there].append(here)
        if hanging:
            beyond[here].append(there)
    ready = [node for node in beyond if done[node]]
    while ready:
        for node in beyond.get(ready.pop(), ()):
            if not done[node]:
                done[node] = True
                ready.append(node)
    return done


def place_beside(mark: Bytes, graph: Graph) -> MarkPairs:
    """Return each mark with the ordinary nodes it is drawn next to.

    A constant has its users; a weight the users of its value, not those that only wait for it; a summary its input.
    """
    # "into": edges from marks to users; "out": edges from ops to summaries.
    into = (mark[graph.source] > 0) & (mark[graph.target] == 0)
    taken = np.zeros(len(mark), bool)
    taken[graph.source[into & ~graph.control]] = True
    # Drop edges of ops that only wait for a weight whose value is taken elsewhere.
    waits = graph.control & (mark[graph.source] == Mark.WEIGHT) & taken[graph.source]
    into = np.flatnonzero(into & ~waits)
    out = np.flatnonzero((mark[graph.source] == 0) & (mark[graph.target] == Mark.SUMMARY))
    marks = np.concatenate((graph.source[into], graph.target[out]))
    hosts = np.concatenate((graph.target[into], graph.source[out]))
    inward = np.concatenate((np.ones(len(into), bool), np.zeros(len(out), bool)))
    return unique_pairs(marks, hosts, inward)


def belong(mark: Bytes, graph: Graph) -> dict[int, tuple[int, ...]]:
    """Return, for each mark that touches no ordinary node, the marks that it touches."""
    marks = mark > 0
    anchored = np.zeros(len(mark), bool)
    # Marks with an ordinary user (summaries: an ordinary input) are drawn next to it, not next to other marks.
    anchored[graph.source[marks[graph.source] & ~marks[graph.target]]] = True
    anchored[graph.target[(mark[graph.target] == Mark.SUMMARY) & ~marks[graph.source]]] = True
    owners: dict[int, dict[int, None]] = defaultdict(dict)
    idle = unused(mark, graph)
    both = np.flatnonzero(marks[graph.source] & marks[graph.target] & (graph.source != graph.target))
    sources, targets = graph.source[both], graph.target[both]
    onward = ~anchored[sources] & ~idle[targets]
    backward = ~anchored[targets] & ((mark[targets] == Mark.SUMMARY) | idle[targets])
    pairs = zip(sources.tolist(), targets.tolist(), onward.tolist(), backward.tolist(), strict=True)
    for source, target, on, back in pairs:
        if on:
            owners[source][target] = None
        if back:
            owners[target][source] = None
    return {node: tuple(users) for node, users in sorted(owners.items())}
