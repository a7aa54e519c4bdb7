"""Parts of a program: model, loss, gradients, updates, input, or bookkeeping.

flow          gradients, ops that feed them, ops computed from them (see `find_training_flow`)
model         ops that lead to a result, or feed a gradient or a summary
copies        a separate forward pass with the weights of the model that no gradient reaches
loss          ops after the last weights that gradients reach
updates       ops computed from gradients or from slots that these write, with ops that only updates use
input         datasets, iterators, queues and readers, with ops that only these use
bookkeeping   the rest: savers, initialisers, counters, tracing artifacts
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.traversal import needed_only_by, reachable_mask
from graphviz_tb.model.columns import Bools, Bytes, key_starts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import GradientFlow, Part
from graphviz_tb.ops.roles import (
    BRANCH_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    FRAME_MERGE_OPS,
    FRAME_SWITCH_OPS,
    GROUP_OPS,
    LIST_OPS,
    MATRIX_PRODUCT_OPS,
    NEXT_ELEMENT_OPS,
    VARIABLE_OPS,
    Role,
    has_role,
)

# Ops of custom gradients: program code that computes gradients outside any gradient scope.
#
# `tf.custom_gradient` recomputes parts of the model, waiting for the incoming gradient by a control edge:
#
# x ─▶ swish ─▶ …                  gradient ─▶ ×, by data
# └──▶ Sigmoid ─▶ … ─▶ ×           gradient ┄▶ Sigmoid, by control

# Ops whose control edges only order side effects and say nothing about gradients.
ORDER_DEPENDENT_OP = compile_on_use(
    r"NoOp|Assign.*|(Resource)?(Sparse)?Apply.*|(Resource)?Scatter.*|.*ReadVariableOp|.*Random.*|Enter|Exit|Merge|Switch|"
    r"NextIteration|LoopCond|Stack(Push|Pop)?(V2)?|(Stateful|Stateless)?PartitionedCall|.*While|.*If|.*Case|.*Queue.*|"
    r"Iterator.*|Print.*|Assert|.*Lookup.*|.*Summary(V2)?"
)


def _find_custom_gradient_ops(graph: Graph, behind: Bools, feeding: Bools) -> Bools:
    """Mark the ops that run only when a gradient arrives: ops that wait for one, their successors, and their inputs.

    The inputs are in the same scope, and only these ops and gradients use them. Before: `behind` are the nodes computed
    from gradients, `feeding` the nodes that feed gradients.
    """
    ordered = np.array([bool(ORDER_DEPENDENT_OP.fullmatch(op)) for op in graph.op_types] or [False])[graph.op]
    # Control edges from nodes behind gradients to nodes that only feed them (see the drawing above).
    waits = graph.control & behind[graph.source] & ~ordered[graph.source]
    waits &= feeding[graph.target] & ~behind[graph.target] & ~ordered[graph.target]
    late = np.zeros(len(graph), bool)
    late[graph.target[waits]] = True
    if not late.any():
        return late
    data = ~graph.control
    late = reachable_mask(late, graph.source[data], graph.target[data])
    scope = graph.node_scopes.number
    scopes = np.zeros(len(graph.node_scopes.names), bool)
    scopes[scope[late & ~behind]] = True
    return late | nodes_serving_only(graph, late | behind, feeding & scopes[scope])


# Ops that compute gradients, ops that feed them, and ops computed from them.
#
# type        `ReluGrad`, `Conv2DBackpropFilter`; not `BackpropInput` alone, which may be a transposed convolution
# scope       `gradients/…`, `gradient_tape/…`: where `tf.gradients` and `GradientTape` write
# function    `__backward_…`, `…_grad_67`: functions that TensorFlow derives, and their calls

GRADIENT_SCOPE = compile_on_use(r"(?:.*?/)??(?:gradients|gradient_tape)(?:_\d+)?(?=/)", re.DOTALL)
GRADIENT_SUFFIX = "_grad/"  # `gradients/dense/MatMul_grad/…` computes the gradients of `dense/MatMul`
# e.g. `__backward_standard_lstm_123`, `while_body_45_grad_67`
BACKWARD_FUNCTION = compile_on_use(r"(__inference_)?__backward_.*|.*(body|cond)_\d+(_rewritten)?_grad_\d+", re.DOTALL)


def find_training_flow(graph: Graph) -> GradientFlow:
    """Return the flow of gradients through a graph with marks.

    After: no node is both forward and behind; nodes computed from gradients are behind, even if they feed gradients.
    """
    scopes: dict[str, str] = {}
    named = np.zeros(len(graph), bool)
    if any("gradient" in name for name in graph.name):  # only saves time
        scopes_of_nodes = graph.node_scopes
        gradient_names = (name for name in scopes_of_nodes.names if name is not None and "gradient" in name)
        scopes = {name: scope for name in gradient_names if (scope := gradient_scope(f"{name}/"))}
        named = np.fromiter(map(scopes.__contains__, scopes_of_nodes.names), bool)[scopes_of_nodes.number]
    gradient = _find_gradient_ops(graph, named)
    if not gradient.any():
        return GradientFlow(gradient, gradient, gradient, gradient, named)
    # Edges from lists are not followed: gradients create lists that loops of the model fill.
    data = ~graph.control & ~graph.nodes_of_types(LIST_OPS.__contains__)[graph.source]
    source, target = graph.source[data], graph.target[data]
    behind, feeding = reachable_mask(gradient, source, target), reachable_mask(gradient, target, source)
    between = behind & feeding
    behind |= _find_custom_gradient_ops(graph, behind, feeding)
    forward = feeding & ~behind
    # A differentiated op belongs to the model even if no gradient needs its value.
    differentiated = list(_differentiated_ops(graph, scopes))
    forward[differentiated] |= ~behind[differentiated]
    return GradientFlow(gradient, forward, behind, between, named)


def _find_gradient_ops(graph: Graph, named: Bools) -> Bools:
    """Return which nodes compute gradients, without marks."""
    gradient = named | graph.nodes_of_types(lambda op: has_role(op, Role.GRADIENT))
    backward = np.array([bool(BACKWARD_FUNCTION.fullmatch(function.name)) for function in graph.functions] or [False])
    if backward.any():
        gradient |= backward[graph.function] & (graph.function >= 0)
        gradient[[call.node for call in graph.calls if backward[call.function]]] = True
    plain: Bools = gradient & (graph.mark == 0)
    return plain


def gradient_scope(name: str) -> str:
    """Return the outermost gradient scope around a name; "" for none.

    >>> gradient_scope("a/gradient_tape_1/b/c"), gradient_scope("gradients"), gradient_scope("gradients_of/x")
    ('a/gradient_tape_1', '', '')
    """
    # Most names are in none: the plain search is cheaper than the regular expression.
    match = GRADIENT_SCOPE.match(name) if "gradient" in name else None
    return match[0] if match else ""


def _differentiated_ops(graph: Graph, scopes: dict[str, str]) -> Iterator[int]:
    """Yield the ops of the main graph that have a scope of gradients.

    `scopes` maps each scope inside a gradient scope to that scope. This finds losses: the gradient of a sum does not
    use its value.
    """
    index = graph.index[0]
    seen: set[str] = set()
    for around, scope in scopes.items():
        inner = around[len(scope) + 1 :] + "/"
        if inner in seen:
            continue
        seen.add(inner)
        cut = inner.find(GRADIENT_SUFFIX)
        while cut >= 0:
            if (found := index.get(inner[:cut], -1)) >= 0:
                yield found
            cut = inner.find(GRADIENT_SUFFIX, cut + 1)


RESULT_NAME = re.compile(r"Identity(_\d+)?")  # name of the results of a traced function
# Ops that change, save or check a variable, or only wait: they lead to no result.
SINK_ROLES = (Role.ASSIGN, Role.UPDATE, Role.SCATTER, Role.SAVE, Role.RESTORE, Role.VARIABLE_CHECK, Role.GROUP)
INITIALIZER_OP = re.compile(r"Initialize.*|(Lookup)?TableI(nit|mport).*|MergeV2Checkpoints|ShardedFilename")
INPUT_PIPELINE_OP = re.compile(r".*(Dataset|Iterator|Queue|Reader|RecordInput|Stage).*", re.DOTALL)
SUMMARY_WRITER_OP = re.compile(r"WriteSummary.*|Write\w+Summary|SummaryWriter")


def find_program_parts(graph: Graph, uses_weight: Bools) -> Bytes:
    """Return the `Part` of each node. Before: `uses_weight` marks ops that use a weight of the model."""
    flow = graph.meaning.flow()
    part = np.full(len(graph), Part.BOOKKEEPING, np.uint8)
    model = graph.meaning.model()
    part[model] = Part.MODEL
    part[flow.between] = Part.GRADIENT
    updates = flow.behind & ~flow.between
    updates |= _ops_computed_from_slots(graph, updates, model | flow.behind)
    part[updates | (nodes_serving_only(graph, updates) & ~model & ~flow.behind)] = Part.UPDATE
    pipeline = graph.nodes_of_types(lambda op: op in NEXT_ELEMENT_OPS or INPUT_PIPELINE_OP.fullmatch(op)) & ~flow.behind
    part[pipeline | (nodes_serving_only(graph, pipeline) & ~model & ~flow.behind)] = Part.INPUT
    if flow.gradient.any():
        data = ~graph.control
        uses = uses_weight & flow.forward
        weighed = reachable_mask(uses, graph.source[data], graph.target[data])
        before = reachable_mask(uses, graph.target[data], graph.source[data])
        part[flow.forward & weighed & ~before] = Part.LOSS
        part[graph.meaning.copies()] = Part.COPY
    part.setflags(write=False)
    return part


def find_model_nodes(graph: Graph, flow: GradientFlow) -> Bools:
    """Mark the nodes that lead to a result, feed a gradient or a summary, or compute with weights; all if none does."""
    sink = graph.nodes_of_types(lambda op: has_role(op, *SINK_ROLES) or INITIALIZER_OP.match(op) or op in GROUP_OPS)
    summary = graph.nodes_of_types(lambda op: has_role(op, Role.SUMMARY) or SUMMARY_WRITER_OP.match(op))
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    is_input = graph.nodes_of_types(lambda op: op in VARIABLE_OPS or op == "Placeholder") | constant
    is_input |= _variable_read_nodes(graph)
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    # The model: backwards from unused ops, and from those that feed a gradient or a summary.
    ends = np.ones(len(graph), bool)
    ends[source] = False
    ends[source[flow.between[target] | summary[target]]] = True
    ends[_unused_non_results(graph)] = False
    ends &= ~flow.behind & ~sink & ~summary & ~is_input
    # A report of uninitialized variables is not a result of the model.
    checks = graph.nodes_of_types(lambda op: has_role(op, Role.VARIABLE_CHECK))
    if checks.any():
        # Neither is the branch of `initialized_value` that checks whether a variable is initialized.
        init_branches = np.zeros(len(graph), bool)
        init_branches[target[checks[source]]] = True
        init_branches &= graph.nodes_of_types(BRANCH_OPS.__contains__)
        unchecked = ~(checks | init_branches)[target]
        ends &= reachable_mask(is_input & ~constant, source[unchecked], target[unchecked]) | ~reachable_mask(
            checks, source, target
        )
    open_edges = ~flow.behind[source]
    model = reachable_mask(ends, target[open_edges], source[open_edges])
    # Products with weights belong to the model, even if only a metric or a variable uses their results.
    weighted = np.zeros(len(graph), bool)
    weighted[target[graph.meaning.origin[source] >= 0]] = True
    weighted &= graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS) & ~flow.behind
    if (weighted & ~model).any():
        downstream = reachable_mask(weighted, source[open_edges], target[open_edges]) & ~flow.behind & ~sink & ~summary
        model |= reachable_mask(downstream, target[open_edges], source[open_edges])
    model &= ~flow.named  # lists that loops of the model fill for their gradients
    return model if model.any() else np.ones(len(graph), bool)


def _variable_read_nodes(graph: Graph) -> Bools:
    """Mark the direct reads of variables; an unused read is not an end of the model."""
    read = graph.nodes_of_types(lambda op: op in ("ReadVariableOp", "Identity"))
    variable = graph.nodes_of_types(VARIABLE_OPS.__contains__)
    alone = np.zeros(len(graph), bool)
    alone[graph.target[variable[graph.source] & read[graph.target]]] = True
    return alone


def _unused_non_results(graph: Graph) -> list[int]:
    """Return the unused ops of the main graph that are not results, if a trace names its results."""
    used = np.zeros(len(graph), bool)
    used[graph.source[~graph.control]] = True
    loose = np.flatnonzero(~used & (graph.function < 0)).tolist()
    identity = graph.nodes_of_types("Identity".__eq__)
    results = {node for node in loose if identity[node] and RESULT_NAME.fullmatch(graph.name[node])}
    return [node for node in loose if node not in results] if results else []


def nodes_serving_only(graph: Graph, users: Bools, asked: Bools | None = None) -> Bools:
    """Mark the nodes that only `users` use, directly or through such nodes; only nodes in `asked`, if given."""
    found = np.zeros(len(graph), bool)
    if not users.any():
        return found
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    left = np.bincount(source, minlength=len(graph)).tolist()  # users not accounted for yet
    first, sources = key_starts(target, len(graph)).tolist(), source.tolist()  # edges are sorted by target
    may_serve = (~users if asked is None else asked & ~users).tolist()
    served = needed_only_by(
        np.flatnonzero(users).tolist(),
        lambda node: [source for source in sources[first[node] : first[node + 1]] if may_serve[source]],
        left,
    )
    found[served] = True
    return found


def _ops_computed_from_slots(graph: Graph, updates: Bools, others: Bools) -> Bools:
    """Mark the ops from slots (variables that `updates` write and `others` do not read) to the variables they update.

    Keras 3 writes the mean of gradients to a slot, reads it again, and computes the step from it.
    """
    origin, writes = graph.meaning.origin, graph.meaning.writes
    if not (updates & writes).any():
        return np.zeros(len(graph), bool)
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    made = origin[source]
    held = (made >= 0) & (origin[target] < 0)
    slot = np.zeros(len(graph), bool)
    slot[made[held & (updates & writes)[target]]] = True
    slot[made[held & (others & ~writes)[target] & ~updates[target]]] = False
    free = ~others[target]
    reads = np.zeros(len(graph), bool)
    reads[target[held & free & slot[made]]] = True
    ahead = reachable_mask(reads, source[free], target[free])
    return ahead & reachable_mask(ahead & writes, target, source) & ~others


def _users_of_same_weights(graph: Graph, uses: Bools) -> Bools:
    """Mark the nodes that use a weight which nodes of `uses` also use."""
    origin = graph.meaning.origin
    taken = (origin[graph.source] >= 0) & ~graph.control
    trained = np.zeros(len(graph), bool)
    trained[origin[graph.source[taken & uses[graph.target]]]] = True
    users = np.zeros(len(graph), bool)
    users[graph.target[taken & trained[origin[graph.source]]]] = True
    return users


def find_evaluation_copies(graph: Graph, uses_weight: Bools) -> Bools:
    """Mark the evaluation copies: connected ops of the model with trained weights that no gradient reaches.

    They use no result of the trained model. Averages of weights, which write a variable, and branches of the model are
    left out.
    """
    flow = graph.meaning.flow()
    trained_users = uses_weight & flow.forward
    others = ~flow.forward & ~flow.behind & (graph.mark == 0)
    layers = others & _users_of_same_weights(graph, trained_users)
    layers &= graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS)
    # Most graphs have none; then the model is not computed.
    others &= layers.any() and graph.meaning.model()
    if not (layers & others).any():
        return np.zeros(len(graph), bool)
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    forward = reachable_mask(trained_users, source, target) & flow.forward
    inner = others[source] & others[target]
    # Both directions, for connectivity.
    ends = np.concatenate((source[inner], target[inner])), np.concatenate((target[inner], source[inner]))
    is_fed = np.zeros(len(graph), bool)
    is_fed[target[forward[source] & others[target]]] = True
    is_fed[source[others[source] & graph.meaning.writes[target]]] = True
    is_fed |= others & graph.nodes_of_types(lambda op: op in FRAME_SWITCH_OPS or op in FRAME_MERGE_OPS)
    copied: Bools = reachable_mask(others & layers, *ends) & ~reachable_mask(is_fed, *ends)
    return copied
