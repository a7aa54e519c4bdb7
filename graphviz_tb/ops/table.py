"""The table of op types, `ops.tsv`: one line an op, columns separated by tabs.

op         the type; a pattern with `*` describes all matching types that have no line, as ops of other libraries
roles      its roles, in words of `Role`
inputs     named inputs: `1:kernel,2:bias`; a setting of the op has `=` before its name: `1:=dim`
outputs    `name:dtype`, `name:$attribute`; `name:dtype*count` is a list of one dtype, `name:*attribute` of several; `?`
           if TensorFlow registers no such op, so its outputs are unknown
shape      the shapes of the outputs, a signature (annotate/infer/signatures.py)
flops      the floating point operations, a formula (annotate/costs/formulas.py)
defaults   the defaults of attributes, as JSON

`make.py` writes `outputs` and `defaults` from TensorFlow's registry and keeps the other columns, which are written by
hand. Ops of a second framework have its name as a prefix, `onnx::Conv`, which the reader adds.
"""

from __future__ import annotations

import re
from functools import cache
from pkgutil import get_data
from typing import NamedTuple


class TableRow(NamedTuple):
    """One line of the table, every column as text."""

    roles: str = ""
    inputs: str = ""
    outputs: str = ""
    shape: str = ""
    flops: str = ""
    defaults: str = ""


def read(text: str) -> dict[str, str]:
    r"""Return the lines of a table by op type, not split into columns: of 1,800 ops a graph has some dozens.

    >>> read("# op\troles\nMyOp\tread\t0:handle\n")
    {'MyOp': 'read\t0:handle'}
    """
    lines = (line.partition("\t") for line in text.split("\n"))
    return {op: rest for op, _, rest in lines if op and op[0] != "#"}


LINES = read((get_data(__name__, "ops.tsv") or b"").decode())


def row(op: str) -> TableRow | None:
    """Return the row of an op type under its exact name; None if the table has no such line.

    >>> row("ReadVariableOp").outputs, row("MyOp")
    ('value:$dtype', None)
    """
    line = LINES.get(op)
    return None if line is None else TableRow(*line.split("\t"))


def line_of(op: str) -> str:
    """Return the line of an op type, else that of the first pattern that it matches, else ""."""
    if op in LINES:
        return LINES[op]
    return next((LINES[name] for name, pattern in patterns().items() if pattern.fullmatch(op)), "")


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of lines for several types, in the order of the table."""
    return {name: re.compile(re.escape(name).replace(r"\*", ".*"), re.DOTALL) for name in LINES if "*" in name}
