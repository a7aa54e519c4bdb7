"""The table of Keras layer classes, `layers.tsv`: one line a class, columns separated by tabs.

class       the class of a layer
roles       its roles, in words of `LayerRole`
shape       the rule of its output shapes (keras/output_shapes.py); empty if unknown
parameters  the rule that counts its parameters (keras/parameters.py); 0 if it has none, empty if unknown
flops       the rule of its FLOPs (annotate/costs/layers.py); 0 if it only moves elements, empty if unknown
defaults    defaults of its configuration that are special to the class, as JSON
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Any, NamedTuple

from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, OP_LINES, read_table


class LayerRow(NamedTuple):
    """One line of the table, every column as text."""

    roles: str = ""
    shape: str = ""
    parameters: str = ""
    flops: str = ""
    defaults: str = ""


class LayerRole(StrEnum):
    """The role of a class."""

    INPUT = "input"
    CONVOLUTION = "convolution"
    ATTENTION = "attention"
    DENSE = "dense"
    EMBEDDING = "embedding"
    NORMALIZATION = "normalization"
    ACTIVATION = "activation"
    RECURRENT = "recurrent"
    WRAPPER = "wrapper"
    COMMON = "common"


LAYER_CLASSES = read_table((get_data(__name__, "layers.tsv") or b"").decode())
UNKNOWN_LAYER_ROW = LayerRow()


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def layer_row(kind: str) -> LayerRow:
    """Return the row of a class; an empty one if the table does not list it.

    >>> layer_row("Dense").shape, layer_row("Mine").shape
    ('dense', '')
    """
    line = LAYER_CLASSES.get(kind)
    return UNKNOWN_LAYER_ROW if line is None else LayerRow(*line.split("\t"))


def has_layer_role(kind: str, role: LayerRole) -> bool:
    """Return whether a class has a role.

    >>> has_layer_role("InputLayer", LayerRole.INPUT), has_layer_role("Dense", LayerRole.INPUT)
    (True, False)
    """
    return role in layer_row(kind).roles.split()


def classes_with_role(role: LayerRole) -> frozenset[str]:
    return frozenset(kind for kind in LAYER_CLASSES if has_layer_role(kind, role))


# Layers that map channels to others with weights of their own; norms and activations only scale.
WEIGHTED_LAYERS = frozenset(
    kind for kind in LAYER_CLASSES if layer_row(kind).parameters not in ("", "0") and layer_row(kind).shape != "same"
)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def class_defaults(kind: str) -> Mapping[str, Any]:
    """Return the defaults that are special to a class.

    >>> class_defaults("UpSampling2D"), class_defaults("Dense")
    ({'size': 2}, {})
    """
    text = layer_row(kind).defaults
    return json.loads(text) if text else {}


# Names that a framework counted, as `conv2d_30` or `MatMul_2`, and labels made of these: words say more.

LABEL_PARTS = re.compile(r" · | → | … ")
NUMBERS = re.compile(r"^(?:\d+|\[[\d,-]+\]) | ?#\d{1,9}$|(?:_\d{1,9}){1,4}$", re.ASCII)
SUFFIX = re.compile(r" ?\([^()]*\)$")  # the first or the last part of a fold, which makes its name unique
WORD_BORDERS = re.compile(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")  # as Keras makes names of classes

# Words for kinds of layers in names that programs number: `conv1`, `2_conv`, `fc_6`, `avg_pool`.
KIND_WORDS = frozenset(
    ("avg", "conv", "convolution", "deconv", "dense", "depthwise", "dw", "fc", "global", "linear", "max", "pointwise")
) | {"pool", "pw"}
OWN_WORDS = ("norm", "ReLU", "GELU", "SiLU", "gate", "…")  # in labels of folds


@cache
def _layer_names() -> frozenset[str]:
    return frozenset(WORD_BORDERS.sub("_", kind).lower() for kind in LAYER_CLASSES)


@cache
def bare_op_types() -> frozenset[str]:
    """Return the op types without the framework before them: `Gemm`, `upsample_nearest2d`."""
    return frozenset(op.rpartition("::")[2] for op in OP_LINES)


def _is_kind(name: str) -> bool:
    return name in OP_LINES or name in LAYER_CLASSES or name in OWN_WORDS or name in _layer_names()


def is_counted_name(label: str, kinds: Collection[str] = ()) -> bool:
    """Return whether a framework made a label: all its parts are `kinds` or known ones, with or without a number.

    >>> is_counted_name("conv2d_30"), is_counted_name("MatMul · 3 Sigmoid (concat)"), is_counted_name("conv4_block1")
    (True, True, False)
    >>> is_counted_name("batch_normalization #2"), is_counted_name("classes"), is_counted_name("dense → softmax_1")
    (True, False, True)
    >>> is_counted_name("outer"), is_counted_name("upsample_nearest2d_2", bare_op_types())
    (False, True)
    """
    parts = LABEL_PARTS.split(SUFFIX.sub("", NUMBERS.sub("", label)))
    bare = [NUMBERS.sub("", NUMBERS.sub("", part)) for part in parts]
    return all(part in kinds or _is_kind(part) for part in bare)


def is_numbered_kind(label: str) -> bool:
    """Return whether a label only names a kind of layer, with or without a number.

    >>> [is_numbered_kind(label) for label in ("conv1", "2_conv", "avg_pool", "conv4_block1", "predictions", "1")]
    [True, True, True, False, False, False]
    """
    words = [word.rstrip("0123456789") for word in label.casefold().split("_")]
    return any(words) and all(not word or word in KIND_WORDS for word in words)
