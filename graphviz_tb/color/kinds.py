"""Find the kind of layer of each group, which decides its hue in all pictures."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from graphviz_tb.graphs.traversal import reachable_mask, topological_order_with_cycles
from graphviz_tb.model.columns import Bools, Bytes, Longs, prefix_sums
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    EMBEDDING_OPS,
    INDEX_OPS,
    MATRIX_PRODUCT_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.table import plain_op_name

KIND_WORDS = ("convolution", "attention", "dense", "embedding", "norm", "recurrent", "")  # in the order of the hues
CONVOLUTION, ATTENTION, DENSE, EMBEDDING, NORM, RECURRENT, OTHER = range(7)
NEUTRAL = -1  # a group that only rearranges data, or mixes kinds
# The kind that one op contributes to its group: from 0 to 6, or one of these.
PRODUCT, SOFTMAX, SIGMOID, TANH, ACTIVATION, ROOT, MEAN, PLUMBING, QUIET = range(7, 16)
ATTENTION_LAYERS = 4  # dense layers of one attention: queries, keys, values, output
MAX_NORM_OPS = 40
ORIGIN_KINDS = {  # folds of ops that are of one kind, whatever the ops are
    **dict.fromkeys((GroupOrigin.NORM, GroupOrigin.L2_NORM), NORM),
    **dict.fromkeys((GroupOrigin.SCAN, GroupOrigin.GRU_CELL, GroupOrigin.LSTM_CELL), RECURRENT),
}
PLUMBING_ROLES = (
    Role.REARRANGE, Role.SIZE, Role.PASS, Role.PASS_EACH, Role.UNIT_AXES, Role.CAST, Role.GROUP, Role.ALIAS,
    Role.RANGE, Role.FILL, Role.INPUT, Role.RESULT, Role.CONSTANT, Role.READ, Role.VARIABLE, Role.HANDLE,
    Role.ASSIGN, Role.LIST, Role.CHECK, Role.SUMMARY, Role.SAVE, Role.RESTORE,
)  # fmt: skip
OP_KINDS = {  # op types without their framework, in lower case and without underscores, where roles do not say it
    "scaleddotproductattention": ATTENTION,
    **dict.fromkeys(("linear", "addmm"), DENSE),
    **dict.fromkeys(("embedding", "embeddingbag"), EMBEDDING),
    **dict.fromkeys(("cudnnrnn", "cudnnrnnv2", "cudnnrnnv3", "lstm", "gru", "rnntanh"), RECURRENT),
    **dict.fromkeys(("batchnorm", "layernorm", "groupnorm", "rmsnorm", "rsqrt"), NORM),
    "softmax": SOFTMAX,
    **dict.fromkeys(("sigmoid", "logistic"), SIGMOID),
    "tanh": TANH,
    **dict.fromkeys(
        ("relu", "relu6", "leakyrelu", "elu", "selu", "erf", "erfc", "softplus", "gelu", "silu"), ACTIVATION
    ),
    "activation": ACTIVATION,
    **dict.fromkeys(("matmul", "bmm", "baddbmm"), PRODUCT),
    "sqrt": ROOT,
    **dict.fromkeys(("mean", "reducemean"), MEAN),
}
DIVIDING_TYPES = ("realdiv", "div", "reciprocal")
LAYER_KINDS = {  # Keras classes
    LayerRole.RECURRENT: RECURRENT,
    LayerRole.ATTENTION: ATTENTION,
    LayerRole.DENSE: DENSE,
    LayerRole.EMBEDDING: EMBEDDING,
    LayerRole.NORMALIZATION: NORM,
}
LAYER_CONVOLUTIONS = ("Conv", "DepthwiseConv", "SeparableConv")


def _type_kind(op: str) -> int:
    """Return the kind that ops of a type contribute to their group; a product with a weight is a dense layer
    instead."""
    if (kind := OP_KINDS.get(plain_op_name(op))) is not None:
        return kind
    for role, layer_kind in LAYER_KINDS.items():
        if has_layer_role(op, role):
            return layer_kind
    if op in CONVOLUTION_OPS or op in DEPTHWISE_OPS or has_role(op, Role.TRANSPOSED_CONVOLUTION):
        return CONVOLUTION
    if op.startswith((*LAYER_CONVOLUTIONS, "aten::conv", "aten::_conv")):
        return CONVOLUTION
    if op in BATCH_PRODUCT_OPS or op in MATRIX_PRODUCT_OPS:
        return PRODUCT
    if op in EMBEDDING_OPS:
        return EMBEDDING
    if has_role(op, Role.NORMALIZATION):
        return NORM
    return PLUMBING if has_role(op, *PLUMBING_ROLES) else OTHER


def _node_kinds(hierarchy: Hierarchy) -> Bytes:
    """Return the kind that each node contributes to its group."""
    graph = hierarchy.graph
    by_type = np.array([_type_kind(op) for op in graph.op_types], np.uint8)
    kinds: Bytes = by_type[graph.op]
    # A norm divides by its root, but a logged standard deviation does not.
    divides = np.array([plain_op_name(op) in DIVIDING_TYPES for op in graph.op_types], bool)
    divisor = np.zeros(len(graph), bool)
    divisor[graph.source[divides[graph.op[graph.target]] & ~graph.control]] = True
    kinds[(kinds == ROOT) & ~divisor] = OTHER
    if len(graph.meaning.origin):
        fed = graph.target[(graph.meaning.origin[graph.source] >= 0) & ~graph.control]
        weighted = np.zeros(len(graph), bool)
        weighted[fed] = True
        kinds[(kinds == PRODUCT) & weighted] = DENSE
        selecting = np.array([plain_op_name(op) == "onehot" for op in graph.op_types], bool)
        selected = np.zeros(len(graph), bool)
        selected[graph.target[selecting[graph.op[graph.source]] & ~graph.control]] = True
        kinds[(kinds == DENSE) & selected] = EMBEDDING  # a product with a one-hot vector is a lookup
        # A lookup that reads no weight only selects elements.
        if not graph.lacks_weight_shapes and not graph.layers:
            kinds[(kinds == EMBEDDING) & ~weighted] = PLUMBING
        kinds[(kinds == EMBEDDING) & _is_added_to_scores(graph, kinds)] = PLUMBING  # a position bias
        kinds[~np.isin(graph.meaning.part(), COMPUTING_PARTS)] = QUIET
    return kinds


def _is_added_to_scores(graph: Graph, kinds: Bytes) -> Bools:
    """Mark the nodes that reach a softmax only through sums, slices and rearrangements, as tables of position biases
    do."""
    weighs: Bools = (kinds == SOFTMAX) | (kinds == ATTENTION)
    if not weighs.any() or not (kinds == EMBEDDING).any():  # only saves time
        return weighs
    adds = graph.nodes_of_types(lambda op: op in ADD_OPS or op in INDEX_OPS) | (kinds == PLUMBING)
    passed = ~graph.control & (adds | weighs)[graph.target] & (adds | (kinds == EMBEDDING))[graph.source]
    return reachable_mask(weighs, graph.target[passed], graph.source[passed])


def op_kinds(hierarchy: Hierarchy) -> Bytes:
    """Return the kind that each ordinary op contributes to its group, in the order of the rows. A call contributes the
    kind of its function, if that is one layer."""
    kinds: Bytes = _node_kinds(hierarchy)[hierarchy.node[hierarchy.is_ordinary_op]]
    for row in np.flatnonzero(np.isin(hierarchy.how, [*ORIGIN_KINDS])).tolist():
        ops = slice(hierarchy.op_prefix_sum[row], hierarchy.op_prefix_sum[hierarchy.end[row]])
        kinds[ops][kinds[ops] != QUIET] = ORIGIN_KINDS[GroupOrigin(int(hierarchy.how[row]))]
    for call in _calls_inner_first(hierarchy):
        place = hierarchy.op_prefix_sum[call]
        if kinds[place] != QUIET:
            inside = group_kinds(hierarchy, kinds, (body for _, body in hierarchy.calls[call]))
            kinds[place] = next((kind for kind in inside if 0 <= kind < OTHER), kinds[place])
    return kinds


def _calls_inner_first(hierarchy: Hierarchy) -> Iterator[int]:
    """Yield the calls; calls in the body of a function come before calls of that function."""
    bodies = [0, *sorted(hierarchy.function_rows)]
    calls: list[list[int]] = [[] for _ in bodies]
    for call in sorted(hierarchy.calls):
        calls[bisect_right(bodies, call) - 1].append(call)
    number = {body: index for index, body in enumerate(bodies)}
    called = [[number[body] for call in inside for _, body in hierarchy.calls[call]] for inside in calls]
    for index in reversed(topological_order_with_cycles(called)):
        yield from calls[index]


def has_one_layer(hierarchy: Hierarchy, of_op: Bytes, rows: Longs) -> Bools:
    """Return whether each group is one layer: a single layer besides norms, or only norms, or only embedding tables,
    such as for tokens and positions. `of_op` is the result of `op_kinds`."""
    start, stop = hierarchy.op_prefix_sum[rows], hierarchy.op_prefix_sum[hierarchy.end[rows]]
    layers, norms = prefix_sums((of_op < OTHER) & (of_op != NORM)), prefix_sums(of_op == NORM)
    tables = prefix_sums(of_op == EMBEDDING)
    inside = layers[stop] - layers[start]
    one: Bools = (inside == 1) | ((inside == 0) & (norms[stop] > norms[start]))
    one |= (inside > 0) & (tables[stop] - tables[start] == inside)
    return one


def group_kinds(hierarchy: Hierarchy, of_op: Bytes, rows: Iterable[int]) -> list[int]:
    """Return the kind of each group, `NEUTRAL` if it only rearranges data or mixes kinds; `of_op` is the result of
    `op_kinds`."""
    before = hierarchy.op_prefix_sum
    return [
        _kind_of_counts(np.bincount(of_op[before[row] : before[hierarchy.end[row]]], minlength=QUIET + 1).tolist())
        for row in rows
    ]


def _kind_of_counts(counts: Sequence[int]) -> int:
    """Return the kind of a group from the number of its ops of each kind.

    >>> one = [0] * 16
    >>> one[CONVOLUTION], one[NORM], one[OTHER] = 2, 2, 3
    >>> KIND_WORDS[_kind_of_counts(one)]
    'convolution'
    >>> block = [0] * 16
    >>> block[PRODUCT], block[SOFTMAX], block[DENSE] = 2, 1, 6
    >>> _kind_of_counts(block) == NEUTRAL
    True
    >>> loss = [0] * 16
    >>> loss[EMBEDDING], loss[PRODUCT] = 2, 3
    >>> _kind_of_counts(loss) == NEUTRAL
    True
    """
    convolutions, dense, embeddings = counts[CONVOLUTION], counts[DENSE], counts[EMBEDDING]
    heads = counts[ATTENTION] + min(counts[PRODUCT] // 2, counts[SOFTMAX])
    if heads:
        activations = counts[SIGMOID] + counts[TANH] + counts[ACTIVATION]  # of a feed-forward block behind it
        has_others = convolutions or embeddings or counts[RECURRENT] or activations
        return NEUTRAL if has_others or dense > ATTENTION_LAYERS * heads else ATTENTION
    if dense and _has_gates(counts):
        return NEUTRAL if convolutions or embeddings else RECURRENT
    if counts[RECURRENT]:
        return NEUTRAL if convolutions or embeddings or dense else RECURRENT
    if embeddings:
        # A product compares the rows that were looked up.
        return NEUTRAL if convolutions or dense or counts[PRODUCT] else EMBEDDING
    if convolutions:  # dense layers may weight its channels, or be 1×1 convolutions
        return CONVOLUTION
    if dense:
        return DENSE
    computing = sum(counts) - counts[PLUMBING] - counts[QUIET]
    if (counts[NORM] or (counts[ROOT] and counts[MEAN])) and computing <= MAX_NORM_OPS:
        return NORM
    return OTHER if computing else NEUTRAL


def _has_gates(counts: Sequence[int]) -> bool:
    """Return whether sigmoids and tanhs are in the proportion of LSTM cells (three to two) or GRU cells (two to
    one)."""
    sigmoid, tanh = counts[SIGMOID], counts[TANH]
    return bool(tanh) and (2 * sigmoid == 3 * tanh or sigmoid == 2 * tanh)
