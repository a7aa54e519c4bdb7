"""A function that one graph calls and the other has inline is no change; an edit inside of it is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.networks import Form, blocks_of, network
from tests.diff.test_causes import graph

PLAIN, CALLED = Form(), Form(function=True)


def body(*lines: str, result: str) -> Any:
    """x ─▶ a call of a function with the nodes `lines` ─▶ m/out; the argument of the function is `a`."""
    made = graph("x Placeholder", "m/call PartitionedCall x", "m/out Softmax m/call")
    function = made.library.function.add()
    function.signature.name = "__inference_part_7"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="y", type=1)
    function.node_def.extend(graph(*lines).node)
    function.ret["y"] = result
    call = made.node[1]
    call.attr["f"].func.name = "__inference_part_7"
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_a_call_of_what_the_other_graph_has_inline_is_no_change(turned: bool) -> None:
    blocks = blocks_of(4)
    pair = [network(blocks, PLAIN), network(blocks, CALLED)]
    result = diff(*(reversed(pair) if turned else pair))
    assert not result
    assert [notice.code for notice in result.notices] == ["inlined-calls"]


@pytest.mark.parametrize("turned", [False, True])
def test_an_edit_inside_the_function_is_told(turned: bool) -> None:
    before, after = blocks_of(4), blocks_of(4)
    old, new = before.activation[-1], "Softplus" if before.activation[-1] != "Softplus" else "Elu"
    after.activation[-1] = new
    pair = [network(before, PLAIN), network(after, replace(CALLED, order=3))]
    (change,) = diff(*(reversed(pair) if turned else pair))
    assert (change.kind, change.detail["key"]) == ("changed", "op")
    assert {change.detail["old"], change.detail["new"]} == {old, new}


def test_several_ops_and_names_of_the_other_graph() -> None:
    old = graph("x Placeholder", "m/a/Tanh Tanh x", "m/b/Relu Relu m/a/Tanh", "m/out Softmax m/b/Relu")
    new = body("m/a/Tanh Tanh a", "m/b/Relu Relu m/a/Tanh:y:0", result="m/b/Relu:activations:0")
    assert not [change for change in diff(old, new) if change.severity == "op"]


def test_a_new_call_is_a_change_where_its_ops_are_nowhere_else() -> None:
    old = graph("x Placeholder", "m/out Softmax x")
    result = diff(old, body("b/Tanh Tanh a", result="b/Tanh:y:0"))
    assert "added" in result.kinds
    assert not result.notices


def test_a_function_that_returns_its_argument_or_nothing() -> None:
    old = graph("x Placeholder", "m/call Identity x", "m/out Softmax m/call")
    for result in ("a", "gone:y:0", ""):
        assert diff(old, body("b/Tanh Tanh a", result=result)) is not None
