"""What thousands have in common is looked at once: their siblings, the function that they call, the op that they read,
the layer that they lie in. Time follows their number, not its square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes import numbers
from graphviz_tb.diff.changes.called import group_counts
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.side import GraphColumns, Scopes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.numbered import _by_place
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import Setting
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds
from tests.diff.test_causes import graph
from tests.diff.test_limits import side

Pair = tuple[Any, Any]


def both(make: Callable[[int], Any]) -> Pair:
    return make(0), make(1)


def in_one_another(count: int) -> Pair:
    """x ─▶ a/a/…/a, in as many scopes as letters; all have another name."""

    def made(new: int) -> GraphDef:
        name = "/".join("ab"[new] * count)
        return graph("x A", "y B", f"{name}/{'ab'[new]} Q x y", f"out R {name}/{'ab'[new]}")

    return both(made)


def held_by_all(count: int) -> Pair:
    """x ─▶ a/c/…/c/q: the outermost scope has another name, and what is in it is the same."""

    def made(new: int) -> GraphDef:
        name = "/".join(("ab"[new], *"c" * count, "q"))
        return graph("x A", "y B", f"{name} Q x y", f"out R {name}", "YZ"[new] + " Z")

    return both(made)


def counted_anew(count: int) -> Pair:
    """Ops in one scope, each of a name of its own with a number that is another."""
    return both(lambda new: graph(*(f"w{at}z_{new + 1} Relu" for at in range(count))))


def products(count: int) -> Pair:
    """Scopes beside each other with a product in each, as an attention has."""
    return both(lambda new: graph(*(f"s{at}/x Einsum" for at in range(count)), *["new Relu"] * new))


def calls(count: int) -> Pair:
    """Calls of one function of many ops, that came in the place of other ops."""

    def made(new: int) -> GraphDef:
        scopes = [f"n/{at} f x" for at in range(count)] if new else [f"m/{at} Elu x" for at in range(3)]
        made = graph("x Relu", *scopes, f"y Tanh {'mn'[new]}/0", *(f"z{at} Q{at}" for at in range(count)))
        function = made.library.function.add()
        function.signature.name = "f"
        for at in range(4 * count):
            function.node_def.add(name=f"r{at}", op="R")
        return made

    return both(made)


def settings(count: int) -> Pair:
    """Constants with other values that feed one op, whose result many use."""

    def made(new: int) -> GraphDef:
        made = graph(f"u AddN {' '.join(f'c{at}' for at in range(count))}", *(f"z{at} R u" for at in range(3 * count)))
        for at in range(count):
            tensor = made.node.add(name=f"c{at}", op="Const").attr["value"].tensor
            tensor.dtype = 3
            tensor.int_val.append(2 * at + new)
        return made

    return both(made)


def weights(count: int) -> Pair:
    """Weights of other shapes that feed one product."""

    def made(new: int) -> GraphDef:
        made = graph(f"m/x MatMul {' '.join(f'm/r{at}' for at in range(count))}")
        for at in range(count):
            shape = made.node.add(name=f"m/r{at}", op="ReadVariableOp").attr["_output_shapes"].list.shape.add()
            shape.dim.add(size=at + 1 + new)
            shape.dim.add(size=10_000 + at)
        return made

    return both(made)


def lent(count: int) -> Pair:
    """Ops that took what one op reads, which has as many inputs; each has a weight of its own now."""

    def made(new: int) -> GraphDef:
        own = [f"w/v{at} VariableV2" for at in range(count * new)]
        return graph(
            "in P",
            *(f"s{at} VariableV2" for at in range(count)),
            f"h Identity {' '.join(f's{at}' for at in range(count))}",
            *own,
            *(f"u/{at}u Relu {f'w/v{at}' if new else 'h'} in" for at in range(count)),
        )

    return both(made)


SLOW = [in_one_another, held_by_all, counted_anew, products, weights]


@pytest.mark.slow
@pytest.mark.parametrize("pair", SLOW)
def test_each_is_looked_at_once(pair: Callable[[int], Pair]) -> None:
    few, many = pair(150), pair(2400)
    assert cpu_seconds(lambda: diff(*many)) < 48 * cpu_seconds(lambda: diff(*few))  # 16 times as many


def counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, size: Callable[[Any], int]) -> list[int]:
    """What a function gives back is measured: a list that grows with each call."""
    sizes: list[int] = []
    own = getattr(where, name)

    def measured(*given: Any) -> Any:
        result = own(*given)
        sizes.append(size(result))
        return result

    monkeypatch.setattr(where, name, measured)
    return sizes


def test_a_function_is_searched_for_convolutions_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = counted(monkeypatch, GraphColumns, "body", len)
    (change,) = diff(*calls(300))
    assert change.kind == "changed"
    assert sum(bodies) < 10 * 4 * 300


def test_what_uses_an_op_is_not_listed_for_each_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = counted(monkeypatch, GraphColumns, "out_edges", len)
    (change,) = diff(*settings(200))
    assert change.ops == 200
    assert sum(edges) < 40 * 4 * 200


def test_what_a_layer_lends_is_not_all_listed_for_each_that_took_it(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = counted(monkeypatch, GraphColumns, "in_edges", len)
    (change,) = diff(*lent(300))
    assert change.detail["key"] == "weights"
    assert sum(edges) < 40 * 3 * 300


def convolved(count: int, inputs: int, op: str) -> GraphColumns:
    """Kernels of so many inputs, all read by one op, and convolutions that take it."""
    made = graph("x A", f"h Identity {' '.join(f'k{at}' for at in range(count))}")
    for at in range(count):
        kernel = made.node.add(name=f"k{at}", op="VariableV2")
        for size in (3, 3, inputs, 8):
            kernel.attr["shape"].shape.dim.add(size=size)
        kernel.attr["dtype"].type = 1
        made.node.add(name=f"c{at}", op=op, input=["x", "h"])
    function = made.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="c", op="Conv2D")
    return side(made)


def test_what_convolutions_read_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 200
    old, new = convolved(count, 16, "Conv2D"), convolved(count, 4, "f")
    ops = [
        [node for node, name in enumerate(each.graph.name) if name[0] == "c" and len(name) > 1] for each in (old, new)
    ]
    edges = counted(monkeypatch, GraphColumns, "in_edges", len)
    change = Change(
        "changed",
        "op",
        "c",
        "c",
        1,
        Setting("op", "Conv2D", "f"),
        edits=NodeEdits(removed=tuple(ops[0]), added=tuple(ops[1])),
    )
    assert group_counts((Layers(old), Layers(new)), [change]) == (1, 4)
    assert sum(edges) < 40 * 3 * count


def test_the_nodes_of_a_layer_are_summed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two graphs of which a third is the same layer: each of its ops has another attribute, which is one change."""
    count = 200

    def made(new: int) -> GraphDef:
        made = graph(*(f"{'pq'[new]}/{at} {'XY'[new]}" for at in range(2 * count)))
        for at in range(count):
            made.node.add(name=f"m/{at}", op="Relu").attr["k"].i = 2 * at + new
        return made

    changes = diff(*both(made))
    assert {notice.code for notice in changes.notices} == {"unrelated"}
    assert len(changes) == count + 2
    summed = counted(monkeypatch, numbers, "_unique_ids", len)
    assert [changes.numbers_of(change) for change in changes if change.kind == "changed"] == [{}] * count
    assert sum(summed) < 20 * count


