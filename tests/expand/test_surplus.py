"""What one member of a stack has more: one box beside the member that is shown, between the tensors where it stands."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.expand import Expander
from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.model.metagraph import Metagraph, Surplus
from graphviz_tb.model.paths import is_stack
from graphviz_tb.options import ExpandOptions
from graphviz_tb.proto import GraphDef
from tests.effort import examples

FIXTURES = Path(__file__).parents[2] / "fixtures"
Nodes = list[dict[str, Any]]


def weighted(name: str, op: str, *inputs: str) -> Nodes:
    """An op that takes a weight after its inputs."""
    return [{"name": f"{name}_w", "op": "VariableV2"}, {"name": name, "op": op, "input": [*inputs, f"{name}_w"]}]


def blocks(count: int, projects: int = 0, shares: bool = False) -> GraphDef:
    """x ─▶ b_0 ─▶ b_1 ─▶ … ─▶ y: blocks of conv ─▶ relu ─▶ add, to which the input is added.

    In block `projects` it passes through proj ─▶ norm before; with `shares` block 0 makes a bias ─▶ Mul, which the
    convolutions of all take.
    """
    nodes: Nodes = [{"name": "x", "op": "Placeholder"}]
    last = "x"
    for at in range(count):
        scope, beside, bias = f"b_{at}", last, []
        if at == projects and not shares:
            nodes += weighted(f"{scope}/proj", "Conv2D", last)
            nodes.append({"name": f"{scope}/norm", "op": "Tanh", "input": [f"{scope}/proj"]})
            beside = f"{scope}/norm"
        if shares:
            if not at:
                nodes += weighted(f"{scope}/table", "MatMul", "x")
                nodes.append({"name": f"{scope}/scaled", "op": "Tanh", "input": [f"{scope}/table"]})
            bias = ["b_0/scaled"]
        nodes += weighted(f"{scope}/conv", "BiasAdd" if shares else "Conv2D", last, *bias)
        nodes.append({"name": f"{scope}/relu", "op": "Relu", "input": [f"{scope}/conv"]})
        nodes.append({"name": f"{scope}/add", "op": "AddV2", "input": [f"{scope}/relu", beside]})
        last = f"{scope}/add"
    nodes.append({"name": "y", "op": "Sigmoid", "input": [last]})
    return GraphDef(node=nodes)


def shown(model: Model, member: str) -> Metagraph:
    return model.members.metagraph((model.hierarchy.name.index(member),))


def surplus_names(model: Model, surplus: Surplus | None) -> set[str]:
    return set() if surplus is None else {model.hierarchy.graph.name[node] for node in surplus.nodes}


def lines(model: Model, member: str) -> set[tuple[str, str]]:
    """The lines at the box of the surplus, from where and to where."""
    level, names = shown(model, member), model.hierarchy.name
    box = level.surplus_position
    found = {(edge.source, edge.target) for edge in level.edges if box in (edge.source, edge.target)}
    named = {(names[level.children[source]], names[level.children[target]]) for source, target in found}
    for bridge in level.bridges:
        if bridge.child == box:
            ends = names[bridge.other], names[level.children[box]]
            named.add(ends if bridge.inbound else ends[::-1])
    return named


@pytest.mark.parametrize("member", ["b_1", "b_3", "b_5"])
def test_a_projection_of_the_first_block_is_between_the_input_and_the_sum(member: str) -> None:
    model = load(blocks(6), group="b_[0-5]")
    level = shown(model, member)
    assert surplus_names(model, level.surplus) == {"b_0/proj", "b_0/norm"}
    assert lines(model, member) == {("x", "b_0"), ("b_0", f"{member}/add")}
    # What feeds the convolution stays; what fed the sum goes through the box.
    fed = {model.hierarchy.name[level.children[bridge.child]] for bridge in level.bridges if bridge.inbound}
    assert fed == {f"{member}/conv", "b_0"}


def test_the_member_that_has_more_has_no_box_itself() -> None:
    model = load(blocks(6), group="b_[0-5]")
    level = shown(model, "b_0")
    assert level.surplus is None
    assert set(level.children) == set(model.hierarchy.children(level.row).tolist())


def test_a_last_block_may_have_more() -> None:
    model = load(blocks(6, projects=5), group="b_[0-5]")
    assert surplus_names(model, shown(model, "b_0").surplus) == {"b_5/proj", "b_5/norm"}


def test_what_the_first_block_makes_for_all_feeds_the_one_that_is_shown() -> None:
    model = load(blocks(5, shares=True), group="b_[0-4]")
    level = shown(model, "b_3")
    assert surplus_names(model, level.surplus) == {"b_0/table", "b_0/scaled"}
    assert level.surplus is not None
    assert level.surplus.shared
    assert ("b_0", "b_3/conv") in lines(model, "b_3")


def test_a_block_that_lacks_something_has_no_box_of_it() -> None:
    graph = blocks(6, projects=-1)
    kept = [node for node in graph.node if node.name != "b_0/add"]
    for node in kept:
        for at, source in enumerate(node.input):
            if source == "b_0/add":
                node.input[at] = "b_0/relu"
    model = load(GraphDef(node=kept))
    stacks = [row for row in range(len(model.hierarchy)) if is_stack(model.hierarchy, row)]
    assert stacks
    assert all(model.members.surplus_of_stack(row) is None for row in stacks)


def test_the_list_of_members_and_the_preset_of_tensorboard_have_no_box() -> None:
    model = load(blocks(6), group="b_[0-5]")
    row = model.hierarchy.name.index("b_2")
    assert model.metagraph((row,)).surplus is None
    plain = model.members.with_options(ExpandOptions(tensorboard=True))
    assert plain.metagraph((row,)).surplus is None


def test_ops_in_a_row_are_partners_where_their_weights_are_equal() -> None:
    # dense 8×8 ─▶ relu ─▶ add in each block; in the first, dense 8×2 ─▶ tanh ─▶ dense 2×8 before the sum.
    nodes: Nodes = [{"name": "x", "op": "Placeholder"}]
    last = "x"
    for at in range(5):
        steps = [("dense", "MatMul", (8, 8)), ("relu", "Relu", ())]
        steps += [("down", "MatMul", (8, 2)), ("tanh", "Tanh", ()), ("up", "MatMul", (2, 8))] if not at else []
        before = last
        for name, op, shape in steps:
            made = weighted(f"b_{at}/{name}", op, before) if shape else []
            for node in made[:1]:
                node["attr"] = {"shape": {"shape": {"dim": [{"size": size} for size in shape]}}, "dtype": {"type": 1}}
            nodes += made or [{"name": f"b_{at}/{name}", "op": op, "input": [before]}]
            before = f"b_{at}/{name}"
        nodes.append({"name": f"b_{at}/add", "op": "AddV2", "input": [before, last]})
        last = f"b_{at}/add"
    nodes.append({"name": "y", "op": "Sigmoid", "input": [last]})
    model = load(GraphDef(node=nodes), group="b_[0-4]")
    assert surplus_names(model, shown(model, "b_2").surplus) == {"b_0/down", "b_0/tanh", "b_0/up"}
    assert ("b_0", "b_2/add") in lines(model, "b_2")


def test_other_results_of_the_member_that_has_more_do_not_come_from_its_box() -> None:
    graph = blocks(6)
    for node in graph.node:
        if node.name in ("b_3/add", "b_4/add", "b_5/add"):  # all others lack it: no copies of one another
            node.input.append("b_0/relu")
    model = load(graph, group="b_[0-5]")
    level = (
        shown(model, "b_1") if model.members.surplus_in((model.hierarchy.name.index("b_1"),)) else shown(model, "b_4")
    )
    box = level.surplus_position
    flat = model.hierarchy.graph
    for edge in level.edges:
        if edge.source == box:
            assert edge.flat_edges is not None
            assert {flat.name[node] for node in flat.source[edge.flat_edges]} == {"b_0/norm"}


def test_a_hidden_op_of_a_stack_takes_its_box_away() -> None:
    model = load(blocks(6), group="b_[0-5]")
    row = model.hierarchy.name.index("b_2")
    for name, boxed in (("y", True), ("b_0/norm", False)):
        hidden = np.zeros(len(model.hierarchy), bool)
        hidden[model.hierarchy.name.index(name)] = True
        levels = MemberExpander(Expander(model.hierarchy, model.facts, hidden=hidden))
        assert (levels.metagraph((row,)).surplus is not None) is boxed


def test_json_names_the_member_that_has_more_and_the_ops() -> None:
    model = load(blocks(6), group="b_[0-5]")
    nodes = model.to_json()["nodes"]
    [said] = [node["surplus"] for node in nodes if "surplus" in node]
    assert nodes[said["member"]]["name"] == "b_0"
    assert {nodes[op]["name"] for op in said["ops"]} == {"b_0/proj", "b_0/norm"}
    assert said["shared"] is False


@cache
def fixture(name: str) -> Model:
    return load(FIXTURES / name)


@pytest.mark.parametrize(
    ("name", "stack", "types"),
    [
        ("shapes/ResNet50.pb.gz", "conv4", {"Conv2D": 1}),
        ("exported/resnet.pt2", "layer3", {"aten::conv2d": 1, "aten::batch_norm": 1}),
        ("exported/resnet.script.onnx.gz", "layer3", {"onnx::Conv": 1}),
        ("exported/resnet.dynamo.onnx.gz", "layer3", {"onnx::Conv": 1}),
        ("lite/resnet.tflite.gz", "conv3", {"tfl::CONV_2D": 1}),
    ],
)
def test_the_projection_is_found_in_every_form(name: str, stack: str, types: dict[str, int]) -> None:
    model = fixture(name)
    hierarchy, graph = model.hierarchy, model.hierarchy.graph
    found = [
        surplus
        for row in range(len(hierarchy))
        if stack in hierarchy.name[row] and is_stack(hierarchy, row)
        and (surplus := model.members.surplus_of_stack(row)) is not None
    ]  # fmt: skip
    assert len(found) == 1
    counts = Counter(graph.op_types[graph.op[node]] for node in found[0].box.nodes)
    assert {op: counts[op] for op in types} == types
    assert hierarchy.op_count(found[0].box.member) - hierarchy.op_count(found[0].usual) == len(found[0].box.nodes)


@pytest.mark.parametrize("name", ["MobileNetV2", "EfficientNetB0", "EfficientNetV2B0"])
def test_a_stage_whose_first_block_has_no_shortcut_has_no_box(name: str) -> None:
    model = fixture(f"shapes/{name}.pb.gz")
    stacks = [row for row in range(len(model.hierarchy)) if is_stack(model.hierarchy, row)]
    assert all(model.members.surplus_of_stack(row) is None for row in stacks)


# ---- generated: a block, and the same block with more in it ----

OPS = ("Relu", "Tanh", "Sigmoid", "AddV2", "Mul")
SIZES = {"AddV2": 2, "Mul": 2, "Conv2D": 1, "Softmax": 1}


def generated(seed: int, distinct: bool) -> tuple[GraphDef, set[str]]:
    """Blocks of random ops in a row, the first with a branch before some of their inputs; and the names of its ops.
    `distinct`: no op of the branch has a type of the block."""
    chance = random.Random(seed)
    plan: list[tuple[str, list[int]]] = []  # type, and the ops before it that it takes: -1 is the input of the block
    for at in range(chance.randint(2, 7)):
        op = chance.choice(OPS)
        plan.append((op, [chance.randint(-1, at - 1) if slot else at - 1 for slot in range(SIZES.get(op, 1))]))
    skips = [
        (at, slot) for at, (_, ends) in enumerate(plan) for slot, end in enumerate(ends) if end < 0 and (at or slot)
    ]
    extra = ["Conv2D", *(chance.choice(("Softmax",) if distinct else OPS[:3]) for _ in range(chance.randint(0, 3)))]
    where = chance.choice(skips) if skips else (0, 0)
    nodes: Nodes = [{"name": "x", "op": "Placeholder"}]
    last, more = "x", set[str]()
    for number in range(chance.randint(4, 7)):
        begin = last
        for at, (op, ends) in enumerate(plan):
            inputs = [begin if end < 0 else f"b_{number}/op{end}" for end in ends]
            if not number and at == where[0]:
                source = inputs[where[1]]
                for step, kind in enumerate(extra):
                    name = f"b_0/more{step}"
                    nodes += (
                        weighted(name, kind, source) if not step else [{"name": name, "op": kind, "input": [source]}]
                    )
                    source = name
                    more.add(name)
                inputs[where[1]] = source
            nodes.append({"name": f"b_{number}/op{at}", "op": op, "input": inputs})
        last = f"b_{number}/op{len(plan) - 1}"
    return GraphDef(node=[*nodes, {"name": "y", "op": "Exp", "input": [last]}]), more


@examples(200)
@given(st.integers(0, 1 << 20), st.booleans())
def test_the_box_holds_exactly_the_ops_without_a_partner(seed: int, distinct: bool) -> None:
    graph, more = generated(seed, distinct)
    model = load(graph)
    hierarchy = model.hierarchy
    flat = hierarchy.graph
    for row in (row for row in range(len(hierarchy)) if is_stack(hierarchy, row)):
        found = model.members.surplus_of_stack(row)
        if found is None:
            continue
        member = [
            node
            for node in hierarchy.node[found.box.member : hierarchy.end[found.box.member]].tolist()
            if node >= 0 and not flat.mark[node]
        ]
        # Each op is a partner or in the box, and partners are one to one and of one type.
        assert sorted([*found.box.nodes, *found.partner]) == sorted(member)
        assert len(set(found.partner.values())) == len(found.partner) == hierarchy.op_count(found.usual)
        assert all(flat.op[node] == flat.op[hierarchy.node[other]] for node, other in found.partner.items())
        names = {flat.name[node] for node in found.box.nodes}
        if distinct and hierarchy.name[found.box.member] == "b_0":
            assert names == more
        # Each data edge between the box and a partner is a line, at the partner's row.
        ends = {node: number for number, node in enumerate(member)}
        joined = {
            (found.partner[source], False) if source in found.partner else (found.partner[target], True)
            for source, target, control in zip(
                flat.source.tolist(), flat.target.tolist(), flat.control.tolist(), strict=True
            )
            if not control
            and source in ends
            and target in ends
            and (source in found.partner) != (target in found.partner)
        }
        assert joined == {(other, inward) for _, other, inward, _ in found.lines}
        level = model.members.metagraph((found.usual,))
        assert level.surplus == found.box
        assert sorted(level.children) == list(level.children)


def test_generated_blocks_with_more_in_the_first_have_a_box_of_it() -> None:
    boxes = 0
    for seed in range(60):
        graph, more = generated(seed, True)
        model = load(graph, group="b_[0-3]")
        rows = [row for row in range(len(model.hierarchy)) if is_stack(model.hierarchy, row)]
        found = [model.members.surplus_of_stack(row) for row in rows]
        boxes += any(one is not None and surplus_names(model, one.box) == more for one in found)
    assert boxes >= 40


def test_a_projection_of_a_keras_file_has_a_box() -> None:
    """Layers of a Keras file hold their weights; no input brings them."""
    layers: list[dict[str, Any]] = []

    def layer(kind: str, name: str, *inputs: str, **config: Any) -> str:
        tensors = [[[source, 0, 0, {}] for source in inputs]] if inputs else []
        layers.append({"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": tensors})
        return name

    def conv(name: str, source: str, size: int) -> str:
        return layer("Conv2D", name, source, filters=8, kernel_size=[size, size], padding="same")

    x = layer("InputLayer", "image", batch_input_shape=[None, 8, 8, 8])
    for block in range(1, 5):
        beside = conv(f"b_block{block}_0_conv", x, 1) if block == 1 else x
        inner = layer("Activation", f"b_block{block}_1_relu", conv(f"b_block{block}_1_conv", x, 3), activation="relu")
        x = layer("Add", f"b_block{block}_add", conv(f"b_block{block}_2_conv", inner, 3), beside)
    ends = {"input_layers": [["image", 0, 0]], "output_layers": [[x, 0, 0]]}
    text = json.dumps({"class_name": "Functional", "config": {"name": "net", "layers": layers, **ends}})
    model = load(text.encode())
    [found] = [
        surplus
        for row in range(len(model.hierarchy))
        if is_stack(model.hierarchy, row) and (surplus := model.members.surplus_of_stack(row)) is not None
    ]
    assert [model.hierarchy.graph.name[node] for node in found.box.nodes] == ["net/b_block1_0_conv"]
