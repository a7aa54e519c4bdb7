"""The ledger balances: every atomic difference is claimed by one change or follows from one, and none hides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import tbgraph
from graphviz_tb.diff import diff
from graphviz_tb.diff.comparison import _entries_old_to_new
from graphviz_tb.diff.ledger import LedgerEntry, add_open_changes, balance_ledger
from graphviz_tb.diff.result import Changes
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.diff.pairs import FIXTURES, copied, graph_def, renamed
from tests.diff.test_causes import graph
from tests.diff.test_edits_apart import step
from tests.diff.test_laws import graphs
from tests.diff.test_traced_widths import traced
from tests.each import each
from tests.effort import examples

FLOAT, HALF = 1, 19
EDITS = ("act.train", "gelu.frozen", "huber.train", "inserted.train", "regularized.train", "units.train")
KNOWN = [name for name in EDITS if (FIXTURES / "edits" / f"{name}.pb").exists()]


def entries(changes: Changes) -> tuple[LedgerEntry, ...]:
    assert changes.source is not None
    return _entries_old_to_new(changes.source)


@examples(100)
@given(graphs(), graphs())
def test_every_entry_is_owned_once(old: Any, new: Any) -> None:
    changes = diff(old, new)
    book = entries(changes)
    owned = balance_ledger(book, changes.items)
    assert not owned.open_entries
    places = [place for part in (*owned.claimed, *owned.explained) for place in part]
    assert sorted(places) == list(range(len(book)))
    assert changes.same == (not book)
    back = [entry.inverse() for entry in entries(diff(new, old))]
    assert sorted(map(repr, back)) == sorted(map(repr, book))


@each("name", KNOWN)
def test_the_ledger_of_real_edits_balances(name: str) -> None:
    base = FIXTURES / "edits" / f"base.{name.partition('.')[2]}.pb"
    changes = diff(base, FIXTURES / "edits" / f"{name}.pb")
    assert not balance_ledger(entries(changes), changes.items).open_entries
    document = changes.to_json()
    told = [entry["id"] for place in document["ledger"] for entry in place["entries"]]
    assert sorted(told) == list(range(len(entries(changes))))
    owned = [place for change in document["changes"] for place in (*change["claims"], *change["follows"])]
    assert sorted(owned) == sorted(told)


def test_what_nobody_owns_is_a_change() -> None:
    changes = diff(
        graph("x Placeholder", "a Relu x", "b Tanh a"), graph("x Placeholder", "a Elu x", "b Tanh a", "c Abs b")
    )
    assert changes.source is not None
    m = changes.source.matching
    whole = add_open_changes(m, (), DiffOptions())
    assert not balance_ledger(balanced_entries(changes), whole).open_entries
    assert {change.kind for change in whole} >= {"changed"}


def balanced_entries(changes: Changes) -> tuple[LedgerEntry, ...]:
    """The ledger in the orientation of the matching."""
    book = entries(changes)
    return tuple(entry.inverse() for entry in book) if changes.source and changes.source.turned else book


def halved(made: Any) -> Any:
    """The same graph in half precision."""
    half = copied(made)
    for node in half.node:
        for value in node.attr.values():
            if value.type == FLOAT:
                value.type = HALF
            tensor = value.tensor
            if value.HasField("tensor") and tensor.dtype == FLOAT:
                numbers = np.array(tensor.float_val, np.float32)
                tensor.ClearField("float_val")
                tensor.dtype = HALF
                tensor.half_val.extend(int(number) for number in numbers.astype("<f2").view("<u2"))
    return half


def network(act: str = "Relu", rate: float = 0.1) -> Any:
    """x ─▶ three layers, with a number that one of them multiplies by."""
    made = graph("x Placeholder", "m/a/MatMul MatMul x", f"m/a/{'act'} {act} m/a/MatMul", "m/b/y Const",
                 "m/b/Mul Mul m/a/act m/b/y", "m/c/MatMul MatMul m/b/Mul", "m/c/out Softmax m/c/MatMul")  # fmt: skip
    for node in made.node:
        if node.op == "Const":
            node.attr["value"].tensor.Clear()
            node.attr["value"].tensor.dtype = FLOAT
            node.attr["value"].tensor.float_val.append(rate)
        node.attr["dtype" if node.op in ("Const", "Placeholder") else "T"].type = FLOAT
    return made


def test_another_type_hides_neither_op_nor_number() -> None:
    assert [change.detail["key"] for change in diff(network(), halved(network()))] == ["dtype"]
    changes = diff(network(), halved(network("Elu", 0.375)))
    assert {change.detail["key"] for change in changes} == {"dtype", "op", "y"}
    assert {change.detail.get("casts", 0) for change in changes} == {0}


def edited(made: Any) -> Any:
    """The same training, with another op in the model."""
    other = copied(made)
    index = next(number for number, node in enumerate(other.node) if node.name == "m/b/MatMul")
    taken = other.node[index].input[0]
    other.node.add(name="m/more/Tanh", op="Tanh", input=[taken])
    other.node[index].input[0] = "m/more/Tanh"
    return other


@pytest.mark.parametrize(("clipped", "decayed"), [(True, False), (False, True), (True, True)])
def test_an_edit_of_the_training_is_told_beside_one_of_the_model(clipped: bool, decayed: bool) -> None:
    changes = diff(step(), edited(step(clipped, decayed)))
    told = {change.new for change in changes}
    assert told == {"m/more", *(["clip"] if clipped else []), *(["decay"] if decayed else [])}


def test_a_diff_writes_nothing_into_its_graphs() -> None:
    models = tbgraph.load(step()), tbgraph.load(edited(step(clipped=True, decayed=True)))
    first = diff(*models).to_json()
    assert diff(*models).to_json() == first


def test_a_prefix_with_an_edit_in_it_is_a_move_and_the_edit() -> None:
    old = graph_def(FIXTURES / "edits" / "base.train.pb")
    new = renamed(old, lambda name: f"run/{name}")
    node = next(node for node in new.node if node.op == "Relu")
    node.op = "Elu"
    assert sorted(change.kind for change in diff(old, new)) == ["changed", "moved"]


def test_data_with_the_keys_of_a_change_is_data() -> None:
    import json

    def keras(gate: Any) -> bytes:
        layers = [{"class_name": "Dense", "config": {"name": "a", "units": 4, **({"gate": gate} if gate else {})}}]
        return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()

    (came,) = diff(keras(None), keras({"old": 1, "new": 5}))
    (went,) = diff(keras({"old": 1, "new": 5}), keras(None))
    assert (came.detail["old"], came.detail["new"]) == (None, {"old": 1, "new": 5})
    assert (went.detail["old"], went.detail["new"]) == ({"old": 1, "new": 5}, None)


def test_what_a_trace_shows_by_shapes_alone_is_said_as_a_shape() -> None:
    assert diff(traced(64), traced(64)).same
    changes = diff(traced(64), traced(64, 4))
    assert not changes.same
    assert {change.detail["key"] for change in changes if "key" in change.detail} == {"shape"}


def test_a_linear_layer_of_a_vector_has_units() -> None:
    def made(units: int) -> Any:
        whole = GraphDef()
        whole.node.add(name="x", op="IO Node")
        node = whole.node.add(name="Net/Linear[out]/9", op="aten::linear", input=["x"])
        node.attr["_output_shapes"].list.shape.add(dim=[{"size": units}])
        return whole

    (change,) = diff(made(32), made(64))
    assert change.detail == {"key": "units", "old": 32, "new": 64}


def test_an_exchange_claims_no_attribute_of_a_node_that_keeps_its_op() -> None:
    # Another activation and a wider kernel in one layer, beside another dtype of everything.
    def graph(dtype: int, op: str, size: int) -> GraphDef:
        kind = {"type": dtype}
        dims = {"shape": {"dim": [{"size": size}, {"size": size}, {"size": 3}, {"size": 4}]}}
        return GraphDef(
            node=[
                {"name": "x", "op": "Placeholder", "attr": {"dtype": kind}},
                {"name": "a/kernel", "op": "VariableV2", "attr": {"dtype": kind, "shape": dims}},
                {"name": "a/conv", "op": "Conv2D", "input": ["x", "a/kernel"], "attr": {"T": kind}},
                {"name": "a/act", "op": op, "input": ["a/conv"], "attr": {"T": kind}},
                {"name": "b/act", "op": op, "input": ["a/act"], "attr": {"T": kind}},
            ]
        )

    changes = diff(graph(1, "Relu", 3), graph(19, "Elu", 5))
    told = {(change.detail.get("key"), str(change.detail.get("new"))) for change in changes}
    assert {("op", "Elu"), ("dtype", "float16")} <= told
    assert any("5×5" in new for _, new in told)
