"""Classify the variables of a program and list the ops that use each.

parameter   the model computes with it; counted once, however many nodes name it
buffer      numbers of a module that its program does not count as parameters
copy        an average of other parameters, a value assigned from them, or a replica on another device
state       optimizer slots and rates, counters, integers: only used for training and measuring
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.tensors import declared_shapes
from graphviz_tb.interpret.weights import (
    ARGUMENT_OPS,
    VARIABLE_WRITER,
    ValueOrigins,
    argument_position,
    weight_slot_edges,
)
from graphviz_tb.model.columns import Bools, Bytes, Ints, Longs, distinct_values, key_starts
from graphviz_tb.model.graph import TRAINABLE_ATTR, Graph, Mark, parse_output_number
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Variable, VariableUse, Weight
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape, shape_from_proto
from graphviz_tb.ops.roles import (
    CALL_OPS,
    CONSTANT_OPS,
    HANDLE_OPS,
    INPUT_OPS,
    PARAMETER_OP,
    RESOURCE_ASSIGN_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import weight_input_names

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

LazyValue = TypeVar("LazyValue")


class LazyMapping(Mapping[int, LazyValue], Generic[LazyValue]):
    """A mapping with known keys; `compute` returns the value of a key on its first access.

    >>> squares = LazyMapping(range(3), lambda number: number * number)
    >>> squares[2], squares.get(3), len(squares)
    (4, None, 3)
    """

    def __init__(self, keys: Iterable[int], compute: Callable[[int], LazyValue]) -> None:
        self._known: dict[int, LazyValue | None] = dict.fromkeys(keys)  # None: not computed yet
        self._compute = compute

    def __getitem__(self, key: int) -> LazyValue:
        value = self._known[key]
        if value is None:
            value = self._known[key] = self._compute(key)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all values as a dict: `compute` need not be picklable."""
        return dict, (dict(self),)

    def get(self, key: int, default: Any = None) -> Any:
        """Return the value of `key`, or `default`; most lookups are misses."""
        return self[key] if key in self._known else default

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


# Shapes of weights: declared by constants, handles and arguments, or else implied by their users.

if TYPE_CHECKING:
    from graphviz_tb.proto import AttrValue

    Attributes = Mapping[str, AttrValue]

RESOURCE_LOOKUP_OP = "ResourceGather"


def _constant_value_shape(attrs: Attributes) -> Shape:
    if "value" in attrs:
        return shape_from_proto(attrs["value"].tensor.tensor_shape)
    return shape_from_proto(attrs["shape"].shape) if "shape" in attrs else None


def _handle_shape(attrs: Attributes) -> Shape:
    """Return the shape behind a handle, if TensorFlow wrote it with the argument."""
    shapes = list(attrs["_handle_shapes"].list.shape) if "_handle_shapes" in attrs else []
    return shape_from_proto(shapes[0]) if shapes else None


def _shapes_implied_by_uses(graph: Graph, handles: Collection[int]) -> dict[int, Shape]:
    """Return shapes of variables by handle: of assigned values, else of tables with an unknown number of rows."""
    uses_shape = graph.nodes_of_types(lambda op: op in RESOURCE_ASSIGN_OPS or op == RESOURCE_LOOKUP_OP)
    edges = np.flatnonzero(uses_shape[graph.target] & ~graph.control)
    inputs_by_op: dict[int, dict[int, int]] = {}
    # Inputs of each op by slot: 0 the handle, 1 the value or the indices.
    for edge, user, slot in zip(edges.tolist(), graph.target[edges].tolist(), graph.slot[edges].tolist(), strict=True):
        inputs_by_op.setdefault(user, {})[slot] = edge
    looked_up: dict[int, Shape] = {}
    assigned: dict[int, Shape] = {}
    for user, slots in inputs_by_op.items():
        if not {0, 1} <= slots.keys() or (handle := int(graph.source[slots[0]])) not in handles:
            continue
        second = _stated_output_shape(graph, int(graph.source[slots[1]]), graph.keys[graph.key[slots[1]]])
        if graph.op_types[graph.op[user]] == RESOURCE_LOOKUP_OP:
            looked_up[handle] = _table_shape(_stated_output_shape(graph, user, "0"), second)
        elif second is not None:
            assigned[handle] = second
    # Assigned shapes override looked-up ones, which leave the number of rows open.
    return looked_up | assigned


