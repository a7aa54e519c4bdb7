"""The changes of every row and edge of the merged graph's hierarchy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.picture.merge import Merged, Where
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.limits import MAX_BADGE_KINDS, MAX_MARKED_CALLS
from graphviz_tb.model.change import Change
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import STACK_KINDS, Hierarchy
from graphviz_tb.model.paths import function_row_of

HOLDS = "·"  # nothing changed but what is in it, or where an input comes from
SIGNS = ("", "+", "−", "~", "→", HOLDS)
WORDS = {"+": "new", "−": "gone", "~": "changed", HOLDS: "reconnected"}


def function_at(hierarchy: Hierarchy, row: int) -> str:
    """Return the name of the function that a row is in, "" for the main graph."""
    root = function_row_of(hierarchy, row)
    return hierarchy.name[root] if root else ""


def places(hierarchy: Hierarchy) -> list[Where | None]:
    """For each row that is a node its function and name; None for groups."""
    graph = hierarchy.graph
    places: list[Where | None] = []
    for node in hierarchy.node.tolist():
        if not exists(node):
            places.append(None)
            continue
        function = int(graph.function[node])
        places.append((graph.functions[function].name if exists(function) else "", graph.name[node]))
    return places


def group_signs(
    hierarchy: Hierarchy, signs: list[str], words: dict[int, str], moved: dict[int, str], away: str = "renamed"
) -> None:
    """Give groups their sign: wholly added or removed ones that, moved or renamed ones `→`, others with changes in
    them `HOLDS`; calls of functions with changes in them too, through any number of calls. `away` is the word for
    what has another name.
    """
    # Signs go from ops to groups, from functions to their calls, and so on until no call gets one.
    sign_groups(hierarchy, signs, moved)
    calls = calls_of(hierarchy)
    fresh = [body for body in calls if signs[body]]
    for left in reversed(range(MAX_MARKED_CALLS)):
        called = sorted({row for body in fresh for row in calls.pop(body) if not signs[row]})
        if not called or not left:
            break
        for row in called:
            signs[row] = HOLDS
            words.setdefault(row, "function changed")
        fresh = [row for row in hold(hierarchy, signs, called) if row in calls]
    say_groups(hierarchy, signs, words, away)
    # Those at the bound are marked, not what is around them.
    for row in called:
        signs[row] = HOLDS
        words.setdefault(row, "function changed")


def calls_of(hierarchy: Hierarchy) -> dict[int, list[int]]:
    """By the row of a function the rows of its calls."""
    calls: dict[int, list[int]] = {}
    for row, called in hierarchy.calls.items():
        for _, body in called:
            calls.setdefault(body, []).append(row)
    return calls


def hold(hierarchy: Hierarchy, signs: list[str], called: Iterable[int]) -> list[int]:
    """Give the groups around ops in which something changed the sign of that, where they have none, and give them
    back."""
    parents, seen, made = hierarchy.parent, set[int](), []
    for call in called:
        # A group does not count constants, weights and summaries among its ops.
        row = int(parents[call]) if hierarchy.mark[call] == Mark.NONE else -1
        while row >= 0 and row not in seen and signs[row] != HOLDS:
            seen.add(row)
            if not signs[row]:
                signs[row] = HOLDS
                made.append(row)
            row = int(parents[row])
    return made


def sign_groups(hierarchy: Hierarchy, signs: list[str], moved: dict[int, str]) -> None:
    """The signs of groups from those of the ops in them."""
    nodes, counts, ordinary = signs_below(hierarchy, signs)
    groups = ~exists(hierarchy.node)
    some = (nodes[:-1].any(axis=0) | (ordinary[-1] > 0)) & groups
    for row in np.flatnonzero(some).tolist():
        signs[row] = HOLDS
    for row, sign in moved.items():
        signs[row] = sign
    # `SIGNS[1:3]` are + and −: all nodes below bear it.
    for sign, number in zip(SIGNS[1:3], nodes, strict=False):
        for row in np.flatnonzero((number == counts) & (counts > 0) & groups).tolist():
            signs[row] = sign


def say_groups(hierarchy: Hierarchy, signs: list[str], words: dict[int, str], away: str) -> None:
    """Say how much changed in the groups in which something did."""
    nodes, _, ordinary = signs_below(hierarchy, signs)
    ops = OpCounter(hierarchy)
    for row in np.flatnonzero(~exists(hierarchy.node)).tolist():
        if signs[row] == HOLDS and row:
            every = [*nodes[:-1, row].tolist(), int(ordinary[-1, row])]
            text = account(every, ordinary[:, row].tolist(), ops(row), away)
            words[row] = text.partition(" of ")[0] if hierarchy.kind[row] in STACK_KINDS else text


def signs_below(hierarchy: Hierarchy, signs: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count by row the nodes at or below it with each sign (one line a sign), all of them, and with each sign those
    that are ordinary ops: no constants, weights or summaries."""
    inside = exists(hierarchy.node)
    nodes, counts = of_signs(hierarchy, signs, inside)
    ordinary, _ = of_signs(hierarchy, signs, inside & (hierarchy.mark == Mark.NONE))
    return nodes, counts, ordinary


