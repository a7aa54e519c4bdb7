"""Lines along much of a level, as a skip around the whole network or features that a backbone gives to a decoder, are
drawn beside what they pass: they hide no repetition."""

from __future__ import annotations

from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from tests.fold.nameless import Network

BLOCK = ("Conv2D", "Rsqrt", "Relu", "Conv2D", "Rsqrt")
BOTTLENECK = ("Conv2D", "Rsqrt", "Relu", "DepthwiseConv2dNative", "Rsqrt", "Relu", "Conv2D", "Rsqrt")


def heights(hierarchy: Hierarchy) -> list[int]:
    """How many members each stack has that stands in no other, along the flow."""
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == int(RowKind.SERIES)]
    outer = [row for row in stacks if not any(above < row < hierarchy.end[above] for above in stacks)]
    return [len(hierarchy.children(row)) for row in outer]


def test_a_skip_around_all_blocks_leaves_the_first_block_in_the_stack() -> None:
    # conv ─▶ relu ─▶ block ×9 ─▶ conv ─▶ + ─▶ conv          and a skip from relu to +
    made = Network()
    skip = made.chain(made.op("Placeholder"), ("Conv2D", "Relu"))
    top = skip
    for _ in range(9):
        top = made.op("AddV2", made.chain(top, BLOCK), top)
    made.chain(made.op("AddV2", made.op("Conv2D", top), skip), ("Conv2D", "Tanh"))
    assert heights(made.hierarchy()) == [9]


def test_features_given_to_a_decoder_cut_no_stage() -> None:
    # stem ─▶ stage 3 ─▶ stage 4 ─▶ stage 6 ─▶ concat ─▶ conv          and a line from the first stage to concat
    made = Network()
    top = made.chain(made.op("Placeholder"), ("Conv2D", "Tanh", "MaxPool"))
    features = []
    for blocks in (3, 4, 6):
        top = made.op("Relu", made.op("AddV2", made.chain(top, BOTTLENECK), made.chain(top, ("Conv2D", "Rsqrt"))))
        for _ in range(blocks - 1):
            top = made.op("Relu", made.op("AddV2", made.chain(top, BOTTLENECK), top))
        features.append(top)
    low = made.chain(features[0], ("Conv2D", "Rsqrt"))
    made.chain(made.op("ConcatV2", made.op("ResizeBilinear", top), low), ("Conv2D", "Softmax"))
    hierarchy = made.hierarchy()
    assert heights(hierarchy) == [3, 4, 6]
