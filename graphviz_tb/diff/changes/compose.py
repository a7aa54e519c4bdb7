"""Compose one change from the differences of an edit, and attach consequences to the change that causes them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from graphviz_tb.diff.changes.across_layers import located_wires, merge_order_changes, split_weights_change
from graphviz_tb.diff.changes.attributes import differences
from graphviz_tb.diff.changes.called import CONVOLUTION, group_counts
from graphviz_tb.diff.changes.edits import FUSED_ACTIVATION
from graphviz_tb.diff.changes.names import is_within, without_counters
from graphviz_tb.diff.changes.places import (
    change_wording,
    edits_of_changes,
    is_quiet_part,
    other_places,
    setting_part,
    sort_parts_by_flow,
    unite_changes,
    without_objects,
)
from graphviz_tb.diff.changes.training_parts import CLIPPING, LEARNING_RATE, LINEAR_OPS, OPTIMIZER
from graphviz_tb.diff.changes.units import count_op_types, shown_ops, sorted_wires
from graphviz_tb.diff.columns.layers import QUIET_OPS, VALUE_PLUMBING, Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.interpret.layer_classes import ACTIVATION_OPS, CLASS_BY_GATE_COUNT, COMPOSED_ACTIVATIONS
from graphviz_tb.limits import MAX_COMPARED_LETTERS
from graphviz_tb.model.change import SEVERITIES, Change, ChangeKind, NodeEdits, Severity, sort_by_severity
from graphviz_tb.model.change_content import Setting, SettingPart, Unit
from graphviz_tb.model.columns import exists
from graphviz_tb.model.interpretation import Part
from graphviz_tb.model.layers import enclosing_module_class, is_module
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BIAS_OPS,
    CONVOLUTION_OPS,
    DILATION_BLOCK_OPS,
    MATRIX_PRODUCT_OPS,
    MULTIPLY_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
    is_elementwise,
)
from graphviz_tb.ops.table import equal_op, plain_op_name
from graphviz_tb.options import DiffOptions

ACTIVATION_WORDS = {word.lower(): word for word in (*ACTIVATION_OPS, *COMPOSED_ACTIVATIONS.values())}
PRODUCT_OPS = MATRIX_PRODUCT_OPS | CONVOLUTION_OPS | {"Einsum"}
GATE_COUNTS = {kind: count for count, kind in CLASS_BY_GATE_COUNT.items()}
KERNEL_KEYS = frozenset({"kernel", "filters", "padding"})
NORMALIZATION = "Normalization"  # in names of classes
TRACED_FUNCTION_PREFIX = re.compile(r"^__(?:inference|forward|backward)_")
# Keys of settings that name an edit, in order of preference.
KEYS_BY_TELLING = (
    "bidirectional",
    "dilation",
    "kernel",
    "num_heads",
    "groups",
    "group",
    "filters",
    "units",
    "output_dim",
    "input_dim",
    "rate",
    "momentum",
    "beta",
)


def compose_change(m: Matching, changes: Sequence[Change]) -> Change:
    """Return one change for all differences of an edit."""
    if shared := split_weights_change(m, changes):
        return shared
    if len(changes) == 1:
        return changes[0]
    functions = [change for change in changes if change.kind == "function-changed"]
    if functions:
        rest = [change for change in changes if change.kind != "function-changed"]
        first = compose_change(m, rest) if rest else functions.pop(0)
        return replace(first, consequences=sort_by_severity([*first.consequences, *functions]))
    kinds = {change.kind for change in changes}
    ordered = list(sort_by_severity(changes))
    # Several whole functions are named by the largest.
    if len(kinds) == 1 and all(change.function is not None for change in ordered):
        first = max(ordered, key=lambda change: change.ops)
        return unite_changes(first, ordered, also=other_places(ordered, first), consequences=first.consequences)
    severity = min((change.severity for change in ordered), key=SEVERITIES.index)
    if kinds <= {"added", "rewired"} and "added" in kinds:
        return _chain_change(m, ordered, "added", severity)
    if kinds <= {"removed", "rewired"} and "removed" in kinds:
        return _chain_change(m, ordered, "removed", severity)
    # Whole functions count as additions and removals, not as replaced ops.
    has_both = any(change.edits.added for change in ordered) and any(change.edits.removed for change in ordered)
    if {"added", "removed"} <= kinds and has_both:
        return _exchange_change(m, ordered, severity)
    if dilation := dilation_change(m, ordered):
        return _most_telling_change([dilation, *ordered], severity)
    if activation := activation_change(m, ordered):
        return activation
    # One op was replaced, with further additions or removals.
    has_units = any(change.edits.added or change.edits.removed for change in ordered)
    if has_units and (any(change.edits.ops for change in ordered) or _is_other_convolution(m.layers, ordered)):
        return _exchange_change(m, ordered, severity)
    if kinds == {"rewired"}:
        return merge_order_changes(m, ordered)
    return _most_telling_change(ordered, severity)


def _chain_change(m: Matching, changes: list[Change], kind: ChangeKind, severity: Severity) -> Change:
    """Return a chain of added or removed ops or scopes as one change."""
    side = m.b if kind == "added" else m.a
    parts = sort_parts_by_flow(side, [change for change in changes if change.kind == kind])
    units = [(change, change.unit) for change in parts if change.unit]
    first, unit = next((pair for pair in units if pair[1].scope), units[0])
    nodes = [node for item in parts for node in (*item.edits.added, *item.edits.removed)]
    shown_nodes = shown_ops(side, nodes)
    inside = {side.graph.name[node] for node in nodes}
    links = located_wires([*parts, *(change for change in changes if change.kind == "rewired")])
    # Wires between the parts of the chain are not reported.
    outer_wires = [
        wire
        for wire in sorted_wires(links)
        if wire.node and (wire.node.new if kind == "added" else wire.node.old) not in inside
    ]
    names = [change.name for change in parts if not is_quiet_part(side, change)]
    content = Unit(
        unit.scope,
        count_op_types(side, shown_nodes),
        tuple(outer_wires) if links else None,
        unit.equal,
        tuple(names) if len(names) > 1 else (),
        _layers_of_read_weights(m.layers[kind == "added"], nodes),
    )
    edits = edits_of_changes(changes)
    return Change(kind, severity, first.old, first.new, len(shown_nodes), content, first.also, edits=edits)


def _layers_of_read_weights(layers: Layers, nodes: Sequence[int]) -> tuple[str, ...]:
    """Return the layers whose weights some ops of other layers read directly, as a penalty or a norm of weights
    does."""
    side, inside = layers.side, set(nodes)
    owners = set()
    for node in nodes:
        if layers.forward[node] and side.op_type(node) in VARIABLE_READ_OPS | VARIABLE_OPS:
            for source in side.sources(node):
                layer = layers.layer_of_node(source)
                if source not in inside and exists(layer) and layer != layers.layer_of_node(node):
                    owners.add(layers.name(layer))
    return tuple(sorted(owners))


def _exchange_change(m: Matching, changes: list[Change], severity: Severity) -> Change:
    """Return the replacement of ops or layers by others as one change."""
    edits = edits_of_changes(changes)
    node_pairs = edits.ops if edits.ops or (edits.added and edits.removed) else _pairs_with_settings(changes)
    old_nodes = [*edits.removed, *(old for old, _ in node_pairs)]
    new_nodes = [*edits.added, *(new for _, new in node_pairs)]
    words = _describe_nodes(m.layers[0], old_nodes), _describe_nodes(m.layers[1], new_nodes)
    # If one word describes both, as for Gelu written in other ops, the op types are listed.
    if words[0] == words[1]:
        words = _main_op_types(m.layers[0], old_nodes), _main_op_types(m.layers[1], new_nodes)
    beside = tuple(setting_part(item) for item in changes if item.setting and not item.edits.ops)
    counts = group_counts(m.layers, changes)
    old, new = _main_layer(m.layers[0], old_nodes), _main_layer(m.layers[1], new_nodes)
    # The new layer may be a scope in the partner of the old one.
    if exists(new) and exists(old) and 0 < m.layers[1].side.scopes.parent[new] == m.scope_to_b[old]:
        new = int(m.scope_to_b[old])
    if exists(new) and not exists(old) and exists(m.scope_to_a[new]):
        old = int(m.scope_to_a[new])
    classes = _exchanged_classes_of(m.layers, old, new, (old_nodes, new_nodes))
    if all(kind in GATE_COUNTS for kind in classes or words):
        beside = _without_gates(beside, classes or words)
    paddings: list[Change] = []
    if classes and all(CONVOLUTION in kind for kind in classes):
        beside = tuple(part for part in beside if part.key not in KERNEL_KEYS)  # the weights are listed instead
        # The padding follows from the kernel: 1×1 needs none.
        paddings = [change for change in changes if change.key == "padding"]
    weights = tuple(dict.fromkeys(pair for item in changes if item.setting for pair in item.setting.weights))
    content = Setting("op", *(classes or words), beside=beside, weights=weights)
    content = Setting("groups", *counts) if counts else content
    content = _with_other_settings(m, (old_nodes, new_nodes), content)
    names, ops = (m.layers[0].name(old), m.layers[1].name(new)), len(old_nodes) + len(new_nodes)
    final: Severity = "attribute" if counts else severity
    edits = edits_of_changes(without_objects(changes, paddings))
    return Change("changed", final, *names, ops, content, edits=edits, consequences=tuple(paddings))


def _pairs_with_settings(changes: Sequence[Change]) -> list[tuple[int, int]]:
    return [(old, new) for change in changes for old, new, _ in change.edits.attributes]


def _is_other_convolution(layers: tuple[Layers, Layers], changes: Sequence[Change]) -> bool:
    """Return whether the layer of the first changed setting became a convolution of another class."""
    pairs = _pairs_with_settings(changes)[:1]
    rows = [(layers[0].layer_of_node(old), layers[1].layer_of_node(new)) for old, new in pairs]
    kinds = {side.class_of(row) for pair in rows for side, row in zip(layers, pair, strict=True)}
    return len(kinds) > 1 and all(CONVOLUTION in kind for kind in kinds)


def _with_other_settings(m: Matching, nodes: tuple[Sequence[int], Sequence[int]], content: Setting) -> Setting:
    """Return an exchange of a single op with the settings that both ops have and that differ; for equal op types, the
    first of these settings in place of the exchange."""
    computing = [
        [node for node in ops if side.side.op_type(node) not in QUIET_OPS]
        for side, ops in zip(m.layers, nodes, strict=True)
    ]
    if [len(ops) for ops in computing] != [1, 1]:
        return content
    is_same_op = content.old == content.new
    name = m.b.graph.name[computing[1][0]]
    parts = tuple(
        SettingPart(name, each.key, each.old, each.new)
        for each in differences(m, computing[0][0], computing[1][0], DiffOptions())
        if each.attribute and (is_same_op or type(each.old) is type(each.new))
    )
    if is_same_op and parts:
        return Setting(parts[0].key, parts[0].old, parts[0].new, beside=parts[1:])
    return replace(content, beside=(*content.beside, *(part for part in parts if part not in content.beside)))


def _without_gates(parts: Sequence[SettingPart], kinds: tuple[str, str]) -> tuple[SettingPart, ...]:
    """Return the settings beside an exchange of recurrent layers with `units` divided by the number of gates, which
    depends on the class.

    >>> [part.new for part in _without_gates([SettingPart("net/rnn", "units", "128", "144")], ("LSTM", "GRU"))]
    ['48']
    """
    made: list[SettingPart] = []
    for part in parts:
        if part.key == "units" and f"{part.old}{part.new}".isdecimal():
            units = [int(size) // GATE_COUNTS[kind] for size, kind in zip((part.old, part.new), kinds, strict=True)]
            made += [replace(part, old=str(units[0]), new=str(units[1]))] if units[0] != units[1] else []
        elif (part.key, part.old, part.new) != ("op", *kinds):
            made.append(part)
    return tuple(made)


def _exchanged_classes_of(
    layers: tuple[Layers, Layers], old: int, new: int, nodes: tuple[Sequence[int], Sequence[int]]
) -> tuple[str, str] | None:
    """Return the classes of a layer and of its replacement; None if they are equal or unknown, or only few ops were
    replaced."""
    kinds = tuple(side.class_of(layer) for side, layer in zip(layers, (old, new), strict=True))
    if not exists(old) or not exists(new) or kinds[0] == kinds[1] or not all(kinds):
        return None
    sizes = [side.side.scopes.size(layer) for side, layer in zip(layers, (old, new), strict=True)]
    mostly = any(2 * len(some) >= size for some, size in zip(nodes, sizes, strict=True))
    # Classes that may differ in few ops.
    related = any(all(word in kind for kind in kinds) for word in (NORMALIZATION, CONVOLUTION))
    related |= all(kind in GATE_COUNTS for kind in kinds)
    return (kinds[0], kinds[1]) if mostly or related else None


def _main_layer(layers: Layers, nodes: Sequence[int]) -> int:
    """Return the layer with most of the nodes; nodes in the model, and scopes rather than single ops, are preferred."""
    counts = Counter(layers.layer_of_node(node) for node in nodes if layers.forward[node]) or Counter(
        map(layers.layer_of_node, nodes)
    )
    return max(counts, key=lambda layer: (exists(layer), counts[layer], layers.name(layer)))


def _describe_nodes(layers: Layers, nodes: Sequence[int]) -> str:
    """Describe ops in a few words: a PyTorch module, the activation that they form, their single type, their common
    scope, or their types."""
    side = layers.side
    graph = side.graph
    model = [node for node in nodes if layers.forward[node]] or list(nodes)
    # Filters that would leave no op are skipped.
    model = [node for node in model if not layers.for_gradients[node]] or model
    computing = [node for node in model if graph.op_types[graph.op[node]] not in QUIET_OPS] or model
    if graph.has_module_scopes and (kind := _whole_module_class(side, computing)):
        return kind
    types = frozenset(_op_word(side, node) for node in computing)
    # Users with inputs from these ops only, such as the product at the end of Silu, belong to the activation.
    inside = {end for node in computing for end in (node, *side.data_sources(node))}
    users = {user for node in computing for user in side.data_users(node)} - set(computing)
    closing_types = {_op_word(side, user) for user in users if inside.issuperset(side.data_sources(user))}
    if word := COMPOSED_ACTIVATIONS.get(types | closing_types) or COMPOSED_ACTIVATIONS.get(types):
        return word
    if len(types) == 1:
        return next(iter(types))
    # All ops are in one scope inside the layer.
    rows = {int(side.scopes.of_node[node]) for node in computing}
    if (
        len(rows) == 1
        and not graph.layers
        and (row := rows.pop()) != int(layers.of_row[row])
        and exists(side.scopes.parent[row])
        and (not graph.has_module_scopes or set(side.scopes.nodes(row).tolist()) <= set(nodes))
    ):
        return str(side.scopes.leaf[row])
    return _inner_scope_word(layers, computing) or _main_op_types(layers, computing)


def _inner_scope_word(layers: Layers, nodes: Sequence[int]) -> str:
    """Return the common name, without its number, of the scopes directly in a layer that contain the ops; "" if they
    have several names."""
    scopes, words = layers.side.scopes, set()
    for node in nodes:
        row, inner = int(scopes.of_node[node]), -1
        layer = layers.layer_of_node(node)
        while exists(row) and row != layer:
            row, inner = int(scopes.parent[row]), row
        words.add(without_counters(scopes.leaf[inner]) if exists(row) and exists(inner) else "")
    return words.pop() if len(words) == 1 and not layers.side.graph.layers else ""


def _whole_module_class(side: GraphColumns, nodes: Sequence[int]) -> str:
    """Return the class of the PyTorch modules that consist of exactly these nodes; "" if there is none."""
    rows = {int(side.scopes.of_node[node]) for node in nodes}
    classes = {enclosing_module_class(side.graph.name[node]) for node in nodes}
    if len(classes) != 1:
        return ""
    # An op may be a whole module; else all ops of a module must be present.
    single = all(is_module(last_segment(side.graph.name[node])) for node in nodes)
    whole = all(set(side.scopes.nodes(row).tolist()) <= set(nodes) for row in rows)
    return classes.pop() if single or whole else ""


def _main_op_types(layers: Layers, nodes: Sequence[int]) -> str:
    """Return the three most frequent types of ops, sorted by name, as text."""
    nodes = [node for node in nodes if layers.forward[node]] or nodes
    counts = Counter(_op_word(layers.side, node) for node in nodes)
    loud = {word: count for word, count in counts.items() if word not in QUIET_OPS} or counts
    first = sorted(loud, key=lambda word: (-loud[word], word))[:3]
    return " + ".join(sorted(first)) + (" + …" if len(loud) > 3 else "")


def _op_word(side: GraphColumns, node: int) -> str:
    """Return the type of an op without its framework; for a call of one function, the function's name."""
    called = side.functions_called_by_node.get(node, [])
    if len(called) == 1:
        return TRACED_FUNCTION_PREFIX.sub("", base_name(side.graph.functions[called[0][1]].name)).strip("_")
    return str(side.op_type(node)).rpartition("::")[2]


