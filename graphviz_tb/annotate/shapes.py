"""Shapes and dtypes of a node's outputs as the file declares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from itertools import count

from graphviz_tb.graphs.tensors import declared_shapes, output_dtype_lookup
from graphviz_tb.limits import MAX_CACHED_DEFINITION_BYTES
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import COLOCATION_ATTR, Call, Graph, parse_output_number
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.tensors import Shape, ShapeOrigin, Tensor, dtype_name, shape_from_proto, size_names
from graphviz_tb.ops.roles import UNKNOWN_AS_SCALAR_OPS, VARIABLE_OPS, VARIABLE_READ_OPS
from graphviz_tb.ops.signatures import OutputDef, lists_shapes, op_def, shape_attribute
from graphviz_tb.proto import NodeDef


def output_index(definition: NodeDef, key: str) -> int:
    """Return the position of an output: 2 for "2"; in functions, "output:2" is the third item of the list `output`.

    >>> from graphviz_tb.proto import NodeDef
    >>> output_index(NodeDef(op="Split"), "output:1"), output_index(NodeDef(op="FusedBatchNormV3"), "batch_mean:0")
    (1, 1)
    """
    name, _, number = key.rpartition(":")
    if not name:
        return parse_output_number(number)
    known = op_def(definition.op)
    outputs = known.outputs if known is not None else ()
    names = [output.name for output in outputs]
    # For an unknown output name, the position is the number.
    before = outputs[: names.index(name)] if name in names else ()
    return sum(_output_list_length(definition, output) for output in before) + parse_output_number(number)


def _output_list_length(definition: NodeDef, output: OutputDef) -> int:
    """Return the number of outputs of an entry of the op's definition.

    >>> from graphviz_tb.proto import NodeDef
    >>> split = op_def("Split").outputs[0]
    >>> (
    ...     _output_list_length(NodeDef(attr={"num_split": {"i": 3}}), split),
    ...     _output_list_length(NodeDef(attr={"num_split": {"i": -3}}), split),
    ... )
    (3, 0)
    """
    attr = output.counted_by or (output.attr if output.several else "")
    if not attr:
        return 1
    if attr in definition.attr:
        # The attribute is a list of dtypes, one per output, or the number of outputs, which a file may state as -1.
        value = definition.attr[attr]
        return len(value.list.type) if value.HasField("list") else max(0, int(value.i))
    known = op_def(definition.op)
    default = known.defaults.get(attr) if known is not None else None
    return len(default) if isinstance(default, list) else int(default or 0)


def output_count(definition: NodeDef) -> int | None:
    """Return the number of outputs of a node; None for an op that TensorFlow does not know."""
    known = op_def(definition.op)
    return None if known is None else sum(_output_list_length(definition, output) for output in known.outputs)


class DefinitionNumbers:
    """Numbers for distinct definitions (op type and attributes, without name, inputs, device and colocation). A
    training graph of thousands of nodes has a few hundred.

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
        for part in ("name", "input", "device"):
            bare.ClearField(part)
        if COLOCATION_ATTR in bare.attr:  # `pop` would add it first
            del bare.attr[COLOCATION_ATTR]
        return self._number_message(bare)


def keras_layer_nodes(graph: Graph) -> dict[int, Layer]:
    """Return the nodes that are Keras layers: all nodes of a graph of layers, none of any other graph."""
    named = ((graph.index[0].get(name, -1), layer) for name, layer in graph.layers.items())
    return {node: layer for node, layer in named if node >= 0 and graph.op_types[graph.op[node]] == layer.class_name}


TensorLookup = Callable[[str], Tensor]
LAST_VERSION_WITHOUT_UNKNOWN = 21  # the last version of graphs that cannot declare an unknown shape


@dataclass(frozen=True, slots=True)
class SingleCalls:
    """Calls of a single function whose results are those of the call, by node, with caches of `_call_result_tensor` and
    `_function_result_tensor`."""

    by_node: Mapping[int, Call]
    known: dict[tuple[int, int], Tensor | None] = field(default_factory=dict)
    makers: dict[int, ResultMaker] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultMaker:
    """Shapes and dtypes that a node states for its outputs, cached: it may compute thousands of results."""

    shapes: list[Shape] | None
    dtypes: Callable[[int], str]

    def output_tensor(self, index: int) -> Tensor:
        return Tensor(self.shapes[index] if self.shapes and index < len(self.shapes) else None, self.dtypes(index))


