"""Sums of ops, parameters and floating point operations, of both graphs and of each change; and changes of the dtype of
a whole graph."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.places import edits_of_changes, without_objects
from graphviz_tb.diff.changes.training import training_of
from graphviz_tb.diff.changes.training_parts import keeps_rate_in_variable
from graphviz_tb.diff.changes.units import nodes_of_unit
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import is_traced
from graphviz_tb.limits import MAX_CACHED_LAYER_NODES, MAX_QUANTITY
from graphviz_tb.model.change import CHANGE_QUANTITIES, SEVERITIES, Change, NodeEdits, ValuePair
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.columns import Bools, Bytes, Ints, Longs, distinct_values, exists
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.tensors import dtype_label
from graphviz_tb.ops.roles import CAST_OPS
from graphviz_tb.ops.table import equal_op, has_framework

QuantityColumn = Longs | None  # by node; None for an unknown quantity
LayerSums = tuple[Longs, Longs, Mapping[str, tuple[int, int]]]  # old and new nodes of some layers, and their sums


class NodeQuantities:
    """The costs of the nodes of both graphs, computed on demand."""

    def __init__(self, old: Layers, new: Layers, to_new: Ints, to_old: Ints) -> None:
        self.layers = old, new
        self.to_new, self.to_old = to_new, to_old
        self.inside: dict[tuple[frozenset[int], frozenset[int]], LayerSums] = {}
        self.kept = 0

    @cached_property
    def columns(self) -> Mapping[str, tuple[QuantityColumn, QuantityColumn]]:
        """Return each quantity as columns by node, of the old and of the new graph."""
        old, new = self.layers
        columns = zip(CHANGE_QUANTITIES, _node_counts(old), _node_counts(new), strict=True)
        return {word: (before, after) for word, before, after in columns}

    @cached_property
    def bounds_by_node(self) -> tuple[Mapping[str, Bytes], Mapping[str, Bytes]]:
        """Return the kind of bound by node for each known quantity with bounds, in the old and in the new graph."""
        old, new = (_bounds_by_node(layers, self.known_quantities) for layers in self.layers)
        return old, new

    def bounds(self, change: Change | None = None) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return the quantities that are bounds in the old and in the new graph, as indexes into `BOUND_WORDS`: of the
        whole graph, or in the layers that a change concerns."""
        nodes = (None, None) if change is None else self.nodes_of_change(change)
        before, after = (
            # Lower and upper bounds in one sum are a kind of their own: neither.
            {
                word: kind
                for word, column in side.items()
                if (kind := int(np.bitwise_or.reduce(column if ids is None else column[ids], initial=0)))
            }
            for side, ids in zip(self.bounds_by_node, nodes, strict=True)
        )
        return before, after

    @cached_property
    def graph_totals(self) -> dict[str, ValuePair]:
        """Return the sums over either graph."""
        return {word: (_total(pair[0]), _total(pair[1])) for word, pair in self.columns.items()}

    def quantities_of(self, change: Change, alone: bool) -> dict[str, ValuePair]:
        """Return the sums that differ, over the layers that a change concerns and over its consequences.

        From a change that is `alone` every difference follows, such as other costs of ops behind it.
        """
        if alone:
            return self.differing_sums(*self.nodes_of_change(change))
        (old_inside, new_inside, sums), (old, new) = self.in_layers(change), self.edited_nodes(change)
        outside = self.sums(_ids_outside(old, old_inside), _ids_outside(new, new_inside))
        pairs = {
            word: (min(MAX_QUANTITY, before + outside[word][0]), min(MAX_QUANTITY, after + outside[word][1]))
            for word, (before, after) in sums.items()
        }
        # Sums of other changes in these layers do not count here.
        pairs = {"ops": pairs["ops"]} if SIZELESS_KEYS.search(change.key) else pairs
        return {word: pair for word, pair in pairs.items() if pair[0] != pair[1]}

    def differing_sums(self, old: Longs, new: Longs) -> dict[str, ValuePair]:
        """Return the sums over some nodes and over all nodes whose quantity differs, if the sums differ."""
        sums: dict[str, ValuePair] = {}
        for word, (before, after) in self.known_quantities.items():
            here, there = self.differing(before, after, old, new)
            pair = _bounded_sum(before[here]), _bounded_sum(after[there])
            if pair[0] != pair[1]:
                sums[word] = pair
        return sums

    @cached_property
    def known_quantities(self) -> dict[str, tuple[Longs, Longs]]:
        """Return the quantities that are known of both graphs."""
        return {
            word: (before, after)
            for word, (before, after) in self.columns.items()
            if before is not None and after is not None
        }

    def sums(self, old: Longs, new: Longs) -> dict[str, tuple[int, int]]:
        """Return the sums over some nodes of either graph."""
        return {
            word: (_bounded_sum(before[old]), _bounded_sum(after[new]))
            for word, (before, after) in self.known_quantities.items()
        }

    def nodes_of_change(self, change: Change) -> tuple[Longs, Longs]:
        """Return the ids of the edited nodes of a change, of the nodes of their layers, and of all their partners. No
        masks: there may be as many changes as nodes."""
        (old_inside, new_inside, _), (old, new) = self.in_layers(change), self.edited_nodes(change)
        return _unique_ids(old, old_inside), _unique_ids(new, new_inside)

    def edited_nodes(self, change: Change) -> tuple[Longs, Longs]:
        """Return the old and new nodes that a change and its consequences edit, with their partners."""
        edits = change.all_edits()
        old, new = ([*edits.nodes_of(new), *(pair[new] for pair in edits.inputs)] for new in (False, True))
        return self.with_partners(_unique_ids(old), _unique_ids(new))

    def in_layers(self, change: Change) -> LayerSums:
        """Return the nodes and sums of the layers of a change, without its consequences. Cached: thousands of changes
        may be in one layer."""
        edits = change.edits
        rows = _layer_scopes(self.layers[0], edits.nodes_of(False)), _layer_scopes(self.layers[1], edits.nodes_of(True))
        if rows not in self.inside:
            nodes = [
                _unique_ids(*map(layers.side.scopes.nodes, of_side))
                for layers, of_side in zip(self.layers, rows, strict=True)
            ]
            old, new = self.with_partners(*nodes)
            self.kept += len(old) + len(new)
            # A large layer may be combined with another one in each change: the cache is limited.
            if self.kept > MAX_CACHED_LAYER_NODES:
                self.inside.clear()
                self.kept = len(old) + len(new)
            self.inside[rows] = old, new, self.sums(old, new)
        return self.inside[rows]

    def with_partners(self, old: Longs, new: Longs) -> tuple[Longs, Longs]:
        """Add the partners of nodes."""
        mine, other = self.to_old[new], self.to_new[old]
        return _unique_ids(old, mine[exists(mine)]), _unique_ids(new, other[exists(other)])

    def differing(self, before: Longs, after: Longs, old: Longs, new: Longs) -> tuple[Longs, Longs]:
        """Add all nodes for which a quantity differs, or which have no partner."""
        matched = np.flatnonzero(exists(self.to_new))
        differ = matched[before[matched] != after[self.to_new[matched]]]
        removed, added = np.flatnonzero(~exists(self.to_new)), np.flatnonzero(~exists(self.to_old))
        return _unique_ids(old, differ, removed), _unique_ids(new, self.to_new[differ], added)


