"""The first block forks what comes from outside, as the others fork what the block before gives."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.proto import GraphDef


def blocks(count: int, *, memory: bool, first: bool, batch: bool = False) -> Hierarchy:
    """query ─▶ read ─▶ + ─▶ norm ─▶ grow ─▶ shrink ─▶ + ─▶ norm ─▶ …, each + with a shortcut; `memory` goes to each
    read, and `first` is an op before the blocks. As a `batch` query and memory are two outputs of one op."""
    graph = GraphDef()

    def op(name: str, kind: str, *inputs: str) -> str:
        graph.node.add(name=name, op=kind, input=inputs)
        return name

    if batch:
        x = op("batch", "IteratorGetNext")
        given = f"{x}:1"
    else:
        x, given = op("query", "Placeholder"), op("memory", "Placeholder")
    if first:
        x = op("net/first", "Exp", x)
    for number in range(count):
        read = op(f"net/read_{number}/product", "BatchMatMul", x, given if memory else x)
        x = op(f"net/add_{number}/sum", "AddV2", x, op(f"net/read_{number}/share", "Softmax", read))
        x = op(f"net/norm_{number}/less", "Sub", op(f"net/norm_{number}/mean", "Mean", x))
        wide = op(f"net/grow_{number}/act", "Tanh", op(f"net/grow_{number}/more", "Relu", x))
        slim = op(f"net/shrink_{number}/act", "Erf", op(f"net/shrink_{number}/more", "Sigmoid", wide))
        x = op(f"net/last_{number}/sum", "AddV2", x, slim)
        x = op(f"net/last_norm_{number}/less", "Sub", op(f"net/last_norm_{number}/mean", "Mean", x))
    op("net/out/result", "Elu", op("net/mean/most", "Max", x))
    return load(graph).hierarchy


@pytest.mark.parametrize("count", [3, 6])
@pytest.mark.parametrize("memory", [False, True], ids=["alone", "memory"])
@pytest.mark.parametrize("first", [False, True], ids=["given", "made"])
@pytest.mark.parametrize("batch", [False, True], ids=["inputs", "batch"])
def test_all_blocks_are_counted(count: int, memory: bool, first: bool, batch: bool) -> None:
    hierarchy = blocks(count, memory=memory, first=first, batch=batch)
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    assert count in [len(hierarchy.children(row)) for row in stacks]
    largest = max(stacks, key=hierarchy.op_count)
    assert hierarchy.op_count(largest) == 12 * count  # read 2, sum, norm 2, grow 2, shrink 2, sum, norm 2


@pytest.mark.parametrize("count", [3, 4])
def test_inputs_of_a_level_are_no_part_of_its_blocks(count: int) -> None:
    """query ─▶ read ─▶ + ─▶ norm ─▶ …, memory and mask ─▶ each read: all on one level."""
    graph = GraphDef()

    def op(name: str, kind: str, *inputs: str) -> str:
        graph.node.add(name=name, op=kind, input=inputs)
        return name

    x, *given = [op(name, "Placeholder") for name in ("query", "memory", "mask")]
    for number in range(count):
        x = op(f"add_{number}", "AddV2", x, op(f"read_{number}", "Select", x, *given))
        x = op(f"norm_{number}", "Tanh", x)
        x = op(f"last_{number}", "AddV2", x, op(f"shrink_{number}", "Erf", op(f"grow_{number}", "Relu", x)))
        x = op(f"last_norm_{number}", "Sigmoid", x)
    op("verdict", "Elu", op("mean", "Mean", x))
    hierarchy = load(graph).hierarchy
    children = hierarchy.children(0)
    assert {"query", "memory", "mask"} < {hierarchy.name[row] for row in children}
    [stack] = [row for row in children if hierarchy.kind[row] == RowKind.SERIES]
    assert len(hierarchy.children(stack)) == count
    assert hierarchy.op_count(stack) == 7 * count
