"""The exit codes of `tbgraph diff`, and how many changes it reports when not all are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphviz_tb.diff.result import Changes

SAME, DIFFERENT = 0, 1  # as `diff` and `git diff --exit-code` have it
TOP = 40  # changes in a report: a screenful, its consequences included
# What `--fail-on` names → the severities that count as different.
FAILING: dict[str, tuple[str, ...]] = {
    "none": (),
    "signature": ("signature",),
    "structure": ("signature", "op", "wiring"),
    "attributes": ("signature", "op", "wiring", "attribute"),
    "any": ("signature", "op", "wiring", "attribute", "rename", "cosmetic"),
}


def code_of(changes: Changes, fail_on: str) -> int:
    """The exit code."""
    return DIFFERENT if any(change.severity in FAILING[fail_on] for change in changes) else SAME