def _unique_ids(*parts: ArrayLike) -> Longs:
    return distinct_values(np.concatenate([np.zeros(0, np.int64), *(np.asarray(part, np.int64) for part in parts)]))


def _ids_outside(ids: Longs, others: Longs) -> Longs:
    """Return the ids that are not in `others`, both sorted. The time does not grow with the number of `others`."""
    if not len(others):
        return ids
    places = np.minimum(np.searchsorted(others, ids), len(others) - 1)
    left: Longs = ids[others[places] != ids]
    return left


def _total(column: QuantityColumn) -> int | None:
    """Return the sum of a column; None where it is not known."""
    return None if column is None else _bounded_sum(column)


def _bounded_sum(column: Longs) -> int:
    """Return the sum of non-negative numbers, at most `MAX_QUANTITY`, without integer overflow.

    >>> _bounded_sum(np.array([1, 2])), _bounded_sum(np.array([MAX_QUANTITY, 1])) == MAX_QUANTITY
    (3, True)
    """
    if len(column) and int(np.max(column)) > MAX_QUANTITY // len(column):
        return min(MAX_QUANTITY, sum(map(int, column)))
    return int(column.sum())


def _layer_scopes(layers: Layers, nodes: list[int]) -> frozenset[int]:
    """Return the scopes of the layers of nodes in the model."""
    return frozenset(row for node in nodes if layers.forward[node] and exists(row := layers.layer_of_node(node)))


