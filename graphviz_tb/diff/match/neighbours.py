"""Match nodes by their place next to matched nodes, and by a unique neighbourhood.

A place is an input or output of a matched node, with the label of the unmatched node there. Each match updates the
counts of nodes by place, so a step examines only the places that the previous one changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import Hashes, combine_hashes, word_hashes
from graphviz_tb.diff.match.matching import (
    Apart,
    Findings,
    Matching,
    Pairs,
    Reason,
    align_members,
    node_pairs,
    rematch,
    series_runs,
    split_number,
)
from graphviz_tb.diff.match.scopes import match_followers
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.limits import MAX_MATCH_SPREAD
from graphviz_tb.model.columns import Bools, Ints, Longs, distinct_values, exists
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.paths import without_digits
from graphviz_tb.ops.roles import CAST_OPS, CONSTANT_OPS, IDENTITY_OPS, INPUT_OPS, VARIABLE_OPS, VARIABLE_READ_OPS
from graphviz_tb.words.attributes import source_of_definition


class FreePlaces:
    """The places next to matched nodes, by hash.

    `there` has for each side and place the number of free nodes and the sum of their ids, which is the id of a single
    node; `changed` has the places whose counts changed.
    """

    def __init__(self, m: Matching, *labels: Hashes) -> None:
        self.sides = tuple(zip((m.a, m.b), (m.to_b, np.arange(len(m.b), dtype=np.int32)), labels, strict=True))
        self.known = exists(m.to_b), exists(m.to_a)
        self.there: tuple[dict[int, list[int]], dict[int, list[int]]] = {}, {}
        self.changed: set[int] = set()
        for new, (side, *_) in enumerate(self.sides):
            self._count(new, np.arange(len(side.graph.source)), 1)

    def take(self, *pairs: Ints | Longs) -> None:
        """Record new matches: the old nodes, the new nodes."""
        for new, nodes in enumerate(pairs):
            side = self.sides[new][0]
            ends = [(side.in_edges(node), side.out_edges(node)) for node in nodes.tolist()]
            edges = distinct_values(np.concatenate([edges for both in ends for edges in both]))
            self._count(new, edges, -1)
            self.known[new][nodes] = True
            self._count(new, edges, 1)

    def _count(self, new: int, edges: Ints | Longs, sign: int) -> None:
        """Add `sign` to the counts for each free node at some edges. Places are named by the new graph's nodes."""
        (side, partner, label), known = self.sides[new], self.known[new]
        for node, owner in ((side.graph.source, side.graph.target), (side.graph.target, side.graph.source)):
            free = edges[known[owner[edges]] & ~known[node[edges]]]
            beside = partner[owner[free]].astype(np.int64).view(np.uint64)
            places = combine_hashes(beside, side.edge_hash[free], label[node[free]])
            # The complement distinguishes a place behind a node from one before it.
            places, at = np.unique(places if node is side.graph.source else ~places, return_inverse=True)
            counts, sums = np.bincount(at), np.bincount(at, node[free])
            for place, count, total in zip(places.tolist(), counts.tolist(), sums.tolist(), strict=True):
                there = self.there[new].setdefault(place, [0, 0])
                there[:] = there[0] + sign * count, there[1] + sign * int(total)
            self.changed.update(places.tolist())

    def lone_pairs(self) -> tuple[Ints, Ints]:
        """Return the pairs of nodes that are alone at a changed place on both sides, once for each place."""
        both = [(self.there[0].get(place, (0, 0)), self.there[1].get(place, (0, 0))) for place in self.changed]
        self.changed = set()
        pairs = np.array([(old[1], new[1]) for old, new in both if old[0] == new[0] == 1], np.int32).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


# Spread matches to neighbours: nodes that feed the same input, or use the same output, of a pair. Constants follow the
# ops that use them, since their names (`Const_3`) are counters.


