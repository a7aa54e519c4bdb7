"""A level whose main path feeds itself like brackets is a U: two legs with level lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb.arrange.cache import SkeletonCache, level_key, rank_counts
from graphviz_tb.arrange.component import ArrangeOptions
from graphviz_tb.arrange.legs import mirror_skeleton
from graphviz_tb.arrange.level import PortConstraints, arrange
from graphviz_tb.arrange.picture import LevelArranger
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton, backward_wires, capped_wires, first_tie


def _level(count: int, skips: list[tuple[int, int]], bridges: tuple[Bridge, ...] = ()) -> Metagraph:
    """Return a level: 0 ─▶ 1 ─▶ … ─▶ count-1, and `skips`."""
    path = [(node, node + 1) for node in range(count - 1)]
    edges = tuple(Metaedge(source, target, 1, 0, 0) for source, target in [*path, *skips])
    return Metagraph(0, tuple(range(1, count + 1)), (2,) * count, edges, bridges)


def _ranks(skeleton: Skeleton) -> dict[int, int]:
    return {item: rank for part in skeleton.parts for rank, row in enumerate(part) for item in row}


@pytest.mark.parametrize("levels", [3, 4, 7])
@pytest.mark.parametrize("bottom", [1, 2, 3])
def test_partners_share_a_rank(levels: int, bottom: int) -> None:
    count = 2 * levels + bottom
    skips = [(level, count - 1 - level) for level in range(levels)]
    skeleton = arrange(_level(count, skips))
    rank = _ranks(skeleton)
    assert {number for number in skeleton.falling if number < levels} == set(range(levels))
    for source, target in skips:
        assert rank[source] == rank[target]
        [part] = skeleton.parts
        row = [item for item in part[rank[source]] if item < count]
        assert row == [source, target]  # neighbours, the first leg on the left
    ties = {skeleton.wires[wire].chain for wire in range(first_tie(skeleton), len(skeleton.wires))}
    assert ties == set(skips)
    assert not backward_wires(skeleton)  # everything runs with the flow
    assert [rank[node] for node in range(levels)] == sorted([rank[node] for node in range(levels)], reverse=True)


@pytest.mark.parametrize(
    "skips",
    [
        [(0, 6), (1, 5)],  # two residuals around one another
        [(0, 2), (2, 4), (4, 6)],  # residuals in a row
        [(0, 4), (1, 5), (2, 6)],  # parallel, not like brackets
        [(0, 6), (1, 5), (2, 4), (0, 2), (0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 6)],  # dense
    ],
)
def test_other_levels_stay(skips: list[tuple[int, int]]) -> None:
    assert not arrange(_level(7, skips)).falling


def test_one_column_when_asked_for() -> None:
    level = _level(7, [(0, 6), (1, 5), (2, 4)])
    assert arrange(level).falling
    assert not arrange(level, ArrangeOptions(wrap=False)).falling


def test_a_level_in_columns_is_no_u() -> None:
    level = _level(12, [(0, 6), (1, 5), (2, 4)])
    bent = arrange(level)
    assert bent.falling
    straight = LevelArranger(ArrangeOptions(), SkeletonCache(), {level_key(level): (rank_counts(bent), ())})(level)
    assert not straight.falling
    breaks = ((8,),)
    columns = {level_key(level): (rank_counts(straight), breaks)}
    broken = LevelArranger(ArrangeOptions(), SkeletonCache(), columns)(level)
    assert broken == replace(straight, breaks=breaks)


def test_equal_levels_have_equal_legs() -> None:
    skips = [(0, 6), (1, 5), (2, 4)]
    one, two = (_level(7, skips, (Bridge(0, other, True, 1, 0, 0, True),)) for other in (98, 99))
    known = SkeletonCache()
    first, second = (arrange(level, None, None, known) for level in (one, two))
    assert known.made == 1
    assert second.falling == first.falling != ()


def test_an_input_port_turns_to_the_head_of_the_first_leg() -> None:
    inbound = Bridge(0, 99, True, 1, 0, 0, True)
    outbound = Bridge(6, 98, False, 1, 0, 0, True)
    skeleton = arrange(_level(7, [(0, 6), (1, 5), (2, 4)], (inbound, outbound)))
    [capped] = capped_wires(skeleton)
    chain, rank = skeleton.wires[capped].chain, _ranks(skeleton)
    assert chain[0] >= skeleton.children
    assert chain[-1] == 0
    assert rank[chain[-1]] == rank[chain[-2]]
    assert not backward_wires(skeleton)


def test_a_frame_on_the_first_leg_is_mirrored() -> None:
    bridges = (Bridge(0, 98, True, 1, 0, 0, True), Bridge(2, 99, False, 1, 0, 0, True))
    level = _level(3, [], bridges)
    usual = arrange(level)
    turned = arrange(level, None, PortConstraints(frozenset({(98, True), (99, False)}), (), True))
    assert turned == mirror_skeleton(usual)
    assert [port.first for port in turned.ports] == [True, False]
    assert turned.ports[0].others == ((99, False),)
    assert not backward_wires(turned)
    assert replace(mirror_skeleton(turned), falling=()) == usual


def test_a_skip_from_a_port_is_no_tie() -> None:
    bridges = (Bridge(0, 99, True, 1, 0, 0, True), Bridge(8, 99, True, 1, 0, 0, True))
    skeleton = arrange(_level(9, [(1, 7), (2, 6), (3, 5)], bridges))
    ties = {skeleton.wires[wire].chain for wire in range(first_tie(skeleton), len(skeleton.wires))}
    assert ties == {(1, 7), (2, 6), (3, 5)}
