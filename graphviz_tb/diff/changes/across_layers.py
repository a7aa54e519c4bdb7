"""Find edits of many layers at once: frozen weights, another batch size, another order, shared weights."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.diff.changes.attributes import INTEGER_TYPES, Difference, computes_only_sizes
from graphviz_tb.diff.changes.names import without_common_ends
from graphviz_tb.diff.changes.places import edits_of_changes, other_places, unite_changes, without_objects
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.diff.match.matching import Matching, common_subsequence
from graphviz_tb.diff.traced import OWN_PARAMETER, SHARED_PARAMETER, traced_module
from graphviz_tb.model.change import Change, sort_by_severity
from graphviz_tb.model.change_content import InputWire, LayerOrder, Rewiring, Setting, Sides
from graphviz_tb.model.columns import exists
from graphviz_tb.model.layers import is_module
from graphviz_tb.model.paths import last_segment, natural_name_key
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    FILL_OPS,
    IDENTITY_OPS,
    INDEX_OPS,
    INPUT_OPS,
    SIZE_ARITHMETIC_OPS,
    SIZE_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
)

# Frozen graphs: weights that are variables in one graph and constants in the other.

FREEZING = "weights"  # the key of the change
VARIABLES, CONSTANTS = "variables", "constants"
STATE_OPS = VARIABLE_OPS | VARIABLE_READ_OPS
FROZEN_OPS = CONSTANT_OPS | IDENTITY_OPS


def freezing_changes(m: Matching, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return one change for all weights that became constants, one for all that became variables, and the changes
    merged into these: exchanged ops, and unmatched variables or reads next to them."""
    made: list[Change] = []
    taken: list[Change] = []
    for is_freezing in (True, False):
        exchanged = [change for change in changes if change.key == "op" and _only_freezes(m, change, is_freezing)]
        pairs = [pair for change in exchanged for pair in change.edits.ops]
        units: list[Change] = []
        has_constants = any((m.b if is_freezing else m.a).op_type(pair[is_freezing]) in CONSTANT_OPS for pair in pairs)
        sides = (
            (m.a, "removed", STATE_OPS if is_freezing else CONSTANT_OPS),
            (m.b, "added", CONSTANT_OPS if is_freezing else STATE_OPS),
        )
        for new, (side, kind, types) in enumerate(sides):
            replaced = {pair[new] for pair in pairs}
            neighbours = [each for each in changes if each.kind == kind and _is_beside(side, each, replaced, types)]
            has_constants |= bool(neighbours) and types is CONSTANT_OPS
            units += neighbours
        if not has_constants:
            continue
        places = sorted({(m.a.graph.name[old], m.b.graph.name[new]) for old, new in pairs})
        before, after = (shared_scope(names) for names in zip(*places, strict=True))
        words = (VARIABLES, CONSTANTS) if is_freezing else (CONSTANTS, VARIABLES)
        edits = edits_of_changes([*exchanged, *units])
        made.append(Change("changed", "op", before, after, len(pairs), Setting(FREEZING, *words), edits=edits))
        taken += [*exchanged, *units]
    return made, taken


def _only_freezes(m: Matching, change: Change, frozen: bool) -> bool:
    """Return whether a change only exchanges variables or reads for constants; the reverse if not `frozen`."""
    types = [(m.a.op_type(old), m.b.op_type(new)) for old, new in change.edits.ops]
    pairs = types if frozen else [pair[::-1] for pair in types]
    return bool(pairs) and all(state in STATE_OPS and constant in FROZEN_OPS for state, constant in pairs)


def _is_beside(side: GraphColumns, change: Change, known: AbstractSet[int], types: AbstractSet[str]) -> bool:
    """Return whether a change only adds or removes ops of the given types, next to known nodes."""
    nodes = change.edits.added or change.edits.removed
    ends = (end for node in nodes for end in (*side.data_sources(node), *side.data_users(node)))
    return bool(nodes) and types >= {side.op_type(node) for node in nodes} and not known.isdisjoint(ends)


# A batch size that only one graph knows: there, TensorFlow writes constants for sizes that the other computes.

SIZE_COMPUTING_OPS = SIZE_OPS | SIZE_ARITHMETIC_OPS | INDEX_OPS | FILL_OPS
BATCH_SIZE = "batch size"  # the key of a difference in the first size of a shape


