"""Folding by flow: groups are convex, nothing is lost, the order of the file says nothing."""

from __future__ import annotations

from collections import Counter
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphviz_tb
from graphviz_tb.group.flow.dag import circles
from graphviz_tb.model.hierarchy import Hierarchy, How, Kind
from graphviz_tb.proto import GraphDef

OPS = ("Conv2D", "Relu", "Add", "MatMul", "Concat")
WORDS = ("block", "conv", "a_1", "a_2", "layer/x", "layer/y", "stage1_block2")


@st.composite
def graphs(draw: st.DrawFn) -> GraphDef:
    """A random graph along its file, with random names: some alike, some in scopes, some numbered."""
    graph = GraphDef()
    for at in range(draw(st.integers(3, 60))):
        name = f"{draw(st.sampled_from(WORDS))}_{at}"
        sources = draw(st.lists(st.integers(0, at - 1), max_size=3, unique=True)) if at else []
        graph.node.add(name=name, op=draw(st.sampled_from(OPS)), input=[graph.node[one].name for one in sources])
    return graph


def made(hierarchy: Hierarchy) -> list[int]:
    """The groups that folding made."""
    return [row for row in range(len(hierarchy)) if hierarchy.kind[row] in (Kind.SERIES, Kind.FOLD)]


def data_circles(hierarchy: Hierarchy, row: int) -> list[set[int]]:
    """Circles of the data edges between the children of a group."""
    children = hierarchy.children(row).tolist()
    place = {child: at for at, child in enumerate(children)}
    after: list[list[int]] = [[] for _ in children]
    for edge in hierarchy.owned(row).tolist():
        start, stop = int(hierarchy.edge_from[edge]), int(hierarchy.edge_to[edge])
        if start >= 0 and stop >= 0 and start != stop and not hierarchy.graph.control[edge]:
            after[place[start]].append(place[stop])
    return [{children[at] for at in ring} for ring in circles(after)]


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_no_group_closes_a_circle(graph: GraphDef) -> None:
    """Scopes may: they were written. What folding makes never does."""
    hierarchy = graphviz_tb.load(graph).hierarchy
    raw = graphviz_tb.load(graph, folds=False, series_min=10_000).hierarchy
    if any(data_circles(raw, row) for row in range(len(raw)) if raw.kind[row] != Kind.OP):
        return
    for row in range(len(hierarchy)):
        if hierarchy.kind[row] != Kind.OP:
            assert not data_circles(hierarchy, row)


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_every_op_and_every_edge_is_kept(graph: GraphDef) -> None:
    hierarchy = graphviz_tb.load(graph).hierarchy
    assert hierarchy.ops(0) == len(graph.node)
    assert len(hierarchy.edge_order) == sum(len(node.input) for node in graph.node)
    assert all(len(hierarchy.children(row)) > 0 for row in made(hierarchy))
    assert all(hierarchy.how[row] != How.NONE and hierarchy.template[row] >= 0 for row in made(hierarchy))


@settings(max_examples=40, deadline=None)
@given(graphs(), st.randoms())
def test_the_order_of_the_file_changes_no_group(graph: GraphDef, luck: object) -> None:
    turned = list(graph.node)
    luck.shuffle(turned)  # type: ignore[attr-defined]
    names = [
        Counter(one.name[row] for row in made(one))
        for one in (graphviz_tb.load(graph).hierarchy, graphviz_tb.load(GraphDef(node=turned)).hierarchy)
    ]
    assert names[0] == names[1]


def residual(blocks: int) -> GraphDef:
    """x ─▶ [conv ─▶ relu ─▶ add ◀─ input of the block] × blocks, without names."""
    graph = GraphDef(node=[{"name": "n", "op": "Placeholder"}])
    before = "n"
    for at in range(blocks):
        names = [f"n_{3 * at + step}" for step in range(3)]
        graph.node.add(name=names[0], op="Conv2D", input=[before])
        graph.node.add(name=names[1], op="Relu", input=[names[0]])
        graph.node.add(name=names[2], op="Add", input=[names[1], before])
        before = names[2]
    return graph


def test_equal_regions_are_one_stack_without_names() -> None:
    hierarchy = graphviz_tb.load(residual(12)).hierarchy
    (stack,) = (row for row in range(len(hierarchy)) if hierarchy.kind[row] == Kind.SERIES)
    assert len(hierarchy.children(stack)) == 12
    assert len({int(hierarchy.template[row]) for row in hierarchy.children(stack)}) == 1
    assert hierarchy.how[stack] == How.REPEAT


def test_a_loop_is_one_box_that_says_so() -> None:
    # x ─▶ merge ─▶ switch ─▶ next ─▶ merge        switch ─▶ exit
    nodes = [("x", []), ("merge", ["x", "next"]), ("switch", ["merge"]), ("next", ["switch"]), ("exit", ["switch:1"])]
    graph = GraphDef(node=[{"name": name, "op": name.title(), "input": sources} for name, sources in nodes])
    hierarchy = graphviz_tb.load(graph).hierarchy
    (loop,) = made(hierarchy)
    assert (hierarchy.name[loop], How(hierarchy.how[loop])) == ("loop", How.LOOP)
    assert {hierarchy.name[row] for row in hierarchy.children(loop)} == {"merge", "switch", "next"}


@pytest.mark.parametrize("shape", ["chain", "residual"])
def test_time_grows_with_the_level(shape: str) -> None:
    """Ten times the nodes take at most twenty times as long."""
    seconds = []
    for count in (300, 3000):
        graph = residual(count)
        if shape == "chain":
            for node in graph.node:
                del node.input[1:]
        start = process_time()
        graphviz_tb.load(graph)
        seconds.append(process_time() - start)
    assert seconds[1] < 20 * seconds[0] + 0.2
