"""What two lists of a small file have to do with each other is bounded: no list is walked for each of another."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.trace_names import TraceNames
from graphviz_tb.errors import TooLarge
from graphviz_tb.formats.object_graph import _disambiguate_variable_names
from graphviz_tb.proto import FunctionDef, GraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.read.source import list_profiles, read_source
from tests.sources.test_bounded import layer, model
from tests.timing import seconds


def served(graph: GraphDef, *outputs: str) -> bytes:
    made = SavedModel()
    meta = made.meta_graphs.add()
    meta.graph_def.CopyFrom(graph)
    for output in outputs:
        meta.signature_def["serving_default"].outputs[f"of_{output}"].name = f"{output}:0"
    return made.SerializeToString()


def with_effects(graph: GraphDef, name: str, *effects: str) -> FunctionDef:
    """A function of one result, `c`, that has some effects."""
    function = graph.library.function.add()
    function.signature.name = name
    function.signature.output_arg.add(name="o", type=1)
    function.ret["o"] = "c:output:0"
    for number, effect in enumerate(effects):
        function.control_ret[f"e{number}"] = effect
    return function


def call(graph: GraphDef | FunctionDef, name: str, function: str) -> None:
    nodes = graph.node if isinstance(graph, GraphDef) else graph.node_def
    nodes.add(name=name, op="StatefulPartitionedCall").attr["f"].func.name = function


@pytest.mark.slow
def test_an_effect_with_two_names_in_calls_in_calls() -> None:
    # call of f0, which is a call of f1 …; each names its one effect twice: 2⁴⁰ times what `x` waits for
    graph = GraphDef()
    for number in range(40):
        function = with_effects(graph, f"f{number}", "c", "c")
        call(function, "c", f"f{number + 1}")
    last = with_effects(graph, "f40", "c", "c")
    last.node_def.add(name="c", op="Relu")
    last.node_def.add(name="d", op="Relu")
    call(graph, "call", "f0")
    graph.node.add(name="x", op="ReadVariableOp", input=["call:0", "^call"])
    with seconds(5):
        found = read_source(served(graph, "x")).graph_def
    assert [list(node.input) for node in found.node if node.name == "x"] == [["c:output:0", "^c"]]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "opened"), [(30, True), (1500, False)])
def test_many_that_wait_for_many_effects(count: int, opened: bool) -> None:
    graph = GraphDef()
    function = with_effects(graph, "f", *(f"e{number}" for number in range(count)))
    function.node_def.add(name="c", op="Relu")
    for number in range(count):
        function.node_def.add(name=f"e{number}", op="Print")
    call(graph, "call", "f")
    for number in range(count):
        graph.node.add(name=f"x{number}", op="Identity", input=["call:0", "^call"])
    with seconds(10):
        found = read_source(served(graph, *(f"x{number}" for number in range(count)))).graph_def
    assert any(node.op == "Relu" for node in found.node) == opened


def field(number: int, value: bytes | int) -> bytes:
    """A field of a message, of up to 16,383 bytes or such a number."""
    size = value if isinstance(value, int) else len(value)
    key = number << 3 | (0 if isinstance(value, int) else 2)
    return bytes([key, size & 127 | 128, size >> 7]) + (b"" if isinstance(value, int) else value)


@pytest.mark.parametrize(("letters", "name"), [(9, "m/layer_one/kernel"), (9000, "m/kernel")])
def test_variables_on_an_attribute_with_a_long_name(letters: int, name: str) -> None:
    # object 0 has an attribute that leads to 1, which has 200 variables of one name
    attribute = b"layer_one" if letters == 9 else b"l" * letters
    objects = [
        field(1, field(1, 1) + field(2, attribute)),
        b"".join(field(1, field(1, 2 + number) + field(2, b"v")) for number in range(200)),
        *[b""] * 200,
    ]
    data = b"".join(objects)
    ends = [sum(map(len, objects[:number])) for number in range(len(objects) + 1)]
    names = _disambiguate_variable_names(["", "", *["m/kernel"] * 200], data, list(pairwise(ends)))
    assert set(names[2:]) == {name}


@pytest.mark.slow
def test_a_model_whose_inputs_share_one_name() -> None:
    # 2,200 layers named `i` inside of `n`, and 2,200 calls of it: one of them takes what all calls give
    inside = [layer("i") for _ in range(2200)]
    calls = [[[f"q{number}", 0, 0]] for number in range(2200)]
    config = {"name": "n", "layers": inside, "input_layers": [["i", 0, 0]], "output_layers": [["i", 0, 0]]}
    nested = {"class_name": "Functional", "name": "n", "config": config, "inbound_nodes": calls}
    with seconds(20):
        found = read_source(model(*(layer(f"q{number}") for number in range(2200)), nested)).graph_def
    assert [len(node.input) for node in found.node if node.input] == [2200]


@pytest.mark.slow
def test_executions_that_overlap_share_allocations_of_long_shapes() -> None:
    space = XSpace()
    plane = space.planes.add(name="/host:CPU")
    names = ["tf_op", "shape", "region_type", "x:Neg", f"[{','.join('1' * 254)}]", "output"]
    for number, name in enumerate(names, 1):
        plane.stat_metadata[number].name = name
    plane.event_metadata[1].name = "x:Neg"
    plane.event_metadata[2].name = "MemoryAllocation"
    for number in (1, 2, 3):
        plane.event_metadata[2].stats.add(metadata_id=number, ref_value=number + 3)
    line = plane.lines.add(name="t")
    for _ in range(800):
        line.events.add(metadata_id=1, duration_ps=10**9)
        line.events.add(metadata_id=2, offset_ps=1000)
    with seconds(30), pytest.raises(TooLarge, match="would take more than"):
        list_profiles(space.SerializeToString())


@pytest.mark.slow
def test_names_that_thousands_of_bodies_may_explain() -> None:
    # 100 functions, each with calls of itself named a, a/a, a/a/a …
    graph = GraphDef(node=[{"name": "z", "op": "Relu"}])
    for number in range(100):
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        for parts in range(1, 31):
            call(function, "/".join("a" * parts), f"f{number}")
    trace = RunMetadata()
    device = trace.step_stats.dev_stats.add(device="/device:CPU:0")
    for number in range(300):
        device.node_stats.add(node_name=f"{'a/' * 200}x{number}", all_start_micros=1, all_end_rel_micros=1)
    hierarchy = load(graph).hierarchy
    with seconds(15):
        assert len(TraceNames(hierarchy).execution_paths(entry.node_name for entry in device.node_stats)) == 300


@pytest.mark.slow
def test_layers_of_which_a_far_output_is_taken() -> None:
    # i ─▶ d0 ─▶ d1 …, each takes output 4,000 of the one before
    def taking(number: int) -> Any:
        history = [f"d{number - 1}", 0, 4000 if number > 1 else 0]
        tensor = {"class_name": "__keras_tensor__", "config": {"shape": [None, number], "keras_history": history}}
        return layer(f"d{number}", {"args": [tensor], "kwargs": {}})

    with seconds(10):
        content = read_source(model(layer("d0"), *(taking(number) for number in range(1, 1500))))
    outputs = [len(content.layers[f"m/d{number}"].outputs) for number in range(1500)]
    assert outputs[:3] == [1, 4001, 4001]
    assert sum(outputs) < 300_000
