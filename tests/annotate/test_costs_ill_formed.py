"""Attributes of another kind than an op has: it costs what nobody counts, and everything beside it is counted."""

from __future__ import annotations

from typing import Any

from graphviz_tb import load
from graphviz_tb.proto import AttrValue, GraphDef, TensorShapeProto
from tests.each import each
from tests.effort import part
from tests.op_types import op_types_with_costs

SHAPE = TensorShapeProto(dim=[TensorShapeProto.Dim(size=2**40), TensorShapeProto.Dim(size=-1)])
LIST = AttrValue.ListValue
ODD = {
    "number": AttrValue(i=7),
    "negative": AttrValue(i=-(2**63)),
    "fraction": AttrValue(f=float("inf")),
    "text": AttrValue(s=b"abc"),
    "no text": AttrValue(s=b"\xff"),
    "yes": AttrValue(b=True),
    "type": AttrValue(type=999),
    "shape": AttrValue(shape=SHAPE),
    "nothing": AttrValue(),
    "texts": AttrValue(list=LIST(s=[b"a", b"b", b"c", b"d"])),
    "fractions": AttrValue(list=LIST(f=[1.5, float("nan")])),
    "negatives": AttrValue(list=LIST(i=[-1, 0, 2**62, 3])),
    "numbers": AttrValue(list=LIST(i=[4, 8, 8, 3])),
    "yes and no": AttrValue(list=LIST(b=[True, False])),
    "types": AttrValue(list=LIST(type=[1, 999])),
    "shapes": AttrValue(list=LIST(shape=[SHAPE])),
    "no list": AttrValue(list=LIST()),
}
NAMES = (
    "ksize",
    "strides",
    "equation",
    "data_format",
    "transpose_a",
    "is_training",
    "T",
    "shape",
    "dtype",
    "axis",
    "k",
)


@each("odd", part(ODD, 20))
def test_every_op_with_an_attribute_of_every_kind(odd: str) -> None:
    graph = GraphDef()
    for name in "ab":
        given = graph.node.add(name=name, op="Placeholder")
        given.attr["shape"].shape.CopyFrom(TensorShapeProto(dim=[TensorShapeProto.Dim(size=8)] * 4))
        given.attr["dtype"].type = 1
    for kind in op_types_with_costs():
        for attribute in NAMES:
            node = graph.node.add(name=f"{kind}_{attribute}", op=kind, input=["a", "b"])
            node.attr["_output_shapes"].list.shape.add(dim=[TensorShapeProto.Dim(size=8)] * 4)
            node.attr[attribute].CopyFrom(ODD[odd])
    # Among the types is one that says what the graph returns: what it does not return costs nothing.
    graph.node.add(name="returned", op="_Retval", input=["AddN_ksize"])
    costs: Any = load(graph).costs()
    assert all(type(cost.flops) is int and cost.flops >= 0 for cost in costs.values())
    assert costs["AddN_ksize"].flops == 8**4
