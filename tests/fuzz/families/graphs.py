"""Families of GraphDefs that are legal messages and no graph anyone would make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from google.protobuf import text_format

from graphviz_tb.proto import GraphDef, MetaGraphDef, SavedModel

Maker = Callable[[Random], GraphDef]

ODD = [
    *(
        "",
        "/",
        "//",
        "a//b",
        "/a",
        "a/",
        ".",
        "..",
        "a/..",
        "^",
        "^a",
        ":",
        "a:0",
        "a:-1",
        "::",
        "a::b",
        "x::::y",
        "*",
        "**",
    ),
    *(
        "?",
        "a[0-5]",
        "a_[0-9]",
        "[",
        "]",
        "a\nb",
        "a\tb",
        "a\0b",
        "\x1b[31m",
        "a b",
        " ",
        "'",
        '"',
        "<b>",
        "&amp;",
        "]]>",
    ),
    *(
        "_too_large_attrs",
        "input_arg",
        "-",
        "--help",
        "%s",
        "{}",
        "\\",
        "a\\b",
        "é",
        "한국어",
        "العربية",
        "🙂" * 5,
        "\u202eabc",
    ),
    *(
        "\ud7ff",
        "\ufffe",
        "\u200b",
        "a\u0301",
        "İ",
        "ß",
        "1",
        "01",
        "1_1",
        "_",
        "__",
        "9" * 30,
        "x" * 300,
        "~",
        "|",
        "$",
    ),
]
OPS = ["Add", "MatMul", "NoOp", "Const", "Placeholder", "Switch", "Merge", "While", "PartitionedCall", "", "f", "<>&"]


def odd_names(random: Random) -> GraphDef:
    """Names that look like something else; scopes, series and folds called alike; inputs that name nothing."""
    graph = GraphDef()
    words = random.sample(ODD, random.randint(1, 12))
    names = ["/".join(random.choices(words, k=random.randint(1, 3))) for _ in range(random.choice((1, 5, 60)))]
    for name in names:
        node = graph.node.add(name=name, op=random.choice(OPS), device=random.choice(["", "", *ODD]))
        for _ in range(random.randint(0, 3)):
            node.input.append(
                random.choice(["", "^", "^^"])
                + random.choice([*names, *ODD])
                + random.choice(["", ":0", ":1", ":-1", ":9" * 9])
            )
    return graph


def numbered(random: Random) -> GraphDef:
    """Names with numbers: series, folds, and nodes called as those would be."""
    graph = GraphDef()
    stem = random.choice(["a", "a_", "s/n", "", "0", "x::", "a[", "a[0-"])
    for number in range(random.choice((3, 6, 60))):
        graph.node.add(name=f"{stem}{number}{random.choice(['', '', '/b', '/b/c', '_1'])}", op="Add")
    for name in random.sample(["a[0-5]", "a_[0-59]", "a", "s", "s/n[0-59]", "a[0-5]/b", "a_0", "::", "a[0-2]"], 4):
        graph.node.add(name=name, op="Add", input=[f"{stem}0"])
    return graph


def deep(random: Random) -> GraphDef:
    """Very many levels, or very long names."""
    graph = GraphDef()
    levels, length = random.choice([(100, 1), (5000, 1), (100_000, 1), (10, 100_000), (1000, 30)])
    name = "/".join("s" * length for _ in range(levels))
    graph.node.add(name=name, op="Add")
    for number in range(random.choice((0, 0, 3))):
        graph.node.add(name=f"{name[: len(name) // (number + 1)].rstrip('/')}/x{number}", op="Neg", input=[name])
    return graph


def shape(random: Random) -> GraphDef:
    """Chains, hubs, bushes, rings, cliques, flat, named alike or not."""
    graph = GraphDef()
    nodes = random.choice((2, 10, 100, 1000, 5000, 20_000))
    kind = random.choice(["chain", "hub in", "hub out", "random", "ring", "clique", "loops", "control", "pairs"])
    stem = random.choice(["n", "s/n", "s/t/n_", ""])
    names = [f"{stem}{number}" if random.random() < 2 else "" for number in range(nodes)]
    if random.random() < 0.4:  # names that are unlike
        names = [stem + "".join(random.choices("abcdefgh", k=9)) + str(number % 7) for number in range(nodes)]
    for number, name in enumerate(names):
        graph.node.add(name=name, op=random.choice(OPS[:3])).input.extend(_inputs(kind, number, names, random))
    return graph


def _inputs(kind: str, at: int, names: list[str], random: Random) -> Iterator[str]:
    if kind in ("chain", "ring"):
        yield names[at - 1 if at or kind == "ring" else 0]
    elif kind == "hub in" and at == 0:
        yield from names[1:]
    elif kind == "hub out" and at:
        yield names[0]
    elif kind == "random":
        yield from random.choices(names, k=4)
    elif kind == "clique":
        yield from names[max(0, at - 60) : at]
    elif kind == "loops":
        yield from [names[at]] * 3
    elif kind == "control":
        yield from (f"^{name}" for name in random.choices(names, k=3))
    elif kind == "pairs":
        yield names[at ^ 1 if at ^ 1 < len(names) else at]


def functions(random: Random) -> GraphDef:
    """Functions that call themselves, each other, twice the next, none at all; odd names and signatures."""
    graph = GraphDef()
    count = random.choice((1, 2, 10, 60, 200, 2000))
    kind = random.choice(["chain", "twice", "itself", "ring", "absent", "all"])
    names = [f"f{number}" if random.random() < 0.95 else random.choice(ODD) or "g" for number in range(count)]
    if random.random() < 0.1:
        names[0] = "f_" + "7" * 5000
    for at, name in enumerate(names):
        function = graph.library.function.add()
        function.signature.name = name
        if random.random() < 0.5:
            function.signature.input_arg.add(name="x", type=random.choice((0, 1, 99)))
            function.signature.output_arg.add(name="y")
            function.ret["y"] = random.choice(["n0:y:0", "absent:0", "", "x"])
        for place in range(2 if kind == "twice" else 1):
            called = {"itself": name, "absent": "nowhere", "ring": names[(at + 1) % count]}.get(
                kind, names[min(at + 1, count - 1)]
            )
            node = function.node_def.add(name=f"n{place}", op=random.choice([called, "PartitionedCall"]), input=["x"])
            node.attr["f"].func.name = called
    for name in names[: random.choice((1, 5))]:
        graph.node.add(name=f"call_{len(graph.node)}", op=name if kind != "all" else "While").attr[
            "body"
        ].func.name = name
    return graph


def attributes(random: Random) -> GraphDef:
    """Attributes of the wrong kind, of absurd size, with numbers past every bound."""
    graph = GraphDef()
    huge = random.choice((-(2**63), 2**63 - 1, -1, 0, 2**31, 10**18))
    for number in range(random.choice((1, 30))):
        node = graph.node.add(name=f"n{number}", op=random.choice([*OPS, "Conv2D", "VarHandleOp", "Reshape", "Einsum"]))
        if number:
            node.input.append(f"n{random.randrange(number)}:{random.choice((0, 1, 10**9, 10**30))}")
        value = node.attr[
            random.choice(["_output_shapes", "shape", "dtype", "T", "value", "strides", "_class", "f", "N"])
        ]
        which = random.randrange(8)
        if which == 0:
            for _ in range(random.choice((1, 1000))):
                value.list.shape.add().dim.add(size=huge)
        elif which == 1:
            value.shape.unknown_rank = True
            value.shape.dim.add(size=huge, name=random.choice(ODD))
        elif which == 2:
            value.tensor.tensor_shape.dim.add(size=huge)
            value.tensor.dtype = random.choice((0, 1, 22, 99, 2**31 - 1, -1))
            value.tensor.tensor_content = random.randbytes(9)
        elif which == 3:
            value.type = random.choice((0, 1, 101, 9999, -5))
        elif which == 4:
            value.i = huge
        elif which == 5:
            value.list.s.append(random.randbytes(20))
            value.s = b"loc:@" + random.randbytes(9)
        elif which == 6:
            value.func.name = random.choice(ODD)
            value.f = float(random.choice(("nan", "inf", "1e308")))
        else:
            for _ in range(random.choice((1, 2000))):
                value.list.type.append(random.choice((1, 77)))
    return graph


def many_empty(random: Random) -> GraphDef:
    """As many parts as a small file can hold."""
    graph = GraphDef()
    count = random.choice((1000, 100_000, 400_000))
    part = random.choice(["nodes", "inputs", "functions", "attrs", "args"])
    if part == "nodes":
        graph.MergeFromString(b"\n\0" * count)
    elif part == "inputs":
        graph.node.add(name="a").input.extend([""] * count)
    elif part == "functions":
        graph.library.MergeFromString(b"\n\0" * (count // 10))
        graph.node.add(name="a")
    elif part == "attrs":
        node = graph.node.add(name="a")
        for number in range(count // 10):
            node.attr[f"k{number}"].i = number
    else:
        function = graph.library.function.add()
        for number in range(count // 10):
            function.signature.input_arg.add(name=f"x{number % 7}")
        graph.node.add(name="a").attr["f"].func.name = ""
    return graph


def binary(make: Maker) -> Callable[[Random], tuple[str, bytes]]:
    """Written as one of the messages that hold a graph, or as text."""

    def family(random: Random) -> tuple[str, bytes]:
        graph = make(random)
        way = random.randrange(6)
        if way == 0 and graph.ByteSize() < 100_000:
            return "pbtxt", text_format.MessageToString(graph).encode("utf-8", "replace")
        if way == 1:
            return "meta", MetaGraphDef(graph_def=graph).SerializeToString()
        if way == 2:
            saved = SavedModel(saved_model_schema_version=1)
            for tags in random.choice(([], ["serve"], ["serve", "serve"], [""])):
                saved.meta_graphs.add(graph_def=graph).meta_info_def.tags.append(tags)
            return "pb", saved.SerializeToString()
        return "pb", graph.SerializeToString()

    return family


FAMILIES = {
    make.__name__: binary(make) for make in (odd_names, numbered, deep, shape, functions, attributes, many_empty)
}
