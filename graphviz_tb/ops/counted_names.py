"""Names that a framework counted, as `conv2d_30` or `MatMul_2`, and labels made of these: words say more."""

from __future__ import annotations

import re
from functools import cache

from graphviz_tb.ops.layers import LAYER_CLASSES
from graphviz_tb.ops.table import OP_LINES

LABEL_PARTS = re.compile(r" · | → | … ")
NUMBERS = re.compile(r"^(?:\d+|\[[\d,-]+\]) | ?#\d{1,9}$|(?:_\d{1,9}){1,4}$", re.ASCII)
SUFFIX = re.compile(r" ?\([^()]*\)$")  # the first or the last part of a fold, which makes its name unique
WORD_BORDERS = re.compile(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")  # as Keras makes names of classes

OWN_WORDS = ("norm", "ReLU", "GELU", "SiLU", "gate", "…")  # in labels of folds


@cache
def _layer_names() -> frozenset[str]:
    return frozenset(WORD_BORDERS.sub("_", kind).lower() for kind in LAYER_CLASSES)


def _is_kind(name: str) -> bool:
    return name in OP_LINES or name in LAYER_CLASSES or name in OWN_WORDS or name in _layer_names()


def is_counted_name(label: str) -> bool:
    """Return whether a framework made a label: all its parts are kinds, with or without a number.

    >>> is_counted_name("conv2d_30"), is_counted_name("MatMul · 3 Sigmoid (concat)"), is_counted_name("conv4_block1")
    (True, True, False)
    >>> is_counted_name("batch_normalization #2"), is_counted_name("classes"), is_counted_name("dense → softmax_1")
    (True, False, True)
    """
    parts = LABEL_PARTS.split(SUFFIX.sub("", NUMBERS.sub("", label)))
    return all(_is_kind(NUMBERS.sub("", NUMBERS.sub("", part))) for part in parts)


def is_counted_ending(name: str) -> bool:
    """Return whether a name ends as one that a framework counted, whatever is before it.

    >>> is_counted_ending("functional_1_conv2d_20_1"), is_counted_ending("conv2d_3"), is_counted_ending("layer_3")
    (True, True, False)
    """
    words = re.split(r"[_/]", NUMBERS.sub("", name))
    return any(is_counted_name("_".join(words[first:])) for first in range(len(words)))
