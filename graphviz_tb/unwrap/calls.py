"""Inline nested calls: replace each by the body of its function, and copy nodes only at the end.

If the whole content of a graph is one call, inlining enters the function, then the call in that function, and so on.
Each of these graphs is a frame, with the final names of its nodes and the tensors that replace its arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain
from typing import Any

from graphviz_tb.graphs.calls import functions_named_by
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.limits import MAX_INLINED_LETTERS, MAX_INLINED_WAITS, Meter
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import parse_output_number
from graphviz_tb.ops.roles import CALL_OPS, FUNCTION_ARGUMENT_OPS, GROUP_OPS
from graphviz_tb.proto import AttrValue, FunctionDef, NodeDef

# Input strings of nodes in main graphs and function bodies, and unused names.

VARIABLE_NAME_ATTR = "_variable"  # on a handle or placeholder: the name of its variable in the program
HANDLE_ATTRS = ("_handle_dtypes", "_handle_shapes")  # attributes of a resource argument


def input_node(tensor: str) -> str:
    """Return the node that an input string refers to.

    >>> input_node("^x"), input_node("x:1"), input_node("x:out:0"), input_node("x")
    ('x', 'x', 'x', 'x')
    """
    return tensor.removeprefix("^").partition(":")[0]


def _input_output_index(tensor: str) -> int:
    """Return the output index of an input string; outside functions it is a number: "call:1" is the second.

    >>> (
    ...     _input_output_index("x"),
    ...     _input_output_index("x:1"),
    ...     _input_output_index("x:out:2"),
    ...     _input_output_index("x:out"),
    ... )
    (0, 1, 2, 0)
    """
    number = tensor.rpartition(":")[2] if ":" in tensor else "0"
    return parse_output_number(number) if number.isascii() and number.isdigit() else 0


def tensor_inputs(node: NodeDef) -> list[str]:
    return without_control_inputs(node.input)


def without_control_inputs(inputs: Iterable[str]) -> list[str]:
    return [text for text in inputs if not text.startswith("^")]


def complete_argument_attrs(argument: NodeDef, attrs: Mapping[str, AttrValue]) -> None:
    """Copy missing attributes of a resource to an argument node, in place; other nodes stay unchanged."""
    if argument.op in FUNCTION_ARGUMENT_OPS:
        for key in HANDLE_ATTRS:
            if key in attrs and key not in argument.attr:
                argument.attr[key].CopyFrom(attrs[key])


class UnusedNames:
    """Returns names that are not taken."""

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


# Graphs and function bodies while calls are inlined, before any node is written.


@dataclass(frozen=True, slots=True)
class GraphBody:
    """A graph or function of the file: nodes by name, their inputs, arguments, results, and effects.

    Effects are nodes that run although no result depends on them.
    """

    nodes: Mapping[str, NodeDef]
    inputs: Mapping[str, tuple[str, ...]]
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InlinedNode:
    """A node of a block: its message, its inputs in the file (`read`) and in the block, and attributes to add."""

    node: NodeDef
    read: tuple[str, ...]
    inputs: tuple[str, ...]
    added_attrs: Mapping[str, AttrValue] = field(default_factory=dict)

    def with_inputs(self, inputs: tuple[str, ...]) -> InlinedNode:
        """Return a copy with different inputs."""
        return self if inputs == self.inputs else InlinedNode(self.node, self.read, inputs, self.added_attrs)


@dataclass(frozen=True, slots=True)
class InlinedBlock:
    """A graph after inlining: nodes by name, result tensors, effects."""

    nodes: dict[str, InlinedNode]
    results: tuple[str, ...]
    effects: tuple[str, ...] = ()


class InliningBudget:
    """Budget of letters and control inputs for inlining in all graphs of a source."""

    def __init__(self) -> None:
        self.letters, self.waits = Meter(MAX_INLINED_LETTERS), Meter(MAX_INLINED_WAITS)

    def spend_letters(self, count: int) -> bool:
        """Spend letters; return whether enough were left."""
        return self.letters.take(max(0, count))

    def spend_waits(self, count: int) -> bool:
        """Spend control inputs; return whether enough were left."""
        return self.waits.take(count)


def body_of_nodes(nodes: Iterable[NodeDef]) -> GraphBody:
    by_name = {node.name: node for node in nodes}
    return GraphBody(by_name, {name: tuple(node.input) for name, node in by_name.items()})


def body_of_function(function: FunctionDef) -> GraphBody:
    """Return a function as a body; an effect with several names counts once."""
    made = body_of_nodes(function.node_def)
    signature = function.signature
    return GraphBody(
        made.nodes,
        made.inputs,
        tuple(arg.name for arg in signature.input_arg),
        tuple(function.ret.get(arg.name, arg.name) for arg in signature.output_arg),
        # Sorted by name: the order of a protobuf map differs between processes.
        tuple(dict.fromkeys(node for _, node in sorted(function.control_ret.items()) if node in made.nodes)),
    )


def nodes_needed_by(inputs: Mapping[str, Iterable[str]], ends: Iterable[str]) -> set[str]:
    """Return the nodes that `ends` depend on, themselves included."""
    return reachable_from(
        filter(inputs.__contains__, ends), lambda name: filter(inputs.__contains__, map(input_node, inputs[name]))
    )


def reachable_functions(nodes: Iterable[NodeDef], library: Mapping[str, FunctionDef]) -> set[str]:
    """Return the functions that nodes call, directly or not."""

    def functions_called_by(callers: Iterable[NodeDef]) -> Iterator[str]:
        return (name for node in callers for name in functions_named_by(node, library))

    return reachable_from(functions_called_by(nodes), lambda name: functions_called_by(library[name].node_def))


def barrier_names(nodes: Collection[NodeDef], is_end: Callable[[NodeDef], bool]) -> set[str]:
    """Return the barriers of tracing: NoOps without tensors for which only ends wait."""
    barriers = {node.name for node in nodes if node.op in GROUP_OPS and not tensor_inputs(node)}
    for node in nodes:
        if barriers and not is_end(node):
            barriers -= {text[1:] for text in node.input if text.startswith("^")} - {node.name}
    return barriers


def copy_without_barriers(nodes: Iterable[NodeDef], into: Any, barriers: Container[str]) -> None:
    """Append copies of nodes to a repeated field, without barriers and without the inputs that wait for them."""
    for node in nodes:
        if node.name not in barriers:
            kept = into.add()
            kept.CopyFrom(node)
            kept.input[:] = [text for text in node.input if not (text.startswith("^") and text[1:] in barriers)]


def added_letters(block: InlinedBlock) -> int:
    """Return the number of letters by which the inputs of a block are longer than in the file."""
    changed = [placed for placed in block.nodes.values() if placed.inputs is not placed.read]
    return sum(sum(map(len, placed.inputs)) - sum(map(len, placed.read)) for placed in changed)


def append_block_nodes(block: InlinedBlock, nodes: Any) -> None:
    """Append the nodes of a block to a message's nodes; each is copied once."""
    for name, placed in block.nodes.items():
        made = nodes.add()
        made.CopyFrom(placed.node)
        made.name = name
        made.input[:] = placed.inputs
        for key, value in placed.added_attrs.items():
            made.attr[key].CopyFrom(value)


