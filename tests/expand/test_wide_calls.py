"""A call of a function with many arguments and results: its edges are followed once, whatever is opened inside."""

from __future__ import annotations

import pytest

from graphviz_tb.api.pipeline import load
from graphviz_tb.expand import bridges
from graphviz_tb.proto import GraphDef

MANY = 40


def wide() -> GraphDef:
    """x0 … ─▶ call ─▶ y0 …, where each argument passes an op of its own, two in a scope."""
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = "wide"
    call = graph.node.add(name="call", op="wide")
    for index in range(MANY):
        graph.node.add(name=f"x{index}", op="Placeholder")
        call.input.append(f"x{index}")
        graph.node.add(name=f"y{index}", op="Identity", input=[f"call:{index}"])
        function.signature.input_arg.add(name=f"in{index}")
        function.signature.output_arg.add(name=f"out{index}")
        function.node_def.add(name=f"s{index // 2}/op{index}", op=f"Op{index}", input=[f"in{index}"])
        function.ret[f"out{index}"] = f"s{index // 2}/op{index}:y:0"
    return graph


def test_what_a_call_hands_on_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[int] = []
    through_call = bridges.follow_into_call

    def counted(*arguments: object) -> list[tuple[int, int, int]]:
        followed.append(1)
        return through_call(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(bridges, "follow_into_call", counted)
    model = load(wide(), series_min=1_000, folds=False)
    hierarchy = model.hierarchy
    call = hierarchy.name.index("call")
    scopes = [
        row for row in range(call, len(hierarchy)) if hierarchy.name[row].startswith("s") and hierarchy.can_open(row)
    ]
    assert len(scopes) == MANY // 2
    for index, scope in enumerate(scopes):
        lines = model.metagraph((call, scope)).bridges
        wanted = {(f"{word}{2 * index + more}", word == "in") for word in ("in", "y") for more in (0, 1)}
        assert {(hierarchy.name[line.other], line.inbound) for line in lines} == wanted
    assert len(followed) <= 2  # once for the call as it is open, once for all scopes inside
