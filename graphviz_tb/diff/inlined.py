"""Functions that one graph calls and the other has inline: the same program, traced in two ways.

x ─▶ PartitionedCall(f) ─▶ y              x ─▶ MatMul ─▶ Relu ─▶ y

Such calls are replaced by the bodies of their functions, so that the ops are compared and not the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass

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
from graphviz_tb.unwrap.calls import InliningBudget, UnusedNames, input_node, reachable_functions, tensor_inputs

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
    bodies: dict[str, _Body] = {}
    for call in graph.node:
        if call.name in inlined:
            bodies[call.name] = _body_of_call(call, inlined[call.name], names, taken, scopes)
            taken |= set(bodies[call.name].renamed.values())
    for node in graph.node:
        for each in bodies[node.name].nodes() if node.name in bodies else (node,):
            copy = made.node.add()
            copy.CopyFrom(each)
            copy.input[:] = [_resolve(text, bodies) for text in each.input]
    reached = reachable_functions(made.node, library)
    made.library.function.extend(function for name, function in library.items() if name in reached)
    return made


def _resolve(text: str, bodies: Mapping[str, _Body]) -> str:
    """Return an input with the result of a body for that of its call; a call may take that of another call."""
    for _ in range(len(bodies) + 1):
        control, name = text.startswith("^"), input_node(text)
        if name not in bodies:
            break
        number = text.rpartition(":")[2] if ":" in text else "0"
        result = bodies[name].result(int(number) if number.isdecimal() else 0)
        text = f"^{input_node(result)}" if control else result
    return text


@dataclass(frozen=True, slots=True)
class _Body:
    """The body of a function: its nodes by name, their names in the main graph, and the tensors of its arguments."""

    function: FunctionDef
    definitions: Mapping[str, NodeDef]
    renamed: Mapping[str, str]
    given: Mapping[str, str]

    def nodes(self) -> Iterator[NodeDef]:
        """Yield the nodes of the body with names and inputs as in a main graph."""
        for name, node in self.definitions.items():
            made = NodeDef()
            made.CopyFrom(node)
            made.name = self.renamed[name]
            made.input[:] = [self._plain_input(text) for text in node.input]
            yield made

    def result(self, number: int) -> str:
        """Return the tensor of the body behind output `number` of the call; "" if the body has no such output."""
        outputs = self.function.signature.output_arg
        return self._plain_input(_output_tensor(self.function, outputs[number].name)) if number < len(outputs) else ""

    def _plain_input(self, text: str) -> str:
        """Return an input of a body as a main graph writes it: `act:activations:0` is `act`."""
        name = input_node(text)
        if text.startswith("^"):
            return f"^{self.renamed.get(name) or input_node(self.given.get(name, name))}"
        if name not in self.definitions:
            return self.given.get(name, name)
        number = output_index(self.definitions[name], text.partition(":")[2] or "0")
        return self.renamed[name] + (f":{number}" if number else "")


def _body_of_call(
    call: NodeDef, function: FunctionDef, names: Collection[str], taken: Set[str], scopes: Set[str]
) -> _Body:
    """Return the body of a call, its nodes under names that the other graph has, if they are not taken, in one of the
    scopes of the graph."""
    given = dict(zip((arg.name for arg in function.signature.input_arg), tensor_inputs(call), strict=True))
    results = [input_node(_output_tensor(function, arg.name)) for arg in function.signature.output_arg]
    scope = call.name.rpartition("/")[0]
    unused = UnusedNames(taken)
    renamed: dict[str, str] = {}
    for node in function.node_def:
        inside = f"{scope}/{node.name}" if scope else node.name
        beside = f"{scope}/{last_segment(node.name)}" if scope else last_segment(node.name)
        # The call has the name of the last op of the body. Names of another scope say nothing about this graph.
        wanted = [call.name] if node.name in results else []
        wanted += [node.name] if node.name.rpartition("/")[0] in scopes else []
        known = (name for name in (*wanted, inside) if name in names and name not in taken and name not in unused.given)
        renamed[node.name] = unused.take_name(next(known, beside))
    return _Body(function, {node.name: node for node in function.node_def}, renamed, given)


def _output_tensor(function: FunctionDef, output: str) -> str:
    """Return the tensor of a body that is an output; a file may state none."""
    return str(function.ret.get(output, output))
