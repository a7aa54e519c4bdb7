"""Elements of a `TensorProto`, and output dtypes of ops from their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.model.tensors import DTYPE_TABLE, MAX_DIMENSIONS, MAX_OUTPUTS, Shape, dtype_name, shape_from_proto
from graphviz_tb.ops.signatures import OpDef, op_def

if TYPE_CHECKING:
    from graphviz_tb.model.graph import Graph
    from graphviz_tb.proto import AttrValue, NodeDef, TensorProto

# Elements of a `TensorProto`, stored as bytes, one by one, or with the last one repeated.
#
# A damaged file may end within an element, list numbers that its type cannot hold, or claim more elements than it has.
# Nothing is read or allocated beyond the limit that a caller gives.

BFLOAT16, FLOAT16, FLOAT8_E5M2, FLOAT8_E4M3FN, INT4, UINT4 = 14, 19, 24, 25, 29, 30


def attr_value(definition: NodeDef, key: str) -> AttrValue:
    """Return an attribute, an empty one if it is absent. Indexing the map of a message would add the key to it."""
    return definition.attr[key] if key in definition.attr else type(definition)().attr[key]


def constant_tensor(graph: Graph, node: int) -> TensorProto | None:
    """Return the value of a constant; None for an argument, or if the file has no value."""
    definition = graph.node_def(node)
    return definition.attr["value"].tensor if definition is not None and "value" in definition.attr else None


def declared_shapes(definition: NodeDef) -> list[Shape] | None:
    """Return the shapes in `_output_shapes`, or None if there is no list."""
    if "_output_shapes" not in definition.attr:
        return None
    value = definition.attr["_output_shapes"]
    if not value.HasField("list"):
        return None
    return [shape_from_proto(shape) for shape in value.list.shape]


def claimed_element_count(tensor: TensorProto) -> int:
    """Return the element count of the shape; 0 if it has too many dimensions, negative if a dimension is unknown."""
    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    if len(sizes) > MAX_DIMENSIONS:
        return 0
    return -1 if min(sizes, default=0) < 0 else prod(sizes)


def stored_element_count(tensor: TensorProto) -> int:
    """Return the number of elements in the file."""
    dtype = DTYPE_TABLE.get(tensor.dtype)
    if dtype is None:
        return 0
    if tensor.tensor_content and dtype.form:
        return len(tensor.tensor_content) // dtype.size
    return len(getattr(tensor, dtype.field)) // (2 if dtype.form.startswith("<c") else 1)


def stored_elements(tensor: TensorProto, most: int | None = None) -> np.ndarray | None:
    """Return the first `most` elements in the file, None if they are not numbers.

    Elements of bfloat16, float16 and float8 are returned as bits.

    >>> from graphviz_tb.proto import TensorProto
    >>> stored_elements(TensorProto(dtype=17, tensor_content=b"\\1\\0\\2")), stored_elements(TensorProto(dtype=7))
    (array([1], dtype=uint16), None)
    """
    dtype = DTYPE_TABLE.get(tensor.dtype)
    if dtype is None or not dtype.form:
        return None
    count = stored_element_count(tensor) if most is None else min(most, stored_element_count(tensor))
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content[: count * dtype.size], dtype.form)
    if dtype.field == "float8_val":
        return np.frombuffer(tensor.float8_val[:count], dtype.form)
    if dtype.form.startswith("<c"):  # real and imaginary parts alternate
        return np.array(getattr(tensor, dtype.field)[: 2 * count], f"<f{dtype.size // 2}").view(dtype.form)
    # Bits of halves are listed as int32; in a damaged file excess bits are dropped.
    listed = np.array(
        getattr(tensor, dtype.field)[:count], np.int64 if dtype.field in ("int_val", "half_val") else None
    )
    return listed.astype(dtype.form)


def pad_with_last(elements: np.ndarray, count: int) -> np.ndarray:
    """Extend to `count` elements: TensorFlow writes equal trailing elements once."""
    if len(elements) >= count:
        return elements
    last = elements[-1:] if len(elements) else np.zeros(1, elements.dtype)
    return np.concatenate((elements, np.repeat(last, count - len(elements))))


def decode_elements(elements: np.ndarray, dtype: int) -> np.ndarray:
    """Convert stored elements to numbers.

    >>> decode_elements(np.array([0x3F80, 0x4000], "<u2"), BFLOAT16).tolist()
    [1.0, 2.0]
    >>> decode_elements(np.array([0x38, 0xB8, 0x7E, 0x01], "u1"), FLOAT8_E4M3FN).tolist()
    [1.0, -1.0, 448.0, 0.001953125]
    """
    if dtype == FLOAT16:
        return elements.view("<f2")
    if dtype == BFLOAT16:  # the upper half of a float32
        return (elements.astype("<u4") << 16).view("<f4")
    if dtype == FLOAT8_E5M2:  # the upper half of a float16
        return (elements.astype("<u2") << 8).view("<f2")
    if dtype == FLOAT8_E4M3FN:
        return _decode_e4m3fn(elements)
    if dtype in (INT4, UINT4):  # the lower half of a byte
        return elements & 15 if dtype == UINT4 else ((elements & 15) ^ 8) - 8
    return elements


def _decode_e4m3fn(elements: np.ndarray) -> np.ndarray:
    """Decode sign, 4 bits of exponent (bias 7), 3 of mantissa; no infinity, NaN has all bits set."""
    exponent, mantissa = elements.astype(np.int32) >> 3 & 15, elements & 7
    size = np.ldexp(np.where(exponent > 0, 8.0, 0.0) + mantissa, np.maximum(exponent, 1) - 10)
    size[elements & 127 == 127] = np.nan
    signed: np.ndarray = np.where(elements & 128, -size, size)
    return signed.astype("<f4")


def first_elements(tensor: TensorProto, most: int) -> list[Any]:
    """Return the first elements in the file, as Python numbers or the bytes of strings.

    >>> from graphviz_tb.proto import TensorProto
    >>> (
    ...     first_elements(TensorProto(dtype=14, half_val=[0x3F80, 0x4000]), 1),
    ...     first_elements(TensorProto(dtype=7, string_val=[b"a"]), 9),
    ... )
    ([1.0], [b'a'])
    """
    elements = stored_elements(tensor, most)
    if elements is None:
        return list(tensor.string_val[:most])
    numbers: list[Any] = decode_elements(elements, tensor.dtype).tolist()
    return numbers


LISTED_DTYPES_ATTR = "_output_types"  # of exported programs: the dtypes of all outputs
# Attributes with the dtype of the output; the first present one counts.
OUTPUT_DTYPE_ATTRS = (
    "DstT", "out_type", "output_type", "dtype", "Tout", "dtypes", "elem_type",
    "output_types", "component_types", "Toutput_types",
)  # fmt: skip
GENERAL_DTYPE_ATTRS = ("T", "TI", "Tparams", "element_dtype", "value_dtype", "Tvalues", "Tidx")


def output_dtype_lookup(definition: NodeDef) -> Callable[[int], str]:
    """Return a lookup from output position to dtype: by the op's definition, else by usual attribute names."""
    known, names = op_def(definition.op), all_output_dtypes(definition)
    # For an unknown op, one attribute counts for all outputs.
    return lambda index: names[index] if 0 <= index < len(names) else names[-1] if known is None and names else ""


