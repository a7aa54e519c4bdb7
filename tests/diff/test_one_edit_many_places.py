"""One edit at many places is one change with its places; what differs only in some of these is a change of its own."""

from __future__ import annotations

import json
from typing import Any

from graphviz_tb import diff
from graphviz_tb.proto import GraphDef
from tests.diff.test_causes import graph
from tests.diff.test_two_edits_of_a_block import add_weight


def stack(*layers: tuple[str, str, dict[str, Any]]) -> bytes:
    """A sequence of (class, name, settings)."""
    listed = [{"class_name": kind, "config": {"name": name, **config}} for kind, name, config in layers]
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": listed}}).encode()


def dense(name: str, units: int, activation: str = "relu", **more: Any) -> tuple[str, str, dict[str, Any]]:
    return "Dense", name, {"units": units, "activation": activation, **more}


def told(old: bytes, new: bytes) -> set[tuple[Any, ...]]:
    return {(change.detail.get("key"), change.name, change.place_count) for change in diff(old, new)}


def test_what_differs_at_one_of_many_places_is_told() -> None:
    old = stack(dense("stem", 4), dense("body", 4), dense("neck", 4), ("Softmax", "out", {}))
    new = stack(dense("stem", 8), dense("body", 8, "gelu"), dense("neck", 8), ("Softmax", "out", {}))
    assert told(old, new) == {("units", "m/body", 3), ("activation", "m/body", 1)}
    assert told(new, old) == {("units", "m/body", 3), ("activation", "m/body", 1)}


def test_what_differs_at_some_places_is_one_change_with_these() -> None:
    old = stack(dense("stem", 4), dense("body", 4), dense("neck", 4), dense("head", 2))
    new = stack(dense("stem", 8), dense("body", 8, "gelu"), dense("neck", 8, "gelu"), dense("head", 2, "gelu"))
    assert told(old, new) == {("units", "m/body", 3), ("activation", "m/body", 3)}


def test_what_differs_at_all_places_stays_beside_the_first() -> None:
    old = stack(dense("stem", 4), dense("body", 4), ("Softmax", "out", {}))
    new = stack(dense("stem", 8, "gelu"), dense("body", 8, "gelu"), ("Softmax", "out", {}))
    (change,) = diff(old, new)
    assert (change.place_count, [part["key"] for part in change.detail["with"]]) == (2, ["activation"])


def network(normed: bool, epsilon: float = 1e-3) -> bytes:
    layers = []
    for at, name in enumerate(("stem", "proj", "wide", "neck")):
        layers.append(dense(f"{name}_fc", 4 + at))
        if normed:
            settings = {"axis": -1, "epsilon": epsilon if at else 1e-3}
            layers.append(("BatchNormalization", f"{name}_normal", settings))
        layers.append(("ReLU", f"{name}_act", {}))
    return stack(*layers)


def test_layers_of_one_class_that_went_are_one_change_whatever_their_names() -> None:
    (change,) = diff(network(True), network(False))
    assert (change.kind, change.place_count, change.ops) == ("removed", 4, 4)
    assert (
        "− BatchNormalization ×4: m/neck_normal, m/proj_normal, m/stem_normal, …"
        in diff(network(True), network(False)).explain()
    )
    (back,) = diff(network(False), network(True))
    assert (back.kind, back.place_count) == ("added", 4)


def test_layers_of_one_class_with_other_settings_are_other_edits() -> None:
    assert {change.place_count for change in diff(network(True, 0.1), network(False))} == {1, 3}


def test_one_width_of_an_embedding_and_of_layers_is_one_change() -> None:
    def model(width: int, inner: int) -> bytes:
        blocks = [layer for at in "ab" for layer in (dense(f"{at}_fc", inner), dense(f"{at}_proj", width, "linear"))]
        return stack(("Embedding", "tok", {"input_dim": 10, "output_dim": width}), *blocks, dense("head", 5))

    (change,) = diff(model(32, 64), model(48, 64))
    assert {change.new, *(new for _, new in change.also)} == {"m/tok", "m/a_proj", "m/b_proj"}
    assert len(diff(model(32, 64), model(48, 96))) == 2  # another width is another edit


def towers(turned: bool, *scopes: str) -> GraphDef:
    """Sum of a value and an advantage, in either order, in each of some scopes."""
    lines = ["x Placeholder"]
    for scope in scopes:
        first, then = ("gain", "value") if turned else ("value", "gain")
        lines += [f"{scope}/value Relu x", f"{scope}/gain Tanh x", f"{scope}/add AddV2 {scope}/{first} {scope}/{then}"]
    return graph(*lines)


