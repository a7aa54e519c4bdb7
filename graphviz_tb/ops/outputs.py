"""The outputs of ops: their names, dtypes and counts; and the defaults of attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.table import row

STATED = re.compile(r"(?:attr|tensor)\((\w+)\)")
LISTED = "attrs(output_shapes)"


class Output(NamedTuple):
    """One output, or a list of them.

    `dtype` is fixed, else that of attribute `attr`; `counted_by` names the attribute that counts a list of one dtype;
    `several` says that `attr` is a list of dtypes, one for each of the list.
    """

    name: str
    dtype: str = ""
    attr: str = ""
    counted_by: str = ""
    several: bool = False


class OpDef(NamedTuple):
    """The outputs of an op in order, and the defaults of its attributes."""

    outputs: tuple[Output, ...]
    defaults: Mapping[str, Any]


@cache
def op_def(op: str) -> OpDef | None:
    """The definition of an op; None where TensorFlow 2.21 has none of that name.

    >>> [output.name for output in op_def("Unique").outputs]
    ['y', 'idx']
    >>> op_def("MatMul").defaults["transpose_a"], op_def("MyOp"), op_def("prim::Constant")
    (False, None, None)
    """
    line = row(op)
    if line is None or line.outputs == "?":
        return None
    return OpDef(
        tuple(read_output(text) for text in line.outputs.split()),
        MappingProxyType(json.loads(line.defaults) if line.defaults else {}),
    )


def gives_truth(op: str) -> bool:
    """Whether an op gives truth values whatever it is given."""
    known = op_def(op)
    return known is not None and any(output.dtype == "bool" for output in known.outputs)


def shape_attribute(op: str) -> str:
    """The attribute that states the shape of an op's one output, or holds the tensor that it gives; "" for none.

    >>> shape_attribute("Placeholder"), shape_attribute("Const"), shape_attribute("Relu")
    ('shape', 'value', '')
    """
    line = row(op)
    match = STATED.fullmatch(line.shape) if line is not None else None
    return match[1] if match is not None else ""


def lists_shapes(op: str) -> bool:
    """Return whether `output_shapes` of an op lists its outputs' shapes; that of a dataset lists those of the elements.

    >>> lists_shapes("IteratorGetNext"), lists_shapes("While"), lists_shapes("MapDataset")
    (True, True, False)
    """
    line = row(op)
    return has_role(op, Role.LOOP, Role.BRANCH) or (line is not None and line.shape == LISTED)


def read_output(text: str) -> Output:
    """One output as the table writes it.

    >>> read_output("output:$T*num_split").counted_by, read_output("idx:int32").dtype, read_output("y:*Tout").several
    ('num_split', 'int32', True)
    """
    name, _, dtype = text.partition(":")
    if dtype.startswith("*"):
        return Output(name, attr=dtype[1:], several=True)
    dtype, _, count = dtype.partition("*")
    if dtype.startswith("$"):
        return Output(name, attr=dtype[1:], counted_by=count)
    return Output(name, dtype, counted_by=count)
