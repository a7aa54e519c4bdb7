"""Find the layer of each node: the outermost name scope around it that does not consist of layers.

model/conv1/convolution ─▶ model/conv1     model/block/att/query/einsum ─▶ model/block/att/query
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from graphviz_tb.annotate import operation_costs, weight_costs
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import COUNTER_AT_END
from graphviz_tb.graphs.traversal import needed_only_by, node_depths, reachable_mask
from graphviz_tb.interpret.layer_classes import infer_layer_class
from graphviz_tb.limits import MAX_COSTED_NODES, MAX_STEPS_TO_USER
from graphviz_tb.model.columns import Bools, Ints, distinct_values, exists
from graphviz_tb.model.costs import NO_COST, Cost
from graphviz_tb.model.interpretation import VariableUse
from graphviz_tb.model.layers import enclosing_module_class, is_module
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CAST_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    GROUP_OPS,
    IDENTITY_OPS,
    INPUT_OPS,
    PASS_EACH_OPS,
    REARRANGE_OPS,
    SIZE_OPS,
    UNIT_AXES_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
)
from graphviz_tb.ops.table import equal_op

# Scopes that TensorFlow and Keras open inside a layer.
INNER_SCOPE = re.compile(
    r"(?:Tensordot|einsum|Gelu|Silu|LeakyRelu|Elu|Relu6?|Softmax|HardSigmoid|BiasAdd|MatMul|convolution|moments|batchnorm"
    r"|dropout|stateless_dropout|Cast|Reshape|Tile|while|cond|Activation|Func)(?:_\d+)*$"
)
# The main op of a layer. A scope with two children that contain main ops consists of layers.
MAIN_OPS = re.compile(
    r"^(?:Quantized)?(?:Depthwise)?(?:Conv|MatMul|BatchMatMul|SparseMatMul|Gemm|Einsum|FusedBatchNorm|Relu|Elu|Selu|Gelu|Tanh"
    r"|Sigmoid|Softplus|Softsign|Softmax|LogSoftmax|LeakyRelu|Erf|MaxPool|AvgPool|ResourceGather|LSTM|GRU|CudnnRNN"
    r"|While|StatelessWhile|Rsqrt|Dropout|SelectV2|(?:Batch|Instance|Group|Layer|RMS)Normalization)"
)
# Ops that provide or forward a value.
VALUE_PLUMBING = CONSTANT_OPS | INPUT_OPS | VARIABLE_OPS | VARIABLE_READ_OPS | IDENTITY_OPS | CAST_OPS
SHAPE_PLUMBING = VALUE_PLUMBING | UNIT_AXES_OPS | REARRANGE_OPS
# Ops that only provide, forward or reshape values: they name an edit only if it has no other ops.
QUIET_OPS = VALUE_PLUMBING | PASS_EACH_OPS | UNIT_AXES_OPS | SIZE_OPS | GROUP_OPS
ATTENTION_CLASS = "MultiHeadAttention"
PROJECTION_NAMES = frozenset({"query", "key", "value"})  # layers inside a MultiHeadAttention of Keras
DENSE_CONVOLUTIONS = CONVOLUTION_OPS - DEPTHWISE_OPS


class Layers:
    """The layers of one side. A layer is the row of its scope, or `-1 - node` for a single op that has no scope."""

    def __init__(self, side: GraphColumns) -> None:
        self.side = side
        self.kernels: dict[tuple[int, int], tuple[int, ...]] = {}  # a cache of input channels, by op and steps
        self._using: dict[int, int | None] = {}
        self._layer: dict[int, int] = {}
        self._classes: dict[int, str] = {}

    @cached_property
    def forward(self) -> Bools:
        """Return which nodes are the model itself, not derived from it."""
        return self.side.graph.meaning.model()

    @cached_property
    def variables(self) -> dict[int, VariableUse]:
        """Return the uses of the nodes that are variables or frozen variables, by node."""
        return {variable.node: variable.use for variable in self.side.graph.meaning.variables()}

    @cached_property
    def written_variables(self) -> Ints:
        """Return the variable that each node writes; -1 for other nodes."""
        graph = self.side.graph
        first = np.full(len(graph), -1, np.int32)
        edges = np.flatnonzero((graph.slot == 0) & ~graph.control & graph.meaning.writes[graph.target])
        origin = graph.meaning.origin[graph.source[edges]]
        first[graph.target[edges]] = np.where(origin >= 0, origin, graph.source[edges])
        return first

    @cached_property
    def stores_results(self) -> Bools:
        """Return which nodes write results of the model to variables, or lead from the model to such writes."""
        graph = self.side.graph
        writes = graph.meaning.writes
        values = ~graph.control & ~((graph.slot == 0) & writes[graph.target])
        plumbing = graph.nodes_of_types(VALUE_PLUMBING.__contains__)
        found = reachable_mask(self.forward & ~plumbing, graph.source[values], graph.target[values])
        return found & ~self.forward & reachable_mask(writes & found, graph.target[values], graph.source[values])

    @cached_property
    def depth(self) -> list[float]:
        """Return the depth of each op, between 0 and 1: the length of the longest path from the inputs to it."""
        steps = node_depths(self.side.graph)
        most = max(steps, default=0) or 1
        return [step / most for step in steps]

    @cached_property
    def node_costs(self) -> list[Cost] | None:
        """Return the cost of each node of the main graph, as `info` counts it; None if the graph is too large."""
        graph = self.side.graph
        if len(graph) > MAX_COSTED_NODES:
            return None
        counted = (graph.kept & ~exists(graph.function)).tolist()
        costs = zip(operation_costs(self.side.tensors), counted, strict=True)
        return [cost if is_counted else NO_COST for cost, is_counted in costs]

    @cached_property
    def weight_costs(self) -> dict[int, Cost]:
        """Return the costs of the weights of the main graph, as `info` counts them."""
        graph = self.side.graph
        counted = graph.kept & ~exists(graph.function)
        return {node: cost for node, cost in weight_costs(self.side.tensors).items() if counted[node]}

    @cached_property
    def for_gradients(self) -> Bools:
        """Return which ops of the model outside of layers have only gradients as users."""
        side = self.side
        graph = side.graph
        # An op is one if all its users are. Main ops, and ops in a layer except constants, are none.
        alone = (~exists(self.of_row[side.scopes.of_node]) | side.constants()) & ~graph.nodes_of_types(_is_main_op)
        alone &= self.forward
        data = alone[graph.source] & ~graph.control
        sources, first = graph.source[data].tolist(), np.searchsorted(graph.target[data], np.arange(len(side) + 1))
        start, left = first.tolist(), np.bincount(graph.source[data], minlength=len(side)).tolist()
        users = np.flatnonzero(~self.forward).tolist()
        helping = np.zeros(len(side), bool)
        helping[needed_only_by(users, lambda node: sources[start[node] : start[node + 1]], left)] = True
        return helping

    @cached_property
    def of_row(self) -> Ints:
        """Return for each scope the layer that it is, or is in; -1 for a scope that consists of layers."""
        side, scopes = self.side, self.side.scopes
        holds = scopes.counts_below(side.graph.nodes_of_types(_is_main_op)) > 0
        parent = scopes.parent
        is_inner = np.fromiter((bool(INNER_SCOPE.match(leaf)) for leaf in scopes.leaf), bool, len(scopes))
        # A scope with two children that contain main ops is a block; with one such child, it may be a layer.
        children = np.bincount(parent[holds & ~is_inner & exists(parent)], minlength=len(scopes))
        is_block = children >= 2
        if side.has_module_scopes:
            is_block = _holds_modules(side)
        elif side.graph.layers:  # every node of a conceptual graph is a layer
            is_block[:] = True
        # An attention is one layer, whatever its children.
        is_block[_attention_rows(side)] = False
        for row in range(len(scopes) - 1, -1, -1):  # scopes around a block consist of layers too
            if is_block[row] and exists(parent[row]):
                is_block[parent[row]] = True
        layer_of = np.full(len(scopes), -1, np.int32)
        for row in range(len(scopes)):
            around = int(parent[row])
            if exists(around) and not is_block[row]:
                # Parents come first in preorder: the outermost such scope is the layer of all below it.
                layer_of[row] = layer_of[around] if exists(layer_of[around]) else row
        return layer_of

    @cached_property
    def rows(self) -> dict[str, list[int]]:
        """Return the scopes of each name, which functions and the main graph may have in common."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.side.scopes.name):
            rows.setdefault(name, []).append(row)
        return rows

    @cached_property
    def holds_convolution(self) -> Bools:
        """Return which functions contain exactly one convolution."""
        side = self.side
        blocks = side.block[side.graph.nodes_of_types(DENSE_CONVOLUTIONS.__contains__)]
        holds: Bools = np.bincount(blocks, minlength=len(side.graph.functions) + 1)[1:] == 1
        return holds

    def layer_of_node(self, node: int) -> int:
        """Return the layer of a node; a weight belongs to the layer of its user."""
        layer = self._layer.get(node)
        if layer is None:
            user = self.first_user(node)
            row = int(self.of_row[self.side.scopes.of_node[user]])
            layer = self._layer[node] = row if exists(row) else -1 - user
        return layer

    def first_user(self, node: int, through: frozenset[str] = VALUE_PLUMBING) -> int:
        """Return the first op behind a node that is not one of the types `through`; the node itself if it is not."""
        graph, current = self.side.graph, node
        for _ in range(MAX_STEPS_TO_USER):
            if graph.op_types[graph.op[current]] not in through:
                break
            using = self.using_op(current)
            if using is None:
                break
            current = using
        return current

    def using_op(self, node: int) -> int | None:
        """Return the user of a node that decides its layer; cached, as a node may have thousands of users."""
        if node not in self._using:
            graph, edges = self.side.graph, self.side.out_edges(node)
            users = graph.target[edges[~graph.control[edges]]]
            # Users in the model come before gradients and updates.
            forward = users[self.forward[users]]
            ends = (forward if len(forward) else users).tolist()
            # The user in the deepest scope, then the first by name: independent of the order of the file.
            depth, scope = self.side.scopes.depth, self.side.scopes.of_node
            if len(ends) > 1:
                ends = [min(ends, key=lambda end: (-depth[scope[end]], graph.name[end]))]
            self._using[node] = ends[0] if ends else None
        return self._using[node]

    def name_around(self, node: int) -> str:
        """Return the name of the layer of a node."""
        return self.name(self.layer_of_node(node))

    def name(self, layer: int) -> str:
        return self.side.scopes.name[layer] if exists(layer) else self.side.graph.name[-1 - layer]

    def class_of(self, layer: int) -> str:
        """Return the class of a layer: from its configuration or module, else inferred from its ops; for a single op
        its type."""
        if layer not in self._classes:
            self._classes[layer] = self._infer_class(layer)
        return self._classes[layer]

    def _infer_class(self, layer: int) -> str:
        side, name = self.side, self.name(layer)
        if side.has_module_scopes and (module := enclosing_module_class(name)):
            return module
        if name in side.graph.layers:
            return side.graph.layers[name].class_name
        if not exists(layer):
            return str(side.op_type(-1 - layer))
        if layer in self._attentions:
            return ATTENTION_CLASS
        nodes = side.scopes.nodes(layer)
        # Without initialisers of weights, but with updates of statistics.
        works = self.forward[nodes] | self.stores_results[nodes]
        return infer_layer_class(side.graph, (nodes[works] if works.any() else nodes).tolist())

    @cached_property
    def _attentions(self) -> frozenset[int]:
        return frozenset(_attention_rows(self.side))

    def names_and_classes(self, layers: Iterable[int]) -> list[dict[str, str]]:
        pairs = {(self.name(layer), self.class_of(layer)) for layer in layers}
        return [{"name": name, "class": kind} for name, kind in sorted(pairs)]


