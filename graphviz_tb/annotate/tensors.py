"""Tensors: the shape and dtype of an output as the file declares them, and as inferred otherwise."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from graphviz_tb.annotate.definitions import DefinitionNumbers
from graphviz_tb.annotate.outputs import outputs_of
from graphviz_tb.annotate.shapes import ResolvedCalls, TensorOfKey, argument_of, enumerated, single_calls, tensors_of
from graphviz_tb.limits import OUTPUTS_LISTED, REMEMBERED_NODES
from graphviz_tb.model.columns import span
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.tensors import Shape, TakenBranch, Tensor
from graphviz_tb.ops.roles import FRAME_CONDITIONS, FRAME_SWITCHES, READS

if TYPE_CHECKING:
    from graphviz_tb.annotate.infer import Inference
    from graphviz_tb.proto import NodeDef

CONTRADICTION = "shape-contradiction"


class TensorDecoder:
    """The tensors of a graph, decoded on request; equal definitions are read once."""

    def __init__(self, graph: Graph, infer: bool = True) -> None:
        self.graph = graph
        self.infer = infer
        self.known: dict[int, TensorOfKey] = {}

    @cached_property
    def definitions(self) -> DefinitionNumbers:
        """Numbers of equal definitions."""
        return DefinitionNumbers(self.graph)

    @cached_property
    def _calls(self) -> ResolvedCalls:
        return single_calls(self.graph)

    def _said(self, node: int) -> TensorOfKey:
        """Return the tensors that the file declares for the outputs of a node."""
        number = self.definitions.of(node)
        # Declarations of a variable's handle or a function apply to one node only.
        if number < 0 or node in self._calls.by_node or self.graph.op_types[self.graph.op[node]] in READS:
            number = ~node
        said = self.known.get(number)
        if said is None:
            if len(self.known) >= REMEMBERED_NODES:
                self.known.clear()
            said = self.known[number] = tensors_of(self.graph, node, self._calls)
        return said

    @cached_property
    def inference(self) -> Inference:
        """The inference, created for the first tensor with an unknown shape."""
        from graphviz_tb.annotate.infer import Inference  # the rules of all ops

        return Inference(self.graph, self.declared, self.definitions)

    def declared(self, node: int, definition: NodeDef | None) -> list[Shape] | None:
        """Return the shapes that the file declares for the outputs of a node, except attributes read by its rule."""
        return [argument_of(self.graph, node)("0").shape] if definition is None else enumerated(definition)[0]

    def decode(self, node: int) -> TensorOfKey:
        """Return a lookup from an output key of a node to its tensor."""
        said = self._said(node)
        shaped = (lambda key: self._completed(node, key, said(key))) if self.infer else said
        return (lambda key: replace(shaped(key), branch=branch_of(key))) if branches(self.graph, node) else shaped

    def _completed(self, node: int, key: str, said: Tensor) -> Tensor:
        """Fill in the unknown sizes of a tensor by inference; declared sizes stay."""
        # Most shapes are fully declared.
        if said.shape is not None and None not in said.shape:
            return said
        inferred = self.inference.shape(node, self.inference.wiring.place(node, key))
        shape = completed(said.shape, inferred)
        return said if shape == said.shape else Tensor(shape, said.dtype, "inferred")

    def odd(self) -> tuple[Notice, ...]:
        """Report nodes whose declared shapes contradict the shapes inferred so far, and whether inference reached its
        limits."""
        if "inference" not in self.__dict__:  # reading the property would create it
            return ()
        notices = []
        if nodes := sorted(self.inference.contradictions):
            name = self.graph.name[nodes[0]]
            text = f"the declared shape of {name!r} contradicts its inputs; the declared one counts"
            notices.append(Notice(CONTRADICTION, text, name, len(nodes)))
        if self.inference.limited:
            text = (
                "some shapes stay unknown: functions are called with too many kinds of arguments, or sizes are too many"
            )
            notices.append(Notice("shape-limit", text, strict=False))
        return tuple(notices)


def branches(graph: Graph, node: int) -> bool:
    """Return whether a node passes a tensor to one of two branches. A `Switch` of a loop continues or ends the loop
    instead."""
    if graph.op_types[graph.op[node]] not in FRAME_SWITCHES:
        return False
    inputs = graph.source[slice(*span(graph.target, node, node + 1))].tolist()
    return all(graph.op_types[graph.op[source]] not in FRAME_CONDITIONS for source in inputs)


def branch_of(key: str) -> TakenBranch:
    """Return the value of its condition for which a `Switch` gives an output.

    >>> branch_of("1"), branch_of("0"), branch_of("output_true:0")
    ('true', 'false', 'true')
    """
    return "true" if key in ("1", "output_true:0") else "false"


def completed(said: Shape, inferred: Shape) -> Shape:
    """Fill the unknown sizes of a declared shape with inferred ones.

    >>> completed((None, 3), (2, 4)), completed(None, (2,)), completed((None,), (1, 2))
    ((2, 3), (2,), (None,))
    """
    if said is None or inferred is None or len(said) != len(inferred):
        return inferred if said is None else said
    return tuple(other if size is None else size for size, other in zip(said, inferred, strict=True))


def shapes_of(graph: Graph, facts: Facts) -> dict[tuple[str, int], Shape]:
    """Return the shape of every output of the main graph; for an unknown op, of the outputs that are used or listed."""
    used: dict[int, int] = {}
    # One more than the greatest position used by an edge.
    for source, key in zip(graph.source.tolist(), graph.key.tolist(), strict=True):
        if graph.function[source] < 0 and graph.keys[key].isdecimal():
            used[source] = max(used.get(source, 0), int(graph.keys[key]) + 1)
    shape_of: dict[tuple[str, int], Shape] = {}
    for node in range(len(graph)):
        definition = graph.node_def(node) if graph.function[node] < 0 else None
        if definition is None:
            continue
        outputs, count = facts.decode(node), outputs_of(definition)
        if count is None:
            count = max(used.get(node, 0), len(enumerated(definition)[0] or ()))
        # An attribute that counts outputs may be any number in a file.
        for index in range(min(count, OUTPUTS_LISTED)):
            shape_of[graph.name[node], index] = outputs(str(index)).shape
    return shape_of
