"""Shapes and dtypes of a node's outputs as the file declares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphviz_tb.algorithms.output_dtypes import output_dtype_lookup
from graphviz_tb.annotate.outputs import output_index
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.dtypes import dtype_name
from graphviz_tb.model.graph import Call, Graph
from graphviz_tb.model.tensors import Shape, ShapeOrigin, Tensor, shape_from_proto
from graphviz_tb.ops.outputs import lists_shapes, shape_attribute
from graphviz_tb.ops.roles import UNKNOWN_AS_SCALAR_OPS, VARIABLE_OPS, VARIABLE_READ_OPS

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

TensorLookup = Callable[[str], Tensor]
LAST_VERSION_WITHOUT_UNKNOWN = 21  # the last version of graphs without a way to declare an unknown shape


@dataclass(frozen=True, slots=True)
class SingleCalls:
    """Calls whose results are those of their one function, by node; `known` are results that were followed to their
    end, `makers` the nodes that make them."""

    by_node: Mapping[int, Call]
    known: dict[tuple[int, int], Tensor | None] = field(default_factory=dict)
    makers: dict[int, ResultMaker] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultMaker:
    """Shapes and dtypes that a node states for its outputs, read once: it may make thousands of results."""

    shapes: list[Shape] | None
    dtypes: Callable[[int], str]

    def output_tensor(self, index: int) -> Tensor:
        """Return the tensor of one output."""
        return Tensor(self.shapes[index] if self.shapes and index < len(self.shapes) else None, self.dtypes(index))


def tensor_lookup(graph: Graph, node: int, calls: SingleCalls) -> TensorLookup:
    """Return a lookup from an output key of `node` to its tensor; `calls` are those of `find_single_calls`.

    The shape is that of `_output_shapes`, else of the op's own attribute (for a read of a variable, that of its
    handle), else of a function: from its signature, or from the node that makes the result of a call.
    """
    definition = graph.node_def(node)
    if definition is None:
        return argument_tensor_lookup(graph, node)
    shapes, origin = (None, "") if has_ambiguous_shape(graph, definition) else listed_shapes(definition)
    # TensorFlow writes the shape of a variable only at its handle.
    if shapes is None and definition.op in VARIABLE_READ_OPS:
        shapes, origin = [read_variable_shape(graph, node)], "stated"
    dtypes = output_dtype_lookup(definition)

    def lookup(key: str) -> Tensor:
        index = output_index(definition, key)
        shape = shapes[index] if shapes is not None and index < len(shapes) else None
        if shape is not None:
            return Tensor(shape, dtypes(index), origin)
        # A list with a gap declares the shape unknown; without a list the function may have one.
        made = call_result_tensor(graph, calls, node, index) if shapes is None else None
        if made is None:
            return Tensor(None, dtypes(index))
        return Tensor(made.shape, dtypes(index) or made.dtype, "signature" if made.shape is not None else "")

    return lookup


def listed_shapes(definition: NodeDef) -> tuple[list[Shape] | None, ShapeOrigin]:
    """Return the shapes of all outputs as the node itself states them, and their origin."""
    shapes, origin = enumerated_shapes(definition)
    if shapes is not None:
        return shapes, origin
    stated = stated_shape(definition)
    return (None if stated is None else [stated]), "stated"


def enumerated_shapes(definition: NodeDef) -> tuple[list[Shape] | None, ShapeOrigin]:
    """Return the shapes of all outputs if an attribute lists them, and their origin."""
    shapes = declared_shapes(definition)
    if shapes is not None:
        return shapes, "declared"
    if lists_shapes(definition.op) and "output_shapes" in definition.attr:
        shapes = [shape_from_proto(shape) for shape in definition.attr["output_shapes"].list.shape]
        return (shapes, "stated") if shapes else (None, "")
    return None, ""


def read_variable_shape(graph: Graph, node: int) -> Shape:
    """Return the shape of the variable that `node` reads, as its handle states it."""
    # The handle is input 0, the first edge of the run.
    edge, stop = sorted_value_range(graph.target, node, node + 1)
    if edge == stop:
        return None
    handle = graph.node_def(int(graph.source[edge]))
    if handle is None or handle.op not in VARIABLE_OPS or "shape" not in handle.attr:
        return None
    return shape_from_proto(handle.attr["shape"].shape)


def call_result_tensor(graph: Graph, calls: SingleCalls, node: int, index: int) -> Tensor | None:
    """Return the tensor at output `index` of a call of one function; None if `node` is no such call.

    Calls in calls are followed; results of recursive calls are unknown.
    """
    result = None
    passed = []
    # Each round goes one call inwards: node, output ─▶ the node and output that make that result in the body.
    while node in calls.by_node:
        if (node, index) in calls.known:
            result = calls.known[node, index]
            break
        passed.append((node, index))
        calls.known[node, index] = None  # so that a cycle ends
        inner = function_result_tensor(graph, calls.by_node[node].function, index, calls.makers)
        result = inner[2] if inner else None
        # Stop at an argument, and at a result whose shape the file declares.
        if inner is None or inner[0] < 0 or inner[2].shape is not None:
            break
        node, index, _ = inner
    # All calls on the way have this result.
    calls.known.update(dict.fromkeys(passed, result))
    return result


def function_result_tensor(
    graph: Graph, function: int, index: int, makers: dict[int, ResultMaker]
) -> tuple[int, int, Tensor] | None:
    """Return the source of a function's result: node, output, and the tensor as declared in the file; node -1 for an
    argument that is passed through; None if there is no such result."""
    returns = graph.functions[function].returns
    if index >= len(returns) or returns[index][0] < 0:
        return None
    node, key = returns[index]
    definition = graph.node_def(node)
    if definition is None:
        return -1, 0, argument_tensor_lookup(graph, node)(key)
    if node not in makers:
        makers[node] = ResultMaker(listed_shapes(definition)[0], output_dtype_lookup(definition))
    output = output_index(definition, key)
    return node, output, makers[node].output_tensor(output)


def find_single_calls(graph: Graph) -> SingleCalls:
    """Return the calls whose results are those of their one function, by node."""
    # "": the op type is the function; "f": PartitionedCall and the like. If and Case use different attributes.
    return SingleCalls({call.node: call for call in graph.calls if call.bodies == 1 and call.attr in ("", "f")})


def has_ambiguous_shape(graph: Graph, definition: NodeDef) -> bool:
    """Return whether a placeholder's shape means "unknown": old programs wrote unknown shapes like scalar shapes."""
    if (
        definition.op not in UNKNOWN_AS_SCALAR_OPS
        or not 0 < graph.graph_def.versions.producer <= LAST_VERSION_WITHOUT_UNKNOWN
    ):
        return False
    return "_output_shapes" not in definition.attr and not stated_shape(definition)


