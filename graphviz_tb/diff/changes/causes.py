"""Find causes and consequences: reduce all differences of a graph to the few edits that explain them.

items          a difference with its nodes and layers; in the model, or derived
edits          groups of items: one layer, one chain of new ops, one replacement, one new order
replaced       a scope of another name replaces a removed one
consequences   shapes after a new size; gradients, updates and savers that TensorFlow derives
places         the same edit at several places is one change
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from graphviz_tb.diff.changes.across_layers import batch_changes, freezing_changes, split_weights_change
from graphviz_tb.diff.changes.attributes import COUNT_ATTRIBUTES, is_entailed
from graphviz_tb.diff.changes.called import with_layer_calls
from graphviz_tb.diff.changes.compose import (
    GATE_COUNTS,
    activation_change,
    attach_consequences,
    bias_change,
    compose_change,
    dilation_change,
    name_loss_part,
)
from graphviz_tb.diff.changes.edits import (
    Item,
    LayerKey,
    computes_metrics,
    counts_weights,
    functions_callers,
    group_into_edits,
    is_inner_name,
    is_loss_scope,
    is_plumbing,
    make_item,
    op_types_of,
    pairs_at_one_op,
    pairs_by_chain,
    pairs_by_handover,
    pairs_by_layer,
    pairs_by_replacement,
    split_exchange,
)
from graphviz_tb.diff.changes.names import ScopeRenames, scope_replacement
from graphviz_tb.diff.changes.numbers import dtype_changes, quantising_changes
from graphviz_tb.diff.changes.places import (
    change_wording,
    group_by_wording,
    merge_at_places,
    merge_changes,
    setting_part,
    without_objects,
)
from graphviz_tb.diff.changes.settings import merge_by_number
from graphviz_tb.diff.changes.training_parts import LEARNING_RATE, changes_beside_optimizer
from graphviz_tb.diff.changes.witnesses import Witnesses
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.values import COUNTER_AT_END
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.steps import UNRELATED_CODE
from graphviz_tb.graphs.traversal import reachable_from, weak_components
from graphviz_tb.limits import MAX_CHAIN_PARTS, MAX_SEPARATE_CHANGES
from graphviz_tb.model.change import Change, sort_by_severity
from graphviz_tb.model.change_content import FunctionSignature, Move
from graphviz_tb.model.columns import exists
from graphviz_tb.ops.table import op_name

RATE_BODY = -1  # the body of all ops that compute a learning rate
PAIR_SIZE = 2  # a removal and an addition
FOLDED_KINDS = ("added", "removed", "changed", "rewired", "function-changed")


def explain_changes(m: Matching, changes: Sequence[tuple[Change, bool]], witnesses: Witnesses) -> list[Change]:
    """Return the changes of a graph, each with its consequences.

    Differences are grouped into edits: of the whole graph, of the training, of the model. All other differences are
    consequences of these; without any edit, the main consequence takes its place. For unrelated graphs, return all
    differences; if they are too many, merge similar ones.
    """
    if any(notice.code == UNRELATED_CODE for notice in m.notices):
        found = [change for change, _ in changes]
        return found if len(found) <= MAX_SEPARATE_CHANGES else _merge_alike(m, found)
    # Names and signatures are added at the end.
    others = [change for change, _ in changes if change.kind not in FOLDED_KINDS]
    folded = [(change, follows) for change, follows in changes if change.kind in FOLDED_KINDS]
    items = [make_item(m, change, follows, witnesses.is_size) for change, follows in folded]
    # The layers in which the model changed: differences derived from them follow.
    changed_layers = frozenset(layer for item in items if item.forward for layer in item.layers)
    graph_changes, items = _split_whole_changes(m, items)
    scaling = [item.change for item in items if witnesses.only_scales_loss(item.change)]
    items = [item for item in items if item.change not in scaling]
    exchanged = _layers_of_other_class(m, items)
    outer_changes, outer_followers, items = _explain_training(m, items, witnesses, exchanged)
    outer_followers += scaling
    training = witnesses.training_edits if outer_followers or outer_changes or m.b.graph.is_exported else ()
    training = (*training, *changes_beside_optimizer(training, witnesses.parts)) if training else ()
    model_edits, followers = _edits_of_model(m, items, exchanged)
    causes, others = _name_causes(m, model_edits, others)
    causes, others = _attach_outputs(m, causes, others, graph_changes)
    causes += [*training, *outer_changes]
    causes, followers, outer_followers = _with_a_cause(m, causes, followers, outer_followers, witnesses)
    # Names that TensorFlow chose inside changed layers are consequences, if there is a cause.
    if causes:
        names = _inner_names(m, others, items, changed_layers, bool(training))
        followers += names
        others = without_objects(others, names)
    causes = merge_by_number(merge_at_places(m, with_layer_calls(m.layers, causes)))
    return [*others, *attach_consequences(m, causes, [*followers, *outer_followers])]


def _explain_training(
    m: Matching, items: list[Item], witnesses: Witnesses, exchanged: frozenset[LayerKey]
) -> tuple[list[Change], list[Change], list[Item]]:
    """Return the edits outside of the model, each named by the part of the training that it concerns; the differences
    there that follow; and all items, with those marked as the model's that belong to an addition or removal there."""
    groups, following = _edits_outside_model(m, items, witnesses, exchanged)
    groups, attached = _split_from_model(m, groups, items, following, witnesses)
    items = [replace(item, forward=True) if id(item) in attached else item for item in items]
    derived = [item.change for item in following if id(item) not in attached]
    apart = (compose_change(m, [item.change for item in group]) for group in groups)
    return [_name_training_part(change, witnesses) for change in apart], derived, items


