"""Layers that changed places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.several import edits_of, places_of
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.series import common
from graphviz_tb.model.change import Change
from graphviz_tb.model.paths import last_segment

NUMBERED = (-1, -2, -3)  # depths: blocks that are no scopes, but have numbered names
NUMBER = re.compile(r"(?<=[0-9])([/_.-]+)(?=[A-Za-z])")  # what comes behind a number in a name


def reordered(m: Matching, layers: tuple[Layers, Layers], changes: list[Change]) -> Change:
    """Layers that changed places."""
    told: dict[str, Any] = {}
    pairs = [pair for change in changes for pair in change.edits.inputs]
    new = order(layers[1], [new for _, new in pairs], layers[1].name)
    old = order(layers[0], [old for old, _ in pairs], lambda layer: partner_name(m, layers, layer))
    # The same layers in another order, said once where it is that of several blocks.
    if set(old) == set(new) and old != new:
        blocks = in_blocks(old, new)
        # The most frequent says it: the first and the last block may have other neighbours.
        often = Counter(blocks.values()).items()
        (before, after), count = max(often, key=lambda pair: (pair[1], sorted(pair[0])), default=(((), ()), 0))
        if count > 1:
            told["order"] = {"old": list(before), "new": list(after), "blocks": len(blocks)}
            # The place of the change is a block with this order.
            inside = tuple(around for around, orders in blocks.items() if orders == (before, after))
            changes = sorted(changes, key=lambda change: not change.name.startswith(inside))
        else:
            old, new = ([last_segment(name) for name in names] for names in (old, new))
            told["order"] = dict(zip(("old", "new"), unlike(old, new), strict=True))
    first, ops = changes[0], sum(change.ops for change in changes)
    wires = [
        {"node": {"old": change.old, "new": change.new}, **wire}
        for change in changes
        for wire in change.detail["inputs"]
    ]
    also = places_of(changes, first)
    detail = {"inputs": wires, **told}
    return Change("rewired", "wiring", first.old, first.new, ops, detail, also, edits=edits_of(changes))


def unlike(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Two orders of the same names without what is equal at both ends.

    >>> unlike(["a", "b", "c", "d"], ["a", "c", "b", "d"])
    (['b', 'c'], ['c', 'b'])
    """
    start, stop = 0, len(old)
    while start < stop and old[stop - 1] == new[stop - 1]:
        stop -= 1
    while start < stop and old[start] == new[start]:
        start += 1
    return old[start:stop], new[start:stop]


def in_blocks(old: Sequence[str], new: Sequence[str]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The order in each block of layers, a scope with another order of what is in it now, by the names below it.

    >>> in_blocks(["b_0/norm", "b_0/sum", "b_1/norm", "b_1/sum"], ["b_0/sum", "b_0/norm", "b_1/sum", "b_1/norm"])
    {'b_0': (('norm', 'sum'), ('sum', 'norm')), 'b_1': (('norm', 'sum'), ('sum', 'norm'))}
    """
    # By scopes from the outside in, then by the numbers in names, where blocks are no scopes.
    for depth in (*range(1, max((name.count("/") for name in old), default=0) + 1), *NUMBERED):
        scopes: dict[str, tuple[list[str], list[str]]] = {}
        for which, names in enumerate((old, new)):
            for name in names:
                around, below = cut_name(name, depth)
                scopes.setdefault(around, ([], []))[which].append(below)
        pairs = {around: unlike(*orders) for around, orders in scopes.items() if len(orders[0]) == len(orders[1]) > 1}
        changed = {around: (tuple(before), tuple(after)) for around, (before, after) in pairs.items() if before}
        # The outermost scopes of which several have another order are the blocks.
        if len(changed) > 1:
            return changed
    return {}


def cut_name(name: str, depth: int) -> tuple[str, str]:
    """Cut a name in that of the block and what is below it, after so many segments or, below 0, so many numbers.

    >>> cut_name("net/block_0/norm", 2), cut_name("net_1/block_0_norm", -2), cut_name("net/norm", -1)
    (('net/block_0', 'norm'), ('net_1/block_0', 'norm'), ('', 'net/norm'))
    """
    if depth < 0:
        ends = [found for found, _ in zip(NUMBER.finditer(name), range(-depth), strict=False)]
        return (name[: ends[-1].start(1)], name[ends[-1].end() :]) if len(ends) == -depth else ("", name)
    segments = name.split("/")
    return "/".join(segments[:depth]), "/".join(segments[depth:])


def partner_name(m: Matching, layers: tuple[Layers, Layers], layer: int) -> str:
    """The name that an old layer has now."""
    partner = int(m.scope_to_b[layer] if exists(layer) else m.to_b[-1 - layer])
    if not exists(partner):
        return layers[0].name(layer)
    return layers[1].name(partner if exists(layer) else -1 - partner)


def order(layers: Layers, nodes: Sequence[int], name_of: Callable[[int], str]) -> list[str]:
    """The layers of nodes as data runs through them, by name: by the longest way that leads to each of them."""
    place: dict[int, float] = {}
    for node in nodes:
        if layers.forward[node]:
            layer = layers.of(node)
            place[layer] = min(layers.depth[node], place.get(layer, 1.0))
    return [name for _, name in sorted((depth, name_of(layer)) for layer, depth in place.items())]


def moved(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The fewest names whose moves make one order of the other: all but a longest common subsequence.

    >>> moved(["norm", "dense", "add"], ["dense", "add", "norm"])
    ['norm']
    """
    kept = {old[place] for place, _ in common(old, new) or ()}
    return [name for name in old if name not in kept]
