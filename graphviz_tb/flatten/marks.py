"""Constants, weights and summaries: small marks beside the nodes that use them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.flatten.edges import Edges
from graphviz_tb.flatten.embedding import embed
from graphviz_tb.flatten.hosts import Marks, unique_pairs
from graphviz_tb.flatten.nodes import Nodes
from graphviz_tb.flatten.pytorch import is_pytorch, mark_plumbing
from graphviz_tb.model.columns import Bools, Bytes, Ints
from graphviz_tb.model.graph import Beside, Mark
from graphviz_tb.options import FlattenOptions

if TYPE_CHECKING:
    from graphviz_tb.flatten.weights import Carried

CONSTANTS = frozenset({"Const", "HostConst", "ImmutableConst", "prim::Constant"})
SUMMARY = re.compile(r".*Summary(V2)?", re.DOTALL)
ORDINARY = frozenset({"MergeSummary"})
SHALLOW = 20  # marks that hang on each other: deeper chains than that are followed one by one
TENSORBOARD_SUMMARY = re.compile(r"[a-zA-Z]+Summary")


def mark_of(op: str, tensorboard: bool = False) -> Mark:
    """The mark that an op type is drawn as.

    >>> mark_of("Const").name, mark_of("ScalarSummary").name, mark_of("MergeSummary").name
    ('CONSTANT', 'SUMMARY', 'NONE')
    """
    if tensorboard:
        if "Const" in op:
            return Mark.CONSTANT
        return Mark.SUMMARY if TENSORBOARD_SUMMARY.fullmatch(op) else Mark.NONE
    if op in CONSTANTS:
        return Mark.CONSTANT
    return Mark.SUMMARY if op not in ORDINARY and SUMMARY.fullmatch(op) else Mark.NONE


def settle_marks(
    nodes: Nodes, edges: Edges, options: FlattenOptions, carried: Carried | None = None, handed: Bools | None = None
) -> Marks:
    """Decide which constants, weights and summaries are drawn as marks, and beside which nodes.

    Before: all edges as the file has them; `handed` are constants to the program, though no op says so. After: each
    mark is drawn beside an ordinary node, or belongs to marks that do; one that nobody uses is an ordinary node.
    """
    kinds = np.array([mark_of(op, options.tensorboard) for op in nodes.op_types], np.uint8)
    mark: Bytes = kinds[nodes.op_id]
    if options.tensorboard:
        return embed(nodes, mark, edges)
    if is_pytorch(nodes):
        mark = mark_plumbing(nodes, edges, mark)
    if handed is not None:
        mark = np.where(handed, np.uint8(Mark.CONSTANT), mark)
    if carried is not None:
        mark = np.where(carried.origin >= 0, np.uint8(Mark.WEIGHT), mark)
    mark = keep_lonely_ordinary(mark, edges)
    return Marks(mark, np.ones(len(mark), bool), edges, place_beside(mark, edges), belong(mark, edges))


def keep_lonely_ordinary(mark: Bytes, edges: Edges) -> Bytes:
    """Take the mark from those that touch no ordinary node, not even through other marks."""
    mark = mark.copy()
    has_user = np.zeros(len(mark), bool)
    has_user[edges.source[edges.source != edges.target]] = True
    stray = ~reached(mark, edges)
    mark[stray & ((mark == Mark.SUMMARY) | ~has_user)] = Mark.NONE
    # All users of what is left are left too: they lead into circles, of each of which one becomes ordinary.
    mark[one_of_each_circle(np.flatnonzero(stray & ~reached(mark, edges)).tolist(), edges)] = Mark.NONE
    return mark


def one_of_each_circle(stray: list[int], edges: Edges) -> list[int]:
    """The first of `stray`, the first of those that do not lead to it, and so on: each edge is looked at once."""
    inputs: dict[int, list[int]] = {node: [] for node in stray}
    for source, target in zip(edges.source.tolist(), edges.target.tolist(), strict=True) if inputs else ():
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


def reached(mark: Bytes, edges: Edges) -> Bools:
    """Which nodes are ordinary or hang, through marks, on one that is."""
    tied = np.flatnonzero((mark[edges.source] > 0) | (mark[edges.target] > 0))  # only saves time: others reach nothing
    source, target = edges.source[tied], edges.target[tied]
    done: Bools = mark == Mark.NONE
    hangs = (mark[target] == Mark.SUMMARY) | (unused(mark, edges)[target] & (mark[source] == Mark.WEIGHT))
    for _ in range(SHALLOW):
        count = int(done.sum())
        done[source[done[target]]] = True
        done[target[done[source] & hangs]] = True
        if int(done.sum()) == count:
            return done
    return reached_far(hangs, source, target, done)


def unused(mark: Bytes, edges: Edges) -> Bools:
    """Which weights nobody uses: a read of a variable then belongs to the variable, as a summary to what it shows."""
    used = np.zeros(len(mark), bool)
    used[edges.source] = True
    idle: Bools = (mark == Mark.WEIGHT) & ~used
    return idle


def reached_far(hangs: Bools, source: Ints, target: Ints, done: Bools) -> Bools:
    """The same where marks hang on marks in long chains: one by one, each edge once."""
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


def place_beside(mark: Bytes, edges: Edges) -> Beside:
    """Each mark beside the ordinary nodes it touches (a constant: those that use it; a weight: those that take its
    value, not those that only wait for it)."""
    # The first end of a pair is the mark: "into" from marks to their users, "out" from ops to summaries.
    into = (mark[edges.source] > 0) & (mark[edges.target] == 0)
    taken = np.zeros(len(mark), bool)
    taken[edges.source[into & ~edges.control]] = True
    # An op that takes the value and waits for it, too, has it as an input; one that only waits has nothing of it.
    waits = edges.control & (mark[edges.source] == Mark.WEIGHT) & taken[edges.source]
    into = np.flatnonzero(into & ~waits)
    out = np.flatnonzero((mark[edges.source] == 0) & (mark[edges.target] == Mark.SUMMARY))
    marks = np.concatenate((edges.source[into], edges.target[out]))
    hosts = np.concatenate((edges.target[into], edges.source[out]))
    inward = np.concatenate((np.ones(len(into), bool), np.zeros(len(out), bool)))
    return unique_pairs(marks, hosts, inward)


def belong(mark: Bytes, edges: Edges) -> dict[int, tuple[int, ...]]:
    """For each mark that touches no ordinary node, the marks that it touches."""
    marks = mark > 0
    anchored = np.zeros(len(mark), bool)
    # What has an ordinary user (a summary: an ordinary input) is drawn beside that, not beside other marks.
    anchored[edges.source[marks[edges.source] & ~marks[edges.target]]] = True
    anchored[edges.target[(mark[edges.target] == Mark.SUMMARY) & ~marks[edges.source]]] = True
    owners: dict[int, dict[int, None]] = defaultdict(dict)
    idle = unused(mark, edges)
    both = np.flatnonzero(marks[edges.source] & marks[edges.target] & (edges.source != edges.target))
    sources, targets = edges.source[both], edges.target[both]
    onward = ~anchored[sources] & ~idle[targets]
    backward = ~anchored[targets] & ((mark[targets] == Mark.SUMMARY) | idle[targets])
    pairs = zip(sources.tolist(), targets.tolist(), onward.tolist(), backward.tolist(), strict=True)
    for source, target, on, back in pairs:
        if on:
            owners[source][target] = None
        if back:
            owners[target][source] = None
    return {node: tuple(users) for node, users in sorted(owners.items())}
