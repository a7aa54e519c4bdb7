"""Reduce a trace to its subject: the traced function, without the ops that only run it.

small      `tf.summary.trace_on` records every eager op as a separate graph: creating variables, counters, datasets,
           writers; these are tiny compared with the model
steps      for Keras's `fit` with several steps per call, the step: the loop around it fetches data and counts
wrappers   a graph whose whole content is one call, between an iterator and results, becomes the body of that call
barriers   NoOps at the end of functions are removed, as in bodies of signatures
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from graphviz_tb.algorithms.components import strong_components
from graphviz_tb.algorithms.topological import topological
from graphviz_tb.limits import CALLS_IN_CALLS
from graphviz_tb.ops.roles import ARGUMENTS, BRANCHES, CALLS, LOOPS, OPTIONAL_VALUES, TYPES, Role, has_role
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.read.bare_functions import call_of
from graphviz_tb.read.block import Block, OpeningBudget, body_of_function, body_of_nodes, growth, write
from graphviz_tb.read.body import NO_CONTENT, called_functions, functions_of, tidied
from graphviz_tb.read.inline import HANDLES, FreeNames, node_of
from graphviz_tb.read.merge import merge
from graphviz_tb.read.opening import Opening

LEAST = 0.05  # of the largest graph's ops: helper graphs have a few ops, models hundreds
# Ops that forward values, or fetch them from an iterator.
HANDING = NO_CONTENT.union(
    *(TYPES[role] for role in (*(Role.ARGUMENT, Role.RESULT, Role.PASS_EACH, Role.NEXT_ELEMENT, Role.WRAP),))
)
STORING = (Role.ASSIGN, Role.FILL, Role.SAVE, Role.RESTORE, Role.VARIABLE_CHECK)
COUNTING = HANDING | TYPES[Role.LOOP_COUNT] | TYPES[Role.HAS_ELEMENT]
MOST_OPS = 10**9  # cap: functions that each call two more reach 2²⁰⁰
RECORDED = (*HANDLES, "_output_shapes")  # attributes that traces record on arguments

Library = Mapping[str, FunctionDef]


def of_content(graphs: Sequence[GraphDef]) -> tuple[GraphDef, int]:
    """Merge the traced graphs, dropping those with < 5 % of the largest one's ops.

    Returns the graph and the number of dropped ops.
    """
    sizes = [content(graph) for graph in graphs]
    least = LEAST * max(sizes, default=0)
    room = OpeningBudget()
    # Numbering follows the file: "graph_3" is the third graph of the trace.
    kept = {number: without_wrappers(graphs[number - 1], room) for number, size in enumerate(sizes, 1) if size >= least}
    left = sum(len(graph.node) for graph, size in zip(graphs, sizes, strict=True) if size < least)
    return merge(list(kept.values()), list(kept))[0], left


def content(graph: GraphDef) -> int:
    """Count the ops of a graph and its library that do more than forward, set and save values."""
    bodies = (function.node_def for function in graph.library.function)
    return sum(
        node.op not in HANDING and not has_role(node.op, *STORING) for nodes in (graph.node, *bodies) for node in nodes
    )


def without_wrappers(graph: GraphDef, room: OpeningBudget | None = None) -> GraphDef:
    """Return the body of the call that is a graph's whole content, repeatedly.

    Returns the same graph if there is no such call, or no room for its names.
    """
    room = room or OpeningBudget()
    library = {function.signature.name: function for function in graph.library.function}
    if not library:
        return graph
    start = repeated_step(graph.node, library) or graph.node
    if has_several(start):  # a shortcut: no call is the whole content
        return graph
    opening = Opening(body_of_nodes(start), HANDING, pruned=False)
    opened: set[str] = set()
    recursive: set[str] | None = None  # computed only if there is a wrapper
    # Inline as for signatures (body.py), but never a recursive function.
    while len(opened) < CALLS_IN_CALLS and (call := opening.call) is not None:
        function = library.get(call.attr["f"].func.name)
        recursive = in_circles(library) if recursive is None else recursive
        if function is None or not does_something(function) or function.signature.name in recursive:
            break
        if not room.for_waits(opening.waiting * len(function.control_ret)):
            break
        opened.add(function.signature.name)
        tell_arguments(opening, function)
        opening.open(body_of_function(tidied(function)))
    if not opened or not room.for_letters(growth(block := opening.block())):
        return graph
    return with_library(block, graph, library)


def has_several(nodes: Iterable[NodeDef]) -> bool:
    """Return whether several nodes do more than forward values; stops at the second."""
    names: set[str] = set()
    for node in nodes:
        if node.op not in HANDING:
            names.add(node.name)
            if len(names) > 1:
                return True
    return False


def does_something(function: FunctionDef) -> bool:
    """Return whether a body has an op that does more than forward values."""
    return any(node.op not in HANDING for node in function.node_def)


def in_circles(library: Library) -> set[str]:
    """Return the functions that call themselves, directly or not."""
    after = callees(library)
    component = strong_components(after)
    size = Counter(component)
    return {name for place, name in enumerate(library) if size[component[place]] > 1 or place in after[place]}


def callees(library: Library) -> list[list[int]]:
    """Return the functions that each function calls, as positions in the library, without duplicates."""
    number = {name: place for place, name in enumerate(library)}
    return [
        list(dict.fromkeys(number[callee] for node in function.node_def for callee in functions_of(node, library)))
        for function in library.values()
    ]


def repeated_step(nodes: Iterable[NodeDef], library: Library) -> list[NodeDef] | None:
    """Return the nodes that call the body of a data loop; None if the graph is no such loop.

    Descends into loops and branches, the largest first, as long as only counters and iterator ops are next to them.
    """
    seen: set[str] = set()
    ops: dict[str, int] = {}
    # Only counters and branches so far: the data is used further inside.
    gets = False
    while len(seen) < CALLS_IN_CALLS and all(node.op in COUNTING | CALLS | LOOPS | BRANCHES for node in nodes):
        gets |= any(node.op in OPTIONAL_VALUES for node in nodes)
        inside = {name: library[name] for node in nodes for name in functions_of(node, library)}
        if not inside or not seen.isdisjoint(inside):
            return None
        function, *others = inside.values()
        # Sizes only matter with alternatives: a chain of calls is simply followed.
        if others:
            ops = ops or ops_through_calls(library)
            function = library[max(inside, key=ops.__getitem__)]
        seen |= set(inside)
        nodes = function.node_def
    return list(call_of(function, (), {}, FreeNames(()))) if gets else None


def ops_through_calls(library: Library) -> dict[str, int]:
    """Count the ops of each function with all it calls; only its own if the calls lead into a cycle."""
    inside = callees(library)
    callers: list[list[int]] = [[] for _ in inside]
    for place, called in enumerate(inside):
        for callee in called:
            callers[callee].append(place)
    ops = [len(function.node_def) for function in library.values()]
    # Callees first, so that one pass sums everything.
    for place in topological(callers):
        ops[place] = min(ops[place] + sum(ops[callee] for callee in inside[place]), MOST_OPS)
    return dict(zip(library, ops, strict=True))


def tell_arguments(opening: Opening, function: FunctionDef) -> None:
    """Copy attributes of a function's arguments to the nodes passed to the call, where missing."""
    for position, tensor in enumerate(opening.given()):
        node = opening.node(name := node_of(tensor))
        attrs = function.arg_attr[position].attr if position in function.arg_attr else {}
        for key in RECORDED if node is not None and node.op in ARGUMENTS else ():
            if key in attrs and not opening.says(name, key):
                opening.tell(name, key, attrs[key])


def with_library(block: Block, graph: GraphDef, library: Library) -> GraphDef:
    """Return a block as a graph, without the functions that only the original nodes needed."""
    made = GraphDef(versions=graph.versions)
    write(block, made.node)
    made.library.gradient.extend(graph.library.gradient)
    gone = called_functions(graph.node, library) - called_functions(made.node, library)
    made.library.function.extend(function for name, function in library.items() if name not in gone)
    return made


def without_barriers(graph: GraphDef) -> GraphDef:
    """Remove the barriers of all functions. Returns the same graph if there are none."""
    bodies = [tidied(function) for function in graph.library.function]
    if all(body is function for body, function in zip(bodies, graph.library.function, strict=True)):
        return graph
    made = GraphDef(versions=graph.versions, node=graph.node)
    made.library.gradient.extend(graph.library.gradient)
    made.library.function.extend(bodies)
    return made
