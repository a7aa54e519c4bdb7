"""The body of a signature: the model in a SavedModel, without the ops that save, restore and initialise it.

needed      keep what the outputs need
open        inline calls that only forward, down to the function with content
tidy        remove barriers, and identities that only end a function
name        name arguments and results as the signature does
prune       keep the functions that are still called
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
from graphviz_tb.read.inline import VARIABLE_NAME_ATTR, data_inputs, free_names, node_of, tensors
from graphviz_tb.read.opening import Opening

HANDLES = frozenset({"VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "HashTableV2", "MutableHashTableV2"})
NO_CONTENT = HANDLES | {"Placeholder", "PlaceholderWithDefault", "Const", "Identity", "NoOp"}
# Budget of nodes: a constant, and a multiple of the file's nodes.
WALKS = 4


class Program:
    """A MetaGraph's graph and functions, each read once for all signatures."""

    def __init__(self, whole: GraphDef) -> None:
        self.whole = whole
        self.walked = 0  # nodes visited so far, over all signatures
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
        """Return whether choosing between signatures has used up its budget of nodes."""
        count = len(self.whole.node) + sum(len(function.node_def) for function in self.whole.library.function)
        return self.walked > NODES_WALKED + WALKS * count

    def function(self, name: str) -> FunctionDef:
        """Return a library function without its barriers."""
        if name not in self._tidied:
            self._tidied[name] = tidied(self.library[name])
        return self._tidied[name]

    def body(self, name: str) -> Body:
        """Return the body of a library function, without its barriers."""
        if name not in self._bodies:
            self._bodies[name] = body_of_function(self.function(name))
        return self._bodies[name]

    def reached(self, nodes: Iterable[NodeDef]) -> set[str]:
        """Return the functions that nodes call, directly or not."""
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
    """Return the body of a signature as a main graph.

    `captured` names the variables that functions capture (`objects.captured_names`); `ops` are the op definitions in
    the file, if any.
    """
    block = block_of(program, signature, captured, ops)
    made = GraphDef(versions=program.whole.versions)
    write(block, made.node)
    called = program.reached(made.node)
    made.library.function.extend(program.function(name) for name in program.library if name in called)
    return made


def size_of_body(program: Program, signature: Signature) -> int:
    """Return the number of nodes in a signature's body and its library."""
    nodes = block_of(program, signature, {}).nodes
    called = program.reached(placed.node for placed in nodes.values())
    return len(nodes) + sum(len(program.function(name).node_def) for name in called)


def block_of(
    program: Program, signature: Signature, captured: Mapping[str, tuple[str, ...]], ops: Iterable[OpDef] = ()
) -> Block:
    """Return the body of a signature as a block; not inlined if its names would fill memory."""
    main = replace(program.main, results=tuple(spec.tensor for spec in signature.outputs))
    opening = Opening(main, NO_CONTENT, pruned=True)
    room = OpeningBudget()
    opened: set[str] = set()
    # Each round inlines one call. A function seen before calls itself and is not inlined.
    while len(opened) < CALLS_IN_CALLS and (call := opening.call) is not None:
        name = call.attr["f"].func.name
        if name not in program.library or name in opened:
            break
        # Each node that waits for the call will wait for every effect.
        if not room.for_waits(opening.waiting * len(program.function(name).control_ret)):
            break
        opened.add(name)
        name_variables(opening, captured.get(name, ()), room)
        opening.open(program.body(name))
    program.walked += sum(len(frame.body.nodes) for frame in opening.frames)
    block = opening.block()
    if not opened or not room.for_letters(growth(block)):
        return Opening(main, NO_CONTENT, pruned=True).block()
    # Inlined nodes name outputs as function bodies do.
    block = plain_outputs(block, {op.name: op for op in ops})
    inputs = {node_of(spec.tensor): spec.key for spec in signature.inputs}
    block = called(through_identities(block), inputs, [spec.key for spec in signature.outputs])
    return block if room.for_letters(growth(block)) else Opening(main, NO_CONTENT, pruned=True).block()


def needed(block: Block) -> Block:
    """Keep the nodes that results and effects need, in the order of the file."""
    ends = [*map(node_of, block.results), *block.effects]
    kept = reached_from({name: placed.inputs for name, placed in block.nodes.items()}, ends)
    return Block({name: placed for name, placed in block.nodes.items() if name in kept}, block.results, block.effects)


