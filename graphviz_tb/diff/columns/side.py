"""The columns of one of the two graphs: its tree of name scopes, and hashes of nodes, neighbourhoods and scopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.diff.columns.labels import Known, Labels, label_nodes
from graphviz_tb.diff.columns.values import (
    Hashes,
    combine_hashes,
    mix_hash_bits,
    run_sums,
    sums_by,
    tensor_numbers,
    word_hash,
    word_hashes,
)
from graphviz_tb.fold.table import lowest_common_owners
from graphviz_tb.graphs.rows import Preorder, number_tree
from graphviz_tb.graphs.tensors import constant_tensor
from graphviz_tb.graphs.traversal import reachable_from, strong_components
from graphviz_tb.limits import MAX_COMPARED_CALLERS
from graphviz_tb.model.columns import Bools, Ints, Longs, distinct_values, int32_column, key_starts
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.layers import module_attribute
from graphviz_tb.model.paths import MAX_SCOPE_NAME_LETTERS, ScopeNameBudget, last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS, Role, has_role
from graphviz_tb.options import DiffOptions

# The base of the polynomial hash of paths. It is odd, since high powers of an even number are 0 modulo 2^64.
HASH_BASE = np.uint64(0x9E6C63D0676A9A99)


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """The tree of raw name scopes, a row for each scope, in preorder; `roots[b]` is the row of block b (0 for the main
    graph, then each function).

    parent, end, depth, name, leaf   by row
    of_node, node_leaf               the scope of each node, and the last segment of its name; for a PyTorch module only
                                     the attribute, since its class may change
    node_order, node_start           nodes sorted by row, and the start of each row: all nodes under row r are
                                     `node_order[node_start[r]:node_start[end[r]]]`
    path, node_path                  polynomial hashes of names, from which `hashes_below` gets those of relative names
    """

    parent: Ints
    end: Ints
    depth: Ints
    block: Ints
    roots: tuple[int, ...]
    name: list[str]
    leaf: list[str]
    of_node: Ints
    node_leaf: list[str]
    node_order: Ints
    node_start: Longs
    path: Hashes
    node_path: Hashes
    leaf_hash: Hashes
    node_leaf_hash: Hashes

    def __len__(self) -> int:
        return len(self.parent)

    def nodes(self, row: int) -> Ints:
        nodes: Ints = self.node_order[self.node_start[row] : self.node_start[self.end[row]]]
        return nodes

    def own_nodes(self, row: int) -> Ints:
        nodes: Ints = self.node_order[self.node_start[row] : self.node_start[row + 1]]
        return nodes

    def size(self, row: int) -> int:
        """Return the number of nodes below a row."""
        return int(self.node_start[self.end[row]] - self.node_start[row])

    def sizes(self) -> Longs:
        """Return the size of every row."""
        sizes: Longs = self.node_start[self.end] - self.node_start[:-1]
        return sizes

    def counts_below(self, which: Bools) -> Longs:
        """Count the marked nodes below each row."""
        total = np.concatenate(([0], np.cumsum(which[self.node_order])))
        counts: Longs = total[self.node_start[self.end]] - total[self.node_start[:-1]]
        return counts

    def children(self, row: int) -> list[int]:
        """Return the scopes directly in a row."""
        rows, child, end = [], row + 1, int(self.end[row])
        while child < end:
            rows.append(child)
            child = int(self.end[child])
        return rows

    def scopes_around(self, rows: Ints) -> Ints:
        """Return scopes and all enclosing scopes, each once."""
        found = reachable_from(rows.tolist(), lambda row: [int(self.parent[row])], {-1})
        return np.fromiter(found, np.int32, len(found))

    def is_under(self, row: int, nodes: Ints) -> Bools:
        rows = self.of_node[nodes]
        under: Bools = (row <= rows) & (rows < self.end[row])
        return under

    def hashes_below(self, row: int, nodes: Ints) -> Hashes:
        """Return the hashes of the names of `nodes` relative to `row`."""
        # node_path = path[row] * BASE^k + hash of the name below `row`, for a node k levels below.
        power = _powers(self.depth[self.of_node[nodes]] - self.depth[row] + 1)
        hashes: Hashes = self.node_path[nodes] - self.path[row] * power
        return hashes

    def scopes_below(self, row: int) -> tuple[NDArray[np.int64], Hashes]:
        """Return the scopes under `row`, and the hashes of their names relative to it."""
        rows = np.arange(row + 1, int(self.end[row]))
        return rows, self.path[rows] - self.path[row] * _powers(self.depth[rows] - self.depth[row])

    def up_sums(self, of_nodes: Hashes) -> Hashes:
        """Return for each row the sum over all nodes under it."""
        return run_sums(of_nodes[self.node_order], self.node_start[:-1], self.node_start[self.end])


def _powers(exponents: NDArray[np.int32]) -> Hashes:
    """Return powers of `HASH_BASE`, modulo 2^64."""
    return np.power(HASH_BASE, exponents.astype(np.uint64))


@dataclass(slots=True, eq=False)
class ScopeTree:
    """A tree of scopes that grows: `parent` (-1 for roots, else an earlier id) and `name` by id."""

    parent: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)

    def add(self, parent: int, name: str) -> int:
        """Append one scope and return its id."""
        self.parent.append(parent)
        self.name.append(name)
        return len(self.parent) - 1


def _build_scopes(graph: Graph) -> Scopes:
    """Return the scopes of all names."""
    tree, room = ScopeTree(), ScopeNameBudget(MAX_SCOPE_NAME_LETTERS // 4)  # two graphs, and the picture of both
    roots: list[int] = []
    of_node: list[int] = []
    leaves: list[str] = []
    cuts = graph.block_starts()  # nodes of block b are `cuts[b]:cuts[b + 1]`
    for block in range(len(graph.functions) + 1):
        roots.append(tree.add(-1, "" if block == 0 else graph.functions[block - 1].name))
        _add_names(tree, roots[-1], graph.name[cuts[block] : cuts[block + 1]], of_node, leaves, room)
    # Sorted from order of appearance to preorder.
    numbered = number_tree(np.array(tree.parent, np.int64), np.arange(len(tree.parent)))
    names = [tree.name[id] for id in numbered.order.tolist()]
    rows = numbered.row_of[np.array(of_node, np.int64)]
    columns = _columns(numbered, names, int32_column(rows), leaves, [int(numbered.row_of[root]) for root in roots])
    if not graph.has_module_scopes:
        return columns
    return replace(
        columns,
        leaf=list(map(module_attribute, columns.leaf)),
        node_leaf=list(map(module_attribute, columns.node_leaf)),
    )


def _add_names(
    tree: ScopeTree, root: int, names: list[str], of_node: list[int], leaves: list[str], room: ScopeNameBudget
) -> None:
    """Add the scopes of one block; append the scope of each name to `of_node`, and the rest of the name to `leaves`."""
    scopes: dict[str, int] = {}
    for name in names:
        cut = name.rfind("/")
        if cut < 0:
            of_node.append(root)
            leaves.append(name)
            continue
        around = name[:cut]
        row = scopes.get(around)
        if row is None and len(around := room.truncate(around)) < cut:
            # The path exceeds the budget: the node is in the deepest scope that fits, and the rest is its leaf.
            row, cut = scopes.get(around, root if not around else None), len(around) or -1
        of_node.append(_add_scope(tree, scopes, root, around, room) if row is None else row)
        leaves.append(name[cut + 1 :])


def _add_scope(tree: ScopeTree, scopes: dict[str, int], root: int, name: str, room: ScopeNameBudget) -> int:
    """Add a scope and the missing scopes around it."""
    # Go upwards to the first existing scope, then add the missing scopes downwards.
    missing, parent = [name], root
    while (cut := missing[-1].rfind("/")) >= 0:
        around = missing[-1][:cut]
        if around in scopes:
            parent = scopes[around]
            break
        missing.append(around)
    room.spend(name, missing)
    for scope in reversed(missing):
        parent = scopes[scope] = tree.add(parent, scope)
    return parent


def _columns(numbered: Preorder, names: list[str], of_node: Ints, leaves: list[str], roots: list[int]) -> Scopes:
    parent, end, depth = numbered.parent, numbered.end, numbered.depth
    leaf = [last_segment(name) for name in names]
    leaf_hash, node_leaf_hash = _hash_words(leaf), _hash_words(leaves)
    # Paths do not include the function's name, since bodies are compared regardless of names.
    leaf_hash[roots] = 0
    path = leaf_hash.copy()
    # path[row] = path[parent] * BASE + leaf, level by level. Directly below a root, it is the leaf.
    for level in _levels(depth)[2:]:
        path[level] += path[parent[level]] * HASH_BASE
    order = np.argsort(of_node, kind="stable")
    counts = np.bincount(of_node, minlength=len(parent))
    block = np.cumsum(np.isin(np.arange(len(parent)), roots)) - 1
    return Scopes(
        parent=parent,
        end=end,
        depth=depth,
        block=int32_column(block),
        roots=tuple(roots),
        name=names,
        leaf=leaf,
        of_node=of_node,
        node_leaf=leaves,
        node_order=int32_column(order),
        node_start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        path=path,
        node_path=path[of_node] * HASH_BASE + node_leaf_hash,
        leaf_hash=leaf_hash,
        node_leaf_hash=node_leaf_hash,
    )


def _hash_words(words: list[str]) -> Hashes:
    """Return hashes of words; each distinct word is hashed once."""
    # Odd, so never 0, which is the hash of a root's leaf.
    memo = {word: word_hash(word) | 1 for word in set(words)}
    return np.fromiter(map(memo.__getitem__, words), np.uint64, len(words))


def _levels(depth: Ints) -> list[NDArray[np.int64]]:
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _exact_hashes(scopes: Scopes, own: Hashes) -> Hashes:
    """Return for each row a hash of the labels and relative names of everything under it."""
    inside = sums_by(scopes.of_node, mix_hash_bits(own + scopes.node_leaf_hash), len(scopes))
    hashes = mix_hash_bits(inside)
    # Deepest level first: the sum of a row is complete before its hash is added to its parent's.
    for level in reversed(_levels(scopes.depth)[1:]):
        hashes[level] = mix_hash_bits(inside[level])
        part = mix_hash_bits(hashes[level] + scopes.leaf_hash[level])
        # `add.at`, because a parent occurs in the index once for each child.
        np.add.at(inside, scopes.parent[level], part)
    hashes[list(scopes.roots)] = mix_hash_bits(inside[list(scopes.roots)])
    return hashes


def callers_in_main(callers: Mapping[int, Sequence[int]], block: Sequence[int], functions: int) -> list[frozenset[int]]:
    """Return for each function the first nodes of the main graph that call it, directly or through other functions.

    `callers` are the nodes that call each function, and `block` is the function of each node, counted from 1; 0 is the
    main graph. A function that only one other function calls shares its set.

    >>> callers_in_main({0: [7], 1: [8]}, [0, 0, 0, 0, 0, 0, 0, 0, 1], 2)
    [frozenset({7}), frozenset({7})]
    """
    outward = [
        sorted({block[node] - 1 for node in callers.get(function, ()) if block[node]}) for function in range(functions)
    ]
    component = strong_components(outward)
    members: dict[int, list[int]] = {}
    for function, number in enumerate(component):
        members.setdefault(number, []).append(function)
    found: dict[int, frozenset[int]] = {}
    # Components are numbered in reverse topological order: callers come first.
    for number, inside in sorted(members.items()):
        direct = {node for function in inside for node in callers.get(function, ()) if not block[node]}
        above = dict.fromkeys(component[other] for function in inside for other in outward[function])
        sets = [found[other] for other in above if other != number]
        found[number] = (
            sets[0]
            if len(sets) == 1 and not direct
            else frozenset(nsmallest(MAX_COMPARED_CALLERS, direct.union(*sets)))
        )
    return [found[number] for number in component]


# Arbitrary constants: the position of control edges, and the salt of outputs in `refine`.
CONTROL_HASH = np.uint64(0xC0117801)
OUTPUT_HASH = np.uint64(0x0B5E55ED)


class GraphColumns:
    """The nodes, edges and scopes of one graph as columns.

    `function_class` is a hash of each function, equal for the functions that are compared with each other; `node_label`
    describes a node including the functions it calls.
    """

    def __init__(self, graph: Graph, options: DiffOptions, known: Known | None = None) -> None:
        self.graph = graph
        self.labels: Labels = label_nodes(graph, options, known)
        self.scopes: Scopes = _build_scopes(graph)
        self.function_class: Hashes = np.zeros(len(graph.functions), np.uint64)
        self.block: Ints = (graph.function + 1).astype(np.int32)
        self._op_types_around: dict[int, tuple[tuple[str, ...], ...]] = {}

    def __len__(self) -> int:
        return len(self.graph)

    def with_functions(self, classes: Hashes) -> None:
        """Set the classes of functions, and drop the cached columns that depend on them."""
        self.function_class = classes
        for name in ("node_label", "exact_scope_hashes", "structural_scope_hashes", "refined_rounds"):
            self.__dict__.pop(name, None)

    def op_type(self, node: int) -> str:
        word: str = self.graph.op_types[self.graph.op[node]]
        return word

    def op_types_around(self, node: int) -> tuple[tuple[str, ...], ...]:
        """Return the op types of the nodes that take a value of `node`, and of those whose values it takes; sorted."""
        if node not in self._op_types_around:
            ends = self.data_users(node), self.data_sources(node)
            self._op_types_around[node] = tuple(tuple(sorted(set(map(self.op_type, nodes)))) for nodes in ends)
        return self._op_types_around[node]

    def body(self, function: int) -> list[int]:
        """Return the nodes of a function."""
        return list(range(self.block_start[function + 1], self.block_start[function + 2]))

    @cached_property
    def block_start(self) -> list[int]:
        """Return the first node of each block, and the end of the last."""
        starts: list[int] = np.searchsorted(self.block, np.arange(len(self.graph.functions) + 2)).tolist()
        return starts

    @cached_property
    def node_places(self) -> list[tuple[str, str]]:
        """Return the function ("" for the main graph) and the name of each node."""
        functions = ["", *(function.name for function in self.graph.functions)]
        return [(functions[block], name) for block, name in zip(self.block.tolist(), self.graph.name, strict=True)]

    @cached_property
    def has_module_scopes(self) -> bool:
        """Return whether scopes are modules with their classes."""
        return self.graph.has_module_scopes

    @cached_property
    def is_drawn_op(self) -> list[bool]:
        """Return whether a picture shows each node as an op: no constants, weights or summaries."""
        unmarked: list[bool] = (self.graph.mark == Mark.NONE).tolist()
        return unmarked

    @cached_property
    def functions_called(self) -> dict[str, list[int]]:
        """Return the functions of each name; a file may have several of one name."""
        called: dict[str, list[int]] = {}
        for index, function in enumerate(self.graph.functions):
            called.setdefault(function.name, []).append(index)
        return called

    @cached_property
    def callers(self) -> dict[int, list[int]]:
        """Return the nodes that call each function."""
        calling: dict[int, list[int]] = {}
        for call in self.graph.calls:
            calling.setdefault(call.function, []).append(call.node)
        return calling

    @cached_property
    def callers_in_main(self) -> list[frozenset[int]]:
        """Return the nodes of the main graph whose calls lead to each function."""
        return callers_in_main(self.callers, self.block.tolist(), len(self.graph.functions))

    @cached_property
    def calls(self) -> tuple[Ints, Hashes, Ints]:
        """Return the node, the hash of the attribute, and the function of each call."""
        calls = self.graph.calls
        node = np.array([call.node for call in calls], np.int32)
        return node, word_hashes(call.attr for call in calls), np.array([call.function for call in calls], np.int32)

    @cached_property
    def node_label(self) -> Hashes:
        """Return a hash of each node: op type, attributes that count, functions that it calls, unknown inputs."""
        node, attr, function = self.calls
        labels, callers = self.labels.own.copy(), distinct_values(node)
        # With the attribute, since `then_branch` and `else_branch` of an If differ.
        called = combine_hashes(attr, self.function_class[function])
        labels[callers] = combine_hashes(labels[callers], sums_by(node, called, len(self))[callers])
        nodes = np.fromiter(self.dangling, np.int64, len(self.dangling))
        labels[nodes] = combine_hashes(labels[nodes], word_hashes(repr(words) for words in self.dangling.values()))
        return labels

    @cached_property
    def functions_called_by_node(self) -> dict[int, list[tuple[str, int]]]:
        """Return the attribute and the function of each call, by node."""
        calls: dict[int, list[tuple[str, int]]] = {}
        for call in self.graph.calls:
            calls.setdefault(call.node, []).append((call.attr, call.function))
        return calls

    @cached_property
    def is_known_by_name(self) -> list[bool]:
        """Return which nodes are in a function, call a function, have Keras settings, or an unknown input."""
        known: Bools = self.block > 0
        known[[*self.functions_called_by_node, *self.dangling, *self.labels.configurations]] = True
        flags: list[bool] = known.tolist()
        return flags

    def __getstate__(self) -> dict[str, Any]:
        """Return the columns without inferred shapes, which are inferred again on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "tensors"}

    @cached_property
    def tensors(self) -> TensorDecoder:
        """Return the tensors of the graph, whose shapes are inferred once."""
        return TensorDecoder(self.graph)

    @cached_property
    def index(self) -> dict[tuple[int, str], int]:
        """Return the nodes by block and name."""
        return dict(zip(zip(self.block.tolist(), self.graph.name, strict=True), range(len(self)), strict=True))

    @cached_property
    def dangling(self) -> dict[int, list[str]]:
        """Return the inputs that name no node, by node."""
        if not any(notice.code == "unknown-input" for notice in self.graph.notices):  # only saves time
            return {}
        texts = {}
        for node in range(len(self)):
            definition = self.graph.node_def(node)
            if definition is not None and len(definition.input) > self.in_start[node + 1] - self.in_start[node]:
                known = set(self.graph.slot[self.in_edges(node)].tolist())
                texts[node] = [text for slot, text in enumerate(definition.input) if slot not in known]
        return texts

    @cached_property
    def edge_hash(self) -> Hashes:
        """Return a hash of the output and the slot of each edge; control edges have no position."""
        graph = self.graph
        key = word_hashes(graph.keys)[graph.key]
        slot = graph.slot.astype(np.uint64)
        # A saver lists variables by name, so its slots mean nothing.
        slot[graph.nodes_of_types(lambda op: has_role(op, Role.SAVE))[graph.target]] = 0
        key[graph.nodes_of_types(lambda op: has_role(op, Role.RESTORE))[graph.source]] = 0
        hashes = combine_hashes(key, slot)
        # Control inputs have no order.
        hashes[graph.control] = CONTROL_HASH
        return hashes

    @cached_property
    def in_start(self) -> Longs:
        """Return the starts of edges by target: those into node n are `in_start[n]:in_start[n + 1]`."""
        # Edges are sorted by target, then by slot.
        return key_starts(self.graph.target, len(self))

    @cached_property
    def out_order(self) -> Ints:
        """Return the edge ids sorted by source."""
        return np.argsort(self.graph.source, kind="stable").astype(np.int32)

    @cached_property
    def out_start(self) -> Longs:
        """Return the starts in `out_order`: edges out of node n are `out_order[out_start[n]:out_start[n + 1]]`."""
        return key_starts(self.graph.source, len(self))

    def in_edges(self, node: int) -> Ints:
        """Return the ids of the edges into `node`, by slot."""
        return np.arange(self.in_start[node], self.in_start[node + 1], dtype=np.int32)

    def sources(self, node: int) -> list[int]:
        """Return the nodes at the data and control inputs of `node`, by slot."""
        nodes: list[int] = self.graph.source[self.in_edges(node)].tolist()
        return nodes

    def users(self, node: int) -> list[int]:
        """Return the nodes with `node` as data or control input."""
        nodes: list[int] = self.graph.target[self.out_edges(node)].tolist()
        return nodes

    def constant_numbers(self, node: int) -> Any:
        """Return the numbers of a constant as `tensor_numbers` does; None for any other node."""
        tensor = constant_tensor(self.graph, node) if self.op_type(node) in CONSTANT_OPS else None
        return None if tensor is None else tensor_numbers(tensor)

    def data_inputs(self, node: int) -> list[tuple[int, int]]:
        """Return the slot and the source of each data input of `node`."""
        edges = self.in_edges(node)
        edges = edges[~self.graph.control[edges]]
        return list(zip(self.graph.slot[edges].tolist(), self.graph.source[edges].tolist(), strict=True))

    def data_sources(self, node: int) -> list[int]:
        """Return the nodes at the data inputs of `node`."""
        edges = self.in_edges(node)
        nodes: list[int] = self.graph.source[edges[~self.graph.control[edges]]].tolist()
        return nodes

    def data_users(self, node: int) -> list[int]:
        """Return the nodes with `node` as data input."""
        edges = self.out_edges(node)
        nodes: list[int] = self.graph.target[edges[~self.graph.control[edges]]].tolist()
        return nodes

    def out_edges(self, node: int) -> Ints:
        edges: Ints = self.out_order[self.out_start[node] : self.out_start[node + 1]]
        return edges

    def refine(self, colour: Hashes, inward: bool, outward: bool) -> Hashes:
        """Run one round of colour refinement: combine the hash of each node with those of its neighbours, by direction
        and slot."""
        parts = [colour]
        if inward:
            come = combine_hashes(colour[self.graph.source], self.edge_hash)
            parts.append(run_sums(come, self.in_start[:-1], self.in_start[1:]))
        if outward:
            go = combine_hashes(colour[self.graph.target], self.edge_hash)[self.out_order]
            parts.append(run_sums(go, self.out_start[:-1], self.out_start[1:]) ^ OUTPUT_HASH)
        return combine_hashes(*parts)

    @cached_property
    def refined_rounds(self) -> dict[tuple[int, str], Hashes]:
        """Return the cache of `neighbourhood_hashes`, by radius and direction."""
        return {}

    def neighbourhood_hashes(self, radius: int, direction: str = "both") -> Hashes:
        """Return for each node a hash of everything within `radius` steps, in "both" directions, only "in" (inputs) or
        only "out" (users)."""
        if radius == 0:
            return self.node_label
        hashes = self.refined_rounds.get((radius, direction))
        if hashes is None:
            inner = self.neighbourhood_hashes(radius - 1, direction)
            hashes = self.refined_rounds[radius, direction] = self.refine(inner, direction != "out", direction != "in")
        return hashes

    @cached_property
    def in_place(self) -> Hashes:
        """Return for each node a hash of its name, op type and names of inputs, without its settings."""
        come = combine_hashes(self.scopes.node_path[self.graph.source], self.edge_hash)
        return combine_hashes(
            self.scopes.node_path, self.labels.op, run_sums(come, self.in_start[:-1], self.in_start[1:])
        )

    @cached_property
    def scopes_in_place(self) -> Hashes:
        """Return for each scope a hash of the names, op types and inputs of all nodes in it."""
        return self.scopes.up_sums(mix_hash_bits(self.in_place))

    @cached_property
    def exact_scope_hashes(self) -> Hashes:
        """Return for each scope a hash of its content with relative names."""
        return _exact_hashes(self.scopes, self.node_label)

    @cached_property
    def structural_scope_hashes(self) -> Hashes:
        """Return for each scope a hash of the nodes and edges in it, without names."""
        graph, scopes = self.graph, self.scopes
        nodes = scopes.up_sums(mix_hash_bits(self.node_label))
        # For `lowest_common_owners`, nodes are children of their scopes, numbered after them.
        parent = np.concatenate((scopes.parent, scopes.of_node)).astype(np.int32)
        depth = np.concatenate((scopes.depth, scopes.depth[scopes.of_node] + 1)).astype(np.int32)
        rows = np.int32(len(scopes))
        owner, _, _ = lowest_common_owners(parent, depth, graph.source + rows, graph.target + rows)
        label = self.node_label
        edges = sums_by(owner, combine_hashes(label[graph.source], self.edge_hash, label[graph.target]), len(scopes))
        # The innermost scope around both ends owns an edge; the edges owned under a row are one run.
        total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(edges, dtype=np.uint64)))
        return combine_hashes(nodes, total[scopes.end] - total[:-1])

    def graph_hash(self) -> int:
        """Return a hash of the whole graph (names, labels, edges) that does not depend on the order of nodes."""
        # With the function's name, since nodes of functions and of the main graph may have equal names.
        blocks = np.concatenate((np.zeros(1, np.uint64), word_hashes(f.name for f in self.graph.functions)))
        name = self.scopes.node_path + blocks[self.block]
        come = combine_hashes(name[self.graph.source], self.edge_hash)
        node = combine_hashes(name, self.labels.op, self.labels.core, self.labels.constants, self.labels.shapes)
        node = combine_hashes(node, run_sums(come, self.in_start[:-1], self.in_start[1:]), self.labels.devices)
        return word_hash(int(mix_hash_bits(node).sum(dtype=np.uint64)).to_bytes(8, "little"))

    def constants(self) -> Bools:
        return self.graph.nodes_of_types(CONSTANT_OPS.__contains__)
