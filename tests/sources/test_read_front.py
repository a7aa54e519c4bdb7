"""The front door: every kind of source, told by content, and the choice of one graph."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

from graphviz_tb import load
from graphviz_tb.errors import (
    Ambiguous,
    MalformedProto,
    MalformedRecord,
    MalformedText,
    NoGraph,
    ReadError,
    RequestError,
    TooLarge,
    UnknownChoice,
    UnknownFormat,
)
from graphviz_tb.formats.textproto import lines
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata, SavedModel
from graphviz_tb.read.source import list_contents, read_source
from graphviz_tb.sources import streams
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
BROKEN = FIXTURES / "broken"
GRAPHS = sorted(FIXTURES.glob("real/*.pb*"))


@each("path", part(GRAPHS, 8), ids=lambda path: path.name)
def test_one_graph_in_every_form_is_one_graph(path: Path) -> None:
    loaded = read_source(path)
    graph = loaded.graph_def
    assert (loaded.kind, loaded.label) == ("op", str(path))
    meta = MetaGraphDef(graph_def=graph)
    meta.meta_info_def.tags.append("serve")
    meta.meta_info_def.tensorflow_version = "2.21.0"
    saved = SavedModel(saved_model_schema_version=1, meta_graphs=[meta])
    metadata = RunMetadata(partition_graphs=[graph])
    for message in (graph, meta, saved, metadata):
        binary = message.SerializeToString()
        text = text_format.MessageToString(message).encode()
        assert read_source(binary).graph_def == graph
        assert read_source(text).graph_def == graph
        assert read_source(gzip.compress(binary)).graph_def == graph


def test_small_graphs_are_not_taken_for_something_else() -> None:
    for size in range(1, 130):  # lengths that are letters, braces, line ends
        graph = GraphDef(node=[{"name": "n" * size}])
        assert read_source(graph.SerializeToString()).graph_def == graph
        two = GraphDef(node=[{"name": "{" + "a" * size, "op": "b"}, {"name": ":"}], versions={"producer": 7})
        assert read_source(two.SerializeToString()).graph_def == two


def test_a_name_that_is_like_messages_in_messages_is_a_name() -> None:
    for size in (*range(1, 130), 1000, 50_000):  # a line break is also the key of a field 1
        for name in ("\n" * size, "a" + "\n" * size):
            graph = GraphDef(node=[{"name": name, "op": "NoOp"}])
            assert read_source(graph.SerializeToString()).graph_def == graph
    step = RunMetadata(step_stats={"dev_stats": [{"device": "\n" * 20}] * 3})
    with pytest.raises(NoGraph):
        read_source(step.SerializeToString())


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO((FIXTURES / "real/colocate.pb").read_bytes())

    monkeypatch.setattr(sys, "stdin", Standard())
    loaded = read_source("-")
    assert len(loaded.graph_def.node) == 33
    assert loaded.label == "standard input"


def test_objects_that_have_a_graph() -> None:
    graph = GraphDef(node=[{"name": "x"}])

    class Message:
        def SerializeToString(self) -> bytes:
            return graph.SerializeToString()

    class Graph:
        def as_graph_def(self) -> Message:
            return Message()

    class Function:
        graph = Graph()

    for source in (graph, Message(), Graph(), Function(), graph.SerializeToString()):
        assert read_source(source).graph_def == graph
    with pytest.raises(RequestError, match="a float is not a graph"):
        read_source(3.5)


def test_messages_of_another_pool_are_told_by_their_name() -> None:
    meta = MetaGraphDef(graph_def={"node": [{"name": "m"}]})
    assert read_source(meta).graph_def.node[0].name == "m"
    assert read_source(SavedModel(meta_graphs=[meta])).graph_def.node[0].name == "m"


def test_a_graph_of_functions_only_is_no_meta_graph() -> None:
    graph = GraphDef(library={"function": [{"signature": {"name": "f"}, "node_def": [{"name": "x"}]}]})
    assert read_source(graph.SerializeToString()).graph_def == graph
    meta = MetaGraphDef(graph_def={"node": [{"name": "f", "op": "g"}]})
    assert read_source(meta.SerializeToString()).graph_def == meta.graph_def


def test_a_large_text_is_read_in_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(streams, "LARGE_TEXT_BYTES", 0)
    monkeypatch.setattr(lines, "FIRST_WINDOW_BYTES", 700)
    monkeypatch.setattr(lines, "WINDOW_BYTES", 1000)
    for path in sorted([*FIXTURES.glob("real/*.pbtxt"), *FIXTURES.glob("rules/*.pbtxt")]):
        assert (
            read_source(path).graph_def.SerializeToString()
            == read_source(path.read_bytes()).graph_def.SerializeToString()
        )
    long = tmp_path / "long"
    long.write_text('node {\n  name: "' + "x" * 5000 + '"\n}\nnode { name: "b"\n\n\n}')
    assert [len(node.name) for node in read_source(long).graph_def.node] == [5000, 1]
    long.write_text('node {\n  name: "' + "x" * 5000 + '"\n}\nnode { name: 7 }')
    with pytest.raises(MalformedText, match="line 4, column 14"):
        read_source(long)


def test_saved_model_with_its_signatures() -> None:
    loaded = read_source(FIXTURES / "containers/saved_model")
    (signature,) = loaded.signatures
    assert signature.name == "serving_default"
    assert [(spec.key, spec.dtype, spec.shape) for spec in signature.inputs] == [("feat", "float", (-1, 8))]
    assert [(spec.key, spec.tensor) for spec in signature.outputs] == [("d2", "StatefulPartitionedCall:0")]
    (entry,) = list_contents(FIXTURES / "containers/saved_model")
    assert (entry.tag_set, entry.nodes, entry.functions) == ("serve", 31, 0)
    (entry,) = list_contents(FIXTURES / "containers/saved_model", ReadOptions(whole_file=True))
    assert (entry.tag_set, entry.nodes, entry.functions) == ("serve", 43, 20)


def test_a_signature_is_its_body() -> None:
    folder = FIXTURES / "containers/saved_model"
    whole = read_source(folder, ReadOptions(whole_file=True))
    loaded = part = read_source(folder, ReadOptions(signature="serving_default"))
    names = {node.name for node in part.graph_def.node}
    assert {"feat", "d2"} <= names  # as the signature calls its argument and its result
    assert not [node.op for node in part.graph_def.node if "Call" in node.op]
    assert len(names) < len(whole.graph_def.node)
    assert (loaded.signature, whole.signature, whole.left_out) == ("serving_default", None, 0)
    assert loaded.left_out > 20  # what saves, restores and initialises
    assert {name.split(":")[0].lstrip("^") for node in part.graph_def.node for name in node.input} <= names
    with pytest.raises(UnknownChoice, match="serving_default"):
        read_source(folder, ReadOptions(signature="train"))


def two_meta_graphs() -> bytes:
    made = SavedModel(saved_model_schema_version=1)
    for tags in (["serve"], ["serve", "gpu"]):
        made.meta_graphs.add(meta_info_def={"tags": tags}, graph_def={"node": [{"name": "_".join(tags)}]})
    return made.SerializeToString()


def test_tag_sets_choose_in_any_order() -> None:
    with pytest.raises(Ambiguous, match="--tag-set serve,gpu"):
        read_source(two_meta_graphs())
    assert read_source(two_meta_graphs(), ReadOptions(tag_set="gpu,serve")).graph_def.node[0].name == "serve_gpu"
    assert read_source(two_meta_graphs(), ReadOptions(tag_set="serve")).graph_def.node[0].name == "serve"
    with pytest.raises(UnknownChoice):
        read_source(two_meta_graphs(), ReadOptions(tag_set="train"))
    with pytest.raises(RequestError, match="not a SavedModel"):
        read_source(FIXTURES / "real/colocate.pb", ReadOptions(tag_set="serve"))


def test_of_graphs_with_the_same_tags_the_first_is_read() -> None:
    """As TensorFlow's loader does; the list named one option for both, and no option chose."""
    made = SavedModel(saved_model_schema_version=1)
    for name, tags in (("a", ["serve", "gpu"]), ("b", ["gpu", "serve"]), ("c", ["serve", "gpu"]), ("d", ["serve"])):
        made.meta_graphs.add(meta_info_def={"tags": tags}, graph_def={"node": [{"name": name}]})
    loaded = read_source(made.SerializeToString(), ReadOptions(tag_set="gpu,serve"))
    assert [node.name for node in loaded.graph_def.node] == ["a"]
    assert [(notice.code, notice.count) for notice in loaded.notices] == [("same-tag-set", 2)]
    assert [entry.tag_set for entry in list_contents(made.SerializeToString())] == ["serve,gpu", "serve"]
    assert not read_source(made.SerializeToString(), ReadOptions(tag_set="serve")).notices


