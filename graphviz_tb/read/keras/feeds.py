"""The inputs of each layer, as outputs of layers that are not models: nested models are resolved in both directions."""

from __future__ import annotations

from graphviz_tb.read.keras.tree import LayerNode, LayerOutput


def input_layers(layer: LayerNode) -> list[LayerNode]:
    """Return the layers whose outputs a layer (not a model) takes, in order."""
    return [source.layer for call in call_inputs(layer) for source in call]


def call_inputs(layer: LayerNode) -> list[list[LayerOutput]]:
    """Return the inputs of each call of a layer (not a model), as outputs of layers that are not models."""
    fed = [[resolve_output(each) for each in call] for call in _direct_inputs(layer)]
    return [[source for source in call if source is not None] for call in fed]


def _direct_inputs(layer: LayerNode) -> list[list[LayerOutput]]:
    """Return the inputs of each call of a layer in its model; of an input of the model, those from outside."""
    parent = layer.parent
    if parent is None:
        return []
    if layer.calls:
        sources = [[parent.resolve_reference(reference) for reference in call] for call in layer.calls]
        return [[source for source in call if source is not None] for call in sources]
    # A sequence: each layer takes the output of the one before.
    if layer.calls is None and layer.before is not None and not _is_model_input(layer, parent):
        return [[LayerOutput(layer.before)]]
    return [[each] for each in _inputs_from_outside(layer, parent)]


def _inputs_from_outside(layer: LayerNode, model: LayerNode) -> list[LayerOutput]:
    """Return the outputs that feed an input of a nested model over all its calls, each once."""
    passed: list[LayerNode] = []
    # Outwards, as long as each model is an input of the one around it, up to one whose result is cached.
    while True:
        place, outer = _input_place(layer, model), model.parent
        if place is None or outer is None:
            feeds = []
            break
        if model.outside is not None:
            feeds = model.outside
            break
        if model.calls:
            given = model.references_by_input[place] if place < len(model.references_by_input) else ()
            feeds = [source for source in map(outer.resolve_reference, given) if source is not None]
            break
        if model.calls is None and model.before is not None and not _is_model_input(model, outer):
            feeds = [LayerOutput(model.before, 0, place)]
            break
        passed.append(model)
        layer, model = model, outer
    for each in passed:
        each.outside = feeds
    return feeds


def _input_place(layer: LayerNode, model: LayerNode) -> int | None:
    """Return the position of a layer among the inputs of a model; None if it is not an input."""
    if layer.name in model.input_places:
        return model.input_places[layer.name]
    return 0 if not model.input_places and model.order[0] is layer else None


def _is_model_input(layer: LayerNode, model: LayerNode) -> bool:
    return _input_place(layer, model) is not None


def resolve_output(source: LayerOutput) -> LayerOutput | None:
    """Resolve an output of a model to that of a layer inside it, calls counted over the runs of the models between."""
    passed: list[tuple[LayerOutput, int]] = []
    found: LayerOutput | None = source
    # Inwards, model by model, up to one whose result is cached.
    while found is not None and found.layer.is_model:
        model = found.layer
        # Clamp a position that the model does not have.
        place = max(0, min(found.output, len(model.output_references) - 1))
        passed.append((found, place))
        found = model.made_by[place] if place in model.made_by else _inner_output(model, place)
        if place in model.made_by:
            break
    # And out again: cache the maker for one run of the model, then shift the call to the requested run.
    for taken, place in reversed(passed):
        model = taken.layer
        model.made_by[place] = found
        if found is not None:
            found = found._replace(call=taken.call * (found.layer.runs // model.runs) + found.call)
    return None if found is None else found._replace(argument=source.argument, stated=source.stated)


def _inner_output(model: LayerNode, place: int) -> LayerOutput | None:
    """Return the layer (or inner model) that makes an output of a model."""
    if not model.order:
        return None
    return (
        model.resolve_reference(model.output_references[place]) if model.output_references else None
    ) or LayerOutput(model.order[-1])
