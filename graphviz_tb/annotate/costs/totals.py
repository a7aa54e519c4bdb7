"""Compute the cost of every op and weight of a graph.

A call costs as much as its functions with its arguments: of several branches the most expensive; all rounds of a loop,
or one round if their number is unknown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import prod

import numpy as np

from graphviz_tb.annotate.costs.formulas import (
    CountedOp,
    UnknownShapeError,
    follows_batch_only,
    op_cost,
    size_product,
    sizes_with_batch,
)
from graphviz_tb.annotate.costs.layers import is_partly_counted, layer_cost
from graphviz_tb.annotate.costs.loops import LoopRounds, branch_nodes, loop_conditions, unused_nodes
from graphviz_tb.annotate.infer.engine import ILL_FORMED_OP_ERRORS, Inference
from graphviz_tb.annotate.infer.frame import CallFrame
from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Out, all_sizes_known
from graphviz_tb.annotate.shapes import keras_layer_nodes, output_count
from graphviz_tb.annotate.weights import callers_in_main_graph, iter_weight_costs
from graphviz_tb.graphs.tensors import output_dtype_lookup
from graphviz_tb.limits import MAX_CACHED_OPS
from graphviz_tb.model.costs import COST_ROLES, NO_COST, Cost, Costs
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.tensors import element_size
from graphviz_tb.ops.roles import (
    ALIAS_OPS,
    BRANCH_OPS,
    LOOP_OPS,
    RESHAPE_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import op_def

# The batch size of a graph whose inputs have none, from ops that state the size of their output.
#
# images [?, 32, 32, 3] ─▶ … [?, 16, 16, 8] ─▶ transposed convolution, sizes [8, 32, 32, 3]        the batch is 8


def _stated_batch(inference: Inference) -> int | None:
    """Return the batch size that ops of the main graph state for outputs of inputs with an unknown batch; None without
    such an op, or if two differ."""
    graph = inference.graph
    stating = {op for op in set(graph.op_types) if op in RESHAPE_OPS or has_role(op, Role.TRANSPOSED_CONVOLUTION)}
    found: set[int] = set()
    for node in graph.nodes_of_types(stating.__contains__).nonzero()[0].tolist() if stating else ():
        if graph.function[node] < 0:
            outs = inference.infer_outputs(inference.main, node)
            # The data is the first input of a reshape, and the last of a transposed convolution.
            inputs = inference.infer_inputs(inference.main, node)
            data = inputs[0 if inference.op_type(node) in RESHAPE_OPS else -1] if inputs else None
            if data is not None and outs and (batch := _batch_between(inference, data, outs[0])):
                found.add(batch)
    return found.pop() if len(found) == 1 else None


def _batch_between(inference: Inference, data: Out, out: Out) -> int | None:
    """Return the batch size for which the input of an op fits its output; None unless only that batch is unknown."""
    before, after = data.shape, out.shape
    if (
        not before
        or not after
        or not all_sizes_known(after)
        or before[0] > SYMBOL_LIMIT
        or not all_sizes_known(before[1:])
    ):
        return None
    if not follows_batch_only(before, inference.symbols):
        return None
    if len(before) == len(after) and prod(before[1:]) != prod(after[1:]):
        return after[0]  # a convolution keeps the batch
    sample = prod(before[1:])
    return prod(after) // sample if sample and not prod(after) % sample else None


FORWARD_ROLE, GRADIENT_ROLE, OPTIMIZER_ROLE = range(len(COST_ROLES))
COST_ROLE_BY_PART = {Part.GRADIENT: GRADIENT_ROLE, Part.UPDATE: OPTIMIZER_ROLE}  # every other part is forward


def _cost_roles_of_nodes(graph: Graph) -> list[int]:
    table = np.array([COST_ROLE_BY_PART.get(part, FORWARD_ROLE) for part in Part])
    roles: list[int] = table[graph.meaning.part()].tolist()
    return roles


def _weight_owners(graph: Graph, roles: Sequence[int]) -> dict[int, int]:
    """Return the owner of each weight that is drawn as a mark: the first op of the network, in the same graph or body,
    that uses it.

    Only weights outside of the scopes of all such ops are returned, such as the handles of TensorFlow 2; others count
    where they are.
    """
    owner_of: dict[int, int] = {}
    for variable in graph.meaning.variables():
        node, function = variable.node, graph.function[variable.node]
        if graph.mark[node] != Mark.WEIGHT:
            continue
        users = [user for user in variable.users if roles[user] == FORWARD_ROLE and graph.function[user] == function]
        if users and not _shares_scope_with_user(graph, node, users):
            owner_of[node] = users[0]
    return owner_of


def _shares_scope_with_user(graph: Graph, node: int, users: list[int]) -> bool:
    """Return whether a variable is in the scope of an op that uses it."""
    scope = graph.name[node].rpartition("/")[0]
    return bool(scope) and any(graph.name[user].startswith(f"{scope}/") for user in users)


def hierarchy_costs(hierarchy: Hierarchy, inference: Inference, batch: int = 1) -> Costs:
    """Return the costs of all rows. An unknown size counts as `batch`; for the default of 1, as the batch that ops
    state, if any."""
    graph = hierarchy.graph
    batch = (_stated_batch(inference) or batch) if batch == 1 else batch
    summer = CostSummer(inference, batch)
    nodes = summer.costs_of_nodes()
    uncounted = dict(sorted(summer.uncounted.items(), key=lambda pair: (-pair[1], pair[0])))
    roles = _cost_roles_of_nodes(graph)
    callers = callers_in_main_graph(graph)
    for node, cost in iter_weight_costs(inference):
        nodes[node] += cost
        # Weights of a function count at its first call only.
        caller = callers.get(int(graph.function[node]))
        if caller is not None:
            nodes[caller] += cost
    # Rows without a node are groups.
    role_of_row = [roles[node] if node >= 0 else 0 for node in hierarchy.node.tolist()]
    direct = [nodes[node] if node >= 0 else NO_COST for node in hierarchy.node.tolist()]
    counted, rows = list(direct), hierarchy.row_of_node.tolist()
    for variable, user in _weight_owners(graph, roles).items():
        row, owner = rows[variable], rows[user]
        if row >= 0 and owner >= 0:
            counted[owner] += direct[row]
            counted[row] = NO_COST
    return Costs(direct, counted, hierarchy.end.tolist(), role_of_row, uncounted, batch)


def weight_costs_by_node(inference: Inference) -> dict[int, Cost]:
    """Return the cost of the weights of a graph, at the nodes where sums count them."""
    graph = inference.graph
    used_by, callers = _weight_owners(graph, _cost_roles_of_nodes(graph)), callers_in_main_graph(graph)
    weights: defaultdict[int, Cost] = defaultdict(lambda: NO_COST)
    for node, cost in iter_weight_costs(inference):
        owner = used_by.get(node, node)
        weights[owner if graph.kept[owner] else node] += cost
        caller = callers.get(int(graph.function[node]))
        if caller is not None:
            weights[caller] += cost
    return weights


def main_costs_by_name(hierarchy: Hierarchy, costs: Costs) -> dict[str, Cost]:
    """Return the cost of each node of the main graph."""
    graph = hierarchy.graph
    rows = hierarchy.row_of_node.tolist()
    main = (graph.function < 0).tolist()
    return {graph.name[node]: costs.own[rows[node]] for node in range(len(graph)) if main[node] and rows[node] >= 0}


class CostSummer:
    """The costs of nodes, in the main graph and in each frame of a function."""

    def __init__(self, inference: Inference, batch: int) -> None:
        self.inference = inference
        self.graph = inference.graph
        self.batch = batch
        self.uncounted: Counter[str] = Counter()
        self._layers = keras_layer_nodes(inference.graph)
        self._stores: list[bool] = self.graph.meaning.stores.tolist()  # whether each node is a store of a variable
        self._known: dict[tuple[object, ...], Cost] = {}  # by definition, inputs and outputs
        self._frames: dict[CallFrame, Cost] = {}
        self._rounds = LoopRounds(inference)
        self._around = loop_conditions(self.graph)
        self._branched: list[bool] = branch_nodes(self.graph).tolist()
        idle = unused_nodes(self.graph) | (self.graph.definition < 0)
        if self.graph.is_value_trace:  # sizes and numbers are computed by the program, not by the network
            idle |= self.graph.mark == Mark.CONSTANT
        self._idle: list[bool] = idle.tolist()
        self._inside: dict[int, list[int]] = {}  # nodes by function
        for node, function in enumerate(self.graph.function.tolist()):
            if function >= 0:
                self._inside.setdefault(function, []).append(node)

    def costs_of_nodes(self) -> list[Cost]:
        """Return the cost of each node; a node of a function has that of the first call."""
        main = self.inference.main
        frames = {function: self.inference.calls.frames_of(function) for function in self._inside}
        costs = []
        for node, function in enumerate(self.graph.function.tolist()):
            frame = main if function < 0 else frames[function][0]
            self.inference.infer_outputs(frame, node)
            costs.append(self.cost_in_frame(frame, node))
        return costs

    def cost_in_frame(self, frame: CallFrame, node: int) -> Cost:
        """Return the cost of a node in a frame. Frames that it calls are summed first; recursion costs nothing."""
        # A stack, since calls may be thousands deep.
        waiting = [frame_of for frame_of in self.opened_frames(frame, node) if frame_of not in self._frames]
        entered: set[CallFrame] = set()
        while waiting:
            opened = waiting[-1]
            if opened in self._frames:
                waiting.pop()
                continue
            entered.add(opened)
            nodes = self._inside.get(opened.function, [])
            for inner_node in nodes:
                self.inference.infer_outputs(opened, inner_node)
            callees = dict.fromkeys(callee for inner_node in nodes for callee in self.opened_frames(opened, inner_node))
            # A frame that was entered is a recursion.
            unknown_callees = [callee for callee in callees if callee not in self._frames and callee not in entered]
            if unknown_callees:
                waiting += unknown_callees
                continue
            total = NO_COST
            for inner_node in nodes:
                total += self._cost_of_all_rounds(opened, inner_node)
            self._frames[opened] = total
            waiting.pop()
        return self._cost_of_all_rounds(frame, node)

    def opened_frames(self, frame: CallFrame, node: int) -> tuple[CallFrame, ...]:
        return self.inference.calls.opened.get((frame, node), ())

    def _cost_of_all_rounds(self, frame: CallFrame, node: int) -> Cost:
        """Return the cost of a node in all rounds of the enclosing loops of control flow v1; all branches count."""
        cost = self._cost_of_one_round(frame, node)
        if self._branched[node] and (cost.flops or cost.activation_bytes) and not cost.branched:
            cost += Cost(branched=1)
        around = self._around.get(node)
        if around is None:
            return cost
        counts = [None if condition is None else self._rounds.round_count(frame, condition) for condition in around]
        # An op without operations costs nothing in any round.
        unknown = None in counts and (cost.flops or not (cost.uncounted or self.inference.op_type(node) in ALIAS_OPS))
        times = prod(count for count in counts if count is not None)
        return cost.repeat(times) + (Cost(partial=1) if unknown and not cost.partial else NO_COST)

    def _cost_of_one_round(self, frame: CallFrame, node: int) -> Cost:
        if called := self.opened_frames(frame, node):
            return self._call_cost(frame, node, called)
        if self._idle[node]:
            return NO_COST
        ins = self.inference.infer_inputs(frame, node)
        layer, outs = self._layers.get(node), frame.outs[node]
        key = (self.inference.definitions.number_of(node), self._stores[node], outs, *ins)
        cost = None if layer else self._known.get(key)
        if cost is None:
            cost = self._operation_cost(node, ins, outs, layer)
            if not layer and len(self._known) < MAX_CACHED_OPS:
                self._known[key] = cost
        if cost.uncounted:
            self.uncounted[layer.class_name if layer else self.inference.op_type(node)] += 1
        return cost

    def _operation_cost(self, node: int, ins: list[Out], outs: tuple[Out, ...], layer: Layer | None) -> Cost:
        """Return the cost of running an op or a layer once."""
        definition = self.graph.node_def(node)
        assert definition is not None, "only arguments of functions have none"
        op = CountedOp(Op(definition, ins, self.inference.symbols), ins, outs, self.batch)
        operations = layer_cost(layer, self.batch) if layer else self._counted_operations(op)
        partial = is_partly_counted(layer) if layer else op.partial
        alias = definition.op in ALIAS_OPS
        return Cost(
            0,
            *(operations or (0, 0)),
            activation_bytes=0 if alias else self._activation_bytes(op),
            uncounted=int(operations is None),
            # Unknown sizes count as the batch, which is a guess.
            guessed=int(any(not all_sizes_known(out.shape) for out in (*ins, *outs) if out.shape is not None)),
            # An op without operations costs nothing, whatever its sizes.
            partial=int(operations is not None and partial and (any(operations) or not (alias or layer))),
            unshaped=int(not alias and not self._stores[node] and _has_unknown_output_size(op)),
        )

    def _call_cost(self, frame: CallFrame, node: int, called: tuple[CallFrame, ...]) -> Cost:
        """Return the cost of the functions of a call: the most expensive branch, or all rounds of a loop."""
        body_costs = [self._frames.get(body, NO_COST) for body in called]
        op = self.inference.op_type(node)
        # Only one branch runs: the most expensive one is an upper bound.
        if op in BRANCH_OPS:
            dearest = max(body_costs, key=lambda cost: cost.flops)
            equal = all(cost.as_dict() == dearest.as_dict() for cost in body_costs)
            return dearest if equal else dearest + Cost(branched=1)
        total = NO_COST
        for cost in body_costs:
            total += cost
        if op not in LOOP_OPS:
            return total
        rounds = self._rounds.round_count(frame, node)
        # The condition runs once more than the body; its cost is negligible.
        return total + Cost(partial=1) if rounds is None else total.repeat(rounds)

    def _counted_operations(self, op: CountedOp) -> tuple[int, int] | None:
        try:
            return op_cost(op)
        except (UnknownShapeError, *ILL_FORMED_OP_ERRORS):  # an unknown shape, or one that the op does not accept
            return None

    def _activation_bytes(self, op: CountedOp) -> int:
        shaped = [(index, out.shape) for index, out in enumerate(op.outs) if out.shape is not None]
        if not shaped:
            return 0
        dtypes = output_dtype_lookup(op.op.definition)
        return sum(
            size_product(sizes_with_batch(shape, op.op.symbols, self.batch)) * element_size(dtypes(index))
            for index, shape in shaped
        )


KERNEL_OUTPUT_PREFIX = "reserve_space"  # of outputs for the gradient, whose size only the kernel knows


def _has_unknown_output_size(op: CountedOp) -> bool:
    """Return whether a size of an output other than the batch is unknown."""
    definition = op.op.definition
    if not op.outs:
        return output_count(definition) != 0
    known = op_def(definition.op)
    names = [output.name for output in known.outputs] if known is not None else []
    return any(
        not follows_batch_only(out.shape, op.op.symbols)
        for index, out in enumerate(op.outs)
        if index >= len(names) or not names[index].startswith(KERNEL_OUTPUT_PREFIX)
    )
