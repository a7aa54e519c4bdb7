"""Shapes of the tensors between layers, for each call of each layer.

Shapes are computed layer by layer, inputs first. A shape that a consumer states for its input overrides the rule of
the class. A layer inside a `TimeDistributed` sees one step: its shapes lack the step dimension that layers outside see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from graphviz_tb.limits import MAX_CLAIMED_OUTPUTS
from graphviz_tb.model.tensors import MAX_OUTPUTS, Shape
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.read.keras.possible import plausible_shape
from graphviz_tb.read.keras.shapes import layer_output_shapes, shape_from_json
from graphviz_tb.read.keras.tree import LayerNode, LayerOutput, layer_config

LayerInputs = Mapping[LayerNode, list[list[LayerOutput]]]  # inputs of each call of a layer
# Positions of the inputs of an attention, by name or position; all others are masks.
QUERY_VALUE_KEY = {"query": 0, "value": 1, "key": 2, 0: 0, 1: 1, 2: 2}
MULTI_HEAD_CLASSES = frozenset(("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention"))


def class_name_of(json: Mapping[str, Any]) -> str:
    return str(json.get("class_name", ""))


class LayerShapes:
    """Shapes of inputs and outputs of each layer; `gives[layer][call]` are the output shapes of a call in its model."""

    def __init__(self, layers: Iterable[LayerNode], takes: LayerInputs) -> None:
        self.takes = takes
        self.stated = stated_shapes(takes)
        self.claimed = highest_outputs_used(takes)
        self.steps: dict[LayerNode, int | None] = {}
        self.gives: dict[LayerNode, list[list[Shape]]] = {}
        for layer in sort_inputs_first(layers, takes):
            given = [self._computed_shapes(layer, call) for call in self.inputs_of_calls(layer)]
            # As many outputs as the rule of the class gives, or more if a consumer takes a later one.
            count = max(min(self.claimed.get(layer, -1) + 1, MAX_OUTPUTS // layer.calls_in_model), *map(len, given), 0)
            self.gives[layer] = [
                [plausible_shape(self.stated.get((layer, call, output), shape)) for output, shape in enumerate(padded)]
                for call, padded in enumerate([*shapes, *[None] * (count - len(shapes))] for shapes in given)
            ]

    def inputs_of_calls(self, layer: LayerNode) -> list[list[LayerOutput]]:
        """Return the inputs of each call of a layer in its model; one empty call if it has none."""
        return self.takes[layer][: layer.calls_in_model] or [[]]

    def operand_shapes(self, layer: LayerNode, call: Sequence[LayerOutput]) -> list[Shape]:
        """Return the shapes of the operands of a call; if unknown, the shape that the layer was built with."""
        shapes = [self.shape_seen_by(source, layer) for source in operand_outputs(class_name_of(layer.json), call)]
        if shapes and shapes != [None]:
            return shapes
        return list(built_shapes(layer)) or shapes

    def shape_seen_by(self, source: LayerOutput, layer: LayerNode) -> Shape:
        """Return the shape of an input as `layer` sees it: step dimensions of wrappers added or removed."""
        shape = self.shape_of_output(source)
        around, inside = source.layer.wrappers, layer.wrappers
        if around == inside:
            return shape
        common = common_wrapper_count(around, inside)
        shape = self.add_step_dimensions(shape, around[common:])
        for wrapper in inside[common:]:
            if shape is not None and len(shape) > 1:
                self.steps[wrapper] = self.steps.get(wrapper) or shape[1]
                shape = (shape[0], *shape[2:])
        return shape

    def shape_of_output(self, source: LayerOutput) -> Shape:
        """Return the shape of an output as the layer that makes it sees it."""
        layer, call, output, *_ = source
        if (stated := self.stated.get((layer, call, output))) is not None:
            return stated
        outputs = self.gives.get(layer, [[]])[call % layer.calls_in_model :][:1]
        return outputs[0][output] if outputs and 0 <= output < len(outputs[0]) else None

    def add_step_dimensions(self, shape: Shape, wrappers: Sequence[LayerNode]) -> Shape:
        """Add the step dimension of each wrapper to the shape of one step inside the innermost wrapper."""
        for wrapper in reversed(wrappers if shape else ()):
            shape = (*(shape or ())[:1], self.step_count(wrapper), *(shape or ())[1:])
        return shape

    def step_count(self, wrapper: LayerNode) -> int | None:
        """Return the number of steps that a wrapper runs; None if unknown."""
        stated = next(built_shapes(wrapper), None)
        return self.steps.get(wrapper) or (stated[1] if stated is not None and len(stated) > 1 else None)

    def run_count(self, layer: LayerNode) -> int | None:
        """Return how often each call of a layer runs: runs of the models around it times steps; None if unknown."""
        steps = [self.step_count(wrapper) for wrapper in layer.wrappers]
        return None if None in steps else layer.runs // layer.calls_in_model * prod(step or 0 for step in steps)

    def _computed_shapes(self, layer: LayerNode, call: Sequence[LayerOutput]) -> list[Shape]:
        """Compute the output shapes of a call by the rule of the class."""
        computed = layer_output_shapes(
            class_name_of(layer.json), layer_config(layer.json), self.operand_shapes(layer, call)
        )
        if has_layer_role(class_name_of(layer.json), LayerRole.INPUT) and computed:
            return [
                fill_open_sizes(
                    computed[0], [self.shape_seen_by(each, layer) for call in self.takes[layer] for each in call]
                )
            ]
        return computed


class LayerOutputs:
    """A flat numbering of the outputs of each layer: those of its first call, then of its second, …"""

    def __init__(self, layers: Iterable[LayerNode], between: LayerShapes) -> None:
        self.between = between
        self.listed: dict[LayerNode, int] = {}  # number of calls whose outputs are listed
        room: int = MAX_CLAIMED_OUTPUTS
        for layer in layers:
            each = len(between.gives[layer][0])
            fitting = (count for count in (layer.runs, layer.calls_in_model) if count * each <= min(MAX_OUTPUTS, room))
            self.listed[layer] = next(fitting, 1) if each else 1  # no outputs: nothing to limit
            room -= each * (self.listed[layer] - 1)

    def flat_output_number(self, source: LayerOutput) -> int:
        """Return the number of an output among all outputs of its layer."""
        layer, call, output, *_ = source
        each = len(self.between.gives[layer][0])
        listed = self.listed[layer]
        # An output that is not listed counts as that of the first call.
        call = call if call < listed else call % layer.calls_in_model if layer.calls_in_model <= listed else 0
        return call * each + (output if 0 <= output < each else 0)

    def shapes_with_steps(self, layer: LayerNode) -> Iterator[Shape]:
        """Yield the shape of each output, step dimensions included."""
        for call in range(self.listed[layer]):
            for output in range(len(self.between.gives[layer][0])):
                yield self.between.add_step_dimensions(
                    self.between.shape_of_output(LayerOutput(layer, call, output)), layer.wrappers
                )


def operand_outputs(kind: str, call: Sequence[LayerOutput]) -> list[LayerOutput]:
    """Return the inputs of a call in the order that the rule of the class expects, without masks."""
    plain = [source for source in call if "mask" not in str(source.argument)]
    if kind not in MULTI_HEAD_CLASSES:
        return plain
    places = {QUERY_VALUE_KEY.get(source.argument, 3): source for source in reversed(plain)}
    return [source for place, source in sorted(places.items(), key=lambda each: each[0]) if place < 3]


def highest_outputs_used(takes: LayerInputs) -> dict[LayerNode, int]:
    """Return the highest output of each layer that any layer takes."""
    claimed: dict[LayerNode, int] = {}
    room: int = MAX_CLAIMED_OUTPUTS
    for calls in takes.values():
        for source in (each for call in calls for each in call):
            more = source.output - claimed.get(source.layer, -1)
            if more > 0 and source.output < min(MAX_OUTPUTS, room):
                # The outputs before it are listed too.
                room -= more
                claimed[source.layer] = source.output
    return claimed


def stated_shapes(takes: LayerInputs) -> dict[tuple[LayerNode, int, int], Shape]:
    """Return the shapes that consumers state for outputs, by call and output (Keras 3 writes them with each tensor)."""
    stated: dict[tuple[LayerNode, int, int], Shape] = {}
    for taker, calls in takes.items():
        for source in (each for call in calls for each in call):
            # Stated in the innermost common model, so it includes the step dimensions of wrappers inside that model.
            steps = len(source.layer.wrappers) - common_wrapper_count(source.layer.wrappers, taker.wrappers)
            shape = source.stated
            if shape is not None and len(shape) > steps:
                stated.setdefault(source[:3], (*shape[:1], *shape[1 + steps :]))
    return stated


def common_wrapper_count(one: Sequence[LayerNode], other: Sequence[LayerNode]) -> int:
    """Return the number of wrappers that two layers have in common."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] is not pair[1]),
                min(len(one), len(other)))  # fmt: skip


