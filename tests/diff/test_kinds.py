"""One tiny pair for each kind of change."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.diff import diff
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.proto import GraphDef
from tests.diff.pairs import REAL, chain, copied, graph_def


def graph(*nodes: dict[str, Any], **more: Any) -> Any:
    return GraphDef(node=list(nodes), **more)


def placeholder(name: str, dtype: int) -> dict[str, Any]:
    return {"name": name, "op": "Placeholder", "attr": {"dtype": {"type": dtype}}}


def test_op_type() -> None:
    (change,) = diff(chain("A", "Relu", "B"), chain("A", "Gelu", "B"))
    assert (change.kind, change.severity, change.detail) == (
        "changed", "op", {"key": "op", "old": "Relu", "new": "Gelu"},
    )  # fmt: skip


def test_an_input_of_another_type_is_a_signature() -> None:
    (change,) = diff(graph(placeholder("x", 1)), graph(placeholder("x", 19)))
    assert (change.severity, change.detail["old"], change.detail["new"]) == ("signature", "float32", "float16")


def test_types_of_several_attributes_are_one_change() -> None:
    old, new = (
        graph(
            {"name": "c", "op": "Const", "attr": {"dtype": {"type": t}, "value": {"tensor": {"dtype": t}}}},
            {"name": "n", "op": "Neg", "input": ["c"], "attr": {"T": {"type": t}}},
        )
        for t in (1, 2)
    )
    (change,) = diff(old, new)
    assert (change.detail["key"], change.ops) == ("dtype", 2)
    assert change.detail["attributes"] == ["T", "dtype", "value"]


def test_rewired() -> None:
    nodes = [{"name": name, "op": "A"} for name in "xy"]
    old = graph(*nodes, {"name": "z", "op": "Sub", "input": ["x", "y"]})
    new = graph(*nodes, {"name": "z", "op": "Sub", "input": ["y", "x"]})
    (change,) = diff(old, new)
    assert change.kind == "rewired"
    assert change.detail["reordered"]
    new = graph(*nodes, {"name": "z", "op": "Sub", "input": ["x", "y", "^x"]})
    (change,) = diff(old, new)
    assert change.detail["inputs"] == [{"input": "control", "old": None, "new": "x"}]


def test_order_of_control_inputs_is_nothing() -> None:
    nodes = [{"name": name, "op": "A"} for name in "xy"]
    old = graph(*nodes, {"name": "z", "op": "NoOp", "input": ["^x", "^y"]})
    assert diff(old, graph(*nodes, {"name": "z", "op": "NoOp", "input": ["^y", "^x"]})).same


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("devices", lambda node: setattr(node, "device", "/gpu:0")),
        ("shapes", lambda node: node.attr["_output_shapes"].list.shape.add(unknown_rank=True)),
        ("colocation", lambda node: node.attr["_class"].list.s.append(b"loc:@n0")),
    ],
)
def test_noise_unless_asked_for(word: str, change: Any) -> None:
    old = chain("A", "B")
    new = copied(old)
    change(new.node[1])
    assert diff(old, new).same
    assert diff(old, new).ignored == {word: 1}
    assert [one.kind for one in diff(old, new, include=[word])] == ["changed"]


def test_versions() -> None:
    old, new = chain("A"), chain("A")
    new.versions.producer = 7
    assert diff(old, new).same
    assert [one.severity for one in diff(old, new, include=["versions"])] == ["cosmetic"]
    with pytest.raises(UnknownChoice, match="unknown class of differences 'version'"):
        diff(old, new, include=["version"])


def function(name: str, *ops: str, result: int = 1) -> dict[str, Any]:
    nodes = [
        {"name": f"n{at}", "op": op, "input": ["arg"] if not at else [f"n{at - 1}:y:0"]} for at, op in enumerate(ops)
    ]
    return {
        "signature": {
            "name": name, "input_arg": [{"name": "arg", "type": 1}], "output_arg": [{"name": "out", "type": result}],
        },
        "node_def": nodes, "ret": {"out": f"n{len(ops) - 1}:y:0"},
    }  # fmt: skip


def calling(name: str, *ops: str, result: int = 1) -> Any:
    call = {"name": "call", "op": "PartitionedCall", "attr": {"f": {"func": {"name": name}}}}
    user = {"name": "user", "op": "Softsign", "input": ["call"]}  # a graph that only ran it would be the function's
    return graph(call, user, library={"function": [function(name, *ops, result=result)]})


def test_the_number_of_a_function_is_nothing() -> None:
    assert diff(calling("__inference_f_12", "Relu"), calling("__inference_f_987", "Relu")).same


def test_a_changed_body() -> None:
    (change,) = diff(calling("__inference_f_12", "Relu", "Neg"), calling("__inference_f_34", "Relu", "Abs"))
    assert (change.kind, change.detail["function"], change.severity) == ("function-changed", "__inference_f", "op")
    assert [(one.kind, one.name) for one in change.inside] == [("changed", "n1")]


def test_a_changed_signature_of_a_function() -> None:
    (change,) = diff(calling("f", "Relu"), calling("f", "Relu", result=2))
    assert [one.kind for one in change.inside] == ["signature-changed"]
    assert change.severity == "signature"


def test_models_and_filters() -> None:
    old, new = load(chain("A", "Relu", "B")), load(chain("A", "Gelu", "B"))
    changes = diff(old, new)
    assert [one.name for one in changes.filter(kind="changed")] == ["n1"]
    assert changes.filter(kind="added").same
    assert len(changes.filter(under="n1")) == 1
    assert changes.summary["severities"] == {"op": 1}
    assert ("n0", "n0", "same name and op") in list(changes.matches())


def test_huge_and_tiny() -> None:
    huge = graph_def(REAL[0])
    changes = diff(chain("NoOp"), huge)
    assert len(changes) > 1
    assert diff(huge, chain("NoOp")).items == changes.inverse().items
