"""Changes of the type of numbers in a whole graph: another floating type with its casts, and integers with scales."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.places import edits_of_changes, without_objects
from graphviz_tb.diff.changes.units import nodes_of_unit
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import SEVERITIES, Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.model.tensors import dtype_label
from graphviz_tb.ops.roles import CAST_OPS
from graphviz_tb.ops.table import equal_op, has_framework

CAST_TYPES = ("SrcT", "DstT")
FLOAT_TYPES = frozenset({"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"})


def is_precision(change: Change) -> bool:
    """Return whether numbers are of another floating type: single, half, double. TensorFlow leaves out single where it
    is the default of an op."""
    # A Keras model may write anything for a dtype: only a word can be a floating type.
    return change.key == "dtype" and all(isinstance(one, str) and one in FLOAT_TYPES for one in _type_pair(change))


def _type_pair(change: Change) -> tuple[str, str]:
    """Return the old and the new type of a setting that is a type."""
    setting = change.setting
    return (setting.old or "float32", setting.new or "float32") if setting else ("", "")


def _inner_type(change: Change) -> tuple[str, str] | None:
    """Return the old and the new dtype of a function whose only difference is one dtype."""
    pairs = {_type_pair(one) if is_precision(one) else None for one in change.inside if one.kind != "signature-changed"}
    return pairs.pop() if len(pairs) == 1 else None


def adds_casts(m: Matching, change: Change) -> tuple[str, str]:
    """Return the types between which a change only adds or removes casts, sorted; else two empty strings."""
    if change.kind not in ("added", "removed") or change.function is not None:
        return "", ""
    side, nodes = nodes_of_unit(m, change)
    if not all(equal_op(side.op_type(node)) in CAST_OPS and side.data_sources(node) for node in nodes):
        return "", ""
    types = side.tensors.tensors_of_node
    pairs = set()
    for node in nodes:
        definition = side.graph.node_def(node)
        stated = [definition.attr[key].type for key in CAST_TYPES if definition and key in definition.attr]
        # Casts of other frameworks state no types; their tensors have them.
        if len(stated) < len(CAST_TYPES) and not has_framework(side.op_type(node)):
            return "", ""
        found = (types(side.data_sources(node)[0])("0").dtype, types(node)("0").dtype)
        pairs.add(frozenset(map(dtype_label, stated) if stated else found))
    one, *others = sorted(pairs.pop()) if len(pairs) == 1 else [""]
    return (one, others[0]) if others else ("", "")


def _number_type_change(changes: list[Change]) -> Change:
    """Return one change of the number type with the casts that it needs, named by the scope around all."""
    types = [change for change in changes if is_precision(change)]
    if len(changes) == 1 and types:
        return types[0]
    severity = min((change.severity for change in changes), key=SEVERITIES.index)
    # Where both types are written, then the largest: a default that is left out says less.
    typed = [
        (one.setting, one)
        for one in types or [one for change in changes for one in change.inside if is_precision(one)]
        if one.setting
    ]
    first, _ = max(typed, key=lambda pair: (None not in (pair[0].old, pair[0].new), pair[1].ops, pair[1].name))
    casts = sum(change.ops for change in changes if change.kind in ("added", "removed"))
    around = shared_scope([name for change in types for _, name in change.places if name])
    content = Setting("dtype", first.old, first.new, casts=casts)
    return Change("changed", severity if severity == "signature" else "attribute", around, around,
                  sum(change.ops for change in changes), content, edits=edits_of_changes(changes))  # fmt: skip


def dtype_changes(m: Matching, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return the changes of dtype, one for each old and new dtype with the casts between them, and the changes that
    these are made of: a dtype explains nothing else."""
    typed: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in changes:
        if is_precision(change):
            typed[_type_pair(change)].append(change)
        elif pair := _inner_type(change):
            typed[pair].append(change)
    taken = [change for members in typed.values() for change in members]
    for change in without_objects(changes, taken) if typed else ():
        pair = adds_casts(m, change)
        which = pair if pair in typed else pair[::-1]
        if which in typed:
            typed[which].append(change)
            taken.append(change)
    return [_number_type_change(members) for members in typed.values()], taken


def quantising_changes(m: Matching, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return one change for all numbers that became integers with scales, one for all that are no longer, and the
    changes that these are made of: the scales, the types of the same weights, and the casts."""
    made, taken = [], []
    for new in (True, False):
        scaled = [
            (str(setting.new if new else setting.old), change)
            for change in changes
            if change.key == "quantization"
            and (setting := change.setting)
            and (setting.old, setting.new)[not new] is None
        ]
        if len(scaled) < 2:
            continue
        nodes = {(old, other) for _, change in scaled for old, other, _ in change.edits.attributes}
        parts = [
            change
            for change in changes
            if change.key == "dtype" and nodes.issuperset((old, other) for old, other, _ in change.edits.attributes)
        ]
        kind = "added" if new else "removed"
        casts = [change for change in changes if change.kind == kind and any(adds_casts(m, change))]
        parts += [*(change for _, change in scaled), *casts]
        around = shared_scope([name for _, change in scaled for _, name in change.places if name])
        # The type of most: a bias has a wider one.
        word = Counter(text.strip("[' ").partition(",")[0] for text, _ in scaled).most_common(1)[0][0]
        count = sum(change.ops for change in casts)
        content = Setting("quantization", None if new else word, word if new else None, casts=count)
        ops = sum(change.ops for change in parts)
        made.append(Change("changed", "attribute", around, around, ops, content, edits=edits_of_changes(parts)))
        taken += parts
    return made, taken
