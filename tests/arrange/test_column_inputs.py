"""Inputs of a box at the head of a column stand under it, in its column."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.column_inputs import _count_inversions, _with_item_right, move_ends_to_columns
from graphviz_tb.arrange.level import ArrangeOptions, PortConstraints, arrange
from graphviz_tb.model.metagraph import Bridge, Metagraph
from graphviz_tb.model.skeleton import Skeleton
from tests.arrange.levels import check, level, levels

# 0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 6 ─▶ 7: the encoder, and 4 ─▶ 5 ─▶ 6: what the decoder reads
ENCODER_DECODER = level(8, *pairwise((0, 1, 2, 3, 6, 7)), (4, 5), (5, 6))


def broken(graph: Metagraph, *breaks: int) -> Skeleton:
    return replace(arrange(graph), breaks=(breaks,))


def boxes(skeleton: Skeleton) -> list[list[int]]:
    return [[item for item in row if item < skeleton.first_waypoint] for row in skeleton.parts[0]]


def test_inputs_of_the_first_box_of_a_column_are_in_its_column() -> None:
    usual = broken(ENCODER_DECODER, 4, 5)
    assert boxes(usual) == [[0], [1], [2, 4], [3, 5], [6], [7]]
    moved = move_ends_to_columns(usual)
    check(ENCODER_DECODER, moved)
    assert boxes(moved) == [[0], [1], [2], [3], [4], [5], [6], [7]]
    assert moved.breaks == ((4, 7),)
    # The encoder's result passes them on the side of its column.
    assert [row[0] >= moved.first_waypoint for row in moved.parts[0]] == [*[False] * 4, True, True, False, False]


def test_a_port_of_such_inputs_is_on_the_first_rank_of_their_column() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 4 ─▶ 5, 3 ─▶ 4; ports feed 0, 3, and 4
    bridges = tuple(Bridge(child, other, True, 1, 0, 0) for child, other in ((0, 20), (3, 21), (4, 22)))
    graph = replace(level(6, *pairwise((0, 1, 2, 4, 5)), (3, 4)), bridges=bridges)
    skeleton = arrange(graph)
    assert boxes(skeleton)[0] == [6, 7, 8]
    moved = move_ends_to_columns(replace(skeleton, breaks=((4,),)))
    check(graph, moved)
    assert boxes(moved) == [[6], [0], [1], [2], [7, 8], [3], [4], [5]]
    assert moved.breaks == ((4,),)


def test_ports_of_such_inputs_stand_in_any_order() -> None:
    # a mask, which feeds 4 itself, before the tokens that 3 embeds: both lines run as one over the long column
    bridges = tuple(Bridge(child, other, True, 1, 0, 0) for child, other in ((0, 20), (3, 21), (4, 22)))
    graph = replace(level(7, *pairwise((0, 1, 2, 6, 4, 5)), (3, 4)), bridges=bridges)
    for others in (20, 21, 22), (20, 22, 21):
        skeleton = arrange(graph, outside=PortConstraints(order=tuple((other, True) for other in others)))
        moved = move_ends_to_columns(replace(skeleton, breaks=((5,),)))
        check(graph, moved)
        assert boxes(moved) == [[7], [0], [1], [2], [6], [8, 9], [3], [4], [5]]


def test_ports_keep_their_order() -> None:
    bridges = tuple(Bridge(child, other, True, 1, 0, 0) for child, other in ((0, 20), (3, 21)))
    graph = replace(level(6, *pairwise((0, 1, 2, 4, 5)), (3, 4)), bridges=bridges)
    for order, moves in ((20, 21), True), ((21, 20), False):
        skeleton = arrange(graph, outside=PortConstraints(order=tuple((other, True) for other in order)))
        usual = replace(skeleton, breaks=((4,),))
        assert (move_ends_to_columns(usual) != usual) is moves


def test_a_port_of_a_result_of_a_column_is_at_its_end() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3; 1 leaves for 20, 3 for 21
    bridges = tuple(Bridge(child, other, False, 1, 0, 0) for child, other in ((1, 20), (3, 21)))
    graph = replace(level(4, *pairwise(range(4))), bridges=bridges)
    for order, moves in ((20, 21), True), ((21, 20), False):
        skeleton = arrange(graph, outside=PortConstraints(order=tuple((other, False) for other in order)))
        assert boxes(skeleton) == [[0], [1], [2], [3], [4, 5]]
        moved = move_ends_to_columns(replace(skeleton, breaks=((2,),)))
        check(graph, moved)
        assert (boxes(moved), moved.breaks) == (
            ([[0], [1], [4], [2], [3], [5]], ((3,),)) if moves else (boxes(skeleton), ((2,),))
        )


def test_a_line_to_the_next_column_passes_its_own_on_the_side_of_the_gutter() -> None:
    # 0 ─▶ 2 ─▶ 3 ─▶ 4 ─▶ 5, and 1 ─▶ 2, 1 ─▶ 4: a mask, of an encoder and of what reads it
    graph = level(6, *pairwise((0, 2, 3, 4, 5)), (1, 2), (1, 4))
    usual = broken(graph, 3)
    left = tuple(tuple(sorted(row, reverse=r > 0)) for r, row in enumerate(usual.parts[0]))
    for part in usual.parts[0], left:  # wherever it passes them
        moved = move_ends_to_columns(replace(usual, parts=(part,)))
        check(graph, moved)
        assert [row[-1] >= moved.first_waypoint for row in moved.parts[0][1:3]] == [True, True]


def test_a_line_to_the_next_column_crosses_no_more_lines_than_before() -> None:
    # 0 ─▶ 5 ─▶ 6, at the right end of its rank, would cross all lines from 1
    assert _with_item_right((7, 1, 2), {7}, set(), set()) == (1, 2, 7)
    rows, chains = [(0, 1), (5, 2, 3, 4), (6,)], [(0, 5, 6), (1, 2), (1, 3), (1, 4)]
    assert [_count_inversions(each, chains) for each in (rows, [(0, 1), (2, 3, 4, 5), (6,)])] == [0, 3]


def test_other_inputs_stay() -> None:
    encoder = [*pairwise((0, 1, 2, 3, 6, 7))]
    for more in (
        [(4, 5), (5, 6), (4, 7)],  # used after the break twice
        [(4, 5), (5, 6), (4, 3)],  # used before the break, too
        [(4, 5), (5, 7)],  # of the second box of the column
        [(4, 8), (8, 9), (9, 5), (5, 6)],  # as long as the column before
        [(0, 6)],  # a skip
        [],
    ):
        usual = broken(level(10, *encoder, *more), 4)
        usual = replace(usual, breaks=((4,), *[()] * (len(usual.parts) - 1)))
        assert move_ends_to_columns(usual) == usual
    assert move_ends_to_columns(arrange(ENCODER_DECODER)) == arrange(ENCODER_DECODER)


@given(levels(), st.data())
def test_every_line_is_still_there(graph: Metagraph, data: st.DataObject) -> None:
    skeleton = arrange(graph, ArrangeOptions(wrap=False))
    breaks = tuple(
        tuple(sorted(data.draw(st.sets(st.integers(1, len(part) - 1), max_size=2)))) if len(part) > 1 else ()
        for part in skeleton.parts
    )
    check(graph, move_ends_to_columns(replace(skeleton, breaks=breaks)))
