"""Ops that compute gradients, ops that feed them, and ops computed from them.

type        `ReluGrad`, `Conv2DBackpropFilter`; not `BackpropInput` alone, which may be a transposed convolution
scope       `gradients/…`, `gradient_tape/…`: where `tf.gradients` and `GradientTape` write
function    `__backward_…`, `…_grad_67`: functions that TensorFlow derives, and their calls
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from graphviz_tb.algorithms.reached import reachable_mask
from graphviz_tb.interpret.custom_gradients import find_custom_gradient_ops
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import GradientFlow
from graphviz_tb.ops.roles import LIST_OPS, Role, has_role

GRADIENT_SCOPE = re.compile(r"(?:.*?/)??(?:gradients|gradient_tape)(?:_\d+)?(?=/)", re.DOTALL)
GRADIENT_SUFFIX = "_grad/"  # `gradients/dense/MatMul_grad/…` computes the gradients of `dense/MatMul`
# e.g. `__backward_standard_lstm_123`, `while_body_45_grad_67`
BACKWARD_FUNCTION = re.compile(r"(__inference_)?__backward_.*|.*(body|cond)_\d+(_rewritten)?_grad_\d+", re.DOTALL)


def find_training_flow(graph: Graph) -> GradientFlow:
    """Return the flow of gradients through a graph with its marks.

    After: no node is both forward and behind; what comes from gradients is behind, even if it feeds more gradients.
    """
    around = graph.node_scopes
    some = (name for name in around.names if name is not None and "gradient" in name)
    scopes = {name: scope for name in some if (scope := gradient_scope(f"{name}/"))}
    named = np.fromiter(map(scopes.__contains__, around.names), bool)[around.number]
    gradient = find_gradient_ops(graph, named)
    if not gradient.any():
        return GradientFlow(gradient, gradient, gradient, gradient, named)
    # Gradients create lists that loops of the model fill: do not follow these edges.
    data = ~graph.control & ~graph.nodes_of_types(LIST_OPS.__contains__)[graph.source]
    source, target = graph.source[data], graph.target[data]
    behind, feeding = reachable_mask(gradient, source, target), reachable_mask(gradient, target, source)
    between = behind & feeding
    behind |= find_custom_gradient_ops(graph, behind, feeding)
    forward = feeding & ~behind
    # A differentiated op belongs to the model even if no gradient needs its value.
    taken_of = list(differentiated_ops(graph, scopes))
    forward[taken_of] |= ~behind[taken_of]
    return GradientFlow(gradient, forward, behind, between, named)


def find_gradient_ops(graph: Graph, named: Bools) -> Bools:
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


def differentiated_ops(graph: Graph, scopes: dict[str, str]) -> Iterator[int]:
    """Yield the ops of the main graph that have a scope of gradients.

    `scopes` maps each scope inside a gradient scope to that scope. Losses are found this way: the gradient of a sum
    does not need its value.
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
