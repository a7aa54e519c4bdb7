"""Drafts: a skeleton that is changed by hand keeps a waypoint on every rank that a line passes."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from graphviz_tb import load
from graphviz_tb.arrange import arrange
from graphviz_tb.arrange.draft import Draft
from graphviz_tb.model.metagraph import Mask, Metaedge, Metagraph
from tests.arrange.levels import level


@pytest.mark.parametrize("turned", [False, True])
def test_a_line_gets_one_waypoint_on_each_new_rank(turned: bool) -> None:
    draft = Draft(arrange(Metagraph(0, (1, 2), (2, 2), (Metaedge(0, 1, 1, 0, 0),), ())))
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
    group = plain.names.find("g")[0]
    before, after = plain.skeleton(group), moved.skeleton(group)
    gone = plain.metagraph(group).children.index(plain.names.find("g/c")[0][-1])
    boxes = [[[i for i in row if i < before.children and i != gone] for row in part] for part in before.parts]
    assert moved.metagraph(group).bridges[gone].drawable
    assert [row for part in boxes for row in part if row] == [
        [i for i in row if i < after.children] for part in after.parts for row in part if min(row) < after.children
    ]


def put_back(boxes: int) -> Metagraph:
    """A row of boxes that feed one each; a third of these, which were put away, are back."""
    pairs = [(at, boxes + at) for at in range(boxes)] + [(at, boxes + at - 1) for at in range(1, boxes)]
    away = Mask(out_extract=tuple(range(boxes, 2 * boxes, 3)))
    return replace(level(2 * boxes, *pairs), automatic=away)


def test_what_is_put_back_by_hand_costs_little_more_a_box() -> None:
    def seconds(boxes: int) -> float:
        start = process_time()
        arrange(put_back(boxes))
        return process_time() - start

    seconds(100)
    assert seconds(2400) < 16 * seconds(400)  # six times as many


def test_too_many_bends_of_what_is_put_back_make_plain_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    # a chain of 60, and a box, put away, that each of these feeds
    chain = level(61, *((at, at + 1) for at in range(59)), *((at, 60) for at in range(60)))
    back = replace(chain, automatic=Mask(out_extract=(60,)))
    assert not arrange(back).plain
    monkeypatch.setattr("graphviz_tb.arrange.draft.LARGE", 1000)
    found = arrange(back)
    assert found.plain
    assert [notice.code for notice in found.notices] == ["large-level"]
