"""The interface of a graph: signatures of saved models, arguments and results of functions, versions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from graphviz_tb.diff.changes.attributes import argument_type
from graphviz_tb.diff.changes.names import COUNTER_AT_END
from graphviz_tb.diff.columns.labels import plain_configuration, setting_differences
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import FunctionSignature, Ports, Setting, Sides, SignaturePort, WholeSignature
from graphviz_tb.model.columns import Ints, exists
from graphviz_tb.model.sources import Signature, TensorSpec
from graphviz_tb.model.tensors import dtype_label, shape_text
from graphviz_tb.options import DiffOptions

COUNTER_OF_TRACER = re.compile(r"(?:^|\.)\d{1,9}$")  # TorchScript counts values: `37`, `input.1`


def function_signatures(m: Matching) -> dict[int, list[Change]]:
    """Functions whose arguments or results are others, by block of the new graph.

    Types count, and which node makes a result; names of arguments do not.
    """
    blocks: dict[int, list[Change]] = defaultdict(list)
    for mine, other in sorted(m.functions.items()):
        before, after = m.a.graph.functions[mine], m.b.graph.functions[other]
        types = [Sides(words(m.a, mine), words(m.b, other)) for words in (_arguments, _results)]
        arguments, results = (pair if pair.old != pair.new else None for pair in types)
        returned = None
        if not (arguments or results) and not _same_results(m, before.returns, after.returns):
            returned = Sides(_returned_tensors(m.a, mine), _returned_tensors(m.b, other))
        if arguments or results or returned:
            content, edits = FunctionSignature(arguments, results, returned), NodeEdits(functions=((mine, other),))
            names = before.name, after.name
            blocks[other + 1].append(Change("signature-changed", "signature", *names, 0, content, edits=edits))
    return blocks


def _same_results(m: Matching, old: Sequence[tuple[int, str]], new: Sequence[tuple[int, str]]) -> bool:
    """Return whether the same nodes make the results, or one that came in the place of one that went.

    Outputs of other op types have other names.
    """
    return len(old) == len(new) and all(_is_same_result(m, *mine, *other) for mine, other in zip(old, new, strict=True))


def _is_same_result(m: Matching, old: int, output: str, new: int, other_output: str) -> bool:
    """Return whether two nodes (-1 for none) give the same result by one of their outputs."""
    if not exists(old) or not exists(new):
        return old == new and output == other_output
    if m.to_b[old] == new:
        return output == other_output or _is_other_op(m, old, new)
    return not exists(m.to_b[old]) and not exists(m.to_a[new])


def is_other_output(m: Matching, mine: int, other: int) -> bool:
    """Return whether what a function gives back is written otherwise, whatever it means."""
    before, after = m.a.graph.functions[mine].returns, m.b.graph.functions[other].returns
    return [(int(m.to_b[node]) if exists(node) else -1, key) for node, key in before] != list(after)


def _is_other_op(m: Matching, old: int, new: int) -> bool:
    """Return whether two matched nodes have other op types."""
    before, after = m.a.graph, m.b.graph
    return bool(before.op_types[before.op[old]] != after.op_types[after.op[new]])


def _arguments(side: GraphColumns, function: int) -> list[str]:
    return [argument_type(side.graph, node) for node in side.graph.functions[function].args]


def _results(side: GraphColumns, function: int) -> list[str]:
    library = side.graph.graph_def.library.function[side.graph.functions[function].index]
    return [dtype_label(result.type) if result.type else result.type_attr for result in library.signature.output_arg]


def _returned_tensors(side: GraphColumns, function: int) -> list[str]:
    return [
        f"{side.graph.name[node]}:{key}" if exists(node) else key
        for node, key in side.graph.functions[function].returns
    ]


def signature_changes(m: Matching, old: Sequence[Signature], new: Sequence[Signature]) -> list[Change]:
    """Signatures of saved models that came, went or changed: keys, types, shapes, and which tensor is meant."""
    there = {signature.name: signature for signature in new}
    here = {signature.name: signature for signature in old}
    changes = []
    alike: dict[tuple[SignaturePort, ...], list[str]] = defaultdict(list)
    for name in sorted({*here, *there}):
        before, after = here.get(name), there.get(name)
        if before is None and after is not None:
            changes.append(Change("added", "signature", None, name, 0, WholeSignature(_keys(after))))
        if before is not None and after is None:
            changes.append(Change("removed", "signature", name, None, 0, WholeSignature(_keys(before))))
        if before is None or after is None:
            continue
        ports = *_ports(m, "input", before.inputs, after.inputs), *_ports(m, "output", before.outputs, after.outputs)
        if ports:
            # Signatures that differ in the same way are one change.
            alike[ports].append(name)
    for ports, (name, *others) in alike.items():
        also = tuple((other, other) for other in others)
        changes.append(Change("signature-changed", "signature", name, name, len(ports), Ports(ports), also))
    return changes


def _keys(signature: Signature) -> tuple[str, ...]:
    return tuple(spec.key for spec in (*signature.inputs, *signature.outputs))


def _ports(m: Matching, side: str, old: Sequence[TensorSpec], new: Sequence[TensorSpec]) -> list[SignaturePort]:
    here, there = {spec.key: spec for spec in old}, _match_counted_tensors(old, new)
    ports = []
    for key in sorted({*here, *there}):
        mine, other = here.get(key), there.get(key)
        before, after = _spec(mine), _spec(other)
        # Same type and shape: then the change is that another tensor is meant.
        if (
            before == after
            and mine is not None
            and other is not None
            and not _is_same_tensor(m, mine.tensor, other.tensor)
        ):
            before, after = mine.tensor, other.tensor
        if before != after:
            ports.append(SignaturePort(side, key, before, after))
    return ports


def _match_counted_tensors(old: Sequence[TensorSpec], new: Sequence[TensorSpec]) -> dict[str, TensorSpec]:
    """Return the new tensors by key; one that was only counted anew (`keras_tensor_9`) has the key of the old one."""
    here, by_key = {spec.key for spec in old}, {spec.key: spec for spec in new}
    # Keys of the old signature that are gone, by what they are without their number.
    gone: dict[str, list[str]] = defaultdict(list)
    for spec in old:
        if spec.key not in by_key:
            gone[_without_counter(spec.key)].append(spec.key)
    for spec in new:
        if spec.key not in here and gone[_without_counter(spec.key)]:
            # In the order of the signature: the first key that is new takes the first that is gone.
            by_key[gone[_without_counter(spec.key)].pop(0)] = by_key.pop(spec.key)
    return by_key


def _without_counter(key: str) -> str:
    """Return the key of a tensor without the number that a tracer counted."""
    return COUNTER_OF_TRACER.sub("", COUNTER_AT_END.sub("", key))


def _spec(spec: TensorSpec | None) -> str | None:
    if spec is None:
        return None
    return f"{spec.dtype} {shape_text(spec.shape)}"


def _is_same_tensor(m: Matching, old: str, new: str) -> bool:
    """Return whether two tensors of the main graphs come from matched nodes."""
    if old == new:
        return True
    (node, _, key), (partner, _, other) = old.partition(":"), new.partition(":")
    here, there = m.a.index.get((0, node), -1), m.b.index.get((0, partner), -2)
    if not exists(here) and not exists(there):
        return True  # of the file around the body that is compared
    return exists(here) and int(m.to_b[here]) == there and key == other


def version_changes(m: Matching, options: DiffOptions) -> list[Change]:
    """Return the versions of producer and consumers, where they count."""
    old, new = m.a.graph.graph_def.versions, m.b.graph.graph_def.versions
    if not options.versions or old == new:
        return []
    before, after = (
        {
            "producer": version.producer,
            "min_consumer": version.min_consumer,
            "bad_consumers": list(version.bad_consumers),
        }
        for version in (old, new)
    )
    return [
        Change("changed", "cosmetic", "", "", 0, Setting("versions", before, after), edits=NodeEdits(versions=True))
    ]


# Differences of Keras models as a whole: how they are compiled, and their outputs.


def model_setting_changes(m: Matching) -> Iterator[Change]:
    """Yield the differences in how Keras models are compiled: optimizer, loss."""
    old, new = m.a.graph, m.b.graph
    rows = _rows_by_name(m.a), _rows_by_name(m.b)
    for row, name in enumerate(m.a.scopes.name):
        partner = int(m.scope_to_b[row])
        other = m.b.scopes.name[partner] if exists(partner) else ""
        # A scope that is a layer: a model, or a model in a model; layers proper are nodes and compared there.
        if name in old.layers and other in new.layers and name not in old.index[0]:
            differences = setting_differences(
                plain_configuration(old.layers[name]), plain_configuration(new.layers[other])
            )
            for key, before, after in differences:
                yield Change("changed", "attribute", name, other, 0, Setting(key, before, after))
            yield from _model_result_changes(m, name, other, rows)


def _rows_by_name(side: GraphColumns) -> dict[str, int]:
    """Return the first scope of each name."""
    return {name: row for row, name in reversed(list(enumerate(side.scopes.name)))}


def _model_result_changes(m: Matching, name: str, other: str, rows: tuple[Mapping[str, int], ...]) -> Iterator[Change]:
    """Outputs of a Keras model that came, went or have another source; not those of a layer in the place of one."""
    old, new = m.a.graph.layers[name].results, m.b.graph.layers[other].results
    before = [_partner_name(result, (m.a, m.b), m.to_b, m.scope_to_b, rows[0]) for result in old]
    back = [_partner_name(result, (m.b, m.a), m.to_a, m.scope_to_a, rows[1]) for result in new]
    if not old or not new or before == list(new) or (len(old) == len(new) and "" in (*before, *back)):
        return
    ports = tuple(
        SignaturePort("output", str(number), result, new_result)
        for number, (result, new_result, partner) in enumerate(zip_longest(old, new, before))
        if partner != new_result
    )
    yield Change("signature-changed", "signature", name, other, len(ports), Ports(ports))


def _partner_name(
    name: str, sides: tuple[GraphColumns, GraphColumns], partner: Ints, scope_partner: Ints, rows: Mapping[str, int]
) -> str:
    """Return the name that a layer, or a model in the model, has on the other side; "" for none. `rows` are its
    scopes."""
    mine, other = sides
    if exists(node := mine.graph.index[0].get(name, -1)):
        return other.graph.name[partner[node]] if exists(partner[node]) else ""
    row = rows.get(name, 0)
    return other.scopes.name[scope_partner[row]] if row and exists(scope_partner[row]) else ""