def _match_around(m: Matching) -> Findings:
    """Match unmatched neighbours of matched nodes until nothing changes.

    A node is matched if it is the only one with its op type (first: and its attributes) at its place next to a matched
    node, on both sides.
    """
    unmatched_count = min(map(len, m.nodes_without_partner()))
    places: list[FreePlaces] = []
    for _ in range(MAX_MATCH_SPREAD):
        if not unmatched_count:
            return
        # With attributes first; by op type alone only when that finds no more pairs.
        if not places:
            places.append(FreePlaces(m, m.a.node_label, m.b.node_label))
        found: list[tuple[int, int]] = []
        for each in places:
            old, new = each.lone_pairs()
            keep = _in_one_part(m, old, new)
            if found := _unambiguous(old[keep].tolist(), new[keep].tolist()):
                break
        if not found and len(places) == 1:
            places.append(FreePlaces(m, m.a.labels.op, m.b.labels.op))
            continue
        if not found:
            return
        result = node_pairs(found, Reason.SPREAD)
        yield result
        unmatched_count -= len(found)
        for each in places:
            each.take(result.old, result.new)
    m.note("spread-limit", f"matches were spread over {MAX_MATCH_SPREAD} steps and no further")


def _in_one_part(m: Matching, old: Ints, new: Ints) -> Bools:
    """Return for each pair whether both nodes are in one part of the program, or in matched scopes.

    The mean of a loss is no pooling, and a read of an optimizer no read of a layer. Model, copies, gradients and inputs
    count as one part.
    """
    parts = m.a.graph.meaning.part()[old], m.b.graph.meaning.part()[new]
    fits = np.ones(len(old), bool)
    for part in (Part.LOSS, Part.UPDATE):
        fits &= (parts[0] == part) == (parts[1] == part)
    # Variables are matched by their uses, later.
    variables = m.a.graph.nodes_of_types(VARIABLE_OPS.__contains__)[old]
    fits &= variables | ((parts[0] == Part.BOOKKEEPING) == (parts[1] == Part.BOOKKEEPING))
    return fits | m.parents_match(old, new)


def _unambiguous(old: Iterable[int], new: Iterable[int]) -> list[tuple[int, int]]:
    """Return one partner for each node: the proposed one with the most votes.

    >>> _unambiguous([1, 1, 2], [5, 5, 5])
    [(1, 5)]
    """
    votes: dict[tuple[int, int], int] = {}
    for pair in zip(old, new, strict=True):
        votes[pair] = votes.get(pair, 0) + 1
    matched_old: set[int] = set()
    matched_new: set[int] = set()
    matched = []
    for old_node, new_node in sorted(votes, key=lambda pair: (-votes[pair], pair)):
        if old_node not in matched_old and new_node not in matched_new:
            matched.append((old_node, new_node))
            matched_old.add(old_node)
            matched_new.add(new_node)
    return matched


def match_constants(m: Matching) -> Findings:
    """Match constants with one user each by their users, replacing earlier matches.

    Requires that most ops are matched. A constant is matched with the one at the same input of its user's partner.
    """
    new_uses = _single_uses(m.b)
    pairs = []
    for (user, slot), node in _single_uses(m.a).items():
        other = new_uses.get((int(m.to_b[user]), slot), -1)
        if exists(other) and int(m.to_b[node]) != other:
            pairs.append((node, other))
    yield from rematch(m, pairs, Reason.SPREAD)
    # Two constants `Const_3` with different values and different users are not the same constant.
    old, new = m.matched_pairs()
    keep = m.a.constants()[old] & m.b.constants()[new] & (m.a.node_label[old] != m.b.node_label[new])
    apart = []
    for node in old[keep].tolist():
        users, others = m.a.data_users(node), m.b.data_users(int(m.to_b[node]))
        if COUNTED_CONSTANT.match(m.a.scopes.node_leaf[node]) and users and others:
            apart += [node] if set(m.to_b[users].tolist()).isdisjoint(others) else []
    yield Apart(np.array(apart, np.int32))


def _single_uses(side: GraphColumns) -> dict[tuple[int, int], int]:
    """Return the constants that feed one input alone, by the user and the place of the input."""
    graph = side.graph
    data = np.flatnonzero(~graph.control & side.constants()[graph.source])
    once = np.bincount(graph.source[data], minlength=len(side))[graph.source[data]] == 1
    edges = data[once]
    keys = zip(graph.target[edges].tolist(), graph.slot[edges].tolist(), strict=True)
    return dict(zip(keys, graph.source[edges].tolist(), strict=True))


COUNTED_CONSTANT = re.compile(r"Const(?:_[0-9]+)?$")
UNNAMED_WEIGHT_OPS = INPUT_OPS | CONSTANT_OPS  # weights that a trace captured, or frozen ones


