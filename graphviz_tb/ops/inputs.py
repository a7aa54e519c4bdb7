"""Named inputs of ops: weights, sizes, seeds, settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from graphviz_tb.ops.table import op_row

SIZE_INPUT = "size"
CAPTURED_INPUT = "captured"
SEED_INPUT = "seed"
SETTING_PREFIX = "="  # prefix of the name of an input that is a setting of the op
TAG_INPUT, MEASURED_INPUT = "tag", "measured"  # of summaries


@cache
def input_names(op: str) -> Mapping[int, str]:
    """Return the names of an op's inputs, by position.

    >>> dict(input_names("Conv2DBackpropInput")), dict(input_names("Relu"))
    ({1: 'kernel'}, {})
    """
    line = op_row(op)
    pairs = (text.partition(":") for text in line.inputs.split(",")) if line is not None and line.inputs else ()
    return MappingProxyType({int(slot): name for slot, _, name in pairs})


@cache
def weight_input_names(op: str) -> Mapping[int, str]:
    """Return the names of an op's weights, by position of the input. A constant that arrives at such an input is a
    weight, through any number of identities, casts and dequantizations; a variable is one at any input.

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
