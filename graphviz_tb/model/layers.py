"""Keras layers: the layer of the program that a node or a scope of the main graph represents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import truncate_text
from graphviz_tb.model.tensors import Shape, shape_text

TENSOR_ARGUMENTS = "tensors"  # key in `Layer.arguments`: the arguments that are tensors
MAX_LAYER_TOOLTIP_CHARS = 800  # characters of a tooltip about a layer
LayerConfig = Mapping[str, Any]  # a layer's `get_config()`
KERAS_MODULES = frozenset({"keras", "tf_keras", "tensorflow"})  # the modules of Keras's classes: Keras 3, Keras 2


@dataclass(frozen=True, slots=True)
class LayerCall:
    """The shapes of the inputs and outputs of one call of a layer (None: unknown)."""

    takes: tuple[Shape, ...] = ()
    gives: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a Keras model.

    `class_name` is the class ("Conv2D"; of a custom class its registered name), `config` its whole `get_config()`,
    `telling` the part of it that differs from the class's defaults, in a few words ("32 · 3×3 · relu"); `outputs` are
    the shapes of its outputs (None: unknown), those of each call after those of the call before, `parameters` how many
    numbers it trains or keeps, None where unknown, `non_trainable` how many of these it only keeps; `parts` how many
    layers a model holds, 0 for a layer that is none, `results` the layers that make its outputs, by path; `calls` are
    those that its own model makes, each run `times` times for the runs of the models and steps around it (None:
    unknown). `arguments` has for each of these calls the values that it is given beside tensors, by name or position,
    and under `TENSOR_ARGUMENTS` as which arguments it takes those. `custom` is a layer of a class that is none of
    Keras's own:
    what it computes is in its code alone. `weight_bytes` is what its parameters take, None where unknown.
    """

    class_name: str
    config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    telling: str = ""
    outputs: tuple[Shape, ...] = ()
    parameters: int | None = None
    non_trainable: int | None = 0
    parts: int = 0
    results: tuple[str, ...] = ()
    calls: tuple[LayerCall, ...] = ()
    times: int | None = 1
    arguments: tuple[Mapping[str, Any], ...] = ()
    custom: bool = False
    weight_bytes: int | None = None

    @property
    def one_line(self) -> str:
        """Class and configuration on one line.

        >>> Layer("Conv2D", telling="32 · 3×3").one_line, Layer("Flatten").one_line
        ('Conv2D · 32 · 3×3', 'Flatten')
        """
        return " · ".join(part for part in (self.class_name, self.telling) if part)

    @property
    def tooltip_text(self) -> str:
        """Further facts for a tooltip: parameters, shapes of the outputs, the whole configuration."""
        # Scalars and unknown shapes are left out.
        shapes = [shape_text(shape) for shape in self.outputs if shape]
        only_kept = f", {self.non_trainable:,} of them not trainable" if self.non_trainable else ""
        parts = [f"{self.parameters:,} parameters{only_kept}"] if self.parameters is not None else []
        parts += [f"gives {', '.join(shapes)}"] if shapes else []
        parts += [
            f"{key}: {json.dumps(value, sort_keys=True)}"
            for key, value in self.config.items()
            if _is_shown_option(value)
        ]
        return truncate_text(" · ".join(parts), MAX_LAYER_TOOLTIP_CHARS)


def _is_shown_option(value: Any) -> bool:
    """Return whether an option is shown: it is set, and has no nested configuration."""
    return value is not None and not isinstance(value, dict)


def is_custom_class(json: Mapping[str, Any]) -> bool:
    """Return whether a class is registered by a package, or comes from a module, outside of Keras.

    >>> is_custom_class({"class_name": "Dense", "module": "keras.layers"}), is_custom_class({"class_name": "lm>Block"})
    (False, True)
    >>> is_custom_class({"class_name": "Block", "module": None}), is_custom_class({"class_name": "Block"})
    (True, False)
    """
    names = (json.get("registered_name"), json.get("class_name"))
    if any(isinstance(name, str) and ">" in name for name in names):
        return True
    module = json.get("module", "keras")
    return not isinstance(module, str) or KERAS_MODULES.isdisjoint(module.split(".", 2)[:2])


def recurrent_cells(config: LayerConfig) -> list[tuple[str, LayerConfig]]:
    """Return the cells that a recurrent layer runs in sequence: for each the class of the corresponding layer ("" for a
    custom cell) and the configuration.

    >>> recurrent_cells({"cell": {"class_name": "GRUCell", "config": {"units": 3}}})
    [('GRU', {'units': 3})]
    """
    cell = config["cell"]
    cells = cell["config"]["cells"] if cell["class_name"] == "StackedRNNCells" and not is_custom_class(cell) else [cell]
    return [
        ("" if is_custom_class(each) else each["class_name"].removesuffix("Cell"), each["config"]) for each in cells
    ]
