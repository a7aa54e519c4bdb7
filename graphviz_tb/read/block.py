"""Graphs and function bodies while calls are inlined, before any node is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from graphviz_tb.limits import MAX_INLINED_LETTERS, MAX_INLINED_WAITS, Meter
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.proto import AttrValue, FunctionDef, NodeDef
from graphviz_tb.read.inline import input_node


@dataclass(frozen=True, slots=True)
class GraphBody:
    """A graph or function as it is in the file: nodes by name, inputs, arguments, results, and effects.

    Effects are nodes that run although no result needs them.
    """

    nodes: Mapping[str, NodeDef]
    inputs: Mapping[str, tuple[str, ...]]
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InlinedNode:
    """A node of a block: its message, its inputs in the file and now, and attributes to add."""

    node: NodeDef
    read: tuple[str, ...]
    inputs: tuple[str, ...]
    told: Mapping[str, AttrValue] = field(default_factory=dict)

    def with_inputs(self, inputs: tuple[str, ...]) -> InlinedNode:
        """Return a copy with different inputs."""
        return self if inputs == self.inputs else InlinedNode(self.node, self.read, inputs, self.told)


@dataclass(frozen=True, slots=True)
class InlinedBlock:
    """A graph after inlining: nodes by name, result tensors, effects."""

    nodes: dict[str, InlinedNode]
    results: tuple[str, ...]
    effects: tuple[str, ...] = ()


class InliningBudget:
    """Letters and control inputs that inlining may still write, over all graphs of a source."""

    def __init__(self) -> None:
        self.letters, self.waits = Meter(MAX_INLINED_LETTERS), Meter(MAX_INLINED_WAITS)

    def spend_letters(self, count: int) -> bool:
        """Spend letters; return whether there was room."""
        return self.letters.take(max(0, count))

    def spend_waits(self, count: int) -> bool:
        """Spend control inputs; return whether there was room."""
        return self.waits.take(count)


def body_of_nodes(nodes: Iterable[NodeDef], results: tuple[str, ...] = ()) -> GraphBody:
    """Return nodes as a body."""
    by_name = {node.name: node for node in nodes}
    return GraphBody(by_name, {name: tuple(node.input) for name, node in by_name.items()}, results=results)


def body_of_function(function: FunctionDef) -> GraphBody:
    """Return a function as a body; an effect with several names counts once."""
    made = body_of_nodes(function.node_def)
    signature = function.signature
    return GraphBody(
        made.nodes,
        made.inputs,
        tuple(arg.name for arg in signature.input_arg),
        tuple(function.ret.get(arg.name, arg.name) for arg in signature.output_arg),
        # Sorted by name: the order of a protobuf map differs between processes.
        tuple(dict.fromkeys(node for _, node in sorted(function.control_ret.items()) if node in made.nodes)),
    )


def nodes_needed_by(inputs: Mapping[str, Iterable[str]], ends: Iterable[str]) -> set[str]:
    """Return the nodes that `ends` depend on, themselves included."""
    waiting = list(ends)
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in kept and name in inputs:
            kept.add(name)
            waiting += map(input_node, inputs[name])
    return kept


def added_letters(block: InlinedBlock) -> int:
    """Return how many letters longer the inputs of a block are than in the file."""
    changed = [placed for placed in block.nodes.values() if placed.inputs is not placed.read]
    return sum(sum(map(len, placed.inputs)) - sum(map(len, placed.read)) for placed in changed)


def append_block_nodes(block: InlinedBlock, nodes: Any) -> None:
    """Append the nodes of a block to a message's nodes; each is copied once."""
    for name, placed in block.nodes.items():
        made = nodes.add()
        made.CopyFrom(placed.node)
        made.name = name
        made.input[:] = placed.inputs
        for key, value in placed.told.items():
            made.attr[key].CopyFrom(value)
