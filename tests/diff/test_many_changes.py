"""As many changes as nodes: each is told from its own nodes, and put together once."""

from __future__ import annotations

import time

from graphviz_tb.diff import diff
from graphviz_tb.model.change import Change, Edits


def test_each_change_looks_at_its_own_nodes() -> None:
    old = b"".join(b'node { name: "a%d" op: "A%d" }' % (number, number) for number in range(300))
    changes = diff(old, b'node { name: "x" op: "X" }')
    assert changes.source is not None
    nodes = [len(ids) for change in changes for ids in changes.source.numbers.concerned(change)]
    assert len(nodes) >= 2 * 300
    assert sum(nodes) <= 2 * len(nodes)
    assert all(changes.numbers_of(change)["ops"] in ((1, 0), (0, 1)) for change in changes)


def test_a_change_with_very_many_consequences() -> None:
    behind = tuple(Change("changed", "attribute", None, f"n{number}", 1, {}, edits=Edits(ops=((number, number),)))
                   for number in range(30_000))  # fmt: skip
    change = Change("changed", "op", None, "x", 1, {}, consequences=behind, edits=Edits(ops=((-1, -1),)))
    start = time.process_time()
    ops = change.all_edits().ops
    assert ops == tuple((number, number) for number in range(-1, 30_000))
    assert time.process_time() - start < 2
