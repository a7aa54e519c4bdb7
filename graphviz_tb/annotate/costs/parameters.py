"""Which nodes bring weights: variables, and the constants that freezing makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from graphviz_tb.annotate.costs.owners import origins, users_of
from graphviz_tb.annotate.dtypes import output_dtypes
from graphviz_tb.annotate.infer.engine import Inference
from graphviz_tb.annotate.infer.symbols import fixed
from graphviz_tb.annotate.infer.values import Dims
from graphviz_tb.annotate.layer_nodes import layer_nodes
from graphviz_tb.model.dtypes import dtype_name
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import BRANCHES

VARIABLES = frozenset({"VarHandleOp", "Variable", "VariableV2"})
ARGUMENTS = frozenset({"Placeholder", "_Arg"})
THROUGH = frozenset(
    ("Identity", "ReadOnlyIdentity", "Enter", "Reshape", "Cast", "Transpose", "ExpandDims", "Squeeze", "Dequantize")
)
FLOATS = frozenset({"float32", "float64", "float16", "bfloat16", "int8", "uint8", "qint8", "quint8"})

# Inputs that take weights where they are constants. https://www.tensorflow.org/api_docs/python/tf/raw_ops
SLOTS = {
    **dict.fromkeys(["Conv2D", "Conv3D", "DepthwiseConv2dNative", "Dilation2D", "BiasAdd"], (1,)),
    **dict.fromkeys(["MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"], (1,)),
    **dict.fromkeys(["Conv2DBackpropInput", "Conv3DBackpropInputV2"], (1,)),
    **dict.fromkeys(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"], (1, 2, 3, 4)),
    **dict.fromkeys(["Gather", "GatherV2"], (0,)),
    **dict.fromkeys(["QuantizedConv2D", "QuantizedMatMul"], (1,)),
}
FROZEN = re.compile(r"/(ReadVariableOp|Read)(_\d+)?(/resource)?$|/read$|/resource$")


class Weight(NamedTuple):
    """A node that brings weights: how many, and their dtype."""

    node: int
    elements: int
    dtype: str


def weights_of(inference: Inference, roles: Sequence[int]) -> Iterator[Weight]:
    """Every variable once, though several nodes may name it, and every one that is handed in as an argument; in a graph
    without any, constants in their places. A Keras layer that is a node brings what its class keeps."""
    graph = inference.graph
    seen: set[str] = set()
    variables = nodes_of(graph, VARIABLES)
    for node in variables:
        definition = graph.node_def(node)
        if definition is None:
            continue
        # Several handles of one `shared_name` are one variable.
        shared = definition.attr["shared_name"].s.decode("utf-8", "replace") if "shared_name" in definition.attr else ""
        name = shared or graph.name[node]
        out = inference.first(node)
        # A handle is a scalar; the variable has the shape of what it holds.
        shape = out.held if definition.op == "VarHandleOp" else out.shape
        if name not in seen and fixed(shape):
            seen.add(name)
            number = definition.attr["dtype"].type if "dtype" in definition.attr else 0
            yield Weight(node, count(shape), dtype_name(number))
    given = list(handed_in(graph, roles))
    yield from given
    # A frozen graph has constants where others have variables; beside variables, constants are no weights.
    if not variables and not given:
        yield from constants(inference)
        yield from kept_by_layers(graph)


def handed_in(graph: Graph, roles: Sequence[int]) -> Iterator[Weight]:
    """The arguments of the main graph that are handles of variables, as a traced function captures them.

    Those that only an optimizer uses are none of the network's, nor are single numbers that are counted up (metrics)
    and whole numbers (the states of random generators).
    """
    makers, counters, users = origins(graph), written(graph), users_of(graph, roles)
    seen: set[int] = set()
    for mark, weight in graph.meaning.weights.items():
        node = makers.get(mark, mark)
        argument = graph.function[node] < 0 and graph.op_types[graph.op[node]] in ARGUMENTS
        sizes = None if weight.shape is None else tuple(size for size in weight.shape if size is not None)
        whole = sizes is not None and len(sizes) == len(weight.shape or ())
        if (
            argument
            and whole
            and weight.dtype in FLOATS
            and node in users
            and node not in seen
            and (sizes or node not in counters)
        ):
            seen.add(node)
            yield Weight(node, count(sizes), weight.dtype)


def unsized_weights(graph: Graph, roles: Sequence[int]) -> list[int]:
    """The nodes that bring weights of the network whose size the file does not say."""
    unsized = [
        mark
        for mark, weight in graph.meaning.weights.items()
        if (weight.shape is None or None in weight.shape) and (weight.dtype in FLOATS or not weight.dtype)
    ]
    if not unsized:
        return []
    makers, users = origins(graph), users_of(graph, roles)
    return sorted({makers.get(mark, mark) for mark in unsized} & users.keys())


def kept_by_layers(graph: Graph) -> Iterator[Weight]:
    """The nodes of a conceptual graph with what their layers keep."""
    for node, layer in layer_nodes(graph).items():
        dtype = layer.config.get("dtype")
        yield Weight(node, layer.parameters or 0, dtype if isinstance(dtype, str) else "")


def written(graph: Graph) -> set[int]:
    """The nodes that something is added or assigned to."""
    writes = np.array([op.startswith("Assign") for op in graph.op_types] or [False])[graph.op]
    return set(graph.source[writes[graph.target] & (graph.slot == 0) & ~graph.control].tolist())


def constants(inference: Inference) -> Iterator[Weight]:
    """Constants that an op takes where weights go, and those that are named as a variable that was frozen."""
    graph = inference.graph
    for node in sorted(held_in_slots(inference) | named_frozen(graph)):
        definition = graph.node_def(node)
        dtype = output_dtypes(definition)(0) if definition is not None else ""
        shape = inference.first(node).shape
        if dtype in FLOATS and fixed(shape):
            yield Weight(node, count(shape), dtype)


def held_in_slots(inference: Inference) -> set[int]:
    """Constants at the inputs of `SLOTS`, through what only hands on, and through arguments of functions."""
    graph = inference.graph
    ops = np.array([op in SLOTS for op in graph.op_types] or [False])[graph.op]
    edges = np.flatnonzero(ops[graph.target] & ~graph.control).tolist()
    takes = [SLOTS[graph.op_types[graph.op[graph.target[edge]]]] for edge in edges]
    waiting = [
        int(graph.source[edge]) for edge, slots in zip(edges, takes, strict=True) if int(graph.slot[edge]) in slots
    ]
    # Backwards from the inputs of the ops to what was handed on to them.
    sources, handed = through(graph), arguments(inference)
    held: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in held:
            held.add(node)
            waiting += [sources[node]] if node in sources else handed.get(node, [])
    return {node for node in held if graph.op_types[graph.op[node]] in ("Const", "HostConst")}


def arguments(inference: Inference) -> dict[int, list[int]]:
    """For each argument of a function the nodes that calls hand in."""
    by_argument: dict[int, list[int]] = {}
    for node, calls in inference.wiring.calls.items():
        # Input 0 of If and Case chooses; what follows are the arguments.
        inputs = inference.wiring.inputs(node)[1 if inference.op(node) in BRANCHES else 0 :]
        for call in calls:
            for arg, given in zip(inference.graph.functions[call.function].args, inputs, strict=False):
                if given is not None:
                    by_argument.setdefault(arg, []).append(given[0])
    return by_argument


def named_frozen(graph: Graph) -> set[int]:
    """Constants named as a variable's reading, or read under the name of one."""
    frozen = {node for node in nodes_of(graph, frozenset({"Const"})) if FROZEN.search(graph.name[node])}
    for node, source in through(graph).items():
        if graph.op_types[graph.op[source]] == "Const" and FROZEN.search(graph.name[node]):
            frozen.add(source)
    return frozen


def through(graph: Graph) -> dict[int, int]:
    """For each node that only hands on: the node that it hands on, however many are between."""
    # `or [False]`: see owners.py
    passing = np.array([op in THROUGH for op in graph.op_types] or [False])[graph.op]
    edges = np.flatnonzero(passing[graph.target] & ~graph.control & (graph.slot == 0))
    before = dict(zip(graph.target[edges].tolist(), graph.source[edges].tolist(), strict=True))
    origin: dict[int, int] = {}
    for node in before:
        path = [node]
        # As long as the table: identities in a circle lead nowhere.
        while path[-1] in before and path[-1] not in origin and len(path) <= len(before):
            path.append(before[path[-1]])
        end = origin.get(path[-1], path[-1])
        origin.update(dict.fromkeys(path[:-1], end))
    return origin


def nodes_of(graph: Graph, ops: frozenset[str]) -> list[int]:
    """All nodes of some op types, in file order."""
    wanted = np.array([op in ops for op in graph.op_types] or [False])[graph.op]
    return list(np.flatnonzero(wanted).tolist())


def count(shape: Dims) -> int:
    """The product of sizes that are known."""
    product = 1
    for size in shape or ():
        product *= size
    return product
