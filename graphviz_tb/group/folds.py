"""Levels too wide to read are folded further, by structure first and by names then.

    alike      siblings of one motif that hang on the same neighbours
    numbered   names that differ only in their last number, wherever it stands
    chains     long paths without branches
    prefixes   names that begin alike

A step is taken only while the level is too wide; folds that are too wide inside are folded again. Everything follows
from names and neighbours, never from positions, so that a small change of the graph changes the folding a little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from graphviz_tb.group.fold_names import common_name, prefix_groups, range_of, split_last_number, stems
from graphviz_tb.group.insert import NewGroup
from graphviz_tb.group.series import below, motif_of
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.options import GroupOptions

FEWEST = 5  # members of a fold by motif or number
LONG_CHAIN = 16
CHUNKS = (20, 500, 10_000, 200_000, 5_000_000)  # sizes of number ranges, each at most 25 of the one before


@dataclass(slots=True, eq=False)
class Item:
    """What stands at a level while it is folded: a row, or a fold of items. `leaf` is its name at the level."""

    leaf: str
    row: int = -1
    members: list[Item] = field(default_factory=list)
    how: str = ""

    def rows(self) -> list[int]:
        """All rows inside."""
        found: list[int] = []
        todo = [self]
        while todo:
            item = todo.pop()
            if item.row >= 0:
                found.append(item.row)
            todo.extend(reversed(item.members))
        return found


Step = Callable[[Hierarchy, int, list[Item], GroupOptions], list[Item]]


def find_folds(hierarchy: Hierarchy, options: GroupOptions) -> list[NewGroup]:
    """The folds of all levels that are too wide, inner ones before those around them.

    Before: series are in place. After: no level, fold or series has more than `max_children` children.
    """
    wide = np.flatnonzero(np.diff(hierarchy.child_start) > options.max_children)
    groups: list[NewGroup] = []
    for row in wide.tolist():
        groups.extend(fold_level(hierarchy, row, options, len(groups)))
    return groups


def fold_level(hierarchy: Hierarchy, parent: int, options: GroupOptions, serial: int) -> list[NewGroup]:
    """Fold the children of one group."""
    rows = hierarchy.children(parent).tolist()
    top = Item("", members=[Item(leaf_of(hierarchy, row), row) for row in rows])
    top.how = "numbered" if hierarchy.kind[parent] == Kind.SERIES else ""
    todo = [top]
    while todo:
        item = todo.pop()
        if len(item.members) > options.max_children:
            item.members = narrow(hierarchy, parent, item, options)
            todo.extend(inner for inner in item.members if inner.members)
    scope = parent
    while scope > 0 and hierarchy.kind[scope] in (Kind.SERIES, Kind.FOLD):
        scope = int(hierarchy.parent[scope])
    return listed(hierarchy, parent, scope, top, serial)


def leaf_of(hierarchy: Hierarchy, row: int) -> str:
    """The last segment of a row's name."""
    return hierarchy.name[row].rsplit("/", 1)[-1]


def narrow(hierarchy: Hierarchy, parent: int, item: Item, options: GroupOptions) -> list[Item]:
    """The members of one level after as many steps as it needs."""
    items = item.members
    steps: list[Step] = [by_likeness, by_number, by_chain, by_prefix]
    if item.how == "numbered":
        steps = [by_range, by_prefix]
    if item.how == "chain":
        steps = [by_pieces, by_prefix]
    for step in steps:
        if len(items) <= options.max_children:
            break
        items = step(hierarchy, parent, items, options)
    return items


def gather(items: list[Item], groups: Iterable[tuple[str, str, list[Item]]]) -> list[Item]:
    """Put groups `(name, how, members)` in the place of their first member."""
    head: dict[int, Item] = {}
    inside: set[int] = set()
    for name, how, members in groups:
        head[id(members[0])] = Item(name, members=members, how=how)
        inside.update(id(member) for member in members)
    return [head.get(id(item), item) for item in items if id(item) in head or id(item) not in inside]


def by_likeness(hierarchy: Hierarchy, parent: int, items: list[Item], options: GroupOptions) -> list[Item]:
    """Fold siblings of one motif with the same neighbours at this level."""
    into, out = neighbours(hierarchy, parent, items)
    alike: dict[object, list[Item]] = defaultdict(list)
    for at, item in enumerate(items):
        motif = motif_of(hierarchy, item.row, options) if item.row >= 0 else None
        if motif is not None and hierarchy.kind[item.row] in (Kind.OP, Kind.SCOPE):
            alike[motif, frozenset(into[at]), frozenset(out[at])].append(item)
    found = [members for members in alike.values() if FEWEST <= len(members) < len(items)]
    return gather(items, [(name_for(hierarchy, members), "numbered", members) for members in found])


def name_for(hierarchy: Hierarchy, members: list[Item]) -> str:
    """A name that members share; without one, their op type."""
    name = range_of([item.leaf for item in members]) or common_name([item.leaf for item in members])
    if name == "…" and hierarchy.node[members[0].row] >= 0:
        return f"{hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[members[0].row]]]}…"
    return name


