"""Unrolled recurrences: scans, which have no weights, and the cells of LSTMs and GRUs.

    x ─┬─▶ x[0] ─▶ · ─▶ + ─────┬─▶ y[0] ─┐
       ├─▶ x[1] ─────▶ · ─▶ + ─│┬▶ y[1] ─┼─▶ Stack ─▶
       └─▶ x[2] ─────────▶ · ─▶ + ▶ y[2] ─┘

A scan is the boxes without layers that only its joined results need: its only end is the join, so it is convex. The
path to each result is longer than that to the one before, and each step uses another slice of a tensor.

A cell is the boxes computed from its layers, input and state alone. Each of its outputs depends on all of its inputs,
so it is convex.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import pairwise

from graphviz_tb.fold.flow.box import Dag, FlowBox
from graphviz_tb.fold.flow.idioms import (
    JOIN_TYPES,
    PASSING_OPS,
    SIGMOID_TYPES,
    SPLIT_TYPES,
    SUM_TYPES,
    fold_matches,
    is_plain_product,
)
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.graphs.traversal import needed_only_by, reachable_from
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.ops.roles import BIAS_OPS, EMBEDDING_LOOKUP_OPS, MULTIPLY_OPS, is_elementwise
from graphviz_tb.ops.table import plain_op_name

CELL_GATES = {GroupOrigin.GRU_CELL: (2, 1), GroupOrigin.LSTM_CELL: (3, 2)}  # sigmoids and tanhs
MAX_CELL_LAYERS, MAX_CELL_BOXES = 8, 64
MAX_CELL_LAYER_OPS = 4  # of a scope: product, bias and transposes
MIN_SCAN_STEPS = 3  # two steps are shown
LIST_TYPES = frozenset(("listconstruct",))  # in traces: the list that the next op joins
SCAN_END_TYPES = JOIN_TYPES | LIST_TYPES
FILL_TYPES = frozenset(("zeros", "zeroslike", "newzeros", "full", "fulllike", "fill", "constantofshape"))
STEP_TYPES = SUM_TYPES | FILL_TYPES
EXTREME_OPS = frozenset(("onnx::Max", "onnx::Min"))  # of two tensors; in other frameworks, reductions have these names


def fold_recurrences(dag: Dag, context: FoldContext) -> Dag:
    """Fold each scan and each cell of a level to one box."""
    kinds = {plain_op_name(op) for op in {box.op for box in dag.boxes}}
    if kinds & SCAN_END_TYPES:
        dag = fold_matches(dag, context, _scans, GroupOrigin.SCAN)
    for how in CELL_GATES if kinds & SIGMOID_TYPES else ():
        dag = fold_matches(dag, context, partial(_cells, how=how), how)
    return dag


# Scans.


def _scans(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield the boxes of each scan."""
    ends = [
        end for end, results in enumerate(dag.before) if len(results) >= MIN_SCAN_STEPS and _is_join(dag.boxes[end])
    ]
    parts = _count_slices(dag, range(len(dag))) if ends else 0
    for end in ends:
        results = dag.before[end]
        if len(results) > parts:
            continue
        inside = _needed_by(dag, end, lambda box: _may_be_in_step(box, context))
        if _count_slices(dag, inside) >= len(results) and _has_growing_depths(dag, inside, results):
            inside = _without_activations(dag, inside)
            yield [*_selecting_layers(dag, inside, end, context), *inside, end, *_join_of_list(dag, end)]


def _is_join(box: FlowBox) -> bool:
    return plain_op_name(box.op) in SCAN_END_TYPES


def _needed_by(dag: Dag, end: int, is_part: Callable[[FlowBox], bool]) -> list[int]:
    """Return the boxes (`is_part`) that only `end` needs, along the flow, and last states that nothing uses."""
    behind = reachable_from([end], dag.after.__getitem__)
    unused = [box for box, users in enumerate(dag.after) if not users and box not in behind and is_part(dag.boxes[box])]
    users = _LazyCounts(lambda box: len(dag.after[box]) if is_part(dag.boxes[box]) else -1)
    needed = needed_only_by([end, *unused], dag.before.__getitem__, users)[::-1]
    inside = {*needed}
    sources = [[source for source in before if source in inside] for before in dag.before]
    found = reachable_from([end], sources.__getitem__)
    needs = {box: reachable_from([box], sources.__getitem__) for box in unused}
    states = [box for box in unused if found & needs[box]]
    found = found.union(*(needs[box] for box in states))
    return [box for box in [*needed, *states] if box in found]


