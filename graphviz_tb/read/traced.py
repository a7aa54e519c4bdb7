"""The subject of a trace: the function that was traced, without the ops that only run it.

small      `tf.summary.trace_on` records every op that runs eagerly as a separate graph: variables that are made,
           counters, datasets, writers; they are tiny compared with the model
steps      of Keras's `fit` with several steps in one call, the step: the loop around it gets data and counts
wrappers   a graph whose whole content is one call, between an iterator and results, is the body of that call
barriers   NoOps at the end of functions go, as in bodies of signatures
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

LEAST = 0.05  # of the content of the largest graph: what runs beside a model has a few ops, a model hundreds
# What only hands values on, or gets them from an iterator.
HANDING = NO_CONTENT.union(
    *(TYPES[role] for role in (*(Role.ARGUMENT, Role.RESULT, Role.PASS_EACH, Role.NEXT_ELEMENT, Role.WRAP),))
)
STORING = (Role.ASSIGN, Role.FILL, Role.SAVE, Role.RESTORE, Role.VARIABLE_CHECK)
COUNTING = HANDING | TYPES[Role.LOOP_COUNT] | TYPES[Role.HAS_ELEMENT]
MOST_OPS = 10**9  # that are counted: functions that call two others make 2²⁰⁰
RECORDED = (*HANDLES, "_output_shapes")  # attributes of arguments

Library = Mapping[str, FunctionDef]


def of_content(graphs: Sequence[GraphDef]) -> tuple[GraphDef, int]:
    """The graphs of a trace as one, without those that hold next to nothing, and how many ops those have; where one is
    left, that one."""
    sizes = [content(graph) for graph in graphs]
    least = LEAST * max(sizes, default=0)
    room = OpeningBudget()
    # Numbers stay those of the file: "graph_3" is the third graph of the trace, whatever was left out.
    kept = {number: without_wrappers(graphs[number - 1], room) for number, size in enumerate(sizes, 1) if size >= least}
    left = sum(len(graph.node) for graph, size in zip(graphs, sizes, strict=True) if size < least)
    return merge(list(kept.values()), list(kept))[0], left


def content(graph: GraphDef) -> int:
    """How many ops a graph and its library have that do more than to hand on, set and save values."""
    bodies = (function.node_def for function in graph.library.function)
    return sum(
        node.op not in HANDING and not has_role(node.op, *STORING) for nodes in (graph.node, *bodies) for node in nodes
    )


def without_wrappers(graph: GraphDef, room: OpeningBudget | None = None) -> GraphDef:
    """The body of the call that is all of a graph, through further ones; the same graph where there is none, or where
    there is no room for its names."""
    room = room or OpeningBudget()
    library = {function.signature.name: function for function in graph.library.function}
    if not library:
        return graph
    start = repeated_step(graph.node, library) or graph.node
    if has_several(start):  # only saves time: there is no call that is all of it
        return graph
    opening = Opening(body_of_nodes(start), HANDING, pruned=False)
    opened: set[str] = set()
    recursive: set[str] | None = None  # asked for where there is a wrapper: most traces have none
    # As bodies of signatures are opened (body.py), but never into a function that calls itself.
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
    """Whether several nodes do more than hand values on; the first two are enough to tell."""
    names: set[str] = set()
    for node in nodes:
        if node.op not in HANDING:
            names.add(node.name)
            if len(names) > 1:
                return True
    return False


def does_something(function: FunctionDef) -> bool:
    """Whether a body has more than what hands values on."""
    return any(node.op not in HANDING for node in function.node_def)


def in_circles(library: Library) -> set[str]:
    """The functions that call themselves, directly or not."""
    after = callees(library)
    component = strong_components(after)
    size = Counter(component)
    return {name for place, name in enumerate(library) if size[component[place]] > 1 or place in after[place]}


def callees(library: Library) -> list[list[int]]:
    """The functions that each function calls, each once, by their places in the library."""
    number = {name: place for place, name in enumerate(library)}
    return [
        list(dict.fromkeys(number[callee] for node in function.node_def for callee in functions_of(node, library)))
        for function in library.values()
    ]


def repeated_step(nodes: Iterable[NodeDef], library: Library) -> list[NodeDef] | None:
    """A call, with its arguments, of what a loop over data does with each of them; None where there is no such loop.

    Before: the nodes of a graph. Loops and branches are gone into, the largest first, as long as there is nothing
    beside them but counters and what comes from the iterator.
    """
    seen: set[str] = set()
    ops: dict[str, int] = {}
    # Only counters and branches so far: what is done with the data lies further inside.
    gets = False
    while len(seen) < CALLS_IN_CALLS and all(node.op in COUNTING | CALLS | LOOPS | BRANCHES for node in nodes):
        gets |= any(node.op in OPTIONAL_VALUES for node in nodes)
        inside = {name: library[name] for node in nodes for name in functions_of(node, library)}
        if not inside or not seen.isdisjoint(inside):
            return None
        function, *others = inside.values()
        # Weighed only against others: of a chain of calls each would be followed to its end.
        if others:
            ops = ops or ops_through_calls(library)
            function = library[max(inside, key=ops.__getitem__)]
        seen |= set(inside)
        nodes = function.node_def
    return list(call_of(function, (), {}, FreeNames(()))) if gets else None


def ops_through_calls(library: Library) -> dict[str, int]:
    """Count the ops of each function and of the functions that it calls; only its own where its calls lead into a
    cycle."""
    inside = callees(library)
    callers: list[list[int]] = [[] for _ in inside]
    for place, called in enumerate(inside):
        for callee in called:
            callers[callee].append(place)
    ops = [len(function.node_def) for function in library.values()]
    # Callees first: all are summed up in one pass.
    for place in topological(callers):
        ops[place] = min(ops[place] + sum(ops[callee] for callee in inside[place]), MOST_OPS)
    return dict(zip(library, ops, strict=True))


def tell_arguments(opening: Opening, function: FunctionDef) -> None:
    """Copy the attributes of a function's arguments to the nodes that the call is given, where these have none."""
    for position, tensor in enumerate(opening.given()):
        node = opening.node(name := node_of(tensor))
        attrs = function.arg_attr[position].attr if position in function.arg_attr else {}
        for key in RECORDED if node is not None and node.op in ARGUMENTS else ():
            if key in attrs and not opening.says(name, key):
                opening.tell(name, key, attrs[key])


def with_library(block: Block, graph: GraphDef, library: Library) -> GraphDef:
    """The nodes of a block as a graph, without the functions that only the graph's own nodes led to."""
    made = GraphDef(versions=graph.versions)
    write(block, made.node)
    made.library.gradient.extend(graph.library.gradient)
    gone = called_functions(graph.node, library) - called_functions(made.node, library)
    made.library.function.extend(function for name, function in library.items() if name not in gone)
    return made


def without_barriers(graph: GraphDef) -> GraphDef:
    """The graph with functions that have no NoOps at their ends; the same one where none has."""
    bodies = [tidied(function) for function in graph.library.function]
    if all(body is function for body, function in zip(bodies, graph.library.function, strict=True)):
        return graph
    made = GraphDef(versions=graph.versions, node=graph.node)
    made.library.gradient.extend(graph.library.gradient)
    made.library.function.extend(bodies)
    return made
