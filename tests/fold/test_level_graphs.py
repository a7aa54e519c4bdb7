"""The graph of a level: its components and circles, its parts, and boxes put into one."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.fold.flow.box import (
    FlowBox,
    _is_acyclic,
    contract_groups,
    dag_components,
    find_cycles,
    has_single_entry,
    make_group,
    strong_components,
    sub_dag,
)
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.model.hierarchy import GroupOrigin
from tests.fold.boxes import wired

Pairs = set[tuple[int, int]]
PAIRS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14)


@given(PAIRS)
def test_components_and_circles_are_those_of_another_library(pairs: Pairs) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(8))
    graph.add_edges_from(pairs)
    after = [sorted(graph.successors(node)) for node in range(8)]
    number = strong_components(after)
    parts = sorted([node for node in range(8) if number[node] == each] for each in set(number))
    assert parts == sorted(sorted(members) for members in nx.strongly_connected_components(graph))
    assert sorted(set(number)) == list(range(len(parts)))
    assert _is_acyclic(after) == nx.is_directed_acyclic_graph(graph)
    assert find_cycles(after) == [members for members in parts if len(members) > 1]
    assert weak_components(8, pairs) == sorted(sorted(members) for members in nx.weakly_connected_components(graph))


def test_a_line_to_what_is_left_out_joins_nothing() -> None:
    # 0 ─▶ 1 ─▶ 2, and 3 ─▶ 4
    dag = wired(5, (0, 1), (1, 2), (3, 4))
    assert dag_components(dag) == [[0, 1, 2], [3, 4]]
    assert dag_components(dag, {1}) == [[0], [1], [2], [3, 4]]


def test_a_part_remembers_what_it_is_given_from_around_it() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3, and 0 ─▶ 3
    dag = wired(4, (0, 1), (1, 2), (2, 3), (0, 3))
    first = id(dag.boxes[0])
    whole = sub_dag(dag, [1, 2, 3])
    assert (whole.before, whole.after) == ([[], [0], [1]], [[1], [2], []])
    assert whole.outside == [[first], [], [first]]
    # Cut again: 3 alone is given 0 from farther out and 2 from near by, of which only the near one counts.
    assert sub_dag(whole, [2]).outside == [[id(dag.boxes[2])]]
    assert sub_dag(whole, [0, 1]).outside == [[first], []]


@pytest.mark.parametrize(
    ("outside", "single"),
    [
        ([[7], [7], [7], []], True),
        ([[7], [7], [7], [7]], False),  # four readers
        ([[7], [8], [], []], False),  # two sources
        ([[], [], [], []], False),
    ],
)
def test_a_single_entry_is_one_source_of_three_boxes_or_fewer(outside: list[list[int]], single: bool) -> None:
    assert has_single_entry(outside) is single


def test_boxes_put_into_one_keep_its_place_and_its_lines_once() -> None:
    # 0 ─▶ 1, 2 ─▶ 3 ─▶ 4, where 1 and 2 become one box; 9 outside feeds both, 8 feeds 2
    dag = wired(5, (0, 1), (0, 2), (1, 3), (2, 3), (3, 4), outside=[[], [9], [9, 8], [], []])
    both = make_group(GroupOrigin.BRANCH, dag.boxes[1:3], 99)
    found = contract_groups(dag, [([1, 2], both)])
    assert found.boxes == [dag.boxes[0], both, *dag.boxes[3:]]
    assert found.before == [[], [0], [1], [2]]
    assert found.outside == [[], [9, 8], [], []]
    assert contract_groups(dag, []) is dag


def test_a_line_inside_a_box_is_gone() -> None:
    dag = wired(3, (0, 1), (1, 2))
    assert contract_groups(dag, [([0, 1], FlowBox("", 0, 2))]).before == [[], [0]]
