"""Limits of every group: members of a stack are single boxes, and no group has more boxes than allowed."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.group.flow.box import FlowBox, make_group
from graphviz_tb.group.flow.setting import FoldContext
from graphviz_tb.group.flow.sizes import cut_into_pieces, narrow_to_limit, total_child_count
from graphviz_tb.model.hierarchy import GroupOrigin

RANGE_MEMBERS = 20  # members of a range: half the default limit of a group


def enforce_limits(boxes: Sequence[FlowBox], setting: FoldContext) -> list[FlowBox]:
    """Return the boxes with all groups inside within their limits."""
    return [enforce_box_limits(box, setting) for box in boxes]


def enforce_box_limits(box: FlowBox, setting: FoldContext) -> FlowBox:
    """Bring one box and its content within the limits. Recursion depth is bounded by the folding steps."""
    if not box.members:
        return box
    members = enforce_limits(box.members, setting)
    if box.is_repetition:
        box.members = split_into_ranges([as_stack_member(member) for member in members], setting)
    elif total_child_count(members) > setting.most:
        box.members = enforce_limits(narrow_to_limit(members, setting, setting.soft), setting)
    else:
        box.members = members
    return box


def as_stack_member(box: FlowBox) -> FlowBox:
    """Return a box that can be a member of a stack: with feeders it becomes a group."""
    if not box.feeders:
        return box
    feeders, box.feeders = box.feeders, []
    return make_group(GroupOrigin.REGION, [*feeders, box], box.symbol)


def split_into_ranges(members: Sequence[FlowBox], setting: FoldContext) -> list[FlowBox]:
    """Return the members of a stack, in ranges of about equal length if there are too many."""
    parts = list(members)
    while len(parts) > setting.most:
        size = max(2, min(RANGE_MEMBERS, setting.most // 2))
        parts = [
            make_group(GroupOrigin.SEGMENT, held, setting.symbols.symbol_of("range", held[0].symbol, len(held)))
            for held in cut_into_pieces(parts, -(-len(parts) // size))
        ]
    return parts
