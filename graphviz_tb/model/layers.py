"""Layers: those of a Keras file, for a node or scope of the main graph; modules in names (`Linear[fc1]`)."""

from __future__ import annotations

import json
import re
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

    input_shapes: tuple[Shape, ...] = ()
    output_shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a Keras model.

    `class_name` is the class ("Conv2D"; for a custom class its registered name), `config` the whole `get_config()`,
    `telling` the settings that differ from the class's defaults, in a few words ("32 · 3×3 · relu"). `outputs` are the
    shapes of its outputs, call after call (None: unknown). `parameters` is the number of its weights, `non_trainable`
    the number of those that are not trained, `weight_bytes` their size (None: unknown). `parts` is the number of layers
    in a model (0 for a plain layer), `results` the layers that compute its outputs, by path. `calls` are its calls in
    its model, each executed `times` times because of the models and steps around it (None: unknown). `arguments` has
    for each call its arguments that are not tensors, by name or position, and under `TENSOR_ARGUMENTS` the names of
    those that are. A `custom` class is not one of Keras: only its code says what it computes.
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
            if value is not None and not isinstance(value, dict)
        ]
        return truncate_text(" · ".join(parts), MAX_LAYER_TOOLTIP_CHARS)


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
        ("" if is_custom_class(cell) else cell["class_name"].removesuffix("Cell"), cell["config"]) for cell in cells
    ]


def wrapped_layers(config: LayerConfig) -> list[tuple[str, LayerConfig]]:
    """Return the layers of a wrapper: for each the class ("" for a custom one) and the configuration. A wrapper that
    runs in both directions may have another layer for the second one.

    >>> wrapped_layers({"layer": {"class_name": "GRU", "config": {"units": 3}}, "backward_layer": None})
    [('GRU', {'units': 3})]
    """
    layers = [config["layer"], *filter(None, [config.get("backward_layer")])]
    return [("" if is_custom_class(layer) else layer["class_name"], layer["config"]) for layer in layers]


# A module in a name: its class, and the attribute that holds it.

MODULE_SEGMENT = re.compile(r"([^\[\]/]+)\[([^/]*)\]")


def is_module(segment: str) -> bool:
    """Return whether a segment of a name is a module.

    >>> is_module("Linear[fc1]"), is_module("input.3")
    (True, False)
    """
    return segment.endswith("]") and MODULE_SEGMENT.fullmatch(segment) is not None


def enclosing_module_class(name: str) -> str:
    """Return the class of the module that an op is, or is directly in; "" for none.

    >>> (
    ...     enclosing_module_class("Net/GELU[act]"),
    ...     enclosing_module_class("Net/RMS[norm]/mul"),
    ...     enclosing_module_class("Net/mul"),
    ... )
    ('GELU', 'RMS', '')
    """
    for segment in reversed(name.split("/")[-2:]):
        if module := MODULE_SEGMENT.fullmatch(segment):
            return module[1]
    return ""


def module_attribute(segment: str) -> str:
    """Return the attribute that holds a module; any other segment unchanged.

    >>> module_attribute("Linear[fc1]"), module_attribute("input.3")
    ('fc1', 'input.3')
    """
    module = MODULE_SEGMENT.fullmatch(segment)
    return module[2] if module else segment
