"""The architecture in words: along the flow, stacks counted, what is no part of the model beside."""

from __future__ import annotations

import json

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.api.outline import outline_model
from graphviz_tb.commands import cli
from graphviz_tb.commands.info_text import _architecture_lines
from graphviz_tb.graphs.level_flow import _rank_rows
from graphviz_tb.proto import GraphDef
from tests.conftest import FIXTURES
from tests.open.test_training_steps import LAYERS, step

KERAS = str(FIXTURES / "logdirs/keras2_callback")


def blocks(count: int) -> GraphDef:
    """x ─▶ block_0 … block_n ─▶ y, each Conv2D ─▶ Relu ─▶ Sin; the file begins with its end."""
    graph = GraphDef(node=[{"name": "y", "op": "Mean", "input": [f"net/block_{count - 1}/c"]}])
    last = "x"
    for at in range(count):
        for part, op in (("a", "Conv2D"), ("b", "Relu"), ("c", "Sin")):
            graph.node.add(name=f"net/block_{at}/{part}", op=op, input=[last])
            last = f"net/block_{at}/{part}"
    graph.node.add(name="x", op="Placeholder")
    return graph


def told(graph: GraphDef) -> list[list[list[str]]]:
    return [[[part.label for part in rank] for rank in line.ranks] for line in outline_model(load(graph))]


def test_the_outline_runs_from_input_to_output_whatever_the_file_says() -> None:
    lines = outline_model(load(blocks(6)))
    assert [[part.label for part in rank] for rank in lines[0].ranks] == [["x"], ["net"], ["y"]]
    stack = lines[1].ranks[0][0]
    assert (stack.address, stack.times, stack.ops) == ("net/block_[0-5]", 6, 6 * 3)


def test_in_a_loop_that_holds_the_model_layers_come_first_and_what_it_carries_has_its_names() -> None:
    # counter, tokens ─▶ while: tokens ─▶ net/block ─▶ net/head; counter + 1
    names = ("while_loop_counter", "while_placeholder")
    arguments = [{"name": name, "type": 1} for name in names]
    results = [{"name": f"out_{at}", "type": 1} for at in range(2)]
    inner = [
        {"name": "net/block/a", "op": "Relu", "input": [names[1]]},
        {"name": "net/block/b", "op": "Sin", "input": ["net/block/a:activations:0"]},
        {"name": "net/head/a", "op": "Relu", "input": ["net/block/b:y:0"]},
        {"name": "net/head/b", "op": "Sin", "input": ["net/head/a:activations:0"]},
        {"name": "while/add", "op": "Relu", "input": [names[0]]},
        {"name": "while/end", "op": "Sin", "input": ["while/add:activations:0"]},
    ]
    body = {
        "signature": {"name": "body", "input_arg": arguments, "output_arg": results},
        "node_def": inner,
        "ret": {"out_0": "while/end:y:0", "out_1": "net/head/b:y:0"},
    }
    go = [{"name": "go", "type": 10}]
    cond = {"signature": {"name": "cond", "input_arg": arguments, "output_arg": go}, "ret": {"go": names[0]}}
    functions = {name: {"func": {"name": name}} for name in ("cond", "body")}
    loop = {"name": "while", "op": "While", "input": ["start/counter", "tokens"], "attr": functions}
    given = [{"name": name, "op": "Placeholder"} for name in ("start/counter", "tokens")]
    graph = GraphDef(node=[*given, loop, {"name": "y", "op": "Relu", "input": ["while:1"]}])
    for function in (body, cond):
        graph.library.function.add(**function)
    line = next(line for line in outline_model(load(graph)) if line.label == "body")
    shown = {part.label for rank in (*line.ranks, line.loose) for part in rank}
    assert "net" in shown
    assert shown <= {"net", "while"}
    assert {part.label for part in line.beside} == {"counter", "tokens"}


def test_a_group_that_is_called_like_what_it_ends_in_has_that_name_alone() -> None:
    nodes = ['node { name: "x" op: "Placeholder" } node { name: "w" op: "Const" }']
    last = "x"
    for at in range(1, 5):
        nodes.append(f'node {{ name: "c{at}" op: "Conv2D" input: "{last}" input: "w" }}')
        nodes.append(f'node {{ name: "r{at}" op: "Relu" input: "c{at}" }}')
        nodes.append(f'node {{ name: "out{at}" op: "Add" input: "r{at}" input: "{last}" }}')
        last = f"out{at}"
    groups = outline_model(load("\n".join(nodes).encode()))
    called = {part.label for group in groups for rank in group.ranks for part in rank}
    assert {"out1", "out2", "out3", "out4"} <= called
    assert not any("(" in label for label in called)


