"""Families of calls: functions that call functions, as deep, as wide and as wrapped as a small file can hold."""

from __future__ import annotations

from random import Random
from typing import Any

from graphviz_tb.proto import GraphDef
from tests.fuzz.families.graphs import binary

CALLS = ("PartitionedCall", "StatefulPartitionedCall")
BRANCHES = {"While": ("cond", "body"), "If": ("then_branch", "else_branch"), "StatelessWhile": ("body", "cond")}
MOST = 12_000  # nodes in all bodies


def call(nodes: Any, name: str, function: str, inputs: list[str], random: Random) -> None:
    """A node that calls a function, in one of the ways there are."""
    way = random.random()
    node = nodes.add(name=name, input=inputs)
    if way < 0.7:
        node.op = random.choice(CALLS)
        node.attr["f"].func.name = function
    elif way < 0.8:
        node.op = function
    elif way < 0.9:
        node.op = random.choice(sorted(BRANCHES))
        for attribute in BRANCHES[node.op]:
            node.attr[attribute].func.name = function
    else:
        node.op = "Case"
        for _ in range(random.choice((1, 3, 200))):
            node.attr["branches"].list.func.add(name=function)


def wrappers(random: Random) -> GraphDef:
    """Chains, fans and lattices of functions: bodies that only pass on, that compute a little, that hold much."""
    graph = GraphDef()
    depth, width = random.choice(((1, 300), (5, 20), (30, 3), (200, 2), (1000, 1), (4000, 1)))
    pads = random.choice((0, 0, 1, max(0, MOST // depth // 10)))
    arguments = random.choice((1, 1, 3, max(1, 2000 // depth)))
    form = random.choice(("chain", "fan", "back", "any"))
    names = [f"f{level}" for level in range(depth)]
    for level, name in enumerate(names):
        function = graph.library.function.add()
        function.signature.name = name
        inputs = [f"a{at}" for at in range(arguments)]
        for at in inputs:
            function.signature.input_arg.add(name=at, type=1)
        last = padded(function.node_def, pads, inputs[0], ":y:0", random)
        for at in range(width if form != "chain" else 1):
            to = {"chain": level + 1, "fan": level + 1, "back": level - at - 1}.get(form, random.randrange(depth + 1))
            called = names[to % depth] if to < depth else "absent"
            call(function.node_def, f"c{at}", called, [last, *inputs[1:]], random)
        for at in range(random.choice((0, 1, arguments))):
            function.signature.output_arg.add(name=f"o{at}", type=1)
            function.ret[f"o{at}"] = random.choice((f"c0:output:{at}", f"c0:o{at}:0", inputs[0], last))
    graph.node.add(name="x", op="Placeholder")
    first = padded(graph.node, pads, "x", "", random)
    for at in range(random.choice((1, 1, 5, 500))):
        call(graph.node, f"call{at}", names[0] if at < 5 else random.choice(names), [first] * arguments, random)
    return graph


def padded(nodes: Any, count: int, first: str, output: str, random: Random) -> str:
    """So many nodes one after the other, or beside one another; the name of the last output."""
    op = random.choice(("Identity", "Relu", "NoOp"))
    last, chained = first, random.random() < 0.7
    for number in range(count):
        nodes.add(name=f"p{number}", op=op, input=[f"^{last}" if op == "NoOp" and number else last])
        if chained and op != "NoOp":
            last = f"p{number}{output}"
    return last


def recursion(random: Random) -> GraphDef:
    """Functions that call each other round and round, with names as deep as the calls are."""
    graph = GraphDef()
    count = random.choice((2, 9, 300))
    deep = "s/" * random.choice((0, 1, 50, 9000 // count)) + "c"
    for number in range(count):
        function = graph.library.function.add()
        function.signature.name = f"r{number}" if random.random() < 0.9 else f"{deep}_{number}"
        for at in range(random.choice((1, 2, 3))):
            called = f"r{random.randrange(count)}"
            call(function.node_def, f"{deep}{at}", called, [f"{deep}{(at + 1) % 3}:output:0"], random)
    for number in range(random.choice((1, 30))):
        call(graph.node, f"{deep}{number}", f"r{number % count}", [f"{deep}{number}"], random)
    return graph


def gradients(random: Random) -> GraphDef:
    """Functions by twos, the one replaced by the other: copies, forward and backward, of one name and many numbers."""
    graph = GraphDef()
    stem = random.choice(("__inference_f", "__forward_f", "while_body", "f", "__inference___backward_f"))
    count = random.choice((3, 100, 3000))
    for number in range(count):
        function = graph.library.function.add()
        function.signature.name = f"{stem}_{random.choice((number, number // 2, 7**number if number < 50 else 0))}"
        function.node_def.add(name="y", op=random.choice(("Relu", f"{stem}_{number + 1}")))
        function.attr["forward_function_name"].s = f"{stem}_{(number + 1) % count}".encode()
        graph.library.gradient.add(function_name=function.signature.name, gradient_func=f"{stem}_{number + 1}")
    for number in range(random.choice((1, 1000))):
        node = graph.node.add(name=f"n{number}", op="PartitionedCall")
        node.attr["f"].func.name = f"{stem}_{number}"
        node.attr["_gradient_op_type"].s = f"CustomGradient-{random.choice((0, number))}".encode()
    return graph


MAKERS = (wrappers, recursion, gradients)
FAMILIES = {make.__name__: binary(make) for make in MAKERS}
