"""What closes a circle with the file's own scopes stands aside: sums between gradients, what trains a model."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.graphs.level_flow import repeatedly_called_scopes
from graphviz_tb.graphs.traversal import strong_components
from graphviz_tb.model.hierarchy import FOLD_ROW, SERIES_ROW
from graphviz_tb.proto import GraphDef


def sums(count: int) -> GraphDef:
    """tape/m0 ─▶ AddN ─▶ tape/m1 ─▶ AddN_1 ─▶ tape/m2 …: a scope, and sums of what comes out of it and goes back."""
    nodes = [{"name": "x", "op": "Placeholder"}, {"name": "tape/m0", "op": "Mul", "input": ["x"]}]
    for at in range(count):
        total = f"AddN_{at}" if at else "AddN"
        nodes.append({"name": total, "op": "AddN", "input": [f"tape/m{at}"]})
        nodes.append({"name": f"tape/m{at + 1}", "op": "Mul", "input": [total, f"tape/m{at}"]})
    nodes.append({"name": "y", "op": "Relu", "input": [f"tape/m{count}"]})
    return GraphDef(node=nodes)


def aside(graph: GraphDef, preset: str | None = None) -> set[str]:
    """Names of the root's children in the auxiliary area."""
    model = load(graph, preset=preset) if preset else load(graph)
    level = model.expander.metagraph((0,))
    return {model.hierarchy.name[level.children[at]] for at in level.mask.extracted_children}


def test_a_stack_that_circles_with_a_larger_scope_stands_aside() -> None:
    assert aside(sums(6)) == {"AddN_[0-5]"}


def test_a_stack_as_large_as_the_scope_stays() -> None:
    # tape/m6 leaves the scope, which holds six ops then, as many as there are sums
    level = sums(6)
    level.node[-2].name = "outside"
    level.node[-1].input[0] = "outside"
    assert "AddN_[0-5]" not in aside(level)


def test_the_rest_has_no_circle_and_every_line_of_the_stack_has_a_stub_at_both_ends() -> None:
    model = load(sums(6))
    level = model.expander.metagraph((0,))
    names = [model.hierarchy.name[row] for row in level.children]
    drawn = {(names[level.edges[at].source], names[level.edges[at].target]) for at in level.core_edges()}
    assert drawn == {("x", "tape"), ("tape", "y")}
    stubs = sorted((names[note.child], note.side) for note in level.annotations)
    assert stubs == [("AddN_[0-5]", "in"), ("AddN_[0-5]", "out"), ("tape", "in"), ("tape", "out")]


def test_tensorboard_draws_the_circle() -> None:
    assert "AddN_[0-5]" not in aside(sums(6), "tensorboard")


def called(times: int, between: int) -> GraphDef:
    """A scope that runs again and again, and not always the same: a chain of so many ops, the scope, and its result is
    added to a state. What does the same each time is a group for each call."""
    nodes = [{"name": "x", "op": "Placeholder"}]
    state = "x"
    for at in range(times):
        last = state
        for step, op in enumerate(["Sub", "Mul", "Sqrt", "Neg"] * (between // 4)):
            nodes.append({"name": f"net/op_{at}_{step}", "op": op, "input": [last]})
            last = f"net/op_{at}_{step}"
        for op in ("MatMul", "Tanh", "Softmax")[at % 2 :]:
            nodes.append({"name": f"net/update/{op}_{at}", "op": op, "input": [last]})
            last = f"net/update/{op}_{at}"
        nodes.append({"name": f"net/state_{at}", "op": "AddV2", "input": [state, last]})
        state = f"net/state_{at}"
    nodes.append({"name": "y", "op": "Relu", "input": [state]})
    return GraphDef(node=nodes)


@pytest.mark.parametrize(("times", "between"), [(6, 4), (12, 4), (12, 12)])
def test_a_scope_that_is_called_again_stands_aside_where_its_calls_lead_through_folds(times: int, between: int) -> None:
    model = load(called(times, between))
    hierarchy = model.hierarchy
    assert "net/update" in {hierarchy.name[row] for row in aside_in(model, hierarchy.name.index("net"))}
    for row in range(len(hierarchy)):
        if hierarchy.can_open(row):
            level = model.expander.metagraph((row,))
            after: list[list[int]] = [[] for _ in level.children]
            for at in level.core_edges():
                after[level.edges[at].source].append(level.edges[at].target)
            component = strong_components(after)
            folds = [at for at, child in enumerate(level.children) if hierarchy.kind[child] in (SERIES_ROW, FOLD_ROW)]
            assert all(component.count(component[fold]) == 1 for fold in folds)


def aside_in(model: Model, row: int) -> list[int]:
    """The children of a group in its auxiliary area."""
    level = model.expander.metagraph((row,))
    return [level.children[at] for at in level.mask.extracted_children]


@pytest.mark.parametrize("times", [3, 6, 12])
def test_what_is_called_again_does_not_depend_on_what_is_folded(times: int) -> None:
    graph = called(times, 4)
    names = set()
    for choices in ({}, {"folds": False}, {"folds": False, "series_min": 1000}):
        hierarchy = load(graph, **choices).hierarchy
        net = hierarchy.name.index("net")
        groups = [row for row in range(net, hierarchy.end[net]) if hierarchy.kind[row] in (SERIES_ROW, FOLD_ROW)]
        rows = {repeatedly_called_scopes(hierarchy, row) for row in (net, *groups) if hierarchy.parent[row] in (0, net)}
        names.add(frozenset(hierarchy.name[row] for found in rows for row in found))
    assert names == {frozenset(["net/update"])}
