"""Which function is which: by body, whatever number TensorFlow put behind the name.

same body, same name ▶ same body, same name but for the number ▶ same body ▶ same name ▶ name but for the number
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, combined, digest, digests, mixed, sums_by
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import union_root, unite_sets
from graphviz_tb.limits import MAX_DISTINGUISHED_CALLS, MAX_TRIED_FUNCTIONS
from graphviz_tb.model.paths import natural_name_key

ALIKE = 0.5  # share of ops that two functions, or two scopes of one series, have in common to be one, however changed


def body_hashes(side: GraphColumns) -> Hashes:
    """A hash for each function of its body, arguments and results, callees by their own bodies."""
    count = len(side.graph.functions)
    # At first callers see no difference between functions; each round tells apart what differs one call deeper.
    side.with_functions(np.zeros(count, np.uint64))
    known = 0
    for _ in range(MAX_DISTINGUISHED_CALLS):
        hashes = _one_round(side)
        side.with_functions(hashes)
        distinct = len(np.unique(hashes))
        # The classes only get finer: where there are no more of them they stay as they are.
        if distinct == known:
            break
        known = distinct
    return side.function_class


def _one_round(side: GraphColumns) -> Hashes:
    functions = side.graph.functions
    inside = np.flatnonzero(side.block > 0)
    around = side.around(2)
    bodies = sums_by(side.block[inside] - 1, mixed(around[inside]), len(functions))
    ends = []
    for function in functions:
        hashes = [int(around[node]) for node in function.args]
        hashes += [digest(f"{int(around[node]) if exists(node) else -1}:{key}") for node, key in function.returns]
        # Arguments and results have an order, which the sum over the body has not.
        ends.append(digest(repr(hashes)))
    return combined(bodies, np.array(ends, np.uint64))


def pair_functions(m: Matching) -> None:
    """Fill `m.functions` and tell both sides which calls are equal."""
    if not m.a.graph.functions or not m.b.graph.functions:
        share_classes(m)
        return
    a_body, b_body = m.bodies = body_hashes(m.a), body_hashes(m.b)
    names_a = [function.name for function in m.a.graph.functions]
    names_b = [function.name for function in m.b.graph.functions]
    exact_a, exact_b = (side.exact[list(side.scopes.roots[1:])].tolist() for side in (m.a, m.b))
    for key in KEYS:
        keys_a = list(map(key, names_a, a_body.tolist(), exact_a))
        keys_b = list(map(key, names_b, b_body.tolist(), exact_b))
        _pair_by(m, names_a, names_b, keys_a, keys_b)
    _pair_alike(m, names_a, names_b)
    share_classes(m)


# What must be equal, the strictest first: the name, a hash of the body, and one that has the names in the body too.
KEYS: tuple[Callable[[str, int, int], object], ...] = (
    lambda name, body, exact: (name, body, exact),
    lambda name, body, exact: (base_name(name), body, exact),
    lambda name, body, exact: (base_name(name), body),
    lambda name, body, exact: (body, exact),
    lambda name, body, exact: body,
    lambda name, body, exact: name,
)


def _pair_by(m: Matching, names_a: list[str], names_b: list[str], keys_a: list[object], keys_b: list[object]) -> None:
    """Pair free functions of equal keys, in natural order of their names."""
    free_a, free_b = free(m, len(names_a), len(names_b))
    there: dict[object, deque[int]] = defaultdict(deque)
    for index in sorted(free_b, key=lambda index: natural_name_key(names_b[index])):
        there[keys_b[index]].append(index)
    for index in sorted(free_a, key=lambda index: natural_name_key(names_a[index])):
        if waiting := there.get(keys_a[index]):
            m.functions[index] = waiting.popleft()


def free(m: Matching, count_a: int, count_b: int) -> tuple[list[int], list[int]]:
    """Functions without a partner."""
    taken = set(m.functions.values())
    return [index for index in range(count_a) if index not in m.functions], [
        index for index in range(count_b) if index not in taken
    ]


def _pair_alike(m: Matching, names_a: list[str], names_b: list[str]) -> None:
    """Pair functions of one base name by the ops they share."""
    free_a, free_b = free(m, len(names_a), len(names_b))
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
    # What is left, whatever it is called: only functions that have most of their ops in common.
    free_a, free_b = free(m, len(names_a), len(names_b))
    _pair_best(m, free_a[:MAX_TRIED_FUNCTIONS], free_b[:MAX_TRIED_FUNCTIONS], ALIKE)


def _pair_best(m: Matching, mine: list[int], others: list[int], least: float) -> None:
    """Pair those that share most, best first."""
    bags_a = {index: bag(m.a, m.a.body(index)) for index in mine}
    bags_b = {index: bag(m.b, m.b.body(index)) for index in others}
    scored = sorted(
        (-dice(bags_a[function], bags_b[partner]), place, function, partner)
        for place, function in enumerate(mine)
        for partner in others
    )
    taken: set[int] = set()
    for score, _, function, partner in scored:
        if -score > least and function not in m.functions and partner not in taken:
            m.functions[function] = partner
            taken.add(partner)


def bag(side: GraphColumns, nodes: Iterable[int]) -> Counter[int]:
    """How often each op type occurs."""
    return Counter(side.labels.op[np.fromiter(nodes, np.int64)].tolist())


def dice(bag: Counter[int], other: Counter[int]) -> float:
    """Return the Dice coefficient: twice the shared elements, divided by all elements.

    >>> dice(Counter("aab"), Counter("abb"))
    0.6666666666666666
    """
    total = bag.total() + other.total()
    # A large one is compared with many small ones: what only the larger one has is not looked at.
    small, large = (bag, other) if len(bag) < len(other) else (other, bag)
    return 2 * sum(min(count, large[key]) for key, count in small.items()) / total if total else 1.0


def share_classes(m: Matching) -> None:
    """Give functions that are one for their callers one hash on both sides: paired ones, and those of one body.

    TensorFlow writes the same function several times; which copy is called is nothing.
    """
    count = len(m.a.graph.functions)
    # Over both libraries; functions of the new graph are counted from `count` on.
    head = list(range(count + len(m.b.graph.functions)))
    for function, partner in [(mine, count + other) for mine, other in m.functions.items()] + same_bodies(m):
        unite_sets(head, function, partner)
    tops = [union_root(head, function) for function in range(len(head))]
    names = [*m.a.graph.functions, *m.b.graph.functions]
    classes = digests(f"{top < count} {names[top].name}" for top in tops)
    m.a.with_functions(classes[:count])
    m.b.with_functions(classes[count:])


def same_bodies(m: Matching) -> list[tuple[int, int]]:
    """Functions of one body, each with the first that has it; those of the new graph are counted behind the old."""
    if m.bodies is None:
        return []
    known: dict[int, int] = {}
    bodies = np.concatenate(m.bodies).tolist()
    return [(known.setdefault(body, index), index) for index, body in enumerate(bodies)]
