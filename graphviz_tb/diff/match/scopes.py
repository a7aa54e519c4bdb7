"""Match scopes and what is in them: from the roots down by series, name and op; from the bottom up by content.

Scopes with equal content are matched in one step, so that only the paths to differences are walked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns, Scopes
from graphviz_tb.diff.columns.values import Hashes
from graphviz_tb.diff.match.matching import (
    Aligned,
    Findings,
    Matching,
    Member,
    NameAffixes,
    Pairs,
    Proposal,
    Reason,
    align_members,
    gaps_between,
    node_pairs,
    scope_pairs,
    series_runs,
    split_number,
)
from graphviz_tb.diff.match.numbered import MIN_FUNCTION_SHARE, count_op_types, dice_coefficient
from graphviz_tb.limits import MAX_ALIGNED_PAIRS, MAX_FOLLOWED_PLACES
from graphviz_tb.model.columns import Ints, distinct_values, exists

Bags = Callable[[int], Counter[int]]  # the counts of op types in a scope, cached
Runs = list[tuple[NameAffixes, list[Member], list[Member]]]  # series, with their old and new members
Align = Callable[[NameAffixes, Sequence[Member], Sequence[Member]], list[tuple[int, int]] | None]


def _shared_runs(there_a: dict[str, int], there_b: dict[str, int], *hashes: tuple[Hashes, Hashes]) -> Runs:
    """Return the series of both sides whose numbers differ, or whose members differ by each of some hashes."""
    runs_b = series_runs(there_b, there_a)
    runs = []
    for words, run in series_runs(there_a, there_b).items():
        other = runs_b.get(words)
        if other is None or (len(run) == 1 and run.keys() == other.keys()):  # a single name: no series
            continue
        mine = [Member(number, there_a[run[number]], run[number]) for number in sorted(run)]
        others = [Member(number, there_b[other[number]], other[number]) for number in sorted(other)]
        # Equal numbers with equal content need no alignment: they are matched by name.
        if [member.number for member in mine] != [member.number for member in others] or not any(
            [hash_a[member.id] for member in mine] == [hash_b[member.id] for member in others]
            for hash_a, hash_b in hashes
        ):
            runs.append((words, mine, others))
    return runs


def _likely_pairs(m: Matching, words: NameAffixes, mine: Sequence[Member], others: Sequence[Member]) -> dict[int, int]:
    """Return likely pairs of positions: as in an earlier series of these words, else by number; by position if no
    number is on both sides and both have as many members."""
    known = m.shifts.get(words, {})
    place = {member.number: index for index, member in enumerate(others)}
    top = m.tops[words] if words in m.decided and known else -1
    wanted = [known.get(each.number, each.number if each.number > top else None) for each in mine]
    pairs = {index: place[number] for index, number in enumerate(wanted) if number in place}
    return pairs if pairs or len(mine) != len(others) else {index: index for index in range(len(mine))}


def _align_scopes(
    m: Matching, words: NameAffixes, mine: Sequence[Member], others: Sequence[Member]
) -> list[tuple[int, int]] | None:
    """Align the members of a series of scopes: by content, then by structure, then by similarity."""
    exact = m.a.exact_scope_hashes, m.b.exact_scope_hashes
    likely = _likely_pairs(m, words, mine, others)
    tiers = exact, (m.a.structural_scope_hashes, m.b.structural_scope_hashes)
    pairs = align_members(m, [_hashes_of_members(mine, others, *tier) for tier in tiers], likely)
    return None if pairs is None else sorted(pairs + _alike_in_gaps(m, mine, others, pairs, likely))


def _align_ops(
    m: Matching, words: NameAffixes, mine: Sequence[Member], others: Sequence[Member]
) -> list[tuple[int, int]] | None:
    """Align the members of a series of ops: by neighbourhood, then by label, number of inputs and op type."""
    tiers = (
        (m.a.neighbourhood_hashes(2), m.b.neighbourhood_hashes(2)),
        (m.a.neighbourhood_hashes(1, "in"), m.b.neighbourhood_hashes(1, "in")),
        (m.a.node_label, m.b.node_label),
        (np.diff(m.a.in_start).astype(np.uint64), np.diff(m.b.in_start).astype(np.uint64)),
        (m.a.labels.op, m.b.labels.op),
    )
    hashes = [_hashes_of_members(mine, others, *tier) for tier in tiers]
    return align_members(m, hashes, _likely_pairs(m, words, mine, others))


def _hashes_of_members(
    mine: Sequence[Member], others: Sequence[Member], hash_a: Hashes, hash_b: Hashes
) -> tuple[list[int], list[int]]:
    return [int(hash_a[member.id]) for member in mine], [int(hash_b[member.id]) for member in others]


def _alike_in_gaps(
    m: Matching, mine: Sequence[Member], others: Sequence[Member], pairs: list[tuple[int, int]], likely: dict[int, int]
) -> list[tuple[int, int]]:
    """Return further pairs between aligned members, in ascending order, that have most of their ops in common."""
    found: list[tuple[int, int]] = []
    bags = cache(partial(_count_ops, m.a)), cache(partial(_count_ops, m.b))
    for (a0, a1), (b0, b1) in gaps_between(pairs, (0, len(mine)), (0, len(others))):
        # Equal counts: no member was added or removed, so each changed in place.
        if a1 - a0 == b1 - b0:
            partners = {number: b0 + number - a0 for number in range(a0, a1)}
        elif (a1 - a0) * (b1 - b0) <= MAX_ALIGNED_PAIRS:
            partners = None
        else:
            partners = {number: likely[number] for number in range(a0, a1) if b0 <= likely.get(number, -1) < b1}
            m.note("gap-limit", "a part of a series that changed too much to be aligned: taken by number")
        shares = {
            (i, j): _common_share(m, bags, mine[i].id, others[j].id, likely.get(i) == j)
            for i in range(a0, a1)
            for j in (range(b0, b1) if partners is None else [partners[i]] if i in partners else [])
        }
        found += heaviest_ascending(
            {
                pair: share + 0.001 * (likely.get(pair[0]) == pair[1])
                for pair, share in shares.items()
                if share >= MIN_FUNCTION_SHARE
            }
        )
    return found


def heaviest_ascending(weights: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """Return the pairs of the greatest total weight that ascend on both sides.

    >>> heaviest_ascending({(0, 0): 0.9, (0, 1): 1.0, (1, 1): 0.9})
    [(0, 0), (1, 1)]
    """
    # The best chains so far, as weight and last pair, both ascending: a chain that ends further right must be heavier.
    # Pairs are negated, so that the first of equal weights counts.
    stairs: list[tuple[float, int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    # For equal `i`, descending `j`: none of these pairs may follow another.
    for i, j in sorted(weights, key=lambda pair: (pair[0], -pair[1])):
        at = bisect_left(stairs, j, key=lambda stair: -stair[2])
        best = stairs[at - 1] if at else None
        before[i, j] = (-best[1], -best[2]) if best else None
        stair = (weights[i, j] + (best[0] if best else 0.0), -i, -j)
        end = bisect_left(stairs, stair, at)
        # A heavier chain may end in the same `j`.
        if at < end or at == len(stairs) or stairs[at][2] != -j:
            stairs[at:end] = [stair]
    chain = []
    pair = (-stairs[-1][1], -stairs[-1][2]) if stairs else None
    while pair:
        chain.append(pair)
        pair = before[pair]
    return chain[::-1]


def _count_ops(side: GraphColumns, row: int) -> Counter[int]:
    """Count how often each op type occurs in a scope."""
    return count_op_types(side, side.scopes.nodes(row))


def _common_share(m: Matching, bags: tuple[Bags, Bags], old: int, new: int, likely: bool) -> float:
    """Return the share of op types that two scopes have in common; for likely pairs, the share of names if greater."""
    share = dice_coefficient(bags[0](old), bags[1](new))
    if not likely or share >= MIN_FUNCTION_SHARE:
        return share
    names_a, names_b = (
        Counter(scopes.hashes_below(row, scopes.nodes(row)).tolist())
        for scopes, row in ((m.a.scopes, old), (m.b.scopes, new))
    )
    return max(share, dice_coefficient(names_a, names_b))


def _equal_neighbours(side: GraphColumns, members: Sequence[Member], kept: set[int]) -> dict[int, int]:
    """Return for each member without a partner the number of equal neighbours in the series, itself included."""
    counts: dict[int, int] = {}
    hashes = [int(side.structural_scope_hashes[member.id]) for member in members]
    for _, run in groupby(range(len(members)), key=hashes.__getitem__):
        equal = list(run)
        unmatched = [number for number in equal if number not in kept]
        # A run without a match was added or removed as a whole: no member is uncertain.
        if len(unmatched) < len(equal):
            counts.update({members[number].id: len(equal) for number in unmatched})
    return counts


def match_from_roots(m: Matching, starts: Sequence[tuple[int, int]]) -> Findings:
    """Match nodes and scopes below pairs of matched scopes: those of equal names, or positions in a series, and op
    types."""
    queue = deque(starts)
    while queue:
        old, new = queue.popleft()
        if m.a.exact_scope_hashes[old] == m.b.exact_scope_hashes[new]:
            yield from match_whole(m, old, new, Reason.NAME)
        else:
            yield from _match_ops(m, old, new)
            there = _free_children(m, old, new)
            runs = _indistinct_series(m, *there)
            align = partial(_align_scopes, m)
            queue.extend((yield from _match_siblings(m, True, there, runs, align, "", m.a.scopes.name[old])))


def _free_children(m: Matching, old: int, new: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the scopes directly in two scopes that have no partner, by the last segment of their name."""
    a, b = m.a.scopes, m.b.scopes
    return (
        {a.leaf[row]: row for row in a.children(old) if not exists(m.scope_to_b[row])},
        {b.leaf[row]: row for row in b.children(new) if not exists(m.scope_to_a[row])},
    )


