"""The wiring of a call to its functions: which input leads to which argument, which result to which output.

call, Defun     input i ─▶ argument i            result k ─▶ output k
while           as a call, for cond and body     of the body only
if, case        input 0 chooses, then as a call  of every branch
dataset         input 0 ─▶ its elements, captured inputs ─▶ the last arguments; every result ─▶ the dataset
gradient        as a call                        none: its outputs are not the function's
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Function
from graphviz_tb.ops.inputs import first_captured_input
from graphviz_tb.ops.roles import Role, has_role

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

# The order in which the functions of a dataset list their captured inputs.
DATASET_FUNCTION_ORDER = (
    *("key_func", "init_func", "next_func", "reduce_func", "window_size_func", "finalize_func"),
    *("shard_func", "reader_func"),
)
MAX_OUTPUT_NUMBER = 10**18  # more than any op has
InputRun = tuple[int, int, int]  # first input, first argument, how many


@dataclass(frozen=True, slots=True)
class CallWiring:
    """The wiring of a call to one of its functions.

    `runs` map inputs to arguments one by one, `elements` (an input, first argument, count) one input to several
    arguments; `gives` names the outputs that a result leads to: the one at its position, all, or none; `named` if
    outputs have the names of the function's results.
    """

    runs: tuple[InputRun, ...] = ()
    elements: InputRun = (0, 0, 0)
    gives: Literal["each", "all", "none"] = "each"
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
        """Return, for each output key of the call, the nodes and outputs that make its value."""
        if self.gives == "none":
            return [[] for _ in keys]
        if self.gives == "all":
            return [[end for end in dict.fromkeys(function.returns) if end[0] >= 0]] * len(keys)
        names = enumerate(function.result_names) if self.named else ()
        position = {name: number for number, name in reversed(list(names))}  # the first of equal names
        ends = [result_source(function, key, position) for key in keys]
        return [[] if end is None else [end] for end in ends]


def wiring_of_call(op: str, definition: NodeDef | None, attr: str, count: int) -> CallWiring:
    """Return the wiring of an op to the function of `count` arguments named by its attribute `attr` ("": the op type is
    the function)."""
    if not attr:
        return CallWiring(((0, 0, count),), named=True)
    if has_role(op, Role.CALL, Role.LAUNCH, Role.LOOP, Role.MAP, Role.BRANCH, Role.REMOTE_CALL):
        # The first input is not passed on: it selects the branch, or names the device of a remote call.
        keeps = int(has_role(op, Role.BRANCH, Role.REMOTE_CALL))
        silent = attr == "cond" or has_role(op, Role.GRADIENT)
        return CallWiring(((keeps, 0, count),), gives="none" if silent else "each")
    # Inputs: start, limit, delta, then loop values. The first argument of the body is the counter.
    if has_role(op, Role.COUNTED_LOOP):
        return CallWiring(((3, 1, count - 1),), elements=(0, 0, min(1, count)))
    if definition is None:
        return CallWiring(gives="none")
    if declares_captures(definition):
        return wiring_of_dataset(definition, attr, count)
    inputs = sum(not name.startswith("^") for name in definition.input)  # "^NAME": a control input
    return CallWiring(((0, 0, count),)) if inputs == count else CallWiring(gives="none")


def declares_captures(definition: NodeDef) -> bool:
    """Return whether the op lists the inputs that its functions capture."""
    return any(attr == "Targuments" or capturing_function(attr) for attr in definition.attr)


def capturing_function(attr: str) -> str:
    """Return the function whose captured inputs `attr` lists, "" for any other attribute.

    >>> (
    ...     capturing_function("Tkey_func_other_arguments"),
    ...     capturing_function("Tinit_func_args"),
    ...     capturing_function("Tout"),
    ... )
    ('key_func', 'init_func', '')
    """
    for tail in ("_other_arguments", "_args"):
        if attr.startswith("T") and attr.endswith(tail):
            return attr[1 : -len(tail)]
    return ""


def wiring_of_dataset(definition: NodeDef, attr: str, count: int) -> CallWiring:
    """Return the wiring of a dataset, which passes its elements to the function, then the captured inputs.

    A running state (scan, reduce) precedes both.
    """
    attrs = definition.attr
    lists = {capturing_function(name): len(attrs[name].list.type) for name in attrs if capturing_function(name)}
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
        gives="all",
    )


def result_source(function: Function, key: str, position: Mapping[str, int]) -> tuple[int, str] | None:
    """Return the node and output that make output `key` of the call: by name, if the name has a position among the
    results, else by number.

    >>> f, position = Function("f", 0, (1,), ("x",), ((5, "0"), (7, "z:0")), ("output", "b")), {"output": 0, "b": 1}
    >>> (
    ...     result_source(f, "1", position),
    ...     result_source(f, "b:0", position),
    ...     result_source(f, "output:1", {}),
    ...     result_source(f, "9", {}),
    ... )
    ((7, 'z:0'), (7, 'z:0'), (7, 'z:0'), None)
    """
    name, _, number = key.rpartition(":")
    index = position[name] if name in position else parse_output_number(number)
    if index >= len(function.returns) or function.returns[index][0] < 0:
        return None
    return function.returns[index]


def parse_output_number(digits: str) -> int:
    """Parse the number of an output in an input. Numbers of more than 18 digits become `MAX_OUTPUT_NUMBER`, past any
    output,
    since `int` refuses thousands of digits.

    >>> parse_output_number("7"), parse_output_number("007"), parse_output_number("9" * 5000) == MAX_OUTPUT_NUMBER
    (7, 7, True)
    """
    written = digits.lstrip("0") or "0"
    return int(written) if len(written) <= 18 else MAX_OUTPUT_NUMBER
