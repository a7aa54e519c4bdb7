"""Turn a metagraph into a skeleton, its drawing order.

1. Collect the lines of the level, and reverse lines until there is no cycle.
2. Split the level into connected pieces; an engine (`ENGINES`) gives each its ranks and the order within ranks.
3. Sort items whose order is free, wrap wide ranks, join lines to buses, and break long pieces into columns.
4. Pack the pieces on shelves.

A level that is too large is drawn in plain rows instead. Equal metagraphs share one skeleton.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from graphviz_tb.arrange.alike import order_branches_by_lines, order_ends_by_lines, set_bypasses_right
from graphviz_tb.arrange.cache import SkeletonCache, skeleton_key
from graphviz_tb.arrange.component import (
    HALF_OP_WIDTH,
    RANK_HEIGHT,
    WAYPOINT_WIDTH,
    ArrangeOptions,
    Component,
    Engine,
    Ranks,
    pack_shelves,
)
from graphviz_tb.arrange.layered import layered_ranks
from graphviz_tb.arrange.layered.order import choose_mirrored_rows
from graphviz_tb.arrange.legs import find_legs, legged_ranks, mirror_component, mirror_skeleton, set_ties_last
from graphviz_tb.arrange.lines import (
    ArrangeLine,
    PortConstraints,
    child_port_constraints,
    drawn_bridges,
    drawn_edges,
    frame_port_items,
    frame_ports,
    level_lines,
)
from graphviz_tb.arrange.plain_rows import TooManyBends, arrange_plain_rows, is_too_large
from graphviz_tb.arrange.rank_neighbours import join_labels, join_written_weights
from graphviz_tb.arrange.wrap import COLUMN_GUTTER, NO_BUS, carry_breaks, column_breaks, join_buses, wrap_ranks
from graphviz_tb.caches import import_on_call
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.graphs.main_path import main_path, tributaries
from graphviz_tb.graphs.traversal import strong_components, union_root, unite_sets
from graphviz_tb.limits import MAX_ORDER_STEPS, Meter
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import BOTH_ENDS_TRAIN, SOURCE_TRAINS, PortSlot, Skeleton, Wire, training_items

# Split a level into unconnected pieces, the input of an engine.


@dataclass(frozen=True, slots=True)
class LevelComponent:
    """One connected piece: its items and lines in the level, `part` for the engine, and edges of `part` that are
    tributaries of the main path."""

    items: tuple[int, ...]
    lines: tuple[int, ...]
    part: Component
    tributaries: tuple[int, ...] = ()


def _connected_pieces(
    items: Sequence[int], arcs: Sequence[tuple[int, int]], first: Sequence[int], last: Sequence[int]
) -> list[LevelComponent]:
    """Split a level into connected pieces in the order of their first item; the piece with all ports comes first.

    `arcs` (source, target) have no cycle; `first`, `last` are the ports on the two flow sides.

    >>> [piece.items for piece in _connected_pieces([0, 1, 2], [(0, 2)], [], [])]
    [(0, 2), (1,)]
    """
    head = {item: item for item in items}
    ports = [*first, *last]
    # All ports are on one frame, so they belong to one piece.
    for source, target in [*arcs, *((ports[0], other) for other in ports[1:])]:
        unite_sets(head, source, target)
    members: dict[int, list[int]] = {union_root(head, ports[0]): []} if ports else {}  # the first key
    for item in items:
        members.setdefault(union_root(head, item), []).append(item)
    inside: dict[int, list[int]] = {key: [] for key in members}
    for index, (source, _) in enumerate(arcs):
        inside[union_root(head, source)].append(index)
    ends = (frozenset(first), frozenset(last))
    return [_number_piece(members[key], inside[key], arcs, *ends) for key in members]


def _number_piece(
    items: list[int],
    lines: list[int],
    arcs: Sequence[tuple[int, int]],
    first: frozenset[int],
    last: frozenset[int],
) -> LevelComponent:
    local = {item: place for place, item in enumerate(items)}
    edges = tuple((local[arcs[i][0]], local[arcs[i][1]]) for i in lines)
    top = frozenset(local[item] for item in items if item in first)
    bottom = frozenset(local[item] for item in items if item in last)
    return LevelComponent(tuple(items), tuple(lines), Component(len(items), edges, top, bottom))


OP_UNITS = 2  # the nominal width of an op
LAST_TIER = sys.maxsize  # after all other tiers
ENGINES: dict[str, Engine] = {"layered": layered_ranks, "dot": import_on_call("graphviz_tb.arrange.dot", "dot_ranks")}

__all__ = ["ENGINES", "ArrangeOptions", "PortConstraints", "SkeletonCache", "arrange", "child_port_constraints"]


def arrange(
    metagraph: Metagraph,
    options: ArrangeOptions | None = None,
    outside: PortConstraints | None = None,
    known: SkeletonCache | None = None,
) -> Skeleton:
    """Return the order in which one open group is drawn.

    `outside` has the order and direction of the group's bridges in the level around it; `known` caches the skeletons
    of one graph, so that equal metagraphs share one. Every metaedge and drawable bridge of the core has a wire; ports
    have the order of their lines outside.

    >>> from graphviz_tb.model.metagraph import Metaedge
    >>> skeleton = arrange(Metagraph(0, (1, 2), (2, 2), (Metaedge(0, 1, 1, 0, 0),), ()))
    >>> skeleton.parts, skeleton.wires[0].chain
    ((((0,), (1,)),), (0, 1))
    """
    options, outside = options or ArrangeOptions(), outside or PortConstraints()
    check_engine(options)
    known = SkeletonCache() if known is None else known
    if is_too_large(metagraph):
        return known.plain_skeleton(metagraph, outside)
    key, rows = skeleton_key(metagraph, options, outside)
    skeleton = known.recall_skeleton(key, rows)
    if skeleton is None:
        skeleton = arrange_uncached(metagraph, options, outside)
        known.store_skeleton(key, rows, skeleton)
    return skeleton


def check_engine(options: ArrangeOptions) -> None:
    """Refuse an engine that is not in `ENGINES`."""
    if options.engine not in ENGINES:
        raise UnknownChoice.among("engine", options.engine, ENGINES)


def arrange_uncached(metagraph: Metagraph, options: ArrangeOptions, outside: PortConstraints) -> Skeleton:
    """Arrange a metagraph that is not in the cache; use plain rows if its lines would have too many bends."""
    try:
        if not outside.falling:
            return _arrange_with_engine(metagraph, options, outside)
        # The flow runs against the ranks: arrange the level the usual way, then mirror it.
        ends = {(bridge.other, bridge.inbound) for bridge in metagraph.bridges}
        upright = PortConstraints(frozenset(ends - outside.turned), outside.order)
        return mirror_skeleton(_arrange_with_engine(metagraph, options, upright))
    except TooManyBends:
        return arrange_plain_rows(metagraph, outside)


def _arrange_with_engine(metagraph: Metagraph, options: ArrangeOptions, outside: PortConstraints) -> Skeleton:
    """Arrange a metagraph. Raises TooManyBends if its lines would have too many bends."""
    # Arrange with the automatic mask; nodes moved by hand are inserted afterwards, so that no other node moves.
    mask = metagraph.automatic
    bridges = drawn_bridges(metagraph, mask)
    slots = frame_ports(metagraph, bridges, outside)
    items = frame_port_items(len(metagraph.children), slots)
    drawn = level_lines(metagraph, drawn_edges(metagraph, mask), bridges, items, outside.turned)
    skeleton = _arrange_core(metagraph, slots, drawn, options, fix_ports=bool(outside.order))
    if mask == metagraph.mask:
        return skeleton
    from graphviz_tb.arrange.hand_moves import follow_mask  # few pictures have nodes moved by hand

    moved = follow_mask(metagraph, skeleton, outside.turned)
    breaks = carry_breaks(skeleton, moved)
    return set_ties_last(replace(moved, notices=skeleton.notices, breaks=breaks, falling=skeleton.falling))


def _arrange_core(
    metagraph: Metagraph,
    slots: list[PortSlot],
    drawn: list[ArrangeLine],
    options: ArrangeOptions,
    fix_ports: bool,
) -> Skeleton:
    """Arrange the children and lines of the core. With `fix_ports`, ports keep their order."""
    base = len(metagraph.children)
    first = [base + i for i, slot in enumerate(slots) if slot.first]
    last = [base + i for i, slot in enumerate(slots) if not slot.first]
    backward = _backward_lines(base, drawn, slots)
    # The lines without cycles: all run along the ranks.
    arcs = [(line.target, line.source) if i in backward else (line.source, line.target) for i, line in enumerate(drawn)]
    extracted = metagraph.automatic.extracted_children
    loose = _loose_training(metagraph, drawn)
    core = [child for child in range(base) if child not in extracted and child not in loose]
    parts = _add_main_paths(_connected_pieces([*core, *first, *last], arcs, first, last), drawn, backward, fix_ports)
    bent = {
        number: found
        for number, piece in enumerate(parts)
        if (found := _bend_piece(piece, drawn, backward, options)) is not None
    }
    for number, found in bent.items():
        parts[number] = found.piece
        backward |= found.mirrored
    results = iter(
        ENGINES[options.engine]([piece.part for number, piece in enumerate(parts) if number not in bent], options)
    )
    layers = [
        bent[number].laid if number in bent else _in_order_of_lines(next(results), piece, metagraph.units)
        for number, piece in enumerate(parts)
    ]
    layers = [_join_equal_lines(laid, piece, drawn) for laid, piece in zip(layers, parts, strict=True)]
    layers = [_set_training_right(laid, piece, drawn, backward) for laid, piece in zip(layers, parts, strict=True)]
    widths = [[_nominal_width(item, metagraph.units) for item in piece.items] for piece in parts]
    # Wrapping adds waypoints, so it comes before the lines that may join a bus.
    layers = [
        laid if number in bent else wrap_ranks(laid, len(wide), wide, options.width)
        for number, (laid, wide) in enumerate(zip(layers, widths, strict=True))
    ]
    layers = [
        join_buses(laid, len(piece.items), _bus_kinds(piece, drawn, backward))
        for laid, piece in zip(layers, parts, strict=True)
    ]
    breaks_by_piece: list[tuple[int, ...]] = [()] * len(layers)
    if options.wrap:
        breaks_by_piece = column_breaks(list(zip(layers, widths, strict=True)))
        breaks_by_piece = [() if number in bent else breaks for number, breaks in enumerate(breaks_by_piece)]
    notices = dict.fromkeys(notice for laid in layers for notice in laid.notices)
    skeleton = _assemble_skeleton(metagraph, slots, drawn, backward, parts, layers, breaks_by_piece, options.width)
    skeleton = join_labels(metagraph, join_written_weights(metagraph, skeleton))
    skeleton = _set_loose_training(skeleton, loose, [line.training for line in drawn])
    falling = tuple(sorted(item for found in bent.values() for item in found.falling))
    return set_ties_last(replace(skeleton, notices=tuple(notices), falling=falling))


@dataclass(frozen=True, slots=True)
class BentPiece:
    """A piece that is a U, with the edges of its first leg turned.

    `laid` are its ranks, `falling` the children of the first leg, `mirrored` the turned lines of the level.
    """

    piece: LevelComponent
    laid: Ranks
    falling: tuple[int, ...]
    mirrored: frozenset[int]


def _bend_piece(
    piece: LevelComponent, drawn: list[ArrangeLine], backward: set[int], options: ArrangeOptions
) -> BentPiece | None:
    """Return a piece as a U; None if it is none, or if the options exclude that."""
    if not (options.wrap and options.bend) or options.engine != "layered":
        return None
    if not piece.part.main_path or backward.intersection(piece.lines):
        return None
    if any(drawn[line].training for line in piece.lines):
        return None
    legs = find_legs(piece.part, [drawn[line].tier == 0 for line in piece.lines])
    if legs is None:
        return None
    part = mirror_component(piece.part, legs)
    ranks = legged_ranks(part, legs, options.quick)
    if ranks is None:
        return None
    falling = tuple(piece.items[node] for node in legs.falling)
    return BentPiece(replace(piece, part=part), ranks, falling, frozenset(piece.lines[edge] for edge in legs.mirrored))


def _loose_training(metagraph: Metagraph, drawn: list[ArrangeLine]) -> list[int]:
    """Return the bookkeeping children without lines, which are placed beside the training; empty if the level has no
    training lines."""
    if not any(line.training for line in drawn):
        return []
    joined = {end for line in drawn for end in (line.source, line.target)} | metagraph.automatic.extracted_children
    return [child for child in metagraph.training if child not in joined]


def _set_loose_training(skeleton: Skeleton, loose: list[int], training: list[int]) -> Skeleton:
    """Set children without lines at the right end of the ranks above the first training item, one on each rank."""
    if not loose:
        return skeleton
    chains = [wire.chain for wire in skeleton.wires[: len(training)]]  # without the wires of written weights
    trained = training_items(chains, training)
    parts = [[*part] for part in skeleton.parts]
    number, rank = next(
        (number, rank)
        for number, part in enumerate(parts)
        for rank, row in enumerate(part)
        if any(item < skeleton.children and item in trained for item in row)
    )
    first = int(skeleton.children <= parts[number][0][0] < skeleton.first_waypoint)  # not among ports
    for child in loose:
        rank = max(rank - 1, first)
        parts[number][rank] = (*parts[number][rank], child)
    return replace(skeleton, parts=tuple(tuple(part) for part in parts))


def _add_main_paths(
    parts: list[LevelComponent], drawn: list[ArrangeLine], backward: set[int], fix_ports: bool
) -> list[LevelComponent]:
    """Return the pieces with their main paths and tributaries, and with `fixed_ports` set."""
    result = []
    for piece in parts:
        part, weights = piece.part, [0 if i in backward else drawn[i].thick for i in piece.lines]
        boxes = part.count - len(part.first) - len(part.last)  # ports have the highest numbers
        main = main_path(part.count, part.edges, weights, boxes)
        joining = tributaries(part.edges, weights, boxes, main)
        result.append(replace(piece, part=replace(part, main_path=main, fixed_ports=fix_ports), tributaries=joining))
    return result


def _in_order_of_lines(laid: Ranks, piece: LevelComponent, units: Sequence[int]) -> Ranks:
    """Return the ranks of a piece with items whose order is free sorted by their lines."""
    groups = {node for node, item in enumerate(piece.items) if item < len(units) and units[item] > OP_UNITS}
    return order_branches_by_lines(
        set_bypasses_right(order_ends_by_lines(laid, piece.part, groups), piece.part), piece.part
    )


def _join_equal_lines(laid: Ranks, piece: LevelComponent, drawn: list[ArrangeLine]) -> Ranks:
    """Draw lines of one kind from one child to one port along the same chain: that of the main path, otherwise of the
    first line."""
    leaders: dict[tuple[int, int, int], int] = {}
    main = set(piece.part.main_path)
    for edge in sorted(range(len(piece.lines)), key=lambda edge: (edge not in main, edge)):
        line = drawn[piece.lines[edge]]
        if line.bridge >= 0:
            leaders.setdefault((line.source, line.target, line.tier), edge)
    chains, merged = [*laid.chains], set[int]()
    for edge, index in enumerate(piece.lines):
        line = drawn[index]
        leader = leaders.get((line.source, line.target, line.tier), edge) if line.bridge >= 0 else edge
        if leader != edge:
            merged.update(chains[edge][1:-1])
            chains[edge] = laid.chains[leader]
    if not merged:
        return laid if chains == laid.chains else replace(laid, chains=chains)
    rows = [[item for item in row if item not in merged] for row in laid.ranks]
    return replace(laid, ranks=rows, chains=chains)


def _set_training_right(laid: Ranks, piece: LevelComponent, drawn: list[ArrangeLine], backward: set[int]) -> Ranks:
    """Move gradients, updates and lines to them to the right end of their ranks."""
    chains = [
        chain[::-1] if index in backward else chain for index, chain in zip(piece.lines, laid.chains, strict=True)
    ]
    moved = training_items(chains, [drawn[index].training for index in piece.lines])
    if not moved:
        return laid
    rows = [
        ([item for item in row if item not in moved], [item for item in row if item in moved]) for row in laid.ranks
    ]
    held = {0, len(rows) - 1} if piece.part.fixed_ports else set[int]()
    return Ranks(choose_mirrored_rows(rows, laid.chains, held), laid.chains, laid.notices)


def _bus_kinds(piece: LevelComponent, drawn: list[ArrangeLine], backward: set[int]) -> list[int]:
    """Return for each line of a piece the kind of bus that it may join, data or control; `NO_BUS` for references, the
    main path and lines that run against the ranks."""
    excluded = {piece.lines[edge] for edge in piece.part.main_path} | backward
    return [NO_BUS if line in excluded or drawn[line].tier > 1 else drawn[line].tier for line in piece.lines]


def _backward_lines(base: int, drawn: list[ArrangeLine], slots: list[PortSlot]) -> set[int]:
    """Return the lines that run against the ranks: turned to break cycles, at a port on the opposite side, or from
    gradients and updates, whose flow mirrors that of the model."""
    inner = [i for i, line in enumerate(drawn) if line.bridge < 0 and line.training in (0, BOTH_ENDS_TRAIN)]
    turned = _arcs_to_turn(base, [_turnable_arc(drawn[i]) for i in inner])
    # `_turnable_arc` turns lines that close a loop; turned twice, a line runs with the ranks.
    against = [line for i, line in enumerate(inner) if (i in turned) is not drawn[line].back]
    mirrored = [i for i in inner if drawn[i].training]
    backward = {*against}.symmetric_difference(mirrored) | {
        i for i, line in enumerate(drawn) if line.training == SOURCE_TRAINS
    }
    for i, line in enumerate(drawn):
        if line.bridge >= 0:
            inbound = line.source >= base
            port = line.source if inbound else line.target
            # An edge that enters on the last side, or leaves on the first.
            if slots[port - base].first is not inbound:
                backward.add(i)
    return backward


def _turnable_arc(line: ArrangeLine) -> tuple[int, int, int, int]:
    """Return the arc of a line for `_arcs_to_turn`. A line that closes a loop is reversed and enters last."""
    ends = (line.target, line.source) if line.back else (line.source, line.target)
    return (*ends, LAST_TIER if line.back else line.tier, line.weight)


def _assemble_skeleton(
    metagraph: Metagraph,
    slots: list[PortSlot],
    drawn: list[ArrangeLine],
    backward: set[int],
    components: list[LevelComponent],
    layers: list[Ranks],
    broken: list[tuple[int, ...]],
    width: int,
) -> Skeleton:
    """Number all waypoints of the level, list wires in the order of `drawn`, and set parts on shelves of `width`."""
    first_waypoint = len(metagraph.children) + len(slots)
    chains: list[tuple[int, ...]] = [()] * len(drawn)
    waypoint: list[int] = []
    parts = []
    for piece, laid in zip(components, layers, strict=True):
        item = dict(enumerate(piece.items))
        for index, chain in zip(piece.lines, laid.chains, strict=True):
            # Number each waypoint when the first chain passes it, because lines of a bus share waypoints.
            for local in chain:
                if local not in item:
                    item[local] = first_waypoint + len(waypoint)
                    waypoint.append(index)
            chain = [item[local] for local in chain]
            chains[index] = tuple(chain[::-1] if index in backward else chain)
        parts.append(tuple(tuple(item[local] for local in row) for row in laid.ranks))
    wires = tuple(Wire(line.edge, line.bridge, chains[i], i in backward) for i, line in enumerate(drawn))
    main_paths = tuple(
        piece.lines[edge] for piece in components for edge in (*piece.part.main_path, *piece.tributaries)
    )
    port_part = 0 if slots else -1  # `_connected_pieces` lists the piece with ports first
    rest = range(port_part + 1, len(parts))
    rows = pack_shelves([_nominal_extent(parts[part], metagraph.units, broken[part]) for part in rest], width)
    shelves = tuple(tuple(rest[part] for part in row) for row in rows)
    return Skeleton(
        len(metagraph.children),
        tuple(slots),
        wires,
        tuple(waypoint),
        tuple(parts),
        shelves,
        port_part,
        main_paths,
        breaks=tuple(broken) if any(broken) else (),
    )


def _nominal_width(item: int, units: tuple[int, ...]) -> int:
    """Return the approximate width of a child with its gap; 0 for a port."""
    return units[item] * HALF_OP_WIDTH if item < len(units) else 0


def _nominal_extent(
    part: tuple[tuple[int, ...], ...], units: tuple[int, ...], broken: tuple[int, ...]
) -> tuple[int, int]:
    """Return the approximate width and height of a part, in columns that begin at the ranks `broken`."""
    wide = max(sum(_nominal_width(item, units) or WAYPOINT_WIDTH for item in row) for row in part)
    high = max(end - start for start, end in pairwise((0, *broken, len(part))))
    return wide + len(broken) * (wide + COLUMN_GUTTER), high * RANK_HEIGHT


# Choose the edges to turn so that a level has no cycle.
#
# Add the edges one by one to a topological order, and turn each that would close a cycle (Pearce & Kelly 2006, "A
# dynamic topological sort algorithm for directed acyclic graphs"). Edges to keep enter first: data, then control, then
# reference edges; within a kind heavy edges first; among equals edges along the file order, and earlier edges.

Arc = tuple[int, int, int, int]  # source, target, tier, weight


def _arcs_to_turn(count: int, arcs: Sequence[Arc]) -> set[int]:
    """Return the indices of the arcs to turn: with them reversed there is no cycle.

    No arc may run from a node to itself.

    >>> _arcs_to_turn(3, [(0, 1, 0, 1), (1, 2, 0, 1), (2, 0, 2, 9)]), _arcs_to_turn(2, [(1, 0, 0, 1), (0, 1, 0, 1)])
    ({2}, {0})
    """
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target, _, _ in arcs:
        after[source].append(target)
    component = strong_components(after)
    # Only arcs inside a strong component are on cycles.
    inner = [i for i, (source, target, _, _) in enumerate(arcs) if component[source] == component[target]]
    if not inner:
        return set()
    nodes = sorted({end for source, target, _, _ in map(arcs.__getitem__, inner) for end in (source, target)})
    local = {node: place for place, node in enumerate(nodes)}
    order = TopologicalOrder(len(nodes))
    turned = set()
    for i in sorted(inner, key=lambda i: (arcs[i][2], -arcs[i][3], arcs[i][0] > arcs[i][1], i)):
        source, target = local[arcs[i][0]], local[arcs[i][1]]
        if not order.add_edge(source, target):
            order.add_edge(target, source)  # closes no cycle, because a path leads from target to source
            turned.add(i)
    return turned


class TopologicalOrder:
    """A topological order that grows edge by edge.

    >>> order = TopologicalOrder(2)
    >>> order.add_edge(1, 0), order.add_edge(0, 1)
    (True, False)
    """

    def __init__(self, count: int) -> None:
        self.place = list(range(count))
        self.after: list[list[int]] = [[] for _ in range(count)]
        self.before: list[list[int]] = [[] for _ in range(count)]
        self.work = Meter(MAX_ORDER_STEPS)

    def add_edge(self, source: int, target: int) -> bool:
        """Add an edge and return True, or return False if it closes a cycle.

        Once the work budget is spent, refuse every edge against the order.
        """
        # Only nodes between the two places can be out of order; no other node is visited.
        low, high = self.place[target], self.place[source]
        if low < high:
            if self.work.spent:
                return False
            ahead = self.reachable_between(self.after, target, low, high)
            if source in ahead:
                return False
            behind = self.reachable_between(self.before, source, low, high)
            # Ancestors of the source, then descendants of the target, share the places of both.
            moved = sorted(behind, key=self.place.__getitem__) + sorted(ahead, key=self.place.__getitem__)
            for node, place in zip(moved, sorted(self.place[node] for node in moved), strict=True):
                self.place[node] = place
        self.after[source].append(target)
        self.before[target].append(source)
        return True

    def reachable_between(self, links: list[list[int]], start: int, low: int, high: int) -> set[int]:
        """Return the nodes reached from `start` whose place is between `low` and `high`."""
        seen, todo = {start}, [start]
        while todo:
            near = links[todo.pop()]
            self.work.take(len(near))
            for node in near:
                if node not in seen and low <= self.place[node] <= high:
                    seen.add(node)
                    todo.append(node)
        return seen
