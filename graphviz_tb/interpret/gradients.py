"""Ops that work out gradients, ops that feed them, and ops computed from them.

type        `ReluGrad`, `Conv2DBackpropFilter`; a `BackpropInput` alone says nothing: a transposed convolution is one
scope       `gradients/…`, `gradient_tape/…`: where `tf.gradients` and `GradientTape` write
function    `__backward_…`, `…_grad_67`: functions that TensorFlow derives from others, and their calls
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from graphviz_tb.algorithms.reached import spread_from
from graphviz_tb.interpret.custom_gradients import of_custom_gradients
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import Flow
from graphviz_tb.ops.roles import LISTS, Role, has_role

SCOPE = re.compile(r"(?:.*?/)??(?:gradients|gradient_tape)(?:_\d+)?(?=/)", re.DOTALL)
GRADIENT_OF = "_grad/"  # in `gradients/dense/MatMul_grad/…` the gradients of `dense/MatMul` are worked out
# e.g. `__backward_standard_lstm_123`, `while_body_45_grad_67`
BACKWARD = re.compile(r"(__inference_)?__backward_.*|.*(body|cond)_\d+(_rewritten)?_grad_\d+", re.DOTALL)


def flow_of(graph: Graph) -> Flow:
    """Before: a graph with its marks. After: no node is both forward and behind; what comes from gradients is not
    forward, though it may feed others."""
    around = graph.scopes
    some = (name for name in around.names if name is not None and "gradient" in name)
    scopes = {name: scope for name in some if (scope := gradient_scope(f"{name}/"))}
    named = np.fromiter(map(scopes.__contains__, around.names), bool)[around.number]
    gradient = gradient_ops(graph, named)
    if not gradient.any():
        return Flow(gradient, gradient, gradient, gradient, named)
    # Gradients make lists that loops of the model fill: these lead from no gradient to the model.
    data = ~graph.control & ~graph.of_types(LISTS.__contains__)[graph.source]
    source, target = graph.source[data], graph.target[data]
    behind, feeding = spread_from(gradient, source, target), spread_from(gradient, target, source)
    between = behind & feeding
    behind |= of_custom_gradients(graph, behind, feeding)
    forward = feeding & ~behind
    # An op that gradients were taken of is part of the model even where no gradient needs its value.
    taken_of = list(differentiated(graph, scopes))
    forward[taken_of] |= ~behind[taken_of]
    return Flow(gradient, forward, behind, between, named)


def gradient_ops(graph: Graph, named: Bools) -> Bools:
    """Which nodes work out gradients, marks left out."""
    gradient = named | graph.of_types(lambda op: has_role(op, Role.GRADIENT))
    backward = np.array([bool(BACKWARD.fullmatch(function.name)) for function in graph.functions] or [False])
    if backward.any():
        gradient |= backward[graph.function] & (graph.function >= 0)
        gradient[[call.node for call in graph.calls if backward[call.function]]] = True
    plain: Bools = gradient & (graph.mark == 0)
    return plain


def gradient_scope(name: str) -> str:
    """Return the outermost scope of gradients that a name is in; "" where there is none.

    >>> gradient_scope("a/gradient_tape_1/b/c"), gradient_scope("gradients"), gradient_scope("gradients_of/x")
    ('a/gradient_tape_1', '', '')
    """
    # Most names are in none: a plain search saves the regular expression.
    match = SCOPE.match(name) if "gradient" in name else None
    return match[0] if match else ""


def differentiated(graph: Graph, scopes: dict[str, str]) -> Iterator[int]:
    """The ops of the main graph that have a scope of gradients. Before: all scopes in such scopes, and in which.

    A loss is among them though nothing may need its value: the gradient of a sum is known without it.
    """
    index = graph.index[0]
    seen: set[str] = set()
    for around, scope in scopes.items():
        inner = around[len(scope) + 1 :] + "/"
        if inner in seen:
            continue
        seen.add(inner)
        cut = inner.find(GRADIENT_OF)
        while cut >= 0:
            if (found := index.get(inner[:cut], -1)) >= 0:
                yield found
            cut = inner.find(GRADIENT_OF, cut + 1)