def sign_training(hierarchy: Hierarchy, changes: Iterable[Change], signs: list[str], words: dict[int, str]) -> None:
    """Sign a change of optimizer, which is not an op, at the top-level group with most of the added and removed ops."""
    for change in changes:
        if change.detail.get("key") != "optimizer" or change.ops:
            continue
        groups = np.flatnonzero((hierarchy.parent == 0) & ~exists(hierarchy.node))
        inside, _ = of_signs(hierarchy, signs, exists(hierarchy.node))
        moved = inside[SIGNS.index("+") - 1] + inside[SIGNS.index("−") - 1]
        most = max(groups.tolist(), key=lambda row: int(moved[row]), default=0)
        if moved[most] and most:
            signs[most] = "~"
            words[most] = f"optimizer {change.detail['old']} → {change.detail['new']}"


def sign_takers(hierarchy: Hierarchy, signs: list[str], words: dict[int, str]) -> None:
    """Sign the ops that take a constant with another value: beside a box it is a small disc."""
    graph, rows = hierarchy.graph, hierarchy.row_of_node
    pairs = np.flatnonzero((graph.mark[graph.beside.mark] == Mark.CONSTANT) & graph.beside.inward)
    takers = zip(rows[graph.beside.mark[pairs]].tolist(), rows[graph.beside.host[pairs]].tolist(), strict=True)
    for constant, op in takers:
        if exists(constant) and exists(op) and signs[constant] == "~" and signs[op] in ("", HOLDS):
            signs[op], words[op] = "~", words.get(constant, WORDS["~"])


def of_signs(hierarchy: Hierarchy, signs: list[str], among: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By row: how many of `among` at or below it bear each sign (one line a sign), and how many there are."""
    own = np.array([SIGNS.index(sign) for sign in signs]) * among
    marks = [own == number for number in range(1, len(SIGNS))]
    # Prefix sums over rows, a line for each sign and one for how many; (signs + 1, rows + 1).
    total = np.stack([np.concatenate(([0], np.cumsum(column))) for column in (*marks, among)])
    inside = total[:, hierarchy.end] - total[:, :-1]
    return inside[:-1], inside[-1]


def account(every: list[int], ordinary: list[int], ops: int | None, away: str) -> str:
    """How much changed in a group, short enough for a box; constants, weights and summaries, which no box counts, where
    nothing else did.

    >>> account([1, 0, 2, 0, 0], [1, 0, 1, 0, 0], 22, "moved"), account([0, 0, 2, 0, 0], [0, 0, 0, 0, 0], 22, "moved")
    ('1 new, 1 changed of 22 ops', '2 constants or weights changed, 22 ops')
    """
    kinds = {**WORDS, "→": away}
    words = [f"{number:,} {kinds[sign]}" for sign, number in zip(SIGNS[1:], ordinary, strict=True) if number]
    total = "∞ ops" if ops is None else format_counted_noun(ops, "op")
    if not words:
        marks = sum(every) - sum(ordinary)
        return f"{marks:,} {'constant or weight' if marks == 1 else 'constants or weights'} changed, {total}"
    return ", ".join(words) + (f" of {total}" if len(words) < MAX_BADGE_KINDS else "")


def edge_states(hierarchy: Hierarchy, signs: list[str], where: list[Where | None], merged: Merged) -> np.ndarray:
    """Return the state of each edge: 0 unchanged, 1 added, 2 removed. All edges of a new node are added, all of a
    removed one removed; of other nodes those that `merged` lists.
    """
    graph = hierarchy.graph
    states = np.zeros(graph.edge_count, np.uint8)
    # By node; a node that the hierarchy leaves out has no row.
    own = np.array([signs[row] if exists(row) else "" for row in hierarchy.row_of_node.tolist()], "U1")
    states[(own == "+")[graph.source] | (own == "+")[graph.target]] = 1
    states[(own == "−")[graph.source] | (own == "−")[graph.target]] = 2
    inputs = {**dict.fromkeys(merged.gained, 1), **dict.fromkeys(merged.lost, 2)}
    if not inputs:
        return states
    node_at = {place: int(hierarchy.node[row]) for row, place in enumerate(where) if place is not None}
    # Each edge is looked up among them, by node and slot: one node may have a hundred thousand.
    wired = np.array([(node_at[place], slot, state) for (place, slot), state in inputs.items()], np.int64)
    low = min(int(np.min(wired[:, 1])), int(np.min(graph.slot, initial=0)))
    width = max(int(np.max(wired[:, 1])), int(np.max(graph.slot, initial=0))) - low + 1
    wanted, edges = (
        node.astype(np.int64) * width + slot - low
        for node, slot in ((wired[:, 0], wired[:, 1]), (graph.target, graph.slot))
    )
    order = np.argsort(wanted)
    place = np.minimum(np.searchsorted(wanted, edges, sorter=order), len(order) - 1)
    found = wanted[order[place]] == edges
    states[found] = wired[order[place[found]], 2]
    return states