def match_weight_reads(m: Matching) -> Findings:
    """Match reads of weights, and the handles that they read, by the inputs that they feed directly or through a cast:
    half precision adds a cast behind each read."""
    fed = _fed_inputs(m.a, m.to_b), _fed_inputs(m.b, None)
    both = [(fed[0][place], fed[1][place]) for place in sorted(fed[0].keys() & fed[1].keys())]
    reads = _unambiguous(*zip(*both, strict=True)) if both else []
    pairs: list[tuple[int, int]] = []
    for old, new in reads:
        handles = m.a.data_sources(old), m.b.data_sources(new)
        captured = all(len(nodes) == 1 for nodes in handles) and all(
            side.op_type(nodes[0]) in UNNAMED_WEIGHT_OPS for side, nodes in zip((m.a, m.b), handles, strict=True)
        )
        if not exists(m.to_b[old]) and not exists(m.to_a[new]):
            pairs += [(old, new), *zip(*handles, strict=False)] if captured else [(old, new)]
    yield from rematch(m, pairs, Reason.SPREAD)


def _fed_inputs(side: GraphColumns, partner: Ints | None) -> dict[tuple[int, int], int]:
    """Return the reads of variables by the input of the model that they feed, directly or through a cast: the user (as
    a node of the new graph) and the slot."""
    graph, found, model = side.graph, {}, side.graph.meaning.model()
    frozen = np.zeros(len(graph), bool)
    frozen[graph.target[side.constants()[graph.source] & ~graph.control]] = True
    frozen &= graph.nodes_of_types(IDENTITY_OPS.__contains__)
    for read in np.flatnonzero(frozen | graph.nodes_of_types(VARIABLE_READ_OPS.__contains__)).tolist():
        ends = [read, *(user for user in side.data_users(read) if side.op_type(user) in CAST_OPS)]
        for edge in (edge for end in ends for edge in side.out_edges(end).tolist() if not graph.control[edge]):
            user = int(graph.target[edge])
            known = user if partner is None else int(partner[user])
            if exists(known) and model[user]:
                found[known, int(graph.slot[edge])] = read
    return found


# Anchors: nodes with a unique neighbourhood, in any scope.
#
# Neighbourhoods are compared by Weisfeiler-Lehman hashes, largest radius first; from an anchor, matches spread to its
# surroundings, as in GumTree (Falleri et al., ASE 2014).

# Radius in edges, and direction: one direction reaches far where the graph was edited on the other side of the node.
NEIGHBOURHOOD_RADII = ((4, "both"), (8, "in"), (8, "out"), (3, "both"), (2, "both"), (4, "in"), (4, "out"))


def match_anchors(m: Matching) -> Findings:
    """Match unmatched nodes whose neighbourhood is unique on each side, largest radius first."""
    for radius, direction in NEIGHBOURHOOD_RADII:
        free_a, free_b = m.nodes_without_partner()
        if not len(free_a) or not len(free_b):
            return
        old, new = _unique_pairs(
            m, m.a.neighbourhood_hashes(radius, direction), m.b.neighbourhood_hashes(radius, direction), free_a, free_b
        )
        old, new = _plausible(m, old, new)
        if len(old):
            yield Pairs(old, new, Reason.ANCHOR)
            # Follow each anchor before smaller, more ambiguous neighbourhoods are compared.
            yield from match_followers(m)
            yield from _match_around(m)
    yield from _match_around(m)  # also without any anchor: next to nodes that were matched by name


