"""Replace chains of ops by the single op that computes the same.

A newer version of ONNX has ops for what an older one writes as a chain:

x ─▶ Div ─▶ Erf ─▶ Add ─▶ Mul ─▶ Mul ─▶ y              x ─▶ Gelu ─▶ y
x ─▶ ReduceMean ─▶ Sub ─▶ … ─▶ Div ─▶ Mul ─▶ Add ─▶ y      x ─▶ LayerNormalization ─▶ y

A chain is recognised by its result: evaluated on a fixed array of numbers, it equals the op. So the order and form of
its ops do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import erf
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.diff.known_values import ELEMENTWISE, write_setting
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.model.columns import Floats
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS, PARAMETER_OP
from graphviz_tb.unwrap.calls import UnusedNames

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef, NodeDef

Numbers = Floats
MAX_CHAIN_OPS = 12
TOLERANCE = 2e-4  # constants of chains in 16-bit floats are only so precise
WITNESS = np.linspace(-4.0, 4.0, 33)
ONE_AXIS_WITNESS = np.array([[0.3, -1.2, 2.5, 0.9, -0.4], [1.7, 0.2, -2.6, 3.1, 0.6]])


def _erf(x: Numbers) -> Numbers:
    return np.array([erf(number) for number in x.ravel()]).reshape(x.shape)


def _sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))


def _hard_sigmoid(x: Numbers, alpha: float = 0.2, beta: float = 0.5) -> Numbers:
    return np.asarray(np.clip(alpha * x + beta, 0, 1), float)


TANH_GELU = np.sqrt(2 / np.pi)
ARITHMETIC = ("Add", "Sub", "Mul", "Pow", "Sqrt", "Exp", "Neg", "Reciprocal")
STEPS: Mapping[str, Callable[..., Numbers]] = {
    **{f"onnx::{op}": ELEMENTWISE[op] for op in ARITHMETIC},
    "onnx::Div": np.divide,
    "onnx::Tanh": np.tanh,
    "onnx::Erf": _erf,
    "onnx::Sigmoid": _sigmoid,
    "onnx::Softplus": lambda x: np.log1p(np.exp(x)),
}
REDUCTIONS: Mapping[str, Callable[..., Numbers]] = {"onnx::ReduceMean": np.mean}
SETTING_STEPS: Mapping[str, Callable[..., Numbers]] = {"onnx::HardSigmoid": _hard_sigmoid}
KNOWN_STEPS = STEPS.keys() | REDUCTIONS.keys() | SETTING_STEPS.keys()
# Op, its settings, its function, and an op that is in the middle of each equal chain.
ACTIVATIONS: tuple[tuple[str, Mapping[str, str], Callable[[Numbers], Numbers], frozenset[str]], ...] = (
    ("onnx::Gelu", {}, lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2))), frozenset({"onnx::Erf"})),
    (
        "onnx::Gelu",
        {"approximate": "tanh"},
        lambda x: 0.5 * x * (1 + np.tanh(TANH_GELU * (x + 0.044715 * x**3))),
        frozenset({"onnx::Tanh"}),
    ),
    ("onnx::Mish", {}, lambda x: x * np.tanh(np.log1p(np.exp(x))), frozenset({"onnx::Softplus"})),
    ("onnx::HardSwish", {}, lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5), frozenset({"onnx::HardSigmoid"})),
    ("onnx::Swish", {}, lambda x: x * _sigmoid(x), frozenset({"onnx::Sigmoid"})),
    (
        "onnx::Reciprocal",
        {},
        lambda x: np.divide(1, x, out=np.full_like(x, np.inf), where=x != 0),
        frozenset({"onnx::Div"}),
    ),
)
SHORT_CHAINS = frozenset({"onnx::HardSwish", "onnx::Swish", "onnx::Reciprocal"})  # of one or two ops
NORMS: Mapping[str, Callable[[Numbers], tuple[Numbers, Numbers]]] = {  # x / sqrt(y + epsilon) as (x, y)
    "onnx::LayerNormalization": lambda x: (x - x.mean(-1, keepdims=True), x.var(-1, keepdims=True)),
    "onnx::RMSNormalization": lambda x: (x, (x**2).mean(-1, keepdims=True)),
}
NORM_ROOT = frozenset({"onnx::Sqrt"})
JOINED_OPS = frozenset((*(row[0] for row in ACTIVATIONS), *NORMS))


@dataclass(frozen=True, slots=True)
class Chain:
    """Nodes equal to one op: the last of them, the inputs (data, then weights), and the op with its settings."""

    nodes: frozenset[str]
    last: str
    inputs: tuple[str, ...]
    op: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def join_chains(graph: Graph, wanted: AbstractSet[str]) -> tuple[GraphDef, dict[str, str]] | None:
    """Return a graph with the `wanted` ops in place of chains of the same result, and names to give to these ops, by
    their present names; None if it has no such chain."""
    if not set(graph.op_types) & (_middle_ops(wanted) | (NORM_ROOT if wanted & NORMS.keys() else set())):
        return None
    finder = ChainFinder(graph.graph_def.node, wanted)
    chains = list(finder.chains())
    return (_with_joined_ops(graph, finder, chains), _names_of_joined(finder, chains)) if chains else None


def _middle_ops(wanted: AbstractSet[str]) -> set[str]:
    """Return the ops in the middle of the chains of the `wanted` activations."""
    return {op for row in ACTIVATIONS if row[0] in wanted for op in row[3]}


def activations_through(ops: AbstractSet[str]) -> frozenset[str]:
    """Return the activations, except those of short chains, whose chains have one of these ops in the middle."""
    return frozenset(row[0] for row in ACTIVATIONS if row[3] & ops) - SHORT_CHAINS


def _names_of_joined(finder: ChainFinder, chains: list[Chain]) -> dict[str, str]:
    """Return new names for the ops in place of chains, as exporters name them, by the name of the chain's last node."""
    named: dict[str, str] = {}
    unused = UnusedNames(set(finder.nodes))
    for chain in chains:
        around = chain.last[: -len(last_segment(chain.last))]
        named[chain.last] = unused.take_name(f"{around}{chain.op.rpartition(':')[2]}")
    return named


