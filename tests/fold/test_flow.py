"""Folding by flow: groups are convex, nothing is lost, the order of the file says nothing."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphviz_tb
from graphviz_tb.fold.flow.box import FlowBox, SymbolTable, find_cycles, make_dag, make_group
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.fold.flow.regions import _fold_branch
from graphviz_tb.limits import Meter
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy, RowKind
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds
from tests.effort import examples

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
    return [row for row in range(len(hierarchy)) if hierarchy.kind[row] in (RowKind.SERIES, RowKind.FOLD)]


def data_circles(hierarchy: Hierarchy, row: int) -> list[set[int]]:
    """Circles of the data edges between the children of a group."""
    children = hierarchy.children(row).tolist()
    place = {child: at for at, child in enumerate(children)}
    after: list[list[int]] = [[] for _ in children]
    for edge in hierarchy.owned_edges(row).tolist():
        start, stop = int(hierarchy.edge_from[edge]), int(hierarchy.edge_to[edge])
        if start >= 0 and stop >= 0 and start != stop and not hierarchy.graph.control[edge]:
            after[place[start]].append(place[stop])
    return [{children[at] for at in ring} for ring in find_cycles(after)]


@examples(60)
@given(graphs())
def test_no_group_closes_a_circle(graph: GraphDef) -> None:
    """Scopes may: they were written. What folding makes never does."""
    hierarchy = graphviz_tb.load(graph).hierarchy
    raw = graphviz_tb.load(graph, folds=False, series_min=10_000).hierarchy
    if any(data_circles(raw, row) for row in range(len(raw)) if raw.kind[row] != RowKind.OP):
        return
    for row in range(len(hierarchy)):
        if hierarchy.kind[row] != RowKind.OP:
            assert not data_circles(hierarchy, row)


def levels_of(graph: GraphDef) -> dict[str, dict[str, set[str]]]:
    """For each scope as it was written: its children by name, with the children that they feed."""
    raw = graphviz_tb.load(graph, folds=False, series_min=10_000).hierarchy
    found = {}
    for row in (row for row in range(len(raw)) if raw.kind[row] != RowKind.OP):
        after: dict[str, set[str]] = {raw.name[child]: set() for child in raw.children(row)}
        for edge in raw.owned_edges(row).tolist():
            after[raw.name[raw.edge_from[edge]]].add(raw.name[raw.edge_to[edge]])
        found[raw.name[row]] = after
    return found


def reached(after: dict[str, set[str]], start: set[str]) -> set[str]:
    """What lies beyond `start` along the edges, not what is in it."""
    found: set[str] = set()
    todo = [other for one in start for other in after[one]]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += after[name]
    return found


@examples(60)
@given(graphs())
def test_no_path_leaves_a_group_and_comes_back(graph: GraphDef) -> None:
    """Each group is convex among the children of the scope that it stands in, if these stand in no circle."""
    hierarchy, levels = graphviz_tb.load(graph).hierarchy, levels_of(graph)
    for row in made(hierarchy):
        scope = next(one for one in reversed(hierarchy.ancestors(row)) if one not in made(hierarchy))
        after = levels[hierarchy.name[scope]]
        if any(name in reached(after, {name}) for name in after):
            continue
        within = {hierarchy.name[one] for one in range(row, int(hierarchy.end[row]))} & set(after)
        assert within
        beyond = reached(after, within) - within
        assert not any(reached(after, {name}) & within for name in beyond)


@examples(60)
@given(graphs(), st.randoms(use_true_random=False))
def test_whatever_is_open_no_edge_is_lost_and_no_circle_is_made(graph: GraphDef, luck: Random) -> None:
    """What stands on the screen, for any open set: every edge joins two boxes or lies in one, and the boxes can be
    drawn along the edges, if the scopes as they were written can."""
    hierarchy = graphviz_tb.load(graph).hierarchy
    box: dict[int, int] = {}  # for each op the box that stands for it
    todo, edges = [0], 0
    while todo:
        row = todo.pop()
        edges += len(hierarchy.owned_edges(row))
        for child in hierarchy.children(row).tolist():
            if hierarchy.kind[child] != RowKind.OP and luck.random() < 0.5:
                todo.append(child)
            else:
                inside = range(child, int(hierarchy.end[child]))
                box.update(dict.fromkeys(inside, child))
                edges += sum(len(hierarchy.owned_edges(one)) for one in inside)
    assert edges == hierarchy.graph.edge_count
    shown = sorted(set(box.values()))
    place = {row: at for at, row in enumerate(shown)}
    after: list[set[int]] = [set() for _ in shown]
    for edge in range(edges):
        ends = (int(hierarchy.row_of_node[column[edge]]) for column in (hierarchy.graph.source, hierarchy.graph.target))
        start, stop = (place[box[row]] for row in ends)
        if start != stop:
            after[start].add(stop)
    levels = levels_of(graph).values()
    if not any(name in reached(level, {name}) for level in levels for name in level):
        assert not find_cycles([sorted(users) for users in after])


@examples(60)
@given(graphs())
def test_every_op_and_every_edge_is_kept(graph: GraphDef) -> None:
    hierarchy = graphviz_tb.load(graph).hierarchy
    assert hierarchy.op_count(0) == len(graph.node)
    assert len(hierarchy.edge_order) == sum(len(node.input) for node in graph.node)
    assert all(len(hierarchy.children(row)) > 0 for row in made(hierarchy))
    assert all(hierarchy.how[row] != GroupOrigin.NONE and hierarchy.template[row] >= 0 for row in made(hierarchy))


@examples(40)
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
    (stack,) = (row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES)
    assert len(hierarchy.children(stack)) == 12
    assert len({int(hierarchy.template[row]) for row in hierarchy.children(stack)}) == 1
    assert hierarchy.how[stack] == GroupOrigin.REPEAT


def test_a_loop_is_one_box_that_says_so() -> None:
    # x ─▶ merge ─▶ switch ─▶ next ─▶ merge        switch ─▶ exit
    nodes = [("x", []), ("merge", ["x", "next"]), ("switch", ["merge"]), ("next", ["switch"]), ("exit", ["switch:1"])]
    graph = GraphDef(node=[{"name": name, "op": name.title(), "input": sources} for name, sources in nodes])
    hierarchy = graphviz_tb.load(graph).hierarchy
    (loop,) = made(hierarchy)
    assert (hierarchy.name[loop], GroupOrigin(hierarchy.how[loop])) == ("loop", GroupOrigin.LOOP)
    assert {hierarchy.name[row] for row in hierarchy.children(loop)} == {"merge", "switch", "next"}


def two_carried() -> GraphDef:
    """A loop of control flow v1 that carries a counter and a state and reads a weight, between two ops; no names."""
    nodes = [
        ("n0", "Placeholder", []), ("n1", "Relu", ["n0"]), ("n2", "Const", []), ("n3", "Const", []),
        ("n4", "Enter", ["n2"]), ("n5", "Merge", ["n4", "n9"]), ("n6", "Less", ["n5", "n3"]),
        ("n7", "LoopCond", ["n6"]),
        ("n8", "Switch", ["n5", "n7"]), ("n10", "AddOne", ["n8:1"]), ("n9", "NextIteration", ["n10"]),
        ("n11", "Exit", ["n8"]),
        ("n12", "Enter", ["n1"]), ("n13", "Merge", ["n12", "n19"]), ("n14", "Switch", ["n13", "n7"]),
        ("n15", "Enter", ["n3"]), ("n16", "Identity", ["n15"]), ("n17", "MatMul", ["n14:1", "n16"]),
        ("n18", "Tanh", ["n17"]), ("n19", "NextIteration", ["n18"]), ("n20", "Exit", ["n14"]),
        ("n21", "Softmax", ["n20"]), ("n22", "Cast", ["n11"]),
    ]  # fmt: skip
    return GraphDef(node=[{"name": name, "op": op, "input": sources} for name, op, sources in nodes])


def test_a_loop_of_several_values_is_one_box() -> None:
    """The circle of each value leaves by an exit of its own; what the loop only reads belongs to it."""
    hierarchy = graphviz_tb.load(two_carried()).hierarchy
    (loop,) = (row for row in made(hierarchy) if hierarchy.how[row] == GroupOrigin.LOOP)
    inside = {hierarchy.name[row] for row in range(loop + 1, hierarchy.end[loop]) if hierarchy.node[row] >= 0}
    assert {f"n{number}" for number in range(4, 21)} <= inside
    assert not {"n0", "n1", "n21", "n22"} & inside


def test_the_values_of_a_wide_loop_follow_one_another() -> None:
    """Each value has a circle of its own in the box of the loop; parts of no other kind feed one another."""
    graph, values = two_carried(), 5
    for value in range(values):  # each adds the one before
        source = f"v{value - 1}_3" if value else "n18"
        nodes = [
            (0, "Enter", ["n1"]), (1, "Merge", [f"v{value}_0", f"v{value}_8"]), (2, "Switch", [f"v{value}_1", "n7"]),
            (3, "Tanh", [f"v{value}_2:1"]), (4, "Mul", [f"v{value}_3", source]), (5, "Sigmoid", [f"v{value}_4"]),
            (8, "NextIteration", [f"v{value}_5"]), (9, "Exit", [f"v{value}_2"]), (10, "Softmax", [f"v{value}_9"]),
        ]  # fmt: skip
        for at, op, sources in nodes:
            graph.node.add(name=f"v{value}_{at}", op=op, input=sources)
    for number, node in enumerate(sorted(graph.node, key=lambda node: (node.op, node.name)), 1):
        name, node.name = node.name, f"{number * 37 % 101:03}"  # the order of the file says nothing
        for user in graph.node:
            user.input[:] = [re.sub(rf"^{name}(?=$|:)", node.name, text) for text in user.input]
    hierarchy = graphviz_tb.load(graph).hierarchy
    loops = [row for row in made(hierarchy) if hierarchy.how[row] == GroupOrigin.LOOP]
    assert len(loops) == 1 + 2 + values
    for row in (0, *made(hierarchy)):
        assert len(list(hierarchy.children(row))) <= 40
        assert row in loops[1:] or not data_circles(hierarchy, row)


def test_the_value_that_is_found_first_need_not_decide_when_a_loop_ends() -> None:
    """As above, but by name the state comes before the counter that the condition reads."""
    graph = two_carried()
    for node in graph.node:
        node.name = renamed(node.name)
        for slot, text in enumerate(node.input):
            node.input[slot] = renamed(text)
    hierarchy = graphviz_tb.load(graph).hierarchy
    (loop,) = (row for row in made(hierarchy) if hierarchy.how[row] == GroupOrigin.LOOP)
    inside = {hierarchy.name[row] for row in range(loop + 1, hierarchy.end[loop]) if hierarchy.node[row] >= 0}
    assert {renamed(f"n{number}") for number in range(4, 21)} <= inside


def renamed(name: str) -> str:
    """The ops of the counter behind all others."""
    return f"z{name}" if 4 <= int(name[1:].partition(":")[0]) <= 11 else name


def test_a_scope_that_is_a_loop_needs_no_box_for_it() -> None:
    graph = two_carried()
    for node in graph.node:
        names = [f"while/n{number}" if 4 <= number <= 20 else f"n{number}" for number in range(23)]
        node.name = names[int(node.name[1:])]
        for slot, text in enumerate(node.input):
            name, _, output = text.partition(":")
            node.input[slot] = names[int(name[1:])] + (f":{output}" if output else "")
    hierarchy = graphviz_tb.load(graph).hierarchy
    (scope,) = (row for row in range(len(hierarchy)) if hierarchy.name[row] == "while")
    assert not any(
        hierarchy.op_count(row) > 12 and hierarchy.how[row] == GroupOrigin.LOOP
        for row in range(scope + 1, hierarchy.end[scope])
    )


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "residual"])
def test_time_grows_with_the_level(shape: str) -> None:
    """Ten times the nodes take at most twenty times as long."""
    seconds = []
    for count in (300, 3000):
        graph = residual(count)
        if shape == "chain":
            for node in graph.node:
                del node.input[1:]
        seconds.append(cpu_seconds(lambda graph=graph: graphviz_tb.load(graph)))
    assert seconds[1] < 20 * seconds[0] + 0.2


def test_a_branch_opens_beside_what_is_around_it() -> None:
    """35 unlike groups without a narrow place between them: as one branch they must fit in a picture."""
    symbols = SymbolTable()
    ops = [
        [FlowBox(f"g{at}_{one}", symbols.symbol_of("op", f"T{at}{one}"), 1, 3 * at + one) for one in range(3)]
        for at in range(35)
    ]
    groups = [
        make_group(GroupOrigin.NAME, inside, symbols.symbol_of("group", *(box.symbol for box in inside)))
        for inside in ops
    ]
    dag = make_dag(groups, [list(range(max(0, at - 8), at)) for at in range(35)])
    names = Vocabulary(box.name for inside in ops for box in inside)
    found = _fold_branch(dag, list(range(35)), FoldContext(names, symbols, Meter(100_000)), 0)
    assert len(found.members) <= 28
    assert found.ops == 105
