"""Remove the differences between two exports of one model that come from the exporter or the version of ONNX.

If only one graph has classes of modules in its names, the other is renamed like it:

layer1/layer1.0/relu_1/Relu        ResNet/Sequential[layer1]/Bottleneck[0]/ReLU[relu@2]/Relu

Both names mean the second call of the module `layer1.0.relu`. Calls are counted in the whole program: a second call of
a block is the second call of each layer in it. One exporter leaves out containers (`hm` for `heads.hm`). Inputs and
results are renamed too if both graphs have as many, of equal types and shapes.

If only one graph has an op, or two exporters wrote the graphs, chains that compute the same become that op
(`op_chains`).
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
MIN_SHARED_SCOPES = 0.5  # share of the scopes of a graph without classes that the other graph must have


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """A graph and its signatures."""

    graph: Graph
    signatures: tuple[Signature, ...]


def align_exports(old: ExportedGraph, new: ExportedGraph) -> tuple[ExportedGraph, ExportedGraph]:
    """Return both graphs without differences that come from the exporter or the version of the format."""
    if (aligned := _align_names(old, new)) != (old, new):  # two exporters may write one chain in two ways
        old, new = (_join_chains(side, JOINED_OPS) for side in aligned)
        return old, new
    # Ops that only one graph has replace equal chains in the other; so does the op of a chain that only one can have.
    types = set(old.graph.op_types), set(new.graph.op_types)
    exchanged = activations_through(types[0] ^ types[1])
    old, new = (
        _join_chains(side, exchanged | (JOINED_OPS & other_types - own_types))
        for side, own_types, other_types in ((old, *types), (new, *types[::-1]))
    )
    return old, new


def _join_chains(exported: ExportedGraph, wanted: AbstractSet[str]) -> ExportedGraph:
    """Return a graph with the `wanted` ops in place of chains that compute the same."""
    joined = join_chains(exported.graph, wanted)
    if joined is None:
        return exported
    definition, named = joined
    signatures = tuple(_with_names(each, named) for each in exported.signatures)
    return ExportedGraph(interpret(flatten(_rename_nodes(definition, named))), signatures)


def _align_names(old: ExportedGraph, new: ExportedGraph) -> tuple[ExportedGraph, ExportedGraph]:
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


def _with_names_of(plain: ExportedGraph, other: ExportedGraph, scopes: Mapping[str, str]) -> ExportedGraph:
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
    definition = _rename_nodes(plain.graph.graph_def, new_names)
    graph = interpret(flatten(definition))
    renamed = tuple(_with_names(each, new_names) for each in plain.signatures)
    return ExportedGraph(graph, tuple(_with_keys_of(renamed, other.signatures)))


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