def test_run_metadata_has_three_forms() -> None:
    def graph(name: str) -> dict[str, Any]:
        return {"node": [{"name": name}]}

    made = RunMetadata(
        function_graphs=[
            {
                "pre_optimization_graph": graph("p"),
                "post_optimization_graph": graph("o"),
                "partition_graphs": [graph("q")],
            }
        ]
    )
    data = made.SerializeToString()
    assert read_source(data).graph_def.node[0].name == "p"
    assert read_source(data, ReadOptions(tag="post_optimization")).graph_def.node[0].name == "o"
    assert read_source(data, ReadOptions(tag="partitions")).graph_def.node[0].name == "q"


def test_merged_graphs_keep_every_reference() -> None:
    def graph(producer: int) -> GraphDef:
        made = GraphDef(versions={"producer": producer})
        made.node.add(name="a", op="f")
        node = made.node.add(name="b", op="StatefulPartitionedCall", input=["a:1", "^a"])
        node.attr["f"].func.name = "f"
        node.attr["fs"].list.func.add(name="f").attr["inner"].func.name = "f"
        node.attr["_class"].list.s.append(b"loc:@a")
        body = made.library.function.add(signature={"name": "f"})
        body.node_def.add(name="again").attr["body"].func.name = "f"
        made.library.gradient.add(function_name="f", gradient_func="f")
        return made

    data = RunMetadata(partition_graphs=[graph(21), graph(22)]).SerializeToString()
    loaded = read_source(data)
    merged = loaded.graph_def
    assert [node.name for node in merged.node] == ["graph_1/a", "graph_1/b", "graph_2/a", "graph_2/b"]
    assert merged.node[2].op == "graph_2_f"
    assert list(merged.node[3].input) == ["graph_2/a:1", "^graph_2/a"]
    assert merged.node[3].attr["f"].func.name == "graph_2_f"
    assert merged.node[3].attr["fs"].list.func[0].attr["inner"].func.name == "graph_2_f"
    assert merged.node[3].attr["_class"].list.s[0] == b"loc:@graph_2/a"
    assert [function.signature.name for function in merged.library.function] == ["graph_1_f", "graph_2_f"]
    assert merged.library.function[1].node_def[0].attr["body"].func.name == "graph_2_f"
    assert merged.library.gradient[1].gradient_func == "graph_2_f"
    assert [notice.code for notice in loaded.notices] == ["mixed-versions"]


