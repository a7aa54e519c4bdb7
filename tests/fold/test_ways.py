"""Ways that begin apart and meet: towers beside each other, whatever order the file has them in."""

from __future__ import annotations

import random

import pytest

from graphviz_tb import load
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.proto import GraphDef

BLOCK = ("Conv2D", "Rsqrt", "Relu")


def towers(blocks: list[int], seed: int = 0) -> Hierarchy:
    """Chains of so many blocks, each from an input of its own, into one concatenation and a classifier."""
    nodes: list[tuple[str, str, list[str]]] = []
    tops = []
    for tower, count in enumerate(blocks):
        top = f"input_{tower}"
        nodes.append((top, "Placeholder", []))
        for _ in range(count):
            for op in BLOCK:
                nodes.append((f"n{len(nodes)}", op, [top]))
                top = nodes[-1][0]
        nodes.append((f"n{len(nodes)}", "Mean", [top]))
        tops.append(nodes[-1][0])
    nodes += [("join", "ConcatV2", tops), ("logits", "MatMul", ["join"]), ("out", "Softmax", ["logits"])]
    random.Random(seed).shuffle(nodes)
    return load(GraphDef(node=[{"name": name, "op": op, "input": inputs} for name, op, inputs in nodes])).hierarchy


@pytest.mark.parametrize("seed", range(3))
def test_equal_towers_are_one_stack(seed: int) -> None:
    hierarchy = towers([6, 6, 6], seed)
    names = {name: row for row, name in enumerate(hierarchy.name)}
    (stack,) = (row for row in hierarchy.children(0) if hierarchy.kind[row] == RowKind.SERIES)
    assert [hierarchy.op_count(row) for row in hierarchy.children(stack)] == [20, 20, 20]
    assert all(hierarchy.parent[names[name]] == 0 for name in ("join", "logits", "out"))


@pytest.mark.parametrize("blocks", [[7, 5], [4, 6, 5]])
def test_no_group_holds_parts_of_two_towers(blocks: list[int]) -> None:
    hierarchy = towers(blocks)
    behind = {"join", "logits", "out"}
    for row in range(1, len(hierarchy)):
        inside = [hierarchy.name[op] for op in range(row, hierarchy.end[row]) if hierarchy.node[op] >= 0]
        assert len({tower_of(name, blocks) for name in inside if name not in behind}) <= 1


def tower_of(name: str, blocks: list[int]) -> int:
    """The tower of an op by its number: each has an input, its blocks and a mean."""
    if name.startswith("input_"):
        return int(name.removeprefix("input_"))
    ends = [sum(3 * count + 2 for count in blocks[: tower + 1]) for tower in range(len(blocks))]
    return next(tower for tower, end in enumerate(ends) if int(name.removeprefix("n")) < end)
