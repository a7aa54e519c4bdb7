"""Input counts of op types, that always take as many."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from types import MappingProxyType


@cache
def arities() -> Mapping[str, int]:
    """The number of data inputs by op type, as TensorFlow registers them; types that take lists are not among them.

    >>> arities()["BiasAdd"], "ConcatV2" in arities()
    (2, False)
    """
    lines = (get_data(__name__, "arity.tsv") or b"").decode().split("\n")
    rows = (line.split("\t") for line in lines if line[:1].isdecimal())
    return MappingProxyType({op: int(count) for count, ops in rows for op in ops.split(" ")})
