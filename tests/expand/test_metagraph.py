"""What a group holds when it is open: metaedges, bridges, the auxiliary area, annotations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.expand.calls import loop_back_edges
from graphviz_tb.model.paths import RowPath
from graphviz_tb.proto import GraphDef

Rule = Callable[..., Model]


def at(model: Model, *names: str) -> RowPath:
    """The path of a group: its name, or the names of the calls around it first."""
    (path,) = model.names.find_paths("::".join(names))
    return path


def edges(model: Model, path: RowPath = (0,)) -> dict[tuple[str, str], tuple[int, int, int]]:
    """(source, target) → (data, control, reference) edges."""
    level, name = model.metagraph(path), model.hierarchy.name
    rows = level.children
    return {
        (name[rows[edge.source]], name[rows[edge.target]]): (edge.tensors, edge.control, edge.reference)
        for edge in level.edges
    }


def listed(model: Model) -> list[dict[str, Any]]:
    """The root's metaedges as the JSON document lists them."""
    found: list[dict[str, Any]] = model.to_json()["groups"]["0"]["edges"]
    return found


def extracted(model: Model, path: RowPath = (0,)) -> tuple[list[str], list[str]]:
    level, name = model.metagraph(path), model.hierarchy.name
    columns = level.mask.in_extract, level.mask.out_extract
    return tuple([name[level.children[child]] for child in column] for column in columns)  # type: ignore[return-value]


def stubs(model: Model, path: RowPath = (0,)) -> set[tuple[str, str, str]]:
    """(child, side, other) of every shortcut."""
    level, name = model.metagraph(path), model.hierarchy.name
    notes = [note for note in level.annotations if note.kind == "shortcut"]
    return {(name[level.children[note.child]], note.side, name[note.other]) for note in notes}


def test_one_line_for_many(rule: Rule) -> None:
    # left/a ─▶ right/c,  left/b ─▶ right/c,  left/b ─▶ right/d,  left/a ┄▶ right/d
    model = rule("one_line_for_many")
    assert edges(model) == {("left", "right"): (3, 1, 0)}
    (edge,) = listed(model)
    assert len(edge["shapes"]) == 2  # a and b: two tensors


def test_a_cycle_of_scopes_is_two_lines(rule: Rule) -> None:
    # model/a ─▶ loss/b ─▶ model/c ─▶ loss/d
    assert edges(rule("scope_cycle")) == {("model", "loss"): (2, 0, 0), ("loss", "model"): (1, 0, 0)}


def test_the_kinds_of_metaedges(rule: Rule) -> None:
    # a ─▶ b        a ┄▶ c        a ─▶ d ◀┄ a        v ═▶ e ◀─ a
    model = rule("edge_kinds", show_variables=True)
    found = edges(model)
    assert found["a", "d"] == (1, 1, 0)
    assert found["a", "c"] == (0, 1, 0)
    assert found["v", "e"] == (1, 0, 1)
    kinds = {edge.kind for edge in model.metagraph().edges}
    assert kinds == {"data", "control", "reference"}


@pytest.mark.parametrize("preset", ["default", "tensorboard"])
def test_no_more_references_than_tensors(preset: str) -> None:
    # A control input written before the data: TensorBoard takes the first input of an Assign for its reference.
    text = (
        b'node{name:"v" op:"Variable"} node{name:"i" op:"X"} node{name:"a" op:"Assign" input:"^i" input:"v" input:"i"}'
    )
    found = edges(graphviz_tb.load(text, preset=preset, show_variables=True))
    assert found["i", "a"] == (1, 1, 0)
    assert all(reference <= tensors for tensors, _, reference in found.values())


def test_what_a_constant_waits_for_is_no_reference() -> None:
    # x ┄▶ c ═▶ a: TensorBoard takes c out and leads its input on to a
    text = b'node{name:"x" op:"X"} node{name:"c" op:"Const" input:"^x"} node{name:"a" op:"Assign" input:"c"}'
    assert edges(graphviz_tb.load(text, preset="tensorboard"))["x", "a"] == (0, 1, 0)


def test_two_tensors_on_one_line(rule: Rule) -> None:
    # x ─▶ s,  s:0 ─▶ a,  s:1 ─▶ a,  s:1 ─▶ b
    found = edges(rule("multiple_outputs"))
    assert found == {("x", "s"): (1, 0, 0), ("s", "a"): (2, 0, 0), ("s", "b"): (1, 0, 0)}


