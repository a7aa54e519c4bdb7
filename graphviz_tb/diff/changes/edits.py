"""Merge the differences of one edit: one layer, one chain of new ops, one replacement, one new order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from graphviz_tb.diff.changes.items import Item, LayerKey, measures
from graphviz_tb.diff.changes.names import without_counters
from graphviz_tb.diff.changes.wiring import rewires
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.model.change import Change
from graphviz_tb.model.interpretation import Part

GATED = 2  # what a product multiplies
LAYERS_IN_ORDER = 2  # that are wired anew, and not to what came or went: they have another order


def edits(m: Matching, items: Sequence[Item]) -> list[list[Item]]:
    """Items put together to edits."""
    pairs = [*by_layer(items), *chains(m, items), *replacements(m, items), *at_one_op(items)]
    pairs += [*handed_over(m, items), *gates(m, items), *losses(m, items)]
    beside = {number for pair in at_one_op(items) for number in pair}
    # Of a series nothing may say which member came or went: the other ones have its inputs then.
    series = {without_counters(item.change.name) for item in items if item.change.detail.get("equal")}
    beside |= {number for number, item in enumerate(items) if series and takes_member(item.change, series)}
    loose = {number for number, item in enumerate(items) if number not in beside and is_loose(m, item)}
    pairs = [pair for pair in pairs if (pair[0] in loose) == (pair[1] in loose)]
    orders = [pair for pair in new_orders(items) if (pair[0] in loose) == (pair[1] in loose)]
    groups = weak_components(len(items), [*pairs, *orders])
    linked: dict[int, list[int]] = defaultdict(list)
    for one, other in pairs:
        linked[one].append(other)
        linked[other].append(one)
    return [[items[number] for number in part] for group in groups for part in without_orders(items, group, linked)]


def is_loose(m: Matching, item: Item) -> bool:
    """Whether only inputs are others, and one of them comes from one node that stayed in place of another one: that is
    no part of what came, went or changed around it."""
    return any(
        exists(wire.before)
        and exists(wire.after)
        and exists(m.to_b[m.a.graph.source[wire.before]])
        and exists(m.to_a[m.b.graph.source[wire.after]])
        for pair in rewired_at(item)
        for wire in rewires(m, *pair)
    )


def without_orders(
    items: Sequence[Item], group: Sequence[int], linked: Mapping[int, Sequence[int]]
) -> Iterable[Sequence[int]]:
    """Yield a group whole; split ops that came or went from a new order of several layers in the same group."""
    wired = {number for number in group if items[number].change.kind == "rewired"}
    units = [number for number in group if number not in wired]
    if not wired or {items[number].change.kind for number in units} not in ({"added"}, {"removed"}):
        yield group
        return
    series = {without_counters(items[number].change.name) for number in units}
    elsewhere = {
        layer
        for number in wired
        if wired.issuperset(linked.get(number, ())) and not is_shifted(items[number].change, series)
        for layer in items[number].layers
    }
    if len(elsewhere) < LAYERS_IN_ORDER:
        yield group
        return
    place = {number: at for at, number in enumerate(units)}
    joined = [(place[one], place[other]) for one in units for other in linked.get(one, ()) if other in place]
    yield from ([units[at] for at in part] for part in weak_components(len(units), joined))
    yield sorted(wired)


def is_shifted(change: Change, series: Set[str]) -> bool:
    """Whether only members of series take the inputs of other ones, or something takes another member, because one of
    some `series` came or went."""
    if is_member(change, series):
        return True
    ends = [[without_counters(wire[side] or "") for side in ("old", "new")] for wire in change.detail["inputs"]]
    return all(old == new for old, new in ends)


def is_member(change: Change, series: Set[str]) -> bool:
    """Whether a change is at a member of some series, or in one."""
    name = without_counters(change.name)
    return any(name == member or name.startswith(f"{member}/") for member in series)


def takes_member(change: Change, series: Set[str]) -> bool:
    """Whether a change is at a member of some series, or at what takes one and took one."""
    if change.kind != "rewired" or is_member(change, series):
        return change.kind == "rewired"
    ends = [without_counters(str(wire[side] or "")) for wire in change.detail["inputs"] for side in ("old", "new")]
    return any(end.startswith(f"{member}/") or end == member for end in ends for member in series)


def by_layer(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Items of one layer, or of the same layers."""
    first: dict[frozenset[LayerKey], int] = {}
    for number, item in enumerate(items):
        if item.layers:
            yield first.setdefault(item.layers, number), number


def chains(m: Matching, items: Sequence[Item], exchanged: bool = True) -> Iterable[tuple[int, int]]:
    """New ops that feed new ops, removed ones that fed removed ones; where layers may be `exchanged`, not from a layer
    in which something replaced something to another one."""
    for side, kind in ((m.b, "added"), (m.a, "removed")):
        # Number of the item by the node that came, or went, with it.
        at_node = {
            node: number
            for number, item in enumerate(items)
            if item.change.kind == kind
            for node in (item.change.edits.added if kind == "added" else item.change.edits.removed)
        }
        # Rewired ops, by their node on that side: what is new behind one of them is part of the same edit.
        around = {pair[kind == "added"]: number for number, item in enumerate(items) for pair in rewired_at(item)}
        within = exchanged_within(items) if exchanged else frozenset()
        for node, number in at_node.items():
            for source in side.graph.source[side.in_edges(node)].tolist():
                if source in at_node and at_node[source] != number:
                    # What replaced something in a layer is no part of a new layer behind it.
                    if within.isdisjoint(items[at_node[source]].layers ^ items[number].layers):
                        yield at_node[source], number
                elif source in around:
                    yield around[source], number


