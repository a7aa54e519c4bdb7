"""A graph in lines, for tools that compare text: one line a node, by name, nothing that a rebuild changes."""

from __future__ import annotations

import json
from typing import Any

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.labels import COLOCATION, NOISE, SHAPES, is_counter
from graphviz_tb.diff.columns.meaning import settings_alone, values_of
from graphviz_tb.diff.columns.values import plain
from graphviz_tb.diff.report.explain import printable
from graphviz_tb.diff.report.words import value
from graphviz_tb.diff.run import load_flat
from graphviz_tb.limits import FUNCTION_NAME
from graphviz_tb.model.graph import Graph


def lines_of(source: Any) -> str:
    """Every node with its op type, its inputs and its attributes, sorted; functions behind the main graph."""
    graph = load_flat(source, {}, 0).graph
    functions = [f"{shortened(function.name)}::" for function in graph.functions]
    lines = sorted(_line(graph, node, functions) for node in range(len(graph)))
    return "".join(f"{line}\n" for line in lines)


def shortened(name: str) -> str:
    """The name of a function without its middle, where it is too long to be said with every node.

    >>> shortened("f"), len(shortened("f" * 1000))
    ('f', 200)
    """
    half = FUNCTION_NAME // 2
    return name if len(name) <= FUNCTION_NAME else f"{name[: half - 1]}…{name[-half:]}"


def _line(graph: Graph, node: int, functions: list[str]) -> str:
    function = int(graph.function[node])
    # "function::node": names of nodes are unique within a function only.
    where = functions[function] if exists(function) else ""
    definition = graph.node_def(node)
    layer = graph.layers.get(graph.name[node])
    op = layer.class_name if layer else graph.op_types[graph.op[node]]
    words = [f"{where}{graph.name[node]}", op or "-"]
    if definition is not None:
        words.append(f"({', '.join(definition.input)})")
        words += [
            f"{key}={value(plain(definition.attr[key]))}"
            for key in sorted(definition.attr)
            if key not in NOISE | SHAPES | COLOCATION and not is_counter(key, definition.attr)
        ]
    if layer:
        words += [
            plain_text(settings_alone(layer.config)),
            *map(plain_text, filter(None, map(values_of, layer.arguments))),
        ]
    # Quoted as JSON does it, without the quotes: a name cannot end its line.
    return printable(json.dumps(" ".join(words), ensure_ascii=False)[1:-1])


def plain_text(value: Any) -> str:
    """A plain value on one line."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
