"""A Keras model's JSON to a conceptual graph: one node for each layer, edges as the layers call each other.

TensorBoard's rules, with its slips mended: Keras 2's inbound nodes count, the layers inside a nested model
are fed by whatever feeds the model, and a name means the layer of its own model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from graphviz_tb.errors import MalformedText, NoGraph, UnknownFormat
from graphviz_tb.model.layers import Layer as Known
from graphviz_tb.model.loaded import Entry
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.tensors import Shape
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import DataType, GraphDef, NodeDef, TensorShapeProto
from graphviz_tb.read.holding import Content, Found, Holding
from graphviz_tb.read.keras.facts import layer_facts
from graphviz_tb.read.keras.subclassed import completed
from graphviz_tb.read.keras.weights_file import INSTALL, Weights, readable
from graphviz_tb.read.limits import check_json
from graphviz_tb.read.opened import Opened

SEPARATOR = "/"
HALF_A_LETTER = re.compile(rb"\\u[dD][89a-fA-F]")  # the escape of a surrogate, which may occur alone
COMPILED = ("compile_config", "training_config")  # how a model is compiled: Keras 3, Keras 2
SPECIAL_TYPES = {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE"}


@dataclass(eq=False)
class Layer:
    """One layer; a model if it has layers of its own. `feeds` are the calls of it: lists of references."""

    name: str
    json: Mapping[str, Any]
    parent: Layer | None
    children: dict[str, Layer] = field(default_factory=dict)
    order: list[Layer] = field(default_factory=list)
    is_model: bool = False
    before: Layer | None = None  # the layer listed before it

    @cached_property
    def path(self) -> str:
        """Its name after those of the models around it."""
        names = []
        layer: Layer | None = self
        while layer is not None:
            names.append(layer.name)
            layer = layer.parent
        return SEPARATOR.join(reversed(names))

    @cached_property
    def calls(self) -> list[list[Reference]] | None:
        """The calls of the layer, each a list of references; None where the JSON does not say (a sequence)."""
        return _inbound(self.json)

    @cached_property
    def places(self) -> dict[str, int]:
        """Of a model: which of its inputs a layer is, by name."""
        names = [name for name, _ in _triples(_config(self.json).get("input_layers"))]
        return {name: place for place, name in reversed(list(enumerate(names)))}

    @cached_property
    def outputs(self) -> list[Reference]:
        """Of a model: the layers that make its outputs, and which of theirs."""
        return list(_triples(_config(self.json).get("output_layers")))


Reference = tuple[str, int]  # the name of a layer in the same model, and which of its outputs


def read_keras(opened: Opened, options: ReadOptions) -> Holding:
    """Before: a JSON file. After: the conceptual graph in it."""
    data = opened.data()
    if opened.bounded:
        check_json(data, opened.on_disk(data), opened.name)
    content = conceptual_graph(data, opened.name)
    entry = Entry("conceptual", bytes=len(data), format="Keras model")
    return Holding((Found(entry, lambda: content),), what=opened.name)


def conceptual_graph(data: bytes, name: str, weights: Callable[[], Weights] = dict) -> Content:
    """Before: the JSON of a model; `weights` says what is kept for each object of one whose layers are not in it.
    After: a GraphDef of its layers, in the order they are listed.

    >>> layers = [{"class_name": "Dense", "config": {"name": each}} for each in "ab"]
    >>> text = json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}})
    >>> [(node.name, *node.input) for node in conceptual_graph(text.encode(), "x").graph_def.node]
    [('m/a',), ('m/b', 'm/a')]
    """
    parsed = _parsed(data, name)
    told = _model(parsed, name)
    whole = told if _layers(told) is not None else completed(told, weights())
    if _layers(whole) is None:
        raise NoGraph(f"{name}: the model is a {whole['class_name']} whose layers are not in its JSON", hint=_hint())
    notices = () if whole is told else (_unconnected(whole),)
    model = tree(whole)
    layers = list(walk(model))
    facts = layer_facts(layers, list(models(model)), calls)
    facts[model] = compiled(facts[model], parsed)
    graph = GraphDef()
    for layer in layers:
        node = graph.node.add(name=layer.path, op=facts[layer].class_name)
        node.input.extend(source.path for source in inputs(layer))
        describe(node, layer, facts[layer])
    return Content(graph, notices, layers={layer.path: fact for layer, fact in facts.items()})


def _hint() -> str:
    """How to see a model whose JSON has no layers."""
    hint = "write its op graph with model.export('folder') and give that folder"
    return hint if readable() else f"{INSTALL} to read them from the weights of a .keras file, or {hint}"


def _unconnected(model: Mapping[str, Any]) -> Notice:
    """Said of a model whose layers were found without the calls of them."""
    text = f"the file does not say how the layers of a {model['class_name']} call each other: none are connected"
    more = "" if readable() else f"; some may be missing: {INSTALL}"
    return Notice("unconnected-layers", text + more, _name(model), strict=False)


def describe(node: NodeDef, layer: Layer, fact: Known) -> None:
    """Write on a node what its layer is: class, dtype, shapes."""
    kind = layer.json.get("class_name")
    if isinstance(kind, str):
        node.attr["keras_class"].s = kind.encode()
    dtype = data_type(_config(layer.json).get("dtype"))
    if dtype is not None:
        node.attr["dtype"].type = dtype
    if any(shape is not None for shape in fact.outputs):
        node.attr["_output_shapes"].list.shape.extend(map(shape_message, fact.outputs))


def compiled(root: Known, parsed: Any) -> Known:
    """How a model is compiled is part of the configuration of the outermost one."""
    settings = (parsed.get(key) for key in COMPILED) if isinstance(parsed, dict) else ()
    return replace(
        root, config={**root.config, **next((setting for setting in settings if isinstance(setting, dict)), {})}
    )


def shape_message(shape: Shape) -> TensorShapeProto:
    """A shape as a message."""
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if dim is None else dim) for dim in shape])


def plain(graph: GraphDef) -> GraphDef:
    """The same graph as TensorBoard makes it: without op types, with class and dtype alone."""
    made = GraphDef()
    made.CopyFrom(graph)
    for node in made.node:
        node.op = ""
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
    return made


def _parsed(data: bytes, name: str) -> Any:
    """The values of the JSON; halves of letters, which no name can hold, become question marks."""
    try:
        parsed = json.loads(data.decode(json.detect_encoding(data)))
        if HALF_A_LETTER.search(data):
            parsed = json.loads(json.dumps(parsed, ensure_ascii=False).encode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise MalformedText(f"{name}: no JSON: {error.msg}", line=error.lineno, column=error.colno) from None
    except UnicodeDecodeError as error:
        raise MalformedText(f"{name}: no JSON: not {error.encoding.upper()}", line=1, column=1) from None
    except RecursionError:
        raise MalformedText(f"{name}: no JSON: nested too deep", line=1, column=1) from None
    except ValueError:  # int() of more digits than Python reads
        raise MalformedText(f"{name}: no JSON: a number of thousands of digits", line=1, column=1) from None
    return parsed


def _model(parsed: Any, name: str) -> Mapping[str, Any]:
    """The model in the JSON: itself, a bare configuration, or what an old file wraps."""
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


# the tree of layers


def tree(model: Mapping[str, Any]) -> Layer:
    """Before: a model's JSON. After: its layers under it, and theirs under them."""
    root = Layer(_name(model), model, None, is_model=True)
    waiting = [root]
    while waiting:
        layer = waiting.pop()
        before = None
        for json_layer in _layers(layer.json) or ():
            if not isinstance(json_layer, dict):
                continue
            child = Layer(_name(json_layer), json_layer, layer, before=before)
            child.is_model = _layers(json_layer) is not None
            layer.children.setdefault(child.name, child)
            layer.order.append(child)
            before = child
            if child.is_model:
                waiting.append(child)
    return root


