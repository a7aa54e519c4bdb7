"""The layers that a change is about, each with its class: as a program would call it, whatever the form of the file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from graphviz_tb.diff.changes.layers import Layers, attentions
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.interpret.layer_classes import infer_layer_class
from graphviz_tb.interpret.pytorch import enclosing_module_class

ATTENTION = "MultiHeadAttention"


class LayerClasses:
    """The classes of the layers of one side, each looked for once."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self.known: dict[int, str] = {}

    def of(self, layer: int) -> str:
        """The class of a layer: that of its configuration, of its module, what its ops are together, or an op type."""
        if layer not in self.known:
            self.known[layer] = self._found(layer)
        return self.known[layer]

    def _found(self, layer: int) -> str:
        side, name = self.layers.side, self.layers.name(layer)
        if side.of_pytorch and (module := enclosing_module_class(name)):
            return module
        if name in side.graph.layers:
            return side.graph.layers[name].class_name
        if not exists(layer):
            return str(side.graph.op_types[side.graph.op[-1 - layer]])
        if layer in self._attentions:
            return ATTENTION
        return infer_layer_class(side.graph, side.scopes.nodes(layer).tolist())

    @cached_property
    def _attentions(self) -> frozenset[int]:
        """The layers that are multi-head attentions: looked for once, as thousands may be asked about."""
        return frozenset(attentions(self.layers.side))

    def named(self, layers: Iterable[int]) -> list[dict[str, str]]:
        """Names and classes, by name."""
        pairs = {(self.layers.name(layer), self.of(layer)) for layer in layers}
        return [{"name": name, "class": kind} for name, kind in sorted(pairs)]