def dilation_change(m: Matching, changes: Sequence[Change]) -> Change | None:
    """Return the change of a convolution that gained or lost a dilation: TensorFlow cuts its input into blocks."""
    convolution = next((change for change in changes if change.kind == "changed"), None)
    for change in changes if convolution is not None else ():
        for side, nodes in ((m.a, change.edits.removed), (m.b, change.edits.added)):
            widened = [node for node in nodes if side.op_type(node) in DILATION_BLOCK_OPS]
            if convolution is not None and widened:
                shape = _constant_input(side, widened[0], 1)
                plain = [1] * len(shape)  # without blocks, the dilation is 1 in each dimension
                old, new = (shape, plain) if side is m.a else (plain, shape)
                # The cut may pad the image; then the padding of the convolution follows.
                padded = any(_constant_input(side, widened[0], 2))
                content = Setting("dilation", old, new, attributes=("padding",) if padded else ())
                return replace(convolution, content=content, edits=NodeEdits(), ops=0)
    return None


def activation_change(m: Matching, changes: Sequence[Change]) -> Change | None:
    """Return the change of an op whose activation became a separate op behind it, or the reverse; None for other
    changes."""
    fusions = [change for change in changes if change.key == FUSED_ACTIVATION and change.setting is not None]
    units = [change for change in changes if change.kind in ("added", "removed")]
    if not len(fusions) == len(units) == 1 or len(changes) > 2:
        return None
    (change,), (unit,) = fusions, units
    is_new, nodes = unit.kind == "added", unit.edits.added or unit.edits.removed
    side, owners = (m.a, m.b)[is_new], {pair[is_new] for pair in change.edits.attributes}
    if len(nodes) != 1 or not owners.issuperset(side.data_sources(nodes[0])):
        return None
    setting, word = change.setting, ACTIVATION_WORDS.get(plain_op_name(equal_op(side.op_type(nodes[0]))))
    if word is None or setting is None or (setting.new if is_new else setting.old) is not None:
        return None
    content = replace(setting, new=word) if is_new else replace(setting, old=word)
    return replace(change, content=content, ops=change.ops + unit.ops, edits=edits_of_changes([change, unit]))


