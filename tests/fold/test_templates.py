"""Structure templates: one number exactly for groups whose children can be mapped onto each other."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import make_colouring
from graphviz_tb.fold import templates
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.proto import GraphDef

FIXTURES = Path(__file__).parents[2] / "fixtures"


def raw(graph: GraphDef) -> Model:
    """Scopes only: templates are those of raw children."""
    return graphviz_tb.load(graph, series_min=10_000, folds=False)


def scopes(hierarchy: Hierarchy) -> list[int]:
    return [row for row in range(1, len(hierarchy)) if hierarchy.kind[row] == RowKind.SCOPE]


def as_digraph(model: Model, row: int, label: dict[int, object]) -> nx.DiGraph:
    """The children of a scope with their labels, and what kinds of edges join them."""
    hierarchy, graph = model.hierarchy, nx.DiGraph()
    for child in hierarchy.children(row).tolist():
        graph.add_node(child, label=label[child])
    for edge in hierarchy.owned_edges(row).tolist():
        pair = int(hierarchy.edge_from[edge]), int(hierarchy.edge_to[edge])
        kinds = graph.edges[pair]["kinds"] if graph.has_edge(*pair) else frozenset()
        graph.add_edge(*pair, kinds=kinds | {bool(hierarchy.graph.control[edge])})
    return graph


def by_brute_force(model: Model) -> dict[int, int]:
    """A class for each scope, from the bottom up, by trying every mapping (networkx)."""
    hierarchy = model.hierarchy
    label: dict[int, object] = {}
    classes: list[nx.DiGraph] = []
    for row in range(len(hierarchy) - 1, 0, -1):
        if hierarchy.kind[row] == RowKind.OP:
            label[row] = "op", hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[row]]]
            continue
        mine = as_digraph(model, row, label)
        same = (
            at
            for at, other in enumerate(classes)
            if nx.is_isomorphic(
                mine, other, lambda a, b: a["label"] == b["label"], lambda a, b: a["kinds"] == b["kinds"]
            )
        )
        at = next(same, len(classes))
        if at == len(classes):
            classes.append(mine)
        label[row] = "scope", at
    return {row: label[row][1] for row in scopes(hierarchy)}  # type: ignore[index]


@st.composite
def small_scopes(draw: st.DrawFn) -> GraphDef:
    """Some scopes of up to seven children, few op types, any edges; several of one shape in another order."""
    graph = GraphDef()
    patterns = []
    for _ in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 7))
        ops = draw(st.lists(st.sampled_from(["A", "A", "B"]), min_size=count, max_size=count))
        ends = st.integers(0, count - 1)
        edges = draw(st.lists(st.tuples(ends, ends, st.booleans()), max_size=2 * count))
        nested = draw(st.booleans())
        patterns.append((ops, edges, nested))
    for scope in range(draw(st.integers(2, 5))):
        ops, edges, nested = draw(st.sampled_from(patterns))
        if draw(st.integers(0, 3)) == 0 and edges:
            edges = edges[1:]
        order = draw(st.permutations(range(len(ops))))
        names = {at: f"s{scope}/{'in/' if nested and at % 2 else ''}n{order[at]}" for at in range(len(ops))}
        for at in sorted(range(len(ops)), key=lambda at: names[at]):
            inputs = [("^" if control else "") + names[source] for source, target, control in edges if target == at]
            graph.node.add(name=names[at], op=ops[at], input=inputs)
    return graph


@pytest.mark.parametrize("few", [0, templates.MAX_GROUPS_BY_BYTES], ids=["hashes", "one by one"])
@given(small_scopes())
def test_one_template_exactly_where_a_mapping_exists(few: int, graph: GraphDef) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "MAX_GROUPS_BY_BYTES", few)
        model = raw(graph)
    wanted, template = by_brute_force(model), model.hierarchy.template.tolist()
    for one, two in combinations(wanted, 2):
        assert (template[one] == template[two]) == (wanted[one] == wanted[two])


def classes(model: Model) -> set[frozenset[str]]:
    """Scopes by template, as sets of names."""
    found: dict[int, set[str]] = {}
    for row in scopes(model.hierarchy):
        found.setdefault(int(model.hierarchy.template[row]), set()).add(model.hierarchy.name[row])
    return {frozenset(names) for names in found.values()}


@given(small_scopes(), st.data())
def test_the_order_of_the_file_does_not_matter(graph: GraphDef, data: st.DataObject) -> None:
    shuffled = GraphDef(node=data.draw(st.permutations(list(graph.node))))
    assert classes(raw(graph)) == classes(raw(shuffled))


@pytest.mark.parametrize("few", [0, templates.MAX_GROUPS_BY_BYTES], ids=["hashes", "one by one"])
def test_groups_of_equal_runs_are_one_class(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MAX_GROUPS_BY_BYTES", few)
    # 3 | 1 2 | 3 | 1 2 | 2 1
    values, cuts = np.array([3, 1, 2, 3, 1, 2, 2, 1]), np.array([0, 1, 3, 4, 6, 8])
    heads, same_as = templates.group_equal_runs(templates.ColumnRuns(values, cuts[:-1], cuts[1:]))
    assert (heads, same_as.tolist()) == ([0, 1, 4], [0, 1, 0, 1, 2])


@pytest.mark.parametrize("name", ["cifar10_shapes.pb", "gan_scopes.pb", "lstm_dynamic_rnn.pb", "numbered_series.pb"])
def test_real_graphs_agree_with_brute_force_and_with_another_order(name: str) -> None:
    model = graphviz_tb.load(FIXTURES / "real" / name, series_min=10_000, folds=False)
    graph = model.hierarchy.graph.graph_def
    turned = GraphDef(node=reversed(graph.node), library=graph.library)
    assert classes(model) == classes(raw(turned))
    wanted = by_brute_force(model)
    found: dict[int, set[str]] = {}
    for row, at in wanted.items():
        found.setdefault(at, set()).add(model.hierarchy.name[row])
    assert classes(model) == {frozenset(names) for names in found.values()}


def test_equal_blocks_with_sub_scopes_have_one_template_and_one_colour() -> None:
    # x ─▶ left ─▶ mid ─▶ right, each with a scope `attention` inside
    model = graphviz_tb.load(FIXTURES / "rules/equal_blocks.pbtxt")
    names, template = model.hierarchy.name, model.hierarchy.template
    painter = make_colouring(model.hierarchy, model.facts)
    for group in (("left", "mid", "right"), ("left/attention", "mid/attention", "right/attention")):
        rows = [names.index(name) for name in group]
        assert len({int(template[row]) for row in rows}) == 1
        assert len({painter.fill_of((row,)) for row in rows}) == 1
        assert painter.fill_of((rows[0],)).hued


def test_counting_cannot_tell_a_ring_from_two() -> None:
    # ring: a ─▶ b ─▶ … ─▶ f ─▶ a        pair: two rings of three
    model = graphviz_tb.load(FIXTURES / "rules/almost_equal_blocks.pbtxt")
    ring, pair = (model.hierarchy.template[model.hierarchy.name.index(name)] for name in ("ring", "pair"))
    assert ring != pair


def test_a_structure_that_occurs_once_is_grey() -> None:
    # one: a ─▶ b        two: a ─▶ b ─▶ c
    model = graphviz_tb.load(
        GraphDef(
            node=[
                {"name": "one/a", "op": "A"},
                {"name": "one/b", "op": "A", "input": ["one/a"]},
                {"name": "two/a", "op": "A", "input": ["one/b"]},
                {"name": "two/b", "op": "A", "input": ["two/a"]},
                {"name": "two/c", "op": "A", "input": ["two/b"]},
            ]
        )
    )
    painter = make_colouring(model.hierarchy, model.facts)
    for name in ("one", "two"):
        fill = painter.fill_of((model.hierarchy.name.index(name),))
        assert not fill.hued
        assert fill.fill == painter.theme.neutral


def test_twelve_layers_have_one_template() -> None:
    """TensorBoard gives 12 equal transformer layers 12 identifiers and 10 colours."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    before = "x"
    for layer in range(12):
        scope = f"encoder/layer_{layer}"
        parts = ("attention/query", "attention/key", "attention/scores", "ffn/dense_1/MatMul", "ffn/dense_2/MatMul")
        for part in parts:
            graph.node.add(name=f"{scope}/{part}", op=part.rsplit("/", 1)[-1], input=[before])
            before = f"{scope}/{part}"
    model = graphviz_tb.load(graph)
    names, template = model.hierarchy.name, model.hierarchy.template
    for inside in ("", "/attention", "/ffn", "/ffn/dense_1"):
        assert len({int(template[names.index(f"encoder/layer_{layer}{inside}")]) for layer in range(12)}) == 1
    assert "encoder/layer_[0-11]" in names
