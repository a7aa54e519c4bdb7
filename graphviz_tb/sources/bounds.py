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
    FREE_GRAPH_INPUTS,
    FREE_GRAPH_NODES,
    FREE_LAYER_PATH_LETTERS,
    FREE_MEMORY_BYTES,
    MAX_EMPTY_MESSAGE_BYTES,
    MAX_JSON_DEPTH,
    MEMORY_PER_BYTE,
    Meter,
)
from graphviz_tb.model.sources import GraphSource

# Unpacked bytes, and the ratio that no real graph of that size exceeds: large ones compress to a thirtieth.
BOMB_RATIOS = ((1 << 20, 200), (64 << 20, 60))
# Bytes of memory of JSON values in CPython, at most: an object, an array, and any value before a comma.
JSON_OBJECT_BYTES, JSON_ARRAY_BYTES, JSON_VALUE_BYTES = 140, 40, 64
# Fewest bytes of a node (name, op, an input) beyond the nodes that any source may have.
MIN_BYTES_PER_NODE = 12
# Inputs per byte beyond those that any packed graph may have: real graphs have one for four to ten bytes.
MAX_INPUTS_PER_BYTE = 1
# Layers that any Keras model may have, and the fewest bytes (class, name, settings) of each beyond, plain and packed.
FREE_LAYERS, MIN_BYTES_PER_LAYER, MIN_PACKED_BYTES_PER_LAYER = 20_000, 100, 20
# Letters of all layer paths per byte, beyond those that any model may have.
MAX_PATH_LETTERS_PER_BYTE = 10
# By letter: +1 opens an object or an array, -1 closes it.
BRACKET_STEPS = np.zeros(256, np.int8)
BRACKET_STEPS[list(b"[{")], BRACKET_STEPS[list(b"]}")] = 1, -1
NESTING_PIECE_LETTERS = 1 << 16
ESCAPED_LETTER = re.compile(rb"\\.", re.DOTALL)
NO_BRACKETS_OR_QUOTES = bytes(set(range(256)).difference(b'"[]{}'))
MAX_BYTES_HINT = "give --max-bytes if it is your own file"


def check_unpacked_size(given: int, taken: int, name: str) -> None:
    """Raise TooLarge if `given` unpacked bytes from `taken` packed ones look like a zip bomb."""
    for size, ratio in BOMB_RATIOS:
        if given >= max(size, ratio * taken):
            raise TooLarge(
                f"{name} unpacks to more than {ratio} times its size: it looks like a bomb", hint=MAX_BYTES_HINT
            )