def _constant_input(side: GraphColumns, node: int, slot: int) -> list[Any]:
    """Return the numbers of a constant list at an input of an op; [] for anything else."""
    source = dict(reversed(side.data_inputs(node))).get(slot, -1)
    values = side.constant_numbers(source) if exists(source) else None
    return values if isinstance(values, list) else []


def _most_telling_change(changes: list[Change], severity: Severity) -> Change:
    """Return the most important of several differences of a layer, with the others as further settings."""

    def rank(change: Change) -> tuple[int, int, int, bool]:
        key, constant = change.key, change.setting is not None and change.setting.constant
        place = KEYS_BY_TELLING.index(key) if key in KEYS_BY_TELLING else len(KEYS_BY_TELLING)
        return (change.kind != "changed", SEVERITIES.index(change.severity), place, constant)

    changes = sorted(changes, key=rank)
    first = changes[0]
    others = [change for change in changes[1:] if change.kind == "changed" and not _is_derived_setting(first, change)]
    others = [
        change for change in others if (change.name, change_wording(change)) != (first.name, change_wording(first))
    ]
    content = first.content
    if isinstance(content, Setting):
        beside = (
            *content.beside,
            *(part for change in others for part in (setting_part(change), *change.further_settings)),
        )
        content = replace(content, beside=beside, links=located_wires(changes[1:]) or content.links)
    also = first.also if first.key != "dtype" else other_places(changes, first)
    return unite_changes(first, changes, severity=severity, content=content, also=also, inside=(), consequences=())


