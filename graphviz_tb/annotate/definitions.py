"""Numbers for equal node definitions, and the nodes that are Keras layers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from graphviz_tb.limits import MAX_CACHED_DEFINITION_BYTES
from graphviz_tb.model.graph import COLOCATION_ATTR, Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.proto import NodeDef


class DefinitionNumbers:
    """Numbers the distinct definitions of a graph: op type and attributes, ignoring name, inputs, device and
    colocation. A training graph of thousands of nodes has a few hundred.

    >>> from graphviz_tb import load
    >>> text = 'node { name: "x" op: "Relu" } node { name: "y" op: "Relu" input: "x" } node { name: "z" op: "Elu" }'
    >>> numbers = DefinitionNumbers(load(text.encode()).hierarchy.graph)
    >>> numbers.number_of(0) == numbers.number_of(1), numbers.number_of(0) == numbers.number_of(2)
    (True, False)
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._numbers = [-1] * len(graph)
        self._known: dict[bytes, int] = {}
        self._packed: Callable[[int], bytes] = getattr(graph.graph_def.node, "definition", lambda _: b"")
        self._as_packed: dict[bytes, int] = {}  # attributes in the order of the file
        self._next = count()  # thread-safe: no number is used twice

    def number_of(self, node: int) -> int:
        """Return the number of a node's definition; -1 for an argument of a function, which has none."""
        number = self._numbers[node]
        if number < 0:
            number = self._numbers[node] = self._find_number(node)
        return number

    def _find_number(self, node: int) -> int:
        packed = self._packed(int(self.graph.definition[node])) if self.graph.function[node] < 0 else b""
        if not packed:
            return self._number_node(node)
        if len(packed) > MAX_CACHED_DEFINITION_BYTES:
            return next(self._next)
        number = self._as_packed.get(packed)
        if number is None:
            number = self._as_packed[packed] = self._number_message(NodeDef.FromString(packed))
        return number

    def _number_message(self, bare: NodeDef) -> int:
        return self._known.setdefault(bare.SerializeToString(deterministic=True), next(self._next))

    def _number_node(self, node: int) -> int:
        definition = self.graph.node_def(node)
        if definition is None:
            return -1
        # A long definition is a constant, not compared with others.
        if definition.ByteSize() > MAX_CACHED_DEFINITION_BYTES:
            return next(self._next)
        bare = type(definition)()
        bare.CopyFrom(definition)
        for field in ("name", "input", "device"):
            bare.ClearField(field)
        bare.attr.pop(COLOCATION_ATTR, None)
        return self._number_message(bare)


def keras_layer_nodes(graph: Graph) -> dict[int, Layer]:
    """Return the nodes that are Keras layers: all in a graph of layers, none in any other graph. An op with the name of
    a layer's scope is not a layer."""
    named = ((graph.index[0].get(name, -1), layer) for name, layer in graph.layers.items())
    return {node: layer for node, layer in named if node >= 0 and graph.op_types[graph.op[node]] == layer.class_name}
