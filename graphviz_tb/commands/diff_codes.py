"""The exit codes of `tbgraph diff`, and the number of changes in a short report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.model.change import Change

    Condition = tuple[tuple[str, str], ...]  # field and pattern of each part

SAME, DIFFERENT = 0, 1  # as in `diff` and `git diff --exit-code`
TOP = 40  # changes in a short report: about a screenful
# Word of `--fail-on` → the severities that count as different.
FAILING: dict[str, tuple[str, ...]] = {
    "none": (),
    "signature": ("signature",),
    "structure": ("signature", "op", "wiring"),
    "attributes": ("signature", "op", "wiring", "attribute"),
    "any": ("signature", "op", "wiring", "attribute", "rename", "cosmetic"),
}

FIELDS = ("class", "gone", "new", "in", "kind")  # other fields of a condition


def code_of(changes: Changes, fail_on: str) -> int:
    """Return the exit code; `fail_on` was checked by `conditions` before."""
    failing = conditions(fail_on)
    return DIFFERENT if any(meets(changes, change, each) for change in changes for each in failing) else SAME


def conditions(fail_on: str) -> list[Condition]:
    """Parse the conditions of `--fail-on`: any one is enough, and all parts of one must hold.

    >>> conditions("signature, gone:*Normalization in:encoder/**")
    [(('is', 'signature'),), (('gone', '*Normalization'), ('in', 'encoder/**'))]
    """
    from graphviz_tb.errors import RequestError, UnknownChoice

    found = [tuple(map(condition_part, words.split())) for words in fail_on.split(",")]
    if not all(found):
        raise RequestError(f"--fail-on {fail_on!r} has an empty condition", hint="write structure,gone:*Normalization")
    for field, word in (each for condition in found for each in condition):
        if field == "is" and word not in FAILING:
            raise UnknownChoice.among("--fail-on", word, (*FAILING, *(f"{name}:" for name in FIELDS)))
        if field not in ("is", *FIELDS):
            raise UnknownChoice.among("--fail-on", f"{field}:", (*FAILING, *(f"{name}:" for name in FIELDS)))
    return found


def condition_part(word: str) -> tuple[str, str]:
    """Return one part of a condition: the field, and the pattern to compare with."""
    field, colon, pattern = word.partition(":")
    return (field, pattern) if colon else ("is", word)


def meets(changes: Changes, change: Change, condition: Condition) -> bool:
    """Return whether all parts of a condition hold for a change."""
    return all(holds(changes, change, field, pattern) for field, pattern in condition)


def holds(changes: Changes, change: Change, field: str, pattern: str) -> bool:
    """Return whether one part of a condition holds for a change."""
    from graphviz_tb.view.wildcards import Pattern

    if field == "is":
        return change.severity in FAILING[pattern]
    matches = Pattern(pattern).matches
    if field == "kind":
        return matches(change.kind)
    layers = changes.layers_of(change)
    if field == "in":
        return any(matches(layer["name"]) for layer in (*layers["old"], *layers["new"]))
    old, new = (Counter(layer["class"] for layer in layers[side]) for side in ("old", "new"))
    # A class with an equal count on both sides is neither new nor gone.
    classes = {"class": old | new, "gone": old - new, "new": new - old}[field]
    return any(map(matches, classes))