def _is_derived_setting(first: Change, other: Change) -> bool:
    """Return whether a setting follows from another difference, since it has its old and new numbers; the scale of a
    dropout follows from its rate."""
    main, derived = first.setting, other.setting
    if (first.key, other.key) == ("rate", "scale") or (main and other.key in main.attributes):
        return True
    if derived is None:
        return False
    lists = isinstance(derived.old, list) and isinstance(derived.new, list)
    before, after = (value if isinstance(value, list) else [value] for value in (derived.old, derived.new))
    # `3×3` is [3, 3]. Two equal words or single numbers are settings of their own.
    if main and lists and (main.old, main.new) == tuple("×".join(map(str, sizes)) for sizes in (before, after)):
        return True
    if not derived.constant:
        return False
    old, new = (str(main.old), str(main.new)) if main else ("", "")
    # The lists differ in that number only.
    return [new if str(size) == old else str(size) for size in before] == list(map(str, after))


def bias_change(m: Matching, change: Change) -> Change | None:
    """Return the change of a layer that only gained or lost its bias; None for any other change."""
    if change.kind not in ("added", "removed") or change.also or change.function is not None:
        return None
    is_new = change.kind == "added"
    layers, nodes = m.layers[is_new], change.edits.added or change.edits.removed
    graph = layers.side.graph
    computing = [node for node in nodes if graph.op_types[graph.op[node]] not in QUIET_OPS]
    if len(computing) != 1 or graph.op_types[graph.op[computing[0]]] not in BIAS_OPS:
        return None
    sources = layers.side.data_sources(computing[0])
    inside = set(nodes)
    weights = [source for source in sources if source in inside]
    products = [source for source in sources if graph.op_types[graph.op[source]] in PRODUCT_OPS]
    layer = layers.layer_of_node(computing[0])
    partner = int((m.scope_to_a if is_new else m.scope_to_b)[layer]) if exists(layer) else -1
    if len(sources) != 2 or len(weights) != 1 or len(products) != 1 or not exists(partner):
        return None
    weight = graph.meaning.weights.get(weights[0])
    if weight is None or weight.shape is None or len(weight.shape) != 1 or layers.layer_of_node(products[0]) != layer:
        return None
    rows = (partner, layer) if is_new else (layer, partner)
    names = m.layers[0].name(rows[0]), m.layers[1].name(rows[1])
    content, consequences = Setting("use_bias", not is_new, is_new), change.consequences
    return Change("changed", "attribute", *names, change.ops, content, edits=change.edits, consequences=consequences)


