"""Name the part of the training that ops outside of the model compute: a schedule, a clip, an average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.changes.training import FLOAT_DTYPES, Bodies, is_integer_op, nodes_only_before, training_of
from graphviz_tb.diff.columns.layers import VALUE_PLUMBING, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.graphs.traversal import reachable_from, reachable_mask
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.columns import Bools, exists
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import (
    ADD_OPS,
    CONSTANT_OPS,
    MULTIPLY_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import setting_input_name

OPTIMIZER, LEARNING_RATE, WEIGHT_DECAY = "optimizer", "learning rate", "weight decay"
AVERAGES = "moving averages of weights"
CONSTRAINT, LARGEST_AVERAGES = "constraint on weights", "largest averages of gradients (AMSGrad)"
CLIPPING, BY_GLOBAL_NORM = "clipping of gradients", "by their global norm"
MOMENTUM, NESTEROV, TRUST_RATIO = "momentum", "Nesterov momentum", "trust ratio"
ADAPTIVE_RATES, OF_ADAM, CENTERED = "adaptive learning rates", " (Adam)", "centered second moment"
RATE_INPUT = "learning_rate"
ROOT_OPS = frozenset({"Sqrt", "Rsqrt"})
NORM_OPS = ROOT_OPS | {"L2Loss"}
BOUND_OPS = frozenset({"Minimum", "Maximum", "ClipByValue"})
SQUARE_OPS = MULTIPLY_OPS | {"Square"}
SUM_OPS = ADD_OPS | {"Sub"}
LINEAR_OPS = SUM_OPS | MULTIPLY_OPS | VALUE_PLUMBING | {"Neg"}


class TrainingParts:
    """The training of one side, as masks of nodes: `updates` change weights, `behind` depend on gradients, and `before`
    lead to an update."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.side = bodies.layers.side
        graph = self.side.graph
        self.training = training_of(bodies.layers)
        self.updates = np.zeros(len(graph), bool)
        self.updates[list(self.training.updates)] = True
        data = ~graph.control & bodies.outside[graph.target]
        self.behind: Bools = bodies.outside & reachable_mask(bodies.gradient, graph.source[data], graph.target[data])
        data &= bodies.outside[graph.source]
        # A Keras optimizer also writes averages of gradients, and their largest values, which updates read again.
        applied = self.updates | (self.behind & graph.meaning.writes)
        kept = graph.meaning.writes & bodies.outside & np.isin(bodies.layers.written_variables, list(self._state))
        kept[[node for node in np.flatnonzero(kept).tolist() if is_integer_op(self.side, node)]] = False
        self.before, self._keeping = (
            reachable_mask(ends, graph.target[data], graph.source[data]) & bodies.outside
            for ends in (applied | kept, kept & ~applied)
        )

    def optimizing(self) -> Bools:
        """Return the nodes of the optimizer, with its variables and the ops that wait for it."""
        graph, outside = self.side.graph, self.bodies.outside
        work: Bools = self.before | self.behind | self.updates
        data = ~graph.control
        origin = graph.meaning.origin
        mask = work.copy()
        # Variables outside of the model that these nodes use.
        used = graph.source[data & work[graph.target]]
        used = np.concatenate((used, origin[used]))
        mask[used[used >= 0]] = True
        # Ops that initialise or restore these variables; counters of steps belong to any optimizer.
        variables = [
            node for node in self.bodies.uses if mask[node] and outside[node] and not is_integer_op(self.side, node)
        ]
        writes = np.isin(self.bodies.layers.written_variables, variables) & outside
        mask |= writes | nodes_only_before(self.bodies.layers, outside, mask | writes)
        groups = graph.nodes_of_types(lambda op: has_role(op, Role.GROUP))
        mask |= reachable_mask(work, graph.source[groups[graph.target]], graph.target[groups[graph.target]]) & groups
        mask &= outside
        return mask

    def part_of(self, nodes: Sequence[int], has_other: bool) -> str:
        """Return the part of the training that added or removed ops compute, "" for none. `has_other`: the other graph
        is trained, too."""
        graph = self.side.graph
        if self.updates[list(nodes)].any() and not has_other:
            return f"{OPTIMIZER} {self.training.optimizer}" if self.training.optimizer else ""
        before_updates = [node for node in nodes if self.before[node] and not self.updates[node]]
        if not before_updates:
            variables = self._written_by(nodes)
            if not variables or self.behind[list(nodes)].any() or not self._take_weights(nodes):
                return ""
            # Ops from weights to weights bound or decay them; ops from weights to other variables average them.
            if not variables <= self.training.trained:
                return AVERAGES
            bounds = [node for node in nodes if graph.op_types[graph.op[node]] in BOUND_OPS | NORM_OPS]
            if bounds and self._take_weights(bounds):
                return CONSTRAINT
            # A decay is a product of a weight; any other function of it is a step of the program.
            written = self.bodies.layers.written_variables
            others = [n for n in nodes if not exists(written[n]) and graph.op_types[graph.op[n]] not in LINEAR_OPS]
            return "" if others and self._take_weights(others) else WEIGHT_DECAY
        if self._take_weights(before_updates):
            norms = [node for node in before_updates if graph.op_types[graph.op[node]] in NORM_OPS]
            return TRUST_RATIO if norms and self._take_weights(norms) else WEIGHT_DECAY
        if self.behind[before_updates].any():
            clips = {self._clips[node] for node in before_updates if node in self._clips}
            return f"{CLIPPING} {_widest_clip(clips)}" if clips else self._direction_of(list(nodes))
        if self._feed_rate(before_updates):
            return LEARNING_RATE
        bounds = [node for node in nodes if graph.op_types[graph.op[node]] in BOUND_OPS]
        bounded = {source for node in bounds for source in self.side.data_sources(node)}
        from_gradients = self._gradient_state.intersection(graph.meaning.origin[list(bounded)].tolist())
        return LARGEST_AVERAGES if from_gradients and self._written_by(nodes) else ""

    @cached_property
    def writing(self) -> tuple[Bools, Bools]:
        """Return which ops write trained variables or lead only to such writes, and which ops do so for others."""
        among = self.bodies.outside & ~self.before & ~self.behind
        is_trained = np.isin(self.bodies.layers.written_variables, list(self.training.trained))
        writes: Bools = self.side.graph.meaning.writes & among
        ways = (writes & is_trained, writes & ~is_trained)
        trained, other = (each | nodes_only_before(self.bodies.layers, among, each) for each in ways)
        return trained | self.before | self.updates, other

    def clipping(self) -> str:
        """Return how gradients are clipped; "" if they are not."""
        return _widest_clip(self._clips.values())

    @cached_property
    def _clips(self) -> dict[int, str]:
        """Return how each op that bounds gradients does so."""
        bounds = self.before & self.behind & self.side.graph.nodes_of_types(BOUND_OPS.__contains__)
        found = {}
        for node in np.flatnonzero(bounds).tolist():
            gradients, stored, types = self._made_from(node)
            if not stored and gradients:
                word = "norm" if types & NORM_OPS else "value"
                found[node] = BY_GLOBAL_NORM if gradients > 1 else f"by {word}"
        return found

    def _direction_of(self, nodes: list[int]) -> str:
        """Return how ops make the direction of an update from averages of gradients; "" if they do not."""
        word = next((word for word, shows in self._directions.items() if shows[nodes].any()), "")
        if word == MOMENTUM and not any(self.side.op_type(node) in MULTIPLY_OPS for node in nodes):
            return ""
        return f"{word}{OF_ADAM}" if word == ADAPTIVE_RATES and self._momenta else word

    @cached_property
    def _directions(self) -> dict[str, Bools]:
        """The ways in which averages of gradients make the direction of an update, each with nodes that show it."""
        writes = self.side.graph.meaning.writes & np.isin(self.bodies.layers.written_variables, list(self._momenta))
        return {
            CENTERED: self._centering_squares,
            ADAPTIVE_RATES: self._roots,
            NESTEROV: self._look_ahead,
            MOMENTUM: writes,
        }

    @cached_property
    def _momenta(self) -> set[int]:
        """Averages that are neither of squares nor subtracted from these."""
        return self._averages - self._squares - self._variables_before(self._centering_squares, self._linear)

    @cached_property
    def _averages(self) -> set[int]:
        """Variables other than weights that store values of gradients, and that updates depend on."""
        return self._gradient_state & self._state

    @cached_property
    def _gradient_state(self) -> set[int]:
        """Variables that store values of gradients."""
        return self._written_by(np.flatnonzero(self.behind & self.side.graph.meaning.writes).tolist())

    @cached_property
    def _state(self) -> set[int]:
        """Variables other than weights that updates depend on."""
        outside = self.bodies.outside & ~self.side.graph.meaning.writes
        return self._variables_before(self.updates, outside) - self.training.trained

    @cached_property
    def _squares(self) -> set[int]:
        """Averages of which a root is taken."""
        return self._averages & self._variables_before(self._roots, self._linear)

    def _variables_before(self, ends: Bools, through: Bools) -> set[int]:
        """Return the variables whose values lead to `ends`, directly or through some nodes."""
        graph = self.side.graph
        edges = ~graph.control & (ends | through)[graph.target]
        return set(graph.meaning.origin[reachable_mask(ends, graph.target[edges], graph.source[edges])].tolist())

    @cached_property
    def _linear(self) -> Bools:
        graph = self.side.graph
        return graph.nodes_of_types(LINEAR_OPS.__contains__) & ~graph.meaning.writes

    @cached_property
    def _linear_in_averages(self) -> Bools:
        """Nodes that read averages, or are linear in them."""
        graph = self.side.graph
        reads, into = np.isin(graph.meaning.origin, list(self._averages)), ~graph.control & self._linear[graph.target]
        return reachable_mask(reads, graph.source[into], graph.target[into])

    def _users_of(self, nodes: Bools) -> Bools:
        graph = self.side.graph
        users = np.zeros(len(graph), bool)
        users[graph.target[~graph.control & nodes[graph.source]]] = True
        return users

    @cached_property
    def _roots(self) -> Bools:
        """Roots of averages before an update, which is divided by them."""
        roots = self.before & self.side.graph.nodes_of_types(ROOT_OPS.__contains__)
        return roots & self._users_of(self._linear_in_averages)

    @cached_property
    def _centering_squares(self) -> Bools:
        """Squares of averages that are summed under a root."""
        graph = self.side.graph
        factors = ~graph.control & ~self._linear_in_averages[graph.source]
        squares = graph.nodes_of_types(SQUARE_OPS.__contains__) & self._users_of(self._linear_in_averages)
        squares[graph.target[factors]] = False
        edges = ~graph.control & (self._roots | self._linear)[graph.target]
        return squares & reachable_mask(self._roots, graph.target[edges], graph.source[edges])

    @cached_property
    def _look_ahead(self) -> Bools:
        """Sums of a stored momentum and a gradient that go into weights, but are not stored: they look ahead."""
        graph = self.side.graph
        sums = graph.nodes_of_types(SUM_OPS.__contains__) & self._linear_in_averages & self.behind
        sums &= self._users_of((self.behind | self.bodies.gradient) & ~self._linear_in_averages)
        writes = graph.meaning.writes
        edges = ~graph.control & self._linear[graph.source] & (self._linear | writes)[graph.target]
        given, kept = (
            reachable_mask(ends, graph.target[edges], graph.source[edges])
            for ends in (self.updates, writes & ~self.updates)
        )
        return sums & given & ~kept

    @cached_property
    def settings(self) -> Bools:
        """Return which nodes are constants of a schedule or of a clip."""
        graph = self.side.graph
        near = self.rate_ops.copy()
        near[[each for node in self._clips for each in (node, *self.side.data_users(node))]] = True
        taken = near & ~self.updates
        found: Bools = np.zeros(len(graph), bool)
        found[graph.source[taken[graph.target] & ~graph.control]] = True
        return found & graph.nodes_of_types(CONSTANT_OPS.__contains__)

    @cached_property
    def rate_ops(self) -> Bools:
        """Return which nodes compute the learning rate: those that lead to this input of an update; if updates have
        none, the nodes before updates that no gradient reaches, outside of the optimizer's scopes."""
        graph = self.side.graph
        candidates: Bools = self.before & ~self.behind & ~self.updates & ~self._keeping
        rates = np.zeros(len(graph), bool)
        for node in self.training.updates:
            for edge in self.side.in_edges(node).tolist():
                if setting_input_name(self.side.op_type(node), int(graph.slot[edge])) == RATE_INPUT:
                    rates[graph.source[edge]] = True
        if rates.any():
            data = ~graph.control & candidates[graph.source] & candidates[graph.target]
            return reachable_mask(rates, graph.target[data], graph.source[data]) & candidates
        computing = (node for node in np.flatnonzero(candidates).tolist() if not self.bodies.is_plumbing(node))
        rates[[node for node in computing if self._scope(node) not in self._own_scopes]] = True
        return rates

    @cached_property
    def _own_scopes(self) -> set[str]:
        """Scopes of updates, of the whole optimizer, and the root."""
        updates = list(self.training.updates)
        return {*map(self._scope, updates), "", shared_scope([self.side.graph.name[node] for node in updates])}

    def _scope(self, node: int) -> str:
        row = int(self.side.scopes.of_node[node])
        return str(self.side.scopes.name[row]) if exists(row) else ""

    def rate(self) -> str:
        """Return the source of the learning rate: the scope of a schedule, "variable", the number of a constant, or
        "constant"; "" without updates."""
        if not self.training.trained:
            return ""
        rates = np.flatnonzero(self.rate_ops).tolist()
        loud = [node for node in rates if not self.bodies.is_plumbing(node)]
        around = Counter(scope for scope in map(self._scope, loud) if scope)
        shared = shared_scope([f"{scope}/" for scope in around.elements()])
        if shared in self._own_scopes:  # no schedule: an optimizer computes numbers in several places
            made = filter(None, map(self.side.graph.node_def, rates))
            numbers = {str(tensor_numbers(each.attr["value"].tensor)) for each in made if each.op in CONSTANT_OPS}
            known = numbers.pop() if len(numbers) == 1 else "constant"
            return "variable" if keeps_rate_in_variable(self.bodies.layers) else known
        return without_counters(last_segment(shared))

    def setting(self, part: str) -> tuple[str, str | bool]:
        """Return a part of the training as a setting, its key and its value; the value is "" if there is no choice."""
        if part == LEARNING_RATE:
            return part, self.rate()
        if part in self._directions:
            return part, bool(self._directions[part].any())
        return (CLIPPING, self.clipping()) if part.startswith(CLIPPING) else (part, "")

    def _made_from(self, node: int) -> tuple[int, bool, set[str]]:
        """Return the number of gradients, up to 2, that an op depends on, whether it depends on variables, and the op
        types in between."""
        graph, seen, todo = self.side.graph, {node}, [node]
        gradients, reads_variables, types = 0, False, set[str]()
        while todo and gradients <= 1:
            for source in self.side.data_sources(todo.pop()):
                if source in seen:
                    continue
                seen.add(source)
                if self.bodies.gradient[source]:  # a table's gradient comes with the numbers of its rows
                    gradients += not is_integer_op(self.side, source, "T")
                elif self.bodies.outside[source]:
                    op = graph.op_types[graph.op[source]]
                    types.add(op)
                    reads_variables |= op in VARIABLE_READ_OPS or graph.meaning.origin[source] >= 0
                    todo.append(source)
        return gradients, reads_variables, types

    def _take_weights(self, nodes: Sequence[int]) -> bool:
        """Return whether ops depend on trained weights other than through gradients."""
        origins, through = self.side.graph.meaning.origin, self.bodies.outside & ~self.behind
        starts, sources = set(nodes), self.side.data_sources
        reached = reachable_from(starts, lambda node: sources(node) if node in starts or through[node] else ())
        return not self.training.trained.isdisjoint(origins[list(reached - starts)].tolist())

    def _written_by(self, nodes: Sequence[int]) -> set[int]:
        """Return the variables that some ops write."""
        return {variable for variable in self.bodies.layers.written_variables[list(nodes)].tolist() if exists(variable)}

    def updated_by(self, nodes: Sequence[int]) -> list[int]:
        """Return the weights that some ops update."""
        return sorted(self._written_by([node for node in nodes if self.updates[node]]))

    def _feed_rate(self, nodes: Sequence[int]) -> bool:
        """Return whether ops compute a learning rate, or read it from a variable that nothing writes."""
        if self.rate_ops[list(nodes)].any():
            return True
        reads = {read for node in nodes for read in (node, *self.side.data_users(node))}
        return any(_reads_rate(self.side, read) for read in reads)


