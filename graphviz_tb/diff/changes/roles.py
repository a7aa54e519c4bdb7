"""Forward model or what TensorFlow derives from it: gradients, updates of variables, saving, initialisation.

By structure: the ops of a gradient are known by their names and types, and what depends on a gradient is derived too.
What leads to a result, or feeds a gradient, is the model. The rest only serves updates, savers and initialisers, or is
left over: where TensorFlow ended the results of a trace in `Identity`, nothing else that nobody uses is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from graphviz_tb.algorithms.reached import spread
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.kinds import nodes_of
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph

GRADIENT_SCOPE = re.compile(r"(?:^|/)(?:gradient_tape|gradients(?:_\d+)?)(?:/|$)")
GRADIENT_OP = re.compile(r"Grad(?:V\d|WithArgmax)?$|Backprop(?!Input)|NativeBackpropInput|^SymbolicGradient$")
# Conv2DBackpropInput alone proves nothing: a transposed convolution of the model is one too.
ACCUMULATORS = frozenset({"EmptyTensorList", "TensorListReserve", "Stack", "StackV2", "Const"})  # loops fill them
SINK = re.compile(  # ops that change a variable, save it, ask whether it is set, or only say that others are done
    r"^(?:Resource)?(?:Sparse)?(?:Assign|Apply|Scatter)|^ResourceSparseApply|^Save|^Restore|^MergeV2Checkpoints$"
    r"|^ShardedFilename$|^NoOp$|^Initialize|^(?:Lookup)?TableI(?:nit|mport)"
    r"|^VarIsInitializedOp$|^IsVariableInitialized$"
)
RESULT = re.compile(r"^Identity(?:_\d+)?$")  # what TensorFlow calls the results of a traced function
SUMMARY = re.compile(r"Summary(?:V2)?$|^WriteSummary|^Write\w+Summary$|^SummaryWriter$")
VARIABLES = frozenset({"VarHandleOp", "Variable", "VariableV2"})
SOURCES = VARIABLES | {"Const", "HostConst", "Placeholder"}
READS = frozenset({"ReadVariableOp", "Identity"})


def forward_nodes(side: GraphColumns) -> Bools:
    """Which nodes are the model itself; of a graph in which all is derived, every one."""
    graph = side.graph
    gradient, behind = gradients(side)
    op = np.array([_kind(word) for word in graph.op_types], np.str_)[graph.op]
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    op[target[read_edges(graph)[data]]] = "source"  # a variable's own read, that nobody may use, leads nowhere
    # Seeds are ops that nobody uses, and what feeds a gradient or a summary: from these backwards is the model.
    seeds = np.ones(len(side), bool)
    seeds[source] = False
    seeds[source[gradient[target] | (op[target] == "summary")]] = True
    seeds[left_over(side)] = False
    forward = reached(side, np.flatnonzero(seeds & ~behind & (op == "")), backward=True, barred=behind)
    forward &= ~in_gradient_scopes(side)  # lists that the model's loops fill for their gradients
    return forward if forward.any() else np.ones(len(side), bool)


def left_over(side: GraphColumns) -> list[int]:
    """The ops of the main graph that nobody uses and that are no results, where a trace says which are."""
    graph = side.graph
    used = np.zeros(len(side), bool)
    used[graph.source[~graph.control]] = True
    loose = np.flatnonzero(~used & ~exists(graph.function)).tolist()
    results = {
        node for node in loose if RESULT.match(graph.name[node]) and graph.op_types[graph.op[node]] == "Identity"
    }
    return [node for node in loose if node not in results] if results else []


def read_edges(graph: Graph) -> Bools:
    """Return the edges from variables to ops that only read them."""
    variable, read = (nodes_of(graph, words.__contains__) for words in (VARIABLES, READS))
    reads: Bools = variable[graph.source] & read[graph.target]
    return reads


def gradients(side: GraphColumns) -> tuple[Bools, Bools]:
    """Return the ops of gradients with the ops between them, and all ops computed from them."""
    own = in_gradient_scopes(side) | nodes_of(side.graph, GRADIENT_OP.search)
    own &= ~nodes_of(side.graph, ACCUMULATORS.__contains__)
    behind = reached(side, np.flatnonzero(own), backward=False)
    # Between two gradient ops: what leads from one to the other, though its own type says nothing (Mul, Reshape).
    return behind & reached(side, np.flatnonzero(own), backward=True), behind


def is_trained(side: GraphColumns) -> bool:
    """Whether there are gradients."""
    gradient, _ = gradients(side)
    return bool(gradient.any())


def in_gradient_scopes(side: GraphColumns) -> Bools:
    """Which nodes are named as gradients."""
    return np.fromiter((bool(GRADIENT_SCOPE.search(name)) for name in side.graph.name), bool, len(side))


def _kind(op: str) -> str:
    if SUMMARY.search(op):
        return "summary"
    if SINK.search(op):
        return "sink"
    return "source" if op in SOURCES else ""


def reached(side: GraphColumns, starts: Iterable[int], backward: bool, barred: Bools | None = None) -> Bools:
    """Everything that data leads to from `starts`, or (`backward`) comes from; `barred` nodes are not entered."""
    graph, entered = side.graph, np.zeros(len(side), bool)
    entered[np.asarray(list(starts), np.int64)] = True
    data = ~graph.control
    behind, ahead = (graph.target, graph.source) if backward else (graph.source, graph.target)
    if barred is not None:
        data &= ~barred[ahead]
    return spread(entered, behind[data], ahead[data])