def _inner_names(
    m: Matching, others: Sequence[Change], items: Sequence[Item], near: frozenset[LayerKey], trained: bool
) -> list[Change]:
    """Return the renames and moves of what TensorFlow named, inside layers with edits of the model (`near`)."""
    forward = (item for item in items if item.forward and item.change.severity == "op")
    exchanging = [item for item in forward if item.change.kind in ("added", "removed", "changed")]
    in_place = frozenset(layer for item in exchanging for layer in item.layers)
    return [change for change in others if is_inner_name(m, change, near, in_place, trained)]


def _with_a_cause(
    m: Matching,
    causes: list[Change],
    followers: list[Change],
    training_followers: list[Change],
    witnesses: Witnesses,
) -> tuple[list[Change], list[Change], list[Change]]:
    """Return the causes, and the consequences in the model and outside of it. Without any cause, a consequence becomes
    the cause, so that no difference is lost."""
    if not causes and followers:
        whole = split_weights_change(m, followers)
        # The same difference elsewhere is the same edit.
        largest = group_by_wording(followers)[0]
        causes, followers = ([whole], []) if whole else ([merge_changes(largest)], without_objects(followers, largest))
    if training_followers and not causes:
        main_part = _main_derived_part(training_followers)
        main_change = _name_training_part(compose_change(m, main_part), witnesses)
        causes, training_followers = [main_change], without_objects(training_followers, main_part)
    return causes, followers, training_followers


def _split_whole_changes(m: Matching, items: list[Item]) -> tuple[list[Change], list[Item]]:
    """Split off the changes of the whole graph: another dtype, frozen weights, another batch. Return these and the
    remaining items."""
    whole: list[Change] = []
    for split in (dtype_changes, quantising_changes, freezing_changes, batch_changes):
        made, parts = split(m, [item.change for item in items])
        taken = set(map(id, parts))
        items = [item for item in items if id(item.change) not in taken]
        whole += made
    return whole, items


def _attach_outputs(
    m: Matching, causes: Sequence[Change], others: Sequence[Change], whole: Sequence[Change]
) -> tuple[list[Change], list[Change]]:
    """Attach added and removed outputs, among `others`, to the change of the layer that makes them, whose severity
    becomes "signature". Return all causes, with those of the `whole` graph and the remaining outputs, and the other
    changes."""
    cause_by_node = {
        name: number
        for number, cause in enumerate(causes)
        for side, nodes in ((m.b, cause.edits.added), (m.a, cause.edits.removed))
        for name in (side.graph.name[node] for node in nodes)
    }
    with_outputs, remaining = list(causes), []
    outputs = [change for change in others if change.ports]
    for change in outputs:
        # Only added and removed outputs: others have a name on both sides.
        names = [port.old or port.new or "" for port in change.ports if None in (port.old, port.new)]
        number = cause_by_node.get(names[0], -1) if names else -1
        if number < 0 or len(names) < len(change.ports) or not cause_by_node.keys() >= set(names):
            remaining.append(change)
            continue
        behind = sort_by_severity([*with_outputs[number].consequences, change])
        with_outputs[number] = replace(with_outputs[number], severity=change.severity, consequences=behind)
    return [*with_outputs, *whole, *remaining], without_objects(others, outputs)


