"""The body of a signature: the model in a SavedModel, without the ops that save, restore and initialise it.

needed      keep the nodes on which outputs depend
open        inline calls that are the whole content, down to the function with the model
tidy        remove barriers, and identities that only end a function
name        name arguments and results as the signature does
prune       keep the functions that are still called
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from graphviz_tb.graphs.calls import functions_named_by
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.limits import FREE_WALKED_NODES, MAX_INLINED_LETTERS, MAX_NESTED_CALLS
from graphviz_tb.model.graph import KEEPS_MORE_ATTR, TRAINABLE_ATTR, parse_output_number
from graphviz_tb.model.paths import without_counter
from graphviz_tb.model.sources import Signature, TensorSpec
from graphviz_tb.model.tensors import RESOURCE_DTYPE_NUMBER
from graphviz_tb.ops.roles import VARIABLE_OPS
from graphviz_tb.proto import AttrValue, DataType, FunctionDef, GraphDef, NodeDef, OpDef
from graphviz_tb.unwrap.calls import (
    VARIABLE_NAME_ATTR,
    CallInliner,
    GraphBody,
    InlinedBlock,
    InlinedNode,
    InliningBudget,
    UnusedNames,
    added_letters,
    append_block_nodes,
    barrier_names,
    body_of_function,
    body_of_nodes,
    copy_without_barriers,
    input_node,
    nodes_needed_by,
    unused_names,
    without_control_inputs,
)


class CapturedVariable(NamedTuple):
    """A variable that a function captures.

    name              unique name; "" for an object that is no variable
    program_name      name in the program
    trainable         None if the file does not say
    model_keeps_more  the model has variables that no function captures: vectors of a spectral normalisation
    """

    name: str
    program_name: str
    shape: tuple[int, ...]
    trainable: bool | None
    model_keeps_more: bool = False


NO_VARIABLE = CapturedVariable("", "", (), None)


def signature_dtype_name(number: int) -> str:
    """Return the name of a dtype in the enum `DataType`, in lower case: "float" for float32.

    >>> signature_dtype_name(1), signature_dtype_name(9), signature_dtype_name(777)
    ('float', 'int64', 'type 777')
    """
    try:
        return DataType.Name(number).removeprefix("DT_").lower()
    except ValueError:
        return f"type {number}"


# A SavedModel without signatures: make one for each function that its objects expose.
#
# This adds the nodes that TensorFlow writes for a signature: placeholders, captured variables, a call.

CALL_OP = "StatefulPartitionedCall"
TRACED_PREFIX = "__inference_"
# TensorFlow's names of traced functions
TRACED_FUNCTION_NAME = re.compile(rf"{TRACED_PREFIX}(.+)_\d+", re.DOTALL | re.ASCII)
UNNAMED_RESULT = re.compile(r"identity(?:_(\d+))?", re.ASCII)  # results without a name in the program


def add_function_calls(
    whole: GraphDef, captured: Mapping[str, tuple[CapturedVariable, ...]]
) -> tuple[GraphDef, tuple[Signature, ...]]:
    """Return a copy of a graph with a call of each function of its objects, and a signature for each call.

    `captured` are the variables that each function captures. Returns the same graph if there are no functions, or if
    their names would fill memory.
    """
    functions = [function for function in whole.library.function if function.signature.name in captured]
    letters = sum(_call_letters(function, captured[function.signature.name]) for function in functions)
    if not functions or letters > MAX_INLINED_LETTERS:
        return whole, ()
    extended = GraphDef()
    extended.CopyFrom(whole)
    captures = [variable for function in functions for variable in captured[function.signature.name]]
    handles = _handles_of(whole, captures)
    free_names = UnusedNames({node.name for node in whole.node})
    counts = Counter(_untraced_name(function.signature.name) for function in functions)
    signatures = []
    for function in functions:
        name = function.signature.name
        nodes = list(call_nodes(function, captured[name], handles, free_names))
        extended.node.extend(nodes)
        key = _untraced_name(name) if counts[_untraced_name(name)] == 1 else name.removeprefix(TRACED_PREFIX)
        signatures.append(_signature_of_call(key, function, nodes))
    return extended, tuple(signatures)


def _call_letters(function: FunctionDef, variables: tuple[CapturedVariable, ...]) -> int:
    """Estimate the letters of a call: its name for each result, and the names of captured variables."""
    return len(function.signature.name) * len(function.signature.output_arg) + sum(
        len(variable.name) for variable in variables
    )


def _untraced_name(name: str) -> str:
    """Return the name of a traced function in the program.

    >>> _untraced_name("__inference___call___103"), _untraced_name("f")
    ('__call__', 'f')
    """
    match = TRACED_FUNCTION_NAME.fullmatch(name)
    return match[1] if match else name


def _variable_name(handle: NodeDef) -> str:
    return handle.attr["shared_name"].s.decode("utf-8", "replace") or handle.name


def _handles_of(whole: GraphDef, captures: Iterable[CapturedVariable]) -> dict[str, str]:
    """Return the handles of captured variables by name.

    Variables of one name in the program have numbered handles in unknown order: each gets the first of its shape that
    is left.
    """
    free_handles: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for node in reversed(whole.node):
        if node.op in VARIABLE_OPS:
            shape = tuple(dim.size for dim in node.attr["shape"].shape.dim) if "shape" in node.attr else ()
            variable_name = _variable_name(node)
            # "w_1" may be the second "w", or a variable of that name.
            for name in dict.fromkeys((variable_name, without_counter(variable_name))):
                free_handles.setdefault((name, shape), []).append(node.name)
    handles: dict[str, str] = {}
    used: set[str] = set()
    for variable in dict.fromkeys(captures):
        candidates = free_handles.get((variable.program_name, variable.shape), [])
        while candidates and candidates[-1] in used:
            candidates.pop()
        if variable.name and candidates:
            handles[variable.name] = candidates.pop()
            used.add(handles[variable.name])
    return handles


def call_nodes(
    function: FunctionDef, variables: tuple[CapturedVariable, ...], handles: Mapping[str, str], free_names: UnusedNames
) -> Iterator[NodeDef]:
    """Yield placeholders for the arguments, except variables that are in the graph, then the call."""
    arguments = function.signature.input_arg
    # By position: captured variables are the last arguments.
    captured = dict(enumerate(variables[: len(arguments)], max(0, len(arguments) - len(variables))))
    inputs = []
    for position, arg in enumerate(arguments):
        variable = captured.get(position, NO_VARIABLE) if arg.type == RESOURCE_DTYPE_NUMBER else NO_VARIABLE
        in_graph = variable.name in handles
        inputs.append(handles[variable.name] if in_graph else free_names.take_name(arg.name))
        if not in_graph:
            yield _argument_node(function, position, inputs[-1], variable.name)
    call = NodeDef(name=free_names.take_name(_untraced_name(function.signature.name)), op=CALL_OP, input=inputs)
    call.attr["f"].func.name = function.signature.name
    yield call


def _argument_node(function: FunctionDef, position: int, name: str, variable: str) -> NodeDef:
    """Return the placeholder of an argument with dtype and shape, and for a handle the variable's name."""
    node = NodeDef(name=name, op="Placeholder")
    node.attr["dtype"].type = function.signature.input_arg[position].type
    if variable:
        node.attr[VARIABLE_NAME_ATTR].s = variable.encode()
    if position in function.arg_attr and "_output_shapes" in function.arg_attr[position].attr:
        for shape in function.arg_attr[position].attr["_output_shapes"].list.shape[:1]:
            node.attr["shape"].shape.CopyFrom(shape)
    return node


