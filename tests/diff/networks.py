"""Small networks from seeds, to be built again with one thing changed: another batch, width, prefix, counters, form."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphviz_tb.proto import GraphDef

FLOAT, RESOURCE = 1, 20
ACTIVATIONS = ("Relu", "Elu", "Selu", "Tanh", "Sigmoid", "Softplus")
EDITS = ("activation", "epsilon", "insert", "remove", "scale", "axis")


@dataclass(frozen=True)
class Form:
    """How a network is written: none of this is an edit of a block."""

    batch: int | None = None
    size: int = 12
    width: int = 8
    prefix: str = ""
    counter: int = 0  # where TensorFlow had got to when it named the layers
    order: int = 0  # a seed; 0: as built
    frozen: bool = False
    function: bool = False  # the last block is a function that is called


@dataclass
class Blocks:
    """The blocks of a network: what somebody wrote."""

    activation: list[str] = field(default_factory=list)
    epsilon: list[float] = field(default_factory=list)
    scale: list[float] = field(default_factory=list)
    axis: list[int] = field(default_factory=list)
    extra: dict[int, str] = field(default_factory=dict)  # an op behind the activation
    without: set[int] = field(default_factory=set)  # blocks without their scale


def blocks_of(seed: int) -> Blocks:
    """Two to four blocks."""
    luck = random.Random(seed)
    count = luck.randint(2, 4)
    return Blocks(
        [luck.choice(ACTIVATIONS) for _ in range(count)],
        [luck.choice((1e-3, 1e-5)) for _ in range(count)],
        [luck.choice((0.5, 0.125, 2.0)) for _ in range(count)],
        [-1] * count,
    )


def edited(blocks: Blocks, kind: str, block: int, luck: random.Random) -> tuple[str, str]:
    """Make one edit; give back a part of the name of its place, and a word of it."""
    place = f"block_{block}"
    if kind == "activation":
        blocks.activation[block] = luck.choice([word for word in ACTIVATIONS if word != blocks.activation[block]])
        return place, blocks.activation[block]
    if kind == "epsilon":
        blocks.epsilon[block] = 0.25
        return place, "0.25"
    if kind == "scale":
        blocks.scale[block] = 0.375
        return place, "0.375"
    if kind == "axis":
        blocks.axis[block] = 0
        return place, "[0]"
    if kind == "insert":
        blocks.extra[block] = luck.choice(("Abs", "Square"))
        return place, blocks.extra[block]
    blocks.without.add(block)
    return place, "Mul"


class Builder:
    """Adds nodes to a graph, or to the body of a function."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.graph = GraphDef()
        self.nodes: Any = self.graph.node

    def add(self, op: str, name: str, *inputs: str, **attrs: Any) -> str:
        """Add a node of numbers and give back its name."""
        typed = {} if op in ("VarHandleOp", "Placeholder", "Const", "ReadVariableOp") else {"T": {"type": FLOAT}}
        self.nodes.add(op=op, name=name, input=inputs, attr={**typed, **attrs})
        return name

    def constant(self, name: str, value: float | list[int]) -> str:
        """Add a constant."""
        if isinstance(value, list):
            shape = {"dim": [{"size": len(value)}]}
            tensor: Mapping[str, Any] = {"dtype": 3, "tensor_shape": shape, "int_val": value}
        else:
            tensor = {"dtype": FLOAT, "tensor_shape": {}, "float_val": [value]}
        return self.add("Const", name, dtype={"type": tensor["dtype"]}, value={"tensor": tensor})

    def weight(self, name: str, *shape: int) -> str:
        """Add a weight: a variable and its read, or a constant."""
        dims = {"dim": [{"size": size} for size in shape]}
        if self.form.frozen:
            count = 1
            for size in shape:
                count *= size
            content = b"\x00\x00\x00\x3f" * count
            tensor = {"dtype": FLOAT, "tensor_shape": dims, "tensor_content": content}
            return self.add("Const", name, dtype={"type": FLOAT}, value={"tensor": tensor})
        self.add("VarHandleOp", name, dtype={"type": FLOAT}, shape={"shape": dims})
        return self.add("ReadVariableOp", f"{name}/Read", name, dtype={"type": FLOAT})

    def block(self, number: int, blocks: Blocks, taken: str, size: int) -> str:
        """Add a dense layer with a norm, a scale and an activation."""
        form = self.form
        scope = f"{form.prefix}block_{number + form.counter}"
        kernel = self.weight(f"{scope}/dense/kernel", size, form.width)
        bias = self.weight(f"{scope}/dense/bias", form.width)
        made = self.add("MatMul", f"{scope}/dense/MatMul", taken, kernel)
        made = self.add("BiasAdd", f"{scope}/dense/BiasAdd", made, bias)
        axes = self.constant(f"{scope}/norm/axes", [blocks.axis[number]])
        mean = self.add("Mean", f"{scope}/norm/Mean", made, axes, keep_dims={"b": True}, Tidx={"type": 3})
        centred = self.add("SquaredDifference", f"{scope}/norm/SquaredDifference", made, mean)
        variance = self.add("Mean", f"{scope}/norm/Mean_1", centred, axes, keep_dims={"b": True}, Tidx={"type": 3})
        above = self.add(
            "AddV2", f"{scope}/norm/add", variance, self.constant(f"{scope}/norm/add/y", blocks.epsilon[number])
        )
        root = self.add("Rsqrt", f"{scope}/norm/Rsqrt", above)
        made = self.add("Mul", f"{scope}/norm/mul", made, root)
        if number not in blocks.without:
            scale = self.constant(f"{scope}/scale/y", blocks.scale[number])
            made = self.add("Mul", f"{scope}/scale", made, scale)
        made = self.add(blocks.activation[number], f"{scope}/act", made)
        if op := blocks.extra.get(number):
            made = self.add(op, f"{scope}/extra", made)
        return made


