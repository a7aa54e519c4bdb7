"""Two exports of one model, by another exporter or in another version of ONNX: these are not changes of the model.

Where only one graph has the classes of modules in its names, the other takes its names:

layer1/layer1.0/relu_1/Relu        ResNet/Sequential[layer1]/Bottleneck[0]/ReLU[relu@2]/Relu

Both are the module `layer1.0.relu`, called for the second time, counted in the whole program: the second call of a
block calls each layer in it for the second time. One exporter leaves out containers (`hm` for `heads.hm`). Inputs and
results that one exporter numbers have the names of the other where there are as many, of equal types and shapes.

Where only one of two graphs has an op, or two exporters wrote them, chains that compute the same become that op
(`op_chains`); so does an activation of several ops that only one of them can have.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.columns.labels import NOISE_ATTRIBUTES
from graphviz_tb.diff.known_values import WEIGHT_OPS, computes_constants, fold_known_values
from graphviz_tb.diff.op_chains import JOINED_OPS, activations_through, join_chains
from graphviz_tb.flatten import flatten
from graphviz_tb.formats.exported import module_path
from graphviz_tb.interpret import interpret
from graphviz_tb.limits import MAX_LAYER_DEPTH
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.sources import GraphSource, Signature, TensorSpec
from graphviz_tb.ops.roles import INPUT_OPS, RESULT_OPS
from graphviz_tb.ops.table import op_name
from graphviz_tb.unwrap.calls import UnusedNames

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
    if (aligned := _align_names(old, new)) != (old, new):  # two exporters may write one chain in two ways
        old, new = (_join_chains(side, JOINED_OPS) for side in aligned)
        return old, new
    # The ops that only one of them has, in place of equal chains of the other; activations that only one may have.
    types = set(old.graph.op_types), set(new.graph.op_types)
    exchanged = activations_through(types[0] ^ types[1])
    old, new = (
        _join_chains(side, exchanged | (JOINED_OPS & others - own))
        for side, own, others in ((old, *types), (new, *types[::-1]))
    )
    return old, new


def _join_chains(exported: ExportedGraph, wanted: AbstractSet[str]) -> ExportedGraph:
    """Return a graph with some ops in place of chains that compute the same; the graph itself if it has none."""
    joined = join_chains(exported.graph, wanted)
    if joined is None:
        return exported
    definition, named = joined
    signatures = tuple(_with_names(each, named) for each in exported.signatures)
    return ExportedGraph(interpret(flatten(_rename_nodes(definition, named))), signatures)


def _align_names(old: ExportedGraph, new: ExportedGraph) -> tuple[ExportedGraph, ExportedGraph]:
    """Return both graphs: where only one has classes of modules, the other with the names of that."""
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
    """Return a notice if two programs are in two forms, which have other ops for the same."""
    libraries = [{op.partition("::")[0] for op in graph.op_types if "::" in op} for graph in (old, new)]
    forms = sorted(next((FORMS[library] for library in FORMS if library in own), "") for own in libraries)
    if forms[0] == forms[1] or not all(forms) or not (old.is_exported and new.is_exported):
        return ()
    text = f"{forms[0]} and {forms[1]} have other ops for the same: most of these changes may be none of the model"
    return (Notice("other-form", text, strict=False),)


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
    unused = UnusedNames(set(ports.values()))
    counted = defaultdict[str, list[str]](list)  # names of the other graph without their numbers, the last first
    for node in reversed(_nodes_by_flow(other.graph)):
        counted[_without_number(node.name, node.op)].append(node.name)
    for node in _nodes_by_flow(plain.graph):
        scope, _, own = node.name.rpartition("/")
        target = node.name
        if node.op not in PORT_OPS:
            around = known[scope] if scope else scopes[""]
            module, dot, attribute = own.rpartition(".")
            if dot and not scope and node.op in WEIGHT_OPS and module in calls:  # by its name in the program
                around, own = calls[module][0], attribute
            target = f"{around if around is not None else scope}/{own}"
            alike = counted[_without_number(target, node.op)]
            target = alike.pop() if alike else target
        named[node.name] = ports.get(node.name) or unused.take_name(target)
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

    def renamed(specs: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
        parts = [(spec, *spec.tensor.partition(":")) for spec in specs]
        return tuple(
            replace(spec, tensor=f"{named.get(node, node)}{rest}{output}") for spec, node, rest, output in parts
        )

    return replace(signature, inputs=renamed(signature.inputs), outputs=renamed(signature.outputs))


def _with_keys_of(signatures: Sequence[Signature], others: Sequence[Signature]) -> Iterator[Signature]:
    """Yield signatures with the keys of the other graph's signatures that have as many tensors of equal dtypes and
    shapes."""
    for signature, other in zip(signatures, (*others, *signatures[len(others) :]), strict=False):
        inputs = _specs_with_keys(signature.inputs, other.inputs)
        yield replace(signature, inputs=inputs, outputs=_specs_with_keys(signature.outputs, other.outputs))


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