def _signature_of_call(name: str, function: FunctionDef, nodes: list[NodeDef]) -> Signature:
    call, made = nodes[-1], {node.name: node for node in nodes}
    inputs = tuple(TensorSpec(arg.name, f"{given}:0", signature_dtype_name(arg.type), _argument_shape(made[given]))
                   for arg, given in zip(function.signature.input_arg, call.input, strict=True)
                   if arg.type != RESOURCE_DTYPE_NUMBER)  # fmt: skip
    results = function.signature.output_arg
    outputs = tuple(
        TensorSpec(_signature_result_name(arg.name), f"{call.name}:{at}", signature_dtype_name(arg.type), None)
        for at, arg in enumerate(results)
    )
    return Signature(name, "function", inputs, outputs)


def _signature_result_name(name: str) -> str:
    """Return the name that signatures give to a result.

    >>> _signature_result_name("identity"), _signature_result_name("identity_1"), _signature_result_name("score")
    ('output_0', 'output_1', 'score')
    """
    match = UNNAMED_RESULT.fullmatch(name)
    return f"output_{match[1] or 0}" if match else name


def _argument_shape(node: NodeDef) -> tuple[int, ...] | None:
    if "shape" not in node.attr or node.attr["shape"].shape.unknown_rank:
        return None
    return tuple(int(dim.size) for dim in node.attr["shape"].shape.dim)


