"""What became of every row and edge of the merged graph's hierarchy."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.merge import Merged, Where
from graphviz_tb.diff.words import counted
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import function_of

SIGNS = ("", "+", "−", "~", "→")
WORDS = {"+": "new", "−": "gone", "~": "changed", "→": "renamed"}
MOST_CALLS = 32  # how deep calls of a changed function in calls are marked


def function_at(hierarchy: Hierarchy, row: int) -> str:
    """The name of the function that a row lies in, "" for the main graph."""
    root = function_of(hierarchy, row)
    return hierarchy.name[root] if root else ""


def places(hierarchy: Hierarchy) -> list[Where | None]:
    """For each row that is a node its function and name; None for groups."""
    graph = hierarchy.graph
    told: list[Where | None] = []
    for node in hierarchy.node.tolist():
        if node < 0:
            told.append(None)
            continue
        function = int(graph.function[node])
        told.append((graph.functions[function].name if function >= 0 else "", graph.name[node]))
    return told


def group_signs(hierarchy: Hierarchy, signs: list[str], words: dict[int, str], moved: dict[int, str]) -> None:
    """Give groups their sign: wholly added or removed ones that, others with changes in them `~`; calls of functions
    that changed too, through any number of calls.
    """
    for _ in range(MOST_CALLS):
        sign_groups(hierarchy, signs, words, moved)
        found = [
            row for row, called in hierarchy.calls.items() if not signs[row] and any(signs[body] for _, body in called)
        ]
        if not found:
            return
        for row in found:
            signs[row] = "~"
            words.setdefault(row, "function changed")


def sign_groups(hierarchy: Hierarchy, signs: list[str], words: dict[int, str], moved: dict[int, str]) -> None:
    """The signs of groups from those of the ops in them."""
    groups = np.flatnonzero(hierarchy.node < 0)
    ops = np.concatenate(([0], np.cumsum(hierarchy.node >= 0)))
    own = np.array([SIGNS.index(sign) if node >= 0 else -1 for sign, node in zip(signs, hierarchy.node, strict=True)])
    total = np.stack([np.concatenate(([0], np.cumsum(own == at))) for at in range(1, len(SIGNS))])
    inside = total[:, hierarchy.end[groups]] - total[:, groups]
    counts = ops[hierarchy.end[groups]] - ops[groups]
    for row, some, count in zip(groups.tolist(), inside.T.tolist(), counts.tolist(), strict=True):
        whole = next((sign for sign, number in zip(SIGNS[1:], some, strict=True) if count and number == count), "")
        signs[row] = whole or ("~" if any(some) else moved.get(row, ""))
        if signs[row] == "~" and row:
            told = ", ".join(
                f"{number:,} {WORDS[sign]}" for sign, number in zip(SIGNS[1:], some, strict=True) if number
            )
            words[row] = f"{told} of {counted(count, 'op')}"


def edge_states(hierarchy: Hierarchy, signs: list[str], where: list[Where | None], merged: Merged) -> np.ndarray:
    """What became of each edge: 0 nothing, 1 came, 2 gone. All edges of a new node came, all of a removed one are
    gone; of other nodes those that `merged` tells.
    """
    graph = hierarchy.graph
    told = np.zeros(graph.edge_count, np.uint8)
    own = np.array([signs[row] if row >= 0 else "" for row in hierarchy.row_of_node.tolist()], "U1")
    told[(own == "+")[graph.source] | (own == "+")[graph.target]] = 1
    told[(own == "−")[graph.source] | (own == "−")[graph.target]] = 2
    inputs = {**dict.fromkeys(merged.gained, 1), **dict.fromkeys(merged.lost, 2)}
    node_at = {at: int(hierarchy.node[row]) for row, at in enumerate(where) if at is not None}
    for (at, slot), state in inputs.items():
        start, stop = np.searchsorted(graph.target, (node_at[at], node_at[at] + 1))
        told[start:stop][graph.slot[start:stop] == slot] = state
    return told