def _edits_outside_model(
    m: Matching, items: list[Item], witnesses: Witnesses, exchanged: frozenset[LayerKey]
) -> tuple[list[list[Item]], list[Item]]:
    """Return the edits outside of the model, and the differences there that are proven consequences."""
    roots: list[Item] = []
    following: list[Item] = []
    ops = frozenset(pair for item in items for pair in item.change.edits.ops)
    for item in items:
        if not item.forward:
            follows = item.follows or _follows_outside_model(m, item.change, witnesses)
            follows |= item.change.kind == "rewired" and (exchanged.issuperset(item.layers) or _goes_with_op(item, ops))
            (following if follows else roots).append(item)
    groups = _merge_outside_model(m, roots, witnesses)
    plumbing = [group for group in groups if all(is_plumbing(item.change) for item in group)]
    return without_objects(groups, plumbing), [*following, *(item for group in plumbing for item in group)]


def _goes_with_op(item: Item, ops: frozenset[tuple[int, int]]) -> bool:
    """Return whether an item only adds or removes inputs, at nodes whose op type changed."""
    only_one_end = all(None in (wire.old, wire.new) for wire in item.change.links)
    return only_one_end and ops.issuperset(item.change.edits.inputs)


def _name_training_part(change: Change, witnesses: Witnesses) -> Change:
    """Name the part of the training that a change outside of the model concerns."""
    if change.function is not None:
        return change
    exchanged = zip(*change.edits.ops, strict=True) if change.edits.ops else ((), ())
    nodes = [[*own, *ops] for own, ops in zip((change.edits.removed, change.edits.added), exchanged, strict=True)]
    parts = [
        witnesses.parts[new].part_of(nodes[new], bool(witnesses.parts[not new].training.updates))
        for new in (True, False)
        if nodes[new]
    ]
    part = next(filter(None, parts), "")
    if part and change.unit:
        word = f"{part} schedule" if part == LEARNING_RATE else part
        return replace(change, content=replace(change.unit, training=word))
    if part and change.setting and change.key == "op":
        (key, old), (_, new) = (side.setting(part) for side in witnesses.parts)
        setting = (
            replace(change.setting, key=key, old=old, new=new) if old != new else replace(change.setting, key=part)
        )
        return replace(change, content=setting)
    return change


def _follows_outside_model(m: Matching, change: Change, witnesses: Witnesses) -> bool:
    """Return whether an addition, removal or rewiring outside of the model is a consequence."""
    if change.function is not None:
        return witnesses.function_follows(*functions_callers(m, change))
    edits = change.edits
    if change.kind in ("added", "removed"):
        return witnesses.nodes_follow(change.kind == "added", edits.added or edits.removed)
    return change.kind == "rewired" and witnesses.wires_follow(edits.inputs)


