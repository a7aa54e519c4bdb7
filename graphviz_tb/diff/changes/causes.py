"""Causes and consequences: of all differences of one graph the few that were made, and behind each what follows.

items          each found difference: its nodes, its layers, whether it is the model's or derived
edits          what is one edit: one layer, one chain of new ops, one thing in place of another, one new order
replaced       a scope with another name in the place of one
follows        shapes behind another size; gradients, updates, saving: whatever TensorFlow derives
places         the same edit at many places is one change
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import accumulate
from typing import Any

from graphviz_tb.diff.changes.across_layers import (
    casting,
    inner_type,
    is_precision,
    only_types,
    other_types,
    type_pair,
    unshared,
)
from graphviz_tb.diff.changes.attributes import FOLLOWING, is_entailed
from graphviz_tb.diff.changes.called import with_calls
from graphviz_tb.diff.changes.compose import composed, dilated
from graphviz_tb.diff.changes.edits import (
    Item,
    LayerKey,
    Renames,
    all_follow,
    at_one_op,
    by_layer,
    callers,
    chains,
    edits,
    handed_over,
    inner_name,
    is_exchange,
    is_frozen,
    is_function,
    is_hushed,
    is_loss,
    item_of,
    measures,
    no_more_trained,
    replaced,
    replacements,
)
from graphviz_tb.diff.changes.layers import QUIET, LayerClasses, Layers
from graphviz_tb.diff.changes.names import COUNTED
from graphviz_tb.diff.changes.places import at_once, at_places, by_wording, without
from graphviz_tb.diff.changes.settings import one_number
from graphviz_tb.diff.changes.witnesses import Witnesses
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.steps import UNRELATED
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.limits import MAX_CHAIN_PARTS, MAX_COMPARED_LETTERS, MAX_SEPARATE_CHANGES
from graphviz_tb.model.change import Change, sort_by_severity
from graphviz_tb.model.columns import exists

GROUP_OF_TWO = 2  # one thing that went and one that came
FOLDED = ("added", "removed", "changed", "rewired", "function-changed")


def folded(
    m: Matching, layers: tuple[Layers, Layers], changes: Sequence[tuple[Change, bool]], witnesses: Witnesses
) -> list[Change]:
    """The changes of one graph with their consequences; of graphs with little in common all that was found, as one
    change what is alike, where there is very much."""
    if any(notice.code == UNRELATED for notice in m.notices):
        found = [change for change, _ in changes]
        return found if len(found) <= MAX_SEPARATE_CHANGES else merge_alike(m, found)
    # Names and signatures are put in at the end; everything else is an item with its layers.
    others = [change for change, _ in changes if change.kind not in FOLDED]
    items = [item_of(m, layers, change, follows) for change, follows in changes if change.kind in FOLDED]
    types, items = types_apart(m, items)
    # The layers in which the model itself changed: what is derived from these follows.
    near = frozenset(layer for item in items if item.forward for layer in item.layers) | owners(layers, items)
    groups, following = edits_apart(m, items, witnesses)
    groups, attached = apart_from_model(m, layers, groups, items, following, witnesses)
    items = [replace(item, forward=True) if id(item) in attached else item for item in items]
    derived = [item.change for item in following if id(item) not in attached]
    apart = [composed(m, layers, [item.change for item in group]) for group in groups]
    trained = witnesses.trained() if derived or groups else ()
    own, behind, frozen = edits_of_model(m, layers, items, no_more_trained(trained))
    causes, others = with_names(m, layers, own, others)
    derived += frozen
    outputs = [change for change in others if change.kind == "signature-changed" and "ports" in change.detail]
    others = without(others, outputs)
    causes, outputs = with_ends(m, causes, outputs)
    causes += [*types, *outputs, *trained, *apart]
    # A difference is never lost: where all would follow, one of them is the cause after all.
    if not causes and behind:
        whole = unshared(m, layers, behind)
        # The same difference elsewhere is the same edit.
        first = by_wording(behind)[0]
        causes, behind = ([whole], []) if whole else ([at_once(first)], without(behind, first))
    if derived and not causes:
        main = main_part(derived)
        causes, derived = [composed(m, layers, main)], without(derived, main)
    exchanged = frozenset(layer for item in items if item.forward and is_exchange(item) for layer in item.layers)
    names = [change for change in others if inner_name(m, layers, change, near, exchanged, bool(trained))]
    # Names that TensorFlow gave inside changed layers follow; without a cause they are what changed.
    if causes:
        behind += names
        others = without(others, names)
    return [*others, *with_consequences(one_number(at_places(m, with_calls(layers, causes))), [*behind, *derived])]


def types_apart(m: Matching, items: Sequence[Item]) -> tuple[list[Change], list[Item]]:
    """Other types of numbers, one change for each old and new type, with the casts between these two; and what is left:
    another type explains nothing else."""
    typed: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for item in items:
        if is_precision(item.change):
            typed[type_pair(item.change)].append(item.change)
        elif only_types(item.change) and (pair := inner_type(item.change)):
            typed[pair].append(item.change)
    if not typed:
        return [], list(items)
    taken = {id(change) for members in typed.values() for change in members}
    for item in items:
        if id(item.change) not in taken:
            pair = casting(m, item.change)
            for which in (pair, pair[::-1]):
                if which in typed and id(item.change) not in taken:
                    typed[which].append(item.change)
                    taken.add(id(item.change))
    return [other_types(members) for members in typed.values()], [
        item for item in items if id(item.change) not in taken
    ]


def with_ends(m: Matching, causes: Sequence[Change], outputs: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Outputs that a model has now, or has no more, follow from the layer that came, or went, to give them; the layer's
    change is one of the signature then."""
    owner = {
        name: number
        for number, cause in enumerate(causes)
        for side, nodes in ((m.b, cause.edits.added), (m.a, cause.edits.removed))
        for name in (side.graph.name[node] for node in nodes)
    }
    made, left = list(causes), []
    for change in outputs:
        # Of an output that is still there, both sides have a name.
        names = [port["old"] or port["new"] for port in change.detail["ports"] if None in (port["old"], port["new"])]
        number = owner.get(names[0], -1) if names else -1
        if number < 0 or len(names) < len(change.detail["ports"]) or not owner.keys() >= set(names):
            left.append(change)
            continue
        behind = sort_by_severity([*made[number].consequences, change])
        made[number] = replace(made[number], severity=change.severity, consequences=behind)
    return made, left


