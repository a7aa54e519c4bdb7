"""Stages of networks without names that are not runs of equal blocks: what a first block has more, what is given from
afar, and blocks of two kinds."""

from __future__ import annotations

import random

import pytest

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import SERIES_ROW
from tests.fold.nameless import Network
from tests.fold.networks import Writer, formed
from tests.fold.stage_reader import score
from tests.fold.test_far_lines import heights

MIXER = ("Rsqrt", "MatMul", "Softmax", "BatchMatMulV2", "MatMul")
DENSE = ("Rsqrt", "MatMul", "Relu", "MatMul")


def residual(made: Network, x: str, *parts: tuple[str, ...]) -> str:
    """Write parts, each with a shortcut around it."""
    for part in parts:
        x = made.op("AddV2", made.chain(x, part), x)
    return x


def model_of(w: Writer) -> Model:
    """The model of what was written, with its nodes in any order."""
    return load(formed(w.graph, "nameless", random.Random(4)))


def test_layers_that_are_each_given_the_result_of_a_mirrored_one_are_one_stack() -> None:
    # As a U-ViT (Bao et al. 2023): a b c ─▶ middle ─▶ (· c) (· b) (· a), where each concatenates both.
    made = Network()
    x = made.chain(made.op("Placeholder"), ("Conv2D", "Transpose"))
    kept = []
    for _ in range(5):
        x = residual(made, x, MIXER, DENSE)
        kept.append(x)
    x = residual(made, x, MIXER, DENSE)
    while kept:
        x = residual(made, made.op("MatMul", made.op("ConcatV2", x, kept.pop())), MIXER, DENSE)
    made.chain(x, ("Rsqrt", "MatMul", "Softmax"))
    rows = made.model().to_json()["nodes"]
    parents = [row["parent"] for row in rows]
    members = [parents.count(row["id"]) for row in rows if row["kind"] == "series"]
    assert [height for height in members if height > 2] == [6, 5]  # the middle equals the five before it


def test_a_first_block_whose_parts_are_not_joined_is_one_block_of_its_stack() -> None:
    # As a Set Transformer (Lee et al. 2019): learned points ask the data, then the data ask the result.
    made = Network()

    def attend(asks: str, given: str) -> str:
        scores = made.op("Softmax", made.op("BatchMatMulV2", made.op("MatMul", asks), made.op("MatMul", given)))
        told = made.op("MatMul", made.op("BatchMatMulV2", scores, made.op("MatMul", given)))
        x = made.op("Rsqrt", made.op("AddV2", asks, told))
        return made.op("Rsqrt", made.op("AddV2", x, made.op("Relu", made.op("MatMul", x))))

    x = made.op("MatMul", made.op("Placeholder"))
    for _ in range(3):
        x = attend(x, attend(made.op("Fill"), x))
    x = attend(made.op("Fill"), x)
    for _ in range(2):
        x = attend(x, x)
    made.chain(x, ("Mean", "Conv2D"))
    assert heights(made.hierarchy()) == [3, 2]


def test_blocks_in_turn_that_enlarge_and_reduce_are_not_of_one_kind() -> None:
    # As DBPN (Haris et al. 2018): up, down, up, then down, up, down, each with a difference and a sum.
    made = Network()

    def unit(x: str, *kinds: str) -> str:
        first, middle, last = (("Rsqrt", "Relu", kind, "BiasAdd", "Tanh", "Mul", "Sigmoid") for kind in kinds)
        y = made.chain(x, first)
        difference = made.op("Sub", made.chain(y, middle), x)
        return made.op("AddV2", made.chain(difference, last), y)

    up, down = "Conv2DBackpropInput", "Conv2D"
    x = made.chain(made.op("Placeholder"), ("Conv2D", "Relu"))
    for _ in range(4):
        x = unit(unit(x, up, down, up), down, up, down)
    made.chain(x, ("Mean", "MatMul"))
    assert heights(made.hierarchy()) == [4]


def test_a_block_that_mixes_positions_and_then_channels_is_one_also_with_gates() -> None:
    # As PatchTSMixer (Ekambaram et al. 2023): both halves have a gate of a softmax, the first also transposes.
    made = Network()
    x = made.chain(made.op("Placeholder"), ("Conv2D", "Reshape"))
    for _ in range(5):
        for ends in (("Transpose",), ()):
            y = made.chain(made.op("Rsqrt", x), (*ends, "MatMul", "BiasAdd", "Relu", "MatMul", "BiasAdd"))
            gated = made.op("Mul", y, made.chain(y, ("MatMul", "BiasAdd", "Softmax")))
            x = made.op("AddV2", made.chain(gated, ends), x)
    made.chain(x, ("Mean", "MatMul"))
    assert score(made.model(), [5]) == (1, 1)


def test_a_layer_of_another_kind_after_every_few_is_of_their_stack() -> None:
    # As the global attention of ModernBERT (Warner et al. 2024) after two layers of local attention.
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 16
    x = w.conv(w.op("Placeholder", name="x"), 16, 4, 4)
    for layer in range(6):
        y = w.op("Softmax", w.conv(x, 32, 1))
        x = w.add(x, w.conv(w.op("Exp", y) if layer % 3 else y, 16, 1))
        x = w.add(x, w.conv(w.act(w.norm(w.conv(x, 64, 1))), 16, 1))
    w.op("Mean", x, w.constant(2, dtype=3))
    assert heights(model_of(w).hierarchy) == [6]


@pytest.mark.parametrize("unlike", [False, True])
def test_halves_of_blocks_are_blocks_only_with_the_same_kernels(unlike: bool) -> None:
    # As the blocks of a MetaFormer (Yu et al. 2022), which mix positions and then channels, both by convolutions.
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 16
    x = w.op("Placeholder", name="x")
    for width in (16, 32, 64):
        x = w.conv(x, width, 4, 2)
        for _ in range(3):
            for kernel in (7 if unlike else 3, 3):
                y = w.act(w.norm(w.conv(w.norm(x), width, 1)))
                y = w.op("Exp", y) if kernel == 7 else y
                x = w.add(x, w.norm(w.conv(w.norm(w.conv(y, width, kernel)), width, 1)))
    w.op("Mean", x, w.constant(2, dtype=3))
    assert heights(model_of(w).hierarchy) == [3 if unlike else 6] * 3


def test_no_repetition_holds_the_end_of_a_stage_and_the_step_behind_it() -> None:
    # ↓ a m · b m   ↓ a m · b m   ↓ a m · b m a m b m …          `m b m a` repeats; `m ↓ a m · b` is nearly that
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 16
    x = w.op("Placeholder", name="x")
    bends = {"a": ("Softmax", "Sqrt", "Exp"), "b": ("Sigmoid", "Sqrt", "Log"), "m": ("Relu",)}

    def part(x: str, kind: str) -> str:
        width, y = w.width, w.conv(x, 2 * w.width, 1)
        for bend in bends[kind]:
            y = w.op(bend, y)
        return w.add(x, w.norm(w.conv(y, width, 1)))

    for width, count in ((16, 1), (32, 1), (64, 5)):
        x = w.conv(x, width, 2, 2)
        for block in range(count):
            x = part(part(x, "a"), "m")
            x = part(part(x if block else w.op("Tanh", w.conv(x, width, 3)), "b"), "m")
    w.op("Mean", x, w.constant(2, dtype=3))
    hierarchy = model_of(w).hierarchy
    stack = max(row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW)
    sizes = [hierarchy.op_count(member) for member in hierarchy.children(stack).tolist()]
    assert sizes == [sizes[1] + 3, *[sizes[1]] * 4]
