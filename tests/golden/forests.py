"""Graphs of nested scopes, drawn by a seed: equal groups in several places, devices, clusters, shapes, slots."""

from __future__ import annotations

import random
from typing import Any

CHAINS = (
    ("MatMul", "BiasAdd", "Relu"),
    ("MatMul", "BiasAdd"),
    ("Exp", "Log"),
    ("Sin", "Cos", "Tan"),
    ("Conv2D", "Relu"),
    ("Neg", "Abs"),
    ("Mystery", "Relu"),
    ("Riddle",),
    ("Tanh", "Sigmoid"),
    ("Square", "Sqrt"),
    ("Enigma", "Secret", "Relu"),
    ("Floor", "Ceil"),
)
SCOPES = ("block", "cell", "unit", "dense", "head", "stem", "layer")
DEVICES = (
    ("/device:GPU:0", "/device:CPU:0", ""),
    (
        "/job:ps/task:0/cpu:0",
        "/job:worker/task:0/gpu:0",
        "/job:worker/task:1/gpu:0",
        "/job:worker/task:0/device:XLA_CPU:0",
    ),
    ("/job:a/task:0", "/job:a/task:0/device:TPU:0", "/job:a/task:0/device:tpu:*", "/job:a/task:1/device:CPU:12"),
    tuple(f"/device:GPU:{number}" for number in range(13)),
)
FLOAT = {"type": 1}
MOST = 90  # ops of a graph, about


class Forest:
    """Ops that were added so far, and the choices that go for the whole graph."""

    def __init__(self, name: str) -> None:
        self.luck = random.Random(name)
        self.nodes: list[dict[str, Any]] = []
        self.devices = self.luck.choice(DEVICES)
        self.chains = self.luck.sample(CHAINS, self.luck.randrange(2, len(CHAINS)))
        self.top = self.op("", "x", "Placeholder", shape={"shape": {"dim": [{"size": 4}, {"size": 8}]}})

    def op(self, scope: str, name: str, kind: str, *inputs: str, **attr: Any) -> str:
        """Add an op; its name."""
        node: dict[str, Any] = {"name": f"{scope}{name}", "op": kind, "input": list(inputs)}
        node["attr"] = {"T": FLOAT, "dtype": FLOAT, **attr}
        if self.luck.random() < 0.7:
            node["device"] = self.luck.choice(self.devices)
        if self.luck.random() < 0.1:
            node["attr"]["_XlaCluster"] = {"s": self.luck.choice((b"c1", b"c2", b""))}
        self.nodes.append(node)
        return str(node["name"])

    def leaf(self, scope: str, kinds: tuple[str, ...], wide: int) -> None:
        """Ops behind each other; a product has weights, some of which have what an optimizer keeps."""
        for number, kind in enumerate(kinds):
            inputs = [self.top]
            if kind == "MatMul":
                shape = {"shape": {"dim": [{"size": 8}, {"size": wide}]}}
                inputs.append(self.op(scope, "w", "VariableV2", shape=shape))
                if wide % 2:
                    self.op(scope, "w/Adam", "VariableV2", shape=shape)
                    self.op(scope, "w/Adam/zeros", "Fill")
                    self.op(scope, "w/Adam/Assign", "Assign", f"{scope}w/Adam", f"{scope}w/Adam/zeros")
            self.top = self.op(scope, f"{kind.lower()}{number}", kind, *inputs)

    def scopes(self, around: str, depth: int) -> None:
        """Several scopes inside another one, equal ones among them."""
        for number in range(self.luck.randrange(1, 4)):
            word, kinds, wide = self.luck.choice(SCOPES), self.luck.choice(self.chains), self.luck.choice((8, 9, 64))
            copies, deeper = self.luck.choice((1, 1, 2, 3, 6)), depth < 3 and self.luck.random() < 0.5
            start = self.luck.getstate()
            for copy in range(copies):
                scope = f"{around}{word}{number}_{copy}/" if copies > 1 else f"{around}{word}{number}/"
                if len(self.nodes) > MOST:
                    return
                if deeper and copy and self.luck.random() < 0.8:
                    self.luck.setstate(start)  # the same inside as its first copy
                self.leaf(scope, kinds, wide)
                if deeper:
                    self.scopes(scope, depth + 1)


def forest(name: str) -> list[dict[str, Any]]:
    """The nodes of such a graph, the same for the same name."""
    found = Forest(name)
    found.scopes("", 0)
    found.scopes("", 1)
    return found.nodes


def stretched(name: str) -> list[dict[str, Any]]:
    """Blocks of many kinds behind each other, without names; some of them so often that a series has ranges."""
    luck = random.Random(name)
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}]
    kinds = luck.sample([kind for chain in CHAINS for kind in chain], 12)
    for first, second in zip(kinds, [*kinds[1:], kinds[0]], strict=True):
        for _ in range(luck.choice((2, 3, 4, 45))):
            top = nodes[-1]["name"]
            for kind, more in ((first, []), (second, []), ("AddV2", [top])):
                inputs = [nodes[-1]["name"], *more]
                nodes.append({"name": f"n{7919 * len(nodes) % 10007}", "op": kind, "input": inputs})
    return nodes
