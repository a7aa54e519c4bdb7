"""What TensorFlow's ops give: the names, dtypes and counts of their outputs, and the defaults of their attributes.

A line of `ops.tsv`, which `make.py` writes from TensorFlow's registry:

    SplitV      output:$T*num_split     {"Tlen":"int64"}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """One output, or a list of them.

    `dtype` is fixed, else that of attribute `attr`; `count` names the attribute that counts a list of one dtype;
    `several` says that `attr` is a list of dtypes, one for each of the list.
    """

    name: str
    dtype: str = ""
    attr: str = ""
    count: str = ""
    several: bool = False


@dataclass(frozen=True, slots=True)
class OpDef:
    """The outputs of an op in order, and the defaults of its attributes."""

    outputs: tuple[Output, ...]
    defaults: Mapping[str, Any]


@cache
def op_def(op: str) -> OpDef | None:
    """The definition of an op; None where TensorFlow 2.21 has none of that name.

    >>> [output.name for output in op_def("Unique").outputs]
    ['y', 'idx']
    >>> op_def("MatMul").defaults["transpose_a"], op_def("MyOp")
    (False, None)
    """
    line = _lines().get(op)
    if line is None:
        return None
    outputs, _, defaults = line.partition("\t")
    return OpDef(
        tuple(read_output(text) for text in outputs.split()),
        MappingProxyType(json.loads(defaults) if defaults else {}),
    )


def read_output(text: str) -> Output:
    """One output as the table writes it.

    >>> read_output("output:$T*num_split").count, read_output("idx:int32").dtype, read_output("y:*Tout").several
    ('num_split', 'int32', True)
    """
    name, _, dtype = text.partition(":")
    if dtype.startswith("*"):
        return Output(name, attr=dtype[1:], several=True)
    dtype, _, count = dtype.partition("*")
    if dtype.startswith("$"):
        return Output(name, attr=dtype[1:], count=count)
    return Output(name, dtype, count=count)


@cache
def _lines() -> dict[str, str]:
    # Only cut into lines: of 1,800 ops a graph has some dozens, and `op_def` reads those.
    text = files(__name__).joinpath("ops.tsv").read_text(encoding="utf-8")
    return {op: rest for op, _, rest in (line.partition("\t") for line in text.splitlines())}