@each(
    ("data", "said", "next_step"),
    [
        (b"", "the data is empty", "another file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer of Git LFS", "git lfs pull"),
        (b"<!DOCTYPE html><html></html>", "a web page", "download the file itself"),
        (b"\x1f\x8b\x08\0\0\0\0\0abc", "it is cut short", "again"),
        (GraphDef(node=[{"name": "abc", "op": "Relu"}] * 9).SerializeToString()[:-1], "cut short", "again"),
        (b"\n\x0b\n\x03abc\x12", "has an unknown format", "GraphDefs"),
        (b"\n\n{{{{", "it starts with '{{{{'", "GraphDefs"),
    ],
)
def test_what_is_no_graph_says_what_it_is_and_what_to_do(data: bytes, said: str, next_step: str) -> None:
    with pytest.raises(ReadError) as error:
        read_source(data)
    assert said in str(error.value)
    assert next_step in (error.value.hint or "")


@each(
    ("name", "error", "word"),
    [
        ("empty.pb", UnknownFormat, "is empty"),
        ("picture.pb", UnknownFormat, "PNG"),
        ("noise.pb", UnknownFormat, "has an unknown format"),
        ("prose.pbtxt", UnknownFormat, "Dear diary"),
        ("latin1.pbtxt", MalformedText, "UTF-8"),
        ("bad_utf8.pb", MalformedProto, "UTF-8"),
        ("truncated.pb", MalformedProto, "cut short"),
        ("wrong_wire_type.pb", ReadError, "wrong_wire_type"),
        ("missing_colon.pbtxt", MalformedText, "line 4, column 9"),
        ("unclosed_string.pbtxt", MalformedText, "line 3, column 9"),
        ("unclosed_message.pbtxt", MalformedText, "opened at line 2"),
        ("stray_brace.pbtxt", MalformedText, "line 6, column 1"),
        ("wrong_bracket.pbtxt", MalformedText, "line 5, column 1"),
        ("nested_5000.pbtxt", MalformedText, "nested deeper"),
        ("model.onnx", MalformedProto, "not a whole ONNX model"),
        ("weights.h5", UnknownFormat, "HDF5"),
        ("model.tflite", NoGraph, "TensorFlow Lite model without a subgraph"),
        ("model.ckpt.index", UnknownFormat, "checkpoint"),
        ("scripted.pt", UnknownFormat, "TorchScript"),
        ("archive.zip", UnknownFormat, "zip"),
        ("no_config.keras", UnknownFormat, "zip"),
        ("not_a_model.json", UnknownFormat, "JSON"),
        ("cut_model.json", MalformedText, "JSON"),
        ("garbage.pb.gz", ReadError, "gzip"),
        ("truncated.pb.gz", MalformedProto, "cut short"),
        ("prose.gz", UnknownFormat, "Dear diary"),
        ("twice.pb.gz", UnknownFormat, "gzip inside gzip"),
        ("torn_graph.tfevents", MalformedRecord, "byte 40"),
        ("bad_crc_graph.tfevents", MalformedRecord, "byte 40"),
        ("bad_length.tfevents", MalformedRecord, "byte 40"),
        ("no_graph.tfevents", NoGraph, "events hold none"),
        ("only_version.tfevents", NoGraph, "no events yet"),
        ("no_nodes.pbtxt", NoGraph, "no nodes"),
        ("empty_saved_model", NoGraph, "no graph"),
        ("no_model", NoGraph, "it holds"),
        ("not_there", ReadError, "no file or folder"),
    ],
)
def test_broken_inputs_say_what_is_wrong(name: str, error: type[ReadError], word: str) -> None:
    with pytest.raises(error, match=word) as caught:
        read_source(BROKEN / name)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("name", ["torn_last.tfevents", "bad_crc_last.tfevents", "bad_value.pbtxt"])