def _merge_outside_model(m: Matching, roots: Sequence[Item], witnesses: Witnesses) -> list[list[Item]]:
    """Group the edits outside of the model: connected ones, those of one layer, and those with the same wording."""
    changed = [number for number, item in enumerate(roots) if item.change.kind == "changed"]
    layer_pairs = [(changed[one], changed[two]) for one, two in pairs_by_layer([roots[number] for number in changed])]
    pairs = [
        *layer_pairs,
        *pairs_by_chain(m, roots),
        *pairs_by_replacement(m, roots),
        *pairs_at_one_op(roots),
        *pairs_by_handover(m, roots),
    ]
    first_in_body: dict[tuple[bool, int], int] = {}
    first_of_weight: dict[int, int] = {}
    for number, item in enumerate(roots):
        for new, nodes in ((False, item.change.edits.removed), (True, item.change.edits.added)):
            bodies = witnesses.bodies[new]
            rates = witnesses.parts[new].rate_ops
            computing = (node for node in nodes if not bodies.is_plumbing(node))
            # All ops that compute the learning rate are one schedule.
            keys = ((new, RATE_BODY if rates[node] else int(bodies.of[node])) for node in computing)
            pairs += [(first_in_body.setdefault(body, number), number) for body in keys]
            # An update replaces that of the same weight.
            weights = witnesses.parts[new].updated_by(nodes)
            known = weights if new else (int(m.to_b[weight]) for weight in weights)
            pairs += [(first_of_weight.setdefault(weight, number), number) for weight in known if exists(weight)]
    # Updates of weights and updates of their averages are separate edits.
    of_weights, of_averages = ([_writes_only(item.change, witnesses, kind) for item in roots] for kind in (0, 1))
    pairs = [
        (one, two)
        for one, two in pairs
        if not ((of_weights[one] and of_averages[two]) or (of_averages[one] and of_weights[two]))
    ]
    return [[roots[number] for number in group] for group in weak_components(len(roots), pairs)]


def _writes_only(change: Change, witnesses: Witnesses, kind: int) -> bool:
    """Return whether all ops of a change write only trained variables (kind 0), or only others (1)."""
    wired = zip(*change.edits.inputs, strict=True) if change.edits.inputs and change.kind == "rewired" else ((), ())
    nodes = [[*own, *ends] for own, ends in zip((change.edits.removed, change.edits.added), wired, strict=True)]
    written = (part.writing[kind][own] for part, own in zip(witnesses.parts, nodes, strict=True) if own)
    return any(nodes) and all(each.all() for each in written)


def _split_from_model(
    m: Matching,
    groups: Sequence[list[Item]],
    items: Sequence[Item],
    following: Sequence[Item],
    witnesses: Witnesses,
) -> tuple[list[list[Item]], set[int]]:
    """Return the edits outside of the model, and the ids of the items that belong to the model, because they use an
    addition or removal there."""
    training_edits: list[list[Item]] = []
    model_ids: set[int] = set()
    inputs_by_kind = (
        {pair for item in items if item.forward and item.change.kind == kind for pair in item.change.edits.inputs}
        for kind in ("added", "removed")
    )
    rewired = dict(zip(("added", "removed"), inputs_by_kind, strict=True))
    for group in groups:
        kinds = {item.change.kind for item in group}
        # Kinds of the model's additions and removals that rewire the same ops.
        rewiring_kinds = {
            kind
            for kind in rewired
            for item in group
            if item.change.kind == "rewired" and not rewired[kind].isdisjoint(item.change.edits.inputs)
        }
        if len(rewiring_kinds) == 1 and kinds <= {*rewiring_kinds, "rewired"}:
            model_ids.update(map(id, group))
            continue
        if kinds not in ({"added"}, {"removed"}):
            training_edits.append(group)
            continue
        new = kinds == {"added"}
        nodes = {node for item in group for node in (*item.change.edits.added, *item.change.edits.removed)}
        outside, with_model = _inputs_outside_model(m, nodes, new, witnesses)
        # A group that also writes variables which the model does not add is an edit of the training.
        writing = (node for node in sorted(nodes) if m.layers[new].side.graph.meaning.writes[node])
        writes_outside = (
            [node for node in writing if not _inputs_outside_model(m, {node}, new, witnesses)[1]] if with_model else []
        )
        if with_model and not (writes_outside and witnesses.parts[new].part_of(writes_outside, True)):
            model_ids.update(map(id, group))
            model_ids.update(
                id(item) for item in following if not outside.isdisjoint(item.change.edits.unmatched_nodes(new))
            )
        else:
            training_edits.append(group)
    return training_edits, model_ids


def _inputs_outside_model(
    m: Matching, nodes: AbstractSet[int], new: bool, witnesses: Witnesses
) -> tuple[set[int], bool]:
    """Follow the inputs of nodes backwards through additions, or removals, outside of the model and of gradients.
    Return all nodes reached outside, and whether an addition or removal in the model was reached."""
    side, partner = (m.b, m.to_a) if new else (m.a, m.to_b)
    gradient, forward = witnesses.bodies[new].gradient, m.layers[new].forward

    def free_sources(node: int) -> list[int]:
        return [each for each in side.data_sources(node) if not exists(partner[each]) and not gradient[each]]

    reached = reachable_from(nodes, lambda node: [] if forward[node] and node not in nodes else free_sources(node))
    outside = {node for node in reached if node in nodes or not forward[node]}
    return outside, len(outside) < len(reached)


