"""How a call and its functions are joined: which input leads to which argument, which result to which output.

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
from graphviz_tb.ops.inputs import captured_from
from graphviz_tb.ops.roles import Role, has_role

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

# In which order the functions of one dataset have their captured inputs.
FUNCTION_ORDER = (
    *("key_func", "init_func", "next_func", "reduce_func", "window_size_func", "finalize_func"),
    *("shard_func", "reader_func"),
)
MOST_OUTPUT = 10**18  # no op has as many outputs
InputRun = tuple[int, int, int]  # first input, first argument, how many


@dataclass(frozen=True, slots=True)
class CallWiring:
    """How a call and one of its functions are joined.

    `runs` lead inputs to arguments one by one, `elements` (an input, first argument, how many) one input to several;
    `gives` says which outputs a result leads to: that at its position, all, or none; `named` that outputs have the
    names that the function gives its results.
    """

    runs: tuple[InputRun, ...] = ()
    elements: InputRun = (0, 0, 0)
    gives: Literal["each", "all", "none"] = "each"
    named: bool = False

    @property
    def behind(self) -> int:
        """The first input behind all that lead to arguments.

        >>> CallWiring(((1, 0, 2),)).behind, CallWiring(elements=(4, 0, 1)).behind, CallWiring().behind
        (3, 5, 0)
        """
        first, _, count = self.elements
        return max([start + many for start, _, many in self.runs] + [first + 1] * bool(count), default=0)

    def arguments(self) -> list[tuple[int, int]]:
        """All pairs (input, argument), the arguments in their order.

        >>> CallWiring(((1, 0, 2),)).arguments(), CallWiring(elements=(0, 1, 2)).arguments()
        ([(1, 0), (2, 1)], [(0, 1), (0, 2)])
        """
        first, argument, count = self.elements
        inner = [(first, to) for to in range(argument, argument + count)]
        return inner + [(start + at, to + at) for start, to, many in self.runs for at in range(many)]

    def takes(self, slot: int) -> list[int]:
        """The arguments that input `slot` leads to.

        >>> CallWiring(((1, 0, 2),)).takes(2), CallWiring(elements=(0, 1, 2)).takes(0), CallWiring().takes(0)
        ([1], [1, 2], [])
        """
        first, argument, count = self.elements
        inner = list(range(argument, argument + count)) if slot == first else []
        return inner + [slot - start + to for start, to, many in self.runs if start <= slot < start + many]

    def results(self, function: Function, keys: Sequence[str]) -> list[list[tuple[int, str]]]:
        """For each of some output keys of the call the nodes and outputs that make what it gives."""
        if self.gives == "none":
            return [[] for _ in keys]
        if self.gives == "all":
            return [[end for end in dict.fromkeys(function.returns) if end[0] >= 0]] * len(keys)
        names = enumerate(function.result_names) if self.named else ()
        position = {name: number for number, name in reversed(list(names))}  # of several with one name the first
        ends = [result(function, key, position) for key in keys]
        return [[] if end is None else [end] for end in ends]


def wiring(op: str, definition: NodeDef | None, attr: str, count: int) -> CallWiring:
    """How an op is joined to the function of `count` arguments that its attribute `attr` names ("": its op type is the
    function)."""
    if not attr:
        return CallWiring(((0, 0, count),), named=True)
    if has_role(op, Role.CALL, Role.LAUNCH, Role.LOOP, Role.MAP, Role.BRANCH, Role.REMOTE_CALL):
        # A branch keeps the number that chooses, a remote call the name of the device.
        keeps = int(has_role(op, Role.BRANCH, Role.REMOTE_CALL))
        silent = attr == "cond" or has_role(op, Role.GRADIENT)
        return CallWiring(((keeps, 0, count),), gives="none" if silent else "each")
    if has_role(op, Role.COUNTED_LOOP):  # start, limit, delta, then the loop's own; the body takes the counter first
        return CallWiring(((3, 1, count - 1),), elements=(0, 0, min(1, count)))
    if definition is None:
        return CallWiring(gives="none")
    if is_dataset(definition):
        return dataset(definition, attr, count)
    inputs = sum(not name.startswith("^") for name in definition.input)  # "^NAME": a control input
    return CallWiring(((0, 0, count),)) if inputs == count else CallWiring(gives="none")


def is_dataset(definition: NodeDef) -> bool:
    """Whether the op says what its functions capture."""
    return any(attr == "Targuments" or captured_attr(attr) for attr in definition.attr)


def captured_attr(attr: str) -> str:
    """The function whose captured inputs `attr` lists, "" if it is another attribute.

    >>> captured_attr("Tkey_func_other_arguments"), captured_attr("Tinit_func_args"), captured_attr("Tout")
    ('key_func', 'init_func', '')
    """
    for tail in ("_other_arguments", "_args"):
        if attr.startswith("T") and attr.endswith(tail):
            return attr[1 : -len(tail)]
    return ""


def dataset(definition: NodeDef, attr: str, count: int) -> CallWiring:
    """A dataset hands its function what it iterates over, then what the function captures.

    A running state (scan, reduce) comes first of all.
    """
    attrs = definition.attr
    lists = {captured_attr(name): len(attrs[name].list.type) for name in attrs if captured_attr(name)}
    states = len(attrs["Tstate"].list.type) if "Tstate" in attrs else 0
    slot = captured_from(definition.op) + states
    if attr in lists:  # several functions capture one after the other
        order = [name for name in FUNCTION_ORDER if name in lists]
        slot += sum(lists[name] for name in order[: order.index(attr)]) if attr in order else 0
    captured = min(count, lists.get(attr, len(attrs["Targuments"].list.type) if "Targuments" in attrs else 0))
    first = count - captured
    return CallWiring(
        runs=((1, 0, min(count, states)), (slot, first, captured)),
        elements=(0, states, 0 if has_role(definition.op, Role.DATASET_SOURCE) else max(0, first - states)),
        gives="all",
    )


def result(function: Function, key: str, position: Mapping[str, int]) -> tuple[int, str] | None:
    """The node and output that make the result which output `key` of the call gives: by its name, if that has a
    position among the results, else by its number.

    >>> f, position = Function("f", 0, (1,), ("x",), ((5, "0"), (7, "z:0")), ("output", "b")), {"output": 0, "b": 1}
    >>> result(f, "1", position), result(f, "b:0", position), result(f, "output:1", {}), result(f, "9", {})
    ((7, 'z:0'), (7, 'z:0'), (7, 'z:0'), None)
    """
    name, _, number = key.rpartition(":")
    index = position[name] if name in position else output_number(number)
    if index >= len(function.returns) or function.returns[index][0] < 0:
        return None
    return function.returns[index]


def output_number(digits: str) -> int:
    """The number of an output as an input states it; one of more than 18 digits is past every output, and no other
    number is made of it, since `int` refuses thousands of digits.

    >>> output_number("7"), output_number("007"), output_number("9" * 5000) == MOST_OUTPUT
    (7, 7, True)
    """
    written = digits.lstrip("0") or "0"
    return int(written) if len(written) <= 18 else MOST_OUTPUT
