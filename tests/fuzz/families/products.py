"""Families with two sizes, so that what takes their product is found: depth × edges, long names × users, and so on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from graphviz_tb.proto import GraphDef
from tests.fuzz.families.graphs import binary
from tests.op_types import op_types_with_shape_rules

SOURCES = ("Const", "Placeholder", "VarHandleOp", "VariableV2", "_Arg", "Relu", "Unpack", "FooConst")
USERS = ("Identity", "ReadVariableOp", "AddN", "Apply", "Merge", "ConcatV2", "MatMul", "NoOp", "Foo", "Pack")
ON_SIZES = (
    *("Mul", "AddV2", "Sub", "ConcatV2", "Fill", "Reshape", "Shape", "Pack", "Prod", "StridedSlice", "Range", "Tile"),
    *("FloorDiv", "Maximum", "Pad", "BroadcastTo", "Unpack", "Cumsum", "Split", "SelectV2", "GatherV2", "Transpose"),
    *("ExpandDims", "Pow"),
)
WORDS = ("a/", "a_1/", "gradients/", "/", "x", "A/", "é/", "while/", "Adam/", "_1", "a.b/")


def pair(random: Random, most: int = 100_000) -> tuple[int, int]:
    """Two sizes of which one may be large, or both fairly."""
    return random.choice(((1, most), (most, 1), (30, most // 30), (most // 30, 30), (300, 300), (1000, 1000), (7, 7)))


def typed(node: Any, kind: int = 1) -> Any:
    """The attributes that nearly every op has."""
    node.attr["T"].type = node.attr["dtype"].type = kind
    return node


def const(graph: GraphDef, name: str, numbers: list[int], dims: list[int] | None = None) -> None:
    """A constant of integers, or of so many that are not there."""
    tensor = typed(graph.node.add(name=name, op="Const"), 3).attr["value"].tensor
    tensor.dtype = 3
    tensor.int_val.extend(numbers)
    for size in [len(numbers)] if dims is None else dims:
        tensor.tensor_shape.dim.add(size=size)


def fans(random: Random) -> GraphDef:
    """One node with a long or deep name, and many that feed it or that it feeds."""
    graph = GraphDef()
    length, edges = pair(random, 50_000)
    word = random.choice(WORDS)
    name = word * (length // len(word) + 1) + "x"
    beside = random.choice(("y", "s/y", name[: len(name) // 2] + "/y", name + "/y" if edges < 40 else "y"))
    source, user = random.choice(SOURCES), random.choice(USERS)
    apart = random.random() < 0.6
    if random.random() < 0.5:
        feeders = [f"{beside}{at}" for at in range(edges)] if apart else [beside] * edges
        for each in dict.fromkeys(feeders):
            typed(graph.node.add(name=each, op=source))
        typed(graph.node.add(name=name, op=user, input=feeders))
    else:
        typed(graph.node.add(name=name, op=source))
        for at in range(edges):
            typed(graph.node.add(name=f"{beside}{at}", op=user)).input.append(f"{name}:{at}" if edges < 99 else "y0")
    return graph


def equal_names(random: Random) -> GraphDef:
    """Names that many nodes have, between others that nearly have them; deep ones of which each is in the next."""
    graph = GraphDef()
    several, levels = pair(random, 10_000)
    form = random.choice(("same", "nested", "numbered", "both"))
    for at in range(min(several, 3000)):
        name = {"same": "x", "nested": "a/" * (at % 700) + "x", "numbered": f"x_{at}"}.get(form, f"x_{at // 2}/x_{at}")
        graph.node.add(name=name, op=random.choice(("Relu", f"Op{at % levels}"))).input.append("x")
        if random.random() < 0.3:
            graph.node.add(name="x", op="Relu", input=[name])
    return graph


def weights(random: Random) -> GraphDef:
    """Many variables, each with a deep name of its own, read and used in deep scopes of code."""
    graph = GraphDef()
    count, depth = random.choice(((20, 3000), (300, 300), (3000, 10), (3000, 1)))
    word = random.choice(WORDS)
    reads = []
    for at in range(count):
        variable = typed(graph.node.add(name=f"v{at}", op=random.choice(("VarHandleOp", "VariableV2"))))
        variable.attr["shape"].shape.dim.add(size=random.choice((2, 0, -1, 2**62)))
        variable.attr["shared_name"].s = (f"v{at}/" + word * (depth if random.random() < 0.9 else 1) + "w").encode()
        typed(graph.node.add(name=f"r{at}", op="ReadVariableOp", input=[f"v{at}"]))
        reads.append(f"r{at}")
    for at in range(random.choice((1, 3))):
        graph.node.add(name=f"{word * depth}_{at}/x", op=random.choice(("Foo", "MatMul", "AddN")), input=reads)
    return graph


def attributes_of_functions(random: Random) -> GraphDef:
    """Many attributes that name functions, of which there are many, each with many inputs."""
    graph = GraphDef()
    first, second = pair(random, 6000)
    graph.node.add(name="x", op="Placeholder")
    node = graph.node.add(name="c", op=random.choice(("Case", "Foo", "While")), input=["x"] * min(second, 5000))
    for at in range(min(first, 5000)):
        name = f"f{at % random.choice((1, 2, 5000))}"
        if random.random() < 0.5:
            node.attr["branches"].list.func.add(name=name)
        else:
            node.attr[f"g{at}"].func.name = name
    for at in range(min(second, 1000)):
        function = graph.library.function.add()
        function.signature.name = f"f{at}"
        function.signature.input_arg.add(name="a")
        function.node_def.add(name="y", op=random.choice(("Relu", "f0")), input=["a"])
    return graph


def shapes(random: Random) -> GraphDef:
    """Claims about shapes: very many sizes, very large ones, of many outputs, with many users."""
    graph = GraphDef()
    dims, users = pair(random)
    node = typed(
        graph.node.add(name="x", op=random.choice(("Foo", "Unpack", "Split", "DynamicPartition", "IdentityN")))
    )
    claimed = node.attr["_output_shapes"].list
    for _ in range(random.choice((1, 1, 100))):
        made = claimed.shape.add()
        for _ in range(min(dims, 100_000 // max(1, len(claimed.shape)))):
            made.dim.add(size=random.choice((1, -1, 2**62 + 1, -(2**63))))
    for name in ("num", "N", "num_split", "num_partitions", "num_outputs"):
        node.attr[name].i = random.choice((2, 4096, 2**31, 2**63 - 1, -1))
    node.attr["T"].list.type.extend([1] * random.choice((0, 3, 20_000)))
    for at in range(min(users, 3000)):
        made = typed(graph.node.add(name=f"u{at}", op=random.choice(("Relu", "Reshape", "MatMul", "AddN", "Foo"))))
        made.input.extend([f"x:{at}", "x"][: random.choice((1, 2))])
    const(graph, "c", [1], [random.choice((2**62 + 1, 2, -1))] * dims)
    graph.node.add(name="m", op="MatMul", input=["x", "c"])
    return graph


def formulas(random: Random) -> GraphDef:
    """Sizes that are not known, worked out of each other again and again: sums, products, parts, twice each."""
    graph = GraphDef()
    for name in "xy":
        made = typed(graph.node.add(name=name, op="Placeholder")).attr["shape"].shape
        for _ in range(random.choice((1, 2, 4))):
            made.dim.add(size=-1)
        typed(graph.node.add(name=f"{name}s", op="Shape", input=[name]))
    numbers = random.choice(([0], [1, -1], list(range(1000)), [2**31 - 1], [0, 1, 2, 3]))
    const(graph, "k", numbers, random.choice((None, [], [1])))
    made_so_far = ["xs", "ys", "k"]
    ops = random.sample(ON_SIZES, random.choice((1, 2, 4, 12)))
    for at in range(random.choice((20, 300, 5000))):
        node = typed(graph.node.add(name=f"n{at}", op=random.choice(ops)), 3)
        near = made_so_far[-2:] if random.random() < 0.8 else made_so_far
        node.input.extend(random.choice(near) for _ in range(random.choice((1, 2, 2, 3))))
        node.attr["N"].i = len(node.input)
        made_so_far.append(node.name)
    typed(graph.node.add(name="r", op="Reshape", input=["x", made_so_far[-1]]))
    return graph


def any_rule(random: Random) -> GraphDef:
    """Every op whose shape is worked out, fed by whatever there is, with attributes that other ops have."""
    graph = GraphDef()
    names = []
    for at in range(30):
        if random.random() < 0.5:
            const(graph, f"c{at}", random.choices((0, 1, 2, -1, 7, 2**31 - 1), k=random.choice((1, 2, 4, 300))))
        else:
            made = typed(graph.node.add(name=f"c{at}", op="Placeholder")).attr["shape"].shape
            for _ in range(random.choice((0, 1, 2, 3, 4, 5, 300))):
                made.dim.add(size=random.choice((-1, 0, 1, 3, 8, 2**40, 2**62)))
        names.append(f"c{at}")
    for at, op in enumerate(random.choices(op_types_with_shape_rules(), k=random.choice((50, 400)))):
        node = typed(graph.node.add(name=f"n{at}", op=op), random.choice((1, 3, 9, 99)))
        node.input.extend(random.choices(names[-40:], k=random.choice((0, 1, 2, 2, 3, 5, 40))))
        for name in random.sample(ATTRIBUTES, random.choice((0, 2, 8, len(ATTRIBUTES)))):
            _value(node.attr[name], random)
        names.append(f"n{at}:{random.choice((0, 0, 0, 1, 9))}")
    return graph


ATTRIBUTES = (
    *("N", "num", "num_split", "axis", "shape", "strides", "padding", "data_format", "dilations", "ksize", "equation"),
    *("keep_dims", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "squeeze_dims"),
    *("batch_dims", "transpose_a", "adj_x", "block_size", "out_type", "output_shapes", "element_shape", "shapes"),
    *("explicit_paddings", "sparse_types", "dense_shapes", "output_types", "Tout", "Tin", "num_outputs", "k"),
)


def _value(value: Any, random: Random) -> None:
    sizes = (-1, 0, 1, 2, 3, 2**31, 2**63 - 1, -(2**63))
    fill: list[Callable[[], Any]] = [
        lambda: setattr(value, "i", random.choice(sizes)),
        lambda: value.list.i.extend(random.choices(sizes, k=random.choice((1, 2, 4, 5, 300)))),
        lambda: value.list.type.extend([random.choice((1, 3, 77))] * random.choice((1, 3, 1000))),
        lambda: setattr(value, "s", random.choice((b"SAME", b"NCHW", b"ij,jk->ik", b"...i->i...", b",->", b"\xff"))),
        lambda: value.list.shape.add().dim.add(size=random.choice(sizes)),
        lambda: value.shape.dim.add(size=random.choice(sizes)),
        lambda: setattr(value, "b", True),
        lambda: setattr(value, "f", random.choice((float("nan"), float("inf"), 0.5))),
    ]
    random.choice(fill)()


MAKERS = (fans, equal_names, weights, attributes_of_functions, shapes, formulas, any_rule)
FAMILIES = {make.__name__: binary(make) for make in MAKERS}
