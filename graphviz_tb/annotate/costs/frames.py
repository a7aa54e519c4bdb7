"""Ops that run, and their number of rounds.

Ops without any dependent result or side effect never run. In loops of control flow v1, the ops between the inputs
(Enter) and outputs (Exit) of a frame run once per round.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.algorithms.reached import reachable_mask
from graphviz_tb.limits import MAX_NESTED_LOOPS
from graphviz_tb.model.columns import Bools, Ints, group_by_key
from graphviz_tb.model.graph import Graph
from graphviz_tb.ops.roles import (
    FILL_OPS,
    FRAME_CONDITION_OPS,
    FRAME_ENTER_OPS,
    FRAME_EXIT_OPS,
    RESULT_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.table import op_row

NO_FRAME = 0  # the frame of ops outside of any loop
# Ops with side effects, certain or possible.
EFFECT_ROLES = (
    *(Role.ASSIGN, Role.SCATTER, Role.UPDATE, Role.REFERENCE, Role.SUMMARY, Role.RESULT, Role.CHECK),
    *(
        Role.INPUT_PIPELINE,
        Role.CALL,
        Role.LAUNCH,
        Role.REMOTE_CALL,
        Role.MAP,
        Role.BRANCH,
        Role.COUNTED_LOOP,
        Role.LOOP,
    ),
)
# Ops that only forward a value.
FORWARDING_ROLES = (
    *(
        Role.PASS,
        Role.PASS_EACH,
        Role.CAST,
        Role.UNIT_AXES,
        Role.REARRANGE,
        Role.WRAP,
        Role.INDEX,
        Role.SIZE,
        Role.READ,
    ),
    *(Role.COUNT, Role.RANGE, Role.FILL, Role.CONSTANT),
)


def unused_nodes(graph: Graph) -> Bools:
    """Return a mask of the ops that never run: ops used only for their shape; in functions, and in a main graph with
    explicit results, ops on which no result and no side effect depends. Keras calls the cell of a recurrent layer once
    only to see the shape of its output.

    >>> from graphviz_tb import load
    >>> text = '''node { name: "x" op: "Placeholder" } node { name: "y" op: "Relu" input: "x" }
    ... node { name: "z" op: "Elu" input: "x" } node { name: "r" op: "_Retval" input: "y" }'''
    >>> graph = load(text.encode()).hierarchy.graph
    >>> [name for name, never in zip(graph.name, unused_nodes(graph)) if never]
    ['z']
    """
    main = graph.function < 0
    results = graph.nodes_of_types(RESULT_OPS.__contains__)
    last = np.ones(len(graph), bool)
    last[graph.source] = False
    # Without explicit results any unused output may be a result, and a cycle that leads nowhere runs.
    says = np.array([*(any(node >= 0 for node, _ in each.returns) for each in graph.functions), (results & main).any()])
    wanted = np.where(
        says[graph.function],
        last & ~graph.nodes_of_types(is_pure_op),
        last | ~reachable_mask(last, *reversed_edges(graph)),
    )
    alive = results | graph.nodes_of_types(may_have_effect) | wanted
    for body in graph.functions:
        alive[[node for node, _ in body.returns if node >= 0]] = True
    # Reading or filling a shape does not need the value.
    never: Bools = ~reachable_mask(
        alive, *reversed_edges(graph, graph.control | ~graph.nodes_of_types(reads_only_shape)[graph.target])
    )
    return never


def reversed_edges(graph: Graph, edges: Bools | slice = slice(None)) -> tuple[Ints, Ints]:
    """Return the ends of edges, from the consuming op to the producing one."""
    return graph.target[edges], graph.source[edges]


def reads_only_shape(op: str) -> bool:
    """Return whether an op uses only the shape of its input.

    >>> reads_only_shape("Shape"), reads_only_shape("ZerosLike"), reads_only_shape("Fill"), reads_only_shape("Mul")
    (True, True, False, False)
    """
    known = op_row(op)
    return has_role(op, Role.SIZE) or (op in FILL_OPS and known is not None and known.shape == "same")


def may_have_effect(op: str) -> bool:
    """Return whether an op has a side effect, or may have one because no table describes it.

    >>> (
    ...     may_have_effect("AssignSub"),
    ...     may_have_effect("While"),
    ...     may_have_effect("Mine"),
    ...     may_have_effect("StackPushV2"),
    ...     may_have_effect("Mul"),
    ... )
    (True, True, True, False, False)
    """
    known = op_row(op)
    return known is None or not known.outputs or has_role(op, *EFFECT_ROLES)


def is_pure_op(op: str) -> bool:
    """Return whether an op is known to be arithmetic, or to forward a value.

    >>> is_pure_op("Mul"), is_pure_op("StridedSlice"), is_pure_op("StackPushV2")
    (True, True, False)
    """
    known = op_row(op)
    return (known is not None and known.flops not in ("", "0")) or has_role(op, *FORWARDING_ROLES)


def loop_conditions(graph: Graph) -> dict[int, tuple[int | None, ...]]:
    """Return, for each node inside a loop (except its inputs and outputs), the conditions of all enclosing loops,
    outermost first; None for a loop that has no condition, or several.

    >>> from graphviz_tb import load
    >>> text = 'node { name: "x" } node { name: "in" op: "Enter" input: "x" } node { name: "y" op: "Relu" input: "in" }'
    >>> graph = load((text + 'node { name: "out" op: "Exit" input: "y" }').encode()).hierarchy.graph
    >>> {graph.name[node]: around for node, around in loop_conditions(graph).items()}
    {'y': (None,)}
    """
    enters, exits = (
        graph.nodes_of_types(FRAME_ENTER_OPS.__contains__),
        graph.nodes_of_types(FRAME_EXIT_OPS.__contains__),
    )
    if not enters.any():
        return {}
    order, begin = group_by_key(graph.source, len(graph))
    first, targets = begin.tolist(), graph.target[order].tolist()
    hands_in, hands_out = enters.tolist(), exits.tolist()
    # A frame is identified by its enclosing frame and its name.
    number: dict[tuple[int, str], int] = {}
    outer, depth = [NO_FRAME], [0]
    frame = [NO_FRAME] * len(graph)
    todo = np.flatnonzero(enters).tolist()
    while todo:
        node = todo.pop()
        inside = outer[frame[node]] if hands_out[node] else frame[node]
        if hands_in[node] and depth[inside] < MAX_NESTED_LOOPS:
            inside = number.setdefault((inside, loop_frame_name(graph, node)), len(outer))
            if inside == len(outer):
                outer.append(frame[node])
                depth.append(depth[frame[node]] + 1)
        # A node is in the deepest frame of its inputs: constants of the body are in no frame.
        for user in targets[first[node] : first[node + 1]]:
            if depth[inside] > depth[frame[user]]:
                frame[user] = inside
                todo.append(user)
    asked: dict[int, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.nodes_of_types(FRAME_CONDITION_OPS.__contains__)).tolist():
        asked[frame[node]].append(node)
    around: list[tuple[int | None, ...]] = [()]
    for each in range(1, len(outer)):
        conditions = asked[each]
        around.append((*around[outer[each]], conditions[0] if len(conditions) == 1 else None))
    return {
        node: around[held] for node, held in enumerate(frame) if held and not hands_in[node] and not hands_out[node]
    }


def loop_frame_name(graph: Graph, node: int) -> str:
    """Return the name shared by all inputs (Enter ops) of one loop."""
    definition = graph.node_def(node)
    name = definition.attr["frame_name"].s if definition is not None and "frame_name" in definition.attr else b""
    return str(name, "utf-8", "replace")
