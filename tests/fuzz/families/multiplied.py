"""Families for what two sizes of a file, or of two files, make together in `diff`, in calls and when calls are opened.

Each has two sizes: siblings × siblings, depth × depth, constants × what they claim to hold, calls × results, uses × the
length of a name.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from graphviz_tb.proto import GraphDef, SavedModel
from tests.fuzz.families.graphs import binary
from tests.fuzz.families.products import const, pair, typed
from tests.fuzz.families.related import Made, compared

OPS = ("Relu", "Einsum", "Conv2D", "MatMul", "Add", "Const", "ReadVariableOp", "Identity", "VarHandleOp", "Foo")
CALLS = ("PartitionedCall", "StatefulPartitionedCall", "While", "Case", "f0", "MapDataset")


def both(make: Callable[[Random, int], GraphDef]) -> Callable[[Random], Made]:
    """The same graph twice, `make` with 0 and with 1, and a comparison of the two."""

    def made(random: Random) -> Made:
        seed = random.random()
        old, new = (make(Random(seed), which).SerializeToString() for which in (0, 1))
        return {"old.pb": old, "new.pb": new}, ["diff", "old.pb", "new.pb", *compared(random)]

    made.__name__ = make.__name__
    return made


def claims(random: Random, which: int) -> GraphDef:
    """Constants of few bytes that say they hold millions of numbers."""
    graph = GraphDef()
    many, size = pair(random, 3000)[0], random.choice((1, 1000, 2**24, 2**40))
    for at in range(many):
        const(graph, f"c{at}", [at + which], [size])
    graph.node.add(name="u", op=random.choice(OPS), input=[f"c{at}" for at in range(many)])
    return graph


def deep_scopes(random: Random, which: int) -> GraphDef:
    """Ops in scopes in each other, which have other names in the other file."""
    graph = GraphDef()
    depth, many = pair(random, 10_000)
    word = random.choice(("a", "scope", "s_1")) + random.choice(("", "b" * which))
    for at in range(min(many, 3000)):
        name = f"{word}/" * min(depth, 300_000 // many + 1) + f"x{at}"
        graph.node.add(name=name, op=f"Op{at % 9}", input=["in"] if random.random() < 0.5 else [])
    graph.node.add(name="in", op="Placeholder")
    return graph


def siblings(random: Random, which: int) -> GraphDef:
    """Scopes beside each other, numbered twice, each with an op of a layer."""
    graph = GraphDef()
    many, inside = pair(random, 9000)
    form = random.choice(("{at}", "w{at}_{other}", "layer_{at}", "attention_{at}", "{at}_1"))
    for at in range(many):
        scope = form.format(at=at + which, other=at % 7 + which)
        for part in range(min(inside, 20_000 // many + 1)):
            graph.node.add(name=f"m/{scope}/op{part}", op=random.choice(OPS))
    return graph


def weighted(random: Random, which: int) -> GraphDef:
    """One op of a layer with thousands of weights or settings, of as many shapes."""
    graph = GraphDef()
    many, users = pair(random, 6000)
    kind = random.choice(("ReadVariableOp", "Const", "VarHandleOp"))
    for at in range(many):
        if kind == "Const":
            const(graph, f"m/w{at}", [2 * at + which])
            continue
        shape = typed(graph.node.add(name=f"m/w{at}", op=kind)).attr["shape"].shape
        for size in (at + 1 + which, 10_000 + at):
            shape.dim.add(size=size)
    for at in range(min(users, 200_000 // many + 1)):
        graph.node.add(name=f"m/x{at}", op=random.choice(OPS), input=[f"m/w{each}" for each in range(many)])
    for at in range(random.choice((0, 9000))):
        graph.node.add(name=f"y{at}", op="Relu", input=["m/x0"])
    return graph


def rewired(random: Random, which: int) -> GraphDef:
    """Ops with very many inputs, which all come from somewhere else."""
    graph = GraphDef(node=[{"name": letter, "op": letter} for letter in "abcdefgh"])
    inputs, many = pair(random, 60_000)
    for at in range(many):
        kept = random.choices("abcdefgh"[which : which + random.choice((1, 7))], k=min(inputs, 150_000 // many + 1))
        graph.node.add(name=f"t{at}", op="AddN", input=kept)
    return graph


def bodies_apart(random: Random, which: int) -> GraphDef:
    """Functions that call each other, with a body of many ops at the end, called often."""
    graph = GraphDef()
    deep, many = pair(random, 4000)
    called = min(random.choice((1, 30, 9000)), 200_000 // max(deep, many))
    for at in range(deep):
        function = graph.library.function.add()
        function.signature.name = f"f{at}"
        function.node_def.add(name="c", op=f"f{at + 1}")
    function = graph.library.function.add()
    function.signature.name = f"f{deep}"
    for at in range(many):
        node = function.node_def.add(name=f"n{at}", op=random.choice(OPS))
        node.attr["v"].i = 2 * at + which
    for at in range(called):
        graph.node.add(name=f"s/{at}" if random.random() < 0.9 or not which else f"t/{at}", op="f0")
    return graph


def series_apart(random: Random, which: int) -> GraphDef:
    """Many series of many members, of which some come and go."""
    graph = GraphDef()
    series, members = pair(random, 30_000)
    for at in range(series):
        for member in range(min(members, 40_000 // series + 1)):
            if (member + at) % 97 != which:
                op = f"Op{(member + which) % 5}"
                graph.node.add(name=f"s{at}/block_{member}{random.choice(('', '/x'))}", op=op)
    return graph


def trained_bodies(random: Random, which: int) -> GraphDef:
    """Functions that hold gradients of their own, beside many ops."""
    graph = GraphDef()
    many, beside = pair(random, 20_000)
    for at in range(min(many, 3000)):
        function = graph.library.function.add()
        function.signature.name = f"f{at}"
        function.node_def.add(name="r", op="Relu")
        for number in range(1 + which):
            scope = random.choice(("gradients/", "", "gradient_tape/"))
            made = function.node_def.add(name=f"{scope}g{number}", op="ReluGrad", input=["r:activations:0"])
            made.attr["v"].i = at
        graph.node.add(name=f"x{at}", op=f"f{at}")
    for at in range(beside):
        graph.node.add(name=f"y{at}", op="Relu")
    return graph


def borne(random: Random, which: int) -> GraphDef:
    """Ops that changed, and gradients whose long names may tell which of them they follow from."""
    graph = GraphDef()
    many, behind = pair(random, 10_000)
    length = random.choice((1, 30, 700))
    for at in range(many):
        graph.node.add(name="a" * min(length, 45) + f"{at:x}" + "a" * 20, op="Relu").attr["v"].i = 2 * at + which
    for at in range(min(behind, 700_000 // length) * which):
        graph.node.add(name="gradients/" + "a" * length + f"{at:x}", op="ReluGrad")
    return graph


def renamed_apart(random: Random, which: int) -> GraphDef:
    """Ops of long names, each of which has another part exchanged."""
    graph = GraphDef()
    many, length = pair(random, 3000)
    length = min(length, 1_000_000 // many)
    for at in range(many):
        parts = "a" * length, "a" * (75 - 3 * which) + f"{at + which * many:x}" + "a" * (15 + 3 * which)
        graph.node.add(name=random.choice(("/", "_")).join(parts), op="Relu").attr["v"].i = at
    return graph


def beside_deep(random: Random, which: int) -> GraphDef:
    """Scopes in each other, each the first of a series that gets hundreds of members."""
    graph = GraphDef()
    deep, many = pair(random, 10_000)
    deep = min(deep, 40)
    for at in range(many):
        graph.node.add(name="0/" * deep + f"x{at}", op=f"A{at if not which or at % 10 else -at}")
    for level in range(deep * which):
        for at in range(1, random.choice((2, 256))):
            graph.node.add(name="0/" * level + f"{at}/y", op=f"B{at}")
    return graph


def results(random: Random) -> GraphDef:
    """Calls of functions with thousands of results, by ops that read each of them."""
    graph = GraphDef()
    many, calls = pair(random, 9000)
    many, calls = min(many, 9000), min(calls, 9000)
    function = graph.library.function.add()
    function.signature.name = "f0"
    made = typed(function.node_def.add(name="n", op=random.choice(("IteratorGetNext", "Split", "Relu", "Foo"))))
    made.attr["output_types"].list.type.extend([1] * many)
    for at in range(many):
        function.signature.output_arg.add(name=f"r{at}", type=1)
        function.ret[f"r{at}"] = random.choice((f"n:components:{at}", "n:y:0"))
        made.attr["output_shapes"].list.shape.add().dim.add(size=random.choice((3, -1)))
    op = random.choice(CALLS)
    for at in range(calls):
        node = graph.node.add(name=f"c{at}", op=op)
        for key in ("f", "body", "cond") if op != "f0" else ():
            node.attr[key].func.name = "f0"
        node.attr["branches"].list.func.add(name="f0")
        graph.node.add(name=f"u{at}", op="Relu", input=[f"c{at}:{at % many}"])
    for at in range(many if calls == 1 else 0):
        graph.node.add(name=f"v{at}", op="Relu", input=[f"c0:{at}"])
    return graph


def readers(random: Random) -> GraphDef:
    """One variable of a long name, which thousands of ops read."""
    graph = GraphDef()
    length, many = pair(random, 200_000)
    handle = typed(graph.node.add(name="h", op=random.choice(("VarHandleOp", "VariableV2", "Placeholder"))))
    handle.attr["shared_name"].s = b"resource/" * (length // 9 + 1)
    for at in range(min(many, 6000)):
        typed(graph.node.add(name=f"r{at}", op="ReadVariableOp", input=["h"]))
        typed(graph.node.add(name=f"y{at}", op="MatMul", input=["h", f"r{at}"]))
    return graph


def opened_wrappers(random: Random) -> Made:
    """A SavedModel whose signatures are calls in calls, with many nodes or long names beside them."""
    model = SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    graph = meta.graph_def
    deep, many = pair(random, 20_000)
    deep, length = min(deep, 120), random.choice((1, 1, 5000, 100_000))
    many = min(many, 20_000 if length < 5000 else 3000)
    long = "n" * length
    signatures = random.choice((1, 1, 20))
    for signature in range(signatures):
        _signature(meta, signature, long)
        graph.node.add(name=f"{long}{signature}", op="Placeholder")
        node = graph.node.add(name=f"call{signature}", op="StatefulPartitionedCall", input=[f"{long}{signature}"])
        node.attr["f"].func.name = "f0"
    for at in range(deep):
        function = graph.library.function.add()
        _interface(function, at)
        if at + 1 < deep:
            call = function.node_def.add(name="c", op="StatefulPartitionedCall", input=["x"])
            call.attr["f"].func.name = f"f{at + 1}"
            function.ret["y"] = "c:output:0"
        beside = random.choice(("Const", "NoOp", "Identity", "Placeholder", "Relu"))
        for number in range(many if at in (0, deep - 1) else 0):
            typed(function.node_def.add(name=f"b{number}", op=beside, input=["x"] if beside in OPS[:1] else []))
        if at + 1 == deep:
            last = function.node_def.add(name="z", op="Relu", input=["x"])
            function.ret["y"] = f"{last.name}:activations:0"
    command = random.choice((["info"], ["render", "-o", "out/a.svg"], ["tree"], ["info", "--signature", "s0"]))
    return {"m/saved_model.pb": model.SerializeToString()}, [command[0], "m", *command[1:]]


def _interface(function: Any, number: int) -> None:
    function.signature.name = f"f{number}"
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)


def _signature(meta: Any, number: int, long: str) -> None:
    made = meta.signature_def[f"s{number}"]
    made.method_name = "tensorflow/serving/predict"
    made.inputs["x"].name = f"{long}{number}:0"
    made.outputs["y"].name = f"call{number}:0"


MAKERS = (results, readers)
FAMILIES = {make.__name__: binary(make) for make in MAKERS}
PAIRS = (
    *(claims, deep_scopes, siblings, weighted, rewired, bodies_apart, series_apart),
    *(trained_bodies, borne, renamed_apart, beside_deep),
)
SETS: dict[str, Callable[[Random], Made]] = {make.__name__: both(make) for make in PAIRS} | {
    "opened_wrappers": opened_wrappers
}
