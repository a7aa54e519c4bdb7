"""Generate networks from a seed: chains, repeated blocks with shortcuts, branches, memories, broadcasts, loops."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

OPS = ("Conv2D", "MatMul", "Relu", "Tanh", "Rsqrt", "Mean", "Mul", "Softmax", "Sub", "Exp", "MaxPool", "Neg")
PARTS = 6  # of a network, at most
WORDS = ("stem", "enc", "block", "head", "attention", "dense")


class Network:
    """The ops added so far; `scope` is the prefix of new names."""

    def __init__(self, seed: str) -> None:
        self.luck = random.Random(seed)
        self.nodes: list[dict[str, Any]] = []
        self.scope = ""

    def op(self, kind: str, *inputs: str) -> str:
        """Add an op and return its name."""
        name = f"{self.scope}{kind.lower()}_{len(self.nodes)}" if self.scope else f"n{7919 * len(self.nodes) % 10007}"
        self.nodes.append({"name": name, "op": kind, "input": list(inputs)})
        return name

    def chain(self, top: str, kinds: list[str]) -> str:
        """Add ops in sequence."""
        for kind in kinds:
            top = self.op(kind, top)
        return top

    def kinds(self, most: int) -> list[str]:
        """Choose op types."""
        return [self.luck.choice(OPS) for _ in range(self.luck.randrange(1, most))]


def straight(net: Network, top: str, _: list[str]) -> str:
    """Add a chain of different ops."""
    return net.chain(top, net.kinds(12))


def repeated(net: Network, top: str, given: list[str]) -> str:
    """Add equal blocks in sequence, some with a shortcut or a common input."""
    kinds, around, reads = net.kinds(7), net.luck.random() < 0.6, net.luck.random() < 0.4
    for _ in range(net.luck.randrange(2, 7)):
        body = net.chain(top, kinds)
        if reads:
            body = net.op("Mul", body, given[0])
        top = net.op("AddV2", body, top) if around else body
    return top


def branched(net: Network, top: str, _: list[str]) -> str:
    """Add parallel branches, equal or not, that join."""
    kinds = net.kinds(5)
    equal = net.luck.random() < 0.5
    ways = [net.chain(top, kinds if equal else net.kinds(5)) for _ in range(net.luck.randrange(2, 6))]
    return net.op("ConcatV2", *ways)


def staged(net: Network, top: str, _: list[str]) -> str:
    """Add stages of a head and equal blocks."""
    head, kinds = net.kinds(4), net.kinds(5)
    for _ in range(net.luck.randrange(2, 4)):
        top = net.chain(top, ["MaxPool", *head])
        for _ in range(net.luck.randrange(2, 5)):
            top = net.op("AddV2", net.chain(top, kinds), top)
    return top


def remembered(net: Network, top: str, _: list[str]) -> str:
    """Add layers that all read one memory, as in a decoder."""
    memory, kinds = top, net.kinds(5)
    top = net.op("Placeholder")
    for _ in range(net.luck.randrange(3, 6)):
        top = net.op("BatchMatMulV2", net.chain(top, kinds), memory)
    return top


def circled(net: Network, top: str, _: list[str]) -> str:
    """Add a loop of control flow v1 that carries one value."""
    enter = net.op("Enter", top)
    merge = net.op("Merge", enter)
    condition = net.op("LoopCond", net.op("Less", merge))
    switch = net.op("Switch", merge, condition)
    back = net.op("NextIteration", net.chain(f"{switch}:1", net.kinds(6)))
    next(node for node in net.nodes if node["name"] == merge)["input"].append(back)
    return net.op("Exit", switch)


SHAPES: tuple[Callable[[Network, str, list[str]], str], ...] = (
    straight, repeated, repeated, branched, staged, remembered, circled,
)  # fmt: skip


def network(name: str) -> list[dict[str, Any]]:
    """Return the nodes of a network, equal for equal names; some have telling names."""
    net = Network(name)
    top, mask = net.op("Placeholder"), net.op("Placeholder")
    named = net.luck.random() < 0.3
    side = []
    for number in range(net.luck.randrange(2, PARTS)):
        net.scope = f"{net.luck.choice(WORDS)}{number}_" if named else ""
        top = net.luck.choice(SHAPES)(net, top, [mask])
        if net.luck.random() < 0.3:
            side.append(net.chain(top, net.kinds(4)))
    net.op("Pack", top, *side)
    return net.nodes
