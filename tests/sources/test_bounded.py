"""A small file never takes much: what it may unfold into is a multiple of its bytes on disk."""

from __future__ import annotations

import gzip
import io
import json
import random
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.errors import MalformedText, ReadError, TooLarge, UnknownFormat
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.source import read_source
from graphviz_tb.sources import bounds
from graphviz_tb.sources.bounds import check_empty_messages
from graphviz_tb.unwrap.calls import unused_names
from tests.conftest import cpu_seconds
from tests.each import each
from tests.timing import within

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def archive(config: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as made:
        made.writestr("config.json", config)
    return packed.getvalue()


def model(*layers: Any, **config: Any) -> bytes:
    return json.dumps({"class_name": "Functional", "config": {"name": "m", "layers": layers, **config}}).encode()


def layer(name: str, *calls: Any) -> Any:
    return {"class_name": "Dense", "name": name, "config": {"name": name}, "inbound_nodes": calls}


def names(data: bytes) -> list[str]:
    return [node.name for node in read_source(data).graph_def.node]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"{},", b"[],", b'{"a":{}},', b'"ab",'])
def test_an_archive_of_a_kilobyte_and_a_model_of_gigabytes(unit: bytes) -> None:
    config = b'{"class_name":"Sequential","config":{"layers":[' + unit * ((50 << 20) // len(unit)) + b"{}]}}"
    start = time.process_time()
    with pytest.raises(TooLarge, match=r"memory|bomb"):
        read_source(archive(config))
    assert within(time.process_time() - start, 3)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bytes, archive])
def test_more_layers_than_a_file_can_name(pack: Callable[[bytes], bytes]) -> None:
    nameless = pack(b'{"class_name":"Sequential","config":{"layers":[' + b'{"a":{}},' * 60_000 + b"{}]}}")
    with pytest.raises(TooLarge, match=r"60,001 layers in"):
        read_source(nameless)
    assert len(read_source(nameless, ReadOptions(max_bytes=1 << 30)).graph_def.node) == 60_001


@pytest.mark.slow
def test_a_model_of_very_many_layers() -> None:
    assert len(names(model(*(layer(f"dense_{number}") for number in range(21_000))))) == 21_000


def test_blanks_are_a_bomb_too() -> None:
    with pytest.raises(TooLarge, match="looks like a bomb"):
        read_source(archive(b" " * (100 << 20)))


@pytest.mark.slow
def test_a_large_limit_lets_it_in() -> None:
    config = b" " * (70 << 20) + model(layer("a"))
    assert read_source(archive(config), ReadOptions(max_bytes=1 << 30)).graph_def.node


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_way_to_pack(method: int) -> None:
    config = model(*(layer(f"d{number}") for number in range(30)))
    assert names(archive(config, method)) == names(config)
    several = config + random.Random(0).randbytes(3 << 19).hex().encode()  # blocks
    with pytest.raises(MalformedText, match="Extra data"):
        read_source(archive(several, method))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize("member", ["config.json", "model.weights.h5"])
