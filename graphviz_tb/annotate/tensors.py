"""Look up the shape and dtype of an output: as the file declares them, else as inferred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphviz_tb.annotate.shapes import (
    DefinitionNumbers,
    SingleCalls,
    TensorLookup,
    argument_tensor_lookup,
    enumerated_shapes,
    find_single_calls,
    output_count,
    tensor_lookup,
)
from graphviz_tb.limits import MAX_CACHED_NODES, MAX_LISTED_OUTPUTS
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.tensors import Shape, TakenBranch, Tensor
from graphviz_tb.ops.roles import FRAME_CONDITION_OPS, FRAME_SWITCH_OPS, VARIABLE_READ_OPS

if TYPE_CHECKING:
    from graphviz_tb.annotate.infer import Inference
    from graphviz_tb.proto import NodeDef

NO_SHAPES: Mapping[int, tuple[Shape, ...]] = MappingProxyType({})
CONTRADICTION_CODE = "shape-contradiction"


class TensorDecoder:
    """The tensors of a graph, decoded on request; equal definitions are read once."""

    def __init__(self, graph: Graph, infer: bool = True, traced: Mapping[int, tuple[Shape, ...]] = NO_SHAPES) -> None:
        self.graph = graph
        self.infer = infer
        self.traced = traced  # the shapes of outputs in a step, by node
        self.known: dict[int, TensorLookup] = {}

    @cached_property
    def definitions(self) -> DefinitionNumbers:
        return DefinitionNumbers(self.graph)

    @cached_property
    def _calls(self) -> SingleCalls:
        return find_single_calls(self.graph)

    def _file_lookup(self, node: int) -> TensorLookup:
        """Return a lookup of the tensors that the file declares, shared by nodes with equal definitions."""
        number = self.definitions.number_of(node)
        # Shapes from a variable's handle or from a function apply to one node only.
        if number < 0 or node in self._calls.by_node or self.graph.op_types[self.graph.op[node]] in VARIABLE_READ_OPS:
            number = ~node
        lookup = self.known.get(number)
        if lookup is None:
            if len(self.known) >= MAX_CACHED_NODES:
                self.known.clear()
            lookup = self.known[number] = tensor_lookup(self.graph, node, self._calls)
        return lookup

    @cached_property
    def inference(self) -> Inference:
        """Return the inference, created for the first tensor with an unknown shape."""
        from graphviz_tb.annotate.infer import Inference  # imports the rules of all ops

        return Inference(self.graph, self.declared_shapes, self.definitions)

    def declared_shapes(self, node: int, definition: NodeDef | None) -> list[Shape] | None:
        """Return the shapes that the file declares for the outputs of a node, without attributes that its rule
        reads."""
        return (
            [argument_tensor_lookup(self.graph, node)("0").shape]
            if definition is None
            else enumerated_shapes(definition)[0]
        )

    def tensors_of_node(self, node: int) -> TensorLookup:
        """Return a lookup from an output key of a node to its tensor."""
        declared = self._file_lookup(node)
        shaped = (lambda key: self._complete_tensor(node, key, declared(key))) if self.infer else declared
        return (
            (lambda key: replace(shaped(key), branch=_branch_of_key(key)))
            if _feeds_branches(self.graph, node)
            else shaped
        )

    def _complete_tensor(self, node: int, key: str, declared: Tensor) -> Tensor:
        """Fill in the unknown sizes of a tensor by inference, then from a traced step; declared sizes stay."""
        if declared.shape is not None and None not in declared.shape:
            return declared
        inferred = self.inference.output_shape(node, self.inference.wiring.position_of_key(node, key))
        shape = _complete_shape(declared.shape, inferred)
        if self.traced and (shape is None or None in shape):
            seen, at = self.traced.get(node, ()), self.inference.wiring.position_of_key(node, key)
            shape = _complete_shape(shape, seen[at]) if at < len(seen) else shape
        return declared if shape == declared.shape else Tensor(shape, declared.dtype, "inferred")

    def inference_notices(self) -> tuple[Notice, ...]:
        """Return notices about declared shapes that contradict inferred ones so far, and about limits of inference."""
        if "inference" not in self.__dict__:  # reading the property would create it
            return ()
        notices = []
        if nodes := sorted(self.inference.contradictions):
            name = self.graph.name[nodes[0]]
            text = f"the declared shape of {name!r} contradicts its inputs; the declared one counts"
            notices.append(Notice(CONTRADICTION_CODE, text, name, len(nodes)))
        if self.inference.hit_limit:
            text = (
                "some shapes stay unknown: functions are called with too many kinds of arguments, or sizes are too many"
            )
            notices.append(Notice("shape-limit", text, strict=False))
        return tuple(notices)


def _feeds_branches(graph: Graph, node: int) -> bool:
    """Return whether a node is a `Switch` of a branch, and not of a loop."""
    if graph.op_types[graph.op[node]] not in FRAME_SWITCH_OPS:
        return False
    inputs = graph.source[slice(*sorted_value_range(graph.target, node, node + 1))].tolist()
    return all(graph.op_types[graph.op[source]] not in FRAME_CONDITION_OPS for source in inputs)


def _branch_of_key(key: str) -> TakenBranch:
    """Return the value of the condition for which a `Switch` passes its input to an output.

    >>> _branch_of_key("1"), _branch_of_key("0"), _branch_of_key("output_true:0")
    ('true', 'false', 'true')
    """
    return "true" if key in ("1", "output_true:0") else "false"


def _complete_shape(declared: Shape, inferred: Shape) -> Shape:
    """Fill the unknown sizes of a declared shape with inferred ones.

    >>> _complete_shape((None, 3), (2, 4)), _complete_shape(None, (2,)), _complete_shape((None,), (1, 2))
    ((2, 3), (2,), (None,))
    """
    if declared is None or inferred is None or len(declared) != len(inferred):
        return inferred if declared is None else declared
    return tuple(other if size is None else size for size, other in zip(declared, inferred, strict=True))


def main_output_shapes(graph: Graph, facts: Facts) -> dict[tuple[str, int], Shape]:
    """Return the shape of every output of the main graph; for an unknown op, of the outputs that are used or listed."""
    used: dict[int, int] = {}  # one more than the greatest position that an edge uses
    for source, key in zip(graph.source.tolist(), graph.key.tolist(), strict=True):
        if graph.function[source] < 0 and graph.keys[key].isdecimal():
            used[source] = max(used.get(source, 0), int(graph.keys[key]) + 1)
    shape_of: dict[tuple[str, int], Shape] = {}
    for node in range(len(graph)):
        definition = graph.node_def(node) if graph.function[node] < 0 else None
        if definition is None:
            continue
        outputs, count = facts.decode(node), output_count(definition)
        if count is None:
            count = max(used.get(node, 0), len(enumerated_shapes(definition)[0] or ()))
        for index in range(min(count, MAX_LISTED_OUTPUTS)):
            shape_of[graph.name[node], index] = outputs(str(index)).shape
    return shape_of
