"""What edges lead to, however they are numbered and ordered."""

from __future__ import annotations

import numpy as np
import pytest

from graphviz_tb.graphs.traversal import reachable_from, reachable_mask


def numbered(order: str, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Edges of a long chain with some leaps: in the order of the nodes, from the last node on, or in none."""
    source = np.concatenate((np.arange(count - 1), rng.integers(0, count, count // 2)))
    target = np.concatenate((np.arange(1, count), rng.integers(0, count, count // 2)))
    source, target = np.minimum(source, target), np.maximum(source, target)
    # Gaps: not all is reached.
    kept = rng.random(len(source)) < 0.98
    source, target = source[kept], target[kept]
    if order == "none":
        number = rng.permutation(count)
        return number[source].astype(np.int32), number[target].astype(np.int32)
    by_target = np.argsort(target, kind="stable")
    source, target = source[by_target].astype(np.int32), target[by_target].astype(np.int32)
    return (target, source) if order == "backwards" else (source, target)


@pytest.mark.parametrize("order", ["forwards", "backwards", "none"])
def test_all_that_edges_lead_to_is_found_in_any_order(order: str) -> None:
    rng = np.random.default_rng(7)
    for count in (1, 2, 30, 400, 900):
        source, target = numbered(order, count, rng)
        after: dict[int, list[int]] = {}
        for before, behind in zip(source.tolist(), target.tolist(), strict=True):
            after.setdefault(before, []).append(behind)
        start = np.zeros(count, bool)
        start[rng.integers(0, count, 2)] = True
        found = reachable_mask(start, source, target)
        assert set(np.flatnonzero(found).tolist()) == reachable_from(np.flatnonzero(start).tolist(), after.get)
