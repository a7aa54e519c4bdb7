"""Match from the roots down: align numbered series by structure, then match nodes by name and op, or by name alone.

Scopes of equal content are matched at once, so that only the paths to differences are walked.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator, Sequence

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.aligned import align_scopes, equal_neighbours, likely_pairs, series, shared_runs
from graphviz_tb.diff.match.found import Findings, Member, NodePairs, Proposal, Reason, ScopePairs, nodes, scopes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.series import NameAffixes, align
from graphviz_tb.model.columns import Ints


def descend(m: Matching, starts: Sequence[tuple[int, int]]) -> Findings:
    """Match below pairs of scopes by name.

    Before: the pairs are matched. After: what has the same name (or the same place in a numbered series) and the same
    op type below them is matched too.
    """
    # Pairs of matched scopes still to be walked; `waiting` are those put off until all others are done.
    queue = deque(starts)
    waiting: deque[tuple[int, int]] = deque()
    while queue or waiting:
        # With nothing else left to learn from, what was put off is matched one by one.
        last = not queue
        old, new = waiting.popleft() if last else queue.popleft()
        if m.a.exact[old] == m.b.exact[new]:
            yield from match_whole(m, old, new, Reason.NAME)
        elif not last and undecided(m, old, new):
            waiting.append((old, new))
        else:
            yield from match_ops(m, old, new)
            queue.extend((yield from match_children(m, old, new)))


def undecided(m: Matching, old: int, new: int) -> bool:
    """Whether two scopes alone do not say which members of a series in them came or went.

    The slots of an optimizer are alike in every layer; the layers say which is new. They are looked at first.
    """
    there_a, there_b = free_children(m, old, new)
    for words, mine, others in scopes_apart(m, there_a, there_b):
        if len(mine) == len(others) or words in m.decided:
            continue
        pairs = align_scopes(m, words, mine, others)
        if pairs is not None and (
            equal_neighbours(m.a, mine, {i for i, _ in pairs}) or equal_neighbours(m.b, others, {j for _, j in pairs})
        ):
            return True
    return False


def free_children(m: Matching, old: int, new: int) -> tuple[dict[str, int], dict[str, int]]:
    """The scopes directly in two scopes that have no partner, by the last segment of their name."""
    a, b = m.a.scopes, m.b.scopes
    return (
        {a.leaf[row]: row for row in a.children(old) if not exists(m.scope_to_b[row])},
        {b.leaf[row]: row for row in b.children(new) if not exists(m.scope_to_a[row])},
    )


def scopes_apart(
    m: Matching, there_a: dict[str, int], there_b: dict[str, int]
) -> list[tuple[NameAffixes, list[Member], list[Member]]]:
    """The series of scopes that differ in more than settings: of those where every name and every wire is the same,
    each member changed in its place, whatever another one is like now."""
    same = (m.a.exact, m.b.exact), (m.a.scopes_in_place, m.b.scopes_in_place)
    return shared_runs(there_a, there_b, *same)


def match_whole(m: Matching, old: int, new: int, reason: Reason) -> Findings:
    """Match everything below two scopes of equal content, by the names below them."""
    a, b = m.a.scopes, m.b.scopes
    # Of thousands of scopes in one another, the first that is walked matches what all of them hold.
    if exists(m.to_b[a.nodes(old)]).all() and exists(m.scope_to_b[old + 1 : a.end[old]]).all():
        return
    rows_a, names_a = a.scopes_below(old)
    rows_b, names_b = b.scopes_below(new)
    # Equal hashes of what they hold and of names below: sorted by the latter both columns agree, row by row.
    if len(rows_a) == len(rows_b):
        yield ScopePairs(rows_a[np.argsort(names_a, kind="stable")], rows_b[np.argsort(names_b, kind="stable")], reason)
    nodes_a, nodes_b = a.nodes(old), b.nodes(new)
    # By name below the scope, then by label and neighbourhood: a damaged file may have a name twice.
    order_a = np.lexsort((m.a.around(1)[nodes_a], m.a.node_label[nodes_a], a.below(old, nodes_a)))
    order_b = np.lexsort((m.b.around(1)[nodes_b], m.b.node_label[nodes_b], b.below(new, nodes_b)))
    if len(nodes_a) == len(nodes_b):
        yield NodePairs(nodes_a[order_a], nodes_b[order_b], reason)


def match_children(m: Matching, old: int, new: int) -> Generator[Proposal, None, list[tuple[int, int]]]:
    """Match the scopes directly in two matched scopes; give back the pairs made."""
    a, b = m.a.scopes, m.b.scopes
    there_a, there_b = free_children(m, old, new)
    made: list[tuple[int, int]] = []
    for words, mine, others in scopes_apart(m, there_a, there_b):
        pairs = align_scopes(m, words, mine, others)
        if pairs is None:
            m.note(
                "series-limit", f"series {'N'.join(words)!r} is too long to be aligned: taken by number", a.name[old]
            )
            continue
        yield series(m, True, words, mine, others, pairs)
        pairs_by_name = [(mine[i].id, others[j].id) for i, j in pairs]
        # Twice the same pairs: those of one name get the better reason, since what has a partner keeps it.
        yield scopes([(row, other) for row, other in pairs_by_name if a.leaf[row] == b.leaf[other]], Reason.NAME)
        yield scopes(pairs_by_name, Reason.SERIES)
        made += pairs_by_name
        _drop(there_a, a.leaf, mine)
        _drop(there_b, b.leaf, others)
    same = [(row, there_b[leaf]) for leaf, row in there_a.items() if leaf in there_b]
    yield scopes(same, Reason.NAME)
    return made + same


def _drop(there: dict[str, int], leaves: Sequence[str], members: Sequence[Member]) -> None:
    """Take members out of a table of names."""
    for member in members:
        # None: `add_1` is a member of the series of `add`, and may also begin that of `add_1_1`.
        there.pop(leaves[member.id], None)


def match_ops(m: Matching, old: int, new: int) -> Findings:
    """Match the nodes directly in two matched scopes."""
    there_a = by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
    there_b = by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
    for op, (mine_of, others_of) in by_op(m, there_a, there_b).items():
        around_a, around_b = m.a.around(2), m.b.around(2)
        for words, mine, others in shared_runs(mine_of, others_of, (around_a, around_b), (m.a.in_place, m.b.in_place)):
            tiers = [
                ([int(hashes_a[member.id]) for member in mine], [int(hashes_b[member.id]) for member in others])
                for hashes_a, hashes_b in (
                    (around_a, around_b),
                    (m.a.around(1, "in"), m.b.around(1, "in")),
                    (m.a.node_label, m.b.node_label),
                    (m.a.labels.op, m.b.labels.op),
                )
            ]
            pairs = align(tiers, likely_pairs(m, words, mine, others), m.common)
            if pairs is None:
                m.note("series-limit", f"series {'N'.join(words)!r} of {op} is too long to be aligned: taken by number")
                continue
            yield series(m, False, words, mine, others, pairs)
            kept = [(mine[i].id, others[j].id) for i, j in pairs if mine[i].number == others[j].number]
            # As with scopes: those that kept their number have the better reason.
            yield nodes(kept, Reason.NAME)
            yield nodes([(mine[i].id, others[j].id) for i, j in pairs], Reason.SERIES)
            _drop(mine_of, m.a.scopes.node_leaf, mine)
            _drop(others_of, m.b.scopes.node_leaf, others)
        yield nodes([(node, others_of[leaf]) for leaf, node in mine_of.items() if leaf in others_of], Reason.NAME)


def by_leaf(side: GraphColumns, nodes: Ints, partner: Ints) -> dict[str, int]:
    """Free nodes by the last segment of their name; of those that occur twice the first by label is taken."""
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


def by_op(
    m: Matching, there_a: dict[str, int], there_b: dict[str, int]
) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Split two tables of nodes by op type."""
    tables: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
    for which, side, there in ((0, m.a, there_a), (1, m.b, there_b)):
        words, column = side.graph.op_types, side.graph.op
        for leaf, node in there.items():
            tables.setdefault(words[column[node]], ({}, {}))[which][leaf] = node
    return tables


