"""Order nodes and functions independently of the hash tables of the program that wrote the file.

TensorFlow writes the functions of a graph, and all nodes of a frozen one, in a different order on every run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from graphviz_tb.graphs.calls import functions_named_by
from graphviz_tb.model.paths import DIGIT_RUN, without_digits
from graphviz_tb.ops.roles import CONSTANT_OPS
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.unwrap.calls import input_node

FROZEN_VARIABLE_NAME = re.compile(r".*/resource", re.DOTALL)  # the frozen input of a ReadVariableOp


def sort_graph(graph: GraphDef, by_inputs: bool) -> GraphDef:
    """Sort the functions in calling order and, with `by_inputs`, the nodes in order of demand.

    Returns the same graph if nothing changes.
    """
    functions = graph.library.function
    library = {function.signature.name: function for function in functions}
    names_by_call = list(_functions_in_call_order(graph.node, library)) if len(functions) > 1 else list(library)
    # Functions without a caller are sorted by name: their order in the file is arbitrary.
    names = names_by_call + sorted(library.keys() - set(names_by_call), key=_name_counter_key)
    nodes = _sort_by_demand(graph.node) if by_inputs else graph.node
    if nodes is graph.node and names == [function.signature.name for function in functions]:
        return graph
    sorted_graph = GraphDef(versions=graph.versions, node=nodes)
    sorted_graph.library.gradient.extend(graph.library.gradient)
    sorted_graph.library.function.extend(library[name] for name in names)
    return sorted_graph


def _name_counter_key(name: str) -> tuple[str, list[int]]:
    """Return a sort key: the name without digits, then its numbers.

    >>> sorted(["f_10", "f_9", "e_11"], key=_name_counter_key)
    ['e_11', 'f_9', 'f_10']
    """
    # 18 digits: more than any counter has, fewer than `int` refuses.
    return without_digits(name), [int(digits[:18]) for digits in DIGIT_RUN.findall(name)]


def _functions_in_call_order(nodes: Sequence[NodeDef], library: Mapping[str, FunctionDef]) -> Iterator[str]:
    """Yield the functions that nodes call, each after its first caller."""
    seen: set[str] = set()
    # A stack of iterators, one per function: depth first without recursion.
    work = [chain.from_iterable(functions_named_by(node, library) for node in nodes)]
    while work:
        name = next(work[-1], None)
        if name is None:
            work.pop()
        elif name not in seen:
            seen.add(name)
            yield name
            work.append(chain.from_iterable(functions_named_by(node, library) for node in library[name].node_def))


def is_frozen_order(nodes: Sequence[NodeDef]) -> bool:
    """Return whether all nodes without inputs come first, frozen variables among them, as only freezing writes."""
    frozen = inside = False
    for node in nodes:
        if node.input:
            inside = True
        elif inside:
            return False
        frozen = frozen or (node.op in CONSTANT_OPS and FROZEN_VARIABLE_NAME.fullmatch(node.name) is not None)
    return frozen and inside


def _sort_by_demand(nodes: Sequence[NodeDef]) -> list[NodeDef]:
    """Sort nodes after their inputs, first input first, starting from unused nodes by name, then from cycles."""
    inputs = {node.name: list(node.input) for node in nodes}
    if len(inputs) < len(nodes):
        return list(nodes)  # duplicate names: keep the order of the file
    used = set(map(input_node, set(chain.from_iterable(inputs.values()))))
    order: list[str] = []
    entered: set[str] = set()
    # Nodes that unused nodes do not reach are on cycles.
    for starts in (inputs.keys() - used, inputs.keys() & used):
        for end in sorted(starts - entered, key=_name_counter_key):
            work = [(end, _ordered_sources(inputs[end]))] if end not in entered else []
            entered.add(end)
            while work:
                name, sources = work[-1]
                for source in sources:
                    if source in inputs and source not in entered:
                        entered.add(source)
                        work.append((source, _ordered_sources(inputs[source])))
                        break
                else:
                    order.append(name)
                    work.pop()
    node_by_name = {node.name: node for node in nodes}
    return [node_by_name[name] for name in order]


def _ordered_sources(inputs: Sequence[str]) -> Iterator[str]:
    """Return an iterator of a node's sources: tensors by position, then control inputs by name."""
    tensors = [input_node(text) for text in inputs if not text.startswith("^")]
    waits = sorted((text[1:] for text in inputs if text.startswith("^")), key=_name_counter_key)
    return iter([*tensors, *waits])
