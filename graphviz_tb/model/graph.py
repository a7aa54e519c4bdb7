"""The flat graph: one row per node, one row per edge, function bodies included; and the wiring of calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import IntEnum
from itertools import chain, count, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bools, Bytes, Ints, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.interpretation import NO_INTERPRETATION, Interpretation
from graphviz_tb.model.layers import Layer, is_module
from graphviz_tb.model.notice import Notice
from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.signatures import first_captured_input
from graphviz_tb.ops.table import has_framework

if TYPE_CHECKING:
    from graphviz_tb.model.sources import GraphSource
    from graphviz_tb.proto import NodeDef


class Mark(IntEnum):
    """The drawing of a node: as a box, or as a small mark next to the nodes that use it."""

    NONE = 0
    CONSTANT = 1
    SUMMARY = 2
    WEIGHT = 3


COLOCATION_ATTR = "_class"  # the attribute that lists ops on whose device a node is placed
TRAINABLE_ATTR = "_trainable"  # on a variable or its handle: whether the program trains it
KEEPS_MORE_ATTR = "_keeps_more"  # on a handle: the model has variables that no function captures
INPUT_ARG_OP = "input_arg"  # the op type of an argument of a function
SUMMARY_MARK, WEIGHT_MARK = int(Mark.SUMMARY), int(Mark.WEIGHT)  # see `RowKind`


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the library.

    `args` are node ids (consecutive `input_arg` nodes, one per argument); `returns` are the results in order as `(node
    id or -1, output key)`; `result_names` are their names in the signature; `index` is the position in the library.
    """

    name: str
    index: int
    args: tuple[int, ...]
    returns: tuple[tuple[int, str], ...]
    result_names: tuple[str, ...]

    def argument_position(self, argument: int) -> int:
        """Return the position of an argument node among the arguments."""
        return argument - self.args[0]


@dataclass(frozen=True, slots=True)
class Call:
    """A function-valued attribute of a node: `node` calls `function` (index) by its attribute `attr`.

    `bodies` is the number of function-valued attributes of the node.
    """

    node: int
    attr: str
    function: int
    bodies: int


@dataclass(frozen=True, slots=True, eq=False)
class MarkPairs:
    """Pairs of a mark and the ordinary node next to which it is drawn: parallel columns, sorted by host in file order.

    `mark`, `host` (node ids), `inward` (the mark is on the input side), `edges` (number of edges of the graph that the
    pair represents).
    """

    mark: Ints
    host: Ints
    inward: Bools
    edges: Ints


