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
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pkgutil import get_data
from typing import Any, NamedTuple

from graphviz_tb.ops.table import read_table


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
    RECURRENT = "recurrent"
    WRAPPER = "wrapper"
    COMMON = "common"


LAYER_CLASSES = read_table((get_data(__name__, "layers.tsv") or b"").decode())
UNKNOWN_LAYER_ROW = LayerRow()


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
    """Return the classes that have a role."""
    return frozenset(kind for kind in LAYER_CLASSES if has_layer_role(kind, role))


@cache
def class_defaults(kind: str) -> Mapping[str, Any]:
    """Return the defaults that are special to a class.

    >>> class_defaults("UpSampling2D"), class_defaults("Dense")
    ({'size': 2}, {})
    """
    text = layer_row(kind).defaults
    return json.loads(text) if text else {}
