"""Equal members of a series, distinguished by their wires: the one that is missing is the one whose neighbours miss it.

Two normalisations have the same ops; only their neighbours show that the first was removed, and not the second.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.aligned import heaviest
from graphviz_tb.diff.match.by_name import descend
from graphviz_tb.diff.match.found import Apart, Exchanged, Findings, Reason, scopes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.limits import MAX_TRIED_RUN_MEMBERS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.paths import natural_name_key


def by_wires(m: Matching) -> Findings:
    """Pair the members of runs of equal scopes anew where their wires to their surroundings identify them."""
    forward = m.a.graph.meaning.model(), m.b.graph.meaning.model()
    for old_rows, new_rows in runs(m):
        # Where there are as many on both sides none is missing.
        if len(old_rows) == len(new_rows) or max(len(old_rows), len(new_rows)) > MAX_TRIED_RUN_MEMBERS:
            continue
        ends = (
            [ends_of(m, m.a, row, True, forward[0]) for row in old_rows],
            [ends_of(m, m.b, row, False, forward[1]) for row in new_rows],
        )
        weights = {
            (i, j): float(len(mine & other))
            for i, mine in enumerate(ends[0])
            for j, other in enumerate(ends[1])
            if mine & other
        }
        place = {row: number for number, row in enumerate(new_rows)}
        now = [(number, place[int(new)]) for number, new in enumerate(m.scope_to_b[old_rows]) if int(new) in place]
        best = heaviest(weights)
        # Only for more wires in common, and never for fewer pairs.
        if worth(best, weights) > worth(now, weights) and len(best) >= len(now):
            yield from exchange(m, old_rows, new_rows, best)


def worth(pairs: list[tuple[int, int]], weights: dict[tuple[int, int], float]) -> float:
    """How many wires pairs have in common."""
    return sum(weights.get(pair, 0.0) for pair in pairs)


def runs(m: Matching) -> list[tuple[list[int], list[int]]]:
    """Return groups of scopes of equal content in matched scopes, on both sides, where a member is in doubt."""
    pairs = []
    wanted = {int(m.a.scopes.parent[row]) for which, scope, row in m.equals if scope and which == "old"}
    wanted |= {int(m.scope_to_a[m.b.scopes.parent[row]]) for which, scope, row in m.equals if scope and which == "new"}
    for around in sorted(wanted - {-1}):
        other = int(m.scope_to_b[around])
        if not exists(other):
            continue
        groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for which, side, parent in ((0, m.a, around), (1, m.b, other)):
            leaf = side.scopes.leaf
            for row in sorted(side.scopes.children(parent), key=lambda row: natural_name_key(leaf[row])):
                groups[int(side.structural[row])][which].append(row)
        pairs += [pair for _, pair in sorted(groups.items()) if pair[0] and pair[1]]
    return pairs


def ends_of(m: Matching, side: GraphColumns, row: int, old: bool, forward: Bools) -> set[tuple[int, int, bool]]:
    """Return the neighbours of a scope within its parent: the node (in the new graph's numbers), the wire, and whether
    it comes in; of a scope of the model, those that are (`forward`): gradients and optimizers are matched by the very
    guess that is in doubt."""
    scopes, around = side.scopes, int(side.scopes.parent[row])
    wires = set()
    own = forward[scopes.nodes(row)].any()
    for node in scopes.nodes(row).tolist():
        for inward, edges, column in (
            (True, side.in_edges(node), side.graph.source),
            (False, side.out_edges(node), side.graph.target),
        ):
            ends = column[edges]
            beside = scopes.is_under(around, ends) & ~scopes.is_under(row, ends) & ~side.graph.control[edges]
            beside &= forward[ends] if own else True
            partners = m.to_b[ends] if old else ends
            for known, edge in zip(partners[beside].tolist(), edges[beside].tolist(), strict=True):
                if exists(known):
                    wires.add((known, int(side.edge_hash[edge]), inward))
    return wires


def exchange(m: Matching, old_rows: list[int], new_rows: list[int], pairs: list[tuple[int, int]]) -> Findings:
    """Take the members of a run apart and match them as `pairs` say."""
    a, leaves = m.a.scopes, m.b.scopes.leaf
    # The scopes with all scopes in them.
    rows = np.concatenate([np.arange(row, int(a.end[row]), dtype=np.int32) for row in old_rows])
    yield Apart(np.concatenate([a.nodes(row) for row in old_rows]), rows)
    shifted = {old_rows[i]: a.leaf[old_rows[i]] != leaves[new_rows[j]] for i, j in pairs}
    yield Exchanged(old_rows, new_rows, shifted)
    for i, j in pairs:
        yield scopes([(old_rows[i], new_rows[j])], Reason.SERIES)
    yield from descend(m, [(old_rows[i], new_rows[j]) for i, j in pairs])
