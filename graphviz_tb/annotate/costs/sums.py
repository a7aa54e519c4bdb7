"""The cost of every op of a graph. A call costs as much as its functions with its arguments: the most expensive branch
of several, all rounds of a loop, or one round if their number is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod

from graphviz_tb.algorithms.output_dtypes import output_dtypes
from graphviz_tb.annotate.costs.counted import CountedOp, Unknown, elements, settled, sizes
from graphviz_tb.annotate.costs.formulas import work
from graphviz_tb.annotate.costs.frames import conditions_around, unused
from graphviz_tb.annotate.costs.layers import is_partial, layer_work
from graphviz_tb.annotate.costs.rounds import Rounds
from graphviz_tb.annotate.costs.weights import owners, roles_of, weights_of
from graphviz_tb.annotate.definitions import layer_nodes
from graphviz_tb.annotate.infer.engine import ILL_FORMED, Inference
from graphviz_tb.annotate.infer.frame import CallFrame
from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.symbols import fixed
from graphviz_tb.annotate.infer.values import Out
from graphviz_tb.annotate.outputs import outputs_of
from graphviz_tb.limits import REMEMBERED_OPS
from graphviz_tb.model.costs import NOTHING, Cost, Costs
from graphviz_tb.model.dtypes import element_size
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.layers import Layer
from graphviz_tb.ops.outputs import op_def
from graphviz_tb.ops.roles import ALIASES, BRANCHES, LOOPS


def costs_of(hierarchy: Hierarchy, inference: Inference, batch: int = 1) -> Costs:
    """Return the costs of all rows; an unknown size counts as `batch`."""
    graph = hierarchy.graph
    bill = Bill(inference, batch)
    nodes = bill.nodes()
    uncounted = dict(sorted(bill.uncounted.items(), key=lambda pair: (-pair[1], pair[0])))
    roles = roles_of(graph)
    for node, cost in weights_of(inference):
        nodes[node] += cost
    # Rows without a node are groups.
    by_row = [roles[node] if node >= 0 else 0 for node in hierarchy.node.tolist()]
    own = [nodes[node] if node >= 0 else NOTHING for node in hierarchy.node.tolist()]
    counted = beside_users(hierarchy, own, owners(graph, roles))
    return Costs(own, counted, hierarchy.end.tolist(), by_row, uncounted, batch)


def beside_users(hierarchy: Hierarchy, own: list[Cost], used_by: Mapping[int, int]) -> list[Cost]:
    """Return the costs of rows, with the weights of variables moved to their owners."""
    counted, rows = list(own), hierarchy.row_of_node.tolist()
    for variable, user in used_by.items():
        row, owner = rows[variable], rows[user]
        if row >= 0 and owner >= 0:
            counted[owner] += own[row]
            counted[row] = NOTHING
    return counted


def costs_by_node(inference: Inference, batch: int = 1) -> list[Cost]:
    """Return the cost of the operations of each node, in node order, without its weights."""
    return Bill(inference, batch).nodes()


def weights_by_node(inference: Inference) -> dict[int, Cost]:
    """Return the cost of the weights of a graph, at the nodes where sums count them."""
    graph = inference.graph
    used_by = owners(graph, roles_of(graph))
    weights: dict[int, Cost] = {}
    for node, cost in weights_of(inference):
        owner = used_by.get(node, node)
        at = owner if graph.kept[owner] else node
        weights[at] = weights.get(at, NOTHING) + cost
    return weights


def costs_by_name(hierarchy: Hierarchy, costs: Costs) -> dict[str, Cost]:
    """Return the cost of each node of the main graph."""
    graph = hierarchy.graph
    rows = hierarchy.row_of_node.tolist()
    main = (graph.function < 0).tolist()
    return {graph.name[node]: costs.own[rows[node]] for node in range(len(graph)) if main[node] and rows[node] >= 0}


class Bill:
    """Adds up costs of nodes: in the main graph, and in each frame of a function."""

    def __init__(self, inference: Inference, batch: int) -> None:
        self.inference = inference
        self.graph = inference.graph
        self.batch = batch
        self.uncounted: Counter[str] = Counter()
        self._layers = layer_nodes(inference.graph)
        self._stores: list[bool] = self.graph.meaning.stores.tolist()
        self._known: dict[tuple[object, ...], Cost] = {}  # by definition, inputs and outputs
        self._frames: dict[CallFrame, Cost] = {}
        self._rounds = Rounds(inference)
        self._around = conditions_around(self.graph)
        self._idle: list[bool] = (unused(self.graph) | (self.graph.definition < 0)).tolist()
        # function ─▶ its nodes
        self._inside: dict[int, list[int]] = {}
        for node, function in enumerate(self.graph.function.tolist()):
            if function >= 0:
                self._inside.setdefault(function, []).append(node)

    def nodes(self) -> list[Cost]:
        """Return the cost of each node; a node of a function is counted as in the first call that reaches it."""
        main = self.inference.main
        frames = {function: self.inference.calls.frames_of(function) for function in self._inside}
        costs = []
        for node, function in enumerate(self.graph.function.tolist()):
            frame = main if function < 0 else frames[function][0]
            self.inference.ask(frame, node)
            costs.append(self.cost(frame, node))
        return costs

    def cost(self, frame: CallFrame, node: int) -> Cost:
        """Return the cost of one node in one frame. Frames that it calls are added up first; recursion counts as
        nothing."""
        # A stack, not recursion: calls may be thousands deep.
        waiting = [frame_of for frame_of in self.called(frame, node) if frame_of not in self._frames]
        begun: set[CallFrame] = set()
        while waiting:
            sub = waiting[-1]
            if sub in self._frames:
                waiting.pop()
                continue
            begun.add(sub)
            inner = self._inside.get(sub.function, [])
            for each in inner:
                self.inference.ask(sub, each)
            called = dict.fromkeys(callee for each in inner for callee in self.called(sub, each))
            # A begun frame below leads back here: recursion counts as nothing.
            below = [callee for callee in called if callee not in self._frames and callee not in begun]
            if below:
                waiting += below
                continue
            # All below are known.
            total = NOTHING
            for each in inner:
                total += self._in_rounds(sub, each)
            self._frames[sub] = total
            waiting.pop()
        return self._in_rounds(frame, node)

    def called(self, frame: CallFrame, node: int) -> tuple[CallFrame, ...]:
        """Return the frames opened by a call."""
        return self.inference.calls.opened.get((frame, node), ())

    def _in_rounds(self, frame: CallFrame, node: int) -> Cost:
        """Return the cost of a node in all rounds of the enclosing loops of control flow v1."""
        cost = self._alone(frame, node)
        around = self._around.get(node)
        if around is None:
            return cost
        counts = [None if condition is None else self._rounds.of(frame, condition) for condition in around]
        # An op without operations costs nothing in any round.
        unknown = None in counts and (cost.flops or not (cost.uncounted or self.inference.op(node) in ALIASES))
        times = prod(count for count in counts if count is not None)
        return cost.repeated(times) + (Cost(partial=1) if unknown and not cost.partial else NOTHING)

    def _alone(self, frame: CallFrame, node: int) -> Cost:
        if called := self.called(frame, node):
            return self._call(frame, node, called)
        if self._idle[node]:
            return NOTHING
        ins = self.inference.taken(frame, node)
        layer, outs = self._layers.get(node), frame.outs[node]
        key = (self.inference.definitions.of(node), self._stores[node], outs, *ins)
        cost = None if layer else self._known.get(key)
        if cost is None:
            cost = self._operations(node, ins, outs, layer)
            if not layer and len(self._known) < REMEMBERED_OPS:
                self._known[key] = cost
        if cost.uncounted:
            self.uncounted[layer.class_name if layer else self.inference.op(node)] += 1
        return cost

    def _operations(self, node: int, ins: list[Out], outs: tuple[Out, ...], layer: Layer | None) -> Cost:
        """Return the cost of running an op or a layer once."""
        definition = self.graph.node_def(node)
        assert definition is not None, "only arguments of functions have none"
        op = CountedOp(Op(definition, ins, self.inference.symbols), ins, outs, self.batch)
        done = layer_work(layer, self.batch) if layer else self._work(op)
        partial = is_partial(layer) if layer else op.partial
        alias = definition.op in ALIASES
        return Cost(
            0,
            *(done or (0, 0)),
            activation_bytes=0 if alias else self._bytes(op),
            uncounted=int(done is None),
            # An unknown size counts as the batch: a guess.
            guessed=int(any(not fixed(out.shape) for out in (*ins, *outs) if out.shape is not None)),
            # An op without operations costs nothing, whatever its sizes.
            partial=int(done is not None and partial and (any(done) or not alias)),
            unshaped=int(not alias and not self._stores[node] and unshaped(op)),
        )

    def _call(self, frame: CallFrame, node: int, called: tuple[CallFrame, ...]) -> Cost:
        """Return the cost of the functions of a call: the most expensive branch, or all rounds of a loop."""
        subs = [self._frames.get(sub, NOTHING) for sub in called]
        op = self.inference.op(node)
        # One branch runs: take the most expensive, so that the cost is an upper bound.
        if op in BRANCHES:
            return max(subs, key=lambda cost: cost.flops)
        total = NOTHING
        for sub in subs:
            total += sub
        if op not in LOOPS:
            return total
        rounds = self._rounds.of(frame, node)
        # The condition runs once more than the body; its cost is negligible.
        return total + Cost(partial=1) if rounds is None else total.repeated(rounds)

    def _work(self, op: CountedOp) -> tuple[int, int] | None:
        try:
            return work(op)
        except (Unknown, *ILL_FORMED):  # an unknown shape, or one that the op does not accept
            return None

    def _bytes(self, op: CountedOp) -> int:
        shaped = [(index, out.shape) for index, out in enumerate(op.outs) if out.shape is not None]
        if not shaped:
            return 0
        dtypes = output_dtypes(op.op.definition)
        return sum(
            elements(sizes(shape, op.op.symbols, self.batch)) * element_size(dtypes(index)) for index, shape in shaped
        )


KERNEL = "reserve_space"  # names of outputs kept for the gradient, whose size only the kernel knows


def unshaped(op: CountedOp) -> bool:
    """Return whether the size of an output is unknown, apart from the batch."""
    definition = op.op.definition
    if not op.outs:
        return outputs_of(definition) != 0
    known = op_def(definition.op)
    names = [output.name for output in known.outputs] if known is not None else []
    return any(
        not settled(out.shape, op.op.symbols)
        for index, out in enumerate(op.outs)
        if index >= len(names) or not names[index].startswith(KERNEL)
    )