def fill_open_sizes(shape: Shape, fed: Sequence[Shape]) -> Shape:
    """Fill the unknown sizes of an input, if all tensors that feed it agree.

    >>> fill_open_sizes((None, None, 3), [(None, 8, 3)]), fill_open_sizes((None, None, 3), [(None, 8, 3), (None, 4, 3)])
    ((None, 8, 3), (None, None, 3))
    """
    first = fed[0] if fed and len(set(fed)) == 1 else None
    if shape is None or first is None or len(first) != len(shape):
        return shape
    return tuple(one if one is not None else other for one, other in zip(shape, first, strict=True))


def sort_inputs_first(layers: Iterable[LayerNode], takes: LayerInputs) -> Iterator[LayerNode]:
    """Yield the layers, each after those that feed it; cycles are cut at an arbitrary edge."""
    done: set[LayerNode] = set()
    for layer in layers:
        waiting = [layer]
        entered: set[LayerNode] = set()
        while waiting:
            top = waiting[-1]
            if top in done:
                waiting.pop()
            elif top in entered:
                # Seen a second time: everything that feeds it is done, cycles apart.
                done.add(waiting.pop())
                yield top
            else:
                entered.add(top)
                feeds = [source.layer for call in takes[top] for source in call]
                waiting += [source for source in feeds if source not in done and source not in entered]


def built_shapes(layer: LayerNode) -> Iterator[Shape]:
    """Yield the input shape that a layer was built with, or the sequence that it begins; at most one."""
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
