"""Outputs of ops: names, dtypes and counts; and defaults of attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.table import op_row

SHAPE_ATTRIBUTE_PATTERN = re.compile(r"(?:attr|tensor)\((\w+)\)")
OUTPUT_SHAPES_SIGNATURE = "attrs(output_shapes)"


class OutputDef(NamedTuple):
    """One output, or a list of them.

    `dtype` is fixed, or else that of the attribute `attr`; `counted_by` is the attribute with the length of a list of
    one dtype; if `several`, `attr` is a list of dtypes, one for each element.
    """

    name: str
    dtype: str = ""
    attr: str = ""
    counted_by: str = ""
    several: bool = False


class OpDef(NamedTuple):
    """The outputs of an op in order, and the defaults of its attributes."""

    outputs: tuple[OutputDef, ...]
    defaults: Mapping[str, Any]


@cache
def op_def(op: str) -> OpDef | None:
    """Return the definition of an op; None if TensorFlow 2.21 has no op of that name.

    >>> [output.name for output in op_def("Unique").outputs]
    ['y', 'idx']
    >>> op_def("MatMul").defaults["transpose_a"], op_def("MyOp"), op_def("prim::Constant")
    (False, None, None)
    """
    line = op_row(op)
    if line is None or line.outputs == "?":
        return None
    return OpDef(
        tuple(parse_output(text) for text in line.outputs.split()),
        MappingProxyType(json.loads(line.defaults) if line.defaults else {}),
    )


def gives_bool(op: str) -> bool:
    """Return whether an op has a boolean output for any inputs."""
    known = op_def(op)
    return known is not None and any(output.dtype == "bool" for output in known.outputs)


def shape_attribute(op: str) -> str:
    """Return the attribute with the shape of an op's only output, or with the output itself; "" for none.

    >>> shape_attribute("Placeholder"), shape_attribute("Const"), shape_attribute("Relu")
    ('shape', 'value', '')
    """
    line = op_row(op)
    match = SHAPE_ATTRIBUTE_PATTERN.fullmatch(line.shape) if line is not None else None
    return match[1] if match is not None else ""


def lists_shapes(op: str) -> bool:
    """Return whether `output_shapes` lists the shapes of an op's outputs; that of a dataset lists those of elements.

    >>> lists_shapes("IteratorGetNext"), lists_shapes("While"), lists_shapes("MapDataset")
    (True, True, False)
    """
    line = op_row(op)
    return has_role(op, Role.LOOP, Role.BRANCH) or (line is not None and line.shape == OUTPUT_SHAPES_SIGNATURE)


def parse_output(text: str) -> OutputDef:
    """Parse one output of the table.

    >>> parse_output("output:$T*num_split").counted_by, parse_output("idx:int32").dtype, parse_output("y:*Tout").several
    ('num_split', 'int32', True)
    """
    name, _, dtype = text.partition(":")
    if dtype.startswith("*"):
        return OutputDef(name, attr=dtype[1:], several=True)
    dtype, _, count = dtype.partition("*")
    if dtype.startswith("$"):
        return OutputDef(name, attr=dtype[1:], counted_by=count)
    return OutputDef(name, dtype, counted_by=count)