def test_a_bomb_takes_no_memory(method: int, member: str, require: Callable[..., None]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as made:
        if member != "config.json":
            made.writestr("config.json", json.dumps({"class_name": "Mine", "config": {"name": "m"}}))
        with made.open(member, "w") as out:
            for _ in range(60):
                out.write(bytes(1 << 20))
    if member != "config.json":
        require("h5py")
    tracemalloc.start()
    with pytest.raises(TooLarge, match=f"{member} unpacks to more than 200 times its size"):
        read_source(packed.getvalue())
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


@pytest.mark.parametrize("method", METHODS)
def test_any_byte_of_an_archive_may_be_wrong(method: int) -> None:
    whole = archive(model(*(layer(f"d{number}") for number in range(30))), method)
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        try:
            read_source(bytes(damaged))
        except ReadError as error:
            assert error.exit_code == 3  # noqa: PT017


@pytest.mark.parametrize("index", [-1, -7, 10**30])
def test_outputs_that_are_not_there(index: int) -> None:
    inner = json.loads(model(layer("a"), layer("b"), output_layers=[["a", 0, index], ["b", 0, 0]]))
    outer = model({**inner, "name": "m2"}, layer("c", [["m", 0, index]]))
    assert names(outer) == ["m/m/a", "m/m/b", "m/c"]


def test_halves_of_letters_in_names() -> None:
    assert names(model(layer("a\ud800"), layer("\ud83d\ude00"))) == ["m/a?", "m/\N{GRINNING FACE}"]


def test_numbers_of_thousands_of_digits() -> None:
    with pytest.raises(MalformedText, match="thousands of digits"):
        read_source(b'{"class_name": "Sequential", "config": {"layers": [{"units": ' + b"9" * 5000 + b"}]}}")


def called_many_times(inputs: int, calls: list[int]) -> bytes:
    """A model with a model inside, and how many inputs each call of that gives it."""
    places = [f"i{number}" for number in range(inputs)]
    inner = json.loads(model(*map(layer, places), input_layers=[[place, 0, 0] for place in places]))
    return model(layer("x"), {**inner, "inbound_nodes": [[["x", 0, 0, {}]] * given for given in calls]})


@pytest.mark.slow
def test_a_model_of_many_inputs_called_many_times() -> None:
    """Each input asks for its place in each call: looked up, not searched."""

    few, many = called_many_times(300, 20 * [300]), called_many_times(3000, 20 * [3000])
    assert len(names(many)) == 3001
    assert cpu_seconds(lambda: names(many)) < 40 * cpu_seconds(lambda: names(few))


@pytest.mark.slow
def test_a_model_of_many_inputs_called_many_times_with_few() -> None:
    few, many = called_many_times(500, 500 * [1]), called_many_times(8000, 8000 * [1])
    assert cpu_seconds(lambda: names(many)) < 40 * cpu_seconds(lambda: names(few))  # 16 times as many


def test_an_archive_without_a_model() -> None:
    with pytest.raises(UnknownFormat):
        read_source(archive(b"").replace(b"config.json", b"gonfig.json"))


@pytest.mark.slow
@pytest.mark.parametrize(("data", "said"), [(b"\n\0" * 400_000, "empty messages"), (b"node{}" * 800_000, "nodes in")])
def test_as_many_nodes_as_a_small_file_can_hold(data: bytes, said: str) -> None:
    with pytest.raises(TooLarge, match=said):
        read_source(data)
    assert len(read_source(data[: len(data) // 8], ReadOptions()).graph_def.node) > 40_000


def test_inputs_of_outputs_past_every_bound() -> None:
    graph = f'node {{ name: "a" op: "A" }} node {{ name: "b" op: "B" input: "a:{10**30}" }}'.encode()
    assert load(graph).picture().render("svg")


@pytest.mark.slow
def test_equal_names_are_numbered_without_trying_all_numbers_again() -> None:
    start = time.process_time()
    unused_names(["x"] * 20_000, {"x"})
    assert within(time.process_time() - start, 2)  # half a minute, if each name begins at 1
    assert list(unused_names(["x", "y"], {"x", "x_1"}).values()) == ["x_2", "y"]


@each("field", [1, 2, 15])
@each("before", [0, 1, 199_999])
def test_empty_messages_one_behind_the_other(field: int, before: int) -> None:
    """Two bytes each in the file, hundreds in memory, whatever they are messages of."""
    run = bytes((field << 3 | 2, 0))
    with pytest.raises(TooLarge, match="empty messages"):
        check_empty_messages(bytes(before) + run * 200_000, "x.pb")
    check_empty_messages(bytes(before) + run * 90_000 + bytes(400_000), "x.pb")


def test_a_small_archive_of_many_empty_messages_is_a_bomb() -> None:
    packed = gzip.compress(b"\x12\0" * 3_900_000)
    with pytest.raises(TooLarge, match="bomb"):
        read_source(packed)


@pytest.mark.slow
def test_a_large_file_shrinks_less_than_a_small_one() -> None:
    noise = random.Random(0)
    comments = b"".join(b"#%s%s\n" % (noise.randbytes(6).hex().encode(), b" " * 986) for _ in range(70_000))
    packed = gzip.compress(b'node { name: "a" op: "NoOp" }\n' + comments)
    assert 60 < 70_000_000 / len(packed) < 200
    with pytest.raises(TooLarge, match="more than 60 times its size"):
        read_source(packed)


@pytest.mark.parametrize("text", [False, True])
def test_inputs_of_a_packed_graph_are_bounded_by_its_bytes(text: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "FREE_GRAPH_INPUTS", 1000)
    graph = GraphDef(node=[{"name": "a", "op": "NoOp"}, {"name": "b", "op": "AddN", "input": ["a"] * 700}])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="c", op="AddN", input=["x"] * 700)
    data = str(graph).encode() if text else graph.SerializeToString()
    with pytest.raises(TooLarge, match=r"1,400 inputs of nodes in \d+ packed bytes"):
        read_source(gzip.compress(data))
    assert len(read_source(gzip.compress(data), ReadOptions(max_bytes=1 << 20)).graph_def.node[1].input) == 700
    assert read_source(data)  # nothing is hidden in a file that is not packed


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzip.compress, archive])
def test_layers_of_a_packed_model_are_bounded_by_its_bytes(pack: Callable[[bytes], bytes]) -> None:
    layers = [{"class_name": "Dense", "config": {"name": f"d{at}", "more": "x" * 60}} for at in range(40_000)]
    packed = pack(json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode())
    assert len(packed) < 400_000
    with pytest.raises(TooLarge, match=r"40,000 layers in \d+,\d+ bytes"):
        read_source(packed)


@pytest.mark.parametrize("most", [1, 10, 1000])
def test_more_than_a_few_bytes_that_can_be_read_but_once(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"node{}" * 1000)))
    with pytest.raises(TooLarge, match=f"more than {most:,} bytes"):
        read_source("-", ReadOptions(max_bytes=most))


