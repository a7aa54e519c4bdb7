"""Which lines are turned in a level with cycles."""

from __future__ import annotations

import pytest

from graphviz_tb.arrange.level import Arc, _arcs_to_turn
from tests.timing import seconds


def chains(length: int) -> list[Arc]:
    """a0 ─▶ a1 ─▶ …, b0 ─▶ b1 ─▶ …, each b ─▶ the a of its number; and the last a ╌▶ b0."""
    lines = [(at, at + 1, 0, 1) for start in (0, length) for at in range(start, start + length - 1)]
    lines += [(length + at, at, 0, 1) for at in range(length)]
    return [*lines, (length - 1, length, 1, 1)]


def ranked(count: int, arcs: list[Arc], turned: set[int]) -> bool:
    """Whether there is no cycle once those lines are turned."""
    before = [0] * count
    after: list[list[int]] = [[] for _ in range(count)]
    for number, (source, target, _, _) in enumerate(arcs):
        low, high = (target, source) if number in turned else (source, target)
        after[low].append(high)
        before[high] += 1
    done = [node for node in range(count) if not before[node]]
    for node in done:
        for other in after[node]:
            before[other] -= 1
            if not before[other]:
                done.append(other)
    return len(done) == count


def test_only_the_line_that_closes_a_cycle_is_turned() -> None:
    arcs = chains(500)
    assert _arcs_to_turn(1000, arcs) == {len(arcs) - 1}


@pytest.mark.slow
def test_a_large_level_whose_order_changes_with_each_line() -> None:
    arcs = chains(8000)
    with seconds(3):
        turned = _arcs_to_turn(16_000, arcs)
    assert ranked(16_000, arcs, turned)
