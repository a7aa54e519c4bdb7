"""Runs of numbered names among boxes: they are one box where they are whole and side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb import load
from graphviz_tb.group.flow import of_layers
from graphviz_tb.group.flow.box import FlowBox, SymbolNumbers, group
from graphviz_tb.group.flow.columns import columns
from graphviz_tb.group.flow.numbered import gathered, stack_runs, with_series
from graphviz_tb.group.flow.sequence import Element
from graphviz_tb.group.series import SeriesRun
from graphviz_tb.model.hierarchy import How
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.group.boxes import rows, wired

RUN = SeriesRun(0, "scope/n_[1-3]", (1, 2, 3))


def names(boxes: list[FlowBox]) -> list[str]:
    """Rows by number, series by their members."""
    return [
        f"({' '.join(str(member.row) for member in box.members)})" if box.members else str(box.row) for box in boxes
    ]


def test_a_whole_run_stands_in_the_place_of_its_first_box_in_the_order_of_its_numbers() -> None:
    boxes = rows(*"abcde")
    mixed = [boxes[0], boxes[2], boxes[4], boxes[3], boxes[1]]
    [_, made, _] = found = with_series(mixed, [RUN], SymbolNumbers())
    assert names(found) == ["0", "(1 2 3)", "4"]
    assert (made.name, made.ops, made.unit, made.how) == ("n_[1-3]", 3, boxes[1].symbol, How.NAME)


def test_a_run_that_is_not_whole_or_all_there_is_stays_as_it_is() -> None:
    boxes = rows(*"abcde")
    by_row = dict.fromkeys(RUN.members, RUN)
    assert names(gathered(boxes[:3], by_row, SymbolNumbers())) == ["0", "1", "2"]
    assert names(gathered(boxes[1:4], by_row, SymbolNumbers())) == ["1", "2", "3"]
    boxes[2].feeders = rows("f")
    assert names(gathered(boxes, by_row, SymbolNumbers())) == ["0", "1", "2", "3", "4"]
    assert with_series(boxes, [], SymbolNumbers()) is boxes


def test_a_run_inside_a_group_is_a_series_there_but_not_in_a_stack() -> None:
    boxes = rows(*"abcde")
    outer = group(How.NAME, [group(How.NAME, boxes[:4], 90), boxes[4]], 91)
    with_series([outer], [RUN], SymbolNumbers())
    assert names(outer.members[0].members) == ["0", "(1 2 3)"]
    tall = group(How.REPEAT, boxes[:4], 92)
    tall.unit = 5
    with_series([tall], [RUN], SymbolNumbers())
    assert names(tall.members) == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("lines", "together"),
    [
        ([(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)], True),
        ([(0, 1), (0, 2), (0, 3), (1, 4), (2, 4)], False),
        ([(0, 1), (0, 2), (1, 4), (2, 4), (3, 4)], False),
        ([(0, 1), (1, 2), (2, 3), (3, 4)], False),
        ([], True),
    ],
)
def test_a_run_with_the_same_inputs_and_users_is_a_box_of_its_own(lines: list[tuple[int, int]], together: bool) -> None:
    found = stack_runs(wired(5, *lines), [RUN], SymbolNumbers())
    assert names(found.boxes) == (["0", "(1 2 3)", "4"] if together else list("01234"))


def test_what_is_not_said_of_a_box_is_not_so() -> None:
    box, made = FlowBox("a", 1, 1), group(How.NAME, rows("b"), 2)
    assert not any((box.stack, box.sideways, box.scope, made.stack, made.sideways, made.scope))
    element = Element(box, 1, 1)
    assert element.plain
    assert not any((element.fork, element.side, element.shortcut, element.source))


@each(
    ("layers", "found"),
    [([], False), (["a"], True), (["c"], True), (["s"], False), (["other"], False), (["s", "c"], True)],
)
def test_a_level_is_one_of_layers_if_any_of_its_ops_is_a_layer(layers: list[str], found: bool) -> None:
    graph = GraphDef(node=[{"name": name, "op": "Op"} for name in ("a", "b", "c", "s/x", "s/y")])
    hierarchy = load(graph, folds=False, series_min=100).hierarchy
    level = columns(hierarchy).level(0)
    known = replace(hierarchy.graph, layers=dict.fromkeys(layers))
    assert of_layers(replace(level, hierarchy=replace(hierarchy, graph=known))) is found
