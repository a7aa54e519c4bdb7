"""PyTorch modules that are called again: a cycle of scopes that is no loop."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("times", [2, 5])
def test_a_module_that_is_called_again_is_no_loop(times: int) -> None:
    # fc ─▶ act ─▶ fc ─▶ act ─▶ … ─▶ out
    assert f"Net/Linear[fc] used {times} times" in traced(*["Linear[fc]", "ReLU[act]"] * times, "Linear[out]")


def test_the_module_that_is_called_most_often_is_named() -> None:
    named = traced("Linear[a]", "Linear[b]", "Linear[c]", "Linear[b]", "Linear[a]", "Linear[b]", "Linear[out]")
    assert "Net/Linear[b] used 3 times" in named


def test_modules_that_are_called_once_are_not_said_to_be_used_again() -> None:
    assert not any("used" in name for name in traced("Linear[a]", "Linear[b]", "Linear[out]"))