def _table_shape(taken: Shape, indices: Shape) -> Shape:
    """Return the shape of a table, rows unknown, from the shape of the rows that were looked up.

    >>> _table_shape((None, 8, 5), (None, 8)), _table_shape((None, 5), None)
    ((None, 5), None)
    """
    return None if taken is None or indices is None else (None, *taken[len(indices) :])


def _stated_output_shape(graph: Graph, node: int, key: str) -> Shape:
    definition, index = graph.node_def(node), parse_output_number(key.rpartition(":")[2])
    shapes = declared_shapes(definition) if definition is not None else None
    return shapes[index] if shapes and index < len(shapes) else None


# Facts of each weight: variable name, dtype, shape, and number of uses.

VAGUE_NAME = re.compile(
    r"unknown(_\d+)?|.*resource(_\d+)?|args_\d+|ReadVariableOp.*|Const(_\d+)?"
    r"|(arith\.)?constant\d*|(tfl\.)?pseudo_q?const\d*",  # as the converter of TensorFlow Lite names them
    re.IGNORECASE | re.DOTALL,
)
# ResourceHandle::ANONYMOUS_NAME: each such handle is a new variable.
ANONYMOUS_HANDLE = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"
# Numbers of `DataType` in TensorFlow's types.proto: those that weights have.
WEIGHT_DTYPES = {1: "float32", 2: "float64", 14: "bfloat16", 19: "float16"}


def describe_weights(graph: Graph, carried: ValueOrigins) -> Mapping[int, Weight]:
    """Return a weight for each weight mark that is drawn next to an op."""
    ends = distinct_values(graph.beside.mark[graph.mark[graph.beside.mark] == Mark.WEIGHT]).tolist()
    variable = _variable_by_node(carried)

    # Both need all edges: computed once, with the first weight.
    @cache
    def roles_and_uses() -> tuple[dict[int, str], Longs]:
        return _weight_roles(graph), _count_variable_uses(graph, variable)

    @cache
    def shapes_by_use() -> Mapping[int, Shape]:
        return _shapes_implied_by_uses(graph, {int(carried.origin[end]) for end in ends})

    # Once per variable: thousands of ops may read one, and its name may be long.
    @cache
    def facts_of_maker(maker: int) -> tuple[str, str, Shape, bool]:
        name, dtype, shape = _declared_weight_facts(graph, maker)
        # "dense/kernel" is a telling name; for "args_3", use the input name of its users.
        return name, dtype, shape, VAGUE_NAME.fullmatch(last_segment(name) or name) is not None

    def describe(end: int) -> Weight:
        roles, uses = roles_and_uses()
        origin, maker = int(carried.origin[end]), int(variable[end])
        name, dtype, shape, is_vague = facts_of_maker(maker if maker >= 0 else origin)
        read_dtype, read_shape = _read_output_facts(graph.node_def(end))
        role = roles.get(end, "weight") if is_vague else ""
        role = carried.roles.get(origin, role)
        shape = shape if shape is not None else read_shape
        shape = shape if shape is not None else shapes_by_use().get(origin)
        # The op gets the output of a cast or a read.
        return Weight(name, read_dtype or dtype, shape, role, max(1, int(uses[maker])) if maker >= 0 else 1)

    return LazyMapping(ends, describe)


