"""Find the inputs, shapes and arguments of each call of a layer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import prod
from typing import Any

from graphviz_tb.keras.output_shapes import layer_output_shapes, shape_from_json
from graphviz_tb.keras.tree import (
    KERAS_3_CALL_KEYS,
    LayerNode,
    LayerOutput,
    inbound_calls,
    is_keras_2_reference,
    layer_config,
)
from graphviz_tb.keras.validation import hash_value, is_nested_config, plausible_shape
from graphviz_tb.limits import MAX_CLAIMED_OUTPUTS, MAX_SHOWN_NUMBERS
from graphviz_tb.model.layers import TENSOR_ARGUMENTS
from graphviz_tb.model.tensors import MAX_OUTPUTS, Shape
from graphviz_tb.ops.layers import LayerRole, has_layer_role

# The inputs of each layer, as outputs of layers that are not models: nested models are resolved in both directions.


def input_layers(layer: LayerNode) -> list[LayerNode]:
    """Return the layers whose outputs are inputs of a layer (not a model), in order."""
    return [source.layer for call in call_inputs(layer) for source in call]


def call_inputs(layer: LayerNode) -> list[list[LayerOutput]]:
    """Return the inputs of each call of a layer (not a model), as outputs of layers that are not models."""
    inputs = [[_resolve_output(output) for output in call] for call in _direct_inputs(layer)]
    return [[source for source in call if source is not None] for call in inputs]


def _direct_inputs(layer: LayerNode) -> list[list[LayerOutput]]:
    """Return the inputs of each call of a layer in its model; for an input of the model, those from outside."""
    parent = layer.parent
    if parent is None:
        return []
    if layer.calls:
        sources = [[parent.resolve_reference(reference) for reference in call] for call in layer.calls]
        return [[source for source in call if source is not None] for call in sources]
    # In a sequence, the input of a layer is the output of the layer before it.
    if layer.calls is None and layer.before is not None and not _is_model_input(layer, parent):
        return [[LayerOutput(layer.before)]]
    return [[output] for output in _inputs_from_outside(layer, parent)]


def _inputs_from_outside(layer: LayerNode, model: LayerNode) -> list[LayerOutput]:
    """Return the outputs that feed an input of a nested model over all its calls, each once."""
    passed_models: list[LayerNode] = []
    # Outwards, while each model is an input of the model around it, up to a cached result, a model that is called, or
    # one in a sequence.
    while True:
        input_index, outer = _input_place(layer, model), model.parent
        if input_index is None or outer is None:
            feeds = []
            break
        if model.feeds is not None:
            feeds = model.feeds
            break
        if model.calls:
            references = model.references_by_input[input_index] if input_index < len(model.references_by_input) else ()
            feeds = [source for source in map(outer.resolve_reference, references) if source is not None]
            break
        if model.calls is None and model.before is not None and not _is_model_input(model, outer):
            feeds = [LayerOutput(model.before, 0, input_index)]
            break
        passed_models.append(model)
        layer, model = model, outer
    for inner in passed_models:
        inner.feeds = feeds
    return feeds


def _input_place(layer: LayerNode, model: LayerNode) -> int | None:
    """Return the position of a layer among the inputs of a model; None if it is not an input."""
    if layer.name in model.input_places:
        return model.input_places[layer.name]
    return 0 if not model.input_places and model.order[0] is layer else None


def _is_model_input(layer: LayerNode, model: LayerNode) -> bool:
    return _input_place(layer, model) is not None


def _resolve_output(source: LayerOutput) -> LayerOutput | None:
    """Resolve an output of a model to that of a layer inside it. Calls are counted over the runs of the models
    between."""
    passed_outputs: list[tuple[LayerOutput, int]] = []
    found: LayerOutput | None = source
    # Inwards, model by model, up to a cached result.
    while found is not None and found.layer.is_model:
        model = found.layer
        # Clamp a position that the model does not have.
        position = max(0, min(found.output, len(model.output_references) - 1))
        passed_outputs.append((found, position))
        found = model.resolved[position] if position in model.resolved else _inner_output(model, position)
        if position in model.resolved:
            break
    # Outwards again: cache the result for one run of each model, then shift the call to the requested run.
    for output, position in reversed(passed_outputs):
        model = output.layer
        model.resolved[position] = found
        if found is not None:
            found = found._replace(call=output.call * (found.layer.runs // model.runs) + found.call)
    return None if found is None else found._replace(argument=source.argument, stated=source.stated)


def _inner_output(model: LayerNode, place: int) -> LayerOutput | None:
    if not model.order:
        return None
    return (
        model.resolve_reference(model.output_references[place]) if model.output_references else None
    ) or LayerOutput(model.order[-1])


# Shapes of the tensors between layers, for each call of each layer.
#
# Shapes are computed layer by layer, inputs first. A shape that a consumer states for its input overrides the rule of
# the class. Shapes inside a `TimeDistributed` are those of one step, without the step dimension of layers outside.

LayerInputs = Mapping[LayerNode, list[list[LayerOutput]]]  # inputs of each call of a layer
# Positions of the inputs of an attention, by name or position; all others are masks.
QUERY_VALUE_KEY = {"query": 0, "value": 1, "key": 2, 0: 0, 1: 1, 2: 2}
MULTI_HEAD_CLASSES = frozenset(("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention"))


def class_name_of(json: Mapping[str, Any]) -> str:
    return str(json.get("class_name", ""))


class LayerShapes:
    """Input and output shapes of each layer; `outputs[layer][call]` are the output shapes of a call in its model."""

    def __init__(self, layers: Iterable[LayerNode], inputs: LayerInputs) -> None:
        self.inputs = inputs
        self.stated = _stated_shapes(inputs)
        self.claimed = _highest_outputs_used(inputs)
        self.steps: dict[LayerNode, int | None] = {}
        self.outputs: dict[LayerNode, list[list[Shape]]] = {}
        for layer in _sort_inputs_first(layers, inputs):
            computed = [self._computed_shapes(layer, call) for call in self.inputs_of_calls(layer)]
            # As many outputs as the rule of the class has, or more if a consumer uses a later one.
            used = min(self.claimed.get(layer, -1) + 1, MAX_OUTPUTS // layer.calls_in_model)
            count = max(used, *map(len, computed), 0)
            self.outputs[layer] = [
                [plausible_shape(self.stated.get((layer, call, output), shape)) for output, shape in enumerate(padded)]
                for call, padded in enumerate([*shapes, *[None] * (count - len(shapes))] for shapes in computed)
            ]

    def inputs_of_calls(self, layer: LayerNode) -> list[list[LayerOutput]]:
        """Return the inputs of each call of a layer in its model; one empty call if it has none."""
        return self.inputs[layer][: layer.calls_in_model] or [[]]

    def operand_shapes(self, layer: LayerNode, call: Sequence[LayerOutput]) -> list[Shape]:
        """Return the shapes of the operands of a call; if unknown, the shape that the layer was built with."""
        shapes = [self.shape_seen_by(source, layer) for source in _operand_outputs(class_name_of(layer.json), call)]
        if shapes and shapes != [None]:
            return shapes
        return list(_built_shapes(layer)) or shapes

    def shape_seen_by(self, source: LayerOutput, layer: LayerNode) -> Shape:
        """Return the shape of an input inside the wrappers of `layer`: with step dimensions added or removed."""
        shape = self.shape_of_output(source)
        around, inside = source.layer.wrappers, layer.wrappers
        if around == inside:
            return shape
        common = _common_wrapper_count(around, inside)
        shape = self.add_step_dimensions(shape, around[common:])
        for wrapper in inside[common:]:
            if shape is not None and len(shape) > 1:
                self.steps[wrapper] = self.steps.get(wrapper) or shape[1]
                shape = (shape[0], *shape[2:])
        return shape

    def shape_of_output(self, source: LayerOutput) -> Shape:
        """Return the shape of an output inside the wrappers of its layer."""
        layer, call, output, *_ = source
        if (stated := self.stated.get((layer, call, output))) is not None:
            return stated
        outputs = self.outputs.get(layer, [[]])[call % layer.calls_in_model :][:1]
        return outputs[0][output] if outputs and 0 <= output < len(outputs[0]) else None

    def add_step_dimensions(self, shape: Shape, wrappers: Sequence[LayerNode]) -> Shape:
        """Add the step dimension of each wrapper to the shape of one step inside the innermost wrapper."""
        for wrapper in reversed(wrappers if shape else ()):
            shape = (*(shape or ())[:1], self.step_count(wrapper), *(shape or ())[1:])
        return shape

    def step_count(self, wrapper: LayerNode) -> int | None:
        stated = next(_built_shapes(wrapper), None)
        return self.steps.get(wrapper) or (stated[1] if stated is not None and len(stated) > 1 else None)

    def run_count(self, layer: LayerNode) -> int | None:
        """Return how often a call of a layer runs: the runs of the models around it, times the steps of wrappers; None
        if unknown."""
        steps = [self.step_count(wrapper) for wrapper in layer.wrappers]
        return None if None in steps else layer.runs // layer.calls_in_model * prod(step or 0 for step in steps)

    def _computed_shapes(self, layer: LayerNode, call: Sequence[LayerOutput]) -> list[Shape]:
        computed = layer_output_shapes(
            class_name_of(layer.json), layer_config(layer.json), self.operand_shapes(layer, call)
        )
        if has_layer_role(class_name_of(layer.json), LayerRole.INPUT) and computed:
            return [
                _fill_open_sizes(
                    computed[0], [self.shape_seen_by(source, layer) for call in self.inputs[layer] for source in call]
                )
            ]
        return computed


class LayerOutputs:
    """Numbers for the outputs of all calls of a layer: those of the first call, then of the second, …"""

    def __init__(self, layers: Iterable[LayerNode], between: LayerShapes) -> None:
        self.between = between
        self.listed: dict[LayerNode, int] = {}  # number of calls whose outputs are listed
        room: int = MAX_CLAIMED_OUTPUTS
        for layer in layers:
            each = len(between.outputs[layer][0])
            fitting = (count for count in (layer.runs, layer.calls_in_model) if count * each <= min(MAX_OUTPUTS, room))
            self.listed[layer] = next(fitting, 1) if each else 1  # no outputs: nothing to limit
            room -= each * (self.listed[layer] - 1)

    def flat_output_number(self, source: LayerOutput) -> int:
        layer, call, output, *_ = source
        each = len(self.between.outputs[layer][0])
        listed = self.listed[layer]
        # Outputs of calls that are not listed have the numbers of the first call.
        call = call if call < listed else call % layer.calls_in_model if layer.calls_in_model <= listed else 0
        return call * each + (output if 0 <= output < each else 0)

    def shapes_with_steps(self, layer: LayerNode) -> Iterator[Shape]:
        """Yield the shape of each output, step dimensions included."""
        for call in range(self.listed[layer]):
            for output in range(len(self.between.outputs[layer][0])):
                yield self.between.add_step_dimensions(
                    self.between.shape_of_output(LayerOutput(layer, call, output)), layer.wrappers
                )


def _operand_outputs(kind: str, call: Sequence[LayerOutput]) -> list[LayerOutput]:
    """Return the inputs of a call in the order that the rule of the class expects, without masks."""
    plain = [source for source in call if "mask" not in str(source.argument)]
    if kind not in MULTI_HEAD_CLASSES:
        return plain
    places = {QUERY_VALUE_KEY.get(source.argument, 3): source for source in reversed(plain)}
    return [source for place, source in sorted(places.items(), key=lambda item: item[0]) if place < 3]


def _highest_outputs_used(inputs: LayerInputs) -> dict[LayerNode, int]:
    claimed: dict[LayerNode, int] = {}
    room: int = MAX_CLAIMED_OUTPUTS
    for calls in inputs.values():
        for source in (output for call in calls for output in call):
            more = source.output - claimed.get(source.layer, -1)
            if more > 0 and source.output < min(MAX_OUTPUTS, room):
                room -= more
                claimed[source.layer] = source.output
    return claimed


def _stated_shapes(inputs: LayerInputs) -> dict[tuple[LayerNode, int, int], Shape]:
    """Return the shapes that consumers state for outputs, by layer, call and output. Keras 3 writes them with each
    tensor."""
    stated: dict[tuple[LayerNode, int, int], Shape] = {}
    for taker, calls in inputs.items():
        for source in (output for call in calls for output in call):
            # The stated shape includes the step dimensions of wrappers inside the innermost common model.
            steps = len(source.layer.wrappers) - _common_wrapper_count(source.layer.wrappers, taker.wrappers)
            shape = source.stated
            if shape is not None and len(shape) > steps:
                stated.setdefault(source[:3], (*shape[:1], *shape[1 + steps :]))
    return stated


def _common_wrapper_count(one: Sequence[LayerNode], other: Sequence[LayerNode]) -> int:
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] is not pair[1]),
                min(len(one), len(other)))  # fmt: skip


def _fill_open_sizes(shape: Shape, feeds: Sequence[Shape]) -> Shape:
    """Fill the unknown sizes of an input if all tensors that feed it have one shape.

    >>> (
    ...     _fill_open_sizes((None, None, 3), [(None, 8, 3)]),
    ...     _fill_open_sizes((None, None, 3), [(None, 8, 3), (None, 4, 3)]),
    ... )
    ((None, 8, 3), (None, None, 3))
    """
    first = feeds[0] if feeds and len(set(feeds)) == 1 else None
    if shape is None or first is None or len(first) != len(shape):
        return shape
    return tuple(size if size is not None else other for size, other in zip(shape, first, strict=True))


def _sort_inputs_first(layers: Iterable[LayerNode], inputs: LayerInputs) -> Iterator[LayerNode]:
    """Yield the layers, each after its inputs; cycles are cut at an arbitrary edge."""
    sorted_layers: set[LayerNode] = set()
    for layer in layers:
        waiting = [layer]
        entered: set[LayerNode] = set()
        while waiting:
            top = waiting[-1]
            if top in sorted_layers:
                waiting.pop()
            elif top in entered:
                # Seen a second time: its inputs are sorted, except those in a cycle.
                sorted_layers.add(waiting.pop())
                yield top
            else:
                entered.add(top)
                feeds = [source.layer for call in inputs[top] for source in call]
                waiting += [source for source in feeds if source not in sorted_layers and source not in entered]


def _built_shapes(layer: LayerNode) -> Iterator[Shape]:
    """Yield at most one input shape: that with which a layer, or the sequence that begins with it, was built."""
    config = layer_config(layer.json)
    built_with = layer.json.get("build_config")
    begins = layer.parent is not None and layer.parent.order[0] is layer
    around = layer_config(layer.parent.json) if layer.parent is not None and begins else {}
    for stated in (
        config.get("batch_input_shape"),
        built_with.get("input_shape") if isinstance(built_with, dict) else None,
        around.get("build_input_shape"),
    ):
        if (shape := shape_from_json(stated)) is not None:
            yield shape
            return


# The arguments of a layer's calls, such as flags, factors and slices. For tensors only the position is listed, because
# edges of the graph show their source.

TENSOR_WORD = "tensor"  # written for each tensor
SLICE_KEYS = frozenset(("start", "stop", "step"))
CONSTANT_NAME = "_CONSTANT_VALUE"  # Keras 2: the first argument of a call, if it is not a tensor
ARRAY_CLASSES = frozenset(("__numpy__", "__tensor__"))  # Keras 3: an array written out

CallArguments = dict[str, Any]  # of one call, by name or position as text


def call_arguments(json_layer: Mapping[str, Any]) -> Iterator[CallArguments]:
    """Yield the arguments of each call of a layer: values by name, and in `tensors` the arguments that are tensors.

    >>> keras_2 = {"inbound_nodes": [[["x", 0, 0, {"y": 2.0, "name": None, "mask": ["m", 0, 0]}]]]}
    >>> list(call_arguments(keras_2))
    [{'y': 2.0, 'tensors': [0, 'mask']}]
    >>> part = {"class_name": "__slice__", "config": {"start": None, "stop": 3, "step": None}}
    >>> x = {"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}
    >>> list(call_arguments({"inbound_nodes": [{"args": [x, [part, 0]], "kwargs": {"training": False}}]}))
    [{'1': [':3', 0], 'training': False, 'tensors': [0]}]
    """
    nodes, is_attention = json_layer.get("inbound_nodes"), str(json_layer.get("class_name")) in MULTI_HEAD_CLASSES
    for node, sources in zip(nodes if isinstance(nodes, list) else (), inbound_calls(json_layer) or (), strict=True):
        given = (
            _keras_3_arguments(node)
            if isinstance(node, dict) and KERAS_3_CALL_KEYS & node.keys()
            else _keras_2_arguments(node)
        )
        values = {key: hash_value(value) if is_nested_config(value) else _plain_value(value) for key, value in given}
        plain = {key: value for key, value in values.items() if value is not None and not _has_only_tensors(value)}
        tensors = [source.argument for source in sources if source.name != CONSTANT_NAME]
        positions = [QUERY_VALUE_KEY.get(tensor, tensor) for tensor in tensors] if is_attention else tensors
        yield {**plain, TENSOR_ARGUMENTS: positions}


def _keras_3_arguments(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a Keras 3 call: those by position, then those by name."""
    args, named = node.get("args"), node.get("kwargs")
    yield from ((str(place), value) for place, value in enumerate(args if isinstance(args, list) else ()))
    yield from named.items() if isinstance(named, dict) else ()


def _keras_2_arguments(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a Keras 2 call: those by name, and the first one if it is not a tensor."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list) and len(value) >= 3 and (value[0] == CONSTANT_NAME or is_keras_2_reference(value)):
            if value[0] == CONSTANT_NAME:
                yield "0", value[2]
            for extra in value[3:]:
                # `name` is the name of the op that a function creates.
                keywords = extra.items() if isinstance(extra, dict) else ()
                yield from ((key, part) for key, part in keywords if key != "name")
        elif isinstance(value, list):
            waiting += reversed(value)


def _plain_value(value: Any) -> Any:
    """Return a value as in a program: tuples as lists, slices with colons, and "tensor" for each tensor.

    >>> _plain_value({"class_name": "__tuple__", "items": [1, {"start": 1, "stop": None, "step": 2}]})
    [1, '1::2']
    """
    if isinstance(value, list):
        return TENSOR_WORD if is_keras_2_reference(value) else [_plain_value(part) for part in value]
    if not isinstance(value, dict):
        return value
    kind, config = value.get("class_name"), value.get("config")
    if value.keys() == SLICE_KEYS:
        return _format_slice(value)
    if kind == "__slice__" and isinstance(config, dict):
        return _format_slice(config)
    if kind == "__keras_tensor__":
        return TENSOR_WORD
    if kind == "__tuple__":
        return _plain_value(value.get("items"))
    if kind == "__ellipsis__":
        return "..."
    if kind in ARRAY_CLASSES and isinstance(config, dict):
        return _abbreviate_array(config.get("value"))
    return {key: _plain_value(part) for key, part in value.items()}


def _format_slice(parts: Mapping[str, Any]) -> str:
    """Return a slice as text, as Python writes it.

    >>> _format_slice({"start": None, "stop": None, "step": None}), _format_slice({"start": 1, "stop": -1, "step": 2})
    (':', '1:-1:2')
    """
    start, stop, step = ("" if parts.get(key) is None else str(parts[key]) for key in ("start", "stop", "step"))
    return f"{start}:{stop}{':' + step if step else ''}"


def _abbreviate_array(numbers: Any) -> Any:
    text = json.dumps(numbers, sort_keys=True)
    return numbers if text.count(",") < MAX_SHOWN_NUMBERS else f"#{sha256(text.encode()).hexdigest()[:8]}"


def _has_only_tensors(value: Any) -> bool:
    """Return whether an argument is a tensor, or a list of tensors only."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list) and part:
            waiting += part
        elif part != TENSOR_WORD:
            return False
    return True