def attach_consequences(m: Matching, causes: list[Change], behind: Sequence[Change]) -> list[Change]:
    """Attach each consequence to the only cause with the same old and new size, else to a cause of the same name, else
    to the first cause that may change sizes.

    An optimizer comes before the clipping and the schedule that change with it. Of very many causes, only those with
    the longest names are tried.
    """
    if not causes:
        return list(behind)
    by_cause: dict[int, list[Change]] = defaultdict(list)
    cause_by_leaf: dict[str, int] = {}
    followers = (CLIPPING, LEARNING_RATE) if any(cause.key == OPTIMIZER for cause in causes) else ()
    numbers = sorted(range(len(causes)), key=lambda number: causes[number].key in followers)
    for number in numbers:
        for name in (name for place in causes[number].places for name in place if name):
            cause_by_leaf.setdefault("/".join(name.split("/")[-2:]), number)
    # The longest names first, then the first causes.
    leaves = sorted(cause_by_leaf, key=lambda leaf: (-len(leaf), cause_by_leaf[leaf]))
    max_letters = MAX_COMPARED_LETTERS // max(1, sum(len(change.name) for change in behind))
    leaves = leaves[: bisect_right(list(accumulate(map(len, leaves))), max_letters)]
    causes_by_sizes: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, cause in enumerate(causes):
        for sizes in {(str(part.old), str(part.new)) for part in (cause.setting.as_parts if cause.setting else ())}:
            causes_by_sizes[sizes].append(number)
    resizing = next((number for number in numbers if _may_resize(m, causes[number])), numbers[0])
    trained = {number for number in numbers if _is_of_training(m, causes[number])}
    for change in behind:
        causes_of_size = next((causes_by_sizes[sizes] for sizes in _sizes(change) if sizes in causes_by_sizes), [])
        # No difference of the model follows from the training.
        unable = trained if trained and change.setting and not _is_of_training(m, change) else ()
        leaf = next((leaf for leaf in leaves if leaf in change.name and cause_by_leaf[leaf] not in unable), "")
        default = causes_of_size[0] if causes_of_size else resizing if change.setting else numbers[0]
        by_cause[default if len(causes_of_size) == 1 else cause_by_leaf.get(leaf, default)].append(change)
    return [
        replace(change, consequences=sort_by_severity([*change.consequences, *by_cause[number]]))
        for number, change in enumerate(causes)
    ]


