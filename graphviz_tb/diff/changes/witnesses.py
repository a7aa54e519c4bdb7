"""Prove that a difference outside of the model is a consequence of an edit.

gradient    the node computes gradients of a model that changed
parameter   the node only leads to, or only depends on, variables added or removed with the model
body        the node belongs to an added or removed variable; remaining variables have nodes of the same body
size        a number in a shape changed with the shape of a weight
initial     a limit or deviation of an initialiser is computed from the size of its variable
saver       a saver lists variables in another order
training    the node belongs to a replaced optimizer, or to a variable that is no longer trained

A difference without a proof is an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import isclose, prod
from typing import Any

import numpy as np

from graphviz_tb.diff.changes.attributes import Difference
from graphviz_tb.diff.changes.called import SizePairs
from graphviz_tb.diff.changes.training import (
    OPTIMIZER_KEYS,
    Bodies,
    nodes_only_before,
    otherwise_trained,
    training_changes,
    training_of,
)
from graphviz_tb.diff.changes.training_parts import TrainingParts
from graphviz_tb.diff.changes.units import Rewire, input_differences, rewired_nodes
from graphviz_tb.diff.columns.labels import LOSS_SCALING, is_saver
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.numbered import takes_any_number
from graphviz_tb.graphs.traversal import needed_only_by, reachable_mask
from graphviz_tb.interpret.training import gradient_scope
from graphviz_tb.limits import MAX_STEPS_TO_USER
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Bools, exists
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    INPUT_OPS,
    KERNEL_GRADIENT_OPS,
    SIZE_ARITHMETIC_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)

EFFECT_ROLES = (
    Role.ASSIGN,
    Role.UPDATE,
    Role.SCATTER,
    Role.SAVE,
    Role.RESTORE,
    Role.SUMMARY,
    Role.GROUP,
    Role.VARIABLE,
)
LIMIT_TOLERANCE = 1e-3  # relative: constants are rounded to float32 or float16


class Witnesses:
    """The proofs for one pair of graphs."""

    def __init__(self, m: Matching) -> None:
        self.m = m
        self.layers = m.layers
        self.free = ~exists(m.to_b), ~exists(m.to_a)

    @cached_property
    def training_edits(self) -> Sequence[Change]:
        """Return the changes of the training."""
        return training_changes(self.m)

    @cached_property
    def bodies(self) -> tuple[Bodies, Bodies]:
        """Return the bodies of either side."""
        return Bodies(self.layers[0]), Bodies(self.layers[1])

    @cached_property
    def parts(self) -> tuple[TrainingParts, TrainingParts]:
        """Return the parts that the ops of either side have in the training."""
        return TrainingParts(self.bodies[0]), TrainingParts(self.bodies[1])

    @cached_property
    def kept_bodies(self) -> frozenset[int]:
        """Return the bodies that matched nodes have on both sides."""
        mine, other = (bodies.of[nodes] for bodies, nodes in zip(self.bodies, self.m.matched_pairs(), strict=True))
        return frozenset(mine[(mine == other) & (mine != 0)].tolist())

    @cached_property
    def is_other_model(self) -> bool:
        """Return whether the model itself has a difference."""
        m = self.m
        old, new = m.matched_pairs()
        forward = self.layers[1].forward[new] | self.layers[0].forward[old]
        if (m.a.node_label[old] != m.b.node_label[new])[forward].any():
            return True
        if any(
            (free & side.forward & ~side.for_gradients).any() for free, side in zip(self.free, self.layers, strict=True)
        ):
            return True
        mine, other = rewired_nodes(m)
        return bool((self.layers[0].forward[mine] | self.layers[1].forward[other]).any())

    @cached_property
    def proven(self) -> tuple[Bools, Bools]:
        """Return which unmatched nodes outside of the model are proven consequences, on either side."""
        return self._proven(False), self._proven(True)

    @cached_property
    def unproven(self) -> tuple[Bools, Bools]:
        """Return which unmatched nodes outside of the model are no proven consequences, on either side."""
        old, new = (
            free & ~side.forward & ~proven
            for free, side, proven in zip(self.free, self.layers, self.proven, strict=True)
        )
        return old, new

    def _proven(self, new: bool) -> Bools:
        layers, bodies, free = self.layers[new], self.bodies[new], self.free[new]
        graph = layers.side.graph
        proven: Bools = np.zeros(len(graph), bool)
        if not (free & ~layers.forward).any():
            return proven
        keys = {change.key for change in self.training_edits}
        if self.is_other_model or "trainable" in keys:
            proven |= free & bodies.gradient
        outside = free & bodies.outside
        if not keys.isdisjoint(OPTIMIZER_KEYS):
            proven |= outside & self.optimizing[new]
        proven |= self._of_variables(new, outside)
        if not self.is_other_model:
            return proven
        # Unused nodes without a side effect.
        ends = outside & ~graph.nodes_of_types(lambda op: has_role(op, *EFFECT_ROLES))
        ends[graph.source] = False
        return proven | ends | nodes_only_before(layers, outside, ends)

    @cached_property
    def optimizing(self) -> tuple[Bools, Bools]:
        """Return the nodes on either side that belong to a replaced optimizer: everything from gradients to updates,
        and its variables. All False if the optimizer is the same."""
        if not any(change.key in OPTIMIZER_KEYS for change in self.training_edits):
            return np.zeros(len(self.m.a), bool), np.zeros(len(self.m.b), bool)
        old, new = (part.optimizing() for part in self.parts)
        return old, new

    def only_scales_loss(self, change: Change) -> bool:
        """Return whether a change only adds or removes the scaling of a loss, which is a change of the training."""
        if not any(each.key == LOSS_SCALING for each in self.training_edits):
            return False
        parts = [training_of(layers).scaling for layers in self.layers]
        nodes = [change.edits.removed, change.edits.added]
        return any(nodes) and all(scaling.issuperset(edited) for scaling, edited in zip(parts, nodes, strict=True))

    @cached_property
    def other_training(self) -> tuple[list[int], list[int]]:
        """Return the variables of both sides that only one side trains, old and new."""
        if not any(change.key == "trainable" for change in self.training_edits):
            return [], []
        other = otherwise_trained(self.m, *map(training_of, self.layers))
        return [old for old, _ in other], [new for _, new in other]

    def _of_variables(self, new: bool, outside: Bools) -> Bools:
        """Return which nodes follow from variables that were added or removed with the model.

        `fresh` are the unmatched variables and nodes of the model, `found` the nodes that follow from them, and `known`
        both and the variables of the optimizer that belong to them.
        """
        layers, bodies, free = self.layers[new], self.bodies[new], self.free[new]
        graph = layers.side.graph
        fresh = np.zeros(len(graph), bool)
        fresh[[node for node in bodies.parameters() if free[node]]] = True
        fresh |= free & layers.forward
        fresh[self.other_training[new]] = True
        fresh |= free & self.optimizing[new]
        # Nodes outside that are connected with a fresh node, or with its gradients.
        start = fresh | (free & bodies.gradient)
        # Every edge in both directions.
        sources, targets = np.concatenate((graph.source, graph.target)), np.concatenate((graph.target, graph.source))
        inside = (outside | start)[sources] & outside[targets]
        connected = reachable_mask(start, sources[inside], targets[inside]) & outside
        kept = self.kept_bodies
        found: Bools = connected & np.fromiter((int(body) in kept for body in bodies.of), bool, len(graph))
        known = fresh | (found & graph.nodes_of_types(lambda op: has_role(op, Role.VARIABLE, Role.HANDLE)))
        known |= self._slots(new, outside)
        # Writes of known variables, and nodes that only lead to these.
        writes = graph.meaning.writes & outside
        first = layers.written_variables
        found |= writes & known[first] & exists(first)
        found |= nodes_only_before(layers, outside, found | known)
        found |= self._only_behind(new, outside, found | known)
        # Writes of variables that follow: restoring, first values.
        return found | (writes & found[first] & exists(first))

    def _slots(self, new: bool, outside: Bools) -> Bools:
        """Return which variables of an optimizer, outside of the model, feed the update of a variable that only one
        side has or trains."""
        graph = self.layers[new].side.graph
        slots = np.zeros(len(graph), bool)
        unmatched = (node for node in self.parts[new].training.trained if self.free[new][node])
        if trained := [*self.other_training[new], *unmatched]:
            data = ~graph.control & outside[graph.source]
            updates = np.isin(self.layers[new].written_variables, trained)
            slots[list(self.bodies[new].uses)] = True
            slots &= reachable_mask(updates, graph.target[data], graph.source[data]) & outside
        return slots

    def _only_behind(self, new: bool, among: Bools, known: Bools) -> Bools:
        """Return the nodes that depend only on known nodes and constants, and lead to no update of a matched
        variable."""
        layers, bodies, free = self.layers[new], self.bodies[new], self.free[new]
        side = layers.side
        graph = side.graph
        data = ~graph.control
        source, target = graph.source[data], graph.target[data]
        kept_writes = graph.meaning.writes & ~free
        # Paths lead through matched ops too, except those that collect values of all variables.
        through = bodies.outside & ~free
        through[[node for node in np.flatnonzero(through).tolist() if takes_any_number(side, node)]] = False
        inside = (among | through)[source] & (among | through | kept_writes)[target]
        to_kept = reachable_mask(kept_writes, target[inside], source[inside])
        counted = data & ~graph.nodes_of_types(CONSTANT_OPS.__contains__)[graph.source]
        explained = known | (free & bodies.gradient)
        candidates = among & ~known & ~to_kept
        unexplained_inputs = np.bincount(graph.target[counted & ~explained[graph.source]], minlength=len(graph))
        has_inputs = np.bincount(graph.target[counted], minlength=len(graph)) > 0
        found: Bools = candidates & has_inputs & (unexplained_inputs == 0)
        candidates &= ~found
        first = np.flatnonzero(found).tolist()
        behind = needed_only_by(
            first,
            lambda node: [each for each in side.data_users(node) if candidates[each]],
            unexplained_inputs.tolist(),
        )
        found[behind] = True
        return found

    def function_follows(self, old: Iterable[int], new: Iterable[int]) -> bool:
        """Return whether a changed function is a consequence: only gradients, or only unmatched nodes, call it."""
        old, new = list(old), list(new)
        if (old or new) and all(
            free[node] for free, nodes in zip(self.free, (old, new), strict=True) for node in nodes
        ):
            return True
        called = zip(self.bodies, (old, new), strict=True)
        return self.is_other_model and all(bodies.gradient[node] for bodies, nodes in called for node in nodes)

    def nodes_follow(self, new: bool, nodes: Sequence[int]) -> bool:
        """Return whether all added or removed nodes outside of the model are consequences."""
        return bool(self.proven[new][list(nodes)].all())

    @cached_property
    def sizes(self) -> SizePairs:
        """Return the old and new numbers in changed shapes of weights, and their products."""
        pairs: set[tuple[int, int]] = set()
        m = self.m
        for old in m.a.labels.weights:
            pairs |= _size_products(_weight_sizes(m.a, old), _weight_sizes(m.b, int(m.to_b[old])))
        mine_of, other_of = m.matched_pairs()
        changed_inputs = m.a.graph.nodes_of_types(INPUT_OPS.__contains__)[mine_of] & (
            m.a.node_label[mine_of] != m.b.node_label[other_of]
        )
        for mine, other in zip(mine_of[changed_inputs].tolist(), other_of[changed_inputs].tolist(), strict=True):
            pairs |= _size_products(
                *(side.tensors.tensors_of_node(node)("0").shape for side, node in ((m.a, mine), (m.b, other)))
            )
        return frozenset(pairs)

    def is_size(self, old: Any, new: Any, sizes: SizePairs | None = None) -> bool:
        """Return whether the only numbers that differ are sizes of weights and inputs, or in `sizes`."""
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            places = [place for place, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
            # One axis may be the quotient of a size and the axis beside it.
            if len(places) == 1:
                beside = (old[axis] for axis in (places[0] - 1, places[0] + 1) if 0 <= axis < len(old))
                before, after = old[places[0]], new[places[0]]
                factors = [each for each in beside if isinstance(each, int) and each > 1]
                if any(self.is_size(each * before, each * after, sizes) for each in factors):
                    return True
            return all(self.is_size(old[place], new[place], sizes) for place in places)
        whole = isinstance(old, int) and isinstance(new, int) and not isinstance(old, bool)
        return whole and (old, new) in (self.sizes if sizes is None else sizes)

    def incoming_sizes(self, users: tuple[int, int], given: tuple[int, int] = (-1, -1)) -> SizePairs:
        """Return the old and new sizes of weights and graph inputs, and of the inputs of two matched ops without the
        `given` nodes. For ops that assemble a shape, the inputs of the shape's user count."""
        for _ in range(MAX_STEPS_TO_USER):
            ends = []
            for side, user in zip((self.m.a, self.m.b), users, strict=True):
                takes = side.data_users(user)
                if side.op_type(user) in SIZE_ARITHMETIC_OPS and len(set(takes)) == 1:
                    ends.append(takes[0])
            if len(ends) != len(users):
                break
            users, given = (ends[0], ends[1]), users
        return self.sizes | self.taken_sizes(users, given)

    def given_sizes(self, old: int, new: int) -> SizePairs:
        """Return the old and new sizes from which a program computes a shape at two matched ops: those of their inputs.
        Where an op makes a tensor of no other, they are those of weights, of inputs of the graph, and beside it."""
        users = [side.data_users(node) for side, node in ((self.m.a, old), (self.m.b, new))]
        if self.m.a.data_sources(old) or not all(users):
            return self.taken_sizes((old, new))
        return self.sizes | self.taken_sizes((users[0][0], users[1][0]), (old, new))

    def taken_sizes(self, users: tuple[int, int], given: tuple[int, int] = (-1, -1)) -> SizePairs:
        """Return the old and new sizes of the inputs of two matched ops, and their products, without `given` nodes."""
        shapes: list[dict[int, Shape]] = []
        for side, user, constant in zip((self.m.a, self.m.b), users, given, strict=True):
            graph, edges = side.graph, side.in_edges(user)
            shapes.append(
                {
                    int(graph.slot[edge]): side.tensors.tensors_of_node(source)(graph.keys[graph.key[edge]]).shape
                    for edge, source in zip(edges.tolist(), graph.source[edges].tolist(), strict=True)
                    if not graph.control[edge] and source != constant
                }
            )
        pairs: set[tuple[int, int]] = set()
        for slot, before in shapes[0].items():
            pairs |= _size_products(before, shapes[1].get(slot))
        return frozenset(pairs)

    def value_follows(self, old: int, new: int, difference: Difference) -> bool:
        """Return whether a difference of two matched nodes outside of the model is a consequence."""
        m = self.m
        if self.optimizing[1][new]:
            return not self.parts[1].settings[new]
        if self._is_gradient(new):
            return self.is_other_model and not self._is_other_window(new, difference)
        if difference.key in ("weight", "value shape", "shape"):
            return self.is_other_model
        if difference.key in ("N", "dtypes", "num", "num_split", "Tin", "Tout", "_num_original_outputs", "T"):
            # Another number of inputs follows from the added and removed inputs.
            counts = [len(side.in_edges(node)) for side, node in ((m.a, old), (m.b, new))]
            return counts[0] != counts[1] or is_saver(m.b.op_type(new))
        if self.is_size(difference.old, difference.new):
            return True
        return self._is_initial(new, difference)

    def _is_gradient(self, node: int, side: int = 1) -> bool:
        """Return whether a node computes a gradient, or a size for one."""
        return bool(self.bodies[side].gradient[node] or gradient_scope(self.layers[side].side.graph.name[node]))

    def _is_other_window(self, new: int, difference: Difference) -> bool:
        """Return whether a constant is the shape of a kernel's gradient, and its window differs. Unlike its inputs and
        outputs, the window follows only from that of a weight."""
        side, shapes = self.m.b, (difference.old, difference.new)
        if difference.key != "value" or not all(isinstance(shape, list) for shape in shapes):
            return False
        near = {side.op_type(each) for user in side.data_users(new) for each in (user, *side.data_sources(user))}
        old, now = (tuple(shape) for shape in shapes)
        is_other = old[:-2] != now[:-2] and (old, now) not in self.shapes_of_weights
        return is_other and not near.isdisjoint(KERNEL_GRADIENT_OPS)

    @cached_property
    def shapes_of_weights(self) -> frozenset[tuple[Shape, Shape]]:
        """Return the old and new shapes of the weights that both sides have."""
        m = self.m
        return frozenset((_weight_sizes(m.a, old), _weight_sizes(m.b, int(m.to_b[old]))) for old in m.a.labels.weights)

    def _is_initial(self, new: int, difference: Difference) -> bool:
        """Return whether a number is computed from the shape of the variable that it initialises."""
        before, after = difference.old, difference.new
        if not isinstance(before, float) or not isinstance(after, float) or not before or not after:
            return False
        for old_shape, new_shape in self._initialized_shapes(new):
            for old_fan, new_fan in zip(_fans(old_shape), _fans(new_shape), strict=True):
                # A uniform distribution has its limit and its width as constants: both are proportional to 1/√fan.
                squares = before * before * old_fan, after * after * new_fan
                if old_fan and new_fan and old_fan != new_fan and isclose(*squares, rel_tol=2 * LIMIT_TOLERANCE):
                    return True
        return False

    def _initialized_shapes(self, new: int) -> Iterable[tuple[list[int], list[int]]]:
        """Yield the old and new shapes of variables that a node leads to through ops outside of the model."""
        m, graph, seen, todo = self.m, self.layers[1].side.graph, {new}, [new]
        written = self.layers[1].written_variables
        while todo and len(seen) < 64:
            node = todo.pop()
            if exists(written[node]):
                variable = int(written[node])
                before, after = _weight_sizes(m.a, int(m.to_a[variable])), _weight_sizes(m.b, variable)
                if before is not None and after is not None:
                    yield [size for size in before if size is not None], [size for size in after if size is not None]
                continue
            for edge in self.layers[1].side.out_edges(node).tolist():
                user = int(graph.target[edge])
                if user not in seen and not graph.control[edge]:
                    seen.add(user)
                    todo.append(user)

    def wires_follow(self, pairs: Iterable[tuple[int, int]]) -> bool:
        """Return whether all changed inputs of some matched nodes outside of the model are consequences."""
        return all(self._wire_follows(wire) for old, new in pairs for wire in input_differences(self.m, old, new))

    def _wire_follows(self, wire: Rewire) -> bool:
        m, bodies = self.m, self.bodies
        edges = (m.a.graph.source, wire.before), (m.b.graph.source, wire.after)
        ends = [(side, int(source[edge])) for side, (source, edge) in enumerate(edges) if exists(edge)]
        # An unmatched node at an end of the wire explains it.
        if any(self.free[side][node] for side, node in ends) or self.optimizing[1][wire.new]:
            return True
        # TensorFlow adds control inputs: a write waits for all reads of its variable.
        writers = (m.a, wire.old), (m.b, wire.new)
        if (
            wire.control
            and self.is_other_model
            and all(
                side.graph.meaning.writes[writer]
                and side.op_type(read) in VARIABLE_READ_OPS
                and side.data_sources(writer)[:1] == side.data_sources(read)[:1]
                for (side, writer), read in ((writers[new], node) for new, node in ends)
            )
        ):
            return True
        is_collected = len(ends) == 2 or takes_any_number(m.b, wire.new)
        joins_gradients = is_collected and all(bodies[side].gradient[node] for side, node in ends)
        # The size of a gradient may wait only for another gradient.
        waits = wire.control and all(self._is_gradient(node, side) for side, node in ends)
        is_consequence = bool(bodies[1].gradient[wire.new]) or joins_gradients
        return self.is_other_model and (is_consequence or (self._is_gradient(wire.new) and (waits or not wire.control)))


