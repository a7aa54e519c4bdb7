"""Remove tracing artifacts from graphs, so that two traces of one program are equal.

A trace of PyTorch is reduced to the content of `print(model)`: modules and their ops, with arguments. A trace has a
node for every number, list and parameter, shared by several modules, and renumbers names with every edit. In the
reduced graph, the op of a module with a single op has the module's name, other ops are named by their kind, and numbers
and parameters are attributes of the ops that use them.

Net/Block[0]/705 (0.1) ─▶ Net/Block[0]/Dropout[drop]/y.1     Net/Block[0]/Dropout[drop]  p 0.1

TensorFlow functions that one graph calls and the other has inline are replaced by their bodies.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.annotate.shapes import output_index
from graphviz_tb.diff.changes.units import rewired_nodes
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.flatten import flatten
from graphviz_tb.graphs.traversal import node_depths, reachable_mask
from graphviz_tb.interpret import interpret
from graphviz_tb.interpret.pytorch import CONSTANT_OP, PARAMETER_OP, PORT_OP, pytorch_label
from graphviz_tb.model.change import Change, NodeEdits, Severity
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.columns import exists
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.layers import is_module
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment, natural_name_key
from graphviz_tb.model.sources import GraphSource
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.ops.roles import (
    BUFFER_OP,
    CALL_OPS,
    CONSTANT_OPS,
    GROUP_OPS,
    IDENTITY_OPS,
    SIZE_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.roles import PARAMETER_OP as PARAMETER_WEIGHT_OP
from graphviz_tb.ops.signatures import setting_input_name
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.unwrap.calls import (
    GraphBody,
    InliningBudget,
    InliningFrame,
    UnusedNames,
    body_of_function,
    input_node,
    reachable_functions,
    tensor_inputs,
)

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef

NO_ARGUMENT = "None"
OWN_PARAMETER, SHARED_PARAMETER = "its own", "shared with "
SHAPE = "_output_shapes"
IMPLIED_ARGUMENTS = ("groups", "normalized_shape")
CHANNELS = "one for each channel"
BOTH_WAYS = "bidirectional"
# Ops whose weights decide a size of their output: the setting of that name, and the dimension of that size. A trace
# records shapes of outputs, not of weights.
WIDTH_OPS = {
    "aten::linear": ("units", -1),
    "aten::embedding": ("output_dim", -1),
    **dict.fromkeys(("aten::gru", "aten::lstm", "aten::rnn_tanh", "aten::rnn_relu"), ("hidden_size", -1)),
    **dict.fromkeys(
        ("aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution"), ("filters", 1)
    ),
}


RECORDED_WIDTH_KEYS = frozenset(key for key, _ in WIDTH_OPS.values())  # Keras has the same words


def module_graph(graph: Graph) -> GraphDef:
    """Return the ops of an interpreted trace, with their arguments as attributes."""
    from graphviz_tb.proto import GraphDef

    plumbing = (graph.mark == Mark.CONSTANT) | graph.nodes_of_types((CONSTANT_OP, PARAMETER_OP).__contains__)
    ops = np.flatnonzero(~plumbing).tolist()
    names = _op_names(graph, ops)
    made = GraphDef()
    first_users = _first_users(graph, _sort_by_flow(graph, ops))
    for node in ops:
        definition = graph.graph_def.node[node]
        op = made.node.add(name=names[node], op=definition.op)
        if SHAPE in definition.attr:
            op.attr[SHAPE].CopyFrom(definition.attr[SHAPE])
        for slot, text in enumerate(definition.input):
            source = graph.index[0].get(text.partition(":")[0], -1)
            if source in names:
                op.input.append(names[source] + text[len(graph.name[source]) :])
            elif source < 0:
                op.input.append(text)
            else:
                for key, value in _argument(graph, node, slot, source, first_users):
                    op.attr[key].s = value.encode("utf-8", "replace")
        if width := _result_width(graph, node):
            ways = 2 if BOTH_WAYS in op.attr and op.attr[BOTH_WAYS].s == b"True" else 1
            op.attr[WIDTH_OPS[op.op][0]].i = width // ways
    return made


def _result_width(graph: Graph, node: int) -> int:
    """Return the size of an op's recorded output that its weights decide (`WIDTH_OPS`); 0 if unknown."""
    sizes, place = _recorded_sizes(graph, node) or [], WIDTH_OPS.get(graph.graph_def.node[node].op, ("", 0))[1]
    return max(sizes[place], 0) if place and len(sizes) > max(place, 0) else 0


def _module_of_parameter(graph: Graph, parameter: int) -> str:
    """Return the module of a parameter's node: `Net/fc` for `Net/fc/weight/5`."""
    return posixpath.dirname(posixpath.dirname(graph.name[parameter]))