def same_names(m: Matching) -> Findings:
    """Match free nodes of one name in matched scopes whose op types differ."""
    for mine, others in free_by_scope(m):
        there = {m.b.scopes.node_leaf[new]: new for new in reversed(others)}
        leaves = {m.a.scopes.node_leaf[old]: old for old in reversed(mine)}
        same = [(old, there[leaf]) for leaf, old in leaves.items() if leaf in there]
        yield nodes(same, Reason.SAME_NAME_OTHER_OP)


def same_places(m: Matching) -> Findings:
    """Match free nodes of one name and other op types that take from, or give to, the same nodes: these were edited,
    whatever came or went elsewhere."""
    for mine, others in free_by_scope(m):
        there = {m.b.scopes.node_leaf[new]: new for new in reversed(others)}
        for old in mine:
            new = there.get(m.a.scopes.node_leaf[old], -1)
            if exists(new) and m.a.labels.op[old] != m.b.labels.op[new] and in_one_place(m, old, new):
                yield nodes([(old, new)], Reason.SAME_NAME_OTHER_OP)


def in_one_place(m: Matching, old: int, new: int) -> bool:
    """Whether two nodes take from the same nodes in the same order, or give to the same nodes."""
    mine, other = m.a.graph, m.b.graph
    before = [m.to_b[mine.source[edge]] for edge in m.a.in_edges(old).tolist() if not mine.control[edge]]
    after = [other.source[edge] for edge in m.b.in_edges(new).tolist() if not other.control[edge]]
    if before and before == after:
        return True
    given = sorted(int(m.to_b[mine.target[edge]]) for edge in m.a.out_edges(old).tolist())
    return bool(given) and given[0] >= 0 and given == sorted(other.target[m.b.out_edges(new)].tolist())


def free_by_scope(m: Matching) -> list[tuple[list[int], list[int]]]:
    """The free nodes of each pair of matched scopes, where both sides have some."""
    free_a, free_b = m.left()
    inside: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for node, scope in zip(free_a.tolist(), m.scope_to_b[m.a.scopes.of_node[free_a]].tolist(), strict=True):
        if exists(scope):
            inside[scope][0].append(node)
    for node, scope in zip(free_b.tolist(), m.b.scopes.of_node[free_b].tolist(), strict=True):
        inside[scope][1].append(node)
    return [pair for _, pair in sorted(inside.items()) if pair[0] and pair[1]]
