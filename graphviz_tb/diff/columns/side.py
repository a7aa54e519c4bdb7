"""One of the two graphs, as columns that can be compared with the other's."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphviz_tb.diff.columns.callers import callers_in_main
from graphviz_tb.diff.columns.hashing import Hashes, combined, digest, digests, mixed, run_sums, sums_by
from graphviz_tb.diff.columns.labels import Known, Labels, label
from graphviz_tb.diff.columns.scopes import Scopes, build_scopes, exact_hashes
from graphviz_tb.diff.options import DiffOptions
from graphviz_tb.fold.table import lowest_common_owners
from graphviz_tb.model.columns import Bools, Ints, Longs, key_starts
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.ops.roles import CONSTANT_OPS, Role, has_role

# Any two constants: what a control edge has instead of a place, and what tells outputs from inputs in `refine`.
CONTROL = np.uint64(0xC0117801)
OUTWARD = np.uint64(0x0B5E55ED)


class GraphColumns:
    """Columns of nodes, edges and scopes of one graph.

    `function_class` is a hash for each function that equals that of the function it is compared with; `node_label`
    is what a node is, the functions it calls included.
    """

    def __init__(self, graph: Graph, options: DiffOptions, known: Known | None = None) -> None:
        self.graph = graph
        self.labels: Labels = label(graph, options, known)
        self.scopes: Scopes = build_scopes(graph)
        self.function_class: Hashes = np.zeros(len(graph.functions), np.uint64)
        self.block: Ints = (graph.function + 1).astype(np.int32)

    def __len__(self) -> int:
        return len(self.graph)

    def with_functions(self, classes: Hashes) -> None:
        """Say which function is which; everything that depends on it is made anew."""
        self.function_class = classes
        # Columns that are cached and contain the functions that nodes call.
        for name in ("node_label", "exact", "structural", "rounds"):
            self.__dict__.pop(name, None)

    def body(self, function: int) -> list[int]:
        """The nodes of a function."""
        return list(range(self.block_start[function + 1], self.block_start[function + 2]))

    @cached_property
    def block_start(self) -> list[int]:
        """Where the nodes of each block begin, and those of the last end."""
        starts: list[int] = np.searchsorted(self.block, np.arange(len(self.graph.functions) + 2)).tolist()
        return starts

    @cached_property
    def where(self) -> list[tuple[str, str]]:
        """The function ("" for the main graph) and the name of each node."""
        functions = ["", *(function.name for function in self.graph.functions)]
        return [(functions[block], name) for block, name in zip(self.block.tolist(), self.graph.name, strict=True)]

    @cached_property
    def of_pytorch(self) -> bool:
        """Whether PyTorch wrote the graph; asked once of its op types, as thousands of nodes ask."""
        return self.graph.is_pytorch

    @cached_property
    def unmarked(self) -> list[bool]:
        """Whether a picture shows each node as an op: no constants, weights or summaries."""
        unmarked: list[bool] = (self.graph.mark == Mark.NONE).tolist()
        return unmarked

    @cached_property
    def functions_called(self) -> dict[str, list[int]]:
        """The functions of each name: a file may have several."""
        called: dict[str, list[int]] = {}
        for index, function in enumerate(self.graph.functions):
            called.setdefault(function.name, []).append(index)
        return called

    @cached_property
    def callers(self) -> dict[int, list[int]]:
        """The nodes that call each function."""
        calling: dict[int, list[int]] = {}
        for call in self.graph.calls:
            calling.setdefault(call.function, []).append(call.node)
        return calling

    @cached_property
    def callers_in_main(self) -> list[frozenset[int]]:
        """The nodes of the main graph whose calls lead to each function."""
        return callers_in_main(self.callers, self.block.tolist(), len(self.graph.functions))

    @cached_property
    def calls(self) -> tuple[Ints, Hashes, Ints]:
        """Node, hash of the attribute and function of each call."""
        calls = self.graph.calls
        node = np.array([call.node for call in calls], np.int32)
        return node, digests(call.attr for call in calls), np.array([call.function for call in calls], np.int32)

    @cached_property
    def node_label(self) -> Hashes:
        """Hash each node: op type, attributes that count, functions that it calls, inputs that name no node."""
        node, attr, function = self.calls
        labels, callers = self.labels.own.copy(), np.unique(node)
        # The attribute counts too: `then_branch` and `else_branch` of an If are not to be exchanged.
        called = combined(attr, self.function_class[function])
        labels[callers] = combined(labels[callers], sums_by(node, called, len(self))[callers])
        nodes = np.fromiter(self.dangling, np.int64, len(self.dangling))
        labels[nodes] = combined(labels[nodes], digests(repr(words) for words in self.dangling.values()))
        return labels

    @cached_property
    def called(self) -> dict[int, list[tuple[str, int]]]:
        """Attribute and function of each call, by node."""
        calls: dict[int, list[tuple[str, int]]] = {}
        for call in self.graph.calls:
            calls.setdefault(call.node, []).append((call.attr, call.function))
        return calls

    @cached_property
    def index(self) -> dict[tuple[int, str], int]:
        """Nodes by block and name."""
        return dict(zip(zip(self.block.tolist(), self.graph.name, strict=True), range(len(self)), strict=True))

    @cached_property
    def dangling(self) -> dict[int, list[str]]:
        """The inputs that name no node, by the nodes that have some."""
        if not any(notice.code == "unknown-input" for notice in self.graph.notices):  # only saves time
            return {}
        texts = {}
        for node in range(len(self)):
            definition = self.graph.node_def(node)
            # More inputs than edges: the others name no node of this graph.
            if definition is not None and len(definition.input) > self.in_start[node + 1] - self.in_start[node]:
                known = set(self.graph.slot[self.in_edges(node)].tolist())
                texts[node] = [text for slot, text in enumerate(definition.input) if slot not in known]
        return texts

    @cached_property
    def edge_hash(self) -> Hashes:
        """Which output goes to which input; control edges have no place."""
        graph = self.graph
        key = digests(graph.keys)[graph.key]
        slot = graph.slot.astype(np.uint64)
        # A saver lists variables by name: which one comes first is no place.
        slot[graph.nodes_of_types(lambda op: has_role(op, Role.SAVE))[graph.target]] = 0
        key[graph.nodes_of_types(lambda op: has_role(op, Role.RESTORE))[graph.source]] = 0
        hashes = combined(key, slot)
        # TensorFlow gives no meaning to the order of control inputs, and writes them in any.
        hashes[graph.control] = CONTROL
        return hashes

    @cached_property
    def in_start(self) -> Longs:
        """Edges into node n are `in_start[n]:in_start[n + 1]`."""
        # Edges are filed by target, then by slot.
        return key_starts(self.graph.target, len(self))

    @cached_property
    def out_order(self) -> Ints:
        """Edge ids sorted by source."""
        return np.argsort(self.graph.source, kind="stable").astype(np.int32)

    @cached_property
    def out_start(self) -> Longs:
        """Edges out of node n are `out_order[out_start[n]:out_start[n + 1]]`."""
        return key_starts(self.graph.source, len(self))

    def in_edges(self, node: int) -> Ints:
        """Ids of the edges into `node`, by slot."""
        return np.arange(self.in_start[node], self.in_start[node + 1], dtype=np.int32)

    def out_edges(self, node: int) -> Ints:
        """Ids of the edges out of `node`."""
        edges: Ints = self.out_order[self.out_start[node] : self.out_start[node + 1]]
        return edges

    def refine(self, colour: Hashes, inward: bool, outward: bool) -> Hashes:
        """One round of colour refinement: a node's hash takes in those of its neighbours, by direction and slot."""
        parts = [colour]
        if inward:
            come = combined(colour[self.graph.source], self.edge_hash)
            parts.append(run_sums(come, self.in_start[:-1], self.in_start[1:]))
        if outward:
            go = combined(colour[self.graph.target], self.edge_hash)[self.out_order]
            parts.append(run_sums(go, self.out_start[:-1], self.out_start[1:]) ^ OUTWARD)
        return combined(*parts)

    @cached_property
    def rounds(self) -> dict[tuple[int, str], Hashes]:
        """Neighbourhood hashes that were made, by radius and direction."""
        return {}

    def around(self, radius: int, direction: str = "both") -> Hashes:
        """A hash of everything within `radius` steps: "both", only "in" (what it is made from) or only "out"."""
        if radius == 0:
            return self.node_label
        hashes = self.rounds.get((radius, direction))
        if hashes is None:
            inner = self.around(radius - 1, direction)
            hashes = self.rounds[radius, direction] = self.refine(inner, direction != "out", direction != "in")
        return hashes

    @cached_property
    def in_place(self) -> Hashes:
        """For each node a hash of its name, its op type and the names it is fed by: all but its settings."""
        come = combined(self.scopes.node_path[self.graph.source], self.edge_hash)
        return combined(self.scopes.node_path, self.labels.op, run_sums(come, self.in_start[:-1], self.in_start[1:]))

    @cached_property
    def scopes_in_place(self) -> Hashes:
        """For each scope the same of all that is in it."""
        return self.scopes.up_sums(mixed(self.in_place))

    @cached_property
    def exact(self) -> Hashes:
        """A hash for each scope of its contents, names included."""
        return exact_hashes(self.scopes, self.node_label)

    @cached_property
    def structural(self) -> Hashes:
        """For each scope a hash of the nodes and edges in it, without names."""
        graph, scopes = self.graph, self.scopes
        nodes = scopes.up_sums(mixed(self.node_label))
        # nodes hang below their scopes: number them behind the scopes for `lowest_common_owners`
        parent = np.concatenate((scopes.parent, scopes.of_node)).astype(np.int32)
        depth = np.concatenate((scopes.depth, scopes.depth[scopes.of_node] + 1)).astype(np.int32)
        rows = np.int32(len(scopes))
        owner, _, _ = lowest_common_owners(parent, depth, graph.source + rows, graph.target + rows)
        label = self.node_label
        edges = sums_by(owner, combined(label[graph.source], self.edge_hash, label[graph.target]), len(scopes))
        # An edge is owned by the lowest scope that holds both of its ends; those owned under a row are one run.
        total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(edges, dtype=np.uint64)))
        return combined(nodes, total[scopes.end] - total[:-1])

    def whole(self) -> int:
        """A number for the whole graph, whatever the order of its nodes: names, labels and edges."""
        # Nodes of functions may have the names of nodes of the main graph: the function's name tells them apart.
        blocks = np.concatenate((np.zeros(1, np.uint64), digests(f.name for f in self.graph.functions)))
        name = self.scopes.node_path + blocks[self.block]
        come = combined(name[self.graph.source], self.edge_hash)
        node = combined(name, self.labels.op, self.labels.core, self.labels.constants, self.labels.shapes)
        node = combined(node, run_sums(come, self.in_start[:-1], self.in_start[1:]), self.labels.devices)
        return digest(int(mixed(node).sum(dtype=np.uint64)).to_bytes(8, "little"))

    def constants(self) -> Bools:
        """Which nodes are constants."""
        return self.graph.nodes_of_types(CONSTANT_OPS.__contains__)