def _node_counts(layers: Layers) -> tuple[QuantityColumn, QuantityColumn, QuantityColumn]:
    """Return ops, parameters and floating point operations by node, as `info` counts them; None if unknown. Only nodes
    of the main graph that a picture shows as ops count as ops."""
    graph, weights, costs = layers.side.graph, layers.weight_costs, layers.node_costs
    shown: Bools = graph.kept & (graph.mark == Mark.NONE) & ~exists(graph.function)
    counts = np.zeros(len(graph), np.int64)
    counts[list(weights)] = [cost.parameters for cost in weights.values()]
    unsized = any(cost.is_lower_bound("parameters") for cost in weights.values())
    # The traces of PyTorch have no shapes of weights.
    parameters = None if graph.lacks_weight_shapes or (unsized and not counts.any()) else counts
    flops = None if costs is None else np.fromiter((cost.flops for cost in costs), np.int64, len(graph))
    return shown.astype(np.int64), parameters, flops


def _bounds_by_node(layers: Layers, known: Container[str]) -> dict[str, Bytes]:
    """Return, for each quantity with bounds, the kind of bound of each node."""
    columns: dict[str, Bytes] = {}
    kinds: dict[int, list[tuple[str, int]]] = {}  # by `id`, which is faster than a hash: equal nodes share an object
    for node, cost in chain(enumerate(layers.node_costs or ()), layers.weight_costs.items()):
        if id(cost) not in kinds:
            bounded = dict.fromkeys((*cost.lower_bounds(), *cost.upper_bounds()))
            kinds[id(cost)] = [(word, cost.bound_index(word)) for word in bounded if word in known]
        for word, kind in kinds[id(cost)]:
            columns.setdefault(word, np.zeros(len(layers.side), np.uint8))[node] |= kind
    return columns


# Totals that differ although all matched nodes are equal.

TOTAL_WORDS = ("parameters", "flops", "ops")  # the first total that differs is reported


def total_changes(m: Matching, numbers: NodeQuantities) -> tuple[Change, ...]:
    """Return the change of the first total that differs, with its nodes; () if all totals are equal or unknown."""
    for word in TOTAL_WORDS:
        old, new = numbers.graph_totals[word]
        if old is None or new is None or old == new:
            continue
        before, after = numbers.known_quantities[word]
        mine, others = m.matched_pairs()
        differ = np.flatnonzero(before[mine] != after[others])
        known = np.minimum(before[mine], after[others])[differ] != 0
        # A quantity that one side does not know is no edit: only one file may declare the shape of a variable.
        if word == "parameters" and len(differ) and not known.any():
            continue
        # Operations count only if declared shapes differ; the order of inference may also change them.
        declared = m.a.labels.shapes[mine] != m.b.labels.shapes[others]
        if word == "flops" and not (known.all() and declared.any() and len(differ)):
            continue
        pairs = list(zip(mine[differ].tolist(), others[differ].tolist(), strict=True))
        places = sorted((m.a.graph.name[a], m.b.graph.name[b]) for a, b in pairs) or [("", "")]
        edits = NodeEdits(attributes=tuple((a, b, word) for a, b in pairs))
        content, also = Setting(word, old, new), tuple(places[1:])
        return (Change("changed", "attribute", *places[0], len(pairs), content, also, edits=edits),)
    return ()