def test_what_trains_stands_beside() -> None:
    lines = outline_model(load(step()))
    assert {part.label for part in lines[0].beside} == {"gradients", "updates", "bookkeeping"}
    shown = [part.label for line in lines for rank in line.ranks for part in rank]
    assert [label for label in shown if label.startswith("layer")] == [f"layer_{at}" for at in range(LAYERS)]


# x ─▶ mul ─▶ y; alone
def test_no_arrow_leads_to_what_nothing_joins() -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="mul", op="Square", input=["x"])
    graph.node.add(name="y", op="Relu", input=["mul"])
    graph.node.add(name="alone", op="Placeholder")
    (line,) = outline_model(load(graph))
    assert [[part.label for part in rank] for rank in line.ranks] == [["x"], ["mul"], ["y"]]
    assert [part.label for part in line.loose] == ["alone"]
    assert _architecture_lines([line], 80) == ["x → mul → y; alone"]


# x ─▶ layer_0 ─▶ layer_1 …, each with its variable, the initialiser of that, and whether it is set
def test_layers_with_their_initialisers_are_the_model() -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    last = "x"
    for number in range(6):
        name = f"layer_{number}"
        graph.node.add(name=f"{name}/zeros", op="Const")
        graph.node.add(name=f"{name}/w", op="VarHandleOp")
        graph.node.add(name=f"{name}/w/IsInitialized", op="VarIsInitializedOp", input=[f"{name}/w"])
        graph.node.add(name=f"{name}/w/Assign", op="AssignVariableOp", input=[f"{name}/w", f"{name}/zeros"])
        graph.node.add(name=f"{name}/Read", op="ReadVariableOp", input=[f"{name}/w"])
        graph.node.add(name=f"{name}/MatMul", op="MatMul", input=[last, f"{name}/Read"])
        graph.node.add(name=f"{name}/Tanh", op="Tanh", input=[f"{name}/MatMul"])
        last = f"{name}/Tanh"
    line = outline_model(load(graph))[0]
    assert [[part.label for part in rank] for rank in line.ranks] == [["x"], ["layer_[0-5]"]]
    assert not line.beside


def test_a_saver_is_no_part_of_the_model() -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="w", op="VariableV2")
    graph.node.add(name="y", op="MatMul", input=["x", "w"])
    graph.node.add(name="save/Const", op="Placeholder")
    graph.node.add(name="save/name", op="ShardedFilename", input=["save/Const"])
    graph.node.add(name="save/SaveV2", op="SaveV2", input=["save/name", "w"])
    line = outline_model(load(graph))[0]
    assert [part.label for part in line.beside] == ["save"]


def test_info_tells_the_architecture_as_text_and_json() -> None:
    text = CliRunner().invoke(cli, ["info", KERAS]).output
    assert "two_headed: shared → sub_model → add → cat → reg · cls" in text
    outline = json.loads(CliRunner().invoke(cli, ["info", KERAS, "--json"]).output)["graph"]["outline"]
    assert [line["address"] for line in outline] == ["", "two_headed"]
    assert outline[1]["ranks"][0][0] == {
        "label": "shared", "address": "two_headed/shared", "ops": 4, "times": 1,
    }  # fmt: skip


def test_tree_by_flow_shows_each_structure_once_and_no_gradients(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "blocks.pb"
    path.write_bytes(blocks(6).SerializeToString())
    lines = CliRunner().invoke(cli, ["tree", str(path), "--by", "flow", "--ops", "--quiet"]).output.splitlines()
    names = [line.strip("│├└─+ ").split()[0] for line in lines[1:]]
    assert names == ["x", "net", "block_[0-5]", "block_0", "a", "b", "c", "y"]
    whole = CliRunner().invoke(cli, ["tree", KERAS, "--by", "flow"]).output
    assert "+ gradients" in whole
    assert "gradient_tape" not in whole


def test_tree_by_flow_as_json_keeps_the_order() -> None:
    nodes = json.loads(CliRunner().invoke(cli, ["tree", KERAS, "--by", "flow", "--json", "--depth", "2"]).output)[
        "nodes"
    ]
    names = [node["name"] for node in nodes if node["name"].startswith("two_headed/")]
    assert names[:2] == ["two_headed/shared", "two_headed/sub_model"]
    assert next(node["how"] for node in nodes if node["name"] == "gradients") == "training"


@given(st.integers(1, 30).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))))
def test_ranks_keep_every_row_and_follow_edges_that_close_no_circle(pairs: list[tuple[int, int]]) -> None:
    pairs = [(source, target) for source, target in dict.fromkeys(pairs) if source != target]
    rows = sorted({row for pair in pairs for row in pair})
    place = {row: at for at, rank in enumerate(_rank_rows(rows, pairs)) for row in rank}
    assert sorted(place) == rows
    forward = [(source, target) for source, target in pairs if source < target]
    straight = {row: at for at, rank in enumerate(_rank_rows(rows, forward)) for row in rank}
    assert all(straight[source] < straight[target] for source, target in forward)
