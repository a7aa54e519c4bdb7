"""How much a source may unfold into: a multiple of its bytes on disk, beside what every source is allowed.

A small archive can hold a text that takes gigabytes once it is parsed. Each budget is checked before the memory is
taken; `--max-bytes` lifts them, for a file that one knows.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np

from graphviz_tb.errors import TooLarge
from graphviz_tb.limits import (
    EMPTY_MESSAGES,
    FREE_MEMORY,
    GRAPH_INPUTS,
    GRAPH_NODES,
    JSON_DEPTH,
    LAYER_PATHS,
    MEMORY_OF_BYTE,
    Meter,
)
from graphviz_tb.model.loaded import GraphSource

# Unpacking: past so many bytes no real graph shrinks so much. Large ones take a thirtieth of their size.
BOMBS = ((1 << 20, 200), (64 << 20, 60))
# Bytes that a value of JSON takes at most in CPython: an object, an array, and any value that a comma ends.
OBJECT, ARRAY, VALUE = 140, 40, 64
# Nodes that any source may hold, and the fewest bytes of each beyond: those of a name, an op and an input.
BYTES_OF_NODE = 12
# Inputs that any packed graph may have, and so many more for each byte: real graphs have one for four to ten.
EDGES_OF_BYTE = 1
# Layers that any Keras model may have, and the fewest bytes of each beyond: those of a class, a name and its settings,
# and what is left of them when they are packed.
LAYERS, BYTES_OF_LAYER, PACKED_LAYER = 20_000, 100, 20
# Letters that the paths of all layers may have, and so many more for each byte.
PATHS_OF_BYTE = 10
NO_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^"\[\]{}]++', re.DOTALL)
HINT = "give --max-bytes if it is your own file"


def check_unpacked(given: int, taken: int, name: str) -> None:
    """Before: bytes that were unpacked so far, and the bytes they were packed in. Raises TooLarge at a bomb."""
    for size, ratio in BOMBS:
        if given >= max(size, ratio * taken):
            raise TooLarge(f"{name} unpacks to more than {ratio} times its size: it looks like a bomb", hint=HINT)


def check_empty(data: bytes, name: str) -> None:
    """Before: a message that was not decoded. Raises TooLarge where it holds empty messages one behind the other, two
    bytes each that become hundreds: no program writes so many.

    >>> check_empty(b"\\n\\0" * 300_000, "x.pb")
    Traceback (most recent call last):
    graphviz_tb.errors.TooLarge: x.pb: more than 100,000 empty messages one behind the other: it looks like a bomb
    """
    # Each is the tag of its field and a length of 0. A run of so many holds the whole of a window of half its length.
    for start in range(0, len(data) - EMPTY_MESSAGES + 1, EMPTY_MESSAGES):
        pair = data[start : start + 2]
        likely = max(pair) & 7 == 2 and not min(pair) and data.startswith(pair * 2, start)
        if likely and data[start : start + EMPTY_MESSAGES] == pair * (EMPTY_MESSAGES // 2):
            account = f"more than {EMPTY_MESSAGES // 2:,} empty messages one behind the other: it looks like a bomb"
            raise TooLarge(f"{name}: {account}", hint=HINT)


def check_nodes(graph: GraphSource, size: int, name: str) -> None:
    """Before: a graph, and the bytes of its message. Raises TooLarge where they hold more nodes than graphs do."""
    count = len(graph.node) + sum(1 + len(function.node_def) for function in graph.library.function)
    if has_more_nodes(count, size):
        raise TooLarge(f"{name}: {count:,} nodes in {size:,} bytes: most of them can have no name", hint=HINT)


def has_more_nodes(count: int, size: int) -> bool:
    """Whether a message of so many bytes has more nodes than graphs do."""
    return count > GRAPH_NODES + size // BYTES_OF_NODE


def check_edges(graph: GraphSource, packed: int, name: str) -> None:
    """Before: a graph, and the bytes that its message was packed in. Raises TooLarge where it has more inputs than so
    many bytes tell anything of."""
    nodes = chain(graph.node, *(function.node_def for function in graph.library.function))
    count = sum(len(node.input) for node in nodes)
    if count > GRAPH_INPUTS + EDGES_OF_BYTE * packed:
        account = f"{count:,} inputs of nodes in {packed:,} packed bytes: it looks like a bomb"
        raise TooLarge(f"{name}: {account}", hint=HINT)


def check_layers(count: int, size: int, on_disk: int, name: str) -> None:
    """Before: how many layers a model lists, the bytes of its JSON, and those on disk. Raises TooLarge where most can
    have no name."""
    if count > LAYERS + min(size // BYTES_OF_LAYER, on_disk // PACKED_LAYER):
        raise TooLarge(f"{name}: {count:,} layers in {on_disk:,} bytes: most of them can have no name", hint=HINT)


def check_paths(letters: int, on_disk: int, name: str) -> None:
    """Before: how long the paths of all layers are together, and the bytes on disk. Raises TooLarge where models in
    models have names so long that the paths would fill memory."""
    if letters > LAYER_PATHS + PATHS_OF_BYTE * on_disk:
        account = f"the paths of its layers take {letters // 10**6:,} MB: models in models, with long names"
        raise TooLarge(f"{name}: {account}", hint=HINT)


def check_json(text: bytes, on_disk: int, name: str) -> None:
    """Before: JSON that was not parsed, and its bytes on disk. Raises TooLarge where its values would fill memory.

    >>> check_json(b"[" + b"{}," * 5_000_000 + b"{}]", 20_000, "m.keras")
    Traceback (most recent call last):
    graphviz_tb.errors.TooLarge: m.keras: its JSON would take about 1,035 MB of memory, from 0 MB on disk
    """
    needed = len(text) + OBJECT * text.count(b"{") + ARRAY * text.count(b"[") + VALUE * text.count(b",")
    if needed > FREE_MEMORY + MEMORY_OF_BYTE * on_disk:
        account = f"its JSON would take about {needed // 10**6:,} MB of memory, from {on_disk // 10**6:,} MB on disk"
        raise TooLarge(f"{name}: {account}", hint=HINT)


class MemoryBudget:
    """The memory that a source of `size` bytes may take, counted while it is used; no limit where `size` is None."""

    def __init__(self, size: int | None, name: str) -> None:
        self.most = None if size is None else FREE_MEMORY + MEMORY_OF_BYTE * size
        self.size, self.name = size or 0, name
        self.meter = Meter(self.most or 0)

    def take(self, count: int) -> None:
        """Count so many bytes more. Raises TooLarge where all together would fill memory."""
        if not self.meter.take(count) and self.most is not None:
            account = f"it would take more than {self.most // 10**6:,} MB of memory, from {self.size // 10**6:,} MB"
            raise TooLarge(f"{self.name}: {account}", hint=HINT)


def nested_too_deep(text: str) -> bool:
    """Whether JSON that was not parsed nests deeper than any model does; brackets inside of strings do not count.

    >>> nested_too_deep('[' * 600 + ']' * 600), nested_too_deep('[' * 601), nested_too_deep('["' + '[' * 900 + '"]')
    (False, True, False)
    """
    brackets = np.frombuffer(NO_BRACKET.sub("", text).encode("utf-8", "replace"), np.uint8)
    steps = np.where((brackets == ord("{")) | (brackets == ord("[")), np.int8(1), np.int8(-1))
    return len(brackets) > JSON_DEPTH and int(np.max(np.cumsum(steps, dtype=np.int32))) > JSON_DEPTH