def check_empty_messages(data: bytes, name: str) -> None:
    """Raise TooLarge if undecoded bytes have a long run of empty messages: two bytes each become hundreds, and no
    program writes so many.

    >>> try:
    ...     check_empty_messages(b"\\n\\0" * 300_000, "x.pb")
    ... except TooLarge as error:
    ...     print(error)
    x.pb: more than 100,000 empty messages one behind the other: it looks like a bomb
    """
    # Each is a tag and a length of 0. A run that is too long covers at least one whole window of half that length.
    for start in range(0, len(data) - MAX_EMPTY_MESSAGE_BYTES + 1, MAX_EMPTY_MESSAGE_BYTES):
        pair = data[start : start + 2]
        likely = max(pair) & 7 == 2 and not min(pair) and data.startswith(pair * 2, start)
        if likely and data[start : start + MAX_EMPTY_MESSAGE_BYTES] == pair * (MAX_EMPTY_MESSAGE_BYTES // 2):
            account = (
                f"more than {MAX_EMPTY_MESSAGE_BYTES // 2:,} empty messages one behind the other: it looks like a bomb"
            )
            raise TooLarge(f"{name}: {account}", hint=MAX_BYTES_HINT)


def check_node_count(graph: GraphSource, size: int, name: str) -> None:
    """Raise TooLarge if a message of `size` bytes has more nodes than real graphs do."""
    functions = graph.library.function
    check_listed_nodes(len(graph.node) + sum(1 + len(function.node_def) for function in functions), size, name)


def check_listed_nodes(count: int, size: int, name: str) -> None:
    """Raise TooLarge if `size` bytes list more nodes than those of real graphs do."""
    if has_too_many_nodes(count, size):
        raise TooLarge(f"{name}: {count:,} nodes in {size:,} bytes: most of them can have no name", hint=MAX_BYTES_HINT)


def has_too_many_nodes(count: int, size: int) -> bool:
    """Return whether a message of `size` bytes has more nodes than real graphs do."""
    return count > FREE_GRAPH_NODES + size // MIN_BYTES_PER_NODE


def check_input_count(graph: GraphSource, packed: int, name: str) -> None:
    """Raise TooLarge if a graph has more inputs than its `packed` bytes can describe."""
    nodes = chain(graph.node, *(function.node_def for function in graph.library.function))
    count = sum(len(node.input) for node in nodes)
    if count > FREE_GRAPH_INPUTS + MAX_INPUTS_PER_BYTE * packed:
        account = f"{count:,} inputs of nodes in {packed:,} packed bytes: it looks like a bomb"
        raise TooLarge(f"{name}: {account}", hint=MAX_BYTES_HINT)


def check_layer_count(count: int, size: int, on_disk: int, name: str) -> None:
    """Raise TooLarge if a model lists more layers than `size` bytes of JSON, `on_disk` packed, can name."""
    if count > FREE_LAYERS + min(size // MIN_BYTES_PER_LAYER, on_disk // MIN_PACKED_BYTES_PER_LAYER):
        raise TooLarge(
            f"{name}: {count:,} layers in {on_disk:,} bytes: most of them can have no name", hint=MAX_BYTES_HINT
        )


def check_path_letters(letters: int, on_disk: int, name: str) -> None:
    """Raise TooLarge if the paths of all layers, `letters` together, would fill memory: nested models, long names."""
    if letters > FREE_LAYER_PATH_LETTERS + MAX_PATH_LETTERS_PER_BYTE * on_disk:
        account = f"the paths of its layers take {letters // 10**6:,} MB: models in models, with long names"
        raise TooLarge(f"{name}: {account}", hint=MAX_BYTES_HINT)


def check_json_memory(text: bytes, on_disk: int, name: str) -> None:
    """Raise TooLarge if the values of unparsed JSON would fill memory.

    >>> try:
    ...     check_json_memory(b"[" + b"{}," * 5_000_000 + b"{}]", 20_000, "m.keras")
    ... except TooLarge as error:
    ...     print(error)
    m.keras: its JSON would take about 1,035 MB of memory, from 0 MB on disk
    """
    letters = np.frombuffer(text, np.uint8)  # `bytes.count` takes many times as long
    sizes = {"{": JSON_OBJECT_BYTES, "[": JSON_ARRAY_BYTES, ",": JSON_VALUE_BYTES}
    needed = len(text) + sum(size * int(np.count_nonzero(letters == ord(letter))) for letter, size in sizes.items())
    if needed > FREE_MEMORY_BYTES + MEMORY_PER_BYTE * on_disk:
        account = f"its JSON would take about {needed // 10**6:,} MB of memory, from {on_disk // 10**6:,} MB on disk"
        raise TooLarge(f"{name}: {account}", hint=MAX_BYTES_HINT)


class MemoryBudget:
    """Memory that a source of `size` bytes may use, counted as it is used; unlimited if `size` is None."""

    def __init__(self, size: int | None, name: str) -> None:
        self.most = None if size is None else FREE_MEMORY_BYTES + MEMORY_PER_BYTE * size
        self.size, self.name = size or 0, name
        self.meter = Meter(self.most or 0)

    def take(self, count: int) -> None:
        """Count `count` more bytes. Raises TooLarge if the total would fill memory."""
        if not self.meter.take(count) and self.most is not None:
            account = f"it would take more than {self.most // 10**6:,} MB of memory, from {self.size // 10**6:,} MB"
            raise TooLarge(f"{self.name}: {account}", hint=MAX_BYTES_HINT)


def is_nested_too_deep(text: str) -> bool:
    """Return whether unparsed JSON nests deeper than any model; brackets inside strings do not count.

    >>> (
    ...     is_nested_too_deep("[" * 600 + "]" * 600),
    ...     is_nested_too_deep("[" * 601),
    ...     is_nested_too_deep('["' + "[" * 900 + '"]'),
    ... )
    (False, True, False)
    """
    # In pieces that end after a quote, and so not within an escape; all at once would take several times the memory.
    depth = quotes = start = 0
    while start < len(text):
        stop = text.find('"', start + NESTING_PIECE_LETTERS) + 1 or len(text)
        plain = ESCAPED_LETTER.sub(b"", text[start:stop].encode("utf-8", "replace"))
        letters = np.frombuffer(plain.translate(None, NO_BRACKETS_OR_QUOTES), np.uint8)
        # Text is outside of strings after an even number of quotes.
        inside = np.cumsum(letters == ord('"')) + quotes & 1
        levels = np.cumsum(np.where(inside, 0, BRACKET_STEPS[letters])) + depth
        if np.any(levels > MAX_JSON_DEPTH):
            return True
        if len(letters):
            depth, quotes = int(levels[-1]), int(inside[-1])
        start = stop
    return False