def neighbours(hierarchy: Hierarchy, parent: int, items: list[Item]) -> tuple[list[set[int]], list[set[int]]]:
    """For each item the positions of the items its edges come from, and go to."""
    place = {row: at for at, item in enumerate(items) for row in item.rows()}
    into: list[set[int]] = [set() for _ in items]
    out: list[set[int]] = [set() for _ in items]
    edges = hierarchy.owned(parent)
    pairs = np.unique((hierarchy.edge_from[edges].astype(np.int64) << 32) | hierarchy.edge_to[edges])
    for pair in pairs.tolist():
        source, target = place.get(pair >> 32, -1), place.get(pair & 0xFFFFFFFF, -1)
        if source >= 0 and target >= 0 and source != target:
            out[source].add(target)
            into[target].add(source)
    return into, out


def by_number(hierarchy: Hierarchy, parent: int, items: list[Item], options: GroupOptions) -> list[Item]:
    """Fold names that differ only in their last number: `L2Loss_7_grad`.

    Not where the number is the name of a block that holds more: `block1_conv` belongs with `block1_relu`.
    """
    alike: dict[tuple[str, str], list[Item]] = defaultdict(list)
    count = stems(item.leaf for item in items)
    for item in items:
        cut = split_last_number(item.leaf) if item.row >= 0 else None
        if cut and count[item.leaf[: len(item.leaf) - len(cut[2])]] == 1:
            alike[cut[0], cut[2]].append(item)
    found = [members for members in alike.values() if FEWEST <= len(members) < len(items)]
    return gather(items, [(name_for(hierarchy, members), "numbered", members) for members in found])


def by_chain(hierarchy: Hierarchy, parent: int, items: list[Item], options: GroupOptions) -> list[Item]:
    """Fold long paths whose inner items have one edge in and one out."""
    into, out = neighbours(hierarchy, parent, items)
    follows = {at: next(iter(out[at])) for at in range(len(items)) if len(out[at]) == 1}
    follows = {at: other for at, other in follows.items() if len(into[other]) == 1}
    heads = sorted(set(follows) - set(follows.values()))
    found = []
    for head in heads:
        chain = [head]
        while (at := follows.get(chain[-1])) is not None:
            chain.append(at)
        if LONG_CHAIN <= len(chain) <= len(items) // 2:
            members = [items[at] for at in chain]
            found.append((f"{members[0].leaf} → {members[-1].leaf}", "chain", sorted_by(items, members)))
    return gather(items, found)


def sorted_by(items: list[Item], members: list[Item]) -> list[Item]:
    """Members in the order of the level."""
    wanted = {id(member) for member in members}
    return [item for item in items if id(item) in wanted]


def by_prefix(hierarchy: Hierarchy, parent: int, items: list[Item], options: GroupOptions) -> list[Item]:
    """Fold names that begin alike, as coarsely as leaves the level readable."""
    groups = prefix_groups([item.leaf for item in items], options.max_children)
    return gather(items, [(name, "prefix", [items[at] for at in group]) for name, group in groups])


def by_range(hierarchy: Hierarchy, parent: int, items: list[Item], options: GroupOptions) -> list[Item]:
    """Fold a numbered run into ranges of round numbers."""
    cuts = [split_last_number(item.leaf) for item in items]
    numbers = [cut[1] if cut else 0 for cut in cuts]
    for size in CHUNKS:
        ranges: dict[int, list[Item]] = defaultdict(list)
        for number, item in zip(numbers, items, strict=True):
            ranges[number // size].append(item)
        if len(ranges) <= options.max_children and len(ranges) > 1:
            break
    else:
        return items
    groups = [members for members in ranges.values() if len(members) > 1]
    return gather(items, [(name_for(hierarchy, members), "numbered", members) for members in groups])


def by_pieces(hierarchy: Hierarchy, parent: int, items: list[Item], options: GroupOptions) -> list[Item]:
    """Cut a long chain at names that fall on the mark, so that an insertion moves no other cut."""
    from zlib import crc32

    pieces: list[list[Item]] = [[]]
    spacing = max(12, len(items) // 24)
    for item in items:
        long = len(pieces[-1]) >= spacing // 2 and crc32(item.leaf.encode("utf-8", "surrogatepass")) % spacing == 0
        if long or len(pieces[-1]) >= 2 * spacing:
            pieces.append([])
        pieces[-1].append(item)
    found = [piece for piece in pieces if len(piece) > 1]
    return gather(items, [(f"{piece[0].leaf} → {piece[-1].leaf}", "chain", piece) for piece in found])


def listed(hierarchy: Hierarchy, parent: int, scope: int, top: Item, serial: int) -> list[NewGroup]:
    """Folds as new groups, inner ones first; names are made unique at their level."""
    order: list[Item] = []
    todo = [top]
    while todo:
        item = todo.pop()
        folds = [inner for inner in item.members if inner.members]
        order.extend(folds)
        todo.extend(folds)
    taken: dict[str, int] = defaultdict(int)
    names: dict[int, str] = {}
    for item in order:
        taken[item.leaf] += 1
        unique = item.leaf if taken[item.leaf] == 1 else f"{item.leaf} ({taken[item.leaf]})"
        names[id(item)] = below(hierarchy, scope, unique)
    order.reverse()
    number = {id(item): serial + at for at, item in enumerate(order)}
    return [
        NewGroup(
            Kind.FOLD,
            parent,
            names[id(item)],
            tuple(inner.row if inner.row >= 0 else -1 - number[id(inner)] for inner in item.members),
        )
        for item in order
    ]
