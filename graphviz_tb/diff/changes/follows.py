"""Differences that only follow: derived attributes, names that TensorFlow gave, consequences of freezing a layer."""

from __future__ import annotations

from collections.abc import Sequence, Set

from graphviz_tb.diff.changes.items import Item, LayerKey, layer_of
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.interpret.training import gradient_scope
from graphviz_tb.model.change import Change
from graphviz_tb.ops.roles import CAST_OPS, CONSTANT_OPS, IDENTITY_OPS, VARIABLE_READ_OPS

PLUMBING = CAST_OPS | CONSTANT_OPS | IDENTITY_OPS | VARIABLE_READ_OPS


def is_exchange(item: Item) -> bool:
    """Whether ops came, went or are others."""
    return item.change.severity == "op" and item.change.kind in ("added", "removed", "changed")


def inner_name(
    m: Matching,
    layers: tuple[Layers, Layers],
    change: Change,
    near: frozenset[LayerKey],
    exchanged: frozenset[LayerKey],
    trained: bool,
) -> bool:
    """Whether only names inside layers that changed are others, of layers whose ops were `exchanged`, of single derived
    ops, or of constants: TensorFlow gave them. Where the training is another (`trained`), so are all names of what is
    derived."""
    if change.kind not in ("renamed", "moved"):
        return False
    if change.severity == "cosmetic":
        return True
    scopes, forward = layers[1].side.scopes, layers[1].forward
    derived = [not forward[scopes.nodes(new)].any() for _, new in change.edits.scopes]
    quiet = trained or change.kind == "moved" or not all(derived)
    quiet |= all(gradient_scope(f"{scopes.name[new]}/") for _, new in change.edits.scopes)  # nobody names gradients
    for (_, new), follows in zip(change.edits.scopes, derived, strict=True):
        if follows and quiet:
            continue
        layer = int(layers[1].of_row[new])
        holds = {layer_of(m, layers, node, True) for node in scopes.nodes(new).tolist()}
        if layer == new and ("new", layer) in exchanged:
            continue
        if (layer in (-1, new) or ("new", layer) not in near) and not (holds and holds <= near - {("new", new)}):
            return False
    side = layers[0].side
    for old, new in change.edits.nodes:
        plumbing = side.graph.op_types[side.graph.op[old]] in PLUMBING
        if layers[0].forward[old] and not plumbing and layer_of(m, layers, new, True) not in near:
            return False
    return True


def no_more_trained(trained: Sequence[Change]) -> list[set[str | None]]:
    """The places of each change that says that layers are trained no more, or now."""
    return [{change.new, *(new for _, new in change.also)} for change in trained if change.detail["key"] == "trainable"]


def is_frozen(layers: tuple[Layers, Layers], group: Sequence[Item], untrained: Sequence[Set[str | None]]) -> bool:
    """Whether an edit is what freezing entails: a layer that is trained no more takes the statistics that it keeps."""
    names = {layers[which == "new"].name(layer) for item in group for which, layer in item.layers}
    kinds = {item.change.kind for item in group}
    return any(names <= places for places in untrained) and kinds <= {"added", "removed", "rewired"}


def all_follow(group: Sequence[Item]) -> bool:
    """Whether an edit is only what another one entails."""
    return all(item.follows for item in group)
