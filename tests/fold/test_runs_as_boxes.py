"""Runs of numbered names among boxes: they are one box where they are whole and side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb import load
from graphviz_tb.fold.flow.box import FlowBox, SymbolTable, make_group
from graphviz_tb.fold.flow.levels import level_columns
from graphviz_tb.fold.flow.plan import _has_layer_ops
from graphviz_tb.fold.flow.sequence import SequenceElement
from graphviz_tb.fold.flow.stacks import _gather_runs, fold_series, stack_parallel_runs
from graphviz_tb.fold.series import SeriesRun
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.fold.boxes import rows, wired

RUN = SeriesRun(0, "scope/n_[1-3]", (1, 2, 3))


def names(boxes: list[FlowBox]) -> list[str]:
    """Rows by number, series by their members."""
    return [
        f"({' '.join(str(member.row) for member in box.members)})" if box.members else str(box.row) for box in boxes
    ]


def test_a_whole_run_stands_in_the_place_of_its_first_box_in_the_order_of_its_numbers() -> None:
    boxes = rows(*"abcde")
    mixed = [boxes[0], boxes[2], boxes[4], boxes[3], boxes[1]]
    [_, made, _] = found = fold_series(mixed, [RUN], SymbolTable())
    assert names(found) == ["0", "(1 2 3)", "4"]
    assert (made.name, made.ops, made.unit, made.how) == ("n_[1-3]", 3, boxes[1].symbol, GroupOrigin.NAME)


def test_a_run_that_is_not_whole_or_all_there_is_stays_as_it_is() -> None:
    boxes = rows(*"abcde")
    by_row = dict.fromkeys(RUN.members, RUN)
    assert names(_gather_runs(boxes[:3], by_row, SymbolTable())) == ["0", "1", "2"]
    assert names(_gather_runs(boxes[1:4], by_row, SymbolTable())) == ["1", "2", "3"]
    boxes[2].feeders = rows("f")
    assert names(_gather_runs(boxes, by_row, SymbolTable())) == ["0", "1", "2", "3", "4"]
    assert fold_series(boxes, [], SymbolTable()) is boxes


def test_a_run_inside_a_group_is_a_series_there_but_not_in_a_stack() -> None:
    boxes = rows(*"abcde")
    outer = make_group(GroupOrigin.NAME, [make_group(GroupOrigin.NAME, boxes[:4], 90), boxes[4]], 91)
    fold_series([outer], [RUN], SymbolTable())
    assert names(outer.members[0].members) == ["0", "(1 2 3)"]
    tall = make_group(GroupOrigin.REPEAT, boxes[:4], 92)
    tall.unit = 5
    fold_series([tall], [RUN], SymbolTable())
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
    found = stack_parallel_runs(wired(5, *lines), [RUN], SymbolTable())
    assert names(found.boxes) == (["0", "(1 2 3)", "4"] if together else list("01234"))


def test_what_is_not_said_of_a_box_is_not_so() -> None:
    box, made = FlowBox("a", 1, 1), make_group(GroupOrigin.NAME, rows("b"), 2)
    assert not any((box.is_repetition, box.sideways, box.scope, made.is_repetition, made.sideways, made.scope))
    element = SequenceElement(box, 1, 1)
    assert element.is_single_box
    assert not any((element.fork, element.side, element.shortcut, element.source))


@each(
    ("layers", "found"),
    [([], False), (["a"], True), (["c"], True), (["s"], False), (["other"], False), (["s", "c"], True)],
)
def test_a_level_is_one_of_layers_if_any_of_its_ops_is_a_layer(layers: list[str], found: bool) -> None:
    graph = GraphDef(node=[{"name": name, "op": "Op"} for name in ("a", "b", "c", "s/x", "s/y")])
    hierarchy = load(graph, folds=False, series_min=100).hierarchy
    level = level_columns(hierarchy).level(0)
    known = replace(hierarchy.graph, layers=dict.fromkeys(layers))
    assert _has_layer_ops(replace(level, hierarchy=replace(hierarchy, graph=known))) is found
