"""Columns: arrays in one answer, in a form that browsers use without parsing.

uint32 length of the head, head (JSON, padded with blanks so that the data begins at a multiple of 8), data
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMN_ALIGNMENT = 8  # bytes; a multiple of every item's size
NamedColumns = Sequence[tuple[str, NDArray[Any]]]


def pack_columns(count: int, blocks: NamedColumns, more: Mapping[str, Any] | None = None) -> bytes:
    """Pack named arrays into bytes; `more` is added to the head.

    >>> pack_columns(1, [("1.step", np.array([7]))])[4:]
    b'{"n":1,"blocks":[{"name":"1.step","type":"i4","count":1,"at":0}]}   \\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    told, data, at = [], [], 0
    for name, array in blocks:
        kind, held = as_sent_type(array)
        raw = held.tobytes()
        told.append({"name": name, "type": kind, "count": int(held.size), "at": at})
        gap = -len(raw) % COLUMN_ALIGNMENT
        data += [raw, bytes(gap)]
        at += len(raw) + gap
    head = strict_json({**(more or {}), "n": count, "blocks": told})
    head += b" " * (-(len(head) + 4) % COLUMN_ALIGNMENT)
    return b"".join([len(head).to_bytes(4, "little"), head, *data])


def as_sent_type(array: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return an array in one of the types on the wire: integers as i4 if they fit, else as f8."""
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