def _may_resize(m: Matching, change: Change) -> bool:
    """Return whether a change may change sizes: it is neither a dtype, nor only of elementwise ops or of the
    training."""
    edits = change.edits
    if change.key == "dtype" or _is_of_training(m, change):
        return False
    old, new = zip(*edits.ops, strict=True) if edits.ops else ((), ())
    ops = {
        side.op_type(node) for side, own in ((m.a, (*edits.removed, *old)), (m.b, (*edits.added, *new))) for node in own
    }
    return not ops or not all(is_elementwise(op) for op in ops - VALUE_PLUMBING)


def _is_of_training(m: Matching, change: Change) -> bool:
    """Return whether a change only concerns the training: how a Keras model is compiled has no nodes, and other nodes
    do not lead to a result of the model."""
    nodes = [(layers, change.edits.nodes_of(bool(new))) for new, layers in enumerate(m.layers)]
    if not any(own for _, own in nodes):
        return change.edits == NodeEdits()
    return not any(layers.forward[own].any() for layers, own in nodes)


def _sizes(change: Change) -> list[tuple[str, str]]:
    """Return the old and the new size of each axis that differs, of weights and of a list of sizes."""
    setting = change.setting
    ends = [(str(pair.old).split("×"), str(pair.new).split("×")) for pair in setting.weights] if setting else []
    if setting and isinstance(setting.old, list) and isinstance(setting.new, list):
        ends.append(([*map(str, setting.old)], [*map(str, setting.new)]))
    return [pair for pair_of_lists in ends for pair in zip(*pair_of_lists, strict=False) if pair[0] != pair[1]]


