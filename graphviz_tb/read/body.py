"""The body of a signature: the model of a SavedModel, without the ops that save, restore and initialise it.

needed      what the outputs need, back to the inputs
open        calls that only pass on, down to the body with content
tidy        barriers and identities that only end a function
name        arguments and results as the signature calls them
prune       the functions that are still called
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from graphviz_tb.limits import CALLS_IN_CALLS, NODES_WALKED
from graphviz_tb.model.loaded import Signature
from graphviz_tb.model.wiring import output_number
from graphviz_tb.proto import AttrValue, FunctionDef, GraphDef, NodeDef, OpDef
from graphviz_tb.read.block import (
    Block,
    BlockNode,
    Body,
    OpeningBudget,
    body_of_function,
    body_of_nodes,
    growth,
    reached_from,
    write,
)
from graphviz_tb.read.inline import data_inputs, free_names, node_of, tensors
from graphviz_tb.read.opening import Opening

HANDLES = frozenset({"VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "HashTableV2", "MutableHashTableV2"})
NO_CONTENT = HANDLES | {"Placeholder", "PlaceholderWithDefault", "Const", "Identity", "NoOp"}
# Nodes that choosing between signatures may walk, and so many times those of the file.
WALKS = 4
VARIABLE = "_variable"  # attribute of a handle: the name that the program gave the variable


class Program:
    """The graph of a MetaGraph and its functions, each read once for all signatures."""

    def __init__(self, whole: GraphDef) -> None:
        self.whole = whole
        self.walked = 0  # nodes that signatures were followed through so far
        self.library = {function.signature.name: function for function in whole.library.function}
        self._tidied: dict[str, FunctionDef] = {}
        self._bodies: dict[str, Body] = {}
        self._called: dict[str, list[str]] = {}

    @cached_property
    def main(self) -> Body:
        """The main graph."""
        return body_of_nodes(self.whole.node)

    @property
    def tired(self) -> bool:
        """Whether as many nodes were walked as choosing between signatures may take."""
        count = len(self.whole.node) + sum(len(function.node_def) for function in self.whole.library.function)
        return self.walked > NODES_WALKED + WALKS * count

    def function(self, name: str) -> FunctionDef:
        """A function of the library, without its barriers."""
        if name not in self._tidied:
            self._tidied[name] = tidied(self.library[name])
        return self._tidied[name]

    def body(self, name: str) -> Body:
        """Return the body of a function of the library, without its barriers, with its nodes by name."""
        if name not in self._bodies:
            self._bodies[name] = body_of_function(self.function(name))
        return self._bodies[name]

    def reached(self, nodes: Iterable[NodeDef]) -> set[str]:
        """The functions that nodes call, and those that these call."""
        waiting = {name for node in nodes for name in functions_of(node, self.library)}
        reached = set(waiting)
        while waiting:
            name = waiting.pop()
            if name not in self._called:
                named = (each for node in self.library[name].node_def for each in functions_of(node, self.library))
                self._called[name] = list(dict.fromkeys(named))
            waiting |= {each for each in self._called[name] if each not in reached}
            reached.update(self._called[name])
        return reached


def body_of(
    program: Program, signature: Signature, captured: Mapping[str, tuple[str, ...]], ops: Iterable[OpDef] = ()
) -> GraphDef:
    """Before: the graph of a MetaGraph and one of its signatures. After: the signature's body as the main graph.

    `captured` names the variables that functions capture (`objects.captured_names`); `ops` are the definitions of the
    ops that the file uses, if it brings them.
    """
    block = block_of(program, signature, captured, ops)
    made = GraphDef(versions=program.whole.versions)
    write(block, made.node)
    called = program.reached(made.node)
    made.library.function.extend(program.function(name) for name in program.library if name in called)
    return made


def size_of_body(program: Program, signature: Signature) -> int:
    """How many nodes the body of a signature and its library have."""
    nodes = block_of(program, signature, {}).nodes
    called = program.reached(placed.node for placed in nodes.values())
    return len(nodes) + sum(len(program.function(name).node_def) for name in called)


def block_of(
    program: Program, signature: Signature, captured: Mapping[str, tuple[str, ...]], ops: Iterable[OpDef] = ()
) -> Block:
    """The body of a signature; what the main graph has of it, where its names would fill memory."""
    main = replace(program.main, results=tuple(spec.tensor for spec in signature.outputs))
    opening = Opening(main, NO_CONTENT, pruned=True)
    room = OpeningBudget()
    opened: set[str] = set()
    # Each round opens one call; a function that was opened before calls itself, and stays closed.
    while len(opened) < CALLS_IN_CALLS and (call := opening.call) is not None:
        name = call.attr["f"].func.name
        if name not in program.library or name in opened:
            break
        # All that waited for the call wait for every effect.
        if not room.for_waits(opening.waiting * len(program.function(name).control_ret)):
            break
        opened.add(name)
        name_variables(opening, captured.get(name, ()), room)
        opening.open(program.body(name))
    program.walked += sum(len(frame.body.nodes) for frame in opening.frames)
    block = opening.block()
    if not opened or not room.for_letters(growth(block)):
        return Opening(main, NO_CONTENT, pruned=True).block()
    # What came out of a body names outputs as bodies do.
    block = plain_outputs(block, {op.name: op for op in ops})
    inputs = {node_of(spec.tensor): spec.key for spec in signature.inputs}
    block = called(through_identities(block), inputs, [spec.key for spec in signature.outputs])
    return block if room.for_letters(growth(block)) else Opening(main, NO_CONTENT, pruned=True).block()


def needed(block: Block) -> Block:
    """Return the block with only the nodes that the results and effects need, in the order of the file."""
    ends = [*map(node_of, block.results), *block.effects]
    kept = reached_from({name: placed.inputs for name, placed in block.nodes.items()}, ends)
    return Block({name: placed for name, placed in block.nodes.items() if name in kept}, block.results, block.effects)


def name_variables(opening: Opening, names: tuple[str, ...], room: OpeningBudget) -> None:
    """Have the handles that a call captures say what the program calls their variables: its last arguments."""
    given = opening.given()
    # The last arguments, as many as there are names.
    for tensor, name in zip(given[len(given) - len(names) :], names, strict=False):
        handle = opening.node(node_of(tensor))
        if name and handle is not None and handle.op == "VarHandleOp" and room.for_letters(len(name)):
            opening.tell(node_of(tensor), VARIABLE, AttrValue(s=name.encode()))


# tidy


def tidied(function: FunctionDef) -> FunctionDef:
    """The function without its barriers: NoOps that only make its last identities wait."""
    ends = {node_of(result) for result in function.ret.values()}
    # What is left of these at the end only end identities wait for.
    barriers = {node.name for node in function.node_def if node.op == "NoOp" and not data_inputs(node)}
    for node in function.node_def:
        if barriers and not (node.name in ends and node.op == "Identity"):
            barriers -= {each[1:] for each in node.input if each.startswith("^")} - {node.name}
    if not barriers:
        return function
    made = FunctionDef()
    made.CopyFrom(function)
    del made.node_def[:]
    for node in function.node_def:
        if node.name not in barriers:
            kept = made.node_def.add()
            kept.CopyFrom(node)
            kept.input[:] = [each for each in node.input if not (each.startswith("^") and each[1:] in barriers)]
    return made


def through_identities(block: Block) -> Block:
    """Results without the identities that only hand them on."""
    used = Counter(node_of(each) for placed in block.nodes.values() for each in placed.inputs)
    results = []
    # From an identity that only hands a result on to what it hands on, as long as nothing else uses it.
    for result in block.results:
        while (
            (placed := block.nodes.get(name := node_of(result))) is not None
            and placed.node.op == "Identity"
            and not used[name]
            and (handed := tensors(placed.inputs))
        ):
            result = handed[0]
            used[node_of(result)] -= 1
        results.append(result)
    effects = tuple(each for each in block.effects if not _idle(block.nodes[each].node))
    return needed(Block(block.nodes, tuple(results), effects))


def _idle(node: NodeDef) -> bool:
    """Return whether a node has no effect: it only reads or waits."""
    return node.op in NO_CONTENT


def plain_outputs(block: Block, ops: Mapping[str, OpDef]) -> Block:
    """Tensors as main graphs write them ("x:1", "x"), where the op is known; bodies of functions write "x:out:1"."""

    positions: dict[str, dict[str, int]] = {}

    def plain(text: str) -> str:
        name, _, key = text.partition(":")
        if ":" not in key:
            return text
        placed = block.nodes.get(name)
        if placed is None:
            return text
        op = placed.node.op
        if op not in positions:
            positions[op] = _positions(ops.get(op))
        index = _index(positions[op], key)
        return text if index is None else f"{name}:{index}" if index else name

    nodes = {name: placed.taking(tuple(map(plain, placed.inputs))) for name, placed in block.nodes.items()}
    return Block(nodes, tuple(map(plain, block.results)), block.effects)


# Up to a list of them: how long that is only attributes say.
def _positions(op: OpDef | None) -> dict[str, int]:
    """The position among all outputs at which each of an op begins."""
    found: dict[str, int] = {}
    for position, output in enumerate(op.output_arg if op is not None else ()):
        found.setdefault(output.name, position)
        if output.number_attr or output.type_list_attr:
            break
    return found


def _index(positions: Mapping[str, int], key: str) -> int | None:
    """The position among all outputs that "name:number" has; None where that is not known."""
    name, _, number = key.partition(":")
    return positions[name] + output_number(number) if name in positions and number.isdecimal() else None


class Taken:
    """Names that nodes have, and the scopes around others: a node called like a scope would be drawn as the group.

    >>> [name in Taken({"x"}, ["a/b/c"]) for name in ("x", "a", "a/b", "a/b/c", "b")]
    [True, True, True, False, False]
    """

    def __init__(self, names: set[str], inside: Iterable[str]) -> None:
        self._names = names
        self._inside = sorted(inside)  # not their scopes: all those of one deep name take its length squared

    def __contains__(self, name: object) -> bool:
        if name in self._names:
            return True
        scope = f"{name}/"
        place = bisect_left(self._inside, scope)
        return place < len(self._inside) and self._inside[place].startswith(scope)


def called(block: Block, inputs: Mapping[str, str], outputs: list[str]) -> Block:
    """Arguments and results under the names that the signature gives them; "_" follows one that is taken by a scope."""
    inside = [name for name, placed in block.nodes.items() if placed.node.op not in HANDLES]
    arguments = {name: inputs.get(name, name) for name in block.nodes if name in inputs}
    taken = Taken(set(block.nodes) - set(arguments), inside)
    renamed = Renamed(zip(arguments, free_names(arguments.values(), taken).values(), strict=False))
    nodes: dict[str, BlockNode] = {}
    for name, placed in block.nodes.items():
        nodes[renamed.names.get(name, name)] = placed.taking(tuple(map(renamed, placed.inputs)))
    ends = free_names(outputs, Taken(set(nodes), inside))
    for key, result in zip(outputs, block.results, strict=False):
        nodes[ends[key]] = BlockNode(NodeDef(op="Identity"), (), (renamed(result),))
    return Block(nodes, tuple(ends.values()), block.effects)


class Renamed:
    """Input strings with other names in them, each made once: thousands of nodes may take what has a long name.

    >>> renamed = Renamed({"a": "b"}.items())
    >>> renamed("^a"), renamed("a:1"), renamed("c")
    ('^b', 'b:1', 'c')
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self.names = dict(names)
        self._made: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        if (name := node_of(text)) not in self.names:
            return text
        if text not in self._made:
            control = "^" if text.startswith("^") else ""
            self._made[text] = f"{control}{self.names[name]}{text[len(control) + len(name) :]}"
        return self._made[text]


