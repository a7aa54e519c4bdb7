"""Shapes and dtypes of edges, from what the file says: the node, the variable that is read, the function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.annotate import annotate, shapes
from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.api.pipeline import load
from graphviz_tb.fold import fold_graph
from graphviz_tb.model.tensors import Tensor
from graphviz_tb.proto import GraphDef
from tests.flat import flatten

FLOAT = {"type": 1}


def dims(*sizes: int) -> dict[str, Any]:
    return {"dim": [{"size": size} for size in sizes]}


def tensor(nodes: list[dict[str, Any]], name: str, key: str = "0", library: dict[str, Any] | None = None) -> Tensor:
    """The tensor that output `key` of `name` gives."""
    graph = flatten(GraphDef(node=nodes, library=library or {}))
    facts = annotate(fold_graph(graph))
    return facts.decode(graph.name.index(name))(key)


def test_declared_shapes_come_first() -> None:
    attrs = {"T": FLOAT, "_output_shapes": {"list": {"shape": [dims(2, -1), {"unknown_rank": True}]}}}
    node = {"name": "x", "op": "Odd", "attr": attrs}
    assert tensor([node], "x") == Tensor((2, None), "float32", "declared")
    assert tensor([node], "x", "1") == Tensor(None, "float32", "")


@pytest.mark.parametrize("op", ["Placeholder", "VariableV2"])
def test_what_an_op_states_of_itself(op: str) -> None:
    node = {"name": "x", "op": op, "attr": {"dtype": {"type": 9}, "shape": {"shape": dims(4)}}}
    assert tensor([node], "x") == Tensor((4,), "int64", "stated")


def test_a_loop_lists_its_outputs_but_a_dataset_its_elements() -> None:
    listed = {"list": {"shape": [dims(), dims(8, 8)]}}
    attrs = {"output_shapes": listed, "T": {"list": {"type": [3, 1]}}}
    assert tensor([{"name": "w", "op": "While", "attr": attrs}], "w", "1") == Tensor((8, 8), "float32", "stated")
    data = {"name": "d", "op": "TensorDataset", "attr": {"output_shapes": listed}}
    assert tensor([data], "d") == Tensor((), "variant", "inferred")


def test_a_variable_that_is_read_has_the_shape_of_its_handle() -> None:
    # handle ─▶ read
    handle = {"name": "handle", "op": "VarHandleOp", "attr": {"shape": {"shape": dims(3, 5)}, "dtype": FLOAT}}
    read = {"name": "read", "op": "ReadVariableOp", "input": ["handle"], "attr": {"dtype": FLOAT}}
    assert tensor([handle, read], "read") == Tensor((3, 5), "float32", "stated")
    assert tensor([handle, read], "handle") == Tensor((), "resource", "inferred")


def library(returned: str, *nodes: dict[str, Any]) -> dict[str, Any]:
    """One function `f` of one argument `x`, whose result is `returned`."""
    signature = {"name": "f", "input_arg": [{"name": "x", "type": 1}], "output_arg": [{"name": "y", "type": 1}]}
    return {"function": [{"signature": signature, "node_def": list(nodes), "ret": {"y": returned}}]}


CALL = {"name": "call", "op": "PartitionedCall", "attr": {"f": {"func": {"name": "f"}}}}


def test_a_call_gives_what_its_function_gives() -> None:
    made = {"name": "m", "op": "Relu", "attr": {"T": FLOAT, "_output_shapes": {"list": {"shape": [dims(7)]}}}}
    assert tensor([CALL], "call", "0", library("m:activations:0", made)) == Tensor((7,), "float32", "signature")
    assert tensor([CALL], "call", "3", library("m:activations:0", made)) == Tensor(None, "", "")


def test_a_call_that_gives_its_own_argument_back() -> None:
    assert tensor([CALL], "call", "0", library("x")) == Tensor(None, "float32", "")


def test_a_function_that_gives_what_itself_gives_is_no_circle() -> None:
    inner = {"name": "again", "op": "PartitionedCall", "attr": {"f": {"func": {"name": "f"}}}}
    assert tensor([CALL], "call", "0", library("again:output:0", inner)) == Tensor(None, "", "")


@pytest.mark.parametrize("name", ["savedmodel_small.pb", "func_library_v2.pb", "saver_meta.pb", "input_queue.pb"])
def test_every_data_edge_of_real_graphs_has_a_dtype(fixtures: Path, name: str) -> None:
    model = load(fixtures / "real" / name)
    graph = model.hierarchy.graph
    unknown = {
        graph.op_types[graph.op[graph.source[edge]]]
        for edge in range(graph.edge_count)
        if not graph.control[edge] and not model.facts.tensor(int(graph.source[edge]), int(graph.key[edge])).dtype
    }
    assert unknown <= {"ReaderReadV2"}


def test_tensors_that_are_not_remembered_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(Path(__file__).parents[2] / "fixtures/real/lstm_dynamic_rnn.pb")
    graph = model.hierarchy.graph
    outputs = sorted({*zip(graph.source.tolist(), graph.key.tolist(), strict=True)})
    seen = [model.facts.tensor(*output) for output in outputs]
    monkeypatch.setattr("graphviz_tb.model.facts.MAX_CACHED_TENSORS", 3)
    monkeypatch.setattr("graphviz_tb.annotate.tensors.MAX_CACHED_NODES", 1)
    again = annotate(model.hierarchy)
    assert [again.tensor(*output) for output in reversed(outputs)] == seen[::-1]
    assert [again.tensor(*output) for output in outputs] == seen
    assert len(again.known) == 3
    decoder = TensorDecoder(graph)
    assert [decoder.tensors_of_node(node)(graph.keys[key]) for node, key in outputs] == seen
    assert len(decoder.known) == 1


def test_a_node_that_makes_all_results_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # p: all 300 outputs of one node in f
    many, types = range(300), {"list": {"type": [1] * 300}}
    made = {"name": "n", "op": "Odd", "attr": {"T": types, "_output_shapes": {"list": {"shape": [dims(9)] * 300}}}}
    held = {
        "function": [
            {
                "signature": {"name": "f", "output_arg": [{"name": f"r{at}", "type": 1} for at in many]},
                "node_def": [made],
                "ret": {f"r{at}": f"n:outputs:{at}" for at in many},
            }
        ]
    }
    call = {"name": "p", "op": "PartitionedCall", "attr": {"f": {"func": {"name": "f"}}, "Tout": types}}
    read: list[str] = []
    listed = shapes._listed_shapes
    monkeypatch.setattr(shapes, "_listed_shapes", lambda definition: read.append(definition.name) or listed(definition))
    graph = flatten(GraphDef(node=[call], library=held))
    lookup = annotate(fold_graph(graph)).decode(graph.name.index("p"))
    assert {lookup(str(at)).shape for at in many} == {(9,)}
    assert read.count("n") == 1
