"""Outputs of a model whose file declares no signature: results that nobody uses, with their inferred shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from graphviz_tb.diff.changes.across_layers import is_precision
from graphviz_tb.diff.changes.compare import BATCH_SIZE, is_graph_result
from graphviz_tb.diff.changes.edits import op_types_of
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.places import without_objects
from graphviz_tb.diff.columns.labels import plain_setting
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import WIDTH_KEYS
from graphviz_tb.interpret.pytorch import PORT_OP
from graphviz_tb.model.change import Change, sort_by_severity
from graphviz_tb.model.change_content import Ports, SignaturePort
from graphviz_tb.model.columns import exists
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.tensors import Tensor, shape_text
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    FRAME_EXIT_OPS,
    FRAME_MERGE_OPS,
    FRAME_SWITCH_OPS,
    GROUP_OPS,
    INPUT_OPS,
    TRACED_RESULT_OPS,
    VARIABLE_OPS,
)

LOOSE_NAMES = GROUP_OPS | FRAME_EXIT_OPS | FRAME_SWITCH_OPS | FRAME_MERGE_OPS  # nobody need use what they give
ResultSpecs = tuple[str, list[Tensor], str, list[Tensor]]  # an output: its name and its tensors, old and new


def inferred_output_changes(m: Matching, layers: tuple[Layers, Layers]) -> list[Change]:
    """Return the outputs that have another type or shape now, as one change; [] where there are none.

    Before: a file declares no signatures. A size that is known on one side only makes no difference.
    """
    changed = [
        outputs
        for outputs in (_keras_results(m) if m.a.graph.layers else _op_results(m, layers))
        if _differ(outputs[1], outputs[3])
    ]
    if not changed:
        return []
    ports = tuple(SignaturePort("output", new, _spec(outputs), _spec(now)) for _, outputs, new, now in changed)
    return [Change("signature-changed", "signature", changed[0][0], changed[0][2], len(ports), Ports(ports))]


def _differ(old: Sequence[Tensor], new: Sequence[Tensor]) -> bool:
    """Return whether tensors have another type, another rank, or another size where both are known."""
    return len(old) != len(new) or any(
        (mine.dtype and other.dtype and mine.dtype != other.dtype)
        or (mine.shape is not None and other.shape is not None and not _fit(mine.shape, other.shape))
        for mine, other in zip(old, new, strict=True)
    )


def _fit(shape: Sequence[int | None], other: Sequence[int | None]) -> bool:
    """Return whether two shapes may be the same.

    >>> _fit((None, 3), (4, 3)), _fit((None, 3), (None, 5)), _fit((3,), (3, 1))
    (True, False, False)
    """
    return len(shape) == len(other) and all(a == b or None in (a, b) for a, b in zip(shape, other, strict=True))


def _spec(given: Sequence[Tensor]) -> str:
    """Types and shapes in words."""
    return ", ".join(f"{tensor.dtype} {shape_text(tensor.shape)}".strip() for tensor in given)


def _keras_results(m: Matching) -> Iterator[ResultSpecs]:
    """Outputs of Keras models: those of the layers that give them, in order."""
    old, new = m.a.graph.layers, m.b.graph.layers
    ends = _last_layers(old), _last_layers(new)
    for row in m.a.scopes.children(m.a.scopes.roots[0]):
        # Scopes directly below the root are the models of the file.
        model, partner = m.a.scopes.name[row], m.b.scopes.name[m.scope_to_b[row]]
        if not exists(m.scope_to_b[row]) or model not in old or partner not in new:
            continue
        pairs = _results(old, model, ends[0]), _results(new, partner, ends[1])
        if len(pairs[0]) == len(pairs[1]):
            for mine, other in zip(*pairs, strict=True):
                yield mine, _layer_outputs(old[mine]), other, _layer_outputs(new[other])


def _results(layers: Mapping[str, Layer], model: str, last: Mapping[str, str]) -> list[str]:
    """Return the layers that make the outputs of a model, nested models opened. Each layer is listed once, however many
    outputs name it: the outputs of nested models would be exponentially many."""
    found: dict[str, None] = {}
    waiting = [model]
    while waiting:
        name = waiting.pop()
        if name in found or name not in layers:
            continue
        found[name] = None
        if layers[name].parts:
            # On a stack: reversed, so that the outputs come in their order.
            waiting += reversed(layers[name].results or _last_rows(layers, name, last))
    return [name for name in found if not layers[name].parts]


def _last_rows(layers: Mapping[str, Layer], model: str, last: Mapping[str, str]) -> tuple[str, ...]:
    """Return the last layer of a Sequential model, which is what it gives."""
    return (last[model],) if layers[model].class_name == "Sequential" and model in last else ()


def _last_layers(layers: Mapping[str, Layer]) -> dict[str, str]:
    """Return the last layer of each model."""
    return {name.rpartition("/")[0]: name for name in layers}


def _layer_outputs(layer: Layer) -> list[Tensor]:
    """Return the outputs of a layer; with mixed precision their type is the smaller one."""
    kind = str(plain_setting(layer.config.get("dtype")) or "").removeprefix("mixed_")
    return [Tensor(shape, kind) for shape in layer.outputs]


def _op_results(m: Matching, layers: tuple[Layers, Layers]) -> Iterator[ResultSpecs]:
    """Outputs of graphs of ops, with their partners; where as many are left on both sides, those by name."""
    old, new = _result_ops(layers[0]), _result_ops(layers[1])
    there = set(new)
    pairs = [(node, int(m.to_b[node])) for node in old if int(m.to_b[node]) in there]
    known, taken = ({pair[side] for pair in pairs} for side in (0, 1))
    # Results without a partner, e.g. of other op types, go together in the order of their names.
    left = [node for node in old if node not in known], [node for node in new if node not in taken]
    pairs += zip(*left, strict=True) if len(left[0]) == len(left[1]) else ()
    names = m.a.graph.name, m.b.graph.name
    # Costs infer all shapes, in the order of the file; asked for from the end, each op would wait for its inputs.
    _ = [side.node_costs for side in layers]
    decode = m.a.tensors.tensors_of_node, m.b.tensors.tensors_of_node
    for mine, other in sorted(pairs, key=lambda pair: names[1][pair[1]]):
        yield names[0][mine], [decode[0](mine)("0")], names[1][other], [decode[1](other)("0")]


def _result_ops(layers: Layers) -> list[int]:
    """Return the ops of the model in the main graph that nobody uses, by name: those that TensorFlow ended results in,
    where there are some (the others are left over), and none that only ends a loop."""
    side = layers.side
    graph = side.graph
    is_end = layers.forward & ~exists(graph.function) & (graph.mark == Mark.NONE) & graph.kept
    is_end &= ~graph.nodes_of_types((VARIABLE_OPS | CONSTANT_OPS | INPUT_OPS | LOOSE_NAMES).__contains__)
    # What only control edges leave is still an end.
    is_end[graph.source[~graph.control]] = False
    nodes = np.flatnonzero(is_end).tolist()
    if PORT_OP in graph.op_types:  # whose trace says what is given; what nobody uses is left over
        return sorted((node for node in nodes if graph.op_types[graph.op[node]] == PORT_OP), key=graph.name.__getitem__)
    results = [node for node in nodes if is_graph_result(side, [node])]
    return sorted(results or nodes, key=graph.name.__getitem__)


# Signatures beside the changes of the graph: what another input or output is the cause of, or only follows from.


def with_signatures(changes: Sequence[Change], promised: Sequence[Change]) -> tuple[Change, ...]:
    """Merge the changes of a graph with those of its signatures, each reported once.

    Another type or shape of an input is a cause, and so are inputs and outputs that came or went. That outputs have
    another type or shape follows from it, from a single change of the graph, from the last layer that is wider now, or
    from another type of numbers.
    """
    ports = next((change for change in promised if change.kind == "signature-changed"), None)
    others = [*(item for item in changes), *(item for item in promised if item is not ports)]
    if ports is None:
        return sort_by_severity(others)
    # The op that ends a result came or went with it: the signature already says so.
    said = [item for item in others if _gives_result(item, ports)]
    inputs = [item for item in changes if item.severity == "signature" and item.key in ("shape", BATCH_SIZE)]
    # Somebody changed the inputs or the set of outputs: that is the cause, and its changes of the graph follow.
    if not _only_outputs(ports):
        behind = [*inputs, *said]
        return sort_by_severity(
            [*without_objects(others, behind), replace(ports, consequences=sort_by_severity(behind))]
        )
    cause = inputs[0] if inputs else _cause_of_outputs(ports, changes) or _cause_of_sizes(ports, changes)
    if cause is None:
        return sort_by_severity([*others, ports])
    grave = replace(cause, severity="signature", consequences=sort_by_severity([*cause.consequences, ports]))
    return sort_by_severity([grave if item is cause else item for item in others])


def _gives_result(change: Change, ports: Change) -> bool:
    """Return whether only the op came, or went, that ends a result which the signature has, or had, too."""
    keys = {port.key for port in _ports_of(ports) if not (port.old and port.new)}
    ends = change.severity == "signature" or change.name in keys
    return bool(keys) and ends and op_types_of(change) == TRACED_RESULT_OPS


def _only_outputs(ports: Change) -> bool:
    """Return whether the same outputs as before are given, of another type or shape."""
    return all(port.side == "output" and port.old and port.new for port in _ports_of(ports))


def _ports_of(change: Change) -> tuple[SignaturePort, ...]:
    """Return the inputs and outputs of a signature that are others."""
    return change.content.ports if isinstance(change.content, Ports) else ()


def _cause_of_outputs(ports: Change, changes: Sequence[Change]) -> Change | None:
    """Return the change that other outputs follow from, where it is known: the only one, the one of the layer that
    gives them, or another type of all numbers."""
    real = [change for change in changes if change.severity not in ("rename", "cosmetic")]
    keys = {port.key for port in _ports_of(ports)}
    # First of all changes, then of those that bear the name of an output.
    for known in (real, [change for change in real if change.new in keys]):
        if len(known) == 1:
            return known[0]
    if all(_result_shape(port.old or "") == _result_shape(port.new or "") for port in _ports_of(ports)):
        return next((change for change in real if is_precision(change)), None)
    return None


def _cause_of_sizes(ports: Change, changes: Sequence[Change]) -> Change | None:
    """Of several changes the last one of a size that all outputs have, before and now: `units 64 → 128` and an output
    of 32×64 that is 32×128."""
    sizes = [_other_sizes(port.old or "", port.new or "") for port in _ports_of(ports)]
    same = [
        change
        for change in changes
        if change.setting
        and (change.key in WIDTH_KEYS or change.key == "shape")
        and all(pairs and pairs <= _other_sizes(change.setting.old, change.setting.new) for pairs in sizes)
    ]
    return same[-1] if same else None


def _other_sizes(old: object, new: object) -> set[tuple[str, str]]:
    """Return the old and new sizes that are others in two shapes, or two sizes.

    >>> sorted(_other_sizes("float32 2×9×4", "float32 2×8×4")), _other_sizes(64, 128), _other_sizes("9", "2×9")
    ([('9', '8')], {('64', '128')}, set())
    """
    before, after = (str(value).rpartition(" ")[2].split("×") for value in (old, new))
    pairs = set(zip(before, after, strict=False)) if len(before) == len(after) else set()
    return {pair for pair in pairs if pair[0] != pair[1]}


def _result_shape(spec: str) -> str:
    """Return the shape in the words for an output: the text after its type."""
    return spec.partition(" ")[2]
