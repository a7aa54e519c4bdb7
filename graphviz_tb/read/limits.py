"""Bounds on how much a source may expand: a fixed allowance plus a multiple of its bytes on disk.

A small archive can contain a text that takes gigabytes once it is parsed. Each bound is checked before the memory is
used; `--max-bytes` lifts them, for trusted files.
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

# Unpacked bytes, and the ratio that no real graph of that size exceeds: large ones compress to a thirtieth.
BOMBS = ((1 << 20, 200), (64 << 20, 60))
# Bytes of memory of JSON values in CPython, at most: an object, an array, and any value before a comma.
OBJECT, ARRAY, VALUE = 140, 40, 64
# Fewest bytes of a node (name, op, an input) beyond the nodes that any source may have.
BYTES_OF_NODE = 12
# Inputs per byte beyond those that any packed graph may have: real graphs have one for four to ten bytes.
EDGES_OF_BYTE = 1
# Layers that any Keras model may have, and the fewest bytes (class, name, settings) of each beyond, plain and packed.
LAYERS, BYTES_OF_LAYER, PACKED_LAYER = 20_000, 100, 20
# Letters of all layer paths per byte, beyond those that any model may have.
PATHS_OF_BYTE = 10
NO_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^"\[\]{}]++', re.DOTALL)
HINT = "give --max-bytes if it is your own file"


def check_unpacked(given: int, taken: int, name: str) -> None:
    """Raise TooLarge if `given` unpacked bytes from `taken` packed ones look like a zip bomb."""
    for size, ratio in BOMBS:
        if given >= max(size, ratio * taken):
            raise TooLarge(f"{name} unpacks to more than {ratio} times its size: it looks like a bomb", hint=HINT)


def check_empty(data: bytes, name: str) -> None:
    """Raise TooLarge if undecoded bytes have a long run of empty messages: two bytes each become hundreds, and no
    program writes so many.

    >>> check_empty(b"\\n\\0" * 300_000, "x.pb")
    Traceback (most recent call last):
    graphviz_tb.errors.TooLarge: x.pb: more than 100,000 empty messages one behind the other: it looks like a bomb
    """
    # Each is a tag and a length of 0. A run of that length covers some whole window of half its length.
    for start in range(0, len(data) - EMPTY_MESSAGES + 1, EMPTY_MESSAGES):
        pair = data[start : start + 2]
        likely = max(pair) & 7 == 2 and not min(pair) and data.startswith(pair * 2, start)
        if likely and data[start : start + EMPTY_MESSAGES] == pair * (EMPTY_MESSAGES // 2):
            account = f"more than {EMPTY_MESSAGES // 2:,} empty messages one behind the other: it looks like a bomb"
            raise TooLarge(f"{name}: {account}", hint=HINT)


def check_nodes(graph: GraphSource, size: int, name: str) -> None:
    """Raise TooLarge if a message of `size` bytes has more nodes than real graphs do."""
    count = len(graph.node) + sum(1 + len(function.node_def) for function in graph.library.function)
    if has_more_nodes(count, size):
        raise TooLarge(f"{name}: {count:,} nodes in {size:,} bytes: most of them can have no name", hint=HINT)


def has_more_nodes(count: int, size: int) -> bool:
    """Return whether a message of `size` bytes has more nodes than real graphs do."""
    return count > GRAPH_NODES + size // BYTES_OF_NODE


def check_edges(graph: GraphSource, packed: int, name: str) -> None:
    """Raise TooLarge if a graph has more inputs than its `packed` bytes can describe."""
    nodes = chain(graph.node, *(function.node_def for function in graph.library.function))
    count = sum(len(node.input) for node in nodes)
    if count > GRAPH_INPUTS + EDGES_OF_BYTE * packed:
        account = f"{count:,} inputs of nodes in {packed:,} packed bytes: it looks like a bomb"
        raise TooLarge(f"{name}: {account}", hint=HINT)


def check_layers(count: int, size: int, on_disk: int, name: str) -> None:
    """Raise TooLarge if a model lists more layers than `size` bytes of JSON, `on_disk` packed, can name."""
    if count > LAYERS + min(size // BYTES_OF_LAYER, on_disk // PACKED_LAYER):
        raise TooLarge(f"{name}: {count:,} layers in {on_disk:,} bytes: most of them can have no name", hint=HINT)


def check_paths(letters: int, on_disk: int, name: str) -> None:
    """Raise TooLarge if the paths of all layers, `letters` together, would fill memory: nested models, long names."""
    if letters > LAYER_PATHS + PATHS_OF_BYTE * on_disk:
        account = f"the paths of its layers take {letters // 10**6:,} MB: models in models, with long names"
        raise TooLarge(f"{name}: {account}", hint=HINT)


def check_json(text: bytes, on_disk: int, name: str) -> None:
    """Raise TooLarge if the values of unparsed JSON would fill memory.

    >>> check_json(b"[" + b"{}," * 5_000_000 + b"{}]", 20_000, "m.keras")
    Traceback (most recent call last):
    graphviz_tb.errors.TooLarge: m.keras: its JSON would take about 1,035 MB of memory, from 0 MB on disk
    """
    needed = len(text) + OBJECT * text.count(b"{") + ARRAY * text.count(b"[") + VALUE * text.count(b",")
    if needed > FREE_MEMORY + MEMORY_OF_BYTE * on_disk:
        account = f"its JSON would take about {needed // 10**6:,} MB of memory, from {on_disk // 10**6:,} MB on disk"
        raise TooLarge(f"{name}: {account}", hint=HINT)


class MemoryBudget:
    """Memory that a source of `size` bytes may use, counted as it is used; unlimited if `size` is None."""

    def __init__(self, size: int | None, name: str) -> None:
        self.most = None if size is None else FREE_MEMORY + MEMORY_OF_BYTE * size
        self.size, self.name = size or 0, name
        self.meter = Meter(self.most or 0)

    def take(self, count: int) -> None:
        """Count `count` more bytes. Raises TooLarge if the total would fill memory."""
        if not self.meter.take(count) and self.most is not None:
            account = f"it would take more than {self.most // 10**6:,} MB of memory, from {self.size // 10**6:,} MB"
            raise TooLarge(f"{self.name}: {account}", hint=HINT)


def nested_too_deep(text: str) -> bool:
    """Return whether unparsed JSON nests deeper than any model; brackets inside strings do not count.

    >>> nested_too_deep('[' * 600 + ']' * 600), nested_too_deep('[' * 601), nested_too_deep('["' + '[' * 900 + '"]')
    (False, True, False)
    """
    brackets = np.frombuffer(NO_BRACKET.sub("", text).encode("utf-8", "replace"), np.uint8)
    steps = np.where((brackets == ord("{")) | (brackets == ord("[")), np.int8(1), np.int8(-1))
    return len(brackets) > JSON_DEPTH and int(np.max(np.cumsum(steps, dtype=np.int32))) > JSON_DEPTH
