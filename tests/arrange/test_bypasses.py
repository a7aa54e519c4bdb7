"""What parts from the main path and joins it again is at its right, unless something holds it elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graphviz_tb.arrange.alike import set_bypasses_right
from graphviz_tb.arrange.component import Component, Ranks
from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.skeleton import Skeleton
from tests.arrange.levels import level, places

# main path ─▶ and what leads round a part of it, as files may number it
BOX_ROUND_TWO = ((0, 2), (1, 3), (4, 1), (0, 4), (2, 3))  # 0 ─▶ 4 ─▶ 1 ─▶ 3 and 2
LONG_BOX = ((2, 3), (3, 5), (2, 0), (5, 1), (1, 4), (0, 1))  # 2 ─▶ 3 ─▶ 5 ─▶ 1 ─▶ 4 and 0
LINE = ((0, 1), (1, 2), (2, 3), (0, 3))
TWO_ROUNDS = ((3, 0), (0, 5), (0, 1), (4, 0), (1, 5), (2, 6), (2, 4), (6, 3))


def beside_main_path(skeleton: Skeleton) -> set[bool]:
    """Whether items beside the main path are at its right, of all ranks."""
    place = places(skeleton)
    main = {item for wire in skeleton.main_path for item in skeleton.wires[wire].chain}
    middle = {place[item][:2]: place[item][2] for item in main}
    return {place[item][2] > middle[place[item][:2]] for item in place if item not in main}


@pytest.mark.parametrize("lines", [BOX_ROUND_TWO, LONG_BOX, LINE, TWO_ROUNDS])
def test_lines_and_boxes_beside_a_part_are_right_of_the_main_path(lines: Sequence[tuple[int, int]]) -> None:
    assert beside_main_path(arrange(level(max(map(max, lines)) + 1, *lines))) == {True}


# 0 ─▶ 1 ─▶ 2 with a line round 1 and a port 3 that feeds 1
PORTS = Component(5, ((3, 0), (0, 1), (1, 2), (0, 2), (4, 1)), frozenset({3, 4}), main_path=(0, 1, 2))
CHAINS = [[3, 0], [0, 1], [1, 2], [0, 5, 2], [4, 6, 1]]
AT_LEFT = Ranks([[3, 4], [0, 6], [5, 1], [2]], CHAINS)


def test_a_side_input_goes_to_the_left_in_turn() -> None:
    assert set_bypasses_right(AT_LEFT, PORTS).ranks == [[4, 3], [6, 0], [1, 5], [2]]


def test_ports_that_keep_their_order_hold_what_is_beside_them() -> None:
    held = Component(PORTS.count, PORTS.edges, PORTS.first, main_path=PORTS.main_path, fixed_ports=True)
    assert set_bypasses_right(AT_LEFT, held).ranks == AT_LEFT.ranks


def test_the_side_of_most_decides() -> None:
    # between 0 and 4 two lines are at the right of the main path, one at its left
    edges = ((0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4))
    chains = [[0, 1], [1, 2], [2, 3], [3, 4], [0, 5, 2], [1, 6, 3], [2, 7, 4]]
    laid = Ranks([[0], [1, 5], [6, 2], [3, 7], [4]], chains)
    part = Component(5, edges, main_path=(0, 1, 2, 3))
    assert set_bypasses_right(laid, part).ranks == laid.ranks
