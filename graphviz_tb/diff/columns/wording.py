"""Plain values as text, where a name may be long and part of thousands of entries."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from graphviz_tb.limits import MAX_ACCOUNT_LETTERS


def fingerprint(value: Any) -> str:
    """The same text for equal values, another for others: their JSON or, where that is long, a hash of it.

    >>> fingerprint({"b": 1, "a": ["x"]})
    '{"a": ["x"], "b": 1}'
    >>> len(fingerprint(["x" * 1000] * 1001))
    32
    """
    if letters(value) <= MAX_ACCOUNT_LETTERS:
        return json.dumps(value, sort_keys=True, default=str)
    hashed = blake2b(digest_size=16)
    for part in json.JSONEncoder(sort_keys=True, default=str).iterencode(value):
        hashed.update(part.encode())
    return hashed.hexdigest()


def letters(value: Any) -> int:
    """How many letters the texts in plain values have together.

    >>> letters({"old": "abc", "links": [{"node": "de"}, None, 7]})
    17
    """
    total, todo = 0, [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            total += len(one)
        elif isinstance(one, dict):
            todo += one.keys()
            todo += one.values()
        elif isinstance(one, list | tuple):
            todo += one
    return total
