"""Separate the calls of a scope that is called several times: a path of the flow leaves it and comes back.

relu ─▶ conv ─▶ relu          as one scope, `relu` would close a cycle
relu ─▶ conv ─▶ relu (2)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise, takewhile

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.traversal import strong_components, topological_order
from graphviz_tb.model.columns import Bools, Longs, distinct_values, sorted_value_range
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    FRAME_NEXT_OPS,
    KERNEL_OPS,
    TRACE_LIST_OPS,
    Role,
    has_role,
)

STORAGE_SOURCE_ROLES = (Role.VARIABLE, Role.TEMPORARY, Role.RESTORE)
STORAGE_TARGET_ROLES = (Role.ASSIGN, Role.SCATTER, Role.SAVE, Role.VARIABLE_CHECK)
MAX_WALKED_EDGES = 2_000_000  # over all scopes on cycles
MAX_CALLS = 200  # of one scope

NodeCalls = dict[int, int]  # node: how often the flow entered a scope before it


def separate_calls(hierarchy: Hierarchy, moved: Mapping[int, str]) -> dict[int, str]:
    """Return `moved` (scopes of nodes that differ from their names) with the nodes of repeated calls of scopes."""
    graph = hierarchy.graph
    flow = _flow_edges(graph)
    if not FRAME_NEXT_OPS.isdisjoint(graph.op_types):  # a control flow v1 loop is a real cycle
        return dict(moved)
    called: list[tuple[int, NodeCalls]] = []
    left = MAX_WALKED_EDGES
    for ring in _cyclic_siblings(hierarchy, flow):
        walk = _CycleWalk(hierarchy, ring, flow)
        left -= walk.edge_count * len(ring)
        if left < 0:
            break
        called += walk.calls()
    return _name_calls(hierarchy, called, moved)


def _flow_edges(graph: Graph) -> Bools:
    """Return which edges carry data, not from or to storage."""
    handle, store = (
        np.array([has_role(op, *roles) for op in graph.op_types] or [False], bool)
        for roles in (STORAGE_SOURCE_ROLES, STORAGE_TARGET_ROLES)
    )
    flow: Bools = ~graph.control & ~handle[graph.op[graph.source]] & ~store[graph.op[graph.target]]
    return flow


def _cyclic_siblings(hierarchy: Hierarchy, flow: Bools) -> Iterator[list[int]]:
    """Yield the rows of each cycle among the children of a group that contains a scope."""
    start, stop = hierarchy.edge_from, hierarchy.edge_to
    edges = np.flatnonzero(flow & (start >= 0) & (stop >= 0) & (start != stop))
    # Children are in the order of their first nodes: in a file in flow order, only repeated calls lead back.
    back = edges[start[edges] > stop[edges]]
    owners = hierarchy.parent[stop[back]]
    for owner in distinct_values(owners).tolist():
        owned = hierarchy.owned_edges(owner)
        owned = owned[flow[owned] & (start[owned] >= 0) & (stop[owned] >= 0)]
        pairs = distinct_values(start[owned].astype(np.int64) << 32 | stop[owned].astype(np.int64))
        rows = distinct_values(np.concatenate((pairs >> 32, pairs & 0xFFFFFFFF)))
        after: list[list[int]] = [[] for _ in rows]
        for source, target in zip(
            np.searchsorted(rows, pairs >> 32).tolist(), np.searchsorted(rows, pairs & 0xFFFFFFFF).tolist(), strict=True
        ):
            if source != target:
                after[source].append(target)
        filed: dict[int, list[int]] = defaultdict(list)
        for place, component in enumerate(strong_components(after)):
            filed[component].append(int(rows[place]))
        for ring in filed.values():
            if len(ring) > 1 and any(hierarchy.kind[row] == SCOPE_ROW for row in ring):
                yield ring


class _CycleWalk:
    """The nodes in the rows of a cycle, along the flow."""

    def __init__(self, hierarchy: Hierarchy, ring: Sequence[int], flow: Bools) -> None:
        self.hierarchy, self.ring, graph = hierarchy, ring, hierarchy.graph
        nodes = np.concatenate([hierarchy.node[row : int(hierarchy.end[row])] for row in ring])
        nodes = np.sort(nodes[(nodes >= 0) & (graph.mark[np.maximum(nodes, 0)] == 0)])
        self.nodes: Longs = nodes.astype(np.int64)
        starts = np.searchsorted(graph.target, self.nodes.astype(graph.target.dtype))
        stops = np.searchsorted(graph.target, self.nodes.astype(graph.target.dtype), "right")
        edges = np.concatenate([np.arange(a, b) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)])
        edges = edges[flow[edges]]
        edges = edges[np.isin(graph.source[edges], nodes)]
        self.edge_count = len(edges)
        self.before: list[list[int]] = [[] for _ in nodes]
        after: list[list[int]] = [[] for _ in nodes]
        for source, target in zip(
            np.searchsorted(self.nodes, graph.source[edges]).tolist(),
            np.searchsorted(self.nodes, graph.target[edges]).tolist(),
            strict=True,
        ):
            self.before[target].append(source)
            after[source].append(target)
        self.order = topological_order(after)

    def calls(self) -> Iterator[tuple[int, NodeCalls]]:
        """Yield the scopes that the flow enters more than once, with the call of each of their nodes."""
        if len(self.order) < len(self.nodes):  # a real cycle
            return
        hierarchy = self.hierarchy
        rows = hierarchy.row_of_node[self.nodes]
        for row in self.ring:
            if hierarchy.kind[row] != SCOPE_ROW:
                continue
            inside: Bools = (rows > row) & (rows < hierarchy.end[row])
            entered = self._entries(inside.tolist())
            calls = {
                int(self.nodes[place]): entered[place] - 1
                for place in np.flatnonzero(inside).tolist()
                if entered[place]
            }
            if 1 <= max(calls.values(), default=0) < MAX_CALLS and self._are_calls(row, calls):
                yield row, calls

    def _are_calls(self, row: int, calls: NodeCalls) -> bool:
        """Return whether each later call runs the layer again: with equal ops, or kernels of the scope or first call.

        Other scopes that a path leaves and enters again, such as a loss, are not called. PyTorch modules always are.
        """
        graph = self.hierarchy.graph
        if graph.has_module_scopes:
            return True
        ops: dict[int, Counter[int]] = defaultdict(Counter)
        for node, call in calls.items():
            ops[call][int(graph.op[node])] += 1
        first, second, *others = (ops[call] for call in sorted(ops))
        size = second.total()
        if size > 1 and all(each == second for each in others) and second <= first and first.total() <= 2 * size:
            return True
        kernels: dict[int, set[int]] = defaultdict(set)
        origin, constant = graph.meaning.origin, graph.nodes_of_types(CONSTANT_OPS.__contains__)
        for node, call in calls.items():
            if graph.op_types[graph.op[node]] in KERNEL_OPS:
                sources = graph.source[slice(*sorted_value_range(graph.target, node, node + 1))]
                weights = np.where(origin[sources] >= 0, origin[sources], sources)
                kernels[call].update(weights[(origin[sources] >= 0) | constant[sources]].tolist())
        row_of = self.hierarchy.row_of_node
        own = {each for found in kernels.values() for each in found if row <= row_of[each] < self.hierarchy.end[row]}
        return all(not kernels[call].isdisjoint(own | kernels[0]) for call in ops if call)

    def _entries(self, inside: Sequence[bool]) -> list[int]:
        """Return, for each node, the greatest number of times that a path to it enters the nodes `inside`."""
        entered = [0] * len(inside)
        for node in self.order:
            here = inside[node]
            most = int(here)
            for source in self.before[node]:
                most = max(most, entered[source] + (here and not inside[source]))
            entered[node] = most
        return entered


def _name_calls(hierarchy: Hierarchy, called: list[tuple[int, NodeCalls]], moved: Mapping[int, str]) -> dict[int, str]:
    """Return `moved` with the numbered scopes of later calls, outer scopes first."""
    scope = dict(moved)
    depth = hierarchy.depth
    for row, calls in sorted(called, key=lambda item: (int(depth[item[0]]), item[0])):
        level = int(depth[row])
        around: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for node, call in calls.items():
            parts = _scope_parts(scope.get(node), hierarchy.graph.name[node], level)
            around["/".join(parts[: level - 1])][call].append(node)
        for by_call in around.values():
            for number, call in enumerate(sorted(by_call)):
                for node in by_call[call] if number else ():
                    parts = _scope_parts(scope.get(node), hierarchy.graph.name[node], level)
                    parts[level - 1] = f"{parts[level - 1]} ({number + 1})"
                    scope[node] = "/".join(parts)
    return scope


def _scope_parts(scope: str | None, name: str, level: int) -> list[str]:
    """Return the segments of the scope of a node, at least `level`; the name counts if the scope is shorter.

    >>> _scope_parts(None, "a/b", 1), _scope_parts(None, "a/b", 2), _scope_parts("a (2)", "a/b", 1)
    (['a'], ['a', 'b'], ['a (2)'])
    """
    parts = (scope or name.rpartition("/")[0]).split("/")
    return name.split("/") if parts == [""] or len(parts) < level else parts


Skips = tuple[tuple[str, ...], ...]  # for each segment of a scope, the containers missing before it
MODULE = compile_on_use(r"(.*)\[([^\[\]]*)\]", re.DOTALL)  # Linear[fc]
MAX_SWEEPS = 4
PARAMETER_OP = "prim::GetAttr"


def merged_modules(graph: Graph) -> dict[int, str]:
    """Return separate scopes for the nodes of modules that share a scope in a PyTorch trace.

    A trace omits containers in scopes, but not in the names of parameters: the scope Net/Sequential[blocks] of
    Net/ModuleList[stages]/ModuleDict[0]/Sequential[blocks] becomes Net/Sequential[stages.0.blocks].
    """
    known = _modules_of_weights(graph) if graph.is_value_trace else {}
    merged: dict[tuple[tuple[str, ...], Skips], set[tuple[str, ...]]] = defaultdict(set)
    for scope, skips in set(known.values()):
        for place in range(len(scope)):
            merged[scope[: place + 1], skips[:place]].add(skips[place])
    # Modules of one class at one place are treated alike, even if only some of them share a scope.
    families = {_module_family(*key) for key, held in merged.items() if len(held) > 1}
    if not families:
        return {}
    merged = {key: held for key, held in merged.items() if _module_family(*key) in families}
    merged_scopes = {scope for scope, _ in merged}
    _spread_along_flow(graph, known, merged_scopes)
    return {
        node: "/".join(
            _with_containers(segment, skips[place]) if (scope[: place + 1], skips[:place]) in merged else segment
            for place, segment in enumerate(scope)
        )
        for node, (scope, skips) in known.items()
        if any(scope[: place + 1] in merged_scopes for place in range(len(scope)))
    }


def _module_family(scope: tuple[str, ...], skips: Skips) -> tuple[tuple[str, ...], str, Skips]:
    """Return a key that is equal for the modules of one class at one place."""
    found = MODULE.fullmatch(scope[-1])
    return scope[:-1], found[1] if found else scope[-1], skips


def _modules_of_weights(graph: Graph) -> dict[int, tuple[tuple[str, ...], Skips]]:
    """Return, for each node that uses a parameter, its scope and the containers that are missing in it."""
    known: dict[int, tuple[tuple[str, ...], Skips]] = {}
    gives = graph.nodes_of_types(PARAMETER_OP.__eq__)[graph.source] & (graph.mark[graph.target] == 0)
    for edge in np.flatnonzero(gives).tolist():
        source, node = int(graph.source[edge]), int(graph.target[edge])
        path = graph.name[source].split("/")
        while path and not MODULE.fullmatch(path[-1]):
            path.pop()
        scope = tuple(graph.name[node].split("/")[:-1])
        skips = _missing_segments(scope, path) if node not in known and path else None
        if skips is not None:
            known[node] = scope, skips
    return known


def _missing_segments(scope: Sequence[str], path: Sequence[str]) -> Skips | None:
    """Return the segments of a path that are missing before each segment of a scope; None if these are not in the path.

    >>> _missing_segments(["Net", "Run[a]"], ["Net", "ModuleList[m]", "Run[a]"])
    ((), ('ModuleList[m]',))
    """
    places: list[int] = []
    place = len(path)
    for segment in reversed(scope):
        place = next((before for before in range(place - 1, -1, -1) if path[before] == segment), -1)
        if place < 0:
            return None
        places.append(place)
    if not places or places[0] < len(path) - 1:
        return None
    return tuple(tuple(path[start + 1 : stop]) for start, stop in pairwise([-1, *reversed(places)]))


def _spread_along_flow(
    graph: Graph, known: dict[int, tuple[tuple[str, ...], Skips]], merged: Set[tuple[str, ...]]
) -> None:
    """Copy the containers of neighbours to the other nodes of shared scopes, in place.

    Neighbours in the same module come first, then those that share most of the scope.
    """
    scopes: dict[int, tuple[str, ...]] = {}
    for node in np.flatnonzero(graph.mark == 0).tolist():
        scope = tuple(graph.name[node].split("/")[:-1])
        if node not in known and any(scope[: place + 1] in merged for place in range(len(scope))):
            scopes[node] = scope
    neighbours: dict[int, list[int]] = defaultdict(list)
    ends = list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    for near, far in ((1, 0), (0, 1)):  # inputs first
        for edge in ends:
            if edge[near] in scopes:
                neighbours[edge[near]].append(edge[far])
    for sweep in range(2 * MAX_SWEEPS):
        for node in sorted(scopes, reverse=bool(sweep % 2)):
            scope = scopes[node]
            best: Skips = ()
            for other in neighbours[node]:
                if other in known:
                    other_scope, skips = known[other]
                    pairs = zip(scope, other_scope, strict=False)
                    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                    best = max(best, skips[:shared], key=len)
            # First neighbours in the same module, then in the module around it, finally any.
            unshared = 0 if sweep < MAX_SWEEPS else 1 if sweep < MAX_SWEEPS + 2 else len(scope)
            if best and len(best) >= len(scope) - unshared:
                known[node] = scope, best + ((),) * (len(scope) - len(best))
                del scopes[node]


COPY_ROLES = (Role.PASS, Role.CAST, Role.GRADIENT_STOP)


def enclose_copies(graph: Graph, moved: Mapping[int, str]) -> dict[int, str]:
    """Return `moved` with identities, copies and casts between modules moved into the module that feeds or uses them.

    A list that only one module makes and uses moves into that module.

    Net/Norm[norm] ─▶ Net/to ─▶ Net/Linear[head]        `to` moves into Net/Norm[norm]
    """
    module_of = dict(moved)
    lists = graph.nodes_of_types(lambda op: op in TRACE_LIST_OPS)
    copies = (graph.nodes_of_types(lambda op: has_role(op, *COPY_ROLES)) | lists) & (graph.mark == 0)
    if not copies.any() or not graph.has_module_scopes:
        return module_of
    drawn = graph.mark == 0
    sources: dict[int, list[int]] = {node: [] for node in np.flatnonzero(copies).tolist()}
    users: dict[int, list[int]] = {node: [] for node in sources}
    for edge in np.flatnonzero((copies[graph.source] | copies[graph.target]) & ~graph.control).tolist():
        source, target = int(graph.source[edge]), int(graph.target[edge])
        if target in sources and drawn[source]:
            sources[target].append(source)
        if source in users:
            users[source].append(target)
    for node in np.flatnonzero(lists & copies).tolist():
        neighbours = [*sources.pop(node), *users.pop(node)]
        modules = {module_of.get(other) or graph.name[other].rpartition("/")[0] for other in neighbours}
        if len(modules) == 1 and (module := modules.pop()).startswith(f"{graph.name[node].rpartition('/')[0]}/"):
            module_of[node] = module
    # Along the flow, then against it, so that chains of copies stay together.
    for nodes, beside in ((list(sources), sources), (list(reversed(users)), users)):
        for node in nodes:
            if node in module_of or len(sources[node]) > 1 or not beside[node]:
                continue
            scope = graph.name[node].rpartition("/")[0]
            scopes = [module_of.get(other) or graph.name[other].rpartition("/")[0] for other in beside[node]]
            if module := _module_beside(scope, scopes):
                module_of[node] = module
    return module_of


def _module_beside(own: str, scopes: Sequence[str]) -> str:
    """Return the innermost module in the scope `own` that contains all of `scopes`, without numbered modules; else "".

    >>> _module_beside("Net", ["Net/Run[run]/Linear[fc]"]), _module_beside("Net", ["Net/Run[run]/Block[layers.0]/add"])
    ('Net/Run[run]/Linear[fc]', 'Net/Run[run]')
    """
    outside = own.split("/") if own else []
    columns = zip(*(scope.split("/") for scope in scopes), strict=False)
    alike = [segments[0] for segments in takewhile(lambda segments: len(set(segments)) == 1, columns)]
    if alike[: len(outside)] != outside:
        return ""
    inside = list(takewhile(_is_single_module, alike[len(outside) :]))
    return "/".join([*outside, *inside]) if inside else ""


def _is_single_module(segment: str) -> bool:
    found = MODULE.fullmatch(segment)
    return found is not None and not found[2].rpartition(".")[2].isdigit()


def _with_containers(segment: str, containers: Sequence[str]) -> str:
    """Return a segment with the names of the containers around it.

    >>> _with_containers("Sequential[run]", ["ModuleList[parts]", "ModuleDict[0]"])
    'Sequential[parts.0.run]'
    """
    names = [found[2] for container in containers if (found := MODULE.fullmatch(container))]
    found = MODULE.fullmatch(segment)
    return f"{found[1]}[{'.'.join([*names, found[2]])}]" if found and names else segment
