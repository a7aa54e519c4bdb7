"""Damaged files of every kind: a graph, a notice or an error of ours; never another exception, never without end."""

from __future__ import annotations

import contextlib
import gzip
import json
import resource
import struct
import time
import zlib
from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.errors import ReadError, TbGraphError, TooLarge
from graphviz_tb.formats.pbtxt import parse
from graphviz_tb.formats.records import masked_crc
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.source import list_contents, list_profiles, read_source
from tests.each import each
from tests.effort import examples
from tests.fuzz.seeds import KINDS
from tests.timing import within


def survives(data: bytes) -> None:
    """Reading ends soon, with a value or an error of the tree."""
    start = time.process_time()
    for way in (read_source, list_contents, list_profiles):
        try:
            way(data, ReadOptions())
        except TbGraphError as error:
            assert str(error)  # noqa: PT017  (every error says something)
    assert within(time.process_time() - start, 20)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(data=st.data())
def test_cut_anywhere(kind: str, data: st.DataObject) -> None:
    whole = KINDS[kind]
    survives(whole[: data.draw(st.integers(0, len(whole)))])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(40)
@given(data=st.data())
def test_flipped_bits(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(KINDS[kind])
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    survives(bytes(damaged))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(15)
@given(data=st.data())
def test_pieces_taken_out_or_doubled(kind: str, data: st.DataObject) -> None:
    whole = KINDS[kind]
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    again = data.draw(st.integers(0, 2))
    survives(whole[:first] + whole[first:last] * again + whole[last:])


@pytest.mark.slow
@examples(150)
@given(st.binary(max_size=300))
def test_noise(data: bytes) -> None:
    survives(data)


@pytest.mark.slow
@examples(150)
@given(st.text("{}<>[]:;,#\"'\\-_. \n\tnodeamx1\0é", max_size=120))
def test_almost_text(text: str) -> None:
    survives(b"node " + text.encode())


PRINTED = text_format.MessageToString(GraphDef.FromString(KINDS["library"])).encode()
BITS = [
    *(mark.encode() for mark in '{}<>[],:1 \n\r"'),
    *(b"#x\n", b'"a"', b"'b'", b"x: 1 ", b'input: "q"\n', b"name: ", b'op: "Z" "Y"\n'),
    *(b"node {\n", b"attr {\n", b"}\n", b"\n}\nnode {\n", b"\n  attr {\n"),
]


@pytest.mark.slow
@examples(150)
@given(data=st.data(), whole=st.sampled_from([PRINTED, KINDS["text"], KINDS["spelled"]]))
def test_what_text_format_reads_we_read_the_same(whole: bytes, data: st.DataObject) -> None:
    text = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.sampled_from([0, 0, 1, 5]))] = data.draw(st.sampled_from(BITS))
    try:
        expected = text_format.Merge(text.decode(), GraphDef(), allow_unknown_field=True, allow_field_number=True)
    except (text_format.ParseError, UnicodeDecodeError):
        survives(bytes(text))
        return
    try:
        made = parse(bytes(text))
    except ReadError as error:
        assert "unknown escape" in str(error)  # noqa: PT017  (Python's text_format keeps the backslash)
        return
    assert made.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


@pytest.mark.slow
@examples(80)
@given(st.recursive(st.none() | st.integers() | st.text(max_size=3) | st.sampled_from(["a", "b"]),
                    lambda inner: st.lists(inner, max_size=4)
                    | st.dictionaries(st.sampled_from(["class_name", "config", "layers", "name", "inbound_nodes",
                                                       "input_layers", "output_layers", "args", "keras_history",
                                                       "dtype"]), inner, max_size=4)))  # fmt: skip
def test_almost_keras(value: object) -> None:
    survives(json.dumps({"class_name": "Model", "config": {"layers": [value, value]}}).encode())
    survives(json.dumps({"class_name": "Model", "config": value}).encode())


# Hostile on purpose: bounded in time and memory.


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def refused(data: bytes, seconds: float = 10, megabytes: float = 400) -> str:
    before, start = peak_megabytes(), time.process_time()
    with pytest.raises(TbGraphError) as caught:
        read_source(data)
    assert within(time.process_time() - start, seconds)
    assert peak_megabytes() - before < megabytes
    return str(caught.value)


