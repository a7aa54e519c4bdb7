"""Place a box that writes weights next to the box that owns them, and labels beside their loss, so that the line
between them is short.

 loss ──▶ gradients            loss ──▶ gradients
┌─┴─┐      │                  ┌─┴─┐      │
│   │   updates        or     │   │   updates        if no other line passes between them
│net│      ⁝                  │net│◀─────┘
└───┘                         └───┘

  ┌──▶ loss
labels ┌─┴─┐       to      labels ──▶ loss
       │net│                         ┌─┴─┐
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphviz_tb.arrange.lines import line_load
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import BOTH_ENDS_TRAIN, Skeleton, Wire

MIN_OWNER_SHARE = (3, 4)  # numerator and denominator: of the weights that a box writes, in the box it is placed next to


def join_written_weights(metagraph: Metagraph, skeleton: Skeleton) -> Skeleton:
    """Return a skeleton in which each child that writes mostly weights of one other child is on the rank of that child,
    joined to it by a wire."""
    written: dict[int, list[int]] = {}
    for index, edge in enumerate(metagraph.edges):
        if edge.writes:
            written.setdefault(edge.target, []).append(index)
    places, wires = (_places_of_items(skeleton), _wires_by_end(skeleton)) if written else ({}, {})
    for writer, lines in written.items():
        counts = {index: metagraph.edges[index].reference for index in lines}
        largest = max(lines, key=lambda index: counts[index])
        if counts[largest] * MIN_OWNER_SHARE[1] >= sum(counts.values()) * MIN_OWNER_SHARE[0]:
            joined = _set_beside_owner(metagraph, skeleton, largest, places, wires.get(writer, ()))
            if joined is not skeleton:
                skeleton, places, wires = joined, _places_of_items(joined), _wires_by_end(joined)
    return skeleton


def _places_of_items(skeleton: Skeleton) -> dict[int, tuple[int, int]]:
    """Return the part and the rank of each item."""
    return {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}


def _wires_by_end(skeleton: Skeleton) -> dict[int, list[int]]:
    wires: dict[int, list[int]] = {}
    for at, wire in enumerate(skeleton.wires):
        for end in {wire.chain[0], wire.chain[-1]}:
            wires.setdefault(end, []).append(at)
    return wires


def _set_beside_owner(
    metagraph: Metagraph, skeleton: Skeleton, edge: int, place: Mapping[int, tuple[int, int]], wires: Sequence[int]
) -> Skeleton:
    """Return a skeleton with the target of metaedge `edge`, which writes the weights of its source, right of the
    source.

    `wires` are the wires of the writer; those from gradients are extended to its new rank. Return the same skeleton if
    the writer has other wires, or if items are between the two.
    """
    owner, writer = metagraph.edges[edge].source, metagraph.edges[edge].target
    if owner not in place or writer not in place or place[owner][0] != place[writer][0]:
        return skeleton
    (part, owner_rank), writer_rank = place[owner], place[writer][1]
    if owner_rank > writer_rank or any(skeleton.breaks) or skeleton.parts[part][owner_rank][-1] != owner:
        return skeleton
    for number in wires:
        wire = skeleton.wires[number]
        trains = wire.edge >= 0 and metagraph.edges[wire.edge].training == BOTH_ENDS_TRAIN
        if not trains or wire.chain[-1] != writer or place[wire.chain[0]][1] <= writer_rank:
            return skeleton
    rows = [[*row] for row in skeleton.parts[part]]
    rows[writer_rank].remove(writer)
    rows[owner_rank].append(writer)
    next_item = skeleton.first_waypoint + len(skeleton.waypoint)
    waypoints, chains = [*skeleton.waypoint], {}
    for number in wires:
        passed = []
        for rank in range(writer_rank, owner_rank, -1):
            rows[rank].append(next_item)
            waypoints.append(number)
            passed.append(next_item)
            next_item += 1
        chains[number] = (*skeleton.wires[number].chain[:-1], *passed, writer)
    parts = [*skeleton.parts]
    parts[part] = tuple(tuple(row) for row in rows)
    extended = tuple(replace(wire, chain=chains.get(number, wire.chain)) for number, wire in enumerate(skeleton.wires))
    joined = (*extended, Wire(edge, -1, (owner, writer)))
    return replace(skeleton, parts=tuple(parts), waypoint=tuple(waypoints), wires=joined)


def join_labels(metagraph: Metagraph, skeleton: Skeleton) -> Skeleton:
    """Return a skeleton in which each child that only gives indices to a loss is left of it, on its rank.

    A loss is on the main path, and all that it feeds trains the model.
    """
    if skeleton.falling or any(skeleton.breaks) or not metagraph.training:
        return skeleton
    places, wires = _places_of_items(skeleton), _wires_by_end(skeleton)
    edges, losses = metagraph.edges, set[int]()
    for target in {skeleton.wires[at].chain[-1] for at in skeleton.main_path if skeleton.wires[at].edge >= 0}:
        outgoing = [skeleton.wires[at].edge for at in wires[target] if skeleton.wires[at].chain[0] == target]
        if outgoing and all(index >= 0 and edges[index].training for index in outgoing):
            losses.add(target)
    parts = [[[*row] for row in part] for part in skeleton.parts]
    for source, ends in wires.items():
        wire = skeleton.wires[ends[0]]
        target, (part, rank) = wire.chain[-1], places[source]
        if len(ends) > 1 or len(wire.chain) > 2 or source != wire.chain[0] or target not in losses or wire.turned:
            continue
        row, loss_row = parts[part][rank], parts[part][places[target][1]]
        if row[0] == source and loss_row[0] == target and len(row) > 1 and line_load(edges[wire.edge]) < 0:
            row.remove(source)
            loss_row.insert(0, source)
    return replace(skeleton, parts=tuple(tuple(tuple(row) for row in part) for part in parts))


def gather_training(metagraph: Metagraph, skeleton: Skeleton) -> Skeleton:
    """Return a skeleton in columns with bookkeeping moved to the first column that contains other training."""
    if not skeleton.breaks or not metagraph.training:
        return skeleton
    joined = {end for wire in skeleton.wires for end in (wire.chain[0], wire.chain[-1])}
    bookkeeping, wired = {*metagraph.training} - joined, {*metagraph.training} & joined
    parts = [[[*row] for row in part] for part in skeleton.parts]
    for part, breaks in zip(parts, skeleton.breaks, strict=True):
        first = next((rank for rank, row in enumerate(part) if wired.intersection(row)), 0)
        start = max((rank for rank in breaks if rank <= first), default=0)
        for row in part[:start]:
            moved = [item for item in row if item in bookkeeping]
            if moved and len(moved) < len(row):
                row[:] = [item for item in row if item not in bookkeeping]
                part[start] += moved
    return replace(skeleton, parts=tuple(tuple(tuple(row) for row in part) for part in parts))
