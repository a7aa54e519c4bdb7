"""Convert the JSON of a Keras model to a conceptual graph: a node for each layer, an edge for each tensor.

The rules are TensorBoard's without its bugs: inbound nodes of Keras 2 are read, the inputs of a nested model feed the
layers inside it, and a name refers to a layer in the same model.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from google.protobuf.json_format import Error, ParseDict

from graphviz_tb.errors import MalformedText, NoGraph, UnknownFormat
from graphviz_tb.formats.contents import GraphContent, SourceContents, SourceItem
from graphviz_tb.graphs.traversal import strong_components
from graphviz_tb.keras.calls import LayerInputs, LayerOutputs, call_inputs, input_layers
from graphviz_tb.keras.layers import layer_facts
from graphviz_tb.keras.objects import StoredShapes, complete_model, stored_weight_shapes
from graphviz_tb.keras.tree import (
    LayerNode,
    LayerOutput,
    build_layer_tree,
    count_layers,
    layer_config,
    layer_name,
    nested_layer_list,
    walk_layers,
    walk_models,
)
from graphviz_tb.keras.validation import hash_deep_values
from graphviz_tb.keras.weights import INSTALL_H5PY, StoredWeights, UnreadWeights, has_h5py
from graphviz_tb.model.layers import Layer as Known
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.model.tensors import Shape
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import DataType, GraphDef, NodeDef, TensorShapeProto
from graphviz_tb.sources.bounds import (
    MemoryBudget,
    check_json_memory,
    check_layer_count,
    check_path_letters,
)
from graphviz_tb.sources.streams import OpenedSource
from graphviz_tb.sources.text import parse_json

# `model.json` of TensorFlow.js: its topology is the JSON of a Keras model, or a GraphDef as JSON.
#
# {"format": "layers-model", "modelTopology": {"model_config": …}, "weightsManifest": …}
# {"format": "graph-model", "modelTopology": {"node": […], "library": …}, "weightsManifest": …}

TOPOLOGY_KEY = "modelTopology"


def _model_topology(parsed: Any) -> Any:
    """Return the topology in the JSON of a TensorFlow.js model; any other JSON unchanged."""
    return parsed[TOPOLOGY_KEY] if isinstance(parsed, dict) and isinstance(parsed.get(TOPOLOGY_KEY), dict) else parsed


def _is_json_graph(parsed: Any) -> bool:
    """Return whether JSON is a GraphDef.

    >>> (
    ...     _is_json_graph({"node": [{"name": "x", "op": "Placeholder"}]}),
    ...     _is_json_graph({"class_name": "Sequential", "node": []}),
    ... )
    (True, False)
    """
    if not isinstance(parsed, dict) or "class_name" in parsed or not isinstance(parsed.get("node"), list):
        return False
    return all(isinstance(node, dict) and isinstance(node.get("name"), str) for node in parsed["node"])


def _json_graph_content(parsed: dict[str, Any], name: str) -> GraphContent:
    """Return the graph of a GraphDef as JSON. Raises MalformedText if a value does not fit its field."""
    try:
        # Unknown fields of later versions are skipped, as in a binary graph.
        return GraphContent(ParseDict(parsed, GraphDef(), ignore_unknown_fields=True))
    except (Error, ValueError, TypeError, RecursionError) as error:
        reason = json.dumps(str(error)[:200])
        raise MalformedText(f"no GraphDef as JSON: {reason}", line=1, column=1, name=name) from None


COMPILE_KEYS = ("compile_config", "training_config")  # of Keras 3, of Keras 2
BYTES_PER_EDGE = 400  # memory of an edge in all stages, without its path
DTYPE_NAMES = {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE"}


def read_keras_json(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Read a JSON file: a Keras model as a conceptual graph, or a GraphDef as an op graph."""
    data = opened.data()
    on_disk = opened.size_on_disk(data)
    if on_disk is not None:
        check_json_memory(data, on_disk, opened.name)
    if b'"node"' in data and _is_json_graph(parsed := _model_topology(parse_json(data, opened.name))):
        graph = _json_graph_content(parsed, opened.name)
        return SourceContents(
            (SourceItem(SourceEntry("op", bytes=len(data), format="GraphDef"), lambda: graph),), what=opened.name
        )
    content = conceptual_graph(data, opened.name, on_disk=on_disk)
    entry = SourceEntry("conceptual", bytes=len(data), format="Keras model")
    return SourceContents((SourceItem(entry, lambda: content),), what=opened.name)


