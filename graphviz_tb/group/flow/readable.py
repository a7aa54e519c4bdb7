"""Reading cost of a level, and removal of groups that hide nothing worth hiding."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.group.flow.stages import MIN_STAGE_HEAD_SHARE
from graphviz_tb.model.hierarchy import GroupOrigin

# of a level in one group; boxes of a level in which a group is nearly alone
LARGE_GROUP_SHARE, NEARLY_ALONE_BOXES = 0.3, 5


def reading_cost(boxes: Sequence[FlowBox]) -> int:
    """Count the boxes a reader sees who opens each distinct group once."""
    seen: set[int] = set()
    total = len(boxes)
    todo = list(boxes)
    while todo:
        box = todo.pop()
        if box.is_repetition:  # one repetition is opened
            box = box.members[0]
        if not box.members or box.symbol in seen:
            continue
        seen.add(box.symbol)
        total += len(box.members)
        todo += box.members
    return total


def dissolve_groups(boxes: list[FlowBox], limit: int, total: int) -> list[FlowBox]:
    """Open unnamed groups that hold much of a level, are nearly alone, or are on a level without stacks, up to `limit`
    boxes."""
    unnamed = (GroupOrigin.REGION, GroupOrigin.BRANCH, GroupOrigin.SEGMENT)
    plain = not any(box.is_repetition for box in boxes)
    while True:
        # Terminates: each round opens one group, and none that would exceed `limit`.
        candidates = [
            place
            for place, box in enumerate(boxes)
            if box.how in unnamed
            and len(boxes) - 1 + len(box.members) <= limit
            and (
                plain
                or box.ops > LARGE_GROUP_SHARE * total
                or (len(boxes) < NEARLY_ALONE_BOXES and box.how != GroupOrigin.SEGMENT)
            )
        ]
        if not candidates:
            return boxes
        largest = max(candidates, key=lambda place: (boxes[place].ops, -place))
        boxes = [*boxes[:largest], *boxes[largest].members, *boxes[largest + 1 :]]


def open_plain_stages(boxes: list[FlowBox], limit: int) -> list[FlowBox]:
    """Show the stacks of all stages at once, if there is room and no head is nearly a repetition itself."""
    stages = [box for box in boxes if box.how == GroupOrigin.STAGE and not box.is_repetition]
    if not stages or any(is_head_counted(box) for box in stages):
        return boxes
    opened = [member for box in boxes for member in (box.members if box in stages else [box])]
    return opened if len(opened) <= limit else boxes


def simplify_level(boxes: list[FlowBox], limit: int, total: int) -> list[FlowBox]:
    """Open the groups that a level need not have."""
    return open_plain_stages(dissolve_groups(boxes, limit, total), limit)


def is_head_counted(stage: FlowBox) -> bool:
    """Return whether a reader would count the head of a stage as a repetition."""
    each = [box.ops_per_repetition for box in stage.members if box.is_repetition]
    least = MIN_STAGE_HEAD_SHARE * max(each, default=0)
    return not each or any(box.ops >= least for box in stage.members if not box.is_repetition)
