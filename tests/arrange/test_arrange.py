"""Laws of the order of drawing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.level import ArrangeOptions, PortConstraints, SkeletonCache, arrange, child_port_constraints
from graphviz_tb.model.metagraph import DrawingMask, Metaedge, Metagraph
from tests.arrange.levels import check, level, levels, places, relation
from tests.effort import examples

OPPOSITE = {"left": "right", "right": "left", "above": "below", "below": "above"}


@given(levels(), st.sets(st.tuples(st.integers(100, 112), st.booleans()), max_size=4))
def test_every_skeleton_is_sound(given_level: Metagraph, turned: set[tuple[int, bool]]) -> None:
    check(given_level, arrange(given_level, outside=PortConstraints(frozenset(turned))))


@given(levels())
def test_the_same_again(given_level: Metagraph) -> None:
    first = arrange(given_level)
    assert arrange(given_level) == first


@examples(300)
@given(levels(), st.data())
def test_moving_one_node_moves_no_other(given_level: Metagraph, data: st.DataObject) -> None:
    moved = data.draw(st.integers(0, len(given_level.children) - 1))
    away = set(given_level.mask.extracted_children) ^ {moved}
    mask = DrawingMask(out_extract=tuple(sorted(away)))
    before, after = arrange(given_level), arrange(replace(given_level, mask=mask))
    check(replace(given_level, mask=mask), after)
    stay = [child for child in given_level.core_children() if child != moved]
    for one in stay:
        for two in stay:
            if one < two:
                old, new = relation(before, one, two), relation(after, one, two)
                place = places(before)
                if place[one][0] == place[two][0]:
                    assert new == old
                else:
                    assert new != OPPOSITE[old]


@given(levels(), st.data())
def test_moving_several_nodes_is_sound(given_level: Metagraph, data: st.DataObject) -> None:
    moved = data.draw(st.sets(st.integers(0, len(given_level.children) - 1), max_size=5))
    mask = DrawingMask(in_extract=tuple(sorted(set(given_level.mask.extracted_children) ^ moved)))
    given_level = replace(given_level, mask=mask)
    check(given_level, arrange(given_level))


def test_equal_levels_share_one_skeleton() -> None:
    # a ─▶ b, twice, in other rows
    one, two = level(2, (0, 1)), replace(level(2, (0, 1)), row=7, children=(8, 9))
    known = SkeletonCache()
    assert arrange(one, known=known) is arrange(two, known=known)


def test_the_reference_edge_is_turned() -> None:
    # 0 ─▶ 1 ─▶ 2, and 2 writes back to 0
    edges = (Metaedge(0, 1, 1, 0, 0), Metaedge(1, 2, 1, 0, 0), Metaedge(2, 0, 5, 0, 1))
    found = arrange(Metagraph(0, (1, 2, 3), (2, 2, 2), edges, ()))
    assert [wire.turned for wire in found.wires] == [False, False, True]
    outside = child_port_constraints(Metagraph(0, (1, 2, 3), (2, 2, 2), edges, ()), found, (0,))
    assert outside[0].turned == {(3, True)}


def test_thousands_of_single_ops_become_a_grid() -> None:
    found = arrange(level(3500))
    assert 30 < len(found.shelves) < 120
    assert 30 < max(map(len, found.shelves)) < 60


def test_a_wide_rank_wraps() -> None:
    # one op feeds 300
    found = arrange(level(301, *((0, i) for i in range(1, 301))))
    check(level(301, *((0, i) for i in range(1, 301))), found)
    assert all(sum(item <= 300 for item in row) <= 37 for row in found.parts[0])
    assert len(found.waypoint) < 500


def test_options_name_the_engine() -> None:
    assert arrange(level(1), ArrangeOptions("layered")).parts == (((0,),),)


@pytest.mark.slow
def test_a_very_large_hub_is_drawn_in_plain_rows() -> None:
    found = arrange(level(3001, *((0, i) for i in range(1, 3001))))
    assert found.notices == ()
    large = level(12001, *((0, i) for i in range(1, 12001)))
    found = arrange(large)
    check(large, found)
    assert [notice.code for notice in found.notices] == ["large-level"]
    assert sum(len(wire.chain) - 2 for wire in found.wires) <= 400_000
