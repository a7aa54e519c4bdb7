"""Families of texts in which the place is what is wrong: text protos that are nearly right."""

from __future__ import annotations

import re
from random import Random

from google.protobuf import text_format

from graphviz_tb.proto import GraphDef
from tests.fuzz.families.grown import GRAPHS, good

BITS = [
    "node",
    "{",
    "}",
    "<",
    ">",
    "name:",
    "op:",
    "input:",
    '"a"',
    "'b'",
    "[",
    "]",
    ",",
    ";",
    ":",
    "attr",
    "key:",
    "value",
    "#x\n",
    "library",
    "function",
    "i:",
    "-1",
    "1e9999",
    "0x",
    "9" * 5000,
    "inf",
    "nan",
    "true",
    "[type.googleapis.com/x]",
    '"\\',
    "\\x",
    '"\\777"',
    '"\\ud800"',
    "\0",
    "\ufeff",
    "é",
    "versions",
    "producer:",
    "shape",
    "dim",
    "size:",
    "tensor",
    "list",
    "s:",
    "\n",
    " ",
]


def nearly_text(random: Random) -> tuple[str, bytes]:
    text = " ".join(random.choices(BITS, k=random.choice((3, 30, 300))))
    return "pbtxt", f"node {{ name: 'x' }} {text}".encode()


def deep_text(random: Random) -> tuple[str, bytes]:
    opening = random.choice(
        ("node {", "node <", "library { function { node_def {", "node { attr { value { list { func { attr { ")
    )
    return "pbtxt", (opening * random.choice((30, 99, 101, 20_000))).encode()


def long_text(random: Random) -> tuple[str, bytes]:
    """One thing very often, or one token very long."""
    count = random.choice((1000, 200_000))
    name = "x" * count
    text = random.choice(
        [
            "node { name: 'x' } " * (count // 4),
            f"node {{ name: '{name}' }}",
            "node { input: [" + "'a'," * count + "'b'] }",
            "node { name: " + "'a' " * count + "}",
            "# " + name + "\nnode { }",
            "node { " + "u: 3 " * count + "}",
            f"node {{ {name}: 3 }}",
            "node { attr { key: 'k' value { i: " + "9" * count + " } } }",
            "node{}" * count,
        ]
    )
    return "pbtxt", text.encode()


def edited_text(random: Random) -> tuple[str, bytes]:
    """A good graph as text, with words of it taken out, doubled, exchanged, or others put in their place."""
    data = random.choice(good(GraphDef, *GRAPHS))
    words = re.findall(r"\w+|\s+|.", text_format.MessageToString(GraphDef.FromString(data))[:60_000])
    for _ in range(random.choice((1, 2, 5, 30))):
        at, word = random.randrange(len(words)), random.choice((random.choice(BITS), random.choice(words)))
        last = at + random.choice((0, 1, 1, 3))
        words[at:last] = random.choice(([], [word], words[at:last] * 2, words[at:last][::-1]))
    return "pbtxt", "".join(words).encode("utf-8", "surrogatepass")


FAMILIES = {"edited_text": edited_text, "nearly_text": nearly_text, "deep_text": deep_text, "long_text": long_text}