def edits_apart(m: Matching, items: list[Item], witnesses: Witnesses) -> tuple[list[list[Item]], list[Item]]:
    """The edits outside of the model: whatever nothing proves to follow; and the other differences there, which do."""
    roots: list[Item] = []
    following: list[Item] = []
    for item in items:
        if not item.forward:
            follows = item.follows or follows_outside(m, item.change, witnesses)
            (following if follows else roots).append(item)
    groups = together(m, roots, witnesses)
    quiet = [group for group in groups if all(is_hushed(item.change) for item in group)]
    return without(groups, quiet), [*following, *(item for group in quiet for item in group)]


def follows_outside(m: Matching, change: Change, witnesses: Witnesses) -> bool:
    """Whether what came, went or was rewired outside of the model follows."""
    if is_function(change):
        return witnesses.function_follows(*callers(m, change))
    edits = change.edits
    if change.kind in ("added", "removed"):
        return witnesses.follows(change.kind == "added", edits.added or edits.removed)
    return change.kind == "rewired" and witnesses.wires_follow(edits.inputs)


def together(m: Matching, roots: Sequence[Item], witnesses: Witnesses) -> list[list[Item]]:
    """Edits outside of the model: what feeds one another, is in one layer, or is done in the same words elsewhere."""
    numbers = [number for number, item in enumerate(roots) if item.change.kind == "changed"]
    of_layers = [(numbers[one], numbers[two]) for one, two in by_layer([roots[number] for number in numbers])]
    pairs = [
        *of_layers,
        *chains(m, roots, exchanged=False),
        *replacements(m, roots),
        *at_one_op(roots),
        *handed_over(m, roots),
    ]
    first: dict[tuple[bool, int], int] = {}
    for number, item in enumerate(roots):
        for new, nodes in ((False, item.change.edits.removed), (True, item.change.edits.added)):
            bodies = witnesses.bodies[new]
            loud = (node for node in nodes if not bodies.is_plumbing(node))
            pairs += [(first.setdefault((new, int(bodies.of[node])), number), number) for node in loud]
    return [[roots[number] for number in group] for group in weak_components(len(roots), pairs)]


