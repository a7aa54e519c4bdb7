"""Names of dtypes, and which attribute of an op says the dtype of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from graphviz_tb.model.tensors import MOST_OUTPUTS
from graphviz_tb.ops.outputs import OpDef, op_def

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

# types.proto: DataType; 100 is added for references.
DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64",
    9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16", 15: "qint16", 16: "quint16",
    17: "uint16", 18: "complex128", 19: "float16", 20: "resource", 21: "variant", 22: "uint32", 23: "uint64",
    24: "float8_e5m2", 25: "float8_e4m3fn", 29: "int4", 30: "uint4",
}  # fmt: skip
REFERENCE = 100  # added to a type's number where TensorFlow 1 hands on a variable itself (`DT_FLOAT_REF` is 101)

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
    """A lookup from an output's position to its dtype: by the op's definition, else by usual names of attributes."""
    known = op_def(definition.op)
    names = listed(definition) if known is None else list(defined(definition, known))
    # Of an op that nobody knows, one attribute speaks for all outputs.
    return lambda index: names[index] if 0 <= index < len(names) else names[-1] if known is None and names else ""


def defined(definition: NodeDef, known: OpDef) -> Iterator[str]:
    """The dtypes of all outputs of an op that TensorFlow defines."""
    for output in known.outputs:
        if output.several:
            yield from types_of(definition, output.attr)
            continue
        # Fixed by the definition, else as the node says, else the default of its attribute.
        own = (
            [output.dtype]
            if output.dtype
            else types_of(definition, output.attr) or [known.defaults.get(output.attr, "")]
        )
        count = (
            int(definition.attr[output.counted_by].i)
            if output.counted_by and output.counted_by in definition.attr
            else 1
        )
        yield from own[:1] * min(count, MOST_OUTPUTS)


def types_of(definition: NodeDef, attr: str) -> list[str]:
    """The dtype or dtypes that an attribute names."""
    if attr not in definition.attr:
        return []
    value = definition.attr[attr]
    return [dtype_name(value.type)] if value.type else [dtype_name(number) for number in value.list.type]


def listed(definition: NodeDef) -> list[str]:
    """The dtypes by the first attribute with a usual name; of one, all outputs have it."""
    return next((found for attr in (*SAYING, *GENERAL) if (found := types_of(definition, attr))), [])