def _with_joined_ops(graph: Graph, finder: ChainFinder, chains: list[Chain]) -> GraphDef:
    """Return the graph with one op for each chain, under the name of its last node, without constants that only the
    chains used."""
    from graphviz_tb.proto import GraphDef

    last = {chain.last: chain for chain in chains}
    dropped = {name for chain in chains for name in chain.nodes}
    dropped |= {
        constant
        for name in dropped.copy()
        for constant in finder.nodes[name].input
        if finder.constant(constant) is not None and dropped.issuperset(finder.users[constant])
    }
    made = GraphDef()
    made.library.CopyFrom(graph.graph_def.library)
    for node in graph.graph_def.node:
        chain = last.get(node.name)
        if chain is not None:
            joined = made.node.add(name=node.name, op=chain.op, input=chain.inputs)
            for key in ("_output_shapes", "_output_types", "_source"):
                if key in node.attr:
                    joined.attr[key].CopyFrom(node.attr[key])
            for setting, value in chain.settings.items():
                write_setting(joined, setting, value)
        elif node.name not in dropped:
            made.node.add().CopyFrom(node)
    return made


class ChainFinder:
    """The search for chains in the nodes of a graph."""

    def __init__(self, nodes: Any, wanted: AbstractSet[str]) -> None:
        self.nodes: dict[str, NodeDef] = {node.name: node for node in nodes}
        self.wanted = wanted
        self.users: dict[str, list[str]] = {}
        self._constants: dict[str, float | None] = {}
        for node in nodes:
            for text in node.input:
                self.users.setdefault(_maker(text), []).append(node.name)

    def chains(self) -> Iterator[Chain]:
        """Yield chains that share no op."""
        taken: set[str] = set()
        through = _middle_ops(self.wanted)
        norms = self.wanted & NORMS.keys()
        for node in self.nodes.values():
            found = self._activation(node) if node.op in through else None
            if found is None and norms and node.op in NORM_ROOT:
                found = self._norm(node, norms)
            if found is not None and taken.isdisjoint(found.nodes):
                taken |= found.nodes
                yield found

    def _activation(self, middle: NodeDef) -> Chain | None:
        """Return the chain through an op that is an activation."""
        tables = [row for row in ACTIVATIONS if row[0] in self.wanted and middle.op in row[3]]
        for data in self._data_before(middle):
            values = self._values_from(data, WITNESS)
            for last, value in values.items() if middle.name in values else ():
                for op, settings, compute, _ in tables:
                    if _are_close(value, compute(WITNESS)) and (nodes := self._closed_chain(values, data, last)):
                        return Chain(nodes, last, (data,), op, settings)
        return None

    def _norm(self, root: NodeDef, norms: AbstractSet[str]) -> Chain | None:
        """Return the chain through a square root that is a normalization with its weights."""
        for data in self._data_before(root):
            values = self._values_from(data, ONE_AXIS_WITNESS)
            inputs = [text for name in values if name != data for text in self.nodes[name].input]
            epsilons = dict.fromkeys(number for text in inputs if (number := self.constant(text)) is not None)
            for last, value in values.items() if root.name in values else ():
                for op in norms:
                    numerator, variance = NORMS[op](ONE_AXIS_WITNESS)
                    for epsilon in epsilons:
                        if _are_close(value, numerator / np.sqrt(variance + epsilon)):
                            return self._with_weights(values, data, last, op, epsilon)
        return None

    def _with_weights(self, values: dict[str, Numbers], data: str, last: str, op: str, epsilon: float) -> Chain | None:
        """Return the chain of a normalization with the scale and the offset behind it; None without a scale."""
        weights: list[str] = []
        for join in ("onnx::Mul", "onnx::Add")[: 2 if op == "onnx::LayerNormalization" else 1]:
            users = [self.nodes[user] for user in self.users.get(last, ())]
            weight = self._joined_vector(users[0], last) if len(users) == 1 and users[0].op == join else ""
            if not weight:
                break
            weights.append(weight)
            last = users[0].name
            values[last] = ONE_AXIS_WITNESS
        nodes = self._closed_chain(values, data, last)
        if not weights or not nodes:
            return None
        # Epsilon is rounded to 32 bits in files; the default is left out.
        settings = {} if abs(epsilon - 1e-5) < 1e-10 else {"epsilon": float(epsilon)}
        return Chain(nodes, last, (data, *weights), op, settings)

    def _joined_vector(self, node: NodeDef, value: str) -> str:
        """Return the one-dimensional weight that is the other input of an op; "" if that is anything else."""
        others = [_maker(text) for text in node.input if _maker(text) != value]
        weight = self.nodes.get(others[0]) if len(others) == 1 else None
        one_axis = weight is not None and weight.op == PARAMETER_OP and len(attr_value(weight, "shape").shape.dim) == 1
        return others[0] if one_axis else ""

    def _data_before(self, node: NodeDef) -> Iterator[str]:
        """Yield the values that a chain before a node may begin with, the nearest first."""
        waiting, seen = [*node.input], {node.name}
        while waiting and len(seen) <= MAX_CHAIN_OPS:
            text = waiting.pop(0)
            maker = self.nodes.get(_maker(text))
            if text in seen or (maker is not None and self.constant(text) is not None):
                continue
            seen.add(text)
            yield text
            if maker is not None and maker.op in KNOWN_STEPS:
                waiting += maker.input

    def constant(self, text: str) -> float | None:
        """Return the value of a scalar constant; None for anything else."""
        if text not in self._constants:
            node = self.nodes.get(_maker(text))
            stored = attr_value(node, "value").tensor if node is not None and node.op in CONSTANT_OPS else None
            numbers = None if stored is None else tensor_numbers(stored)
            numbers = numbers[0] if isinstance(numbers, list) and len(numbers) == 1 else numbers
            self._constants[text] = float(numbers) if isinstance(numbers, int | float) else None
        return self._constants[text]

    def _closed_chain(self, values: Mapping[str, Numbers], data: str, last: str) -> frozenset[str]:
        """Return the nodes of a chain that ends with `last`; empty if a value inside the chain is used elsewhere."""
        inner = values.keys() - {data}
        needed = reachable_from([last], lambda name: inner.intersection(self.nodes[name].input))
        is_closed = all(needed.issuperset(self.users.get(name, ())) for name in needed - {last})
        return frozenset(needed if is_closed else ())

    def _values_from(self, data: str, witness: Numbers) -> dict[str, Numbers]:
        """Return the values of nodes that depend only on `data` and constants, by name, the nearest first."""
        values, waiting = {data: witness}, [data]
        while waiting and len(values) < 4 * MAX_CHAIN_OPS:
            for user in self.users.get(_maker(waiting.pop(0)), ()):
                node = self.nodes[user]
                operands = [values[text] if text in values else self.constant(text) for text in node.input]
                if user not in values and node.op in KNOWN_STEPS and not any(each is None for each in operands):
                    value = _evaluate(node, operands)
                    if value is not None:
                        values[user] = value
                        waiting.append(user)
        return values


