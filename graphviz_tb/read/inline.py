"""Names and inputs of nodes as graphs and bodies write them, and names that are free."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from graphviz_tb.model.wiring import output_number
from graphviz_tb.ops.roles import ARGUMENTS
from graphviz_tb.proto import AttrValue, NodeDef

HANDLES = ("_handle_dtypes", "_handle_shapes")  # attributes of an argument that is a resource


def node_of(tensor: str) -> str:
    """The node of an input string.

    >>> node_of("^x"), node_of("x:1"), node_of("x:out:0"), node_of("x")
    ('x', 'x', 'x', 'x')
    """
    return tensor.removeprefix("^").partition(":")[0]


def output_of(tensor: str) -> int:
    """Which output an input string takes; outside of functions it is a number: "call:1" is the second.

    >>> output_of("x"), output_of("x:1"), output_of("x:out:2"), output_of("x:out")
    (0, 1, 2, 0)
    """
    number = tensor.rpartition(":")[2] if ":" in tensor else "0"
    return output_number(number) if number.isascii() and number.isdigit() else 0


def data_inputs(node: NodeDef) -> list[str]:
    """The inputs that are tensors."""
    return tensors(node.input)


def tensors(inputs: Iterable[str]) -> list[str]:
    """Those of some inputs that are no control inputs."""
    return [each for each in inputs if not each.startswith("^")]


def complete(argument: NodeDef, attrs: Mapping[str, AttrValue], keys: Iterable[str]) -> None:
    """Write attributes on an argument that does not have them; other nodes stay as they are."""
    if argument.op in ARGUMENTS:
        for key in keys:
            if key in attrs and key not in argument.attr:
                argument.attr[key].CopyFrom(attrs[key])


class FreeNames:
    """Names that are not taken; each is taken once it is given."""

    def __init__(self, taken: Container[str]) -> None:
        self.taken = taken
        self.given: set[str] = set()
        # The last number that was tried of each name: of a thousand equal names none is tried twice.
        self.numbers: dict[str, int] = {}

    def give(self, name: str) -> str:
        """A name, with a number where it is taken."""
        made, number = name, self.numbers.get(name, 0)
        while made in self.given or made in self.taken:
            number += 1
            made = f"{name}_{number}"
        self.numbers[name] = number
        self.given.add(made)
        return made


def free_names(wanted: Iterable[str], taken: Container[str]) -> dict[str, str]:
    """A free name for each name.

    >>> free_names(["a", "b"], {"a", "a_1"})
    {'a': 'a_2', 'b': 'b'}
    """
    free = FreeNames(taken)
    return {name: free.give(name) for name in wanted}
