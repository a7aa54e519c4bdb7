"""Infer the layer class of the ops of one scope from what they compute, not from names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from graphviz_tb.graphs.tensors import first_elements
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    EMBEDDING_OPS,
    MATRIX_PRODUCT_OPS,
    Role,
    has_role,
)

MEAN_REMOVING_OPS = frozenset({"SquaredDifference", "Sub", "Neg"})  # subtract the mean before squaring
ROOT_OPS = frozenset({"Rsqrt", "Sqrt"})
DENSE_OPS = (MATRIX_PRODUCT_OPS - BATCH_PRODUCT_OPS) | {"Einsum"}
THRESHOLD_OPS = frozenset(
    {"GreaterEqual", "Greater", "LessEqual", "Less", "Floor"}
)  # compare random numbers with the dropout rate
MAX_MEAN_AXES = 8
RECURRENT_ROLES = (Role.LOOP, Role.COUNTED_LOOP, Role.FRAME_NEXT, Role.CALL)  # run the steps of a recurrent layer
CLASS_BY_GATE_COUNT = {3: "GRU", 4: "LSTM"}  # by number of gates, one matrix each
ACTIVATION_OPS = ("Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Tanh", "Sigmoid", "Softplus", "Softsign", "Softmax")
# Activations that TensorFlow and exporters write as several ops.
COMPOSED_ACTIVATIONS = {
    frozenset({"Sigmoid", "Mul"}): "Silu",
    frozenset({"Softplus", "Tanh", "Mul"}): "Mish",
    frozenset({"Erfc", "Mul", "Neg"}): "Gelu",
    frozenset({"Erf", "Mul", "AddV2", "RealDiv"}): "Gelu",
    frozenset({"Erf", "Mul", "Add", "Div"}): "Gelu",
    frozenset({"Tanh", "Pow", "Mul", "AddV2"}): "Gelu",
    frozenset({"Relu6", "AddV2", "Mul"}): "HardSigmoid",
    frozenset({"Relu6", "AddV2", "RealDiv"}): "HardSigmoid",
}


def infer_layer_class(graph: Graph, nodes: Sequence[int]) -> str:
    """Return the layer class of the ops of one layer, "" if unknown."""
    types = {graph.op_types[graph.op[node]] for node in nodes}
    if any(has_role(op, *RECURRENT_ROLES) for op in types):
        weights = (graph.meaning.weights.get(node) for node in nodes)
        shapes = [sizes for weight in weights if weight is not None and (sizes := known_sizes(weight.shape))]
        if kind := infer_recurrent_layer(shapes)[0]:
            return kind
    if types & EMBEDDING_OPS and not any(_looks_up_weight(graph, node) for node in nodes):
        types -= EMBEDDING_OPS
    return _layer_class_of_types(types, _mean_axes(graph, nodes))


def _looks_up_weight(graph: Graph, node: int) -> bool:
    """Return whether an op looks up rows of a weight, not of a computed tensor."""
    if graph.op_types[graph.op[node]] not in EMBEDDING_OPS:
        return False
    known, origin = graph.meaning.weights, graph.meaning.origin
    sources = graph.source[slice(*sorted_value_range(graph.target, node, node + 1))].tolist()
    return any(source in known or origin[source] >= 0 for source in sources)


def known_sizes(shape: Shape) -> tuple[int, ...]:
    """Return a shape if all its sizes are known and not 0; else ().

    >>> known_sizes((3, 4)), known_sizes((None, 4)), known_sizes(None)
    ((3, 4), (), ())
    """
    sizes = tuple(size for size in shape or () if size)
    return sizes if shape is not None and len(sizes) == len(shape) else ()


def infer_recurrent_layer(shapes: Iterable[Sequence[int]]) -> tuple[str, int]:
    """Infer the class and the units of a recurrent layer from the shapes of its weights; "" and 0 for none.

    One matrix has the shape (units, gates · units), and at least one more has as many columns.

    >>> infer_recurrent_layer([(16, 48), (16, 48), (2, 48)]), infer_recurrent_layer([(9, 64), (16, 64)])
    (('GRU', 16), ('LSTM', 16))
    >>> infer_recurrent_layer([(4, 12)])
    ('', 0)
    """
    matrices = [shape for shape in shapes if len(shape) == 2]
    columns = Counter(shape[1] for shape in matrices)
    for rows, width in reversed(matrices):
        for gates, kind in CLASS_BY_GATE_COUNT.items() if rows and columns[width] > 1 else ():
            if width == gates * rows:
                return kind, rows
    return "", 0


NORMALIZATIONS = {  # by a word in the op type; without one, it is a batch normalization
    "rms": "RMSNormalization", "simplified": "RMSNormalization", "layer": "LayerNormalization",
    "group": "GroupNormalization", "instance": "InstanceNormalization", "l2": "UnitNormalization",
}  # fmt: skip


def find_activation(types: Collection[str]) -> str:
    """Return the activation among ops of these types, as Keras writes it; "" for none.

    >>> (
    ...     find_activation(["MatMul", "BiasAdd", "Relu"]),
    ...     find_activation(["MatMul", "Sigmoid", "Mul"]),
    ...     find_activation(["MatMul"]),
    ... )
    ('relu', 'silu', '')
    """
    types = frozenset(types)
    for parts, word in sorted(COMPOSED_ACTIVATIONS.items(), key=lambda pair: -len(pair[0])):
        if parts <= types:
            return word.lower()
    return next((word.lower() for word in ACTIVATION_OPS if word in types), "")


def _mean_axes(graph: Graph, nodes: Sequence[int]) -> Sequence[int]:
    """Return the axes of the first mean among some nodes; the last axis if they are unknown."""
    for node in nodes:
        if graph.op_types[graph.op[node]] == "Mean":
            for source in graph.source[slice(*sorted_value_range(graph.target, node, node + 1))].tolist():
                definition = graph.node_def(source)
                if definition is not None and definition.op in CONSTANT_OPS:
                    axes = first_elements(definition.attr["value"].tensor, MAX_MEAN_AXES)
                    return [axis for axis in axes if isinstance(axis, int)] or [-1]
    return [-1]


def _layer_class_of_types(types: Collection[str], axes: Sequence[int] = (-1,)) -> str:
    """Return the layer class of ops of these types, "" if unknown; `axes` are the dimensions of their mean.

    >>> _layer_class_of_types(["MatMul", "BiasAdd", "Relu"]), _layer_class_of_types(["Mul", "AddV2"])
    ('Dense', '')
    >>> (
    ...     _layer_class_of_types(["Mean", "SquaredDifference", "Rsqrt", "Mul"]),
    ...     _layer_class_of_types(["Square", "Mean", "Rsqrt", "Mul"]),
    ... )
    ('LayerNormalization', 'RMSNormalization')
    >>> _layer_class_of_types(["Mean", "SquaredDifference", "Rsqrt", "Mul"], [0, 1, 2])
    'BatchNormalization'
    >>> _layer_class_of_types(["onnx::LayerNormalization"]), _layer_class_of_types(["FusedBatchNormV3"])
    ('LayerNormalization', 'BatchNormalization')
    >>> [_layer_class_of_types(["RandomUniform", op, "Mul"]) for op in ("GreaterEqual", "Round")]
    ['Dropout', '']
    """
    types = frozenset(types)
    if norms := sorted(op.lower() for op in types if has_role(op, Role.NORMALIZATION)):
        return next((kind for word, kind in NORMALIZATIONS.items() if word in norms[0]), "BatchNormalization")
    if types & CONVOLUTION_OPS:
        return _convolution_class(types)
    if types & ROOT_OPS and "Mul" in types:
        return _normalization_class(types, axes)
    if types & DENSE_OPS:
        return "Dense"
    if types & EMBEDDING_OPS:
        return "Embedding"
    is_random = any(op.startswith(("StatelessRandom", "RandomUniform")) for op in types)
    return "Dropout" if is_random and types & {"SelectV2", "Mul"} and types & THRESHOLD_OPS else ""


def _convolution_class(types: Collection[str]) -> str:
    wide = sorted(op for op in types if op in CONVOLUTION_OPS - DEPTHWISE_OPS)
    if not wide:
        return "DepthwiseConv2D"
    return "SeparableConv2D" if any(op in DEPTHWISE_OPS for op in types) else wide[0]


def _normalization_class(types: Collection[str], axes: Sequence[int]) -> str:
    """Return the class of a normalization, by the moments that it computes or stores."""
    # The mean of a batch is over the first axis, or stored.
    if "Mean" not in types or 0 in axes or any(has_role(op, Role.ASSIGN) for op in types):
        return "BatchNormalization" if "Mean" in types or "Sub" in types else ""
    if not MEAN_REMOVING_OPS & frozenset(types):
        return "RMSNormalization"
    return "GroupNormalization" if len(axes) > 1 else "LayerNormalization"
