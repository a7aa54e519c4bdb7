"""Families of files that were good once: cut, flipped, spliced, and files of another kind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

FIXTURES = Path(__file__).parents[3] / "fixtures"
BOMB = 1 << 28  # what a bomb unpacks to
SUFFIXES = ("pb", "pbtxt", "json", "keras", "meta", "gz", "tfevents")


@cache
def samples() -> tuple[tuple[str, bytes], ...]:
    """Good and broken fixtures of every kind, small enough to damage by the hundred."""
    files = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file() and path.stat().st_size < 300_000]
    kinds = [path for path in files if path.suffix.lstrip(".") in SUFFIXES or "tfevents" in path.name]
    return tuple((path.suffix.lstrip(".")[:8] or "bin", path.read_bytes()) for path in kinds)


def cut(random: Random) -> tuple[str, bytes]:
    suffix, data = random.choice(samples())
    return suffix, data[: random.randrange(len(data) + 1)]


def flipped(random: Random) -> tuple[str, bytes]:
    suffix, data = random.choice(samples())
    damaged = bytearray(data or b"\0")
    for _ in range(random.choice((1, 1, 2, 5, 50))):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return suffix, bytes(damaged)


def spliced(random: Random) -> tuple[str, bytes]:
    suffix, one = random.choice(samples())
    _, other = random.choice(samples())
    first, last = sorted(random.randrange(len(other) + 1) for _ in range(2))
    at = random.randrange(len(one) + 1)
    return suffix, one[:at] + other[first:last] * random.choice((1, 1, 2, 30)) + one[at:]


def told_wrong(random: Random) -> tuple[str, bytes]:
    """Numbers in the file that say too much: lengths, counts, offsets."""
    suffix, data = random.choice(samples())
    damaged = bytearray(data)
    for _ in range(random.choice((1, 3))):
        at = random.randrange(len(damaged) + 1)
        damaged[at : at + random.choice((0, 4, 8))] = random.choice((b"\xff" * 8, b"\xff" * 9 + b"\1", bytes(8)))
    return suffix, bytes(damaged)


def compressed(random: Random) -> tuple[str, bytes]:
    """Gzip: cut, doubled, nested, with rubbish behind it, with a false end."""
    _, data = random.choice(samples())
    packed = gzip.compress(data, mtime=0)
    change: Callable[[bytes], bytes] = random.choice(
        [
            lambda packed: packed[: random.randrange(len(packed))],
            lambda packed: packed + packed,
            lambda packed: gzip.compress(gzip.compress(packed, mtime=0), mtime=0),
            lambda packed: packed + random.randbytes(40),
            lambda packed: packed[:-8] + random.randbytes(8),
            lambda packed: packed[:3] + bytes([random.randrange(256)]) + packed[4:],
        ]
    )
    return "gz", change(packed)


def wrapped(random: Random) -> tuple[str, bytes]:
    """A good file in a wrapper: of a kind that is read, or not, or twice."""
    _, data = random.choice(samples())
    for _ in range(random.choice((1, 1, 2))):
        data = random.choice(
            (bz2.compress, lzma.compress, zlib.compress, _zip, _tar, lambda data: b'\x04"M\x18' + data)
        )(data)
    return random.choice(SUFFIXES), data


def _zip(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo("x/graph.pb"), data)
    return made.getvalue()


def _tar(data: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("graph.pb")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def bomb(random: Random) -> tuple[str, bytes]:
    """Small on disk, a quarter of a gigabyte unpacked: or just below what a limit of 200 times lets in."""
    unit = random.choice((b"\0", b"node{}", b"\n\0", b"\n\2\n\0", b"{},", b"#\n", b'node { name: "a" }\n', b"\x1a\0"))
    size = random.choice((BOMB, 60 << 20, 16 << 20))
    packer = zlib.compressobj(9, wbits=31)
    block = unit * ((1 << 20) // len(unit))
    head = random.choice((b"", b'{"class_name":"Sequential","config":{"layers":[', b'node { name: "a" input: ['))
    data = packer.compress(head) + b"".join(packer.compress(block) for _ in range(size // len(block)))
    return "gz", data + packer.flush()


def something_else(random: Random) -> tuple[str, bytes]:
    text = "Graphs are drawn. \N{GREEK SMALL LETTER ALPHA}"
    data = random.choice(
        [
            *(
                b"",
                b"\0",
                b"\n",
                b"{",
                b"null",
                b"[]",
                b"{}",
                b"0",
                b'"a"',
                b"\xef\xbb\xbf",
                b"\xff\xfe",
                b"\x1f\x8b\x08",
            ),
            *(text.encode(coding) * 30 for coding in ("utf-8", "utf-16", "utf-32", "utf-7")),
            b"\x89PNG\r\n\x1a\n" + random.randbytes(200),
            b"\x7fELF" + random.randbytes(200),
            b"PK\3\4" + random.randbytes(200),
            b"PK\5\6" + bytes(18),
            b"<!DOCTYPE html><html><body>node { }</body></html>",
            b"\x80\x04\x95" + random.randbytes(60),
            b"\x89HDF\r\n\x1a\n" + bytes(100),
            b"SQLite format 3\0" + bytes(500),
            b"{" * random.choice((10, 100_000)),
            b"[" * random.choice((10, 100_000)),
            b" " * 3_000_000,
            random.randbytes(random.choice((1, 10, 1000, 100_000))),
            bytes(random.choice((1, 12, 16, 1_000_000))),
        ]
    )
    return random.choice(SUFFIXES), data


FAMILIES = {
    "cut": cut,
    "flipped": flipped,
    "spliced": spliced,
    "told_wrong": told_wrong,
    "compressed": compressed,
    "wrapped": wrapped,
    "bomb": bomb,
    "something_else": something_else,
}
