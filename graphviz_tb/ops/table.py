"""The table of op types, `ops.tsv`: one line an op, columns separated by tabs.

op         the type; a pattern with `*` describes all matching types that have no line, as ops of other libraries
roles      its roles, in words of `Role`
inputs     named inputs: `1:kernel,2:bias`; -1 is the last; a setting of the op has `=` before its name: `1:=dim`. The
           order of the axes of a kernel is in brackets, with `o` for outputs, `i` for inputs and `*` for its window:
           `1:kernel[oi*]`; without brackets it is that of TensorFlow, `[*io]`. `[io^transB]`: exchanged if the
           attribute is set
outputs    `name:dtype`, `name:$attribute`; `name:dtype*count` is a list of one dtype, `name:*attribute` of several; `?`
           if they are unknown, as those of ops that TensorFlow does not register
shape      the shapes of the outputs, a signature (annotate/infer/signatures.py)
flops      the floating point operations, a formula (annotate/costs/formulas.py)
defaults   the defaults of attributes, as JSON

Ops of PyTorch that work in place, `aten::relu_`, have the line of the op that does not.

A type after `=` in the column of roles is the same op of TensorFlow: `tfl::RELU` is `=Relu`. It has the roles of that
op, and its formula unless the line has one.

`make.py` writes `outputs` and `defaults` from TensorFlow's registry, and defaults of PyTorch's ops from its schemas; it
keeps the other columns, which are written by hand. Ops of a second framework have its name as a prefix, `onnx::Conv`,
which the reader adds.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pkgutil import get_data
from typing import NamedTuple

MAX_CACHED_OP_TYPES = 1 << 16  # whose meaning is remembered: a hostile file has a million types


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


def _resolve_equal_ops(lines: dict[str, str]) -> dict[str, str]:
    """Write roles and formulas of equal ops into their lines; return the op that each of them equals."""
    equal = {op: line[1:].partition("\t")[0] for op, line in lines.items() if line[:1] == "="}
    for op, other in equal.items():
        own, known = OpRow(*lines[op].split("\t")), OpRow(*lines[other].split("\t"))
        lines[op] = "\t".join(own._replace(roles=known.roles, flops=own.flops or known.flops))
    return equal


def _with_in_place_ops(lines: dict[str, str]) -> dict[str, str]:
    """Return lines with those of the ops of PyTorch that write their result into their input, `aten::relu_`."""
    in_place = {f"{op}_": line for op, line in lines.items() if op.startswith("aten::")}
    return lines | {op: line for op, line in in_place.items() if op not in lines}


OP_LINES = _with_in_place_ops(read_table((get_data(__name__, "ops.tsv") or b"").decode()))
EQUAL_OPS = _resolve_equal_ops(OP_LINES)


def has_framework(op: str) -> bool:
    """Return whether an op type has the name of its framework before it, as all but those of TensorFlow.

    >>> has_framework("aten::conv2d"), has_framework("Conv2D")
    (True, False)
    """
    return "::" in op


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def op_name(op: str) -> str:
    """Return the name of an op: its type without the framework, and without underscores at its ends.

    >>> op_name("aten::add_"), op_name("onnx::Conv"), op_name("Conv2D")
    ('add', 'Conv', 'Conv2D')
    """
    return op.rpartition("::")[2].strip("_") or op


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def plain_op_name(op: str) -> str:
    """Return the name of an op in small letters, without the framework and without underscores.

    >>> plain_op_name("aten::max_pool2d"), plain_op_name("onnx::LeakyRelu"), plain_op_name("aten::_softmax")
    ('maxpool2d', 'leakyrelu', 'softmax')
    """
    return op.rpartition("::")[2].replace("_", "").lower()


def equal_op(op: str) -> str:
    """Return the op of TensorFlow that does the same as one of another framework, where the table says so; else `op`.

    >>> equal_op("tfl::RELU"), equal_op("Relu"), equal_op("tfl::GELU")
    ('Relu', 'Relu', 'tfl::GELU')
    """
    return EQUAL_OPS.get(op, op)


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
    # One match refuses a type of none of them: a hostile file has thousands.
    if _any_op_pattern().fullmatch(op) is None:
        return ""
    return next((OP_LINES[name] for name, pattern in _op_patterns().items() if pattern.fullmatch(op)), "")


@cache
def _op_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of lines for several types, in the order of the table."""
    return {name: re.compile(re.escape(name).replace(r"\*", ".*"), re.DOTALL) for name in OP_LINES if "*" in name}


@cache
def _any_op_pattern() -> re.Pattern[str]:
    return re.compile("|".join(pattern.pattern for pattern in _op_patterns().values()), re.DOTALL)


# Descriptions of op types, Keras classes and attributes, one line each: `words.tsv`, columns separated by tabs.
#
# name  an op type or a class; an attribute with `@` before it. Versions of an op (`V2`, `V3`) and its equivalents in
#       other frameworks (`onnx::Relu`) share a line unless they have their own
# en    the line in English
# ko    the line in Korean

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
