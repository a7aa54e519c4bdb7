"""From messages to columns: names, edges, functions, marks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphviz_tb.flatten.build import assemble
from graphviz_tb.flatten.edges import resolve
from graphviz_tb.flatten.functions import find_calls, result_nodes
from graphviz_tb.flatten.handed import find_handed
from graphviz_tb.flatten.lazily import Lazily
from graphviz_tb.flatten.marks import settle_marks
from graphviz_tb.flatten.nodes import list_nodes
from graphviz_tb.flatten.pytorch import call_by_kind, is_pytorch
from graphviz_tb.flatten.weight_names import name_weights
from graphviz_tb.flatten.weights import find_weights
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.options import FlattenOptions

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef


def flatten(
    graph_def: GraphDef,
    options: FlattenOptions = FlattenOptions(),  # noqa: B008
    layers: Mapping[str, Layer] = MappingProxyType({}),
) -> Graph:
    """Make the flat graph of `graph_def`; `layers` says by name which nodes and scopes are Keras layers.

    Before: any message, however odd its names. After: every node is a row and every input that names a node is an
    edge; inputs that name none, and names that occur twice, are notices (errors with `options.strict`:
    `UnknownInput`, `DuplicateNode`).

    >>> from graphviz_tb.proto import GraphDef
    >>> graph = flatten(GraphDef(node=[{"name": "a", "op": "Relu"}, {"name": "b", "op": "Add", "input": ["a", "a:1"]}]))
    >>> graph.name, graph.source.tolist(), [graph.keys[key] for key in graph.key]
    (['a', 'b'], [0, 0], ['0', '1'])
    """
    # Names and inputs as lists, then inputs as numbers of nodes.
    nodes = list_nodes(graph_def, options)
    edges = resolve(nodes, options)
    calls = find_calls(nodes, graph_def)
    functions = result_nodes(nodes, graph_def)
    # A weight is drawn beside its users; TensorBoard draws variables as ops.
    carried = (
        None
        if options.tensorboard or options.show_variables
        else find_weights(nodes, edges, calls, functions, graph_def)
    )
    handed, called = (None, {}) if options.tensorboard else find_handed(nodes, edges)
    marks = settle_marks(nodes, edges, options, carried, None if options.show_variables else handed)
    weights = name_weights(nodes, marks.edges, marks.mark, marks.beside, carried, graph_def) if carried else {}
    # PyTorch names nodes after values ("530"), so they are called by their kind; elsewhere only some arguments are.
    kinds = call_by_kind(nodes, marks.mark, graph_def) if not options.tensorboard and is_pytorch(nodes) else called
    # On demand: a picture shows some dozens of the 100,000 weights that a graph may have.
    labels = Lazily((*kinds, *weights), lambda node: weights[node].label if node in weights else kinds[node])
    return assemble(graph_def, nodes, marks, functions, calls, labels, weights, layers)
