"""Small programs, node by node."""

from __future__ import annotations

from typing import Any

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.proto import GraphDef

FLOAT = {"type": 1}
Node = dict[str, Any]


def node(name: str, op: str, *inputs: str, **attrs: Any) -> Node:
    return {"name": name, "op": op, "input": inputs, "attr": {"T": FLOAT, "dtype": FLOAT, **attrs}}


def sized(*sizes: int) -> dict[str, Any]:
    return {"shape": {"dim": [{"size": size} for size in sizes]}}


def placeholder(name: str, *sizes: int) -> Node:
    return node(name, "Placeholder", shape=sized(*sizes))


def constant(name: str, *sizes: int, dtype: int = 1) -> Node:
    tensor = {"dtype": dtype, "tensor_shape": sized(*sizes)["shape"], "float_val": [0.5]}
    return node(name, "Const", dtype={"type": dtype}, value={"tensor": tensor})


def variable(name: str, *sizes: int, **attrs: Any) -> list[Node]:
    """A variable with its read, `name/read`."""
    return [node(name, "VariableV2", shape=sized(*sizes), **attrs), node(f"{name}/read", "Identity", name)]


def model(*nodes: Node | list[Node], **choices: Any) -> Model:
    flat = [each for part in nodes for each in (part if isinstance(part, list) else [part])]
    return load(GraphDef(node=flat), **choices)


def trained(name: str, gradient: str, *slots: str) -> list[Node]:
    """The optimizer's step for one variable."""
    return [node(f"train/update_{name}", "ApplyAdam" if slots else "ApplyGradientDescent", name, *slots, gradient)]