def apart_from_model(
    m: Matching,
    layers: tuple[Layers, Layers],
    groups: Sequence[list[Item]],
    items: Sequence[Item],
    following: Sequence[Item],
    witnesses: Witnesses,
) -> tuple[list[list[Item]], set[int]]:
    """The edits outside of the model, and the items (ids) of those that work with what came, or went, in the model
    itself: they came, or went, with it."""
    apart: list[list[Item]] = []
    attached: set[int] = set()
    wired = (
        {pair for item in items if item.forward and item.change.kind == kind for pair in item.change.edits.inputs}
        for kind in ("added", "removed")
    )
    pairs = dict(zip(("added", "removed"), wired, strict=True))
    for group in groups:
        kinds = {item.change.kind for item in group}
        # Wires of an op that takes something else that came, or went, in the model.
        beside = {
            kind
            for kind in pairs
            for item in group
            if item.change.kind == "rewired" and not pairs[kind].isdisjoint(item.change.edits.inputs)
        }
        if len(beside) == 1 and kinds <= {*beside, "rewired"}:
            attached.update(map(id, group))
            continue
        if kinds not in ({"added"}, {"removed"}):
            apart.append(group)
            continue
        new = kinds == {"added"}
        whole = {node for item in group for node in (*item.change.edits.added, *item.change.edits.removed)}
        before, with_model = before_outside(m, layers, whole, new, witnesses)
        if with_model:
            attached.update(map(id, group))
            attached.update(
                id(item)
                for item in following
                if not before.isdisjoint(item.change.edits.added if new else item.change.edits.removed)
            )
        else:
            apart.append(group)
    return apart, attached


def before_outside(
    m: Matching, layers: tuple[Layers, Layers], nodes: AbstractSet[int], new: bool, witnesses: Witnesses
) -> tuple[set[int], bool]:
    """What came, or went, outside of the model and of gradients before some such nodes, and whether it takes something
    that came, or went, in the model."""
    side, partner = (m.b, m.to_a) if new else (m.a, m.to_b)
    gradient, forward = witnesses.bodies[new].gradient, layers[new].forward
    seen, todo, with_model = set(nodes), sorted(nodes), False
    while todo:
        edges = side.in_edges(todo.pop())
        for source in side.graph.source[edges[~side.graph.control[edges]]].tolist():
            if exists(partner[source]) or gradient[source] or source in seen:
                continue
            with_model |= bool(forward[source])
            if not forward[source]:
                seen.add(source)
                todo.append(source)
    return seen, with_model


def edits_of_model(
    m: Matching, layers: tuple[Layers, Layers], items: list[Item], untrained: Sequence[AbstractSet[str | None]]
) -> tuple[list[list[Item]], list[Change], list[Change]]:
    """The model's own differences, put together to edits: causes, and the changes that follow from another
    edit or from weights that are no longer trained."""
    own: list[list[Item]] = []
    following: list[Change] = []
    frozen: list[Change] = []
    for group in edits(m, [item for item in items if item.forward]):
        members = [item.change for item in group]
        if is_frozen(layers, group, untrained):
            frozen += members
        elif all_follow(group):
            following += members
        else:
            own += seen_apart(m, group)
    return own, following, frozen


def seen_apart(m: Matching, group: list[Item]) -> list[list[Item]]:
    """Split settings from what only came, or only went, around them: one change would not say both."""
    kinds = {item.change.kind for item in group}
    units = [item for item in group if item.change.kind in ("added", "removed", "rewired")]
    settings = [item for item in group if item.change.kind == "changed" and not item.follows]
    if kinds == {"added", "removed"} and len(group) == GROUP_OF_TWO and not are_neighbours(m, group):
        return [[item] for item in group]
    one_way = ("added" in kinds) != ("removed" in kinds)
    if not one_way or not settings or dilated(m, [item.change for item in group]):
        return [group]
    # An op that became another one, with what came or went beside it, is one thing in the place of another.
    settings = [item for item in settings if item.change.detail["key"] != "op" or item.change.edits.ops]
    settings = [item for item in settings if not is_beside(m, item, units)]
    loud = [item for item in units if not item.follows]
    return [without(group, settings), settings] if loud and settings else [group]


