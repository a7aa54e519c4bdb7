"""What updates, saves and initialises variables is matched by variable: the numbers behind its names are counted.

w ─▶ AssignSubVariableOp_3   ◀─ Mul_7        before a layer came
w ─▶ AssignSubVariableOp_5   ◀─ Mul_11       now, and `AssignSubVariableOp_3` is of the new layer
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.found import Apart, Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.ops.roles import Role, has_role

FEW = 3  # uses of one variable in one update: what more nodes take is no part of one variable's update
NUMBER = re.compile(r"_\d+$")
Place = tuple[str, int, tuple[str, ...]]  # the op type of a user, which of its inputs, and what takes its result


def by_variable(m: Matching) -> Findings:
    """Match anew what hangs on matched variables outside of the model and of gradients, where it is matched with what
    hangs on other ones."""
    outside = _outside(m.a), _outside(m.b)
    if not outside[0].any() or not outside[1].any():
        return
    yield from _other_uses(m)
    to_new: dict[int, int] = {}
    to_old: dict[int, int] = {}
    # Parameters first: they say which slots of an optimizer are theirs.
    for pairs in (_variables(m, True), _variables(m, False), _feeding(m, outside)):
        starts = [pair for pair in pairs if pair[0] not in to_new and pair[1] not in to_old]
        waiting = deque(starts)
        while waiting:
            old, new = waiting.popleft()
            for mine, other in (*_users(m, outside, old, new), *_inputs(m, outside, old, new)):
                if mine not in to_new and other not in to_old and _is_counted(m, mine, other):
                    to_new[mine], to_old[other] = other, mine
                    waiting.append((mine, other))
    differ = [(old, new) for old, new in to_new.items() if int(m.to_b[old]) != new]
    if differ:
        gone = {old for old, _ in differ} | {int(m.to_a[new]) for _, new in differ}
        yield Apart(np.array(sorted(node for node in gone if exists(node)), np.int32))
        yield nodes(sorted(differ), Reason.SPREAD)


def _other_uses(m: Matching) -> Findings:
    """Take apart what has different uses, under different names: a parameter is no slot of an optimizer, whatever both
    look like."""
    mine, there = ({variable.node: variable.use for variable in side.graph.meaning.variables()} for side in (m.a, m.b))
    a, b = m.a.scopes, m.b.scopes
    old = [
        node
        for node, use in mine.items()
        if (other := int(m.to_b[node])) in there
        and use != there[other]
        and a.node_leaf_hash[node] != b.node_leaf_hash[other]
    ]
    old += _as_gradients(m)
    names = {m.a.graph.name[node] for node in old}
    rows = [row for row, name in enumerate(a.name) if name in names and exists(m.scope_to_b[row])]
    inside = [node for row in rows for node in a.nodes(row).tolist() if exists(m.to_b[node])]
    if old:
        yield Apart(np.array(sorted({*old, *inside}), np.int32), np.array(rows, np.int32))


def _as_gradients(m: Matching) -> list[int]:
    """The old nodes of the model that went to gradients, and those of gradients that went to the model."""
    old, new = m.together()
    gradient = m.a.graph.meaning.flow().gradient[old], m.b.graph.meaning.flow().gradient[new]
    went = (gradient[0] != gradient[1]) & ~m.parents_match(old, new)
    return [int(node) for node in old[went]]


def _is_counted(m: Matching, old: int, new: int) -> bool:
    """Whether only counted numbers are others in the last segments of two names."""
    leaves = m.a.scopes.node_leaf[old], m.b.scopes.node_leaf[new]
    return leaves[0] == leaves[1] or NUMBER.sub("", leaves[0]) == NUMBER.sub("", leaves[1])


def _outside(side: GraphColumns) -> Bools:
    meaning = side.graph.meaning
    outside: Bools = ~meaning.model() & ~meaning.flow().gradient & (meaning.part() != Part.GRADIENT)
    return outside


def _variables(m: Matching, parameters: bool) -> list[tuple[int, int]]:
    """The matched variables, by name: parameters of the model, or all other ones."""
    makers, there = (
        {
            variable.node
            for variable in side.graph.meaning.variables()
            if (variable.use == VariableUse.PARAMETER) == parameters
        }
        for side in (m.a, m.b)
    )
    pairs = [(old, int(m.to_b[old])) for old in makers if int(m.to_b[old]) in there]
    return sorted(pairs, key=lambda pair: (m.b.graph.name[pair[1]], m.a.graph.name[pair[0]]))


def _feeding(m: Matching, outside: tuple[Bools, Bools]) -> list[tuple[int, int]]:
    """The matched nodes of the model that feed something outside of it, gradients aside."""
    graph = m.a.graph
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    mine = np.unique(source[outside[0][target] & m.a.graph.meaning.model()[source]])
    mine = mine[exists(m.to_b[mine])]
    return list(zip(mine.tolist(), m.to_b[mine].tolist(), strict=True))


def _users(m: Matching, outside: tuple[Bools, Bools], old: int, new: int) -> Iterator[tuple[int, int]]:
    """The users of two nodes that go together: as many of each op type at each input, in the order of their numbers."""
    mine, other = _by_place(m.a, outside[0], old), _by_place(m.b, outside[1], new)
    for place, before in mine.items():
        after = other.get(place, [])
        # What thousands take, as a rate, says nothing of the variable.
        if len(before) == len(after) <= FEW:
            yield from zip(before, after, strict=True)


def _by_place(side: GraphColumns, outside: Bools, node: int) -> dict[Place, list[int]]:
    graph = side.graph
    found: dict[Place, list[int]] = defaultdict(list)
    for edge in side.out_edges(node).tolist():
        user = int(graph.target[edge])
        if outside[user] and not graph.control[edge]:
            taken = graph.target[(edges := side.out_edges(user))[~graph.control[edges]]]
            then = tuple(sorted({graph.op_types[op] for op in graph.op[taken].tolist()}))
            found[graph.op_types[graph.op[user]], int(graph.slot[edge]), then].append(user)
    # A number of more digits is a larger one.
    return {
        place: sorted(users, key=lambda user: (len(graph.name[user]), graph.name[user]))
        for place, users in found.items()
    }


def _inputs(m: Matching, outside: tuple[Bools, Bools], old: int, new: int) -> Iterator[tuple[int, int]]:
    """What two nodes outside of the model take at the same input, of one op type."""
    if not outside[0][old] or not outside[1][new] or takes_any_number(m.a, old):
        return
    a, b = m.a.graph, m.b.graph
    there = {int(b.slot[edge]): int(b.source[edge]) for edge in m.b.in_edges(new).tolist() if not b.control[edge]}
    for edge in m.a.in_edges(old).tolist():
        before, after = int(a.source[edge]), there.get(int(a.slot[edge]), -1)
        if a.control[edge] or not exists(after) or not outside[0][before] or not outside[1][after]:
            continue
        if a.op_types[a.op[before]] == b.op_types[b.op[after]]:
            yield before, after


def takes_any_number(side: GraphColumns, node: int) -> bool:
    """Whether an op takes as many inputs as there are: it collects something of each variable, and lists it."""
    graph = side.graph
    definition, op = graph.node_def(node), graph.op_types[graph.op[node]]
    listed = definition is not None and any(key in definition.attr for key in ("N", "dtypes"))
    return listed or op == "IdentityN" or has_role(op, Role.GROUP, Role.SAVE)
