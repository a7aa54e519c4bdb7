"""Levels too wide to read are folded further, by structure first and by names then.

    alike      siblings of one motif that hang on the same neighbours
    numbered   names that differ only in their last number, wherever it stands
    prefixes   names that begin alike, if that is enough
    chains     long paths without branches
    letters    what is left, by shorter prefixes

A step is taken only while the level is too wide; folds that are too wide inside are folded again. Everything follows
from names and neighbours, never from positions, so that a small change of the graph changes the folding a little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from graphviz_tb.group.fold_names import by_letter, common_name, prefix_groups, range_of, split_last_number, stems
from graphviz_tb.group.insert import NewGroup
from graphviz_tb.group.series import Run, below, motifs
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.options import GroupOptions

FEWEST = 5  # members of a fold by motif or number
LONG_CHAIN = 6
CHUNKS = (20, 500, 10_000, 200_000, 5_000_000)  # sizes of number ranges, each at most 25 of the one before


@dataclass(slots=True, eq=False)
class Item:
    """What stands at a level while it is folded: a row, or a series or fold of items. `leaf` is its name there."""

    leaf: str
    row: int = -1
    members: list[Item] = field(default_factory=list)
    how: str = ""
    kind: Kind = Kind.FOLD

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


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The group whose children are folded, and what is known of all rows."""

    hierarchy: Hierarchy
    parent: int
    motif: Longs
    options: GroupOptions


Step = Callable[[Level, list[Item]], list[Item]]


def find_groups(hierarchy: Hierarchy, series: list[Run], options: GroupOptions) -> list[NewGroup]:
    """All new groups: series, and folds of what is too wide; inner ones stand before those around them.

    Before: raw rows, and the series found among them. After: with `options.folds` no level, fold or series has more
    than `max_children` children.
    """
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in series:
        runs[run.parent].append(run)
    wide: list[int] = []
    if options.folds:
        wide = np.flatnonzero(np.diff(hierarchy.child_start) > options.max_children).tolist()
    motif = motifs(hierarchy, options)
    groups: list[NewGroup] = []
    for parent in sorted({*runs, *wide}):
        level = Level(hierarchy, parent, motif, options)
        top = Item("", members=level_items(hierarchy, parent, runs[parent]))
        if options.folds:
            narrow_all(level, top)
        groups.extend(listed(level, top, len(groups)))
    return groups


def level_items(hierarchy: Hierarchy, parent: int, runs: list[Run]) -> list[Item]:
    """The children of a group, members of series inside their series."""
    items = [Item(leaf_of(hierarchy.name[row]), row) for row in hierarchy.children(parent).tolist()]
    by_row = {item.row: item for item in items}
    groups = [
        Item(leaf_of(run.name), members=[by_row[row] for row in run.members], how="numbered", kind=Kind.SERIES)
        for run in runs
    ]
    return gather(items, groups)


def leaf_of(name: str) -> str:
    """The last segment of a name."""
    return name.rsplit("/", 1)[-1]


def narrow_all(level: Level, top: Item) -> None:
    """Fold a level, and its folds and series, until nothing is too wide."""
    todo = [top]
    while todo:
        item = todo.pop()
        if len(item.members) > level.options.max_children:
            item.members = narrow(level, item)
        todo.extend(inner for inner in item.members if inner.members)


def narrow(level: Level, item: Item) -> list[Item]:
    """The members of one level after as many steps as it needs."""
    steps: dict[str, list[Step]] = {"numbered": [by_range, by_prefix], "chain": [by_pieces, by_prefix]}
    items = item.members
    for step in steps.get(item.how, [by_likeness, by_number, by_shared_prefix, by_chain, by_prefix]):
        if len(items) <= level.options.max_children:
            break
        items = step(level, items)
    return items


def gather(items: list[Item], groups: list[Item]) -> list[Item]:
    """Put groups in the place of their first member."""
    head = {id(group.members[0]): group for group in groups}
    inside = {id(member) for group in groups for member in group.members}
    return [head.get(id(item), item) for item in items if id(item) in head or id(item) not in inside]


def by_likeness(level: Level, items: list[Item]) -> list[Item]:
    """Fold siblings of one motif with the same neighbours at this level."""
    into, out = neighbours(level, items)
    alike: dict[object, list[Item]] = defaultdict(list)
    for at, item in enumerate(items):
        motif = int(level.motif[item.row]) if item.row >= 0 else -1
        if motif >= 0:
            alike[motif, frozenset(into[at]), frozenset(out[at])].append(item)
    found = [members for members in alike.values() if FEWEST <= len(members) < len(items)]
    return gather(items, [numbered_fold(level, members) for members in found])


def numbered_fold(level: Level, members: list[Item]) -> Item:
    """A fold named by what its members share; without that, by their op type."""
    hierarchy = level.hierarchy
    name = range_of([item.leaf for item in members]) or common_name([item.leaf for item in members])
    if name == "…" and hierarchy.node[members[0].row] >= 0:
        name = f"{hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[members[0].row]]]}…"
    return Item(name, members=members, how="numbered")


