"""Families of names that read like addresses, and of addresses made of them: what is asked for by name is one place."""

from __future__ import annotations

from random import Random

from graphviz_tb.model.paths import LIBRARY_PREFIX, join_address
from graphviz_tb.proto import GraphDef
from tests.fuzz.families.graphs import binary

STEMS = ("a", "f", "body", "x", "")
FORMS = (
    *("{0}", "{0}", "{0}", "{0}:", ":{0}", "{0}::", "::{0}", "({0})", "(({0}))", "{0}\\", "\\{0}", "{0}:0", "^{0}"),
    *("{0}[0-5]", "{0}_[1-3]", "{0} … {0}", "{0} → {0}", "{0} ×3", "{0}**", "{0}::{0}", "{0}::::{0}", "{0}/({0})"),
)
RANGES = ("", "_")  # between the stem of a series and its numbers
Made = tuple[dict[str, bytes], list[str]]


def segment(random: Random) -> str:
    """A part of a name: a word, or what an address makes of it; twice, now and then."""
    word = random.choice(STEMS)
    for _ in range(random.choice((1, 1, 1, 2))):
        word = random.choice(FORMS).format(word)
    return word


def names(random: Random, count: int) -> list[str]:
    """So many names of a few segments, and each of them once; where there is room, a series."""
    segments = [segment(random) for _ in range(random.choice((2, 5, 12)))]
    made = ["/".join(random.choices(segments, k=random.choice((1, 1, 2, 3)))) for _ in range(count)]
    stem = random.choice(segments) + random.choice(RANGES)
    made += [f"{stem}{number}{random.choice(('', '/a'))}" for number in range(random.choice((0, 0, 3, 6)))]
    return list(dict.fromkeys(made))


def named_as_addresses(random: Random) -> GraphDef:
    """Nodes, functions called like them, bodies with their names; then nodes called like the addresses of all that."""
    graph = GraphDef()
    called = names(random, random.choice((1, 3)))
    for name in called:
        function = graph.library.function.add()
        function.signature.name = name
        for inner in names(random, 4):
            function.node_def.add(name=inner, op=random.choice(("Relu", "Neg", *called)))
    for name in names(random, random.choice((3, 12, 40))):
        _add(graph, name, called, random)
    there = {node.name for node in graph.node}
    for name in random.sample(addresses(graph), min(len(addresses(graph)), random.choice((0, 2, 6)))):
        below = name + random.choice(("", "", "/a", "/(a)"))
        if below not in there:
            _add(graph, below, called, random)
        there.add(below)
    return graph


def _add(graph: GraphDef, name: str, called: list[str], random: Random) -> None:
    """A node that computes, or calls a function in one of three ways."""
    before = [random.choice(graph.node).name] if len(graph.node) else []
    node = graph.node.add(name=name, op=random.choice(("Relu", "MatMul", *called)), input=before)
    if random.random() < 0.2:
        node.op = random.choice(("PartitionedCall", "While"))
        for attribute in ("f",) if node.op == "PartitionedCall" else ("cond", "body"):
            node.attr[attribute].func.name = random.choice(called)


def addresses(graph: GraphDef) -> list[str]:
    """What nodes are asked for by: those of the graph, those in functions, those below a call of a function."""
    bodies = {each.signature.name: [node.name for node in each.node_def] for each in graph.library.function}
    made = {join_address([node.name]) for node in graph.node}
    for function, inside in bodies.items():
        made |= {
            function,
            LIBRARY_PREFIX + function,
            *(LIBRARY_PREFIX + join_address([function, inner]) for inner in inside),
        }
    for node in graph.node:
        for way in (node.op, *(value.func.name for value in node.attr.values())):
            made |= {join_address([node.name, inner]) for inner in bodies.get(way, ())}
        for attribute, value in node.attr.items():
            made |= {join_address([node.name, f"{attribute}/{inner}"]) for inner in bodies.get(value.func.name, ())}
    return sorted(made)


def addressed(random: Random) -> Made:
    """Open, pick out, list what is below, by addresses; or compare, after a change in a function and beside it."""
    graph = named_as_addresses(random)
    asked = random.sample(found := addresses(graph), min(len(found), random.choice((1, 1, 3, 9))))
    files = {"graph.pb": graph.SerializeToString()}
    command = random.choice(("render", "render", "tree", "info", "diff"))
    if command == "tree":
        under = random.choice((asked[0], asked[0].rpartition("/")[0] or asked[0]))
        return files, ["tree", "graph.pb", f"--under={under}", *random.choice(([], ["--json"], ["--ops"]))]
    if command == "info":
        option = random.choice(("--main", "--aux"))
        return files, ["info", "graph.pb", "--json", *(f"{option}={each}" for each in asked)]
    opened = [f"{random.choice(('--open', '--open', '--select') if command == 'render' else ('--open',))}={each}"
              for each in asked]  # fmt: skip
    if command == "diff":
        for node in (*list(graph.node)[:1], *list(graph.library.function[0].node_def)[:1]):
            node.op = "Tanh"
        files["new.pb"] = graph.SerializeToString()
        return files, ["diff", "graph.pb", "new.pb", *opened, "-o", random.choice(("out/a.svg", "out/a.html"))]
    output = random.choice(("out/a.svg", "out/a.svg", "out/a.html", "out/a.dot"))
    return files, ["render", "graph.pb", *opened, "-o", output]


FAMILIES = {"named_as_addresses": binary(named_as_addresses)}
SETS = {"addressed": addressed}
