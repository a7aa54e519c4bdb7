"""Match what TensorFlow numbers: functions by name and body, updates and savers by their variable.

Functions, without the number that TensorFlow appends to the name:
same body, same name ▶ same body, same name but for the number ▶ same name ▶ name but for the number
▶ called by matched nodes ▶ same body ▶ most ops in common
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import (
    Hashes,
    base_name,
    combine_hashes,
    mix_hash_bits,
    sums_by,
    word_hash,
    word_hashes,
)
from graphviz_tb.diff.match.matching import Apart, Findings, Matching, Reason, rematch
from graphviz_tb.graphs.traversal import union_root, unite_sets
from graphviz_tb.limits import MAX_DISTINGUISHED_CALLS, MAX_TRIED_FUNCTIONS
from graphviz_tb.model.columns import Bools, distinct_values, exists
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.model.paths import natural_name_key
from graphviz_tb.ops.roles import Role, has_role

MIN_FUNCTION_SHARE = 0.5  # of ops that two functions, or two scopes of a series, must have in common


def _body_hashes(side: GraphColumns) -> Hashes:
    """Return a hash for each function of its body, arguments and results; calls count by the hash of their function."""
    count = len(side.graph.functions)
    # At first all functions have equal hashes; each round distinguishes those that differ one call deeper.
    side.with_functions(np.zeros(count, np.uint64))
    known = 0
    for _ in range(MAX_DISTINGUISHED_CALLS):
        hashes = _hashes_by_callees(side)
        side.with_functions(hashes)
        distinct = len(distinct_values(hashes))
        # Classes only get finer, so an unchanged number means that they are final.
        if distinct == known:
            break
        known = distinct
    return side.function_class


def _hashes_by_callees(side: GraphColumns) -> Hashes:
    functions = side.graph.functions
    inside = np.flatnonzero(side.block > 0)
    around = side.neighbourhood_hashes(2)
    bodies = sums_by(side.block[inside] - 1, mix_hash_bits(around[inside]), len(functions))
    ends = []
    for function in functions:
        hashes = [int(around[node]) for node in function.args]
        hashes += [word_hash(f"{int(around[node]) if exists(node) else -1}:{key}") for node, key in function.returns]
        # Unlike the sum over the body, arguments and results have an order.
        ends.append(word_hash(repr(hashes)))
    return combine_hashes(bodies, np.array(ends, np.uint64))


def match_functions(m: Matching) -> None:
    """Pair functions by name and body, and set on both sides which calls are equal."""
    if not m.a.graph.functions or not m.b.graph.functions:
        share_classes(m)
        return
    a_body, b_body = m.bodies = _body_hashes(m.a), _body_hashes(m.b)
    names = _function_names(m)
    for key in NAME_KEYS:
        _pair_by(m, names, (a_body, b_body), key)
    _pair_alike(m, *names)
    share_classes(m)


def match_renamed_functions(m: Matching) -> bool:
    """Pair the remaining functions by body, then by common ops; return whether there were any. The loops of two layers
    may have equal bodies, so pairs by name and by call come first."""
    if m.bodies is None:
        return False
    known = len(m.functions)
    names = _function_names(m)
    for key in BODY_KEYS:
        _pair_by(m, names, m.bodies, key)
    free_a, free_b = _unmatched_functions(m, *map(len, names))
    _pair_best(m, free_a[:MAX_TRIED_FUNCTIONS], free_b[:MAX_TRIED_FUNCTIONS], MIN_FUNCTION_SHARE)
    if len(m.functions) == known:
        return False
    share_classes(m)
    return True


def _function_names(m: Matching) -> tuple[list[str], list[str]]:
    """Return the names of the functions of both sides."""
    old, new = ([function.name for function in side.graph.functions] for side in (m.a, m.b))
    return old, new


# Keys to match by, strictest first. Their arguments: the name, the hash of the body without and with the names in it.
BodyKey = Callable[[str, int, int], object]
NAME_KEYS: tuple[BodyKey, ...] = (
    lambda name, body, exact: (name, body, exact),
    lambda name, body, exact: (base_name(name), body, exact),
    lambda name, body, exact: (base_name(name), body),
    lambda name, body, exact: name,
)
BODY_KEYS: tuple[BodyKey, ...] = (lambda name, body, exact: (body, exact), lambda name, body, exact: body)


def _pair_by(m: Matching, names: tuple[list[str], list[str]], bodies: tuple[Hashes, Hashes], key: BodyKey) -> None:
    """Pair free functions of equal keys, in natural order of their names."""
    names_a, names_b = names
    exact = (side.exact_scope_hashes[list(side.scopes.roots[1:])].tolist() for side in (m.a, m.b))
    keys_a, keys_b = (
        list(map(key, *each)) for each in zip(names, (hashes.tolist() for hashes in bodies), exact, strict=True)
    )
    free_a, free_b = _unmatched_functions(m, len(names_a), len(names_b))
    there: dict[object, deque[int]] = defaultdict(deque)
    for index in sorted(free_b, key=lambda index: natural_name_key(names_b[index])):
        there[keys_b[index]].append(index)
    for index in sorted(free_a, key=lambda index: natural_name_key(names_a[index])):
        if waiting := there.get(keys_a[index]):
            m.functions[index] = waiting.popleft()


def _unmatched_functions(m: Matching, count_a: int, count_b: int) -> tuple[list[int], list[int]]:
    taken = set(m.functions.values())
    return [index for index in range(count_a) if index not in m.functions], [
        index for index in range(count_b) if index not in taken
    ]


def _pair_alike(m: Matching, names_a: list[str], names_b: list[str]) -> None:
    """Pair functions of one base name by the ops they share."""
    free_a, free_b = _unmatched_functions(m, len(names_a), len(names_b))
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for which, indices, names in ((0, free_a, names_a), (1, free_b, names_b)):
        for index in indices:
            groups.setdefault(base_name(names[index]), ([], []))[which].append(index)
    for base, (mine, others) in sorted(groups.items()):
        if len(mine) == len(others) == 1:
            m.functions[mine[0]] = others[0]
        elif mine and others:
            if max(len(mine), len(others)) > MAX_TRIED_FUNCTIONS:
                m.note(
                    "function-limit", f"more than {MAX_TRIED_FUNCTIONS} functions {base!r}: paired in their order", base
                )
                key = natural_name_key
                ordered = (
                    sorted(mine, key=lambda index: key(names_a[index])),
                    sorted(others, key=lambda index: key(names_b[index])),
                )
                m.functions.update(zip(*ordered, strict=False))
            else:
                _pair_best(m, mine, others, 0.0)


def _pair_best(m: Matching, mine: list[int], others: list[int], least: float) -> None:
    """Pair the functions with the most op types in common, best first; pairs need a share above `least`."""
    bags_a = {index: count_op_types(m.a, m.a.body(index)) for index in mine}
    bags_b = {index: count_op_types(m.b, m.b.body(index)) for index in others}
    scored = sorted(
        (-dice_coefficient(bags_a[function], bags_b[partner]), place, function, partner)
        for place, function in enumerate(mine)
        for partner in others
    )
    taken: set[int] = set()
    for score, _, function, partner in scored:
        if -score > least and function not in m.functions and partner not in taken:
            m.functions[function] = partner
            taken.add(partner)


def count_op_types(side: GraphColumns, nodes: Iterable[int]) -> Counter[int]:
    """Count how often each op type occurs."""
    return Counter(side.labels.op[np.fromiter(nodes, np.int64)].tolist())


def dice_coefficient(bag: Counter[int], other: Counter[int]) -> float:
    """Return the Dice coefficient: twice the shared elements, divided by all elements.

    >>> dice_coefficient(Counter("aab"), Counter("abb"))
    0.6666666666666666
    """
    total = bag.total() + other.total()
    # Only the smaller bag is walked: a large one is compared with many small ones.
    small, large = (bag, other) if len(bag) < len(other) else (other, bag)
    return 2 * sum(min(count, large[key]) for key, count in small.items()) / total if total else 1.0


def share_classes(m: Matching) -> None:
    """Give matched functions, and functions of equal bodies, equal hashes on both sides.

    TensorFlow writes copies of a function; it does not matter which copy is called.
    """
    count = len(m.a.graph.functions)
    # Functions of the new graph are numbered from `count` on.
    head = list(range(count + len(m.b.graph.functions)))
    for function, partner in [(mine, count + other) for mine, other in m.functions.items()] + _same_bodies(m):
        unite_sets(head, function, partner)
    tops = [union_root(head, function) for function in range(len(head))]
    names = [*m.a.graph.functions, *m.b.graph.functions]
    classes = word_hashes(f"{top < count} {names[top].name}" for top in tops)
    m.a.with_functions(classes[:count])
    m.b.with_functions(classes[count:])


def _same_bodies(m: Matching) -> list[tuple[int, int]]:
    """Pair each function with the first one of the same body; functions of the new graph are numbered after the old."""
    if m.bodies is None:
        return []
    known: dict[int, int] = {}
    bodies = np.concatenate(m.bodies).tolist()
    return [(known.setdefault(body, index), index) for index, body in enumerate(bodies)]


# Match updates, savers and initialisers by variable: their names are only counters.
#
# w ─▶ AssignSubVariableOp_3   ◀─ Mul_7        before a layer was added
# w ─▶ AssignSubVariableOp_5   ◀─ Mul_11       after: now `AssignSubVariableOp_3` updates the new layer

MAX_ALIKE_USERS = 3  # more users of a node are not parts of one variable's update
# The forwarded input, the op type of a user, the slot of its input, and the op types of its users and of its inputs.
Place = tuple[str, str, int, tuple[tuple[str, ...], ...]]


def match_by_variable(m: Matching) -> Findings:
    """Rematch nodes outside of the model and of gradients that were matched with nodes of another variable."""
    outside = _outside_model(m.a), _outside_model(m.b)
    if not outside[0].any() or not outside[1].any():
        return
    yield from _other_uses(m)
    to_new: dict[int, int] = {}
    to_old: dict[int, int] = {}
    # Parameters first: from them, the slots of an optimizer are reached.
    for pairs in (_variables(m, True), _variables(m, False), _feeding(m, outside)):
        starts = [pair for pair in pairs if pair[0] not in to_new and pair[1] not in to_old]
        waiting = deque(starts)
        while waiting:
            old, new = waiting.popleft()
            for old_node, new_node in (*_users(m, outside, old, new), *_inputs(m, outside, old, new)):
                if old_node not in to_new and new_node not in to_old and _is_counted(m, old_node, new_node):
                    to_new[old_node], to_old[new_node] = new_node, old_node
                    waiting.append((old_node, new_node))
    yield from rematch(m, [(old, new) for old, new in to_new.items() if int(m.to_b[old]) != new], Reason.SPREAD)


def _other_uses(m: Matching) -> Findings:
    """Unmatch variables of different use and name, and nodes of the model that were matched with gradients, with all
    nodes and scopes below their names."""
    old_uses, new_uses = (layers.variables for layers in m.layers)
    a, b = m.a.scopes, m.b.scopes
    old = [
        node
        for node, use in old_uses.items()
        if (other := int(m.to_b[node])) in new_uses
        and use != new_uses[other]
        and a.node_leaf_hash[node] != b.node_leaf_hash[other]
    ]
    old += _as_gradients(m)
    names = {m.a.graph.name[node] for node in old}
    # Initialisers, reads and slots are in scopes with these names.
    tops = [row for row, name in enumerate(a.name) if name in names]
    inside = {node for row in tops for node in a.nodes(row).tolist() if exists(m.to_b[node])}
    rows = {row for top in tops for row in range(top, int(a.end[top])) if exists(m.scope_to_b[row])}
    if old:
        yield Apart(np.array(sorted({*old, *inside}), np.int32), np.array(sorted(rows), np.int32))


FLOWS = ("gradient", "forward", "behind")


def _as_gradients(m: Matching) -> list[int]:
    """Return the old nodes that were matched across flows: the model with gradients or with nodes behind gradients, or
    the reverse."""
    old, new = m.matched_pairs()
    flows = (m.a.graph.meaning.flow(), old), (m.b.graph.meaning.flow(), new)
    gradient, forward, behind = ([getattr(flow, word)[nodes] for flow, nodes in flows] for word in FLOWS)
    crossed = (gradient[0] != gradient[1]) & ~m.parents_match(old, new)
    crossed |= (forward[0] & ~behind[0] & behind[1]) | (behind[0] & forward[1] & ~behind[1])
    return [int(node) for node in old[crossed]]


def _is_counted(m: Matching, old: int, new: int) -> bool:
    """Return whether the last segments of two names differ only in counters."""
    return base_name(m.a.scopes.node_leaf[old]) == base_name(m.b.scopes.node_leaf[new])


def _outside_model(side: GraphColumns) -> Bools:
    meaning = side.graph.meaning
    outside: Bools = ~meaning.model() & ~meaning.flow().gradient & (meaning.part() != Part.GRADIENT)
    return outside


def _variables(m: Matching, parameters: bool) -> list[tuple[int, int]]:
    """Return pairs of matched variables, sorted by name: the parameters of the model, or all others."""
    makers, there = (
        {node for node, use in layers.variables.items() if (use == VariableUse.PARAMETER) == parameters}
        for layers in m.layers
    )
    pairs = [(old, int(m.to_b[old])) for old in makers if int(m.to_b[old]) in there]
    return sorted(pairs, key=lambda pair: (m.b.graph.name[pair[1]], m.a.graph.name[pair[0]]))


def _feeding(m: Matching, outside: tuple[Bools, Bools]) -> list[tuple[int, int]]:
    """Return pairs of matched nodes of the model, or that forward all gradients, with users outside of both."""
    graph = m.a.graph
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    starts = graph.meaning.model() | graph.nodes_of_types("IdentityN".__eq__)  # the gradients of a Keras step
    mine = distinct_values(source[outside[0][target] & ~outside[0][source] & starts[source]])
    mine = mine[exists(m.to_b[mine])]
    return list(zip(mine.tolist(), m.to_b[mine].tolist(), strict=True))


def _users(m: Matching, outside: tuple[Bools, Bools], old: int, new: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of users of two matched nodes, in the order of their numbers, if both have as many at a place."""
    mine, other = _by_place(m, m.a, outside[0], old), _by_place(m, m.b, outside[1], new)
    for place, before in mine.items():
        after = other.get(place, [])
        # A node with many users, such as a learning rate, is not part of one variable's update.
        if len(before) == len(after) <= MAX_ALIKE_USERS:
            yield from zip(before, after, strict=True)