# prune


def called_functions(nodes: Iterable[NodeDef], library: Mapping[str, FunctionDef]) -> set[str]:
    """The functions that nodes call, and those that these call."""
    called: set[str] = set()
    waiting = list(nodes)
    while waiting:
        for name in functions_of(waiting.pop(), library):
            if name not in called:
                called.add(name)
                waiting += library[name].node_def
    return called


def functions_of(node: NodeDef, library: Mapping[str, FunctionDef]) -> list[str]:
    """The functions that a node itself calls or names."""
    names = [node.op]
    for value in node.attr.values():
        if value.HasField("func"):
            names.append(value.func.name)
        elif value.HasField("list"):
            names += [each.name for each in value.list.func]
    return [name for name in names if name in library]


def bookkeeping(program: Program, signatures: Iterable[Signature]) -> int:
    """How many ops no signature needs: those that save, restore, initialise and assign, in the main graph and in the
    functions that only these call."""
    nodes = program.main.nodes
    ends = [node_of(spec.tensor) for each in signatures for spec in (*each.inputs, *each.outputs)]
    kept = reached_from(program.main.inputs, ends)
    rest = [node for name, node in nodes.items() if name not in kept]
    only = program.reached(rest) - program.reached(nodes[name] for name in kept)
    return len(rest) + sum(len(program.library[name].node_def) for name in only)
