"""Fold by flow: find the architecture of a network from its data flow, helped by names.

levels       children of all levels by name, the edges between them; equal levels are folded once
items        children with flow between them; a cycle is one box, children without flow move aside;
             small inputs go next to their only user; index arithmetic is one box, and so is a running sum
recurrences  an unrolled recurrence without weights is one box, and so is a cell
idioms       a norm, activation, rotary embedding, table of positions or attention of several ops is one box
layers       a layer with its norm and activation is one box, and so is a gated block; casts, reshapes and transposes
             are part of the layer, norm or sum beside them
joins        a join that has all inputs of an earlier one follows that one alone
loops        loops of control flow v1, and modules that are called again
stacks       equal boxes with the same neighbours, numbered runs, chains of numbered scopes
names        groups of names with one beginning, if they close no cycle
order        one line along the flow, and how many edges cross each place
regions      the boxes between two narrow places are a region, with branches inside
streams      two streams end each block together, so that their blocks are regions
repeats      consecutive equal stretches are a stack; the boxes between two stacks are the head of the second
stages       residual blocks of one stage are a stack, however unlike
invariants   no group is too wide, none closes a cycle that the level does not have
titles       names and addresses of groups

Each step returns a level with fewer boxes. A group is convex: no path leaves it and comes back, so the folded level has
no cycles. Nothing depends on the order of the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from graphviz_tb.fold.flow.box import FlowBox, SymbolTable, make_group, walk_boxes
from graphviz_tb.fold.flow.idioms import fold_idioms
from graphviz_tb.fold.flow.invariants import (
    TARGET_CHILDREN,
    FoldContext,
    enforce_limits,
    level_budget,
    narrow_to_limit,
    open_cyclic_groups,
    release_inputs,
    total_child_count,
)
from graphviz_tb.fold.flow.items import (
    drop_repeated_inputs,
    find_flow_items,
    fold_boxes_aside,
    fold_index_arithmetic,
    fold_running_sums,
    join_feeders,
)
from graphviz_tb.fold.flow.layers import fold_gated_layers, fold_layers, join_forms
from graphviz_tb.fold.flow.levels import LevelPart, Siblings, first_equal_levels, level_columns, replace_label_numbers
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.fold.flow.recurrences import fold_recurrences
from graphviz_tb.fold.flow.regions import fold_dag
from graphviz_tb.fold.flow.stacks import fold_series, stack_chains, stack_parallel_runs
from graphviz_tb.fold.flow.titles import group_addresses, title_groups
from graphviz_tb.fold.flow.widths import ChannelWidths, OpTypes
from graphviz_tb.fold.series import SeriesRun, qualified_name
from graphviz_tb.fold.table import NewGroup
from graphviz_tb.graphs.level_flow import repeatedly_called_scopes
from graphviz_tb.limits import Meter
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy, RowKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment
from graphviz_tb.options import GroupOptions


def fold_by_flow(
    hierarchy: Hierarchy, series: list[SeriesRun], options: GroupOptions
) -> tuple[list[NewGroup], tuple[Notice, ...]]:
    """Return all new groups of a file, inner groups before outer ones; and notices."""
    # Fold one level of each kind; all equal levels apply the same plan.
    levels, symbols = level_columns(hierarchy), SymbolTable()
    types, widths = OpTypes(hierarchy), ChannelWidths(hierarchy)
    runs: dict[int, list[SeriesRun]] = defaultdict(list)
    for run in series:
        runs[run.parent].append(run)
    kind = first_equal_levels(levels, series)
    planned: dict[int, list[NewGroup]] = {}
    over_budget: list[int] = []
    # Levels that differ only in the numbers of names have no groups if one of them has none.
    distinct_kinds = distinct_values(kind)
    equal_without_numbers = first_equal_levels(replace_label_numbers(levels, distinct_kinds), series, distinct_kinds)
    without_groups: set[int] = set()
    for number, equal in zip(distinct_kinds.tolist(), equal_without_numbers.tolist(), strict=True):
        if equal in without_groups:
            planned[number] = []
            continue
        level = levels.level(number)
        budget = level_budget(len(level.rows))
        planned[number] = _plan_level_groups(
            level, _fold_level(level, symbols, types, widths, runs[level.parent], options, budget)
        )
        if budget.spent:
            over_budget.append(level.parent)
        elif not planned[number]:
            without_groups.add(number)
    # Groups are numbered through the file.
    groups: list[NewGroup] = []
    for number, planned_kind in enumerate(kind.tolist()):
        if planned[planned_kind]:
            groups.extend(_apply_plan(levels.level(number), planned[planned_kind], len(groups)))
    return groups, _fold_limit_notices(hierarchy, over_budget)


def _fold_limit_notices(hierarchy: Hierarchy, rows: list[int]) -> tuple[Notice, ...]:
    """Return a notice if the budget of some levels (`rows`) was spent before all regions were searched."""
    if not rows:
        return ()
    where = hierarchy.name[rows[0]]
    what = repr(where) if where else "the graph"
    text = f"{what} is so large and so densely wired that parts of it are folded by length alone"
    return (Notice("fold-limit", text, where, len(rows), strict=False),)


def _fold_level(
    level: Siblings,
    symbols: SymbolTable,
    types: OpTypes,
    widths: ChannelWidths,
    series: list[SeriesRun],
    options: GroupOptions,
    budget: Meter,
) -> list[FlowBox]:
    """Return the boxes of one level."""
    soft, most = min(TARGET_CHILDREN, options.max_children), options.max_children
    context = FoldContext(Vocabulary(level.labels), symbols, budget, soft, most, types, widths)
    boxes = (
        _fold_training_level(level, series, context) if level.part.any() else _fold_level_part(level, series, context)
    )
    if total_child_count(boxes) > context.most:
        # Repeatedly called scopes belong to no stretch of the flow.
        again = repeatedly_called_scopes(level.hierarchy, level.parent)
        called = [box for box in boxes if box.row in again and not box.feeders]
        rest = [box for box in boxes if box not in called]
        boxes = enforce_limits(narrow_to_limit(rest, context, context.most), context) + called
    boxes = stack_chains(fold_series(boxes, series, symbols), level, context)
    if any(box.members for box in boxes):
        boxes = open_cyclic_groups(
            boxes, len(level.rows), {row: position for position, row in enumerate(level.rows)}, level.edges
        )
    boxes = release_inputs(boxes, level, context)
    # Names come last: they depend on the final content of each group.
    _name_layers_as_in_code(boxes, level.hierarchy)
    labels = _labels_in_code(level)
    named = context if labels == level.labels else replace(context, vocabulary=Vocabulary(labels))
    title_groups(boxes, named, level.hierarchy)
    return boxes


def _labels_in_code(level: Siblings) -> list[str]:
    """Return the labels of the children of a level; layers have their names in the program."""
    called = level.hierarchy.labels
    return [called.get(row, label) for row, label in zip(level.rows, level.labels, strict=True)]


def _name_layers_as_in_code(boxes: Iterable[FlowBox], hierarchy: Hierarchy) -> None:
    """Give the boxes of layers their names in the program, in place."""
    called = hierarchy.labels
    for box in walk_boxes(list(boxes)) if called else ():
        box.name = called.get(box.row, box.name)


def _fold_level_part(level: Siblings, series: list[SeriesRun], context: FoldContext) -> list[FlowBox]:
    symbols = context.symbols
    items = find_flow_items(level, context)
    # Numbered inputs of one box are a series, not eight feeders.
    indexes = {row for row, is_index in zip(level.rows, level.indexes.tolist(), strict=True) if is_index}
    dag = stack_parallel_runs(fold_index_arithmetic(items.dag, indexes, level.hierarchy, context), series, symbols)
    dag = fold_layers(fold_idioms(fold_recurrences(dag, context), context), level.hierarchy, context)
    dag = fold_running_sums(fold_gated_layers(dag, context), symbols)
    if not _has_layer_ops(level):
        dag = join_feeders(join_forms(dag, context), context.widths.named_layers, symbols)
    boxes = fold_dag(drop_repeated_inputs(dag), context, context.soft)
    aside = [items.boxes[position] for position in items.aside]
    if total_child_count(boxes) + len(aside) > context.soft:
        aside = fold_boxes_aside(items.aside, items.boxes, items.edges, context)
    return enforce_limits([*boxes, *aside], context)


def _has_layer_ops(level: Siblings) -> bool:
    """Return whether some ops of a level are Keras layers, which are never feeders, however small."""
    hierarchy, layers = level.hierarchy, level.hierarchy.graph.layers
    rows = level.rows if layers else ()
    return any(hierarchy.name[row] in layers and hierarchy.kind.item(row) == RowKind.OP for row in rows)


def _fold_training_level(level: Siblings, series: list[SeriesRun], context: FoldContext) -> list[FlowBox]:
    """Fold the model of a training level along its flow, and gradients, updates and bookkeeping to one box each."""
    boxes = _fold_level_part(
        level.select_children(np.flatnonzero(level.part == LevelPart.MODEL).tolist()), series, context
    )
    for part in (LevelPart.EVALUATION, LevelPart.GRADIENTS, LevelPart.UPDATES, LevelPart.BOOKKEEPING):
        rows = np.flatnonzero(level.part == part).tolist()
        inside = _fold_level_part(level.select_children(rows), series, context) if rows else []
        name = part.name.lower()
        symbol = context.symbols.symbol_of("training", name, *(box.symbol for box in inside))
        how = GroupOrigin.EVALUATION if part == LevelPart.EVALUATION else GroupOrigin.TRAINING
        # A single row needs no group.
        alone = len(inside) == 1 and not inside[0].members and not inside[0].feeders
        boxes += inside if alone or not inside else [make_group(how, _open_cycles(inside), symbol, name)]
    return boxes


def _open_cycles(boxes: list[FlowBox]) -> list[FlowBox]:
    """Replace boxes of cycles by their members: in training parts, sums lead back into them."""
    return [part for box in boxes for part in ([*box.feeders, *box.members] if box.how == GroupOrigin.LOOP else [box])]


def _plan_level_groups(level: Siblings, boxes: list[FlowBox]) -> list[NewGroup]:
    """Return the groups of one level, inner ones first, in a form that fits all equal levels.

    Members are positions of children; names are relative to the level and unique on it.
    """
    order: list[FlowBox] = []
    todo = list(reversed(boxes))
    while todo:
        box = todo.pop()
        if box.members:
            order.append(box)
        todo.extend(reversed([*box.feeders, *box.members]))
    if not order:
        return []
    taken = {*level.labels, *(last_segment(level.hierarchy.name[row]) for row in level.rows)}
    # `order` lists groups before their content; reversed, inner groups are numbered first, as `insert_groups` needs.
    names = group_addresses(order, taken)
    number = {id(box): -1 - position for position, box in enumerate(reversed(order))}
    # Positions instead of rows, since a plan serves all equal levels.
    place = {row: position for position, row in enumerate(level.rows)}
    return [
        NewGroup(
            RowKind.SERIES if box.is_repetition else RowKind.FOLD,
            -1,
            names[id(box)],
            tuple(
                number[id(inner)] if inner.members else place[inner.row]
                for member in box.members
                for inner in (_box_and_feeders(member) if member.feeders else (member,))
            ),
            box.how,
            box.name if names[id(box)] != box.name else "",
        )
        for box in reversed(order)
    ]


def _apply_plan(level: Siblings, planned: list[NewGroup], serial: int) -> list[NewGroup]:
    """Return the groups of a plan in one level; `serial` is the number of the first."""
    parent, rows = level.parent, level.rows
    return [
        NewGroup(
            group.kind,
            parent,
            qualified_name(level.hierarchy, parent, group.name),
            # Group i of the plan, -1 - i, is group serial + i of the file.
            tuple([rows[member] if member >= 0 else member - serial for member in group.members]),
            group.how,
            group.label,
        )
        for group in planned
    ]


def _box_and_feeders(box: FlowBox) -> list[FlowBox]:
    """Return a box and its feeders, which are drawn next to it."""
    boxes: list[FlowBox] = []
    todo = [box]
    while todo:
        current = todo.pop()
        boxes.append(current)
        todo.extend(current.feeders)
    return boxes
