"""A variable is its resource: what several variables of a program are called is no identity; and what a file trains."""

from __future__ import annotations

from graphviz_tb.formats.object_graph import _number_repeated_names, captured_variables
from graphviz_tb.formats.saved_model import mark_trained
from graphviz_tb.proto import MetaGraphDef
from tests.annotate.test_costs import model, node, placeholder
from tests.unwrap.test_call_chains_read import field


def variable(name: bytes, trainable: bool) -> bytes:
    """A variable in an object graph."""
    return field(1, field(7, bytes([3 << 3, trainable]) + field(6, name)))


def child(number: int, name: bytes) -> bytes:
    return field(1, bytes([8, number]) + field(2, name))


def function(*captured: int) -> bytes:
    return field(2, field(1, b"f") + field(2, field(2, bytes(captured))))


def handle(name: str, shared: str) -> dict[str, object]:
    shape = {"shape": {"dim": [{"size": 4}, {"size": 4}]}}
    said = {"shared_name": {"s": shared.encode()}, "_variable": {"s": b"two/kernel"}}
    return {"name": name, "op": "VarHandleOp", "attr": {"dtype": {"type": 1}, "shape": shape, **said}}


def test_objects_of_one_name_are_called_as_tensorflow_numbers_their_handles() -> None:
    assert _number_repeated_names(["a", "b", "a", "a_1", "a"]) == ["a", "b", "a_2", "a_1", "a_3"]
    data = field(1, b"") + variable(b"k", True) + variable(b"k", True)
    found = captured_variables(data + function(2, 1))["f"]
    assert [(each.name, each.program_name) for each in found] == [("k_1", "k"), ("k", "k")]


def test_variables_of_one_name_count_each() -> None:
    reads = [node(f"read{at}", "ReadVariableOp", f"w{at}", dtype={"type": 1}) for at in range(2)]
    products = (node("y", "MatMul", "x", "read0"), node("z", "MatMul", "y", "read1"))
    two = model(placeholder("x", 1, 4), handle("w0", "two/kernel"), handle("w1", "two/kernel_1"), *reads, *products)
    assert two.cost.under(0).parameters == 2 * 4 * 4
    one = model(placeholder("x", 1, 4), handle("w0", "w"), handle("w1", "w"), *reads, *products)
    assert one.cost.under(0).parameters == 4 * 4


def test_the_lists_of_the_root_say_what_is_trained_else_a_flag_of_keras_proves_nothing_but_false() -> None:
    # 0 ─▶ lists 1 and 2 ─▶ variables 3 and 4
    lists = child(1, b"trainable_variables") + child(2, b"non_trainable_variables")
    objects = field(1, lists) + field(1, child(3, b"0")) + field(1, child(4, b"0"))
    variables = variable(b"a", True) + variable(b"b", True)
    found = captured_variables(objects + variables + function(3, 4))["f"]
    assert [each.trainable for each in found] == [True, False]
    alone = field(1, child(1, b"_layers")) + field(1, b"") + variable(b"a", True) + variable(b"b", False)
    assert [each.trainable for each in captured_variables(alone + function(2, 3))["f"]] == [None, False]
    module = field(1, child(1, b"w")) + variable(b"a", True) + variable(b"b", False)
    assert [each.trainable for each in captured_variables(module + function(1, 2))["f"]] == [True, False]


def test_the_collections_of_a_meta_graph_say_what_is_trained() -> None:
    graph = MetaGraphDef()
    for name in ("w", "fixed", "other"):
        graph.graph_def.node.add(name=name, op="VariableV2")
    graph.collection_def["variables"].bytes_list.value.extend(field(1, name) for name in (b"w:0", b"fixed:0"))
    graph.collection_def["trainable_variables"].bytes_list.value.append(field(1, b"w:0"))
    mark_trained(graph)
    said = {node.name: node.attr["_trainable"].b for node in graph.graph_def.node if "_trainable" in node.attr}
    assert said == {"w": True, "fixed": False}
