"""Names, inputs, marks, functions: one test a rule, on the graphs that `fixtures/rules` draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import DuplicateNode, UnknownInput
from graphviz_tb.graphs.node_columns import NODES_PER_BATCH
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds
from tests.each import each
from tests.flat import flatten

Rule = Callable[..., Model]
Edge = tuple[str, str, str, str]


def edges(graph: Graph) -> list[Edge]:
    """(source, output, target, kind) of every edge."""
    found = []
    for at in range(graph.edge_count):
        kind = "control" if graph.control[at] else "reference" if graph.reference[at] else "data"
        found.append((graph.name[graph.source[at]], graph.keys[graph.key[at]], graph.name[graph.target[at]], kind))
    return found


def beside(graph: Graph) -> list[tuple[str, str, str, int]]:
    """(mark, side, host, edges) for every place of a mark."""
    places = graph.beside
    return [
        (graph.name[mark], "in" if inward else "out", graph.name[host], int(count))
        for mark, host, inward, count in zip(places.mark, places.host, places.inward, places.edges, strict=True)
    ]


def marks(graph: Graph) -> dict[str, Mark]:
    return {graph.name[node]: Mark(graph.mark[node]) for node in np.flatnonzero(graph.mark)}


def test_how_inputs_are_spelt(rule: Rule) -> None:
    assert edges(rule("input_spellings").hierarchy.graph) == [
        ("s", "0", "a", "data"),
        ("s", "0", "a", "data"),
        ("s", "1", "b", "data"),
        ("s", "2", "b", "data"),
        ("s", "0", "c", "control"),
        ("s", "out:1", "d", "data"),
        ("s:x", "0", "e", "data"),
    ]


def test_every_output_is_kept(rule: Rule) -> None:
    # x ─▶ s,  s:0 ─▶ a,  s:1 ─▶ a,  s:1 ─▶ b
    graph = rule("multiple_outputs").hierarchy.graph
    assert edges(graph)[1:] == [("s", "0", "a", "data"), ("s", "1", "a", "data"), ("s", "1", "b", "data")]


def test_the_kinds_of_edges(rule: Rule) -> None:
    # a ─▶ b        a ┄▶ c        a ─▶ d ◀┄ a        v ═▶ e ◀─ a
    assert {(source, target, kind) for source, _, target, kind in edges(rule("edge_kinds").hierarchy.graph)} == {
        ("a", "b", "data"),
        ("a", "c", "control"),
        ("a", "d", "data"),
        ("a", "d", "control"),
        ("v", "e", "reference"),
        ("a", "e", "data"),
    }


def test_a_control_input_is_never_a_reference(rule: Rule) -> None:
    # v ═▶ set ─▶ read        x ─▶ set        v ═▶ grow ◀┄ set        v ┄▶ clear ◀═ w
    found = {(source, target): kind for source, _, target, kind in edges(rule("reference_edges").hierarchy.graph)}
    references = {ends for ends, kind in found.items() if kind == "reference"}
    assert references == {("v", "set"), ("v", "grow"), ("w", "clear")}
    assert found["v", "clear"] == found["set", "grow"] == "control"


def test_inputs_that_name_no_node_are_told(rule: Rule) -> None:
    # x ─▶ y ◀─ nowhere:1        z ◀┄ neverland
    model = rule("missing_input")
    assert [(edge[0], edge[2]) for edge in edges(model.hierarchy.graph)] == [("x", "y")]
    (notice,) = model.notices
    assert (notice.code, notice.count) == ("unknown-input", 2)
    with pytest.raises(UnknownInput, match="nowhere"):
        rule("missing_input", strict=True)


def test_a_name_that_ends_in_the_name_of_a_node_is_another_name() -> None:
    graph = flatten(GraphDef(node=[{"name": "a", "op": "X"}, {"name": "b", "op": "Y", "input": ["qa", "^a", "a"]}]))
    assert edges(graph) == [("a", "0", "b", "control"), ("a", "0", "b", "data")]
    assert [notice.code for notice in graph.notices] == ["unknown-input"]


def test_two_nodes_of_one_name_are_both_kept(rule: Rule) -> None:
    # x ─▶ twin (Relu)        x ─▶ twin (Elu) ─▶ y
    model = rule("duplicate_names")
    assert model.hierarchy.graph.name.count("twin") == 2
    assert len(edges(model.hierarchy.graph)) == 3
    assert [notice.code for notice in model.notices] == ["duplicate-node"]
    with pytest.raises(DuplicateNode, match="twin"):
        rule("duplicate_names", strict=True)


def test_a_node_may_read_itself(rule: Rule) -> None:
    assert ("spin", "0", "spin", "data") in edges(rule("self_loop").hierarchy.graph)


def test_any_name_is_data(rule: Rule) -> None:
    # nine nodes in a chain
    graph = rule("names_to_escape").hierarchy.graph
    assert len(edges(graph)) == len(graph) - 1
    assert graph.name[:3] == ["<b>&\"'/op", "a::b", "sp ace/ünï"]


def test_a_constant_stands_beside_each_user(rule: Rule) -> None:
    # c ─▶ add ◀─ x ─▶ mul ◀─ c
    assert beside(rule("constant_two_users").hierarchy.graph) == [("c", "in", "add", 1), ("c", "in", "mul", 1)]


def test_a_constant_that_nobody_uses_is_an_ordinary_node(rule: Rule) -> None:
    graph = rule("constant_unused").hierarchy.graph
    assert "c" in graph.name
    assert not marks(graph)


def test_what_a_constant_waits_for_is_kept_once(rule: Rule) -> None:
    # ready ┄▶ c ─▶ add ◀─ x        pause ┄▶ c
    model = rule("constant_with_control_inputs")
    document = model.to_json()
    name = {node["id"]: node["name"] for node in document["nodes"]}
    told = {
        (name[int(child)], name[note[0]])
        for group in document["groups"].values()
        for child, sides in group["annotations"].items()
        for note in sides["in"]
    }
    assert told == {("c", "ready"), ("c", "pause"), ("add", "c")}
    assert {edge[0] for edge in edges(model.hierarchy.graph) if edge[2] == "add"} == {"x", "c"}


def test_a_summary_stands_beside_what_it_sums_up(rule: Rule) -> None:
    # loss ─▶ report ─▶ merge;  tags ─▶ report: tags touches only a mark, so it belongs to it
    graph = rule("summary_with_tags").hierarchy.graph
    assert marks(graph) == {"report": Mark.SUMMARY, "report/tags": Mark.CONSTANT}
    assert sorted(beside(graph)) == [("report", "in", "merge", 1), ("report", "out", "loss", 1)]
    assert {graph.name[mark]: [graph.name[node] for node in owners] for mark, owners in graph.within.items()} == {
        "report/tags": ["report"]
    }


@each(
    ("op", "mark"),
    [
        ("Const", Mark.CONSTANT),
        ("HostConst", Mark.CONSTANT),
        ("ImmutableConst", Mark.CONSTANT),
        ("prim::Constant", Mark.CONSTANT),
        ("ConstantFolding", Mark.NONE),
        ("GuaranteeConst", Mark.NONE),
    ],
)
def test_which_op_types_are_constants(op: str, mark: Mark) -> None:
    # c ─▶ user
    graph = graphviz_tb.load(GraphDef(node=[{"name": "c", "op": op}, {"name": "u", "op": "Relu", "input": ["c"]}]))
    assert marks(graph.hierarchy.graph).get("c", Mark.NONE) == mark


@pytest.mark.parametrize(
    ("op", "mark"),
    [
        ("ScalarSummary", Mark.SUMMARY),
        ("TensorSummaryV2", Mark.SUMMARY),
        ("WriteScalarSummary", Mark.SUMMARY),
        ("MergeSummary", Mark.NONE),
        ("SummaryWriter", Mark.NONE),
    ],
)
def test_which_op_types_are_summaries(op: str, mark: Mark) -> None:
    # x ─▶ s
    graph = graphviz_tb.load(GraphDef(node=[{"name": "x", "op": "Relu"}, {"name": "s", "op": op, "input": ["x"]}]))
    assert marks(graph.hierarchy.graph).get("s", Mark.NONE) == mark


def calls(model: Model) -> list[tuple[str, str, str]]:
    """(node, attribute, function) of every call."""
    graph = model.hierarchy.graph
    return [(graph.name[call.node], call.attr, graph.functions[call.function].name) for call in graph.calls]


def test_a_body_is_stored_once_for_all_its_calls(rule: Rule) -> None:
    model = rule("function_call")
    assert calls(model) == [("first", "f", "double"), ("second", "f", "double")]
    assert model.hierarchy.graph.name.count("twice") == 1


def test_calls_by_op_type(rule: Rule) -> None:
    assert calls(rule("function_legacy_call")) == [("scope/call", "", "square_0badcafe")]


def test_several_bodies(rule: Rule) -> None:
    assert calls(rule("function_two_bodies")) == [("loop", "body", "increment"), ("loop", "cond", "small")]


def test_a_function_may_call_itself(rule: Rule) -> None:
    assert calls(rule("function_recursive")) == [("call", "f", "forever"), ("again", "f", "forever")]


def test_the_edges_of_a_body_stay_in_it(rule: Rule) -> None:
    # x ─▶ first ─▶ second ─▶ y        double: in ─▶ twice
    found = edges(rule("function_call").hierarchy.graph)
    assert {edge[0] for edge in found if edge[2] == "twice"} == {"in"}


def test_a_name_means_the_node_of_its_own_graph() -> None:
    # main: x ─▶ y        f: x (an argument) ─▶ y
    graph = GraphDef(node=[{"name": "x", "op": "A"}, {"name": "y", "op": "B", "input": ["x"]}])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="x")
    function.node_def.add(name="y", op="C", input=["x"])
    flat = graphviz_tb.load(graph).hierarchy.graph
    for at in range(flat.edge_count):
        assert flat.function[flat.source[at]] == flat.function[flat.target[at]]
    assert flat.edge_count == 2


def test_every_spelling_of_the_text_format(rule: Rule) -> None:
    # a ─▶ b ─▶ c ─▶ d ─▶ e ─▶ f ─▶ g
    model = rule("text_features")
    assert [(edge[0], edge[2]) for edge in edges(model.hierarchy.graph)] == list(zip("abcdef", "bcdefg", strict=True))
    assert {notice.code for notice in model.notices} == {"unknown-field"}


def many(kind: str, count: int) -> Any:
    """`count` marks that hang on one another only."""
    op = {"constants": "Const", "summaries": "ScalarSummary"}[kind]
    return GraphDef(node=[{"name": f"n{at}", "op": op, "input": [f"n{at - 1}"] if at else []} for at in range(count)])


@pytest.mark.parametrize("kind", ["constants", "summaries"])
def test_a_graph_of_marks_only_shows_something(kind: str) -> None:
    # n0 ─▶ n1 ─▶ … ─▶ n9
    model = graphviz_tb.load(many(kind, 10))
    assert len(model.metagraph().children) >= 1
    graph = model.hierarchy.graph
    placed = {*graph.beside.mark.tolist(), *graph.within, *np.flatnonzero(graph.mark == Mark.NONE).tolist()}
    assert placed == set(range(10))


@pytest.mark.slow
def test_of_each_circle_of_constants_one_is_drawn_in_linear_time() -> None:
    # a0 ⇄ b0, a1 ⇄ b1, …
    def circles(count: int) -> GraphDef:
        pairs = [pair for n in range(count) for pair in ((f"a{n}", f"b{n}"), (f"b{n}", f"a{n}"))]
        return GraphDef(node=[{"name": name, "op": "Const", "input": [other]} for name, other in pairs])

    few, many = circles(1000), circles(10_000)
    assert cpu_seconds(lambda: flatten(many)) < 40 * cpu_seconds(lambda: flatten(few))
    graph = flatten(many)
    assert [name for name, mark in zip(graph.name, graph.mark, strict=True) if mark == Mark.NONE] == [
        f"a{number}" for number in range(10_000)
    ]


def test_an_input_is_split_before_a_node_of_the_whole_text_is_looked_for() -> None:
    # s ─▶ user (output 1), c ─▶ other (control), although nodes are called "s:1" and "^c"
    graph = graphviz_tb.load(
        GraphDef(
            node=[
                *({"name": name, "op": "A"} for name in ("s", "s:1", "c")),
                {"name": "user", "op": "A", "input": ["s:1"]},
                {"name": "other", "op": "A", "input": ["^c"]},
            ]
        )
    ).hierarchy.graph
    assert edges(graph) == [("s", "1", "user", "data"), ("c", "0", "other", "control")]


def test_of_equal_inputs_in_a_row_each_is_an_edge_but_in_tensorboard() -> None:
    # x ─▶ y three times: twice in a row, and once after z
    nodes = [
        {"name": "x", "op": "A"},
        {"name": "z", "op": "A"},
        {"name": "y", "op": "A", "input": ["x", "x:1", "z", "x"]},
    ]
    ours = graphviz_tb.load(GraphDef(node=nodes)).hierarchy.graph
    theirs = graphviz_tb.load(GraphDef(node=nodes), preset="tensorboard").hierarchy.graph
    assert [source for source, *_ in edges(ours)] == ["x", "x", "z", "x"]
    assert [source for source, *_ in edges(theirs)] == ["x", "z", "x"]
    assert ours.slot.tolist() == [0, 1, 2, 3]


def test_an_input_is_not_read_without_its_first_letter() -> None:
    nodes = [{"name": "a", "op": "A"}, {"name": "b", "op": "B", "input": ["xa", "^xa"]}]
    graph = graphviz_tb.load(GraphDef(node=nodes)).hierarchy.graph
    assert edges(graph) == []


@pytest.mark.parametrize("odd", ["plain", "twice", "a:1", "^a"])
def test_inputs_are_found_before_and_behind_a_node_and_far_from_it(odd: str) -> None:
    count = 2 * NODES_PER_BATCH + 10
    graph = GraphDef()
    for number in range(count):
        given = [f"n{(number * 7) % count}", f"^n{count - 1 - number}", f"n{number}:2", "missing"]
        graph.node.add(name=f"n{number}", op="Relu", input=given)
    graph.node.add(name={"plain": "a", "twice": "n3"}.get(odd, odd), op="Relu")
    last = count if odd == "twice" else 3  # of two nodes with one name the last is meant
    found = flatten(graph)
    for number in (0, 3, NODES_PER_BATCH, count - 1):
        into = np.flatnonzero(found.target == number)
        means = [last if each == 3 else each for each in ((number * 7) % count, count - 1 - number, number)]
        assert found.source[into].tolist() == means
        assert [found.keys[key] for key in found.key[into]] == ["0", "0", "2"]
        assert found.control[into].tolist() == [False, True, False]
    assert next(each.count for each in found.notices if each.code == "unknown-input") == count
