"""The inputs of each layer: outputs of other layers, or the inputs of the model around it. Nested models are looked
through, inwards and outwards."""

from __future__ import annotations

from graphviz_tb.read.keras.tree import LayerNode, LayerOutput


def inputs(layer: LayerNode) -> list[LayerNode]:
    """Before: a layer that is no model. After: the layers whose outputs it takes, in order."""
    return [source.layer for call in calls(layer) for source in call]


def calls(layer: LayerNode) -> list[list[LayerOutput]]:
    """Before: a layer that is no model. After: what each call of it takes, of layers that are no models."""
    fed = [[output(each) for each in call] for call in _feeds(layer)]
    return [[source for source in call if source is not None] for call in fed]


def _feeds(layer: LayerNode) -> list[list[LayerOutput]]:
    """Return the inputs of each call of a layer: layers of its model, or the model's inputs if it is one of them."""
    parent = layer.parent
    if parent is None:
        return []
    if layer.calls:
        sources = [[parent.source(reference) for reference in call] for call in layer.calls]
        return [[source for source in call if source is not None] for call in sources]
    # A sequence: a layer takes what the one before it gives.
    if layer.calls is None and layer.before is not None and not _is_input(layer, parent):
        return [[LayerOutput(layer.before)]]
    return [[each] for each in _from_outside(layer, parent)]


def _from_outside(layer: LayerNode, model: LayerNode) -> list[LayerOutput]:
    """Return the outputs that feed an input of a nested model: one place of each call; each output once."""
    passed: list[LayerNode] = []
    # Outwards, model by model, as long as each is an input of the one around it; up to one that was passed before.
    while True:
        place, outer = _place(layer, model), model.parent
        if place is None or outer is None:
            feeds = []
            break
        if model.outside is not None:
            feeds = model.outside
            break
        if model.calls:
            given = model.given[place] if place < len(model.given) else ()
            feeds = [source for source in map(outer.source, given) if source is not None]
            break
        if model.calls is None and model.before is not None and not _is_input(model, outer):
            feeds = [LayerOutput(model.before, 0, place)]
            break
        passed.append(model)
        layer, model = model, outer
    for each in passed:
        each.outside = feeds
    return feeds


def _place(layer: LayerNode, model: LayerNode) -> int | None:
    """Return which input of a model a layer is; None for any other layer."""
    if layer.name in model.places:
        return model.places[layer.name]
    return 0 if not model.places and model.order[0] is layer else None


def _is_input(layer: LayerNode, model: LayerNode) -> bool:
    return _place(layer, model) is not None


def output(source: LayerOutput) -> LayerOutput | None:
    """The layer that makes an output, itself or one inside if it is a model; its calls are counted through the runs of
    the models between."""
    passed: list[tuple[LayerOutput, int]] = []
    found: LayerOutput | None = source
    # Inwards, model by model, up to one that was asked before.
    while found is not None and found.layer.is_model:
        model = found.layer
        # A position that the model does not have is taken for the nearest one.
        place = max(0, min(found.output, len(model.outputs) - 1))
        passed.append((found, place))
        found = model.made_by[place] if place in model.made_by else _within(model, place)
        if place in model.made_by:
            break
    # And out again: what makes an output of a model in one run of it, then in the run that is asked for.
    for taken, place in reversed(passed):
        model = taken.layer
        model.made_by[place] = found
        if found is not None:
            found = found._replace(call=taken.call * (found.layer.runs // model.runs) + found.call)
    return None if found is None else found._replace(argument=source.argument, stated=source.stated)


def _within(model: LayerNode, place: int) -> LayerOutput | None:
    """Which layer of a model, a model itself perhaps, makes an output of it."""
    if not model.order:
        return None
    return (model.source(model.outputs[place]) if model.outputs else None) or LayerOutput(model.order[-1])
