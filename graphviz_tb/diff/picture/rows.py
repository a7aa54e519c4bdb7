"""What became of every row and edge of the merged graph's hierarchy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphviz_tb.algorithms.calls import OpsThroughCalls
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.picture.merge import Merged, Where
from graphviz_tb.diff.report.words import counted
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import span
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import STACKS, Hierarchy
from graphviz_tb.model.paths import function_of

HOLDS = "·"  # nothing changed but what is in it, or where an input comes from
SIGNS = ("", "+", "−", "~", "→", HOLDS)
WORDS = {"+": "new", "−": "gone", "~": "changed", HOLDS: "reconnected"}
MOST_WORDS = 3  # from so many kinds of changes on a box says no more than these: it would be cut in the middle
MOST_CALLS = 32  # how deep calls of a changed function in calls are marked


def function_at(hierarchy: Hierarchy, row: int) -> str:
    """The name of the function that a row lies in, "" for the main graph."""
    root = function_of(hierarchy, row)
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
    for _ in range(MOST_CALLS):
        sign_groups(hierarchy, signs, words, moved, away)
        groups = [
            row for row, called in hierarchy.calls.items() if not signs[row] and any(signs[body] for _, body in called)
        ]
        if not groups:
            return
        for row in groups:
            signs[row] = HOLDS
            words.setdefault(row, "function changed")


def sign_groups(
    hierarchy: Hierarchy, signs: list[str], words: dict[int, str], moved: dict[int, str], away: str
) -> None:
    """The signs of groups from those of the ops in them."""
    groups = np.flatnonzero(~exists(hierarchy.node))
    nodes, counts = of_signs(hierarchy, signs, exists(hierarchy.node))
    ordinary, _ = of_signs(hierarchy, signs, exists(hierarchy.node) & (hierarchy.mark == Mark.NONE))
    ops = OpsThroughCalls(hierarchy)
    for row in groups.tolist():
        every, count = [*nodes[:-1, row].tolist(), int(ordinary[-1, row])], int(counts[row])
        # `SIGNS[1:3]` are + and −: all nodes below bear it.
        whole = next((sign for sign, number in zip(SIGNS[1:3], every, strict=False) if count and number == count), "")
        signs[row] = whole or moved.get(row, "") or (HOLDS if any(every) else "")
        if signs[row] == HOLDS and row:
            text = account(every, ordinary[:, row].tolist(), ops(row), away)
            words[row] = text.partition(" of ")[0] if hierarchy.kind[row] in STACKS else text


def sign_training(hierarchy: Hierarchy, changes: Iterable[Change], signs: list[str], words: dict[int, str]) -> None:
    """Say another optimizer, which is no op by itself, at the outermost group that holds most of what came and went."""
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
    total = "∞ ops" if ops is None else counted(ops, "op")
    if not words:
        marks = sum(every) - sum(ordinary)
        return f"{marks:,} {'constant or weight' if marks == 1 else 'constants or weights'} changed, {total}"
    return ", ".join(words) + (f" of {total}" if len(words) < MOST_WORDS else "")


def edge_states(hierarchy: Hierarchy, signs: list[str], where: list[Where | None], merged: Merged) -> np.ndarray:
    """What became of each edge: 0 nothing, 1 came, 2 gone. All edges of a new node came, all of a removed one are
    gone; of other nodes those that `merged` tells.
    """
    graph = hierarchy.graph
    states = np.zeros(graph.edge_count, np.uint8)
    # By node; a node that the hierarchy leaves out has no row.
    own = np.array([signs[row] if exists(row) else "" for row in hierarchy.row_of_node.tolist()], "U1")
    states[(own == "+")[graph.source] | (own == "+")[graph.target]] = 1
    states[(own == "−")[graph.source] | (own == "−")[graph.target]] = 2
    inputs = {**dict.fromkeys(merged.gained, 1), **dict.fromkeys(merged.lost, 2)}
    node_at = {place: int(hierarchy.node[row]) for row, place in enumerate(where) if place is not None}
    for (place, slot), state in inputs.items():
        start, stop = span(graph.target, node_at[place], node_at[place] + 1)
        states[start:stop][graph.slot[start:stop] == slot] = state
    return states