def _edits_of_model(
    m: Matching, items: list[Item], exchanged: frozenset[LayerKey]
) -> tuple[list[list[Item]], list[Change]]:
    """Return the edits of the model, as groups of items, and the changes that follow from others. Weights that layers
    began or ceased to share are one edit."""
    edits: list[list[Item]] = []
    sharing: list[Item] = []
    following: list[Change] = []
    found = group_into_edits(m, [item for item in items if item.forward], exchanged)
    groups = [part for group in found for part in split_exchange(m, group)]
    for group in (part for whole in groups for part in _split_bodies(m, whole)):
        members = [item.change for item in group]
        if split_weights_change(m, members):
            sharing += group
        elif not all(item.follows for item in group):
            edits += [group] if exchanged.intersection(*(item.layers for item in group)) else _split_settings(m, group)
        else:
            following += members
    return [*edits, *([sharing] if sharing else [])], following


def _split_bodies(m: Matching, group: list[Item]) -> list[list[Item]]:
    """Split functions with edited bodies from the edit at their call, unless they only repeat it."""
    bodies = [item for item in group if item.change.kind == "function-changed" and not item.follows]
    bodies = [item for item in bodies if _is_edited(item.change.inside)]
    rest = without_objects(group, bodies)
    if not bodies or len(group) == 1:
        return [group]
    call_changes = [item.change for item in rest]
    wordings = _words_of([*call_changes, *([compose_change(m, call_changes)] if rest else [])])
    body_edits = [
        [one for one in item.change.inside if one.key != "dtype" and not isinstance(one.content, FunctionSignature)]
        for item in bodies
    ]
    separate = [item for item, inside in zip(bodies, body_edits, strict=True) if not _words_of(inside) <= wordings]
    joint = without_objects(group, separate)
    return [*([joint] if joint else []), *([item] for item in separate)]


def _is_edited(inside: Sequence[Change]) -> bool:
    """Return whether a function was edited itself: it has as many arguments and results as before, or only constants
    changed in addition to them."""
    kinds, numbers = {inner.kind for inner in inside}, [inner.setting for inner in inside if inner.setting]
    for signature in (inner.content for inner in inside if isinstance(inner.content, FunctionSignature)):
        pairs = [pair for pair in (signature.arguments, signature.results) if pair]
        if signature.returned is not None or any(len(pair.old) != len(pair.new) for pair in pairs):
            exchanged = {"added", "removed"} <= kinds or any(setting.key == "op" for setting in numbers)
            return not exchanged and any(setting.constant for setting in numbers)
    return True


def _words_of(changes: Sequence[Change]) -> set[str]:
    """Return the wordings of changes; for settings, that of each part."""
    parts = [[setting_part(change), *change.further_settings] if change.setting else [] for change in changes]
    settings = {str((part.key, part.old, part.new)) for of_change in parts for part in of_change}
    return settings | {change_wording(change) for change in changes if not change.setting}


def _layers_of_other_class(m: Matching, items: Sequence[Item]) -> frozenset[LayerKey]:
    """Return the layers with changed inputs whose class changed."""
    classes = m.layers
    rows = {row for item in items if item.change.edits.inputs for word, row in item.layers if word == "new"}
    kinds = {
        row: (classes[0].class_of(int(m.scope_to_a[row])), classes[1].class_of(row))
        for row in rows
        if exists(row) and exists(m.scope_to_a[row])
    }
    return frozenset(("new", row) for row, (old, new) in kinds.items() if old and new and old != new)


