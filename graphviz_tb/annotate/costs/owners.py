"""Which op a variable's parameters are counted at: that of the network which uses it first."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graphviz_tb.annotate.costs.roles import FORWARD
from graphviz_tb.model.graph import Graph, Mark

UPDATES = re.compile(r"(Resource)?(Sparse)?Apply.*", re.DOTALL)
WRITES = re.compile(r"Assign.*|.*Apply.*|.*Scatter.*|VarIsInitializedOp|.*Save.*|.*Restore.*", re.DOTALL)


def owners(graph: Graph, roles: Sequence[int]) -> dict[int, int]:
    """Before: the role of every node. After: for variables and frozen constants that are drawn as marks, the op that
    owns them.

    Only those are given that are outside of the scopes of all ops of the network that use them, as the handles of
    TensorFlow 2 do; the others count where they are.
    """
    users = users_of(graph, roles)
    return {node: found[0] for node, found in users.items() if not beside_a_user(graph, node, found)}


def users_of(graph: Graph, roles: Sequence[int]) -> dict[int, list[int]]:
    """For each origin of a weight the ops of the network, in the same graph or body, that use it: in file order."""
    makers = origins(graph)
    users: dict[int, list[int]] = {}
    # `inward`: the mark feeds its host.
    reads = graph.beside.inward & (graph.mark[graph.beside.mark] == Mark.WEIGHT)
    for mark, host in zip(graph.beside.mark[reads].tolist(), graph.beside.host[reads].tolist(), strict=True):
        origin = makers.get(mark, mark)
        reads_it = not WRITES.fullmatch(graph.op_types[graph.op[host]])
        if reads_it and roles[host] == roles[origin] == FORWARD and graph.function[host] == graph.function[origin]:
            users.setdefault(origin, []).append(host)
    return users


def slots_of_optimizers(graph: Graph) -> set[int]:
    """The nodes that an update takes beside the variable that it writes: moments, accumulators, averages.

    TensorFlow 1 names them after the variable (`kernel/d_opt_1`), so that no name tells them from it. The variable is
    the first input of every update: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ApplyAdam
    # `or [False]`: an empty graph has no op types, and an empty list would be a column of floats.
    """
    updates = np.array([bool(UPDATES.fullmatch(op)) for op in graph.op_types] or [False])[graph.op]
    return set(graph.source[updates[graph.target] & (graph.slot > 0) & ~graph.control].tolist())


def origins(graph: Graph) -> dict[int, int]:
    """For each mark that hands a weight on: the variable, handle or constant that it comes from."""
    weight = graph.mark == Mark.WEIGHT
    handed = np.flatnonzero(weight[graph.target] & weight[graph.source] & (graph.slot == 0) & ~graph.control)
    before = dict(zip(graph.target[handed].tolist(), graph.source[handed].tolist(), strict=True))
    origin_of: dict[int, int] = {}
    for mark in before:
        # To the first that is known or leads back; all on the way share what was found there.
        way, seen = [mark], {mark}
        while way[-1] in before and way[-1] not in origin_of and before[way[-1]] not in seen:
            way.append(before[way[-1]])
            seen.add(way[-1])
        origin_of.update(dict.fromkeys(way[:-1], origin_of.get(way[-1], way[-1])))
    return origin_of


def beside_a_user(graph: Graph, node: int, users: list[int]) -> bool:
    """Whether a variable is in the scope of an op that uses it."""
    scope = graph.name[node].rpartition("/")[0]
    return bool(scope) and any(graph.name[user].startswith(f"{scope}/") for user in users)
