"""The table of Keras's classes of layers, `layers.tsv`: one line a class, its columns apart by tabs.

class       the class of a layer
roles       what it is for, in words of `LayerRole`
shape       the rule of its output shapes (read/keras/shapes.py); empty where they are not known
parameters  the rule that counts what it keeps (read/keras/parameters.py); 0 where it keeps nothing, empty where unknown
flops       the ops that it runs (annotate/costs/layers.py); 0 where it only moves elements, empty where unknown
defaults    defaults of its configuration that other classes do not have, as JSON
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pkgutil import get_data
from typing import Any, NamedTuple

from graphviz_tb.ops.table import read


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
    WRAPPER = "wrapper"
    COMMON = "common"


LAYER_CLASSES = read((get_data(__name__, "layers.tsv") or b"").decode())
UNKNOWN = LayerRow()


def layer_row(kind: str) -> LayerRow:
    """Return the row of a class; an empty one for a class that the table does not list.

    >>> layer_row("Dense").shape, layer_row("Mine").shape
    ('dense', '')
    """
    line = LAYER_CLASSES.get(kind)
    return UNKNOWN if line is None else LayerRow(*line.split("\t"))


def is_layer(kind: str, role: LayerRole) -> bool:
    """Whether a class has a role.

    >>> is_layer("InputLayer", LayerRole.INPUT), is_layer("Dense", LayerRole.INPUT)
    (True, False)
    """
    return role in layer_row(kind).roles.split()


def classes_of(role: LayerRole) -> frozenset[str]:
    """The classes that have a role."""
    return frozenset(kind for kind in LAYER_CLASSES if is_layer(kind, role))


@cache
def usual_config(kind: str) -> Mapping[str, Any]:
    """The defaults of a class that other classes do not have.

    >>> usual_config("UpSampling2D"), usual_config("Dense")
    ({'size': 2}, {})
    """
    text = layer_row(kind).defaults
    return json.loads(text) if text else {}
