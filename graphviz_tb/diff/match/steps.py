"""Match two graphs, step by step. Every match keeps its reason; a limit that was reached is reported.

functions          by body, whatever number comes after the name
layers             of Keras models in the order of the file
names              numbered series by structure, then same name and op, from the root down
wrapped            content that went into a scope as a whole, or out of one
places             same name and another op type, between the same nodes
anchors            neighbourhoods like no other, largest radius first; what has the same name where its siblings
                   went; what lies beside them
what is left       same name and another op type
containers         scopes by the share of matched descendants, from the bottom up
wires              equal members of a series distinguished by what they are wired to
variables          updates, savers and initialisers by the variable that they are of
alike              of several ops that are alike, that which is wired as it was
constants          with the op that uses them
"""

from __future__ import annotations

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.anchors import anchors
from graphviz_tb.diff.match.by_name import descend, same_names, same_places
from graphviz_tb.diff.match.by_variable import by_variable
from graphviz_tb.diff.match.containers import containers
from graphviz_tb.diff.match.doubt import doubt
from graphviz_tb.diff.match.follow import wrapped
from graphviz_tb.diff.match.found import Findings, Reason, nodes, scopes
from graphviz_tb.diff.match.functions import pair_functions, share_classes
from graphviz_tb.diff.match.listed import listed
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.of_alike import of_alike
from graphviz_tb.diff.match.spread import constants
from graphviz_tb.diff.match.wired import by_wires
from graphviz_tb.limits import MAX_CALL_ROUNDS


def match(a: GraphColumns, b: GraphColumns) -> Matching:
    """Match two graphs. Before: both sides were made with the same options."""
    m = Matching(a, b)
    pair_functions(m)
    for result in steps(m):
        m.take(result)
    return m


def steps(m: Matching) -> Findings:
    """Yield the findings of all steps, in order; each step sees the recorded matches of those before it."""
    # Blocks of the old graph that were matched.
    done: set[int] = set()
    for _ in range(MAX_CALL_ROUNDS):
        starts = [(0, 0)] + [(mine + 1, other + 1) for mine, other in sorted(m.functions.items())]
        fresh = [pair for pair in starts if pair[0] not in done]
        done.update(mine for mine, _ in fresh)
        yield from match_blocks(m, fresh)
        # Matched calls pair functions that neither body nor name has paired; the next round matches these bodies.
        if not pair_called(m):
            break
    yield from by_wires(m)
    yield from by_variable(m)
    yield from of_alike(m)
    yield from constants(m)
    yield from doubt(m)


def match_blocks(m: Matching, blocks: list[tuple[int, int]]) -> Findings:
    """Match the main graphs, or two functions, or several pairs at once."""
    roots = [(m.a.scopes.roots[mine], m.b.scopes.roots[other]) for mine, other in blocks]
    yield scopes(roots, Reason.NAME)
    yield from listed(m)
    yield from wrapped(m)
    yield from descend(m, roots)
    yield from arguments(m, blocks)
    yield from same_places(m)
    yield from anchors(m)
    yield from same_names(m)
    yield from containers(m)
    yield from same_names(m)  # in scopes that only their contents matched


def arguments(m: Matching, blocks: list[tuple[int, int]]) -> Findings:
    """Match the arguments of functions that found no partner by name, by their place; their names are made up."""
    for mine, other in blocks:
        if not mine:  # the main graphs have none
            continue
        old = [node for node in m.a.graph.functions[mine - 1].args if not exists(m.to_b[node])]
        new = [node for node in m.b.graph.functions[other - 1].args if not exists(m.to_a[node])]
        if len(old) == len(new):
            yield nodes(list(zip(old, new, strict=True)), Reason.SERIES)


def pair_called(m: Matching) -> bool:
    """Pair free functions that matched calls name by the same attribute; say whether there were any."""
    taken = set(m.functions.values())
    # Node and attribute (`body`, `cond`, `then_branch`) say which call it is.
    there = {(call.node, call.attr): call.function for call in m.b.graph.calls}
    paired = False
    for call in m.a.graph.calls:
        new = int(m.to_b[call.node])
        other = there.get((new, call.attr), -1)
        if exists(new) and exists(other) and call.function not in m.functions and other not in taken:
            m.functions[call.function] = other
            taken.add(other)
            paired = True
    if paired:
        share_classes(m)
    return paired
