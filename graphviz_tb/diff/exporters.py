"""Two exports of one model, of which only one has the classes of modules in its names: the other takes its names.

layer1/layer1.0/relu_1/Relu        ResNet/Sequential[layer1]/Bottleneck[0]/ReLU[relu@2]/Relu

Both are the module `layer1.0.relu`, called for the second time. Inputs and results that one exporter numbers have the
names of the other where there are as many, of equal types and shapes. New names alone are no change of a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from graphviz_tb.diff.known_values import fold_known_values
from graphviz_tb.flatten import flatten
from graphviz_tb.formats.exported import module_path
from graphviz_tb.interpret import interpret
from graphviz_tb.limits import MAX_LAYER_DEPTH
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import GraphSource, Signature, TensorSpec

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef

MODULE_SEGMENT = re.compile(r"[^\[\]/]+\[([^\]]*)\]")
FURTHER_CALL = re.compile(r"(.+)_(\d+)")
FORMS = {"onnx": "ONNX", "tfl": "TensorFlow Lite", "aten": "torch.export"}  # by the library of their ops
PORT_OPS = ("Placeholder", "_Retval")
LEAST_SHARE = 0.5  # of the scopes of a graph without classes that the other graph has too


@dataclass(frozen=True, slots=True)
class RenamedGraph:
    """A graph, its signatures, and new names of nodes by the old ones."""

    graph: Graph
    signatures: tuple[Signature, ...]
    named: Mapping[str, str] = field(default_factory=dict)


def align_exporters(old: RenamedGraph, new: RenamedGraph) -> tuple[RenamedGraph, RenamedGraph]:
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


def _with_names_of(plain: RenamedGraph, other: RenamedGraph, scopes: Mapping[str, str]) -> RenamedGraph:
    """Return a graph without classes under the names of the other, where that has most of its modules."""
    inside = {name.rpartition("/")[0] for name in plain.graph.name if "/" in name}
    known = {scope: _scope_in(scopes, scope) for scope in inside}
    if not known or sum(scope is not None for scope in known.values()) < LEAST_SHARE * len(known):
        return plain
    ports = dict(_equal_ports(plain.graph, other.graph))
    named: dict[str, str] = {}
    taken = set(ports.values())
    numbers = Counter[str]()  # the last one behind each name: thousands of nodes may want the same
    for node in plain.graph.graph_def.node:
        scope, _, own = node.name.rpartition("/")
        target = ports.get(node.name) or node.name
        if node.op not in PORT_OPS:
            around = known[scope] if scope else scopes[""]
            target = f"{around if around is not None else scope}/{own}"
        unique = target
        while unique in taken and node.name not in ports:
            numbers[target] += 1
            unique = f"{target}_{numbers[target]}"
        taken.add(unique)
        named[node.name] = unique
    definition = rename_nodes(plain.graph.graph_def, named)
    graph = interpret(flatten(definition))
    renamed = tuple(_with_names(each, named) for each in plain.signatures)
    return RenamedGraph(graph, tuple(_with_keys_of(renamed, other.signatures)), named)


def _scope_in(scopes: Mapping[str, str], scope: str) -> str | None:
    """Return the scope of a module that a name without classes says; None if the other graph has no such module."""
    path = module_path(scope.split("/", MAX_LAYER_DEPTH))
    if path in scopes:
        return scopes[path]
    call = FURTHER_CALL.fullmatch(path)
    return scopes.get(f"{call[1]}@{int(call[2][:6]) + 1}") if call else None


def _equal_ports(plain: Graph, other: Graph) -> Iterator[tuple[str, str]]:
    """Yield inputs and results of one graph with those of the other, where these are as many."""
    for op in PORT_OPS:
        ports = [[node for node in graph.graph_def.node if node.op == op] for graph in (plain, other)]
        if len(ports[0]) == len(ports[1]):
            yield from ((one.name, two.name) for one, two in zip(*ports, strict=True) if one.attr == two.attr)


def rename_nodes(definition: GraphSource, named: Mapping[str, str]) -> GraphDef:
    """Return a graph whose nodes, and what takes them, have other names."""
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


def rename_outputs(signature: Signature, named: Mapping[str, str]) -> Signature:
    """Return a signature whose results come from nodes with other names."""
    return replace(signature, outputs=tuple(_rename_spec(spec, named) for spec in signature.outputs))


def _with_names(signature: Signature, named: Mapping[str, str]) -> Signature:
    inputs = tuple(_rename_spec(spec, named) for spec in signature.inputs)
    return replace(rename_outputs(signature, named), inputs=inputs)


def _rename_spec(spec: TensorSpec, named: Mapping[str, str]) -> TensorSpec:
    node, colon, output = spec.tensor.partition(":")
    return replace(spec, tensor=f"{named.get(node, node)}{colon}{output}")


def _with_keys_of(signatures: Sequence[Signature], others: Sequence[Signature]) -> Iterator[Signature]:
    """Yield signatures with the keys of others that take and give as many tensors of equal types and shapes."""
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