def models(model: Layer) -> Iterator[Layer]:
    """The model and those inside it, each after the one around it."""
    waiting = [model]
    for layer in waiting:
        yield layer
        waiting += [child for child in layer.order if child.is_model]


def walk(model: Layer) -> Iterator[Layer]:
    """The layers that are no models, in the order they are listed."""
    waiting = [model]
    while waiting:
        layer = waiting.pop()
        if layer.is_model:
            waiting += reversed(layer.order)
        else:
            yield layer


def _config(json_layer: Mapping[str, Any]) -> Mapping[str, Any]:
    config = json_layer.get("config")
    return config if isinstance(config, dict) else {}


def _layers(json_layer: Mapping[str, Any]) -> list[Any] | None:
    config = json_layer.get("config")
    if isinstance(config, list) and json_layer.get("class_name") == "Sequential":  # Keras 1
        return config
    layers = config.get("layers") if isinstance(config, dict) else None
    return layers if isinstance(layers, list) else None


def _name(json_layer: Mapping[str, Any]) -> str:
    for name in (_config(json_layer).get("name"), json_layer.get("name")):
        if isinstance(name, str):
            return name
    return str(json_layer.get("class_name", "layer")).lower()


# edges


def inputs(layer: Layer) -> list[Layer]:
    """Before: a layer that is no model. After: the layers whose outputs it takes, in order."""
    return [source for call in calls(layer) for source, _ in call]


