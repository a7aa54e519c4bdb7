"""Families of graphs with names that patterns search long for, and the patterns; addresses of what is odd."""

from __future__ import annotations

from random import Random

from graphviz_tb.proto import GraphDef
from tests.fuzz.families import calls, graphs, grown, products

GLOBS = (
    "*",
    "**",
    "?",
    "[a-z]",
    "[!a]",
    "/",
    "::",
    "a",
    "**/",
    "*/",
    "[0-9]",
    "\\",
    "[",
    "(a)",
    "_[0-5]",
    "{a,b}",
    "^",
)
Made = tuple[dict[str, bytes], list[str]]


def pattern(names: list[str], random: Random) -> str:
    """A name with stars in it, stars with bits of a name between them, or an address of something odd."""
    name = random.choice(names) or "a"
    bits = [name[at : at + 3] for at in random.sample(range(min(len(name), 3000)), min(len(name), 9))]
    made = random.choice(
        (
            *("*", "**", "*/**", "?*", name[:3000], f"{name[:30]}*", f"*{name[-3:]}", f"**/{name[-9:]}"),
            "".join(f"*{bit[:1]}" for bit in bits) + random.choice(("", "b", "*")),
            "**/" * random.choice((1, 4, 30)) + "b",
            "*" * random.choice((1, 3, 500)) + "b",
            "?*" * random.choice((1, 30)) + "b",
            "".join(random.choices((*GLOBS, *bits), k=random.choice((2, 6, 40)))),
            f"{name[:300]}[0-{random.choice((1, 5, 10**9, 10**30))}]",
            "::".join([name[:99]] * random.choice((2, 30))),
            random.choice(graphs.ODD),
        )
    )
    return made.replace("\0", "") or "*"


def patterns(random: Random) -> Made:
    """Patterns for what to open, to pick out, to group, to move."""
    graph = hard_names(random)
    names = [node.name for node in graph.node[:300]] or ["a"]
    names += [f"{node.name}::{inner.name}" for node in graph.node[:3] for f in graph.library.function[:3]
              for inner in f.node_def[:3]]  # fmt: skip
    options = {
        "render": (*["--open"] * 8, "--select", "--group", "--ungroup", "--main", "--aux"),
        "info": ("--group", "--ungroup", "--main", "--aux"),
        "tree": (*["--under"] * 4, "--group", "--ungroup"),
        "diff": ("--open",),
    }
    command = random.choice(("render", "render", "render", "tree", "tree", "info", "diff"))
    words = ["graph.pb", *(["mnist.pbtxt"] if command == "diff" else [])]
    for _ in range(random.choice((1, 1, 1, 2, 8, 60))):
        words += [random.choice(options[command]), f"{pattern(names, random)}"]
    if command in ("render", "diff"):
        words += [
            "-o",
            random.choice(("out/a.svg", "out/a.json" if command == "render" else "out/a.svg", "out/a.html")),
        ]
    return {"graph.pb": graph.SerializeToString()}, [command, *words]


def hard_names(random: Random) -> GraphDef:
    """Names of one letter again and again, levels alike, odd ones; by the thousand."""
    graph = GraphDef()
    way = random.randrange(5)
    if way == 0:
        length, count = random.choice(((400, 3), (30, 3000), (100_000, 1), (5000, 60)))
        for at in range(count):
            graph.node.add(name="a" * length + str(at), op="Relu")
    elif way == 1:
        levels, count = random.choice(((2000, 1), (30, 1000), (300, 100), (50_000, 1)))
        for at in range(count):
            graph.node.add(name="a/" * levels + f"x{at}", op="Relu")
    else:
        make = (graphs.odd_names, random.choice((products.equal_names, calls.wrappers)), grown.graph)[way - 2]
        graph = make(random)
    return graph


SETS = {"patterns": patterns}
