"""Edits of real graphs that interfere with each other: several changes, some of them in values, drawn by a seed."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# A script finds its own folder alone; at the end, so that a copy of the package on the path comes first.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.diff.transforms import TRANSFORMS

STRUCTURAL = 5  # transformations of a graph; more leave little to compare in the small ones


def edited(graph: Any, seed: str) -> Any:
    """A graph after some structural edits and every edit of values, the same for the same seed."""
    luck = random.Random(seed)
    for word in luck.sample(list(TRANSFORMS), STRUCTURAL):
        made = TRANSFORMS[word][0](graph, luck)
        graph = graph if made is None else made
    graph = type(graph).FromString(graph.SerializeToString())
    for edit in VALUES:
        edit(graph, luck)
    return graph


def some(nodes: Any, luck: random.Random, share: float) -> list[Any]:
    """A share of some nodes, at least one if there is any."""
    nodes = list(nodes)
    return luck.sample(nodes, max(1, int(len(nodes) * share))) if nodes else []


def constants(graph: Any) -> list[Any]:
    """The nodes that hold a tensor."""
    return [node for node in graph.node if "value" in node.attr and node.attr["value"].HasField("tensor")]


def half_precision(graph: Any, luck: random.Random) -> None:
    """Some constants of floats become float16, and some nodes with them."""
    for node in some(constants(graph), luck, 0.1):
        if node.attr["value"].tensor.dtype == 1:
            node.attr["value"].tensor.dtype = 19
            node.attr["dtype"].type = 19


def resized(graph: Any, luck: random.Random) -> None:
    """Some constants are larger in their last dimension."""
    for node in some(constants(graph), luck, 0.05):
        dims = node.attr["value"].tensor.tensor_shape.dim
        if dims:
            dims[-1].size += luck.randrange(1, 9)


def renumbered(graph: Any, luck: random.Random) -> None:
    """Some small constants hold another number."""
    for node in some(constants(graph), luck, 0.1):
        tensor = node.attr["value"].tensor
        for field in ("float_val", "int_val"):
            values = list(getattr(tensor, field))
            tensor.ClearField(field)
            getattr(tensor, field).extend([values[0] + 1, *values[1:]] if values else [])


def placed(graph: Any, luck: random.Random) -> None:
    """Some nodes run elsewhere."""
    for node in some(graph.node, luck, 0.05):
        node.device = "/job:worker/task:1/device:GPU:0"


def controlled(graph: Any, luck: random.Random) -> None:
    """A node waits for another."""
    if len(graph.node) > 2:
        first, last = luck.sample(range(len(graph.node)), 2)
        graph.node[last].input.append(f"^{graph.node[first].name}")


def turned(graph: Any, luck: random.Random) -> None:
    """A node takes its inputs in another order."""
    for node in some((node for node in graph.node if len(node.input) > 1), luck, 0.02):
        inputs = list(node.input)
        data = [text for text in inputs if not text.startswith("^")]
        inputs[: len(data)] = data[::-1]
        del node.input[:]
        node.input.extend(inputs)


def set_otherwise(graph: Any, luck: random.Random) -> None:
    """Some settings of layers are others: strides, padding, axes, truth values."""
    for node in some(graph.node, luck, 0.1):
        for key in sorted(node.attr):
            value = node.attr[key]
            if value.WhichOneof("value") == "b":
                value.b = not value.b
            elif value.WhichOneof("value") == "s" and value.s in (b"SAME", b"VALID"):
                value.s = b"VALID" if value.s == b"SAME" else b"SAME"
            elif key == "strides":
                value.list.i[1:3] = [3, 3]


def with_argument(graph: Any, luck: random.Random) -> None:
    """A function takes an argument more."""
    for function in some(graph.library.function, luck, 0.1):
        function.signature.input_arg.add(name="another", type=1)


VALUES: tuple[Callable[[Any, random.Random], None], ...] = (
    half_precision,
    resized,
    renumbered,
    placed,
    controlled,
    turned,
    set_otherwise,
    with_argument,
)
