"""Drafts: a skeleton that is changed by hand keeps a waypoint on every rank that a line passes."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.arrange import arrange
from graphviz_tb.arrange.draft import Draft
from graphviz_tb.model.metagraph import Metaedge, Metagraph


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
