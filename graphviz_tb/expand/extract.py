"""The auxiliary area: take sinks, hubs and isolated children out of the main drawing; stubs represent their edges.

Rules and constants are TensorBoard's (`render.ts`: extraction of predefined types, of high degrees by quartiles, of
control edges past `maxControlDegree`, of isolated nodes). Without its preset they are corrected: a level is never
emptied, a level of a few boxes keeps its control edges, a sink that feeds data stays, constants do not count as
neighbours, and moving a node by hand moves no other node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import field, replace

from graphviz_tb.graphs.traversal import reachable_from, strong_components, union_root, unite_sets
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import IMPLIED_LINE, DrawingMask, Metaedge, Metagraph
from graphviz_tb.model.skeleton import BOTH_ENDS_TRAIN
from graphviz_tb.options import ExpandOptions

# Drop children that the reader hid, and children that a figure for print leaves out.


def drop_hidden_children(level: Metagraph, is_hidden: Callable[[int], bool]) -> Metagraph:
    """Return the level without hidden children, and without lines, stubs and marks that lead to a hidden row.

    `is_hidden` takes a row. The order is kept.
    """
    kept = [index for index, row in enumerate(level.children) if not is_hidden(row)]
    place = {old: new for new, old in enumerate(kept)}
    edges = [index for index, edge in enumerate(level.edges) if edge.source in place and edge.target in place]
    number = {old: new for new, old in enumerate(edges)}

    def renumber_mask(mask: DrawingMask) -> DrawingMask:
        return DrawingMask(
            tuple(place[index] for index in mask.in_extract if index in place),
            tuple(place[index] for index in mask.out_extract if index in place),
            frozenset(number[index] for index in mask.stubbed if index in number),
        )

    return replace(
        level,
        children=tuple(level.children[index] for index in kept),
        units=tuple(level.units[index] for index in kept),
        edges=tuple(
            replace(edge, source=place[edge.source], target=place[edge.target])
            for edge in (level.edges[index] for index in edges)
        ),
        bridges=tuple(
            replace(bridge, child=place[bridge.child])
            for bridge in level.bridges
            if bridge.child in place and not is_hidden(bridge.other)
        ),
        mask=renumber_mask(level.mask),
        automatic=renumber_mask(level.automatic),
        annotations=tuple(
            replace(stub, child=place[stub.child])
            for stub in level.annotations
            if stub.child in place and not is_hidden(stub.other)
        ),
        functions=tuple(row for row in level.functions if not is_hidden(row)),
        loops=tuple((place[index], count) for index, count in level.loops if index in place),
        training=tuple(place[index] for index in level.training if index in place),
    )


def loose_rows(level: Metagraph, holds_weights: Callable[[int], bool]) -> set[int]:
    """Return the children (as rows) in connected components of a level that have neither weights nor lines out of the
    level, if another component has weights: unused inputs, bookkeeping.

    A child in the auxiliary area is a separate component.
    """
    head = {at: at for at in range(len(level.children))}
    outside = [level.bridges[index].child for index in level.core_bridges()]
    away = level.mask.extracted_children
    for edge in (level.edges[index] for index in level.core_edges()):
        if not away.intersection((edge.source, edge.target)):
            unite_sets(head, edge.source, edge.target)
    weighing = {union_root(head, at) for at, row in enumerate(level.children) if holds_weights(row)}
    kept = weighing.union(union_root(head, at) for at in outside)
    return {row for at, row in enumerate(level.children) if weighing and union_root(head, at) not in kept}


MAX_READABLE_CHILDREN = 40  # hubs stay in levels of up to so many children, where they are part of the flow
MIN_QUARTILE_VALUES = 3  # fewer numbers have no outliers
MAX_CHILDREN_KEEPING_CONTROL = 8  # a level of up to so many children keeps all its control edges


@dataclass(frozen=True, slots=True)
class ExtractInput:
    """One group's children and metaedges: the input of the rules.

    - `sink`: by child, whether it is of a sink type, or a scope whose root op is.
    - `marked`: by child, the sides ("in", "out") where marks are drawn.
    - `unseen`: the number of nodes without edges that TensorBoard counts in addition to the children.
    - `circling`: the children to extract because they close a cycle.
    - `included`: the children that the user wants in the main area.
    - `computing`: layers of the model, which stay in the main area.
    """

    count: int
    edges: Sequence[Metaedge]
    sink: Sequence[bool]
    marked: Sequence[frozenset[str]]
    unseen: int
    circling: frozenset[int]
    included: frozenset[int] = frozenset()
    computing: frozenset[int] = frozenset()


@dataclass(slots=True)
class ExtractState:
    """The core while it shrinks. `links_out[v][w]` and `links_in[w][v]` are indices of metaedges."""

    level: ExtractInput
    links_out: list[dict[int, int]]
    links_in: list[dict[int, int]]
    core: dict[int, None]
    stubbed: set[int] = field(default_factory=set)
    flag: dict[int, str] = field(default_factory=dict)
    in_extract: list[int] = field(default_factory=list)
    out_extract: list[int] = field(default_factory=list)
    stub_in: set[int] = field(default_factory=set)
    stub_out: set[int] = field(default_factory=set)


def choose_extracted(level: ExtractInput, options: ExpandOptions) -> DrawingMask:
    """Choose the children and metaedges that leave the main drawing, by TensorBoard's rules in their order.

    If nothing would be left in the core, return an empty mask (except for TensorBoard's preset).
    """
    if not options.extract or not level.count:
        return DrawingMask()
    extracts_hubs = options.auto_extract and (options.tensorboard or level.count > MAX_READABLE_CHILDREN)
    most_control = (
        len(level.edges)
        if level.count <= MAX_CHILDREN_KEEPING_CONTROL and not options.tensorboard
        else options.max_control_degree
    )
    if not extracts_hubs and _keeps_all_children(level):
        return DrawingMask()
    state = _start_extraction(level)
    _extract_sinks(state, options)
    _extract_cycles(state)
    if extracts_hubs:
        _extract_hubs(state, options)
    _cut_excess_control(state, most_control)
    _extract_isolated(state)
    # TensorBoard leaves the main drawing empty, e.g. for a hub with only its inputs.
    if not state.core and not options.tensorboard:
        return DrawingMask()
    return _extraction_mask(state)


def choose_extracted_cycles(level: ExtractInput) -> DrawingMask:
    """Return the mask of a stack or fold, where only `circling` children leave the drawing."""
    if not level.circling:
        return DrawingMask()
    work = _start_extraction(level)
    _extract_cycles(work)
    return _extraction_mask(work)


def _extraction_mask(work: ExtractState) -> DrawingMask:
    return DrawingMask(tuple(work.in_extract), tuple(work.out_extract), frozenset(work.stubbed))


def _keeps_all_children(level: ExtractInput) -> bool:
    """Return whether no child can move: no sinks, cycles or control edges, and no marks next to isolated children."""
    if level.circling or any(level.sink) or not all(edge.tensors for edge in level.edges):
        return False
    if not any(level.marked):
        return True
    joined = {end for edge in level.edges for end in (edge.source, edge.target)}
    return all(node in joined for node, sides in enumerate(level.marked) if sides)


def _start_extraction(level: ExtractInput) -> ExtractState:
    """Return a state with all children in the core, without implied lines."""
    links_out: list[dict[int, int]] = [{} for _ in range(level.count)]
    links_in: list[dict[int, int]] = [{} for _ in range(level.count)]
    for index, edge in enumerate(level.edges):
        if not edge.training & IMPLIED_LINE:
            links_out[edge.source][edge.target] = index
            links_in[edge.target][edge.source] = index
    return ExtractState(level, links_out, links_in, dict.fromkeys(range(level.count)))


def _turn_into_stubs(work: ExtractState, source: int, target: int) -> None:
    """Turn a metaedge into stubs, unless the user wants one of its ends in the main area."""
    if source in work.level.included or target in work.level.included:
        return
    work.stubbed.add(work.links_out[source].pop(target))
    del work.links_in[target][source]
    work.stub_out.add(source)
    work.stub_in.add(target)


def _extract_child(work: ExtractState, node: int, side: str) -> None:
    """Cut all edges of a node, and move it to the auxiliary area if it has no neighbours left."""
    work.flag.setdefault(node, side)
    both = [("in", list(work.links_in[node])), ("out", list(work.links_out[node]))]  # links are cut on the way
    for direction, others in both:
        for other in others:
            if direction == "in":
                _turn_into_stubs(work, other, node)
            else:
                _turn_into_stubs(work, node, other)
    # A node with an edge to an `included` child stays in the core.
    if not work.links_in[node] and not work.links_out[node] and node not in work.level.computing:
        _move_to_auxiliary(work, node, side)


def _move_to_auxiliary(work: ExtractState, node: int, side: str) -> None:
    """Move a node from the core into one of the two columns."""
    del work.core[node]
    (work.in_extract if side == "in" else work.out_extract).append(node)


def _extract_sinks(work: ExtractState, options: ExpandOptions) -> None:
    """Extract sink types (NoOp), and scopes whose root op is one."""
    # A scope whose root op is a NoOp is no sink if it feeds data to others, or if it is an optimizer.
    exempt = set() if options.tensorboard else {edge.source for edge in work.level.edges if edge.tensors}
    exempt |= {edge.target for edge in work.level.edges if edge.tensors and edge.training == BOTH_ENDS_TRAIN}
    staying = work.level.included | work.level.computing | exempt
    for node in range(work.level.count):
        if work.level.sink[node] and node not in staying and node in work.core:
            _extract_child(work, node, "out")


def _extract_cycles(work: ExtractState) -> None:
    """Extract `circling` children, such as sums between the gradients of one scope: on a cycle of scopes a reader finds
    no direction."""
    for node in sorted(work.level.circling - work.level.included - work.level.computing):
        _extract_child(work, node, "out")


def is_on_cycle(node: int, data: Iterable[tuple[int, int]]) -> bool:
    """Return whether the pairs lead from a node back to itself.

    >>> is_on_cycle(1, [(0, 1), (1, 2), (2, 1)]), is_on_cycle(0, [(0, 1), (1, 2), (2, 1)])
    (True, False)
    """
    after: dict[int, list[int]] = {}
    for source, target in data:
        after.setdefault(source, []).append(target)
    return node in reachable_from(after.get(node, ()), after.get)


def on_cycles_through(data: Iterable[tuple[int, int]], wanted: Set[int], through: Set[int]) -> set[int]:
    """Return the members of `wanted` that are on a cycle with a member of `through`.

    >>> pairs = [(0, 1), (1, 2), (2, 1)]
    >>> on_cycles_through(pairs, {1}, {2}), on_cycles_through(pairs, {1}, {0})
    ({1}, set())
    """
    after: list[list[int]] = [[] for _ in range(1 + max(map(max, data), default=-1))]
    for source, target in data:
        after[source].append(target)
    component = strong_components(after)
    size = Counter(component)
    rings = {component[end] for end in through if end < len(after) and size[component[end]] > 1}
    return {end for end in wanted if end < len(after) and component[end] in rings}


def _extract_hubs(work: ExtractState, options: ExpandOptions) -> None:
    """Extract children whose degree is an outlier: above the upper fence of the quartiles, and at least
    `min_degree`."""
    level = work.level
    nodes = [node for node in work.core if not options.tensorboard or node not in level.included]
    # TensorBoard counts nodes without edges too: they pull the quartiles down.
    total = len(nodes) + level.unseen
    if total < max(MIN_QUARTILE_VALUES, options.min_nodes):
        return
    into = {node: _data_degree(work.links_in[node], level.edges) for node in nodes}
    out = {node: _data_degree(work.links_out[node], level.edges) for node in nodes}
    floor = options.min_degree - 1  # the bound is exclusive
    in_bound = _degree_fence([*into.values(), *[0] * level.unseen], 1, floor)
    out_bound = _degree_fence([*out.values(), *[0] * level.unseen], 4, floor)
    # Both loops use the degrees before any edge was cut.
    for node in _nodes_above_bound(into, in_bound):
        if node not in level.included | level.computing:
            _extract_child(work, node, "in")
    for node in _nodes_above_bound(out, out_bound):
        if node not in level.included | level.computing and node in work.core and work.flag.get(node) != "in":
            _extract_child(work, node, "out")


def _data_degree(links: dict[int, int], edges: Sequence[Metaedge]) -> int:
    """Count the neighbours with a data edge; if there are none, all neighbours.

    >>> data, control = Metaedge(0, 1, 3, 0, 0), Metaedge(0, 2, 0, 1, 0)
    >>> _data_degree({1: 0, 2: 1}, [data, control]), _data_degree({1: 1, 2: 1}, [data, control])
    (1, 2)
    """
    return sum(1 for index in links.values() if edges[index].tensors) or len(links)


def _degree_fence(degrees: Iterable[int], factor: int, floor: int) -> int:
    """Return the third quartile plus `factor` times the interquartile range (positions rounded half up), at least
    `floor`.

    >>> _degree_fence([1] * 15 + [2] * 4 + [12], 1, 4)
    4
    >>> _degree_fence(range(1, 9), 1, 4), _degree_fence(range(1, 9), 4, 4)  # quartiles 3 and 7
    (11, 23)
    """
    ordered = sorted(degrees)
    # round(0.75 n) and round(0.25 n) in integers, half up as in JavaScript.
    third = ordered[(3 * len(ordered) + 2) // 4]
    first = ordered[(len(ordered) + 2) // 4]
    return max(floor, third + factor * (third - first))


def _nodes_above_bound(degrees: dict[int, int], bound: int) -> list[int]:
    """Return the nodes of a degree above the bound, highest first, among equals the later node first."""
    return [node for node in sorted(degrees, key=degrees.__getitem__)[::-1] if degrees[node] > bound]


def _cut_excess_control(work: ExtractState, most: int) -> None:
    """Cut all control-only metaedges of each child that has more than `most`."""
    edges = work.level.edges
    for node in list(work.core):
        into = [(other, node) for other, index in work.links_in[node].items() if not edges[index].tensors]
        out = [(node, other) for other, index in work.links_out[node].items() if not edges[index].tensors]
        if len(into) + len(out) > most:
            for source, target in into + out:
                if target in work.links_out[source]:
                    _turn_into_stubs(work, source, target)


def _extract_isolated(work: ExtractState) -> None:
    """Extract children without drawn edges: with only outgoing stubs to the "in" side, with only incoming stubs to the
    "out" side."""
    level = work.level
    for node in list(work.core):
        if node in level.included or node in level.computing or work.links_in[node] or work.links_out[node]:
            continue
        into = node in work.stub_in or "in" in level.marked[node]
        out = node in work.stub_out or "out" in level.marked[node]
        side = work.flag.get(node) or ("in" if out and not into else "out" if into and not out else None)
        if side:
            _move_to_auxiliary(work, node, side)