def test_survivable_damage_is_a_notice_and_an_error_when_strict(name: str) -> None:
    assert len(read_source(BROKEN / name).notices) == 1
    with pytest.raises(ReadError):
        read_source(BROKEN / name, ReadOptions(strict=True))


def test_unknown_fields_of_a_binary_graph_are_told() -> None:
    data = GraphDef(node=[{"name": "x"}]).SerializeToString() + b"\xfa\x01\x03new" + b"\xf8\x01\x07"
    loaded = read_source(data)
    assert len(loaded.graph_def.node) == 1
    assert [(notice.code, notice.count) for notice in loaded.notices] == [("unknown-field", 2)]


def test_the_limit_holds(tmp_path: Path) -> None:
    path = FIXTURES / "real/cifar10_shapes.pb"
    with pytest.raises(TooLarge, match="100,000 bytes") as caught:
        read_source(path, ReadOptions(max_bytes=100_000))
    assert "--max-bytes" in (caught.value.hint or "")
    assert read_source(path, ReadOptions(max_bytes=200_000)).graph_def.node


def test_a_gzip_bomb_is_refused() -> None:
    bomb = gzip.compress(b"node {}\n" * 16_000_000, 9)
    with pytest.raises(ReadError):
        read_source(bomb)


def test_import_is_light() -> None:
    code = "import sys, graphviz_tb; print('google.protobuf' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_pool_is_private() -> None:
    from google.protobuf import descriptor_pool

    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("graphviz_tb.tensorflow.GraphDef")


@each("letter", ["s", "é", "층", "😀"])
@each("scope", ["", "/"])
@each("count", [16_370, 21_841, 32_768, 60_000])
def test_a_first_name_longer_than_what_is_looked_at(letter: str, scope: str, count: int) -> None:
    graph = GraphDef(node=[{"name": scope + letter * count, "op": "Relu"}])
    assert load(graph.SerializeToString()).hierarchy.op_count(0) == 1


def test_a_graph_whose_names_all_hold_control_characters() -> None:
    graph = GraphDef(
        node=[{"name": f":/\0/{at}", "op": "A", "input": [f":/\0/{at - 1}"] * (at > 0)} for at in range(3)]
    )
    assert load(graph.SerializeToString()).hierarchy.op_count(0) == 3
