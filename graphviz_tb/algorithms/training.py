"""What trains a model: gradients and updates, distinguished from the forward part by the direction of data flow.

What gradients reach trains: their sums, clipping, the optimizer. What they are worked out from and do not reach is the
model with its loss. The rest is drawn beside both: metrics, summaries, savers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np

from graphviz_tb.algorithms.custom_gradients import of_custom_gradients
from graphviz_tb.algorithms.gradient_scopes import differentiated, gradient_scopes
from graphviz_tb.algorithms.reached import reached, spread
from graphviz_tb.model.columns import Bools, Bytes, Longs, distinct
from graphviz_tb.model.hierarchy import OP, Hierarchy

# e.g. `__backward_standard_lstm_123`, `while_body_45_grad_67`: how TensorFlow names gradients of functions.
BACKWARD = re.compile(r"(__inference_)?__backward_.*|.*(body|cond)_\d+(_rewritten)?_grad_\d+")  # derived functions
GRADIENT_TYPES = re.compile(r".*Grad(V[0-9])?|.*Backprop(Filter)?(V[0-9])?|BroadcastGradientArgs")  # a transposed
# convolution of a model is a BackpropInput
UPDATE_TYPES = re.compile(r"(Resource)?(Sparse)?Apply.*|Assign.*|(Resource)?Scatter(Nd)?(Add|Sub|Update)")
HANDLES = re.compile(r"VarHandleOp|VariableV2|Variable")
LISTS = re.compile(r"EmptyTensorList|TensorListReserve|StackV2")  # gradients make them, loops of the model fill them
SHAPE_TYPES = re.compile(r"ZerosLike|OnesLike|ShapeN?|Size|Rank|Fill|Const")
FEWEST_OPS, LEAST = 3, 0.02  # a smaller forward part, in ops or of the level, is what gradients are worked out with
FORWARD = 0.05  # of the ops of a group that feed gradients or come from them: as few forward ones make no model


class Part(IntEnum):
    """What a child is to the level it is in."""

    MODEL = 0  # what gradients are taken of, with what feeds it and what it feeds; all of a level that does not train
    GRADIENTS = 1  # they and what becomes of them, with what only they use
    UPDATES = 2  # begin where variables are written, with what only they use
    BOOKKEEPING = 3  # metrics, counters, savers, initialisers: hangs on no model, or stores what it measures


class Training:
    """Which levels of a hierarchy train, and which rows do nothing else."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._handle = fitting(hierarchy, HANDLES)
        self._update = fitting(hierarchy, UPDATE_TYPES)
        self._shape = self._ops(SHAPE_TYPES)
        self._updates = sums(self._ops(UPDATE_TYPES))
        seeds = self._gradients()
        forward, behind = ways(hierarchy, seeds) if seeds.any() else (seeds, seeds)
        named = differentiated(hierarchy)
        # An op that gradients were taken of is part of the model even where no gradient needs its value.
        forward[named] |= ~behind[named]
        self._forward, self._behind = sums(forward), sums(behind)

    @cached_property
    def quiet(self) -> Bools:
        """For each row whether it is gradients or updates, and nothing of a model."""
        behind = self._behind[self.hierarchy.end] - self._behind[:-1]
        quiet: Bools = (behind > 0) & (self.forward <= FORWARD * (self.forward + behind))
        return quiet

    @cached_property
    def forward(self) -> Longs:
        """For each row how many ops in it gradients are worked out from."""
        forward: Longs = self._forward[self.hierarchy.end] - self._forward[:-1]
        return forward

    @cached_property
    def part(self) -> Bytes:
        """For each row which `Part` of its level it is."""
        hierarchy = self.hierarchy
        part_of = np.zeros(len(hierarchy), np.uint8)
        size = hierarchy.op_total[hierarchy.end] - hierarchy.op_total[:-1]  # ops under each row
        trains = (self.forward >= np.maximum(FEWEST_OPS, LEAST * size)) & ~self.quiet
        # Only levels that hold both: enough of a model, and a child that is gradients or updates.
        around = hierarchy.parent[self.quiet & (hierarchy.parent >= 0)]
        for row in distinct(around[trains[around]]).tolist():
            for part, rows in self._parts(row).items():
                part_of[list(rows)] = part
        return part_of

    def _parts(self, row: int) -> dict[Part, set[int]]:
        """The parts of the level that `row` opens to, but for the model."""
        children = self.hierarchy.children(row).tolist()
        # Parts take from the children one after the other; each step only looks at what the earlier ones left.
        behind = {child for child in children if self.quiet[child]}
        after = self._after(row)
        # Shapes and zeros that only gradients use: they are worked out from the model, but for them.
        shapes = {
            candidate
            for candidate in children
            if self._shape[candidate] and after.get(candidate) and behind.issuperset(after[candidate])
        }
        model = {child for child in children if self.forward[child]} - behind - shapes
        updates = reached({child for child in behind if self._writes(child)}, after) & behind
        known = behind | model | shapes
        others = [child for child in children if child not in known]
        model |= self._inputs(row, others, model)
        others = [child for child in others if child not in model]
        updates |= serving(others, after, updates)
        gradients = (behind | shapes) - updates
        gradients |= serving([child for child in others if child not in updates], after, gradients | updates)
        beside = set(children) - model - gradients - updates
        books = self._books(row, beside, model, after)
        return {Part.GRADIENTS: gradients, Part.UPDATES: updates, Part.BOOKKEEPING: books}

    def _inputs(self, row: int, others: Sequence[int], model: set[int]) -> set[int]:
        """Which of `others` lead into a model other than by writing its variables: readers that fill its queues."""
        after = self._after(row, writes=False)
        before: dict[int, list[int]] = {}
        for child in others:
            for user in after.get(child, ()):
                before.setdefault(user, []).append(child)
        return reached(model, before) - model

    def _books(self, row: int, beside: set[int], model: set[int], after: dict[int, list[int]]) -> set[int]:
        """What hangs together beside a model and writes variables, is fed by variables alone, or fills new ones."""
        # Union-find: what hangs together beside the model is judged as a whole.
        head = {child: child for child in beside}
        for child in sorted(beside):
            for user in after.get(child, ()):
                if user in head:
                    join(head, child, user)
        values = self._after(row, values=True)
        fed = {find(head, user) for child in model for user in values.get(child, ()) if user in head}
        filling = {child for child in beside if not model.isdisjoint(after.get(child, ()))}
        writing = {find(head, child) for child in beside if child in filling or self._writes(child)}
        unused = {child for child in beside if self._shape[child] and not after.get(child)}
        return unused | {child for child in beside if (top := find(head, child)) not in fed or top in writing}

    def _gradients(self) -> Bools:
        """For each row whether it is an op that works out gradients: by its type, its scope, or its function."""
        hierarchy = self.hierarchy
        name = hierarchy.name
        heads = gradient_scopes(hierarchy)
        heads += [row for row in hierarchy.function_rows if BACKWARD.fullmatch(name[row])]
        gradients = self._ops(GRADIENT_TYPES) | (inside(hierarchy, heads) & (hierarchy.kind == OP))
        for call, bodies in hierarchy.calls.items():
            gradients[call] |= any(BACKWARD.fullmatch(hierarchy.name[body]) for _, body in bodies)
        plain: Bools = gradients & (hierarchy.mark == 0)
        return plain

    def _ops(self, pattern: re.Pattern[str]) -> Bools:
        """For each row whether it is an op of such a type."""
        hierarchy, graph = self.hierarchy, self.hierarchy.graph
        matching = np.zeros(len(hierarchy), bool)
        leaves = (hierarchy.node >= 0) & (hierarchy.mark == 0)
        matching[leaves] = fitting(hierarchy, pattern)[graph.op[hierarchy.node[leaves]]]
        return matching

    def _count(self, total: Longs, row: int) -> int:
        return int(total[self.hierarchy.end[row]] - total[row])

    def _writes(self, row: int) -> bool:
        """Whether a row writes variables, through calls too."""
        bodies = [body for _, body in self.hierarchy.calls.get(row, ())]
        return any(self._count(self._updates, place) for place in (row, *bodies))

    def _after(self, row: int, values: bool = False, writes: bool = True) -> dict[int, list[int]]:
        """For each child of a level those that need it; where only `values` count, not those of its variables, and
        without `writes` not those that only store what it gives."""
        hierarchy = self.hierarchy
        owned = hierarchy.owned(row)
        start, stop = hierarchy.edge_from[owned], hierarchy.edge_to[owned]
        kept = (start >= 0) & (stop >= 0) & ~hierarchy.graph.control[owned]
        if values:
            kept &= ~self._handle[hierarchy.graph.op[hierarchy.graph.source[owned]]]
        if not writes:
            kept &= ~self._update[hierarchy.graph.op[hierarchy.graph.target[owned]]]
        after: dict[int, list[int]] = {}
        # Pairs of rows as one number each.
        for pair in distinct(start[kept].astype(np.int64) << 32 | stop[kept].astype(np.int64)).tolist():
            after.setdefault(pair >> 32, []).append(pair & 0xFFFFFFFF)
        return after


