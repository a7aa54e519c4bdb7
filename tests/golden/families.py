"""Models of one kind that grow by an op or a layer at a time: past each bound of a first picture, one after another."""

from __future__ import annotations

from typing import Any

from plants import Plant


def grown(name: str) -> dict[str, Any]:
    """The nodes and functions of one member of a family, by its word and its numbers."""
    word, *numbers = name.split()
    made = Plant(name)
    made.around = ""
    FAMILIES[word](made, *map(int, numbers))
    made.op("y", "Identity", made.top)
    return {"node": made.nodes, "library": {"function": made.functions}}


def group(plant: Plant, ops: int, beside: int) -> None:
    """A group of so many ops, and so many beside it."""
    for number in range(beside):
        plant.top = plant.op(f"n{number}", f"L{number}", plant.top)
    for number in range(ops):
        plant.top = plant.op(f"g/{chr(97 + number // 26)}{chr(97 + number % 26)}", f"T{number}", plant.top)


def layers(plant: Plant, count: int, ops: int, beside: int) -> None:
    """Equal layers with weights, in a scope, and a scope without."""
    for copy in range(count):
        plant.top = plant.same(f"m/l_{copy}/", plant.layer(f"m/l_{copy}/", plant.top), ops)
    plant.top = plant.same("z/", plant.top, beside)


def nested(plant: Plant, count: int, inner: int, ops: int) -> None:
    """Blocks of several layers, then what has no weight."""
    for copy in range(count):
        for part in range(inner):
            scope = f"b_{copy}/l_{part}/"
            plant.top = plant.same(scope, plant.layer(scope, plant.top), 2)
    plant.same("loss/inner/", plant.same("loss/", plant.top, ops), ops)


def call(plant: Plant, inside: int, beside: int, scoped: int) -> None:
    """A call of a function, with ops beside it."""
    plant.function("f", inside)
    plant.top = plant.same("" if scoped != 1 else "s/", plant.top, beside)
    attr = {"f": {"func": {"name": "f"}}}
    plant.top = plant.op("t/Call" if scoped == 2 else "Call", "PartitionedCall", plant.top, **attr)


def wrapped(plant: Plant, inside: int, beside: int) -> None:
    """A call of a function that is a group and some ops."""
    top, made = "x", []
    for number in range(inside + beside):
        made.append({"name": f"{'p/' * (number < inside)}op{number}", "op": f"T{number}", "input": [top]})
        top = f"{made[-1]['name']}:y:0"
    arguments = {"name": "f", "input_arg": [{"name": "x", "type": 1}], "output_arg": [{"name": "y", "type": 1}]}
    plant.functions.append({"signature": arguments, "node_def": made, "ret": {"y": top}})
    for number in range(9):
        plant.top = plant.op(f"n{number}", f"L{number}", plant.top)
    plant.top = plant.op("Call", "PartitionedCall", plant.top, f={"func": {"name": "f"}})


def uneven(plant: Plant, count: int, ops: int, more: int) -> None:
    """A large repeat, and a small one in a scope."""
    for number in range(5):
        plant.top = plant.op(f"n{number}", f"L{number}", plant.top)
    for copy in range(6):
        plant.top = plant.same(f"large/b_{copy}/", plant.layer(f"large/b_{copy}/", plant.top), more)
    for copy in range(count):
        plant.top = plant.same(f"s/small/b_{copy}/", plant.top, ops)


def loop(plant: Plant, inside: int, around: int, layers: int) -> None:
    """A loop around which is a layer, and other layers."""
    plant.function("cond", 2)
    plant.function("body", inside)
    for copy in range(layers):
        plant.top = plant.layer(f"other{copy * copy}/", plant.top, copy)
    plant.top = plant.same("gru/", plant.layer("gru/", plant.top), around)
    attr = {"cond": {"func": {"name": "cond"}}, "body": {"func": {"name": "body"}}}
    plant.top = plant.op("gru/while", "While", plant.top, **attr)


def shared(plant: Plant, count: int, feeds: int, loops: int) -> None:
    """A cell whose steps, in scopes, read one weight, each fed by the one before or not; a loop that reads it too."""
    weight = plant.op("rnn/w", "VarHandleOp", shared_name={"s": b"w"})
    start, tops = plant.top, []
    for step in range(count):
        scope = f"rnn/step_{step}/"
        read = plant.op(f"{scope}Read", "ReadVariableOp", weight)
        product = plant.op(f"{scope}MatMul", "MatMul", tops[-1] if feeds and tops else start, read)
        tops.append(plant.same(scope, product, 4))
    plant.top = plant.op("rnn/Pack", "Pack", *tops)
    if loops:
        plant.function("cond", 2)
        plant.function("body", 9)
        attr = {"cond": {"func": {"name": "cond"}}, "body": {"func": {"name": "body"}}}
        read = plant.op("rnn/Read", "ReadVariableOp", weight)
        plant.top = plant.op("rnn/while", "While", plant.top, read, **attr)
    for copy in range(3):
        plant.top = plant.layer(f"other_{copy}/", plant.top, 1)


def bare(plant: Plant, ops: int, count: int) -> None:
    """Equal blocks of ops without names."""
    for copy in range(count):
        start = plant.top
        for number in range(ops):
            plant.top = plant.op(f"n{7919 * len(plant.nodes) % 10007}", f"K{number}", plant.top)
        plant.top = (
            plant.op(f"n{7919 * len(plant.nodes) % 10007}", "AddV2", plant.top, start) if copy % 2 else plant.top
        )


FAMILIES = {made.__name__: made for made in (group, layers, nested, call, wrapped, uneven, loop, shared, bare)}
GROWING = [
    *(f"group {ops} {beside}" for ops in (1, 2, 9, *range(31, 41)) for beside in (0, 4, 5)),
    *(f"layers {count} {ops} 0" for count in range(2, 10) for ops in (0, 4, 11, 12, 13)),
    *(f"layers 8 2 {beside}" for beside in range(64, 76)),
    *(f"nested {count} {inner} {ops}" for count in range(2, 7) for inner in range(1, 5) for ops in (1, 5)),
    *(f"call {inside} {20 - inside} {scoped}" for inside in range(9, 18) for scoped in range(3)),
    *(f"wrapped {inside} {20 - inside}" for inside in range(7, 15)),
    *(f"uneven {count} {ops} {more}" for count in (2, 3, 4) for ops in (2, 3, 8) for more in (14, 27, 28, 60)),
    *(f"loop {inside} {around} {layers}" for inside in (5, 20) for around in range(14) for layers in range(3)),
    *(f"shared {count} {feeds} {loops}" for count in range(2, 9) for feeds in range(2) for loops in range(2)),
    *(f"bare {ops} {count}" for ops in range(1, 7) for count in range(2, 7)),
]
