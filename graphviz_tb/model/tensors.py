"""Tensors, their dtypes, and the tensors of a line: decoded on request, since a picture needs few of a million."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from graphviz_tb.model.frozen import dataclass


class DtypeRow(NamedTuple):
    """A row of the table: `size` is the bytes of an element (0 if it is not a plain number), `form` the numpy type of
    the elements in `tensor_content` ("" if they are not numbers; the type of the bits if numpy lacks the type), `field`
    the field of `TensorProto` that lists them one by one."""

    name: str
    size: int
    form: str
    field: str


# types.proto: DataType. Integers that fit into 32 bits are in `int_val`.
DTYPE_TABLE = {
    1: DtypeRow("float32", 4, "<f4", "float_val"),
    2: DtypeRow("float64", 8, "<f8", "double_val"),
    3: DtypeRow("int32", 4, "<i4", "int_val"),
    4: DtypeRow("uint8", 1, "u1", "int_val"),
    5: DtypeRow("int16", 2, "<i2", "int_val"),
    6: DtypeRow("int8", 1, "i1", "int_val"),
    7: DtypeRow("string", 0, "", "string_val"),
    8: DtypeRow("complex64", 8, "<c8", "scomplex_val"),
    9: DtypeRow("int64", 8, "<i8", "int64_val"),
    10: DtypeRow("bool", 1, "?", "bool_val"),
    11: DtypeRow("qint8", 1, "i1", "int_val"),
    12: DtypeRow("quint8", 1, "u1", "int_val"),
    13: DtypeRow("qint32", 4, "<i4", "int_val"),
    14: DtypeRow("bfloat16", 2, "<u2", "half_val"),
    15: DtypeRow("qint16", 2, "<i2", "int_val"),
    16: DtypeRow("quint16", 2, "<u2", "int_val"),
    17: DtypeRow("uint16", 2, "<u2", "int_val"),
    18: DtypeRow("complex128", 16, "<c16", "dcomplex_val"),
    19: DtypeRow("float16", 2, "<u2", "half_val"),
    20: DtypeRow("resource", 0, "", "resource_handle_val"),
    21: DtypeRow("variant", 0, "", "variant_val"),
    22: DtypeRow("uint32", 4, "<u4", "uint32_val"),
    23: DtypeRow("uint64", 8, "<u8", "uint64_val"),
    24: DtypeRow("float8_e5m2", 1, "u1", "float8_val"),
    25: DtypeRow("float8_e4m3fn", 1, "u1", "float8_val"),
    29: DtypeRow("int4", 1, "i1", "int_val"),
    30: DtypeRow("uint4", 1, "u1", "int_val"),
}
ELEMENT_SIZES = {dtype.name: dtype.size for dtype in DTYPE_TABLE.values()}
BITS_IN_NAME = re.compile(r"(?:b?float|u?int|complex)(\d{1,3})(?!\d)")  # of types that TensorFlow lacks
# Types of indices, sizes and masks; smaller ones hold images and quantised values.
INDEX_DTYPES = frozenset({"int32", "int64", "bool"})
NON_INTEGER_DTYPES = frozenset(  # types whose elements are not integers
    dtype.name for dtype in DTYPE_TABLE.values() if not dtype.form or "float" in dtype.name or "complex" in dtype.name
)
STRING_DTYPE_NUMBER, RESOURCE_DTYPE_NUMBER, VARIANT_DTYPE_NUMBER = 7, 20, 21  # numbers of `DataType`
# added to the number where TensorFlow 1 passes the variable itself (`DT_FLOAT_REF` is 101)
REFERENCE_DTYPE_OFFSET = 100


def dtype_name(number: int) -> str:
    """Return the name of a type, "" for an unknown number; references have the name of the type they refer to.

    >>> dtype_name(1), dtype_name(101), dtype_name(0)
    ('float32', 'float32', '')
    """
    dtype = DTYPE_TABLE.get(number - REFERENCE_DTYPE_OFFSET if number > REFERENCE_DTYPE_OFFSET else number)
    return dtype.name if dtype else ""


def dtype_label(number: int) -> str:
    """Return a type as shown to people.

    >>> dtype_label(1), dtype_label(101), dtype_label(77)
    ('float32', 'float32_ref', 'type 77')
    """
    name = dtype_name(number)
    if not name:
        return f"type {number}"
    return f"{name}_ref" if number > REFERENCE_DTYPE_OFFSET else name


def element_size(name: str) -> int:
    """Return the bytes of an element; 4 for an unknown type, the most common size.

    >>> element_size("bfloat16"), element_size("string"), element_size("float8_e4m3fnuz"), element_size("")
    (2, 0, 1, 4)
    """
    if (size := ELEMENT_SIZES.get(name)) is not None:
        return size
    bits = BITS_IN_NAME.match(name)
    return max(1, int(bits[1]) // 8) if bits else 4


# Tensors, and the tensors of a line; decoded on request, since a closed picture of a million nodes needs few.

Shape = tuple[int | None, ...] | None
ShapeOrigin = Literal["declared", "stated", "signature", "inferred", ""]
TakenBranch = Literal["true", "false", ""]
MAX_COUNTED_ELEMENTS = 2**63 - 1  # the largest element count
MAX_OUTPUTS = 4096  # a file may claim no more, since lists per output would fill memory
MAX_DIMENSIONS = 254  # of a tensor, as TensorFlow has it


@dataclass(frozen=True, slots=True)
class Tensor:
    """One output of a node: its shape (None: unknown), its dtype ("" if unknown) and the origin of the shape.

    `origin` is "declared" (`_output_shapes`), "stated" (the op's own attributes), "signature" (a function's),
    "inferred" (at least partly, from the ops before it) or "". `branch`, for an op that passes a tensor to one of two
    branches, is the condition for which this output is used. `names` are the names of unknown sizes by axis ("": no
    name; (): no names at all).
    """

    shape: Shape = None
    dtype: str = ""
    origin: ShapeOrigin = ""
    branch: TakenBranch = ""
    names: tuple[str, ...] = ()

    @property
    def sizes(self) -> Sequence[int | str | None] | None:
        """The shape with the names of unknown sizes in their places.

        >>> Tensor((None, 8), names=("batch", "")).sizes, Tensor((None, 8)).sizes
        (('batch', 8), (None, 8))
        """
        if self.shape is None or len(self.names) != len(self.shape):
            return self.shape
        return tuple(name or size for name, size in zip(self.names, self.shape, strict=True))


class TensorSource(Protocol):
    """A lookup of the tensors of outputs, on demand; `key` is an id into `Graph.keys`."""

    def tensor(self, node: int, key: int) -> Tensor:
        """Return the tensor of an output."""

    def is_index(self, node: int, key: int) -> bool:
        """Return whether an output has indices, sizes or masks, or is computed from nothing else."""


class CarriedTensors:
    """Distinct tensors carried by a set of edges, in file order.

    `outputs` are pairs `(node, key)`, looked up in `tensors`.

    >>> two = carry_tensors(Tensor((2, None)), Tensor((3,)))
    >>> len(two), two.element_count(), two.known_size(enough=2), carry_tensors(Tensor()).known_size(enough=2)
    (2, 5, 2, None)
    """

    __slots__ = ("_indexing", "_outputs", "_size", "_tensors")

    def __init__(self, outputs: Sequence[tuple[int, int]], tensors: TensorSource) -> None:
        self._outputs = outputs
        self._tensors = tensors
        self._indexing: bool | None = None  # cached: each stage that draws a line needs them
        self._size: tuple[int, int | None] | None = None

    def __len__(self) -> int:
        return len(self._outputs)

    @property
    def outputs(self) -> tuple[tuple[int, int], ...]:
        """The pairs `(node, key)`."""
        return self._outputs if isinstance(self._outputs, tuple) else tuple(self._outputs)

    def __iter__(self) -> Iterator[Tensor]:
        return (self._tensors.tensor(node, key) for node, key in self._outputs)

    def __getitem__(self, index: int) -> Tensor:
        return self._tensors.tensor(*self._outputs[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CarriedTensors) and len(self) == len(other) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(len(self))  # decodes nothing

    def __repr__(self) -> str:
        return f"Carried({len(self)} tensors)"

    @property
    def is_indexing(self) -> bool:
        """Return whether all are indices, sizes and masks, or computed from nothing else."""
        if self._indexing is None:
            self._indexing = len(self) > 0 and all(self._tensors.is_index(*output) for output in self._outputs)
        return self._indexing

    def element_count(self) -> int:
        """Return the elements of all tensors (unknown dimension = 1)."""
        return sum(_count_elements(tensor.shape) for tensor in self)

    def known_size(self, enough: int) -> int | None:
        """Return the elements of all tensors, `enough` if there are more; None if no size of a tensor is known."""
        if self._size is None or self._size[0] != enough:
            total, known = 0, any(has_known_size(tensor.shape) for tensor in self)
            for tensor in self if known else ():
                total += _count_elements(tensor.shape)
                if total >= enough:
                    break
            self._size = enough, min(total, enough) if known else None
        return self._size[1]


def carry_tensors(*tensors: Tensor) -> CarriedTensors:
    """Bundle tensors that are already decoded."""
    return CarriedTensors([(index, 0) for index in range(len(tensors))], _DecodedTensors(tensors))


class _DecodedTensors(tuple[Tensor, ...]):
    __slots__ = ()

    def tensor(self, node: int, key: int) -> Tensor:
        return self[node]

    def is_index(self, node: int, key: int) -> bool:
        return self[node].dtype in INDEX_DTYPES


def shape_from_proto(message: Any) -> Shape:
    """Convert a shape message to a tuple; a dimension of -1 becomes None. None for an unknown rank, and for more
    dimensions than a tensor can have.

    >>> from graphviz_tb.proto import TensorShapeProto
    >>> (
    ...     shape_from_proto(TensorShapeProto(dim=[{"size": -1}, {"size": 28}])),
    ...     shape_from_proto(TensorShapeProto(unknown_rank=True)),
    ... )
    ((None, 28), None)
    """
    if message.unknown_rank or len(message.dim) > MAX_DIMENSIONS:
        return None
    sizes = [dim.size for dim in message.dim]
    return tuple([None if size < 0 else size for size in sizes])


def size_names(message: Any) -> tuple[str, ...]:
    """Return the names of the unknown sizes of a shape message, by axis; () if none has a name."""
    names = tuple(str(dim.name) if dim.size < 0 else "" for dim in message.dim[: MAX_DIMENSIONS + 1])
    return names if any(names) else ()


def has_known_size(shape: Sequence[int | str | None] | None) -> bool:
    """Return whether any size of a shape is known; a scalar's is.

    >>> has_known_size((None, 28)), has_known_size(()), has_known_size((None, None)), has_known_size(None)
    (True, True, False, False)
    """
    return shape is not None and (not shape or any(size is not None for size in shape))


def shape_text(shape: Iterable[int | str | None] | None) -> str:
    """Format a shape for people; an unknown dimension is its name, None or negative.

    >>> shape_text((None, 28, -1)), shape_text(("batch", 3)), shape_text(()), shape_text(None)
    ('?×28×?', 'batch×3', 'scalar', 'unknown rank')
    """
    if shape is None:
        return "unknown rank"
    return "×".join("?" if size is None or (isinstance(size, int) and size < 0) else str(size) for size in shape) or (
        "scalar"
    )


def shape_proto_text(message: Any, most: int | None = None) -> str:
    """Format a shape message for people, at most its first `most` dimensions."""
    if message.unknown_rank:
        return "unknown rank"
    return shape_text([dim.name if dim.size < 0 and dim.name else dim.size for dim in message.dim[:most]])


def _count_elements(shape: Shape) -> int:
    """Count elements; an unknown dimension or rank counts as 1; at most `MAX_COUNTED_ELEMENTS`.

    >>> _count_elements((4, None, 2)), _count_elements(()), _count_elements(None), _count_elements((0, 3))
    (8, 1, 1, 0)
    """
    count = 1
    for size in shape or ():
        count = min(count * (1 if size is None else size), MAX_COUNTED_ELEMENTS)
    return count