def _indistinct_series(m: Matching, there_a: dict[str, int], there_b: dict[str, int]) -> Runs:
    """Return the series of scopes to align. If all names and wires are equal, each member changed in place, even if it
    now resembles another member; for modules of PyTorch equal names suffice, since the program chose them."""
    same = (m.a.exact_scope_hashes, m.b.exact_scope_hashes), (m.a.scopes_in_place, m.b.scopes_in_place)
    runs = _shared_runs(there_a, there_b, *same)
    by_name = m.a.has_module_scopes and m.b.has_module_scopes
    return [run for run in runs if not by_name or {each.leaf for each in run[1]} != {each.leaf for each in run[2]}]


def match_whole(m: Matching, old: int, new: int, reason: Reason) -> Findings:
    """Match everything below two scopes of equal content, by the names below them."""
    a, b = m.a.scopes, m.b.scopes
    # The content of thousands of nested scopes is matched with the outermost.
    if exists(m.to_b[a.nodes(old)]).all() and exists(m.scope_to_b[old + 1 : a.end[old]]).all():
        return
    rows_a, names_a = a.scopes_below(old)
    rows_b, names_b = b.scopes_below(new)
    # The content is equal, so both sides agree row by row when sorted by names.
    if len(rows_a) == len(rows_b):
        order_a, order_b = np.argsort(names_a, kind="stable"), np.argsort(names_b, kind="stable")
        yield Pairs(rows_a[order_a], rows_b[order_b], reason, scopes=True)
    nodes_a, nodes_b = a.nodes(old), b.nodes(new)
    # Also by label and neighbourhood, since a damaged file may have a name twice.
    order_a = np.lexsort((m.a.neighbourhood_hashes(1)[nodes_a], m.a.node_label[nodes_a], a.hashes_below(old, nodes_a)))
    order_b = np.lexsort((m.b.neighbourhood_hashes(1)[nodes_b], m.b.node_label[nodes_b], b.hashes_below(new, nodes_b)))
    if len(nodes_a) == len(nodes_b):
        yield Pairs(nodes_a[order_a], nodes_b[order_b], reason)


