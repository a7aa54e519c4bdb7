"""Small programs drawn by a seed, as TensorFlow writes them: a model, its loss, its training, its saver."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from training_layers import FLOAT, WRITERS, Layer, Program, Writer

KINDS = ("dense", "dense", "conv", "conv", "norm", "layer_norm", "dropout", "act", "act", "embedding", "attention",
         "up", "lstm", "call", "legacy", "residual")  # fmt: skip
ACTS = ("Relu", "Tanh", "silu", "gelu", "LeakyRelu", "Softmax")
SLOTS = {"Adam": ("m", "v"), "Momentum": ("Momentum",), "GradientDescent": (), "RMSProp": ("rms", "momentum")}
LOSSES = {"mse": ("Sub", "Square", "Mean"), "mae": ("Sub", "Abs", "Mean"), "xent": ("Log", "Mul", "Neg", "Sum")}
NO_GRADIENT = ("Const", "Identity", "ReadVariableOp", "Shape", "StridedSlice", "Pack", "Cast", "VarHandleOp")


def written(program: Program) -> Any:
    """The graph of a program."""
    net = Writer(program)
    top = net.op("x", "Placeholder", dtype=FLOAT, shape=(program.batch, program.width))
    if program.dtype != FLOAT:
        top = net.op(f"{program.scope}/Cast", "Cast", top, DstT=program.dtype)
    counts: Counter[str] = Counter(dict.fromkeys(WRITERS, program.counted))
    for net.place, layer in enumerate(program.layers):
        number = counts[layer.kind]
        counts[layer.kind] += 1
        name = layer.name or (f"{layer.kind}_{number}" if number else layer.kind)
        top = WRITERS[layer.kind](net, f"{program.scope}/{name}", layer, top)
    forward = [(node.name, node.op, list(node.input)) for node in net.graph.node if node.op not in NO_GRADIENT]
    for number in range(program.outputs if program.traced else 0):
        net.op(f"Identity_{number}" if number else "Identity", "Identity", top, T=FLOAT)
    if program.optimizer and program.form != "frozen":
        train(net, top, forward)
    if program.dtype != FLOAT:
        of_type(net, program.dtype)
    return net.graph


def of_type(net: Writer, dtype: int) -> None:
    """Let the model compute with numbers of another type."""
    for node in net.graph.node:
        for key in ("T", "dtype"):
            if key in node.attr and node.attr[key].type == FLOAT and node.name.startswith(net.program.scope):
                node.attr[key].type = dtype


def train(net: Writer, top: str, forward: list[tuple[str, str, list[str]]]) -> None:
    """The loss, the gradients from the last op to the first, the updates, the saver, a summary."""
    program = net.program
    flow, label = top, net.op("y", "Placeholder", dtype=FLOAT, shape=(program.batch, program.width))
    for kind in LOSSES[program.loss]:
        flow = net.op(f"{program.loss}/{kind}", kind, flow, *([label] if kind in ("Sub", "Mul") else []))
    if program.control:
        net.graph.node[-1].input.append("^x")
    net.op("summary", "ScalarSummary", net.constant("summary/tags", 0), flow)
    given: dict[str, str] = {}
    for name, kind, inputs in reversed(forward[1:]):
        flow = net.op(f"gradients/{name}_grad/{kind}Grad", f"{kind}Grad", flow, *inputs[:1])
        given[name.rpartition("/")[0]] = flow
    updates = [update(net, *weight, given) for weight in net.trained if weight[2] not in program.frozen]
    net.op("train", "NoOp", *(f"^{name}" for name in updates))
    save(net)


def update(net: Writer, variable: str, scope: str, _: int, given: dict[str, str]) -> str:
    """What an optimizer does to one variable, with its slots."""
    word, scope_of = net.program.optimizer, net.program.optimizer.lower()
    slots = []
    for slot in SLOTS[word]:
        slots.append(f"{scope_of}/{variable}/{slot}")
        net.variable(slots[-1], 4)
    rate = f"{scope_of}/learning_rate"
    if not any(node.name == rate for node in net.graph.node):
        net.constant(rate, 0.01)
        net.op(f"{scope_of}/Pow", "Pow", net.constant(f"{scope_of}/beta", net.program.beta), rate)
    flow = next((given[name] for name in given if name.startswith(scope)), next(iter(given.values())))
    kind = f"{'Resource' * (net.program.form == 'resource')}Apply{word}"
    name = f"{scope_of}/update_{variable}/{kind}"
    net.op(name, kind, variable, *slots, rate, f"{scope_of}/Pow", flow, dtype=FLOAT)
    net.graph.node[-1].attr["_class"].list.s.append(f"loc:@{variable}".encode())
    return name


def save(net: Writer) -> None:
    """All variables are saved, and set from what was saved."""
    names = [name for name, *_ in net.trained]
    net.op("save/SaveV2", "SaveV2", net.constant("save/Const", 0), *(f"{name}/Assign" for name in names))
    net.op("save/RestoreV2", "RestoreV2", "save/Const")
    kind = "AssignVariableOp" if net.program.form == "resource" else "Assign"
    for number, name in enumerate(names):
        net.op(f"save/Assign_{number}", kind, name, f"save/RestoreV2:{number}" if number else "save/RestoreV2")


def program(luck: random.Random) -> Program:
    """A program drawn by luck."""
    layers = tuple(
        Layer(luck.choice(KINDS), size=luck.choice((4, 8, 16)), word=luck.choice(ACTS), kernel=luck.choice((1, 2, 3)))
        for _ in range(luck.randrange(2, 8))
    )
    return Program(layers, luck.choice(("frozen", "resource", "resource", "variable")), luck.choice(list(SLOTS)),
                   scope=luck.choice(("net", "tower/encoder", "m")), traced=luck.random() < 0.3,
                   counted=luck.choice((0, 0, 3)))  # fmt: skip
