"""A layer with its bias, norm and activation as one box, named after the layer.

x ─▶ conv ─▶ bias ─▶ norm ─▶ activation ─▶ y        bias, norm and activation may each lack
                              │
                     sigmoid ─┴▶ ×                  of what precedes them: an activation too

Each of these feeds nothing but the next, so the group is convex. This comes after all other folding and naming: no
repetition, stage or title depends on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from enum import IntEnum

from graphviz_tb.fold.flow.box import FlowBox, make_group
from graphviz_tb.fold.flow.invariants import FoldContext, rows_inside
from graphviz_tb.fold.flow.items import VALUE_OPS
from graphviz_tb.fold.flow.levels import Siblings
from graphviz_tb.fold.flow.stacks import box_lists
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import (
    BIAS_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    IDENTITY_OPS,
    MATRIX_PRODUCT_OPS,
    MULTIPLY_OPS,
    Role,
    has_role,
)

MAX_LAYER_OPS, MAX_NORM_OPS, MAX_ACTIVATION_OPS = 12, 40, 6  # of a scope that is one of these
OWN_BIAS_OPS = ("BiasAdd", "BiasAddV1")  # add a bias and nothing else
ROOT_OPS = ("Rsqrt", "onnx::Sqrt", "aten::rsqrt")  # of a norm that is several ops


class LayerPart(IntEnum):
    """Part of a layer that a box is; each feeds a later one."""

    LAYER = 0
    BIAS = 1
    NORM = 2
    ACTIVATION = 3
    GATE = 4  # multiplies an activation with its input


def fold_layers(boxes: list[FlowBox], level: Siblings, setting: FoldContext) -> list[FlowBox]:
    """Fold the layers in each list of boxes of a level, in place."""
    finder = _LayerFinder(level.hierarchy, setting)
    flow: _LevelFlow | None = None
    for each in box_lists(boxes):
        parts = {box.row: (box, part) for box in each if (part := finder.part_of(box)) is not None}
        layers = [box for box, part in parts.values() if part == LayerPart.LAYER]
        if not layers or len(parts) == len(layers):
            continue
        flow = flow or _LevelFlow(level)
        chains = [chain for box in layers if len(chain := flow.follow_layer(box, parts)) > 1]
        chains = [chain for chain in chains if finder.leaves_layers(each, chain)]
        made = {id(chain[-1]): _make_layer(chain, setting) for chain in chains}
        gone = {id(box) for chain in chains for box in chain[:-1]}
        each[:] = [made.get(id(box), box) for box in each if id(box) not in gone]
    return boxes


def _make_layer(chain: Sequence[FlowBox], setting: FoldContext) -> FlowBox:
    symbol = setting.symbols.symbol_of("layer", *(box.symbol for box in chain))
    return make_group(GroupOrigin.LAYER, chain, symbol, chain[0].name)


class _LevelFlow:
    """The rows that feed each row of a level, and those that it feeds, within one part of a training step."""

    def __init__(self, level: Siblings) -> None:
        self.before: dict[int, set[int]] = defaultdict(set)
        self.after: dict[int, set[int]] = defaultdict(set)
        hierarchy, part = level.hierarchy, level.part.tolist()
        graph = hierarchy.graph
        value = [
            hierarchy.node[row] >= 0 and graph.op_types[graph.op[hierarchy.node[row]]] in VALUE_OPS
            for row in level.rows
        ]
        for source, target in zip(level.edges.source.tolist(), level.edges.target.tolist(), strict=True):
            if part[source] == part[target] and not value[source]:
                self.before[level.rows[target]].add(level.rows[source])
                self.after[level.rows[source]].add(level.rows[target])

    def follow_layer(self, layer: FlowBox, parts: Mapping[int, tuple[FlowBox, LayerPart]]) -> list[FlowBox]:
        """Return a layer and the boxes after it that are part of it, in order."""
        chain, last = [layer], LayerPart.LAYER
        while True:
            users = self.after[chain[-1].row]
            found = sorted((parts[row][1], row) for row in users if row in parts)
            if not found or len(found) < len(users):
                return chain
            part, row = found[0]
            box = parts[row][0]
            if part <= last or part == LayerPart.GATE or self._sources(box) != {chain[-1].row}:
                return chain
            if len(found) == 1:
                chain.append(box)
            elif (gate := self._gate_of(box, chain[-1], parts)) is not None:
                return [*chain, box, gate]
            else:
                return chain
            last = part

    def _gate_of(self, box: FlowBox, source: FlowBox, parts: Mapping[int, tuple[FlowBox, LayerPart]]) -> FlowBox | None:
        """Return the product of an activation and its input, if both feed nothing else."""
        users = self.after[source.row] - {box.row}
        if parts[box.row][1] != LayerPart.ACTIVATION or len(users) != 1 or self.after[box.row] != users:
            return None
        gate, part = parts[users.pop()]
        return gate if part == LayerPart.GATE and self._sources(gate) == {source.row, box.row} else None

    def _sources(self, box: FlowBox) -> Set[int]:
        """Return the rows that feed a box, its own feeders left out."""
        return self.before[box.row] - {row.row for feeder in box.feeders for row in rows_inside(feeder)}


class _LayerFinder:
    """Finds the boxes that are a layer, or a bias, a norm or an activation."""

    def __init__(self, hierarchy: Hierarchy, setting: FoldContext) -> None:
        self.hierarchy, self.setting = hierarchy, setting

    def part_of(self, box: FlowBox) -> LayerPart | None:
        """Return the part of a layer that a row is; None for any other box."""
        if box.row < 0 or box.members:
            return None
        if box.op:
            return self._part_of_op(box)
        return self._part_of_scope(box) if box.scope and box.ops <= MAX_NORM_OPS else None

    def leaves_layers(self, boxes: Sequence[FlowBox], chain: Sequence[FlowBox]) -> bool:
        """Return whether other boxes of a list hold layers: if not, the group around them is the layer."""
        own = set(map(id, chain))
        return any(self.setting.types.maps_channels(box) for box in boxes if id(box) not in own)

    def _part_of_op(self, box: FlowBox) -> LayerPart | None:
        op, weights = box.op, self.setting.widths
        if _is_layer(op):
            layer = self.hierarchy.graph.layers.get(self.hierarchy.name[box.row])
            own = layer.config.get("activation", "linear") if layer is not None else "linear"
            product = op in MATRIX_PRODUCT_OPS and weights.parameters(box) < 2  # counts one without weights
            return None if product or own not in ("linear", None) else LayerPart.LAYER
        if op in OWN_BIAS_OPS or (op in BIAS_OPS and weights.parameters(box)):
            return LayerPart.BIAS
        if op in MULTIPLY_OPS:
            return LayerPart.GATE
        if _is_norm(op):
            return LayerPart.NORM
        return LayerPart.ACTIVATION if _is_activation(op) else None

    def _part_of_scope(self, box: FlowBox) -> LayerPart | None:
        types, weights = self.setting.types.of(box), self.setting.widths
        layers = [op for op in types if _is_layer(op)]
        norms = any(_is_norm(op) or op in ROOT_OPS for op in types)
        active = [op for op in types if _is_activation(op)]
        if layers:
            mixing = sum(types[op] for op in layers if op not in DEPTHWISE_OPS)
            whole = norms or active or mixing > 1 or box.ops > MAX_LAYER_OPS
            return None if whole or weights.parameters(box) < 2 else LayerPart.LAYER
        if norms:
            return None if active else LayerPart.NORM
        plain = MULTIPLY_OPS | BIAS_OPS | IDENTITY_OPS | VALUE_OPS
        only = active and box.ops <= MAX_ACTIVATION_OPS and all(op in plain for op in types.keys() - {*active})
        return LayerPart.ACTIVATION if only else None


def _is_layer(op: str) -> bool:
    """Return whether an op, or a Keras layer, may be a convolution or a dense layer."""
    if has_role(op, Role.GRADIENT) or has_layer_role(op, LayerRole.RECURRENT):
        return False
    known = op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS
    return known or has_layer_role(op, LayerRole.CONVOLUTION) or has_layer_role(op, LayerRole.DENSE)


def _is_norm(op: str) -> bool:
    return has_role(op, Role.NORMALIZATION) or has_layer_role(op, LayerRole.NORMALIZATION)


def _is_activation(op: str) -> bool:
    return has_role(op, Role.ACTIVATION) or has_layer_role(op, LayerRole.ACTIVATION)
