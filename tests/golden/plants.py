"""Models that are drawn by a seed: layers with weights, stacks of them, calls, loops, losses, gradients, savers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

FLOAT, RESOURCE = {"type": 1}, {"type": 20}
KINDS = ("Relu", "Tanh", "Exp", "Mul", "Softmax", "Neg", "Square", "Abs")
AROUND = ("", "", "model/", "model/encoder/", "net/body/main/")


class Plant:
    """Nodes and functions that were added so far; `top` is what the next op reads."""

    def __init__(self, name: str) -> None:
        self.luck = random.Random(name)
        self.nodes: list[dict[str, Any]] = []
        self.functions: list[dict[str, Any]] = []
        self.around = self.luck.choice(AROUND)
        self.top = self.op("x", "Placeholder")

    def op(self, name: str, kind: str, *inputs: str, **attr: Any) -> str:
        """Add an op; its name."""
        self.nodes.append({"name": name, "op": kind, "input": inputs, "attr": {"T": FLOAT, "dtype": FLOAT, **attr}})
        return name

    def layer(self, scope: str, top: str, more: int = 0) -> str:
        """A product with a weight, and some ops more."""
        weight = self.op(f"{scope}w", "VarHandleOp", shared_name={"s": f"{scope}w".encode()})
        top = self.op(f"{scope}MatMul", "MatMul", top, self.op(f"{scope}MatMul/Read", "ReadVariableOp", weight))
        return self.chain(scope, top, more)

    def chain(self, scope: str, top: str, count: int) -> str:
        """Ops behind each other."""
        for number in range(count):
            top = self.op(f"{scope}op{number}", self.luck.choice(KINDS), top)
        return top

    def same(self, scope: str, top: str, count: int) -> str:
        """The same ops behind each other, wherever it is."""
        for number in range(count):
            top = self.op(f"{scope}op{number}", KINDS[number % len(KINDS)], top)
        return top

    def function(self, name: str, count: int) -> None:
        """A function of so many ops."""
        made = []
        top = "x"
        for number in range(count):
            made.append({"name": f"part{number % 3}/op{number}", "op": KINDS[number % len(KINDS)], "input": [top]})
            top = f"part{number % 3}/op{number}:y:0"
        arguments = {"name": name, "input_arg": [{"name": "x", "type": 1}], "output_arg": [{"name": "y", "type": 1}]}
        self.functions.append({"signature": arguments, "node_def": made, "ret": {"y": top}})

    def number(self) -> int:
        """What makes the names of one part its own."""
        return len(self.nodes)


def dense(plant: Plant) -> None:
    """Layers behind each other, in scopes that are numbered or not."""
    start, more = plant.number(), plant.luck.randrange(0, 4)
    for copy in range(plant.luck.randrange(1, 7)):
        scope = f"{plant.around}dense{start}_{copy}/"
        top = plant.layer(scope, plant.top)
        plant.top = plant.same(scope, top, more)


def blocks(plant: Plant) -> None:
    """Equal blocks of several layers, with a shortcut around each."""
    start, wide, more = plant.number(), plant.luck.randrange(1, 4), plant.luck.randrange(0, 5)
    for copy in range(plant.luck.randrange(2, 8)):
        scope = f"{plant.around}stage{start}/block_{copy}/"
        top = plant.top
        for inner in range(wide):
            top = plant.same(f"{scope}dense_{inner}/", plant.layer(f"{scope}dense_{inner}/", top), more)
        plant.top = plant.op(f"{scope}add", "AddV2", top, plant.top)


def plain(plant: Plant) -> None:
    """Ops in one scope or two, without weights."""
    scope = f"{plant.around}prep{plant.number()}/"
    plant.top = plant.chain(scope, plant.top, plant.luck.randrange(2, 16))
    if plant.luck.random() < 0.5:
        plant.top = plant.chain(f"{scope}inner/", plant.top, plant.luck.randrange(2, 9))


def written_out(plant: Plant) -> None:
    """A cell whose every step reads the same weight."""
    scope = f"{plant.around}rnn{plant.number()}/"
    weight = plant.op(f"{scope}w", "VarHandleOp", shared_name={"s": scope.encode()})
    for step in range(plant.luck.randrange(2, 9)):
        read = plant.op(f"{scope}MatMul_{step}/Read", "ReadVariableOp", weight)
        plant.top = plant.op(f"{scope}MatMul_{step}", "MatMul", plant.top, read)
        plant.top = plant.op(f"{scope}add_{step}", "AddV2", plant.top, plant.top)
        plant.top = plant.op(f"{scope}Tanh_{step}", "Tanh", plant.top)


def called(plant: Plant) -> None:
    """A call, with the weights of a layer around it or not."""
    start = plant.number()
    scope = plant.luck.choice(("", f"{plant.around}call{start}/"))
    plant.function(f"f{start}", plant.luck.randrange(3, 30))
    if scope and plant.luck.random() < 0.5:
        plant.top = plant.layer(scope, plant.top)
    for copy in range(plant.luck.randrange(1, 3)):
        name, attr = f"{scope}Call{start}_{copy}", {"f": {"func": {"name": f"f{start}"}}}
        plant.top = plant.op(name, "PartitionedCall", plant.top, **attr)


def looped(plant: Plant) -> None:
    """A loop, in a scope with a layer or not."""
    start = plant.number()
    scope = plant.luck.choice(("", f"{plant.around}gru{start}/"))
    plant.function(f"cond{start}", plant.luck.randrange(2, 5))
    plant.function(f"body{start}", plant.luck.randrange(4, 30))
    if scope:
        plant.top = plant.same(scope, plant.layer(scope, plant.top), plant.luck.randrange(0, 6))
    attr = {"cond": {"func": {"name": f"cond{start}"}}, "body": {"func": {"name": f"body{start}"}}}
    plant.top = plant.op(f"{scope}while{start}", "While", plant.top, **attr)


def loss(plant: Plant) -> None:
    """What judges a model: ops without weights."""
    scope = f"loss{plant.number()}/"
    plant.chain(
        f"{scope}inner/", plant.chain(scope, plant.top, plant.luck.randrange(2, 12)), plant.luck.randrange(0, 5)
    )


def measure(plant: Plant) -> None:
    """A counter that is only written."""
    scope = f"metrics{plant.number()}/"
    total = plant.op(f"{scope}total", "VarHandleOp", shared_name={"s": scope.encode()})
    plant.op(
        f"{scope}AssignAdd", "AssignAddVariableOp", total, plant.chain(scope, plant.top, plant.luck.randrange(1, 6))
    )


def gradients(plant: Plant) -> None:
    """The way back, and updates."""
    top = plant.top
    for number in range(plant.luck.randrange(3, 20)):
        top = plant.op(f"gradients/part{number % 4}_grad/op{number}", plant.luck.choice(("ReluGrad", "Mul")), top)
    plant.op("train/ApplyGradientDescent", "ApplyGradientDescent", top)


def saver(plant: Plant) -> None:
    """What writes and restores variables."""
    for number in range(plant.luck.randrange(1, 6)):
        restored = plant.op(f"save/RestoreV2_{number}", "RestoreV2")
        plant.op(f"save/Assign_{number}", "AssignVariableOp", plant.op(f"save/v{number}", "VarHandleOp"), restored)
    plant.chain("save/", plant.op("save/name", "Placeholder"), plant.luck.randrange(0, 12))


def beside(plant: Plant) -> None:
    """A scope that no line joins with the rest."""
    scope = f"side{plant.number()}/"
    plant.chain(scope, plant.op(f"{scope}in", "Placeholder"), plant.luck.randrange(2, 14))


PARTS: tuple[Callable[[Plant], None], ...] = (dense, dense, blocks, blocks, plain, plain, written_out, called, looped)
ENDS: tuple[Callable[[Plant], None], ...] = (loss, measure, gradients, saver, beside)


def plant(name: str) -> dict[str, Any]:
    """The nodes and functions of such a model, the same for the same name."""
    made = Plant(name)
    for _ in range(made.luck.randrange(1, 7)):
        made.luck.choice(PARTS)(made)
        if made.luck.random() < 0.2:
            made.around = made.luck.choice(AROUND)
    for end in made.luck.sample(ENDS, made.luck.randrange(0, 4)):
        end(made)
    made.op("y", "Identity", made.top)
    return {"node": made.nodes, "library": {"function": made.functions}}
