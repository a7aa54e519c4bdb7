"""Arbitrary graphs: small, but with everything that a file can hold, sound or not."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

from hypothesis import strategies as st

from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.paths import RowPath, child_path, function_row_of
from graphviz_tb.proto import GraphDef

SEGMENTS = ["a", "b", "layer_0", "layer_1", "w", "foo", "foo1", "foo_1", "foo_2", "n_1", "n_2", "n_3", "conv2d_1", "7"]
ODD = ["", "/", "a//b", "/a", "a/", "a/(a)", "x::y", "a:b", "^a", "w*", "n_[1-3]", "constructor", "<b>&\"'", "\u5c64\n"]
OPS = [
    "Relu",
    "Relu",
    "Add",
    "MatMul",
    "NoOp",
    "VariableV2",
    "Assign",
    "Const",
    "Const",
    "ScalarSummary",
    "MergeSummary",
]
SPELLINGS = ["{}", "{}", "{}", "{}:1", "{}:out:1", "^{}", "^{}", "missing_{}"]

names = st.one_of(
    st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4).map("/".join),
    st.builds("{}_{}".format, st.sampled_from(["n", "a/n", "foo"]), st.integers(0, 8)),
    st.sampled_from(ODD),
)
inputs = st.tuples(st.integers(0, 40), st.sampled_from(SPELLINGS))
nodes = st.tuples(names, st.sampled_from([*OPS, ""]), st.lists(inputs, max_size=4))
Spec = tuple[str, str, list[tuple[int, str]]]


@st.composite
def graph_defs(draw: st.DrawFn, most: int = 16, functions: bool = True) -> GraphDef:
    """Nested scopes, ops that are scopes, numbered runs, repeated blocks, marks, missing and repeated inputs, loops,
    duplicates, functions that call each other and themselves."""
    graph = GraphDef()
    called = [f"f{number}" for number in range(draw(st.integers(0, 2)))] if functions else []
    specs = [*draw(st.lists(nodes, min_size=1, max_size=most)), *draw(repeated_blocks())]
    fill(graph.node, draw(st.permutations(specs)), [])
    for name in called:
        function = graph.library.function.add()
        function.signature.name = name
        arguments = [f"x{number}" for number in range(draw(st.integers(0, 2)))]
        for argument in arguments:
            function.signature.input_arg.add(name=argument)
        function.signature.output_arg.add(name="out")
        body = draw(st.lists(nodes, min_size=1, max_size=4))
        fill(function.node_def, body, arguments)
        function.ret["out"] = f"{body[-1][0]}:out:0"
    for node in [*graph.node, *(node for function in graph.library.function for node in function.node_def)]:
        if called and draw(st.integers(0, 5)) == 0:
            call(node, draw(st.sampled_from(["PartitionedCall", "While", *called])), draw(st.permutations(called)))
    return graph


@st.composite
def wide_levels(draw: st.DrawFn) -> GraphDef:
    """Up to 150 siblings: numbered, prefixed, chained, hung on one hub, or with nothing in common."""
    graph = GraphDef()
    count = draw(st.integers(31, 150))
    stems = draw(st.lists(st.text("abcXY_09", min_size=1, max_size=5), min_size=1, max_size=12))
    style = draw(st.sampled_from(["{stem}_{at}", "{stem}{at}", "{at}{stem}", "{stem}_{at}_grad", "same"]))
    wires = draw(st.sampled_from(["chain", "hub", "none", "random"]))
    scope = draw(st.sampled_from(["", "a/b/"]))
    mess = draw(st.randoms(use_true_random=False))
    names = [scope + style.format(stem=mess.choice(stems), at=at) for at in range(count)]
    for at, name in enumerate(names):
        link = {"chain": at - 1, "hub": 0, "random": mess.randrange(count)}.get(wires, -1)
        leaf = mess.choice(["", "", "/x"])
        graph.node.add(name=name + leaf, op=mess.choice(["Relu", "Add"]), input=[names[link]] if link >= 0 else [])
    return graph


@st.composite
def repeated_blocks(draw: st.DrawFn) -> list[Spec]:
    """`block_0 … block_n` of one structure, or nearly."""
    count = draw(st.integers(0, 6))
    inside = draw(st.lists(st.tuples(st.sampled_from(["in", "w", "s/mul", "s/add"]), st.sampled_from(OPS)), max_size=4))
    wires = [draw(st.lists(inputs, max_size=2)) for _ in inside]
    return [
        (f"block_{at}/{name}", op, links)
        for at in range(count)
        for (name, op), links in zip(inside, wires, strict=True)
    ]


def fill(into: Any, specs: list[Spec], arguments: list[str]) -> None:
    """Add nodes; an input is spelt with the name of some node of the same graph."""
    names = [*arguments, *(name for name, _, _ in specs)]
    for name, op, links in specs:
        spelt = [spelling.format(names[at % len(names)]) for at, spelling in links]
        into.add(name=name, op=op, input=spelt)


def call(node: Any, op: str, functions: list[str]) -> None:
    """Make a node a call: one function, cond and body, or by its op type as TensorFlow 1 wrote it."""
    node.op = op
    if op == "PartitionedCall":
        node.attr["f"].func.name = functions[0]
    elif op == "While":
        node.attr["cond"].func.name = functions[0]
        node.attr["body"].func.name = functions[-1]


FOLDINGS: list[dict[str, Any]] = [
    {},
    {"preset": "tensorboard"},
    {"max_children": 4},
    {"max_children": 6, "series_min": 2},
    {"extract": False, "series_min": 3},
    {"min_nodes": 4, "min_degree": 2},
]
foldings = st.sampled_from(FOLDINGS)


def openable(model: Model, most: int = 60, calls: int = 2) -> list[RowPath]:
    """Groups and calls that can be opened by name, each after what is around it.

    Left out: the empty name, which is the root's, and a name that stands twice, which is that of the first.
    """
    hierarchy = model.hierarchy
    count: dict[tuple[int, str], int] = {}
    for row, name in enumerate(hierarchy.name):
        place = function_row_of(hierarchy, row), name
        count[place] = count.get(place, 0) + 1
    found: list[RowPath] = []
    todo: list[RowPath] = [(0,)]
    while todo and len(found) < most:
        path = todo.pop(0)
        for row in model.metagraph(path).children:
            child = child_path(hierarchy, path, row)
            name = hierarchy.name[row]
            alone = name and count[function_row_of(hierarchy, row), name] == 1
            if hierarchy.can_open(row) and alone and len(child) <= calls + 1:
                found.append(child)
                todo.append(child)
    return found


def unlike_blocks(luck: Random, least: int = 2, most: int = 4, first: str = "0") -> tuple[GraphDef, list[str]]:
    """Blocks of blocks of blocks, some of which read more than the others; and all names. `first` is in the names of
    the first of each."""
    made, every = GraphDef(), ["x", "mask"]
    for name in every:
        made.node.add(name=name, op="Placeholder")
    ops = [luck.choice(("AddN", "Mul", "Relu")) for _ in range(luck.randint(1, 3))]
    for outer, inner, deep in product(*([first, *range(1, luck.randint(least, most))] for _ in range(3))):
        for number, op in enumerate(ops):
            more = [luck.choice(("", "^")) + luck.choice(every)] if luck.random() < 0.1 else []
            every.append(f"net/b_{outer}/c_{inner}/d_{deep}/p{number}/{op}")
            made.node.add(name=every[-1], op=op, input=[every[-2], "mask", *more])
    return made, every
