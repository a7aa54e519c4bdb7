"""The ops of each layer of a program, as TensorFlow writes them."""

from __future__ import annotations

from dataclasses import dataclass
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