def test_a_loop_is_kept(rule: Rule) -> None:
    # x ─▶ spin ─▶ spin
    level = rule("self_loop").metagraph()
    assert [(level.children[child], count) for child, count in level.loops] == [(2, 1)]


def test_edges_cross_borders_at_bridges(rule: Rule) -> None:
    # a/b/c/x ─▶ a/b/d/y ─▶ a/e/z ─▶ f/g/w
    model = rule("bridges")
    name = model.hierarchy.name

    def bridges(group: str) -> list[tuple[str, str, bool]]:
        level = model.metagraph(at(model, group))
        return [(name[level.children[one.child]], name[one.other], one.inbound) for one in level.bridges]

    assert edges(model) == {("a", "f"): (1, 0, 0)}
    assert bridges("a") == [("a/e", "f", False)]
    assert bridges("a/b") == [("a/b/d", "a/e", False)]
    assert bridges("a/b/d") == [("a/b/d/y", "a/b/c", True), ("a/b/d/y", "a/e", False)]
    assert bridges("f/g") == [("f/g/w", "a", True)]
    assert all(one.drawable for group in ("a", "a/b", "f/g") for one in model.metagraph(at(model, group)).bridges)


def test_sizes_count_elements(rule: Rule) -> None:
    # tiny [1] ─▶ t        small [100] ─▶ s        large [1000, 1000] ─▶ l        giant [10⁵, 10⁵] ─▶ g
    assert [edge["size"] for edge in listed(rule("thickness"))] == [1, 100, 10**6, 10**10]


def test_an_unknown_dimension_counts_as_one(rule: Rule) -> None:
    # a [?, 3] ─▶ b (rank unknown) ─▶ c (scalar) ─▶ d (nothing stated) ─▶ e [2, 0]
    found = listed(rule("unknown_shapes"))
    assert [edge["size"] for edge in found] == [3, 3, 1, 1, 0]  # b is as a, which is inferred
    assert [edge["shapes"] for edge in found] == [[[None, 3]], [[None, 3]], [[]], [[]], [[2, 0]]]


def test_shapes_that_ops_state_themselves(rule: Rule) -> None:
    # x [4, 3] ─▶ add [4, 3] ◀─ v [3]
    found = listed(rule("stated_shapes", show_variables=True))
    assert [edge["shapes"] for edge in found] == [[[4, 3]], [[3]], [[4, 3]]]


def test_a_sink_goes_to_the_auxiliary_area(rule: Rule) -> None:
    # x ─▶ v/assign ┄▶ init        x ─▶ w/assign ┄▶ init        x ─▶ y
    model = rule("noop_sink")
    assert extracted(model) == ([], ["init"])
    assert stubs(model) == {("v", "out", "init"), ("w", "out", "init"), ("init", "in", "v"), ("init", "in", "w")}


def test_tensorboard_draws_four_control_edges_and_not_five(rule: Rule) -> None:
    # gate ┄▶ a, b, c, d (, e)
    assert not stubs(rule("control_four", preset="tensorboard"))
    assert not stubs(rule("control_hub"))  # eight boxes are read with every line
    model = rule("control_hub", preset="tensorboard")
    assert stubs(model) == {
        (*pair, "gate") for pair in (("a", "in"), ("b", "in"), ("c", "in"), ("d", "in"), ("e", "in"))
    } | {("gate", "out", name) for name in "abcde"}
    assert extracted(model) == (["gate"], [])


def test_a_hub_goes_and_the_chain_stays(rule: Rule) -> None:
    # a ─▶ b ─▶ … ─▶ q        hub ─▶ each of b … q
    """TensorBoard's rule, and ours where a level has more than forty children; a level that is read whole keeps it."""
    model = rule("hub_of_16", preset="tensorboard")
    assert [*chain(*extracted(model))] == ["hub"]
    level = model.metagraph()
    assert len(level.core_edges()) == 16
    assert len(level.core_children()) == 17
    assert extracted(rule("hub_of_16")) == ([], [])


def test_a_level_is_never_emptied(rule: Rule) -> None:
    # s01 … s15 ─▶ hub
    assert extracted(rule("star_of_15")) == ([], [])
    away = extracted(rule("star_of_15", preset="tensorboard"))
    assert len([*chain(*away)]) == 16  # TensorBoard shows nothing


