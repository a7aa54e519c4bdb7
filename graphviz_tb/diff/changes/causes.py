"""Causes and consequences: of all differences of one graph the few that were made, and behind each what follows.

items          each found difference: its nodes, its layers, whether it is the model's or derived
edits          what is one edit: one layer, one chain of new ops, one thing in place of another, one new order
consequences   shapes behind another size; gradients, updates, saving: whatever TensorFlow derives
places         the same edit at many places is one change
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graphviz_tb.diff.changes.compose import QUIET, composed, together
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.training import training_changes
from graphviz_tb.diff.match.doubt import UNRELATED
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change, in_order

FOLDED = ("added", "removed", "changed", "rewired", "function-changed")
CASTS = frozenset({"Cast", "Const", "Identity", "ReadVariableOp"})
ENTAILED = frozenset(
    {"op", "dtype", "T", "Tin", "Tout", "N", "shape", "value", "num", "num_split", "num_elements", "element_shape",
     "output_types", "output_shapes"}
)  # fmt: skip
Layer = tuple[str, int]  # "new" or "old", and the layer


@dataclass(frozen=True, slots=True)
class Item:
    """One difference: `follows` if it may only follow from another one; `forward` if it is the model's own; `layers`
    it lies in; `near` those that its wires lead from or led from."""

    change: Change
    follows: bool
    forward: bool
    layers: frozenset[Layer]
    near: frozenset[Layer]


def folded(m: Matching, layers: tuple[Layers, Layers], found: Sequence[tuple[Change, bool]]) -> list[Change]:
    """The changes of one graph with their consequences; of graphs with little in common all that was found."""
    if any(notice.code == UNRELATED for notice in m.notices):
        return [change for change, _ in found]
    others = [change for change, _ in found if change.kind not in FOLDED]
    items = [item_of(m, layers, change, follows) for change, follows in found if change.kind in FOLDED]
    near = frozenset(layer for item in items if item.forward for layer in item.layers)
    apart = [item.change for item in items if not item.forward and stands_alone(item, near)]
    derived = [item.change for item in items if not item.forward and item.change not in apart]
    groups = edits(m, [item for item in items if item.forward])
    causes = [composed(m, layers, [item.change for item in group]) for group in groups if not all_follow(group)]
    behind = [item.change for group in groups if all_follow(group) for item in group]
    trained = training_changes(m, layers) if derived else []
    if any(change.detail["key"] == "optimizer" for change in trained):
        derived, apart = [*derived, *apart], []
    causes += [*trained, *apart]
    if not causes and behind:
        causes, behind = [composed(m, layers, behind[:1])], behind[1:]
    if not causes and derived:
        causes, derived = [composed(m, layers, derived)], []
    names = [change for change in others if inner_name(m, layers, change, near, bool(trained))]
    if causes:
        behind += names
        others = [change for change in others if change not in names]
    return [*others, *with_consequences(at_places(causes), [*behind, *derived])]


def stands_alone(item: Item, near: frozenset[Layer]) -> bool:
    """Whether a change of something derived is no consequence: a rate or an attribute that somebody set.

    Types, sizes and numbers of inputs follow from the model, and so does what an initialiser holds for a layer that
    changed; ops and wires follow it too.
    """
    detail = item.change.detail
    if item.change.kind != "changed" or item.follows or "weights" in detail or item.layers & near:
        return False
    whole = detail.get("constant") and isinstance(detail["old"], int | list) and isinstance(detail["new"], int | list)
    return not whole and detail["key"] not in ENTAILED


def inner_name(
    m: Matching, layers: tuple[Layers, Layers], change: Change, near: frozenset[Layer], trained: bool
) -> bool:
    """Whether only names inside layers that changed are others, of single derived ops, or of constants: TensorFlow
    gave them. Where the training is another (`trained`), so are all names of what is derived."""
    if change.kind not in ("renamed", "moved"):
        return False
    for _, new in change.edits.scopes:
        layer = int(layers[1].of_row[new])
        cosmetic = change.severity == "cosmetic"
        if (trained or cosmetic) and not layers[1].forward[layers[1].side.scopes.nodes(new)].any():
            continue
        if layer in (-1, new) or ("new", layer) not in near:
            return False
    side = layers[0].side
    for old, new in change.edits.nodes:
        plumbing = side.graph.op_types[side.graph.op[old]] in CASTS
        if layers[0].forward[old] and not plumbing and layer_of(m, layers, new, True) not in near:
            return False
    return True


def all_follow(group: Sequence[Item]) -> bool:
    """Whether an edit is only what another one entails."""
    return all(item.follows for item in group)


def item_of(m: Matching, layers: tuple[Layers, Layers], change: Change, follows: bool) -> Item:
    """Where a change is."""
    old, new = touched(change)
    if is_function(change):
        old, new = callers(m, change)
        follows = all(may_follow(inner) for inner in change.inside) and bool(change.inside)
    if change.kind in ("added", "removed"):
        follows = follows or change.detail.get("op_types", {}).keys() <= QUIET
    forward = bool(layers[1].forward[list(new)].any() or layers[0].forward[list(old)].any())
    mine = frozenset(
        [*(layer_of(m, layers, node, True) for node in new), *(layer_of(m, layers, node, False) for node in old)]
    )
    near = frozenset(ends(m, layers, change)) if change.kind == "rewired" else frozenset()
    return Item(change, follows, forward, mine, near)


def is_function(change: Change) -> bool:
    """Whether a change is one of a function of the library."""
    return change.kind == "function-changed" or "function" in change.detail


def may_follow(inner: Change) -> bool:
    """Whether a change in a function may only follow from one outside: types and sizes come in from there."""
    detail = inner.detail
    if inner.kind == "changed":
        whole = isinstance(detail["old"], int) and isinstance(detail["new"], int)
        return detail["key"] == "dtype" or bool(detail.get("constant") and whole)
    return inner.kind == "signature-changed" and "returned" not in detail


def callers(m: Matching, change: Change) -> tuple[set[int], set[int]]:
    """The nodes of the main graphs whose calls lead to the functions of a change, old and new."""
    names = {name for place in ((change.old, change.new), *change.also) for name in place if name}
    found: list[set[int]] = []
    for side in (m.a, m.b):
        graph = side.graph
        wanted = {index for index, function in enumerate(graph.functions) if function.name in names}
        seen: set[int] = set()
        nodes: set[int] = set()
        while wanted:
            seen |= wanted
            at = {call.node for call in graph.calls if call.function in wanted}
            nodes |= {node for node in at if side.block[node] == 0}
            wanted = {int(side.block[node]) - 1 for node in at if side.block[node]} - seen
        found.append(nodes)
    return ({node for node in found[0] if m.to_b[node] < 0}, found[1])


def touched(change: Change) -> tuple[set[int], set[int]]:
    """The old nodes without a partner and the new nodes that a change is about."""
    edits = change.edits
    new = {*edits.added, *(node for _, node in edits.ops), *(node for _, node, _ in edits.attributes)}
    if change.kind == "rewired":
        new |= {node for _, node in edits.inputs}
    return set(edits.removed), new


def layer_of(m: Matching, layers: tuple[Layers, Layers], node: int, new: bool) -> Layer:
    """The layer of a node; that of an old node as the new graph has it, where it has one."""
    if new:
        return "new", layers[1].of(node)
    layer = layers[0].of(node)
    partner = int(m.scope_to_b[layer]) if layer >= 0 else -1
    return ("new", partner) if partner >= 0 else ("old", layer)


def ends(m: Matching, layers: tuple[Layers, Layers], change: Change) -> Iterable[Layer]:
    """The layers that rewired inputs come from and came from."""
    for old, new in change.edits.inputs:
        before = {int(m.a.graph.source[edge]) for edge in m.a.in_edges(old).tolist()}
        after = {int(m.b.graph.source[edge]) for edge in m.b.in_edges(new).tolist()}
        kept = {int(m.to_b[node]) for node in before if m.to_b[node] >= 0}
        for node in kept ^ after:
            yield "new", layers[1].of(node)


def edits(m: Matching, items: Sequence[Item]) -> list[list[Item]]:
    """Items put together to edits."""
    pairs = [*by_layer(items), *chains(m, items), *replacements(m, items), *at_one_op(items), *new_orders(items)]
    pairs += casts(items)
    return [[items[at] for at in group] for group in together(len(items), pairs)]


def by_layer(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Items of one layer alone."""
    first: dict[Layer, int] = {}
    for at, item in enumerate(items):
        if len(item.layers) == 1:
            yield first.setdefault(next(iter(item.layers)), at), at


