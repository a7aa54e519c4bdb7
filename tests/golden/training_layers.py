"""The ops of each layer of a program, as TensorFlow writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from graphviz_tb.proto import GraphDef

FLOAT, INT, HALF = 1, 3, 19  # DataType


@dataclass(frozen=True)
class Layer:
    """One layer: what it is, what it is called ("" where TensorFlow counts), and what a program sets of it."""

    kind: str
    name: str = ""
    size: int = 8
    kernel: int = 3
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    rate: float = 0.1
    momentum: float = 0.9
    word: str = "Relu"
    lender: int = -1  # the layer whose weights it reads, by place


@dataclass(frozen=True)
class Program:
    """A model and how it is trained; `form` says what its weights are, `counted` how many layers came before."""

    layers: tuple[Layer, ...]
    form: str = "resource"
    optimizer: str = "Adam"
    beta: float = 0.9
    frozen: frozenset[int] = frozenset()
    dtype: int = FLOAT
    batch: int = -1
    width: int = 8
    scope: str = "net"
    loss: str = "mse"
    counted: int = 0
    outputs: int = 1
    traced: bool = False  # ends in `Identity`, as what was traced does
    control: bool = False  # the loss waits for the input


class Writer:
    """A graph that grows. `trained` are the weights: variable, layer, place."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = GraphDef()
        self.trained: list[tuple[str, str, int]] = []
        self.lent: dict[tuple[int, str], str] = {}
        self.place = 0
        self.width = program.width

    def op(self, name: str, kind: str, *inputs: str, **attrs: Any) -> str:
        """Add an op; its name."""
        node = self.graph.node.add(name=name, op=kind, input=inputs)
        for key, value in attrs.items():
            attr = node.attr[key]
            if isinstance(value, list):
                attr.list.i.extend(value)
            elif isinstance(value, tuple):
                for size in value:
                    attr.shape.dim.add(size=size)
            elif key in ("T", "dtype", "DstT"):
                attr.type = value
            else:
                setattr(attr, {int: "i", float: "f", bytes: "s", bool: "b"}[type(value)], value)
        return name

    def constant(self, name: str, value: float, *dims: int) -> str:
        """A tensor of one number, given once."""
        whole = isinstance(value, int)
        tensor = self.graph.node.add(name=name, op="Const").attr["value"].tensor
        tensor.dtype = INT if whole else FLOAT
        (tensor.int_val if whole else tensor.float_val).append(value)
        for size in dims:
            tensor.tensor_shape.dim.add(size=size)
        return name

    def weight(self, scope: str, word: str, *dims: int) -> str:
        """A weight of the layer that is written, or of the one that lends its own; what reads it."""
        lender = self.program.layers[self.place].lender
        name = self.lent.get((lender, word), f"{scope}/{word}")
        if name == f"{scope}/{word}":
            self.lent[self.place, word] = name
            self.trained.append((name, scope, self.place))
            self.variable(name, *dims)
        if self.program.form == "resource":
            self.op(f"{scope}/{word}_read/ReadVariableOp", "ReadVariableOp", name, dtype=FLOAT)
            shape = self.graph.node[-1].attr["_output_shapes"].list.shape.add()
            for size in dims:
                shape.dim.add(size=size)
            return self.graph.node[-1].name
        return self.op(f"{scope}/{word}_read", "Identity", name, T=FLOAT)

    def variable(self, name: str, *dims: int) -> None:
        """What holds a weight, with what sets it first."""
        if self.program.form == "frozen":
            self.constant(name, 0.5, *dims)
            return
        kinds = {"resource": ("VarHandleOp", "AssignVariableOp"), "variable": ("VariableV2", "Assign")}
        made, assigned = kinds[self.program.form]
        self.op(name, made, dtype=FLOAT, shape=dims, shared_name=name.encode())
        zeros = self.constant(f"{name}/Initializer/zeros", 0.0, *dims)
        self.op(f"{name}/Assign", assigned, name, zeros, dtype=FLOAT)


