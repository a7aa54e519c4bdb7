"""Remove the differences between two exports of one model that come from the exporter or the version of ONNX.

If only one graph has classes of modules in its names, the other is renamed like it:

layer1/layer1.0/relu_1/Relu        ResNet/Sequential[layer1]/Bottleneck[0]/ReLU[relu@2]/Relu

Both names mean the second call of the module `layer1.0.relu`. Calls are counted in the whole program: a second call of
a block is the second call of each layer in it. One exporter leaves out containers (`hm` for `heads.hm`). Inputs and
results are renamed too if both graphs have as many, of equal types and shapes.

If only one graph has an op, or two exporters wrote the graphs, chains that compute the same become that op: a newer
version of ONNX has ops for what an older one writes as a chain.

x ─▶ Div ─▶ Erf ─▶ Add ─▶ Mul ─▶ Mul ─▶ y                  x ─▶ Gelu ─▶ y
x ─▶ ReduceMean ─▶ Sub ─▶ … ─▶ Div ─▶ Mul ─▶ Add ─▶ y      x ─▶ LayerNormalization ─▶ y
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import erf
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.diff.columns.labels import NOISE_ATTRIBUTES
from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.diff.known_values import ELEMENTWISE, WEIGHT_OPS, computes_constants, fold_known_values, write_setting
from graphviz_tb.flatten import flatten
from graphviz_tb.formats.exported import module_path
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.interpret import interpret
from graphviz_tb.limits import MAX_LAYER_DEPTH
from graphviz_tb.model.columns import Floats
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.sources import GraphSource, Signature, TensorSpec
from graphviz_tb.ops.roles import CONSTANT_OPS, INPUT_OPS, PARAMETER_OP, RESULT_OPS
from graphviz_tb.ops.table import op_name
from graphviz_tb.unwrap.calls import UnusedNames

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef, NodeDef

MODULE_SEGMENT = re.compile(r"[^\[\]/]+\[([^\]]*)\]")
FURTHER_CALL = re.compile(r"(.+)_(\d+)")
CALL_NUMBER = re.compile(r"@([0-9]{1,6})(?=\.|\Z)")
FORMS = {"onnx": "ONNX", "tfl": "TensorFlow Lite", "aten": "torch.export"}  # by the library of their ops
PORT_OPS = (*sorted(INPUT_OPS), *sorted(RESULT_OPS))
MIN_SHARED_SCOPES = 0.5  # share of the scopes of a graph without classes that the other graph must have


@dataclass(frozen=True, slots=True)
class DiffInput:
    """A flat graph with the name and the signatures of its source."""

    graph: Graph
    label: str
    signatures: tuple[Signature, ...] = ()
    notices: tuple[Notice, ...] = ()
    kind: str = ""  # "op" or "conceptual"; "" if unknown


def align_exports(old: DiffInput, new: DiffInput) -> tuple[DiffInput, DiffInput]:
    """Return both graphs without differences that come from the exporter or the version of the format."""
    if (aligned := _align_names(old, new)) != (old, new):  # two exporters may write one chain in two ways
        old, new = (_join_chains(side, JOINED_OPS) for side in aligned)
        return old, new
    # Ops that only one graph has replace equal chains in the other; so does the op of a chain that only one can have.
    types = set(old.graph.op_types), set(new.graph.op_types)
    exchanged = _activations_through(types[0] ^ types[1])
    old, new = (
        _join_chains(side, exchanged | (JOINED_OPS & other_types - own_types))
        for side, own_types, other_types in ((old, *types), (new, *types[::-1]))
    )
    return old, new


def _join_chains(exported: DiffInput, wanted: AbstractSet[str]) -> DiffInput:
    """Return a graph with the `wanted` ops in place of chains that compute the same."""
    joined = _replace_chains(exported.graph, wanted)
    if joined is None:
        return exported
    definition, named = joined
    signatures = tuple(_with_names(each, named) for each in exported.signatures)
    return replace(exported, graph=interpret(flatten(_rename_nodes(definition, named))), signatures=signatures)


def _align_names(old: DiffInput, new: DiffInput) -> tuple[DiffInput, DiffInput]:
    """Return both graphs; if only one has classes of modules in its names, the other is renamed like it."""
    if not (old.graph.is_exported and new.graph.is_exported):
        return old, new
    scopes = _module_scopes(old.graph), _module_scopes(new.graph)
    is_named_alike = bool(scopes[0]) == bool(scopes[1])
    if is_named_alike and computes_constants(old.graph) == computes_constants(new.graph):
        return old, new
    old, new = (replace(side, graph=fold_known_values(side.graph)) for side in (old, new))
    if is_named_alike:
        return old, new
    if scopes[0]:
        return old, _with_names_of(new, old, scopes[0])
    return _with_names_of(old, new, scopes[1]), new


def form_notices(old: Graph, new: Graph) -> tuple[Notice, ...]:
    """Return a notice if the graphs are in two formats, which have different ops for one computation."""
    libraries = [{op.partition("::")[0] for op in graph.op_types if "::" in op} for graph in (old, new)]
    forms = sorted(next((FORMS[library] for library in FORMS if library in used), "") for used in libraries)
    if forms[0] == forms[1] or not all(forms) or not (old.is_exported and new.is_exported):
        return ()
    text = f"{forms[0]} and {forms[1]} have other ops for the same: most of these changes may be none of the model"
    return (Notice("other-form", text, strict=False),)


def _module_scopes(graph: Graph) -> dict[str, str]:
    """Return the scopes of modules by path (`layer1.0.relu@2`); {} for a graph without classes."""
    found: dict[str, str] = {}
    for scope in dict.fromkeys(name.rpartition("/")[0] for name in graph.name):
        segments = scope.split("/", MAX_LAYER_DEPTH)[:MAX_LAYER_DEPTH]
        parts: list[str] = []
        for depth, segment in enumerate(segments, 1):
            match = MODULE_SEGMENT.fullmatch(segment)
            if match:
                parts.append(match[1])
                found.setdefault(".".join(parts), "/".join(segments[:depth]))
    if found:
        found.setdefault("", next(iter(found.values())).partition("/")[0])
    return found


def _with_names_of(plain: DiffInput, other: DiffInput, scopes: Mapping[str, str]) -> DiffInput:
    """Rename a graph without classes like the other, if that has most of its modules."""
    scopes_used = {name.rpartition("/")[0] for name in plain.graph.name if "/" in name}
    calls = _calls_of_modules(scopes)
    targets = {scope: _scope_of_call(calls, scope) for scope in scopes_used}
    if not targets or sum(scope is not None for scope in targets.values()) < MIN_SHARED_SCOPES * len(targets):
        return plain
    ports = dict(_equal_ports(plain.graph, other.graph))
    new_names: dict[str, str] = {}
    unused = UnusedNames(set(ports.values()))
    by_plain_name = defaultdict[str, list[str]](list)  # names of the other graph by name without number, last first
    for node in reversed(_nodes_by_flow(other.graph)):
        by_plain_name[_without_number(node.name, node.op)].append(node.name)
    for node in _nodes_by_flow(plain.graph):
        scope, _, own = node.name.rpartition("/")
        new_name = node.name
        if node.op not in PORT_OPS:
            around = targets[scope] if scope else scopes[""]
            module, dot, attribute = own.rpartition(".")
            if dot and not scope and node.op in WEIGHT_OPS and module in calls:  # a weight has its name in the program
                around, own = calls[module][0], attribute
            new_name = f"{around if around is not None else scope}/{own}"
            candidates = by_plain_name[_without_number(new_name, node.op)]
            new_name = candidates.pop() if candidates else new_name
        new_names[node.name] = ports.get(node.name) or unused.take_name(new_name)
    new_names |= _names_of_weights(plain.graph, other.graph, new_names)
    definition = _rename_nodes(plain.graph.graph_def, new_names)
    graph = interpret(flatten(definition))
    renamed = tuple(_with_names(each, new_names) for each in plain.signatures)
    return replace(plain, graph=graph, signatures=tuple(_with_keys_of(renamed, other.signatures)))


def _names_of_weights(plain: Graph, other: Graph, named: Mapping[str, str]) -> dict[str, str]:
    """Return new names for weights that the reader named: those of the weights at equal inputs in the other graph."""
    nodes, there = ({node.name: node for node in graph.graph_def.node} for graph in (plain, other))
    taken, found = set(named.values()), dict[str, str]()
    for user in plain.graph_def.node:
        partner = there.get(named[user.name])
        for weight, wanted in zip(user.input, partner.input if partner is not None else (), strict=False):
            ends = nodes.get(weight), there.get(wanted)
            # Names without a scope come from the program; a different one is a rename.
            is_made_up = "/" in weight and named.get(weight) not in there
            if is_made_up and wanted not in taken and all(end is not None and end.op in WEIGHT_OPS for end in ends):
                found[weight] = wanted
                taken.add(wanted)
    return found


def _nodes_by_flow(graph: Graph) -> list[NodeDef]:
    """Return the nodes, each after its inputs, in an order that does not depend on that of the file."""
    nodes = {node.name: node for node in graph.graph_def.node}
    results = [name for name, node in nodes.items() if node.op in RESULT_OPS]
    waiting, seen = [(name, False) for name in [*reversed(nodes), *reversed(results)]], set[str]()
    ordered: list[NodeDef] = []
    while waiting:
        name, is_after_inputs = waiting.pop()
        if is_after_inputs:
            ordered.append(nodes[name])
        elif name not in seen:
            seen.add(name)
            waiting.append((name, True))
            makers = [text.partition(":")[0] for text in nodes[name].input]
            waiting += [(maker, False) for maker in reversed(makers) if maker in nodes and maker not in seen]
    return ordered


def _without_number(name: str, op: str) -> str:
    """Return a name without the number that the reader appended to the op type.

    >>> _without_number("Net/Slice_12", "onnx::Slice"), _without_number("Net/fc_12", "onnx::Gemm")
    ('Net/Slice', 'Net/fc_12')
    """
    plain, _, number = name.rpartition("_")
    return plain if number.isdecimal() and last_segment(plain) == op_name(op) else name


def _calls_of_modules(scopes: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the scopes of the calls of each module, in order, by path; also by its path without containers, if no
    other module has that.

    >>> _calls_of_modules({"a": "N/A[a]", "a@2.b": "N/A[a@2]/B[b]", "a.b": "N/A[a]/B[b]", "heads.hm": "N/C[heads.hm]"})
    {'a': ['N/A[a]'], 'a.b': ['N/A[a]/B[b]', 'N/A[a@2]/B[b]'], 'heads.hm': ['N/C[heads.hm]'], 'hm': ['N/C[heads.hm]']}
    """
    numbered: dict[str, list[tuple[list[int], str]]] = {}
    without_containers = defaultdict[str, set[str]](set)
    for path, scope in scopes.items():
        segments = scope.split("/")[1:] if path else [scope]
        parts = [match[1] if (match := MODULE_SEGMENT.fullmatch(segment)) else segment for segment in segments]
        numbers = [int(call[1]) if (call := CALL_NUMBER.search(part)) else 1 for part in parts]
        module = CALL_NUMBER.sub("", path)
        numbered.setdefault(module, []).append((numbers, scope))
        without_containers[".".join(CALL_NUMBER.sub("", part).rpartition(".")[2] for part in parts)].add(module)
    calls = {path: [scope for _, scope in sorted(of_path)] for path, of_path in numbered.items()}
    return calls | {
        short: calls[min(modules)]
        for short, modules in without_containers.items()
        if len(modules) == 1 and short not in calls
    }


