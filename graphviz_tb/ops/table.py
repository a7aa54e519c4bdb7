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


class OpRow(NamedTuple):
    """One line of the table, every column as text."""

    roles: str = ""
    inputs: str = ""
    outputs: str = ""
    shape: str = ""
    flops: str = ""
    defaults: str = ""


def read_table(text: str) -> dict[str, str]:
    r"""Return the lines of a table by op type, not split into columns: of 1,800 ops a graph has some dozens.

    >>> read_table("# op\troles\nMyOp\tread\t0:handle\n")
    {'MyOp': 'read\t0:handle'}
    """
    lines = (line.partition("\t") for line in text.split("\n"))
    return {op: rest for op, _, rest in lines if op and op[0] != "#"}


OP_LINES = read_table((get_data(__name__, "ops.tsv") or b"").decode())


def op_row(op: str) -> OpRow | None:
    """Return the row of an op type under its exact name; None if the table has no such line.

    >>> op_row("ReadVariableOp").outputs, op_row("MyOp")
    ('value:$dtype', None)
    """
    line = OP_LINES.get(op)
    return None if line is None else OpRow(*line.split("\t"))


def op_line(op: str) -> str:
    """Return the line of an op type, else that of the first pattern that it matches, else ""."""
    if op in OP_LINES:
        return OP_LINES[op]
    return next((OP_LINES[name] for name, pattern in op_patterns().items() if pattern.fullmatch(op)), "")


@cache
def op_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of lines for several types, in the order of the table."""
    return {name: re.compile(re.escape(name).replace(r"\*", ".*"), re.DOTALL) for name in OP_LINES if "*" in name}
