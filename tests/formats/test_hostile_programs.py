"""Exported programs that were made to take long or to fail: sizes, names and lists that only hostile files have."""

from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
from pathlib import Path
from time import process_time

import pytest

import tbgraph
from graphviz_tb.errors import Ambiguous, ReadError, TooLarge, UnknownFormat
from graphviz_tb.formats.exported import ModuleCall, ProgramBuilder, ScopeNames
from graphviz_tb.formats.onnx_messages import Attribute, ModelValue, NodeValue, TensorValue, decode_model
from graphviz_tb.formats.onnx_scopes import place_of_node
from graphviz_tb.formats.torch_metadata import SizeNames, module_calls
from graphviz_tb.limits import MAX_PROGRAM_BODIES
from graphviz_tb.read.source import read_source
from graphviz_tb.sources.bounds import MemoryBudget
from tests.each import each
from tests.formats.onnx_bytes import encode_message, varint

RELU = {
    "target": "torch.ops.aten.relu.default",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
    "outputs": [{"as_tensor": {"name": "y"}}],
}
PROGRAM = json.dumps(
    {
        "graph_module": {
            "graph": {"nodes": [RELU], "tensor_values": {}},
            "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], "output_specs": []},
        }
    }
)
MEMBERS = [("m/archive_format", "pt2"), ("m/models/model.json", PROGRAM)]
DIRECTORY_ENTRY = b"PK\1\2"