def _match_siblings(
    m: Matching,
    scopes: bool,
    there: tuple[dict[str, int], dict[str, int]],
    runs: Runs,
    align: Align,
    of: str,
    where: str,
) -> Generator[Proposal, None, list[tuple[int, int]]]:
    """Match scopes, or ops, directly in two matched scopes, by series, then by name; return the new pairs."""
    pairs_for = scope_pairs if scopes else node_pairs
    made: list[tuple[int, int]] = []
    for words, mine, others in runs:
        pairs = align(words, mine, others)
        if pairs is None:
            m.note("series-limit", f"series {'N'.join(words)!r}{of} is too long to be aligned: taken by number", where)
            continue
        gone = _equal_neighbours(m.a, mine, {i for i, _ in pairs}) if scopes else {}
        come = _equal_neighbours(m.b, others, {j for _, j in pairs}) if scopes else {}
        yield Aligned(scopes, words, mine, others, pairs, gone, come)
        members = [(mine[i], others[j]) for i, j in pairs]
        # Pairs of equal names first: the first match counts, so they get the better reason.
        yield pairs_for([(one.id, other.id) for one, other in members if one.leaf == other.leaf], Reason.NAME)
        yield pairs_for([(one.id, other.id) for one, other in members], Reason.SERIES)
        made += [(one.id, other.id) for one, other in members]
        for names, taken in zip(there, (mine, others), strict=True):
            for member in taken:
                # None: `add_1` is a member of the series of `add`, and may also begin that of `add_1_1`.
                names.pop(member.leaf, None)
    same = [(mine, there[1][leaf]) for leaf, mine in there[0].items() if leaf in there[1]]
    yield pairs_for(same, Reason.NAME)
    return made + same