@dataclass(slots=True, eq=False)
class InliningFrame:
    """One of the nested graphs: final names of its nodes, tensors for its arguments (`given`), and its kept nodes.

    `call` is the call to inline next, `used` are its outputs that are used, `waiting` is the number of nodes that wait
    for it.
    """

    depth: int
    body: GraphBody
    names: Mapping[str, str]
    given: Mapping[str, str]
    kept: list[str]
    call: str | None = None
    used: set[int] = field(default_factory=set)
    waiting: int = 0
    sources: dict[str, str] = field(default_factory=dict)  # argument → node of its tensor
    controls: dict[str, str] = field(default_factory=dict)  # argument → control input, cached
    added_attrs: dict[str, dict[str, AttrValue]] = field(default_factory=dict)

    def final_node_name(self, text: str) -> str:
        """Return the final name of the node that an input string refers to."""
        name = input_node(text)
        return self.names[name] if name in self.names else self.sources.get(name, name)

    def final_input(self, text: str) -> str:
        """Return an input string with final names."""
        control = "^" if text.startswith("^") else ""
        name, colon, key = text.removeprefix("^").partition(":")
        # An argument, unless a node of the body has its name.
        if name in self.given and name not in self.names:
            return self.control_input(name) if control else self.given[name]
        made = self.names.get(name, name)
        return text if made == name else f"{control}{made}{colon}{key}"

    def control_input(self, argument: str) -> str:
        """Return the control input that waits for the tensor passed as an argument."""
        if argument not in self.controls:
            self.controls[argument] = f"^{self.sources[argument]}"
        return self.controls[argument]