# Properties that the file format of two models does not contain, so that edits of them are invisible.

# Settings that change neither the number of parameters nor that of operations.
SIZELESS_KEYS = re.compile(r"^(?:dtype|trainable)$|_(?:initializer|regularizer|constraint)(?:\.|$)")
INFERENCE_ONLY = ("dropout", "losses", "regularizers", "optimizer")
WHICH_TRAINED = "which layers are trained"
WEIGHT_SHAPES = "shapes of weights"  # missing in a PyTorch trace, and for variables of unknown shape
NUMBER_TYPES = "types of numbers"  # missing in a PyTorch trace
RATE = "learning rate"  # missing in a traced step that reads it from a variable
# Not compared if the updates of only one side are in a function that a branch calls.
UPDATES_IN_BRANCH = "clipping and settings of the optimizer, which is in a branch on one side"
COMPILE_SETTINGS = ("optimizer", "loss")  # of a Keras model, in the configuration of the outermost model


def invisible_properties(layers: tuple[Layers, Layers]) -> tuple[str, ...]:
    """Return the properties that neither file contains: for Keras models the compilation and the code of custom layers;
    for graphs with weights the training, and unknown shapes of weights."""
    graphs = [side.side.graph for side in layers]
    if all(graph.layers for graph in graphs):
        stored = {key for graph in graphs for layer in graph.layers.values() for key in layer.config}
        custom_classes = Counter(layer.class_name for layer in graphs[1].layers.values() if layer.custom)
        computed = (
            f"what {kind}{f' ×{count}' if count > 1 else ''} computes" for kind, count in sorted(custom_classes.items())
        )
        return (*(key for key in COMPILE_SETTINGS if key not in stored), *computed)
    if all(map(is_traced, graphs)):
        return (WEIGHT_SHAPES, NUMBER_TYPES)
    has_gradients = any(graph.meaning.flow().gradient.any() for graph in graphs)
    unstated = () if all(training_of(side).is_stated for side in layers) else (WHICH_TRAINED,)
    is_inference = all(graph.meaning.weights for graph in graphs) and not has_gradients
    inference = (*INFERENCE_ONLY, *unstated) if is_inference else ()
    rate = (RATE,) if has_gradients and all(map(keeps_rate_in_variable, layers)) else ()
    in_branch = [bool(training.updates and not training.trained) for training in map(training_of, layers)]
    branched = (UPDATES_IN_BRANCH,) if any(in_branch) and not all(in_branch) else ()
    unknown = any(weight.shape is None for graph in graphs for weight in graph.meaning.weights.values())
    return (*inference, *rate, *branched, *((WEIGHT_SHAPES,) if unknown else ()))


# Changes of the dtype of a whole graph: another float type with its casts, or integers with scales.

CAST_TYPES = ("SrcT", "DstT")
FLOAT_TYPES = frozenset({"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"})


def is_precision(change: Change) -> bool:
    """Return whether a change is from one float type to another. A missing type is float32, TensorFlow's default."""
    # The dtype in a Keras model may be any value.
    return change.key == "dtype" and all(isinstance(one, str) and one in FLOAT_TYPES for one in _type_pair(change))


def _type_pair(change: Change) -> tuple[str, str]:
    """Return the old and the new dtype of a change of dtype; ("", "") without a setting."""
    setting = change.setting
    return (setting.old or "float32", setting.new or "float32") if setting else ("", "")


