"""The bounds of a first picture: 40 boxes, 28 with a repetition open, three tenths of the model."""

from __future__ import annotations

from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.graphs.rows import _storing_rows
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import path_address
from graphviz_tb.open.first_picture import first_open_groups
from graphviz_tb.proto import GraphDef

Node = dict[str, Any]


def chain(scope: str, count: int, source: str) -> list[Node]:
    """`count` ops of different types in one scope, one after the other."""
    names = [f"{scope}/{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(count)]
    inputs = [source, *names[:-1]]
    return [
        {"name": name, "op": f"T{number}", "input": [fed]}
        for number, (name, fed) in enumerate(zip(names, inputs, strict=True))
    ]


def load(*nodes: Node) -> Model:
    return graphviz_tb.load(GraphDef(node=[{"name": "x", "op": "P"}, *nodes]), folds=False)


def layers(count: int, ops: int) -> list[Node]:
    """x ─▶ l_0 ─▶ l_1 ─▶ …, equal scopes of so many ops."""
    nodes: list[Node] = []
    for layer in range(count):
        nodes += chain(f"l_{layer}", ops, nodes[-1]["name"] if nodes else "x")
    return nodes


def opened(model: Model) -> set[str]:
    return {path_address(model.hierarchy, path) for path in model.picture().opened} - {""}


@pytest.mark.parametrize(("ops", "groups"), [(38, {"g"}), (39, set())])
def test_a_group_is_opened_as_long_as_there_are_40_boxes(ops: int, groups: set[str]) -> None:
    # x ─▶ g: the frame of g, its ops, and x are 1 + 38 + 1 boxes
    assert opened(load(*chain("g", ops, "x"))) == groups


def test_a_group_that_is_all_there_is_opens_however_large_it_is() -> None:
    graph = GraphDef(node=[{"name": "g/x", "op": "P"}, *chain("g", 60, "g/x")])
    assert opened(graphviz_tb.load(graph, folds=False)) == {"g"}


def in_call(nodes: list[Node]) -> GraphDef:
    """x ─▶ call ─▶ y, where a function of these nodes is called."""
    for node in nodes:
        node["input"] = [fed if fed == "x" else f"{fed}:out:0" for fed in node["input"]]
    signature = {"name": "f", "input_arg": [{"name": "x", "type": 1}], "output_arg": [{"name": "out", "type": 1}]}
    function = {"signature": signature, "node_def": nodes, "ret": {"out": f"{nodes[-1]['name']}:out:0"}}
    call: Node = {"name": "call", "op": "PartitionedCall", "input": ["x"], "attr": {"f": {"func": {"name": "f"}}}}
    ends = {"name": "x", "op": "P"}, {"name": "y", "op": "Q", "input": ["call"]}
    return GraphDef(node=[ends[0], call, ends[1]], library={"function": [function]})


@pytest.mark.parametrize(("ops", "group"), [(35, "call::body"), (36, "call::head")])
def test_the_way_to_the_largest_repeat_is_opened_in_a_call_too(ops: int, group: str) -> None:
    # x ─▶ call{x ─▶ head, body{l_[0-5], other ops}} ─▶ y: both x, y, head, the frame of body, its stack and 35 ops
    assert 2 + 1 + 1 + 1 + 1 + 35 == 41
    repeat = layers(6, 4)
    for node in repeat:
        node.update(name=f"body/{node['name']}", input=[fed if fed == "x" else f"body/{fed}" for fed in node["input"]])
    nodes = [*chain("head", 2, "x"), *repeat, *chain("body", ops, repeat[-1]["name"])]
    assert opened(graphviz_tb.load(in_call(nodes), folds=False)) == {"call", group}


@pytest.mark.parametrize(("ops", "groups"), [(37, {"l_[0-7]", "l_0"}), (38, set())])
def test_one_repetition_is_opened_as_long_as_there_are_40_boxes(ops: int, groups: set[str]) -> None:
    # x ─▶ l_0 ─▶ … ─▶ l_7 ─▶ y: x, y, the frame of the stack, 37 ops of one layer
    nodes = layers(8, ops)
    end = {"name": "y", "op": "Q", "input": [nodes[-1]["name"]]}
    assert 1 + 1 + 1 + 37 == 40
    assert opened(load(*nodes, end)) == groups


def test_where_the_largest_stack_has_no_room_the_next_is_opened() -> None:
    # x ─▶ l_0 ─▶ … ─▶ l_7 ─▶ m_0 ─▶ … ─▶ m_7: layers of 39 ops, then of 30
    first = layers(8, 39)
    second: list[Node] = []
    for number in range(8):
        second += chain(f"m_{number}", 30, (second or first)[-1]["name"])
    assert opened(load(*first, *second)) == {"m_[0-7]", "m_0"}


@pytest.mark.parametrize(("beside", "groups"), [(64, {"l_[0-7]", "l_0"}), (65, set())])
def test_a_repetition_is_opened_where_the_repeat_is_three_tenths_of_the_model(beside: int, groups: set[str]) -> None:
    # 8 layers of 4 ops, x, y, and what is beside them: 32 of 106 ops are more than 0.3, 32 of 107 are not
    nodes = layers(8, 4)
    last = nodes[-1]["name"]
    nodes += [{"name": f"n{chr(97 + number)}", "op": f"L{number}", "input": [last]} for number in range(8)]
    nodes += [*chain("z", beside, last), {"name": "y", "op": "Q", "input": [last]}]
    assert opened(load(*nodes)) == groups


@pytest.mark.parametrize(("ops", "groups"), [(6, set()), (5, {"g"})])
def test_the_largest_group_is_opened_as_long_as_fewer_than_eight_boxes_show(ops: int, groups: set[str]) -> None:
    # g has 40 % of the ops that the chain of single ops has beside it: eight closed boxes with it, or seven
    lonely = [{"name": f"n{chr(97 + number)}", "op": f"L{number}", "input": ["x"]} for number in range(ops)]
    assert opened(load(*lonely, *chain("g", 2, "x"))) == groups


@pytest.mark.parametrize(("others", "stores"), [(4, False), (3, False), (2, True)])
def test_a_group_of_which_more_than_a_quarter_stores_is_no_model(others: int, stores: bool) -> None:
    ops = ["AssignAdd", *(f"T{number}" for number in range(others))]
    model = load(*({"name": f"g/{op}", "op": op} for op in ops))
    assert bool(_storing_rows(model.hierarchy)[model.hierarchy.name.index("g")]) is stores


def test_a_group_of_very_many_ops_is_counted_without_being_laid_out() -> None:
    # x ─▶ g: 600 ops; x ─▶ h: 6,000
    model = load(*chain("g", 600, "x"), *chain("h", 6_000, "x"))
    looked: list[tuple[int, ...]] = []

    def metagraph(path: tuple[int, ...]) -> Metagraph:
        looked.append(path)
        return model.metagraph(path)

    first_open_groups(model.hierarchy, metagraph)
    names = {model.hierarchy.name[path[-1]] for path in looked}
    assert "g" in names
    assert "h" not in names


def blocks(scope: str, count: int, source: str, given: str = "") -> list[Node]:
    """Five blocks of `count` layers, one after the other; all take what is `given` too."""
    nodes: list[Node] = []
    last = source
    for step in [f"{scope}/block_{block}/step_{chr(97 + number)}" for block in range(5) for number in range(count)]:
        inputs = [last, f"{step}/w", *([given] if given and step.endswith("f") else [])]
        last = f"{step}/out"
        nodes.append({"name": f"{step}/w", "op": "VariableV2"})
        nodes.append({"name": f"{step}/dense", "op": "MatMul", "input": inputs})
        nodes.append({"name": last, "op": f"{scope}{step[-1]}", "input": [f"{step}/dense"]})
    return nodes


@pytest.mark.parametrize("side_by_side", [True, False])
def test_a_stack_that_feeds_all_members_of_the_open_one_is_open_beside_it(side_by_side: bool) -> None:
    # 25 boxes and two frames: too many for two stacks one after the other
    given = "encoder/block_4/step_l/out"
    decoder = blocks("decoder", 13, *(("y", given) if side_by_side else (given,)))
    model = load({"name": "y", "op": "Placeholder"}, *blocks("encoder", 12, "x"), *decoder)
    stacks = {box.address: box.open for box in model.picture().scene.boxes if box.sheets}
    assert stacks == {"encoder": side_by_side, "decoder": True}


@pytest.mark.parametrize("in_turn", [True, False])
def test_a_tower_beside_the_open_one_is_open_too(in_turn: bool) -> None:
    # x ─▶ left ─┬▶ joined   28 boxes with both towers open, and a frame more: too many for one after the other
    # y ─▶ right ┘
    left = blocks("left", 12, "x")
    right = blocks("right", 13, left[-1]["name"] if in_turn else "y")
    ends = [left[-1]["name"], right[-1]["name"]]
    model = load({"name": "y", "op": "Placeholder"}, *left, *right, {"name": "joined", "op": "Dot", "input": ends})
    stacks = {box.address: box.open for box in model.picture().scene.boxes if box.sheets}
    assert stacks == {"left": not in_turn, "right": True}


def test_towers_of_one_structure_are_not_all_open_beside_the_open_one() -> None:
    # x ─▶ left, y ─▶ net, z ─▶ net_1: 34 boxes with all towers open; net_1 is net once more
    left, net = blocks("left", 14, "x"), blocks("net", 8, "y")
    again = [
        {**node, "name": str(node["name"]).replace("net/", "net_1/")}
        | {"input": [name.replace("net/", "net_1/").replace("y", "z") for name in node.get("input", ())]}
        for node in net
    ]
    inputs = [{"name": name, "op": "Placeholder"} for name in "yz"]
    ends = [nodes[-1]["name"] for nodes in (left, net, again)]
    model = load(*inputs, *left, *net, *again, {"name": "joined", "op": "Dot", "input": ends})
    stacks = {box.address: box.open for box in model.picture().scene.boxes if box.sheets}
    assert stacks == {"left": True, "net": False, "net_1": False}


@pytest.mark.parametrize(("least", "both"), [(8, True), (16, False)])
def test_a_second_tower_is_closed_if_it_makes_small_names_smaller(
    least: int, both: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # x ─▶ left ────────────────┬▶ joined   with 16 px, no name is as large
    # y ─▶ net: right ─▶ a ─▶ b ┘
    monkeypatch.setattr("graphviz_tb.api.layout.LEGIBLE_NAME_PX", least)
    left, right = blocks("left", 12, "x"), blocks("net/right", 13, "y")
    right += chain("net", 2, right[-1]["name"])
    ends = [left[-1]["name"], right[-1]["name"]]
    model = load({"name": "y", "op": "Placeholder"}, *left, *right, {"name": "joined", "op": "Dot", "input": ends})
    stacks = {box.address: box.open for box in model.picture().scene.boxes if box.sheets}
    assert stacks == {"left": both, "net/right": True}