def conceptual_graph(
    data: bytes, name: str, weights: Callable[[], StoredWeights] = dict, on_disk: int | None = None
) -> GraphContent:
    """Return a GraphDef of the layers of a model's JSON, in the order of the file.

    `weights` loads stored weights, for models without layers or numbers of parameters in the JSON. The size `on_disk`
    limits the memory that may be used.

    >>> layers = [{"class_name": "Dense", "config": {"name": name}} for name in "ab"]
    >>> text = json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}})
    >>> [(node.name, *node.input) for node in conceptual_graph(text.encode(), "x").graph_def.node]
    [('m/a',), ('m/b', 'm/a')]
    """
    if on_disk is not None:
        check_json_memory(data, on_disk, name)
    parsed = parse_json(data, name)
    described = _find_model(parsed, name)
    completed, unread = _complete_layers(described, name, weights)
    if on_disk is not None:
        _check_layers(completed, len(data), on_disk, name)
    notices = () if completed is described else (_unconnected_notice(completed, unread),)
    model = build_layer_tree(completed)
    layers = list(walk_layers(model))
    # Nested models multiply edges, and each edge has a full path.
    budget = MemoryBudget(on_disk, name)
    for layer in layers:
        budget.take(sum(BYTES_PER_EDGE + len(source.path) for source in input_layers(layer)))
    inputs = {layer: call_inputs(layer) for layer in layers}
    models = list(walk_models(model))
    facts, numbers = layer_facts(layers, models, inputs)
    uncounted = [layer for layer in layers if facts[layer].parameters is None] if completed is described else []
    shapes, weight_notices = _load_stored_shapes(uncounted, weights)
    if shapes:
        facts, numbers = layer_facts(layers, models, inputs, shapes)
    facts[model] = _with_compile_settings(facts[model], parsed)
    split = _layers_on_cycles(layers, inputs, numbers)  # a node for each of their calls
    known = {layer.path: fact for layer, fact in facts.items()}
    known.update({inner.path: _with_results(facts[inner], inner, split) for inner in models} if split else {})
    graph, call_facts = _graph_of_calls(layers, inputs, numbers, split, facts)
    known |= call_facts
    return GraphContent(
        graph,
        (*notices, *weight_notices),
        layers=known,
        plain=lambda: _tensorboard_graph(completed),
        described=data if completed is described else b"",
    )


def _graph_of_calls(
    layers: Sequence[LayerNode],
    inputs: LayerInputs,
    numbers: LayerOutputs,
    split: Set[LayerNode],
    facts: Mapping[LayerNode, Known],
) -> tuple[GraphDef, dict[str, Known]]:
    """Return a graph with a node for each layer, or for each call of the layers in `split`, and the facts of these
    calls by path."""
    graph, call_facts = GraphDef(), {}
    for layer in layers:
        nodes = [[call] for call in inputs[layer]] if layer in split else [inputs[layer]]
        for number, calls in enumerate(nodes):
            path, fact = _path_of_call(layer, number), facts[layer]
            if layer in split:
                fact = call_facts[path] = _fact_of_call(fact, number)
            node = graph.node.add(name=path, op=fact.class_name)
            node.input.extend(_node_input(source, numbers, split) for call in calls for source in call)
            _set_layer_attributes(node, layer, fact)
    return graph, call_facts


def _check_layers(whole: Mapping[str, Any], size: int, on_disk: int, name: str) -> None:
    """Raise an error for more layers, or longer paths, than a file of this size may have."""
    count, letters = count_layers(whole)
    check_layer_count(count, size, on_disk, name)
    check_path_letters(letters, on_disk, name)


