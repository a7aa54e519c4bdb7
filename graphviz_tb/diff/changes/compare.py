"""Turn the matching of two graphs into changes, step by step.

names         renamed, moved                      one change for each substitution, or pair of scopes
nodes         op types, attributes                one change for each (key, old, new)
weights       shapes, settings                    one change for each layer, for each (input, old, new)
units         added, removed                      one change for each whole scope
wires         rewired                             inputs added or removed with a unit belong to it
causes        all of these                        separate the edits from their consequences
functions     function-changed                    contain the changes of their bodies
interface     signature-changed, versions
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np

from graphviz_tb.diff.changes.across_layers import BATCH_SIZE, is_tying, share_modules
from graphviz_tb.diff.changes.attributes import (
    COUNT_ATTRIBUTES,
    TYPE_LIST_KEYS,
    Difference,
    differences_once,
    is_entailed,
)
from graphviz_tb.diff.changes.called import DIVISION_KEYS, layer_division, parse_traced_list
from graphviz_tb.diff.changes.causes import explain_changes
from graphviz_tb.diff.changes.interface import (
    function_signatures,
    is_graph_result,
    is_other_output,
    model_setting_changes,
    version_changes,
)
from graphviz_tb.diff.changes.names import name_changes, without_counters
from graphviz_tb.diff.changes.settings import Atom, is_weight, setting_changes, weight_changes
from graphviz_tb.diff.changes.units import (
    Units,
    UnmatchedUnit,
    compared_blocks,
    count_op_types,
    differing_pairs,
    link_units,
    shown_ops,
    sorted_wires,
    units_of,
    wire_changes,
)
from graphviz_tb.diff.changes.witnesses import Witnesses
from graphviz_tb.diff.columns.labels import NODE_CLASSES
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import base_name, fingerprint
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import traced_shape_changes
from graphviz_tb.model.change import (
    SEVERITIES,
    Change,
    NodeEdits,
    Severity,
    concat_node_edits,
    sort_by_severity,
    unmatched_change,
)
from graphviz_tb.model.change_content import FunctionBody, Setting, Unit
from graphviz_tb.model.columns import exists
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.layers import is_module
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import RESOURCE_DTYPE_NUMBER, VARIANT_DTYPE_NUMBER, shape_text
from graphviz_tb.ops.layers import LayerRole, classes_with_role
from graphviz_tb.ops.roles import INPUT_OPS, VARIABLE_OPS
from graphviz_tb.options import DiffOptions

PLACEHOLDER_OPS = INPUT_OPS | classes_with_role(LayerRole.INPUT)
INPUT_SHAPE_KEYS = frozenset({"batch_shape", "batch_input_shape"})  # settings of a Keras input layer
HANDLE_DTYPES = (RESOURCE_DTYPE_NUMBER, VARIANT_DTYPE_NUMBER)
COSMETIC_KEYS = frozenset({"_output_shapes", "_input_shapes", COLOCATION_ATTR, "device"})

ChangesByBlock = dict[int, list[Change]]  # by block of the new graph: 0 for the main one, f + 1 for function f
Finding = tuple[Change, bool]  # a change, and whether it may only follow from another one


def compare_matched(m: Matching, options: DiffOptions) -> tuple[Change, ...]:
    """Return all changes, the most severe first."""
    witnesses = Witnesses(m)
    by_block = _find_differences(m, options, witnesses)
    # Functions first: a changed body is a change of the main graph.
    main = by_block.pop(0, [])
    blocks: ChangesByBlock = defaultdict(list)
    for block, found in by_block.items():
        blocks[block] = explain_changes(m, found, witnesses)
    for block, signature_changes in function_signatures(m).items():
        blocks[block] += signature_changes
    bodies = _function_changes(m, blocks)
    main += [(change, False) for change in bodies]
    main += [(change, False) for change in whole_function_changes(m)]
    main = _with_renamed_bodies(m, main)
    main += [(change, False) for change in model_setting_changes(m)]
    return sort_by_severity([*explain_changes(m, main, witnesses), *version_changes(m, options)])


def _find_differences(m: Matching, options: DiffOptions, witnesses: Witnesses) -> dict[int, list[Finding]]:
    """Return every difference by block of the new graph, and whether it may only be a consequence."""
    blocks_of, apart = compared_blocks(m), witnesses.unproven
    old_units, old_of = units_of(m.a, m.to_b, m.scope_to_b, blocks_of[0], apart[0], m.layers[0].forward)
    new_units, new_of = units_of(m.b, m.to_a, m.scope_to_a, blocks_of[1], apart[1], m.layers[1].forward)
    wires = link_units(m, old_units, old_of, new_units, new_of)
    by_block: dict[int, list[Finding]] = defaultdict(list)
    units = _unit_changes(m, old_units, new_units)
    for blocks in (name_changes(m), wire_changes(m, wires), units):
        for block, changes in blocks.items():
            by_block[block] += [(change, False) for change in share_modules(m, changes)]
    for block, change, follows in _node_changes(m, options, witnesses):
        by_block[block].append((change, follows))
    by_block[0] += [(change, False) for change in traced_shape_changes(m)]
    return by_block


def _node_changes(m: Matching, options: DiffOptions, witnesses: Witnesses) -> Iterator[tuple[int, Change, bool]]:
    """Yield the changes of matched nodes; one difference at many nodes is one change."""
    differing = differing_pairs(m)
    groups: dict[tuple[int, str, int | None, bool], list[Atom]] = defaultdict(list)
    weights: list[Atom] = []
    settings: list[Atom] = []
    batches = _batch_sizes(m, differing)
    wording_by_id: dict[int, tuple[Difference, str]] = {}  # by id: equal nodes share their differences
    for old_node, new_node in differing:
        of_pair = list(differences_once(m, old_node, new_node, options))
        # If the op type changed, only attributes that both types have are compared.
        if any(difference.key == "op" for difference in of_pair):
            of_pair = [each for each in of_pair if each.key == "op" or None not in (each.old, each.new)]
        of_pair = [_divided_difference(m, witnesses, (old_node, new_node), difference) for difference in of_pair]
        for difference in (_word_batch_size(m, new_node, difference, batches) for difference in of_pair):
            if is_weight(m, new_node, difference):
                weights.append((old_node, new_node, difference))
            elif difference.key == "value" and m.b.labels.settings[new_node]:
                settings.append((old_node, new_node, difference))
            else:
                # The key is a text, since values may be lists and objects.
                if id(difference) not in wording_by_id:
                    text = fingerprint([difference.key, difference.old, difference.new])
                    wording_by_id[id(difference)] = difference, text
                wording = wording_by_id[id(difference)][1]
                forward = m.layers[1].forward[new_node]
                layer = m.layers[1].layer_of_node(new_node) if forward else None
                proven = not forward and witnesses.value_follows(old_node, new_node, difference)
                groups[int(m.b.block[new_node]), wording, layer, proven].append((old_node, new_node, difference))
    for (block, _, layer, proven), members in groups.items():
        key, places = members[0][2].key, [new for _, new, _ in members]
        if layer is None:
            yield block, _attribute_change(m, members), proven
            continue
        old_value = members[0][2].old
        # Sizes of a Keras layer are settings; those of a PyTorch op may be computed.
        is_setting = members[0][0] in m.a.labels.configurations
        follows = key in COUNT_ATTRIBUTES or (key in INPUT_SHAPE_KEYS and _is_inner_input(m, places))
        entailed = not is_setting and parse_traced_list(old_value) is None and is_entailed(key, old_value)
        follows = follows or (entailed and key in TYPE_LIST_KEYS)
        # A program computes such settings from the shapes of its inputs.
        sizes = (witnesses.is_size(each.old, each.new, witnesses.given_sizes(a, b)) for a, b, each in members)
        follows = follows or ((entailed or (is_setting and isinstance(old_value, list))) and all(sizes))
        yield block, _attribute_change(m, members), follows
    yield from weight_changes(m, weights, witnesses)
    yield from setting_changes(m, settings, witnesses)


def _divided_difference(m: Matching, witnesses: Witnesses, pair: tuple[int, int], difference: Difference) -> Difference:
    """Return a difference of two shapes as that of the number of heads (`DIVISION_KEYS`), if it is one; else unchanged.
    Traces have shapes as text."""
    before, after = (
        value if isinstance(value, list) else parse_traced_list(value) for value in (difference.old, difference.new)
    )
    if not before or not after:
        return difference
    divided = layer_division(m.layers[1], pair[1], before, after, witnesses.incoming_sizes(pair))
    return replace(difference, key=divided[0], old=divided[1], new=divided[2]) if divided else difference


def _is_shape(value: Any) -> bool:
    """Return whether a setting is a shape as Keras writes it; a model may write anything.

    >>> _is_shape([None, 28]), _is_shape(["image", 0]), _is_shape({}), _is_shape(None)
    (True, False, False, False)
    """
    return isinstance(value, list) and all(dim is None or isinstance(dim, int) for dim in value)


def _batch_sizes(m: Matching, pairs: Sequence[tuple[int, int]]) -> frozenset[tuple[str, str]]:
    """Return the pairs of old and new batch size that at least two placeholders have, whose other sizes are equal."""
    counts = Counter[tuple[str, str]]()
    for mine, other in pairs:
        if m.b.op_type(other) in INPUT_OPS:
            before, after = (
                side.tensors.tensors_of_node(node)("0").shape for side, node in ((m.a, mine), (m.b, other))
            )
            if before and after and before[0] != after[0] and before[1:] == after[1:]:
                counts[str(before[0]), str(after[0])] += 1
    return frozenset(pair for pair, count in counts.items() if count > 1)


def _word_batch_size(
    m: Matching, new: int, difference: Difference, batches: AbstractSet[tuple[str, str]]
) -> Difference:
    """Return a difference of shapes in words. A shape of a placeholder becomes a batch size if only that differs, and
    is unknown on one side or a pair of `batches`."""
    if difference.key in INPUT_SHAPE_KEYS and _is_shape(difference.old) and _is_shape(difference.new):
        return replace(difference, old=shape_text(difference.old), new=shape_text(difference.new))
    if difference.key != "shape" or m.b.op_type(new) not in PLACEHOLDER_OPS:
        return difference
    # "?×28×28" and "32×28×28" differ in the batch only.
    (old, *rest), (now, *others) = (str(shape).split("×") for shape in (difference.old, difference.new))
    is_batch = rest == others and ("?" in (old, now) or (old, now) in batches)
    return replace(difference, key=BATCH_SIZE, old=old, new=now) if is_batch else difference


def _is_inner_input(m: Matching, nodes: Sequence[int]) -> bool:
    """Return whether all of these inputs have inputs themselves: those of nested models."""
    rows = np.asarray(nodes, np.int64)
    return bool((m.b.in_start[rows + 1] > m.b.in_start[rows]).all())


def _attribute_change(m: Matching, members: list[Atom]) -> Change:
    first = members[0][2]
    divided = first.key in DIVISION_KEYS
    before, after = m.layers
    places = sorted(
        {(_setting_place(before, old, divided), _setting_place(after, new, divided)) for old, new, _ in members}
    )
    attributes = sorted({difference.attribute for *_, difference in members if difference.attribute})
    other_names = () if attributes == [first.key] else tuple(attributes)  # if the key is no attribute
    content = Setting("weights" if is_tying(first) else first.key, first.old, first.new, attributes=other_names)
    pairs = tuple(dict.fromkeys((old, new) for old, new, _ in members))
    edits = (
        NodeEdits(ops=pairs)
        if first.key == "op"
        else NodeEdits(attributes=tuple((old, new, each.attribute or each.key) for old, new, each in members))
    )
    severity = _severity(m, first, [new for _, new in pairs])
    return Change("changed", severity, *places[0], len(pairs), content, tuple(places[1:]), edits=edits)


def _setting_place(layers: Layers, node: int, around: bool = False) -> str:
    """Return the place of an attribute: the op, or the scope `around` it; in a PyTorch trace its module."""
    name = layers.side.graph.name[node]
    if not (around or layers.side.has_module_scopes):
        return name
    layer, scope = layers.layer_of_node(node), name.rpartition("/")[0]
    if around and scope and not exists(layer) and not layers.side.graph.layers and not is_module(last_segment(name)):
        return scope
    return layers.name(layer) if exists(layer) and layers.side.has_module_scopes else name


def _severity(m: Matching, difference: Difference, nodes: list[int]) -> Severity:
    if difference.key in COSMETIC_KEYS:
        return "attribute" if difference.key == "device" else "cosmetic"
    types = {m.b.graph.op_types[op] for op in m.b.graph.op[nodes].tolist()}
    if types & PLACEHOLDER_OPS and difference.key in ("dtype", "shape", BATCH_SIZE):
        return "signature"
    if difference.key in INPUT_SHAPE_KEYS and not _is_inner_input(m, nodes):
        return "signature"
    return "op" if difference.key == "op" or is_tying(difference) else "attribute"


def _unit_changes(m: Matching, old_units: Units, new_units: Units) -> ChangesByBlock:
    """Return the changes for added and removed units, by block."""
    new_blocks = {0: 0, **{mine + 1: other + 1 for mine, other in m.functions.items()}}
    blocks: ChangesByBlock = defaultdict(list)
    for new, units in ((False, old_units), (True, new_units)):
        for unit in sorted(units, key=lambda unit: (unit.name.count("/"), len(unit.name), unit.name)):
            blocks[unit.block if new else new_blocks[unit.block]].append(_unit_change(m, unit, new))
    return blocks


def _unit_change(m: Matching, unit: UnmatchedUnit, new: bool) -> Change:
    side, nodes, is_scope = (m.b if new else m.a), unit.nodes, exists(unit.row)
    shown = shown_ops(side, nodes)
    is_forward = m.layers[new].forward[nodes].any()
    # Wires to gradients and updates follow from an op of the model.
    links = sorted_wires(wire for (_, user), wire in unit.links if m.layers[1].forward[user] or not is_forward)
    equals = m.equals.get(("new" if new else "old", True, unit.row), 0) if is_scope else 0
    content = Unit(is_scope, count_op_types(side, shown), tuple(links) or None, equals)
    inputs = tuple(dict.fromkeys(pair for pair, _ in unit.links))
    edits = NodeEdits(added=tuple(nodes), inputs=inputs) if new else NodeEdits(removed=tuple(nodes), inputs=inputs)
    is_port = not is_scope and (any(_feeds_graph(side, node) for node in nodes) or is_graph_result(side, nodes))
    return unmatched_change(new, "signature" if is_port else "op", [unit.name], len(shown), content, edits)


def _feeds_graph(side: GraphColumns, node: int) -> bool:
    """Return whether an op is an input of the graph, and no handle of a variable that a function captured."""
    definition = side.graph.node_def(node)
    if side.op_type(node) not in PLACEHOLDER_OPS:
        return False
    return definition is None or "dtype" not in definition.attr or definition.attr["dtype"].type not in HANDLE_DTYPES


def _function_changes(m: Matching, blocks: ChangesByBlock) -> list[Change]:
    """Return one change for each function with a changed body; functions with equal changes are merged."""
    groups: dict[str, list[tuple[tuple[int, int], tuple[Change, ...]]]] = defaultdict(list)
    pairs = {new + 1: (old, new) for old, new in m.functions.items()}
    for block, changes in sorted(blocks.items()):
        if changes:
            body_changes = sort_by_severity(changes)
            # All changes of a body as text: functions with equal texts are one change.
            groups[fingerprint([change.to_json() for change in body_changes])].append((pairs[block], body_changes))
    made = []
    for members in groups.values():
        body_changes = members[0][1]
        places = [(m.a.graph.functions[old].name, m.b.graph.functions[new].name) for (old, new), _ in members]
        severity = min((change.severity for change in body_changes), key=SEVERITIES.index)
        inner_edits = [change.all_edits() for _, alike in members for change in alike]
        written = tuple(pair for pair, _ in members if is_other_output(m, *pair))
        edits = concat_node_edits([*inner_edits, NodeEdits(functions=written)])
        base = base_name(places[0][1])
        ops = sum(change.ops for change in body_changes) * len(members)
        content, also = FunctionBody(base), tuple(places[1:])
        made.append(Change("function-changed", severity, *places[0], ops, content, also, body_changes, edits=edits))
    return made


def _with_renamed_bodies(m: Matching, found: list[Finding]) -> list[Finding]:
    """Attach functions whose bodies differ only in names to the rename of a scope that explains these: TensorFlow
    writes the name of a layer into its loops."""
    renames = {
        pair: number
        for number, (change, _) in enumerate(found)
        if change.kind in ("renamed", "moved")
        for pair in change.edits.scopes
    }
    bodies_by_rename: dict[int, list[Change]] = defaultdict(list)
    others = []
    for number, (change, _) in enumerate(found):
        body_changes = change.inside if change.kind == "function-changed" else ()
        only_names = body_changes and all(inner.kind in ("renamed", "moved") for inner in body_changes)
        pair = next((pair for pair in renames if only_names and _follow_rename(m, change, pair)), None)
        if pair is None:
            others.append(number)
        else:
            bodies_by_rename[renames[pair]].append(change)
    return [
        (replace(change, consequences=(*change.consequences, *bodies_by_rename[number])), follows)
        for number, (change, follows) in ((number, found[number]) for number in others)
    ]


def _follow_rename(m: Matching, change: Change, pair: tuple[int, int]) -> bool:
    """Return whether names in a body differ only by the new name of a scope."""
    old, new = m.a.scopes.name[pair[0]], m.b.scopes.name[pair[1]]
    nodes = [*change.all_edits().nodes]
    for row, _ in change.all_edits().scopes:
        inside = m.a.scopes.nodes(row)
        nodes += [(node, int(m.to_b[node])) for node in inside.tolist() if exists(m.to_b[node])]
    names = ((m.a.graph.name[mine].replace(old, new), m.b.graph.name[other]) for mine, other in nodes)
    return all(without_counters(mine) == without_counters(other) for mine, other in names)


def whole_function_changes(m: Matching) -> list[Change]:
    """Return one change for each added or removed function."""
    new_functions = set(m.functions.values())
    changes = []
    for new, side, matched_functions in ((False, m.a, set(m.functions)), (True, m.b, new_functions)):
        # Freezing leaves functions that nothing calls, in a graph without variables.
        is_frozen = not exists(side.graph.function).all() and not VARIABLE_OPS & set(side.graph.op_types)
        called = set(side.calls[2].tolist())
        for index, function in enumerate(side.graph.functions):
            if index in matched_functions or (is_frozen and index not in called):
                continue
            nodes = shown_ops(side, side.body(index))
            content = Unit(True, count_op_types(side, nodes), function=base_name(function.name))
            edits = NodeEdits(added_functions=(index,)) if new else NodeEdits(removed_functions=(index,))
            changes.append(unmatched_change(new, "op", [function.name], len(nodes), content, edits))
    return changes


def ignored_counts(m: Matching, options: DiffOptions) -> dict[str, int]:
    """Count the matched nodes that differ, for each ignored class of differences."""
    old, new = m.matched_pairs()
    counts = {}
    for word in NODE_CLASSES:
        if not getattr(options, word):
            count = int((getattr(m.a.labels, word)[old] != getattr(m.b.labels, word)[new]).sum())
            if count:
                counts[word] = count
    if not options.versions and version_changes(m, DiffOptions(versions=True)):
        counts["versions"] = 1
    return counts