def archive(members: list[tuple[str, str]], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", packing) as writing:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, text in members:
            writing.writestr(name, text)
    return made.getvalue()


def with_number(data: bytes, place: int, form: str, number: int) -> bytes:
    """Return an archive whose last directory entry has another number at a place."""
    changed = bytearray(data)
    struct.pack_into(form, changed, changed.rfind(DIRECTORY_ENTRY) + place, number)
    return bytes(changed)


REFUSED = {
    "ExecuTorch": (b"\x1c\0\0\0ET12" + bytes(40), "torch.export.save"),
    "ONNX Runtime": (b"\x24\0\0\0ORTM" + bytes(40), ".onnx file"),
    "safetensors": (struct.pack("<Q", 20) + b'{"a":{"shape":[]}}  ', "torch.export.save"),
    "another version than 3": (b"\x1c\0\0\0TFL4" + bytes(40), "--upgrade tbgraph"),
    "a PyTorch checkpoint": (b"\x80\x02cos\nsystem\n.", "torch.export.save"),
    "TorchScript or PyTorch archive": (archive([("archive/data.pkl", ".")]), "torch.export.save"),
    "a zip archive without a model": (archive([("notes.txt", ".")]), "unpack it"),
    "a broken zip archive": (archive(MEMBERS)[:-30], "download it again"),
}


@each("what", sorted(REFUSED))
def test_what_holds_no_graph_is_refused_with_what_to_do(what: str) -> None:
    data, hint = REFUSED[what]
    with pytest.raises(UnknownFormat, match=what) as refused:
        tbgraph.load(data)
    assert hint in (refused.value.hint or "")


def test_a_size_with_two_signs_is_an_expression() -> None:
    assert SizeNames().size_of({"as_expr": {"expr_str": "--5"}}) == "--5"


def test_a_stack_of_repeated_keys_is_no_module() -> None:
    assert module_calls("L__self__," * 1990) == ()


def test_bodies_of_one_name_have_numbers() -> None:
    builder = ProgramBuilder()
    assert [builder.begin_body("f") for _ in range(20_000)][-1] == "f_20000"


def test_a_weight_of_many_parts_keeps_its_name() -> None:
    names = ScopeNames()
    names.scope_name([ModuleCall("a", "Net")])
    assert names.scope_of_weight("a." * 100_000 + "w")[0] == "Net[a]"


def test_a_tensor_of_too_many_dimensions_has_no_content() -> None:
    assert TensorValue(dims=(2**62,) * 100_000, data_type=1, raw_data=b"abc").content() is None


def test_texts_without_an_end_are_read_once() -> None:
    entries = {"pkg.torch.onnx.name_scopes": "'" + "\\'" * 9_900}
    assert not place_of_node(NodeValue(op_type="Relu", metadata=entries)).modules


def test_an_archive_of_many_members_is_read() -> None:
    many = [(f"m/data/weights/weight_{number}", "") for number in range(20_000)]
    assert len(tbgraph.load(archive([*MEMBERS, *many])).hierarchy.graph)


def test_programs_are_decoded_when_they_are_chosen() -> None:
    broken = [(f"m/models/p{number}.json", "{") for number in range(2_000)]
    with pytest.raises(Ambiguous, match="2001 graphs"):
        tbgraph.load(archive([*MEMBERS, *broken]))
    assert len(tbgraph.load(archive([*MEMBERS, *broken]), tag="model").hierarchy.graph)


def test_names_of_members_are_no_paths() -> None:
    members = [("../../m/archive_format", "pt2"), ("../../m/models/model.json", PROGRAM)]
    assert len(tbgraph.load(archive(members)).hierarchy.graph)


def test_of_two_members_of_one_name_the_last_counts() -> None:
    assert len(tbgraph.load(archive([("m/models/model.json", "{}"), *MEMBERS])).hierarchy.graph)


@pytest.mark.parametrize(
    ("place", "form", "number", "expected"),
    [
        (8, "<H", 1, "'m/models/model.json' is encrypted"),
        (10, "<H", 97, "That compression method is not supported"),
        (42, "<I", 2**31 - 5, "a broken zip archive"),
        (16, "<I", 1, "a broken zip archive"),  # the checksum
    ],
)
def test_what_an_archive_says_wrongly_ends_in_a_sentence(place: int, form: str, number: int, expected: str) -> None:
    with pytest.raises(ReadError, match=expected):
        tbgraph.load(with_number(archive(MEMBERS), place, form, number))


def test_a_member_before_the_start_of_the_file_ends_in_a_sentence(tmp_path: Path) -> None:
    data = bytearray(archive(MEMBERS))
    directory = data.rfind(b"PK\5\6") + 16  # where the list of members begins
    data[directory + 1] += 4
    (tmp_path / "m.pt2").write_bytes(data)
    with pytest.raises(ReadError, match="a broken zip archive: a member is not in the file"):
        tbgraph.load(tmp_path / "m.pt2")


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_of_blanks_is_a_bomb(packing: int) -> None:
    with pytest.raises(TooLarge, match="bomb"):
        tbgraph.load(archive([MEMBERS[0], ("m/models/model.json", " " * 20_000_000)], packing))


def test_bodies_have_a_limit() -> None:
    builder = ProgramBuilder()
    for number in range(MAX_PROGRAM_BODIES):
        builder.begin_body(f"f{number}")
    with pytest.raises(TooLarge, match="more than 20,000 bodies"):
        builder.begin_body("one more")


def test_equal_messages_are_counted_again() -> None:
    # 10 million settings of one byte are equal, and their list alone takes 80 MB.
    node = NodeValue(op_type="Relu", attributes=(Attribute("a"),))
    inner = encode_message(node) + encode_message(NodeValue(attributes=(Attribute("a"),))) * 100_000
    graph = b"\x0a" + varint(len(inner)) + inner
    data = encode_message(ModelValue(ir_version=8)) + b"\x3a" + varint(len(graph)) + graph
    assert len(decode_model(data, "m.onnx").graph.nodes[0].attributes) == 100_001  # type: ignore[union-attr]
    budget = MemoryBudget(0, "m.onnx")
    budget.meter.left = 1_000_000
    with pytest.raises(TooLarge):
        decode_model(data, "m.onnx", budget)


@pytest.mark.slow
def test_a_model_of_layers_takes_a_few_times_as_long_as_its_graph() -> None:
    # 10,000 ops in 1,000 modules; the same ops as a GraphDef, which protobuf parses.
    stack = "L__self__,,m.Net;L__self__b.{0},b.{0},m.Block"
    frame = 'File "/home/m.py", line {}, in forward\n    x = self.b(x)'
    nodes = [
        {
            **RELU,
            "inputs": [{"name": "self", "arg": {"as_tensor": {"name": f"v{number}"}}}],
            "outputs": [{"as_tensor": {"name": f"v{number + 1}"}}],
            "metadata": {"nn_module_stack": stack.format(number // 10), "stack_trace": frame.format(number % 10)},
        }
        for number in range(10_000)
    ]
    sizes = [{"as_int": 8}, {"as_int": 64}]
    values = {f"v{number}": {"dtype": 7, "sizes": sizes} for number in range(10_001)}
    module = json.loads(PROGRAM)["graph_module"] | {"graph": {"nodes": nodes, "tensor_values": values}}
    data = archive([MEMBERS[0], ("m/models/model.json", json.dumps({"graph_module": module}))], zipfile.ZIP_STORED)
    plain = read_source(data).graph_def.SerializeToString()

    def seconds(source: bytes) -> float:
        start = process_time()
        tbgraph.load(source)
        return process_time() - start

    assert min(seconds(data) for _ in range(3)) < 5 * min(seconds(plain) for _ in range(3))
