"""A function that one graph calls and the other has inline is no change; an edit inside of it is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.networks import Form, blocks_of, network
from tests.diff.test_causes import graph

RESOURCE = 20
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


# A function in the scope of its call, with a scope of its own, as one that is traced within a module.
BLOCK = ("m/b/norm/Sqrt Sqrt {}", "m/b/Relu Relu {}")


def called_block(result: str = "m/b/Identity:output:0") -> Any:
    """x ─▶ m/b/call ─▶ m/out: of norm/Sqrt ─▶ Relu ─▶ Identity."""
    lines = (*BLOCK[:1], BLOCK[1].format("m/b/norm/Sqrt:y:0"), "m/b/Identity Identity m/b/Relu:activations:0")
    made = body(lines[0].format("a"), *lines[1:], result=result)
    made.node[1].name, made.node[2].input[0] = "m/b/call", "m/b/call"
    return made


def inline_block(activation: str = "Relu") -> Any:
    last = BLOCK[1].format("m/b/norm/Sqrt").replace("Relu", activation)
    return graph("x Placeholder", BLOCK[0].format("x"), last, f"m/out Softmax m/b/{activation}")


def test_a_body_keeps_its_scopes_and_not_the_copy_that_it_returns() -> None:
    assert not diff(called_block(), inline_block())
    (change,) = diff(called_block(), inline_block("Elu"))
    assert [change.detail[word] for word in ("key", "old", "new")] == ["op", "Relu", "Elu"]


def writing(*inner: str, waits: str) -> Any:
    """w is read, and written after that."""
    return graph("w VarHandleOp", "g Placeholder", *inner, f"up AssignSubVariableOp w g ^{waits}")


def test_what_waits_for_a_call_that_reads_a_variable_waits_for_the_read() -> None:
    plain = writing("m/b/read ReadVariableOp w", "m/b/Tanh Tanh m/b/read", "m/out Softmax m/b/Tanh", waits="m/b/read")
    made = writing("m/b/call PartitionedCall w", "m/out Softmax m/b/call", waits="m/b/call")
    function = body("m/b/read ReadVariableOp a", "m/b/Tanh Tanh m/b/read:value:0", result="m/b/Tanh:y:0").library
    made.library.CopyFrom(function)
    made.node[2].attr["f"].func.name = "__inference_part_7"
    assert not diff(plain, made)


def test_the_number_of_a_variable_that_a_function_uses_is_no_name() -> None:
    def using(handle: str) -> Any:
        made = graph(f"{handle} Placeholder", f"m/read ReadVariableOp {handle}", "x Placeholder", "m/y MatMul x m/read")
        made.node[0].attr["dtype"].type = RESOURCE
        return made

    assert not diff(using("m/217072"), using("m/read/resource"))
    assert diff(using("m/weights"), using("m/read/resource"))
