"""Input strings of nodes, in main graphs and function bodies, and unused names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from graphviz_tb.model.wiring import parse_output_number
from graphviz_tb.ops.roles import FUNCTION_ARGUMENT_OPS
from graphviz_tb.proto import AttrValue, NodeDef

VARIABLE_NAME_ATTR = "_variable"  # on a handle or placeholder: the name of its variable in the program
HANDLE_ATTRS = ("_handle_dtypes", "_handle_shapes")  # attributes of a resource argument


def input_node(tensor: str) -> str:
    """Return the node that an input string refers to.

    >>> input_node("^x"), input_node("x:1"), input_node("x:out:0"), input_node("x")
    ('x', 'x', 'x', 'x')
    """
    return tensor.removeprefix("^").partition(":")[0]


def input_output_index(tensor: str) -> int:
    """Return the output index of an input string; outside functions it is a number: "call:1" is the second.

    >>> input_output_index("x"), input_output_index("x:1"), input_output_index("x:out:2"), input_output_index("x:out")
    (0, 1, 2, 0)
    """
    number = tensor.rpartition(":")[2] if ":" in tensor else "0"
    return parse_output_number(number) if number.isascii() and number.isdigit() else 0


def tensor_inputs(node: NodeDef) -> list[str]:
    """Return the inputs that are tensors."""
    return without_control_inputs(node.input)


def without_control_inputs(inputs: Iterable[str]) -> list[str]:
    """Return the inputs that are not control inputs."""
    return [each for each in inputs if not each.startswith("^")]


def complete_argument_attrs(argument: NodeDef, attrs: Mapping[str, AttrValue], keys: Iterable[str]) -> None:
    """Copy missing attributes to an argument node; other nodes stay unchanged."""
    if argument.op in FUNCTION_ARGUMENT_OPS:
        for key in keys:
            if key in attrs and key not in argument.attr:
                argument.attr[key].CopyFrom(attrs[key])


class UnusedNames:
    """Hands out names that are not taken yet."""

    def __init__(self, taken: Container[str]) -> None:
        self.taken = taken
        self.given: set[str] = set()
        # The last number tried per name, so that a thousand equal names take linear time.
        self.numbers: dict[str, int] = {}

    def take_name(self, name: str) -> str:
        """Return the name, with a number appended if it is taken."""
        made, number = name, self.numbers.get(name, 0)
        while made in self.given or made in self.taken:
            number += 1
            made = f"{name}_{number}"
        self.numbers[name] = number
        self.given.add(made)
        return made


def unused_names(wanted: Iterable[str], taken: Container[str]) -> dict[str, str]:
    """Return an unused name for each wanted name.

    >>> unused_names(["a", "b"], {"a", "a_1"})
    {'a': 'a_2', 'b': 'b'}
    """
    free = UnusedNames(taken)
    return {name: free.take_name(name) for name in wanted}