def neighbours(level: Level, items: list[Item]) -> tuple[list[set[int]], list[set[int]]]:
    """For each item the positions of the items its edges come from, and go to."""
    into: list[set[int]] = [set() for _ in items]
    out: list[set[int]] = [set() for _ in items]
    hierarchy = level.hierarchy
    place = np.full(int(hierarchy.end[level.parent]) - level.parent, -1, np.int64)
    for at, item in enumerate(items):
        place[[row - level.parent for row in item.rows()]] = at
    edges = hierarchy.owned(level.parent)
    sources, targets = (place[rows[edges] - level.parent] for rows in (hierarchy.edge_from, hierarchy.edge_to))
    ours = (sources >= 0) & (targets >= 0) & (sources != targets)
    for pair in np.unique(sources[ours] << 32 | targets[ours]).tolist():
        source, target = pair >> 32, pair & 0xFFFFFFFF
        out[source].add(target)
        into[target].add(source)
    return into, out


def by_number(level: Level, items: list[Item]) -> list[Item]:
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
    return gather(items, [numbered_fold(level, members) for members in found])


def by_chain(level: Level, items: list[Item]) -> list[Item]:
    """Fold long paths without branches, the longest first, until the level is readable."""
    into, out = neighbours(level, items)
    follows = {at: next(iter(out[at])) for at in range(len(items)) if len(out[at]) == 1}
    follows = {at: other for at, other in follows.items() if len(into[other]) == 1}
    heads = sorted(set(follows) - set(follows.values()))
    chains = [chain_from(head, follows) for head in heads]
    chains.sort(key=lambda chain: (-len(chain), items[chain[0]].leaf))
    found: list[Item] = []
    left = len(items)
    for chain in chains:
        if LONG_CHAIN <= len(chain) <= len(items) // 2 and left > level.options.max_children:
            members = [items[at] for at in chain]
            name = f"{members[0].leaf} → {members[-1].leaf}"
            found.append(Item(name, members=sorted_by(items, members), how="chain"))
            left -= len(chain) - 1
    return gather(items, found)


def chain_from(head: int, follows: dict[int, int]) -> list[int]:
    """The path that begins at `head`."""
    chain = [head]
    while (at := follows.get(chain[-1])) is not None:
        chain.append(at)
    return chain


def sorted_by(items: list[Item], members: list[Item]) -> list[Item]:
    """Members in the order of the level."""
    wanted = {id(member) for member in members}
    return [item for item in items if id(item) in wanted]


def by_shared_prefix(level: Level, items: list[Item]) -> list[Item]:
    """Fold names that begin alike, three or more, if that makes the level readable."""
    groups = prefix_groups([item.leaf for item in items], level.options.max_children, (3,))
    return items if groups is None else gather(items, prefix_folds(items, groups))


def prefix_folds(items: list[Item], groups: list[tuple[str, list[int]]]) -> list[Item]:
    """Folds from groups of positions."""
    return [Item(name, members=[items[at] for at in group]) for name, group in groups]


def by_prefix(level: Level, items: list[Item]) -> list[Item]:
    """Fold names that begin alike, even two, the largest first and no more than is needed; else by first letter."""
    names, most = [item.leaf for item in items], level.options.max_children
    groups = prefix_groups(names, most, (3, 2)) or by_letter(names, most)
    groups.sort(key=lambda group: (-len(group[1]), group[0]))
    left, count = len(items), 0
    while left > most and count < len(groups):
        left -= len(groups[count][1]) - 1
        count += 1
    return gather(items, prefix_folds(items, groups[:count]))


def by_range(level: Level, items: list[Item]) -> list[Item]:
    """Fold a numbered run into ranges of round numbers."""
    cuts = [split_last_number(item.leaf) for item in items]
    numbers = [cut[1] if cut else 0 for cut in cuts]
    for size in CHUNKS:
        ranges: dict[int, list[Item]] = defaultdict(list)
        for number, item in zip(numbers, items, strict=True):
            ranges[number // size].append(item)
        if len(ranges) <= level.options.max_children and len(ranges) > 1:
            break
    else:
        return items
    return gather(items, [numbered_fold(level, members) for members in ranges.values() if len(members) > 1])


def by_pieces(level: Level, items: list[Item]) -> list[Item]:
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
    names = [f"{piece[0].leaf} → {piece[-1].leaf}" for piece in found]
    return gather(items, [Item(name, members=piece, how="chain") for name, piece in zip(names, found, strict=True)])


def listed(level: Level, top: Item, serial: int) -> list[NewGroup]:
    """Series and folds as new groups, inner ones first; names of folds are made unique at their level."""
    layers: list[list[Item]] = [[inner for inner in top.members if inner.members]]
    while layers[-1]:
        layers.append([inner for item in layers[-1] for inner in item.members if inner.members])
    names: dict[int, str] = {}
    taken: dict[str, int] = defaultdict(int)
    scope = scope_of(level.hierarchy, level.parent)
    for item in [item for layer in layers for item in layer]:
        taken[item.leaf] += 1
        unique = item.leaf if taken[item.leaf] == 1 else f"{item.leaf} ({taken[item.leaf]})"
        names[id(item)] = below(level.hierarchy, scope, unique)
    order = [item for layer in reversed(layers) for item in layer]
    number = {id(item): serial + at for at, item in enumerate(order)}
    return [
        NewGroup(
            item.kind,
            level.parent,
            names[id(item)],
            tuple(inner.row if inner.row >= 0 else -1 - number[id(inner)] for inner in item.members),
        )
        for item in order
    ]


def scope_of(hierarchy: Hierarchy, row: int) -> int:
    """The nearest row at or above `row` that is no series and no fold."""
    while row > 0 and hierarchy.kind[row] in (Kind.SERIES, Kind.FOLD):
        row = int(hierarchy.parent[row])
    return row
