"""Named inputs and outputs of ops, and defaults of their attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pkgutil import get_data
from types import MappingProxyType
from typing import Any, NamedTuple

from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, op_row

MAX_KERNEL_SIZE = 64  # largest size of a kernel that is tried

SIZE_INPUT = "size"
CAPTURED_INPUT = "captured"
SEED_INPUT = "seed"
LAST_SLOT = -1  # of the last input of an op with any number of them
SETTING_PREFIX = "="  # prefix of the name of an input that is a setting of the op
TAG_INPUT, MEASURED_INPUT = "tag", "measured"  # of summaries


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def input_names(op: str) -> Mapping[int, str]:
    """Return the names of an op's inputs, by position.

    >>> dict(input_names("Conv2DBackpropInput")), dict(input_names("Relu"))
    ({1: 'kernel'}, {})
    """
    line = op_row(op)
    pairs = (text.partition(":") for text in line.inputs.split(",")) if line is not None and line.inputs else ()
    return MappingProxyType({int(slot): name.partition("[")[0] for slot, _, name in pairs})


TENSORFLOW_LAYOUT = "*io"  # default order of the axes of a kernel


class KernelSizes(NamedTuple):
    """The sizes of a kernel: output and input channels, and its window, () for a product."""

    outputs: int | None
    inputs: int | None
    window: tuple[int | None, ...]


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def kernel_layout(op: str) -> str:
    """Return the order of the axes of an op's kernel: `o` outputs, `i` inputs, `*` the window.

    >>> kernel_layout("aten::conv2d"), kernel_layout("Conv2D"), kernel_layout("aten::linear")
    ('oi*', '*io', 'oi')
    """
    line = op_row(op)
    _, found, layout = line.inputs.partition("[") if line is not None else ("", "", "")
    return layout.partition("]")[0].partition("^")[0] if found else TENSORFLOW_LAYOUT


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def kernel_transpose_attribute(op: str) -> str:
    """Return the attribute that, if set, transposes the kernel of an op; "" for none.

    >>> kernel_transpose_attribute("onnx::Gemm"), kernel_transpose_attribute("onnx::Conv")
    ('transB', '')
    """
    line = op_row(op)
    return line.inputs.partition("^")[2].partition("]")[0] if line is not None else ""


def kernel_sizes(op: str, shape: Sequence[int | None], transposed: bool = False) -> KernelSizes:
    """Return the sizes of a kernel of at least two axes by their meaning; `transposed` exchanges outputs and inputs.

    >>> kernel_sizes("aten::conv2d", (64, 3, 7, 7)), kernel_sizes("Conv2D", (7, 7, 3, 64))[:2]
    (KernelSizes(outputs=64, inputs=3, window=(7, 7)), (64, 3))
    """
    layout = kernel_layout(op)
    before, _, after = layout.partition("*") if "*" in layout else ("", "", layout)
    ends = dict(zip(before, shape, strict=False)) | dict(
        zip(reversed(after), reversed(shape[len(before) :]), strict=False)
    )
    outputs, inputs = ("i", "o") if transposed else ("o", "i")
    return KernelSizes(ends.get(outputs), ends.get(inputs), tuple(shape[len(before) : len(shape) - len(after)]))


def kernel_size_between(before: int, after: int, stride: int, pad: int, dilation: int) -> int:
    """Return the size of a kernel along one axis of a convolution, from the sizes of input and output; 0 if several
    fit.

    >>> sizes = (32, 32, 1, 1, 1), (32, 16, 2, 1, 1), (224, 14, 16, 0, 1)
    >>> [kernel_size_between(*each) for each in sizes]
    [3, 0, 0]
    """
    sizes = range(1, min(MAX_KERNEL_SIZE, before + 2 * pad) + 1)
    fits = [size for size in sizes if (before + 2 * pad - dilation * (size - 1) - 1) // stride + 1 == after]
    return fits[0] if len(fits) == 1 else 0


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def weight_input_names(op: str) -> Mapping[int, str]:
    """Return the names of an op's weights, by position of the input.

    A constant at such an input is a weight, also through identities, casts and dequantizations.

    >>> dict(weight_input_names("BiasAdd")), dict(weight_input_names("Reshape"))
    ({1: 'bias'}, {})
    """
    return MappingProxyType(
        {
            slot: name
            for slot, name in input_names(op).items()
            if name not in (SIZE_INPUT, CAPTURED_INPUT, SEED_INPUT, TAG_INPUT, MEASURED_INPUT)
            and not name.startswith(SETTING_PREFIX)
        }
    )


def setting_input_name(op: str, slot: int) -> str:
    """Return the name of an input that is a setting of the op; "" for any other input.

    >>> setting_input_name("aten::softmax", 1), setting_input_name("aten::softmax", 0)
    ('dim', '')
    """
    name = input_names(op).get(slot, "")
    return name.removeprefix(SETTING_PREFIX) if name.startswith(SETTING_PREFIX) else ""


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def setting_slots(op: str) -> frozenset[int]:
    """Return the inputs of an op that are settings if they are constants; -1 is the last.

    >>> [sorted(setting_slots(op)) for op in ("onnx::Clip", "onnx::Relu", "ConcatV2")]
    [[1, 2], [], [-1]]
    """
    return frozenset(slot for slot in input_names(op) if setting_input_name(op, slot) or is_size_input(op, slot))


def summary_input_slots(op: str) -> tuple[int, int] | None:
    """Return the inputs of a summary that are its tag and its value; None for an op without these.

    >>> (
    ...     summary_input_slots("HistogramSummary"),
    ...     summary_input_slots("WriteSummary"),
    ...     summary_input_slots("MergeSummary"),
    ... )
    ((0, 1), (3, 2), None)
    """
    slots = {name: slot for slot, name in input_names(op).items()}
    return (slots[TAG_INPUT], slots[MEASURED_INPUT]) if TAG_INPUT in slots else None


def is_size_input(op: str, slot: int) -> bool:
    """Return whether an input is a size, which changes with the sizes of earlier layers.

    >>> is_size_input("Reshape", 1), is_size_input("Reshape", 0)
    (True, False)
    """
    return input_names(op).get(slot) == SIZE_INPUT


def is_seed_input(op: str, slot: int) -> bool:
    """Return whether an input is a random seed, or a key made of one.

    >>> is_seed_input("StatelessRandomUniform", 1), is_seed_input("StatelessIf", 1)
    (True, False)
    """
    return input_names(op).get(slot) == SEED_INPUT


def first_captured_input(op: str) -> int:
    """Return the first input of a dataset op that its functions capture; by default the one after the input dataset.

    >>> first_captured_input("GeneratorDataset"), first_captured_input("MapDataset")
    (0, 1)
    """
    return next((slot for slot, name in input_names(op).items() if name == CAPTURED_INPUT), 1)


# Outputs of ops: names, dtypes and counts; and defaults of attributes.

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


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def attribute_defaults(op: str) -> Mapping[str, Any]:
    """Return the defaults of an op's attributes; of an op of another framework, those of its settings.

    >>> dict(attribute_defaults("aten::add")), dict(attribute_defaults("aten::relu"))
    ({'alpha': 1}, {})
    """
    line = op_row(op)
    return MappingProxyType(json.loads(line.defaults) if line is not None and line.defaults else {})


# Settings of ONNX that change nothing if all their numbers are these.
NEUTRAL_SETTINGS = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}


def default_setting(op: str, name: str, other: Any) -> Any:
    """Return the default of an op's attribute; a list of neutral settings has the length of the list `other`.

    >>> default_setting("onnx::Conv", "strides", [2, 2]), default_setting("onnx::Conv", "group", 2)
    ([1, 1], 1)
    """
    known = attribute_defaults(op).get(name)
    if known is None and name in NEUTRAL_SETTINGS and isinstance(other, list):
        return [NEUTRAL_SETTINGS[name]] * len(other)
    return known


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
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
        tuple(_parse_output(text) for text in line.outputs.split()),
        attribute_defaults(op),
    )


def gives_bool(op: str) -> bool:
    """Return whether an op has a boolean output for any inputs."""
    known = op_def(op)
    return known is not None and any(output.dtype == "bool" for output in known.outputs)


def shape_attribute(op: str) -> str:
    """Return the attribute that is, or has, the shape of an op's only output; "" for none.

    >>> shape_attribute("Placeholder"), shape_attribute("Const"), shape_attribute("Relu")
    ('shape', 'value', '')
    """
    line = op_row(op)
    match = SHAPE_ATTRIBUTE_PATTERN.fullmatch(line.shape) if line is not None else None
    return match[1] if match is not None else ""


def lists_shapes(op: str) -> bool:
    """Return whether the attribute `output_shapes` lists the shapes of an op's outputs (of a dataset: of its elements).

    >>> lists_shapes("IteratorGetNext"), lists_shapes("While"), lists_shapes("MapDataset")
    (True, True, False)
    """
    line = op_row(op)
    return has_role(op, Role.LOOP, Role.BRANCH) or (line is not None and line.shape == OUTPUT_SHAPES_SIGNATURE)


def _parse_output(text: str) -> OutputDef:
    """Parse one output of the table.

    >>> (
    ...     _parse_output("output:$T*num_split").counted_by,
    ...     _parse_output("idx:int32").dtype,
    ...     _parse_output("y:*Tout").several,
    ... )
    ('num_split', 'int32', True)
    """
    name, _, dtype = text.partition(":")
    if dtype.startswith("*"):
        return OutputDef(name, attr=dtype[1:], several=True)
    dtype, _, count = dtype.partition("*")
    if dtype.startswith("$"):
        return OutputDef(name, attr=dtype[1:], counted_by=count)
    return OutputDef(name, dtype, counted_by=count)


@cache
def arities() -> Mapping[str, int]:
    """Return the number of data inputs by op type, as TensorFlow registers them, without types that take lists.

    >>> arities()["BiasAdd"], "ConcatV2" in arities()
    (2, False)
    """
    lines = (get_data(__name__, "arity.tsv") or b"").decode().split("\n")
    rows = (line.split("\t") for line in lines if line[:1].isdecimal())
    return MappingProxyType({op: int(count) for count, ops in rows for op in ops.split(" ")})