def _split_settings(m: Matching, group: list[Item]) -> list[list[Item]]:
    """Split settings from additions or removals around them: one change cannot describe both."""
    kinds = {item.change.kind for item in group}
    units = [item for item in group if item.change.kind in ("added", "removed", "rewired")]
    settings = [item for item in group if item.change.kind == "changed" and not item.follows]
    if kinds == {"added", "removed"} and not _are_neighbours(m, group):
        return [[item for item in group if item.change.kind == kind] for kind in ("added", "removed")]
    is_one_way = ("added" in kinds) != ("removed" in kinds)
    # The replacement of an op does not explain the settings of its layer.
    in_place = {"added", "removed"} <= kinds and len(units) == PAIR_SIZE and all(item.change.ops == 1 for item in units)
    changes = [item.change for item in group]
    # Weights of recurrent layers have sizes for all gates: these follow from the class of the layer.
    has_gates = all(op_name(op).upper() in GATE_COUNTS for item in units for op in op_types_of(item.change))
    is_one_change = dilation_change(m, changes) or activation_change(m, changes) or counts_weights(m, settings, units)
    if not (is_one_way or in_place) or not settings or is_one_change or (in_place and has_gates):
        return [group]
    # An op of another type belongs to the ops added or removed next to it: one replacement.
    nodes = {new: {node for unit in units for node in unit.change.edits.unmatched_nodes(new)} for new in (False, True)}
    settings = [
        item
        for item in settings
        if all(
            nodes[new].isdisjoint([*side.sources(pair[new]), *side.users(pair[new])])
            for pair in item.change.edits.ops
            for new, side in ((False, m.a), (True, m.b))
        )
    ]
    edits = [item for item in units if not item.follows]
    return [without_objects(group, settings), settings] if edits and settings else [group]


def _are_neighbours(m: Matching, group: Sequence[Item]) -> bool:
    """Return whether the additions and the removals of a group have common neighbours; otherwise they are two edits."""
    around: list[set[int]] = [set(), set()]
    for item in group:
        for side, nodes, new in ((m.a, item.change.edits.removed, False), (m.b, item.change.edits.added, True)):
            for node in nodes:
                ends = {*side.sources(node), *side.users(node)}
                around[new] |= ends if new else {int(m.to_b[end]) for end in ends if exists(m.to_b[end])}
    return not around[0].isdisjoint(around[1])


def _merge_alike(m: Matching, found: Sequence[Change]) -> list[Change]:
    """Merge additions, and removals, with equal counts of op types; if too many are left, all of one kind."""
    m.note("alike", f"more than {MAX_SEPARATE_CHANGES:,} changes: what came or went alike is one of them")
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for by_type in (True, False):
        if by_type or len(groups) > MAX_SEPARATE_CHANGES:
            groups = defaultdict(list)
            for number, change in enumerate(found):
                unit = change.unit
                if unit and unit.links is None and not unit.equal:
                    types = tuple(unit.op_types.items()) if by_type else ()
                    groups[change.kind, change.severity, unit.scope, unit.function is not None, types].append(change)
                else:
                    groups[(number,)].append(change)
    return [_merge_places(members) if len(members) > 1 else members[0] for members in groups.values()]


def _merge_places(members: Sequence[Change]) -> Change:
    """Merge additions, or removals, at many places into one change."""
    counts: Counter[str] = Counter()
    for member in members:
        counts.update(member.unit.op_types if member.unit else {})
    types = dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
    first = merge_changes(members)
    return replace(first, content=replace(first.unit, op_types=types)) if first.unit else first


REPLACING_KEYS = frozenset({"op", "loss"})


def _name_causes(
    m: Matching, groups: Sequence[Sequence[Item]], others: Sequence[Change]
) -> tuple[list[Change], list[Change]]:
    """Return one change for each group of items, and the other changes that remain: the rename of a replaced scope is
    part of the replacement."""
    causes = []
    used_names: set[Change] = set()
    renames = ScopeRenames(m, others)
    for group in groups:
        edit, followers = _split_consequences(m, group)
        change = compose_change(m, [item.change for item in edit])
        change = bias_change(m, change) or change
        if followers:
            change = replace(change, consequences=sort_by_severity([*change.consequences, *followers]))
        name = renames.rename_around([item.change for item in group]) or renames.rename_of_change(change)
        if name and change.key != "weights":  # sharing of weights says more than a new name
            change = scope_replacement(name, change, _exchanged_classes(m.layers, change))
        causes.append(name_loss_part(m.layers, change))
        used_names.update([name] if name else [])
    # Renames of which all scopes are reported as replacements are dropped.
    dropped = [name for name in used_names if not name.edits.nodes and renames.said.issuperset(name.edits.scopes)]
    for number, names in _names_behind(m, causes, others).items():
        cause = causes[number]
        causes[number] = replace(cause, consequences=sort_by_severity([*cause.consequences, *names]))
        dropped += names
    return causes, [change for change in others if change not in dropped]


