"""Two exports of one model, by another exporter or in another version of ONNX: these are no changes of the model.

Where only one graph has the classes of modules in its names, the other takes its names:

layer1/layer1.0/relu_1/Relu        ResNet/Sequential[layer1]/Bottleneck[0]/ReLU[relu@2]/Relu

Both are the module `layer1.0.relu`, called for the second time, counted in the whole program: the second call of a
block calls each layer in it for the second time. One exporter leaves out containers (`hm` for `heads.hm`). Inputs and
results that one exporter numbers have the names of the other where there are as many, of equal types and shapes.

A newer version has ops for what an older one writes as a chain:

x ─▶ Div ─▶ Erf ─▶ Add ─▶ Mul ─▶ Mul ─▶ y              x ─▶ Gelu ─▶ y
x ─▶ ReduceMean ─▶ Sub ─▶ … ─▶ Div ─▶ Mul ─▶ Add ─▶ y      x ─▶ LayerNormalization ─▶ y

Where only one of two graphs has such an op, chains of the other that compute the same become that op. The proof is a
witness: the chain, worked out for some numbers, gives what the op gives. Order and form of the chain do not matter.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import erf
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.diff.columns.labels import NOISE_ATTRIBUTES
from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.diff.known_values import ELEMENTWISE, WEIGHT_OPS, fold_known_values, write_setting
from graphviz_tb.flatten import flatten
from graphviz_tb.formats.exported import module_path
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.interpret import interpret
from graphviz_tb.limits import MAX_LAYER_DEPTH
from graphviz_tb.model.columns import Floats
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.sources import GraphSource, Signature, TensorSpec
from graphviz_tb.ops.roles import CONSTANT_OPS, INPUT_OPS, PARAMETER_OP, RESULT_OPS
from graphviz_tb.ops.table import op_name

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef, NodeDef

MODULE_SEGMENT = re.compile(r"[^\[\]/]+\[([^\]]*)\]")
FURTHER_CALL = re.compile(r"(.+)_(\d+)")
CALL_NUMBER = re.compile(r"@([0-9]{1,6})(?=\.|\Z)")
FORMS = {"onnx": "ONNX", "tfl": "TensorFlow Lite", "aten": "torch.export"}  # by the library of their ops
PORT_OPS = (*sorted(INPUT_OPS), *sorted(RESULT_OPS))
LEAST_SHARE = 0.5  # of the scopes of a graph without classes that the other graph has too


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """A graph and its signatures."""

    graph: Graph
    signatures: tuple[Signature, ...]


def align_exports(old: ExportedGraph, new: ExportedGraph) -> tuple[ExportedGraph, ExportedGraph]:
    """Return both graphs without the differences that another exporter, or another version of a format, makes."""
    wanted = {*(row[0] for row in ACTIVATIONS), *NORMS}
    if (aligned := _align_names(old, new)) != (old, new):  # two exporters may write one chain in two ways
        old, new = (_join_chains(side, wanted) for side in aligned)
        return old, new
    # The ops that only one of them has, in place of equal chains of the other.
    types = set(old.graph.op_types), set(new.graph.op_types)
    return _join_chains(old, wanted & types[1] - types[0]), _join_chains(new, wanted & types[0] - types[1])


def _align_names(old: ExportedGraph, new: ExportedGraph) -> tuple[ExportedGraph, ExportedGraph]:
    """Return both graphs: where only one has classes of modules, the other with the names of that."""
    if not (old.graph.is_exported and new.graph.is_exported):
        return old, new
    scopes = _module_scopes(old.graph), _module_scopes(new.graph)
    if bool(scopes[0]) == bool(scopes[1]):
        return old, new
    old, new = (replace(side, graph=fold_known_values(side.graph)) for side in (old, new))
    if scopes[0]:
        return old, _with_names_of(new, old, scopes[0])
    return _with_names_of(old, new, scopes[1]), new


def form_notices(old: Graph, new: Graph) -> tuple[Notice, ...]:
    """Return a notice if two programs are in two forms, which have other ops for the same."""
    forms = sorted(_form(graph) for graph in (old, new))
    if forms[0] == forms[1] or not all(forms):
        return ()
    text = f"{forms[0]} and {forms[1]} have other ops for the same: most of these changes may be none of the model"
    return (Notice("other-form", text, strict=False),)


def _form(graph: Graph) -> str:
    """Return the form of an exported program; "" for any other graph."""
    libraries = {op.partition("::")[0] for op in graph.op_types if "::" in op} if graph.is_exported else set()
    return next((words for library, words in FORMS.items() if library in libraries), "")


def _module_scopes(graph: Graph) -> dict[str, str]:
    """Return the scopes of modules by their paths, "relu@2" for the second call; {} for a graph without classes."""
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


def _with_names_of(plain: ExportedGraph, other: ExportedGraph, scopes: Mapping[str, str]) -> ExportedGraph:
    """Return a graph without classes under the names of the other, where that has most of its modules."""
    inside = {name.rpartition("/")[0] for name in plain.graph.name if "/" in name}
    calls = _calls_of_modules(scopes)
    known = {scope: _scope_of_call(calls, scope) for scope in inside}
    if not known or sum(scope is not None for scope in known.values()) < LEAST_SHARE * len(known):
        return plain
    ports = dict(_equal_ports(plain.graph, other.graph))
    named: dict[str, str] = {}
    taken = set(ports.values())
    numbers = Counter[str]()  # the last one behind each name: thousands of nodes may want the same
    counted = defaultdict[str, list[str]](list)  # names of the other graph without their numbers, the last first
    for node in reversed(_nodes_by_flow(other.graph)):
        counted[_without_number(node.name, node.op)].append(node.name)
    for node in _nodes_by_flow(plain.graph):
        scope, _, own = node.name.rpartition("/")
        target = ports.get(node.name) or node.name
        if node.op not in PORT_OPS:
            around = known[scope] if scope else scopes[""]
            module, dot, attribute = own.rpartition(".")
            if dot and not scope and node.op in WEIGHT_OPS and module in calls:  # by its name in the program
                around, own = calls[module][0], attribute
            target = f"{around if around is not None else scope}/{own}"
            alike = counted[_without_number(target, node.op)]
            target = alike.pop() if alike else target
        unique = target
        while unique in taken and node.name not in ports:
            numbers[target] += 1
            unique = f"{target}_{numbers[target]}"
        taken.add(unique)
        named[node.name] = unique
    named |= _names_of_weights(plain.graph, other.graph, named)
    definition = _rename_nodes(plain.graph.graph_def, named)
    graph = interpret(flatten(definition))
    renamed = tuple(_with_names(each, named) for each in plain.signatures)
    return ExportedGraph(graph, tuple(_with_keys_of(renamed, other.signatures)))


def _names_of_weights(plain: Graph, other: Graph, named: Mapping[str, str]) -> dict[str, str]:
    """Return names for weights that the reader named, where the other graph has others: those at the same inputs."""
    nodes, there = ({node.name: node for node in graph.graph_def.node} for graph in (plain, other))
    taken, found = set(named.values()), dict[str, str]()
    for user in plain.graph_def.node:
        partner = there.get(named[user.name])
        for weight, wanted in zip(user.input, partner.input if partner is not None else (), strict=False):
            ends = nodes.get(weight), there.get(wanted)
            # A name of the program has no scope: that one is a rename.
            is_made_up = "/" in weight and named.get(weight) not in there
            if is_made_up and wanted not in taken and all(end is not None and end.op in WEIGHT_OPS for end in ends):
                found[weight] = wanted
                taken.add(wanted)
    return found


def _nodes_by_flow(graph: Graph) -> list[NodeDef]:
    """Return the nodes from the results backwards, each behind all that it takes: equal graphs in equal order, whatever
    the order of the file."""
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
    """Return a name without the number that the reader put behind the type of the op.

    >>> _without_number("Net/Slice_12", "onnx::Slice"), _without_number("Net/fc_12", "onnx::Gemm")
    ('Net/Slice', 'Net/fc_12')
    """
    plain, _, number = name.rpartition("_")
    return plain if number.isdecimal() and last_segment(plain) == op_name(op) else name


def _calls_of_modules(scopes: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the scopes of the calls of each module in order, by its path; a module that alone has a path without
    containers by that too.

    >>> _calls_of_modules({"a": "N/A[a]", "a@2.b": "N/A[a@2]/B[b]", "a.b": "N/A[a]/B[b]", "heads.hm": "N/C[heads.hm]"})
    {'a': ['N/A[a]'], 'a.b': ['N/A[a]/B[b]', 'N/A[a@2]/B[b]'], 'heads.hm': ['N/C[heads.hm]'], 'hm': ['N/C[heads.hm]']}
    """
    numbered: dict[str, list[tuple[list[int], str]]] = {}
    without_containers = defaultdict[str, set[str]](set)
    for path, scope in scopes.items():
        segments = scope.split("/")[1:] if path else [scope]
        parts = [module[1] if (module := MODULE_SEGMENT.fullmatch(segment)) else segment for segment in segments]
        numbers = [int(call[1]) if (call := CALL_NUMBER.search(part)) else 1 for part in parts]
        whole = CALL_NUMBER.sub("", path)
        numbered.setdefault(whole, []).append((numbers, scope))
        without_containers[".".join(CALL_NUMBER.sub("", part).rpartition(".")[2] for part in parts)].add(whole)
    calls = {path: [scope for _, scope in sorted(of_path)] for path, of_path in numbered.items()}
    return calls | {
        short: calls[min(wholes)]
        for short, wholes in without_containers.items()
        if len(wholes) == 1 and short not in calls
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
    """Yield the inputs and results of one graph with those of the other, if there are as many."""
    for op in PORT_OPS:
        ports = [[node for node in graph.graph_def.node if node.op == op] for graph in (plain, other)]
        if len(ports[0]) == len(ports[1]):
            pairs = zip(*ports, strict=True)
            yield from ((one.name, two.name) for one, two in pairs if _port_settings(one) == _port_settings(two))


def _port_settings(node: NodeDef) -> dict[str, Any]:
    """Return the attributes of an input or a result that are of the program."""
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
    inputs, outputs = (
        tuple(_rename_spec(spec, named) for spec in specs) for specs in (signature.inputs, signature.outputs)
    )
    return replace(signature, inputs=inputs, outputs=outputs)


def _rename_spec(spec: TensorSpec, named: Mapping[str, str]) -> TensorSpec:
    node, colon, output = spec.tensor.partition(":")
    return replace(spec, tensor=f"{named.get(node, node)}{colon}{output}")


def _with_keys_of(signatures: Sequence[Signature], others: Sequence[Signature]) -> Iterator[Signature]:
    """Yield signatures with the keys of the other graph's signatures that have as many tensors of equal dtypes and
    shapes."""
    for place, signature in enumerate(signatures):
        other = others[place] if place < len(others) else signature
        yield replace(
            signature,
            inputs=_specs_with_keys(signature.inputs, other.inputs),
            outputs=_specs_with_keys(signature.outputs, other.outputs),
        )


def _specs_with_keys(specs: tuple[TensorSpec, ...], others: tuple[TensorSpec, ...]) -> tuple[TensorSpec, ...]:
    if len(specs) != len(others) or not all(map(_may_be_same, specs, others)):
        return specs
    # One exporter leaves sizes open that another states.
    return tuple(
        replace(spec, key=other.key, shape=other.shape if spec.shape is None or -1 in spec.shape else spec.shape)
        for spec, other in zip(specs, others, strict=True)
    )


def _may_be_same(one: TensorSpec, other: TensorSpec) -> bool:
    """Return whether two tensors have one type, and one shape as far as both files state it."""
    if one.dtype != other.dtype or one.shape is None or other.shape is None:
        return one.dtype == other.dtype
    sizes = zip(one.shape, other.shape, strict=False)
    return len(one.shape) == len(other.shape) and all(a == b or min(a, b) < 0 for a, b in sizes)


# Chains of ops that an older version of ONNX writes for one op of a newer one.

Numbers = Floats
MAX_CHAIN_OPS = 12
CLOSE = 2e-4  # chains of 16-bit numbers have constants of that precision
WITNESS = np.linspace(-4.0, 4.0, 33)
ONE_AXIS_WITNESS = np.array([[0.3, -1.2, 2.5, 0.9, -0.4], [1.7, 0.2, -2.6, 3.1, 0.6]])


def _erf(x: Numbers) -> Numbers:
    return np.array([erf(number) for number in x.ravel()]).reshape(x.shape)


def _sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))


