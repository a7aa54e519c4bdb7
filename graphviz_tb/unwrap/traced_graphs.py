"""Reduce a trace to the traced function, without the ops that only run it.

small      graphs that are tiny compared with the model: `tf.summary.trace_on` records every eager op as a separate
           graph, such as the creation of variables, counters, datasets and writers
steps      loops around a step, which only fetch data and count: Keras's `fit` may run several steps per call
wrappers   a graph whose whole content is one call becomes the body of that call
barriers   NoOps at the end of functions are removed, as in bodies of signatures
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from graphviz_tb.graphs.calls import MAX_COUNTED_OPS, functions_named_by
from graphviz_tb.graphs.traversal import strong_components, topological_order
from graphviz_tb.limits import MAX_NESTED_CALLS
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.notice import Notice
from graphviz_tb.ops.roles import (
    BRANCH_OPS,
    CALL_OPS,
    FUNCTION_ARGUMENT_OPS,
    LOOP_OPS,
    OPS_BY_ROLE,
    OPTIONAL_VALUE_OPS,
    Role,
    has_role,
)
from graphviz_tb.proto import AttrValue, FunctionDef, GraphDef, NodeDef
from graphviz_tb.unwrap.calls import (
    HANDLE_ATTRS,
    CallInliner,
    InlinedBlock,
    InliningBudget,
    UnusedNames,
    added_letters,
    append_block_nodes,
    body_of_function,
    body_of_nodes,
    input_node,
    reachable_functions,
)
from graphviz_tb.unwrap.signatures import (
    CONTENTLESS_OPS,
    call_nodes,
    without_function_barriers,
)

# Merge several GraphDefs, each under a prefix, like TensorBoard's server, but rename every reference with its target.
#
# TensorBoard turns `^x` into `graph_1/^x`, which is no control input any more, and renames functions only in a
# PartitionedCall.


def merge_graph_defs(graphs: Sequence[GraphDef], numbers: Sequence[int] = ()) -> tuple[GraphDef, tuple[Notice, ...]]:
    """Merge graphs: nodes go under `graph_1/`, functions get the prefix `graph_1_`. A single graph stays as it is.

    `numbers` replace the counting from 1. Returns the graph and notices.

    >>> one, two = (GraphDef(node=[NodeDef(name="x"), NodeDef(name="y", input=["^x"])]) for _ in range(2))
    >>> [(node.name, *node.input) for node in merge_graph_defs([one, two])[0].node][2:]
    [('graph_2/x',), ('graph_2/y', '^graph_2/x')]
    """
    if len(graphs) == 1:
        return graphs[0], ()
    merged = GraphDef()
    if graphs and graphs[0].HasField("versions"):
        merged.versions.CopyFrom(graphs[0].versions)
    for number, graph in zip(numbers or range(1, len(graphs) + 1), graphs, strict=True):
        _add_prefixed_graph(merged, graph, f"graph_{number}")
    return merged, _mixed_versions_notice(graphs)


def _mixed_versions_notice(graphs: Sequence[GraphDef]) -> tuple[Notice, ...]:
    producers = {graph.versions.producer for graph in graphs}
    if len(producers) < 2:
        return ()
    versions = ", ".join(map(str, sorted(producers)))
    return (Notice("mixed-versions", f"the merged graphs are of different versions: {versions}"),)


def _add_prefixed_graph(merged: GraphDef, graph: GraphDef, prefix: str) -> None:
    # Functions have no scopes: the prefix becomes part of the name.
    names = {function.signature.name: f"{prefix}_{function.signature.name}" for function in graph.library.function}
    for node in graph.node:
        node_copy = merged.node.add()
        node_copy.CopyFrom(node)
        node_copy.name = f"{prefix}/{node.name}"
        node_copy.input[:] = [_prefix_input(text, prefix) for text in node.input]
        _rename_function_references(node_copy, names)
        _prefix_colocation(node_copy, prefix)
    for function in graph.library.function:
        function_copy = merged.library.function.add()
        function_copy.CopyFrom(function)
        _rename_merged_function(function_copy, names)
    for gradient in graph.library.gradient:
        merged.library.gradient.add(
            function_name=names.get(gradient.function_name, f"{prefix}_{gradient.function_name}"),
            gradient_func=names.get(gradient.gradient_func, f"{prefix}_{gradient.gradient_func}"),
        )
    for registered in graph.library.registered_gradients:
        merged.library.registered_gradients.add(
            gradient_func=names.get(registered.gradient_func, registered.gradient_func),
            registered_op_type=registered.registered_op_type,
        )


def _prefix_input(name: str, prefix: str) -> str:
    return f"^{prefix}/{name[1:]}" if name.startswith("^") else f"{prefix}/{name}"


def _rename_merged_function(function: FunctionDef, names: Mapping[str, str]) -> None:
    function.signature.name = names[function.signature.name]
    for node in function.node_def:
        _rename_function_references(node, names)
    # "forward_function_name", "backward_function_name": references between the halves of a gradient.
    for key, value in function.attr.items():
        if key.endswith("_function_name") and value.s.decode("utf-8", "replace") in names:
            value.s = names[value.s.decode()].encode()


def _rename_function_references(node: NodeDef, names: Mapping[str, str]) -> None:
    if not names:
        return
    if node.op in names:
        node.op = names[node.op]
    waiting: list[AttrValue] = list(node.attr.values())
    while waiting:
        value = waiting.pop()
        which = value.WhichOneof("value")
        functions = [value.func] if which == "func" else list(value.list.func) if which == "list" else []
        for function in functions:
            function.name = names.get(function.name, function.name)
            waiting += function.attr.values()


def _prefix_colocation(node: NodeDef, prefix: str) -> None:
    """Rename nodes in `_class: "loc:@x"`."""
    if COLOCATION_ATTR in node.attr:
        places = node.attr[COLOCATION_ATTR].list.s
        # each[5:] follows "loc:@".
        places[:] = [
            b"loc:@" + prefix.encode() + b"/" + place[5:] if place.startswith(b"loc:@") else place for place in places
        ]


MIN_CONTENT_SHARE = 0.05  # of the largest graph's ops: helper graphs have a few ops, models hundreds
# Ops that forward values, or fetch them from an iterator.
FORWARDING_OPS = CONTENTLESS_OPS.union(
    *(OPS_BY_ROLE[role] for role in (Role.ARGUMENT, Role.RESULT, Role.PASS_EACH, Role.NEXT_ELEMENT, Role.WRAP))
)
STORING_ROLES = (Role.ASSIGN, Role.FILL, Role.SAVE, Role.RESTORE, Role.VARIABLE_CHECK)
LOOP_CONTROL_OPS = FORWARDING_OPS | OPS_BY_ROLE[Role.LOOP_COUNT] | OPS_BY_ROLE[Role.HAS_ELEMENT]
RECORDED_ATTRS = (*HANDLE_ATTRS, "_output_shapes")  # attributes that traces record on arguments

FunctionLibrary = Mapping[str, FunctionDef]


def merge_traced_graphs(graphs: Sequence[GraphDef]) -> tuple[GraphDef, int]:
    """Merge the traced graphs, dropping those with < 5 % of the largest one's ops.

    Returns the graph and the number of dropped ops.
    """
    sizes = [_content_size(graph) for graph in graphs]
    least = MIN_CONTENT_SHARE * max(sizes, default=0)
    budget = InliningBudget()
    # Numbering follows the file: "graph_3" is the third graph of the trace.
    kept = {number: unwrap_calls(graphs[number - 1], budget) for number, size in enumerate(sizes, 1) if size >= least}
    left = sum(len(graph.node) for graph, size in zip(graphs, sizes, strict=True) if size < least)
    return merge_graph_defs(list(kept.values()), list(kept))[0], left


def _content_size(graph: GraphDef) -> int:
    """Count the ops of a graph and its library, except those that forward, set and save values."""
    bodies = (function.node_def for function in graph.library.function)
    return sum(
        node.op not in FORWARDING_OPS and not has_role(node.op, *STORING_ROLES)
        for nodes in (graph.node, *bodies)
        for node in nodes
    )


def unwrap_calls(graph: GraphDef, budget: InliningBudget | None = None) -> GraphDef:
    """Replace a graph whose whole content is one call by the body of that call, repeatedly.

    Returns the same graph if there is no such call, or if the budget is too small for its names.
    """
    budget = budget or InliningBudget()
    library = {function.signature.name: function for function in graph.library.function}
    if not library:
        return graph
    start = _data_loop_step(graph.node, library) or graph.node
    if _has_several_content_ops(start):  # only saves time: no call is the whole content
        return graph
    inliner = CallInliner(body_of_nodes(start), FORWARDING_OPS, pruned=False)
    inlined: set[str] = set()
    recursive: set[str] | None = None  # computed only if there is a wrapper
    # As for signatures, but recursive functions are not inlined.
    while len(inlined) < MAX_NESTED_CALLS and (call := inliner.next_call) is not None:
        function = library.get(call.attr["f"].func.name)
        recursive = _recursive_functions(library) if recursive is None else recursive
        if function is None or not _has_content(function) or function.signature.name in recursive:
            break
        if not budget.spend_waits(inliner.waiting_count * len(function.control_ret)):
            break
        inlined.add(function.signature.name)
        _copy_argument_attributes(inliner, function)
        inliner.inline_call(body_of_function(without_function_barriers(function)))
    if not inlined or not budget.spend_letters(added_letters(block := inliner.inlined_block())):
        return graph
    return _graph_of_block(block, graph, library)


def _has_several_content_ops(nodes: Iterable[NodeDef]) -> bool:
    """Return whether several nodes do more than forward values; stops at the second."""
    names: set[str] = set()
    for node in nodes:
        if node.op not in FORWARDING_OPS:
            names.add(node.name)
            if len(names) > 1:
                return True
    return False


def _has_content(function: FunctionDef) -> bool:
    """Return whether a body has an op that does more than forward values."""
    return any(node.op not in FORWARDING_OPS for node in function.node_def)


def _recursive_functions(library: FunctionLibrary) -> set[str]:
    """Return the functions that call themselves, directly or not."""
    after = _callees_by_position(library)
    component = strong_components(after)
    size = Counter(component)
    return {name for place, name in enumerate(library) if size[component[place]] > 1 or place in after[place]}


def _callees_by_position(library: FunctionLibrary) -> list[list[int]]:
    """Return the functions that each function calls, as positions in the library, without duplicates."""
    number = {name: place for place, name in enumerate(library)}
    return [
        list(
            dict.fromkeys(number[callee] for node in function.node_def for callee in functions_named_by(node, library))
        )
        for function in library.values()
    ]


def _data_loop_step(nodes: Iterable[NodeDef], library: FunctionLibrary) -> list[NodeDef] | None:
    """Return the nodes that call the body of a data loop; None if the graph is not such a loop.

    Descends into loops and branches, the largest first, as long as only counters and iterator ops are next to them.
    """
    visited: set[str] = set()
    ops: dict[str, int] = {}
    takes_values = False
    while len(visited) < MAX_NESTED_CALLS and all(
        node.op in LOOP_CONTROL_OPS | CALL_OPS | LOOP_OPS | BRANCH_OPS for node in nodes
    ):
        takes_values |= any(node.op in OPTIONAL_VALUE_OPS for node in nodes)
        functions = {name: library[name] for node in nodes for name in functions_named_by(node, library)}
        if not functions or not visited.isdisjoint(functions):
            return None
        function, *others = functions.values()
        # Sizes matter only if there are several functions.
        if others:
            ops = ops or _count_ops_through_calls(library)
            function = library[max(functions, key=ops.__getitem__)]
        visited |= set(functions)
        nodes = function.node_def
    return list(call_nodes(function, (), {}, UnusedNames(()))) if takes_values else None


def _count_ops_through_calls(library: FunctionLibrary) -> dict[str, int]:
    """Count the ops of each function through calls; without calls if these lead into a cycle."""
    inside = _callees_by_position(library)
    callers: list[list[int]] = [[] for _ in inside]
    for place, called in enumerate(inside):
        for callee in called:
            callers[callee].append(place)
    ops = [len(function.node_def) for function in library.values()]
    # Callees first, so that one pass sums everything.
    for place in topological_order(callers):
        ops[place] = min(ops[place] + sum(ops[callee] for callee in inside[place]), MAX_COUNTED_OPS)
    return dict(zip(library, ops, strict=True))


def _copy_argument_attributes(opening: CallInliner, function: FunctionDef) -> None:
    """Copy missing attributes from the arguments of a function to the nodes passed to the call."""
    for position, tensor in enumerate(opening.call_arguments()):
        node = opening.node_named(name := input_node(tensor))
        attrs = function.arg_attr[position].attr if position in function.arg_attr else {}
        for key in RECORDED_ATTRS if node is not None and node.op in FUNCTION_ARGUMENT_OPS else ():
            if key in attrs and not opening.has_attribute(name, key):
                opening.set_attribute(name, key, attrs[key])


def _graph_of_block(block: InlinedBlock, graph: GraphDef, library: FunctionLibrary) -> GraphDef:
    """Return a block as a graph, without the functions that only the original nodes needed."""
    made = GraphDef(versions=graph.versions)
    append_block_nodes(block, made.node)
    made.library.gradient.extend(graph.library.gradient)
    gone = reachable_functions(graph.node, library) - reachable_functions(made.node, library)
    made.library.function.extend(function for name, function in library.items() if name not in gone)
    return made


def drop_function_barriers(graph: GraphDef) -> GraphDef:
    """Remove the barriers of all functions. Returns the same graph if there are none."""
    bodies = [without_function_barriers(function) for function in graph.library.function]
    if all(body is function for body, function in zip(bodies, graph.library.function, strict=True)):
        return graph
    made = GraphDef(versions=graph.versions, node=graph.node)
    made.library.gradient.extend(graph.library.gradient)
    made.library.function.extend(bodies)
    return made