def _names_behind(m: Matching, causes: Sequence[Change], others: Sequence[Change]) -> dict[int, list[Change]]:
    """Return the renames and moves that follow, by the number of their cause: of PyTorch calls that began or ceased to
    share weights, and of the rest of a replaced scope."""
    users: dict[int, int] = {}
    replaced: dict[str | None, int] = {}
    for number, change in enumerate(causes):
        if change.key == "weights" and m.a.has_module_scopes:
            users |= {old: number for old, _ in change.edits.inputs}
        elif change.key in REPLACING_KEYS:
            replaced |= {old: number for old, _ in change.places}
    found: dict[int, list[Change]] = defaultdict(list)
    for name in others if users or replaced else ():
        around, cause = (name.old or "").rpartition("/")[0], None
        if isinstance(name.content, Move):
            cause = replaced.get(name.content.old)
        elif name.kind == "renamed" and name.edits.scopes and not name.edits.nodes:
            numbers = [users.get(node) for row, _ in name.edits.scopes for node in m.a.scopes.nodes(row).tolist()]
            cause = next((number for number in numbers if number is not None), replaced.get(around))
        if cause is not None:
            found[cause].append(name)
    return found


def _exchanged_classes(layers: tuple[Layers, Layers], change: Change) -> tuple[str, str] | None:
    """Return the classes of a replaced layer and of its replacement, if a change names them."""
    kinds = [
        {side.class_of(row) for row in side.rows.get(name or "", ())}
        for side, name in zip(layers, (change.old, change.new), strict=True)
    ]
    old, new = (change.setting.old, change.setting.new) if change.setting else ("", "")
    return (str(old), str(new)) if old in kinds[0] and new in kinds[1] else None


def _split_consequences(m: Matching, group: Sequence[Item]) -> tuple[list[Item], list[Change]]:
    """Split a group into the edit and its consequences: sizes of weights behind a new layer, additional arguments of a
    call, an additional term in a sum of losses."""
    edit = [item for item in group if not item.follows]
    has_units = any(item.change.kind in ("added", "removed", "function-changed") for item in edit)
    followers = [
        item
        for item in group
        if item.follows
        and edit
        and (setting := item.change.setting)
        # Sizes of weights and numbers of inputs follow from additions and removals; lists of types from any edit.
        and ((has_units and (setting.weights or setting.key in COUNT_ATTRIBUTES)) or _is_type_list(item.change))
    ]
    if any(is_loss_scope(m, item.change) for item in edit):
        # Ops that only forward or sum a loss.
        inner = [item for item in group if item.change.severity != "signature"]
        loss_followers = [item for item in inner if item.follows or computes_metrics(m, item.change)]
        followers += without_objects(loss_followers, followers)
    return without_objects(group, followers), [item.change for item in followers]


def _is_type_list(change: Change) -> bool:
    """Return whether only a list of argument types of a loop or call differs, or a computed shape."""
    setting = change.setting
    return setting is not None and is_entailed(change.key, setting.old)


def _main_derived_part(derived: Sequence[Change]) -> Sequence[Change]:
    """Return the main part if only derived ops differ: the added and removed ops; if these are very many, those in
    scopes of one name.

    A moving average of all weights also adds savers and initialisers; the average itself has the most ops.
    """
    units = [change for change in derived if change.unit]
    if len(units) <= MAX_CHAIN_PARTS:
        return units or derived
    groups: dict[str, list[Change]] = defaultdict(list)
    # Constants and reads count only if there is nothing else.
    for change in [change for change in units if not is_plumbing(change)] or units:
        around, _, leaf = change.name.rpartition("/")
        groups[COUNTER_AT_END.sub("", leaf) if change.unit and change.unit.scope else around].append(change)
    return max(groups.values(), key=lambda group: (sum(part.ops for part in group), group[0].name))