def fitting(hierarchy: Hierarchy, pattern: re.Pattern[str]) -> Bools:
    """For each op type whether a pattern means it."""
    return np.array([bool(pattern.fullmatch(op)) for op in hierarchy.graph.op_types] or [False])


def inside(hierarchy: Hierarchy, heads: Sequence[int]) -> Bools:
    """For each row whether it is one of `heads`, or lies in one."""
    # +1 where a head begins, -1 behind its end: the running sum counts the heads around each row.
    change = np.zeros(len(hierarchy) + 1, np.int64)
    np.add.at(change, np.array(heads, np.int64), 1)
    np.add.at(change, hierarchy.end[np.array(heads, np.int64)], -1)
    inner: Bools = np.cumsum(change[:-1]) > 0
    return inner


def ways(hierarchy: Hierarchy, seeds: Bools) -> tuple[Bools, Bools]:
    """For each row whether it is an op that feeds gradients, or one that comes from them or is one (`seeds`).

    Before: rows of ops that are gradients. After: no row is both; what comes from gradients is no forward op, though
    it may feed others.
    """
    graph = hierarchy.graph
    start = np.zeros(len(graph), bool)
    start[hierarchy.node[seeds]] = True
    seeds_key = start.tobytes()
    if seeds_key not in graph.ways:  # the raw and the folded hierarchy have the same gradients
        data = ~graph.control & ~fitting(hierarchy, LISTS)[graph.op[graph.source]]
        behind = spread(start, graph.source[data], graph.target[data])
        feeding = spread(start, graph.target[data], graph.source[data])
        behind |= of_custom_gradients(graph, behind, feeding)
        graph.ways[seeds_key] = feeding & ~behind, behind
    feeding, behind = graph.ways[seeds_key]
    leaves = np.flatnonzero((hierarchy.node >= 0) & (hierarchy.mark == 0))
    by_row = np.zeros((2, len(hierarchy)), bool)
    by_row[:, leaves] = feeding[hierarchy.node[leaves]], behind[hierarchy.node[leaves]]
    return by_row[0], by_row[1]


def serving(children: Sequence[int], after: dict[int, list[int]], users: set[int]) -> set[int]:
    """What nothing but `users` needs: rates, counters of steps."""
    helpers: set[int] = set()
    left = {child: len(after[child]) for child in children if after.get(child)}  # users not yet known to serve
    before: dict[int, list[int]] = {}
    for child in left:
        for user in after[child]:
            before.setdefault(user, []).append(child)
    todo = sorted(users)
    while todo:
        for child in before.get(todo.pop(), ()):
            left[child] -= 1
            if not left[child]:
                helpers.add(child)
                todo.append(child)
    return helpers


def find(head: dict[int, int], row: int) -> int:
    """The head of the set that a row is in."""
    while head[row] != row:
        head[row] = row = head[head[row]]
    return row


def join(head: dict[int, int], left: int, right: int) -> None:
    """Make one set of the sets of two rows."""
    left, right = find(head, left), find(head, right)
    head[max(left, right)] = min(left, right)


def sums(flags: Bools) -> Longs:
    """Prefix sums: `total[end[r]] - total[r]` of the rows in row r are flagged."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(flags)))
