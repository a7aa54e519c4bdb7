"""Compare the inputs of matched nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, combine_hashes, run_sums
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.limits import MAX_TABLE_CELLS
from graphviz_tb.model.columns import Ints, exists

Token = tuple[str, int, str]  # whose node ("new" for matched ones too), its id, its output


@dataclass(frozen=True, slots=True)
class Rewire:
    """One input of matched nodes `old`, `new`: what came in before and now (edge ids, -1 for nothing).

    `slot` is the place of the input, `control` whether it only waits; `reordered` when the inputs are the same in
    another order.
    """

    old: int
    new: int
    slot: int
    before: int
    after: int
    control: bool
    reordered: bool = False


def rewired_nodes(m: Matching) -> tuple[Ints, Ints]:
    """Return the matched nodes whose inputs differ."""
    old, new = m.matched_pairs()
    # Numbers of the new graph for both sides; old nodes without a partner get -2, -3, …, which no new node has.
    names_a = np.where(exists(m.to_b), m.to_b.astype(np.int64), -2 - np.arange(len(m.a), dtype=np.int64))
    names_b = np.arange(len(m.b), dtype=np.int64)
    differ = _input_sums(m.a, names_a)[old] != _input_sums(m.b, names_b)[new]
    return old[differ], new[differ]


def _input_sums(side: GraphColumns, names: np.ndarray) -> Hashes:
    """Return a hash for each node of its inputs and their positions."""
    sums = combine_hashes(names[side.graph.source].view(np.uint64), side.edge_hash)
    return run_sums(sums, side.in_start[:-1], side.in_start[1:])


def input_differences(m: Matching, old: int, new: int) -> list[Rewire]:
    """Return the differences between the inputs of two matched nodes, as few as possible.

    Before: the matching is complete. After: computed once and kept, as several steps ask for it.
    """
    found: list[Rewire] | None = m.wires.get((old, new))
    if found is None:
        data_a, control_a = _input_tokens(m, m.a, old, True)
        data_b, control_b = _input_tokens(m, m.b, new, False)
        found = [*_data_wires(m, old, new, data_a, data_b), *_control_wires(old, new, control_a, control_b)]
        m.wires[old, new] = found
    return found


def _input_tokens(
    m: Matching, side: GraphColumns, node: int, old: bool
) -> tuple[list[tuple[Token, int]], list[tuple[Token, int]]]:
    """Data inputs in order and control inputs, each with its edge."""
    graph = side.graph
    inputs: tuple[list[tuple[Token, int]], list[tuple[Token, int]]] = ([], [])
    for edge in side.in_edges(node).tolist():
        source, control = int(graph.source[edge]), bool(graph.control[edge])
        partner = int(m.to_b[source]) if old else source
        token = ("new", partner, "" if control else graph.keys[graph.key[edge]])
        if not exists(partner):
            token = ("old", source, token[2])
        inputs[control].append((token, edge))
    return inputs


def _data_wires(
    m: Matching, old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]
) -> list[Rewire]:
    tokens = [token for token, _ in before], [token for token, _ in after]
    # Equal outputs of equal nodes: at most their places are others.
    if tokens[0] == tokens[1]:
        return _wires_by_slot(m, old, new, before, after)
    # As many as before: place by place; aligned, a swap of two would be one that went and one that came.
    if len(before) == len(after):
        changed = [slot for slot in range(len(before)) if tokens[0][slot] != tokens[1][slot]]
        same = Counter(tokens[0]) == Counter(tokens[1])
        return [Rewire(old, new, slot, before[slot][1], after[slot][1], False, same) for slot in changed]
    return _aligned_wires(m, old, new, before, after)


def _wires_by_slot(
    m: Matching, old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]
) -> list[Rewire]:
    """Return wires for equal inputs at other places: an input between them names no node."""
    slots = m.a.graph.slot, m.b.graph.slot
    return [
        Rewire(old, new, int(slots[1][other]), mine, other, False, True)
        for (_, mine), (_, other) in zip(before, after, strict=True)
        if slots[0][mine] != slots[1][other]
    ]


def _aligned_wires(
    m: Matching, old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]
) -> list[Rewire]:
    """Inputs came or went: align what stayed, pair what lies between."""
    pairs = _kept_inputs(m, [token for token, _ in before], [token for token, _ in after])
    changed, position = [], (0, 0)
    # Between two kept inputs: the first that went with the first that came, and so on.
    for stop in [*pairs, (len(before), len(after))]:
        mine, other = before[position[0] : stop[0]], after[position[1] : stop[1]]
        for place in range(max(len(mine), len(other))):
            gone = mine[place][1] if place < len(mine) else -1
            come = other[place][1] if place < len(other) else -1
            changed.append(Rewire(old, new, (position[1] if exists(come) else position[0]) + place, gone, come, False))
        position = stop[0] + 1, stop[1] + 1
    return changed


def _kept_inputs(m: Matching, before: list[Token], after: list[Token]) -> list[tuple[int, int]]:
    """Return the places of the inputs that stayed; none where there are too many to look for them."""
    start, stop = _equal_ends(before, after)
    middle = before[start : len(before) - stop], after[start : len(after) - stop]
    pairs = m.longest_common(*middle) if len(before) * len(after) <= MAX_TABLE_CELLS else None
    if pairs is None:
        m.note("input-limit", "too many inputs came and went to find out which stayed: taken by their place")
        return []
    return [
        *((place, place) for place in range(start)),
        *((start + mine, start + other) for mine, other in pairs),
        *((len(before) - place, len(after) - place) for place in range(stop, 0, -1)),
    ]


def _equal_ends(before: list[Token], after: list[Token]) -> tuple[int, int]:
    """Count how many inputs at the begin and at the end stayed: the same on both sides, and nowhere else."""
    counts = Counter(before), Counter(after)

    def equal_start(mine: Iterable[Token], other: Iterable[Token]) -> int:
        pairs = zip(mine, other, strict=False)
        return sum(
            1 for _ in takewhile(lambda two: two[0] == two[1] and counts[0][two[0]] == counts[1][two[0]] == 1, pairs)
        )

    start = equal_start(before, after)
    return start, equal_start(reversed(before[start:]), reversed(after[start:]))


def _control_wires(old: int, new: int, before: list[tuple[Token, int]], after: list[tuple[Token, int]]) -> list[Rewire]:
    """Control inputs have no order: what is on one side only."""
    here, there = Counter(token for token, _ in before), Counter(token for token, _ in after)
    changed = []
    for token, edge in before:
        if here[token] > there[token]:
            here[token] -= 1
            changed.append(Rewire(old, new, -1, edge, -1, True))
    # Counted anew: the loop above has used the counts up.
    here = Counter(token for token, _ in before)
    for token, edge in after:
        if there[token] > here[token]:
            there[token] -= 1
            changed.append(Rewire(old, new, -1, -1, edge, True))
    return changed
