"""Boxes without lines: if they are few, they go into a free corner of their level."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.model.skeleton import Skeleton

MAX_LOOSE_BOXES = 6  # more stay on the shelves


def loose_boxes(skeleton: Skeleton) -> list[int]:
    """Return the boxes without a line in the order of their parts; none if they are many, or half of the level.

    >>> from graphviz_tb.model.skeleton import Wire
    >>> parts = (((0,), (1,)), ((2,),))
    >>> loose_boxes(Skeleton(3, (), (Wire(0, -1, (0, 1)),), (), parts, ((0, 1),)))
    [2]
    """
    lonely = [skeleton.parts[part][0][0] for part in single_box_parts(skeleton)]
    boxes = sum(item < skeleton.children for part in skeleton.parts for row in part for item in row)
    return lonely if len(lonely) <= MAX_LOOSE_BOXES and 2 * len(lonely) < boxes else []


def single_box_parts(skeleton: Skeleton) -> list[int]:
    """Return the parts of one box each."""
    return [
        number
        for number, part in enumerate(skeleton.parts)
        if number != skeleton.main and len(part) == 1 and len(part[0]) == 1
    ]


def drop_loose_parts(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton without the parts of loose boxes on its shelves."""
    if not loose_boxes(skeleton):
        return skeleton
    gone = set(single_box_parts(skeleton))
    shelves = [tuple(part for part in shelf if part not in gone) for shelf in skeleton.shelves]
    return replace(skeleton, shelves=tuple(shelf for shelf in shelves if shelf))