def are_neighbours(m: Matching, group: Sequence[Item]) -> bool:
    """Whether what came in a layer is wired to what the one that went was wired to: else these are two edits."""
    around: list[set[int]] = [set(), set()]
    for item in group:
        for side, nodes, new in ((m.a, item.change.edits.removed, False), (m.b, item.change.edits.added, True)):
            graph = side.graph
            for node in nodes:
                ends = {*graph.source[side.in_edges(node)].tolist(), *graph.target[side.out_edges(node)].tolist()}
                around[new] |= ends if new else {int(m.to_b[end]) for end in ends if exists(m.to_b[end])}
    return not around[0].isdisjoint(around[1])


def is_beside(m: Matching, item: Item, units: Sequence[Item]) -> bool:
    """Whether an op became another one, and feeds, or is fed by, what came or went with it."""
    for old, new in item.change.edits.ops:
        for side, node, gone in ((m.a, old, False), (m.b, new, True)):
            graph = side.graph
            around = {*graph.source[side.in_edges(node)].tolist(), *graph.target[side.out_edges(node)].tolist()}
            for unit in units:
                if not around.isdisjoint(unit.change.edits.added if gone else unit.change.edits.removed):
                    return True
    return False


def merge_alike(m: Matching, found: Sequence[Change]) -> list[Change]:
    """Ops, scopes and functions that came or went, those that hold as many ops of each type as one change; if these are
    still too many, all of one kind. Other changes stay as they are."""
    m.note("alike", f"more than {MAX_SEPARATE_CHANGES:,} changes: what came or went alike is one of them")
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for by_type in (True, False):
        if by_type or len(groups) > MAX_SEPARATE_CHANGES:
            groups = defaultdict(list)
            for number, change in enumerate(found):
                detail = change.detail
                if "op_types" in detail and "links" not in detail and "equal" not in detail:
                    types = tuple(detail["op_types"].items()) if by_type else ()
                    groups[change.kind, change.severity, detail["scope"], "function" in detail, types].append(change)
                else:
                    groups[(number,)].append(change)
    return [merged_places(members) if len(members) > 1 else members[0] for members in groups.values()]


def merged_places(members: Sequence[Change]) -> Change:
    """Merge additions, or removals, at many places into one change."""
    counts: Counter[str] = Counter()
    for member in members:
        counts.update(member.detail["op_types"])
    types = dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
    first = at_once(members)
    return replace(first, detail={**first.detail, "op_types": types})


def with_names(
    m: Matching, layers: tuple[Layers, Layers], groups: Sequence[Sequence[Item]], others: Sequence[Change]
) -> tuple[list[Change], list[Change]]:
    """The change that each group of items is, and what is left of the other changes: a new scope in place of another
    one has another name too, and both are one change."""
    causes = []
    named: set[Change] = set()
    renames = Renames(m, others)
    for group in groups:
        led, behind = leading(m, group)
        change = composed(m, layers, [item.change for item in led])
        if behind:
            change = replace(change, consequences=sort_by_severity([*change.consequences, *behind]))
        name = renames.replaced(group) or renames.named(change)
        causes.append(replaced(name, change, told_by_class(layers, change)) if name else change)
        named.update([name] if name else [])
    return causes, [change for change in others if change not in named or not renames.all_said(change)]


def told_by_class(layers: tuple[Layers, Layers], change: Change) -> tuple[str, str] | None:
    """The classes of a layer and of the one in its place, where a change says them."""
    kinds = [
        {LayerClasses(side).of(row) for row in side.rows.get(name or "", ())}
        for side, name in zip(layers, (change.old, change.new), strict=True)
    ]
    old, new = change.detail.get("old"), change.detail.get("new")
    return (str(old), str(new)) if old in kinds[0] and new in kinds[1] else None


