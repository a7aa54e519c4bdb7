"""Stage `flatten`: convert messages to columns of names, edges and functions; with TensorBoard's preset also marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from graphviz_tb.flatten.build import (
    build_graph,
    find_calls,
    find_duplicates,
    list_functions,
    list_nodes,
    missing_function_notices,
    resolve_inputs,
    wrong_input_counts,
)
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.options import FlattenOptions


def flatten(
    graph_def: GraphSource,
    options: FlattenOptions = FlattenOptions(),  # noqa: B008
    layers: Mapping[str, Layer] = MappingProxyType({}),
) -> Graph:
    """Make the flat graph of a GraphDef; `layers` are the nodes and scopes that are Keras layers, by name.

    Every node becomes a row, and every input that names a node an edge. Inputs that name none, and duplicate names,
    become notices (errors with `options.strict`: `UnknownInput`, `DuplicateNode`); so do calls of functions that the
    file lacks.

    >>> from graphviz_tb.proto import GraphDef
    >>> graph = flatten(GraphDef(node=[{"name": "a", "op": "Relu"}, {"name": "b", "op": "Add", "input": ["a", "a:1"]}]))
    >>> graph.name, graph.source.tolist(), [graph.keys[key] for key in graph.key]
    (['a', 'b'], [0, 0], ['0', '1'])
    """
    # Names and inputs as lists, then inputs as numbers of nodes.
    nodes = list_nodes(graph_def)
    twice = tuple(find_duplicates(nodes, graph_def, options.strict))
    # A layer of Keras may be called as an op, and takes as many inputs as the program gives it.
    counts = () if layers or options.tensorboard else wrong_input_counts(nodes, graph_def, options.strict)
    edges = resolve_inputs(nodes, options)
    calls, missing = find_calls(nodes, graph_def)
    functions = list_functions(nodes, graph_def)
    embedded = None
    if options.tensorboard:
        from graphviz_tb.flatten.tensorboard import embed_marks

        embedded = embed_marks(nodes, edges)
    graph = build_graph(graph_def, nodes, edges, functions, calls, layers, embedded)
    return replace(
        graph, missing=missing, notices=(*twice, *counts, *graph.notices, *missing_function_notices(nodes, missing))
    )