class _LazyCounts(dict[int, int]):
    """Counts that are computed on first access."""

    def __init__(self, count: Callable[[int], int]) -> None:
        super().__init__()
        self.count = count

    def __missing__(self, key: int) -> int:
        return self.count(key)


def _selecting_layers(dag: Dag, scan: Sequence[int], end: int, context: FoldContext) -> list[int]:
    """Return the layers that only a scan needs, with the boxes between, if all their inputs are inputs of the scan.

    They select what each step of Mamba (Gu & Dao 2023) remembers.
    """

    def is_part(box: FlowBox) -> bool:
        return _may_be_in_step(box, context) or (box.ops <= MAX_CELL_LAYER_OPS and context.types.maps_channels(box))

    inside = {*scan, end}
    found = [box for box in _needed_by(dag, end, is_part) if box not in inside]
    taken, given = ({source for box in each for source in dag.before[box]} - inside for each in (found, scan))
    given -= {*found}
    return found if taken - {*found} <= given else []


def _may_be_in_step(box: FlowBox, context: FoldContext) -> bool:
    """Return whether a box may be part of a step: elementwise ops, products, sums, slices and initial zeros."""
    if box.how == GroupOrigin.INDEX or (box.op and context.widths.is_computed_from_weights(box)):
        return True
    if not box.op or (box.op in EMBEDDING_LOOKUP_OPS and context.widths.parameter_count(box)):
        return False
    plain = is_elementwise(box.op) or box.op in BIAS_OPS or box.op in PASSING_OPS or _takes_slice(box)
    return plain or plain_op_name(box.op) in STEP_TYPES or box.op in EXTREME_OPS or is_plain_product(box, context)


def _takes_slice(box: FlowBox) -> bool:
    return box.op in EMBEDDING_LOOKUP_OPS or plain_op_name(box.op) in SPLIT_TYPES


def _count_slices(dag: Dag, inside: Iterable[int]) -> int:
    """Count the uses of slices of tensors."""
    return sum(len(dag.after[box]) for box in inside if _takes_slice(dag.boxes[box]))


def _has_growing_depths(dag: Dag, inside: list[int], results: list[int]) -> bool:
    """Return whether the path to each result is longer than the one before; `inside` is in order of the flow."""
    depth: dict[int, int] = {}
    for box in inside:
        depth[box] = 1 + max((depth.get(source, 0) for source in dag.before[box]), default=0)
    steps = sorted(depth.get(result, 0) for result in results)
    return all(one < other for one, other in pairwise(steps))


def _without_activations(dag: Dag, inside: list[int]) -> list[int]:
    """Return the boxes of a scan without activations of its inputs, which belong to the layers before it."""
    kept: dict[int, None] = {}
    for box in inside:
        if len(dag.before[box]) != 1 or dag.before[box][0] in kept or not is_elementwise(dag.boxes[box].op):
            kept[box] = None
    return [*kept]


def _join_of_list(dag: Dag, end: int) -> list[int]:
    """Return the join that is the only user of a list; empty if `end` is no list, or has none."""
    users = dag.after[end] if plain_op_name(dag.boxes[end].op) in LIST_TYPES else []
    joins = len(users) == 1 and plain_op_name(dag.boxes[users[0]].op) in JOIN_TYPES
    return users if joins else []


# Cells.


