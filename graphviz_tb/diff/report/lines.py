"""A graph in lines, for tools that compare text: one line a node, by name, and behind it one a setting; nothing that a
rebuild changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.labels import NOISE, SHAPES, is_counter
from graphviz_tb.diff.columns.meaning import settings_alone, values_of
from graphviz_tb.diff.columns.values import plain
from graphviz_tb.diff.report.explain import printable
from graphviz_tb.diff.report.words import value
from graphviz_tb.diff.run import load_flat
from graphviz_tb.limits import MAX_FUNCTION_NAME_LETTERS
from graphviz_tb.model.graph import COLOCATION_ATTR, Graph
from graphviz_tb.model.measure import truncate_middle


def lines_of(source: Any) -> str:
    """Every node with its op type and its inputs, sorted, its settings below it; functions behind the main graph.

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
            key: value(plain(definition.attr[key]))
            for key in sorted(definition.attr)
            if key not in NOISE | SHAPES | {COLOCATION_ATTR} and not is_counter(key, definition.attr)
        }
    if layer:
        settings |= apart(settings_alone(layer.config))
        calls = list(filter(None, map(values_of, layer.arguments)))
        for number, call in enumerate(calls, 1):
            settings |= apart(call, f"call {number}: " if len(calls) > 1 else "argument ")
    # Each line has the name of its node: a comparison shows lines by themselves.
    return [written(head), *(written(f"{name} {key}={text}") for key, text in settings.items())]


def apart(settings: Any, before: str = "") -> dict[str, str]:
    """Settings one by one, those within others by their keys.

    >>> apart({"units": 4, "init": {"class_name": "Zeros", "seed": None}})
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


def written(line: str) -> str:
    """A line as it is written: quoted as JSON does it, without the quotes, so that no name can end it."""
    return printable(json.dumps(line, ensure_ascii=False)[1:-1])
