"""Fold by flow: the architecture of a network from the way its data takes, helped by names.

    items      children with flow between them; circles are one box, what has no flow stands aside
    feeders    small inputs stand beside their only consumer
    likeness   equal structures between the same neighbours are a stack
    names      names that begin alike are a group, where that closes no circle
    order      one line along the flow, and how many lines cross at each place
    regions    what stands between two narrow places is a region, with branches inside
    repeats    equal stretches behind each other are a stack
    stages     what stands between two stacks heads the second
    sizes      what is still too long is cut
    guard      no group closes a circle that the level does not have
    titles     what groups are called

Each step gives a level with fewer boxes. A group is convex: no path leaves it and comes back, so what is drawn is again
a flow. Nothing depends on the order of the file.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.group.flow.aside import fold_aside
from graphviz_tb.group.flow.box import Box, Symbols
from graphviz_tb.group.flow.feeders import join_feeders
from graphviz_tb.group.flow.finish import finished
from graphviz_tb.group.flow.guard import without_lies
from graphviz_tb.group.flow.items import Files, find_items
from graphviz_tb.group.flow.level import fold_dag
from graphviz_tb.group.flow.numbered import stack_runs, with_series
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.group.flow.sizes import narrowed, width
from graphviz_tb.group.flow.titles import name_groups
from graphviz_tb.group.flow.words import Vocabulary
from graphviz_tb.group.insert import NewGroup
from graphviz_tb.group.series import Run, below
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.options import GroupOptions

SMALLEST = 3  # children that can be folded
VALUES = ("VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "Const", "AutoReloadVariable")


def fold_by_flow(hierarchy: Hierarchy, series: list[Run], options: GroupOptions) -> list[NewGroup]:
    """All new groups of a file; inner ones stand before those around them."""
    files, symbols = Files(hierarchy), Symbols()
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in series:
        runs[run.parent].append(run)
    groups: list[NewGroup] = []
    for parent in np.flatnonzero(np.diff(hierarchy.child_start) >= SMALLEST).tolist():
        if hierarchy.kind[parent] == Kind.SERIES:
            continue
        boxes = fold_level(files, symbols, parent, runs[parent], options)
        groups.extend(listed(hierarchy, parent, boxes, len(groups)))
    return groups


def fold_level(files: Files, symbols: Symbols, parent: int, series: list[Run], options: GroupOptions) -> list[Box]:
    """The boxes of one level."""
    hierarchy = files.hierarchy
    children = files.children(parent)
    names = [hierarchy.leaf(child) for child in children]
    setting = Setting(Vocabulary(names), symbols, min(16, options.max_children), options.max_children)
    items = find_items(files, parent, children, symbols)
    values = frozenset(symbols.of("op", op) for op in VALUES)
    dag = stack_runs(join_feeders(items.dag, symbols, values), series, symbols)
    boxes = fold_dag(dag, setting, setting.soft)
    aside = [items.boxes[at] for at in items.aside]
    if width(boxes) + len(aside) > setting.soft:
        aside = fold_aside(items.aside, items.boxes, items.edges, setting)
    boxes = finished([*boxes, *aside], setting)
    if width(boxes) > setting.most:
        boxes = finished(narrowed(boxes, setting, setting.most), setting)
    boxes = with_series(boxes, series, symbols)
    if any(box.members for box in boxes):
        boxes = without_lies(boxes, len(children), {child: at for at, child in enumerate(children)}, items.edges)
    name_groups(boxes, setting, hierarchy)
    return boxes


def listed(hierarchy: Hierarchy, parent: int, boxes: list[Box], serial: int) -> list[NewGroup]:
    """Groups of one level as new groups, inner ones first; their names are made unique."""
    order: list[Box] = []
    todo = list(reversed(boxes))
    while todo:
        box = todo.pop()
        if box.members:
            order.append(box)
        todo.extend(reversed([*box.feeders, *box.members]))
    names: dict[int, str] = {}
    taken: dict[str, int] = defaultdict(int)
    for child in hierarchy.children(parent).tolist():
        taken[hierarchy.leaf(child)] += 1
    for box in order:
        taken[box.name] += 1
        unique = box.name if taken[box.name] == 1 else f"{box.name} ({taken[box.name]})"
        names[id(box)] = below(hierarchy, parent, unique)
    number = {id(box): serial + at for at, box in enumerate(reversed(order))}
    return [
        NewGroup(
            Kind.SERIES if box.stack else Kind.FOLD,
            parent,
            names[id(box)],
            tuple(
                -1 - number[id(one)] if one.members else one.row for member in box.members for one in standing(member)
            ),
            box.how,
        )
        for box in reversed(order)
    ]


def standing(box: Box) -> list[Box]:
    """A box and its feeders, which stand beside it."""
    found: list[Box] = []
    todo = [box]
    while todo:
        one = todo.pop()
        found.append(one)
        todo.extend(one.feeders)
    return found
