"""A graph or a body as it is read, and what opening its calls makes of it, before any node of that is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from graphviz_tb.limits import INLINED_LETTERS, INLINED_WAITS, Meter
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.proto import AttrValue, FunctionDef, NodeDef
from graphviz_tb.read.inline import node_of


@dataclass(frozen=True, slots=True)
class Body:
    """The nodes of a graph or function by name, what each takes, and the ends: arguments and results, and the effects,
    nodes for which a function waits."""

    nodes: Mapping[str, NodeDef]
    inputs: Mapping[str, tuple[str, ...]]
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockNode:
    """A node in a block: the message that it is made of, the inputs that it has in the file and here, and attributes
    beside those it has."""

    node: NodeDef
    read: tuple[str, ...]
    inputs: tuple[str, ...]
    told: Mapping[str, AttrValue] = field(default_factory=dict)

    def taking(self, inputs: tuple[str, ...]) -> BlockNode:
        """Return a copy with other inputs."""
        return self if inputs == self.inputs else BlockNode(self.node, self.read, inputs, self.told)


@dataclass(frozen=True, slots=True)
class Block:
    """A graph with its ends: nodes by name, the tensors that are its results, the nodes that only have effects."""

    nodes: dict[str, BlockNode]
    results: tuple[str, ...]
    effects: tuple[str, ...] = ()


class OpeningBudget:
    """How many letters and control inputs opening may still write, in all graphs of a source together."""

    def __init__(self) -> None:
        self.letters, self.waits = Meter(INLINED_LETTERS), Meter(INLINED_WAITS)

    def for_letters(self, count: int) -> bool:
        """Whether there is room for so many letters; from now on it is taken."""
        return self.letters.take(max(0, count))

    def for_waits(self, count: int) -> bool:
        """Whether there is room for so many control inputs; from now on it is taken."""
        return self.waits.take(count)


def body_of_nodes(nodes: Iterable[NodeDef], results: tuple[str, ...] = ()) -> Body:
    """A graph that some nodes are."""
    by_name = {node.name: node for node in nodes}
    return Body(by_name, {name: tuple(node.input) for name, node in by_name.items()}, results=results)


def body_of_function(function: FunctionDef) -> Body:
    """A function; several names may be given to one effect, which counts once."""
    made = body_of_nodes(function.node_def)
    signature = function.signature
    return Body(
        made.nodes,
        made.inputs,
        tuple(arg.name for arg in signature.input_arg),
        tuple(function.ret.get(arg.name, arg.name) for arg in signature.output_arg),
        # By their names: a map of a message has another order in each process.
        tuple(dict.fromkeys(node for _, node in sorted(function.control_ret.items()) if node in made.nodes)),
    )


def reached_from(inputs: Mapping[str, Iterable[str]], ends: Iterable[str]) -> set[str]:
    """The nodes that some of them need, back to those that need nothing."""
    waiting = list(ends)
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in kept and name in inputs:
            kept.add(name)
            waiting += map(node_of, inputs[name])
    return kept


def growth(block: Block) -> int:
    """How many letters more than in the file the inputs of a block have."""
    changed = [placed for placed in block.nodes.values() if placed.inputs is not placed.read]
    return sum(sum(map(len, placed.inputs)) - sum(map(len, placed.read)) for placed in changed)


def write(block: Block, nodes: Any) -> None:
    """Add the nodes of a block to those of a message: each is copied once."""
    for name, placed in block.nodes.items():
        made = nodes.add()
        made.CopyFrom(placed.node)
        made.name = name
        made.input[:] = placed.inputs
        for key, value in placed.told.items():
            made.attr[key].CopyFrom(value)
