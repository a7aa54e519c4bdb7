"""A long name that a small file says once and means thousands of times is not written each time."""

from __future__ import annotations

import tracemalloc

import pytest

from graphviz_tb.errors import TooLarge
from graphviz_tb.formats.object_graph import captured_variables
from graphviz_tb.formats.profiler_traces import _used_statistics, run_metadata_by_step
from graphviz_tb.proto import GraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.read.source import read_source
from graphviz_tb.unwrap.artifacts import drop_tracing_artifacts, possible_artifacts
from tests.unwrap.test_call_chains_read import captured, field, letters


def test_arguments_that_all_have_one_name() -> None:
    made = RunMetadata(function_graphs=[{}])
    function = made.function_graphs[0]
    for _ in range(1000):
        function.pre_optimization_graph.node.add(name="a", op="_Arg")
    found = function.post_optimization_graph.node.add(name="a", op="_Arg").attr["_handle_dtypes"]
    found.list.type.extend([1] * 10_000)
    assert read_source(made.SerializeToString()).graph_def.ByteSize() < 100_000


@pytest.mark.parametrize(("size", "left"), [(10, 1001), (100_000, 1002)])
def test_a_border_that_hands_on_what_has_a_long_name(size: int, left: int) -> None:
    graph = GraphDef(node=[{"name": "p" * size, "op": "Placeholder"}])
    graph.node.add(name="Func/c/input/_7", op="Identity", input=["p" * size])
    for number in range(1000):
        graph.node.add(name=f"n{number}", op="Foo", input=["Func/c/input/_7"])
    found = drop_tracing_artifacts(graph, possible_artifacts(graph))
    assert len(found.node) == left
    assert letters(found) < 1_000_000


def bare(name: str, results: int, arguments: int, objects: bytes) -> bytes:
    """A SavedModel without signatures."""
    made = SavedModel()
    meta = made.meta_graphs.add()
    function = meta.graph_def.library.function.add()
    function.signature.name = name
    function.node_def.add(name="c", op="Relu")
    for number in range(results):
        function.signature.output_arg.add(name=f"y{number}")
        function.ret[f"y{number}"] = "c:o:0"
    for number in range(arguments):
        function.signature.input_arg.add(name=f"a{number}", type=20)
    meta.object_graph_def.MergeFromString(objects)
    return made.SerializeToString()


def test_functions_of_objects_that_would_be_called_with_long_names() -> None:
    assert read_source(bare("f", 2, 2, captured("f", "w", 2))).signatures
    for data in (
        bare("f" * 50_000, 1000, 0, captured("f" * 50_000, "w", 0)),
        bare("f", 1, 1000, captured("f", "w" * 50_000, 1000)),
    ):
        found = read_source(data)
        assert not found.signatures
        assert found.graph_def.ByteSize() < 1_000_000


def number(value: int) -> bytes:
    """The field 1 of a message, a number below 128."""
    return bytes([8, value])


def test_thousands_of_variables_at_the_end_of_a_long_way() -> None:
    # 50 objects, each an attribute of 200 letters of the one before; the last leads to all variables
    objects = b"".join(field(1, field(1, number(at + 1) + field(2, b"%03d" % at + b"l" * 197))) for at in range(50))
    ends = [bytes([8, at & 127 | 128, at >> 7]) for at in range(51, 6051)]
    objects += field(1, b"".join(field(1, end + field(2, b"v")) for end in ends))
    objects += field(1, field(7, field(6, b"m/k"))) * 6000
    functions = field(2, field(1, b"f") + field(2, field(2, b"".join(end[1:] for end in ends))))
    names = [each.name for each in captured_variables(objects + functions)["f"]]
    assert len(names) == 6000
    assert sum(map(len, names)) < 21_000_000


def test_streams_of_a_device_of_a_long_name() -> None:
    space = XSpace()
    plane = space.planes.add(name=f"{'x' * 1_000_000}/device:GPU:0")
    plane.event_metadata[1].name = "k:K"
    for at in range(600):
        plane.lines.add(name=f"Stream #{at}").events.add(metadata_id=1)
    tracemalloc.start()
    with pytest.raises(TooLarge, match="would take more than"):
        run_metadata_by_step(space)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 400e6


def test_bytes_that_name_an_op_are_made_a_text_once() -> None:
    space = XSpace()
    plane = space.planes.add(event_metadata={})
    plane.event_metadata[1].stats.add(metadata_id=1, bytes_value=b"op")
    assert _used_statistics(plane.event_metadata[1].stats, {1: "tf_op"}) == {"tf_op": "b'op'"}
