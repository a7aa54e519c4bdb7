"""Descriptions of op types, Keras classes and attributes, one line each: `words.tsv`, columns separated by tabs.

name  an op type or a class; an attribute with `@` before it. Versions of an op (`V2`, `V3`) and its equivalents in
      other frameworks (`onnx::Relu`) share a line unless they have their own
en    the line in English
ko    the line in Korean
"""

from __future__ import annotations

import re
from functools import cache
from pkgutil import get_data

from graphviz_tb.ops.table import read_table

OP_VERSION = re.compile(r"V\d+$")


@cache
def _description_lines() -> dict[str, tuple[str, ...]]:
    """Read the lines by name; only pages show them, so not at import."""
    table = read_table((get_data(__name__, "words.tsv") or b"").decode())
    return {name: tuple(line.split("\t")) for name, line in table.items()}


def op_description(op: str) -> tuple[str, ...]:
    """Return the description of an op type or a Keras class in each language; () if there is none.

    >>> (
    ...     op_description("onnx::Relu") == op_description("Relu"),
    ...     op_description("AddV2") == op_description("Add"),
    ...     op_description("Mine"),
    ... )
    (True, True, ())
    """
    lines = _description_lines()
    own = op.rpartition("::")[2]
    return next((lines[name] for name in (op, own, OP_VERSION.sub("", own)) if name in lines), ())


def attribute_description(name: str) -> tuple[str, ...]:
    """Return the description of an attribute in each language; () if there is none.

    >>> attribute_description("padding")[0][:8], attribute_description("mine")
    ('How the ', ())
    """
    return _description_lines().get(f"@{name}", ())
