"""Boxes off the main flow: folded on each side of it if a level is too wide.

Boxes that need nothing from the flow become one box before it, boxes that give nothing to it one box after it. Neither
can close a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.group.flow.box import FlowBox, make_group
from graphviz_tb.group.flow.circles import make_loop_box
from graphviz_tb.group.flow.columns import ChildEdges
from graphviz_tb.group.flow.dag import contract_groups, find_cycles, make_dag
from graphviz_tb.group.flow.level import fold_dag
from graphviz_tb.group.flow.setting import FoldContext
from graphviz_tb.group.flow.sizes import narrow_to_limit, total_child_count
from graphviz_tb.model.hierarchy import GroupOrigin

MIN_ASIDE_BOXES = 3  # boxes that are worth a group


def fold_boxes_aside(
    aside: list[int], boxes: Sequence[FlowBox], edges: ChildEdges, setting: FoldContext
) -> list[FlowBox]:
    """Return boxes for what is off the flow; `aside` are positions of children, `edges` all data edges of the level."""
    early, late = split_early_late(aside, edges)
    folded = [boxes[child] for child in aside if child not in early and child not in late]
    for members in (sorted(early), sorted(late)):
        if len(members) < MIN_ASIDE_BOXES:
            folded += [boxes[child] for child in members]
            continue
        inside = fold_with_storage_edges(members, boxes, edges, setting)
        symbol = setting.symbols.symbol_of("aside", *sorted(boxes[child].symbol for child in members))
        folded.append(inside[0] if len(inside) == 1 else make_group(GroupOrigin.SEGMENT, inside, symbol))
    return narrow_to_limit(folded, setting, setting.most) if total_child_count(folded) > setting.most else folded


def split_early_late(aside: list[int], edges: ChildEdges) -> tuple[set[int], set[int]]:
    """Return the boxes that need only boxes of `aside`, and of the rest those that feed only boxes of `aside`."""
    pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    # Reversed edges: boxes that no edge enters from outside.
    early = closed_subset(set(aside), [(target, source) for source, target in pairs])
    late = closed_subset(set(aside) - early, pairs)
    return early, late


def closed_subset(within: set[int], pairs: list[tuple[int, int]]) -> set[int]:
    """Return the largest part of `within` that no pair leads out of."""
    arriving: dict[int, list[int]] = {}
    for start, stop in pairs:
        arriving.setdefault(stop, []).append(start)
    # Drop what leads to something outside: a backward search, each edge once.
    kept = set(within)
    todo = [stop for stop in arriving if stop not in kept]
    while todo:
        for start in arriving.get(todo.pop(), ()):
            if start in kept:
                kept.discard(start)
                todo.append(start)
    return kept


def fold_with_storage_edges(
    members: list[int], boxes: Sequence[FlowBox], edges: ChildEdges, setting: FoldContext
) -> list[FlowBox]:
    """Fold some children as a level by themselves, storage edges included."""
    place = {child: spot for spot, child in enumerate(members)}
    before: list[dict[int, None]] = [{} for _ in members]
    for source, target in zip(edges.source.tolist(), edges.target.tolist(), strict=True):
        if source in place and target in place:
            before[place[target]][place[source]] = None
    after: list[list[int]] = [[] for _ in members]
    for target, sources in enumerate(before):
        for source in sources:
            after[source].append(target)
    here = [boxes[child] for child in members]
    # Storage edges were not flow so far: the cycles they close appear only here.
    rings = [(ring, make_loop_box([here[child] for child in ring], setting.symbols)) for ring in find_cycles(after)]
    return fold_dag(
        contract_groups(make_dag(here, [list(sources) for sources in before]), rings), setting, setting.soft
    )