def _widest_clip(clips: Collection[str]) -> str:
    """Return one of several ways of clipping, preferably that by the global norm."""
    return BY_GLOBAL_NORM if BY_GLOBAL_NORM in clips else min(clips, default="")


def _reads_rate(side: GraphColumns, node: int) -> bool:
    """Return whether an op reads a scalar float variable that the graph does not write."""
    graph, definition = side.graph, side.graph.node_def(node)
    if (
        definition is None
        or definition.op not in VARIABLE_READ_OPS
        or attr_value(definition, "dtype").type not in FLOAT_DTYPES
    ):
        return False
    takers = (edge for handle in side.data_sources(node) for edge in side.out_edges(handle).tolist())
    writes = (not graph.slot[edge] and graph.meaning.writes[graph.target[edge]] for edge in takers)
    return not any(writes) and not side.tensors.tensors_of_node(node)("0").shape


def keeps_rate_in_variable(layers: Layers) -> bool:
    """Return whether the first update depends on a learning rate in a variable, also through other variables."""
    side, updates = layers.side, training_of(layers).updates
    meaning = side.graph.meaning

    def makers(node: int) -> set[int]:
        # Not into the model, nor into gradients, nor to the updated variable.
        ahead = side.data_sources(node)[1 if meaning.writes[node] else 0 :]
        outside = {each for each in ahead if not layers.forward[each] and not meaning.flow().gradient[each]}
        if side.op_type(node) in VARIABLE_READ_OPS:
            outside |= {user for handle in outside for user in side.data_users(handle) if meaning.writes[user]}
        return outside

    return any(_reads_rate(side, node) for node in reachable_from(updates[:1], makers))


def changes_beside_optimizer(optimizer: Sequence[Change], parts: tuple[TrainingParts, TrainingParts]) -> list[Change]:
    """Return the changes of clipping and of the learning rate next to a change of the optimizer."""
    # Unknown for updates in a branch.
    known = all(part.training.trained for part in parts)
    change = next((change for change in optimizer if known and change.key == OPTIMIZER), None)
    words = ((CLIPPING, parts[0].clipping(), parts[1].clipping()), (LEARNING_RATE, parts[0].rate(), parts[1].rate()))
    return [
        Change("changed", "attribute", change.old, change.new, 0, Setting(key, old or None, new or None))
        for key, old, new in words
        if change is not None and old != new
    ]
