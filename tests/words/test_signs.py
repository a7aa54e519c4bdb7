"""A sum or a product of tensors is drawn as its sign."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.model.scene import Scene
from graphviz_tb.proto import GraphDef
from tests.each import each


def op(name: str, kind: str, *inputs: str) -> dict[str, object]:
    return {"name": name, "op": kind, "input": list(inputs)}


def drawn(*nodes: dict[str, object], **options: object) -> Scene:
    return load(GraphDef(node=list(nodes))).picture(**options).scene  # type: ignore[arg-type]


X, Y = op("x", "Placeholder"), op("y", "Placeholder")
HALF = {"name": "half", "op": "Const", "attr": {"value": {"tensor": {"dtype": 1, "float_val": [0.5]}}}}


@each(
    ("node", "sign"),
    [
        (op("sum", "AddV2", "x", "y"), "+"),
        (op("sum", "AddN", "x", "y"), "+"),
        (op("sum", "aten::add_", "x", "y"), "+"),
        (op("sum", "onnx::Mul", "x", "y"), "×"),
        (op("scope/sum", "Add", "x", "y"), "+"),  # a scope of one op
        (op("sum", "AddV2", "x", "half"), ""),  # of one tensor
        (op("sum", "Mul", "x", "x"), ""),  # a square
        (op("sum", "Sub", "x", "y"), ""),
    ],
)
def test_which_ops_are_drawn_as_a_sign(node: dict[str, object], sign: str) -> None:
    scene = drawn(X, Y, HALF, node)
    box = next(box for box in scene.boxes if box.address == str(node["name"]).partition("/")[0])
    assert box.sign == sign
    texts = [text for text in scene.texts if text.box == scene.boxes.index(box) and text.role == "label"]
    assert [text.content for text in texts] == [sign or box.address]
    assert [text.full for text in texts] == [box.address]  # the tooltip has the name


def test_a_sign_gives_way_to_a_value() -> None:
    scene = drawn(X, Y, op("sum", "AddV2", "x", "y"), color_by="op-type")
    assert [box.sign for box in scene.boxes if box.address == "sum"] == [""]
    assert {text.content for text in scene.texts} >= {"sum", "AddV2"}
