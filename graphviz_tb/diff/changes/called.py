"""What came or went, as a program calls it: the class of each layer with the arguments that the file shows.

item_dense_1: MatMul, BiasAdd, Relu, a kernel of 64×48     Dense(48, relu)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graphviz_tb.diff.changes.classes import LayerClasses
from graphviz_tb.diff.changes.grouped import weight_shape
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.changes.parts import QUIET
from graphviz_tb.diff.changes.traced_widths import WIDTHS, width
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.interpret.layer_classes import find_activation, infer_recurrent_units, known_sizes
from graphviz_tb.interpret.pytorch import enclosing_module_class, is_pytorch_module
from graphviz_tb.model.change import Change
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import OPS_BY_ROLE, Role

APART = 4  # layers that are listed one by one; of more it is counted how many there are of each class
SILENT = QUIET | OPS_BY_ROLE[Role.FILL]  # what no program calls a layer
GIVEN = "p"  # the one argument of a PyTorch module that its trace has as a number
DROPS = frozenset({"aten::dropout", "aten::feature_dropout", "aten::alpha_dropout"})
FROM_WEIGHTS: Mapping[str, Callable[[tuple[int, ...]], list[str]]] = {
    "Dense": lambda kernel: [str(kernel[-1])],
    "Embedding": lambda table: [str(size) for size in table],
    "DepthwiseConv2D": lambda kernel: [shape_text(kernel[:-2])],
}


class LayerCalls:
    """The layers of one side as calls, the way a program makes them."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self.classes = LayerClasses(layers)

    def of(self, change: Change) -> list[str]:
        """The layers that came or went at a change, in the order of flow; none where none of them is known as one."""
        if (
            self.layers.side.of_pytorch
            and change.detail["scope"]
            and (kind := enclosing_module_class(f"/{change.name}"))
        ):
            return [kind]
        nodes = change.edits.added if change.kind == "added" else change.edits.removed
        graph, forward = self.layers.side.graph, self.layers.forward
        # Not what works out sizes, and what gradients alone use.
        unsaid = graph.meaning.indexes() | self.layers.for_gradients
        loud = [
            node
            for node in nodes
            if forward[node] and not unsaid[node] and graph.op_types[graph.op[node]] not in SILENT
        ]
        held: dict[int, list[int]] = {}
        # By the last op of each: ops that prepare a bias are at the beginning of the graph.
        for node in sorted(loud, key=lambda node: (-self.layers.depth[node], graph.name[node])):
            held.setdefault(self.layers.of(node), []).append(node)
        held = dict(reversed(held.items()))
        whole = frozenset(nodes)
        calls = [self.call(layer, members, whole) for layer, members in held.items()]
        # Ops without a layer say nothing that their types do not say.
        if not any(known for _, known in calls):
            return []
        if len(calls) > APART:  # a block: how many of each class
            kinds = Counter(call.partition("(")[0] for call, known in calls if known)
            return [f"{count} {kind}" for kind, count in kinds.most_common()]
        counts = Counter(call for call, _ in calls)
        return [call if count == 1 else f"{count} {call}" for call, count in counts.items()]

    def call(self, layer: int, members: Sequence[int], whole: frozenset[int]) -> tuple[str, bool]:
        """How a program makes a layer, and whether its class is known. `members` are those of its ops that came or
        went, `whole` all ops that did: where others of the layer stay, only types of ops are known."""
        side, name = self.layers.side, self.layers.name(layer)
        graph = side.graph
        if known := graph.layers.get(name):
            return call_text(known.class_name, filter(None, known.telling.split(" · "))), True
        nodes = side.scopes.nodes(layer).tolist() if exists(layer) else [-1 - layer]
        if not whole.issuperset(nodes):
            return self.types(members), False
        if side.of_pytorch:
            kind = enclosing_module_class(name) if exists(layer) or is_pytorch_module(last_segment(name)) else ""
            return call_text(kind, self.traced(members)) if kind else self.types(members), True
        if exists(layer) and (kind := self.classes.of(layer)):
            return call_text(kind, self.arguments(kind, nodes)), True
        # A scope of several ops has a name that says more than their types.
        return (without_counters(last_segment(name)) if len(members) > 1 else self.types(members)), False

    def types(self, members: Sequence[int]) -> str:
        """The types of some ops, each once."""
        graph = self.layers.side.graph
        return ", ".join(dict.fromkeys(graph.op_types[graph.op[node]].rpartition("::")[2] for node in members))

    def traced(self, members: Sequence[int]) -> Iterator[str]:
        """The arguments of a module of PyTorch that is one op: how wide it is, which part it drops."""
        if len(members) != 1:
            return
        graph, node = self.layers.side.graph, members[0]
        op = graph.op_types[graph.op[node]]
        if op in WIDTHS and (size := width(graph, node, WIDTHS[op][1])):
            yield str(size)
        definition = graph.node_def(node)
        if op in DROPS and definition is not None and GIVEN in definition.attr:
            yield definition.attr[GIVEN].s.decode("utf-8", "replace")

    def arguments(self, kind: str, nodes: Sequence[int]) -> Iterator[str]:
        """The arguments of a layer that its weights and its ops show."""
        side = self.layers.side
        graph = side.graph
        shapes = [shape for node in self.weights(nodes) if (shape := known_sizes(weight_shape(side, node)))]
        if units := infer_recurrent_units(shapes):
            yield str(units)
            return
        kernel = max((shape for shape in shapes if len(shape) > 1), key=len, default=None)
        if kernel is not None and kind in FROM_WEIGHTS:
            yield from FROM_WEIGHTS[kind](kernel)
        elif kernel is not None and has_layer_role(kind, LayerRole.CONVOLUTION) and len(kernel) > 2:
            yield from (str(kernel[-1]), shape_text(kernel[:-2]))
        if word := find_activation({graph.op_types[graph.op[node]] for node in nodes}) if kernel is not None else "":
            yield word

    def weights(self, nodes: Iterable[int]) -> Iterator[int]:
        """The nodes of a layer, and what they take: a weight may lie beside the scope of its layer."""
        side = self.layers.side
        for node in nodes:
            yield node
            yield from side.graph.source[side.in_edges(node)].tolist()


def call_text(kind: str, arguments: Iterable[str]) -> str:
    """A class and its arguments.

    >>> call_text("Dense", ["48", "relu"]), call_text("Flatten", [])
    ('Dense(48, relu)', 'Flatten')
    """
    listed = ", ".join(arguments)
    return f"{kind}({listed})" if listed else kind


def with_calls(layers: tuple[Layers, Layers], changes: Iterable[Change]) -> list[Change]:
    """What came and went with the calls of its layers, where these are known."""
    calls = LayerCalls(layers[0]), LayerCalls(layers[1])
    made = []
    for change in changes:
        came = change.kind in ("added", "removed") and "op_types" in change.detail and "function" not in change.detail
        words = calls[change.kind == "added"].of(change) if came else []
        made.append(replace(change, detail={**change.detail, "layers": words}) if words else change)
    return made