def _weight_sizes(side: GraphColumns, node: int) -> Shape:
    """Return the shape of a weight; None for any other node."""
    stated = side.labels.weights.get(node)
    return stated and tuple(int(size) if size.isdecimal() else None for size in str(stated[1]).split("×"))


def _size_products(old: Shape, new: Shape) -> set[tuple[int, int]]:
    """Return the sizes, and the products of adjacent sizes, that differ between two shapes of one rank.

    >>> sorted(_size_products((8, 2), (8, 4))), _size_products((8,), (None,)), _size_products(None, (4,))
    ([(2, 4), (16, 32)], set(), set())
    """
    if old is None or new is None or old == new or len(old) != len(new):
        return set()
    runs = (slice(start, stop) for start in range(len(old)) for stop in range(start + 1, len(old) + 1))
    sizes = (([size or -1 for size in shape[run]] for shape in (old, new)) for run in runs)
    pairs = {(prod(before), prod(after)) for before, after in sizes if min(*before, *after) > 0}
    return {(before, after) for before, after in pairs if before != after}


def _fans(shape: list[int]) -> tuple[int, int, int]:
    """Return the numbers of inputs and outputs of a weight, and their sum."""
    into, out = (prod(shape[:-1]), prod(shape[:-2]) * shape[-1]) if len(shape) > 1 else (0, 0)
    return into, out, into + out
