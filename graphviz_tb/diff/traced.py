"""A trace of PyTorch as `print(model)` says it: modules and the ops in them, with what each is given.

A trace has a node for every number, list and parameter, which several modules share, and counts its names anew when
anything comes or goes. Compared is a graph without these: a module that is one op bears the module's name, any other op
that of its kind, and numbers and parameters are attributes of the op that takes them.

Net/Block[0]/705 (0.1) ─▶ Net/Block[0]/Dropout[drop]/y.1     Net/Block[0]/Dropout[drop]  p 0.1
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.graphs.traversal import node_depths
from graphviz_tb.interpret.pytorch import CONSTANT_OP, PARAMETER_OP, PORT_OP, is_pytorch_module, pytorch_label
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.paths import last_segment, natural_name_key
from graphviz_tb.ops.signatures import setting_input_name

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef

NOT_GIVEN = "None"
OWN, SHARED = "its own", "shared with "
SHAPE = "_output_shapes"
IMPLIED = ("groups", "normalized_shape")
CHANNELS = "one for each channel"


def modules(graph: Graph) -> GraphDef:
    """Before: a trace whose marks are known. After: its ops alone, each with its arguments as attributes."""
    from graphviz_tb.proto import GraphDef

    plumbing = (graph.mark == Mark.CONSTANT) | graph.nodes_of_types((CONSTANT_OP, PARAMETER_OP).__contains__)
    work = np.flatnonzero(~plumbing).tolist()
    names = names_of(graph, work)
    made = GraphDef()
    for node in work:
        definition = graph.graph_def.node[node]
        op = made.node.add(name=names[node], op=definition.op)
        if SHAPE in definition.attr:
            op.attr[SHAPE].CopyFrom(definition.attr[SHAPE])
        for slot, text in enumerate(definition.input):
            source = graph.index[0].get(text.partition(":")[0], -1)
            if source in names:
                op.input.append(names[source] + text[len(graph.name[source]) :])
            elif source < 0:
                op.input.append(text)
            else:
                for key, value in argument(graph, node, slot, source):
                    op.attr[key].s = value.encode("utf-8", "replace")
    return made


def argument(graph: Graph, node: int, slot: int, source: int) -> Iterator[tuple[str, str]]:
    """What an op is given at an input that is no tensor: the name of the argument and its value; of a parameter whose
    it is."""
    label = graph.labels.get(source, "")
    if graph.op_types[graph.op[source]] == PARAMETER_OP:
        owner = posixpath.dirname(posixpath.dirname(graph.name[source]))
        user = posixpath.dirname(graph.name[node])
        # A module is listed below its container, and called without it: the last segment says which it is.
        own = last_segment(owner) == last_segment(user) or not is_pytorch_module(last_segment(owner))
        yield label, OWN if own else f"{SHARED}{owner}"
    elif label != NOT_GIVEN:
        key = setting_input_name(graph.op_types[graph.op[node]], slot) or f"argument {slot}"
        value = implied(graph, node, key, label)
        if value:
            yield key, value


def implied(graph: Graph, node: int, key: str, label: str) -> str:
    """The value of an argument, without what the size of the first input says: a norm over all of it, a group for each
    of its channels."""
    if key not in IMPLIED:
        return label
    sizes = input_sizes(graph, node)
    if key == "groups":
        return CHANNELS if len(sizes) > 1 and sizes[1] > 1 and label == str(sizes[1]) else label
    norm = [part.strip() for part in label.strip("[]").split(",")]
    return "" if norm == [str(size) for size in sizes[-len(norm) :]] else label


def input_sizes(graph: Graph, node: int) -> list[int]:
    """The dimensions of the first input of an op, where they are known."""
    definition = graph.graph_def.node[node]
    source = graph.index[0].get(definition.input[0].partition(":")[0], -1) if definition.input else -1
    attributes = graph.graph_def.node[source].attr if source >= 0 else {}
    shapes = attributes[SHAPE].list.shape if SHAPE in attributes else []
    return [dim.size for dim in shapes[0].dim] if len(shapes) else []


def names_of(graph: Graph, work: Sequence[int]) -> dict[int, str]:
    """What each op is called: by its module where that is one op, else by its kind, counted in the order of flow."""
    below: dict[str, list[int]] = defaultdict(list)
    around: set[str] = set()
    for node in in_flow(graph, work):
        scope = posixpath.dirname(graph.name[node])
        below[scope].append(node)
        add_parents(around, scope)
    names: dict[int, str] = {}
    for scope, nodes in below.items():
        alone = len(nodes) == 1 and is_pytorch_module(last_segment(scope)) and scope not in around
        counts: dict[str, int] = defaultdict(int)
        for node in nodes:
            definition = graph.graph_def.node[node]
            # Outside of all modules there is nothing but the name of the value.
            if definition.op == PORT_OP or "::" not in definition.op or not scope:
                names[node] = graph.name[node]
                continue
            kind = pytorch_label(definition, []) or definition.op
            number = counts[kind]
            counts[kind] += 1
            own = f"{kind}_{number}" if number else kind
            names[node] = scope if alone else f"{scope}/{own}"
    return names


def add_parents(around: set[str], scope: str) -> None:
    """Add the scopes around a scope to a set that holds with each scope all that are around it."""
    while (scope := posixpath.dirname(scope)) and scope not in around:
        around.add(scope)


def in_flow(graph: Graph, work: Sequence[int]) -> list[int]:
    """Ops in the order of flow, the same whatever the order of the file."""
    depth = node_depths(graph)
    return sorted(work, key=lambda node: (depth[node], natural_name_key(graph.name[node])))
