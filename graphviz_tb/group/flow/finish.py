"""Limits of every group: members of a stack are single boxes, and no group has more boxes than allowed."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.group.flow.box import FlowBox, group
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.group.flow.sizes import cut_into, narrowed, width
from graphviz_tb.model.hierarchy import How

RANGE = 20  # members of a range: half the default limit of a group


def finished(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """Return the boxes with all groups inside within their limits."""
    return [finish(box, setting) for box in boxes]


def finish(box: FlowBox, setting: Setting) -> FlowBox:
    """Bring one box and its content within the limits. Recursion depth is bounded by the folding steps."""
    if not box.members:
        return box
    members = finished(box.members, setting)
    if box.stack:
        box.members = ranges([alone(member) for member in members], setting)
    elif width(members) > setting.most:
        box.members = finished(narrowed(members, setting, setting.soft), setting)
    else:
        box.members = members
    return box


def alone(box: FlowBox) -> FlowBox:
    """Return a box that can be a member of a stack: with feeders it becomes a group."""
    if not box.feeders:
        return box
    feeders, box.feeders = box.feeders, []
    return group(How.REGION, [*feeders, box], box.symbol)


def ranges(members: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """Return the members of a stack, in ranges of about equal length if there are too many."""
    parts = list(members)
    while len(parts) > setting.most:
        size = max(2, min(RANGE, setting.most // 2))
        parts = [
            group(How.SEGMENT, held, setting.symbols.of("range", held[0].symbol, len(held)))
            for held in cut_into(parts, -(-len(parts) // size))
        ]
    return parts