def nested(levels: int) -> bytes:
    """NameAttrLists in attributes in NameAttrLists … on the wire, lengths and all."""
    heads, size = [], 0
    for _ in range(levels):
        for tag in (b"\x12", b"\x12", b"\x52"):  # an entry's value, the attr it is in, the func around
            heads.append(tag + _length(size))
            size += len(heads[-1])
    return b"".join(reversed(heads))


@pytest.mark.slow
def test_a_hundred_thousand_nested_messages_as_text() -> None:
    assert "nested deeper" in refused(b"node { " * 100_000)
    assert "nested deeper" in refused(b"node {\n" + b"attr {\nvalue {\nfunc {\n" * 33_333)
    assert "nested deeper" in refused(b"node { x { " + b"a < " * 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [200, 1000, 100_000])
def test_many_nested_messages_on_the_wire(levels: int) -> None:
    inner = nested(levels)
    entry = b"\x0a\x01k" + b"\x12" + _length(len(inner)) + inner
    node = b"\x0a\x01x" + b"\x2a" + _length(len(entry)) + entry
    assert refused(b"\x0a" + _length(len(node)) + node)


def _length(size: int) -> bytes:
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*out, size])


@pytest.mark.slow
def test_a_record_that_claims_2_to_the_60_bytes() -> None:
    header = struct.pack("<Q", 2**60)
    assert "claims" in refused(header + struct.pack("<I", masked_crc(header)) + b"x" * 1000)


@pytest.mark.slow
def test_a_field_that_claims_an_exabyte() -> None:
    assert refused(b"\x0a" + b"\xff" * 8 + b"\x0f" + b"x" * 100)


@pytest.mark.slow
def test_gzip_bombs() -> None:
    zeros = zlib.compressobj(9, wbits=31)
    bomb = b"".join(zeros.compress(bytes(1 << 20)) for _ in range(1024)) + zeros.flush()  # 1 GiB in 1 MB
    assert refused(bomb)
    nodes = zlib.compressobj(9, wbits=31)
    block = b'node { name: "a" }\n' * 50_000
    bomb = b"".join(nodes.compress(block) for _ in range(1100)) + nodes.flush()
    assert "bomb" in refused(bomb)


@pytest.mark.slow
def test_a_bomb_is_let_in_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.pbtxt.gz"
    path.write_bytes(gzip.compress(b"# nothing\n" * 9_000_000 + b'node { name: "a" }'))
    with pytest.raises(TooLarge):
        read_source(path)
    assert read_source(path, ReadOptions(max_bytes=1 << 27)).graph_def.node


@pytest.mark.slow
@each(
    "text",
    [
        b"node { name: 'x' } " * 60_000,
        b"node {\nname: 'x' }\n" * 60_000,
        b"node {\n  name: 'x'\n  'y'\n}\n" * 40_000,
        b"node {\n  name: \"x\"\n} # c\n" * 40_000,
        b"node {\n  name: \"x\"\n  u%d: 3\n}\n" * 40_000,
        b"".join(b"node {\n  name: \"x\"\n  u%d: 3\n}\n" % number for number in range(20_000)),
        b"library { function { node_def { name: 'x' } } }\n" * 25_000,
        b"library {\n" + b"  function {\n    node_def {\n      name: 'x' }\n  }\n" * 25_000 + b"}\n",
        b"node {\n" * 1 + b"  input: \"x\"\n" * 100_000 + b"}\n",
        b"#" * 2_000_000,
        b"\n" * 2_000_000 + b"node { }",
        b"node { name: \"" + b"x" * 2_000_000 + b"\" }",
        b"node { name: \"" + b"\\001" * 500_000 + b"\" }",
        b"node { name: " + b"'a' " * 100_000 + b"}",
        b"node { input: [" + b"'a', " * 100_000 + b"'b'] }",
        b";" * 1_000_000 + b"node { }",
    ],
    ids=range(16),
)  # fmt: skip
def test_no_spelling_takes_quadratic_time(text: bytes) -> None:
    start = time.process_time()
    with contextlib.suppress(ReadError):
        read_source(text)
    assert within(time.process_time() - start, 8)


def test_all_of_it_still_reads_what_is_whole() -> None:
    graph = GraphDef.FromString(KINDS["graph"])
    assert read_source(text_format.MessageToString(graph).encode()).graph_def == graph
