"""Merge the differences of one edit: one layer, one chain of new ops, one replacement, one new order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

from graphviz_tb.diff.changes.attributes import COUNT_ATTRIBUTES, computes_only_sizes
from graphviz_tb.diff.changes.names import is_within, without_counters
from graphviz_tb.diff.changes.places import without_objects
from graphviz_tb.diff.changes.units import input_differences, nodes_of_unit, touched_nodes
from graphviz_tb.diff.columns.layers import QUIET_OPS
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.interpret.layer_classes import COMPOSED_ACTIVATIONS
from graphviz_tb.interpret.training import gradient_scope
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import FunctionSignature
from graphviz_tb.model.columns import exists
from graphviz_tb.model.interpretation import Part, VariableUse
from graphviz_tb.model.layers import is_module, module_attribute
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import (
    CAST_OPS,
    CONSTANT_OPS,
    IDENTITY_OPS,
    INPUT_OPS,
    RESULT_OPS,
    UNIT_AXES_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
    is_reduction,
)
from graphviz_tb.ops.table import OP_LINES, op_name

CONVERTING_OPS = CAST_OPS | UNIT_AXES_OPS | INPUT_OPS  # quiet ops whose result differs from their input
LayerKey = tuple[str, int]  # "new" or "old", and the layer


@dataclass(frozen=True, slots=True)
class Item:
    """A difference with the layers that it is in.

    `follows`: it may be a consequence. `forward`: it is in the model itself. `near`: the layers at the other ends of
    its old and new wires. `sized`: its numbers are sizes of weights or inputs.
    """

    change: Change
    follows: bool
    forward: bool
    layers: frozenset[LayerKey]
    near: frozenset[LayerKey]
    sized: bool = False


def make_item(m: Matching, change: Change, follows: bool, is_size: Callable[[Any, Any], bool]) -> Item:
    """Return a change as an item. `is_size` decides whether an old and a new number are sizes of weights or inputs."""
    old, new = touched_nodes(change)
    # A change in a function is located at its calls: the function is in no layer of the main graph.
    if change.function is not None:
        old, new = functions_callers(m, change)
        inside = change.inside
        follows = bool(inside) and all(_may_follow_in_function(inner, is_size) for inner in inside)
    if change.kind == "rewired":
        follows = _only_other_outputs(m, change)
    # Ops that read sizes are added or removed as sizes become known; another op type or input there is an edit.
    follows = follows or (change.kind in ("added", "removed") and computes_only_sizes(m, change))
    in_model = bool(m.layers[1].forward[list(new)].any() or m.layers[0].forward[list(old)].any())
    if in_model and change.kind in ("added", "removed"):
        follows = follows or (is_plumbing(change) and not _is_in_model_wire(m, change))
        # Exporters also write a weight out, as many times as there are examples.
        follows = follows and (m.b.graph.is_exported or not _exchanges_weight(m, change))
    layers = frozenset([*(_layer_key(m, node, True) for node in new), *(_layer_key(m, node, False) for node in old)])
    rewired_layers = frozenset(_rewired_layers(m, change)) if change.kind == "rewired" else frozenset()
    is_resized = change.setting is not None and all(is_size(part.old, part.new) for part in change.setting.as_parts)
    return Item(change, follows, in_model, layers, rewired_layers, is_resized)


def is_plumbing(change: Change) -> bool:
    """Return whether a change only adds or removes ops that provide or forward values."""
    return change.kind in ("added", "removed") and op_types_of(change) <= QUIET_OPS


WEIGHT_COUNTS = frozenset({"num_layers", "bidirectional", "has_biases"})  # settings by which an op has more weights


def counts_weights(m: Matching, settings: Sequence[Item], units: Sequence[Item]) -> bool:
    """Return whether only weights came or went, of ops by whose settings they are more or fewer."""
    counted = {pair for item in settings if item.change.key in WEIGHT_COUNTS for pair in item.change.edits.attributes}
    ops = [{pair[new] for pair in counted} for new in (0, 1)]
    return all(
        op_types_of(item.change) <= VARIABLE_OPS and ops[side is m.b].issuperset(side.data_users(node))
        for item in units
        for side, nodes in [nodes_of_unit(m, item.change)]
        for node in nodes
    )


def _is_in_model_wire(m: Matching, change: Change) -> bool:
    """Return whether the added or removed ops matter to an op of the model that uses them: they convert a value, or are
    a weight that the op has in addition, or no longer."""
    in_model = any(m.layers[1].forward[new] for _, new in change.edits.inputs)
    is_weight = op_types_of(change) <= VARIABLE_OPS and all(
        m.a.op_type(old) == m.b.op_type(new) and new not in m.b.functions_called_by_node
        for old, new in change.edits.inputs
    )
    is_other_weight = is_weight and all(None in (wire.old, wire.new) for wire in change.links)
    return in_model and (is_other_weight or not CONVERTING_OPS.isdisjoint(op_types_of(change)))


def _exchanges_weight(m: Matching, change: Change) -> bool:
    """Return whether an op that stays takes a number in the place of a weight, or a weight in that of a number."""
    wires = (wire for old, new in change.edits.inputs for wire in input_differences(m, old, new))
    stay = [wire for wire in wires if exists(wire.before) and exists(wire.after) and not wire.control]
    weighs = (
        [exists(side.graph.meaning.origin[side.graph.source[edge]]) for side, edge in ((m.a, one), (m.b, other))]
        for one, other in ((wire.before, wire.after) for wire in stay if m.a.op_type(wire.old) == m.b.op_type(wire.new))
    )
    return any(old != new for old, new in weighs)


def computes_metrics(m: Matching, change: Change) -> bool:
    """Return whether a change only adds or removes ops that compute or report metrics."""
    if change.kind not in ("added", "removed"):
        return False
    side, nodes = nodes_of_unit(m, change)
    graph, meaning = side.graph, side.graph.meaning
    uses = m.layers[bool(change.edits.added)].variables
    kept = {node for node, use in uses.items() if use == VariableUse.STATE}
    loud = [node for node in nodes if graph.op_types[graph.op[node]] not in QUIET_OPS]
    return bool(loud) and all(
        int(meaning.part()[node]) == Part.BOOKKEEPING
        or kept.issuperset(meaning.origin[side.data_sources(node)].tolist())
        for node in loud
    )


def op_types_of(change: Change) -> Set[str]:
    """Return the types of added and removed ops; an empty set for any other change."""
    return change.unit.op_types.keys() if change.unit else frozenset()


def _may_follow_in_function(inner: Change, is_size: Callable[[Any, Any], bool]) -> bool:
    """Return whether a change in a function may be a consequence of one outside: only types and sizes differ."""
    if setting := inner.setting:
        if setting.weights:
            pairs = [(pair.old, pair.new) for pair in setting.weights]
            shapes = [[[*map(int, re.findall("[0-9]+", str(end)))] for end in pair] for pair in pairs]
            return all(is_size(*pair) for pair in (*shapes, *((part.old, part.new) for part in setting.beside)))
        return all(
            part.key in {"dtype", *COUNT_ATTRIBUTES}
            or (setting.constant and isinstance(part.old, list) and is_size(part.old, part.new))
            for part in setting.as_parts
        )
    return isinstance(inner.content, FunctionSignature) and inner.content.returned is None


def _only_other_outputs(m: Matching, change: Change) -> bool:
    """Return whether inputs come from the same ops as before, at other outputs because the number of outputs
    changed."""
    wires = [wire for old, new in change.edits.inputs for wire in input_differences(m, old, new)]
    if any(wire.control or not exists(wire.before) or not exists(wire.after) for wire in wires):
        return False
    sides = (m.a, [wire.before for wire in wires]), (m.b, [wire.after for wire in wires])
    old_outputs, new_outputs = (sorted(side.graph.keys[key] for key in side.graph.key[edges]) for side, edges in sides)
    ends = {(int(m.a.graph.source[wire.before]), int(m.b.graph.source[wire.after])) for wire in wires}
    # The same outputs in another order are an edit.
    if old_outputs == new_outputs or any(int(m.to_b[old]) != new for old, new in ends):
        return False
    for old, new in ends:  # an unchanged op with as many used outputs does not explain it
        used_outputs = [{*side.graph.key[side.out_edges(node)].tolist()} for side, node in ((m.a, old), (m.b, new))]
        if m.a.node_label[old] == m.b.node_label[new] and len(used_outputs[0]) == len(used_outputs[1]):
            return False
    return True


def functions_callers(m: Matching, change: Change) -> tuple[set[int], set[int]]:
    """Return the nodes of the main graphs that call the functions of a change, directly or not, old and new."""
    names = {name for place in change.places for name in place if name}
    old, new = (
        {
            node
            for name in names
            for index in side.functions_called.get(name, ())
            for node in side.callers_in_main[index]
        }
        for side in (m.a, m.b)
    )
    # Matched calls count on the new side only.
    return {node for node in old if not exists(m.to_b[node])}, new


def _layer_key(m: Matching, node: int, new: bool) -> LayerKey:
    """Return the layer of a node; for an old node, the partner of its layer if there is one."""
    if new:
        return "new", m.layers[1].layer_of_node(node)
    layer = m.layers[0].layer_of_node(node)
    partner = int(m.scope_to_b[layer]) if exists(layer) else -1
    return ("new", partner) if exists(partner) else ("old", layer)


def _rewired_layers(m: Matching, change: Change) -> Iterable[LayerKey]:
    """Yield the layers of the removed and added sources of rewired inputs."""
    for old, new in change.edits.inputs:
        before = set(m.a.sources(old))
        after = set(m.b.sources(new))
        kept = {int(m.to_b[node]) for node in before if exists(m.to_b[node])}
        for node in kept ^ after:
            yield "new", m.layers[1].layer_of_node(node)


FUSED_ACTIVATION = "activation"  # the attribute of an op that applies an activation to its result
GATE_INPUTS = 2  # operands of a product


def group_into_edits(m: Matching, items: Sequence[Item], exchanged: Set[LayerKey]) -> list[list[Item]]:
    """Group items into edits: items are nodes of a graph, each rule below gives some of its edges, and the connected
    parts are the edits. Two kinds of edges do not count: between an item that is an edit alone (`_loose_items`) and
    others, and between an exchange of layers (`exchanged`) and additions or removals elsewhere."""
    loose = _loose_items(m, items, exchanged)
    rules = (
        pairs_by_layer(items, loose | _inputs_beside_edits(m, items)),
        pairs_by_chain(m, items),
        pairs_by_replacement(m, items),
        pairs_at_one_op(items),
        pairs_by_handover(m, items),
        _pairs_by_gate(m, items),
        _pairs_by_loss(m, items),
        _pairs_by_activation(m, items),
    )
    of_exchange = {number for number, item in enumerate(items) if item.layers and item.layers <= exchanged}
    other_units = {
        number
        for number, item in enumerate(items)
        if item.change.unit and item.layers.isdisjoint(exchanged) and all(exists(row) for _, row in item.layers)
    }
    separate = of_exchange, other_units
    pairs = [
        (first, second)
        for first, second in chain.from_iterable(rules)
        if not any(first in separate[side] and second in separate[1 - side] for side in (0, 1))
    ]
    pairs = [pair for pair in [*pairs, *_pairs_by_order(items)] if (pair[0] in loose) == (pair[1] in loose)]
    return [[items[number] for number in group] for group in weak_components(len(items), pairs)]


def _loose_items(m: Matching, items: Sequence[Item], exchanged: Set[LayerKey]) -> set[int]:
    """Return the rewired inputs that are no part of an addition or removal: both ends stayed, at an op without other
    added or removed inputs, outside of `exchanged` layers and of a series of which one member came or went."""
    beside = {number for pair in pairs_at_one_op(items) for number in pair}
    # If it is uncertain which member of a series was added or removed, rewired inputs at the others belong to it.
    series = {without_counters(item.change.name) for item in items if item.change.unit and item.change.unit.equal}
    for number, item in enumerate(items) if series else ():
        ends = (item.change.name, *(end or "" for wire in item.change.links for end in (wire.old, wire.new)))
        within = (is_within(without_counters(end), member) for end in ends for member in series)
        beside |= {number} if item.change.kind == "rewired" and any(within) else set()
    apart = (number for number, item in enumerate(items) if number not in beside and not item.layers <= exchanged)
    return {number for number in apart if _is_loose(m, items[number])}


def _inputs_beside_edits(m: Matching, items: Sequence[Item]) -> set[int]:
    """Return the changed inputs of the program in layers with another edit: these are separate edits."""
    nodes_of = [[new for _, new, _ in item.change.edits.attributes] for item in items]
    ports = {number for number, nodes in enumerate(nodes_of) if nodes and INPUT_OPS.issuperset(map(m.b.op_type, nodes))}
    edited = {
        item.layers for number, item in enumerate(items) if number not in ports and not (item.follows or item.sized)
    }
    return {number for number in ports if items[number].layers in edited}


def _is_loose(m: Matching, item: Item) -> bool:
    """Return whether an item rewires an input between nodes that both graphs have, at an op that others still use:
    then it is independent of additions and removals around it."""
    moves = all(
        _leads_only_to_edit(m, old, False) or _leads_only_to_edit(m, new, True) for old, new in _rewired_pairs(item)
    )
    return not moves and any(
        exists(wire.before)
        and exists(wire.after)
        and exists(m.to_b[m.a.graph.source[wire.before]])
        and exists(m.to_a[m.b.graph.source[wire.after]])
        for pair in _rewired_pairs(item)
        for wire in input_differences(m, *pair)
    )


def _leads_only_to_edit(m: Matching, node: int, new: bool) -> bool:
    """Return whether only ops of its layer that one graph has take the result of an op."""
    partner, layers = (m.to_a if new else m.to_b), m.layers[new]
    users = layers.side.data_users(node)
    layer = layers.layer_of_node(node)
    return bool(users) and all(not exists(partner[each]) and layers.layer_of_node(each) == layer for each in users)


def pairs_by_layer(items: Sequence[Item], loose: Set[int] = frozenset()) -> Iterable[tuple[int, int]]:
    """Pair items of the same set of layers; `loose` items only with each other."""
    first: dict[tuple[frozenset[LayerKey], bool], int] = {}
    for number, item in enumerate(items):
        if item.layers:
            yield first.setdefault((item.layers, number in loose), number), number


def pairs_by_chain(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair added ops that feed each other, and removed ops that fed each other."""
    for side, new in ((m.b, True), (m.a, False)):
        at_node = _numbers_by_node(items, new)
        # Additions behind a rewired op belong to the same edit.
        around = {pair[new]: number for number, item in enumerate(items) for pair in _rewired_pairs(item)}
        for node, number in at_node.items():
            for source in side.sources(node):
                first = at_node.get(source, number)
                if first != number:
                    yield first, number
                elif source not in at_node and source in around:
                    yield around[source], number


