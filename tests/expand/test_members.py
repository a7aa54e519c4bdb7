"""A member that its stack shows alone has the lines of the whole stack, at the children that correspond."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, parent_path, sole_open_members, sole_stack, usual_member
from graphviz_tb.proto import GraphDef

Line = tuple[str, str, str]


def chain(count: int, *more: dict[str, Any], skip: int = 0) -> GraphDef:
    """x ─▶ stem ─▶ b_1 ─▶ … ─▶ y: blocks of mul ─▶ sum, each of which reads the mask. The first stands before the
    stack of the others. With `skip`, the sum reads that of an earlier block, and the first is b_0."""
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}, {"name": "mask", "op": "Placeholder"}]
    last = "x"
    for at in range(count):
        scope = f"b_{at}" if at or skip else "stem"
        nodes.append({"name": f"{scope}/mul", "op": "Mul", "input": [last, "mask"]})
        far = [f"b_{at - skip}/sum"] if skip and at >= skip else [last]
        nodes.append({"name": f"{scope}/sum", "op": "AddN", "input": [f"{scope}/mul", *far]})
        last = f"{scope}/sum"
    nodes.append({"name": "y", "op": "Relu", "input": [last]})
    return GraphDef(node=[*nodes, *more])


def lines(model: Model, member: str) -> set[Line]:
    """The lines of a member that is shown: the child, the way, the neighbour; "stub" before it where it is none."""
    hierarchy = model.hierarchy
    level = model.members.metagraph((hierarchy.name.index(member),))
    return {
        (
            hierarchy.display_label(level.children[bridge.child]),
            "<-" if bridge.inbound else "->",
            ("" if bridge.drawable else "stub ") + hierarchy.name[bridge.other],
        )
        for bridge in level.bridges
    }


def test_what_enters_a_shown_member_has_the_size_that_this_member_takes() -> None:
    graph = chain(6)
    for node in graph.node:
        size = {"x": 3, "mask": 1}.get(node.name, 8)
        node.attr["_output_shapes"].list.shape.add().dim.add(size=size)
    model = load(graph)
    for member in ("b_1", "b_3"):
        level = model.members.metagraph((model.hierarchy.name.index(member),))
        found = {model.hierarchy.name[line.other]: line.carried_tensors[0].shape for line in level.bridges}
        assert found.pop("mask") == (1,)
        assert set(found.values()) == {(8,)}


@pytest.mark.parametrize("member", ["b_1", "b_3", "b_5"])
def test_whichever_is_shown_it_is_fed_by_what_feeds_the_first_and_feeds_what_the_last_does(member: str) -> None:
    model = load(chain(6))
    assert lines(model, member) == {
        ("mul", "<-", "stem"), ("mul", "<-", "mask"), ("sum", "<-", "stem"), ("sum", "->", "y"),
    }  # fmt: skip


def test_a_member_unlike_the_usual_one_has_the_lines_of_the_others_where_it_meets_its_neighbours() -> None:
    # x ─▶ b_0/c0 ─▶ b_0/c1 ─▶ b_1/c0 ─▶ … ─▶ y, where x stands in one fold with b_0: it is no copy of the others.
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}, {"name": "mask", "op": "Placeholder"}]
    last = "x"
    for at in range(5):
        for cell, more in (("c0", []), ("c1", ["mask"])):
            scope = f"b_{at}/{cell}"
            nodes.append({"name": f"{scope}/mul", "op": f"Op{cell}", "input": [last, *more]})
            nodes.append({"name": f"{scope}/end", "op": "Relu", "input": [f"{scope}/mul"]})
            last = f"{scope}/end"
    model = load(GraphDef(node=[*nodes, {"name": "y", "op": "AddN", "input": [last]}]))
    assert lines(model, "b_0 (x → b_0)") == {("b_0", "<-", "mask"), ("b_0", "->", "y")}
    assert lines(model, "b_1") == {("c1", "<-", "mask"), ("c1", "->", "y")}


def test_a_neighbour_that_also_waits_takes_the_data_of_a_member_all_the_same() -> None:
    # x ─▶ tower_0 ─▶ y, which also waits for tower_0: the control edge comes first in the file.
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}]
    for at in range(3):
        nodes.append({"name": f"tower_{at}/mul", "op": "Mul", "input": ["x"]})
        nodes.append({"name": f"tower_{at}/end", "op": "Relu", "input": [f"tower_{at}/mul"]})
    nodes.append({"name": "y/wait", "op": "Relu", "input": ["x", "^tower_0/end"]})
    nodes.append({"name": "y/sum", "op": "AddN", "input": ["tower_0/end", "y/wait"]})
    model = load(GraphDef(node=nodes), group="tower_[0-2]")
    names = model.hierarchy.name
    for member in ("tower_0", "tower_2"):
        level = model.members.metagraph((names.index(member),))
        assert [(line.tensors, line.control) for line in level.bridges if names[line.other] == "y"] == [(1, 1)]


def test_in_the_list_of_members_each_has_its_own_lines() -> None:
    model = load(chain(6))
    level = model.metagraph((model.hierarchy.name.index("b_3"),))
    assert {model.hierarchy.name[bridge.other] for bridge in level.bridges} == {"b_2", "b_4", "mask"}


def test_what_all_members_read_counts_once() -> None:
    model = load(chain(6))
    level = model.members.metagraph((model.hierarchy.name.index("b_2"),))
    counts = {model.hierarchy.name[line.other]: line.tensors for line in level.bridges if line.child == 0}
    assert counts == {"mask": 1, "stem": 1}


def test_lines_between_members_that_are_no_neighbours_are_stubs() -> None:
    model = load(chain(8, skip=3), group="b_[0-7]")
    found = lines(model, "b_4")
    assert {line for line in found if line[2].startswith("stub")} == {
        ("sum", "<-", "stub b_1"), ("sum", "->", "stub b_7"),
    }  # fmt: skip


def test_scopes_that_hold_one_another_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchy = load(GraphDef(node=[{"name": "a/" * 500 + "x", "op": "Relu"}, {"name": "y", "op": "Abs"}])).hierarchy
    asked: list[int] = []
    children = Hierarchy.children
    monkeypatch.setattr(Hierarchy, "children", lambda self, row: asked.append(row) or children(self, row))
    assert {sole_stack(hierarchy, row) for row in range(len(hierarchy))} == {-1}
    assert len(asked) == len(set(asked)) == 500


def test_the_usual_member_is_the_first_of_the_most_common_structure() -> None:
    model = load(chain(6))
    stack = model.hierarchy.name.index("b_[1-5]")
    assert model.hierarchy.name[usual_member(model.hierarchy, stack)] == "b_1"


@st.composite
def stacked(draw: st.DrawFn) -> GraphDef:
    """Blocks in a row or side by side, alike or with more in the first, that read from and lead to what is around."""
    count, width = draw(st.integers(5, 7)), draw(st.integers(1, 3))
    row, shared = draw(st.booleans()), draw(st.booleans())
    order = draw(st.permutations(range(width)))
    scope = draw(st.sampled_from(["", "net/", "net/blocks/"]))
    nodes: list[dict[str, Any]] = [{"name": name, "op": "Placeholder"} for name in ("x", "mask")]
    last = "x"
    for at in range(count):
        block, inner = f"{scope}b_{at}", last
        cells = []
        for cell in range(width):
            inputs = [inner, *(["mask"] if shared and cell == width - 1 else [])]
            cells.append({"name": f"{block}/c{cell}/mul", "op": f"Op{cell}", "input": inputs})
            cells.append({"name": f"{block}/c{cell}/end", "op": "Relu", "input": [f"{block}/c{cell}/mul"]})
            inner = f"{block}/c{cell}/end"
        # In any order in the file: what corresponds is not in one place.
        for cell in order if at % 2 else range(width):
            nodes += cells[2 * cell : 2 * cell + 2]
        if draw(st.booleans()):
            nodes.append(
                {"name": f"tap_{at}", "op": "Identity", "input": [f"{block}/c{draw(st.integers(0, width - 1))}/end"]}
            )
        last = inner if row else last
    nodes.append(
        {
            "name": "y",
            "op": "AddN",
            "input": [f"{scope}b_{at}/c{width - 1}/end" for at in range(count)][-1 if row else 0 :],
        }
    )
    return GraphDef(node=nodes)


@given(stacked(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_each_data_line_that_ends_at_an_open_stack_goes_on_inside(graph: GraphDef, chance: Any) -> None:
    model = load(graph)
    hierarchy = model.hierarchy
    for row in range(1, len(hierarchy)):
        stack = sole_stack(hierarchy, row)
        if stack < 0:
            continue
        for member in [usual_member(hierarchy, stack), chance.choice(hierarchy.children(stack).tolist())]:
            box = model.members.box_path((member,))
            inside = {(b.other, b.inbound) for b in model.members.metagraph((member,)).bridges if b.tensors}
            assert set(met(model, box)) <= inside


def met(model: Model, box: RowPath) -> Iterator[tuple[int, bool]]:
    """The neighbours of a box whose data lines are drawn around it, each with whether it comes in."""
    around = parent_path(model.hierarchy, box)
    assert around is not None
    level = model.members.metagraph(around)
    position = level.children.index(box[-1])
    for index in level.core_edges():
        edge = level.edges[index]
        if edge.tensors and edge.target == position:
            yield level.children[edge.source], True
        if edge.tensors and edge.source == position:
            yield level.children[edge.target], False
    for index in level.core_bridges():
        bridge = level.bridges[index]
        if bridge.tensors and bridge.child == position:
            yield bridge.other, bridge.inbound


def test_a_picture_shows_the_usual_member_the_one_that_is_named_or_all() -> None:
    model = load(chain(6))
    names = model.hierarchy.name

    def members(**choices: Any) -> list[str]:
        shown = sole_open_members(model.hierarchy, model.picture(**choices).opened)
        return [names[path[-1]] for path in shown.values()] if shown is not None else []

    assert members(open="b_[1-5]") == ["b_1"]
    assert members(open="b_3") == ["b_3"]
    assert members(open=["b_2", "b_3"]) == []
    boxes = {box.address for box in model.picture(open="b_[1-5]", all_members=True).scene.boxes}
    assert {f"b_{at}" for at in range(1, 6)} <= boxes
    boxes = {box.address for box in model.picture(open=["b_2", "b_3"]).scene.boxes}
    assert {"b_1", "b_2/mul", "b_3/mul"} <= boxes
    boxes = {box.address for box in model.picture(open="b_3").scene.boxes}
    assert boxes == {"x", "mask", "y", "stem", "b_[1-5]", "b_3/mul", "b_3/sum"}


def test_the_title_says_how_many_and_what_each_holds() -> None:
    scene = load(chain(6)).picture(open="b_2").scene
    told = [text.content for text in scene.texts if text.role in ("title", "count")]
    assert told == ["b_[1-5] ×5", "b_2 shown · 2 ops each"]
    frame = next(box for box in scene.boxes if box.address == "b_[1-5]")
    assert (frame.open, frame.sheets) == (True, 2)


def test_what_holds_nothing_but_a_stack_is_drawn_as_that() -> None:
    graph = chain(6)
    for node in graph.node:
        node.name = node.name.replace("b_", "net/b_")
        node.input[:] = [name.replace("b_", "net/b_") for name in node.input]
    model = load(graph)
    closed = next(box for box in model.picture(open="x").scene.boxes if box.address == "net")
    assert (closed.kind, closed.sheets, closed.connected) == ("series", 2, True)
    scene = model.picture(open="net").scene
    assert {box.address for box in scene.boxes} == {"x", "mask", "y", "stem", "net", "net/b_1/mul", "net/b_1/sum"}
    assert "net ×5" in {text.content for text in scene.texts}


def test_a_line_of_some_members_says_of_how_many() -> None:
    # x_0 ─▶ tower_0 ─▶ y, x_1 ─▶ tower_1 ─▶ y, …; all towers read the mask.
    nodes: list[dict[str, Any]] = [{"name": "mask", "op": "Placeholder"}]
    for at in range(3):
        scope = f"tower_{at}"
        nodes += [
            {"name": f"{'abc'[at]}_in", "op": "Placeholder"},
            {"name": f"{scope}/mul", "op": "Mul", "input": [f"{'abc'[at]}_in", "mask"]},
            {"name": f"{scope}/relu", "op": "Relu", "input": [f"{scope}/mul"]},
            {"name": f"{scope}/mean", "op": "Mean", "input": [f"{scope}/relu"]},
        ]
    nodes.append({"name": "y", "op": "AddN", "input": [f"tower_{at}/mean" for at in range(3)]})
    model = load(GraphDef(node=nodes), group="tower_[0-2]")
    level = model.members.metagraph((model.hierarchy.name.index("tower_1"),))
    shares = {model.hierarchy.name[line.other]: line.members for line in level.bridges}
    assert shares == {"a_in": (1, 3), "b_in": (1, 3), "c_in": (1, 3), "mask": (0, 0), "y": (0, 0)}
    assert b"in 1 of 3" in model.render(open=["tower_[0-2]"])


def test_what_feeds_a_row_of_members_at_its_beginning_is_for_all_of_them() -> None:
    model = load(chain(6))
    level = model.members.metagraph((model.hierarchy.name.index("b_3"),))
    assert {line.members for line in level.bridges} == {(0, 0)}


def test_what_enters_a_member_of_another_structure_does_so_with_the_tensor_of_its_name() -> None:
    # The first block makes a bias of the mask, which all others take from the one before them; the data passes all.
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="mask", op="Placeholder")
    last, bias = "x", "b_0/attend/bias"
    for at in range(5):
        block = f"b_{at}"
        if at == 0:
            graph.node.add(name=f"{block}/attend/cast", op="Cast", input=["mask"])
            graph.node.add(name=bias, op="Neg", input=[f"{block}/attend/cast"])
        steps = ["norm/Square", "norm/Mean", "norm/Rsqrt", "attend/Exp", "attend/AddV2", "attend/Softmax", "ffn/Relu"]
        for before, step in zip((last, *(f"{block}/{step}" for step in steps)), steps, strict=False):
            inputs = [before, bias] if step == "attend/AddV2" else [before]
            graph.node.add(name=f"{block}/{step}", op=step.split("/")[1], input=inputs)
        graph.node.add(name=f"{block}/sum", op="AddN", input=[f"{block}/ffn/Relu", last])
        last = f"{block}/sum"
    graph.node.add(name="y", op="Relu", input=[last])
    model = load(graph, group="b_[0-4]")
    found = {(child, other) for child, way, other in lines(model, "b_2") if way == "<-"}
    assert {child for child, other in found if other == "x"} == {"norm", "sum"}
    assert {child for child, other in found if other == "mask"} == {"attend"}
