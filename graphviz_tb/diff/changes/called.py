"""Write added and removed layers as calls: the class of each layer with the arguments that the file shows.

item_dense_1: MatMul, BiasAdd, Relu, a kernel of 64×48     Dense(48, relu)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.columns.layers import DENSE_CONVOLUTIONS, QUIET_OPS, SHAPE_PLUMBING, VALUE_PLUMBING, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import plain_value
from graphviz_tb.diff.traced import WIDTH_OPS
from graphviz_tb.interpret.layer_classes import find_activation, infer_layer_class, infer_recurrent_layer, known_sizes
from graphviz_tb.limits import MAX_STEPS_TO_KERNEL
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import LayerExpression
from graphviz_tb.model.columns import exists
from graphviz_tb.model.layers import enclosing_module_class, is_module
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape, shape_text
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    BIAS_OPS,
    CONSTANT_OPS,
    MATRIX_PRODUCT_OPS,
    OPS_BY_ROLE,
    REARRANGE_OPS,
    RESHAPE_OPS,
    Role,
)

# The division of channels by a layer, into heads of an attention or groups of a normalization: a number in the shape of
# a reshape.
#
# [-1, 8, 8, 4, 2] → [-1, 8, 8, 2, 4]     in a GroupNormalization: groups 4 → 2
# [-1, 16, 2, 8] → [-1, 16, 4, 8]         before the product of queries and keys: num_heads 2 → 4

NUM_HEADS, NUM_GROUPS = "num_heads", "groups"
DIVISION_KEYS = frozenset({NUM_HEADS, NUM_GROUPS})
SPLITTING_OPS = RESHAPE_OPS | {"aten::reshape", "aten::view", "onnx::Reshape", "tfl::RESHAPE"}
GROUPED_OPS = "GroupNormalization"
# Ops between the reshape of queries and keys and their product.
OPS_BEFORE_PRODUCT = VALUE_PLUMBING | REARRANGE_OPS | frozenset(
    {"Mul", "RealDiv", "StridedSlice", "Split", "Unpack", "Softmax", "aten::permute", "aten::transpose", "aten::unbind",
     "prim::ListUnpack", "aten::select", "aten::mul", "aten::div", "aten::contiguous", "aten::softmax", "onnx::Mul",
     "onnx::Gather", "onnx::Split", "onnx::Squeeze", "onnx::Softmax"}
)  # fmt: skip
PRODUCT_OPS = BATCH_PRODUCT_OPS | frozenset(
    {"aten::matmul", "aten::bmm", "aten::baddbmm", "aten::einsum", "aten::scaled_dot_product_attention"}
)
MAX_STEPS_TO_PRODUCT = 6
SizePairs = frozenset[tuple[int, int]]  # sizes of tensors, before and now


def layer_division(
    layers: Layers, user: int, old: Any, new: Any, sizes: SizePairs = frozenset()
) -> tuple[str, int, int] | None:
    """Return the word, the old and the new number of heads or groups, if the old and new shapes of a reshape show it.
    `sizes` are old and new sizes of its inputs, which are no divisions."""
    graph = layers.side.graph
    if graph.op_types[graph.op[user]] not in SPLITTING_OPS or not (isinstance(old, list) and isinstance(new, list)):
        return None
    # The axes before the last two are the batch and the sequence.
    around = len(old) - 2
    pairs = enumerate(zip(old, new, strict=False))
    places = [place for place, pair in pairs if pair[0] != pair[1] and not (place < around and pair in sizes)]
    if (
        len(old) != len(new)
        or not places
        or not all(isinstance(value[place], int) for value in (old, new) for place in places)
    ):
        return None
    first = places[0]
    pair = old[first], new[first]
    # The last two axes are the channels: their product is unchanged.
    is_split = len(places) == 2 and places[1] == first + 1 and pair[0] * old[first + 1] == pair[1] * new[first + 1]
    if min(pair) <= 0:
        return None
    if is_split and layers.class_of(layers.layer_of_node(user)) == GROUPED_OPS:
        return NUM_GROUPS, *pair
    # If the width changed too, or not at all, the number of heads is the last axis but one.
    is_last = first == around >= 2 and pair not in sizes
    if (is_split or is_last) and _leads_to_product(layers, user):
        batch = _merged_batch(layers.side, user, new) if is_split else 1
        return (NUM_HEADS, pair[0] // batch, pair[1] // batch) if not pair[0] % batch else None
    return None


def _merged_batch(side: GraphColumns, user: int, target: Sequence[Any]) -> int:
    """Return the number of examples that a reshape merges into the axis of heads; 1 if there are none.

    20×2×32 → 20×8×8: 4 heads of 8 for each of 2 examples.
    """
    source, *_ = [*side.data_sources(user), -1]
    given = side.tensors.tensors_of_node(source)("0").shape if exists(source) else None
    if given is None or len(given) != len(target) or not given[-2] or not given[-1] or target[-2] % given[-2]:
        return 1
    return given[-2] if target[-2] // given[-2] * target[-1] == given[-1] else 1


def _leads_to_product(layers: Layers, node: int) -> bool:
    """Return whether a result is rearranged and then an operand of a matrix product, within a few ops."""
    side, seen, todo = layers.side, {node}, [(node, 0)]
    graph = side.graph
    while todo:
        current, steps = todo.pop()
        for user in side.users(current):
            op = graph.op_types[graph.op[user]]
            if op in PRODUCT_OPS and layers.forward[user] and not _takes_weight(layers, user):
                return True
            # Of additions, only that of a bias is followed.
            through = op in OPS_BEFORE_PRODUCT or (op in BIAS_OPS and _takes_weight(layers, user))
            if through and user not in seen and steps < MAX_STEPS_TO_PRODUCT:
                seen.add(user)
                todo.append((user, steps + 1))
    return False


UNITS, FILTERS, CONVOLUTION = "units", "filters", "Conv"


def _takes_weight(layers: Layers, node: int) -> bool:
    sources = layers.side.data_sources(node)
    return any(
        exists(int(layers.side.graph.meaning.origin[source])) or source in layers.variables for source in sources
    )


def shaped_width(layers: Layers, user: int, old: Any, new: Any) -> tuple[str, int, int] | None:
    """Return the word for a width, its old and its new size, if they are the last sizes of the shape that the product
    with a weight, or a bias, is reshaped to; else None."""
    side = layers.side
    made, *_ = [*side.data_sources(user), -1]
    shapes = isinstance(old, list) and isinstance(new, list) and old and len(old) == len(new)
    if side.op_type(user) not in RESHAPE_OPS or not exists(made) or not shapes:
        return None
    is_product = side.op_type(made) in MATRIX_PRODUCT_OPS and _takes_weight(layers, made)
    is_bias = {*old[:-1], *new[:-1]} == {1} and _takes_weight(layers, user)
    is_bias = is_bias and CONVOLUTION in layers.class_of(layers.layer_of_node(user))
    return (FILTERS if is_bias else UNITS, old[-1], new[-1]) if is_product or is_bias else None


def parse_traced_list(value: Any) -> list[Any] | None:
    """Return a list that a PyTorch trace stores as text, with its numbers parsed; None for anything else.

    >>> parse_traced_list("[size, 3, 2, floor_divide]"), parse_traced_list("3")
    (['size', 3, 2, 'floor_divide'], None)
    """
    if not isinstance(value, str) or not value.startswith("[") or not value.endswith("]"):
        return None
    parts = [part.strip() for part in value[1:-1].split(",")]
    return [int(part) if part.lstrip("-").isdecimal() else part for part in parts]


def group_counts(layers: tuple[Layers, Layers], changes: Sequence[Change]) -> tuple[int, int] | None:
    """Return the old and the new number of groups of a convolution; None if no call was replaced.

    On a CPU, Keras writes a grouped convolution as a call of a function. Its kernel is …×in×out, where `in` is the
    number of input channels of one group.
    """
    removed = [node for change in changes for node in change.edits.removed]
    added = [node for change in changes for node in change.edits.added]
    inputs = input_sizes(layers[0], removed), input_sizes(layers[1], added)
    if len(inputs[0]) != 1 or len(inputs[1]) != 1:
        return None
    (old, called_before), (new, called_now) = inputs[0].pop(), inputs[1].pop()
    # Groups divide the input channels evenly, and exactly one side has a call.
    if called_before == called_now or max(old, new) % min(old, new):
        return None
    if called_now:
        return (1, old // new) if new < old else None
    return (new // old, 1) if old < new else None


def input_sizes(layers: Layers, nodes: Iterable[int]) -> set[tuple[int, bool]]:
    """Return the numbers of input channels of kernels, and whether the convolution is in a called function. For several
    kernels of an op, only the least and the greatest number."""
    graph, sizes = layers.side.graph, set()
    for node in nodes:
        called = any(
            layers.holds_convolution[function] for _, function in layers.side.functions_called_by_node.get(node, ())
        )
        if called or graph.op_types[graph.op[node]] in DENSE_CONVOLUTIONS:
            sizes |= {(size, called) for size in _kernel_inputs(layers, node, MAX_STEPS_TO_KERNEL)}
    return sizes


def _kernel_inputs(layers: Layers, node: int, steps: int) -> tuple[int, ...]:
    """Return the least and the greatest number of input channels of the weights with three or more dimensions, up to
    `steps` steps before an op. Cached per op: thousands of ops may read the same node."""
    known = layers.kernels.get((node, steps))
    if known is None:
        side, found = layers.side, set()
        for source in dict.fromkeys(side.sources(node)):
            shape = _weight_shape(side, source) or ()
            # The last two dimensions of a kernel are the input and output channels.
            if len(shape) >= 3 and shape[-2]:
                found.add(shape[-2])
            if steps > 1 and side.op_type(source) in SHAPE_PLUMBING:
                found.update(_kernel_inputs(layers, source, steps - 1))
        known = layers.kernels[node, steps] = (min(found), max(found)) if len(found) > 1 else tuple(found)
    return known


def _weight_shape(side: GraphColumns, node: int) -> Shape:
    """Return the shape of a weight, or of a constant."""
    known, definition = side.graph.meaning.weights.get(node), side.graph.node_def(node)
    if known is not None:
        return known.shape
    if definition is None or definition.op not in CONSTANT_OPS or "value" not in definition.attr:
        return None
    return tuple(int(dim.size) for dim in definition.attr["value"].tensor.tensor_shape.dim)


MAX_LISTED_LAYERS = 4  # more layers are counted by class
UNLISTED_OPS = QUIET_OPS | OPS_BY_ROLE[Role.FILL]  # ops that are no layers
DROPOUT_ARGUMENT = "p"
DROPOUT_OPS = frozenset({"aten::dropout", "aten::feature_dropout", "aten::alpha_dropout"})
FROM_WEIGHTS: Mapping[str, Callable[[tuple[int, ...]], list[str]]] = {
    "Dense": lambda kernel: [str(kernel[-1])],
    "Embedding": lambda table: [str(size) for size in table],
    "DepthwiseConv2D": lambda kernel: [shape_text(kernel[:-2])],
}


class LayerCalls:
    """The layers of one side, written as calls in a program."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers

    def of(self, change: Change) -> tuple[LayerExpression, ...]:
        """Return the layers that a change adds or removes, in the order of flow; () if none is known."""
        whole_scope = change.unit is not None and change.unit.scope
        if self.layers.side.has_module_scopes and whole_scope and (kind := enclosing_module_class(f"/{change.name}")):
            return (LayerExpression(kind),)
        nodes = change.edits.unmatched_nodes(change.kind == "added")
        graph, forward = self.layers.side.graph, self.layers.forward
        # Without size computations and ops that only gradients use.
        left_out = graph.meaning.indexes() | self.layers.for_gradients
        listed = [
            node
            for node in nodes
            if forward[node] and not left_out[node] and graph.op_types[graph.op[node]] not in UNLISTED_OPS
        ]
        by_layer: dict[int, list[int]] = {}
        # Layers are sorted by their last op: ops that prepare a bias may be at the beginning of the graph.
        for node in sorted(listed, key=lambda node: (-self.layers.depth[node], graph.name[node])):
            by_layer.setdefault(self.layers.layer_of_node(node), []).append(node)
        by_layer = dict(reversed(by_layer.items()))
        unit = frozenset(nodes)
        calls = [self.call(layer, members, unit) for layer, members in by_layer.items()]
        if not any(known for _, known in calls):
            return ()
        if len(calls) > MAX_LISTED_LAYERS:  # a block: how many of each class
            kinds = Counter(call.name for call, known in calls if known)
            return tuple(LayerExpression(kind, (), count, in_block=True) for kind, count in kinds.most_common())
        counts = Counter(call for call, _ in calls)
        return tuple(replace(call, count=count) for call, count in counts.items())

    def call(self, layer: int, members: Sequence[int], unit: frozenset[int]) -> tuple[LayerExpression, bool]:
        """Return the call of a layer, and whether its class is known.

        `members` are the listed ops of the layer, `unit` all ops that the change adds or removes. If other ops of the
        layer remain, only op types are known.
        """
        side, name = self.layers.side, self.layers.name(layer)
        graph = side.graph
        if known := graph.layers.get(name):
            return LayerExpression(known.class_name, tuple(filter(None, known.telling.split(" · ")))), True
        nodes = side.scopes.nodes(layer).tolist() if exists(layer) else [-1 - layer]
        if not unit.issuperset(nodes):
            return self.part_of_layer([node for node in nodes if node in unit], members)
        if side.has_module_scopes:
            kind = enclosing_module_class(name) if exists(layer) or is_module(last_segment(name)) else ""
            arguments = tuple(self.traced_arguments(members)) if kind else ()
            return LayerExpression(kind or self.op_types_of(members), arguments), True
        if exists(layer) and (kind := self.layers.class_of(layer)):
            return LayerExpression(kind, tuple(self.arguments(kind, nodes))), True
        word = without_counters(last_segment(name)) if len(members) > 1 else self.op_types_of(members)
        return LayerExpression(word), False

    def part_of_layer(self, part: Sequence[int], members: Sequence[int]) -> tuple[LayerExpression, bool]:
        """Return an added or removed part of a layer: as a layer if it has weights (one of several tables), else as op
        types."""
        side = self.layers.side
        nodes = [node for node in part if self.layers.forward[node]]
        has_weights = not side.has_module_scopes and any(node in side.graph.meaning.weights for node in nodes)
        kind = infer_layer_class(side.graph, nodes) if has_weights else ""
        if not kind:
            return LayerExpression(self.op_types_of(members)), False
        return LayerExpression(kind, tuple(self.arguments(kind, nodes))), True

    def op_types_of(self, members: Sequence[int]) -> str:
        """Return the distinct types of ops, as text."""
        graph = self.layers.side.graph
        return ", ".join(dict.fromkeys(graph.op_types[graph.op[node]].rpartition("::")[2] for node in members))

    def traced_arguments(self, members: Sequence[int]) -> Iterator[str]:
        """Yield the width, or the dropout rate, of a PyTorch module that is a single op."""
        definition = self.layers.side.graph.node_def(members[0]) if len(members) == 1 else None
        if definition is not None:
            key, _ = WIDTH_OPS.get(definition.op, (DROPOUT_ARGUMENT if definition.op in DROPOUT_OPS else "", 0))
            if key in definition.attr:
                yield str(plain_value(definition.attr[key]))

    def arguments(self, kind: str, nodes: Sequence[int]) -> Iterator[str]:
        """Yield the arguments of a layer that its weights and its ops show."""
        side = self.layers.side
        graph = side.graph
        shapes = [shape for node in self.weights(nodes) if (shape := known_sizes(_weight_shape(side, node)))]
        if units := infer_recurrent_layer(shapes)[1]:
            yield str(units)
            return
        kernel = max((shape for shape in shapes if len(shape) > 1), key=len, default=None)
        if kernel is not None and kind in FROM_WEIGHTS:
            yield from FROM_WEIGHTS[kind](kernel)
        elif kernel is not None and has_layer_role(kind, LayerRole.CONVOLUTION) and len(kernel) > 2:
            yield from (str(kernel[-1]), shape_text(kernel[:-2]))
        if word := find_activation({graph.op_types[graph.op[node]] for node in nodes}) if kernel is not None else "":
            yield word

    def weights(self, nodes: Iterable[int]) -> Iterator[int]:
        """Yield the nodes of a layer and their inputs, since a weight may be outside of the layer's scope."""
        side = self.layers.side
        for node in nodes:
            yield node
            yield from side.sources(node)


def with_layer_calls(layers: tuple[Layers, Layers], changes: Iterable[Change]) -> list[Change]:
    """Add the calls of known layers to additions and removals."""
    calls = LayerCalls(layers[0]), LayerCalls(layers[1])
    made = []
    for change in changes:
        unit = change.unit if change.function is None else None
        known = calls[change.kind == "added"].of(change) if unit else ()
        made.append(replace(change, content=replace(unit, layers=known)) if unit and known else change)
    return made
