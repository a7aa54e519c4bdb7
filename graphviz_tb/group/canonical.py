"""A canonical certificate of a small coloured digraph by colour refinement and individualisation.

Refinement keeps the largest part of a cell under its old number and only looks at neighbours of nodes that changed,
after Hopcroft's partition refinement; what stays tied is cut into connected components, which are interchangeable if
equal, and inside a component one node of the first tied cell is singled out (McKay & Piperno, Practical graph
isomorphism II, 2014). The certificate lists the whole graph, so equal certificates mean isomorphic graphs whatever
happened on the way; the bound can only make equal graphs look different, and then says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict

MAX_INDIVIDUALISATIONS = 64  # of tied nodes: each costs a refinement, and real levels need one or two

Edge = tuple[int, int, int]
Links = list[list[tuple[int, int]]]


def canonical(colors: list[int], edges: list[Edge]) -> tuple[bytes, bool]:
    """The certificate of a graph with node `colors` and `(source, target, flag)` edges; and whether it is canonical.

    >>> one = canonical([7, 7, 9], [(0, 2, 1), (1, 2, 1)])
    >>> two = canonical([9, 7, 7], [(2, 0, 1), (1, 0, 1)])
    >>> one == two, canonical([7, 7, 9], [(0, 1, 1), (1, 2, 1)]) == one
    (True, False)
    """
    links = link(len(colors), edges)
    cell = first_cells(colors)
    work = list(range(len(colors)))
    complete = False
    parts: list[list[int]] = []
    for _ in range(MAX_INDIVIDUALISATIONS):
        refine(cell, links, work)
        parts = tied_components(cell, links)
        work = single_out(cell, links, parts)
        if not work:
            complete = True
            break
    order = rank(cell, parts, edges)
    place = {node: index for index, node in enumerate(order)}
    lines = sorted((place[source], place[target], flag) for source, target, flag in edges)
    return repr(([colors[node] for node in order], lines)).encode(), complete


def link(count: int, edges: list[Edge]) -> Links:
    """For each node its neighbours with the flag of the edge: positive towards targets, negative towards sources."""
    links: Links = [[] for _ in range(count)]
    for source, target, flag in edges:
        # Flags are 1 … 3, so that the sign can tell the direction.
        links[source].append((target, flag))
        links[target].append((source, -flag))
    return links


def first_cells(colors: list[int]) -> list[int]:
    """Cells in the order of colours."""
    number = {color: index for index, color in enumerate(sorted(set(colors)))}
    return [number[color] for color in colors]


def refine(cell: list[int], links: Links, changed: list[int]) -> None:
    """Split cells until nodes of one cell see the same cells around them. `cell` is changed in place.

    Numbers of new cells depend on structure only, never on the order of nodes.
    """
    members: dict[int, set[int]] = defaultdict(set)
    for node, number in enumerate(cell):
        members[number].add(node)
    fresh = len(cell) + max(cell, default=0)  # more than any number in use
    while changed:
        seen: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for node in changed:
            for other, flag in links[node]:
                seen[other].append((cell[node], -flag))  # the edge as `other` sees it
        touched: dict[int, dict[int, tuple[tuple[int, int], ...]]] = defaultdict(dict)
        for node, view in seen.items():
            if len(members[cell[node]]) > 1:  # only saves time: a cell of one node cannot be split
                touched[cell[node]][node] = tuple(sorted(view))
        changed = []
        # Cells in their order, not in that in which nodes were met: equal graphs get equal numbers.
        for number in sorted(touched):
            fresh = split(number, touched[number], members, cell, changed, fresh)


def split(
    number: int,
    views: dict[int, tuple[tuple[int, int], ...]],
    members: dict[int, set[int]],
    cell: list[int],
    changed: list[int],
    fresh: int,
) -> int:
    """Cut one cell by what its nodes saw; the largest part keeps the number. Gives the next free number."""
    groups: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for node, view in views.items():
        groups[view].append(node)
    rest = len(members[number]) - len(views)  # nodes without a changed neighbour: their view is ()
    sizes = {view: len(nodes) for view, nodes in groups.items()}
    if rest:
        sizes[()] = rest
    if len(sizes) == 1:
        return fresh
    # Only the smaller parts are looked at again: each node at most log n times (Hopcroft 1971).
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


def tied_components(cell: list[int], links: Links) -> list[list[int]]:
    """Connected components of the nodes whose cell holds others too."""
    sizes = Counter(cell)
    left = {node for node in range(len(cell)) if sizes[cell[node]] > 1}
    parts: list[list[int]] = []
    for node in range(len(cell)):
        if node not in left:
            continue
        left.discard(node)
        part = [node]
        for member in part:
            for other, _ in links[member]:
                if other in left:
                    left.discard(other)
                    part.append(other)
        parts.append(sorted(part))
    return parts


def single_out(cell: list[int], links: Links, parts: list[list[int]]) -> list[int]:
    """In each component that holds a cell twice, give the first node of the first such cell a cell of its own.

    Nodes with the very same neighbours may change places with it, so they are distinguished at the same time.
    Components of equal cells get the same new numbers, so that they stay comparable.
    """
    chosen: list[tuple[tuple[int, ...], list[int]]] = []
    for part in parts:
        counts = Counter(cell[node] for node in part)
        # A component whose cells all differ needs nothing: it can only change places with a whole equal component.
        tied = min((number for number, count in counts.items() if count > 1), default=None)
        if tied is not None:
            look = tuple(sorted(cell[node] for node in part))
            chosen.append((look, twins([node for node in part if cell[node] == tied], links)))
    fresh = len(cell) + max(cell, default=0)  # more than any number in use
    numbers: dict[tuple[int, ...], int] = {}
    for look, count in sorted({(look, len(nodes)) for look, nodes in chosen}):
        numbers[(*look, -count)] = fresh  # minus: no cell has such a number, so that look and count stay apart
        fresh += count
    for look, nodes in chosen:
        for offset, node in enumerate(nodes):
            cell[node] = numbers[(*look, -len(nodes))] + offset
    return [node for _, nodes in chosen for node in nodes]


def twins(nodes: list[int], links: Links) -> list[int]:
    """The first node and all others with the very same links."""
    first = sorted(links[nodes[0]])
    return [node for node in nodes if sorted(links[node]) == first]


def rank(cell: list[int], parts: list[list[int]], edges: list[Edge]) -> list[int]:
    """Nodes in canonical order: by cell, tied ones by what their component looks like."""
    component = {node: index for index, part in enumerate(parts) for node in part}
    looks: list[list[Edge]] = [[] for _ in parts]
    for source, target, flag in edges:
        for index in {component.get(source, -1), component.get(target, -1)} - {-1}:  # -1: untied, in no component
            looks[index].append((cell[source], cell[target], flag))
    order = sorted(
        range(len(parts)), key=lambda index: (sorted(cell[node] for node in parts[index]), sorted(looks[index]))
    )
    # `node` decides only where the search was cut short: else no two nodes of one component share a cell.
    nth = {part: index for index, part in enumerate(order)}
    return sorted(range(len(cell)), key=lambda node: (cell[node], nth.get(component.get(node, -1), -1), node))