def chains(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """New ops that feed new ops, removed ones that fed removed ones."""
    for side, kind in ((m.b, "added"), (m.a, "removed")):
        at_node = {
            node: at
            for at, item in enumerate(items)
            if item.change.kind == kind
            for node in (item.change.edits.added if kind == "added" else item.change.edits.removed)
        }
        around = {pair[kind == "added"]: at for at, item in enumerate(items) for pair in rewired_at(item)}
        for node, at in at_node.items():
            for source in side.graph.source[side.in_edges(node)].tolist():
                if source in at_node and at_node[source] != at:
                    yield at_node[source], at
                elif source in around:
                    yield around[source], at


def rewired_at(item: Item) -> Iterable[tuple[int, int]]:
    """The ops, old and new, of an item that only says that they take other inputs."""
    return item.change.edits.inputs if item.change.kind == "rewired" else ()


def replacements(m: Matching, items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """What came in the place of what went: both feed the same input."""
    removed = {
        m.a.graph.name[node]: at
        for at, item in enumerate(items)
        for node in item.change.edits.removed
        if item.change.kind == "removed"
    }
    for at, item in enumerate(items):
        if item.change.kind == "added":
            for wire in item.change.detail.get("links", ()):
                source = str(wire["old"] or "").partition(":")[0]
                if wire["input"] != "control" and source in removed:
                    yield removed[source], at


def at_one_op(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Wires of one op: what it takes from something new, and what else it takes now."""
    first: dict[tuple[int, int], int] = {}
    for at, item in enumerate(items):
        if item.change.kind == "rewired":
            for pair in item.change.edits.inputs:
                first.setdefault(pair, at)
    for at, item in enumerate(items):
        if item.change.kind in ("added", "removed"):
            for pair in item.change.edits.inputs:
                if pair in first:
                    yield first[pair], at


def new_orders(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Wires that lead to and from the same layers: a swap."""
    first: dict[Layer, int] = {}
    for at, item in enumerate(items):
        if item.change.kind == "rewired":
            for layer in sorted(item.layers | item.near):
                yield first.setdefault(layer, at), at


def casts(items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    """Another type of numbers, and the casts that came or went for it."""
    types = [at for at, item in enumerate(items) if item.change.detail.get("key") == "dtype"]
    if types:
        for at, item in enumerate(items):
            if (
                at in types
                or only_types(item.change)
                or (item.change.kind in ("added", "removed") and item.change.detail["op_types"].keys() <= CASTS)
            ):
                yield types[0], at


def only_types(change: Change) -> bool:
    """Whether only types of numbers are others in a function."""
    return bool(change.inside) and all(
        inner.detail.get("key") == "dtype" or inner.kind == "signature-changed" for inner in change.inside
    )


def at_places(causes: Sequence[Change]) -> list[Change]:
    """The same edit at several places as one change."""
    groups: dict[str, list[Change]] = defaultdict(list)
    for change in in_order(causes):
        groups[wording(change)].append(change)
    told = []
    for members in groups.values():
        first = members[0]
        also = [place for one in members[1:] for place in ((one.old, one.new), *one.also)]
        total = sum((one.edits for one in members[1:]), first.edits)
        behind = in_order(inner for one in members for inner in one.consequences)
        ops = sum(one.ops for one in members)
        told.append(replace(first, also=(*first.also, *also), ops=ops, edits=total, consequences=behind))
    return told


def wording(change: Change) -> str:
    """What two changes have in common that are one edit at two places."""
    detail = change.detail
    if change.kind == "changed":
        return json.dumps(["changed", change.severity, detail["key"], detail["old"], detail["new"]], default=str)
    return json.dumps([change.kind, change.severity, change.old, change.new, change.to_json()], default=str)


def with_consequences(causes: list[Change], behind: Iterable[Change]) -> list[Change]:
    """Give each consequence to the cause whose name it bears, else to the first."""
    if not causes:
        return list(behind)
    given: dict[int, list[Change]] = defaultdict(list)
    leaves = [leaf_words(change) for change in causes]
    for change in behind:
        name = change.name
        scores = [max((len(leaf) for leaf in words if leaf and leaf in name), default=0) for words in leaves]
        given[scores.index(max(scores))].append(change)
    return [_followed(change, given[at]) for at, change in enumerate(causes)]


def _followed(change: Change, behind: list[Change]) -> Change:
    return replace(change, consequences=in_order([*change.consequences, *behind])) if behind else change


def leaf_words(change: Change) -> list[str]:
    """The last two segments of the names of a change."""
    names = [name for place in ((change.old, change.new), *change.also) for name in place if name]
    return ["/".join(name.split("/")[-2:]) for name in names]
