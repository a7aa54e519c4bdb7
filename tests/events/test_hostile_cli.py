"""Hostile and damaged files through the command line: exit code 3 and the place, soon and in little memory."""

from __future__ import annotations

import gzip
import os
import resource
import struct
import subprocess
import sys
from pathlib import Path

from graphviz_tb.formats.records import masked_crc
from tests.conftest import FIXTURES
from tests.each import each
from tests.effort import part
from tests.events.test_read_events import record

MEMORY = 3 << 30  # bytes of address space
SECONDS = 60  # of CPU; a busy machine takes longer
LOG = next((FIXTURES / "logdirs/torch_transformer").iterdir()).read_bytes()
SAVED = (FIXTURES / "containers/saved_model/saved_model.pb").read_bytes()
META = (FIXTURES / "containers/saver.meta").read_bytes()
GRAPH = (FIXTURES / "real/colocate.pb").read_bytes()


def flipped(data: bytes, at: int, bit: int = 0x80) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def endless_record() -> bytes:
    length = struct.pack("<Q", 1 << 60)
    return record(b"\x1a\x0dbrain.Event:2") + length + struct.pack("<I", masked_crc(length)) + b"few"


def nested(levels: int) -> bytes:
    """Messages inside each other, without building each anew."""
    sizes, size = [], 0
    for _ in range(levels):
        head = b"\x0a" + varint(size)
        sizes.append(head)
        size += len(head)
    return b"".join(reversed(sizes))


def varint(value: int) -> bytes:
    told = bytearray()
    while value > 127:
        told.append(value & 127 | 128)
        value >>= 7
    return bytes([*told, value])


def hostile() -> dict[str, tuple[bytes, str]]:
    """What each file is → its bytes, and what is said of it."""
    return {
        "a record of 2^60 bytes": (endless_record(), "claims 1,152,921,504,606,846,976 bytes"),
        "100,000 messages": (nested(100_000), "at byte"),
        "100,000 messages as text": (b"node { attr { value { " + b"func { attr { value { " * 100_000, "deeper than 99"),
        "a bomb": (gzip.compress(b"node {}\n" * 12_000_000), "200 times its size"),
        "a torn log": (LOG[:9000], "(at byte 88)"),
        "a flipped log": (flipped(LOG, 5000, 4), "a record is damaged and was skipped (at byte 88)"),
        "a torn SavedModel": (SAVED[:40_000], "SavedModel: it is cut short or damaged (at byte"),
        "a flipped SavedModel": (flipped(SAVED, 40_000), "(at byte 39976)"),
        "a torn MetaGraphDef": (META[:40_000], "MetaGraphDef: it is cut short or damaged (at byte"),
        "a torn graph": (GRAPH[:1001], "GraphDef: it is cut short or damaged (at byte 932)"),
        "a torn archive": (gzip.compress(GRAPH)[:700], "(at byte"),
    }


def bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@each(("name", "case"), lambda: part(hostile().items(), 8), ids=lambda case: case[0])
def test_it_is_refused_soon_and_in_little_memory(name: str, case: tuple[bytes, str], tmp_path: Path) -> None:
    (data, told), source, target = case, tmp_path / "source", tmp_path / "out.svg"
    source.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "graphviz_tb", "render", str(source), "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
        timeout=20 * SECONDS,
        preexec_fn=bounded,
        env={**os.environ, "PYTHONPATH": str(FIXTURES.parent), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not target.exists()