@pytest.mark.parametrize("choice", [{"extract": False}, {"main": ("hub",)}, {"auto_extract": False}])
def test_a_hub_that_is_kept_has_all_its_edges(rule: Rule, choice: dict[str, Any]) -> None:
    model = rule("hub_of_16", **choice)
    assert extracted(model) == ([], [])
    assert not stubs(model)
    assert len(model.metagraph().core_edges()) == 32


def test_any_node_can_be_put_away(rule: Rule) -> None:
    # a chain of 17, and a hub
    model = rule("hub_of_16", aux=("d",))
    assert {*chain(*extracted(model))} == {"d"}
    assert ("c", "out", "d") in stubs(model)
    assert ("e", "in", "d") in stubs(model)


def test_a_constant_is_no_neighbour(rule: Rule) -> None:
    """TensorBoard moves a lone op with a constant to the auxiliary area."""
    # c ─▶ alone        x ─▶ y
    nodes = [
        {"name": "c", "op": "Const"},
        {"name": "alone", "op": "Relu", "input": ["c"]},
        {"name": "x", "op": "A"},
        {"name": "y", "op": "B", "input": ["x"]},
    ]
    assert extracted(graphviz_tb.load(GraphDef(node=nodes))) == ([], [])
    assert extracted(graphviz_tb.load(GraphDef(node=nodes), preset="tensorboard")) == ([], ["alone"])


def test_a_loop_of_tensorflow_1_is_one_cycle(rule: Rule) -> None:
    model = rule("while_frame", folds=False)
    path = at(model, "while")
    assert turned(model, path) == [("while/next", "while/merge")]


def test_a_cycle_of_two_turns_the_edge_against_the_file(rule: Rule) -> None:
    # x ─▶ merge ─▶ next ─▶ merge
    assert turned(rule("cycle_of_two", folds=False), (0,)) == [("next", "merge")]


def turned(model: graphviz_tb.Model, path: tuple[int, ...]) -> list[tuple[str, str]]:
    """The metaedges that are drawn against the flow."""
    level, name = model.metagraph(path), model.hierarchy.name
    edges = [level.edges[wire.edge] for wire in model.skeleton(path).wires if wire.turned and wire.edge >= 0]
    return [(name[level.children[edge.source]], name[level.children[edge.target]]) for edge in edges]


def test_a_call_opens_in_place(rule: Rule) -> None:
    # x ─▶ first ─▶ second ─▶ y        double: in ─▶ twice
    model = rule("function_call")
    for call in ("first", "second"):
        path = at(model, call)
        assert [model.hierarchy.name[row] for row in model.metagraph(path).children] == ["in", "twice"]
        assert edges(model, path) == {("in", "twice"): (2, 0, 0)} or edges(model, path) == {("in", "twice"): (1, 0, 0)}
        inside = {(one.inbound, model.hierarchy.name[one.other]) for one in model.metagraph(path).bridges}
        assert inside == {"first": {(True, "x"), (False, "second")}, "second": {(True, "first"), (False, "y")}}[call]


def test_metagraphs_do_not_depend_on_what_was_opened_before(rule: Rule) -> None:
    fresh, used = rule("bridges"), rule("bridges")
    for group in ("f/g", "a/b/d", "a"):
        used.metagraph(at(used, group))
    assert fresh.metagraph(at(fresh, "a/b")) == used.metagraph(at(used, "a/b"))


def test_a_sink_is_one_wherever_it_is_in_the_file() -> None:
    ops = {"init": ("NoOp", ["^a", "^b"]), "a": ("Const", []), "b": ("Neg", ["a"]), "c": ("Exp", ["b"])}
    graph = GraphDef(node=[{"name": name, "op": op, "input": inputs} for name, (op, inputs) in ops.items()])
    assert extracted(graphviz_tb.load(graph)) == ([], ["init"])
    graph.node.sort(key=lambda node: node.name)
    assert extracted(graphviz_tb.load(graph)) == ([], ["init"])


