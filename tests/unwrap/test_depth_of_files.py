"""What is read of a deep file costs what it holds, not its square: calls in calls, names of thousands of segments."""

from __future__ import annotations

import json

import pytest

from graphviz_tb import diff, load
from graphviz_tb.annotate.trace_names import TraceNames
from graphviz_tb.diff.columns.side import callers_in_main
from graphviz_tb.formats.object_graph import MAX_ATTRIBUTE_PATH_PARTS, _attribute_path
from graphviz_tb.graphs.traversal import strong_components
from graphviz_tb.limits import MAX_NESTED_CALLS
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef, OpDef, SavedModel
from graphviz_tb.unwrap.artifacts import _resolve_forwarded, drop_tracing_artifacts, possible_artifacts
from graphviz_tb.unwrap.signatures import TakenNames
from graphviz_tb.unwrap.traced_graphs import unwrap_calls
from tests.each import each
from tests.timing import seconds

DEEP = "/".join("s" * 100_000)


def wrappers(count: int, last: str = "Neg") -> GraphDef:
    """f0 is nothing but a call of f1, that of f2 …"""
    graph = GraphDef()
    for number in range(count):
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        inner = function.node_def.add(name="c", op="PartitionedCall" if number + 1 < count else last)
        inner.attr["f"].func.name = f"f{number + 1}"
    top = graph.node.add(name="top", op="PartitionedCall")
    top.attr["f"].func.name = "f0"
    return graph


@pytest.mark.slow
def test_a_chain_of_thousands_of_calls() -> None:
    with seconds(15):
        model = load(wrappers(3_000))
        assert model.picture().scene.boxes
    assert len(model.hierarchy.function_rows) == 3_000 - MAX_NESTED_CALLS


def test_wrappers_are_opened_down_to_what_they_wrap() -> None:
    assert [node.op for node in unwrap_calls(wrappers(7)).node] == ["Neg"]
    assert len(unwrap_calls(wrappers(7)).library.function) == 0


def test_no_wrapper_of_a_function_that_calls_itself_is_opened() -> None:
    graph = wrappers(3, last="PartitionedCall")
    graph.library.function[2].node_def[0].attr["f"].func.name = "f1"  # f1 and f2 call each other
    assert [node.attr["f"].func.name for node in unwrap_calls(graph).node] == ["f1"]


def test_components_of_a_long_circle() -> None:
    count = 50_000
    assert len(set(strong_components([[(node + 1) % count] for node in range(count)]))) == 1


@pytest.mark.slow
def test_the_callers_of_a_chain_share_one_set() -> None:
    count = 20_000
    with seconds(5):
        found = callers_in_main({0: [0], **{at: [at] for at in range(1, count)}}, [0, *range(1, count)], count)
    assert found == [frozenset({0})] * count


def test_functions_that_call_each_other_are_called_from_the_same_places() -> None:
    # Node 0 is in the main graph and calls function 0; 0 calls 1, 1 calls 0 and 2.
    assert callers_in_main({0: [0, 2], 1: [1], 2: [2]}, [0, 1, 2], 3) == [frozenset({0})] * 3
    assert callers_in_main({1: [0]}, [1], 2) == [frozenset(), frozenset()]  # nobody calls what calls it


@pytest.mark.slow
@pytest.mark.parametrize("letter", "/_")
def test_diff_of_names_of_a_hundred_thousand_parts(letter: str) -> None:
    deep = f"q/{letter.join('s' * 100_000)}"
    old = GraphDef(node=[{"name": f"{deep}/x", "op": "Conv2D"}])
    new = GraphDef(node=[*old.node, {"name": f"{deep}/y", "op": "Relu", "input": [f"{deep}/x"]}])
    new.node.add(name=f"gradients/{deep}/y_grad", op="ReluGrad", input=[f"{deep}/y"])
    with seconds(30):
        assert len(list(diff(old, new)))


@pytest.mark.slow
def test_no_ops_that_wait_for_each_other() -> None:
    """A chain of NoOps behind the barrier of a trace goes with it, in one pass."""
    graph = GraphDef(node=[{"name": "x", "op": "Relu"}])
    graph.node.add(name="n0", op="NoOp", input=["^x"])
    for number in range(1, 20_000):
        graph.node.add(name=f"n{number}", op="NoOp", input=[f"^n{number - 1}"])
    graph.node.add(name="NoOp", op="NoOp", input=["^n19999"])
    graph.node.add(name="Identity", op="Identity", input=["x", "^NoOp"])
    with seconds(10):
        assert [node.name for node in drop_tracing_artifacts(graph, possible_artifacts(graph)).node] == [
            "x",
            "Identity",
        ]


@pytest.mark.slow
def test_a_long_way_into_a_circle() -> None:
    """Those that lead into it one after the other do not all walk to it again."""
    handed = {f"n{number}": f"n{number + 1}" for number in range(10_000)}
    with seconds(9):
        assert _resolve_forwarded({**handed, "n10000": "n10000", "a": "b"}) == {"a": "b"}


