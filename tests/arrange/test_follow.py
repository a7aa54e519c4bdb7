"""Drafts: a skeleton that is changed by hand keeps a waypoint on every rank that a line passes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb import load
from graphviz_tb.arrange.hand_moves import SkeletonDraft
from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Bridge, DrawingMask, Metaedge, Metagraph
from tests.arrange.levels import check, level
from tests.conftest import cpu_seconds


@pytest.mark.parametrize("turned", [False, True])
def test_a_line_gets_one_waypoint_on_each_new_rank(turned: bool) -> None:
    draft = SkeletonDraft(arrange(Metagraph(0, (1, 2), (2, 2), (Metaedge(0, 1, 1, 0, 0),), ())))
    key = (0, -1)
    draft.turned = {key} if turned else set()
    draft.wires[key] = [1, 0] if turned else [0, 1]
    rows: list[list[int]] = [[0], [], [], [], [1]]
    draft.fill_chains(rows)
    assert [len(row) for row in rows] == [1, 1, 1, 1, 1]
    down = draft.wires[key][::-1] if turned else draft.wires[key]
    assert down == [row[0] for row in rows]


def test_what_is_put_away_by_hand_moves_nothing_else() -> None:
    # in ─▶ a ─▶ b and, side by side with a, c: both take their input from outside of the group
    text = "".join(
        f'node {{ name: "{name}" op: "Op" {" ".join(f"input: {chr(34)}{one}{chr(34)}" for one in inputs)} }}'
        for name, inputs in {
            "in/x": [], "in/y": [], "g/a": ["in/x"], "g/c": ["in/y"], "g/b": ["g/a", "g/c"], "g/d": ["g/b", "in/x"]
        }.items()
    )  # fmt: skip
    plain, moved = load(text.encode()), load(text.encode(), aux=("g/c",))
    group = plain.names.find_paths("g")[0]
    before, after = plain.skeleton(group), moved.skeleton(group)
    gone = plain.metagraph(group).children.index(plain.names.find_paths("g/c")[0][-1])
    boxes = [[[i for i in row if i < before.children and i != gone] for row in part] for part in before.parts]
    assert moved.metagraph(group).bridges[gone].drawable
    assert [row for part in boxes for row in part if row] == [
        [i for i in row if i < after.children] for part in after.parts for row in part if min(row) < after.children
    ]


def put_back(boxes: int) -> Metagraph:
    """A row of boxes that feed one each; a third of these, which were put away, are back."""
    pairs = [(at, boxes + at) for at in range(boxes)] + [(at, boxes + at - 1) for at in range(1, boxes)]
    away = DrawingMask(out_extract=tuple(range(boxes, 2 * boxes, 3)))
    return replace(level(2 * boxes, *pairs), automatic=away)


@pytest.mark.slow
def test_what_is_put_back_by_hand_costs_little_more_a_box() -> None:
    def seconds(boxes: int) -> float:
        graph = put_back(boxes)
        return cpu_seconds(lambda: arrange(graph))

    assert seconds(2400) < 24 * seconds(400)  # six times as many


def test_too_many_bends_of_what_is_put_back_make_plain_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    # a chain of 60, and a box, put away, that each of these feeds
    chain = level(61, *((at, at + 1) for at in range(59)), *((at, 60) for at in range(60)))
    back = replace(chain, automatic=DrawingMask(out_extract=(60,)))
    assert not arrange(back).plain
    monkeypatch.setattr("graphviz_tb.arrange.hand_moves.MAX_LEVEL_ITEMS", 1000)
    found = arrange(back)
    assert found.plain
    assert [notice.code for notice in found.notices] == ["large-level"]


def test_boxes_that_hang_on_each_other_alone_are_put_back_as_a_part() -> None:
    # 0 ─▶ 1, both put away, and 2 ─▶ 3
    both = replace(level(4, (0, 1), (2, 3)), automatic=DrawingMask(out_extract=(0, 1)))
    found = arrange(both)
    check(both, found)
    assert found.parts == (((2,), (3,)), ((0,), (1,)))
    assert found.shelves == ((0,), (1,))
    three = replace(level(5, (0, 1), (2, 3), (1, 4)), automatic=DrawingMask(out_extract=(0, 1, 4)))
    assert arrange(three).parts == (((2,), (3,)), ((0,), (1,), (4,)))
    alone = replace(level(2), automatic=DrawingMask(out_extract=(0, 1)))
    assert arrange(alone).parts == (((0,),), ((1,),))


def test_a_box_put_back_between_two_parts_joins_them() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4, where 2 was put away
    whole = replace(level(5, (0, 1), (1, 2), (2, 3), (3, 4)), automatic=DrawingMask(out_extract=(2,)))
    found = arrange(whole)
    check(whole, found)
    assert len(found.parts) == 1
    assert found.main_path == (0, 1, 2, 3) or len(found.main_path) >= 1


def test_the_main_path_runs_through_boxes_not_ports() -> None:
    # 0 ─▶ 1 ─▶ 2 and 0 ─▶ the frame, which is as far but no box; 3 was put away
    away = DrawingMask(out_extract=(3,))
    bridges = (Bridge(0, 100, False, 9, 0, 0),)
    edges = (Metaedge(0, 1, 1, 0, 0), Metaedge(1, 2, 1, 0, 0), Metaedge(0, 3, 1, 0, 0))
    given = Metagraph(0, (1, 2, 3, 4), (2,) * 4, edges, bridges, automatic=away)
    found = arrange(given)
    check(given, found)
    assert [found.wires[wire].chain[-1] for wire in found.main_path] == [1, 2]
    short = replace(given, edges=edges[:1] + edges[2:], children=(1, 2, 3, 4))
    found = arrange(short)
    assert [found.wires[wire].chain[-1] for wire in found.main_path] == [1]


def test_a_box_put_back_with_a_port_of_its_own_joins_no_other_part() -> None:
    # 0 ─▶ the frame, 1 ─▶ 2, and 3 ─▶ the frame, which was put away
    bridges = (Bridge(0, 100, False, 1, 0, 0), Bridge(3, 101, False, 1, 0, 0))
    mask = DrawingMask(out_extract=(3,))
    given = Metagraph(0, (1, 2, 3, 4), (2,) * 4, (Metaedge(1, 2, 1, 0, 0),), bridges, automatic=mask)
    found = arrange(given)
    check(given, found)
    assert [sorted(item for row in part for item in row if item < 4) for part in found.parts] == [[0, 3], [1, 2]]
    assert [slot.others for slot in found.ports] == [((100, False),), ((101, False),)]