def leading(m: Matching, group: Sequence[Item]) -> tuple[list[Item], list[Change]]:
    """The items that an edit is made of, and the changes that only follow from ops that came or went in it: the weights
    of a layer behind a new one are of another size, a call is handed more, a new loss is summed up."""
    own = [item for item in group if not item.follows]
    came = any(item.change.kind in ("added", "removed") for item in own)
    behind = [
        item
        for item in group
        if item.follows and own and ((came and is_counted(item.change)) or lists_types(item.change))
    ]
    if any(is_loss(m, item.change) for item in own):
        reported = [item for item in group if item.change.severity != "signature" and is_reported(m, item)]
        behind += without(reported, behind)
    return without(group, behind), [item.change for item in behind]


def is_reported(m: Matching, item: Item) -> bool:
    """Whether an item only hands on, or sums up, what a loss is."""
    return item.follows or measures(m, item.change)


def is_counted(change: Change) -> bool:
    """Whether a weight is of another size, or an op takes another number of inputs."""
    return "weights" in change.detail or (change.kind == "changed" and change.detail["key"] in FOLLOWING)


def lists_types(change: Change) -> bool:
    """Whether only the list of types is another that a loop or a call is handed."""
    return change.kind == "changed" and is_entailed(change.detail["key"], change.detail["old"])


def owners(layers: tuple[Layers, Layers], items: Sequence[Item]) -> frozenset[LayerKey]:
    """The scopes that bear the names of weights of other shapes: their initialisers are in them."""
    name = layers[1].side.graph.name
    names = {
        name[node] for item in items if "weights" in item.change.detail for _, node, _ in item.change.edits.attributes
    }
    return frozenset(("new", row) for name in names for row in layers[1].rows.get(name, ()))


def main_part(derived: Sequence[Change]) -> Sequence[Change]:
    """Where only what is derived is another: the ops that came and went, of very many those of one kind of scope.

    Averages of all weights bring savers and initialisers with them; the scopes of one name that hold most are it.
    """
    units = [change for change in derived if change.kind in ("added", "removed")]
    if len(units) <= MAX_CHAIN_PARTS:
        return units or derived
    groups: dict[str, list[Change]] = defaultdict(list)
    # Constants and reads alone say nothing, where there is something else.
    loud = [change for change in units if not change.detail["op_types"].keys() <= QUIET]
    for change in loud or units:
        around, _, leaf = change.name.rpartition("/")
        groups[COUNTED.sub("", leaf) if change.detail["scope"] else around].append(change)
    return max(groups.values(), key=lambda group: (sum(part.ops for part in group), group[0].name))


def with_consequences(causes: list[Change], behind: Sequence[Change]) -> list[Change]:
    """Give each consequence to the cause whose name it bears, else to the first; of very many causes only those of the
    longest names are looked for."""
    if not causes:
        return list(behind)
    given: dict[int, list[Change]] = defaultdict(list)
    cause_of: dict[str, int] = {}
    for number, cause in enumerate(causes):
        for leaf in filter(None, leaf_words(cause)):
            cause_of.setdefault(leaf, number)
    # The longest that a name bears, of the first cause.
    leaves = sorted(cause_of, key=lambda leaf: (-len(leaf), cause_of[leaf]))
    most = MAX_COMPARED_LETTERS // max(1, sum(len(change.name) for change in behind))
    leaves = leaves[: bisect_right(list(accumulate(map(len, leaves))), most)]
    for change in behind:
        name = change.name
        borne = next((leaf for leaf in leaves if leaf in name), "")
        given[cause_of.get(borne, 0)].append(change)
    return [_followed(change, given[number]) for number, change in enumerate(causes)]


def _followed(change: Change, behind: list[Change]) -> Change:
    return replace(change, consequences=sort_by_severity([*change.consequences, *behind])) if behind else change


def leaf_words(change: Change) -> list[str]:
    """The last two segments of the names of a change."""
    names = [name for place in ((change.old, change.new), *change.also) for name in place if name]
    return ["/".join(name.split("/")[-2:]) for name in names]
