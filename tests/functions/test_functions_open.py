"""Functions of real graphs: every call opens to its layers, nothing throws, counts go through calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import UnknownNode
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.model.paths import child_path, path_address
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.effort import part
from tests.expand.test_depth import calls
from tests.functions.test_calls_laws import every_group

GRAPHS = (
    *("func_library_v2.pb", "func_library_nested.pb", "func_library_recursive.pbtxt", "legacy_function_calls.pb"),
    *("func_trace.pb", "func_trace_multi.pb", "keras2_mnist.pb", "keras2_functional.pb", "savedmodel_small.pb"),
    "tf_data_graph.pb",
)


def shown(model: Model, *open_: str) -> set[str]:
    return {box.address for box in model.picture(open=open_).scene.boxes}


@each("preset", ["default", "tensorboard"])
@each("name", part(GRAPHS, 9))
def test_every_call_opens(fixtures: Path, name: str, preset: str) -> None:
    model = load(fixtures / "real" / name, preset=preset)
    groups = every_group(model, 150)
    for path in groups:
        level = model.metagraph(path)
        assert len(level.children) == len(set(level.children))
        if path != (0,):
            assert path in model.names.find_paths(path_address(model.hierarchy, path))
    picture = model.picture(open_all=True, max_open=300)
    addresses = [box.address for box in picture.scene.boxes]
    assert len(addresses) == len(set(addresses))
    assert picture.render("svg").rstrip().endswith(b"</svg>")


def test_a_saved_model_opens_to_its_layers(fixtures: Path) -> None:
    model = load(fixtures / "real/savedmodel_small.pb")
    names = {path_address(model.hierarchy, path) for path in every_group(model, 400)}
    leaves = {
        path_address(model.hierarchy, child_path(model.hierarchy, path, row))
        for path in every_group(model, 400)
        for row in model.metagraph(path).children
    }
    assert any(name.startswith("StatefulPartitionedCall::") for name in names)
    assert any(name.startswith("StatefulPartitionedCall::") and name.endswith("MatMul") for name in leaves)


def test_a_recursive_function_counts_without_end_and_opens_step_by_step(fixtures: Path) -> None:
    model = load(fixtures / "real/func_library_recursive.pbtxt")
    calls = [row for row in model.hierarchy.calls if row < model.hierarchy.end[0]]
    ops = OpCounter(model.hierarchy)
    assert any(ops(row) is None for row in calls)
    picture = model.picture(depth=0)
    assert any(text.content == "∞ ops" for text in picture.scene.texts)
    call = calls[0]
    inner = [row for row in model.hierarchy.calls if row > model.hierarchy.end[0]]
    deep = (call, *inner[:1] * 6)
    addresses = shown(model, path_address(model.hierarchy, deep))
    assert path_address(model.hierarchy, deep) in addresses


def test_open_all_opens_a_function_once_on_its_own_path(fixtures: Path) -> None:
    model = load(fixtures / "rules/function_recursive.pbtxt")
    picture = model.picture(open_all=True)
    assert max(box.address.count("::") for box in picture.scene.boxes) == 1


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("outer/PartitionedCal", "outer/PartitionedCall"),
        ("outer/PartitionedCall::PartitionedCal", "outer/PartitionedCall::PartitionedCall"),
        ("outer/PartitionedCall::PartitionedCall::scope_in", "::scope_in_fn"),
    ],
)
def test_an_unknown_address_names_the_nearest(fixtures: Path, asked: str, near: str) -> None:
    model = load(fixtures / "real/func_library_nested.pb")
    with pytest.raises(UnknownNode) as caught:
        model.picture(open=(asked,))
    assert near in str(caught.value)
    assert str(caught.value).count("', '") <= 2


def test_wild_cards_go_into_calls(fixtures: Path) -> None:
    model = load(fixtures / "real/func_library_nested.pb")
    addresses = shown(model, "outer/*::PartitionedCall*")
    assert "outer/PartitionedCall::PartitionedCall_1::scope_in_fn" in addresses
    assert "outer/PartitionedCall_1::PartitionedCall::scope_in_fn" in addresses


def test_a_graph_that_tensorboard_merged_still_opens(fixtures: Path) -> None:
    model = load(fixtures / "real/func_trace_multi.pb")
    assert "graph_1/while::body" in {path_address(model.hierarchy, path) for path in every_group(model)}


def test_both_colons_in_a_name() -> None:
    function = {"signature": {"name": "f", "input_arg": [{"name": "x", "type": 1}]}}
    node = {"name": "a::b", "op": "PartitionedCall", "attr": {"f": {"func": {"name": "f"}}}}
    model = load(GraphDef(node=[node], library={"function": [function]}))
    (path,) = model.names.find_paths("a::::b::x")
    assert path_address(model.hierarchy, path) == "a::::b::x"


def test_a_function_of_the_library_opens_by_itself(fixtures: Path) -> None:
    model = load(fixtures / "real/func_library_v2.pb")
    addresses = shown(model, "__inference_step_88::while::body")
    assert {"__inference_step_88", "__inference_step_88::x", "__inference_step_88::while::body"} <= addresses
    (path,) = model.names.find_paths("__inference_step_88::x")
    assert path_address(model.hierarchy, path) == "__inference_step_88::x"
    with pytest.raises(UnknownNode, match="__inference_step_88::while"):
        model.names.find_paths("__inference_step_88::whil")


def test_a_function_that_is_called_can_be_opened_by_itself_too(fixtures: Path) -> None:
    model = load(fixtures / "rules/function_call.pbtxt")
    name = model.hierarchy.name[model.hierarchy.function_rows[0]]
    boxes = [box for box in model.picture(open=(name,)).scene.boxes if box.address == name]
    assert [(box.open, box.area) for box in boxes] == [(True, "functions")]


def test_the_hash_in_the_name_of_a_defun_is_not_shown() -> None:
    names = {"foo_deadbeef_12": "foo", "foo_deadbeef": "foo", "my_gradient": "my_gradient", "f_1": "f_1"}
    functions = [{"signature": {"name": name, "input_arg": [{"name": "x", "type": 1}]}} for name in names]
    model = load(GraphDef(node=[{"name": "n", "op": "NoOp"}], library={"function": functions}))
    texts = {text.full: text.content for text in model.picture(depth=0).scene.texts if text.role == "label"}
    assert {name: texts[name] for name in names} == names


def test_the_title_counts_through_calls(fixtures: Path) -> None:
    model = load(fixtures / "real/func_library_nested.pb")
    assert OpCounter(model.hierarchy)(0) == 6 - 3 + 19 + 19 + 7
    assert model.picture().caption.facts == "48 ops"


def test_a_long_list_of_functions_is_cut_and_said(fixtures: Path) -> None:
    from graphviz_tb.limits import MAX_UNCALLED_FUNCTIONS

    functions = [
        {
            "signature": {"name": f"f{at}", "input_arg": [{"name": "x", "type": 1}]},
            "node_def": [{"name": f"n{one}", "op": "Relu", "input": ["x"]} for one in range(at % 7)],
        }
        for at in range(40)
    ]
    model = load(GraphDef(node=[{"name": "n", "op": "NoOp"}], library={"function": functions}))
    picture = model.picture(open=("f0",))
    listed = [box.address for box in picture.scene.boxes if box.area == "functions"]
    assert len(listed) == MAX_UNCALLED_FUNCTIONS + 1
    assert "f0" in listed
    assert [notice.count for notice in picture.notices if notice.code == "unlisted-functions"] == [40 - 13]


def test_functions_that_only_call_each_other_are_listed_once() -> None:
    def function(name: str, *callees: str) -> dict:  # type: ignore[type-arg]
        nodes = [{"name": f"c{at}", "op": callee} for at, callee in enumerate(callees)]
        return {"signature": {"name": name}, "node_def": nodes or [{"name": "n", "op": "NoOp"}]}

    # main ─▶ a ─▶ b;   c ─▶ d;   e ◀─▶ f
    functions = [function("a", "b"), function("b"), function("d"), function("c", "d"), function("e", "f")]
    library = {"function": [*functions, function("f", "e")]}
    model = load(GraphDef(node=[{"name": "n", "op": "a"}], library=library))
    listed = [box.address for box in model.picture(depth=0).scene.boxes if box.area == "functions"]
    assert sorted(listed) == ["c", "e"]


def test_a_first_picture_goes_through_wrappers_and_leaves_the_saver_closed() -> None:
    """Nine ops beside a call of `outer`, which holds an argument and a call of `inner`; and a larger saver."""

    def function(name: str, ops: int, *callees: str) -> dict:  # type: ignore[type-arg]
        nodes = [{"name": f"n{at}", "op": f"Op{at}"} for at in range(ops)]
        calls = [{"name": f"c{at}", "op": callee} for at, callee in enumerate(callees)]
        return {"signature": {"name": name}, "node_def": [*nodes, *calls]}

    functions = [function("outer", 1, "inner"), function("inner", 9), function("__inference__traced_save_7", 30)]
    nodes = [
        {"name": "model", "op": "outer"},
        {"name": "save", "op": "__inference__traced_save_7"},
        *({"name": f"x{at}", "op": f"Op{at}"} for at in range(3)),
    ]
    picture = load(GraphDef(node=nodes, library={"function": functions})).picture()
    assert {box.address for box in picture.scene.boxes if box.open} == {"model", "model::c0"}


def test_the_second_function_of_the_list_opens_in_its_own_place() -> None:
    def function(name: str) -> dict[str, object]:
        return {"signature": {"name": name}, "node_def": [{"name": f"in_{name}", "op": "A"}]}

    graph = GraphDef(node=[{"name": "n", "op": "NoOp"}], library={"function": [function("f"), function("g")]})
    boxes = load(graph).picture(open=("g",)).scene.boxes
    assert [(box.address, box.open, box.area) for box in boxes if box.area == "functions" and box.parent < 0] == [
        ("f", False, "functions"),
        ("g", True, "functions"),
    ]
    assert [boxes[box.parent].address for box in boxes if box.address == "g::in_g"] == ["g"]


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "each"), [(700, 3), (30, 20)])
def test_more_ops_than_a_number_holds(
    levels: int, each: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """3⁷⁰⁰ is no `float`, and 20³⁰ no number of a page."""
    file = tmp_path / "tower.pb"
    file.write_bytes(calls(levels, each).SerializeToString())
    assert "≥ 1\N{THIN SPACE}000\N{THIN SPACE}000\N{THIN SPACE}000 ops" in load(file).picture().render("svg").decode()
    assert load(file).picture().render("html")
    assert (
        _run_command_line(["info", str(file), "--json"])
        == _run_command_line(["info", str(file)])
        == _run_command_line(["tree", str(file)])
        == 0
    )
    said = capsys.readouterr().out
    assert '"ops_through_calls": 1000000000,' in said
    assert "≥ 1,000,000,000" in said
