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


def test_features_of_each_stage_given_to_a_pyramid_cut_none() -> None:
    # stage 3 ─▶ stage 4 ─▶ stage 6 ─▶ stage 3          and a line from each to a convolution of a pyramid
    made = Network()
    top = made.chain(made.op("Placeholder"), ("Conv2D", "Tanh", "MaxPool"))
    features = []
    for blocks in (3, 4, 6, 3):
        top = made.op("Relu", made.op("AddV2", made.chain(top, BOTTLENECK), made.chain(top, ("Conv2D", "Rsqrt"))))
        for _ in range(blocks - 1):
            top = made.op("Relu", made.op("AddV2", made.chain(top, BOTTLENECK), top))
        features.append(top)
    low = made.op("Conv2D", features.pop())
    made.op("Conv2D", low)
    while features:
        low = made.op("AddV2", made.op("Conv2D", features.pop()), made.op("ResizeNearestNeighbor", low))
        made.op("Conv2D", low)
    assert heights(made.hierarchy())[:4] == [3, 4, 6, 3]


def test_joins_of_all_earlier_results_are_as_those_of_the_last_two() -> None:
    # x ─▶ f₁, (x, f₁) ─▶ f₂, (x, f₁, f₂) ─▶ f₃ …
    made = Network()
    top = made.chain(made.op("Placeholder"), ("Conv2D", "Tanh"))
    for layers in (6, 12, 9):
        kept = [top]
        for _ in range(layers):
            join = made.op("ConcatV2", *kept) if len(kept) > 1 else top
            kept.append(made.chain(join, ("Rsqrt", "Relu", "Conv2D", "Rsqrt", "Relu", "Conv2D")))
        top = made.chain(made.op("ConcatV2", *kept), ("Rsqrt", "Relu", "Conv2D", "AvgPool"))
    made.chain(top, ("Mean", "MatMul", "Softmax"))
    # The first layers have no join, or one of two.
    assert [
        round(height / layers, 1) >= 0.7 for height, layers in zip(heights(made.hierarchy()), (6, 12, 9), strict=True)
    ]


def test_a_sum_of_what_all_blocks_give_is_one_box_and_each_block_has_its_part_of_it() -> None:
    # block ×10, each with a skip to a running sum: s = ((skip 1 + skip 2) + skip 3) + … ─▶ relu ─▶ conv
    made = Network()
    top, total = made.chain(made.op("Placeholder"), ("Conv2D", "Relu")), ""
    for _ in range(10):
        inner = made.chain(top, ("Conv2D", "Tanh", "Conv2D"))
        skip = made.op("Conv2D", inner)
        total = made.op("AddV2", total, skip) if total else skip
        top = made.op("AddV2", inner, top)
    made.chain(total, ("Relu", "Conv2D"))
    hierarchy = made.hierarchy()
    assert heights(hierarchy) == [10]
    (stack,) = (row for row in range(len(hierarchy)) if hierarchy.kind[row] == int(RowKind.SERIES))
    assert hierarchy.op_count(int(hierarchy.children(stack)[1])) == 5  # the skip too


def test_the_first_step_that_is_given_twice_what_all_steps_are_given_is_a_member() -> None:
    # x₀ ─▶ dense ─▶ × x₀ ─▶ + x ─▶ …          in a cross network the first x is x₀, so nothing goes around its dense
    made = Network()
    ids = made.op("Placeholder")
    top = given = made.op("ConcatV2", *[made.chain(ids, ("StridedSlice", "GatherV2")) for _ in range(8)])
    deep = made.chain(given, ("MatMul", "Relu") * 3)
    for _ in range(3):
        top = made.op("AddV2", made.op("Mul", made.op("MatMul", top), given), top)
    made.chain(made.op("ConcatV2", top, deep), ("MatMul", "Sigmoid"))
    assert 3 in heights(made.hierarchy())
