"""The table of op types, `ops.tsv`: one line an op, its columns apart by tabs.

op         the type; one with `*` describes all types of such a name that no other line lists, as ops of other libraries
roles      what the op is for, in words of `Role`
inputs     inputs that have a name: `1:kernel,2:bias`; with `=` before it what sets what the op does: `1:=dim`
outputs    `name:dtype`, `name:$attribute`; `name:dtype*count` is a list of one dtype, `name:*attribute` of several; `?`
           where TensorFlow registers no such op, so that its outputs are not known
shape      the shapes of the outputs, a signature (annotate/infer/signatures.py)
flops      the floating point operations, a formula (annotate/costs/formulas.py)
defaults   the defaults of attributes, as JSON

`make.py` writes `outputs` and `defaults` from TensorFlow's registry and keeps the other columns, which are written by
hand. Ops of another framework have the framework's name before theirs, `onnx::Conv`, as the reader gives them it.
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
    r"""The lines of a table by op type, cut no further: of 1,800 ops a graph has some dozens.

    >>> read("# op\troles\nMyOp\tread\t0:handle\n")
    {'MyOp': 'read\t0:handle'}
    """
    lines = (line.partition("\t") for line in text.split("\n"))
    return {op: rest for op, _, rest in lines if op and op[0] != "#"}


LINES = read((get_data(__name__, "ops.tsv") or b"").decode())


def row(op: str) -> TableRow | None:
    """Return the row of an op type under its exact name; None where the table has no such line.

    >>> row("ReadVariableOp").outputs, row("MyOp")
    ('value:$dtype', None)
    """
    line = LINES.get(op)
    return None if line is None else TableRow(*line.split("\t"))


def line_of(op: str) -> str:
    """The line of an op type, else that of the first pattern that it matches, else an empty one."""
    if op in LINES:
        return LINES[op]
    return next((LINES[name] for name, pattern in patterns().items() if pattern.fullmatch(op)), "")


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """The lines for several types, in the order of the table."""
    return {name: re.compile(re.escape(name).replace(r"\*", ".*"), re.DOTALL) for name in LINES if "*" in name}
