"""Stacks of equal scopes in a chain, whatever skip connections leave them, as the levels of a U-Net.

down_0 ─▶ down_1 ─▶ down_2 ─▶ up_2 ─▶ up_1 ─▶ up_0        two stacks of three
   └─────────┴─────────┴────────▲───────▲───────▲
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise

import numpy as np

from graphviz_tb.group.flow.box import MIN_STACK_OPS, FlowBox, SymbolTable, make_stack, walk_groups
from graphviz_tb.group.flow.columns import Siblings
from graphviz_tb.group.flow.finish import as_stack_member
from graphviz_tb.group.flow.guard import rows_inside
from graphviz_tb.group.flow.words import name_form
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy

MIN_CHAIN_SCOPES = 3  # of two, both are shown
MAX_FIRST_OPS_RATIO = 1.5  # of the first in a series, to the next


def prepend_unlike_first(boxes: list[FlowBox], hierarchy: Hierarchy, most: int) -> list[FlowBox]:
    """Prepend to a stack the scope right before it with the same name apart from the number, the same ops and a few
    more.

    Such a scope is the first layer, which computes what all others read. A stack has at most `most` members.
    """
    for each in box_lists(boxes):
        if not any(box.is_repetition for box in each):  # only saves time
            continue
        forms = Counter(
            name_form(scope_in_member(box).name)
            for top in each
            for box in (top.members[:1] if top.is_repetition else [top])
        )
        for first, run in list(pairwise(each)):
            chain = run.is_repetition and not run.sideways and len(run.members) < most
            # With a third one of that name it is a different kind of block, or separates two runs.
            if chain and forms[name_form(first.name)] == 2 and is_first_of_series(first, run.members[0], hierarchy):
                each.remove(first)
                run.members.insert(0, as_stack_member(first))
                run.ops += run.members[0].ops
                run.name = ""  # it named the old members
    return boxes


def is_first_of_series(box: FlowBox, other: FlowBox, hierarchy: Hierarchy) -> bool:
    """Return whether a box may be the first of a series that continues with `other`."""
    beside = [
        feeder.symbol for feeder in (other.members[:-1] if scope_in_member(other) is not other else other.feeders)
    ]
    other = scope_in_member(other)
    if not (is_scope_box(box) and is_scope_box(other) and name_form(box.name) == name_form(other.name)):
        return False
    if sorted(beside) != sorted(feeder.symbol for feeder in box.feeders):
        return False
    return other.ops <= box.ops <= MAX_FIRST_OPS_RATIO * other.ops and count_op_types_inside(
        other, hierarchy
    ) <= count_op_types_inside(box, hierarchy)


def scope_in_member(box: FlowBox) -> FlowBox:
    """Return the scope in a member that is a group of it and its feeders; otherwise the box itself."""
    return box.members[-1] if box.how == GroupOrigin.REGION and box.members[-1].symbol == box.symbol else box


def count_op_types_inside(box: FlowBox, hierarchy: Hierarchy) -> Counter[int]:
    """Count the op types in a box."""
    nodes = np.concatenate([hierarchy.node[row.row : hierarchy.end[row.row]] for row in rows_inside(box)])
    return Counter(hierarchy.graph.op[nodes[nodes >= 0]].tolist())


def stack_chains(boxes: list[FlowBox], level: Siblings, symbols: SymbolTable) -> list[FlowBox]:
    """Stack chains in every list of boxes of a level. Lists are along the flow, so a stretch of one is convex."""
    found = [run for each in box_lists(boxes) for run in find_scope_runs(each)]
    if not found:
        return boxes
    owner = {row.row: box for run in found for box in run for row in rows_inside(box)}
    rows, edges = level.rows, level.edges
    fed = {
        (id(source), id(target))
        for start, stop in zip(edges.source.tolist(), edges.target.tolist(), strict=True)
        if (source := owner.get(rows[start])) and (target := owner.get(rows[stop])) and source is not target
    }
    chains = [run for run in found if all((id(one), id(other)) in fed for one, other in pairwise(run))]
    made = {id(run[0]): make_stack(symbols, list(map(as_stack_member, run)), run[0].symbol) for run in chains}
    gone = {id(box) for run in chains for box in run[1:]}
    for each in box_lists(boxes):
        each[:] = [made.get(id(box), box) for box in each if id(box) not in gone]
    return boxes


def box_lists(boxes: list[FlowBox]) -> list[list[FlowBox]]:
    """Return the boxes of a level, and those of each group in it except stacks."""
    return [boxes, *(box.members for box in walk_groups(boxes) if not box.is_repetition)]


def find_scope_runs(boxes: list[FlowBox]) -> list[list[FlowBox]]:
    """Return runs of equal adjacent scopes with equal feeders whose names differ only in numbers."""
    found = []
    for kind, run in groupby(
        boxes, key=lambda box: (*symbols_with_feeders(box), name_form(box.name)) if is_scope_box(box) else None
    ):
        members = list(run)
        if kind and MIN_CHAIN_SCOPES <= len(members) < len(boxes) and members[0].ops >= MIN_STACK_OPS:
            found.append(members)
    return found


def is_scope_box(box: FlowBox) -> bool:
    """Return whether a box is a scope, by its name or in the file."""
    return (box.scope or box.how == GroupOrigin.NAME) and not box.is_repetition


def symbols_with_feeders(box: FlowBox) -> tuple[int, ...]:
    """Return the symbols of a box and of its feeders."""
    return box.symbol, *sorted(feeder.symbol for feeder in box.feeders)
