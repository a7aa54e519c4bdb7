"""A baseline: a graph that is stored next to a test, and compared with later versions.

It is a GraphDef as JSON without the numbers that training changes, or the JSON of a Keras model. `load` and `tbgraph
diff` read it too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from google.protobuf.json_format import MessageToDict

from graphviz_tb.diff.columns.labels import (
    NOISE_ATTRIBUTES,
    SHAPE_ATTRIBUTES,
    argument_values,
    is_seed_counter,
    own_settings,
)
from graphviz_tb.diff.columns.values import plain_value
from graphviz_tb.diff.report.words import value_text
from graphviz_tb.diff.result import Changes
from graphviz_tb.diff.run import compare_sources, load_flat
from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_FUNCTION_NAME_LETTERS, MAX_SETTING_NUMBERS
from graphviz_tb.model.columns import exists
from graphviz_tb.model.facts import FoldedGraph
from graphviz_tb.model.formatting import printable
from graphviz_tb.model.graph import COLOCATION_ATTR, Graph
from graphviz_tb.model.measure import truncate_middle
from graphviz_tb.model.sources import LoadedGraph
from graphviz_tb.options import DiffOptions, ReadOptions
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.source import read_source

BASELINE_KEYS = ("dtype", "tensor_shape", "version_number")  # fields of a large tensor that a baseline keeps


def baseline(source: Any, **choices: Any) -> tuple[bytes, str]:
    """Return the baseline of a source, and the label of the graph. Equal graphs have equal bytes.

    `choices` are options of reading (`run`, `tag`, `signature`). Raises `RequestError` for layers without JSON.

    >>> baseline(b'node { name: "x" op: "Relu" }')[0]
    b'{\\n "node": [\\n  {\\n   "name": "x",\\n   "op": "Relu"\\n  }\\n ]\\n}\\n'
    """
    loaded = source.loaded if isinstance(source, FoldedGraph) else None
    loaded = loaded or read_source(source, ReadOptions(**choices))
    return (json.dumps(_baseline_document(loaded), indent=1, sort_keys=True) + "\n").encode(), loaded.label


def _baseline_document(loaded: LoadedGraph) -> dict[str, Any]:
    """Return a baseline as plain values."""
    if loaded.kind != "conceptual":
        values: dict[str, Any] = MessageToDict(_without_numbers(loaded.graph_def))
        return {"node": [], **values}
    if not loaded.described:
        hint = "model.export('folder') writes the graph of its ops: give that folder"
        raise RequestError(
            f"{loaded.label}: the layers are not in the JSON of the model, and make no baseline", hint=hint
        )
    described: dict[str, Any] = json.loads(loaded.described)
    return described


def _without_numbers(graph_def: GraphDef) -> GraphDef:
    """Return a copy of a graph without the numbers of large tensors: weights, vocabularies."""
    copy = GraphDef()
    copy.CopyFrom(graph_def)
    nodes = [*copy.node, *(node for function in copy.library.function for node in function.node_def)]
    for value in (node.attr[name] for node in nodes for name in node.attr):
        for tensor in (*([value.tensor] if value.HasField("tensor") else ()), *value.list.tensor):
            is_large = prod(dim.size for dim in tensor.tensor_shape.dim) > MAX_SETTING_NUMBERS
            for field, _ in tensor.ListFields() if is_large else ():
                if field.name not in BASELINE_KEYS:
                    tensor.ClearField(field.name)
    return copy


def since(kept: bytes, name: str, now: bytes, label: str, include: tuple[str, ...] = ()) -> Changes:
    """Return the changes from the baseline `kept` of the file `name` to the baseline `now` of the graph `label`.

    Raises `ReadError` where the baseline is damaged.
    """
    return replace(compare_sources(kept, now, DiffOptions.including(include), {}), old_name=name, new_name=label)


# A graph as lines, for tools that compare text: a line for each node, by name, then a line for each of its settings.
# Values that change with every build are left out.


def lines_of(source: Any) -> str:
    """Return a line for each node, with its op type and inputs, sorted, and a line for each setting below it. Nodes of
    functions have the function's name in front.

    >>> print(lines_of(b'node { name: "x" op: "Relu" attr { key: "alpha" value { f: 0.5 } } }'), end="")
    x Relu ()
    x alpha=0.5
    """
    graph = load_flat(source, {}, 0).graph
    functions = [f"{truncate_middle(function.name, MAX_FUNCTION_NAME_LETTERS)}::" for function in graph.functions]
    nodes = sorted(_lines(graph, node, functions) for node in range(len(graph)))
    return "".join(f"{line}\n" for lines in nodes for line in lines)


def _lines(graph: Graph, node: int, functions: list[str]) -> list[str]:
    function = int(graph.function[node])
    # "function::node": names of nodes are unique within a function only.
    name = f"{functions[function] if exists(function) else ''}{graph.name[node]}"
    definition = graph.node_def(node)
    layer = graph.layers.get(graph.name[node])
    op = (layer.class_name if layer else graph.op_types[graph.op[node]]) or "-"
    head = f"{name} {op}" if definition is None else f"{name} {op} ({', '.join(definition.input)})"
    settings: dict[str, str] = {}
    if definition is not None:
        settings = {
            key: value_text(plain_value(definition.attr[key]))
            for key in sorted(definition.attr)
            if key not in NOISE_ATTRIBUTES | SHAPE_ATTRIBUTES | {COLOCATION_ATTR}
            and not is_seed_counter(key, definition.attr)
        }
    if layer:
        settings |= _flat_settings(own_settings(layer.config))
        calls = list(filter(None, map(argument_values, layer.arguments)))
        for number, call in enumerate(calls, 1):
            settings |= _flat_settings(call, f"call {number}: " if len(calls) > 1 else "argument ")
    # Each line has the name of its node, since a comparison shows lines without their surroundings.
    return [_escape_line(head), *(_escape_line(f"{name} {key}={text}") for key, text in settings.items())]


def _flat_settings(settings: Any, before: str = "") -> dict[str, str]:
    """Return settings as texts; nested settings have keys with dots.

    >>> _flat_settings({"units": 4, "init": {"class_name": "Zeros", "seed": None}})
    {'init.class_name': 'Zeros', 'init.seed': 'null', 'units': '4'}
    """
    found: dict[str, str] = {}
    todo = [(before, settings)]
    while todo:
        key, inner = todo.pop()
        if isinstance(inner, Mapping) and inner:
            start = key if key == before else f"{key}."
            todo += [(f"{start}{word}", inner[word]) for word in sorted(inner, key=str, reverse=True)]
        elif key != before:
            word = isinstance(inner, str)
            found[key] = inner if word else json.dumps(inner, sort_keys=True, ensure_ascii=False, default=str)
    return found


def _escape_line(line: str) -> str:
    """Escape a line as JSON does, without the quotes, so that no name can end it."""
    return printable(json.dumps(line, ensure_ascii=False)[1:-1])