def _hard_sigmoid(x: Numbers, alpha: float = 0.2, beta: float = 0.5) -> Numbers:
    return np.asarray(np.clip(alpha * x + beta, 0, 1), float)


def _softplus(x: Numbers) -> Numbers:
    return np.log1p(np.exp(x))


def _tanh_gelu(x: Numbers) -> Numbers:
    inner: Numbers = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    return np.asarray(0.5 * x * (1 + np.tanh(inner)), float)


def _reciprocal(x: Numbers) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.reciprocal(x)


ARITHMETIC = ("Add", "Sub", "Mul", "Pow", "Sqrt", "Exp", "Neg", "Reciprocal")
STEPS: Mapping[str, Callable[..., Numbers]] = {
    **{f"onnx::{op}": ELEMENTWISE[op] for op in ARITHMETIC},
    "onnx::Div": np.divide,
    "onnx::Tanh": np.tanh,
    "onnx::Erf": _erf,
    "onnx::Sigmoid": _sigmoid,
    "onnx::Softplus": _softplus,
}
REDUCTIONS: Mapping[str, Callable[..., Numbers]] = {"onnx::ReduceMean": np.mean}
SETTING_STEPS: Mapping[str, Callable[..., Numbers]] = {"onnx::HardSigmoid": _hard_sigmoid}
KNOWN_STEPS = STEPS.keys() | REDUCTIONS.keys() | SETTING_STEPS.keys()
# Op, its settings, its result, and the ops of an equal chain.
ACTIVATIONS: tuple[tuple[str, Mapping[str, str], Callable[[Numbers], Numbers], frozenset[str]], ...] = (
    ("onnx::Gelu", {}, lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2))), frozenset({"onnx::Erf"})),
    ("onnx::Gelu", {"approximate": "tanh"}, _tanh_gelu, frozenset({"onnx::Tanh"})),
    ("onnx::Mish", {}, lambda x: x * np.tanh(_softplus(x)), frozenset({"onnx::Softplus"})),
    ("onnx::HardSwish", {}, lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5), frozenset({"onnx::HardSigmoid"})),
    ("onnx::Swish", {}, lambda x: x * _sigmoid(x), frozenset({"onnx::Sigmoid"})),
    ("onnx::Reciprocal", {}, _reciprocal, frozenset({"onnx::Div"})),
)
NORMS: Mapping[str, Callable[[Numbers], tuple[Numbers, Numbers]]] = {  # what is divided, and by the root of what
    "onnx::LayerNormalization": lambda x: (x - x.mean(-1, keepdims=True), x.var(-1, keepdims=True)),
    "onnx::RMSNormalization": lambda x: (x, (x**2).mean(-1, keepdims=True)),
}
NORM_ROOT = frozenset({"onnx::Sqrt"})


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of nodes equal to one op: its last node, its data, its weights, and the op with its settings."""

    nodes: frozenset[str]
    last: str
    inputs: tuple[str, ...]
    op: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def _join_chains(exported: ExportedGraph, wanted: set[str]) -> ExportedGraph:
    """Return a graph with some ops in place of the chains that compute the same; the graph itself if it has none."""
    graph = exported.graph
    if not set(graph.op_types) & (_middle_ops(wanted) | (NORM_ROOT if wanted & NORMS.keys() else set())):
        return exported
    finder = ChainFinder(graph.graph_def.node, wanted)
    chains = list(finder.chains())
    if not chains:
        return exported
    named = _names_of_joined(finder, chains)
    signatures = tuple(_with_names(each, named) for each in exported.signatures)
    return ExportedGraph(interpret(flatten(_with_joined_ops(graph, finder, chains, named))), signatures)


def _middle_ops(wanted: set[str]) -> set[str]:
    """Return the ops in the middle of chains that are activations."""
    return {op for row in ACTIVATIONS if row[0] in wanted for op in row[3]}


def _names_of_joined(finder: ChainFinder, chains: list[Chain]) -> dict[str, str]:
    """Return the names of the ops in place of chains, as exporters name them, so that both graphs have equal names."""
    named: dict[str, str] = {}
    taken: set[str] = set()
    for chain in chains:
        name = f"{chain.last[: -len(last_segment(chain.last))]}{chain.op.rpartition(':')[2]}"
        if name not in finder.nodes and name not in taken:
            named[chain.last] = name
            taken.add(name)
    return named


def _with_joined_ops(graph: Graph, finder: ChainFinder, chains: list[Chain], named: Mapping[str, str]) -> GraphDef:
    """Return the graph with one op for each chain; its users take that, and constants that nothing uses are gone."""
    from graphviz_tb.proto import GraphDef

    last = {chain.last: chain for chain in chains}
    gone = {name for chain in chains for name in chain.nodes}
    gone |= {
        constant
        for name in gone.copy()
        for constant in finder.nodes[name].input
        if finder.constant(constant) is not None and gone.issuperset(finder.users[constant])
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
        elif node.name not in gone:
            made.node.add().CopyFrom(node)
    return _rename_nodes(made, named)


class ChainFinder:
    """Finds chains in the nodes of a graph."""

    def __init__(self, nodes: Any, wanted: set[str]) -> None:
        self.nodes: dict[str, NodeDef] = {node.name: node for node in nodes}
        self.wanted = wanted
        self.users: dict[str, list[str]] = {}
        self._constants: dict[str, float | None] = {}
        for node in nodes:
            for text in node.input:
                self.users.setdefault(_maker(text), []).append(node.name)

    def chains(self) -> Iterator[Chain]:
        """Yield the chains, none of which shares an op with another."""
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
            work = _Work(self, {data: WITNESS})
            for last in work.steps_after(middle):
                for op, settings, gives, _ in tables:
                    if _are_close(work.values[last], gives(WITNESS)) and (nodes := self._closed_chain(work, last)):
                        return Chain(nodes, last, (data,), op, settings)
        return None

    def _norm(self, root: NodeDef, norms: set[str]) -> Chain | None:
        """Return the chain through a root that is a norm with its weights."""
        for data in self._data_before(root):
            work = _Work(self, {data: ONE_AXIS_WITNESS})
            for last in work.steps_after(root):
                for op in norms:
                    above, below = NORMS[op](ONE_AXIS_WITNESS)
                    for epsilon in work.constants:
                        if _are_close(work.values[last], above / np.sqrt(below + epsilon)):
                            return self._with_weights(work, data, last, op, epsilon)
        return None

    def _with_weights(self, work: _Work, data: str, last: str, op: str, epsilon: float) -> Chain | None:
        """Return a norm with the scale and the offset that follow it; None without a scale."""
        weights: list[str] = []
        for join in ("onnx::Mul", "onnx::Add")[: 2 if op == "onnx::LayerNormalization" else 1]:
            users = [self.nodes[user] for user in self.users.get(last, ()) if user in self.nodes]
            weight = self._joined_vector(users[0], last) if len(users) == 1 and users[0].op == join else ""
            if not weight:
                break
            weights.append(weight)
            last = users[0].name
            work.values[last] = ONE_AXIS_WITNESS
        nodes = self._closed_chain(work, last)
        if not weights or not nodes:
            return None
        # As files write it, in 32 bits; the default is left out.
        settings = {} if abs(epsilon - 1e-5) < 1e-10 else {"epsilon": float(epsilon)}
        return Chain(nodes, last, (data, *weights), op, settings)

    def _joined_vector(self, node: NodeDef, value: str) -> str:
        """Return the weight of one axis that an op joins to a value; "" if it joins anything else."""
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
        """Return the number that a constant of one number is; None for anything else."""
        if text not in self._constants:
            node = self.nodes.get(_maker(text))
            stored = attr_value(node, "value").tensor if node is not None and node.op in CONSTANT_OPS else None
            numbers = None if stored is None else tensor_numbers(stored)
            numbers = numbers[0] if isinstance(numbers, list) and len(numbers) == 1 else numbers
            self._constants[text] = float(numbers) if isinstance(numbers, int | float) else None
        return self._constants[text]

    def _closed_chain(self, work: _Work, last: str) -> frozenset[str]:
        """Return the nodes of a chain that ends with `last`; none if a value inside of it is used elsewhere."""
        needed, waiting = {last}, [last]
        while waiting:
            for text in self.nodes[waiting.pop()].input:
                if text in work.values and text not in work.given and text not in needed:
                    needed.add(text)
                    waiting.append(text)
        inside = needed - {last}
        if any(user not in needed for name in inside for user in self.users.get(name, ())):
            return frozenset()
        return frozenset(needed)


class _Work:
    """Values worked out from one value that is given, by the text of the input that they are."""

    def __init__(self, finder: ChainFinder, given: Mapping[str, Numbers]) -> None:
        self.finder, self.given = finder, given
        self.values: dict[str, Numbers] = dict(given)
        self.constants: dict[float, None] = {}

    def steps_after(self, node: NodeDef) -> Iterator[str]:
        """Yield the ops from a node on whose value can be worked out, as far as each has one user that has."""
        current: NodeDef | None = node
        for _ in range(MAX_CHAIN_OPS):
            if current is None or self._value_of(current.name) is None:
                return
            yield current.name
            current = next(
                (
                    self.finder.nodes[user]
                    for user in self.finder.users.get(current.name, ())[:2]
                    if self._can_give(user)
                ),
                None,
            )

    def _can_give(self, name: str) -> bool:
        return name in self.finder.nodes and name not in self.values and self._value_of(name) is not None

    def _value_of(self, text: str) -> Numbers | None:
        """Return a value, computing the values before it first, at most as many as a chain has."""
        waiting = [text]
        for _ in range(4 * MAX_CHAIN_OPS):
            if not waiting:
                break
            each = waiting[-1]
            node = self.finder.nodes.get(each)
            if each in self.values or self._is_number(each):
                waiting.pop()
            elif node is None or node.op not in KNOWN_STEPS:
                return None
            elif lacking := [before for before in node.input if not self._is_known(before)]:
                waiting += lacking
            else:
                value = self._work_out(node)
                if value is None:
                    return None
                self.values[each] = value
                waiting.pop()
        return self.values.get(text)

    def _is_number(self, text: str) -> bool:
        number = self.finder.constant(text)
        if number is not None:
            self.constants.setdefault(number)
        return number is not None

    def _is_known(self, text: str) -> bool:
        return text in self.values or self._is_number(text)

    def _work_out(self, node: NodeDef) -> Numbers | None:
        takes = [self.values[text] if text in self.values else self.finder.constant(text) for text in node.input]
        with np.errstate(all="ignore"):
            try:
                if node.op in REDUCTIONS:
                    return _reduce(node, np.asarray(takes[0]))
                if node.op in SETTING_STEPS:
                    settings = {key: node.attr[key].f for key in ("alpha", "beta") if key in node.attr}
                    return SETTING_STEPS[node.op](np.asarray(takes[0]), **settings)
                return np.asarray(STEPS[node.op](*takes), float)
            except (TypeError, ValueError):
                return None


def _reduce(node: NodeDef, value: Numbers) -> Numbers | None:
    """Return a mean over the last axis; None over others."""
    axes = list(node.attr["axes"].list.i) if "axes" in node.attr else []
    shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else []
    rank = len(shapes[0].dim) if shapes and not shapes[0].unknown_rank else 0
    if len(axes) != 1 or axes[0] not in (-1, rank - 1) or value.ndim != 2:
        return None
    return np.asarray(REDUCTIONS[node.op](value, axis=-1, keepdims=True))


def _maker(text: str) -> str:
    """Return the name of the node behind an input; for outputs after the first the whole text, which is no node's
    name."""
    return text.removesuffix(":0")


def _are_close(one: Numbers, other: Numbers) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE))
