"""One number of a program that is in several places of a block: one change, with all of its places.

attention/q   units 32 → 64         what is twice as much, half as much, or the root of either, at the same blocks,
attention/mul y 0.354 → 0.25        is the same number: a head of 16 in place of 8
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isclose, sqrt
from typing import Any

from graphviz_tb.diff.changes.settings import WORDS
from graphviz_tb.diff.changes.several import edits_of, places_of
from graphviz_tb.interpret.pytorch import is_pytorch_module
from graphviz_tb.model.change import Change, sort_by_severity
from graphviz_tb.model.paths import last_segment

WIDTH_KEYS = frozenset({"units", "filters", "output_dim", "num_heads", "key_dim"})
TENSOR = re.compile(r"^tensor\(([-+.e0-9]+)(?:, .*)?\)$")
MANY = 3  # widths that are more or less by one factor: these are one number of the whole model
NEAR = 1e-3  # relative: constants are rounded to float32


def one_number(causes: Sequence[Change]) -> list[Change]:
    """Merge changes of numbers that are in the same blocks and changed by the same factor.

    Before: one change for each edit, with its places. After: in the order of the first of each; others as they were.
    """
    groups: dict[int, list[Change]] = {}
    leaders: list[tuple[int, frozenset[str], float]] = []
    widths: dict[tuple[str, str], int] = {}  # the first change of each old and new width
    numbers = [(number, change, factor) for number, change in enumerate(causes) if (factor := factor_of(change))]
    # In a trace, which has no weights, a factor of many widths is that of one number, wherever it stands.
    widths_of = [(change, factor) for _, change, factor in numbers if change.detail["key"] in WIDTH_KEYS]
    factors = [
        factor
        for change, factor in widths_of
        if is_pytorch_module(last_segment(change.name))
        for _ in range(change.place_count)
    ]
    common = next(
        (factor for factor in factors if sum(isclose(factor, each, rel_tol=NEAR) for each in factors) >= MANY), 0.0
    )
    whole: int | None = None
    # Widths first: they say most, and constants are computed from them.
    for number, change, factor in sorted(numbers, key=lambda each: each[1].detail.get("constant", False)):
        own = frozenset(names(change)) if change.detail["key"] == "num_heads" else blocks(change)
        leader = next(
            (first for first, around, ratio in leaders if is_related(factor, ratio) and stands_in(change, around)), None
        )
        if leader is None and common and is_related(factor, common):
            leader = whole
        ends = str(change.detail["old"]), str(change.detail["new"])
        if leader is None and change.detail["key"] in WIDTH_KEYS:
            # The same width, wherever it is set: `output_dim` of an embedding is `units` of what is added to it.
            leader = widths.get(ends)
        if leader is not None:
            groups[leader].append(change)
            continue
        groups[number] = [change]
        if common and is_related(factor, common) and whole is None:
            whole = number
        if change.detail["key"] in WIDTH_KEYS:
            widths[ends] = number
        if own:
            leaders.append((number, own, factor))
    told = {id(change) for members in groups.values() for change in members[1:]}
    made = [united_change(groups[number]) if number in groups else change for number, change in enumerate(causes)]
    return [change for change, before in zip(made, causes, strict=True) if id(before) not in told]


def factor_of(change: Change) -> float:
    """By which factor a number became more, of a width or of a constant in the model; 0 where it is none."""
    detail = change.detail
    if change.kind != "changed" or change.severity != "attribute":
        return 0.0
    tensor = isinstance(detail["old"], str) and bool(TENSOR.match(detail["old"]))
    if not detail.get("constant") and not tensor and detail["key"] not in WIDTH_KEYS:
        return 0.0
    # Rates and epsilons are set one by one.
    if any(each["key"] in WORDS - WIDTH_KEYS for each in (detail, *detail.get("with", ()))):
        return 0.0
    numbers = [detail, *detail.get("with", ())]
    factors = {factor for each in numbers for factor in ratios(each["old"], each["new"])}
    first = max(factors, default=0.0)
    return first if all(is_related(factor, first) for factor in factors) else 0.0


def ratios(old: Any, new: Any) -> Iterator[float]:
    """The new number divided by the old one; for lists, of the elements that differ; 0 for other values.

    >>> list(ratios("32", "64")), list(ratios([0, 4], [0, 8])), list(ratios("SAME", "VALID"))
    ([2.0], [2.0], [0.0])
    """
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            if before != after:
                yield from ratios(before, after)
        return
    # PyTorch writes a number of a trace as a tensor.
    old, new = (TENSOR.sub(r"\1", value) if isinstance(value, str) else value for value in (old, new))
    try:
        before, after = float(old), float(new)
    except (TypeError, ValueError, OverflowError):
        yield 0.0
        return
    yield after / before if before and 0 < after / before < float("inf") else 0.0


def is_related(factor: float, other: float) -> bool:
    """Whether two factors follow from one number: equal, inverse, or one the root of the other.

    >>> is_related(2, 0.5), is_related(0.7071068, 2), is_related(2, 3)
    (True, True, False)
    """
    if not factor or not other:
        return False
    found = (other, 1 / other, sqrt(other), 1 / sqrt(other))
    return any(isclose(factor, each, rel_tol=NEAR) for each in found)


def names(change: Change) -> list[str]:
    """The names of all places."""
    return [new if new is not None else old or "" for old, new in ((change.old, change.new), *change.also)]


def blocks(change: Change) -> frozenset[str]:
    """The scopes around the places of a change; none where one of them is the model itself: whatever is in that has
    little in common."""
    around = [name.rpartition("/")[0] for name in names(change)]
    return frozenset(around) if all("/" in scope for scope in around) else frozenset()


def stands_in(change: Change, around: frozenset[str]) -> bool:
    """Whether a change is in each of some scopes, and nowhere else."""
    found = set()
    for name in names(change):
        while name and name not in around:
            name = name.rpartition("/")[0]
        if not name:
            return False
        found.add(name)
    return found == around


def united_change(members: Sequence[Change]) -> Change:
    """Merge changes into one with the name of the first."""
    first, *others = members
    if not others:
        return first
    beside = [
        {"name": other.name, "key": other.detail["key"], "old": other.detail["old"], "new": other.detail["new"]}
        for other in others
    ]
    for other in others:
        beside += other.detail.get("with", ())
    detail = {**first.detail, "with": [*first.detail.get("with", ()), *beside]}
    behind = sort_by_severity(inner for member in members for inner in member.consequences)
    ops = sum(member.ops for member in members)
    also = (*first.also, *(place for place in places_of(others, first) if place not in first.also))
    return replace(first, detail=detail, ops=ops, also=also, edits=edits_of(members), consequences=behind)