def dense(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """x·w + b."""
    top = net.op(f"{scope}/MatMul", "MatMul", top, net.weight(scope, "kernel", net.width, layer.size), T=FLOAT)
    net.width = layer.size
    return net.op(f"{scope}/BiasAdd", "BiasAdd", top, net.weight(scope, "bias", layer.size), T=FLOAT)


def conv(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A convolution, in blocks where it is dilated, in a function where it is in groups."""
    shape = (layer.kernel, layer.kernel, net.width // layer.groups, layer.size)
    kernel, net.width = net.weight(scope, "kernel", *shape), layer.size
    if layer.dilation > 1:
        block = net.constant(f"{scope}/conv/block_shape", layer.dilation, 2)
        top = net.op(f"{scope}/conv/SpaceToBatchND", "SpaceToBatchND", top, block)
    if layer.groups > 1:
        top = net.op(f"{scope}/call", "PartitionedCall", top, kernel)
        net.graph.node[-1].attr["f"].func.name = "grouped"
        function(net.graph, "grouped", ("inputs", "kernel"), "Conv2D", layer.stride)
    else:
        strides = [1, layer.stride, layer.stride, 1]
        top = net.op(f"{scope}/Conv2D", "Conv2D", top, kernel, strides=strides, padding=b"SAME", T=FLOAT)
    if layer.dilation > 1:
        top = net.op(f"{scope}/conv/BatchToSpaceND", "BatchToSpaceND", top, block)
    return net.op(f"{scope}/BiasAdd", "BiasAdd", top, net.weight(scope, "bias", layer.size), T=FLOAT)


def norm(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A batch normalisation that keeps a mean."""
    epsilon = net.constant(f"{scope}/add/y", layer.rate)
    mean = net.weight(scope, "moving_mean", net.width)
    root = net.op(f"{scope}/Rsqrt", "Rsqrt", net.op(f"{scope}/add", "AddV2", mean, epsilon, T=FLOAT))
    top = net.op(f"{scope}/mul", "Mul", top, root, T=FLOAT)
    if net.program.form != "frozen":
        decay = net.constant(f"{scope}/moving/decay", 1 - layer.momentum)
        step = net.op(f"{scope}/moving/mul", "Mul", top, decay, T=FLOAT)
        net.op(f"{scope}/moving/AssignSub", "AssignSubVariableOp", f"{scope}/moving_mean", step, dtype=FLOAT)
    return net.op(f"{scope}/add_1", "AddV2", top, net.weight(scope, "beta", net.width), T=FLOAT)


def layer_norm(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A normalisation of one layer."""
    mean = net.op(f"{scope}/moments/mean", "Mean", top, net.constant(f"{scope}/moments/axes", 1, 1))
    sub = net.op(f"{scope}/sub", "Sub", top, mean, T=FLOAT)
    added = net.op(f"{scope}/add", "AddV2", sub, net.constant(f"{scope}/e", layer.rate), T=FLOAT)
    return net.op(f"{scope}/Rsqrt", "Rsqrt", added)


def dropout(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """Random numbers above a rate."""
    inner = f"{scope}/stateless_dropout"
    scaled = net.op(f"{inner}/Mul", "Mul", top, net.constant(f"{inner}/scale", 1 / (1 - layer.rate)), T=FLOAT)
    shape = net.op(f"{inner}/Shape", "Shape", top)
    random_numbers = net.op(f"{inner}/random", "StatelessRandomUniformV2", shape, T=INT)
    rate = net.constant(f"{inner}/rate", layer.rate)
    kept = net.op(f"{inner}/GreaterEqual", "GreaterEqual", random_numbers, rate, T=FLOAT)
    return net.op(f"{inner}/SelectV2", "SelectV2", kept, scaled, T=FLOAT)


def act(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """An activation, some of which are made of several ops."""
    if layer.word == "silu":
        return net.op(f"{scope}/mul", "Mul", net.op(f"{scope}/Sigmoid", "Sigmoid", top), top, T=FLOAT)
    if layer.word == "gelu":
        scaled = net.op(f"{scope}/Gelu/div", "RealDiv", top, net.constant(f"{scope}/Gelu/c", 1.4142), T=FLOAT)
        added = net.op(f"{scope}/Gelu/add", "AddV2", net.op(f"{scope}/Gelu/Erf", "Erf", scaled), top, T=FLOAT)
        return net.op(f"{scope}/Gelu/mul", "Mul", added, top, T=FLOAT)
    attrs = {"alpha": layer.rate} if layer.word == "LeakyRelu" else {}
    return net.op(f"{scope}/{layer.word}", layer.word, top, **attrs)


def embedding(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """Rows of a table."""
    rows, net.width = net.op(f"{scope}/Cast", "Cast", top, DstT=INT), layer.size
    table = net.weight(scope, "table", 10 * layer.kernel, layer.size)
    return net.op(f"{scope}/GatherV2", "GatherV2", table, rows)


def attention(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """Queries, keys and values of several heads."""
    parts = []
    for word in ("query", "key", "value"):
        weight = net.weight(f"{scope}/{word}", "kernel", net.width, layer.kernel, layer.size)
        parts.append(net.op(f"{scope}/{word}/Einsum", "Einsum", top, weight, equation=b"abc,cde->abde"))
    product = net.op(f"{scope}/einsum/Einsum", "Einsum", *parts)
    weight = net.weight(f"{scope}/output", "kernel", layer.kernel, layer.size, net.width)
    return net.op(f"{scope}/output/Einsum", "Einsum", product, weight)


def up(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """An image scaled to a size that is computed, or known where the batch is."""
    if net.program.batch < 0:
        size = net.op(f"{scope}/strided_slice", "StridedSlice", net.op(f"{scope}/Shape", "Shape", top), T=INT)
        size = net.op(f"{scope}/mul", "Mul", size, net.constant(f"{scope}/Const", layer.kernel, 2), T=INT)
    else:
        size = net.constant(f"{scope}/mul", layer.kernel * net.program.batch, 2)
    return net.op(f"{scope}/resize", "ResizeNearestNeighbor", top, size, T=FLOAT)


def lstm(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A loop whose body is a function."""
    own = net.weight(scope, "recurrent_kernel", layer.size, 4 * layer.size)
    taken = net.weight(scope, "kernel", net.width, 4 * layer.size)
    shape = net.op(f"{scope}/TensorListReserve", "TensorListReserve", net.constant(f"{scope}/num", layer.size, 1))
    top = net.op(f"{scope}/while", "While", top, own, taken, shape)
    for word in ("body", "cond"):
        net.graph.node[-1].attr[word].func.name = f"{scope.replace('/', '_')}_{word}_{net.program.counted}"
        function(net.graph, f"{scope.replace('/', '_')}_{word}_{net.program.counted}", ("a", "b"), "Sigmoid", 1)
    net.width = layer.size
    return net.op(f"{scope}/strided_slice", "StridedSlice", top, T=FLOAT)


def call(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A function of the program."""
    name = f"__inference_step_{100 + net.program.counted + net.place}"
    function(net.graph, name, ("inputs", "unknown"), layer.word.title(), layer.kernel)
    net.op(f"{scope}/StatefulPartitionedCall", "StatefulPartitionedCall", top, net.weight(scope, "w", net.width))
    net.graph.node[-1].attr["f"].func.name = name
    return f"{scope}/StatefulPartitionedCall"


def legacy(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A call whose op type is the name of a function, as TensorFlow 1 wrote them."""
    name = f"Defun_{layer.kernel}"
    function(net.graph, name, ("inputs",), "Square", layer.size)
    return net.op(f"{scope}/{name}", name, top)


def residual(net: Writer, scope: str, layer: Layer, top: str) -> str:
    """A block around which its input goes."""
    inner = dense(net, f"{scope}/dense", replace(layer, size=net.width), top)
    return net.op(f"{scope}/add", "AddV2", act(net, f"{scope}/act", layer, inner), top, T=FLOAT)


def function(graph: Any, name: str, inputs: tuple[str, ...], kind: str, number: int) -> None:
    """A function of two ops."""
    if any(known.signature.name == name for known in graph.library.function):
        return
    made = graph.library.function.add()
    made.signature.name = name
    for argument in inputs:
        made.signature.input_arg.add(name=argument, type=FLOAT)
    made.signature.output_arg.add(name="given", type=FLOAT)
    made.node_def.add(name=kind, op=kind, input=inputs).attr["number"].i = number
    made.node_def.add(name="Identity", op="Identity", input=[f"{kind}:output:0"])
    made.ret["given"] = "Identity:output:0"


WRITERS: dict[str, Callable[[Writer, str, Layer, str], str]] = {
    "dense": dense, "conv": conv, "norm": norm, "layer_norm": layer_norm, "dropout": dropout, "act": act,
    "embedding": embedding, "attention": attention, "up": up, "lstm": lstm, "call": call, "legacy": legacy,
    "residual": residual,
}  # fmt: skip
