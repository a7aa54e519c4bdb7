"""Models drawn by a seed, as programs write them: layers in scopes, named in several ways, blocks, stages, towers,
skips, unrolled cells, shared inputs, loops, training.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from graphviz_tb.proto import GraphDef, NodeDef

KINDS = ("Conv2D", "MatMul", "Relu", "Tanh", "Mean", "Mul", "Softmax", "MaxPool", "Rsqrt", "Exp")
SIZES = (1, 1, 1, 2, 3, 3, 4, 5, 6, 9, 21)  # ops of a layer
WORDS = ("conv", "dense", "norm", "attention", "block", "layer", "branch_a", "mixed5b", "proj", "act")
Block = Callable[[str, str], str]


class Made:
    """Nodes that were added so far, and how layers are named: `style` by counters, by nested scopes, or not at all."""

    def __init__(self, luck: random.Random) -> None:
        self.luck, self.nodes, self.counts = luck, list[NodeDef](), dict[str, int]()
        self.style = luck.choice(("counted", "counted", "nested", "joined", "none"))
        self.weights = luck.choice(("none", "none", "v1", "keras 2", "keras 3", "frozen 3"))
        self.counted = luck.random() < 0.5  # the first name has a counter too
        self.layers = [self.drawn() for _ in range(6)]
        self.scope = ""

    def op(self, kind: str, *inputs: str, name: str = "", called: str = "") -> str:
        """Add an op, or a variable that is called differently; its name."""
        name = name or f"n{7919 * len(self.nodes) % 10007}"
        self.nodes.append(
            NodeDef(name=name, op=kind, input=inputs, attr={"shared_name": {"s": called.encode()}} if called else {})
        )
        return name

    def drawn(self) -> tuple[str, list[str]]:
        """A kind of layer: its word and the types of its ops."""
        return self.luck.choice(WORDS), [self.luck.choice(KINDS) for _ in range(self.luck.choice(SIZES))]

    def named(self, word: str) -> str:
        """The name of a layer."""
        if self.style == "none":
            return ""
        around = (
            self.scope.replace("/", "_") if self.style == "joined" else self.scope if self.style == "nested" else ""
        )
        count = self.counts[around + word] = self.counts.get(around + word, -1 + self.counted) + 1
        return f"{around}{word}_{count}" if count else around + word

    def layer(self, top: str, kind: int, *more: str) -> str:
        """A layer: a chain of ops, the first of which takes `more`; from four ops on with a way around some."""
        word, ops = self.layers[kind]
        name = self.named(word)
        start = top
        more = (*more, *self.weight(name, word)) if name and len(ops) > 1 else more
        for number, op in enumerate(ops):
            last = number == len(ops) - 1
            inputs = [top, *more] if not number else [top, start] if last and number > 2 else [top]
            top = self.op(op, *inputs, name=f"{name}/{op}_{number}" if name and len(ops) > 1 else name)
            start = top if number == 1 else start
        return top

    def weight(self, name: str, word: str) -> list[str]:
        """What a layer reads of its own, if anything: a variable, or what was one."""
        if self.weights == "v1":
            zeros = self.op("Fill", name=f"{name}/kernel/Initializer/zeros")
            variable = self.op("VariableV2", name=f"{name}/kernel")
            self.op("Assign", variable, zeros, name=f"{name}/kernel/Assign")
            return [self.op("Identity", variable, name=f"{name}/kernel/read")]
        if self.weights == "keras 2":
            variable = self.op("VarHandleOp", name=f"{name}/kernel", called=f"{name}/kernel")
            return [self.op("ReadVariableOp", variable, name=f"{name}/MatMul/ReadVariableOp")]
        if self.weights == "keras 3":
            called = f"{word}/kernel" if self.often(0.8) else f"{name.rpartition('/')[2]}/bias"
            variable = self.op("VarHandleOp", name=f"{name}/handle", called=called)
            return [self.op("ReadVariableOp", variable, name=f"{name}/Cast/ReadVariableOp")]
        if self.weights == "frozen 3":
            value = self.op("Const", name=f"{name}/Const")
            return [self.op("Identity", value, name=f"{name}/convolution/ReadVariableOp")]
        return []

    def inside(self, scope: str) -> None:
        """What comes is in this scope."""
        self.scope = scope

    def some(self, low: int, high: int) -> int:
        """A number."""
        return self.luck.randrange(low, high)

    def often(self, share: float) -> bool:
        """Whether to, at so large a share of cases."""
        return self.luck.random() < share


def body(made: Made, shared: str) -> Callable[[str], str]:
    """A block: one to four layers, with a shortcut, an input that all of them share, small inputs of its own, branches
    or an output aside; the same for each call."""
    kinds = [made.some(0, 6) for _ in range(made.some(1, 5))]
    shortcut, reads, feeds, aside = (made.often(share) for share in (0.5, 0.25, 0.25, 0.15))
    ways = [[made.some(0, 6)] * made.some(1, 3) for _ in range(made.some(2, 5))] if made.often(0.3) else []

    def add(top: str) -> str:
        end = top
        for number, kind in enumerate(kinds):
            more = [shared] if reads and not number else []
            more += [made.op("Const", name=made.named("rate"))] if feeds and number == len(kinds) - 1 else []
            end = made.layer(end, kind, *more)
        if ways:
            ends = []
            for way in ways:
                last = end
                for kind in way:
                    last = made.layer(last, kind)
                ends.append(last)
            end = made.op("ConcatV2", *ends, name=made.named("concat"))
        if aside:
            made.op("Mean", end, name=made.named("monitor"))
        return made.op("AddV2", end, top, name=made.named("add")) if shortcut else end

    return add


def chain(made: Made, top: str, shared: str) -> str:
    """Layers behind each other."""
    for _ in range(made.luck.choice((1, 3, 6, 8, 9, 12))):
        top = made.layer(top, made.some(0, 6))
    return top


def repeated(made: Made, top: str, shared: str) -> str:
    """Equal blocks behind each other, one of them different now and then."""
    add, other = body(made, shared), body(made, shared)
    count = made.luck.choice((2, 2, 3, 3, 4, 5, 6, 7, 8, 12, 24, 25))
    odd = made.some(0, count) if made.often(0.2) else -1
    for number in range(count):
        made.inside(f"block_{number}/")
        top = (other if number == odd else add)(top)
    return top


def staged(made: Made, top: str, shared: str) -> str:
    """Stages of a head and repeats, in different numbers."""
    add, head = body(made, shared), body(made, shared)
    alike = made.often(0.5)
    for stage in range(made.some(2, 6)):
        made.inside(f"stage_{stage}/")
        top = head(top) if alike or stage % 2 else made.layer(top, made.some(0, 6))
        for number in range(made.luck.choice((2, 3, 3, 4, 6))):
            made.inside(f"stage{stage}{'abcdef'[number]}/")
            top = add(top)
    return made.layer(head(top), made.some(0, 6)) if made.often(0.4) else top


def towered(made: Made, top: str, shared: str) -> str:
    """Ways that begin apart and meet, equal or not, some of them long."""
    add, ends = body(made, shared), []
    equal, length = made.often(0.5), made.luck.choice((1, 2, 4, 9))
    for tower in range(made.some(2, 7)):
        made.inside(f"tower_{tower}/")
        end = made.op("Placeholder", name=made.named("input")) if made.often(0.7) else top
        each = add if equal else body(made, shared)
        for _ in range(length):
            end = each(end)
        ends.append(end)
    made.inside("")
    return made.op("Pack", top, *ends, name=made.named("pack"))


def skipped(made: Made, top: str, shared: str) -> str:
    """Down and up again, each level with a line across."""
    down, up, levels = body(made, shared), body(made, shared), []
    for level in range(made.some(2, 6)):
        made.inside(f"down_{level}/")
        top = down(top)
        levels.append(top)
        top = made.op("MaxPool", top, name=made.named("pool"))
    for level, across in enumerate(reversed(levels)):
        made.inside(f"up_{level}/")
        top = up(made.op("ConcatV2", top, across, name=made.named("concat")))
    return top


def unrolled(made: Made, top: str, shared: str) -> str:
    """Cells in several layers and steps, each of which takes from the step and from the layer before it."""
    size, steps, layers = made.some(2, 10), made.some(3, 7), made.some(1, 4)
    before = [shared] * layers
    for step in range(steps):
        below = made.op("Slice", top, name=made.named("slice"))
        for layer in range(layers):
            made.inside(f"step_{step}/cell_{layer}/")
            below = made.op("MatMul", below, before[layer], name=made.named("gates"))
            for number in range(size):
                below = made.op(KINDS[number % len(KINDS)], below, name=made.named(f"part{number}"))
            before[layer] = below
    made.inside("")
    return made.op("Pack", *before, name=made.named("pack"))


def rated(made: Made, top: str, shared: str) -> str:
    """Many small ways that share a few inputs, as updates do; numbered ops alone."""
    rate = made.op("Const", name=made.named("rate"))
    for number in range(made.luck.choice((3, 5, 9, 20, 45))):
        value = made.op(
            "Mul",
            top if made.often(0.1) else made.op("Placeholder", name=f"w_{number}" if made.style != "none" else ""),
            rate,
        )
        made.op("Sub", value, rate, name=f"update_{number}" if made.style != "none" else "")
    return top


def looped(made: Made, top: str, shared: str) -> str:
    """A loop of control flow v1 that carries a few values, with a block inside."""
    add, merges, exits = body(made, shared), [], []
    made.inside("while/")
    for _ in range(made.some(1, 4)):
        merges.append(made.op("Merge", made.op("Enter", top, name=made.named("Enter")), name=made.named("Merge")))
    condition = made.op("LoopCond", made.op("Less", *merges, name=made.named("Less")), name=made.named("LoopCond"))
    for merge in merges:
        switch = made.op("Switch", merge, condition, name=made.named("Switch"))
        back = made.op("NextIteration", add(f"{switch}:1"), name=made.named("NextIteration"))
        next(node for node in made.nodes if node.name == merge).input.append(back)
        exits.append(made.op("Exit", switch, name=made.named("Exit")))
    made.inside("")
    return made.op("Pack", *exits, name=made.named("pack"))


SHAPES: tuple[Callable[[Made, str, str], str], ...] = (
    chain, chain, repeated, repeated, repeated, staged, staged, towered, skipped, unrolled, rated, looped,
)  # fmt: skip


def train(made: Made) -> None:
    """Gradients against the flow, and updates of some of what has any."""
    forward, after = list(made.nodes), ""
    for number, node in enumerate(reversed(forward[-made.some(5, 40) :])):
        inputs = [node.name, *([after] if after else [])]
        after = made.op(f"{node.op}Grad", *inputs, name=f"gradients/{node.name}_grad/{node.op}Grad")
        if made.often(0.3):
            weight = made.op("VariableV2", name=f"weight_{number}")
            made.op("ApplyGradientDescent", weight, after, name=f"train/update_{number}")
    made.op("SaveV2", after, name="save/SaveV2")


def model(name: str) -> GraphDef:
    """A model, the same for the same name."""
    made = Made(random.Random(name))
    top = made.op("Placeholder", name=made.named("input"))
    shared = made.op("Placeholder", name=made.named("mask"))
    for part in range(made.luck.choice((1, 1, 2, 3))):
        made.inside(f"part_{part}/")
        top = made.luck.choice(SHAPES)(made, top, shared)
    for _ in range(made.luck.choice((0, 0, 1, 3))):
        made.op("Const", name=made.named("alone"))
    if made.often(0.3):
        assigned = [f"^{node.name}" for node in made.nodes if node.op in ("Assign", "Exp")]
        made.op("NoOp", *assigned, name="init")
    if made.often(0.2):
        train(made)
    return GraphDef(node=made.nodes)
