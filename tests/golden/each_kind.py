"""Each op type that says something of an op's part in a program, at the same few places; Keras models, leaf by leaf."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training_layers import FLOAT, INT, Program, Writer

MODELS = Path(__file__).parents[2] / "fixtures" / "models"
# Ops of arithmetic with sizes, of weights and their savers, of activations, layers, lists, loops, summaries, gradients.
OPS = [
    "AddV2", "BroadcastArgs", "BroadcastTo", "Cast", "ConcatV2", "Equal", "ExpandDims", "Fill", "FloorDiv",
    "FloorMod", "GatherV2", "GreaterEqual", "Less", "Max", "Maximum", "Min", "Minimum", "Mul", "Neg", "Pack", "Pow",
    "Prod", "Range", "Rank", "RealDiv", "Reshape", "SelectV2", "Shape", "ShapeN", "Size", "Slice", "Squeeze",
    "StridedSlice", "Sub", "Tile", "Transpose", "ResizeBilinear", "ResizeNearestNeighbor", "RandomUniform",
    "StatelessRandomUniformV2", "Const", "HostConst", "ImmutableConst", "Placeholder", "PlaceholderV2",
    "PlaceholderWithDefault", "VarHandleOp", "Variable", "VariableV2", "ReadVariableOp", "Identity", "IdentityN",
    "Dequantize", "_Arg", "Assign", "AssignVariableOp", "AssignAddVariableOp", "ResourceApplyAdam", "ApplyMomentum",
    "ResourceSparseApplyAdagrad", "ScatterUpdate", "SaveV2", "RestoreV2", "MergeV2Checkpoints", "ShardedFilename",
    "NoOp", "InitializeTableV2", "LookupTableImportV2", "VarIsInitializedOp", "IsVariableInitialized", "Conv2D",
    "Conv3D", "DepthwiseConv2dNative", "_FusedConv2D", "MatMul", "BatchMatMul", "BatchMatMulV2", "Einsum",
    "SparseMatMul", "QuantizedConv2D", "FusedBatchNormV3", "Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Tanh",
    "Sigmoid", "Softplus", "Softsign", "Softmax", "LogSoftmax", "Erf", "Erfc", "MaxPool", "AvgPool", "Gather",
    "ResourceGather", "EmbeddingLookup", "CudnnRNN", "Rsqrt", "Sqrt", "SpaceToBatchND", "BatchToSpaceND",
    "TensorListReserve", "TensorListFromTensor", "TensorListStack", "EmptyTensorList", "StackV2", "Enter", "Exit",
    "Switch", "Merge", "While", "ScalarSummary", "MergeSummary", "WriteScalarSummary", "SummaryWriter", "ReluGrad",
    "Conv2DBackpropFilter", "Conv2DBackpropInput", "SymbolicGradient", "MaxPoolGradV2", "Mean", "Sum", "Custom",
    "aten::relu",
]  # fmt: skip
EDITS = ("values", "without", "type")
LEAVES = 12  # of each Keras model


def with_op(kind: str, edit: str) -> Any:
    """x ─▶ m/a ─▶ an op, of sizes too ─▶ m/b ─▶ its gradient; the same op of a weight, of a gradient, by itself."""
    net = Writer(Program(()))
    small, half = (3, 0.25) if edit == "values" else (2, 0.5)
    net.variable("w", 4, 4)
    top = net.op("m/a/MatMul", "MatMul", net.op("x", "Placeholder", dtype=FLOAT), net.op("m/a/Read", "Identity", "w"))
    sizes = [net.constant(f"m/sizes/c{number}", small, *([2] * (number > 0))) for number in range(3)]
    rate = net.constant("m/rate/alpha", half)
    inputs = ([top, sizes[1]], [sizes[0], top], [top, rate], sizes[:2], [top, top, sizes[2]])
    ends = [part(net, f"m/op{number}/part", kind, taken, edit) for number, taken in enumerate(inputs)]
    top = net.op("m/b/Relu", "Relu", net.op("m/b/MatMul", "MatMul", net.op("m/rate/mul", "Mul", top, rate), *ends))
    flow = net.op("gradients/m/b/ReluGrad", "ReluGrad", net.op("loss", "Mean", top), top)
    for place, taken in {"w/side": ["w"], "gradients/more": [flow], "alone": [top], "opt/step": ["w", flow]}.items():
        net.op(place, kind, *taken, T=FLOAT, dtype=FLOAT)
    net.op("opt/update", "ResourceApplyAdam", "w", flow, net.constant("opt/rate", half))
    return net.graph


def part(net: Writer, name: str, kind: str, inputs: list[str], edit: str) -> str:
    """An op with some inputs; the first of these where there is no op."""
    dtype = FLOAT if edit == "type" else INT
    return inputs[0] if edit == "without" else net.op(name, kind, *inputs, T=dtype, dtype=dtype)


def op_pairs(kind: str) -> Iterator[tuple[Any, Any]]:
    """The graph with ops of a type, and what it is without them, with other settings, with other types of numbers."""
    old = with_op(kind, "")
    yield from ((old, with_op(kind, edit)) for edit in EDITS)


KERAS = sorted(path.relative_to(MODELS).as_posix() for path in MODELS.glob("*/*.json") if path.stem != "truth")


def keras_pairs(name: str) -> Iterator[tuple[bytes, bytes]]:
    """A Keras model, and the same where one leaf of its configuration is another."""
    text = (MODELS / name).read_text()
    luck = random.Random(name)
    for number in luck.sample(range(len(list(leaves(json.loads(text))))), LEAVES):
        made = json.loads(text)
        around, key = list(leaves(made))[number]
        around[key] = otherwise(around[key])
        yield text.encode(), json.dumps(made).encode()


def leaves(model: Any) -> Iterator[tuple[Any, Any]]:
    """Every value that is no list and no object, as what it is in and its key there."""
    waiting = [model]
    while waiting:
        around = waiting.pop()
        for key, value in list(around.items() if isinstance(around, dict) else enumerate(around)):
            if isinstance(value, dict | list):
                waiting.append(value)
            elif key not in ("module", "registered_name"):
                yield around, key


def otherwise(value: Any) -> Any:
    """Another value of the type."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return 2
    return value + 1 if isinstance(value, int | float) else f"{value}_other"