def _complete_layers(
    described: Mapping[str, Any], name: str, weights: Callable[[], StoredWeights]
) -> tuple[Mapping[str, Any], str]:
    """Return a model with the layers of its JSON, else with those of its weights, and why the weights could not be read
    ("" if they were). Raises NoGraph without layers."""
    whole, unread = described, ""
    if nested_layer_list(described) is None:
        stored, unread = _load_weights(weights)
        whole = complete_model(described, stored)
    if nested_layer_list(whole) is None:
        text = f"{name}: the model is a {whole['class_name']} whose layers are not in its JSON{unread}"
        raise NoGraph(text, hint=_missing_layers_hint())
    return whole, unread


def _layers_on_cycles(layers: Sequence[LayerNode], inputs: LayerInputs, numbers: LayerOutputs) -> Set[LayerNode]:
    """Return the layers whose calls feed each other, directly or not, such as an embedding whose table is also used for
    the result. Each call of such a layer is a separate node."""
    index = {layer: number for number, layer in enumerate(layers)}
    repeated = {layer for layer in layers if 1 < layer.runs == layer.calls_in_model == len(inputs[layer])}
    if not repeated:
        return repeated
    successors: list[list[int]] = [[] for _ in layers]
    for layer, calls in inputs.items():
        for source in (output for call in calls for output in call):
            successors[index[source.layer]].append(index[layer])
    component = strong_components(successors)
    sizes = Counter(component)
    return {
        layer
        for layer in repeated
        if (sizes[component[index[layer]]] > 1 or index[layer] in successors[index[layer]])
        and numbers.listed[layer] == layer.runs
    }


def _path_of_call(layer: LayerNode, call: int) -> str:
    return f"{layer.path} ({call + 1})" if call else layer.path


def _with_results(fact: Known, model: LayerNode, split: Set[LayerNode]) -> Known:
    """Return the facts about a model with outputs of calls of its layers, for layers in `split`."""
    outputs = (
        (model.children[reference.name], reference.call)
        for reference in model.output_references
        if reference.name in model.children
    )
    return replace(fact, results=tuple(_path_of_call(layer, call if layer in split else 0) for layer, call in outputs))


def _fact_of_call(fact: Known, call: int) -> Known:
    """Return the facts about one call of a layer; parameters count at the first call."""
    shared = " · ".join(filter(None, (fact.telling, "shared weights")))
    outputs_per_call = len(fact.outputs) // len(fact.calls) if fact.calls else 0
    made = replace(
        fact,
        telling=shared,
        outputs=fact.outputs[call * outputs_per_call : (call + 1) * outputs_per_call],
        calls=fact.calls[call : call + 1],
        arguments=fact.arguments[call : call + 1],
    )
    return replace(made, parameters=0, non_trainable=0, weight_bytes=0) if call else made


def _node_input(source: LayerOutput, numbers: LayerOutputs, split: Set[LayerNode]) -> str:
    """Return the input string of a node for an output of a layer: `path` or `path:number`."""
    if source.layer in split:
        path = _path_of_call(source.layer, source.call)
        return f"{path}:{source.output}" if source.output else path
    number = numbers.flat_output_number(source)
    return f"{source.layer.path}:{number}" if number else source.layer.path


def _missing_layers_hint() -> str:
    """Return the hint for a model whose JSON has no layers."""
    hint = "write its op graph with model.export('folder') and give that folder"
    return hint if has_h5py() else f"{INSTALL_H5PY} to read them from the weights of a .keras file, or {hint}"


def _load_weights(weights: Callable[[], StoredWeights]) -> tuple[StoredWeights, str]:
    """Return the stored weights of a model's objects, and why they could not be read ("" if they were)."""
    try:
        return weights(), ""
    except UnreadWeights as error:
        return {}, f", and its weights could not be read: {error}"


