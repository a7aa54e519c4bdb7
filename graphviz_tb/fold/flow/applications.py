"""Networks applied to several tensors with the same weights: detector heads on a feature pyramid (Lin et al. 2017).

    p3 ─▶ conv w1 ─▶ conv w2 ─╮
    p4 ─▶ conv w1 ─▶ conv w2 ─┼▶ concat        one stack of three, side by side
    p5 ─▶ conv w1 ─▶ conv w2 ─╯

Layers with a shared kernel are joined along the flow, with the boxes between them. Pieces with equal kernels are
applications of one network. The steps of a recurrent network feed each other, so they are one piece.
"""

from __future__ import annotations

from collections.abc import Hashable

from graphviz_tb.fold.flow.box import Dag, contract_groups, find_cycles, make_stack, sub_dag
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.order import box_tokens
from graphviz_tb.fold.flow.regions import fold_branch
from graphviz_tb.graphs.traversal import topological_order, union_root

MIN_APPLICATIONS = 3  # two are shown separately
MIN_KERNELS = 2  # a single layer is not a network


def stack_applications(dag: Dag, context: FoldContext) -> Dag:
    """Stack the applications of each network sideways; return the level unchanged if that would close a cycle."""
    kernels = [context.widths.shared_kernels(box) for box in dag.boxes]
    if not any(kernels):
        return dag
    alike: dict[Hashable, list[list[int]]] = {}
    for members in _applied_pieces(dag, kernels, context):
        used = frozenset[int]().union(*(kernels[member] for member in members))
        if len(used) >= MIN_KERNELS:
            inside = sub_dag(dag, members)
            tokens = box_tokens(inside, context.order(inside), context.symbols)
            alike.setdefault((used, *tokens), []).append(members)
    groups = []
    for pieces in alike.values():
        if len(pieces) >= MIN_APPLICATIONS:
            boxes = [fold_branch(dag, members, context) for members in pieces]
            stack = make_stack(context.symbols, boxes, boxes[0].symbol, sideways=True)
            groups.append(([member for members in pieces for member in members], stack))
    stacked = contract_groups(dag, groups)
    return dag if find_cycles(stacked.after) else stacked


def _applied_pieces(dag: Dag, kernels: list[frozenset[int]], context: FoldContext) -> list[list[int]]:
    """Return the connected pieces of boxes with shared kernels, and of boxes without layers between them."""
    head = list(range(len(dag)))  # union-find
    kept: dict[int, None] = {}  # in the order of the flow
    for box in topological_order(dag.after):
        before = [source for source in dag.before[box] if source in kept]
        roots = {union_root(head, source) for source in before}
        alone = len(roots) == 1 and len(before) == len(dag.before[box]) and not (dag.outside and dag.outside[box])
        if kernels[box] or (alone and not context.types.maps_channels(dag.boxes[box])):
            kept[box] = None
            for root in roots:
                head[root] = box
    pieces: dict[int, list[int]] = {}
    leading: set[int] = set()  # boxes that lead to a shared kernel, or to an end
    for box in reversed(kept):
        if kernels[box] or not dag.after[box] or not leading.isdisjoint(dag.after[box]):
            leading.add(box)
            pieces.setdefault(union_root(head, box), []).append(box)
    return [_in_one_order(dag, members[::-1], context) for members in pieces.values()]


def _in_one_order(dag: Dag, members: list[int], context: FoldContext) -> list[int]:
    """Sort the boxes of a piece by the structure of their ancestors in it, so that equal pieces have equal order."""
    code: dict[int, int] = {}
    for member in members:
        leading = sorted(code[source] for source in dag.before[member] if source in code)
        code[member] = context.symbols.symbol_of("led", dag.boxes[member].symbol, *leading)
    return sorted(members, key=code.__getitem__)