def test_a_long_name_is_not_read_for_each_that_leads_to_it() -> None:
    reads = []

    class Name(str):
        __slots__ = ()

        def count(self, *given: Any) -> int:
            reads.append(self)
            return super().count(*given)

        def split(self, *given: Any) -> list[str]:  # type: ignore[override]
            reads.append(self)
            return super().split(*given)

    count = 200
    made = side(
        graph(f"u/u AddN {' '.join(f'c{at}' for at in range(count))}", *(f"c{at} Const" for at in range(count)))
    )
    made.graph.name[:] = map(Name, made.graph.name)
    layers = Layers(made)
    users = {layers.first_user(node) for node in range(len(made)) if node != made.graph.name.index("u/u")}
    assert users == {made.graph.name.index("u/u")}
    assert not reads  # its depth is known from its scope


def test_the_ops_around_a_collector_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 200
    made = side(graph(*(f"c{at} Const" for at in range(count)), f"u AddN {' '.join(f'c{at}' for at in range(count))}"))
    sources = counted(monkeypatch, GraphColumns, "data_sources", len)
    m = Matching(made, made)
    for node in range(len(made)):
        _by_place(m, made, np.ones(len(made), np.bool_), node)
    assert sum(sources) == count


def test_scopes_are_not_all_measured_for_each_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(new: int) -> GraphDef:
        made = graph("x " + "AB"[new])
        for at in range(300):
            function = made.library.function.add()
            function.signature.name = f"f{at}"
            function.node_def.add(name="a", op="Q")
        return made

    sizes = counted(monkeypatch, Scopes, "sizes", len)
    diff(*both(made))
    assert len(sizes) < 20
