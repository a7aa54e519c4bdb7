"""A call gives way to the body of its function: the body's nodes take the place of the call."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.wiring import output_number
from graphviz_tb.proto import AttrValue, FunctionDef, NodeDef

HANDLES = ("_handle_dtypes", "_handle_shapes")  # attributes of an argument that is a resource
MOST_WAITS = 100_000  # control inputs that opening may write: bodies have a few effects, and few nodes wait for them
MOST_OPENED = 100  # calls in calls: TensorFlow writes a handful, and each that is opened copies the graph around it


@dataclass(frozen=True, slots=True)
class Block:
    """A graph with its ends: nodes by name, the tensors that are its results, the nodes that only have effects."""

    nodes: dict[str, NodeDef]
    results: tuple[str, ...]
    effects: tuple[str, ...] = ()


def node_of(tensor: str) -> str:
    """The node of an input string.

    >>> node_of("^x"), node_of("x:1"), node_of("x:out:0"), node_of("x")
    ('x', 'x', 'x', 'x')
    """
    return tensor.removeprefix("^").partition(":")[0]


def data_inputs(node: NodeDef) -> list[str]:
    """The inputs that are tensors."""
    return [each for each in node.input if not each.startswith("^")]


def complete(argument: NodeDef, attrs: Mapping[str, AttrValue], keys: Iterable[str]) -> None:
    """Write attributes on an argument that says nothing of them itself; other nodes stay as they are."""
    if argument.op == "_Arg":
        for key in keys:
            if key in attrs and key not in argument.attr:
                argument.attr[key].CopyFrom(attrs[key])


def open_call(block: Block, call: NodeDef, function: FunctionDef) -> Block:
    """Before: `call` is a node of the block that calls `function`. After: the nodes of the body instead of it.

    An argument is what the call was given, a result what the body returns; a control input on the call waits for what
    the body does. A body's node whose name is taken gets a number.
    """
    given = dict(zip((arg.name for arg in function.signature.input_arg), data_inputs(call), strict=False))
    # The call's own name is free: it goes.
    taken = set(block.nodes) - {call.name}
    names = free_names((node.name for node in function.node_def), taken)
    inside = _inside(given, names)
    returns = [inside(function.ret.get(arg.name, arg.name)) for arg in function.signature.output_arg]
    # Each once: several names may be given to one effect.
    effects = tuple(dict.fromkeys(names[node] for node in function.control_ret.values() if node in names))
    outside = _outside(call.name, returns, effects)
    nodes = {name: _moved(node, name, outside) for name, node in block.nodes.items() if name != call.name}
    for node in function.node_def:
        nodes[names[node.name]] = _moved(node, names[node.name], lambda each: [inside(each)])
    return Block(
        nodes,
        tuple(new for result in block.results for new in outside(result)),
        (*(effect for effect in block.effects if effect != call.name), *effects),
    )


def waits(block: Block, call: NodeDef, function: FunctionDef) -> int:
    """How many control inputs are written where the call is opened: all that waited for it wait for every effect."""
    waiting = sum(f"^{call.name}" in node.input for node in block.nodes.values())
    return waiting * len(function.control_ret)


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


def _inside(given: Mapping[str, str], names: Mapping[str, str]) -> Callable[[str], str]:
    """How an input string of the body reads outside."""

    def translate(text: str) -> str:
        control = "^" if text.startswith("^") else ""
        name, colon, key = text.removeprefix("^").partition(":")
        # An argument; a node of the body that has its name hides it.
        if name in given and name not in names:
            return control + node_of(given[name]) if control else given[name]
        return f"{control}{names.get(name, name)}{colon}{key}"

    return translate


def _outside(call: str, returns: list[str], effects: tuple[str, ...]) -> Callable[[str], list[str]]:
    """What takes the place of an input string that may name the call."""

    def translate(text: str) -> list[str]:
        if node_of(text) != call:
            return [text]
        # Who waited for the call waits for all that the body does beside its results.
        if text.startswith("^"):
            return [f"^{effect}" for effect in effects]
        # Outside of functions an output is a number: "call:1" is the second result.
        number = text.rpartition(":")[2] if ":" in text else "0"
        index = output_number(number) if number.isascii() and number.isdigit() else 0
        return [returns[index]] if index < len(returns) else []

    return translate


def _moved(node: NodeDef, name: str, translate: Callable[[str], list[str]]) -> NodeDef:
    made = NodeDef()
    made.CopyFrom(node)
    made.name = name
    inputs = [new for each in node.input for new in translate(each)]
    # A tensor may be taken twice; to wait twice for one node is to wait once.
    control = dict.fromkeys(each for each in inputs if each.startswith("^"))
    made.input[:] = [*(each for each in inputs if not each.startswith("^")), *control] if control else inputs
    return made