def _by_place(m: Matching, side: GraphColumns, outside: Bools, node: int) -> dict[Place, list[int]]:
    graph = side.graph
    # An output that only forwards an input is identified by it: its number changes with the number of variables.
    forwarded = dict(side.data_inputs(node)) if side.op_type(node) == "IdentityN" else {}
    outputs = {str(slot): str(m.to_b[source] if side is m.a else source) for slot, source in forwarded.items()}
    found: dict[Place, list[int]] = defaultdict(list)
    for edge in side.out_edges(node).tolist():
        user = int(graph.target[edge])
        if outside[user] and not graph.control[edge]:
            given = outputs.get(graph.keys[graph.key[edge]], "")
            found[given, side.op_type(user), int(graph.slot[edge]), side.op_types_around(user)].append(user)
    # Sort numbers at the end of names by length first.
    return {
        place: sorted(users, key=lambda user: (len(graph.name[user]), graph.name[user]))
        for place, users in found.items()
    }


def _inputs(m: Matching, outside: tuple[Bools, Bools], old: int, new: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of the inputs of two nodes at equal slots, if all are outside of the model and op types are equal."""
    if not outside[0][old] or not outside[1][new] or takes_any_number(m.a, old):
        return
    there = dict(m.b.data_inputs(new))
    for slot, before in m.a.data_inputs(old):
        after = there.get(slot, -1)
        if exists(after) and outside[0][before] and outside[1][after] and m.a.op_type(before) == m.b.op_type(after):
            yield before, after


def takes_any_number(side: GraphColumns, node: int) -> bool:
    """Return whether an op has a variable number of inputs, as one that collects values of all variables."""
    graph = side.graph
    definition, op = graph.node_def(node), graph.op_types[graph.op[node]]
    listed = definition is not None and any(key in definition.attr for key in ("N", "dtypes"))
    return listed or op == "IdentityN" or has_role(op, Role.GROUP, Role.SAVE)
