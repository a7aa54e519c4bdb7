"""The body of a signature: the model that a SavedModel is about, without what saves, restores and initialises it.

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

from graphviz_tb.model.loaded import Signature
from graphviz_tb.model.wiring import output_number
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef, OpDef
from graphviz_tb.read.inline import (
    MOST_OPENED,
    MOST_WAITS,
    Block,
    data_inputs,
    free_names,
    node_of,
    open_call,
    waits,
)

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "TPUPartitionedCall"})
HANDLES = frozenset({"VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "HashTableV2", "MutableHashTableV2"})
NO_CONTENT = HANDLES | {"Placeholder", "PlaceholderWithDefault", "Const", "Identity", "NoOp"}
VARIABLE = "_variable"  # attribute of a handle: the name that the program gave the variable


def body_of(
    whole: GraphDef, signature: Signature, captured: Mapping[str, tuple[str, ...]], ops: Iterable[OpDef] = ()
) -> GraphDef:
    """Before: the graph of a MetaGraph and one of its signatures. After: the signature's body as the main graph.

    `captured` names the variables that functions capture (`objects.captured_names`); `ops` are the definitions of the
    ops that the file uses, if it brings them.
    """
    library = {function.signature.name: tidied(function) for function in whole.library.function}
    inputs = {node_of(spec.tensor): spec.key for spec in signature.inputs}
    block = needed(Block({node.name: node for node in whole.node}, tuple(spec.tensor for spec in signature.outputs)))
    opened: set[str] = set()
    written = 0
    # Each round opens one call; a function that was opened before calls itself, and stays closed.
    while len(opened) < MOST_OPENED and (call := only_content(block.nodes)) is not None:
        function = library.get(call.attr["f"].func.name)
        if function is None or function.signature.name in opened:
            break
        written += waits(block, call, function)
        if written > MOST_WAITS:
            break
        opened.add(function.signature.name)
        name_variables(block, call, captured.get(function.signature.name, ()))
        block = needed(open_call(block, call, function))
    # What came out of a body names outputs as bodies do.
    if opened:
        block = plain_outputs(block, {op.name: op for op in ops})
        block = called(through_identities(block), inputs, [spec.key for spec in signature.outputs])
    made = GraphDef(versions=whole.versions)
    made.node.extend(block.nodes.values())
    made.library.function.extend(reached(made, library))
    return made


def needed(block: Block) -> Block:
    """What the results and effects need, in the order of the file."""
    waiting = [*map(node_of, block.results), *block.effects]
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in kept and name in block.nodes:
            kept.add(name)
            waiting += map(node_of, block.nodes[name].input)
    return Block({name: node for name, node in block.nodes.items() if name in kept}, block.results, block.effects)


def only_content(nodes: Mapping[str, NodeDef]) -> NodeDef | None:
    """The call that is all there is beside arguments, variables and constants."""
    content = [node for node in nodes.values() if node.op not in NO_CONTENT]
    return content[0] if len(content) == 1 and content[0].op in CALLS else None


def name_variables(block: Block, call: NodeDef, names: tuple[str, ...]) -> None:
    """Write on the handles that a call captures what the program calls their variables: its last arguments."""
    given = data_inputs(call)
    # The last arguments, as many as there are names.
    for tensor, name in zip(given[len(given) - len(names) :], names, strict=False):
        handle = block.nodes.get(node_of(tensor))
        if name and handle is not None and handle.op == "VarHandleOp":
            handle.attr[VARIABLE].s = name.encode()


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
    used = Counter(node_of(each) for node in block.nodes.values() for each in node.input)
    results = []
    # From an identity that only hands a result on to what it hands on, as long as nothing else uses it.
    for result in block.results:
        while (
            (node := block.nodes.get(node_of(result))) is not None
            and node.op == "Identity"
            and not used[node.name]
            and data_inputs(node)
        ):
            result = data_inputs(node)[0]
            used[node_of(result)] -= 1
        results.append(result)
    block = Block(block.nodes, tuple(results), tuple(each for each in block.effects if not _idle(block.nodes[each])))
    return needed(block)


def _idle(node: NodeDef) -> bool:
    """Whether an effect is none: what only reads or waits."""
    return node.op in NO_CONTENT


def plain_outputs(block: Block, ops: Mapping[str, OpDef]) -> Block:
    """Tensors as main graphs write them ("x:1", "x"), where the op is known; bodies of functions write "x:out:1"."""

    positions: dict[str, dict[str, int]] = {}

    def plain(text: str) -> str:
        name, _, key = text.partition(":")
        node = block.nodes.get(name)
        if node is None or ":" not in key:
            return text
        if node.op not in positions:
            positions[node.op] = _positions(ops.get(node.op))
        index = _index(positions[node.op], key)
        return text if index is None else f"{name}:{index}" if index else name

    nodes = {}
    for name, node in block.nodes.items():
        nodes[name] = node
        node.input[:] = [plain(each) for each in node.input]
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
    inside = [name for name, node in block.nodes.items() if node.op not in HANDLES]
    arguments = {name: inputs.get(name, name) for name in block.nodes if name in inputs}
    taken = Taken(set(block.nodes) - set(arguments), inside)
    names = dict(zip(arguments, free_names(arguments.values(), taken).values(), strict=False))
    nodes: dict[str, NodeDef] = {}
    for name, node in block.nodes.items():
        node.name = names.get(name, name)
        node.input[:] = [_renamed(each, names) for each in node.input]
        nodes[node.name] = node
    ends = free_names(outputs, Taken(set(nodes), inside))
    for key, result in zip(outputs, block.results, strict=False):
        nodes[ends[key]] = NodeDef(name=ends[key], op="Identity", input=[_renamed(result, names)])
    return Block(nodes, tuple(ends.values()), block.effects)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    control = "^" if text.startswith("^") else ""
    name, colon, key = text.removeprefix("^").partition(":")
    return f"{control}{names.get(name, name)}{colon}{key}"


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


def reached(graph: GraphDef, library: Mapping[str, FunctionDef]) -> list[FunctionDef]:
    """The functions that a graph calls, in the order of the library."""
    called = called_functions(graph.node, library)
    return [function for name, function in library.items() if name in called]


def bookkeeping(whole: GraphDef, signatures: Iterable[Signature]) -> int:
    """How many ops no signature needs: those that save, restore, initialise and assign, in the main graph and in the
    functions that only these call."""
    nodes = {node.name: node for node in whole.node}
    library = {function.signature.name: function for function in whole.library.function}
    tensors = tuple(spec.tensor for each in signatures for spec in (*each.inputs, *each.outputs))
    kept = needed(Block(nodes, tensors)).nodes
    rest = [node for name, node in nodes.items() if name not in kept]
    only = called_functions(rest, library) - called_functions(kept.values(), library)
    return len(rest) + sum(len(library[name].node_def) for name in only)