def test_inputs_in_another_order_at_many_places_are_one_change() -> None:
    (change,) = diff(towers(False, "a", "b", "c"), towers(True, "a", "b", "c"))
    assert (change.kind, change.place_count) == ("rewired", 3)
    assert "and 2 other places: b/add, c/add" in diff(towers(False, *"abc"), towers(True, *"abc")).explain()


def test_wires_from_elsewhere_are_one_change_where_their_ends_have_the_same_names() -> None:
    def late(*norms: str) -> GraphDef:
        """conv ─▶ norm ─▶ relu, or with the norm behind the relu's input as well"""
        lines = ["x Placeholder", "y Placeholder"]
        for scope, source in zip("abc", norms, strict=True):
            lines += [f"{scope}/conv Tanh x", f"{scope}/side Elu y", f"{scope}/norm Square {scope}/{source}"]
            lines.append(f"{scope}/sum Max {scope}/conv {scope}/side {scope}/norm")
        return graph(*lines)

    (change,) = diff(late("conv", "conv", "conv"), late("side", "side", "side"))
    assert (change.kind, change.place_count) == ("rewired", 3)
    assert len(diff(late("conv", "side", "conv"), late("side", "conv", "side"))) == 2


def scaled(by: float, *ops: str) -> GraphDef:
    """Divisions by a number or by a sum, in the order of a program that counts them all with one name."""
    made, before, count = GraphDef(), "x", 0
    made.node.add(name="x", op="Placeholder")
    for number, op in enumerate(ops):
        inputs = [before]
        if op == "share":
            made.node.add(name=f"m/all_{number}", op="aten::sum", input=[before])
            inputs.append(f"m/all_{number}")
        before = f"m/div_{count}" if count else "m/div"
        made.node.add(name=before, op="aten::div", input=inputs)
        if op == "scale":
            made.node[-1].attr["other"].f = by
        made.node.add(name=f"m/soft_{number}", op="aten::softmax", input=[before])
        before, count = f"m/soft_{number}", count + 1
    return made


def test_ops_with_other_numbers_of_inputs_are_no_members_of_each_other() -> None:
    old = scaled(1.0, "scale", "share", "scale", "share")
    new = scaled(2.0, "scale", "scale")
    number = [change for change in diff(old, new) if change.kind == "changed"]
    assert [(change.key, change.detail["old"], change.place_count) for change in number] == [("other", 1.0, 2)]


def grouped(group: int, *widths: int) -> GraphDef:
    """Convolutions of several widths in groups, as an exporter writes them."""
    made, before = GraphDef(), "x"
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    for place, width in enumerate(widths):
        scope = f"net/{'abc'[place]}"
        add_weight(made, f"{scope}/weight", (width, width // group, 3, 3))
        made.node.add(name=f"{scope}/Conv", op="onnx::Conv", input=[before, f"{scope}/weight"]).attr["group"].i = group
        made.node.add(name=f"{scope}/Relu", op="onnx::Relu", input=[f"{scope}/Conv"])
        before = f"{scope}/Relu"
    return made


def test_groups_of_layers_of_several_widths_are_one_change() -> None:
    (change,) = diff(grouped(1, 8, 16, 32), grouped(2, 8, 16, 32))
    assert (change.detail["key"], change.place_count) == ("group", 3)


def called(op: str, places: int = 4) -> GraphDef:
    """Calls of functions that a program made one by one: a number counts them, and the scopes in them."""
    made = graph("x Placeholder", *(f"m/call_{place} PartitionedCall x" for place in range(places)))
    for place, call in enumerate(made.node[1:]):
        function = made.library.function.add()
        function.signature.name = call.attr["f"].func.name = f"part_{place}_cond_false_{70 + place}"
        function.signature.input_arg.add(name="a", type=1)
        function.signature.output_arg.add(name="y", type=1)
        function.node_def.extend(graph(f"s_{place}/act {op} a", f"s_{place}/Softmax Softmax s_{place}/act:y:0").node)
        function.ret["y"] = f"s_{place}/Softmax:softmax:0"
    return made


def test_one_edit_in_functions_that_are_counted_is_one_change() -> None:
    (change,) = diff(called("Tanh"), called("Elu"))
    assert (change.kind, change.place_count) == ("function-changed", 4)