def name_variables(opening: Opening, names: tuple[str, ...], room: OpeningBudget) -> None:
    """Write the variables' names on the handles that a call captures: its last arguments."""
    given = opening.given()
    # The last arguments, one per name.
    for tensor, name in zip(given[len(given) - len(names) :], names, strict=False):
        handle = opening.node(node_of(tensor))
        if name and handle is not None and handle.op == "VarHandleOp" and room.for_letters(len(name)):
            opening.tell(node_of(tensor), VARIABLE_NAME_ATTR, AttrValue(s=name.encode()))


# tidy


def tidied(function: FunctionDef) -> FunctionDef:
    """Return the function without barriers: NoOps that only delay its final identities."""
    ends = {node_of(result) for result in function.ret.values()}
    # Afterwards, only final identities wait for the remaining ones.
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
    """Replace results that are identities by their source, unless something else uses the identity."""
    used = Counter(node_of(each) for placed in block.nodes.values() for each in placed.inputs)
    results = []
    # Follow identities that only forward a result, as long as nothing else uses them.
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
    """Rewrite tensors of function bodies ("x:out:1") as in main graphs ("x:1", "x"), where the op is known."""

    positions: dict[str, dict[str, int]] = {}

    def plain_tensor(text: str) -> str:
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

    nodes = {name: placed.taking(tuple(map(plain_tensor, placed.inputs))) for name, placed in block.nodes.items()}
    return Block(nodes, tuple(map(plain_tensor, block.results)), block.effects)


# Up to the first list: only attributes give its length.
def _positions(op: OpDef | None) -> dict[str, int]:
    """Return the position at which each named output of an op begins, up to the first list of outputs."""
    found: dict[str, int] = {}
    for position, output in enumerate(op.output_arg if op is not None else ()):
        found.setdefault(output.name, position)
        if output.number_attr or output.type_list_attr:
            break
    return found


def _index(positions: Mapping[str, int], key: str) -> int | None:
    """Return the output position of "name:number"; None if unknown."""
    name, _, number = key.partition(":")
    return positions[name] + output_number(number) if name in positions and number.isdecimal() else None


class Taken:
    """Names of nodes and of the scopes around them: a node named like a scope would be drawn as that group.

    >>> [name in Taken({"x"}, ["a/b/c"]) for name in ("x", "a", "a/b", "a/b/c", "b")]
    [True, True, True, False, False]
    """

    def __init__(self, names: set[str], inside: Iterable[str]) -> None:
        self._names = names
        self._inside = sorted(inside)  # not the scopes: all scopes around one deep name take the square of its length

    def __contains__(self, name: object) -> bool:
        if name in self._names:
            return True
        scope = f"{name}/"
        place = bisect_left(self._inside, scope)
        return place < len(self._inside) and self._inside[place].startswith(scope)


def called(block: Block, inputs: Mapping[str, str], outputs: list[str]) -> Block:
    """Rename arguments and results as in the signature, with a suffix if a scope has that name."""
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
    """Translates input strings to new node names. Cached: thousands of nodes may use one long name.

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
    """Return the functions that nodes call, directly or not."""
    called: set[str] = set()
    waiting = list(nodes)
    while waiting:
        for name in functions_of(waiting.pop(), library):
            if name not in called:
                called.add(name)
                waiting += library[name].node_def
    return called


def functions_of(node: NodeDef, library: Mapping[str, FunctionDef]) -> list[str]:
    """Return the functions that a node calls or names."""
    names = [node.op]
    for value in node.attr.values():
        if value.HasField("func"):
            names.append(value.func.name)
        elif value.HasField("list"):
            names += [each.name for each in value.list.func]
    return [name for name in names if name in library]


def bookkeeping(program: Program, signatures: Iterable[Signature]) -> int:
    """Count the ops that no signature needs: those that save, restore, initialise and assign.

    Includes functions that only such ops call.
    """
    nodes = program.main.nodes
    ends = [node_of(spec.tensor) for each in signatures for spec in (*each.inputs, *each.outputs)]
    kept = reached_from(program.main.inputs, ends)
    rest = [node for name, node in nodes.items() if name not in kept]
    only = program.reached(rest) - program.reached(nodes[name] for name in kept)
    return len(rest) + sum(len(program.library[name].node_def) for name in only)