def tensor_lookup(graph: Graph, node: int, calls: SingleCalls) -> TensorLookup:
    """Return a lookup from an output key of `node` to its tensor; `calls` are those of `find_single_calls`.

    The shape comes from `_output_shapes`, else from the op's own attribute (for a read of a variable, that of its
    handle), else from a function: its signature, or the node that computes the result of a call.
    """
    definition = graph.node_def(node)
    if definition is None:
        return argument_tensor_lookup(graph, node)
    shapes, origin = (None, "") if has_ambiguous_shape(graph, definition) else _listed_shapes(definition)
    # TensorFlow writes the shape of a variable only at its handle.
    if shapes is None and definition.op in VARIABLE_READ_OPS:
        shapes, origin = [_read_variable_shape(graph, node)], "stated"
    dtypes = output_dtype_lookup(definition)
    messages = definition.attr["_output_shapes"].list.shape if origin == "declared" else ()

    def lookup(key: str) -> Tensor:
        index = output_index(definition, key)
        shape = shapes[index] if shapes is not None and index < len(shapes) else None
        if shape is not None:
            names = size_names(messages[index]) if None in shape and index < len(messages) else ()
            return Tensor(shape, dtypes(index), origin, names=names)
        # A list of shapes may declare this one unknown; without a list, the called function may have it.
        result = _call_result_tensor(graph, calls, node, index) if shapes is None else None
        if result is None:
            return Tensor(None, dtypes(index))
        return Tensor(result.shape, dtypes(index) or result.dtype, "signature" if result.shape is not None else "")

    return lookup


def _listed_shapes(definition: NodeDef) -> tuple[list[Shape] | None, ShapeOrigin]:
    """Return the shapes of all outputs as the node itself states them, and their origin."""
    shapes, origin = enumerated_shapes(definition)
    if shapes is not None:
        return shapes, origin
    stated = _stated_shape(definition)
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


def _read_variable_shape(graph: Graph, node: int) -> Shape:
    """Return the shape of the variable that `node` reads, as its handle states it."""
    # The handle is input 0, the first edge of the run.
    edge, stop = sorted_value_range(graph.target, node, node + 1)
    if edge == stop:
        return None
    handle = graph.node_def(int(graph.source[edge]))
    if handle is None or handle.op not in VARIABLE_OPS or "shape" not in handle.attr:
        return None
    return shape_from_proto(handle.attr["shape"].shape)


def _call_result_tensor(graph: Graph, calls: SingleCalls, node: int, index: int) -> Tensor | None:
    """Return the tensor at output `index` of a call of one function; None if `node` is not such a call.

    Calls in calls are followed; results of recursive calls are unknown.
    """
    result = None
    entered_calls = []
    # Each round enters a call: from its output to the node and output in the body that are its result.
    while node in calls.by_node:
        if (node, index) in calls.known:
            result = calls.known[node, index]
            break
        entered_calls.append((node, index))
        calls.known[node, index] = None  # so that a cycle ends
        inner = _function_result_tensor(graph, calls.by_node[node].function, index, calls.makers)
        if inner is None:
            result = None
            break
        node, index, result = inner
        # Stop at an argument, and at a result whose shape the file declares.
        if node < 0 or result.shape is not None:
            break
    # All calls on the way have this result.
    calls.known.update(dict.fromkeys(entered_calls, result))
    return result


def _function_result_tensor(
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
        makers[node] = ResultMaker(_listed_shapes(definition)[0], output_dtype_lookup(definition))
    output = output_index(definition, key)
    return node, output, makers[node].output_tensor(output)


def find_single_calls(graph: Graph) -> SingleCalls:
    """Return the calls whose results are those of their only function, by node."""
    # "": the op type is the function; "f": PartitionedCall and similar ops. If and Case have other attributes.
    return SingleCalls({call.node: call for call in graph.calls if call.bodies == 1 and call.attr in ("", "f")})


def has_ambiguous_shape(graph: Graph, definition: NodeDef) -> bool:
    """Return whether the shape of a placeholder may be unknown: old programs wrote unknown shapes as scalars."""
    if (
        definition.op not in UNKNOWN_AS_SCALAR_OPS
        or not 0 < graph.graph_def.versions.producer <= LAST_VERSION_WITHOUT_UNKNOWN
    ):
        return False
    return "_output_shapes" not in definition.attr and not _stated_shape(definition)


def _stated_shape(definition: NodeDef) -> Shape:
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
    names: tuple[str, ...] = ()
    if index in message.arg_attr:
        attr = message.arg_attr[index].attr
        if "_output_shapes" in attr and attr["_output_shapes"].list.shape:
            shape = shape_from_proto(attr["_output_shapes"].list.shape[0])
            names = size_names(attr["_output_shapes"].list.shape[0])
        elif "_user_specified_shape" in attr:
            shape = shape_from_proto(attr["_user_specified_shape"].shape)
    tensor = Tensor(shape, dtype, "signature" if shape is not None else "", names=names)
    return lambda key: tensor
