"""Networks that are applied to several tensors with the same weights, in graphs without names."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.view import NodeLabels
from tests.fold.nameless import Export


@pytest.mark.parametrize(("levels", "in_turn", "found"), [(5, False, [5]), (2, False, []), (5, True, [])])
def test_a_head_on_several_levels_is_one_stack_that_says_that_its_weights_are_shared(
    levels: int, in_turn: bool, found: list[int]
) -> None:
    # p0 ─▶ p1 ─▶ p2 …, and from each a head of three layers to one concat; in turn each head takes what the last gives
    net = Export()
    point, given, ends = net.op("Placeholder", dtype={"type": 1}), "", []
    kernels = [net.weight(8, 8, 3, 3), net.weight(8, 8, 3, 3), net.weight(4, 8, 3, 3), net.weight(8, 4, 1, 1)]
    for level in range(levels):
        point = net.op("onnx::Relu", net.conv(point, net.weight(8, 8, 5, 5)))
        point = net.op("onnx::MaxPool", point) if level % 2 else point  # no pyramid of equal steps
        head = net.op("onnx::Add", point, given) if given and in_turn else point
        for kernel in kernels[:2]:
            head = net.op("onnx::Relu", net.conv(head, kernel))
        head = net.conv(head, kernels[2])
        given = net.conv(head, kernels[3]) if in_turn else head
        ends.append(head)
    net.op("onnx::Concat", *ends)
    hierarchy = load(GraphDef(node=net.nodes)).hierarchy  # type: ignore[arg-type]
    series = [row for row, kind in enumerate(hierarchy.kind.tolist()) if kind == SERIES_ROW]
    heads = [row for row in series if hierarchy.op_count(row) == levels * 5]
    assert [len(hierarchy.children(row)) for row in heads] == found
    labels = NodeLabels(hierarchy, lambda path: None, alone=True)
    said = [(label.label, label.first) for label in (labels.node_label((row,)) for row in heads)]
    assert said == [("3×3 8, 3×3 8, 3×3 4", "shared weights")] * len(found)


def test_a_head_with_two_ends_is_one_stack_with_its_ends_whatever_their_order_in_the_file() -> None:
    # p0 ─▶ p1 ─▶ p2 …, and from each a head that ends twice: classes, boxes
    net = Export()
    point, levels = net.op("Placeholder", dtype={"type": 1}), 4
    shared = net.weight(8, 8, 3, 3)
    kernels = [net.weight(3, 8, 1, 1), net.weight(12, 8, 1, 1)]
    for level in range(levels):
        point = net.op("onnx::Relu", net.conv(point, net.weight(8, 8, 5, 5)))
        point = net.op("onnx::MaxPool", point) if level % 2 else point  # no pyramid of equal steps
        head = net.op("onnx::Relu", net.conv(point, shared))
        for kernel in kernels[:: -1 if level % 2 else 1]:
            net.op("Identity", net.conv(head, kernel))
    net.op("Identity", point)
    hierarchy = load(GraphDef(node=net.nodes)).hierarchy  # type: ignore[arg-type]
    series = [row for row, kind in enumerate(hierarchy.kind.tolist()) if kind == SERIES_ROW]
    heads = [row for row in series if hierarchy.op_count(row) == levels * 6]
    assert [len(hierarchy.children(row)) for row in heads] == [levels]