def test_a_loop_closes_between_children_that_are_asked_for() -> None:
    graph = GraphDef()
    graph.node.add(name="start", op="Placeholder")
    graph.node.add(name="while", op="While", input=["start"]).attr["body"].func.name = "body"
    body = graph.library.function.add()
    body.signature.name = "body"
    body.signature.input_arg.add(name="x")
    body.signature.output_arg.add(name="y")
    body.node_def.add(name="next", op="Neg", input=["x"])
    body.node_def.add(name="other", op="Exp", input=["x"])
    body.ret["y"] = "next:y:0"
    model = graphviz_tb.load(graph, folds=False)
    hierarchy = model.hierarchy
    (function,) = hierarchy.function_rows
    rows = hierarchy.children(function).tolist()
    (closed,) = loop_back_edges(hierarchy, model.facts, 0, rows)
    assert [hierarchy.name[rows[end]] for end in (closed.source, closed.target)] == ["next", "x"]
    # Where one end is no child that was asked for there is nothing to close.
    for missing in rows[closed.source], rows[closed.target]:
        assert not loop_back_edges(hierarchy, model.facts, 0, [row for row in rows if row != missing])


def test_what_enters_and_leaves_first_is_first() -> None:
    # encoder_in ─▶ m/a ─▶ m/b ─▶ m/c ─▶ out, decoder_in ─▶ m/c, m/b ─▶ state; listed in another order
    graph = GraphDef()
    for name, inputs in (
        ("decoder_in", ()),
        ("encoder_in", ()),
        ("m/a", ("encoder_in",)),
        ("m/b", ("m/a",)),
        ("m/c", ("m/b", "decoder_in")),
        ("out", ("m/c",)),
        ("state", ("m/b",)),
    ):
        graph.node.add(name=name, op="Relu" if inputs else "Placeholder", input=inputs)
    for order in (graph.node, reversed(graph.node)):
        model = graphviz_tb.load(GraphDef(node=order))
        found = [*edges(model)]
        assert [source for source, target in found if target == "m"] == ["encoder_in", "decoder_in"]
        assert [target for source, target in found if source == "m"] == ["state", "out"]


@pytest.mark.parametrize("picks", [False, True])
def test_an_input_that_only_joins_data_is_before_that_data(picks: bool) -> None:
    # tokens ─▶ m/table ─▶ m/layer ─▶ out; `side` is added in m/layer, as a mask, or picks what is computed there
    graph = GraphDef()
    for name, op, inputs in (
        ("tokens", "Placeholder", ()),
        ("side", "Placeholder", ()),
        ("m/table/w", "VariableV2", ()),
        ("m/table/look_up", "GatherV2", ("m/table/w", "tokens")),
        ("m/layer/w", "VariableV2", ()),
        ("m/layer/product", "MatMul", ("m/table/look_up", "m/layer/w")),
        ("m/layer/cast", "Cast", ("side",)),
        ("m/layer/join", "GatherV2" if picks else "AddV2", ("m/layer/product", "side" if picks else "m/layer/cast")),
        ("out", "Identity", ("m/layer/join",)),
    ):
        node = graph.node.add(name=name, op=op, input=inputs)
        if op == "Placeholder":
            node.attr["dtype"].type = 3  # int32
        elif op == "Cast":
            node.attr["SrcT"].type, node.attr["DstT"].type = 3, 1
    for order in (graph.node, reversed(graph.node)):
        found = [source for source, target in edges(graphviz_tb.load(GraphDef(node=order))) if target == "m"]
        assert found == (["tokens", "side"] if picks else ["side", "tokens"])


def constants_beside(op: str, *inputs: str, preset: str = "default") -> list[str]:
    """The constants drawn beside an op with these inputs: `x` is data, all others are constants."""
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    for name in sorted({*inputs} - {"x"}):
        graph.node.add(name=name, op="Const")
    graph.node.add(name="y", op=op, input=inputs)
    model = graphviz_tb.load(graph, preset=preset)
    level, names = model.metagraph((0,)), model.hierarchy.name
    return sorted(names[note.other] for note in level.annotations if note.kind == "constant")


def test_a_constant_that_is_a_setting_of_an_op_is_not_drawn_beside_it_but_one_that_is_data_is() -> None:
    # x ─▶ Mean ◀─ axes: a setting.   x ─▶ Add ◀─ c: data.   The axis of a concatenation is its last input.
    assert constants_beside("Mean", "x", "axes") == []
    assert constants_beside("StridedSlice", "x", "begin", "end", "strides") == []
    assert constants_beside("AddV2", "x", "c") == ["c"]
    assert constants_beside("ConcatV2", "x", "c", "axis") == ["c"]
    assert constants_beside("Transpose", "both", "both") == ["both"]  # data as well
    assert constants_beside("Mean", "x", "axes", preset="tensorboard") == ["axes"]