def rewired_at(item: Item) -> Iterable[tuple[int, int]]:
    """The ops, old and new, of an item that only says that they take other inputs."""
    return item.change.edits.inputs if item.change.kind == "rewired" else ()


def replacements(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Find the additions that replace removals: both feed one input."""
    removed = {
        m.a.graph.name[node]: number
        for number, item in enumerate(items)
        for node in item.change.edits.removed
        if item.change.kind == "removed"
    }
    within = exchanged_within(items)
    for number, item in enumerate(items):
        if item.change.kind == "added":
            for wire in item.change.detail.get("links", ()):
                # "name:key" without the output.
                source = str(wire["old"] or "").partition(":")[0]
                # In a new layer, it replaces nothing that another op of that layer does already.
                apart = source in removed and not within.isdisjoint(items[removed[source]].layers ^ item.layers)
                if wire["input"] != "control" and source in removed and not apart:
                    yield removed[source], number


def exchanged_within(items: Sequence[Item]) -> frozenset[LayerKey]:
    """The layers in which ops went and others came."""
    came, went = (
        frozenset(layer for item in items if item.change.kind == kind for layer in item.layers)
        for kind in ("added", "removed")
    )
    return came & went


def at_one_op(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Wires of one op: what it takes from something new, and what else it takes now."""
    first: dict[tuple[int, int], int] = {}
    for number, item in enumerate(items):
        if item.change.kind == "rewired":
            for pair in item.change.edits.inputs:
                first.setdefault(pair, number)
    for number, item in enumerate(items):
        if item.change.kind in ("added", "removed"):
            for pair in item.change.edits.inputs:
                if pair in first:
                    yield first[pair], number


def handed_over(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Wires that an op lost to something new, or took over from something that went."""
    for new in (True, False):
        side, other, partner = (m.b, m.a, m.to_b) if new else (m.a, m.b, m.to_a)
        fed = {
            int(source): number
            for number, item in enumerate(items)
            for node in (item.change.edits.added if new else item.change.edits.removed)
            for source in side.graph.source[side.in_edges(node)].tolist()
        }
        for number, item in enumerate(items):
            wires = [wire for pair in rewired_at(item) for wire in rewires(m, *pair) if not wire.control]
            # What came took over the input that an op lost; seen from the other side, what went gave one back.
            for lost, kept in [(wire.before, wire.after) if new else (wire.after, wire.before) for wire in wires]:
                # Lost and not replaced; `fed` holds what the new (or gone) nodes take.
                source = int(partner[other.graph.source[lost]]) if exists(lost) and not exists(kept) else -1
                if source in fed:
                    yield fed[source], number


def gates(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """What came into both branches of a gated unit: the layer that an op takes now in place of what it took, and the
    product of that op with what it took."""
    for side, kind, before, after in ((m.b, "added", "old", "new"), (m.a, "removed", "new", "old")):
        name = side.graph.name
        parts = [(number, item.change) for number, item in enumerate(items) if item.change.kind == kind]
        # By the op that takes it: what came before it, and what it took until then.
        entered = {
            (wire["node"][after], str(wire[before]).partition(":")[0]): number
            for number, change in parts
            for wire in change.detail.get("links", ())
            if wire["input"] != "control" and wire[before]
        }
        for number, change in parts:
            for node in change.edits.added or change.edits.removed:
                sources = [name[source] for source in side.graph.source[side.in_edges(node)].tolist()]
                for pair in ((user, other) for user in sources for other in sources if len(sources) == GATED):
                    if entered.get(pair, number) != number:
                        yield entered[pair], number


def losses(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """A loss that came, or went, and the ops that add up losses in the same scope."""
    first: dict[tuple[str, str], int] = {}
    scopes = [(item.change.kind, item.change.name.rpartition("/")[0]) for item in items]
    for number, item in enumerate(items):
        if is_loss(m, item.change):
            first.setdefault(scopes[number], number)
    for number, item in enumerate(items):
        if scopes[number] in first and measures(m, item.change):
            yield first[scopes[number]], number


def is_loss(m: Matching, change: Change) -> bool:
    """Whether a scope that came, or went, works out a loss."""
    if change.kind not in ("added", "removed") or not change.detail.get("scope"):
        return False
    side, nodes = (m.b, change.edits.added) if change.edits.added else (m.a, change.edits.removed)
    return Part.LOSS in side.graph.meaning.part()[list(nodes)].tolist()


def new_orders(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Wires that lead to and from the same layers: a swap."""
    first: dict[LayerKey, int] = {}
    for number, item in enumerate(items):
        if item.change.kind == "rewired":
            for layer in sorted(item.layers | item.near):
                yield first.setdefault(layer, number), number
