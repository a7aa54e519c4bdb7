"""Output dtypes of ops, from their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from graphviz_tb.model.dtypes import dtype_name
from graphviz_tb.model.tensors import MAX_OUTPUTS
from graphviz_tb.ops.outputs import OpDef, op_def

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

# Attributes with the dtype of the output; the first present one counts.
OUTPUT_DTYPE_ATTRS = (
    *("DstT", "out_type", "output_type", "dtype", "Tout", "dtypes", "elem_type"),
    *("output_types", "component_types", "Toutput_types"),
)
GENERAL_DTYPE_ATTRS = ("T", "TI", "Tparams", "element_dtype", "value_dtype", "Tvalues", "Tidx")


def output_dtype_lookup(definition: NodeDef) -> Callable[[int], str]:
    """Return a lookup from output position to dtype: by the op's definition, else by usual attribute names."""
    known, names = op_def(definition.op), all_output_dtypes(definition)
    # For an unknown op, one attribute counts for all outputs.
    return lambda index: names[index] if 0 <= index < len(names) else names[-1] if known is None and names else ""


def all_output_dtypes(definition: NodeDef) -> list[str]:
    """Return the dtypes of all outputs of an op that TensorFlow defines; for other ops, those of its usual
    attributes."""
    known = op_def(definition.op)
    return dtypes_by_usual_attribute(definition) if known is None else list(dtypes_by_definition(definition, known))


def dtypes_by_definition(definition: NodeDef, known: OpDef) -> Iterator[str]:
    """Yield the dtypes of all outputs of an op that TensorFlow defines."""
    for output in known.outputs:
        if output.several:
            yield from attribute_dtypes(definition, output.attr)
            continue
        # Fixed by the definition, else the node's attribute, else the attribute's default.
        own = (
            [output.dtype]
            if output.dtype
            else attribute_dtypes(definition, output.attr) or [known.defaults.get(output.attr, "")]
        )
        count = (
            int(definition.attr[output.counted_by].i)
            if output.counted_by and output.counted_by in definition.attr
            else 1
        )
        yield from own[:1] * min(count, MAX_OUTPUTS)


def attribute_dtypes(definition: NodeDef, attr: str) -> list[str]:
    """Return the dtypes in an attribute."""
    if attr not in definition.attr:
        return []
    value = definition.attr[attr]
    return [dtype_name(value.type)] if value.type else [dtype_name(number) for number in value.list.type]


def dtypes_by_usual_attribute(definition: NodeDef) -> list[str]:
    """Return the dtypes of the first attribute with a usual name; a single one is that of every output."""
    return next(
        (
            found
            for attr in (*OUTPUT_DTYPE_ATTRS, *GENERAL_DTYPE_ATTRS)
            if (found := attribute_dtypes(definition, attr))
        ),
        [],
    )
