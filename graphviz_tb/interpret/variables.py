"""Classify the variables of a program and list the ops that use each.

parameter   what the model computes with, each once, however many nodes name it
copy        an average of other parameters, what is assigned from them, a replica on another device
state       optimizer slots and rates, counters, integers: only used for training and measuring
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from graphviz_tb.interpret.origins import VARIABLE_WRITER, ValueOrigins
from graphviz_tb.interpret.weight_names import declared_weight_facts, read_output_facts
from graphviz_tb.interpret.weight_shapes import shapes_implied_by_uses
from graphviz_tb.model.columns import Bools, Bytes, key_starts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.interpretation import COMPUTING_PARTS
from graphviz_tb.model.tensors import Shape
from graphviz_tb.model.weights import Variable, VariableUse
from graphviz_tb.ops.roles import CONSTANT_OPS, INPUT_OPS, Role, has_role

INTEGER_DTYPE = re.compile(r"u?int(16|32|64)|bool|string|resource|variant")  # integers of 8 bits are quantised weights
REPLICA_SCOPE = re.compile(r"(?:(?<=/)|^)replica_\d+/|/replica_\d+(?=/|$)")
# Variables that optimizers create, as named by tf.train, Keras 2 and Keras 3.
OPTIMIZER_VARIABLE = re.compile(
    r"(^|/)(Adam|AdamW|Adamax|Nadam|Adagrad|Adadelta|Ftrl|RMSProp|RMSprop|Momentum|SGD|sgd|adam|rmsprop|adagrad|Lion"
    r"|GradientDescent|optimizer|Optimizer)(_\d+)?(/|$)"
    r"|(^|/)(beta1_power|beta2_power|global_step|iterations?|learning_rate)(_\d+)?$"
)
# Moving statistics of a batch normalisation; in a frozen graph, its constants.
MOVING_STATISTIC = re.compile(r"(^|/)moving_(mean|variance)(_\d+)?(/|$)")
MAX_ASSIGNED_OPS = 64  # ops between variables and an assigned value


class VariableTable(NamedTuple):
    """All variables and frozen weights in file order, and the ops that read and that write each."""

    rows: list[Variable]
    users: Mapping[int, list[int]]
    writers: Mapping[int, list[int]]

    def shapes_by_node(self) -> dict[int, Shape]:
        """Return the shape of each, by the node that makes it."""
        return {each.node: each.shape for each in self.rows}


def classify_variables(graph: Graph, carried: ValueOrigins, part: Bytes, listed: VariableTable) -> tuple[Variable, ...]:
    """Return the variables of the table with their uses. Before: the `part` of each node."""
    return tuple(VariableClassifier(graph, carried, part, listed.users, listed.writers).classify_all(listed.rows))


def list_variables(graph: Graph, carried: ValueOrigins) -> VariableTable:
    """Return the table of variables, not classified yet."""
    users, writers = users_and_writers(graph, carried)
    handles = {*users, *writers, *np.flatnonzero(graph.meaning.variable).tolist()}
    reads = reads_by_variable(graph, carried)
    seen: set[str] = set()
    table: list[Variable] = []
    for node in sorted(handles):
        is_variable = graph.meaning.variable[node] or graph.op_types[graph.op[node]] in CONSTANT_OPS
        if graph.function[node] >= 0 and not is_variable:
            continue  # an argument of a function, bound by a call
        name, dtype, shape = declared_weight_facts(graph, node)
        if graph.meaning.variable[node]:
            # Handles with one `shared_name` are one variable.
            if name in seen:
                continue
            seen.add(name)
        if shape is None or not dtype:
            stated_dtype, stated_shape = dtype_and_shape_of_reads(graph, reads.get(node, ()))
            dtype, shape = dtype or stated_dtype, stated_shape if shape is None else shape
        table.append(Variable(node, name, dtype, shape, VariableUse.PARAMETER, tuple(users.get(node, ()))))
    # Most variables state their shape: infer it from assignments only for the rest.
    missing = [each.node for each in table if each.shape is None]
    shapes = shapes_implied_by_uses(graph, frozenset(missing)) if missing else {}
    known = [replace(each, shape=shapes[each.node]) if each.node in shapes else each for each in table]
    return VariableTable(known, users, writers)


def reads_by_variable(graph: Graph, carried: ValueOrigins) -> dict[int, list[int]]:
    """Return the ops that read each variable through its handle."""
    reading = np.flatnonzero((carried.origin >= 0) & graph.nodes_of_types(lambda op: has_role(op, Role.READ)))
    reads: dict[int, list[int]] = {}
    for node, maker in zip(reading.tolist(), carried.origin[reading].tolist(), strict=True):
        reads.setdefault(maker, []).append(node)
    return reads


def dtype_and_shape_of_reads(graph: Graph, reads: Sequence[int]) -> tuple[str, Shape]:
    """Return the first known dtype and the first known shape among some reads."""
    said = [read_output_facts(graph.node_def(node)) for node in reads]
    dtype = next((dtype for dtype, _ in said if dtype), "")
    return dtype, next((shape for _, shape in said if shape is not None), None)


def users_and_writers(graph: Graph, carried: ValueOrigins) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return, for each variable, the ops that take its value, and those that write it, in file order."""
    origin = carried.origin
    # Past nodes that only pass the value on.
    edges = np.flatnonzero((origin[graph.source] >= 0) & (origin[graph.target] < 0) & ~graph.control)
    users: dict[int, list[int]] = {}
    writers: dict[int, list[int]] = {}
    stores = graph.nodes_of_types(VARIABLE_WRITER.fullmatch) & ~graph.meaning.writes
    for edge, maker in zip(edges.tolist(), origin[graph.source[edges]].tolist(), strict=True):
        host = int(graph.target[edge])
        # In a function, calls bind arguments to variables.
        for variable in carried.bound.get(maker, (maker,)):
            if graph.meaning.writes[host] and graph.slot[edge] == 0:
                writers.setdefault(variable, []).append(host)
            elif stores[host]:
                users.setdefault(variable, [])
            else:
                users.setdefault(variable, []).append(host)
    return users, writers