def signature_body(*nodes: NodeDef, result: str) -> bytes:
    """A SavedModel whose signature is one call of a function with these nodes."""
    made = SavedModel()
    meta = made.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.meta_info_def.stripped_op_list.op.append(OpDef(name="MatMul", output_arg=[{"name": "product"}]))
    function = FunctionDef(node_def=nodes, ret={"y": result})
    function.signature.name = "f"
    function.signature.output_arg.add(name="y", type=1)
    meta.graph_def.library.function.append(function)
    call = meta.graph_def.node.add(name="call", op="PartitionedCall")
    call.attr["f"].func.name = "f"
    meta.signature_def["serving_default"].outputs["y"].name = "call:0"
    return made.SerializeToString()


@pytest.mark.slow
def test_a_deep_name_in_the_body_of_a_signature() -> None:
    with seconds(15):
        model = load(signature_body(NodeDef(name=DEEP, op="MatMul"), result=f"{DEEP}:product:0"))
    assert sum(map(len, model.hierarchy.name)) < 400 << 20


@each("number", ["abc", "", "1:2", "-1", "9" * 5000, "\N{ARABIC-INDIC DIGIT THREE}"])
def test_an_output_of_a_body_may_have_any_number(number: str) -> None:
    nodes = NodeDef(name="d", op="MatMul"), NodeDef(name="e", op="Relu", input=[f"d:product:{number}"])
    assert load(signature_body(*nodes, result="e:activations:0")).picture().render("svg")


def test_a_result_is_not_called_like_a_scope() -> None:
    assert "y" in TakenNames(set(), ["x", "y/z"])
    assert "y" not in TakenNames(set(), ["y", "y0/z", "xy/z"])


@pytest.mark.slow
def test_attributes_that_lead_through_thousands_of_objects() -> None:
    chain = {number: (max(0, number - 1), f"a{number}") for number in range(50_000)}
    with seconds(5):
        ways = [_attribute_path(chain, number) for number in chain]
    assert ways[1:3] == [["a1"], ["a1", "a2"]]
    assert max(map(len, ways)) == MAX_ATTRIBUTE_PATH_PARTS


@pytest.mark.slow
def test_a_constant_in_a_name_of_nothing_but_slashes() -> None:
    graph = GraphDef(node=[{"name": "l" * 300_000 + "/x", "op": "Relu"}, {"name": "/" * 300_000, "op": "Const"}])
    with seconds(8):
        assert load(graph).hierarchy.op_count(0)


@pytest.mark.slow
def test_a_constant_beside_a_deep_name_under_tensorboard() -> None:
    graph = GraphDef(node=[{"name": f"~{'/' * 100_000}", "op": "Relu"}, {"name": "a/c", "op": "Const"}])
    with seconds(15):
        assert load(graph, preset="tensorboard").hierarchy.op_count(0)


@pytest.mark.slow
def test_a_trace_with_names_of_a_hundred_thousand_segments() -> None:
    graph = wrappers(2)
    graph.node.add(name="beside", op="Relu")
    graph.library.function[0].node_def[0].name = f"{DEEP}/c"
    names = TraceNames(load(graph).hierarchy)
    with seconds(10):
        assert names.execution_paths([f"{letter}/{DEEP}/r" for letter in "abc"]) == {}


@pytest.mark.slow
def test_a_trace_of_calls_in_calls_that_read_a_name_in_every_way() -> None:
    """A function that calls itself by each of `a`, `a/a`, `a/a/a`, …: the ways to read `a/a/a/…` double each time."""
    graph = GraphDef(node=[{"name": "beside", "op": "Relu"}])
    function = graph.library.function.add()
    function.signature.name = "f"
    for where in (graph.node, function.node_def):
        for count in range(1, 300):
            where.add(name="/".join("a" * count), op="f")
    names = TraceNames(load(graph).hierarchy)
    with seconds(20):
        assert names.follow_calls(0, "/".join("a" * 20_000)) is not None


def test_numbers_that_json_has_no_word_for() -> None:
    old, new = (json.dumps(keras(limit)).encode() for limit in (float("inf"), 6.0))
    changes = diff(old, new)
    for text in (changes.explain("json"), load(old).render("json").decode()):
        found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert '"Infinity"' in json.dumps(found)
    attributes_of = [GraphDef(node=[{"name": "x", "op": "A", "attr": {"f": {"f": value}}}]) for value in (0, 1)]
    attributes_of[0].node[0].attr["f"].f = float("nan")
    assert '"NaN"' in diff(*attributes_of).explain("json")


def keras(limit: float) -> object:
    """A model whose ReLU ends at a number."""
    relu = {"class_name": "ReLU", "config": {"name": "r", "max_value": limit}}
    inputs = {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [None, 4]}}
    return {"class_name": "Sequential", "config": {"name": "m", "layers": [inputs, relu]}}


@pytest.mark.slow
def test_an_op_may_say_that_it_has_any_number_of_outputs() -> None:
    graph = GraphDef(node=[{"name": "x", "op": "Split"}])
    graph.node[0].attr["num_split"].i = 1 << 60
    with seconds(10):
        assert load(graph).shapes()