def network(blocks: Blocks, form: Form) -> Any:
    """Build a network of some blocks."""
    built = Builder(form)
    dims = {"dim": [{"size": -1 if form.batch is None else form.batch}, {"size": form.size}]}
    made = built.add("Placeholder", f"{form.prefix}x", dtype={"type": FLOAT}, shape={"shape": dims})
    size, last = form.size, len(blocks.activation) - 1
    for number in range(len(blocks.activation)):
        made = built.block(number, blocks, made, size)
        size = form.width
    if form.function:
        made = called(built, made, f"{form.prefix}block_{last + form.counter}/act")
    built.add("Softmax", f"{form.prefix}out", made)
    if form.order:
        nodes = list(built.graph.node)
        random.Random(form.order).shuffle(nodes)
        del built.graph.node[:]
        built.graph.node.extend(nodes)
    return built.graph


def called(built: Builder, made: str, activation: str) -> str:
    """Put the last activation into a function, and call that in its place."""
    nodes = {node.name: node for node in built.graph.node}
    node = nodes[activation]
    signature = {
        "name": f"__inference_act_{17 + built.form.counter}",
        "input_arg": [{"name": "x", "type": FLOAT}],
        "output_arg": [{"name": "y", "type": FLOAT}],
    }
    inner = {"name": "act", "op": node.op, "input": ["x"], "attr": {"T": {"type": FLOAT}}}
    result = "y" if node.op in ("Tanh", "Sigmoid") else "activations"  # as the op calls it
    ret = {"y": f"act:{result}:0"}
    built.graph.library.function.add(signature=signature, node_def=[inner], ret=ret)
    node.op = "PartitionedCall"
    del node.attr["T"]
    node.attr["f"].func.name = signature["name"]
    node.attr["Tin"].list.type.append(FLOAT)
    node.attr["Tout"].list.type.append(FLOAT)
    return made