def _plausible(m: Matching, old: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Return the pairs without nodes of at most one edge, unless these keep their scope, or their name and an edge."""
    edges = np.diff(m.a.in_start)[old] + np.diff(m.a.out_start)[old]
    same = m.a.scopes.node_leaf_hash[old] == m.b.scopes.node_leaf_hash[new]
    keep = (edges >= 2) | m.parents_match(old, new) | (same & (edges >= 1))
    return old[keep], new[keep]


def _unique_pairs(m: Matching, hash_a: Hashes, hash_b: Hashes, free_a: Ints, free_b: Ints) -> tuple[Ints, Ints]:
    """Return unmatched nodes of compared blocks whose hash is unique among the unmatched nodes of either side."""
    blocks_a, blocks_b = m.block_pair()
    # The keys include the pair of blocks, so that only nodes of matched functions are matched.
    key_a = combine_hashes(hash_a[free_a], blocks_a[m.a.block[free_a]].astype(np.int64).view(np.uint64))
    key_b = combine_hashes(hash_b[free_b], blocks_b[m.b.block[free_b]].astype(np.int64).view(np.uint64))
    once_a, at_a = _once(key_a)
    once_b, at_b = _once(key_b)
    _, in_a, in_b = np.intersect1d(once_a, once_b, assume_unique=True, return_indices=True)
    return free_a[at_a[in_a]], free_b[at_b[in_b]]


def _once(keys: Hashes) -> tuple[Hashes, Ints]:
    """Return the keys that occur once, and their positions."""
    values, first, count = np.unique(keys, return_index=True, return_counts=True)
    return values[count == 1], first[count == 1].astype(np.int32)


def match_keras_layers(m: Matching) -> Findings:
    """Match the layers of two Keras models in the order of the file, by longest common subsequences: by names that a
    person chose, by class and configuration, then by class.

    Requires that nothing is matched.
    """
    if not m.a.graph.layers or not m.b.graph.layers:
        return
    # All names and wires are equal: layers changed in place, and later steps match them by name.
    if np.array_equal(np.sort(m.a.in_place), np.sort(m.b.in_place)):
        return
    if (equal_pairs := _match_given_names(m)) is not None:
        yield node_pairs(equal_pairs, Reason.NAME)
        return
    label_tiers = (m.a.node_label, m.b.node_label), (_layer_kinds(m.a), _layer_kinds(m.b))
    name_tier = _given_names(m.a, m.b), _given_names(m.b, m.a)
    tiers = [name_tier, *((mine.tolist(), other.tolist()) for mine, other in label_tiers)]
    equal_pairs = _match_equal_pasts(m)
    for mine, other in tiers:
        for old, new in equal_pairs:  # these match nothing else, in whatever order the file has them
            mine[old] = other[new] = ("same", old)
    pairs = align_members(m, tiers, _likely_layers(m))
    yield node_pairs(sorted({*equal_pairs, *(pairs or [])}), Reason.SERIES)


def _match_equal_pasts(m: Matching) -> list[tuple[int, int]]:
    """Return pairs by name of layers with the same settings that are made from the same layers, back to the inputs."""
    pasts: list[dict[int, Hashable]] = []
    for side in (m.a, m.b):
        known: dict[int, Hashable] = {}
        for node, name in enumerate(side.graph.name):
            taken = [(slot, known.get(source)) for slot, source in side.data_inputs(node)]
            if all(past is not None for _, past in taken):
                known[node] = hash((name, int(side.node_label[node]), tuple(taken)))
        pasts.append(known)
    there = m.b.graph.index[0]
    pairs = ((old, there.get(m.a.graph.name[old], -1)) for old in pasts[0])
    return [(old, new) for old, new in pairs if pasts[0][old] == pasts[1].get(new)]


def _match_given_names(m: Matching) -> list[tuple[int, int]] | None:
    """Return pairs of equal names if layers were only added or removed, or rewired; else None.

    One model must have all layers of the other, with equal names and settings. If layers were added or removed, a
    person must have named the rewired ones.
    """
    new_index = m.b.graph.index[0]
    pairs = [(node, new_index[name]) for node, name in enumerate(m.a.graph.name) if name in new_index]
    if len(pairs) < min(len(m.a), len(m.b)) or any(m.a.node_label[old] != m.b.node_label[new] for old, new in pairs):
        return None
    rewired = [old for old, new in pairs if m.a.in_place[old] != m.b.in_place[new]]
    # In a series with an addition or removal, numbers are not names.
    unmatched = {*m.a.graph.name}.symmetric_difference(m.b.graph.name)
    series = {without_digits(name) for name in unmatched}
    for old in rewired if unmatched else ():
        # By default, Keras names a layer after its class, as `dense_1`.
        stem = m.a.scopes.node_leaf[old].rstrip("0123456789_").replace("_", "")
        kind = str(m.a.labels.configurations.get(old, {}).get("class", ""))
        if stem == kind.lower().rstrip("0123456789_") or without_digits(m.a.graph.name[old]) in series:
            return None
    return pairs


def _given_names(side: GraphColumns, other: GraphColumns) -> list[tuple[int, int]]:
    """Return a key for each layer: for a name that a person chose its name and wires (`in_place`), for a counted name a
    unique value."""
    leaves = side.scopes.node_leaf
    counted = {leaf for run in series_runs(leaves, other.scopes.node_leaf).values() for leaf in run.values()}
    keys = zip(leaves, side.in_place.tolist(), strict=True)
    return [(id(side), place) if leaf in counted else (0, key) for place, (leaf, key) in enumerate(keys)]


def _likely_layers(m: Matching) -> dict[int, int]:
    """Return likely pairs of positions: layers of equal names; if both models have as many layers, also those at equal
    positions.

    Numbers in names count the layers of a whole program: if less than half of the names are equal, they mean nothing.
    """
    in_new = {name: position for position, name in enumerate(m.b.scopes.node_leaf)}
    pairs = {position: in_new[name] for position, name in enumerate(m.a.scopes.node_leaf) if name in in_new}
    if 2 * len(pairs) < min(len(m.a), len(m.b)):
        leaves = m.a.scopes.node_leaf
        pairs = {position: place for position, place in pairs.items() if split_number(leaves[position]) is None}
    if len(m.a) == len(m.b):
        taken = set(pairs.values())
        pairs |= {place: place for place in range(len(m.a)) if place not in pairs and place not in taken}
    return pairs


def _layer_kinds(side: GraphColumns) -> Hashes:
    """Return a hash of the class of each layer."""
    known = side.labels.configurations
    return word_hashes(str(known[node]["class"]) if node in known else side.op_type(node) for node in range(len(side)))


def match_program_lines(m: Matching) -> Findings:
    """Match the ops that one line of an exported program makes in both, unless the programs ran the same lines.

    Only where the line makes as many ops of a type in a scope on both sides; these keep their order.
    """
    lines = _ops_by_line(m.a), _ops_by_line(m.b)
    if {line for line, *_ in lines[0]} == {line for line, *_ in lines[1]}:
        return
    both = ((nodes, lines[1].get(place, [])) for place, nodes in lines[0].items())
    pairs = [pair for old, new in both if len(old) == len(new) for pair in zip(old, new, strict=True)]
    yield node_pairs(pairs, Reason.SERIES)


def _ops_by_line(side: GraphColumns) -> dict[tuple[tuple[str, ...], str, str], list[int]]:
    """Return the ops of the main graph by the lines that call them, without their numbers, by scope and type."""
    found: dict[tuple[tuple[str, ...], str, str], list[int]] = defaultdict(list)
    for node in np.flatnonzero(~exists(side.graph.function)).tolist() if side.graph.is_exported else ():
        definition = side.graph.node_def(node)
        if definition is not None and (stack := source_of_definition(definition)):
            calls = tuple(line.partition(" ")[2] for line in stack)
            found[calls, side.scopes.name[side.scopes.of_node[node]], side.op_type(node)].append(node)
    return found


def take_lines_apart(m: Matching) -> Findings:
    """Unmatch the ops of a line that only the old program ran from those of a line that only the new one ran.

    Pairs that common wires connect to pairs of other lines stay: their line was edited, not replaced.
    """
    lines = _ops_by_line(m.a), _ops_by_line(m.b)
    texts = [{line for line, *_ in of_side} for of_side in lines]
    old, new = (
        {node for (line, *_), nodes in of_side.items() if line not in texts[1 - number] for node in nodes}
        for number, of_side in enumerate(lines)
    )
    pairs = {node: int(m.to_b[node]) for node in old if int(m.to_b[node]) in new}
    if not pairs:
        return
    wired: dict[int, set[int]] = defaultdict(set)
    for user in {*pairs, *(user for node in pairs for user in m.a.data_users(node))}:
        inputs = dict(m.b.data_inputs(int(m.to_b[user]))) if exists(m.to_b[user]) else {}
        for slot, source in m.a.data_inputs(user):
            if slot in inputs and int(m.to_b[source]) == inputs[slot]:
                wired[user].add(source)
                wired[source].add(user)
    kept = reachable_from(wired.keys() - pairs.keys(), lambda node: wired[node] & pairs.keys())
    yield Apart(np.array(sorted(pairs.keys() - kept), np.int32))