def declared_shapes(definition: NodeDef) -> list[Shape] | None:
    """Return the shapes in `_output_shapes`, or None if there is no list."""
    if "_output_shapes" not in definition.attr:
        return None
    value = definition.attr["_output_shapes"]
    if not value.HasField("list"):
        return None
    return [shape_from_proto(shape) for shape in value.list.shape]


def stated_shape(definition: NodeDef) -> Shape:
    """Return the shape in the op's own attribute, or None."""
    attr = shape_attribute(definition.op)
    if attr not in definition.attr:
        return None
    value = definition.attr[attr]
    if value.HasField("tensor"):
        return shape_from_proto(value.tensor.tensor_shape)
    return shape_from_proto(value.shape) if value.HasField("shape") else None


def argument_tensor_lookup(graph: Graph, node: int) -> TensorLookup:
    """Return a lookup of the tensor of a function's argument, from the signature and the argument's attributes."""
    function = graph.functions[int(graph.function[node])]
    index = function.argument_position(node)
    message = graph.graph_def.library.function[function.index]
    dtype = dtype_name(message.signature.input_arg[index].type)
    shape: Shape = None
    if index in message.arg_attr:
        attr = message.arg_attr[index].attr
        if "_output_shapes" in attr and attr["_output_shapes"].list.shape:
            shape = shape_from_proto(attr["_output_shapes"].list.shape[0])
        elif "_user_specified_shape" in attr:
            shape = shape_from_proto(attr["_user_specified_shape"].shape)
    tensor = Tensor(shape, dtype, "signature" if shape is not None else "")
    return lambda key: tensor