def _cells(dag: Dag, context: FoldContext, how: GroupOrigin) -> Iterator[list[int]]:
    """Yield the boxes of each cell of a kind, with its layers unless others use these."""
    gates: dict[frozenset[int], set[int]] = defaultdict(set)  # by the inputs of their layers
    layers: dict[frozenset[int], set[int]] = defaultdict(set)
    for gate, box in enumerate(dag.boxes):
        if _is_gate(box) and (found := _layers_before(dag, gate, context)):
            given = frozenset(source for layer in found for source in dag.before[layer])
            gates[given].add(gate)
            layers[given] |= found
    for given, found in layers.items():
        if len(gates[given]) == CELL_GATES[how][0] and len(found) <= MAX_CELL_LAYERS:
            # Layers that others use too, such as one for the inputs of all steps, are inputs of the cell.
            inside = _computed_from(dag, found, given, context)
            own = {layer for layer in found if inside.issuperset(dag.after[layer])}
            taken = {source for layer in own for source in dag.before[layer]} | (found - own)
            inside = inside if own == found else _computed_from(dag, own, taken, context)
            while ends := [
                box for box in inside if dag.boxes[box].op in PASSING_OPS and inside.isdisjoint(dag.after[box])
            ]:
                inside.difference_update(ends)
            # Input and state may be concatenated for one product.
            joins = {box for box in given if plain_op_name(dag.boxes[box].op) in JOIN_TYPES}
            joins = {box for box in joins if own.issuperset(dag.after[box])}
            if _is_cell(dag, inside, gates[given], how):
                yield sorted(inside | joins)


def _layers_before(dag: Dag, gate: int, context: FoldContext) -> set[int]:
    """Return the layers whose sum, or a slice of it, is the input of a gate; empty if something else is added."""
    found: set[int] = set()
    seen, todo = {gate: None}, [gate]
    for box in todo:  # grows while it is walked through
        for source in dag.before[box]:
            before = dag.boxes[source]
            passes = before.op in BIAS_OPS or before.op in PASSING_OPS or _takes_slice(before)
            if before.ops <= MAX_CELL_LAYER_OPS and context.types.maps_channels(before):
                found.add(source)
            elif context.widths.is_computed_from_weights(before) or source in seen:
                continue
            elif passes and len(seen) < MAX_CELL_BOXES:
                seen[source] = None
                todo.append(source)
            else:
                return set()
    return found


def _computed_from(dag: Dag, layers: set[int], given: Set[int], context: FoldContext) -> set[int]:
    """Return layers and the boxes computed from them, from `given` boxes and from states multiplied by gates."""
    inside, todo = set(layers), sorted(user for box in layers | (given - layers) for user in dag.after[box])
    while todo and len(inside) <= MAX_CELL_BOXES:
        box = todo.pop()
        op = dag.boxes[box].op
        own = [source for source in dag.before[box] if source in inside]
        others = [source for source in dag.before[box] if source not in inside and source not in given]
        weights = all(context.widths.is_computed_from_weights(dag.boxes[source]) for source in others)
        lets_through = op in MULTIPLY_OPS and len(own) == 1 and _is_gate(dag.boxes[own[0]])
        if box in inside or not own or not (weights or (lets_through and len(others) == 1)):
            continue
        if is_elementwise(op) or op in BIAS_OPS or op in PASSING_OPS or plain_op_name(op) in SPLIT_TYPES:
            inside.add(box)
            todo += dag.after[box]
    return inside


def _is_gate(box: FlowBox) -> bool:
    return plain_op_name(box.op) in SIGMOID_TYPES


def _is_cell(dag: Dag, inside: set[int], gates: set[int], how: GroupOrigin) -> bool:
    """Return whether boxes are a cell: they have its gates, and each output depends on all inputs."""
    tanhs = sum(plain_op_name(dag.boxes[box].op) == "tanh" for box in inside)
    if {box for box in inside if _is_gate(dag.boxes[box])} != gates or (len(gates), tanhs) != CELL_GATES[how]:
        return False
    entering = {source for box in inside for source in dag.before[box]} - inside
    leaving = [box for box in inside if not inside.issuperset(dag.after[box]) or not dag.after[box]]
    return all(
        entering <= reachable_from([box], lambda each: dag.before[each] if each in inside else ()) for box in leaving
    )