def _load_stored_shapes(
    uncounted: list[LayerNode], weights: Callable[[], StoredWeights]
) -> tuple[StoredShapes, tuple[Notice, ...]]:
    """Return the stored weight shapes of layers whose parameters no rule counts, and a notice if some cannot be
    read."""
    if not uncounted or weights is dict:
        return {}, ()
    stored, unread = _load_weights(weights)
    found = stored_weight_shapes(uncounted, stored)
    if len(found) == len(uncounted) or (has_h5py() and not unread):
        return found, ()
    text = f"parameters of {len(uncounted) - len(found)} layers are not counted"
    more = unread or f": {INSTALL_H5PY} to read them from the weights"
    return found, (Notice("uncounted-parameters", text + more, uncounted[0].path, strict=False),)


def _unconnected_notice(model: Mapping[str, Any], unread: str) -> Notice:
    """Return the notice for a model whose layers were found without their calls."""
    text = f"the file does not say how the layers of a {model['class_name']} call each other: none are connected"
    more = "" if has_h5py() else f"; some may be missing: {INSTALL_H5PY}"
    return Notice("unconnected-layers", text + unread + more, layer_name(model), strict=False)


def _set_layer_attributes(node: NodeDef, layer: LayerNode, fact: Known | None = None) -> None:
    """Set class, dtype and known output shapes of a layer as attributes of its node."""
    kind = layer.json.get("class_name")
    if isinstance(kind, str):
        node.attr["keras_class"].s = kind.encode()
    dtype = _layer_dtype(layer_config(layer.json).get("dtype"))
    if dtype is not None:
        node.attr["dtype"].type = dtype
    if fact is not None and any(shape is not None for shape in fact.outputs):
        node.attr["_output_shapes"].list.shape.extend(map(_shape_message, fact.outputs))


def _with_compile_settings(root: Known, parsed: Any) -> Known:
    """Add the compile settings to the configuration of the outermost model."""
    settings = (parsed.get(key) for key in COMPILE_KEYS) if isinstance(parsed, dict) else ()
    found = next((setting for setting in settings if isinstance(setting, dict)), {})
    return replace(root, config={**root.config, **hash_deep_values(found)})


def _shape_message(shape: Shape) -> TensorShapeProto:
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if dim is None else dim) for dim in shape])


def _tensorboard_graph(whole: Mapping[str, Any]) -> GraphDef:
    """Return the graph of a model as TensorBoard draws it: only class and dtype, edges without output numbers."""
    graph = GraphDef()
    for layer in walk_layers(build_layer_tree(whole, opened=False)):
        node = graph.node.add(name=layer.path)
        node.input.extend(source.path for source in input_layers(layer))
        _set_layer_attributes(node, layer)
    return graph


def _find_model(parsed: Any, name: str) -> Mapping[str, Any]:
    """Return the model in the JSON: the JSON itself, a bare configuration, or a wrapped one. Raises UnknownFormat."""
    parsed = _model_topology(parsed)
    if isinstance(parsed, dict) and isinstance(parsed.get("model_config"), dict):
        parsed = parsed["model_config"]
    if not isinstance(parsed, dict):
        raise UnknownFormat(f"{name} is JSON, but no Keras model", hint="write model.to_json() to a file")
    if "class_name" not in parsed and isinstance(parsed.get("layers"), list):
        parsed = {"class_name": "Model", "config": parsed}
    if "class_name" not in parsed or "config" not in parsed:
        raise UnknownFormat(f"{name} is JSON, but no Keras model", hint="write model.to_json() to a file")
    model: dict[str, Any] = parsed
    return model


def _layer_dtype(dtype: Any) -> int | None:
    """Return the number of a layer's dtype; None if its JSON does not name one dtype.

    >>> _layer_dtype("float32"), _layer_dtype({"config": {"name": "int64"}}), _layer_dtype("mixed_float16")
    (1, 9, None)
    """
    if isinstance(dtype, dict):
        dtype = layer_config(dtype).get("name")
    if not isinstance(dtype, str):
        return None
    try:
        return DataType.Value(DTYPE_NAMES.get(dtype, f"DT_{dtype.upper()}"))
    except ValueError:
        return None
