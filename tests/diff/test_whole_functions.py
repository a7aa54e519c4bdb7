"""Functions that came or went as a whole: no op of the graph is among what changed."""

from __future__ import annotations

from graphviz_tb.diff.changes.compose import compose_change
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Unit
from tests.diff.test_causes import graph
from tests.diff.test_limits import matching


def test_one_that_came_and_one_that_went_are_no_ops_in_place_of_others() -> None:
    m = matching(graph("x Relu"), graph("x Relu"))
    came = Change("added", "op", None, "f", 7, Unit(op_types={"Add": 7}, function="f"))
    went = Change("removed", "op", "g", None, 3, Unit(op_types={"Add": 3}, function="g"))
    made = compose_change(m, [went, came])
    assert made.kind in ("added", "removed")
    assert made.name in ("f", "g")
