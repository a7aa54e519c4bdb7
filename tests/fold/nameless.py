"""Networks without names, op by op."""

from __future__ import annotations

import random

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.proto import GraphDef

CHAIN = ("Conv2D", "Rsqrt", "Relu6", "DepthwiseConv2dNative", "Rsqrt", "Relu6", "Conv2D", "Rsqrt")


class Network:
    """Ops that are numbered at random, each after what feeds it."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, object]] = []

    def op(self, kind: str, *inputs: str) -> str:
        self.nodes.append({"name": f"op_{len(self.nodes)}", "op": kind, "input": list(inputs)})
        return f"op_{len(self.nodes) - 1}"

    def chain(self, top: str, kinds: tuple[str, ...]) -> str:
        for kind in kinds:
            top = self.op(kind, top)
        return top

    def stage(self, top: str, blocks: int, head: tuple[str, ...] = CHAIN) -> str:
        """head ─▶ block ─▶ block …, each block with a shortcut around it."""
        top = self.chain(top, head)
        for _ in range(blocks - 1):
            top = self.op("AddV2", self.chain(top, CHAIN), top)
        return top

    def hierarchy(self) -> Hierarchy:
        return self.model().hierarchy

    def model(self) -> Model:
        names = list(range(len(self.nodes)))
        random.Random(2).shuffle(names)
        called = {f"op_{at}": f"n{name}" for at, name in enumerate(names)}
        named = [
            {**node, "name": called[node["name"]], "input": [called[one] for one in node["input"]]}  # type: ignore[index,attr-defined]
            for node in self.nodes
        ]
        return load(GraphDef(node=named))  # type: ignore[arg-type]


class Export:
    """An exported program whose values are numbered."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, object]] = []

    def op(self, kind: str, *inputs: str, **attr: object) -> str:
        self.nodes.append({"name": f"t{len(self.nodes)}", "op": kind, "input": list(inputs), "attr": attr})
        return f"t{len(self.nodes) - 1}"

    def weight(self, *sizes: int) -> str:
        shape = {"shape": {"dim": [{"size": size} for size in sizes]}}
        return self.op("Parameter", shape=shape, dtype={"type": 1})

    def conv(self, x: str, weight: str) -> str:
        return self.op("onnx::Conv", x, weight)