def _numbers_by_node(items: Sequence[Item], new: bool) -> dict[int, int]:
    """Return the number of the item that adds (`new`) or removes each node, by node."""
    kind = "added" if new else "removed"
    units = ((number, item.change.edits) for number, item in enumerate(items) if item.change.kind == kind)
    return {node: number for number, edits in units for node in edits.unmatched_nodes(new)}


def _rewired_pairs(item: Item) -> Iterable[tuple[int, int]]:
    """Return the ops, old and new, of an item that rewires inputs; () for any other."""
    return item.change.edits.inputs if item.change.kind == "rewired" else ()


def pairs_by_replacement(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Yield removals with the additions that replace them, since both feed one input."""
    removed = {m.a.graph.name[node]: number for node, number in _numbers_by_node(items, new=False).items()}
    wires = [
        (wire, number) for number, item in enumerate(items) for wire in item.change.links if item.change.kind == "added"
    ]
    sources = [(wire.source(False), number) for wire, number in wires if wire.slot is not None]
    pairs = [(removed[source], number) for source, number in sources if source in removed]
    elsewhere = _forms_elsewhere(m, items, {number for pair in pairs for number in pair})
    for old, new in pairs:
        pair = items[old], items[new]
        if elsewhere.isdisjoint(map(_form, pair)) or _loud_ends(m, pair[:1]) == _loud_ends(m, pair[1:]):
            yield old, new


def _is_activation(ops: Sequence[str]) -> bool:
    """Return whether ops of these types are one activation."""
    return frozenset(map(op_name, ops)) in COMPOSED_ACTIVATIONS or (len(ops) == 1 and has_role(ops[0], Role.ACTIVATION))


def _forms_elsewhere(
    m: Matching, items: Sequence[Item], paired: Set[int]
) -> frozenset[tuple[str, tuple[tuple[str, int], ...]]]:
    """Return the forms of additions and removals that are no replacements: not `paired`, and between ops that
    stayed."""
    units = (item for number, item in enumerate(items) if number not in paired and item.change.unit)
    return frozenset(_form(item) for item in units if not is_plumbing(item.change) and _stands_alone(m, item))


def _stands_alone(m: Matching, item: Item) -> bool:
    """Return whether the ops before and behind an addition or removal stayed, except weights and constants.

    Among several ops of one type in a row, such as the sums of blocks, some on each side must have stayed.
    """
    edits = item.change.edits
    for side, nodes, partner in ((m.a, edits.removed, m.to_b), (m.b, edits.added, m.to_a)):
        for ends_of in (side.data_sources, side.data_users):
            ends = {end for node in nodes for end in ends_of(node)} - set(nodes)
            other = {side.op_type(end) for end in ends if not exists(partner[end])} - QUIET_OPS
            if other and not (other <= op_types_of(item.change) and any(exists(partner[end]) for end in ends)):
                return False
    return True


def _form(item: Item) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Return a key that is equal for similar additions, or removals: the kind and the counts of op types."""
    return item.change.kind, tuple(sorted(item.change.unit.op_types.items())) if item.change.unit else ()


def split_exchange(m: Matching, group: list[Item]) -> list[list[Item]]:
    """Split a group with several exchanges into these; split the exchange of a module, an activation or a reduction
    from additions and removals in the layers before or behind it."""
    removals, additions = ([item for item in group if item.change.kind == kind] for kind in ("removed", "added"))
    # The items by their neighbours before and behind: an exchange has the same ones on both sides.
    old_by_ends, new_by_ends = (
        {(_loud_ends(m, [item]), _loud_ends(m, [item], True)): item for item in some} for some in (removals, additions)
    )
    exchanges = [[old, new_by_ends[ends]] for ends, old in old_by_ends.items() if ends[1] and ends in new_by_ends]
    if 2 * len(exchanges) == len(group):
        return exchanges
    kinds = _is_activation, lambda ops: len(ops) == 1 and is_reduction(ops[0])
    pairs_by_kind = [(_items_of_kind(m.a, removals, kind), _items_of_kind(m.b, additions, kind)) for kind in kinds]
    for old, new in (_items_of_module(m, removals, additions), *pairs_by_kind):
        rest = without_objects(group, [*old, *new])
        exchanged, others = (frozenset().union(*(item.layers for item in part)) for part in ([*old, *new], rest))
        is_whole = all(is_plumbing(item.change) for item in rest) or not exchanged.isdisjoint(others)
        if (
            old
            and new
            and not is_whole
            and any(_loud_ends(m, old, users) == _loud_ends(m, new, users) for users in (False, True))
        ):
            return [[*old, *new], rest]
    return [group]


def _items_of_kind(
    side: GraphColumns, items: Sequence[Item], is_of_kind: Callable[[Sequence[str]], bool]
) -> list[Item]:
    """Return the additions, or removals, that are of a kind: all together, or a single one; [] if several are."""
    if is_of_kind(_loud_types(side, items)):
        return list(items)
    found = [[item] for item in items if is_of_kind(_loud_types(side, [item]))]
    return found[0] if len(found) == 1 else []


def _items_of_module(m: Matching, went: list[Item], came: list[Item]) -> tuple[list[Item], list[Item]]:
    """Return the removals and additions in the one module that is of another class; none if several are."""
    found: list[dict[str, list[Item]]] = [{}, {}]
    for own, items, layers in zip(found, (went, came), m.layers, strict=True):
        for item in items:
            nodes = item.change.edits.added or item.change.edits.removed
            around = {last_segment(layers.name_around(node)) for node in nodes}
            if len(around) == 1 and is_module(module := around.pop()):
                own.setdefault(module_attribute(module), []).append(item)
    both = found[0].keys() & found[1].keys()
    return (found[0][address], found[1][address]) if len(both) == 1 and (address := min(both)) else ([], [])


def _loud_types(side: GraphColumns, items: Sequence[Item]) -> list[str]:
    """Return the types of the ops that items add or remove, without quiet ones."""
    nodes = [node for item in items for node in (*item.change.edits.added, *item.change.edits.removed)]
    return [op for op in map(side.op_type, nodes) if op not in QUIET_OPS]


def _loud_ends(m: Matching, items: Sequence[Item], users: bool = False) -> frozenset[int]:
    """Return the inputs (or the `users`) of additions, or removals, as nodes of the new graph, without quiet ops."""
    found: set[int] = set()
    for side, kind, to_new in ((m.a, "removed", m.to_b), (m.b, "added", None)):
        nodes = {node for item in items for node in getattr(item.change.edits, kind)}
        ends = {end for node in nodes for end in (side.data_users(node) if users else side.data_sources(node))} - nodes
        loud = (end for end in ends if side.op_type(end) not in QUIET_OPS)
        found.update(loud if to_new is None else (int(to_new[end]) for end in loud))
    return frozenset(found)


def pairs_at_one_op(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair an addition or removal at an input of an op with the rewiring of its other inputs."""
    wired = [(number, item.change.kind, pair) for number, item in enumerate(items) for pair in item.change.edits.inputs]
    first = {pair: number for number, kind, pair in reversed(wired) if kind == "rewired"}
    return [(first[pair], number) for number, kind, pair in wired if kind in ("added", "removed") and pair in first]


def pairs_by_handover(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair ops that lost an input with the addition that now uses it; seen from the other side, ops that gained an
    input with the removal that used it."""
    for new in (True, False):
        side, other, partner = (m.b, m.a, m.to_b) if new else (m.a, m.b, m.to_a)
        fed = {source: number for node, number in _numbers_by_node(items, new).items() for source in side.sources(node)}
        for number, item in enumerate(items):
            wires = [wire for pair in _rewired_pairs(item) for wire in input_differences(m, *pair) if not wire.control]
            for lost, kept in [(wire.before, wire.after) if new else (wire.after, wire.before) for wire in wires]:
                source = int(partner[other.graph.source[lost]]) if exists(lost) and not exists(kept) else -1
                if source in fed:
                    yield fed[source], number


def _pairs_by_activation(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair an op whose fused activation changed with the op behind it that was added or removed."""
    for new, side in enumerate((m.a, m.b)):
        fused = {
            pair[new]: number
            for number, item in enumerate(items)
            if item.change.key == FUSED_ACTIVATION
            for pair in item.change.edits.attributes
        }
        for number, item in enumerate(items) if fused else ():
            nodes = item.change.edits.unmatched_nodes(bool(new))
            for source in side.data_sources(nodes[0]) if len(nodes) == 1 else ():
                if source in fused:
                    yield fused[source], number


def _pairs_by_gate(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair the additions that make an op a gated unit: the layer on the op's new input, and the product of the op with
    its old input."""
    for side, kind, is_added in ((m.b, "added", True), (m.a, "removed", False)):
        name = side.graph.name
        units = [(number, item.change) for number, item in enumerate(items) if item.change.kind == kind]
        # By op and its former input: the addition in front of the op.
        unit_in_front = {
            (wire.node.new if is_added else wire.node.old, wire.source(not is_added)): number
            for number, change in units
            for wire in change.links
            if wire.slot is not None and wire.node and wire.source(not is_added)
        }
        for number, change in units:
            for node in change.edits.added or change.edits.removed:
                sources = [name[source] for source in side.sources(node)]
                for pair in ((user, other) for user in sources for other in sources if len(sources) == GATE_INPUTS):
                    if unit_in_front.get(pair, number) != number:
                        yield unit_in_front[pair], number


def _pairs_by_loss(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair an added or removed loss with the ops that add up losses in the same scope."""
    scopes = [(item.change.kind, item.change.name.rpartition("/")[0]) for item in items]
    losses = [number for number, item in enumerate(items) if is_loss_scope(m, item.change)]
    first = {scopes[number]: number for number in reversed(losses)}
    for number, item in enumerate(items):
        if scopes[number] in first and computes_metrics(m, item.change):
            yield first[scopes[number]], number


def is_loss_scope(m: Matching, change: Change) -> bool:
    """Return whether an added or removed scope computes a loss."""
    if not (change.unit and change.unit.scope):
        return False
    side, nodes = nodes_of_unit(m, change)
    return Part.LOSS in side.graph.meaning.part()[list(nodes)].tolist()


def _pairs_by_order(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Pair rewired inputs at or from a common layer, as when layers are swapped."""
    first: dict[LayerKey, int] = {}
    for number, item in enumerate(items):
        if item.change.kind == "rewired":
            for layer in sorted(item.layers | item.near):
                yield first.setdefault(layer, number), number


PLUMBING = CAST_OPS | CONSTANT_OPS | IDENTITY_OPS | VARIABLE_READ_OPS


def is_inner_name(
    m: Matching,
    change: Change,
    near: frozenset[LayerKey],
    exchanged: frozenset[LayerKey],
    trained: bool,
) -> bool:
    """Return whether a change only concerns names that TensorFlow chose: inside changed layers (`near`), of layers with
    `exchanged` ops, of derived ops, of constants; if the training changed (`trained`), all derived names."""
    if change.kind not in ("renamed", "moved"):
        return False
    if change.severity == "cosmetic":
        return True
    scopes, forward = m.layers[1].side.scopes, m.layers[1].forward
    names = [(m.a.scopes.name[old], scopes.name[new]) for old, new in change.edits.scopes]
    derived = [not forward[scopes.nodes(new)].any() for _, new in change.edits.scopes]
    quiet = trained or change.kind == "moved" or not all(derived)
    # Nobody names gradients, or scopes after ops.
    quiet |= all(
        gradient_scope(f"{new}/") or {without_counters(last_segment(each)) for each in (old, new)} <= OP_LINES.keys()
        for old, new in names
    )
    for (_, new), follows in zip(change.edits.scopes, derived, strict=True):
        if follows and quiet:
            continue
        layer = int(m.layers[1].of_row[new])
        inner = {_layer_key(m, node, True) for node in scopes.nodes(new).tolist()}
        if layer == new and ("new", layer) in exchanged:
            continue
        if (layer in (-1, new) or ("new", layer) not in near) and not (inner and inner <= near - {("new", new)}):
            return False
    for old, new in change.edits.nodes:
        # A result of an exported program is named after the op that computes it, which may have changed.
        before, after = m.a.data_sources(old), m.b.data_sources(new)
        is_same_source = len(before) == len(after) == 1 and int(m.to_b[before[0]]) == after[0]
        keeps_op = is_same_source and m.a.op_type(before[0]) == m.b.op_type(after[0])
        is_unnamed = m.a.op_type(old) in PLUMBING or (m.a.op_type(old) in RESULT_OPS and not keeps_op)
        if m.layers[0].forward[old] and not is_unnamed and _layer_key(m, new, True) not in near:
            return False
    return True
