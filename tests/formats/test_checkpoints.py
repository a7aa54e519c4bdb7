"""The index of a checkpoint: what TensorFlow wrote, and what nobody should."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import MalformedProto, ReadError, TooLarge, UnknownFormat
from graphviz_tb.formats import checkpoint
from graphviz_tb.formats.checkpoint import find_index_files, read_checkpoint
from graphviz_tb.formats.records import masked_crc
from graphviz_tb.proto import BundleEntryProto, BundleHeaderProto
from tests.event_files import varint

CHECKPOINTS = Path(__file__).parents[2] / "fixtures" / "read" / "checkpoints"
HEADER = (b"", BundleHeaderProto(num_shards=1).SerializeToString())


def entry(*shape: int, dtype: int = 1, size: int = 4) -> bytes:
    made = BundleEntryProto(dtype=dtype, size=size)
    for dim in shape:
        made.shape.dim.add(size=dim)
    return made.SerializeToString()


def block(pairs: Iterable[tuple[bytes, bytes]], packed: int = 0) -> bytes:
    """A block of entries, none of which repeats letters of the one before."""
    body = b"".join(b"\0" + varint(len(key)) + varint(len(value)) + key + value for key, value in pairs)
    return ended(body, packed)


def ended(body: bytes, packed: int = 0) -> bytes:
    body += struct.pack("<II", 0, 1) + bytes([packed])
    return body + struct.pack("<I", masked_crc(body))


def index(*blocks: bytes, places: list[tuple[int, int]] | None = None) -> bytes:
    """A table of these blocks."""
    data, told = b"", []
    for each in blocks:
        told.append((len(data), len(each) - checkpoint.BLOCK_TRAILER_BYTES))
        data += each
    listing = block((b"z%d" % at, varint(start) + varint(size)) for at, (start, size) in enumerate(places or told))
    place = len(data)
    footer = varint(0) + varint(0) + varint(place) + varint(len(listing) - checkpoint.BLOCK_TRAILER_BYTES)
    return data + listing + footer.ljust(40, b"\0") + checkpoint.TABLE_MAGIC


def read(tmp_path: Path, data: bytes) -> Any:
    path = tmp_path / "model.index"
    path.write_bytes(data)
    return read_checkpoint(path)


def test_what_the_saver_of_tensorflow_1_wrote() -> None:
    """A partitioned variable is one tensor; the file `checkpoint` says which is the latest."""
    files = find_index_files(CHECKPOINTS / "saver")
    assert [path.name for path in files] == ["model.ckpt-7.index", "model.ckpt-5.index"]
    made = read_checkpoint(files[-1])
    assert (made.name, made.shards, made.element_count, made.bytes) == ("model.ckpt-5", 1, 78, 332)
    assert [(each.name, each.dtype, each.shape, each.bytes, each.slices) for each in made.tensors] == [
        ("dense/bias", "float64", (6,), 48, 0),
        ("dense/kernel", "float32", (5, 6), 120, 0),
        ("emb", "float32", (10, 4), 160, 2),
        ("q", "float16", (2,), 4, 0),
    ]


def test_what_tensorflow_2_wrote() -> None:
    files = find_index_files(CHECKPOINTS / "manager")
    assert [path.name for path in files] == ["ckpt-20.index", "ckpt-30.index"]
    told = {each.name.partition("/.")[0]: (each.dtype, each.shape) for each in read_checkpoint(files[0]).tensors}
    assert told == {
        "_CHECKPOINTABLE_OBJECT_GRAPH": ("string", ()),
        "model/b": ("bfloat16", (4,)),
        "model/n": ("int64", ()),
        "model/s": ("string", ()),
        "model/w": ("float32", (3, 4)),
        "save_counter": ("int64", ()),
        "step": ("int64", ()),
    }
    assert find_index_files(CHECKPOINTS / "manager" / "ckpt-20") == [CHECKPOINTS / "manager" / "ckpt-20.index"]


def test_several_blocks_and_odd_names(tmp_path: Path) -> None:
    made = read(tmp_path, index(block([HEADER, (b"a\x1b[31m", entry(2, 3))]), block([(b"b\xff", entry(dtype=999))])))
    assert [(each.name, each.dtype, each.shape) for each in made.tensors] == [
        ("a\x1b[31m", "float32", (2, 3)),
        ("b\ufffd", "", ()),
    ]


REFUSED = {
    "Snappy": (index(block([HEADER], packed=1)), UnknownFormat),
    "unknown way": (index(block([HEADER], packed=9)), MalformedProto),
    "no checkpoint that TensorFlow": (index(block([(b"", b"\x0a\x02\x08\x01")])), UnknownFormat),
    "of no checkpoint": (index(), UnknownFormat),
    "over each other": (
        index(block([HEADER]), places=[(0, len(block([HEADER])) - checkpoint.BLOCK_TRAILER_BYTES)] * 2),
        MalformedProto,
    ),
    "beyond the file": (index(block([HEADER]), places=[(0, 2**60)]), MalformedProto),
    "not in order": (index(block([HEADER, (b"b", entry()), (b"a", entry())])), MalformedProto),
    "is cut": (index(ended(b"\x05\x01\x01ab")), MalformedProto),
    "has no end": (index(ended(b"\xff" * 12)), MalformedProto),
    "no shape that can be": (index(block([HEADER, (b"a", entry(-1))])), MalformedProto),
    "has no shape": (index(block([HEADER, (b"a", entry(*[1] * 300))])), MalformedProto),
    "not a whole BundleEntryProto": (index(block([HEADER, (b"a", b"\xff")])), MalformedProto),
    "does not end": (b"short", MalformedProto),
}


@pytest.mark.parametrize("said", REFUSED)
def test_a_table_that_lies_is_refused(tmp_path: Path, said: str) -> None:
    data, kind = REFUSED[said]
    with pytest.raises(kind, match=said):
        read(tmp_path, data)


def test_names_that_repeat_one_another_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry of five bytes may claim all letters of a long name before it."""
    monkeypatch.setattr(checkpoint, "MAX_INDEX_NAME_LETTERS", 1_000_000)
    long = b"\0" + varint(50_000) + varint(0) + b"x" * 50_000
    more = b"".join(varint(50_000 + at) + b"\x01\x00y" for at in range(50))
    with pytest.raises(TooLarge, match="letters"):
        read(tmp_path, index(block([HEADER]), ended(long + more)))