def all_output_dtypes(definition: NodeDef) -> list[str]:
    """Return the dtypes of all outputs: listed in the file, by TensorFlow's definition, or by usual attributes."""
    if listed := _attribute_dtypes(definition, LISTED_DTYPES_ATTR):
        return listed
    known = op_def(definition.op)
    return _dtypes_by_usual_attribute(definition) if known is None else list(_dtypes_by_definition(definition, known))


def _dtypes_by_definition(definition: NodeDef, known: OpDef) -> Iterator[str]:
    """Yield the dtypes of all outputs of an op that TensorFlow defines."""
    for output in known.outputs:
        if output.several:
            yield from _attribute_dtypes(definition, output.attr)
            continue
        # Fixed by the definition, else the node's attribute, else the attribute's default.
        own = [output.dtype] if output.dtype else _attribute_dtypes(definition, output.attr)
        own = own or [known.defaults.get(output.attr, "")]
        is_counted = output.counted_by and output.counted_by in definition.attr
        count = int(definition.attr[output.counted_by].i) if is_counted else 1
        yield from own[:1] * min(count, MAX_OUTPUTS)


def _attribute_dtypes(definition: NodeDef, attr: str) -> list[str]:
    if attr not in definition.attr:
        return []
    value = definition.attr[attr]
    return [dtype_name(value.type)] if value.type else [dtype_name(number) for number in value.list.type]


def _dtypes_by_usual_attribute(definition: NodeDef) -> list[str]:
    """Return the dtypes of the first attribute with a usual name; a single one is that of every output."""
    return next(
        (
            found
            for attr in (*OUTPUT_DTYPE_ATTRS, *GENERAL_DTYPE_ATTRS)
            if (found := _attribute_dtypes(definition, attr))
        ),
        [],
    )
