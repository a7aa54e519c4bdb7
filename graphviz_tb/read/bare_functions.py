"""A SavedModel without signatures: make one for each function that its objects expose.

This adds what TensorFlow writes for a signature: placeholders, the variables that the function captures, a call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from graphviz_tb.limits import INLINED_LETTERS
from graphviz_tb.model.dtypes import RESOURCE
from graphviz_tb.model.loaded import Signature, TensorSpec
from graphviz_tb.ops.roles import VARIABLES
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.read.inline import VARIABLE_NAME_ATTR, FreeNames
from graphviz_tb.read.type_names import dtype_name

CALL = "StatefulPartitionedCall"
PREFIX = "__inference_"
TRACED = re.compile(rf"{PREFIX}(.+)_\d+", re.DOTALL | re.ASCII)  # TensorFlow's names of traced functions
UNNAMED = re.compile(r"identity(?:_(\d+))?", re.ASCII)  # results without a name in the program


def with_calls(whole: GraphDef, captured: Mapping[str, tuple[str, ...]]) -> tuple[GraphDef, tuple[Signature, ...]]:
    """Return a copy of the graph with a call of each exposed function, and a signature per call.

    `captured` gives the functions and the variables they capture. Returns the graph itself and no signatures if there
    are none, or if their names would fill memory.
    """
    functions = [each for each in whole.library.function if each.signature.name in captured]
    if not functions or sum(letters(each, captured[each.signature.name]) for each in functions) > INLINED_LETTERS:
        return whole, ()
    made = GraphDef()
    made.CopyFrom(whole)
    handles = {variable_of(node): node.name for node in whole.node if node.op in VARIABLES}
    free = FreeNames({node.name for node in whole.node})
    several = Counter(spoken(each.signature.name) for each in functions)
    signatures = []
    for function in functions:
        name = function.signature.name
        nodes = list(call_of(function, captured[name], handles, free))
        made.node.extend(nodes)
        called = spoken(name) if several[spoken(name)] == 1 else name.removeprefix(PREFIX)
        signatures.append(signature_of(called, function, nodes))
    return made, tuple(signatures)


def letters(function: FunctionDef, variables: tuple[str, ...]) -> int:
    """Estimate the letters that a call takes: its name per result, a variable's name per capture."""
    return len(function.signature.name) * len(function.signature.output_arg) + sum(map(len, variables))


def spoken(name: str) -> str:
    """Return the name of a traced function in the program.

    >>> spoken("__inference___call___103"), spoken("f")
    ('__call__', 'f')
    """
    match = TRACED.fullmatch(name)
    return match[1] if match else name


def variable_of(handle: NodeDef) -> str:
    return handle.attr["shared_name"].s.decode("utf-8", "replace") or handle.name


def call_of(
    function: FunctionDef, variables: tuple[str, ...], handles: Mapping[str, str], free: FreeNames
) -> Iterator[NodeDef]:
    """Yield placeholders for the arguments, except variables that exist in the graph, then the call."""
    arguments = function.signature.input_arg
    # Position ─▶ variable: TensorFlow appends captures to the arguments.
    captured = dict(enumerate(variables[: len(arguments)], max(0, len(arguments) - len(variables))))
    given = []
    for position, arg in enumerate(arguments):
        variable = captured.get(position, "") if arg.type == RESOURCE else ""
        given.append(handles[variable] if variable in handles else free.give(arg.name))
        if variable not in handles:
            yield argument_of(function, position, given[-1], variable)
    call = NodeDef(name=free.give(spoken(function.signature.name)), op=CALL, input=given)
    call.attr["f"].func.name = function.signature.name
    yield call


def argument_of(function: FunctionDef, position: int, name: str, variable: str) -> NodeDef:
    """Return the placeholder of an argument with dtype and shape, and for a handle the variable's name."""
    node = NodeDef(name=name, op="Placeholder")
    node.attr["dtype"].type = function.signature.input_arg[position].type
    if variable:
        node.attr[VARIABLE_NAME_ATTR].s = variable.encode()
    if position in function.arg_attr and "_output_shapes" in function.arg_attr[position].attr:
        for shape in function.arg_attr[position].attr["_output_shapes"].list.shape[:1]:
            node.attr["shape"].shape.CopyFrom(shape)
    return node


def signature_of(name: str, function: FunctionDef, nodes: list[NodeDef]) -> Signature:
    """Return the inputs and outputs of a call as a signature."""
    call, made = nodes[-1], {node.name: node for node in nodes}
    inputs = tuple(TensorSpec(arg.name, f"{given}:0", dtype_name(arg.type), shape_of(made[given]))
                   for arg, given in zip(function.signature.input_arg, call.input, strict=True)
                   if arg.type != RESOURCE)  # fmt: skip
    results = function.signature.output_arg
    outputs = tuple(TensorSpec(result_name(arg.name), f"{call.name}:{position}", dtype_name(arg.type), None)
                    for position, arg in enumerate(results))  # fmt: skip
    return Signature(name, "function", inputs, outputs)


def result_name(name: str) -> str:
    """Return the name that signatures give to a result.

    >>> result_name("identity"), result_name("identity_1"), result_name("score")
    ('output_0', 'output_1', 'score')
    """
    match = UNNAMED.fullmatch(name)
    return f"output_{match[1] or 0}" if match else name


def shape_of(node: NodeDef) -> tuple[int, ...] | None:
    """Return the shape attribute of an argument; None if it has none."""
    if "shape" not in node.attr or node.attr["shape"].shape.unknown_rank:
        return None
    return tuple(int(dim.size) for dim in node.attr["shape"].shape.dim)
