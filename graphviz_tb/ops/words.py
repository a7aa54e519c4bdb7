"""What op types, Keras classes and attributes mean, in one line each: `words.tsv`, its columns apart by tabs.

name  an op type or a class; an attribute with `@` before it. The versions of an op (`V2`, `V3`) and the same op of
      another framework (`onnx::Relu`) share a line unless they have their own
en    the line in English
ko    the same in Korean
"""

from __future__ import annotations

import re
from functools import cache
from pkgutil import get_data

from graphviz_tb.ops.table import read

VERSION = re.compile(r"V\d+$")


@cache
def _lines() -> dict[str, tuple[str, ...]]:
    """The lines by name; read when a page is written, which alone shows them."""
    table = read((get_data(__name__, "words.tsv") or b"").decode())
    return {name: tuple(line.split("\t")) for name, line in table.items()}


def op_words(op: str) -> tuple[str, ...]:
    """What an op type or a Keras class does, in each language; nothing where the table does not say it.

    >>> op_words("onnx::Relu") == op_words("Relu"), op_words("AddV2") == op_words("Add"), op_words("Mine")
    (True, True, ())
    """
    lines = _lines()
    own = op.rpartition("::")[2]
    return next((lines[name] for name in (op, own, VERSION.sub("", own)) if name in lines), ())


def attribute_meaning(name: str) -> tuple[str, ...]:
    """What an attribute says, in each language; nothing where the table does not say it.

    >>> attribute_meaning("padding")[0][:8], attribute_meaning("mine")
    ('How the ', ())
    """
    return _lines().get(f"@{name}", ())