def test_damage_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    """Each byte turned, each length: an error that names the file, or the tensors."""
    whole = (CHECKPOINTS / "saver" / "model.ckpt-5.index").read_bytes()
    chance = random.Random(0)
    turned = [bytes([*whole[:at], whole[at] ^ 1 << chance.randrange(8), *whole[at + 1 :]]) for at in range(len(whole))]
    said = [error_of(tmp_path, data) for data in [*turned, *(whole[:size] for size in range(0, len(whole), 7))]]
    assert all("model.index" in error for error in said if error)
    assert len(list(filter(None, said))) > len(whole) * 0.8  # all but the padding of the footer


def error_of(tmp_path: Path, data: bytes) -> str:
    try:
        read(tmp_path, data)
    except ReadError as error:
        return error.message
    return ""


def test_info_lists_tensors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _run_command_line(["info", str(CHECKPOINTS / "saver")]) == 0
    told = capsys.readouterr().out
    assert "model.ckpt-7        4       78  332 B" in told
    assert "Checkpoint model.ckpt-5: 4 tensors, 78 numbers, 332 B" in told
    assert "emb           float32  10×4 in 2 parts  160 B" in told
    assert _run_command_line(["info", str(CHECKPOINTS / "variables" / "variables"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["holds"], document["graph"]) == ([], None)
    [one] = document["checkpoints"]
    assert one["tensors"][-1] == {
        "name": "w/.ATTRIBUTES/VARIABLE_VALUE", "dtype": "float32", "shape": [3, 4], "bytes": 48, "slices": 0,
    }  # fmt: skip
    (tmp_path / "bad.index").write_bytes(REFUSED["not in order"][0])
    assert _run_command_line(["info", str(tmp_path / "bad.index")]) == 3
    assert "its names are not in order" in capsys.readouterr().err
    assert _run_command_line(["info", str(tmp_path)]) == 3
    (tmp_path / "esc.index").write_bytes(index(block([HEADER, (b"a\x1b[31m\n", entry(2, 3))])))
    assert _run_command_line(["info", str(tmp_path)]) == 0  # one of two can be read
    assert "\x1b" not in capsys.readouterr().out
