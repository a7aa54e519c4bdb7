"""The exit codes of `tbgraph diff`, and the number of changes in a short report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.model.change import Change

    Condition = tuple[tuple[str, str], ...]  # field and pattern of each part

EXIT_SAME, EXIT_DIFFERENT = 0, 1  # as in `diff` and `git diff --exit-code`
MAX_REPORTED_CHANGES = 40  # changes in a short report: about a screenful
# Word of `--fail-on` → the severities that count as different.
FAILING_SEVERITIES: dict[str, tuple[str, ...]] = {
    "none": (),
    "signature": ("signature",),
    "structure": ("signature", "op", "wiring"),
    "attributes": ("signature", "op", "wiring", "attribute"),
    "any": ("signature", "op", "wiring", "attribute", "rename", "cosmetic"),
}

CONDITION_FIELDS = ("class", "gone", "new", "in", "kind")  # other fields of a condition


def diff_exit_code(changes: Changes, fail_on: str) -> int:
    """Return the exit code; `fail_on` was checked by `parse_conditions` before."""
    failing = parse_conditions(fail_on)
    return (
        EXIT_DIFFERENT
        if any(meets_condition(changes, change, each) for change in changes for each in failing)
        else EXIT_SAME
    )


def parse_conditions(fail_on: str) -> list[Condition]:
    """Parse the conditions of `--fail-on`: any one is enough, and all parts of one must hold.

    >>> parse_conditions("signature, gone:*Normalization in:encoder/**")
    [(('is', 'signature'),), (('gone', '*Normalization'), ('in', 'encoder/**'))]
    """
    from graphviz_tb.errors import RequestError, UnknownChoice

    found = [tuple(map(parse_condition_part, words.split())) for words in fail_on.split(",")]
    if not all(found):
        raise RequestError(f"--fail-on {fail_on!r} has an empty condition", hint="write structure,gone:*Normalization")
    for field, word in (each for condition in found for each in condition):
        if field == "is" and word not in FAILING_SEVERITIES:
            raise UnknownChoice.among(
                "--fail-on", word, (*FAILING_SEVERITIES, *(f"{name}:" for name in CONDITION_FIELDS))
            )
        if field not in ("is", *CONDITION_FIELDS):
            raise UnknownChoice.among(
                "--fail-on", f"{field}:", (*FAILING_SEVERITIES, *(f"{name}:" for name in CONDITION_FIELDS))
            )
    return found


def parse_condition_part(word: str) -> tuple[str, str]:
    """Return one part of a condition: the field, and the pattern to compare with."""
    field, colon, pattern = word.partition(":")
    return (field, pattern) if colon else ("is", word)


def meets_condition(changes: Changes, change: Change, condition: Condition) -> bool:
    """Return whether all parts of a condition hold for a change."""
    return all(meets_condition_part(changes, change, field, pattern) for field, pattern in condition)


def meets_condition_part(changes: Changes, change: Change, field: str, pattern: str) -> bool:
    """Return whether one part of a condition holds for a change."""
    from graphviz_tb.view.wildcards import NamePattern

    if field == "is":
        return change.severity in FAILING_SEVERITIES[pattern]
    matches = NamePattern(pattern).matches_name
    if field == "kind":
        return matches(change.kind)
    layers = changes.layers_of(change)
    if field == "in":
        return any(matches(layer["name"]) for layer in (*layers["old"], *layers["new"]))
    old, new = (Counter(layer["class"] for layer in layers[side]) for side in ("old", "new"))
    # A class with an equal count on both sides is neither new nor gone.
    classes = {"class": old | new, "gone": old - new, "new": new - old}[field]
    return any(map(matches, classes))
