"""What is used all over a level, and what collects from all over it: how often, how far apart, and needing what."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.fold.flow.box import Dag
from graphviz_tb.fold.flow.order import (
    _find_collectors,
    _find_global_values,
    _meeting_depth,
    _select_broadcasts,
    _select_memories,
    box_depths,
    boxes_needing_few,
    with_ancestors,
)
from tests.each import each
from tests.fold.boxes import wired


def chain(count: int, first: int = 0) -> list[tuple[int, int]]:
    """So many boxes, one after the other."""
    return list(pairwise(range(first, first + count)))


def wide(dag: Dag) -> list[int]:
    """What is read everywhere, the boxes standing in the order of their numbers."""
    return _find_global_values(dag, box_depths(dag), list(range(len(dag))))


@each(
    ("boxes", "readers", "fed", "everywhere"),
    [
        (12, (3, 5, 7), False, True),
        (11, (3, 5, 7), False, False),  # of so few boxes none is used all over
        (12, (3, 7), False, False),
        (12, (2, 4, 6, 8), True, True),  # a result needs one reader more than an input
        (12, (3, 5, 7), True, False),
        (80, (3, 7, 13), False, True),  # an eighth of the level apart
        (80, (3, 7, 12), False, False),
    ],
)
def test_what_many_read_far_apart_is_read_everywhere(
    boxes: int, readers: tuple[int, ...], fed: bool, everywhere: bool
) -> None:
    # a chain, and beside it a mask that some of it read; where it is `fed`, by one box
    length = boxes - 1 - fed
    lines = [*chain(length), *((length, reader) for reader in readers)]
    if fed:
        lines.append((length + 1, length))
    dag = wired(boxes, *lines)
    assert (length in _select_broadcasts(dag, wide(dag))) is everywhere


def test_what_meets_other_flow_at_one_place_only_is_the_beginning_of_a_region() -> None:
    # 0 ─▶ … ─▶ 12, and from 13 four boxes, all of which end in 12
    lines = [*chain(13), *((13, branch) for branch in (14, 15, 16, 17)), *((branch, 12) for branch in (14, 15, 16, 17))]
    assert wide(wired(18, *lines)) == []


def test_a_way_meets_other_flow_where_something_else_comes_in() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 ◀─ 4, and 0 ─▶ 2
    dag = wired(5, (0, 1), (1, 2), (0, 2), (2, 3), (4, 3))
    assert _meeting_depth(dag, box_depths(dag), 0, 1) == 3
    assert _meeting_depth(dag, box_depths(dag), 4, 3) == 3
    assert _meeting_depth(wired(2, (0, 1)), [0, 1], 0, 1) == 1


@pytest.mark.parametrize(("length", "depth"), [(20, 19), (33, 32), (40, 32)])
def test_a_way_is_followed_for_thirty_two_boxes(length: int, depth: int) -> None:
    dag = wired(length, *chain(length))
    assert _meeting_depth(dag, box_depths(dag), 0, 1) == depth


@each(
    ("boxes", "needs", "small"),
    [(20, 8, True), (20, 9, False), (2100, 9, False)],
)
def test_a_broadcast_needs_little_itself(boxes: int, needs: int, small: bool) -> None:
    # a chain of so many boxes, whose last is read everywhere
    dag = wired(boxes, *chain(needs), *((needs - 1, reader) for reader in range(needs, needs + 4)))
    assert _select_broadcasts(dag, [needs - 1]) == ({needs - 1} if small else set())


def test_a_broadcast_that_needs_many_boxes_at_once_is_none() -> None:
    readers = [(9, reader) for reader in range(10, 14)]
    dag = wired(20, *((source, 9) for source in range(8)), *readers)
    assert _select_broadcasts(dag, [9]) == set()  # nine boxes with itself
    dag = wired(20, *((source, 9) for source in range(7)), *readers)
    assert _select_broadcasts(dag, [9]) == {9}
    dag = wired(20, *((source, 9) for source in range(7)), *readers[:3])
    assert _select_broadcasts(dag, [9]) == set()  # a memory at most: so few read it


def test_a_memory_is_what_a_part_gives_that_nothing_else_comes_from() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 4, and 3, which may take from 1
    alone = wired(5, (0, 1), (1, 2), (2, 4))
    shared = wired(5, (0, 1), (1, 2), (2, 4), (1, 3))
    none, aside = [False] * 5, [False, False, False, True, False]
    assert _select_memories(shared, [2], set(), aside) == {2}  # what hangs on the side is needed by nothing
    assert _select_memories(shared, [2], {1}, none) == {2}
    assert _select_memories(wired(5, (0, 1), (1, 2), (2, 4), (0, 3)), [2], set(), none) == set()
    assert _select_memories(alone, [2], set(), none) == {2}
    assert _select_memories(shared, [2], set(), none) == set()


def test_two_memories_may_come_from_one_part() -> None:
    # positions 0 ─▶ 1 (sine) and 2 (cosine); 3 takes from another part, 4, which 5 needs too
    lines = [(0, 1), (0, 2), (4, 3), (4, 5)]
    none = [False] * 6
    assert _select_memories(wired(6, *lines), [1, 2], set(), none) == {1, 2}
    assert _select_memories(wired(6, *lines), [1, 2, 3], set(), none) == set()
    assert _select_memories(wired(6, *lines[:3]), [1, 2, 3], set(), none) == {1, 2, 3}


@pytest.mark.parametrize(
    ("boxes", "sources", "collects"),
    [
        (24, range(0, 16, 2), True),
        (24, range(0, 14, 2), False),  # seven sources
    ],
)
def test_a_collector_takes_from_eight_depths(boxes: int, sources: range | tuple[int, ...], collects: bool) -> None:
    last = boxes - 1
    dag = wired(boxes, *chain(last), *((source, last) for source in sources))
    assert _find_collectors(dag, box_depths(dag)) == ({last} if collects else set())


def test_sources_of_one_depth_make_no_collector() -> None:
    dag = wired(24, *((source, 23) for source in range(23)))
    assert _find_collectors(dag, box_depths(dag)) == set()


def test_what_boxes_need_is_looked_for_to_its_sources() -> None:
    dag = wired(6, *chain(5), (5, 2))
    assert with_ancestors(dag, [3]) == {0, 1, 2, 3, 5}
    assert boxes_needing_few(dag, [3], 5) == {3}
    assert boxes_needing_few(dag, [3], 4) == set()


@given(st.integers(1, 12), st.data())
def test_what_needs_few_does_so_by_itself_or_among_others(most: int, data: st.DataObject) -> None:
    pairs = st.tuples(st.integers(0, 19), st.integers(0, 19)).filter(lambda pair: pair[0] < pair[1])
    dag = wired(20, *data.draw(st.lists(pairs, max_size=40, unique=True)))
    boxes = data.draw(st.permutations(range(20)))
    assert boxes_needing_few(dag, boxes, most) == {box for box in boxes if len(with_ancestors(dag, [box])) <= most}


def test_two_values_that_each_layer_adds_first_are_read_everywhere() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 4 ─▶ … ─▶ 14, and what 3, 7 and 11 make of 15 and 16 comes in at 4, 8 and 12
    along = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14]
    made = [(given, at) for at in (3, 7, 11) for given in (15, 16)]
    dag = wired(17, *pairwise(along), *made, (3, 4), (7, 8), (11, 12))
    assert {15, 16} <= {*wide(dag)}
