"""A layer with its bias, norm and activation as one box, named after the layer; a norm of several ops as one box.

x ─▶ conv ─▶ bias ─▶ norm ─▶ activation ─▶ y        bias, norm and activation may each be missing
                              │
                     sigmoid ─┴▶ ×                  an activation may be several ops

x ─▶ blocks ─▶ unit axis ─▶ conv ─▶ no unit axis ─▶ no blocks ─▶ …        a dilation, with the forms that it needs

x ─┬─▶ dense ─▶ activation ─▶ × ─▶ dense ─▶ y      a gated block: two layers with one input, one of which weighs the
   └─▶ dense ──────────────────▲                     other, and the layer after them

x ─▶ transpose ─▶ norm ─▶ transpose ─▶ …            ops that only change the form of a tensor, beside their norm

Each box feeds nothing but the next, so the group is convex. Repeats and stages are found more easily among layers,
which are equal whatever the form of their data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache

from graphviz_tb.fold.flow.box import Dag, FlowBox, contract_groups, make_group
from graphviz_tb.fold.flow.idioms import MIN_BOXES_OUTSIDE_IDIOM
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.items import MAX_FEEDER_OPS, MIN_ASIDE_BOXES, VALUE_OPS
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BIAS_OPS,
    CAST_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    DILATION_BLOCK_OPS,
    IDENTITY_OPS,
    MATRIX_PRODUCT_OPS,
    MULTIPLY_OPS,
    OWN_BIAS_OPS,
    PASS_EACH_OPS,
    REARRANGE_OPS,
    UNIT_AXES_OPS,
    VARIANCE_ROOT_OPS,
    Role,
    has_role,
    is_elementwise,
)
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, plain_op_name

MAX_LAYER_OPS, MAX_NORM_OPS, MAX_ACTIVATION_OPS = 12, 40, 10  # ops of a scope, or of elementwise ops in a row
FORMING_OPS = DILATION_BLOCK_OPS | UNIT_AXES_OPS | {"BatchToSpaceND"}
MAX_FORMING_OPS = 4
# Op types of all frameworks that keep the order of elements, in lower case and without underscores.
FORM_TYPES = frozenset(("reshape", "flatten", "unflatten", "view", "unsafeview", "squeeze", "unsqueeze", "expanddims"))
MIN_LEADING_SHARE = 0.2  # of the norms with an activation follow a sum: at least one in each block


class LayerPart(IntEnum):
    """Role of a box in a layer, in the order of the flow."""

    LAYER = 0
    BIAS = 1
    NORM = 2
    ACTIVATION = 3
    ELEMENTWISE = 4  # may be part of an activation that is several ops


IDIOM_PARTS = {GroupOrigin.NORM: LayerPart.NORM, GroupOrigin.ACTIVATION: LayerPart.ACTIVATION}


def fold_layers(dag: Dag, hierarchy: Hierarchy, context: FoldContext) -> Dag:
    """Fold each layer with its bias, norm and activation; not if it is the only layer of the level."""
    finder = _LayerFinder(hierarchy, context)
    parts = {number: part for number, box in enumerate(dag.boxes) if (part := finder.part_of(box)) is not None}
    layers = [number for number, part in parts.items() if part == LayerPart.LAYER]
    if not layers:
        return dag
    if _norms_lead(dag, parts):
        parts = {number: part for number, part in parts.items() if part != LayerPart.NORM}
    groups: list[tuple[list[int], FlowBox]] = []
    for layer in layers:
        before, behind = _forming_ops(dag, layer)
        chain = [layer, *_parts_behind(dag, behind[-1] if behind else layer, parts, context)]
        members = [*before, layer, *behind, *chain[1:]]
        if len(members) > 1:
            groups.append((members, _make_layer(dag, members, chain, context)))
    if len(groups) == 1 and not any(
        context.types.maps_channels(box) for number, box in enumerate(dag.boxes) if number not in groups[0][0]
    ):
        return dag
    return contract_groups(dag, groups)


def fold_gated_layers(dag: Dag, context: FoldContext) -> Dag:
    """Fold each gated block that is not nearly all of the level."""
    groups: list[tuple[list[int], FlowBox]] = []
    for product, sources in enumerate(dag.before):
        if len(sources) != 2 or dag.boxes[product].op not in MULTIPLY_OPS or len(dag.after[product]) != 1:
            continue
        members = [*sources, product, *dag.after[product]]
        one, other, _, last = members
        is_private = all(dag.after[source] == [product] for source in sources) and dag.before[last] == [product]
        if not is_private or dag.before[one] != dag.before[other] or len(dag.before[one]) != 1:
            continue
        types = [context.types.type_counts(dag.boxes[box]) for box in (one, other, last)]
        are_dense = all(sum(count for op, count in each.items() if _is_dense(op)) == 1 for each in types)
        active = [any(map(_is_activation, each)) for each in types]
        have_weights = all(context.widths.parameter_count(dag.boxes[box]) > 1 for box in (one, other, last))
        if are_dense and have_weights and active[0] != active[1] and len(dag) - len(members) >= MIN_BOXES_OUTSIDE_IDIOM:
            boxes = [dag.boxes[box] for box in members]
            symbol = context.symbols.symbol_of("gated", *(box.symbol for box in boxes))
            groups.append((members, make_group(GroupOrigin.FEED_FORWARD, boxes, symbol)))
    return contract_groups(dag, groups)


def join_forms(dag: Dag, context: FoldContext) -> Dag:
    """Join casts, reshapes and transposes to the scope, layer, norm or sum that computes their input.

    If they follow anything else, they join the layer or norm that uses them: an image is transposed for a norm and
    back.
    """
    # By box, whether it is a form that no chain contains yet.
    is_free = [len(sources) == 1 and is_form(box.op) for box, sources in zip(dag.boxes, dag.before, strict=True)]
    numbers = [number for number, is_free_form in enumerate(is_free) if not is_free_form] if any(is_free) else []
    chains = {number: [number] for number in numbers if _takes_forms(dag, number, context)}
    for number, chain in chains.items():
        scope = dag.boxes[number].scope
        while len(dag.after[chain[-1]]) == 1 and is_free[user := dag.after[chain[-1]][0]]:
            op = dag.boxes[user].op
            if (len(chain) > 1 or plain_op_name(op) not in FORM_TYPES) if scope else op in UNIT_AXES_OPS:
                break
            chain.append(user)
            is_free[user] = False
    groups = []
    for number, chain in chains.items():
        while len(dag.before[chain[0]]) == 1 and is_free[source := dag.before[chain[0]][0]]:
            if dag.boxes[number].scope or dag.boxes[source].op in UNIT_AXES_OPS or len(dag.after[source]) > 1:
                break
            chain.insert(0, source)
            is_free[source] = False
        if len(chain) > 1:
            groups.append((chain, _make_formed(dag, number, chain)))
    return contract_groups(dag, groups)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def is_form(op: str) -> bool:
    """Return whether an op of any framework only changes the axes, their order, or the type of a tensor."""
    return op in CAST_OPS or op in REARRANGE_OPS or plain_op_name(op) in FORM_TYPES


def _takes_forms(dag: Dag, number: int, context: FoldContext) -> bool:
    """Return whether a box is a scope, a norm, a layer, or a sum of two tensors."""
    box = dag.boxes[number]
    if box.scope or box.how == GroupOrigin.NORM or (box.op in ADD_OPS and len(dag.before[number]) > 1):
        return True
    return not box.is_repetition and context.widths.parameter_count(box) > 0


def _make_formed(dag: Dag, number: int, chain: Sequence[int]) -> FlowBox:
    """Return a box with the forms around it; it keeps its symbol and, unless it is a scope, its number of ops."""
    box = dag.boxes[number]
    parts = [part for each in chain for part in (each == number and box.members) or [dag.boxes[each]]]
    # A few ops keep their name; other regions of two are opened again outside of stacks.
    small = len(dag) > MIN_ASIDE_BOXES and (box.ops <= MAX_FEEDER_OPS or not box.scope)
    how, name = (GroupOrigin.LAYER, box.name) if small else (GroupOrigin.REGION, "")
    made = make_group(box.how if small and box.members else how, parts, box.symbol, name)
    if not box.scope:
        made.ops = box.ops
    return made


def _norms_lead(dag: Dag, parts: Mapping[int, LayerPart]) -> bool:
    """Return whether norms and activations precede the layers of a network: many follow a sum or concatenation."""
    active = [
        norm
        for norm, part in parts.items()
        if part == LayerPart.NORM and any(parts.get(user) == LayerPart.ACTIVATION for user in dag.after[norm])
    ]
    joining = (box for box, sources in enumerate(dag.before) if len(sources) > 1)
    joins = {box for box in joining if parts.get(box) in (None, LayerPart.ELEMENTWISE)}
    joined = sum(not joins.isdisjoint(dag.before[norm]) for norm in active)
    return joined > 0 and joined >= MIN_LEADING_SHARE * len(active)


def _make_layer(dag: Dag, members: Sequence[int], chain: Sequence[int], context: FoldContext) -> FlowBox:
    symbol = context.symbols.symbol_of("layer", *(dag.boxes[number].symbol for number in chain))
    return make_group(GroupOrigin.LAYER, [dag.boxes[number] for number in members], symbol, dag.boxes[chain[0]].name)


def _forming_ops(dag: Dag, layer: int) -> tuple[list[int], list[int]]:
    """Return the ops before and behind a layer that change the form of its data and change it back.

    They make blocks for a dilation, or an axis of size one.
    """
    before: list[int] = []
    end = layer
    while len(dag.before[end]) == 1 and dag.boxes[source := dag.before[end][0]].op in FORMING_OPS:
        if len(dag.after[source]) > 1 or len(before) == MAX_FORMING_OPS:
            break
        before, end = [source, *before], source
    behind: list[int] = []
    end = layer
    while len(behind) < len(before) and len(dag.after[end]) == 1:
        if dag.boxes[user := dag.after[end][0]].op not in FORMING_OPS:
            break
        behind, end = [*behind, user], user
    return before, behind


def _parts_behind(dag: Dag, layer: int, parts: Mapping[int, LayerPart], context: FoldContext) -> list[int]:
    """Return the bias, norm and activation after a layer, each after the ops that compute its weights."""
    chain: list[int] = []
    end = layer
    for part in (LayerPart.BIAS, LayerPart.NORM):
        if len(dag.after[end]) == 1 and parts.get(user := dag.after[end][0]) == part:
            weights = _weights_of(dag, user, end, context)
            if {end, *weights}.issuperset(dag.before[user]):
                chain, end = [*chain, *weights, user], user
    return chain + _activation_after(dag, end, parts)


def _weights_of(dag: Dag, user: int, end: int, context: FoldContext) -> list[int]:
    """Return the ops that are computed from weights alone, for `user` alone; `end` is its other input."""
    inside = {user: None}
    todo = [source for source in dag.before[user] if source != end]
    while todo:
        box = todo.pop()
        known = box in inside or not all(other in inside for other in dag.after[box])
        if not known and context.widths.is_computed_from_weights(dag.boxes[box]):
            inside[box] = None
            todo += dag.before[box]
    _, *found = inside
    return found[::-1]


def _activation_after(dag: Dag, start: int, parts: Mapping[int, LayerPart]) -> list[int]:
    """Return the activation of the result of a box: one box, or elementwise ops of which only the last feeds others.

    Empty if there is none, or if others use the result.
    """
    found: list[int] = []
    inside = {start}
    while len(found) < MAX_ACTIVATION_OPS:
        ready = {
            user: None
            for box in (start, *found)
            for user in dag.after[box]
            if user not in inside and user in parts and inside.issuperset(dag.before[user])
            if box != start
            or dag.after[user]
            or parts[user] == LayerPart.ACTIVATION  # an identity that is an output stays visible
        }
        if not ready or any(parts[user] < LayerPart.ACTIVATION for user in ready):
            return []
        found += ready
        inside.update(ready)
        ends = [box for box in found if not inside.issuperset(dag.after[box])]
        if inside.issuperset(dag.after[start]) and len(ends) < 2:
            return found if any(parts[box] == LayerPart.ACTIVATION for box in found) else []
    return []


class _LayerFinder:
    """Finds the boxes that are a layer, or a bias, a norm or an activation."""

    def __init__(self, hierarchy: Hierarchy, context: FoldContext) -> None:
        self.hierarchy, self.context = hierarchy, context

    def part_of(self, box: FlowBox) -> LayerPart | None:
        """Return the part of a layer that a row is; None for any other box."""
        if box.members:
            return IDIOM_PARTS.get(box.how)
        if box.op:
            return self._part_of_op(box)
        return self._part_of_scope(box) if box.scope and box.ops <= MAX_NORM_OPS else None

    def _part_of_op(self, box: FlowBox) -> LayerPart | None:
        op, weights = box.op, self.context.widths
        if _is_layer(op):
            layer = self.hierarchy.graph.layers.get(self.hierarchy.name[box.row])
            own = layer.config.get("activation", "linear") if layer is not None else "linear"
            product = (
                op in MATRIX_PRODUCT_OPS and weights.parameter_count(box) < 2
            )  # a product counts one even without weights
            return None if product or own not in ("linear", None) else LayerPart.LAYER
        if op in OWN_BIAS_OPS or (op in BIAS_OPS and weights.parameter_count(box)):
            return LayerPart.BIAS
        if _is_norm(op):
            return LayerPart.NORM
        if _is_activation(op):
            return LayerPart.ACTIVATION
        if op in IDENTITY_OPS or op in PASS_EACH_OPS:  # an activation with a custom gradient ends in these
            return LayerPart.ELEMENTWISE
        return LayerPart.ELEMENTWISE if is_elementwise(op) and not weights.parameter_count(box) else None

    def _part_of_scope(self, box: FlowBox) -> LayerPart | None:
        types, weights = self.context.types.type_counts(box), self.context.widths
        layers = [op for op in types if _is_layer(op)]
        norms = any(_is_norm(op) or op in VARIANCE_ROOT_OPS for op in types)
        active = [op for op in types if _is_activation(op)]
        if layers:
            mixing = sum(types[op] for op in layers if op not in DEPTHWISE_OPS)
            whole = norms or active or mixing > 1 or box.ops > MAX_LAYER_OPS
            return None if whole or weights.parameter_count(box) < 2 else LayerPart.LAYER
        if norms:
            return LayerPart.ACTIVATION if active else LayerPart.NORM  # with both, nothing more may follow
        others = types.keys() - active - IDENTITY_OPS - VALUE_OPS
        only = active and box.ops <= MAX_ACTIVATION_OPS and all(map(is_elementwise, others))
        return LayerPart.ACTIVATION if only else None


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _is_layer(op: str) -> bool:
    """Return whether an op, or a Keras layer, may be a convolution or a dense layer."""
    if has_role(op, Role.GRADIENT) or has_layer_role(op, LayerRole.RECURRENT):
        return False
    known = op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS
    return known or has_layer_role(op, LayerRole.CONVOLUTION) or has_layer_role(op, LayerRole.DENSE)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _is_dense(op: str) -> bool:
    """Return whether an op, or a Keras layer, may be a dense layer."""
    return _is_layer(op) and op not in CONVOLUTION_OPS and not has_layer_role(op, LayerRole.CONVOLUTION)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _is_norm(op: str) -> bool:
    return has_role(op, Role.NORMALIZATION) or has_layer_role(op, LayerRole.NORMALIZATION)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _is_activation(op: str) -> bool:
    return has_role(op, Role.ACTIVATION) or has_layer_role(op, LayerRole.ACTIVATION)
