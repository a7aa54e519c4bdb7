"""Functions that one graph calls and the other has inline: the same program, traced in two ways.

x ─▶ PartitionedCall(f) ─▶ y              x ─▶ MatMul ─▶ Relu ─▶ y

Such calls are replaced by the bodies of their functions, so that the ops are compared and not the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Set

from graphviz_tb.annotate.shapes import output_index
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.flatten import flatten
from graphviz_tb.interpret import interpret
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.ops.roles import (
    CALL_OPS,
    CONSTANT_OPS,
    GROUP_OPS,
    IDENTITY_OPS,
    SIZE_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.unwrap.calls import (
    InliningBudget,
    InliningFrame,
    UnusedNames,
    body_of_function,
    input_node,
    reachable_functions,
    tensor_inputs,
)

LEAST_SHARE = 0.5  # of the ops of a body that the other graph has beyond those of this one
PASSING_OPS = CONSTANT_OPS | IDENTITY_OPS | GROUP_OPS | VARIABLE_READ_OPS | SIZE_OPS


def inline_called(graph: Graph, other: Graph) -> tuple[Graph, tuple[Notice, ...]]:
    """Return a graph with the bodies of those functions in place of their calls that the other graph has inline."""
    library = {function.signature.name: function for function in graph.graph_def.library.function}
    if not library or graph.layers:
        return graph, ()
    known = {base_name(function.signature.name) for function in other.graph_def.library.function}
    calls = {
        node.name: library[name]
        for node in graph.graph_def.node
        if node.op in CALL_OPS and "f" in node.attr and (name := node.attr["f"].func.name) in library
        if base_name(name) not in known
    }
    if not calls:
        return graph, ()
    names = {node.name: node.op for node in other.graph_def.node}
    spare = Counter(names.values()) - Counter(node.op for node in graph.graph_def.node)
    room = InliningBudget()
    inlined = {
        node.name: calls[node.name]
        for node in graph.graph_def.node
        if node.name in calls and _is_inline(node, calls[node.name], names, spare)
        if room.spend_letters(calls[node.name].ByteSize())
    }
    if not inlined:
        return graph, ()
    made = _inline(graph.graph_def, library, inlined, names.keys())
    functions = sorted({base_name(function.signature.name) for function in inlined.values()})
    text = f"only one graph calls {', '.join(functions)}: the body is compared with the ops of the other one"
    return interpret(flatten(made)), (Notice("inlined-calls", text, strict=False),)


def _is_inline(call: NodeDef, function: FunctionDef, names: Mapping[str, str], spare: Counter[str]) -> bool:
    """Return whether the other graph, with nodes of such names and some op types to spare, has the body of a call."""
    arguments = function.signature.input_arg
    plain = not any(arg.number_attr or arg.type_list_attr for arg in (*arguments, *function.signature.output_arg))
    # Its control inputs would be those of all its ops.
    if not plain or len(arguments) != len(call.input) or len(arguments) != len(tensor_inputs(call)):
        return False
    wanted = Counter(node.op for node in function.node_def if node.op not in PASSING_OPS)
    # TensorFlow calls a function for a convolution in groups, and one for its gradients: the call says so.
    if all(has_role(op, Role.CONVOLUTION, Role.TRANSPOSED_CONVOLUTION, Role.GRADIENT) for op in wanted):
        return False
    if names.get(call.name, call.op) not in CALL_OPS:
        return True
    return 0 < LEAST_SHARE * wanted.total() <= (wanted & spare).total()


def _inline(
    graph: GraphSource, library: Mapping[str, FunctionDef], inlined: Mapping[str, FunctionDef], names: Collection[str]
) -> GraphDef:
    made = GraphDef()
    made.versions.CopyFrom(graph.versions)
    taken = {node.name for node in graph.node} - inlined.keys()
    scopes = {name.rpartition("/")[0] for name in taken}
    frames: dict[str, InliningFrame] = {}
    for call in graph.node:
        if call.name in inlined:
            frames[call.name] = _frame_of_call(call, inlined[call.name], names, taken, scopes)
            taken |= set(frames[call.name].names.values())
    for node in graph.node:
        frame = frames.get(node.name)
        for each in (node,) if frame is None else frame.body.nodes.values():
            copy = made.node.add()
            copy.CopyFrom(each)
            inputs = each.input if frame is None else [_plain_input(frame, text) for text in each.input]
            copy.name = each.name if frame is None else frame.names[each.name]
            copy.input[:] = [_resolve(text, frames) for text in inputs]
    reached = reachable_functions(made.node, library)
    made.library.function.extend(function for name, function in library.items() if name in reached)
    return made


def _resolve(text: str, frames: Mapping[str, InliningFrame]) -> str:
    """Return an input with the result of a body for that of its call; a call may take that of another call."""
    for _ in range(len(frames) + 1):
        control, name = text.startswith("^"), input_node(text)
        if name not in frames:
            break
        results = frames[name].body.results
        number = text.rpartition(":")[2] if ":" in text else "0"
        place = int(number) if number.isdecimal() else 0
        result = _plain_input(frames[name], results[place]) if place < len(results) else ""
        text = f"^{input_node(result)}" if control else result
    return text


def _plain_input(frame: InliningFrame, text: str) -> str:
    """Return an input of a body as a main graph writes it: `act:activations:0` is `act`."""
    name = input_node(text)
    if text.startswith("^") or name not in frame.names:
        return frame.final_input(text)
    number = output_index(frame.body.nodes[name], text.partition(":")[2] or "0")
    return frame.names[name] + (f":{number}" if number else "")


def _frame_of_call(
    call: NodeDef, function: FunctionDef, names: Collection[str], taken: Set[str], scopes: Set[str]
) -> InliningFrame:
    """Return the body of a call, its nodes under names that the other graph has, if they are not taken, in one of the
    scopes of the graph."""
    body = body_of_function(function)
    given = dict(zip(body.arguments, tensor_inputs(call), strict=True))
    results = set(map(input_node, body.results))
    scope = call.name.rpartition("/")[0]
    unused = UnusedNames(taken)
    renamed: dict[str, str] = {}
    for name in body.nodes:
        inside = f"{scope}/{name}" if scope else name
        beside = f"{scope}/{last_segment(name)}" if scope else last_segment(name)
        # The call has the name of the last op of the body. Names of another scope say nothing about this graph.
        wanted = [call.name] if name in results else []
        wanted += [name] if name.rpartition("/")[0] in scopes else []
        known = (each for each in (*wanted, inside) if each in names and each not in taken and each not in unused.given)
        renamed[name] = unused.take_name(next(known, beside))
    sources = {argument: input_node(tensor) for argument, tensor in given.items()}
    return InliningFrame(0, body, renamed, given, [*body.nodes], sources=sources)