class InputTranslation:
    """Rewrites the inputs in a frame to final names, and uses of its call to the results and effects of the body."""

    def __init__(self, frame: InliningFrame, call: str | None, results: list[list[str]], waits: list[str]) -> None:
        self.frame, self.call, self.results, self.waits = frame, call, results, waits

    def __call__(self, text: str) -> list[str]:
        if self.call is None or input_node(text) != self.call:
            return [self.frame.final_input(text)]
        # A node that waited for the call waits for all effects of the body.
        if text.startswith("^"):
            return self.waits
        index = _input_output_index(text)
        return self.results[index] if index < len(self.results) else []

    def translate_inputs(self, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """Rewrite all inputs of a node. Repeated control inputs are dropped, repeated tensors are not."""
        made = [new for text in inputs for new in self(text)]
        control = dict.fromkeys(text for text in made if text.startswith("^"))
        found = (*without_control_inputs(made), *control) if control else tuple(made)
        return inputs if found == inputs else found


class CallInliner:
    """A graph whose nested calls are inlined.

    A call is inlined if all nodes next to it have ops in `without_content`. `pruned` drops nodes on which no result
    depends, which frees their names.
    """

    def __init__(self, main: GraphBody, without_content: Container[str], pruned: bool) -> None:
        self.without_content, self.pruned = without_content, pruned
        self.frames: list[InliningFrame] = []
        self.places: dict[str, tuple[InliningFrame, str]] = {}  # final name of a node → its frame, and its name there
        self.uses: Counter[str] = Counter()  # uses of each node, with `pruned` only
        self._enter_body(main, {}, range(len(main.results)))

    @property
    def next_call(self) -> NodeDef | None:
        last = self.frames[-1]
        return None if last.call is None else last.body.nodes[last.call]

    @property
    def waiting_count(self) -> int:
        """Number of nodes that wait for the next call."""
        return self.frames[-1].waiting

    def call_arguments(self) -> list[str]:
        """Return the tensors passed to the next call."""
        last = self.frames[-1]
        return (
            []
            if last.call is None
            else [last.final_input(text) for text in without_control_inputs(last.body.inputs[last.call])]
        )

    def node_named(self, name: str) -> NodeDef | None:
        frame, local = self.places.get(name, (None, ""))
        return None if frame is None else frame.body.nodes[local]

    def has_attribute(self, name: str, key: str) -> bool:
        frame, local = self.places[name]
        return key in frame.body.nodes[local].attr or key in frame.added_attrs.get(local, {})

    def set_attribute(self, name: str, key: str, value: AttrValue) -> None:
        frame, local = self.places[name]
        frame.added_attrs.setdefault(local, {})[key] = value

    def inline_call(self, body: GraphBody) -> None:
        """Replace the next call by a body. Nodes whose names are taken get a number."""
        before, given = self.frames[-1], dict(zip(body.arguments, self.call_arguments(), strict=False))
        call = before.call or ""
        # The call disappears, so its name is free.
        self.places.pop(before.names[call])
        self.uses.pop(before.names[call], None)
        self._enter_body(body, given, before.used)
        self._release_unused(before, call)

    def _enter_body(self, body: GraphBody, arguments: Mapping[str, str], used_results: Iterable[int]) -> None:
        ends = [body.results[index] for index in sorted(used_results) if index < len(body.results)]
        ends += (f"^{effect}" for effect in body.effects)
        needed = nodes_needed_by(body.inputs, map(input_node, ends)) if self.pruned else body.nodes.keys()
        kept_names = [name for name in body.nodes if name in needed]
        names = unused_names(body.nodes, self.places)
        frame = InliningFrame(len(self.frames), body, names, arguments, kept_names)
        frame.sources |= {name: input_node(tensor) for name, tensor in arguments.items()}
        content = [name for name in kept_names if body.nodes[name].op not in self.without_content]
        if len(content) == 1 and body.nodes[content[0]].op in CALL_OPS:
            frame.call = content[0]
        self.places |= {names[name]: (frame, name) for name in kept_names}
        self._count_uses(frame, ends if self.pruned else list(body.results))
        if frame.call in body.effects and self.frames:
            frame.waiting += self.frames[-1].waiting  # nodes that waited for the call around this one
        self.frames.append(frame)

    def _count_uses(self, frame: InliningFrame, ends: list[str]) -> None:
        """Count the uses of nodes, and of the call's outputs."""
        taken = [ends, *(frame.body.inputs[name] for name in frame.kept)]
        if self.pruned:
            self.uses.update(map(frame.final_node_name, chain.from_iterable(taken)))
        for inputs in taken if frame.call is not None else ():
            of_call = [text for text in inputs if input_node(text) == frame.call]
            data = without_control_inputs(of_call)
            frame.used.update(map(_input_output_index, data))
            frame.waiting += inputs is not ends and len(data) < len(of_call)

    def _release_unused(self, frame: InliningFrame, local: str) -> None:
        """Drop the nodes that only a removed node used, if uses are counted."""
        waiting = [(frame, local)] if self.pruned else []
        while waiting:
            frame, local = waiting.pop()
            for name in map(frame.final_node_name, frame.body.inputs[local]):
                place = self.places.get(name)
                # A node further inside merely reuses a free name: not this one.
                if place is None or place[0].depth > frame.depth:
                    continue
                self.uses[name] -= 1
                if not self.uses[name]:
                    waiting.append(self.places.pop(name))

    def inlined_block(self) -> InlinedBlock:
        """Return the inlined graph as a block with rewritten inputs; equal inputs share one string."""
        placed: list[dict[str, InlinedNode]] = []
        results: list[list[str]] = []
        waits: list[str] = []
        # Innermost first: results of a call must be known when its users are written.
        for frame in reversed(self.frames):
            opened = frame is not self.frames[-1]
            translate = InputTranslation(frame, frame.call if opened else None, results, waits)
            kept = [name for name in frame.kept if self.places.get(frame.names[name]) == (frame, name)]
            placed.append({frame.names[name]: self._inlined_node(frame, name, translate) for name in kept})
            results = [translate(text) for text in frame.body.results]
            waits = list(dict.fromkeys(text for name in frame.body.effects for text in translate(f"^{name}")))
        nodes = {name: node for block in reversed(placed) for name, node in block.items()}
        return InlinedBlock(nodes, tuple(chain.from_iterable(results)), tuple(self._all_effects()))

    def _inlined_node(self, frame: InliningFrame, name: str, translate: InputTranslation) -> InlinedNode:
        inputs = frame.body.inputs[name]
        made = translate.translate_inputs(inputs) if inputs and len(self.frames) > 1 else inputs
        return InlinedNode(frame.body.nodes[name], inputs, made, frame.added_attrs.get(name, {}))

    def _all_effects(self) -> Iterator[str]:
        *around, last = self.frames
        for frame in around:
            yield from (frame.names[effect] for effect in frame.body.effects if effect != frame.call)
        yield from (last.names[effect] for effect in last.body.effects)