def _match_ops(m: Matching, old: int, new: int) -> Findings:
    """Match the nodes directly in two matched scopes."""
    there_a = _nodes_by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
    there_b = _nodes_by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
    if not any(map(split_number, (*there_a, *there_b))):  # no name is in a series
        same = [(node, there_b[leaf]) for leaf, node in there_a.items() if leaf in there_b]
        yield node_pairs([pair for pair in same if m.a.op_type(pair[0]) == m.b.op_type(pair[1])], Reason.NAME)
        return
    for op, there in _by_op(m, there_a, there_b).items():
        around = m.a.neighbourhood_hashes(2), m.b.neighbourhood_hashes(2)
        runs = _shared_runs(*there, around, (m.a.in_place, m.b.in_place))
        yield from _match_siblings(m, False, there, runs, partial(_align_ops, m), f" of {op}", "")


def _nodes_by_leaf(side: GraphColumns, nodes: Ints, partner: Ints) -> dict[str, int]:
    """Return unmatched nodes by the last segment of their name; of two with one name, the first by label."""
    leaves = side.scopes.node_leaf
    by_name: dict[str, int] = {}
    for node in nodes.tolist():
        if not exists(partner[node]):
            leaf = leaves[node]
            if leaf in by_name:
                by_name[leaf] = min(by_name[leaf], node, key=lambda other: int(side.node_label[other]))
            else:
                by_name[leaf] = node
    return by_name