def _adds_casts(m: Matching, change: Change) -> tuple[str, str]:
    """Return the two dtypes, sorted, between which a change only adds or removes casts; ("", "") for other changes."""
    if change.kind not in ("added", "removed") or change.function is not None:
        return "", ""
    side, nodes = nodes_of_unit(m, change)
    if not all(equal_op(side.op_type(node)) in CAST_OPS and side.data_sources(node) for node in nodes):
        return "", ""
    types = side.tensors.tensors_of_node
    pairs = set()
    for node in nodes:
        definition = side.graph.node_def(node)
        stated_types = [definition.attr[key].type for key in CAST_TYPES if definition and key in definition.attr]
        # Casts of other frameworks state no types; their tensors have them.
        if len(stated_types) < len(CAST_TYPES) and not has_framework(side.op_type(node)):
            return "", ""
        tensor_types = (types(side.data_sources(node)[0])("0").dtype, types(node)("0").dtype)
        pairs.add(frozenset(map(dtype_label, stated_types) if stated_types else tensor_types))
    one, *others = sorted(pairs.pop()) if len(pairs) == 1 else [""]
    return (one, others[0]) if others else ("", "")


def _number_type_change(changes: list[Change]) -> Change:
    """Return one change of the dtype with its casts, at the scope around all of its places."""
    types = [change for change in changes if is_precision(change)]
    if len(changes) == 1 and types:
        return types[0]
    severity = min((change.severity for change in changes), key=SEVERITIES.index)
    # Prefer changes that name both types, then the largest.
    typed = [
        (one.setting, one)
        for one in types or [one for change in changes for one in change.inside if is_precision(one)]
        if one.setting
    ]
    first, _ = max(typed, key=lambda pair: (None not in (pair[0].old, pair[0].new), pair[1].ops, pair[1].name))
    casts = sum(change.ops for change in changes if change.kind in ("added", "removed"))
    around = shared_scope([name for change in types for _, name in change.places if name])
    content = Setting("dtype", first.old, first.new, casts=casts)
    return Change("changed", severity if severity == "signature" else "attribute", around, around,
                  sum(change.ops for change in changes), content, edits=edits_of_changes(changes))  # fmt: skip


def dtype_changes(m: Matching, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return one change for each pair of dtypes with the casts between them, and the changes merged into these."""
    by_types: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in changes:
        # A function in which only one dtype differs belongs to that change.
        inside = [inner for inner in change.inside if inner.kind != "signature-changed"]
        pairs = {_type_pair(each) if is_precision(each) else None for each in inside or (change,)}
        if len(pairs) == 1 and (pair := pairs.pop()):
            by_types[pair].append(change)
    merged = [change for members in by_types.values() for change in members]
    for change in without_objects(changes, merged) if by_types else ():
        pair = _adds_casts(m, change)
        types = pair if pair in by_types else pair[::-1]
        if types in by_types:
            by_types[types].append(change)
            merged.append(change)
    return [_number_type_change(members) for members in by_types.values()], merged


def quantising_changes(m: Matching, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return one change for all quantised numbers, one for all that are no longer quantised, and the changes merged
    into these: scales, dtypes of the same weights, and casts."""
    made, merged = [], []
    for is_new in (True, False):
        scale_changes = [
            (str(setting.new if is_new else setting.old), change)
            for change in changes
            if change.key == "quantization"
            and (setting := change.setting)
            and (setting.old, setting.new)[not is_new] is None
        ]
        if len(scale_changes) < 2:
            continue
        nodes = {(old, other) for _, change in scale_changes for old, other, _ in change.edits.attributes}
        members = [
            change
            for change in changes
            if change.key == "dtype" and nodes.issuperset((old, other) for old, other, _ in change.edits.attributes)
        ]
        kind = "added" if is_new else "removed"
        casts = [change for change in changes if change.kind == kind and any(_adds_casts(m, change))]
        members += [*(change for _, change in scale_changes), *casts]
        scope = shared_scope([name for _, change in scale_changes for _, name in change.places if name])
        # The most frequent dtype: biases have a wider one.
        dtype = Counter(text.strip("[' ").partition(",")[0] for text, _ in scale_changes).most_common(1)[0][0]
        count = sum(change.ops for change in casts)
        content = Setting("quantization", None if is_new else dtype, dtype if is_new else None, casts=count)
        ops = sum(change.ops for change in members)
        made.append(Change("changed", "attribute", scope, scope, ops, content, edits=edits_of_changes(members)))
        merged += members
    return made, merged
