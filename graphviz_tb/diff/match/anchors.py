"""What can be found again wherever it went: scopes with the same content, nodes with a neighbourhood like no other.

Equal subtrees, largest first, are the anchors of GumTree (Falleri et al., ASE 2014); neighbourhoods are compared by
Weisfeiler-Lehman hashes, largest radius first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, joined
from graphviz_tb.diff.columns.side import Side
from graphviz_tb.diff.match.by_name import descend, match_whole
from graphviz_tb.diff.match.functions import dice, natural
from graphviz_tb.diff.match.matching import Matching, Reason
from graphviz_tb.model.columns import Ints

LEAST = 3  # nodes of a scope that is recognised by its content alone
RADII = ((4, "both"), (8, "in"), (8, "out"), (3, "both"), (2, "both"), (4, "in"), (4, "out"))
ALIKE = 0.5
MOST_PAIRS, MOST_NODES = 2_000, 400_000  # of scopes that are compared each with each


def free_scopes(m: Matching) -> tuple[Ints, Ints]:
    """Scopes without a partner whose blocks are compared."""
    old, new = m.block_pair()
    in_a = (m.scope_to_b < 0) & (old[m.a.scopes.block] >= 0)
    in_b = (m.scope_to_a < 0) & (new[m.b.scopes.block] >= 0)
    return np.flatnonzero(in_a).astype(np.int32), np.flatnonzero(in_b).astype(np.int32)


def block_keys(m: Matching, rows_a: Ints, rows_b: Ints) -> tuple[Hashes, Hashes]:
    """The number of the pair of blocks that each scope lies in."""
    old, new = m.block_pair()
    return (
        old[m.a.scopes.block[rows_a]].astype(np.int64).view(np.uint64),
        new[m.b.scopes.block[rows_b]].astype(np.int64).view(np.uint64),
    )


def equal_subtrees(m: Matching) -> None:
    """Match free scopes that hold the same (names below them, labels), the largest first, where it is clear which is
    which: there is one on each side, or one with this name, or one whose parents are matched.
    """
    for mine, others in equal_groups(m):
        large = m.a.scopes.size(mine[0]) >= LEAST
        if len(mine) * len(others) <= MOST_PAIRS:
            match_clear(m, mine, others, large)


def equal_rest(m: Matching) -> None:
    """Match what `equal_subtrees` left open in natural order, where there are as many on both sides."""
    for mine, others in equal_groups(m):
        free_a = sorted((row for row in mine if m.scope_to_b[row] < 0), key=lambda row: natural(m.a.scopes.name[row]))
        free_b = sorted((row for row in others if m.scope_to_a[row] < 0), key=lambda row: natural(m.b.scopes.name[row]))
        if len(free_a) == len(free_b) and m.a.scopes.size(mine[0]) >= LEAST:
            for old, new in zip(free_a, free_b, strict=True):
                match_scope(m, old, new)


def equal_groups(m: Matching) -> list[tuple[list[int], list[int]]]:
    """Free scopes of one content on both sides, the largest first."""
    rows_a, rows_b = free_scopes(m)
    if not len(rows_a) or not len(rows_b):
        return []
    block_a, block_b = block_keys(m, rows_a, rows_b)
    key_a, key_b = joined(m.a.exact[rows_a], block_a), joined(m.b.exact[rows_b], block_b)
    both = np.intersect1d(key_a, key_b)
    groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for which, keys, rows in ((0, key_a, rows_a), (1, key_b, rows_b)):
        held = np.isin(keys, both)
        for key, row in zip(keys[held].tolist(), rows[held].tolist(), strict=True):
            groups[key][which].append(row)
    return sorted(groups.values(), key=lambda group: (-m.a.scopes.size(group[0][0]), group[0][0]))


def match_clear(m: Matching, mine: list[int], others: list[int], large: bool) -> None:
    """Match scopes of one content that are the only fit for one another."""
    a, b = m.a.scopes, m.b.scopes
    rules: list[Callable[[int, int], bool]] = [
        lambda old, new: parents(m, old, new) and a.leaf[old] == b.leaf[new],
        lambda old, new: parents(m, old, new),
    ]
    if large:
        rules += [lambda old, new: a.leaf[old] == b.leaf[new], lambda old, new: True]
    for fits in rules:
        free_a = [row for row in mine if m.scope_to_b[row] < 0]
        free_b = [row for row in others if m.scope_to_a[row] < 0]
        pairs = [(old, new) for old in free_a for new in free_b if fits(old, new)]
        times_a, times_b = Counter(old for old, _ in pairs), Counter(new for _, new in pairs)
        for old, new in pairs:
            if times_a[old] == times_b[new] == 1:
                match_scope(m, old, new)


def match_scope(m: Matching, old: int, new: int) -> None:
    """Match two scopes of one content, and all in them."""
    if m.free_scopes(old, new):
        m.pair_scopes(old, new, Reason.SUBTREE)
        match_whole(m, old, new, Reason.SUBTREE)


def parents(m: Matching, old: int, new: int) -> bool:
    """Whether the scopes around two scopes are matched."""
    around = int(m.a.scopes.parent[old])
    return around >= 0 and bool(m.scope_to_b[around] == m.b.scopes.parent[new])


def similar_scopes(m: Matching) -> None:
    """Match free scopes in matched ones by the share of names and ops below them, best first: renamed and changed."""
    rows_a, rows_b = free_scopes(m)
    there: dict[int, list[int]] = defaultdict(list)
    for new in rows_b.tolist():
        there[int(m.b.scopes.parent[new])].append(new)
    budget = MOST_NODES
    scored: list[tuple[float, int, int]] = []
    bags_b: dict[int, Counter[int]] = {}
    for old in rows_a.tolist():
        around = int(m.a.scopes.parent[old])
        rivals = there.get(int(m.scope_to_b[around]), ()) if around >= 0 and m.scope_to_b[around] >= 0 else ()
        budget -= m.a.scopes.size(old) if rivals else 0
        if budget < 0 or len(scored) > MOST_PAIRS:
            m.note("scope-limit", "too many free scopes to compare each with each by content", m.a.scopes.name[old])
            break
        mine = names_below(m.a, old) if rivals else Counter()
        for new in rivals:
            if new not in bags_b:
                bags_b[new] = names_below(m.b, new)
            share = dice(mine, bags_b[new])
            if share > ALIKE:
                scored.append((-share, old, new))
    for _, old, new in sorted(scored):
        if m.free_scopes(old, new):
            m.pair_scopes(old, new, Reason.CONTENT)
            descend(m, [(old, new)])


def names_below(side: Side, row: int) -> Counter[int]:
    """How often each name below a scope occurs, with its op."""
    nodes = side.scopes.nodes(row)
    return Counter(joined(side.scopes.below(row, nodes), side.labels.op[nodes]).tolist())


def anchors(m: Matching, radii: tuple[tuple[int, str], ...] = RADII) -> None:
    """Match free nodes whose neighbourhood occurs once on each side, the largest radius first."""
    from graphviz_tb.diff.match.follow import follow
    from graphviz_tb.diff.match.spread import spread

    for radius, direction in radii:
        free_a, free_b = m.left()
        if not len(free_a) or not len(free_b):
            return
        old, new = unique_pairs(m, m.a.around(radius, direction), m.b.around(radius, direction), free_a, free_b)
        old, new = plausible(m, old, new, radius)
        if len(old):
            m.pair_many(old, new, Reason.ANCHOR)
            follow(m)
            spread(m)


def plausible(m: Matching, old: Ints, new: Ints, radius: int) -> tuple[Ints, Ints]:
    """Leave out nodes with next to no neighbourhood, unless they keep their name or their scope."""
    edges = np.diff(m.a.in_start)[old] + np.diff(m.a.out_start)[old]
    same = m.a.scopes.node_leaf_hash[old] == m.b.scopes.node_leaf_hash[new]
    keep = (edges >= 2) | m.parents_match(old, new) | (same & (edges >= 1))
    return old[keep], new[keep]


def unique_pairs(m: Matching, hash_a: Hashes, hash_b: Hashes, free_a: Ints, free_b: Ints) -> tuple[Ints, Ints]:
    """Free nodes of compared blocks whose hash occurs once among the free nodes of either side."""
    blocks_a, blocks_b = m.block_pair()
    key_a = joined(hash_a[free_a], blocks_a[m.a.block[free_a]].astype(np.int64).view(np.uint64))
    key_b = joined(hash_b[free_b], blocks_b[m.b.block[free_b]].astype(np.int64).view(np.uint64))
    once_a, at_a = _once(key_a)
    once_b, at_b = _once(key_b)
    _, in_a, in_b = np.intersect1d(once_a, once_b, assume_unique=True, return_indices=True)
    return free_a[at_a[in_a]], free_b[at_b[in_b]]


def _once(keys: Hashes) -> tuple[Hashes, Ints]:
    """The keys that occur once, and where."""
    found, first, count = np.unique(keys, return_index=True, return_counts=True)
    return found[count == 1], first[count == 1].astype(np.int32)
