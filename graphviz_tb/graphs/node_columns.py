"""One pass over node messages: names, op types, devices and input sources as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property, partial
from itertools import chain, count, islice
from operator import attrgetter
from typing import Protocol

import numpy as np

from graphviz_tb.model.columns import Ints, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import INPUT_ARG_OP

int32_array = partial(array, "i")  # four bytes each; a list takes eight plus the objects


class WordNumbers(dict[str, int]):
    """Numbers of words, in the order of first appearance.

    >>> numbers = WordNumbers()
    >>> numbers["b"], numbers["a"], numbers["b"]
    (0, 1, 0)
    """

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


NODES_PER_BATCH = 256  # nodes whose inputs are looked up together


class NodeNumbers(dict[str, int]):
    """Node ids by name, usable for input texts while nodes are still being read.

    A lookup gives `-2 - n` for a control input from node n, and -1 for any other unknown text, which is kept in
    `others`.

    >>> numbers = NodeNumbers(a=3)
    >>> numbers["a"], numbers["^a"], numbers["a:1"], numbers["b"], numbers.others
    (3, -5, -1, -1, ['a:1', 'b'])
    """

    def __init__(self, **known: int) -> None:
        super().__init__(known)
        self.others: list[str] = []

    def __missing__(self, text: str) -> int:
        if text.startswith("^") and (node := self.get(text[1:], -1)) >= 0:
            return -2 - node
        self.others.append(text)
        return -1


@dataclass(slots=True, eq=False)
class NodeColumns:
    """All nodes of the main graph, then of each function.

    name, op, device   per node; `op` and `device` are numbers of `op_numbers` and `device_numbers`
    source, fan_in     flat list of input sources as in `NodeNumbers`, and the number of inputs of each node
    others[f]          input texts of graph f whose source is -1, in order
    starts[f]          first node of function f-1 (`starts[0]` is 0 for the main graph), with the end appended
    index[f]           node ids by name in that range; the last definition of a name wins
    """

    name: list[str] = field(default_factory=list)
    op: array[int] = field(default_factory=int32_array)
    device: array[int] = field(default_factory=int32_array)
    source: array[int] = field(default_factory=int32_array)
    others: list[list[str]] = field(default_factory=list)
    fan_in: array[int] = field(default_factory=int32_array)
    definition: list[Ints] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    args: list[tuple[int, ...]] = field(default_factory=list)
    index: list[dict[str, int]] = field(default_factory=list)
    op_numbers: WordNumbers = field(default_factory=WordNumbers)
    device_numbers: WordNumbers = field(default_factory=WordNumbers)

    def __len__(self) -> int:
        return len(self.name)

    @cached_property
    def op_id(self) -> Ints:
        """Op type number of each node."""
        return int32_column(np.array(self.op, np.int32))

    @cached_property
    def op_types(self) -> tuple[str, ...]:
        return tuple(self.op_numbers)

    def function_column(self) -> Ints:
        """Return the function index of each node, -1 in the main graph."""
        starts = np.array(self.starts, np.int64)
        sizes = starts[1:] - starts[:-1]
        return int32_column(np.repeat(np.arange(-1, len(sizes) - 1), sizes))


class NodeFields(Protocol):
    """A `NodeDef`, or a node that is not a message."""

    @property
    def name(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def input(self) -> Sequence[str]: ...


def _has_odd_names(names: Sequence[str]) -> bool:
    """Return whether a name may look like an output reference or a control input."""
    joined = "\n" + "\n".join(names)
    return ":" in joined or "\n^" in joined


def append_graph_nodes(nodes: NodeColumns, defs: Sequence[NodeFields], args: Sequence[str] = ()) -> None:
    """Append one graph: its arguments as `input_arg` nodes, then its nodes."""
    start = len(nodes.name)
    nodes.name.extend(args)
    ops, devices = nodes.op_numbers, nodes.device_numbers
    nodes.op.extend(ops[INPUT_ARG_OP] for _ in args)
    nodes.device.extend(devices[""] for _ in args)
    nodes.fan_in.extend(0 for _ in args)
    nodes.args.append(tuple(range(start, start + len(args))))
    inputs_before, numbers = len(nodes.source), NodeNumbers()
    numbers.update(zip(args, count(start)))
    fields = map(attrgetter("name", "op", "device", "input"), defs)
    # Batches as columns: no loop in Python, which would run for every node of the file.
    while batch := list(islice(fields, NODES_PER_BATCH)):
        names, types, device_names, inputs = zip(*batch, strict=True)
        numbers.update(zip(names, count(len(nodes.name))))  # the last of equal names wins
        nodes.name.extend(names)
        nodes.op.extend(map(ops.__getitem__, types))
        nodes.device.extend(map(devices.__getitem__, device_names))
        lists = [each[:] for each in inputs]  # at once: an iterator of a message ends by an error that is formatted
        nodes.fan_in.extend(map(len, lists))
        nodes.source.extend(map(numbers.__getitem__, chain.from_iterable(lists)))
    _end_graph(nodes, numbers, inputs_before, (text for node in defs for text in node.input))


def append_graph_columns(
    nodes: NodeColumns, names: Sequence[str], types: Sequence[str], inputs: Sequence[str], stops: array[int]
) -> None:
    """Append one graph without arguments and devices from columns; `stops` are the ends of each node's `inputs`."""
    known, inputs_before = NodeNumbers(), len(nodes.source)
    known.update(zip(names, count(len(nodes.name))))
    nodes.name.extend(names)
    nodes.op.extend(map(nodes.op_numbers.__getitem__, types))
    nodes.device.extend([nodes.device_numbers[""]] * len(names))
    fan_in = np.array(stops, np.int32)
    fan_in[1:] -= fan_in[:-1].copy()
    nodes.fan_in.frombytes(fan_in.tobytes())
    nodes.args.append(())
    nodes.source.extend(map(known.__getitem__, inputs))
    _end_graph(nodes, known, inputs_before, inputs)


def _end_graph(nodes: NodeColumns, known: NodeNumbers, inputs_before: int, inputs: Iterable[str]) -> None:
    """Finish the graph whose nodes were appended last: record its end, its index and its unresolved inputs.

    `known` are the numbers of its nodes, `inputs` all their inputs, after the `inputs_before` of earlier graphs.
    """
    start, arguments = nodes.starts[-1], len(nodes.args[-1])
    names = nodes.name[start:]
    # -1 for each argument, then 0, 1, 2, …: positions in the messages.
    nodes.definition.append(int32_column(np.arange(-arguments, len(names) - arguments).clip(min=-1)))
    nodes.starts.append(len(nodes.name))
    nodes.index.append(dict(known))
    if len(known) < len(names) or _has_odd_names(names):
        # An input may mean a later node of the same name, or a name may look like an output reference: resolve all
        # inputs again.
        known.others = list(inputs)
        nodes.source[inputs_before:] = int32_array([-1]) * len(known.others)
    nodes.others.append(known.others)
