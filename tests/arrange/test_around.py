"""What lies side by side around an open group lies so on its frame, and inside it as far as that is free."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.level import PortConstraints, arrange, child_port_constraints
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph, SingleBundle
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.tensors import CarriedTensors, Tensor
from tests.arrange.levels import check, levels

LEFT, RIGHT = (100, True), (101, True)


def on_side(skeleton: Skeleton, first: bool) -> list[tuple[int, bool]]:
    """The neighbours on one side of the frame, from left to right."""
    row = skeleton.parts[0][0 if first else -1] if skeleton.ports else ()
    slots = [skeleton.ports[item - skeleton.children] for item in row if item >= skeleton.children]
    return [slot.others[0] for slot in slots if slot.first is first]


def test_children_stand_as_what_feeds_them() -> None:
    # 100 ─▶ 1 ─┐
    #           ├▶ 2      outside, 100 lies left of 101; in the file 101 comes first
    # 101 ─▶ 0 ─┘
    bridges = (Bridge(0, 101, True, 1, 0, 0), Bridge(1, 100, True, 1, 0, 0))
    level = Metagraph(0, (1, 2, 3), (2, 2, 2), (Metaedge(0, 2, 1, 0, 0), Metaedge(1, 2, 1, 0, 0)), bridges)
    for order, row in (((LEFT, RIGHT), (1, 0)), ((RIGHT, LEFT), (0, 1))):
        found = arrange(level, outside=PortConstraints(order=order))
        assert on_side(found, True) == list(order)
        assert found.parts[0][1] == row


def test_a_skip_passes_the_main_path_on_the_side_where_it_goes_on() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 100, and all of them ─▶ 101, which lies left of 100
    chain = (Metaedge(0, 1, 2, 0, 0), Metaedge(1, 2, 2, 0, 0))
    bridges = (Bridge(2, 100, False, 2, 0, 0), *(Bridge(child, 101, False, 1, 0, 0) for child in range(3)))
    level = Metagraph(0, (1, 2, 3), (2, 2, 2), chain, bridges)
    for left, right in (((101, False), (100, False)), ((100, False), (101, False))):
        found = arrange(level, outside=PortConstraints(order=(left, right)))
        for row in found.parts[0][2:-1]:
            boxes = [at for at, item in enumerate(row) if item < 3]
            assert boxes == [0 if left[0] == 100 else len(row) - 1]


def test_the_order_around_a_child_is_that_of_the_lines_that_reach_it() -> None:
    # 0 ─▶ 3, 1 ─▶ 3, 2 ─▶ 1: 2 comes from a rank further up
    edges = (Metaedge(0, 3, 1, 0, 0), Metaedge(1, 3, 1, 0, 0), Metaedge(2, 1, 1, 0, 0), Metaedge(2, 3, 1, 0, 0))
    level = Metagraph(0, (10, 11, 12, 13), (2,) * 4, edges, ())
    skeleton = arrange(level)
    row = {wire.chain[-2]: level.children[wire.chain[0]] for wire in skeleton.wires if wire.chain[-1] == 3}
    above = next(ranks[at] for ranks in skeleton.parts for at, ranked in enumerate(ranks[1:]) if 3 in ranked)
    assert child_port_constraints(level, skeleton, (3,))[3].order == tuple(
        (row[item], True) for item in above if item in row
    )


@given(levels(), st.permutations([(row, inbound) for row in range(100, 113) for inbound in (True, False)]))
def test_ports_keep_any_order(level: Metagraph, order: list[tuple[int, bool]]) -> None:
    skeleton = arrange(level, outside=PortConstraints(order=tuple(order)))
    check(level, skeleton)
    own = [other for first in (True, False) for other in on_side(skeleton, first)]
    alone = {slot.others[0]: slot.first for slot in skeleton.ports if len(slot.others) == 1}
    for first in (True, False):
        found = [other for other in own if alone.get(other) is first]
        assert found == sorted(found, key=order.index)


def test_no_shape_is_asked_of_a_line_that_is_not_drawn() -> None:
    # 0 ─▶ 1 drawn, 0 ─▶ 2 a stub
    asked: list[int] = []

    class Tensors:
        def tensor(self, node: int, key: int) -> Tensor:
            asked.append(node)
            return Tensor((2,))

        def is_index(self, node: int, key: int) -> bool:
            asked.append(node)
            return False

    def edge(target: int) -> Metaedge:
        return Metaedge(0, target, 1, 0, 0, SingleBundle(CarriedTensors([(target, 0)], Tensors())))

    mask = DrawingMask(stubbed=frozenset({1}))
    arrange(Metagraph(0, (1, 2, 3), (2, 2, 2), (edge(1), edge(2)), (), mask, mask))
    assert set(asked) == {1}
