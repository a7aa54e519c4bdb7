"""A SavedModel without signatures: the functions of its objects are what it can be asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, SavedModel
from graphviz_tb.read.source import read_source
from graphviz_tb.unwrap.signatures import add_function_calls
from tests.conftest import cpu_seconds

FOLDER = Path(__file__).parents[2] / "fixtures" / "containers" / "functions_only"


def test_the_largest_function_is_the_model() -> None:
    model = load(FOLDER)
    assert sorted(name for name in model.hierarchy.graph.name if "/" not in name and "resource" not in name) == sorted(
        ["x", "output_0", "output_1", "kernel", "bias", "head"]
    )
    assert {(each.variable, each.shape) for each in model.hierarchy.graph.meaning.weights.values()} == {
        ("kernel", (8, 16)),
        ("bias", (16,)),
        ("head", (16, 4)),
    }
    assert model.cost.under(0).parameters == 8 * 16 + 16 + 16 * 4
    ops = {model.hierarchy.graph.op_types[op] for op in model.hierarchy.graph.op}
    assert not [op for op in ops if "Save" in op or "Restore" in op or "Call" in op]


def test_each_function_is_a_signature_with_its_inputs_and_outputs() -> None:
    signatures = {each.name: each for each in read_source(FOLDER).signatures}
    assert [name for name in signatures if not name.startswith("__call__")] == ["norm"]
    assert len(signatures) == 3  # __call__ was traced twice
    (spec,) = signatures["norm"].inputs
    assert (spec.key, spec.dtype, spec.shape) == ("x", "float", (3,))
    assert [spec.key for spec in signatures["norm"].outputs] == ["output_0"]


def test_a_function_can_be_chosen() -> None:
    model = load(FOLDER, signature="norm")
    assert "norm/Sqrt" in model.hierarchy.graph.name
    assert "norm" in model.picture().caption.title
    with pytest.raises(UnknownChoice, match="norm"):
        load(FOLDER, signature="narm")


def test_the_whole_file_is_as_it_was() -> None:
    message = SavedModel.FromString((FOLDER / "saved_model.pb").read_bytes())
    assert read_source(FOLDER, ReadOptions(whole_file=True)).graph_def == message.meta_graphs[0].graph_def


def named_alike(count: int) -> GraphDef:
    """A graph with functions that TensorFlow traced from one function of the program, or from several of one name."""
    graph = GraphDef(node=[{"name": "x", "op": "Relu"}])
    for number in range(count):
        function = graph.library.function.add()
        function.signature.name = f"__inference_f_{number}"
        function.signature.input_arg.add(name="x")
    return graph


def test_functions_of_one_name_are_called_by_names_of_their_own() -> None:
    graph = named_alike(3)
    made, _ = add_function_calls(graph, {function.signature.name: () for function in graph.library.function})
    assert [node.name for node in made.node] == ["x", "x_1", "f", "x_2", "f_1", "x_3", "f_2"]


@pytest.mark.slow
def test_thousands_of_functions_of_one_name() -> None:
    """The names that are taken are looked up, not gathered again for each function."""

    def seconds(count: int) -> float:
        graph = named_alike(count)
        names = {function.signature.name: () for function in graph.library.function}
        return cpu_seconds(lambda: add_function_calls(graph, names))

    assert seconds(8000) < 40 * seconds(500)  # 16 times as many
