"""Boxes that no line touches: a few of them are in a free corner of their level, and take no room beside the rest."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.model.skeleton import Skeleton

FEW = 6  # more than that are a picture of their own, on shelves


def loose(skeleton: Skeleton) -> list[int]:
    """The boxes without a line, in the order of their parts; none where they are many, or half of the level.

    >>> from graphviz_tb.model.skeleton import Wire
    >>> parts = (((0,), (1,)), ((2,),))
    >>> loose(Skeleton(3, (), (Wire(0, -1, (0, 1)),), (), parts, ((0, 1),)))
    [2]
    """
    lonely = [skeleton.parts[part][0][0] for part in single_parts(skeleton)]
    boxes = sum(item < skeleton.children for part in skeleton.parts for row in part for item in row)
    return lonely if len(lonely) <= FEW and 2 * len(lonely) < boxes else []


def single_parts(skeleton: Skeleton) -> list[int]:
    """The parts of one box each."""
    return [
        number
        for number, part in enumerate(skeleton.parts)
        if number != skeleton.main and len(part) == 1 and len(part[0]) == 1
    ]


def without_loose(skeleton: Skeleton) -> Skeleton:
    """The skeleton with only those parts on its shelves that stay there."""
    if not loose(skeleton):
        return skeleton
    gone = set(single_parts(skeleton))
    shelves = [tuple(part for part in shelf if part not in gone) for shelf in skeleton.shelves]
    return replace(skeleton, shelves=tuple(shelf for shelf in shelves if shelf))
