"""Keras layers: what a node or a scope of the main graph is in the program that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from graphviz_tb.model.tensors import Shape


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a Keras model.

    `class_name` is the class ("Conv2D"; of a custom class its registered name), `config` its whole `get_config()`,
    `telling` the part of it that differs from the class's defaults, in a few words ("32 · 3×3 · relu"); `outputs` are
    the shapes of its outputs (None: unknown), `parameters` how many numbers it trains or keeps, None where unknown.
    """

    class_name: str
    config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    telling: str = ""
    outputs: tuple[Shape, ...] = ()
    parameters: int | None = None
