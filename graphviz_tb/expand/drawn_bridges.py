"""Decide which bridges are drawn as lines to a port and which become stubs, and order the children along data edges."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from graphviz_tb.graphs.traversal import longest_path_lengths, topological_order
from graphviz_tb.model.metagraph import Bridge, Metaedge
from graphviz_tb.model.paths import RowPath, parent_path
from graphviz_tb.options import ExpandOptions

if TYPE_CHECKING:
    from graphviz_tb.expand import Expander


# Order the children of a level along its data edges.


def _tensorboard_order(edges: Sequence[Metaedge]) -> dict[int, int]:
    """Return TensorBoard's order: breadth first from the sources, where the last visit counts.

    The preset keeps its error: for a → b → c → d, a → d, d → e it has e before d.
    """
    after: dict[int, list[int]] = {}
    targets = set()
    for edge in edges:
        if edge.tensors:
            after.setdefault(edge.source, []).append(edge.target)
            targets.add(edge.target)
    queue = deque(node for node in after if node not in targets)
    order: dict[int, int] = {}
    followed: set[int] = set()
    count = 0
    while queue:
        node = queue.popleft()
        order[node] = count
        count += 1
        # The error: a node is numbered at each visit but followed only once.
        if node not in followed:
            followed.add(node)
            queue.extend(after.get(node, ()))
    return order


def _data_order(edges: Sequence[Metaedge]) -> dict[int, int]:
    """Return the length of the longest path of data edges to each child, without children on cycles.

    >>> line = [Metaedge(0, 1, 1, 0, 0), Metaedge(1, 2, 1, 0, 0), Metaedge(0, 2, 1, 0, 0)]
    >>> _data_order(line)
    {0: 0, 1: 1, 2: 2}
    """
    data = [edge for edge in edges if edge.tensors]
    nodes = list(dict.fromkeys(node for edge in data for node in (edge.source, edge.target)))
    index = {node: number for number, node in enumerate(nodes)}
    after: list[list[int]] = [[] for _ in nodes]
    for edge in data:
        after[index[edge.source]].append(index[edge.target])
    order = topological_order(after)
    depth = longest_path_lengths(after, order)
    return {nodes[number]: depth[number] for number in order}


PlacePair = tuple[int | None, int | None]
NO_CONTINUATIONS: set[tuple[int, bool]] = set()


def decide_drawable(
    expander: Expander,
    path: RowPath,
    rows: Sequence[int],
    bridges: list[Bridge],
    away: Set[int],
    options: ExpandOptions,
) -> list[Bridge]:
    """Turn the bridges that cannot be drawn into stubs.

    A bridge is drawn if all of this is true:

    - its child is not in `away`, the children extracted both automatically and by hand; a child extracted only by hand
      keeps its bridges, so that the drawing order does not change
    - the line continues in the level around the group
    - the neighbour has at most `max_bridge_degree` bridges on that side, and at most as many of control only
    - it carries data, or it does not run against the data order
    - both ends have the same role in the training
    """
    box = expander.box_path(path)
    parent = parent_path(expander.hierarchy, box)
    if parent is None or not bridges:
        return bridges
    continued = continuations(expander, parent).get(box[-1], NO_CONTINUATIONS)
    # maxBridgePathDegree of TensorBoard: more lines would be a fan from one port.
    sides, controls = _crowded_neighbours(bridges, options.max_bridge_degree)
    decided = []
    training = expander.training
    for bridge in bridges:
        if training[bridge.other] != training[rows[bridge.child]]:
            decided.append(bridge.as_stub(training=True))
            continue
        drawn = (
            bridge.child not in away
            and (bridge.other, bridge.inbound) in continued
            and (bridge.other, bridge.inbound) not in sides
            and (bridge.tensors > 0 or bridge.other not in controls)
            and (bridge.tensors > 0 or not runs_backwards(expander, path, bridge.other, bridge.inbound, options))
        )
        decided.append(bridge if drawn else bridge.as_stub())
    return decided


def _crowded_neighbours(bridges: list[Bridge], limit: int) -> tuple[set[tuple[int, bool]], set[int]]:
    """Return the neighbours (row, inbound) with more than `limit` bridges of data on one side, and the neighbours with
    more than `limit` bridges of control only on both."""
    if len(bridges) <= limit:
        return set(), set()
    data = Counter((bridge.other, bridge.inbound) for bridge in bridges if bridge.tensors)
    control = Counter(bridge.other for bridge in bridges if not bridge.tensors)
    sides = {side for side, count in data.items() if count > limit}
    return sides, {other for other, count in control.items() if count > limit}


def continuations(expander: Expander, parent: RowPath) -> dict[int, set[tuple[int, bool]]]:
    """Return, for each child of `parent` that can be opened, the neighbours (row, inbound) to which a line is drawn;
    cached."""
    known = expander.continuations.get(parent)
    if known is not None:
        return known
    around = expander.metagraph(parent)
    rows, continued = around.children, expander.continuations.setdefault(parent, {})
    opens = list(map(expander.hierarchy.can_open, rows))
    for index in around.core_edges():
        edge = around.edges[index]
        source, target = rows[edge.source], rows[edge.target]
        if opens[edge.target]:
            continued.setdefault(target, set()).add((source, True))
        if opens[edge.source]:
            continued.setdefault(source, set()).add((target, False))
    # A line that crosses the border of this level continues through it.
    for index in around.core_bridges():
        bridge = around.bridges[index]
        if opens[bridge.child]:
            continued.setdefault(rows[bridge.child], set()).add((bridge.other, bridge.inbound))
    return continued


def runs_backwards(expander: Expander, path: RowPath, other: int, inbound: bool, options: ExpandOptions) -> bool:
    """Return whether a control bridge to a neighbour runs against the data order at the level that shows both its
    ends."""
    inner, outer = _places_of_ends(expander, path, other, options)
    if inner is None or outer is None:
        return False
    return outer > inner if inbound else inner > outer


def _places_of_ends(expander: Expander, path: RowPath, other: int, options: ExpandOptions) -> PlacePair:
    """Return the positions of a group, or of one around it, and of a neighbour in the order of the level that shows
    both."""
    known = expander.places
    found: PlacePair = (None, None)
    ancestor = path
    while (parent := parent_path(expander.hierarchy, ancestor)) is not None:
        # The groups around are opened first, so a line through thousands of them is looked up once.
        if (ancestor, other) in known:
            found = known[ancestor, other]
            break
        order = level_order(expander, parent, options)
        if other in order:
            found = order.get(ancestor[-1]), order[other]  # None for a hidden group
            break
        ancestor = parent
    known[path, other] = found
    return found


def level_order(expander: Expander, path: RowPath, options: ExpandOptions) -> dict[int, int | None]:
    """Return the position in data order of each child (by row) of group `path`, None for a child without one;
    cached."""
    order = expander.orders.get(path)
    if order is None:
        level = expander.metagraph(path)
        places = (_tensorboard_order if options.tensorboard else _data_order)(level.edges)
        order = expander.orders[path] = {row: places.get(index) for index, row in enumerate(level.children)}
    return order