def _first_users(graph: Graph, nodes: Iterable[int]) -> dict[str, int]:
    """Return the first op that uses parameters of each module, by the module; later ones share them."""
    found: dict[str, int] = {}
    for node in nodes:
        for text in graph.graph_def.node[node].input:
            source = graph.index[0].get(text.partition(":")[0], -1)
            if exists(source) and graph.op_types[graph.op[source]] == PARAMETER_OP:
                found.setdefault(_module_of_parameter(graph, source), node)
    return found


def _argument(
    graph: Graph, node: int, slot: int, source: int, first_users: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of an argument that is not a tensor; for a parameter, its name and its owner."""
    label = graph.labels.get(source, "")
    if graph.op_types[graph.op[source]] == PARAMETER_OP:
        owner, user = _module_of_parameter(graph, source), posixpath.dirname(graph.name[node])
        # Owner and user may have different containers in their names: the last segment identifies the module.
        is_own = last_segment(owner) == last_segment(user) or not is_module(last_segment(owner))
        is_repeated = is_own and is_module(last_segment(owner)) and first_users[owner] != node
        lender = "its first call" if is_repeated else owner
        yield label, OWN_PARAMETER if is_own and not is_repeated else f"{SHARED_PARAMETER}{lender}"
    elif label != NO_ARGUMENT:
        key = setting_input_name(graph.op_types[graph.op[node]], slot) or f"argument {slot}"
        value = _implied_value(graph, node, key, label)
        if value:
            yield key, value


def _implied_value(graph: Graph, node: int, key: str, label: str) -> str:
    """Return the value of an argument, independent of the size of the first input: "" for a normalized shape of all its
    last dimensions, `CHANNELS` for as many groups as channels."""
    if key not in IMPLIED_ARGUMENTS:
        return label
    inputs = graph.graph_def.node[node].input
    source = graph.index[0].get(inputs[0].partition(":")[0], -1) if inputs else -1
    sizes = (_recorded_sizes(graph, source) if exists(source) else None) or []
    if key == "groups":
        return CHANNELS if len(sizes) > 1 and sizes[1] > 1 and label == str(sizes[1]) else label
    norm = [part.strip() for part in label.strip("[]").split(",")]
    return "" if norm == [str(size) for size in sizes[-len(norm) :]] else label


def _op_names(graph: Graph, ops: Sequence[int]) -> dict[int, str]:
    """Return a name for each op: its module's name if the module is one op, else its kind with a number."""
    by_scope: dict[str, list[int]] = defaultdict(list)
    outer_scopes: set[str] = set()
    for node in _sort_by_flow(graph, ops):
        scope = posixpath.dirname(graph.name[node])
        by_scope[scope].append(node)
        while (scope := posixpath.dirname(scope)) and scope not in outer_scopes:
            outer_scopes.add(scope)
    names: dict[int, str] = {}
    for scope, nodes in by_scope.items():
        is_module_op = len(nodes) == 1 and is_module(last_segment(scope)) and scope not in outer_scopes
        counts: dict[str, int] = defaultdict(int)
        for node in nodes:
            definition = graph.graph_def.node[node]
            # Outside of modules, ops keep the name of their value.
            if definition.op == PORT_OP or "::" not in definition.op or not scope:
                names[node] = graph.name[node]
                continue
            kind = pytorch_label(definition, []) or definition.op
            number = counts[kind]
            counts[kind] += 1
            counted = f"{kind}_{number}" if number else kind
            names[node] = scope if is_module_op else f"{scope}/{counted}"
    return names


def _sort_by_flow(graph: Graph, work: Sequence[int]) -> list[int]:
    """Sort ops by data flow, independently of the order of the file."""
    depth = node_depths(graph)
    return sorted(work, key=lambda node: (depth[node], natural_name_key(graph.name[node])))


TORCH_PREFIX = "aten::"  # of op types of PyTorch


def is_traced(graph: Graph) -> bool:
    """Return whether a graph is a trace of PyTorch; shapes of weights are unknown there."""
    weights = {PARAMETER_WEIGHT_OP, BUFFER_OP}.intersection(graph.op_types)
    return not weights and any(op.startswith(TORCH_PREFIX) for op in graph.op_types)


def traced_shape_changes(m: Matching) -> Iterator[Change]:
    """Yield one change for each op whose output shape differs although its settings and inputs are equal: another size
    of a parameter is not visible otherwise."""
    if not (is_traced(m.a.graph) and is_traced(m.b.graph)):
        return
    old, new = m.matched_pairs()
    other_shape = m.a.labels.shapes[old] != m.b.labels.shapes[new]
    reported = np.zeros(len(m.b), bool)
    reported[new[m.a.node_label[old] != m.b.node_label[new]]] = True
    reported[rewired_nodes(m)[1]] = True
    reshaped = np.zeros(len(m.b), bool)
    reshaped[new[other_shape]] = True
    # Nodes without a recorded shape (lists, and ops that unpack them) pass a new shape on.
    graph = m.b.graph
    inner = np.array([not _recorded_shape(graph, node) for node in range(len(graph))], bool)[graph.target]
    reshaped = reachable_mask(reshaped | (m.to_a < 0), graph.source[inner], graph.target[inner])
    for mine, other in zip(old[other_shape].tolist(), new[other_shape].tolist(), strict=True):
        shapes = _recorded_shape(m.a.graph, mine), _recorded_shape(m.b.graph, other)
        if reported[other] or not all(shapes) or reshaped[m.b.graph.source[m.b.in_edges(other)]].any():
            continue
        names = traced_module(m.a.graph, mine), traced_module(m.b.graph, other)
        severity: Severity = "signature" if m.b.op_type(other) == PORT_OP else "attribute"
        edits = NodeEdits(attributes=((mine, other, SHAPE),))
        yield Change("changed", severity, *names, 1, Setting("shape", *shapes), edits=edits)


def _recorded_sizes(graph: Graph, node: int) -> list[int] | None:
    """Return the recorded shape of the first result of an op, -1 for an unknown size; None if it has none."""
    definition = graph.node_def(node)
    shapes = definition.attr[SHAPE].list.shape if definition is not None and SHAPE in definition.attr else ()
    return [dim.size for dim in shapes[0].dim] if shapes and not shapes[0].unknown_rank else None


def _recorded_shape(graph: Graph, node: int) -> str:
    """Return the recorded shape as text; "" if unknown."""
    sizes = _recorded_sizes(graph, node)
    return "" if sizes is None else shape_text(sizes)


def traced_module(graph: Graph, node: int) -> str:
    """Return the module that an op is in; for an op outside of all modules its name."""
    name = graph.name[node]
    around = name.rpartition("/")[0]
    return around if is_module(last_segment(around)) and not is_module(last_segment(name)) else name


# Functions that one graph calls and the other has inline: the same program, traced in two ways.
#
#   x ─▶ PartitionedCall(f) ─▶ y              x ─▶ MatMul ─▶ Relu ─▶ y
#
# The call is replaced by the body of its function, so that ops are compared with ops.


MIN_INLINE_SHARE = 0.5  # of the ops of a body, which the other graph must have more of than this one
IGNORED_BODY_OPS = CONSTANT_OPS | IDENTITY_OPS | GROUP_OPS | VARIABLE_READ_OPS | SIZE_OPS


def inline_called(graph: Graph, other: Graph) -> tuple[Graph, tuple[Notice, ...]]:
    """Return a graph in which calls of functions that the other graph has inline are replaced by their bodies."""
    library = {function.signature.name: function for function in graph.graph_def.library.function}
    if not library or graph.layers:
        return graph, ()
    called_by_other = {base_name(function.signature.name) for function in other.graph_def.library.function}
    calls = {
        node.name: library[name]
        for node in graph.graph_def.node
        if node.op in CALL_OPS and "f" in node.attr and (name := node.attr["f"].func.name) in library
        if base_name(name) not in called_by_other
    }
    if not calls:
        return graph, ()
    names = {node.name: node.op for node in other.graph_def.node}
    missing_ops = Counter(names.values()) - Counter(node.op for node in graph.graph_def.node)
    room = InliningBudget()
    inlined = {
        node.name: calls[node.name]
        for node in graph.graph_def.node
        if node.name in calls and _is_inline(node, calls[node.name], names, missing_ops)
        if room.spend_letters(calls[node.name].ByteSize())
    }
    if not inlined:
        return graph, ()
    made = _inline(graph.graph_def, library, inlined, names.keys())
    functions = sorted({base_name(function.signature.name) for function in inlined.values()})
    text = f"only one graph calls {', '.join(functions)}: the body is compared with the ops of the other one"
    return interpret(flatten(made)), (Notice("inlined-calls", text, strict=False),)


def _is_inline(call: NodeDef, function: FunctionDef, names: Mapping[str, str], spare: Counter[str]) -> bool:
    """Return whether the other graph has the body of a call inline. `names` are the op types of its nodes by name, and
    `spare` counts the ops that only it has."""
    arguments = function.signature.input_arg
    plain = not any(arg.number_attr or arg.type_list_attr for arg in (*arguments, *function.signature.output_arg))
    # A control input of the call would become one of each op in its body.
    if not plain or len(arguments) != len(call.input) or len(arguments) != len(tensor_inputs(call)):
        return False
    wanted = Counter(node.op for node in function.node_def if node.op not in IGNORED_BODY_OPS)
    # TensorFlow wraps a grouped convolution, and its gradients, in a function: such a call stays.
    if all(has_role(op, Role.CONVOLUTION, Role.TRANSPOSED_CONVOLUTION, Role.GRADIENT) for op in wanted):
        return False
    if names.get(call.name, call.op) not in CALL_OPS:
        return True
    return 0 < MIN_INLINE_SHARE * wanted.total() <= (wanted & spare).total()


def _inline(
    graph: GraphSource, library: Mapping[str, FunctionDef], inlined: Mapping[str, FunctionDef], names: Collection[str]
) -> GraphDef:
    made = GraphDef()
    made.versions.CopyFrom(graph.versions)
    used_names = {node.name for node in graph.node} - inlined.keys()
    scopes = {name.rpartition("/")[0] for name in used_names}
    frames: dict[str, InliningFrame] = {}
    for call in graph.node:
        if call.name in inlined:
            frames[call.name] = _frame_of_call(call, inlined[call.name], names, used_names, scopes)
            used_names |= set(frames[call.name].names.values())
    for node in graph.node:
        frame = frames.get(node.name)
        for each in (node,) if frame is None else frame.body.nodes.values():
            copy = made.node.add()
            copy.CopyFrom(each)
            inputs = each.input if frame is None else [_plain_input(frame, text) for text in each.input]
            copy.name = each.name if frame is None else frame.names[each.name]
            tensors = {text for text in inputs if not text.startswith("^")}
            reads = {text: _reads_in_body(frames, text, tensors) for text in inputs if text.startswith("^")}
            copy.input[:] = [made for text in inputs for made in reads.get(text) or [_resolve(text, frames)]]
    reached = reachable_functions(made.node, library)
    made.library.function.extend(function for name, function in library.items() if name in reached)
    return made


def _reads_in_body(frames: Mapping[str, InliningFrame], control: str, tensors: Set[str]) -> list[str]:
    """Return control inputs in place of that on a call with a body that uses some of the op's `tensors`: the nodes of
    the body that use them."""
    frame = frames.get(input_node(control))
    shared = {argument for argument, tensor in frame.given.items() if tensor in tensors} if frame else set()
    inputs = frame.body.inputs.items() if frame and shared else ()
    return [
        f"^{frame.names[name]}" for name, texts in inputs if frame and not shared.isdisjoint(map(input_node, texts))
    ]


def _resolve(text: str, frames: Mapping[str, InliningFrame]) -> str:
    """Return an input of the new graph: the output of an inlined call is a result in its body, which may be the output
    of another call."""
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
    """Return an input of a body in the form of a main graph: `act` for `act:activations:0`."""
    name = input_node(text)
    if text.startswith("^") or name not in frame.names:
        return frame.final_input(text)
    number = output_index(frame.body.nodes[name], text.partition(":")[2] or "0")
    return frame.names[name] + (f":{number}" if number else "")


def _frame_of_call(
    call: NodeDef, function: FunctionDef, names: Collection[str], taken: Set[str], scopes: Set[str]
) -> InliningFrame:
    """Return the body of a call, its nodes renamed as the other graph names them if that name is free and in one of the
    `scopes` of this graph."""
    body = body_of_function(function)
    given = dict(zip(body.arguments, tensor_inputs(call), strict=True))
    results = set(map(input_node, body.results))
    scope = call.name.rpartition("/")[0]
    unused = UnusedNames(taken)
    renamed: dict[str, str] = {}
    for name in body.nodes:
        inside = f"{scope}/{name}" if scope else name
        is_scoped = bool(scope) and name.startswith(f"{scope}/")
        default = name if is_scoped else f"{scope}/{last_segment(name)}" if scope else last_segment(name)
        # A call often has the name of the last op of its body. Names in a scope that this graph lacks are no evidence.
        wanted = [call.name] if name in results else []
        wanted += [name] if is_scoped or name.rpartition("/")[0] in scopes else []
        free = (each for each in (*wanted, inside) if each in names and each not in taken and each not in unused.given)
        renamed[name] = unused.take_name(next(free, default))
    sources = {argument: input_node(tensor) for argument, tensor in given.items()}
    body = _without_last_copies(body, {inside for inside, name in renamed.items() if name not in names})
    return InliningFrame(0, body, renamed, given, [*body.nodes], sources=sources)


def _without_last_copies(body: GraphBody, foreign: Set[str]) -> GraphBody:
    """Return a body without the `Identity` nodes before its results that are `foreign` to the other graph: inlined ops
    have none."""
    used = {input_node(text) for texts in body.inputs.values() for text in texts}
    copied = {name: node.input[0] for name, node in body.nodes.items() if node.op in IDENTITY_OPS and node.input}
    gone = (copied.keys() & set(map(input_node, body.results)) & foreign) - used
    results = tuple(copied[name] if (name := input_node(text)) in gone else text for text in body.results)
    return replace(body, nodes={name: node for name, node in body.nodes.items() if name not in gone}, results=results)
