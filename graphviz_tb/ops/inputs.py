"""Named inputs of ops: weights, sizes, seeds, settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from graphviz_tb.ops.table import row

SIZE = "size"
CAPTURED = "captured"
SEED = "seed"
SETTING = "="  # prefix of the name of an input that is a setting of the op
TAG, MEASURED = "tag", "measured"  # of summaries


@cache
def input_names(op: str) -> Mapping[int, str]:
    """Return the names of an op's inputs, by position.

    >>> dict(input_names("Conv2DBackpropInput")), dict(input_names("Relu"))
    ({1: 'kernel'}, {})
    """
    line = row(op)
    pairs = (text.partition(":") for text in line.inputs.split(",")) if line is not None and line.inputs else ()
    return MappingProxyType({int(slot): name for slot, _, name in pairs})


@cache
def weight_names(op: str) -> Mapping[int, str]:
    """Return the names of an op's weights, by position of the input. A constant that arrives at such an input is a
    weight, through any number of identities, casts and dequantizations; a variable is one at any input.

    >>> dict(weight_names("BiasAdd")), dict(weight_names("Reshape"))
    ({1: 'bias'}, {})
    """
    return MappingProxyType(
        {
            slot: name
            for slot, name in input_names(op).items()
            if name not in (SIZE, CAPTURED, SEED, TAG, MEASURED) and not name.startswith(SETTING)
        }
    )


def setting_name(op: str, slot: int) -> str:
    """Return the name of an input that is a setting of the op; "" for any other input.

    >>> setting_name("aten::softmax", 1), setting_name("aten::softmax", 0)
    ('dim', '')
    """
    name = input_names(op).get(slot, "")
    return name.removeprefix(SETTING) if name.startswith(SETTING) else ""


def summary_inputs(op: str) -> tuple[int, int] | None:
    """Return the inputs of a summary that are its tag and its value; None for an op without these.

    >>> summary_inputs("HistogramSummary"), summary_inputs("WriteSummary"), summary_inputs("MergeSummary")
    ((0, 1), (3, 2), None)
    """
    slots = {name: slot for slot, name in input_names(op).items()}
    return (slots[TAG], slots[MEASURED]) if TAG in slots else None


def is_size(op: str, slot: int) -> bool:
    """Return whether an input is a size, which changes with the sizes of earlier layers.

    >>> is_size("Reshape", 1), is_size("Reshape", 0)
    (True, False)
    """
    return input_names(op).get(slot) == SIZE


def is_seed(op: str, slot: int) -> bool:
    """Return whether an input is a random seed, or a key made of one.

    >>> is_seed("StatelessRandomUniform", 1), is_seed("StatelessIf", 1)
    (True, False)
    """
    return input_names(op).get(slot) == SEED


def captured_from(op: str) -> int:
    """Return the first input of a dataset op that its functions capture; by default the one after the input dataset.

    >>> captured_from("GeneratorDataset"), captured_from("MapDataset")
    (0, 1)
    """
    return next((slot for slot, name in input_names(op).items() if name == CAPTURED), 1)
