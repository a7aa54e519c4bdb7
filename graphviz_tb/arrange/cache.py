"""Cache skeletons, so that equal metagraphs of one graph share one skeleton and its notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from graphviz_tb.arrange.component import ArrangeOptions
from graphviz_tb.arrange.lines import (
    BridgeTensors,
    PortConstraints,
    bridge_tensors,
    drawn_bridges,
    drawn_edges,
    line_load,
)
from graphviz_tb.arrange.plain_rows import arrange_plain_rows
from graphviz_tb.limits import MAX_CACHED_LEVELS, MAX_CACHED_PLAIN_LEVELS
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import PortSlot, Skeleton

CacheKey = tuple[object, ...]
# By key of a level: the number of ranks of each part, and the ranks at which a column begins.
ColumnBreaks = Mapping[CacheKey, tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]


class SkeletonCache:
    """The skeletons of one graph by `skeleton_key`; `made` counts them, `bends` the waypoints in them."""

    def __init__(self) -> None:
        self.made = self.bends = 0
        self._known: dict[CacheKey, tuple[Skeleton, tuple[int, ...]]] = {}
        self._plain: dict[int, tuple[Metagraph, PortConstraints, Skeleton]] = {}

    def plain_skeleton(self, metagraph: Metagraph, outside: PortConstraints) -> Skeleton:
        """Return the plain rows of a level that is too large for an engine.

        Cached by identity of the metagraph, because a full key would take more memory than the skeleton.
        """
        known = self._plain.get(id(metagraph))
        if known is None or known[1] != outside:
            if len(self._plain) >= MAX_CACHED_PLAIN_LEVELS:
                del self._plain[next(iter(self._plain))]
            known = self._plain[id(metagraph)] = metagraph, outside, arrange_plain_rows(metagraph, outside)
        return known[2]

    def recall_skeleton(self, key: CacheKey, rows: tuple[int, ...]) -> Skeleton | None:
        """Return the skeleton of an equal metagraph with the ports of this one, or None."""
        if key not in self._known:
            return None
        skeleton, old = self._known[key]
        return skeleton if old == rows else rename_ports(skeleton, dict(zip(old, rows, strict=True)).__getitem__)

    def store_skeleton(self, key: CacheKey, rows: tuple[int, ...], skeleton: Skeleton) -> None:
        """Store a skeleton; beyond `MAX_CACHED_LEVELS`, drop the oldest."""
        if len(self._known) >= MAX_CACHED_LEVELS:
            del self._known[next(iter(self._known))]
        self._known[key] = skeleton, rows
        self.made += 1
        self.bends += len(skeleton.waypoint)


def rename_ports(skeleton: Skeleton, name: Callable[[int], int]) -> Skeleton:
    """Return the skeleton of an equal metagraph with its ports mapped to other rows by `name`."""
    ports = tuple(
        PortSlot(slot.first, tuple([(name(row), inbound) for row, inbound in slot.others])) for slot in skeleton.ports
    )
    # `replace` would take three times as long, and a page renames the ports of each of its levels.
    same = skeleton.wires, skeleton.waypoint, skeleton.parts, skeleton.shelves, skeleton.port_part, skeleton.main_path
    last = skeleton.notices, skeleton.breaks, skeleton.plain, skeleton.falling
    return Skeleton(skeleton.children, ports, *same, *last)


def skeleton_key(
    metagraph: Metagraph, options: ArrangeOptions, outside: PortConstraints
) -> tuple[CacheKey, tuple[int, ...]]:
    """Return everything on which the drawing order depends, with outside rows numbered by appearance, and these
    rows."""
    rows = tuple(dict.fromkeys(bridge.other for bridge in metagraph.bridges))
    number = {row: place for place, row in enumerate(rows)}
    edges = tuple((e.source, e.target, e.tensors, e.control, e.reference, e.training) for e in metagraph.edges)
    bridges = tuple(
        (b.child, number[b.other], b.inbound, b.tensors, b.control, b.reference, b.drawable) for b in metagraph.bridges
    )
    against = frozenset((number[row], inbound) for row, inbound in outside.turned if row in number)
    order = tuple((number[row], inbound) for row, inbound in outside.order if row in number)
    masks = metagraph.mask, metagraph.automatic
    first: dict[BridgeTensors, int] = {}
    equal = tuple(first.setdefault(bridge_tensors(b, i), i) for i, b in enumerate(metagraph.bridges))
    loads, apart = _drawn_loads(metagraph), (metagraph.training, metagraph.surplus_position)
    return (options, metagraph.units, edges, bridges, equal, loads, against, order, masks, apart, outside.falling), rows


def _drawn_loads(metagraph: Metagraph) -> CacheKey:
    """Return the `line_load` of each line that is drawn under one of the masks; no shapes are inferred for others."""
    masks = dict.fromkeys((metagraph.automatic, metagraph.mask))
    return tuple(
        (
            *(line_load(metagraph.edges[index]) for index in drawn_edges(metagraph, mask)),
            *(line_load(metagraph.bridges[index]) for index in drawn_bridges(metagraph, mask)),
        )
        for mask in masks
    )


def level_key(metagraph: Metagraph) -> CacheKey:
    """Return the key of a level, independent of the level around it and of nodes moved by hand."""
    usual = replace(metagraph, mask=metagraph.automatic)
    return skeleton_key(usual, ArrangeOptions(), PortConstraints())[0]


def rank_counts(skeleton: Skeleton) -> tuple[int, ...]:
    return tuple(map(len, skeleton.parts))