@dataclass(frozen=True, slots=True, eq=False)
class NodeScopes:
    """`names[number[n]]` is the scope of node `n`: its name up to the last slash, None if it has no slash.

    Numbers follow the file order; the main graph and each function have separate numbers.
    """

    number: Ints
    names: list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Columns of nodes and edges, in file order: main graph first, then each function's arguments and body.

    Nodes: `name` (as in the file; inside a function the name in its body), `op` (id into `op_types`), `device`
    (id into `devices`), `function` (index into `functions`, -1 in the main graph), `mark` (a `Mark`), `definition`
    (position in the node list of the main graph or of the function's body; -1 for an `input_arg` node), `kept` (false
    for a node left out of the picture: only TensorBoard's preset does so).

    Edges: `source`, `target` (node ids), `key` (id into `keys`: "0", "1", … or "name:0" inside functions), `slot` (the
    input's position at its target), `control`, `reference`. Every input that names a node is one edge; inputs that name
    no node are reported in `notices`. `beside` pairs marks with the nodes next to which they are drawn; `within[mark]`
    are the marks that own a mark which touches no ordinary node. `index` maps names to nodes, in the main graph and in
    each function; the last of several nodes with one name. `labels` replaces unhelpful names in pictures; `missing`
    names the function, missing from the file, that a node calls.

    `layers` maps names of nodes or scopes of the main graph to their Keras layers; `meaning` is the result of
    `interpret`, which also determines the marks.
    """

    name: list[str]
    op: Ints
    op_types: tuple[str, ...]
    device: Ints
    devices: tuple[str, ...]
    function: Ints
    mark: Bytes
    definition: Ints
    kept: Bools
    source: Ints
    target: Ints
    key: Ints
    keys: tuple[str, ...]
    slot: Ints
    control: Bools
    reference: Bools
    functions: tuple[Function, ...]
    calls: tuple[Call, ...]
    beside: MarkPairs
    within: dict[int, tuple[int, ...]]
    graph_def: GraphSource = field(repr=False)
    index: tuple[dict[str, int], ...] = field(repr=False)
    notices: tuple[Notice, ...] = ()
    labels: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    missing: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    layers: Mapping[str, Layer] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    meaning: Interpretation = field(default=NO_INTERPRETATION, repr=False)
    _scopes: list[NodeScopes] = field(default_factory=list, init=False, repr=False)  # cache of `scopes`
    _modules: list[bool] = field(default_factory=list, init=False, repr=False)  # cache of `has_module_scopes`
    _exported: list[bool] = field(default_factory=list, init=False, repr=False)  # cache of `is_exported`

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_value_trace(self) -> bool:
        """Return whether every number, list and parameter is a node named by its output value ("530"), as in traces of
        `SummaryWriter.add_graph`."""
        return any(has_role(op, Role.TRACE_VALUE) for op in self.op_types)

    @property
    def is_exported(self) -> bool:
        """Return whether the ops are those of another framework, with its name before their types (`aten::conv2d`), as
        written by `formats/exported.py`. Cached, since it is called per node."""
        if not self._exported:
            self._exported.append(not self.is_value_trace and any(map(has_framework, self.op_types)))
        return self._exported[0]

    @property
    def lacks_weight_shapes(self) -> bool:
        """Return whether the graph has weights but no weight shapes, like traces of `add_graph`."""
        return self.is_value_trace

    @property
    def has_module_scopes(self) -> bool:
        """Return whether scopes or ops are modules with their classes, `Linear[fc1]`; cached.

        In a TensorFlow program, `tower[0]` is only a name.
        """
        if not self._modules and not any(map(has_framework, self.op_types)):
            self._modules.append(False)
        elif not self._modules:
            named = (name for name in chain(self.node_scopes.names, self.name) if name and name[-1] == "]")
            self._modules.append(any(is_module(name.rpartition("/")[2]) for name in named))
        return self._modules[0]

    def nodes_of_types(self, wanted: Callable[[str], object]) -> Bools:
        """Return a mask of the nodes whose op type satisfies `wanted`, which is called once per type."""
        types: Bools = np.array([bool(wanted(op)) for op in self.op_types], bool)
        return types[self.op]

    @property
    def node_scopes(self) -> NodeScopes:
        """The scopes in the names of all nodes, computed once."""
        if not self._scopes:
            names: list[str | None] = []
            number: list[int] = []
            for start, stop in pairwise(self.block_starts()):
                known: defaultdict[str | None, int] = defaultdict(count(len(names)).__next__)
                number += [
                    known[name[:cut] if (cut := name.rfind("/")) >= 0 else None] for name in self.name[start:stop]
                ]
                names += known
            self._scopes.append(NodeScopes(int32_column(np.array(number, np.int32)), names))
        return self._scopes[0]

    def block_starts(self) -> list[int]:
        """Return the first node of the main graph and of each function body, and the number of nodes."""
        # `function` is sorted: -1 in the main graph, then 0, 1, … in the bodies.
        cuts: list[int] = np.searchsorted(self.function, np.arange(-1, len(self.functions) + 1)).tolist()
        return [0, *cuts[1:]]

    @property
    def edge_count(self) -> int:
        return len(self.source)

    def node_def(self, node: int) -> NodeDef | None:
        """Return the message of `node`, None for an argument of a function."""
        position = int(self.definition[node])
        if position < 0:
            return None
        function = int(self.function[node])
        if function < 0:
            definitions = self.graph_def.node
        else:
            definitions = self.graph_def.library.function[self.functions[function].index].node_def
        definition: NodeDef = definitions[position]
        return definition

    def decode_together(self, nodes: Sequence[int]) -> None:
        """Decode the messages of many nodes in advance, if that is faster than one by one."""
        decode = getattr(self.graph_def.node, "decode_together", None)
        if decode is not None:
            decode([int(self.definition[node]) for node in nodes])

    def nodes_having(self, attribute: str, nodes: Sequence[int]) -> list[int]:
        """Return the nodes, among some, that have an attribute. In a packed graph only nodes that may have it are
        decoded."""
        may_have = getattr(self.graph_def.node, "may_have_attribute", None)
        if may_have is not None:
            nodes = [node for node in nodes if may_have(attribute, int(self.definition[node]))]
        definitions = zip(nodes, map(self.node_def, nodes), strict=True)
        return [node for node, held in definitions if held is not None and attribute in held.attr]


def count_mark_pairs(source: Ints, target: Ints, into: NDArray[Any], out: NDArray[Any]) -> MarkPairs:
    """Pair marks with hosts: the edges `into` lead from a mark to its user, `out` from an op to its summary.

    Equal pairs are merged; they are ordered by host and then by first appearance.
    """
    marks = np.concatenate((source[into], target[out]))
    hosts = np.concatenate((target[into], source[out]))
    inward = np.arange(len(marks)) < len(into)
    # 32 bits for the mark, one for the side.
    key = (hosts.astype(np.int64) << 33) + (marks.astype(np.int64) << 1) + inward
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    order = np.lexsort((first, hosts[first]))
    first, counts = first[order], counts[order]  # the last key is the first to sort by
    return MarkPairs(
        marks[first].astype(np.int32), hosts[first].astype(np.int32), inward[first], counts.astype(np.int32)
    )


# The wiring of a call to its functions: which input leads to which argument, which result to which output.
#
# call, Defun     input i ─▶ argument i            result k ─▶ output k
# while           as a call, for cond and body     of the body only
# if, case        input 0 chooses, then as a call  of every branch
# dataset         input 0 ─▶ its elements, captured inputs ─▶ the last arguments; every result ─▶ the dataset
# gradient        as a call                        none: its outputs are not the function's

# The order in which the functions of a dataset list their captured inputs.
DATASET_FUNCTION_ORDER = (
    "key_func", "init_func", "next_func", "reduce_func", "window_size_func", "finalize_func",
    "shard_func", "reader_func",
)  # fmt: skip
MAX_OUTPUT_NUMBER = 10**18  # larger than the number of any output
InputRun = tuple[int, int, int]  # first input, first argument, how many


@dataclass(frozen=True, slots=True)
class CallWiring:
    """The wiring of a call to one of its functions.

    `runs` map inputs to arguments one by one, `elements` (an input, first argument, count) one input to several
    arguments. `outputs_of_result` says to which outputs a result leads: the output at its position, all, or none.
    `named`: the outputs have the names of the function's results.
    """

    runs: tuple[InputRun, ...] = ()
    elements: InputRun = (0, 0, 0)
    outputs_of_result: Literal["each", "all", "none"] = "each"
    named: bool = False

    @property
    def first_free_input(self) -> int:
        """The number of the first input after all inputs to arguments.

        >>> (
        ...     CallWiring(((1, 0, 2),)).first_free_input,
        ...     CallWiring(elements=(4, 0, 1)).first_free_input,
        ...     CallWiring().first_free_input,
        ... )
        (3, 5, 0)
        """
        first, _, count = self.elements
        return max([start + many for start, _, many in self.runs] + [first + 1] * bool(count), default=0)

    def input_argument_pairs(self) -> list[tuple[int, int]]:
        """Return all pairs (input, argument), sorted by argument.

        >>> CallWiring(((1, 0, 2),)).input_argument_pairs(), CallWiring(elements=(0, 1, 2)).input_argument_pairs()
        ([(1, 0), (2, 1)], [(0, 1), (0, 2)])
        """
        first, argument, count = self.elements
        inner = [(first, to) for to in range(argument, argument + count)]
        return inner + [(start + at, to + at) for start, to, many in self.runs for at in range(many)]

    def arguments_of_input(self, slot: int) -> list[int]:
        """Return the arguments to which input `slot` leads.

        >>> (
        ...     CallWiring(((1, 0, 2),)).arguments_of_input(2),
        ...     CallWiring(elements=(0, 1, 2)).arguments_of_input(0),
        ...     CallWiring().arguments_of_input(0),
        ... )
        ([1], [1, 2], [])
        """
        first, argument, count = self.elements
        inner = list(range(argument, argument + count)) if slot == first else []
        return inner + [slot - start + to for start, to, many in self.runs if start <= slot < start + many]

    def result_sources(self, function: Function, keys: Sequence[str]) -> list[list[tuple[int, str]]]:
        """Return, for each output key of the call, the nodes and outputs that compute its value."""
        if self.outputs_of_result == "none":
            return [[] for _ in keys]
        if self.outputs_of_result == "all":
            return [[end for end in dict.fromkeys(function.returns) if end[0] >= 0]] * len(keys)
        names = enumerate(function.result_names) if self.named else ()
        position = {name: number for number, name in reversed(list(names))}  # the first of equal names
        ends = [_result_source(function, key, position) for key in keys]
        return [[] if end is None else [end] for end in ends]


def wiring_of_call(op: str, definition: NodeDef | None, attr: str, count: int) -> CallWiring:
    """Return the wiring of an op to the function of `count` arguments named by its attribute `attr` ("": the op type is
    the function)."""
    if not attr:
        return CallWiring(((0, 0, count),), named=True)
    if has_role(op, Role.CALL, Role.LAUNCH, Role.LOOP, Role.MAP, Role.BRANCH, Role.REMOTE_CALL):
        # The first input is not passed on: it selects the branch, or names the device of a remote call.
        skipped = int(has_role(op, Role.BRANCH, Role.REMOTE_CALL))
        is_silent = attr == "cond" or has_role(op, Role.GRADIENT)
        return CallWiring(((skipped, 0, count),), outputs_of_result="none" if is_silent else "each")
    # Inputs: start, limit, delta, then loop values. The first argument of the body is the counter.
    if has_role(op, Role.COUNTED_LOOP):
        return CallWiring(((3, 1, count - 1),), elements=(0, 0, min(1, count)))
    if definition is None:
        return CallWiring(outputs_of_result="none")
    if _declares_captures(definition):
        return _wiring_of_dataset(definition, attr, count)
    inputs = sum(not name.startswith("^") for name in definition.input)  # "^NAME": a control input
    return CallWiring(((0, 0, count),)) if inputs == count else CallWiring(outputs_of_result="none")


def _declares_captures(definition: NodeDef) -> bool:
    """Return whether the op lists the inputs that its functions capture."""
    return any(attr == "Targuments" or _capturing_function(attr) for attr in definition.attr)


def _capturing_function(attr: str) -> str:
    """Return the function whose captured inputs `attr` lists, "" for any other attribute.

    >>> (
    ...     _capturing_function("Tkey_func_other_arguments"),
    ...     _capturing_function("Tinit_func_args"),
    ...     _capturing_function("Tout"),
    ... )
    ('key_func', 'init_func', '')
    """
    for tail in ("_other_arguments", "_args"):
        if attr.startswith("T") and attr.endswith(tail):
            return attr[1 : -len(tail)]
    return ""


def _wiring_of_dataset(definition: NodeDef, attr: str, count: int) -> CallWiring:
    """Return the wiring of a dataset, which passes its elements to the function, then the captured inputs.

    A running state (scan, reduce) precedes both.
    """
    attrs = definition.attr
    lists = {_capturing_function(name): len(attrs[name].list.type) for name in attrs if _capturing_function(name)}
    states = len(attrs["Tstate"].list.type) if "Tstate" in attrs else 0
    slot = first_captured_input(definition.op) + states
    if attr in lists:  # captured inputs are listed function by function
        order = [name for name in DATASET_FUNCTION_ORDER if name in lists]
        slot += sum(lists[name] for name in order[: order.index(attr)]) if attr in order else 0
    captured = min(count, lists.get(attr, len(attrs["Targuments"].list.type) if "Targuments" in attrs else 0))
    first = count - captured
    return CallWiring(
        runs=((1, 0, min(count, states)), (slot, first, captured)),
        elements=(0, states, 0 if has_role(definition.op, Role.DATASET_SOURCE) else max(0, first - states)),
        outputs_of_result="all",
    )


def _result_source(function: Function, key: str, position: Mapping[str, int]) -> tuple[int, str] | None:
    """Return the node and output that compute output `key` of the call: by name, if it is a result's name, else by
    number.

    >>> f, position = Function("f", 0, (1,), ((5, "0"), (7, "z:0")), ("output", "b")), {"output": 0, "b": 1}
    >>> (
    ...     _result_source(f, "1", position),
    ...     _result_source(f, "b:0", position),
    ...     _result_source(f, "output:1", {}),
    ...     _result_source(f, "9", {}),
    ... )
    ((7, 'z:0'), (7, 'z:0'), (7, 'z:0'), None)
    """
    name, _, number = key.rpartition(":")
    index = position[name] if name in position else parse_output_number(number)
    if index >= len(function.returns) or function.returns[index][0] < 0:
        return None
    return function.returns[index]


def parse_output_number(digits: str) -> int:
    """Parse the output number in an input. A number of more than 18 digits becomes `MAX_OUTPUT_NUMBER`, since `int`
    refuses thousands of digits.

    >>> parse_output_number("7"), parse_output_number("007"), parse_output_number("9" * 5000) == MAX_OUTPUT_NUMBER
    (7, 7, True)
    """
    written = digits.lstrip("0") or "0"
    return int(written) if len(written) <= 18 else MAX_OUTPUT_NUMBER
