"""Canonical certificate of a small coloured digraph, by colour refinement and individualisation.

Refinement splits cells of nodes by their neighbours; the largest part of a cell keeps its number, so that few nodes are
revisited (Hopcroft's partition refinement). Nodes that still share a cell are divided into connected components; equal
components are interchangeable. Inside a component, one node of a tied cell is individualised: the node that yields the
least certificate (McKay & Piperno, Practical graph isomorphism II, 2014). The certificate lists the whole graph, so
equal certificates mean isomorphic graphs. If the budget is spent, isomorphic graphs may have different certificates,
which is reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from graphviz_tb.limits import MAX_REFINEMENTS, MAX_SINGLED_OUT_NODES, MAX_TRIED_EDGES
from graphviz_tb.model.frozen import dataclass

FlaggedEdge = tuple[int, int, int]
Adjacency = list[list[tuple[int, int]]]


class CellChoice(NamedTuple):
    """A component, and one of its cells as sets of twins (nodes with equal neighbours)."""

    part: list[int]
    sets: list[list[int]]
    number: int


@dataclass(slots=True)
class RefinementBudget:
    """Work left: `left` nodes to refine, negative once exhausted, and `edges` for all graphs that share the budget.

    `depth` is the number of nested individualisations.
    """

    left: int
    depth: int = 0
    edges: int = MAX_TRIED_EDGES


def canonical_certificate(
    colors: list[int], edges: list[FlaggedEdge], room: RefinementBudget | None = None
) -> tuple[bytes, bool]:
    """Return the certificate of a graph with node `colors` and `(source, target, flag)` edges; and whether it is
    canonical.

    >>> one = canonical_certificate([7, 7, 9], [(0, 2, 1), (1, 2, 1)])
    >>> two = canonical_certificate([9, 7, 7], [(2, 0, 1), (1, 0, 1)])
    >>> one == two, canonical_certificate([7, 7, 9], [(0, 1, 1), (1, 2, 1)]) == one
    (True, False)
    """
    order, complete = canonical_order(colors, edges, room)
    place = {node: index for index, node in enumerate(order)}
    lines = sorted((place[source], place[target], flag) for source, target, flag in edges)
    return repr(([colors[node] for node in order], lines)).encode(), complete


def canonical_order(
    colors: list[int], edges: list[FlaggedEdge], room: RefinementBudget | None = None
) -> tuple[list[int], bool]:
    """Return the nodes of a graph in the order of its certificate, and whether that order is canonical."""
    room = room or RefinementBudget(MAX_REFINEMENTS * len(colors))
    links = _link_neighbours(len(colors), edges)
    cell = _cells_by_color(colors)
    work = list(range(len(colors)))
    while True:
        _refine_cells(cell, links, work)
        parts = _tied_components(cell, links)
        room.left -= len(cell)
        cuts = list(filter(None, (_choose_cell(part, cell, links) for part in parts)))
        if not cuts or room.left < 0:
            break
        room.edges -= len(edges)
        work = _individualize_nodes(cell, links, cuts, room)
    return _rank_canonically(cell, parts, edges), room.left >= 0


def _link_neighbours(count: int, edges: list[FlaggedEdge]) -> Adjacency:
    """Return the neighbours of each node with the flag of the edge, negative for sources."""
    links: Adjacency = [[] for _ in range(count)]
    for source, target, flag in edges:
        # Flags are 1 … 3: the sign is the direction.
        links[source].append((target, flag))
        links[target].append((source, -flag))
    return links


def _cells_by_color(colors: list[int]) -> list[int]:
    number = {color: index for index, color in enumerate(sorted(set(colors)))}
    return [number[color] for color in colors]


def _refine_cells(cell: list[int], links: Adjacency, changed: list[int]) -> None:
    """Split cells, in place, until all nodes of a cell have neighbours in the same cells.

    Numbers of new cells depend on structure only, never on the order of nodes.
    """
    members: dict[int, set[int]] = defaultdict(set)
    for node, number in enumerate(cell):
        members[number].add(node)
    fresh = len(cell) + max(cell, default=0)  # more than any number in use
    while changed:
        views: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for node in changed:
            for other, flag in links[node]:
                views[other].append((cell[node], -flag))  # the edge as `other` sees it
        changed_views: dict[int, dict[int, tuple[tuple[int, int], ...]]] = defaultdict(dict)
        for node, view in views.items():
            if len(members[cell[node]]) > 1:  # only saves time: a cell of one node cannot be split
                changed_views[cell[node]][node] = tuple(sorted(view))
        changed = []
        # In the order of cells, not of nodes, so that equal graphs get equal numbers.
        for number in sorted(changed_views):
            fresh = _split_cell(number, changed_views[number], members, cell, changed, fresh)


def _split_cell(
    number: int,
    views: dict[int, tuple[tuple[int, int], ...]],
    members: dict[int, set[int]],
    cell: list[int],
    changed: list[int],
    fresh: int,
) -> int:
    """Split one cell by the views of its nodes; the largest part keeps the number. Return the next free number."""
    groups: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for node, view in views.items():
        groups[view].append(node)
    rest = len(members[number]) - len(views)  # nodes without a changed neighbour: their view is ()
    sizes = {view: len(nodes) for view, nodes in groups.items()}
    if rest:
        sizes[()] = rest
    if len(sizes) == 1:
        return fresh
    # Only the smaller parts are revisited: each node at most log n times (Hopcroft 1971).
    keeps = max(sizes, key=lambda view: (sizes[view], view))  # only saves time
    for view in sorted(sizes):
        if view == keeps:
            continue
        nodes = groups[view] if view else [node for node in members[number] if node not in views]
        for node in nodes:
            cell[node] = fresh
        members[number].difference_update(nodes)
        members[fresh] = set(nodes)
        changed.extend(nodes)
        fresh += 1
    return fresh


def _tied_components(cell: list[int], links: Adjacency) -> list[list[int]]:
    """Return the connected components of the nodes that share their cell."""
    sizes = Counter(cell)
    unvisited = {node for node in range(len(cell)) if sizes[cell[node]] > 1}
    parts: list[list[int]] = []
    for node in range(len(cell)):
        if node not in unvisited:
            continue
        unvisited.discard(node)
        part = [node]
        for member in part:
            for other, _ in links[member]:
                if other in unvisited:
                    unvisited.discard(other)
                    part.append(other)
        parts.append(sorted(part))
    return parts


def _choose_cell(part: list[int], cell: list[int], links: Adjacency) -> CellChoice | None:
    """Return the cell of a component with the fewest nodes to try; None if all its cells have one node."""
    cells: dict[int, list[int]] = defaultdict(list)
    for node in part:
        cells[cell[node]].append(node)
    tied = [(_twin_sets(nodes, links), number) for number, nodes in cells.items() if len(nodes) > 1]
    return CellChoice(part, *min(tied, key=lambda choice: (len(choice[0]), choice[1]))) if tied else None


def _twin_sets(nodes: list[int], links: Adjacency) -> list[list[int]]:
    sets: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for node in nodes:
        sets[tuple(sorted(links[node]))].append(node)
    return list(sets.values())


def _individualize_nodes(
    cell: list[int], links: Adjacency, cuts: list[CellChoice], room: RefinementBudget
) -> list[int]:
    """In each component, move one node of the chosen cell and its twins to new cells of one node; return these nodes.

    Equal components get equal new numbers, so that they stay comparable.
    """
    looks = [sorted(cell[node] for node in cut.part) for cut in cuts]
    chosen = [_least_twin_set(cut, cell, links, room) for cut in cuts]
    found = zip(looks, (cut.number for cut in cuts), map(len, chosen), chosen, strict=True)
    fresh = len(cell) + max(cell, default=0)  # more than any number in use
    for (*_, count), alike in groupby(sorted(found), key=itemgetter(0, 1, 2)):
        for *_, nodes in alike:
            for offset, node in enumerate(nodes):
                cell[node] = fresh + offset
        fresh += count
    return [node for nodes in chosen for node in nodes]


def _least_twin_set(cut: CellChoice, cell: list[int], links: Adjacency, room: RefinementBudget) -> list[int]:
    """Return the set of twins whose individualisation gives the component the least certificate."""
    if len(cut.sets) == 1:  # only saves time
        return cut.sets[0]
    if len(cut.sets) * len(cut.part) > room.left or room.edges < 0 or room.depth > MAX_SINGLED_OUT_NODES:
        room.left = -1
        return cut.sets[0]
    # All have neighbours in the same cells, but may be on cycles of different lengths. Sets with equal certificates are
    # interchangeable.
    return min(cut.sets, key=lambda nodes: _certificate_with_individualized(nodes, cut.part, cell, links, room))


def _certificate_with_individualized(
    nodes: list[int], part: list[int], cell: list[int], links: Adjacency, room: RefinementBudget
) -> bytes:
    """Return the certificate of a component in which some nodes are individualised."""
    place = {node: index for index, node in enumerate(part)}
    individualized = set(nodes)
    edges = [
        (index, place[other], flag)
        for node, index in place.items()
        for other, flag in links[node]
        if flag > 0 and other in place
    ]
    room.edges -= len(edges)
    # Cell numbers are never negative.
    room.depth += 1
    certificate = canonical_certificate([-1 if node in individualized else cell[node] for node in part], edges, room)[0]
    room.depth -= 1
    return certificate


def _rank_canonically(cell: list[int], parts: list[list[int]], edges: list[FlaggedEdge]) -> list[int]:
    """Return nodes in canonical order: by cell, tied ones by the structure of their component."""
    component = {node: index for index, part in enumerate(parts) for node in part}
    looks: list[list[FlaggedEdge]] = [[] for _ in parts]
    for source, target, flag in edges:
        for index in {component.get(source, -1), component.get(target, -1)} - {-1}:  # -1: untied, in no component
            looks[index].append((cell[source], cell[target], flag))
    order = sorted(
        range(len(parts)), key=lambda index: (sorted(cell[node] for node in parts[index]), sorted(looks[index]))
    )
    # `node` decides only after a truncated search: otherwise no two nodes of one component share a cell.
    nth = {part: index for index, part in enumerate(order)}
    return sorted(range(len(cell)), key=lambda node: (cell[node], nth.get(component.get(node, -1), -1), node))
