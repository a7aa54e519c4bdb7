"""Another type of numbers, with the casts that it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphviz_tb.diff.changes.several import edits_of
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import SEVERITIES, Change
from graphviz_tb.model.tensors import dtype_label
from graphviz_tb.ops.roles import CAST_OPS

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"})


def is_precision(change: Change) -> bool:
    """Whether numbers are of another floating type: single, half, double. TensorFlow leaves out single where it is the
    default of an op."""
    detail = change.detail
    # A Keras model may write anything for a dtype: only a word can be a floating type.
    if detail.get("key") != "dtype":
        return False
    return all(isinstance(one, str) and one in FLOATS for one in (detail[side] or "float32" for side in ("old", "new")))


def type_pair(change: Change) -> tuple[str, str]:
    """The old and the new floating type."""
    return change.detail["old"] or "float32", change.detail["new"] or "float32"


def only_types(change: Change) -> bool:
    """Whether only types of numbers are others in a function."""
    return bool(change.inside) and all(is_precision(one) or one.kind == "signature-changed" for one in change.inside)


def inner_type(change: Change) -> tuple[str, str] | None:
    """The old and the new type in a function in which only one type is another."""
    pairs = {type_pair(one) for one in change.inside if is_precision(one)}
    return pairs.pop() if len(pairs) == 1 else None


def casting(m: Matching, change: Change) -> tuple[str, str]:
    """The old and the new type where only casts between these came or went, or are wired; else two empty words."""
    none = "", ""
    if change.kind not in ("added", "removed") or "function" in change.detail:
        return none
    came = change.kind == "added"
    graph = (m.b if came else m.a).graph
    pairs = set()
    for node in change.edits.added if came else change.edits.removed:
        definition = graph.node_def(node)
        if definition is None or definition.op not in CAST_OPS or not {"SrcT", "DstT"} <= set(definition.attr):
            return none
        pairs.add(frozenset(dtype_label(definition.attr[key].type) for key in ("SrcT", "DstT")))
    if len(pairs) != 1 or len(pair := sorted(pairs.pop())) != 2:
        return none
    return pair[0], pair[1]


def other_types(changes: list[Change]) -> Change:
    """Another type of numbers, with the casts that it needs: named by the scope around all."""
    types = [change for change in changes if is_precision(change)]
    if len(changes) == 1 and types:
        return types[0]
    severity = min((change.severity for change in changes), key=SEVERITIES.index)
    # Where both types are written, then the largest: a default that is left out says less.
    typed = types or [one for change in changes for one in change.inside if is_precision(one)]
    first = max(typed, key=lambda change: (None not in change.detail.values(), change.ops, change.name))
    casts = sum(change.ops for change in changes if change.kind in ("added", "removed"))
    names = [
        name for change in types for place in ((change.old, change.new), *change.also) for name in place[1:] if name
    ]
    around = shared_scope(names)
    detail = {"key": "dtype", "old": first.detail["old"], "new": first.detail["new"], "casts": casts}
    return Change("changed", severity if severity == "signature" else "attribute", around, around,
                  sum(change.ops for change in changes), detail, edits=edits_of(changes))  # fmt: skip


def shared_scope(names: Sequence[str]) -> str:
    """The scope that most of the names are in: the longest with nine in ten of them.

    >>> shared_scope(["m/a/x", "m/b/y"]), shared_scope(["a", "b"]), shared_scope(["m/a/x", "m/a/y/z"])
    ('m', '', 'm/a')
    """
    scopes = [name.split("/")[:-1] for name in names]
    shared: list[str] = []
    # One segment at a time, as all scopes of a deep name together have the square of its letters. Only one branch can
    # hold so many names.
    while scopes := [words for words in scopes if len(words) > len(shared)]:
        ((word, count),) = Counter([words[len(shared)] for words in scopes]).most_common(1)
        if 10 * count < 9 * len(names):
            break
        scopes = [words for words in scopes if words[len(shared)] == word]
        shared.append(word)
    return "/".join(shared)