def _variable_by_node(carried: ValueOrigins) -> Ints:
    """Return, by node, its only variable; -1 for none, or for an argument that calls bind to different ones."""
    made = np.arange(-1, len(carried.origin), dtype=np.int32)  # index: maker + 1
    for argument, variable in carried.bound.items():
        made[argument + 1] = variable[0] if len(variable) == 1 else -1
    return made[carried.origin + 1]


def _weight_roles(graph: Graph) -> dict[int, str]:
    """Return the role of each weight: the input name of the first op that has one for this slot."""
    roles: dict[int, str] = {}
    into = (
        (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & weight_slot_edges(graph)
    )
    for edge in np.flatnonzero(into).tolist():
        # The first op in file order wins.
        word = weight_input_names(graph.op_types[graph.op[graph.target[edge]]])[int(graph.slot[edge])]
        if word:
            roles.setdefault(int(graph.source[edge]), word)
    return roles


def _count_variable_uses(graph: Graph, variable: Ints) -> Longs:
    """Count the ops that use each variable, except writers, savers and calls."""
    writes = graph.nodes_of_types(lambda op: VARIABLE_WRITER.fullmatch(op) or op in CALL_OPS)
    used = variable[graph.source]
    into = (graph.mark[graph.source] == Mark.WEIGHT) & (graph.mark[graph.target] == Mark.NONE) & (used >= 0)
    into &= ~graph.control & ~writes[graph.target]
    # One number per pair: an op that reads a variable twice uses it once.
    pairs = distinct_values(used[into].astype(np.int64) << 32 | graph.target[into])
    return np.bincount(pairs >> 32, minlength=len(graph))


def _declared_weight_facts(graph: Graph, maker: int) -> tuple[str, str, Shape]:
    """Return name, dtype and shape as declared by the variable, handle, constant or argument."""
    definition = graph.node_def(maker)
    if definition is None:
        function, argument = argument_position(graph, maker)
        arguments = graph.graph_def.library.function[function].arg_attr
        own = arguments[argument].attr if argument in arguments else {}
        return graph.name[maker], _handle_dtype(own), _handle_shape(own)
    attrs = definition.attr
    if definition.op in CONSTANT_OPS:
        return definition.name, _attribute_dtype_name(attrs, "dtype"), _constant_value_shape(attrs)
    if definition.op in ARGUMENT_OPS:
        called = attrs["_variable"].s.decode("utf-8", "replace") if "_variable" in attrs else ""
        return called or definition.name, _handle_dtype(attrs), _handle_shape(attrs)
    shape = shape_from_proto(attrs["shape"].shape) if "shape" in attrs else None
    # `_variable` is the program's name, as the reader found it in the object graph.
    given = next((attrs[key].s for key in ("_variable", "shared_name") if key in attrs and attrs[key].s), b"")
    return given.decode("utf-8", "replace") or definition.name, _attribute_dtype_name(attrs, "dtype"), shape


def _resource_of(graph: Graph, node: int) -> str:
    """Return the name by which TensorFlow finds the variable of a handle: the shared name, else that of the node.

    The name in the program is not unique.
    """
    definition = graph.node_def(node)
    shared = definition.attr["shared_name"].s if definition is not None and "shared_name" in definition.attr else b""
    return graph.name[node] if shared in (b"", ANONYMOUS_HANDLE) else shared.decode("utf-8", "replace")


def _stated_trainable(graph: Graph, node: int) -> bool | None:
    """Return whether the file marks a variable as trainable; None if it has no mark."""
    definition = graph.node_def(node)
    return definition.attr[TRAINABLE_ATTR].b if definition is not None and TRAINABLE_ATTR in definition.attr else None


def _read_output_facts(definition: NodeDef | None) -> tuple[str, Shape]:
    """Return dtype and shape of the output of a read or a cast; "" and None if unknown."""
    if definition is None or definition.op in HANDLE_OPS or definition.op in ARGUMENT_OPS:
        return "", None
    attrs = definition.attr
    key = next((key for key in ("DstT", "dtype", "T") if key in attrs), "")
    shapes = list(attrs["_output_shapes"].list.shape) if "_output_shapes" in attrs else []
    return _attribute_dtype_name(attrs, key), shape_from_proto(shapes[0]) if shapes else None


def _handle_dtype(attrs: Attributes) -> str:
    """Return the dtype behind a handle, if TensorFlow wrote it with the argument."""
    types = list(attrs["_handle_dtypes"].list.type) if "_handle_dtypes" in attrs else []
    return _numpy_dtype_name(types[0]) if types else ""


def _attribute_dtype_name(attrs: Attributes, key: str) -> str:
    """Return the dtype in an attribute; a dtype that TensorFlow does not have is a text."""
    if key not in attrs:
        return ""
    return _numpy_dtype_name(attrs[key].type) or attrs[key].s.decode("utf-8", "replace")


def _numpy_dtype_name(number: int) -> str:
    """Return the NumPy name of a dtype.

    >>> _numpy_dtype_name(1), _numpy_dtype_name(9), _numpy_dtype_name(0), _numpy_dtype_name(101)
    ('float32', 'int64', '', 'float32')
    """
    from graphviz_tb.proto import DataType

    # DT_FLOAT_REF is 101.
    number = number - 100 if number > 100 else number  # a reference to the same type
    if number in WEIGHT_DTYPES or not number:
        return WEIGHT_DTYPES.get(number, "")
    return DataType.Name(number).removeprefix("DT_").lower() if number in DataType.values() else ""


INTEGER_DTYPE = re.compile(r"u?int(16|32|64)|bool|string|resource|variant")  # integers of 8 bits are quantised weights
REPLICA_SCOPE = compile_on_use(r"(?:(?<=/)|^)replica_\d+/|/replica_\d+(?=/|$)")
# Variables that optimizers create, as named by tf.train, Keras 2 and Keras 3.
OPTIMIZER_VARIABLE = compile_on_use(
    r"(^|/)(Adam|AdamW|Adamax|Nadam|Adagrad|Adadelta|Ftrl|RMSProp|RMSprop|Momentum|SGD|sgd|adam|rmsprop|adagrad|Lion"
    r"|GradientDescent|optimizer|Optimizer)(_\d+)?(/|$)"
    r"|(^|/)(beta1_power|beta2_power|global_step|iterations?|learning_rate)(_\d+)?$"
)
# Moving statistics of a batch normalisation; in a frozen graph, its constants.
MOVING_STATISTIC = compile_on_use(r"(^|/)moving_(mean|variance)(_\d+)?(/|$)")
MAX_ASSIGNED_OPS = 64  # ops between variables and an assigned value


class VariableTable(NamedTuple):
    """All variables and frozen weights in file order, and the ops that read and that write each."""

    rows: list[Variable]
    users: Mapping[int, list[int]]
    writers: Mapping[int, list[int]]
    alias_shapes: Mapping[int, Shape]  # further nodes with the value of a variable: reshaped, or arguments of functions

    def shapes_by_node(self) -> dict[int, Shape]:
        return {row.node: row.shape for row in self.rows} | dict(self.alias_shapes)


def list_variables(graph: Graph, carried: ValueOrigins) -> VariableTable:
    """Return the table of variables, not classified yet."""
    users, writers = _users_and_writers(graph, carried)
    handles = {*users, *writers, *np.flatnonzero(graph.meaning.variable).tolist()}
    reads = _reads_by_variable(graph, carried)
    first_handles: dict[str, int] = {}
    stated_facts: dict[int, tuple[str, str, Shape]] = {}  # name, dtype and shape of a variable, by its first handle
    alias_shapes: dict[int, Shape] = {}
    graph.decode_together(list(handles))
    for node in sorted(handles):
        is_variable = graph.meaning.variable[node] or graph.op_types[graph.op[node]] in CONSTANT_OPS
        if graph.function[node] >= 0 and not is_variable:
            continue  # an argument of a function, bound by a call
        name, dtype, shape = _declared_weight_facts(graph, node)
        if (
            graph.meaning.variable[node]
            and (first := first_handles.setdefault(_resource_of(graph, node), node)) != node
        ):
            # Several handles of one resource are one variable.
            for ops in (users, writers):
                if node in ops:
                    ops.setdefault(first, []).extend(ops[node])
            if graph.op_types[graph.op[node]] == PARAMETER_OP:
                alias_shapes[node] = shape
            continue
        if shape is None or not dtype:
            read_dtype, read_shape = _dtype_and_shape_of_reads(graph, reads.get(node, ()))
            dtype, shape = dtype or read_dtype, read_shape if shape is None else shape
        stated_facts[node] = name, dtype, shape
    for nodes in (*users.values(), *writers.values()):
        nodes.sort()  # in file order, those of further handles among them
    # Most variables state their shape: infer it from assignments only for the rest.
    missing = [node for node, (_, _, shape) in stated_facts.items() if shape is None]
    shapes = _shapes_implied_by_uses(graph, frozenset(missing)) if missing else {}
    rows = [
        Variable(node, name, dtype, shapes.get(node, shape), VariableUse.PARAMETER, tuple(users.get(node, ())))
        for node, (name, dtype, shape) in stated_facts.items()
    ]
    shape_of = {variable.node: variable.shape for variable in rows}
    single_origins = [(argument, origins[0]) for argument, origins in carried.bound.items() if len(origins) == 1]
    alias_shapes |= {argument: shape_of[origin] for argument, origin in single_origins if origin in shape_of}
    return VariableTable(rows, users, writers, alias_shapes)


def _reads_by_variable(graph: Graph, carried: ValueOrigins) -> dict[int, list[int]]:
    """Return the ops that read each variable through its handle."""
    reading = np.flatnonzero((carried.origin >= 0) & graph.nodes_of_types(lambda op: has_role(op, Role.READ)))
    reads: dict[int, list[int]] = {}
    for node, maker in zip(reading.tolist(), carried.origin[reading].tolist(), strict=True):
        reads.setdefault(maker, []).append(node)
    return reads


def _dtype_and_shape_of_reads(graph: Graph, reads: Sequence[int]) -> tuple[str, Shape]:
    """Return the first known dtype and the first known shape among some reads."""
    stated = [_read_output_facts(graph.node_def(node)) for node in reads]
    dtype = next((dtype for dtype, _ in stated if dtype), "")
    return dtype, next((shape for _, shape in stated if shape is not None), None)


def _users_and_writers(graph: Graph, carried: ValueOrigins) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return, for each variable, the ops that take its value, and those that write it, in file order."""
    origin = carried.origin
    # Edges from the last node that only passes the value on.
    edges = np.flatnonzero((origin[graph.source] >= 0) & (origin[graph.target] < 0) & ~graph.control)
    users: dict[int, list[int]] = {}
    writers: dict[int, list[int]] = {}
    is_writer = graph.nodes_of_types(VARIABLE_WRITER.fullmatch) & ~graph.meaning.writes
    for edge, maker in zip(edges.tolist(), origin[graph.source[edges]].tolist(), strict=True):
        op = int(graph.target[edge])
        # In a function, calls bind arguments to variables.
        for variable in carried.bound.get(maker, (maker,)):
            if graph.meaning.writes[op] and graph.slot[edge] == 0:
                writers.setdefault(variable, []).append(op)
            elif is_writer[op]:
                users.setdefault(variable, [])
            else:
                users.setdefault(variable, []).append(op)
    return users, writers


class VariableClassifier:
    """Classify the variables of a table by their uses. Before: the `part` of each node."""

    def __init__(self, graph: Graph, carried: ValueOrigins, part: Bytes, listed: VariableTable) -> None:
        self.graph, self.origin, self.table = graph, carried.origin, listed.rows
        self.users, self.writers = listed.users, listed.writers
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
        self._twin_parameters: dict[int, dict[Shape, set[int]]] = {}
        self.constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
        self.given = graph.nodes_of_types(PARAMETER_OP.__eq__)  # the file says which are parameters
        self.learning = {variable for variable, held in self.writers.items() if self.any_op_trains(held)}
        self.adds = graph.nodes_of_types(lambda op: op.startswith("AssignAdd"))

    def classify_all(self) -> Iterator[Variable]:
        """Yield the variables of the table with their use."""
        buffers = self.graph.nodes_of_types(lambda op: has_role(op, Role.BUFFER))
        models = [variable for variable in self.table if not buffers[variable.node]]
        parameters = {model.node: model.shape for model in models if not self.is_training_state(model)}
        for variable in self.table:
            if buffers[variable.node]:
                yield replace(variable.with_use(VariableUse.BUFFER), trainable=False)
            elif variable.node not in parameters:
                yield variable.with_use(VariableUse.STATE)
            elif self.is_average(variable, parameters) or self.is_replica_copy(variable, parameters):
                yield variable.with_use(VariableUse.COPY)
            else:
                trainable = self.is_trainable(variable)
                yield variable if trainable is variable.trainable else replace(variable, trainable=trainable)

    def is_trainable(self, variable: Variable) -> bool | None:
        """Return whether training changes a parameter; None if the file does not say, and the graph does not train.

        The mark in the file decides, else the updates; moving statistics are never trained.
        """
        if (stated := _stated_trainable(self.graph, variable.node)) is not None:
            return stated
        if ("moving_" in variable.name and MOVING_STATISTIC.search(variable.name)) or variable.node in self.roles:
            return False
        return self.is_trained_variable(variable.node) if self.learning and not self.constant[variable.node] else None

    def is_trained_variable(self, variable: int) -> bool:
        """Return whether gradients, or slots computed from them, are written to a variable."""
        if variable in self.learning:
            return True
        made_of = (self.variables_assigned_from(writer) for writer in self.writers.get(variable, ()))
        return any(found and not self.learning.isdisjoint(found) for found in made_of)

    def users_in_model(self, variable: int) -> list[int]:
        """Return the ops of the model that use the value of a variable."""
        return [user for user in self.users.get(variable, ()) if self.of_model[user]]

    def is_training_state(self, variable: Variable) -> bool:
        """Return whether a variable is only used for training or measuring."""
        node = variable.node
        if self.constant[node]:
            # Statistics that normalise inputs are not trained; Keras counts them in some models.
            return node in self.roles
        if self.given[node]:
            return False  # integers too, since weights may be quantised
        if INTEGER_DTYPE.fullmatch(variable.dtype):
            return True
        users, writers = self.users.get(node, ()), self.writers.get(node, ())
        if not self.graph.meaning.variable[node] and all(self.trains[user] for user in users):
            return True  # passed in, and used by the optimizer alone
        if self.users_in_model(node):
            # Sums of metrics, of any shape, without gradients; and counters.
            if self.any_op_trains(writers):
                return False
            return self.accumulates(node) or (variable.shape == () and any(map(self.is_increment, writers)))
        if self.accumulates(node) and not self.any_op_trains(writers):
            return True  # the sum of a metric that nothing reads
        if any(self.applies[writer] for writer in writers):
            return False  # the first input of `ApplyAdam` is the trained variable
        # Rates, slots, counters: used by the optimizer, not by the model. For an unused variable, the name decides.
        serves_training = variable.shape == () or self.any_op_trains((*users, *writers)) or self.is_made_of_slots(node)
        return serves_training or (self.calls.issuperset(users) and bool(OPTIMIZER_VARIABLE.search(variable.name)))

    def any_op_trains(self, ops: Sequence[int]) -> bool:
        """Return whether any op comes from gradients or applies them."""
        return any(self.trains[op] for op in ops)

    def accumulates(self, variable: int) -> bool:
        """Return whether only values computed without a variable are added to it, unlike to a moving average."""
        adding = [writer for writer in self.writers.get(variable, ()) if self.adds[writer]]
        return bool(adding) and all(
            (found := self.variables_assigned_from(writer)) is None or variable not in found for writer in adding
        )

    def is_made_of_slots(self, variable: int) -> bool:
        """Return whether all values assigned to a variable come from slots of an optimizer (their maximum)."""
        made_of = [self.variables_assigned_from(writer) for writer in self.writers.get(variable, ())]
        sources = set().union(*(found or () for found in made_of)) - {variable}
        if not sources or None in made_of:
            return False
        return sources <= self.learning and not any(self.users_in_model(source) for source in sources)

    def is_increment(self, writer: int) -> bool:
        """Return whether an op adds to a variable, or assigns it a value computed from its own."""
        if self.adds[writer]:
            return True
        variable, *value = self.graph.source[self.first[writer] : self.first[writer + 1]][:2].tolist()
        operands = [self.graph.source[self.first[node] : self.first[node + 1]] for node in value]
        return any(int(self.origin[variable]) in self.origin[operand] for operand in operands)

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
        alike = {node for node in sources - {variable.node} if parameters.get(node, ()) == variable.shape}
        # Where its shape is unknown, only a variable that the model does not use is an average.
        is_apart = variable.shape is not None or not self.users_in_model(variable.node)
        return bool(alike) and variable.shape != () and is_apart

    def variables_assigned_from(self, writer: int) -> set[int] | None:
        """Return the variables an assigned value is computed from; None if it uses other inputs, or too many ops."""
        if writer not in self._made_of:
            self._made_of[writer] = self._search_variables(writer)
        return self._made_of[writer]

    def _search_variables(self, writer: int) -> set[int] | None:
        unvisited = self.value_inputs(writer)[1:]
        seen: set[int] = set()
        variables: set[int] = set()
        while unvisited:
            node = unvisited.pop()
            if node in seen:
                continue
            seen.add(node)
            maker = self._origins[node]
            if maker >= 0:
                variables.add(maker)
                continue
            inputs = self.value_inputs(node)
            is_input = not inputs and self.graph.op_types[self.graph.op[node]] in INPUT_OPS
            if is_input or len(seen) > MAX_ASSIGNED_OPS:
                return None
            unvisited += inputs
        return variables

    def value_inputs(self, node: int) -> list[int]:
        return self._sources[self._begin[node] : self._begin[node + 1]]

    def is_replica_copy(self, variable: Variable, parameters: Mapping[int, Shape]) -> bool:
        """Return whether it is only used in replicas whose first copy uses another variable of its shape."""
        users = self.users_in_model(variable.node)
        makers = [self.twin_parameters(user, parameters).get(variable.shape, set()) for user in users]
        return bool(makers) and all(maker and maker != {variable.node} for maker in makers)

    def twin_parameters(self, user: int, parameters: Mapping[int, Shape]) -> Mapping[Shape, set[int]]:
        """Return the parameters, by shape, that the same op of the first replica uses."""
        if user not in self._twin_parameters:  # once: an op may use thousands, and its name may be long
            found = self._twin_parameters[user] = {}
            name = self.graph.name[user]
            # Asking first only saves time.
            first = REPLICA_SCOPE.sub("", name) if "replica_" in name else name
            twin = self.graph.index[int(self.graph.function[user]) + 1].get(first, -1) if first != name else -1
            if twin >= 0:
                sources = self.graph.source[self.first[twin] : self.first[twin + 1]].tolist()
                for maker in {self._origins[source] for source in sources} & parameters.keys():
                    found.setdefault(parameters[maker], set()).add(maker)
        return self._twin_parameters[user]