def test_paths_of_models_in_models() -> None:
    layers = [layer(f"d{at}") for at in range(3000)]
    inner: Any = {"class_name": "Functional", "config": {"name": "z", "layers": layers}}
    for _ in range(180):
        inner = {"class_name": "Functional", "config": {"name": "a" * 5000, "layers": [inner]}}
    with pytest.raises(TooLarge, match="paths of its layers"):
        read_source(json.dumps(inner).encode())


@pytest.mark.parametrize("size", [0, -3])
def test_a_pool_of_no_size(size: int) -> None:
    inputs = {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [None, 8, 8, 3]}}
    pool = {"class_name": "MaxPooling2D", "config": {"name": "p", "pool_size": size}}
    text = json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": [inputs, pool]}})
    assert load(text.encode()).picture(color_by="flops").render("svg")


@pytest.mark.slow
def test_outputs_that_only_a_number_claims() -> None:
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    for _ in range(254):
        graph.node[0].attr["shape"].shape.dim.add(size=2)
    for at in range(300):
        node = graph.node.add(name=f"p{at}", op="DynamicPartition", input=["x", "x"])
        node.attr["num_partitions"].i = 4096
    start = time.process_time()
    assert load(graph).cost.own
    assert within(time.process_time() - start, 20)


@pytest.mark.slow
def test_sizes_of_thousands_of_dimensions() -> None:
    graph = GraphDef(node=[{"name": "c", "op": "Const"}])
    tensor = graph.node[0].attr["value"].tensor
    tensor.dtype = 1
    for _ in range(100_000):
        tensor.tensor_shape.dim.add(size=2**62 + 1)
    graph.node[0].attr["_output_shapes"].list.shape.add().CopyFrom(tensor.tensor_shape)
    for at in range(100):
        graph.node.add(name=f"m{at}", op="MatMul", input=["c", "c"])
    start = time.process_time()
    model = load(graph)
    assert model.cost.own
    assert model.shapes()["c", 0] is None
    assert within(time.process_time() - start, 10)


@pytest.mark.slow
def test_a_list_that_names_one_function_thousands_of_times() -> None:
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "c", "op": "Case", "input": ["x"] * 6000}])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=1)
    function.node_def.add(name="y", op="Relu", input=["a"])
    for _ in range(6000):
        graph.node[1].attr["branches"].list.func.add(name="f")
    start = time.process_time()
    assert load(graph).cost.own
    assert within(time.process_time() - start, 8)


@pytest.mark.slow
def test_a_merge_of_thousands_of_ways_back() -> None:
    graph = GraphDef(node=[{"name": "m", "op": "Merge", "input": ["n"] * 6000}, {"name": "n", "op": "NextIteration"}])
    graph.node[1].input.append("m")
    start = time.process_time()
    assert load(graph).cost.own
    assert within(time.process_time() - start, 5)


@pytest.mark.slow
def test_an_op_type_of_thousands_of_words() -> None:
    graph = GraphDef(node=[{"name": "v", "op": "VarHandleOp"}])
    for word in ("Apply" * 8_000 + "\n", "Apply" * 8_000 + "Summary"):
        graph.node.add(name=f"x{len(word)}", op=word, input=["v"])
    start = time.process_time()
    assert load(graph).cost.own
    assert within(time.process_time() - start, 5)


@pytest.mark.slow
def test_long_names_that_thousands_use() -> None:
    """What a name says of a weight or an argument is asked once, not for each edge."""
    graph = GraphDef(node=[{"name": "a", "op": "_Arg"}, {"name": "w", "op": "Const"}])
    graph.node.add(name="N" * 300_000, op="Add", input=["a"] * 3000)
    graph.node.add(name="M" * 300_000, op="Identity", input=["w"] * 3000)
    start = time.process_time()
    assert load(graph).hierarchy.op_count(0)
    assert within(time.process_time() - start, 8)