def calls(layer: Layer) -> list[list[tuple[Layer, int]]]:
    """Before: a layer that is no model. After: for each call of it what it takes: layers, and which output of each."""
    fed = [[output(*each) for each in call] for call in _feeds(layer)]
    return [[source for source in call if source is not None] for call in fed]


def _feeds(layer: Layer) -> list[list[tuple[Layer, int]]]:
    """What each call of a layer is given: layers of its own model, or what feeds the model if it is an input of it."""
    parent = layer.parent
    if parent is None:
        return []
    calls = layer.calls
    if calls:
        return [[(parent.children[name], index) for name, index in call if name in parent.children] for call in calls]
    if calls is None and layer.before is not None and not _is_input(layer, parent):
        return [[(layer.before, 0)]]
    return [[each] for each in _from_outside(layer, parent)]


def _from_outside(layer: Layer, model: Layer) -> list[tuple[Layer, int]]:
    """What feeds an input of a nested model: the same place of each call; each layer once."""
    while True:
        place = _place(layer, model)
        if place is None or model.parent is None:
            return []
        outer = model.parent
        calls = model.calls
        if calls:
            feeds = [call[place] for call in calls if place < len(call)]
            return list(dict.fromkeys((outer.children[name], index) for name, index in feeds if name in outer.children))
        if calls is None and model.before is not None and not _is_input(model, outer):
            return [(model.before, place)]
        layer, model = model, outer


def _place(layer: Layer, model: Layer) -> int | None:
    """Which input of a model a layer is; None if it is none."""
    if layer.name in model.places:
        return model.places[layer.name]
    return 0 if not model.places and model.order[0] is layer else None


def _is_input(layer: Layer, model: Layer) -> bool:
    return _place(layer, model) is not None


def output(layer: Layer, index: int) -> tuple[Layer, int] | None:
    """The layer that makes an output of a layer, and which of its own that is: itself, or one inside if it is a
    model."""
    while layer.is_model:
        if not layer.order:
            return None
        if layer.outputs:
            name, inner = layer.outputs[max(0, min(index, len(layer.outputs) - 1))]
            layer, index = layer.children.get(name, layer.order[-1]), inner
        else:
            layer, index = layer.order[-1], 0
    return layer, index


def _inbound(json_layer: Mapping[str, Any]) -> list[list[Reference]] | None:
    """What the JSON says of the calls of a layer."""
    nodes = json_layer.get("inbound_nodes")
    if not isinstance(nodes, list):
        return None
    return [list(_references(node)) for node in nodes]


def _references(node: Any) -> Iterator[Reference]:
    """Keras 3: tensors with a history anywhere in the arguments; Keras 2: [name, call, output, arguments]."""
    if isinstance(node, dict):
        yield from _histories(node)
    else:
        yield from _triples(node)


def _histories(value: Any) -> Iterator[Reference]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            history = _config(value).get("keras_history")
            if isinstance(history, list):
                yield from _triples(history)
            else:
                waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def _triples(value: Any) -> Iterator[Reference]:
    """Every [name, call, output] in nested lists and dicts; a bare name is its first output."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value, 0
        elif isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            if len(value) >= 3 and isinstance(value[0], str) and isinstance(value[2], int):
                yield value[0], value[2]
                waiting += [each for each in value[3:] if isinstance(each, dict)]
            else:
                waiting += reversed(value)


# types


def data_type(dtype: Any) -> int | None:
    """The type that a layer computes in, where its JSON names one type.

    >>> data_type("float32"), data_type({"config": {"name": "int64"}}), data_type("mixed_float16")
    (1, 9, None)
    """
    if isinstance(dtype, dict):
        dtype = _config(dtype).get("name")
    if not isinstance(dtype, str):
        return None
    try:
        return DataType.Value(SPECIAL_TYPES.get(dtype, f"DT_{dtype.upper()}"))
    except ValueError:
        return None
