"""Another type of numbers, with the casts that it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphviz_tb.diff.changes.several import edits_of
from graphviz_tb.model.change import Change, Severity

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"})


def is_precision(change: Change) -> bool:
    """Whether numbers are of another floating type: single, half, double. TensorFlow leaves out single where it is the
    default of an op."""
    detail = change.detail
    # A Keras model may write anything for a dtype: only a word can be a floating type.
    if detail.get("key") != "dtype":
        return False
    return all(isinstance(one, str) and one in FLOATS for one in (detail[side] or "float32" for side in ("old", "new")))


def other_types(changes: list[Change], severity: Severity) -> Change:
    """Another type of numbers, with the casts that it needs: named by the scope around all."""
    types = [change for change in changes if is_precision(change)]
    # Where both types are written, then the largest: a default that is left out says less.
    first = max(types, key=lambda change: (None not in change.detail.values(), change.ops, change.name))
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
