"""Names of dtypes, and which attribute of an op says the dtype of its outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

# types.proto: DataType; 100 is added for references.
DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64",
    9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16", 15: "qint16", 16: "quint16",
    17: "uint16", 18: "complex128", 19: "float16", 20: "resource", 21: "variant", 22: "uint32", 23: "uint64",
    24: "float8_e5m2", 25: "float8_e4m3fn", 29: "int4", 30: "uint4",
}  # fmt: skip
REFERENCE = 100

# Ops whose outputs have one dtype whatever their attributes say.
FIXED = {
    **dict.fromkeys(
        (
            *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "InTopK", "InTopKV2", "LoopCond"),
            *("LogicalAnd", "LogicalOr", "LogicalNot", "IsFinite", "IsInf", "IsNan", "All", "Any"),
            *("VarIsInitializedOp", "IsVariableInitialized", "StaticRegexFullMatch"),
        ),
        "bool",
    ),
    **dict.fromkeys(
        (
            *("VarHandleOp", "Iterator", "IteratorV2", "HashTableV2", "FIFOQueueV2", "TensorArrayV3", "StackV2"),
            *("FixedLengthRecordReaderV2", "TextLineReaderV2", "TFRecordReaderV2", "WholeFileReaderV2"),
        ),
        "resource",
    ),
    **dict.fromkeys(("QueueSizeV2", "ConcatOffset", "Rank"), "int32"),
    **dict.fromkeys(["MergeSummary", "StringJoin", "ShardedFilename", "AsString", "Substr"], "string"),
    **dict.fromkeys(["TensorDataset", "MapDataset", "BatchDatasetV2", "RangeDataset", "ShuffleDatasetV3"], "variant"),
}

# Attributes that say the dtype of the output, the first that is there counts.
SAYING = (
    *("DstT", "out_type", "output_type", "dtype", "Tout", "dtypes", "elem_type"),
    *("output_types", "component_types", "Toutput_types"),
)
GENERAL = ("T", "TI", "Tparams", "element_dtype", "value_dtype", "Tvalues", "Tidx")


def dtype_name(number: int) -> str:
    """The name of a dtype, "" for an unknown number; a reference has its own dtype's name.

    >>> dtype_name(1), dtype_name(101), dtype_name(0)
    ('float32', 'float32', '')
    """
    return DTYPES.get(number - REFERENCE if number > REFERENCE else number, "")


def output_dtypes(definition: NodeDef) -> Callable[[int], str]:
    """A lookup from an output's position to its dtype."""
    fixed = FIXED.get(definition.op)
    if fixed:
        return lambda index: fixed
    attrs = definition.attr
    for attr in (*SAYING, *GENERAL):
        if attr in attrs:
            value = attrs[attr]
            if value.type:
                name = dtype_name(value.type)
                return lambda index: name
            if value.HasField("list") and value.list.type:
                names = [dtype_name(number) for number in value.list.type]
                return lambda index: names[index] if index < len(names) else ""
    return lambda index: ""