def _scope_of_call(calls: Mapping[str, Sequence[str]], scope: str) -> str | None:
    """Return the scope of the call that a name without classes refers to; None if the other graph has no such call."""
    path = module_path(scope.split("/", MAX_LAYER_DEPTH))
    if path in calls:
        return calls[path][0]
    call = FURTHER_CALL.fullmatch(path)
    further = calls.get(call[1], ())[int(call[2][:6]) :] if call else ()
    return further[0] if further else None


def _equal_ports(plain: Graph, other: Graph) -> Iterator[tuple[str, str]]:
    """Yield pairs of names: the inputs and results of both graphs in order, if both have as many."""
    for op in PORT_OPS:
        ports = [[node for node in graph.graph_def.node if node.op == op] for graph in (plain, other)]
        if len(ports[0]) == len(ports[1]):
            pairs = zip(*ports, strict=True)
            yield from ((one.name, two.name) for one, two in pairs if _port_settings(one) == _port_settings(two))


def _port_settings(node: NodeDef) -> dict[str, Any]:
    """Return the attributes of an input or a result that the program decides."""
    return {name: value for name, value in node.attr.items() if name not in NOISE_ATTRIBUTES or name == "_output_types"}


def _rename_nodes(definition: GraphSource, named: Mapping[str, str]) -> GraphDef:
    from graphviz_tb.proto import GraphDef

    made = GraphDef()
    made.node.extend(definition.node)
    made.library.CopyFrom(definition.library)
    for node in made.node:
        node.name = named.get(node.name, node.name)
        for place, text in enumerate(node.input):
            maker, colon, output = text.partition(":")
            if maker in named:
                node.input[place] = f"{named[maker]}{colon}{output}"
    return made