# The loss, and the smoothing of its labels.

LOSS, LABEL_SMOOTHING = "loss", "label smoothing"
SMOOTHING_OPS = LINEAR_OPS | {"RealDiv"}


def name_loss_part(layers: tuple[Layers, Layers], change: Change) -> Change:
    """Name a change of the loss: label smoothing that was added or removed, or another loss."""
    nodes = change.edits.removed, change.edits.added
    if change.unit and not change.unit.training and change.function is None:
        new = change.kind == "added"
        if _smooths_labels(layers[new], nodes[new]):
            return replace(change, content=replace(change.unit, training=LABEL_SMOOTHING))
    names = tuple(without_counters(last_segment(name or "")) for name in (change.old, change.new))
    # A scope inside another one is no other loss.
    nested = is_within(change.old or "", change.new) or is_within(change.new or "", change.old)
    if change.setting and change.key == "op" and names[0] != names[1] and all(names) and not nested:
        parts = [side.side.graph.meaning.part()[list(edited)] for side, edited in zip(layers, nodes, strict=True)]
        if all((part == Part.LOSS).any() for part in parts):
            return replace(change, content=replace(change.setting, key=LOSS, old=names[0], new=names[1]))
    return change


def _smooths_labels(layers: Layers, nodes: Sequence[int]) -> bool:
    """Return whether ops scale and shift an input of a loss that depends on no weight."""
    graph = layers.side.graph
    types = {graph.op_types[op] for op in graph.op[list(nodes)].tolist()}
    part = graph.meaning.part()
    if not (types <= SMOOTHING_OPS and types & ADD_OPS and types & MULTIPLY_OPS) or not (part == Part.LOSS).any():
        return False
    data = ~graph.control
    start = np.zeros(len(graph), bool)
    start[list(nodes)] = True
    reached = reachable_mask(start, graph.source[data], graph.target[data]) & layers.forward
    weight_edges = layers.forward[graph.target] & (graph.meaning.origin[graph.source] >= 0) & data
    weighed = np.zeros(len(graph), bool)
    weighed[graph.target[weight_edges]] = True
    derived = reachable_mask(weighed, graph.source[data], graph.target[data])
    return bool((reached & (part == Part.LOSS)).any()) and not (derived & start).any() and not (weighed & reached).any()
