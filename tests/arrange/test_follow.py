"""Drafts: a skeleton that is changed by hand keeps a waypoint on every rank that a line passes."""

from __future__ import annotations

import pytest

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