class VariableClassifier:
    """Classify variables by their uses. `users` and `writers` are ops by variable."""

    def __init__(
        self,
        graph: Graph,
        carried: ValueOrigins,
        part: Bytes,
        users: Mapping[int, list[int]],
        writers: Mapping[int, list[int]],
    ) -> None:
        self.graph, self.origin, self.users, self.writers = graph, carried.origin, users, writers
        self.roles = carried.roles
        self.applies = graph.nodes_of_types(lambda op: has_role(op, Role.UPDATE))
        self.trains: Bools = graph.meaning.flow().behind | self.applies
        self.of_model: Bools = np.isin(part, COMPUTING_PARTS)
        # A call only passes a variable on: the ops in its functions are users too.
        self.of_model &= ~self.trains
        self.calls = {call.node for call in graph.calls}
        self.of_model[list(self.calls)] = False
        self.first = key_starts(graph.target, len(graph))
        # As plain lists: `variables_assigned_from` visits thousands of nodes one by one.
        data = ~graph.control
        self._sources: list[int] = graph.source[data].tolist()
        self._origins: list[int] = carried.origin.tolist()
        self._begin: list[int] = key_starts(graph.target[data], len(graph)).tolist()
        self._made_of: dict[int, set[int] | None] = {}
        self.constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
        self.learning = {variable for variable, held in writers.items() if self.any_op_trains(held)}
        self.adds = graph.nodes_of_types(lambda op: op.startswith("AssignAdd"))

    def classify_all(self, table: list[Variable]) -> Iterator[Variable]:
        """Yield the variables of the table with their use."""
        parameters = {each.node: each.shape for each in table if not self.is_training_state(each)}
        for each in table:
            if each.node not in parameters:
                yield each.with_use(VariableUse.STATE)
            elif self.is_average(each, parameters) or self.is_replica_copy(each, parameters):
                yield each.with_use(VariableUse.COPY)
            else:
                yield replace(each, trainable=self.is_trainable(each))

    def is_trainable(self, variable: Variable) -> bool | None:
        """Return whether training changes a parameter; None if the graph does not train, except for statistics."""
        if MOVING_STATISTIC.search(variable.name) or variable.node in self.roles:
            return False
        return self.is_trained_variable(variable.node) if self.learning and not self.constant[variable.node] else None

    def is_trained_variable(self, variable: int) -> bool:
        """Return whether gradients, or slots computed from them, are written to a variable."""
        if variable in self.learning:
            return True
        made_of = (self.variables_assigned_from(writer) for writer in self.writers.get(variable, ()))
        return any(found and not self.learning.isdisjoint(found) for found in made_of)

    def users_in_model(self, variable: int) -> list[int]:
        """Return the ops of the model that take the value of a variable."""
        return [user for user in self.users.get(variable, ()) if self.of_model[user]]

    def is_training_state(self, variable: Variable) -> bool:
        """Return whether a variable is only used for training or measuring."""
        node = variable.node
        if self.constant[node]:
            # Statistics that normalise inputs are measured or given; Keras counts them in some models.
            return node in self.roles
        if INTEGER_DTYPE.fullmatch(variable.dtype):
            return True
        users, writers = self.users.get(node, ()), self.writers.get(node, ())
        if not self.graph.meaning.variable[node] and all(self.trains[user] for user in users):
            return True  # passed in, and used by the optimizer alone
        if self.users_in_model(node):
            # Scalars that are incremented: sums of metrics, unless a gradient is taken of them.
            return variable.shape == () and not self.any_op_trains(writers) and any(map(self.is_increment, writers))
        if any(self.applies[writer] for writer in writers):
            return False  # the first input of `ApplyAdam` is the trained variable
        # Rates, slots, counters: used by the optimizer, not by the model. For an unused variable, the name decides.
        served = variable.shape == () or self.any_op_trains((*users, *writers))
        return served or (self.calls.issuperset(users) and bool(OPTIMIZER_VARIABLE.search(variable.name)))

    def any_op_trains(self, ops: Sequence[int]) -> bool:
        """Return whether any op comes from gradients or applies them."""
        return any(self.trains[op] for op in ops)

    def is_increment(self, writer: int) -> bool:
        """Return whether an op adds to a variable, or assigns it a value computed from its own."""
        if self.adds[writer]:
            return True
        variable, *value = self.graph.source[self.first[writer] : self.first[writer + 1]][:2].tolist()
        operands = [self.graph.source[self.first[node] : self.first[node + 1]] for node in value]
        return any(int(self.origin[variable]) in self.origin[each] for each in operands)

    def is_average(self, variable: Variable, parameters: Mapping[int, Shape]) -> bool:
        """Return whether all values assigned to a variable come from other parameters of its shape and from numbers."""
        writers = self.writers.get(variable.node, ())
        if not writers or self.any_op_trains(writers) or self.constant[variable.node]:
            return False
        sources: set[int] = set()
        for writer in writers:
            made_of = self.variables_assigned_from(writer)
            if made_of is None:
                return False
            sources |= made_of
        alike = {node for node in sources - {variable.node} if parameters.get(node) == variable.shape}
        return bool(alike) and variable.shape not in (None, ())

    def variables_assigned_from(self, writer: int) -> set[int] | None:
        """Return the variables an assigned value is computed from; None if it uses other inputs, or too many ops."""
        if writer not in self._made_of:
            self._made_of[writer] = self._search_variables(writer)
        return self._made_of[writer]

    def _search_variables(self, writer: int) -> set[int] | None:
        todo = self.value_inputs(writer)[1:]
        seen: set[int] = set()
        variables: set[int] = set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            maker = self._origins[node]
            if maker >= 0:
                variables.add(maker)
                continue
            before = self.value_inputs(node)
            is_input = not before and self.graph.op_types[self.graph.op[node]] in INPUT_OPS
            if is_input or len(seen) > MAX_ASSIGNED_OPS:
                return None
            todo += before
        return variables

    def value_inputs(self, node: int) -> list[int]:
        """Return the data inputs of a node."""
        return self._sources[self._begin[node] : self._begin[node + 1]]

    def is_replica_copy(self, variable: Variable, parameters: Mapping[int, Shape]) -> bool:
        """Return whether all users in the model are of a replica whose first copy uses a different variable of the same
        shape."""
        users = self.users_in_model(variable.node)
        return bool(users) and all(self.twin_uses_same_shape(user, variable, parameters) for user in users)

    def twin_uses_same_shape(self, user: int, variable: Variable, parameters: Mapping[int, Shape]) -> bool:
        """Return whether the same op of the first replica uses a parameter of the same shape."""
        name = self.graph.name[user]
        first = REPLICA_SCOPE.sub("", name)
        twin = self.graph.index[int(self.graph.function[user]) + 1].get(first, -1) if first != name else -1
        if twin < 0:
            return False
        makers = {int(self.origin[source]) for source in self.graph.source[self.first[twin] : self.first[twin + 1]]}
        return any(maker != variable.node and parameters.get(maker) == variable.shape for maker in makers)
