"""Modules and scopes that are called again: one group for each call."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.proto import GraphDef


def traced(*calls: str) -> list[str]:
    """The groups and modules of a net that calls these modules one after the other."""
    nodes = [{"name": "input/x", "op": "IO Node", "input": [""][:0]}]
    nodes += [{"name": f"Net/{name}/weight", "op": "prim::GetAttr", "input": [""][:0]} for name in dict.fromkeys(calls)]
    last = "input/x"
    for number, name in enumerate(calls, 10):
        nodes.append({"name": f"Net/{name}/{number}", "op": "aten::linear", "input": [last, f"Net/{name}/weight"]})
        last = f"Net/{name}/{number}"
    nodes.append({"name": "output/y", "op": "IO Node", "input": [last]})
    hierarchy = load(GraphDef(node=nodes).SerializeToString()).hierarchy
    return [hierarchy.name[row] for row in range(len(hierarchy)) if hierarchy.can_open(row)]


def test_a_module_is_a_group_for_each_call() -> None:
    # fc ─▶ act ─▶ fc ─▶ act ─▶ out
    named = traced(*["Linear[fc]", "ReLU[act]"] * 2, "Linear[out]")
    assert {"Net/Linear[fc]", "Net/Linear[fc] (2)", "Net/ReLU[act]", "Net/ReLU[act] (2)"} <= {*named}


def test_calls_of_modules_in_modules_are_numbered_in_each() -> None:
    named = traced(*["Block[0]/ReLU[act]", "Block[0]/Linear[fc]"] * 2, "Linear[x]", *["Block[0]/ReLU[act]"] * 2)
    assert {"Net/Block[0]/ReLU[act] (2)", "Net/Block[0] (2)/ReLU[act]"} <= {*named}
    assert "Net/Block[0] (2)/ReLU[act] (2)" not in named


def test_modules_that_are_called_once_are_one_group() -> None:
    assert not any("(2)" in name for name in traced("Linear[a]", "Linear[b]", "Linear[out]"))


def test_modules_of_containers_that_a_trace_left_out_stand_apart() -> None:
    # Net/ModuleList[parts]/ModuleDict[0]/Run[run]/Linear[f], a trace says Net/Run[run]/Linear[f]
    nodes = [{"name": "input/x", "op": "IO Node", "input": [""][:0]}]
    last = "input/x"
    for part in range(2):
        weight, linear, relu = (
            f"Net/ModuleList[parts]/ModuleDict[{part}]/Run[run]/Linear[f]/weight.{part}",
            f"Net/Run[run]/Linear[f]/{part}1",
            f"Net/Run[run]/{part}2",
        )
        nodes.append({"name": weight, "op": "prim::GetAttr", "input": [""][:0]})
        nodes.append({"name": linear, "op": "aten::linear", "input": [last, weight]})
        nodes.append({"name": relu, "op": "aten::relu", "input": [linear]})
        last = relu
    hierarchy = load(GraphDef(node=nodes).SerializeToString()).hierarchy
    assert {"Net/Run[parts.0.run]", "Net/Run[parts.1.run]"} <= {*hierarchy.name}
    assert hierarchy.op_count(hierarchy.name.index("Net/Run[parts.1.run]")) == 2


def test_further_results_of_a_layer_are_in_its_module_of_a_container() -> None:
    # x ─▶ fc ─▶ lstm ─▶ fc of two lists; an lstm takes its weights in a list, and its states are nodes of their own
    nodes = [{"name": "input/x", "op": "IO Node", "input": [""][:0]}]
    nodes.append({"name": "Net/Linear[i]/weight.i", "op": "prim::GetAttr", "input": [""][:0]})
    nodes.append({"name": "Net/Linear[i]/0", "op": "aten::linear", "input": ["input/x", "Net/Linear[i]/weight.i"]})
    for part in ("enc", "pred"):
        last = "Net/Linear[i]/0"
        weights = [f"Net/ModuleList[{part}]/Run[0]/{layer}/weight.{part}" for layer in ("LSTM[l]", "Linear[f]")]
        held, state, listed, result, cell, linear = (
            f"Net/Run[0]/{layer}/{part}{number}" for number, layer in enumerate(["LSTM[l]"] * 5 + ["Linear[f]"])
        )
        nodes += [{"name": weight, "op": "prim::GetAttr", "input": [""][:0]} for weight in weights]
        nodes.append({"name": held, "op": "prim::ListConstruct", "input": weights[:1]})
        nodes.append({"name": state, "op": "aten::zeros", "input": [""][:0]})
        nodes.append({"name": listed, "op": "prim::ListConstruct", "input": [state, state]})
        nodes += [{"name": name, "op": "aten::lstm", "input": [last, listed, held]} for name in (result, cell)]
        nodes.append({"name": linear, "op": "aten::linear", "input": [result, weights[1]]})
    hierarchy = load(GraphDef(node=nodes).SerializeToString()).hierarchy
    assert "Net/Run[0]" not in hierarchy.name
    assert {"Net/Run[enc.0]", "Net/Run[pred.0]"} <= {*hierarchy.name}


def test_a_scope_that_the_flow_enters_again_closes_no_circle() -> None:
    # table/look ─▶ mm ─▶ table/back
    nodes = [
        {"name": "ids", "op": "Placeholder"},
        {"name": "table/w", "op": "VariableV2"},
        {"name": "table/look", "op": "GatherV2", "input": ["table/w", "ids"]},
        {"name": "mm", "op": "MatMul", "input": ["table/look", "table/look"]},
        {"name": "table/back", "op": "MatMul", "input": ["mm", "table/w"]},
    ]
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy
    assert [hierarchy.name[row] for row in hierarchy.children(0).tolist()] == ["ids", "table", "mm", "table (2)"]


def test_a_scope_that_calls_nothing_again_is_one_scope() -> None:
    # loss/a ─▶ mm ─▶ loss/b
    nodes = [
        {"name": "x", "op": "Placeholder"},
        {"name": "loss/a", "op": "Square", "input": ["x"]},
        {"name": "mm", "op": "MatMul", "input": ["loss/a", "loss/a"]},
        {"name": "loss/b", "op": "Mean", "input": ["mm"]},
    ]
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy
    assert [hierarchy.name[row] for row in hierarchy.children(0).tolist()] == ["x", "loss", "mm"]


def test_a_list_that_one_module_makes_and_takes_calls_it_only_once() -> None:
    # x ─▶ Block[0]/a, b ─▶ list ─▶ Block[0]/cat; a trace puts the list outside
    nodes = [
        {"name": "x", "op": "Placeholder"},
        {"name": "Net/Block[0]/a", "op": "aten::relu", "input": ["x"]},
        {"name": "Net/Block[0]/b", "op": "aten::tanh", "input": ["x"]},
        {"name": "list", "op": "prim::ListConstruct", "input": ["Net/Block[0]/a", "Net/Block[0]/b"]},
        {"name": "Net/9", "op": "prim::ListConstruct", "input": ["Net/Block[0]/a", "Net/Block[0]/b"]},
        {"name": "Net/Block[0]/cat", "op": "aten::cat", "input": ["Net/9"]},
        {"name": "Net/Linear[out]/cat", "op": "aten::cat", "input": ["list", "Net/Block[0]/cat"]},
    ]
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy
    within = {name: hierarchy.name[int(hierarchy.parent[row])] for row, name in enumerate(hierarchy.name)}
    assert within["Net/9"] == "Net/Block[0]"
    assert "Net/Block[0] (2)" not in within
    assert not within["list"].startswith("Net/Block")


def test_copies_and_casts_between_modules_are_in_the_module_beside_them() -> None:
    # norm ─▶ alias ─▶ to ─▶ fc     x ─▶ to_1 ─▶ fc_2     layers.0 ─▶ to_2 ─▶ layers.1
    nodes = [
        {"name": "x", "op": "Placeholder"},
        {"name": "Net/Norm[norm]/layer_norm", "op": "aten::layer_norm", "input": ["x"]},
        {"name": "Net/alias", "op": "aten::alias", "input": ["Net/Norm[norm]/layer_norm"]},
        {"name": "Net/to", "op": "aten::to", "input": ["Net/alias"]},
        {"name": "Net/Linear[fc]/linear", "op": "aten::linear", "input": ["Net/to"]},
        {"name": "Net/to_1", "op": "aten::to", "input": ["x"]},
        {"name": "Net/Run[run]/Linear[fc]/linear", "op": "aten::linear", "input": ["Net/to_1"]},
        {"name": "Net/Run[run]/Linear[fc]/add", "op": "aten::add", "input": ["Net/to_1", "Net/Linear[fc]/linear"]},
        {"name": "Net/Block[layers.0]/relu", "op": "aten::relu", "input": ["Net/Run[run]/Linear[fc]/add"]},
        {"name": "Net/to_2", "op": "aten::to", "input": ["Net/Block[layers.0]/relu"]},
        {"name": "Net/Block[layers.1]/relu", "op": "aten::relu", "input": ["Net/to_2"]},
    ]
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy
    within = {name: hierarchy.name[int(hierarchy.parent[row])] for row, name in enumerate(hierarchy.name)}
    assert within["Net/alias"] == within["Net/to"] == "Net/Norm[norm]"
    assert within["Net/to_1"] == "Net/Run[run]/Linear[fc]"
    assert within["Net/to_2"] == "Net"  # blocks of a stack stay equal
    model = load(GraphDef(node=nodes), tensorboard=True).hierarchy
    assert "Net/alias" in {model.name[row] for row in model.children(model.name.index("Net")).tolist()}
