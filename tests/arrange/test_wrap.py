"""Ranks that are too wide become several: what that may cost."""

from __future__ import annotations

import sys
from random import Random

import pytest

import graphviz_tb.arrange.level
from graphviz_tb.arrange.component import Ranks
from tests.conftest import cpu_seconds

assert graphviz_tb.arrange
wrapping = sys.modules["graphviz_tb.arrange.wrap"]  # its function has the name of the module
wrap = wrapping.wrap_ranks
WIDE = 120  # px of a box


def crossing(boxes: int) -> Ranks:
    """Two ranks of so many boxes, and thrice as many lines between any of them."""
    random = Random(1)
    ends = {(random.randrange(boxes), boxes + random.randrange(boxes)) for _ in range(3 * boxes)}
    return Ranks([[*range(boxes)], [*range(boxes, 2 * boxes)]], [list(pair) for pair in sorted(ends)])


def wrapped(layers: Ranks) -> Ranks:
    """The same on ranks that are not too wide."""
    boxes = sum(map(len, layers.ranks))
    return wrap(layers, boxes, [WIDE] * boxes)


def test_few_lines_that_cross_have_as_many_rows_as_the_boxes_need() -> None:
    found = wrapped(crossing(250))
    assert sum(item < 250 for item in found.ranks[0]) * WIDE <= wrapping.MAX_LEVEL_WIDTH
    assert found.notices == ()


@pytest.mark.slow
def test_lines_that_cross_get_no_more_waypoints_than_can_be_placed() -> None:
    for boxes in (1000, 4000):
        found = wrapped(crossing(boxes))
        added = {item for row in found.ranks for item in row if item >= 2 * boxes}
        assert wrapping.MAX_WRAPPED_BENDS / 2 < len(added) <= wrapping.MAX_WRAPPED_BENDS * 1.2  # a whole number of rows
        assert [notice.code for notice in found.notices] == ["large-level"]
        assert {item for chain in found.chains for item in chain} >= added


@pytest.mark.slow
def test_many_lines_that_cross_cost_little_more_a_line() -> None:
    few, many = crossing(1000), crossing(8000)
    assert cpu_seconds(lambda: wrapped(many)) < 20 * cpu_seconds(lambda: wrapped(few))  # eight times as many