def _by_op(
    m: Matching, there_a: dict[str, int], there_b: dict[str, int]
) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Split two tables of nodes by op type."""
    tables: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
    for which, side, there in ((0, m.a, there_a), (1, m.b, there_b)):
        words, column = side.graph.op_types, side.graph.op
        for leaf, node in there.items():
            tables.setdefault(words[column[node]], ({}, {}))[which][leaf] = node
    return tables


def match_same_names(m: Matching) -> Findings:
    """Match free nodes of one name in matched scopes whose op types differ."""
    for same in _free_of_one_name(m):
        yield node_pairs(same, Reason.SAME_NAME_OTHER_OP)


def match_same_places(m: Matching) -> Findings:
    """Match unmatched nodes of one name and different op types that have the same sources or users: edits in place."""
    for old, new in (pair for same in _free_of_one_name(m) for pair in same):
        if m.a.labels.op[old] != m.b.labels.op[new] and _in_one_place(m, old, new):
            yield node_pairs([(old, new)], Reason.SAME_NAME_OTHER_OP)


def _in_one_place(m: Matching, old: int, new: int) -> bool:
    """Return whether two nodes have the same sources in the same order, or the same users."""
    before, after = m.to_b[m.a.data_sources(old)].tolist(), m.b.data_sources(new)
    if before and before == after:
        return True
    users = sorted(m.to_b[m.a.users(old)].tolist())
    return bool(users) and users[0] >= 0 and users == sorted(m.b.users(new))


def _free_of_one_name(m: Matching) -> list[list[tuple[int, int]]]:
    """Return pairs of unmatched nodes with equal names, for each pair of matched scopes. The first node of a name
    counts."""
    free_a, free_b = m.nodes_without_partner()
    inside: dict[int, tuple[dict[str, int], dict[str, int]]] = defaultdict(lambda: ({}, {}))
    for node, scope in zip(free_a.tolist(), m.scope_to_b[m.a.scopes.of_node[free_a]].tolist(), strict=True):
        if exists(scope):
            inside[scope][0].setdefault(m.a.scopes.node_leaf[node], node)
    for node, scope in zip(free_b.tolist(), m.b.scopes.of_node[free_b].tolist(), strict=True):
        inside[scope][1].setdefault(m.b.scopes.node_leaf[node], node)
    return [
        [(old, there[leaf]) for leaf, old in here.items() if leaf in there]
        for _, (here, there) in sorted(inside.items())
    ]


# Match scopes from the bottom up: two correspond if most of their contents are matched (GumTree's containers).

MIN_COMMON_SHARE = 0.5  # GumTree's minDice


def match_containers(m: Matching) -> Findings:
    """Match unmatched scopes by the share of matched descendants, deepest first, then their contents by name."""
    rows_a, rows_b = _free_scopes(m)
    if not len(rows_a) or not len(rows_b):
        return
    free = FreeScopes(m, rows_b[exists(m.b.scopes.parent[rows_b])])
    made: dict[int, int] = {}
    # Deepest first: a scope and the only scope in it have equal nodes, and the inner scopes are partners.
    for old in rows_a[np.argsort(-m.a.scopes.depth[rows_a], kind="stable")].tolist():
        best = free.best_scope(old)
        if best is not None and free.is_around_inner(old, best, made):
            free.take(best)
            made[old] = best
    yield scope_pairs(list(made.items()), Reason.CONTENT)
    yield from match_from_roots(m, list(made.items()))


class FreeScopes:
    """The unmatched scopes of the new graph.

    Nested scopes with equal nodes, of which there may be thousands, have equal shares. They are a run, identified by
    its outermost row; `left` has the free rows of a run, the deepest last.
    """

    def __init__(self, m: Matching, rows: Ints) -> None:
        self.m = m
        self.first_a, self.first_b = _runs(m.a.scopes).tolist(), _runs(m.b.scopes).tolist()
        self.free: set[int] = set(rows.tolist())
        self.left: dict[int, list[int]] = defaultdict(list)
        self.named: dict[tuple[int, str], list[int]] = defaultdict(list)  # `left`, by last segment of the name too
        for row in rows.tolist():
            self.left[self.first_b[row]].append(row)
            self.named[self.first_b[row], m.b.scopes.leaf[row]].append(row)
        self.known: dict[int, list[tuple[float, int]]] = {}

    def take(self, row: int) -> None:
        """Mark a scope as matched."""
        self.free.discard(row)

    def best_scope(self, old: int) -> int | None:
        """Return the free scope with the largest share of nodes in common with `old`; None if no share is enough."""
        leaf, depth = self.m.a.scopes.leaf[old], self.m.b.scopes.depth
        run = self.first_a[old]
        if run not in self.known:
            self.known[run] = self.shares_by_run(run)
        # By share, then by equal last segment, then the deepest, then the first row.
        best = (0.0, False, 0, 0)
        for share, first in self.known[run]:
            if share < best[0]:
                break
            named_row = self.last_free(self.named.get((first, leaf), []))
            row = self.last_free(self.left[first]) if named_row is None else named_row
            if row is not None:
                best = max(best, (share, named_row is not None, int(depth[row]), -row))
        return -best[3] if best[0] else None

    def is_around_inner(self, old: int, new: int, made: Mapping[int, int]) -> bool:
        """Return whether `new` encloses the partner of the only scope in `old`, or `old` has no such scope. Otherwise
        the move of the content would be reported twice."""
        inner = made.get(old + 1, -1) if self.first_a[old + 1 : old + 2] == [self.first_a[old]] else -1
        if not exists(inner):
            return True
        parent = self.m.b.scopes.parent
        return self.first_b[new] == self.first_b[inner] or new in (parent[inner], parent[self.first_b[inner]])

    def shares_by_run(self, old: int) -> list[tuple[float, int]]:
        """Return the runs with enough nodes in common with an old scope, best first: Dice coefficient and run."""
        a, b = self.m.a.scopes, self.m.b.scopes
        partners = self.m.to_b[a.nodes(old)]
        partners = partners[exists(partners)]
        size, rows = a.size(old), np.sort(b.of_node[partners])
        # A scope of more nodes cannot reach the share, even with all partners.
        runs = self.runs_around(distinct_values(rows), 2 * len(rows) / MIN_COMMON_SHARE - size)
        # The rows under a scope are one run: count the partners in it.
        shared = np.searchsorted(rows, b.end[runs]) - np.searchsorted(rows, runs)
        share = 2 * shared / (size + b.node_start[b.end[runs]] - b.node_start[runs])
        enough = share >= MIN_COMMON_SHARE
        return sorted(zip(share[enough].tolist(), runs[enough].tolist(), strict=True), reverse=True)

    def runs_around(self, rows: Ints, most: float) -> Ints:
        """Return the runs of unmatched scopes that are or enclose some rows, of up to `most` nodes."""
        b = self.m.b.scopes
        seen: set[int] = set()
        for row in rows.tolist():
            run = self.first_b[row]
            # Runs around a seen run were seen too.
            while run not in seen and b.size(run) <= most:
                seen.add(run)
                around = int(b.parent[run])
                if not exists(around):
                    break
                run = self.first_b[around]
        found = sorted(run for run in seen if run in self.left)
        return np.array(found, np.int32)

    def last_free(self, rows: list[int]) -> int | None:
        """Return the last of some rows that is still free."""
        while rows and rows[-1] not in self.free:
            rows.pop()
        return rows[-1] if rows else None


def _runs(scopes: Scopes) -> Ints:
    """Return for each scope the outermost scope with the same nodes."""
    sizes, rows = scopes.sizes(), np.arange(len(scopes), dtype=np.int32)
    # In preorder, the only scope in a scope comes right after it.
    same = np.concatenate(([False], (scopes.parent[1:] == rows[:-1]) & (sizes[1:] == sizes[:-1])))
    return np.maximum.accumulate(np.where(same, 0, rows)).astype(np.int32)


def _free_scopes(m: Matching) -> tuple[Ints, Ints]:
    """Return the scopes of compared blocks without a partner, old and new."""
    old, new = m.block_pair()
    in_a = ~exists(m.scope_to_b) & exists(old[m.a.scopes.block])
    in_b = ~exists(m.scope_to_a) & exists(new[m.b.scopes.block])
    return np.flatnonzero(in_a).astype(np.int32), np.flatnonzero(in_b).astype(np.int32)


def match_wrapped(m: Matching) -> Findings:
    """Match a block with a scope of the other side that has the same content: all of it was wrapped, or unwrapped."""
    a, b = m.a, m.b
    for root in a.scopes.roots:
        other = int(m.scope_to_b[root])
        if not exists(other):
            continue
        inner = (_is_same_inside(a, root, b, other), _is_same_inside(b, other, a, root))
        if exists(inner[0]):
            yield from match_whole(m, root, inner[0], Reason.SUBTREE)
        elif exists(inner[1]):
            yield from match_whole(m, inner[1], other, Reason.SUBTREE)


def _is_same_inside(side: GraphColumns, root: int, partner: GraphColumns, other: int) -> int:
    """Return a scope below `other` with content equal to that of `root` and most nodes of `other`; -1 for none."""
    scopes = partner.scopes
    same = (
        other
        + 1
        + np.flatnonzero(partner.exact_scope_hashes[other + 1 : scopes.end[other]] == side.exact_scope_hashes[root])
    )
    # More than half: a large graph that contains a copy of a small one does not wrap it.
    most = (row for row in same.tolist() if 2 * scopes.size(row) > scopes.size(other))
    return next(most, -1)


def match_followers(m: Matching) -> Findings:
    """Match the remaining nodes of a scope with nodes of equal name and op in the scope where their siblings went."""
    # Free nodes by new scope, cached: the nodes of thousands of scopes may have moved there.
    free_by_scope: dict[int, tuple[dict[str, int], dict[str, int]]] = {}
    for old, new in _ways_between_scopes(m):
        if new not in free_by_scope:
            rows = [row for row in m.b.scopes.children(new) if not exists(m.scope_to_a[row])]
            free = _nodes_by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
            free_by_scope[new] = free, {m.b.scopes.leaf[row]: row for row in rows}
        there_b, inside = free_by_scope[new]
        there_a = _nodes_by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
        same_name = [(node, there_b[leaf]) for leaf, node in there_a.items() if leaf in there_b]
        same_op = [(node, other) for node, other in same_name if m.a.labels.op[node] == m.b.labels.op[other]]
        yield node_pairs(same_op, Reason.NAME)
        scopes = []
        for row in m.a.scopes.children(old):
            other = inside.get(m.a.scopes.leaf[row], -1)
            if exists(other) and m.free_scopes(row, other):
                scopes.append((row, other))
        yield scope_pairs(scopes, Reason.NAME)
        yield from match_from_roots(m, scopes)


def _ways_between_scopes(m: Matching) -> list[tuple[int, int]]:
    """Return pairs of scopes that are not partners but share matched children, most children first."""
    a, b = m.a.scopes, m.b.scopes
    old, new = m.matched_pairs()
    rows = np.flatnonzero(exists(m.scope_to_b) & exists(a.parent))
    # The scopes around matched nodes and scopes on either side; `away` where these are no partners.
    old_scopes = np.concatenate((a.of_node[old], a.parent[rows])).astype(np.int64)
    new_scopes = np.concatenate((b.of_node[new], b.parent[m.scope_to_b[rows]])).astype(np.int64)
    moved = (m.scope_to_b[old_scopes] != new_scopes) & exists(new_scopes)
    pairs, counts = np.unique(np.stack((old_scopes[moved], new_scopes[moved])), axis=1, return_counts=True)
    has_free = _has_free_children(m)
    ways: list[tuple[int, int]] = []
    places: Counter[int] = Counter()
    for number in np.argsort(-counts, kind="stable").tolist():
        old_scope, new_scope = int(pairs[0, number]), int(pairs[1, number])
        # Most children first, so that the limit only drops pairs with few of them.
        if has_free[old_scope] and places[old_scope] < MAX_FOLLOWED_PLACES:
            places[old_scope] += 1
            ways.append((old_scope, new_scope))
    return ways


def _has_free_children(m: Matching) -> np.ndarray:
    """Return which old scopes have free children."""
    a = m.a.scopes
    free = np.zeros(len(a), bool)
    free[a.of_node[~exists(m.to_b)]] = True
    rows = np.flatnonzero(~exists(m.scope_to_b) & exists(a.parent))
    free[a.parent[rows]] = True
    return free