def _with_names(signature: Signature, named: Mapping[str, str]) -> Signature:
    """Return a signature of nodes with other names."""

    def rename_tensors(specs: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
        parts = [(spec, *spec.tensor.partition(":")) for spec in specs]
        return tuple(
            replace(spec, tensor=f"{named.get(node, node)}{rest}{output}") for spec, node, rest, output in parts
        )

    return replace(signature, inputs=rename_tensors(signature.inputs), outputs=rename_tensors(signature.outputs))


def _with_keys_of(signatures: Sequence[Signature], others: Sequence[Signature]) -> Iterator[Signature]:
    """Yield signatures with the keys of the other graph's signatures, if both have as many tensors of equal dtypes and
    shapes."""
    for signature, other in zip(signatures, (*others, *signatures[len(others) :]), strict=False):
        inputs = _specs_with_keys(signature.inputs, other.inputs)
        yield replace(signature, inputs=inputs, outputs=_specs_with_keys(signature.outputs, other.outputs))


def _specs_with_keys(specs: tuple[TensorSpec, ...], others: tuple[TensorSpec, ...]) -> tuple[TensorSpec, ...]:
    if len(specs) != len(others) or not all(map(_may_be_same, specs, others)):
        return specs
    # One exporter writes sizes that another leaves out.
    return tuple(
        replace(spec, key=other.key, shape=other.shape if spec.shape is None or -1 in spec.shape else spec.shape)
        for spec, other in zip(specs, others, strict=True)
    )


def _may_be_same(one: TensorSpec, other: TensorSpec) -> bool:
    """Return whether two tensors have equal dtypes, and equal shapes as far as both are known."""
    if one.dtype != other.dtype or one.shape is None or other.shape is None:
        return one.dtype == other.dtype
    sizes = zip(one.shape, other.shape, strict=False)
    return len(one.shape) == len(other.shape) and all(a == b or min(a, b) < 0 for a, b in sizes)


# A chain is recognised by its result: evaluated on a fixed array of numbers, it equals the op. So the order and form of
# its ops do not matter.

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


def _replace_chains(graph: Graph, wanted: AbstractSet[str]) -> tuple[GraphDef, dict[str, str]] | None:
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


def _activations_through(ops: AbstractSet[str]) -> frozenset[str]:
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
