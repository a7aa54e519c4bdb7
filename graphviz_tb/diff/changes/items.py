"""One found difference: where it is, and whether it may only follow from another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.parts import QUIET
from graphviz_tb.diff.changes.sizes import FOLLOWING, only_sizes
from graphviz_tb.diff.changes.wiring import rewires
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.ops.roles import CAST_OPS, INPUT_OPS, UNIT_AXES_OPS

BETWEEN = CAST_OPS | UNIT_AXES_OPS | INPUT_OPS  # ops that hand on something else than what they take
LayerKey = tuple[str, int]  # "new" or "old", and the layer


@dataclass(frozen=True, slots=True)
class Item:
    """One difference: `follows` if it may only follow from another one; `forward` if it is in the model itself;
    `layers` are those it is in; `near` those that its wires lead from or led from."""

    change: Change
    follows: bool
    forward: bool
    layers: frozenset[LayerKey]
    near: frozenset[LayerKey]


def item_of(m: Matching, layers: tuple[Layers, Layers], change: Change, follows: bool) -> Item:
    """Where a change is."""
    old, new = touched(change)
    # A change in a function is located at its calls: the function is in no layer of the main graph.
    if is_function(change):
        old, new = callers(m, change)
        follows = all(may_follow(inner) for inner in change.inside) and bool(change.inside)
    if change.kind == "rewired":
        follows = other_outputs(m, change)
    # What asks for sizes comes and goes as sizes are known; another op type or another input there is an edit.
    follows = (
        follows or (change.kind in ("added", "removed") and only_sizes(m, change)) or is_for_gradients(layers, change)
    )
    # One node of the model is enough: what is derived hangs on it.
    forward = bool(layers[1].forward[list(new)].any() or layers[0].forward[list(old)].any())
    if forward and change.kind in ("added", "removed"):
        follows = follows or (is_hushed(change) and not is_between(layers, change))
    mine = frozenset(
        [*(layer_of(m, layers, node, True) for node in new), *(layer_of(m, layers, node, False) for node in old)]
    )
    near = frozenset(rewired_layers(m, layers, change)) if change.kind == "rewired" else frozenset()
    return Item(change, follows, forward, mine, near)


def is_hushed(change: Change) -> bool:
    """Whether all that came, or went, only brings values or hands them on."""
    return change.kind in ("added", "removed") and change.detail.get("op_types", {}).keys() <= QUIET


def is_between(layers: tuple[Layers, Layers], change: Change) -> bool:
    """Whether something of the model takes what came, or took what went, and that is another type, shape or input."""
    loud = any(layers[1].forward[new] for _, new in change.edits.inputs)
    return loud and not BETWEEN.isdisjoint(change.detail.get("op_types", {}))


def measures(m: Matching, change: Change) -> bool:
    """Whether all that came, or went, sums up and reports what metrics keep: it computes with their variables alone."""
    if change.kind not in ("added", "removed"):
        return False
    side, nodes = (m.b, change.edits.added) if change.edits.added else (m.a, change.edits.removed)
    graph, meaning = side.graph, side.graph.meaning
    kept = {variable.node for variable in meaning.variables() if variable.use == VariableUse.STATE}
    loud = [node for node in nodes if graph.op_types[graph.op[node]] not in QUIET]
    taken = [graph.source[(edges := side.in_edges(node))[~graph.control[edges]]] for node in loud]
    return bool(loud) and all(
        int(meaning.part()[node]) == Part.BOOKKEEPING or kept.issuperset(meaning.origin[sources].tolist())
        for node, sources in zip(loud, taken, strict=True)
    )


def is_function(change: Change) -> bool:
    """Whether a change is one of a function of the library."""
    return change.kind == "function-changed" or "function" in change.detail


def is_for_gradients(layers: tuple[Layers, Layers], change: Change) -> bool:
    """Whether only ops came or went that gradients alone use, and nothing of the model takes them, or took them."""
    if change.kind not in ("added", "removed") or any(layers[1].forward[new] for _, new in change.edits.inputs):
        return False
    old, new = touched(change)
    helps = layers[0].for_gradients[list(old)].all() and layers[1].for_gradients[list(new)].all()
    return bool(old or new) and bool(helps)


def may_follow(inner: Change) -> bool:
    """Whether a change in a function may only follow from one outside: types and sizes come in from there."""
    detail = inner.detail
    if inner.kind == "changed":
        whole = isinstance(detail["old"], int) and isinstance(detail["new"], int)
        return detail["key"] == "dtype" or detail["key"] in FOLLOWING or bool(detail.get("constant") and whole)
    return inner.kind == "signature-changed" and "returned" not in detail


def other_outputs(m: Matching, change: Change) -> bool:
    """Whether inputs only come from other outputs of the same ops: those have more or fewer outputs now."""
    wires = [wire for old, new in change.edits.inputs for wire in rewires(m, old, new)]
    return all(
        exists(wire.before)
        and exists(wire.after)
        and not wire.control
        and int(m.to_b[m.a.graph.source[wire.before]]) == int(m.b.graph.source[wire.after])
        for wire in wires
    )


def callers(m: Matching, change: Change) -> tuple[set[int], set[int]]:
    """The nodes of the main graphs whose calls lead to the functions of a change, old and new."""
    names = {name for place in ((change.old, change.new), *change.also) for name in place if name}
    old, new = (
        {
            node
            for name in names
            for index in side.functions_called.get(name, ())
            for node in side.callers_in_main[index]
        }
        for side in (m.a, m.b)
    )
    # Old calls with a partner are counted on the new side.
    return {node for node in old if not exists(m.to_b[node])}, new


def touched(change: Change) -> tuple[set[int], set[int]]:
    """The old nodes without a partner and the new nodes that a change is about."""
    edits = change.edits
    new = {*edits.added, *(node for _, node in edits.ops), *(node for _, node, _ in edits.attributes)}
    if change.kind in ("rewired", "changed"):  # changed: it takes another constant
        new |= {node for _, node in edits.inputs}
    return set(edits.removed), new


def layer_of(m: Matching, layers: tuple[Layers, Layers], node: int, new: bool) -> LayerKey:
    """The layer of a node; that of an old node as the new graph has it, where it has one."""
    if new:
        return "new", layers[1].of(node)
    layer = layers[0].of(node)
    partner = int(m.scope_to_b[layer]) if exists(layer) else -1
    return ("new", partner) if exists(partner) else ("old", layer)


def rewired_layers(m: Matching, layers: tuple[Layers, Layers], change: Change) -> Iterable[LayerKey]:
    """The layers that rewired inputs come from and came from."""
    for old, new in change.edits.inputs:
        before = {int(m.a.graph.source[edge]) for edge in m.a.in_edges(old).tolist()}
        after = {int(m.b.graph.source[edge]) for edge in m.b.in_edges(new).tolist()}
        kept = {int(m.to_b[node]) for node in before if exists(m.to_b[node])}
        for node in kept ^ after:
            yield "new", layers[1].of(node)
