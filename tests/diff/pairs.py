"""Pairs of graphs made by changing real ones, with what a diff has to say about them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphviz_tb.flatten.build import split_input
from graphviz_tb.proto import GraphDef, NodeDef
from graphviz_tb.read.source import read_source
from tests.flat import flatten

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
REAL = sorted(path for path in (FIXTURES / "real").iterdir() if path.suffix in (".pb", ".pbtxt"))


def graph_def(path: Path) -> Any:
    """The message in a file."""
    return read_source(path).graph_def


def copied(graph: Any) -> Any:
    """A copy to change."""
    made = GraphDef()
    made.CopyFrom(graph)
    return made


def shuffled(graph: Any, seed: int = 1) -> Any:
    """The same nodes (and functions) in another order."""
    made, luck = copied(graph), random.Random(seed)
    for nodes in (made.node, *(function.node_def for function in made.library.function)):
        order = list(nodes)
        luck.shuffle(order)
        copies = [copy_node(node) for node in order]
        del nodes[:]
        nodes.extend(copies)
    functions = [type(one)() for one in made.library.function]
    for one, other in zip(functions, made.library.function, strict=True):
        one.CopyFrom(other)
    luck.shuffle(functions)
    del made.library.function[:]
    made.library.function.extend(functions)
    return made


def copy_node(node: Any) -> Any:
    """A copy of one node."""
    made = NodeDef()
    made.CopyFrom(node)
    return made


def renamed(graph: Any, change: Callable[[str], str]) -> Any:
    """Every name of the main graph through `change`, in inputs too."""
    made = copied(graph)
    names = {node.name for node in made.node}

    def of_input(text: str) -> str:
        name, _, _ = split_input(text)
        start = len(text) - len(text.removeprefix("^"))
        return f"{text[:start]}{change(name)}{text[start + len(name) :]}" if name in names else text

    for node in made.node:
        node.name = change(node.name)
        texts = [of_input(text) for text in node.input]
        del node.input[:]
        node.input.extend(texts)
    return made


def chain(*ops: str, names: tuple[str, ...] = ()) -> Any:
    """A chain of ops, each fed by the one before it."""
    names = names or tuple(f"n{at}" for at in range(len(ops)))
    made = GraphDef()
    for at, (name, op) in enumerate(zip(names, ops, strict=True)):
        made.node.add(name=name, op=op, input=[names[at - 1]] if at else [])
    return made


def wired(graph: Any) -> list[tuple[int, int]]:
    """(node, input) of data inputs whose source is known."""
    flat = flatten(graph)
    return [
        (int(target), int(slot))
        for target, slot, control, function in zip(
            flat.target, flat.slot, flat.control, flat.function[flat.target], strict=True
        )
        if not control and function < 0
    ]