def _evaluate(node: NodeDef, operands: Sequence[Any]) -> Numbers | None:
    with np.errstate(all="ignore"):
        try:
            if node.op in REDUCTIONS:
                return _reduce(node, np.asarray(operands[0]))
            if node.op in SETTING_STEPS:
                settings = {key: node.attr[key].f for key in ("alpha", "beta") if key in node.attr}
                return SETTING_STEPS[node.op](np.asarray(operands[0]), **settings)
            return np.asarray(STEPS[node.op](*operands), float)
        except (TypeError, ValueError):
            return None


def _reduce(node: NodeDef, value: Numbers) -> Numbers | None:
    """Return the mean over the last axis; None for other axes."""
    axes = list(node.attr["axes"].list.i) if "axes" in node.attr else []
    shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else []
    rank = len(shapes[0].dim) if shapes and not shapes[0].unknown_rank else 0
    if len(axes) != 1 or axes[0] not in (-1, rank - 1) or value.ndim != 2:
        return None
    return np.asarray(REDUCTIONS[node.op](value, axis=-1, keepdims=True))


def _maker(text: str) -> str:
    """Return the name of the node that an input comes from. Inputs from a second output stay as they are, and name no
    node."""
    return text.removesuffix(":0")


def _are_close(one: Numbers, other: Numbers) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE))
