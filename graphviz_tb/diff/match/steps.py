"""Match two graphs, step by step. Every match keeps its reason; a limit that was reached is reported.

functions          by name (without its number) and body; then by calls, by body
layers             of Keras models, in the order of the file
program lines      ops that one line of an exported program makes in both
wrapped            all content that moved into a scope, or out of it
names              numbered series by structure, then equal name and op, from the root down
places             equal name and another op type, between matched nodes
anchors            unique neighbourhoods, largest radius first; then equal names where siblings moved, and neighbours
same names         equal name and another op type
containers         scopes by the share of matched descendants, from the bottom up
series by wires    equal members of a series by their neighbours
variables          updates, savers and initialisers by their variable
alike              equal ops of a scope by their neighbours
other lines        taken apart: ops of a line that was replaced by another
constants          by the op that uses them
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.diff.match.matching import (
    Apart,
    Exchanged,
    Findings,
    Matching,
    Reason,
    node_pairs,
    rematch,
    scope_pairs,
)
from graphviz_tb.diff.match.neighbours import (
    match_anchors,
    match_constants,
    match_keras_layers,
    match_program_lines,
    match_weight_reads,
    take_lines_apart,
)
from graphviz_tb.diff.match.numbered import (
    match_by_variable,
    match_functions,
    match_renamed_functions,
    share_classes,
)
from graphviz_tb.diff.match.scopes import (
    heaviest_ascending,
    match_containers,
    match_from_roots,
    match_same_names,
    match_same_places,
    match_wrapped,
)
from graphviz_tb.limits import MAX_CALL_ROUNDS, MAX_TRIED_RUN_MEMBERS
from graphviz_tb.model.columns import Bools, exists
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.paths import natural_name_key

# Distinguish equal members of a series by their wires.
#
# Two normalisations have the same ops; only their neighbours show whether the first or the second was removed.


def _match_series_by_wires(m: Matching) -> Findings:
    """Rematch the members of runs of equal scopes where their wires to the surroundings identify them."""
    forward = m.a.graph.meaning.model(), m.b.graph.meaning.model()
    for old_rows, new_rows in _series_runs(m):
        # With as many on both sides, no member was added or removed.
        if len(old_rows) == len(new_rows) or max(len(old_rows), len(new_rows)) > MAX_TRIED_RUN_MEMBERS:
            continue
        ends = (
            [_wire_ends(m, m.a, row, True, forward[0]) for row in old_rows],
            [_wire_ends(m, m.b, row, False, forward[1]) for row in new_rows],
        )
        weights = {
            (i, j): float(len(mine & other))
            for i, mine in enumerate(ends[0])
            for j, other in enumerate(ends[1])
            if mine & other
        }
        place = {row: number for number, row in enumerate(new_rows)}
        now = [(number, place[int(new)]) for number, new in enumerate(m.scope_to_b[old_rows]) if int(new) in place]
        best = heaviest_ascending(weights)
        # Rematch only for more common wires, and never for fewer pairs.
        if _wires_in_common(best, weights) > _wires_in_common(now, weights) and len(best) >= len(now):
            yield from _exchange_members(m, old_rows, new_rows, best)
        elif set(weights) == set(now):
            # A member without neighbours, or whose neighbours are in other members, stays uncertain.
            inside = {node for row in new_rows for node in m.b.scopes.nodes(row).tolist()}
            if all(wires and inside.isdisjoint(node for node, *_ in wires) for wires in (*ends[0], *ends[1])):
                yield Exchanged(old_rows, new_rows, {})  # unmatched members share no wire with any member: certain


def _wires_in_common(pairs: list[tuple[int, int]], weights: dict[tuple[int, int], float]) -> float:
    """Count the wires that the scopes of pairs have in common."""
    return sum(weights.get(pair, 0.0) for pair in pairs)


def _series_runs(m: Matching) -> list[tuple[list[int], list[int]]]:
    """Return groups of scopes of equal content, old and new, of which a member is uncertain."""
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
                groups[int(side.structural_scope_hashes[row])][which].append(row)
        pairs += [pair for _, pair in sorted(groups.items()) if pair[0] and pair[1]]
    return pairs


def _wire_ends(m: Matching, side: GraphColumns, row: int, old: bool, forward: Bools) -> set[tuple[int, int, bool]]:
    """Return the neighbours of a scope within its parent: the node of the new graph, the hash of the edge, and whether
    it is an input.

    For a scope of the model only neighbours in the model (`forward`) count, since gradients and optimizers were matched
    by the uncertain pairs.
    """
    scopes, around = side.scopes, int(side.scopes.parent[row])
    wires = set()
    is_model = forward[scopes.nodes(row)].any()
    for node in scopes.nodes(row).tolist():
        for inward, edges, column in (
            (True, side.in_edges(node), side.graph.source),
            (False, side.out_edges(node), side.graph.target),
        ):
            ends = column[edges]
            is_sibling = scopes.is_under(around, ends) & ~scopes.is_under(row, ends) & ~side.graph.control[edges]
            is_sibling &= forward[ends] if is_model else True
            partners = m.to_b[ends] if old else ends
            for partner, edge in zip(partners[is_sibling].tolist(), edges[is_sibling].tolist(), strict=True):
                if exists(partner):
                    wires.add((partner, int(side.edge_hash[edge]), inward))
    return wires


def _exchange_members(m: Matching, old_rows: list[int], new_rows: list[int], pairs: list[tuple[int, int]]) -> Findings:
    """Unmatch the members of a run and all scopes in them, and match them by `pairs`."""
    a, leaves = m.a.scopes, m.b.scopes.leaf
    rows = np.concatenate([np.arange(row, int(a.end[row]), dtype=np.int32) for row in old_rows])
    yield Apart(np.concatenate([a.nodes(row) for row in old_rows]), rows)
    shifted = {old_rows[i]: a.leaf[old_rows[i]] != leaves[new_rows[j]] for i, j in pairs}
    yield Exchanged(old_rows, new_rows, shifted)
    for i, j in pairs:
        yield scope_pairs([(old_rows[i], new_rows[j])], Reason.SERIES)
    yield from match_from_roots(m, [(old_rows[i], new_rows[j]) for i, j in pairs])


# Among equal ops of a scope, names do not tell which was added or removed; the wires do.
#
# old: add = x + a, add_1 = add + b       new: add = a + b. The old `add_1` is the new `add`.

MAX_ROUNDS = 16  # an exchange leaves another op without partner, which the next round tries
MAX_ALIKE_OPS = 1024  # larger groups are left as they are
MAX_ALIKE_USERS = 16  # a node with more users does not tell which of them is which
Kind = tuple[int, int, str]  # the scope, the label and the name without its number


def _match_alike_ops(m: Matching) -> Findings:
    """Give a free op the partner of a similar op if that partner is wired more like the free op."""
    for _ in range(MAX_ROUNDS):
        pairs = _exchanged_ops(m, is_old=True) or _exchanged_ops(m, is_old=False)
        if not pairs:
            return
        yield from rematch(m, pairs, Reason.SPREAD)


def _exchanged_ops(m: Matching, is_old: bool) -> list[tuple[int, int]]:
    """Return new pairs, old and new, of the free ops of one graph."""
    side, partner = (m.a, m.to_b) if is_old else (m.b, m.to_a)
    found: list[tuple[int, int]] = []
    taken: set[int] = set()
    kinds: dict[Kind, list[int]] = defaultdict(list)
    for node in np.flatnonzero(~exists(partner)).tolist():
        kinds[_kind(side, node)].append(node)
    for kind, members in kinds.items():
        for unmatched in members if len(members) <= MAX_ALIKE_OPS else ():
            best = max(
                ((_score(m, unmatched, other, is_old) - _score(m, matched, other, is_old), -matched, other)
                 for other, matched in _sharing_wires(m, unmatched, is_old)
                 if other not in taken and _kind(side, matched) == kind),
                default=None,
            )  # fmt: skip
            if best is not None and best[0] > 0:
                _, _, new_partner = best
                found.append((unmatched, new_partner) if is_old else (new_partner, unmatched))
                taken.add(new_partner)
    return found


def _kind(side: GraphColumns, node: int) -> Kind:
    name = base_name(side.scopes.node_leaf[node]).lower()  # TensorFlow calls a sum `Add` or `add`
    return int(side.scopes.of_node[node]), int(side.node_label[node]), name


def _sharing_wires(m: Matching, node: int, is_old: bool) -> Iterator[tuple[int, int]]:
    """Yield the matched nodes of the other graph that share an input or a user with a node, with their partners."""
    side, there, partner, back = (m.a, m.b, m.to_b, m.to_a) if is_old else (m.b, m.a, m.to_a, m.to_b)
    graph = there.graph
    ends = [(partner[source], slot, there.out_edges, graph.target) for slot, source in side.data_inputs(node)]
    ends += [
        (partner[side.graph.target[edge]], side.graph.slot[edge], there.in_edges, graph.source)
        for edge in side.out_edges(node).tolist()
        if not side.graph.control[edge]
    ]
    for end, slot, edges_of, column in ends:
        edges = edges_of(end) if exists(end) else np.zeros(0, np.int64)
        others = column[edges[graph.slot[edges] == slot]].tolist()
        if len(others) <= MAX_ALIKE_USERS:
            yield from ((other, int(back[other])) for other in others if exists(back[other]))


def _score(m: Matching, mine: int, other: int, is_old: bool) -> int:
    """Count the inputs and users at equal slots that two nodes share; `mine` is old if `is_old`, else new."""
    old, new = (mine, other) if is_old else (other, mine)
    a, b = m.a.graph, m.b.graph
    old_inputs = {(slot, int(m.to_b[source])) for slot, source in m.a.data_inputs(old)}
    old_users = {
        (int(a.slot[edge]), int(m.to_b[a.target[edge]])) for edge in m.a.out_edges(old).tolist() if not a.control[edge]
    }
    inputs = sum((int(b.slot[edge]), int(b.source[edge])) in old_inputs for edge in m.b.in_edges(new).tolist())
    return inputs + sum((int(b.slot[edge]), int(b.target[edge])) in old_users for edge in m.b.out_edges(new).tolist())


UNRELATED_CODE = "unrelated"  # of the notice
MIN_RELATED_SHARE = 0.4  # of the nodes, or of the model's nodes, of the smaller graph that are matched


def _doubt_matches(m: Matching) -> Findings:
    """Remove matches between different scopes if the graphs have little in common: the evidence for them is too weak.

    Either all nodes or the model's nodes may show that the graphs are related: training may be exchanged as a whole.
    """
    model = [~np.isin(side.graph.meaning.part(), (Part.UPDATE, Part.BOOKKEEPING)) for side in (m.a, m.b)]
    for counted in ([np.ones(len(m.a), bool), np.ones(len(m.b), bool)], model):
        matched = int((counted[0] & exists(m.to_b)).sum())
        if matched >= MIN_RELATED_SHARE * min(mask.sum() for mask in counted):
            return
    moved = _moved_scopes(m)
    nodes, partners = m.matched_pairs()
    away = nodes[moved[m.a.scopes.of_node[nodes]] | ~m.parents_match(nodes, partners)]
    yield Apart(away, np.flatnonzero(moved).astype(np.int32))
    m.note(UNRELATED_CODE, "the graphs have little in common: nothing was followed from scope to scope")


def _moved_scopes(m: Matching) -> Bools:
    """Return which old scopes are in (or are) a scope that was matched elsewhere."""
    a, b = m.a.scopes, m.b.scopes
    moved = np.zeros(len(a), bool)
    # Rows are in preorder: a parent is decided before its children.
    for row, parent in enumerate(a.parent.tolist()):
        partner = int(m.scope_to_b[row])
        if not exists(parent):
            continue
        elsewhere = exists(partner) and m.scope_to_b[parent] != b.parent[partner]
        moved[row] = moved[parent] or elsewhere
    return moved


def match_graphs(a: GraphColumns, b: GraphColumns) -> Matching:
    """Match two graphs. Requires that both sides were made with the same options."""
    m = Matching(a, b)
    match_functions(m)
    for result in _matching_steps(m):
        m.take(result)
    return m


def _matching_steps(m: Matching) -> Findings:
    """Yield the results of all steps, in order; each step sees the recorded matches of the earlier ones."""
    matched_blocks: set[int] = set()
    for _ in range(MAX_CALL_ROUNDS):
        starts = [(0, 0)] + [(mine + 1, other + 1) for mine, other in sorted(m.functions.items())]
        new_blocks = [pair for pair in starts if pair[0] not in matched_blocks]
        matched_blocks.update(mine for mine, _ in new_blocks)
        yield from _match_blocks(m, new_blocks)
        # Matched calls pair further functions; the next round matches their bodies.
        if not _pair_called_functions(m) and not match_renamed_functions(m):
            break
    yield from _match_series_by_wires(m)
    yield from match_by_variable(m)
    yield from _match_alike_ops(m)
    yield from match_weight_reads(m)
    yield from take_lines_apart(m)
    yield from match_constants(m)
    yield from _doubt_matches(m)


def _match_blocks(m: Matching, blocks: list[tuple[int, int]]) -> Findings:
    """Match the nodes of pairs of blocks: the main graphs, and functions."""
    roots = [(m.a.scopes.roots[mine], m.b.scopes.roots[other]) for mine, other in blocks]
    yield scope_pairs(roots, Reason.NAME)
    yield from match_keras_layers(m)
    if (0, 0) in blocks:
        yield from match_program_lines(m)
    yield from match_wrapped(m)
    yield from match_from_roots(m, roots)
    yield from _match_arguments(m, blocks)
    yield from match_same_places(m)
    yield from match_anchors(m)
    yield from match_same_names(m)
    yield from match_containers(m)
    yield from match_same_names(m)  # again, in the containers


def _match_arguments(m: Matching, blocks: list[tuple[int, int]]) -> Findings:
    """Match arguments of functions by position if their names have no match: these are generated."""
    for mine, other in blocks:
        if not mine:  # the main graphs have none
            continue
        old = [node for node in m.a.graph.functions[mine - 1].args if not exists(m.to_b[node])]
        new = [node for node in m.b.graph.functions[other - 1].args if not exists(m.to_a[node])]
        if len(old) == len(new):
            yield node_pairs(list(zip(old, new, strict=True)), Reason.SERIES)


def _pair_called_functions(m: Matching) -> bool:
    """Pair unmatched functions that matched calls have in equal attributes; return whether there were any."""
    paired_new = set(m.functions.values())
    # A node may call several functions, by attribute (`body`, `cond`, `then_branch`).
    new_calls = {(call.node, call.attr): call.function for call in m.b.graph.calls}
    found = False
    for call in m.a.graph.calls:
        new = int(m.to_b[call.node])
        other = new_calls.get((new, call.attr), -1)
        if exists(new) and exists(other) and call.function not in m.functions and other not in paired_new:
            m.functions[call.function] = other
            paired_new.add(other)
            found = True
    if found:
        share_classes(m)
    return found
