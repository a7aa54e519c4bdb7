"""Blocks of data in a page, and answers of a server: JSON, and numbers that browsers read without parsing."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.formatting import MAX_SAFE_INTEGER

# Blocks of data in a page: numbers and JSON, compressed, each with a digest.

INT_DTYPE = "<i4"  # whole numbers in a page
# the byte of the operating system in a gzip header; some Pythons write "unknown"
GZIP_SYSTEM_BYTE, GZIP_UNKNOWN_SYSTEM = 9, 255
GZIP_LEVEL = 6  # of gzip: 9 takes twice as long and saves one per cent


@dataclass(frozen=True)
class DataBlock:
    """One block: its `name`, its kind ("ints", little-endian, 32 bits; "json"; or "columns"), and its bytes."""

    name: str
    kind: str
    data: bytes | bytearray

    @cached_property
    def base64_text(self) -> str:
        """Return the block as text for the page: gzip, then base64."""
        return b64encode(self.gzip_bytes()).decode("ascii")

    def gzip_bytes(self) -> bytes:
        """Return the block as a server sends it."""
        packed = bytearray(gzip.compress(self.data, GZIP_LEVEL, mtime=0))  # no time stamp: equal data gives equal bytes
        packed[GZIP_SYSTEM_BYTE] = GZIP_UNKNOWN_SYSTEM
        return bytes(packed)

    @cached_property
    def digest(self) -> str:
        """Return the checksum of the block: the first 16 bytes of its SHA-256, in hexadecimal."""
        return sha256(self.data).hexdigest()[:32]


def ints_block(name: str, numbers: Iterable[int] | NDArray[Any]) -> DataBlock:
    """Return a block of whole numbers.

    >>> ints_block("a", [1, -1]).data
    b'\\x01\\x00\\x00\\x00\\xff\\xff\\xff\\xff'
    """
    column = numbers if isinstance(numbers, np.ndarray) else np.fromiter(numbers, np.int64)
    return DataBlock(name, "ints", column.astype(INT_DTYPE, copy=False).tobytes())


def json_block(name: str, value: Any) -> DataBlock:
    if isinstance(value, list):
        return json_list_block(name, map(compact_json, value))
    return DataBlock(name, "json", compact_json(value))


def json_list_block(name: str, texts: Iterable[bytes]) -> DataBlock:
    # One by one, without a copy: the names of a deep graph take hundreds of megabytes.
    data = bytearray(b"[")
    for number, text in enumerate(texts):
        data += b"," * (number > 0) + text
    data += b"]"
    return DataBlock(name, "json", data)


def compact_json(value: Any) -> bytes:
    # ASCII can represent lone surrogates too, as escapes.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


class TextTable:
    """A table of distinct texts; number 0 is the empty one."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        """Return the number of a text, adding it if it is new."""
        return self.number.setdefault(text, len(self.number))

    def numbered_texts(self) -> list[str]:
        return list(self.number)


# Columns: arrays in one answer, in a form that browsers use without parsing.
#
# uint32 length of the head, head (JSON, padded with blanks so that the data begins at a multiple of 8), data

COLUMN_ALIGNMENT = 8  # bytes; a multiple of every item's size
NamedColumns = Sequence[tuple[str, NDArray[Any]]]


def pack_columns(count: int, blocks: NamedColumns, more: Mapping[str, Any] | None = None) -> bytes:
    """Pack named arrays into bytes. The head also has `more`, and as `exact` the integers that no double can represent,
    as texts.

    >>> pack_columns(1, [("1.step", np.array([7]))])[4:]
    b'{"n":1,"blocks":[{"name":"1.step","type":"i4","count":1,"at":0}]}   \\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    entries, data, at = [], [], 0
    exact = {name: list(map(str, array.tolist())) for name, array in blocks if _exceeds_doubles(array)}
    for name, array in blocks:
        kind, sent = _as_sent_type(array)
        raw = sent.tobytes()
        entries.append({"name": name, "type": kind, "count": int(sent.size), "at": at})
        gap = -len(raw) % COLUMN_ALIGNMENT
        data += [raw, bytes(gap)]
        at += len(raw) + gap
    head = strict_json({**(more or {}), **({"exact": exact} if exact else {}), "n": count, "blocks": entries})
    head += b" " * (-(len(head) + 4) % COLUMN_ALIGNMENT)
    return b"".join([len(head).to_bytes(4, "little"), head, *data])


def _exceeds_doubles(array: NDArray[Any]) -> bool:
    if array.dtype.kind not in "iu" or not array.size:
        return False
    return max(-int(np.min(array)), int(np.max(array))) > MAX_SAFE_INTEGER


def _as_sent_type(array: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return an array in a type that is sent: integers as i4 if they fit, else as f8."""
    if array.dtype == bool or array.dtype == np.uint8:
        return "u1", array.astype(np.uint8, copy=False)
    if array.dtype == np.float32:
        return "f4", array.astype("<f4", copy=False)
    if array.dtype.kind in "iu":
        info = np.iinfo(np.int32)
        if not array.size or (np.min(array) >= info.min and np.max(array) <= info.max):
            return "i4", array.astype("<i4", copy=False)
    return "f8", array.astype("<f8", copy=False)


def strict_json(value: Any) -> bytes:
    """Return JSON as bytes: ASCII, with lone surrogates of odd names as escapes; raises ValueError for NaN."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
