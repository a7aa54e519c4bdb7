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
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import accumulate
from typing import Any

from graphviz_tb.diff.changes.called import with_calls
from graphviz_tb.diff.changes.compose import composed
from graphviz_tb.diff.changes.edits import by_layer, edits, is_loss
from graphviz_tb.diff.changes.follows import (
    all_follow,
    inner_name,
    is_exchange,
    is_frozen,
    is_independent,
    no_more_trained,
)
from graphviz_tb.diff.changes.items import Item, LayerKey, item_of, measures
from graphviz_tb.diff.changes.layers import Layers
from graphviz_tb.diff.changes.names import COUNTED
from graphviz_tb.diff.changes.one_number import one_number
from graphviz_tb.diff.changes.parts import QUIET
from graphviz_tb.diff.changes.places import at_once, at_places, by_wording
from graphviz_tb.diff.changes.replaced import Renames, replaced
from graphviz_tb.diff.changes.schedules import is_loud, schedules
from graphviz_tb.diff.changes.several import without, wording
from graphviz_tb.diff.changes.shared import unshared
from graphviz_tb.diff.changes.sizes import is_entailed
from graphviz_tb.diff.match.doubt import UNRELATED
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.limits import MAX_CHAIN_PARTS, MAX_COMPARED_LETTERS, MAX_SEPARATE_CHANGES
from graphviz_tb.model.change import Change, sort_by_severity

FOLDED = ("added", "removed", "changed", "rewired", "function-changed")


def folded(
    m: Matching,
    layers: tuple[Layers, Layers],
    changes: Sequence[tuple[Change, bool]],
    training: Callable[[], Sequence[Change]],
) -> list[Change]:
    """The changes of one graph with their consequences; of graphs with little in common all that was found, as one
    change what is alike, where there is very much. `training` says how the whole file is trained now."""
    if any(notice.code == UNRELATED for notice in m.notices):
        found = [change for change, _ in changes]
        return found if len(found) <= MAX_SEPARATE_CHANGES else merge_alike(m, found)
    # Names and signatures are put in at the end; everything else is an item with its layers.
    others = [change for change, _ in changes if change.kind not in FOLDED]
    items = [item_of(m, layers, change, follows) for change, follows in changes if change.kind in FOLDED]
    # The layers in which the model itself changed: what is derived from these follows.
    near = frozenset(layer for item in items if item.forward for layer in item.layers) | owners(layers, items)
    groups, derived = edits_apart(m, layers, items, near)
    apart = [composed(m, layers, [item.change for item in group]) for group in groups]
    trained = training() if derived else ()
    own, behind, frozen = edits_of_model(m, layers, items, no_more_trained(trained))
    causes, others = with_names(m, layers, own, others)
    derived += frozen
    # Another optimizer has other updates and other rates: these are no edits of their own.
    if any(change.detail["key"] == "optimizer" for change in trained):
        derived, apart = [*derived, *apart], []
    outputs = [change for change in others if change.kind == "signature-changed" and "ports" in change.detail]
    others = without(others, outputs)
    causes, outputs = with_ends(m, causes, outputs)
    causes += [*outputs, *trained, *apart]
    # A difference is never lost: where all would follow, one of them is the cause after all.
    if not causes and behind:
        whole = unshared(m, layers, behind)
        # The same difference elsewhere is the same edit.
        first = by_wording(behind)[0]
        causes, behind = ([whole], []) if whole else ([at_once(first)], without(behind, first))
    # What updates take without a gradient explains no ops that come from gradients.
    if derived and (not causes or (len(causes) == len(apart) and any(map(is_loud, derived)))):
        main = main_part(derived)
        causes, derived = [*causes, composed(m, layers, main)], without(derived, main)
    exchanged = frozenset(layer for item in items if item.forward and is_exchange(item) for layer in item.layers)
    names = [change for change in others if inner_name(m, layers, change, near, exchanged, bool(trained))]
    # Names that TensorFlow gave inside changed layers follow; without a cause they are what changed.
    if causes:
        behind += names
        others = without(others, names)
    return [*others, *with_consequences(one_number(at_places(m, with_calls(layers, causes))), [*behind, *derived])]


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


def edits_apart(
    m: Matching, layers: tuple[Layers, Layers], items: list[Item], near: frozenset[LayerKey]
) -> tuple[list[list[Item]], list[Change]]:
    """The edits outside of the model that no edit of it explains; and the other differences there, which follow."""
    said = {wording(item.change) for item in items if item.forward}
    alone = [item for item in items if not item.forward and is_independent(item, near, said)]
    groups = [[alone[number] for number in group] for group in weak_components(len(alone), by_layer(alone))]
    groups += schedules(m, layers, without(items, alone))
    alone = [item for group in groups for item in group]
    return groups, [item.change for item in without(items, alone) if not item.forward]


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
            own.append(group)
    return own, following, frozen


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
        causes.append(replaced(name, change) if name else change)
        named.update([name] if name else [])
    return causes, [change for change in others if change not in named]


def leading(m: Matching, group: Sequence[Item]) -> tuple[list[Item], list[Change]]:
    """The items that an edit is made of, and the changes that only follow from ops that came or went in it: the weights
    of a layer behind a new one are of another size, a call is handed more, a new loss is summed up."""
    own = [item for item in group if not item.follows]
    came = any(item.change.kind in ("added", "removed") for item in own)
    behind = [
        item
        for item in group
        if item.follows and own and ((came and "weights" in item.change.detail) or lists_types(item.change))
    ]
    if any(is_loss(m, item.change) for item in own):
        reported = [item for item in group if item.change.severity != "signature" and is_reported(m, item)]
        behind += without(reported, behind)
    return without(group, behind), [item.change for item in behind]


def is_reported(m: Matching, item: Item) -> bool:
    """Whether an item only hands on, or sums up, what a loss is."""
    return item.follows or measures(m, item.change)


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
