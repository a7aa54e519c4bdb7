"""Compare the interfaces of graphs: signatures of saved models, arguments and results of functions, outputs,
versions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from graphviz_tb.diff.changes.across_layers import BATCH_SIZE
from graphviz_tb.diff.changes.attributes import argument_type
from graphviz_tb.diff.changes.numbers import is_precision
from graphviz_tb.diff.changes.places import without_objects
from graphviz_tb.diff.columns.labels import plain_configuration, plain_setting, setting_differences
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import COUNTER_AT_END
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import RECORDED_WIDTH_KEYS
from graphviz_tb.interpret.pytorch import PORT_OP
from graphviz_tb.model.change import Change, NodeEdits, sort_by_severity, unmatched_change
from graphviz_tb.model.change_content import (
    FunctionSignature,
    LayerOrder,
    Ports,
    Rewiring,
    Setting,
    Sides,
    SignaturePort,
    WholeSignature,
)
from graphviz_tb.model.columns import exists
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.sources import Signature, TensorSpec
from graphviz_tb.model.tensors import Tensor, dtype_label, shape_text
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    FRAME_EXIT_OPS,
    FRAME_MERGE_OPS,
    FRAME_SWITCH_OPS,
    GROUP_OPS,
    INPUT_OPS,
    RESULT_OPS,
    TRACED_RESULT_OPS,
    VARIABLE_OPS,
)
from graphviz_tb.options import DiffOptions

UNUSED_RESULT_OPS = GROUP_OPS | FRAME_EXIT_OPS | FRAME_SWITCH_OPS | FRAME_MERGE_OPS  # no outputs, even if unused
ResultSpecs = tuple[str, list[Tensor], str, list[Tensor]]  # an output: its old name and tensors, then the new ones
COUNTER_OF_TRACER = re.compile(r"(?:^|\.)\d{1,9}$")  # TorchScript counts values: `37`, `input.1`


def function_signatures(m: Matching) -> dict[int, list[Change]]:
    """Return the changes of arguments and results of functions, by block of the new graph.

    Dtypes and the nodes behind results are compared; names of arguments are not.
    """
    blocks: dict[int, list[Change]] = defaultdict(list)
    for old_id, new_id in sorted(m.functions.items()):
        before, after = m.a.graph.functions[old_id], m.b.graph.functions[new_id]
        types = zip(_port_types(m.a, old_id), _port_types(m.b, new_id), strict=True)
        arguments, results = (Sides(*pair) if pair[0] != pair[1] else None for pair in types)
        returned = None
        ends = list(zip(before.returns, after.returns, strict=False))
        # Results come from matched nodes, or from replacements, whose outputs may have other names.
        same = len(before.returns) == len(after.returns) and all(_is_same_result(m, *old, *new) for old, new in ends)
        if not (arguments or results or same):
            returned = Sides(_returned_tensors(m.a, old_id), _returned_tensors(m.b, new_id))
        if arguments or results or returned:
            content, edits = FunctionSignature(arguments, results, returned), NodeEdits(functions=((old_id, new_id),))
            names = before.name, after.name
            blocks[new_id + 1].append(Change("signature-changed", "signature", *names, 0, content, edits=edits))
    return blocks


def _is_same_result(m: Matching, old: int, output: str, new: int, other_output: str) -> bool:
    """Return whether two nodes (-1 for none) provide the same result."""
    if not exists(old) or not exists(new):
        return old == new and output == other_output
    if m.to_b[old] == new:
        return output == other_output or m.a.op_type(old) != m.b.op_type(new)
    return not exists(m.to_b[old]) and not exists(m.to_a[new])


def is_other_output(m: Matching, mine: int, other: int) -> bool:
    """Return whether the results of two functions name different nodes or outputs."""
    before, after = m.a.graph.functions[mine].returns, m.b.graph.functions[other].returns
    return [(int(m.to_b[node]) if exists(node) else -1, key) for node, key in before] != list(after)


def _port_types(side: GraphColumns, function: int) -> tuple[list[str], list[str]]:
    """Return the types of the arguments and of the results of a function."""
    signature = side.graph.graph_def.library.function[side.graph.functions[function].index].signature
    results = [dtype_label(result.type) if result.type else result.type_attr for result in signature.output_arg]
    return [argument_type(side.graph, node) for node in side.graph.functions[function].args], results


def _returned_tensors(side: GraphColumns, function: int) -> list[str]:
    return [
        f"{side.graph.name[node]}:{key}" if exists(node) else key
        for node, key in side.graph.functions[function].returns
    ]


def signature_changes(m: Matching, old: Sequence[Signature], new: Sequence[Signature]) -> list[Change]:
    """Return the added, removed and changed signatures of saved models: their keys, dtypes, shapes and tensors."""
    new_by_name = {signature.name: signature for signature in new}
    old_by_name = {signature.name: signature for signature in old}
    changes = []
    names_by_ports: dict[tuple[SignaturePort, ...], list[str]] = defaultdict(list)
    for name in sorted({*old_by_name, *new_by_name}):
        before, after = old_by_name.get(name), new_by_name.get(name)
        if before is None or after is None:
            present = before or after or Signature(name, "", (), ())
            content = WholeSignature(tuple(spec.key for spec in (*present.inputs, *present.outputs)))
            changes.append(unmatched_change(before is None, "signature", [name], 0, content, NodeEdits()))
            continue
        ports = *_ports(m, "input", before.inputs, after.inputs), *_ports(m, "output", before.outputs, after.outputs)
        if ports:
            # Signatures that differ in the same way are one change.
            names_by_ports[ports].append(name)
        if order := _other_order(m, before, after):
            changes.append(Change("rewired", "signature", name, name, len(order.old), Rewiring((), order=order)))
    for ports, (name, *others) in names_by_ports.items():
        also = tuple((other, other) for other in others)
        changes.append(Change("signature-changed", "signature", name, name, len(ports), Ports(ports), also))
    return changes


def _ports(m: Matching, side: str, old: Sequence[TensorSpec], new: Sequence[TensorSpec]) -> list[SignaturePort]:
    old_specs, new_specs = {spec.key: spec for spec in old}, _match_counted_tensors(m, old, new)
    ports = []
    for key in sorted({*old_specs, *new_specs}):
        old_spec, new_spec = old_specs.get(key), new_specs.get(key)
        before, after = _spec(old_spec), _spec(new_spec)
        # Equal type and shape: the change may be another tensor.
        if (
            before == after
            and old_spec is not None
            and new_spec is not None
            and not _is_same_tensor(m, old_spec.tensor, new_spec.tensor)
        ):
            before, after = old_spec.tensor, new_spec.tensor
        if before != after:
            ports.append(SignaturePort(side, key, before, after))
    return ports


def _match_counted_tensors(m: Matching, old: Sequence[TensorSpec], new: Sequence[TensorSpec]) -> dict[str, TensorSpec]:
    """Return the new tensors by key. A renumbered tensor (`keras_tensor_9`), and one whose node was renamed, has the
    key of its old counterpart."""
    old_keys, by_key = {spec.key for spec in old}, {spec.key: spec for spec in new}
    counted = [[spec for spec in specs if COUNTER_OF_TRACER.search(spec.key)] for specs in (old, new)]
    pairs = _pair_by_node(m, *counted)
    paired = {(side, spec) for pair in pairs for side, spec in enumerate(pair)}
    numbered = [
        [spec for spec in specs if spec.key.isdecimal() and (side, spec) not in paired]
        for side, specs in enumerate(counted)
    ]
    if len(numbered[0]) == len(numbered[1]):  # numbers are no names: they have an order
        pairs += zip(*numbered, strict=True)
    for _, other in pairs:
        by_key.pop(other.key)
    by_key |= {mine.key: other for mine, other in pairs}
    nodes = {m.b.index.get((0, spec.key), -2): spec.key for spec in new if spec.key not in old_keys}
    for spec in old:
        node = m.a.index.get((0, spec.key), -1)
        if spec.key not in by_key and exists(node) and int(m.to_b[node]) in nodes:
            by_key[spec.key] = by_key.pop(nodes.pop(int(m.to_b[node])))
    # Removed keys of the old signature, by their text without the number.
    removed_keys: dict[str, list[str]] = defaultdict(list)
    for spec in old:
        if spec.key not in by_key:
            removed_keys[_without_counter(spec.key)].append(spec.key)
    for spec in new:
        if spec.key not in old_keys and spec.key in by_key and removed_keys[_without_counter(spec.key)]:
            # In the order of the signature: the first new key is the first removed one.
            by_key[removed_keys[_without_counter(spec.key)].pop(0)] = by_key.pop(spec.key)
    return by_key


def _pair_by_node(
    m: Matching, old: Sequence[TensorSpec], new: Sequence[TensorSpec]
) -> list[tuple[TensorSpec, TensorSpec]]:
    """Return the old and new tensors that come from the same output of matched nodes."""
    made: dict[tuple[int, str], list[TensorSpec]] = defaultdict(list)
    for spec in reversed(new):
        node, _, output = spec.tensor.partition(":")
        made[m.b.index.get((0, node), -2), output].append(spec)
    pairs = []
    for spec in old:
        node, _, output = spec.tensor.partition(":")
        mine = m.a.index.get((0, node), -1)
        if exists(mine) and (others := made.get((int(m.to_b[mine]), output))):
            pairs.append((spec, others.pop()))
    return pairs


def _other_order(m: Matching, old: Signature, new: Signature) -> LayerOrder | None:
    """Return the outputs of an exported program that have another order, by their old names; a dictionary of outputs
    has none."""
    if not m.b.graph.is_exported:
        return None
    partners = _match_counted_tensors(m, old.outputs, new.outputs)
    place = {spec: place for place, spec in enumerate(new.outputs)}
    before = tuple(spec.key for spec in old.outputs if spec.key in partners)
    after = tuple(sorted(before, key=lambda key: place[partners[key]]))
    return LayerOrder(before, after) if before != after else None


def _without_counter(key: str) -> str:
    """Return the key of a tensor without counters."""
    return COUNTER_OF_TRACER.sub("", COUNTER_AT_END.sub("", key))


def _spec(spec: TensorSpec | None) -> str | None:
    if spec is None:
        return None
    return f"{spec.dtype} {shape_text(spec.shape)}"


def _is_same_tensor(m: Matching, old: str, new: str) -> bool:
    """Return whether two tensors of the main graphs come from matched nodes. In an exported program, nodes without
    partners count as matched: the replacement is a change anyway."""
    (node, _, key), (partner, _, other) = old.partition(":"), new.partition(":")
    here, there = m.a.index.get((0, node), -1), m.b.index.get((0, partner), -1)
    if old == new or not (exists(here) or exists(there)):
        return True  # tensors outside of the compared graphs
    if not exists(here) or not exists(there):
        return False
    is_replaced = m.a.graph.is_exported and not exists(m.to_b[here]) and not exists(m.to_a[there])
    return is_replaced or (int(m.to_b[here]) == there and key == other)


def version_changes(m: Matching, options: DiffOptions) -> list[Change]:
    """Return the change of the versions of producer and consumers, if versions count."""
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


def model_setting_changes(m: Matching) -> Iterator[Change]:
    """Yield the differences in how Keras models are compiled: optimizer, loss."""
    old, new = m.a.graph, m.b.graph
    for row, name in enumerate(m.a.scopes.name):
        partner = int(m.scope_to_b[row])
        other = m.b.scopes.name[partner] if exists(partner) else ""
        # Only models are scopes; other layers are nodes.
        if name in old.layers and other in new.layers and name not in old.index[0]:
            differences = setting_differences(
                plain_configuration(old.layers[name]), plain_configuration(new.layers[other])
            )
            for key, before, after in differences:
                yield Change("changed", "attribute", name, other, 0, Setting(key, before, after))
            yield from _model_result_changes(m, name, other)


def _model_result_changes(m: Matching, name: str, other: str) -> Iterator[Change]:
    """Yield the change of a Keras model's outputs: added or removed ones, or from another layer, unless a layer was
    replaced."""
    old, new = m.a.graph.layers[name].results, m.b.graph.layers[other].results
    before, back = ([_partner_name(m, each, is_new) for each in names] for is_new, names in ((False, old), (True, new)))
    if not old or not new or before == list(new) or (len(old) == len(new) and "" in (*before, *back)):
        return
    ports = tuple(
        SignaturePort("output", str(number), result, new_result)
        for number, (result, new_result, partner) in enumerate(zip_longest(old, new, before))
        if partner != new_result
    )
    yield Change("signature-changed", "signature", name, other, len(ports), Ports(ports))


def _partner_name(m: Matching, name: str, is_new: bool) -> str:
    """Return the name of the partner of a layer or nested model; "" for none."""
    layers, other, partner, scope_partner = (
        (m.layers[1], m.a, m.to_a, m.scope_to_a) if is_new else (m.layers[0], m.b, m.to_b, m.scope_to_b)
    )
    if exists(node := layers.side.graph.index[0].get(name, -1)):
        return other.graph.name[partner[node]] if exists(partner[node]) else ""
    row = layers.rows.get(name, [0])[0]
    return other.scopes.name[scope_partner[row]] if row and exists(scope_partner[row]) else ""


# Outputs of a model whose file declares no signature: results that nobody uses, with their inferred shapes.


def inferred_output_changes(m: Matching) -> list[Change]:
    """Return one change for all outputs with another type or shape, in a list, or [].

    For files without signatures. A size that is unknown on one side makes no difference.
    """
    results = _keras_results(m) if m.a.graph.layers else _op_results(m)
    changed = [(old, before, new, after) for old, before, new, after in results if _differ(before, after)]
    if not changed:
        return []
    ports = tuple(
        SignaturePort("output", new, _tensor_words(before), _tensor_words(after)) for _, before, new, after in changed
    )
    old_name, _, new_name, _ = changed[0]
    return [Change("signature-changed", "signature", old_name, new_name, len(ports), Ports(ports))]


def _differ(old: Sequence[Tensor], new: Sequence[Tensor]) -> bool:
    """Return whether tensors differ in number, known type, rank or known size."""
    return len(old) != len(new) or any(
        (mine.dtype and other.dtype and mine.dtype != other.dtype)
        or (
            mine.shape is not None
            and other.shape is not None
            and (
                len(mine.shape) != len(other.shape)
                or any(a != b and None not in (a, b) for a, b in zip(mine.shape, other.shape, strict=True))
            )
        )
        for mine, other in zip(old, new, strict=True)
    )


def _tensor_words(tensors: Sequence[Tensor]) -> str:
    return ", ".join(f"{tensor.dtype} {shape_text(tensor.shape)}".strip() for tensor in tensors)


def _keras_results(m: Matching) -> Iterator[ResultSpecs]:
    """Yield the outputs of matched Keras models, in order, by the layers that compute them."""
    old, new = m.a.graph.layers, m.b.graph.layers
    ends = _last_layers(old), _last_layers(new)
    for row in m.a.scopes.children(m.a.scopes.roots[0]):
        # Scopes directly below the root are the models of the file.
        model, partner = m.a.scopes.name[row], m.b.scopes.name[m.scope_to_b[row]]
        if not exists(m.scope_to_b[row]) or model not in old or partner not in new:
            continue
        pairs = _model_results(old, model, ends[0]), _model_results(new, partner, ends[1])
        if len(pairs[0]) == len(pairs[1]):
            for mine, other in zip(*pairs, strict=True):
                yield mine, _layer_outputs(old[mine]), other, _layer_outputs(new[other])


def _model_results(layers: Mapping[str, Layer], model: str, last: Mapping[str, str]) -> list[str]:
    """Return the layers that compute the outputs of a model, also in nested models. Each layer is listed once, since
    nested models may have exponentially many outputs."""
    found: dict[str, None] = {}
    waiting = [model]
    while waiting:
        name = waiting.pop()
        if name in found or name not in layers:
            continue
        found[name] = None
        if layers[name].parts:
            # The output of a Sequential model is that of its last layer.
            ends = (last[name],) if layers[name].class_name == "Sequential" and name in last else ()
            waiting += reversed(layers[name].results or ends)
    return [name for name in found if not layers[name].parts]


def _last_layers(layers: Mapping[str, Layer]) -> dict[str, str]:
    return {name.rpartition("/")[0]: name for name in layers}


def _layer_outputs(layer: Layer) -> list[Tensor]:
    """Return the outputs of a layer; with mixed precision their dtype is the smaller one."""
    kind = str(plain_setting(layer.config.get("dtype")) or "").removeprefix("mixed_")
    return [Tensor(shape, kind) for shape in layer.outputs]


def _op_results(m: Matching) -> Iterator[ResultSpecs]:
    """Yield the outputs of graphs of ops with their partners; unmatched ones in order of name, if both have as many."""
    old, new = _result_ops(m.layers[0]), _result_ops(m.layers[1])
    there = set(new)
    pairs = [(node, int(m.to_b[node])) for node in old if int(m.to_b[node]) in there]
    known, taken = ({pair[side] for pair in pairs} for side in (0, 1))
    left = [node for node in old if node not in known], [node for node in new if node not in taken]
    pairs += zip(*left, strict=True) if len(left[0]) == len(left[1]) else ()
    names = m.a.graph.name, m.b.graph.name
    # Costs infer all shapes in the order of the file; inference from the end would recurse over the inputs.
    _ = [side.node_costs for side in m.layers]
    decode = m.a.tensors.tensors_of_node, m.b.tensors.tensors_of_node
    for mine, other in sorted(pairs, key=lambda pair: names[1][pair[1]]):
        yield names[0][mine], [decode[0](mine)("0")], names[1][other], [decode[1](other)("0")]


def _result_ops(layers: Layers) -> list[int]:
    """Return the unused ops of the model in the main graph, sorted by name; only marked results, if there are any. Ends
    of loops do not count."""
    side = layers.side
    graph = side.graph
    is_end = layers.forward & ~exists(graph.function) & (graph.mark == Mark.NONE) & graph.kept
    is_end &= ~graph.nodes_of_types((VARIABLE_OPS | CONSTANT_OPS | INPUT_OPS | UNUSED_RESULT_OPS).__contains__)
    # A node that only control edges leave is still an end.
    is_end[graph.source[~graph.control]] = False
    nodes = np.flatnonzero(is_end).tolist()
    if PORT_OP in graph.op_types:  # a PyTorch trace marks its outputs
        return sorted((node for node in nodes if graph.op_types[graph.op[node]] == PORT_OP), key=graph.name.__getitem__)
    results = [node for node in nodes if is_graph_result(side, [node])]
    return sorted(results or nodes, key=graph.name.__getitem__)


def with_signatures(changes: Sequence[Change], interface: Sequence[Change]) -> tuple[Change, ...]:
    """Merge the changes of a graph with those of its signatures.

    Another type or shape of an input is a cause, as are added and removed inputs and outputs. Another type or shape of
    outputs follows from such a cause, from a single change of the graph, from the last layer with that change of width,
    or from a change of dtype.
    """
    signature = next((change for change in interface if change.kind == "signature-changed"), None)
    others = [*(item for item in changes), *(item for item in interface if item is not signature)]
    if signature is None:
        return sort_by_severity(others)
    inputs = [item for item in changes if item.severity == "signature" and item.key in ("shape", BATCH_SIZE)]
    # Changed inputs, or another set of outputs, are the cause; changes of the graph's inputs and results follow.
    if not all(port.side == "output" and port.old and port.new for port in signature.ports):
        followers = [*inputs, *(item for item in changes if _is_result_of(item, signature))]
        return sort_by_severity(
            [*without_objects(others, followers), replace(signature, consequences=sort_by_severity(followers))]
        )
    cause = inputs[0] if inputs else _cause_of_outputs(signature, changes) or _cause_of_sizes(signature, changes)
    if cause is None:
        return sort_by_severity([*others, signature])
    merged = replace(cause, severity="signature", consequences=sort_by_severity([*cause.consequences, signature]))
    return sort_by_severity([merged if item is cause else item for item in others])


def _is_result_of(change: Change, signature: Change) -> bool:
    """Return whether a change only adds the result ops of outputs that a signature has in addition, or removes them."""
    new = change.kind == "added"
    if change.unit is None or not change.unit.op_types or not change.unit.op_types.keys() <= RESULT_OPS:
        return False
    keys = {port.key for port in signature.ports if port.side == "output" and (port.old if new else port.new) is None}
    return {_without_counter(place[new] or "") for place in change.places} <= keys | set(map(_without_counter, keys))


def _cause_of_outputs(signature: Change, changes: Sequence[Change]) -> Change | None:
    """Return the change that explains the outputs, if known: a change of dtype if only that differs, the only change,
    or the only one named like an output."""
    real = [change for change in changes if change.severity not in ("rename", "cosmetic")]
    shapes = [[(spec or "").partition(" ")[1:] for spec in (port.old, port.new)] for port in signature.ports]
    precision = next(filter(is_precision, real), None)
    if precision is not None and all(old == new and any(old) for old, new in shapes):
        return precision
    keys = {port.key for port in signature.ports}
    for known in (real, [change for change in real if change.new in keys]):
        if len(known) == 1:
            return known[0]
    return None


def _cause_of_sizes(signature: Change, changes: Sequence[Change]) -> Change | None:
    """Return the last change of a size that all outputs show: `units 64 → 128` explains `32×64 → 32×128`."""
    sizes = [_other_sizes(port.old or "", port.new or "") for port in signature.ports]
    same = [
        change
        for change in changes
        if change.setting
        and (change.key in RECORDED_WIDTH_KEYS or change.key == "shape")
        and all(pairs and pairs <= _other_sizes(change.setting.old, change.setting.new) for pairs in sizes)
    ]
    return same[-1] if same else None


def _other_sizes(old: object, new: object) -> set[tuple[str, str]]:
    """Return the old and new sizes that differ between two shapes, or two sizes.

    >>> sorted(_other_sizes("float32 2×9×4", "float32 2×8×4")), _other_sizes(64, 128), _other_sizes("9", "2×9")
    ([('9', '8')], {('64', '128')}, set())
    """
    before, after = (str(value).rpartition(" ")[2].split("×") for value in (old, new))
    pairs = set(zip(before, after, strict=False)) if len(before) == len(after) else set()
    return {pair for pair in pairs if pair[0] != pair[1]}


def is_graph_result(side: GraphColumns, nodes: list[int]) -> bool:
    """Return whether all nodes are results of a traced function, for which TensorFlow adds an unused `Identity`,
    `Identity_1`, …"""
    return all(
        COUNTER_AT_END.sub("", side.graph.name[node]) == side.op_type(node)
        and side.op_type(node) in TRACED_RESULT_OPS
        and not len(side.out_edges(node))
        for node in nodes
    )