VARIABLE_NODE_OPS = frozenset(
    {"VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "HashTableV2", "MutableHashTableV2"}
)
CONTENTLESS_OPS = VARIABLE_NODE_OPS | {"Placeholder", "PlaceholderWithDefault", "Const", "Identity", "NoOp"}
# Budget of nodes: a constant, and a multiple of the file's nodes.
NODES_WALKED_FACTOR = 4


class MetaGraphProgram:
    """A MetaGraph's graph and functions, each read once for all signatures."""

    def __init__(self, whole: GraphDef) -> None:
        self.whole = whole
        self.walked = 0  # nodes visited so far, over all signatures
        self.library = {function.signature.name: function for function in whole.library.function}
        self._tidied: dict[str, FunctionDef] = {}
        self._bodies: dict[str, GraphBody] = {}
        self._called: dict[str, list[str]] = {}

    @cached_property
    def main_body(self) -> GraphBody:
        return body_of_nodes(self.whole.node)

    @property
    def walk_budget_spent(self) -> bool:
        """Whether choosing between signatures has used up its budget of nodes."""
        count = len(self.whole.node) + sum(len(function.node_def) for function in self.whole.library.function)
        return self.walked > FREE_WALKED_NODES + NODES_WALKED_FACTOR * count

    def tidied_function(self, name: str) -> FunctionDef:
        """Return a library function without its barriers."""
        if name not in self._tidied:
            self._tidied[name] = without_function_barriers(self.library[name])
        return self._tidied[name]

    def function_body(self, name: str) -> GraphBody:
        """Return the body of a library function, without its barriers."""
        if name not in self._bodies:
            self._bodies[name] = body_of_function(self.tidied_function(name))
        return self._bodies[name]

    def reachable_functions(self, nodes: Iterable[NodeDef]) -> set[str]:
        """Return the functions that nodes call, directly or not."""
        named = (name for node in nodes for name in functions_named_by(node, self.library))
        return reachable_from(named, self._functions_called_in)

    def _functions_called_in(self, name: str) -> list[str]:
        if name not in self._called:
            named = (
                named_function
                for node in self.library[name].node_def
                for named_function in functions_named_by(node, self.library)
            )
            self._called[name] = list(dict.fromkeys(named))
        return self._called[name]


def signature_body(
    program: MetaGraphProgram,
    signature: Signature,
    captured: Mapping[str, tuple[CapturedVariable, ...]],
    ops: Iterable[OpDef] = (),
) -> GraphDef:
    """Return the body of a signature as a main graph.

    `captured` are the variables that functions capture (`objects.captured_variables`); `ops` are the definitions of the
    ops that the file uses, if it brings them.
    """
    block = _signature_block(program, signature, captured, ops)
    body = GraphDef(versions=program.whole.versions)
    append_block_nodes(block, body.node)
    reachable = program.reachable_functions(body.node)
    body.library.function.extend(program.tidied_function(name) for name in program.library if name in reachable)
    return body


def signature_body_size(program: MetaGraphProgram, signature: Signature) -> int:
    """Return the number of nodes in a signature's body and its library."""
    nodes = _signature_block(program, signature, {}).nodes
    called = program.reachable_functions(placed.node for placed in nodes.values())
    return len(nodes) + sum(len(program.tidied_function(name).node_def) for name in called)


def _signature_block(
    program: MetaGraphProgram,
    signature: Signature,
    captured: Mapping[str, tuple[CapturedVariable, ...]],
    ops: Iterable[OpDef] = (),
) -> InlinedBlock:
    """Return the body of a signature as a block; not inlined if its names would fill memory."""
    main = replace(program.main_body, results=tuple(spec.tensor for spec in signature.outputs))
    inliner = CallInliner(main, CONTENTLESS_OPS, pruned=True)
    budget = InliningBudget()
    inlined: set[str] = set()
    # Each round inlines one call. A function seen before calls itself and is not inlined.
    while len(inlined) < MAX_NESTED_CALLS and (call := inliner.next_call) is not None:
        name = call.attr["f"].func.name
        if name not in program.library or name in inlined:
            break
        # Each node that waits for the call will wait for every effect.
        if not budget.spend_waits(inliner.waiting_count * len(program.tidied_function(name).control_ret)):
            break
        inlined.add(name)
        _name_captured_handles(inliner, captured.get(name, ()), budget)
        inliner.inline_call(program.function_body(name))
    program.walked += sum(len(frame.body.nodes) for frame in inliner.frames)
    block = inliner.inlined_block()
    if not inlined or not budget.spend_letters(added_letters(block)):
        return CallInliner(main, CONTENTLESS_OPS, pruned=True).inlined_block()
    # Inlined nodes name outputs as function bodies do.
    block = _plain_output_names(block, {op.name: op for op in ops})
    inputs = {input_node(spec.tensor): spec.key for spec in signature.inputs}
    block = _apply_signature_names(_skip_result_identities(block), inputs, [spec.key for spec in signature.outputs])
    if budget.spend_letters(added_letters(block)):
        return block
    return CallInliner(main, CONTENTLESS_OPS, pruned=True).inlined_block()


def _keep_needed_nodes(block: InlinedBlock) -> InlinedBlock:
    """Keep the nodes that results and effects need, in the order of the file."""
    ends = [*map(input_node, block.results), *block.effects]
    kept = nodes_needed_by({name: placed.inputs for name, placed in block.nodes.items()}, ends)
    return InlinedBlock(
        {name: placed for name, placed in block.nodes.items() if name in kept}, block.results, block.effects
    )


def _name_captured_handles(inliner: CallInliner, captured: tuple[CapturedVariable, ...], room: InliningBudget) -> None:
    """Add the names of variables, and whether they are trained, to the handles that a call captures.

    The first handle also states if the model keeps further variables.
    """
    arguments, marked = inliner.call_arguments(), False
    # The last arguments, as many as there are variables.
    for tensor, variable in zip(arguments[len(arguments) - len(captured) :], captured, strict=False):
        handle, name = inliner.node_named(input_node(tensor)), variable.name
        if name and handle is not None and handle.op == "VarHandleOp" and room.spend_letters(len(name)):
            inliner.set_attribute(input_node(tensor), VARIABLE_NAME_ATTR, AttrValue(s=name.encode()))
            if variable.trainable is not None:
                inliner.set_attribute(input_node(tensor), TRAINABLE_ATTR, AttrValue(b=variable.trainable))
            if variable.model_keeps_more and not marked:
                marked = True
                inliner.set_attribute(input_node(tensor), KEEPS_MORE_ATTR, AttrValue(b=True))


# Drop nodes that only order a body or forward its results, and simplify names.


def without_function_barriers(function: FunctionDef) -> FunctionDef:
    """Return the function without barriers: NoOps that only delay its final identities."""
    ends = {input_node(result) for result in function.ret.values()}
    barriers = barrier_names(function.node_def, lambda node: node.name in ends and node.op == "Identity")
    if not barriers:
        return function
    made = FunctionDef()
    made.CopyFrom(function)
    del made.node_def[:]
    copy_without_barriers(function.node_def, made.node_def, barriers)
    return made


def _skip_result_identities(block: InlinedBlock) -> InlinedBlock:
    """Replace results that are identities by their sources, unless other nodes use the identity."""
    use_counts = Counter(input_node(text) for placed in block.nodes.values() for text in placed.inputs)
    results = []
    for result in block.results:
        while (
            (placed := block.nodes.get(name := input_node(result))) is not None
            and placed.node.op == "Identity"
            and not use_counts[name]
            and (sources := without_control_inputs(placed.inputs))
        ):
            result = sources[0]
            use_counts[input_node(result)] -= 1
        results.append(result)
    effects = tuple(effect for effect in block.effects if block.nodes[effect].node.op not in CONTENTLESS_OPS)
    return _keep_needed_nodes(InlinedBlock(block.nodes, tuple(results), effects))


def _plain_output_names(block: InlinedBlock, ops: Mapping[str, OpDef]) -> InlinedBlock:
    """Rewrite tensors of function bodies ("x:out:1") as in main graphs ("x:1", "x"), if the op is known."""
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
            positions[op] = _output_positions(ops.get(op))
        index = _output_position(positions[op], key)
        return text if index is None else f"{name}:{index}" if index else name

    nodes = {name: placed.with_inputs(tuple(map(plain_tensor, placed.inputs))) for name, placed in block.nodes.items()}
    return InlinedBlock(nodes, tuple(map(plain_tensor, block.results)), block.effects)


def _output_positions(op: OpDef | None) -> dict[str, int]:
    """Return the position of each named output of an op, up to the first list, whose length only attributes tell."""
    found: dict[str, int] = {}
    for position, output in enumerate(op.output_arg if op is not None else ()):
        found.setdefault(output.name, position)
        if output.number_attr or output.type_list_attr:
            break
    return found


def _output_position(positions: Mapping[str, int], key: str) -> int | None:
    """Return the output position of "name:number"; None if unknown."""
    name, _, number = key.partition(":")
    return positions[name] + parse_output_number(number) if name in positions and number.isdecimal() else None


class TakenNames:
    """The names of nodes and of the scopes around them, which a new node must not have.

    >>> [name in TakenNames({"x"}, ["a/b/c"]) for name in ("x", "a", "a/b", "a/b/c", "b")]
    [True, True, True, False, False]
    """

    def __init__(self, names: set[str], inside: Iterable[str]) -> None:
        self._names = names
        self._inside = sorted(inside)  # scopes are not listed: their total length is quadratic in the depth

    def __contains__(self, name: object) -> bool:
        if name in self._names:
            return True
        scope = f"{name}/"
        place = bisect_left(self._inside, scope)
        return place < len(self._inside) and self._inside[place].startswith(scope)


def _apply_signature_names(block: InlinedBlock, inputs: Mapping[str, str], outputs: list[str]) -> InlinedBlock:
    """Rename arguments and results as in the signature, with a suffix if a scope has that name."""
    inside = [name for name, placed in block.nodes.items() if placed.node.op not in VARIABLE_NODE_OPS]
    arguments = {name: inputs.get(name, name) for name in block.nodes if name in inputs}
    taken = TakenNames(set(block.nodes) - set(arguments), inside)
    renamed = InputRenamer(zip(arguments, unused_names(arguments.values(), taken).values(), strict=False))
    nodes: dict[str, InlinedNode] = {}
    for name, placed in block.nodes.items():
        nodes[renamed.names.get(name, name)] = placed.with_inputs(tuple(map(renamed, placed.inputs)))
    ends = unused_names(outputs, TakenNames(set(nodes), inside))
    for key, result in zip(outputs, block.results, strict=False):
        nodes[ends[key]] = InlinedNode(NodeDef(op="Identity"), (), (renamed(result),))
    return InlinedBlock(nodes, tuple(ends.values()), block.effects)


class InputRenamer:
    """Translates input strings to new node names. Cached: thousands of nodes may use one long name.

    >>> renamed = InputRenamer({"a": "b"}.items())
    >>> renamed("^a"), renamed("a:1"), renamed("c")
    ('^b', 'b:1', 'c')
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self.names = dict(names)
        self._made: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        if (name := input_node(text)) not in self.names:
            return text
        if text not in self._made:
            control = "^" if text.startswith("^") else ""
            self._made[text] = f"{control}{self.names[name]}{text[len(control) + len(name) :]}"
        return self._made[text]


# Ops on which no signature depends.


def count_unneeded_ops(program: MetaGraphProgram, signatures: Iterable[Signature]) -> int:
    """Count the ops on which no signature depends: they save, restore, initialise and assign.

    Includes functions that only such ops call.
    """
    nodes = program.main_body.nodes
    ends = [input_node(spec.tensor) for signature in signatures for spec in (*signature.inputs, *signature.outputs)]
    kept = nodes_needed_by(program.main_body.inputs, ends)
    rest = [node for name, node in nodes.items() if name not in kept]
    only = program.reachable_functions(rest) - program.reachable_functions(nodes[name] for name in kept)
    return len(rest) + sum(len(program.library[name].node_def) for name in only)
