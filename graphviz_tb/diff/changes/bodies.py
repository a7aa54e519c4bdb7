"""The body of each node outside of the model: what it is worked out by, down to gradients, variables or the model.

gradients/w ─▶ Mul ─▶ ApplyAdam(w, w/m)        gradients/v ─▶ Mul ─▶ ApplyAdam(v, v/m)        two nodes of each body
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.changes.layers import PLUMBING, Layers
from graphviz_tb.diff.columns.hashing import Hashes, digest
from graphviz_tb.diff.columns.labels import NOISE
from graphviz_tb.diff.match.by_variable import takes_any_number
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.ops.roles import CONSTANT_OPS

MODEL, GRADIENT, PARAMETER, CIRCLE = map(digest, ("model", "gradient", "parameter", "circle"))
# What says how large something is, how many inputs there are, or where it runs: no part of what is computed.
SIZES_AND_PLACES = NOISE | {
    "_output_shapes",
    "_input_shapes",
    COLOCATION_ATTR,
    "N",
    "shape",
    "dtypes",
    "container",
    "value",
}
FLOATS = frozenset({1, 2, 14, 19})


class Bodies:
    """The bodies of one side. `of[node]` is 0 for a node of the model or of gradients."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        side = layers.side
        graph = side.graph
        self.part = graph.meaning.part()
        self.gradient: Bools = graph.meaning.flow().gradient | (self.part == Part.GRADIENT)
        # What is worked out for gradients, in whatever scope: a custom gradient is written anywhere.
        data = ~graph.control
        feeding = reachable_mask(self.gradient, graph.target[data], graph.source[data])
        self.gradient |= feeding & graph.meaning.flow().behind & ~layers.forward
        self.gradient |= self._sums(~layers.forward)
        self.outside: Bools = ~layers.forward & ~self.gradient
        self.uses = {variable.node: variable.use for variable in graph.meaning.variables()}
        self.of: Hashes = np.zeros(len(side), np.uint64)
        self._colour()

    def _sums(self, outside: Bools) -> Bools:
        """Sums of gradients alone: of a variable that is used several times."""
        graph = self.layers.side.graph
        data = ~graph.control
        summed = outside & graph.nodes_of_types("AddN".__eq__)
        summed[graph.target[data & ~self.gradient[graph.source]]] = False
        return summed

    def is_plumbing(self, node: int) -> bool:
        """Whether an op only brings a value or hands it on."""
        graph = self.layers.side.graph
        return graph.op_types[graph.op[node]] in PLUMBING

    def parameters(self) -> list[int]:
        """The variables that the model computes with."""
        return [node for node, use in self.uses.items() if use == VariableUse.PARAMETER or self.layers.forward[node]]

    def _leaf(self, node: int) -> int | None:
        """The body of what is not looked into; None for anything else."""
        use = self.uses.get(node)
        if self.layers.forward[node] or use == VariableUse.PARAMETER:
            return PARAMETER if use is not None else MODEL
        if self.gradient[node]:
            return GRADIENT
        return self._of_variable(node) if use is not None else None

    def _of_variable(self, node: int) -> int:
        """A variable that the model does not use, by what uses it."""
        graph, edges = self.layers.side.graph, self.layers.side.out_edges(node)
        users = {(graph.op_types[graph.op[graph.target[edge]]], int(graph.slot[edge])) for edge in edges.tolist()}
        return digest(repr(sorted(users)))

    def _colour(self) -> None:
        graph = self.layers.side.graph
        known: dict[int, int] = {}
        open_nodes: set[int] = set()
        for root in np.flatnonzero(self.outside).tolist():
            waiting = [root]
            while waiting:
                node = waiting[-1]
                if node in known:
                    waiting.pop()
                    continue
                if (leaf := self._leaf(node)) is not None:
                    known[node] = leaf
                    continue
                edges = self.layers.side.in_edges(node)
                sources = graph.source[edges[~graph.control[edges]]].tolist()
                left = [source for source in sources if source not in known and source not in open_nodes]
                if left and node not in open_nodes:
                    open_nodes.add(node)
                    waiting += left
                    continue
                known[node] = self._own(node, [known.get(source, CIRCLE) for source in sources])
                open_nodes.discard(node)
        nodes = np.flatnonzero(self.outside)
        self.of[nodes] = [known[node] for node in nodes.tolist()]

    def _own(self, node: int, inputs: list[int]) -> int:
        graph = self.layers.side.graph
        op = graph.op_types[graph.op[node]]
        # What takes one input for each variable is the same for any number of these.
        if takes_any_number(self.layers.side, node):
            inputs = sorted(set(inputs))
        return digest(f"{op} {self._settings(node)} {inputs}")

    def _settings(self, node: int) -> str:
        """What somebody set at an op, as text: its attributes but for types and sizes; of a constant a single float."""
        side = self.layers.side
        definition = side.graph.node_def(node)
        if definition is None:
            return ""
        if definition.op in CONSTANT_OPS:
            tensor = definition.attr["value"].tensor if "value" in definition.attr else None
            plain = tensor is not None and tensor.dtype in FLOATS and self.part[node] != Part.BOOKKEEPING
            return str(int(side.labels.constants[node] ^ side.labels.core[node])) if plain else ""
        words = []
        for key in sorted(definition.attr):
            value = definition.attr[key]
            if key not in SIZES_AND_PLACES and value.WhichOneof("value") in ("b", "f", "i", "s"):
                words.append(f"{key}={value.SerializeToString(deterministic=True)!r}")
        return " ".join(words)


def equal_bodies(old: Bodies, new: Bodies, old_nodes: Ints, new_nodes: Ints) -> frozenset[int]:
    """The bodies of matched nodes that stayed what they were."""
    mine, other = old.of[old_nodes], new.of[new_nodes]
    return frozenset(mine[(mine == other) & (mine != 0)].tolist())