def batch_changes(m: Matching, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return the changes of the batch size with their consequences, and all changes merged into these."""
    given = [change for change in changes if change.key == BATCH_SIZE]
    pairs = {(change.setting.old, change.setting.new) for change in given if change.setting}
    known = next((size for pair in pairs for size in pair if size.isdecimal() and int(size)), "")
    if len(pairs) != 1 or not known or "?" not in {size for pair in pairs for size in pair}:
        return [], []
    sizes = KnownBatch(m, int(known), pairs == {("?", known)})
    behind = [change for change in changes if change.key != BATCH_SIZE and sizes.explains(change)]
    first = replace(given[0], consequences=sort_by_severity([*given[0].consequences, *behind]))
    return [first, *given[1:]], [*given, *behind]


@dataclass(frozen=True, slots=True)
class KnownBatch:
    """A batch size that only one graph knows: the new graph if `is_new`."""

    m: Matching
    size: int
    is_new: bool

    def explains(self, change: Change) -> bool:
        """Return whether a change follows from a known batch size: constants replace ops that compute sizes."""
        if change.key == "op" and change.edits.ops:
            return all(map(self._is_folded, change.edits.ops))
        if change.kind in ("added", "removed"):
            # The graph with the known batch has fewer ops.
            loud = change.unit is not None and bool(change.unit.op_types.keys() - CONSTANT_OPS)
            return computes_only_sizes(self.m, change) and not (loud and (change.kind == "added") == self.is_new)
        return change.kind == "rewired" and computes_only_sizes(self.m, change)

    def _is_folded(self, pair: tuple[int, int]) -> bool:
        """Return whether one op is a constant that the other op computes, or fills, for the known batch size."""
        sides = ((self.m.a, pair[0]), (self.m.b, pair[1]))
        (folded, constant), (other, node) = sides[::-1] if self.is_new else sides
        definition = folded.graph.node_def(constant)
        if definition is None or definition.op not in CONSTANT_OPS or other.op_type(node) not in SIZE_COMPUTING_OPS:
            return False
        tensor = definition.attr["value"].tensor
        numbers = tensor_numbers(tensor)
        listed = numbers if isinstance(numbers, list) else [numbers]
        out = other.tensors.inference.first_output(node)
        if tensor.dtype in INTEGER_TYPES and out.value is not None:
            return self._are_of_batch(other, out.value, listed)
        # A `Fill` has one value everywhere.
        value = dict(other.data_inputs(node)).get(1, -1) if other.op_type(node) == "Fill" else -1
        filled = other.constant_numbers(value) if exists(value) else None
        if out.shape is None or filled is None or any(number != filled for number in listed):
            return False
        return self._are_of_batch(other, out.shape, [dim.size for dim in tensor.tensor_shape.dim])

    def _are_of_batch(self, other: GraphColumns, sizes: Sequence[int], listed: Sequence[Any]) -> bool:
        """Return whether inferred sizes, with the known batch size in place of its symbol, are the listed numbers."""
        symbols = other.tensors.inference.symbols
        known = [size if size > SYMBOL_LIMIT else symbols.evaluate(size, self.size) for size in sizes]
        return known == list(listed)


def shared_scope(names: Sequence[str]) -> str:
    """Return the innermost scope that contains at least 90 % of the names.

    >>> shared_scope(["m/a/x", "m/b/y"]), shared_scope(["a", "b"]), shared_scope(["m/a/x", "m/a/y/z"])
    ('m', '', 'm/a')
    """
    scopes = [name.split("/")[:-1] for name in names]
    shared: list[str] = []
    # One segment at a time: all scopes of a deep name together would be quadratic in its length.
    while scopes := [words for words in scopes if len(words) > len(shared)]:
        ((word, count),) = Counter([words[len(shared)] for words in scopes]).most_common(1)
        if 10 * count < 9 * len(names):
            break
        scopes = [words for words in scopes if words[len(shared)] == word]
        shared.append(word)
    return "/".join(shared)


# Layers that changed places.

NUMBERED = (-1, -2, -3)  # depths: blocks that are not scopes, but have numbered names
NUMBER = re.compile(r"(?<=[0-9])([/_.-]+)(?=[A-Za-z])")  # the rest of a name behind a number


def merge_order_changes(m: Matching, changes: list[Change]) -> Change:
    """Merge rewired inputs that show a new order of layers into one change."""
    order = None
    pairs = [pair for change in changes for pair in change.edits.inputs]
    new_order = _layer_order(m.layers[1], [new for _, new in pairs], m.layers[1].name)
    old_order = _layer_order(m.layers[0], [old for old, _ in pairs], lambda layer: _partner_name(m, layer))
    # Equal layers in another order; blocks with the same new order are described once.
    if set(old_order) == set(new_order) and old_order != new_order:
        blocks = _repeated_order(old_order, new_order)
        # The most frequent order: the first and the last block may have other neighbours.
        orders_of_blocks = Counter(blocks.values()).items()
        (before, after), count = max(
            orders_of_blocks, key=lambda pair: (pair[1], sorted(pair[0])), default=(((), ()), 0)
        )
        if count > 1:
            order = LayerOrder(before, after, len(blocks))
            # The place of the change is a block with this order.
            inside = tuple(around for around, orders in blocks.items() if orders == (before, after))
            changes = sorted(changes, key=lambda change: not change.name.startswith(inside))
        else:
            old_order, new_order = ([last_segment(name) for name in names] for names in (old_order, new_order))
            before, after = map(tuple, without_common_ends(old_order, new_order))
            order = LayerOrder(before, after)
    first, content = changes[0], Rewiring(located_wires(changes), order=order)
    also = other_places(changes, first)
    return unite_changes(first, changes, severity="wiring", content=content, also=also, consequences=())


def located_wires(changes: Iterable[Change]) -> tuple[InputWire, ...]:
    """Return the rewired inputs of changes, each with its node; a change at several places has one for each."""
    return tuple(
        wire if wire.node else replace(wire, node=Sides(*place))
        for change in changes
        for wire in change.links
        for place in (change.places if wire.node is None else ((None, None),))
    )


def _repeated_order(old: Sequence[str], new: Sequence[str]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the old and the new order of layers in each reordered block, by the block's name.

    >>> _repeated_order(["b_0/norm", "b_0/sum", "b_1/norm", "b_1/sum"], ["b_0/sum", "b_0/norm", "b_1/sum", "b_1/norm"])
    {'b_0': (('norm', 'sum'), ('sum', 'norm')), 'b_1': (('norm', 'sum'), ('sum', 'norm'))}
    """
    # Blocks are scopes, tried from the outside in, else numbered parts of names.
    for depth in (*range(1, max((full_name.count("/") for full_name in old), default=0) + 1), *NUMBERED):
        scopes: dict[str, tuple[list[str], list[str]]] = {}
        for side, names in enumerate((old, new)):
            for full_name in names:
                block, name_in_block = _common_scope_cut(full_name, depth)
                scopes.setdefault(block, ([], []))[side].append(name_in_block)
        pairs = {
            block: without_common_ends(*orders)
            for block, orders in scopes.items()
            if len(orders[0]) == len(orders[1]) > 1
        }
        changed = {block: (tuple(before), tuple(after)) for block, (before, after) in pairs.items() if before}
        # The outermost of several reordered scopes are the blocks.
        if len(changed) > 1:
            return changed
    return {}


def _common_scope_cut(name: str, depth: int) -> tuple[str, str]:
    """Split a name into the block's name and the rest: after `depth` segments or, if negative, after that many numbers.

    >>> (
    ...     _common_scope_cut("net/block_0/norm", 2),
    ...     _common_scope_cut("net_1/block_0_norm", -2),
    ...     _common_scope_cut("net/norm", -1),
    ... )
    (('net/block_0', 'norm'), ('net_1/block_0', 'norm'), ('', 'net/norm'))
    """
    if depth < 0:
        ends = [found for found, _ in zip(NUMBER.finditer(name), range(-depth), strict=False)]
        return (name[: ends[-1].start(1)], name[ends[-1].end() :]) if len(ends) == -depth else ("", name)
    segments = name.split("/")
    return "/".join(segments[:depth]), "/".join(segments[depth:])


def _partner_name(m: Matching, layer: int) -> str:
    """Return the new name of an old layer; the old name without a partner."""
    partner = int(m.scope_to_b[layer] if exists(layer) else m.to_b[-1 - layer])
    if not exists(partner):
        return m.layers[0].name(layer)
    return m.layers[1].name(partner if exists(layer) else -1 - partner)


def _layer_order(layers: Layers, nodes: Sequence[int], name_of: Callable[[int], str]) -> list[str]:
    """Return the names of the layers of nodes, in the order of data flow."""
    place: dict[int, float] = {}
    for node in nodes:
        if layers.forward[node]:
            layer = layers.layer_of_node(node)
            place[layer] = min(layers.depth[node], place.get(layer, 1.0))
    return [name for _, name in sorted((depth, name_of(layer)) for layer, depth in place.items())]


def fewest_moved_names(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the fewest names that must move to change one order into the other.

    >>> fewest_moved_names(["norm", "dense", "add"], ["dense", "add", "norm"])
    ['norm']
    """
    kept = {old[place] for place, _ in common_subsequence(old, new) or ()}
    return [name for name in old if name not in kept]


# Weights that layers began or ceased to share.

READING_OPS = VARIABLE_READ_OPS | IDENTITY_OPS
WEIGHT_OPS = VARIABLE_OPS | VARIABLE_READ_OPS | CONSTANT_OPS | INPUT_OPS


def split_weights_change(m: Matching, changes: Sequence[Change]) -> Change | None:
    """Return one change of a layer's weights, from shared to its own or the reverse, if changes only add weights for
    ops that used those of another layer; else None.

    Only one side has the weights: the new one where they were added. There, `takers` are the layers of the ops that use
    them; on the other side the same ops used the weights of the `lenders`.
    """
    for kind, new in (("added", 1), ("removed", 0)):
        parts = [change for change in changes if change.kind == kind]
        others = [change for change in changes if change.kind not in (kind, "rewired")]
        if all(map(_only_adds_weights, parts)) or not all(map(_only_adds_weights, others)):
            continue
        layers, forward = m.layers[new], m.layers[new].forward
        nodes = [node for change in parts for node in (*change.edits.added, *change.edits.removed) if forward[node]]
        if not WEIGHT_OPS.issuperset(map(layers.side.op_type, nodes)):
            continue
        lenders = _former_lenders(m, parts, new)
        users = sorted({pair for change in parts for pair in change.edits.inputs})
        # A layer and its gradients use the same weights: that is not sharing.
        new_uses = [pair for pair in users if forward[pair[new]]]
        takers = {layers.name_around(pair[new]) for pair in new_uses}
        if lenders and takers and (len(lenders | takers) > 1 or len(new_uses) == len(users)):
            (first, *also), content = _describe_sharing(m, lenders, new_uses, new)
            ops, edits = sum(change.ops for change in parts), edits_of_changes(changes)
            return Change("changed", "op", *first, ops, content, tuple(also), edits=edits)
    return None


def _describe_sharing(
    m: Matching, lenders: set[str], takes: Sequence[tuple[int, int]], which: int
) -> tuple[list[tuple[str, str]], Setting]:
    """Return the places and the words of a change: the layers of the ops `takes` used the weights of `lenders`, and
    have their own on side `which`."""
    # The layer that lends its weights may be rewired too, but does not count.
    apart = [pair for pair in takes if m.layers[which].name_around(pair[which]) not in lenders]
    own = [[m.layers[side].name_around(pair[side]) for pair in apart or takes] for side in (0, 1)]
    around = [names[0] if len(set(names)) == 1 else shared_scope(names) or names[0] for names in own]
    lender = shared_scope(sorted(lenders)) if len(lenders) > 1 else min(lenders)
    # Modules in one scope with their lenders are listed one by one.
    is_apart = {lender} != {*around}
    places = [(around[0], around[1])] if is_apart else sorted(set(zip(own[0], own[1], strict=True)))
    word = f"shared with {lender}" if apart and lender and is_apart else "shared"
    return places, Setting("weights", *((word, OWN_PARAMETER) if which else (OWN_PARAMETER, word)))


def _only_adds_weights(change: Change) -> bool:
    """Return whether a change only adds or removes reads of variables.

    >>> from graphviz_tb.model.change_content import Unit
    >>> kinds = ({"ReadVariableOp": 2}, {"ReadVariableOp": 1, "VarHandleOp": 1})
    >>> [_only_adds_weights(Change("added", "op", None, "a", 2, Unit(op_types=kind))) for kind in kinds]
    [True, False]
    """
    return change.unit is not None and change.unit.op_types.keys() <= READING_OPS


def _former_lenders(m: Matching, changes: Sequence[Change], new: int) -> set[str]:
    """Return the layers whose weights the ops used on the other side, without the ops' own layers."""
    other = m.layers[1 - new]
    index = other.side.graph.index[0]
    names: set[str] = set()
    # The sources of the rewired ops on the side with shared weights; behind a read the variable.
    wires = (wire for change in changes for wire in change.links)
    old_sources = {index[name] for wire in wires if (name := wire.source(not new)) in index}
    for node in old_sources:
        first, stop = other.side.in_start[node : node + 2]
        if first < stop and other.side.op_type(node) in READING_OPS:
            node = int(other.side.graph.source[first])
        op = other.side.op_type(node)
        gives_weights = op in WEIGHT_OPS and (op not in CONSTANT_OPS or node in other.variables)  # no plain number
        if gives_weights and exists((m.to_b if new else m.to_a)[node]):
            names.add(other.name_around(node))
    return names


def share_modules(m: Matching, changes: Sequence[Change]) -> list[Change]:
    """Replace moves between PyTorch modules by a change of sharing, if one module is called instead of several, or the
    reverse.

    St/Blk[1]/Linear[lin] → St/Blk[0]/Linear[lin]/linear_1        St/Blk[1]  weights its own → shared with St/Blk[0]
    """
    if not (m.a.has_module_scopes and m.b.has_module_scopes):
        return list(changes)
    # Parameters of an exported program are no calls: another name of a parameter is a rename.
    calls = ~m.a.graph.nodes_of_types(WEIGHT_OPS.__contains__)

    def modules_of(pairs: Iterable[tuple[int, int]]) -> list[tuple[str, str]]:
        kept = (pair for pair in pairs if calls[pair[0]])
        return [(traced_module(m.a.graph, old), traced_module(m.b.graph, new)) for old, new in kept]

    pairs = modules_of(zip(*(column.tolist() for column in m.matched_pairs()), strict=True))
    partners: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
    for old_name, new_name in pairs:
        partners[0][old_name].add(new_name)
        partners[1][new_name].add(old_name)
    result = list(changes)
    for are_united in (True, False):  # whether several modules became one
        shared_modules = {
            name for name, others in partners[are_united].items() if len(others) > 1 and is_module(last_segment(name))
        }
        moves, places = [], []
        for change in result:
            modules = modules_of(change.edits.nodes)
            if change.kind == "moved" and modules and all(pair[are_united] in shared_modules for pair in modules):
                moves.append(change)
                places += [_without_common_end(*pair) for pair in modules if pair[0] != pair[1]]
        if places:
            first, *also = sorted(set(places), key=lambda pair: tuple(map(natural_name_key, pair)))
            shared = f"{SHARED_PARAMETER}{first[are_united]}"
            old, new = (OWN_PARAMETER, shared) if are_united else (shared, OWN_PARAMETER)
            ops, edits = sum(change.ops for change in moves), edits_of_changes(moves)
            made = Change("changed", "op", *first, ops, Setting("weights", old, new), tuple(also), edits=edits)
            result = [*without_objects(result, moves), made]
    return result


def _without_common_end(old: str, new: str) -> tuple[str, str]:
    """Return two names without their common last segments.

    >>> _without_common_end("net/Blk[1]/Linear[a]", "net/Blk[0]/Linear[a]")
    ('net/Blk[1]', 'net/Blk[0]')
    """
    while "/" in old and "/" in new and last_segment(old) == last_segment(new):
        old, new = old.rpartition("/")[0], new.rpartition("/")[0]
    return old, new


def is_tying(difference: Difference) -> bool:
    """Return whether a PyTorch module began or ceased to share a parameter with another module."""
    values = difference.old, difference.new
    return OWN_PARAMETER in values and any(
        isinstance(value, str) and value.startswith(SHARED_PARAMETER) for value in values
    )
