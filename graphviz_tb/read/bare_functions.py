"""A SavedModel without signatures: make one for each function that its objects expose.

This adds what TensorFlow writes for a signature: placeholders, the variables that the function captures, a call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from graphviz_tb.limits import MAX_INLINED_LETTERS
from graphviz_tb.model.dtypes import RESOURCE_DTYPE_NUMBER
from graphviz_tb.model.loaded import Signature, TensorSpec
from graphviz_tb.ops.roles import VARIABLE_OPS
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.read.inline import VARIABLE_NAME_ATTR, UnusedNames
from graphviz_tb.read.type_names import signature_dtype_name

CALL_OP = "StatefulPartitionedCall"
TRACED_PREFIX = "__inference_"
# TensorFlow's names of traced functions
TRACED_FUNCTION_NAME = re.compile(rf"{TRACED_PREFIX}(.+)_\d+", re.DOTALL | re.ASCII)
UNNAMED_RESULT = re.compile(r"identity(?:_(\d+))?", re.ASCII)  # results without a name in the program


def add_function_calls(
    whole: GraphDef, captured: Mapping[str, tuple[str, ...]]
) -> tuple[GraphDef, tuple[Signature, ...]]:
    """Return a copy of the graph with a call of each exposed function, and a signature per call.

    `captured` gives the functions and the variables they capture. Returns the graph itself and no signatures if there
    are none, or if their names would fill memory.
    """
    functions = [each for each in whole.library.function if each.signature.name in captured]
    if (
        not functions
        or sum(call_letters(each, captured[each.signature.name]) for each in functions) > MAX_INLINED_LETTERS
    ):
        return whole, ()
    made = GraphDef()
    made.CopyFrom(whole)
    handles = {variable_name(node): node.name for node in whole.node if node.op in VARIABLE_OPS}
    free = UnusedNames({node.name for node in whole.node})
    several = Counter(untraced_name(each.signature.name) for each in functions)
    signatures = []
    for function in functions:
        name = function.signature.name
        nodes = list(call_nodes(function, captured[name], handles, free))
        made.node.extend(nodes)
        called = untraced_name(name) if several[untraced_name(name)] == 1 else name.removeprefix(TRACED_PREFIX)
        signatures.append(signature_of_call(called, function, nodes))
    return made, tuple(signatures)


def call_letters(function: FunctionDef, variables: tuple[str, ...]) -> int:
    """Estimate the letters that a call takes: its name per result, a variable's name per capture."""
    return len(function.signature.name) * len(function.signature.output_arg) + sum(map(len, variables))


def untraced_name(name: str) -> str:
    """Return the name of a traced function in the program.

    >>> untraced_name("__inference___call___103"), untraced_name("f")
    ('__call__', 'f')
    """
    match = TRACED_FUNCTION_NAME.fullmatch(name)
    return match[1] if match else name


def variable_name(handle: NodeDef) -> str:
    return handle.attr["shared_name"].s.decode("utf-8", "replace") or handle.name


def call_nodes(
    function: FunctionDef, variables: tuple[str, ...], handles: Mapping[str, str], free: UnusedNames
) -> Iterator[NodeDef]:
    """Yield placeholders for the arguments, except variables that exist in the graph, then the call."""
    arguments = function.signature.input_arg
    # Position ─▶ variable: TensorFlow appends captures to the arguments.
    captured = dict(enumerate(variables[: len(arguments)], max(0, len(arguments) - len(variables))))
    given = []
    for position, arg in enumerate(arguments):
        variable = captured.get(position, "") if arg.type == RESOURCE_DTYPE_NUMBER else ""
        given.append(handles[variable] if variable in handles else free.take_name(arg.name))
        if variable not in handles:
            yield argument_node(function, position, given[-1], variable)
    call = NodeDef(name=free.take_name(untraced_name(function.signature.name)), op=CALL_OP, input=given)
    call.attr["f"].func.name = function.signature.name
    yield call


def argument_node(function: FunctionDef, position: int, name: str, variable: str) -> NodeDef:
    """Return the placeholder of an argument with dtype and shape, and for a handle the variable's name."""
    node = NodeDef(name=name, op="Placeholder")
    node.attr["dtype"].type = function.signature.input_arg[position].type
    if variable:
        node.attr[VARIABLE_NAME_ATTR].s = variable.encode()
    if position in function.arg_attr and "_output_shapes" in function.arg_attr[position].attr:
        for shape in function.arg_attr[position].attr["_output_shapes"].list.shape[:1]:
            node.attr["shape"].shape.CopyFrom(shape)
    return node


def signature_of_call(name: str, function: FunctionDef, nodes: list[NodeDef]) -> Signature:
    """Return the inputs and outputs of a call as a signature."""
    call, made = nodes[-1], {node.name: node for node in nodes}
    inputs = tuple(TensorSpec(arg.name, f"{given}:0", signature_dtype_name(arg.type), argument_shape(made[given]))
                   for arg, given in zip(function.signature.input_arg, call.input, strict=True)
                   if arg.type != RESOURCE_DTYPE_NUMBER)  # fmt: skip
    results = function.signature.output_arg
    outputs = tuple(TensorSpec(signature_result_name(arg.name), f"{call.name}:{position}", signature_dtype_name(arg.type), None)
                    for position, arg in enumerate(results))  # fmt: skip
    return Signature(name, "function", inputs, outputs)


def signature_result_name(name: str) -> str:
    """Return the name that signatures give to a result.

    >>> signature_result_name("identity"), signature_result_name("identity_1"), signature_result_name("score")
    ('output_0', 'output_1', 'score')
    """
    match = UNNAMED_RESULT.fullmatch(name)
    return f"output_{match[1] or 0}" if match else name


def argument_shape(node: NodeDef) -> tuple[int, ...] | None:
    """Return the shape attribute of an argument; None if it has none."""
    if "shape" not in node.attr or node.attr["shape"].shape.unknown_rank:
        return None
    return tuple(int(dim.size) for dim in node.attr["shape"].shape.dim)