def _is_main_op(op: str) -> bool:
    """Return whether an op is a main op of a layer; ops of other frameworks count as their TensorFlow equivalents."""
    return MAIN_OPS.match(equal_op(op).rpartition("::")[2]) is not None


def _holds_modules(side: GraphColumns) -> Bools:
    """Return which scopes of a PyTorch trace are no layers: those that contain modules, and those that are no
    modules."""
    scopes = side.scopes
    module = np.fromiter((is_module(last_segment(name)) for name in scopes.name), bool, len(scopes))
    holds = ~module
    holds[scopes.parent[module & exists(scopes.parent)]] = True
    nodes = np.fromiter((is_module(last_segment(name)) for name in side.graph.name), bool, len(side))
    holds[scopes.of_node[nodes]] = True
    return holds


def _attention_rows(side: GraphColumns) -> list[int]:
    """Return the scopes of multi-head attentions, which are one layer in a program and contain several in Keras."""
    graph, scopes = side.graph, side.scopes
    rows = distinct_values(scopes.of_node[graph.nodes_of_types(BATCH_PRODUCT_OPS.__contains__)])
    # The product of queries and keys may be in a scope inside the attention.
    around = distinct_values(np.concatenate((rows, scopes.parent[rows])))
    return [
        row
        for row in around[exists(around)].tolist()
        if {COUNTER_AT_END.sub("", scopes.leaf[child]) for child in scopes.children(row)} >= PROJECTION_NAMES
    ]
