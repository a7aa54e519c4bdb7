"""Stages whose blocks are unlike each other: other kernels, gates or widths inside."""

from __future__ import annotations

import random

import pytest

from graphviz_tb import Model, load
from graphviz_tb.fold.flow import repeats
from graphviz_tb.fold.flow.widths import OpTypes
from graphviz_tb.proto import GraphDef
from tests.fold.nameless import Export
from tests.fold.networks import Writer, formed
from tests.fold.stage_reader import score
from tests.fold.test_stage_borders import heights


class Convolutions(Export):
    """An export of convolutions with activations."""

    def layer(self, x: str, takes: int, gives: int, kernel: int = 1, step: int = 1) -> str:
        return self.op("onnx::Relu", self.convolve(x, takes, gives, kernel, step))

    def convolve(self, x: str, takes: int, gives: int, kernel: int = 1, step: int = 1) -> str:
        strides = {"list": {"i": [step, step]}}
        return self.op("onnx::Conv", x, self.weight(gives, takes, kernel, kernel), strides=strides)

    def separable(self, x: str, takes: int, gives: int, kernel: int, step: int = 1) -> str:
        return self.layer(self.layer(x, 1, takes, kernel, step), takes, gives)

    def gate(self, x: str, channels: int) -> str:
        pooled = self.op("onnx::GlobalAveragePool", x)
        weighed = self.op("onnx::Sigmoid", self.convolve(self.layer(pooled, channels, 8), 8, channels))
        return self.op("onnx::Mul", x, weighed)

    def model(self) -> Model:
        return load(GraphDef(node=self.nodes))  # type: ignore[arg-type]


def test_equal_layers_whose_kernels_are_in_turn_are_blocks_and_a_stage_ends_where_the_last_of_them_widens() -> None:
    made = Convolutions()
    x = made.layer(made.op("Placeholder"), 3, 16, 3, 2)
    width = 16
    for gives, blocks in ((32, 2), (64, 3), (128, 2)):
        for number in range(blocks):
            x = made.separable(x, width, gives, 3, 1 if number else 2)
            width = gives
    for _ in range(5):
        x = made.separable(x, width, width, 5)
    made.op("onnx::GlobalAveragePool", x)
    assert [height for height in heights(made.model()) if height > 1] == [2, 3, 2, 5]


@pytest.mark.parametrize("gates", [(False, True, False, True), (True, False, False, True)])
def test_residual_blocks_with_and_without_gates_are_one_stage(gates: tuple[bool, ...]) -> None:
    made = Convolutions()
    x, width = made.layer(made.op("Placeholder"), 3, 16, 3, 2), 16
    for gives in (32, 64):
        y = made.convolve(made.separable(made.layer(x, width, gives), gives, gives, 3, 2), gives, gives)
        x, width = made.op("onnx::Relu", made.op("onnx::Add", y, made.convolve(x, width, gives, 1, 2))), gives
        for gated in gates:
            y = made.separable(made.layer(x, gives, gives), gives, gives, 3)
            y = made.convolve(made.gate(y, gives) if gated else y, gives, gives)
            x = made.op("onnx::Relu", made.op("onnx::Add", y, x))
    made.op("onnx::GlobalAveragePool", x)
    assert score(made.model(), [5, 5]) == (2, 2)


def test_kernels_that_are_standardised_first_have_channels_that_say_where_a_stage_begins() -> None:
    made = Convolutions()

    def standardised(x: str, takes: int, gives: int, kernel: int, step: int = 1) -> str:
        sizes = (gives, takes, kernel, kernel)
        shape = {"list": {"shape": [{"dim": [{"size": size} for size in sizes]}]}}
        weight = made.op("aten::batch_norm", made.weight(*sizes), _output_shapes=shape)
        return made.op("aten::conv2d", x, weight, strides={"list": {"i": [step, step]}})

    def gated(x: str, takes: int, wide: int, gives: int, step: int) -> str:
        """Only the gate has a kernel that is a weight."""
        y = made.op("aten::silu", standardised(x, takes, wide, 3, step))
        gate = made.op(
            "aten::sigmoid", made.op("aten::conv2d", made.op("aten::mean", y), made.weight(wide, wide, 1, 1))
        )
        return standardised(made.op("aten::mul", y, gate), wide, gives, 1)

    x, width = made.op("aten::silu", standardised(made.op("Placeholder"), 3, 16, 3, 2)), 16
    for gives, blocks in ((32, 3), (64, 4)):
        for number in range(blocks):
            y = made.op("aten::silu", x)
            short = x if number else standardised(made.op("aten::avg_pool2d", y), width, gives, 1)
            x, width = made.op("aten::add", gated(y, width, 2 * width, gives, 1 if number else 2), short), gives
    made.op("aten::mean", x)
    assert heights(made.model()) == [3, 4]


def test_a_first_block_without_the_gate_or_the_layer_of_the_others_widens_and_returns_to_their_channels() -> None:
    made = Convolutions()
    x = made.convolve(made.layer(made.op("Placeholder"), 3, 16, 3, 2), 16, 16)

    def inverted(x: str, takes: int, gives: int, kernel: int) -> str:
        return made.convolve(made.gate(made.separable(x, takes, 4 * takes, kernel), 4 * takes), 4 * takes, gives)

    for takes, gives in ((16, 24), (24, 40)):
        x = made.convolve(made.layer(x, takes, 4 * takes, 3, 2), 4 * takes, gives)
        for _ in range(3):
            x = made.op("onnx::Add", inverted(x, gives, gives, 3), x)
    made.op("onnx::GlobalAveragePool", x)
    assert heights(made.model()) == [4, 4]


@pytest.mark.parametrize("unlike", [True, False])
def test_numbered_scopes_of_one_class_are_one_stage_whatever_their_kernels(unlike: bool) -> None:
    w = Writer("scopes", random.Random(3))
    w.style, w.width = "const", 32
    x = w.op("Placeholder", name="x")
    with w.scope("stage"):
        for number, kernels in enumerate(((3, 1), (3, 1), (5, 3, 1), (1, 3) if unlike else (3, 1), (5, 3, 1), (3, 1))):
            with w.scope(f"block_{number}"):
                y = x
                for kernel in kernels:
                    y = w.act(w.norm(w.conv(y, 32, kernel, name=f"conv{kernel}"), f"bn{kernel}"), name=f"act{kernel}")
                x = w.add(x, y)
    w.op("Mean", x, w.constant(2, dtype=3))
    assert heights(load(formed(w.graph, "scopes", random.Random(4)))) == [6]


def test_a_block_behind_parallel_blocks_is_not_of_their_stack() -> None:
    """x ─▶ b_0, b_1, b_2 side by side ─▶ b_3: consecutive numbers, but not one behind the other."""
    w = Writer("scopes", random.Random(3))
    w.style, w.width = "const", 32

    def block(number: int, *inputs: str, kernels: tuple[int, ...] = (3, 1, 3)) -> str:
        with w.scope(f"b_{number}"):
            y = w.op("AddN", *inputs, name="sum") if len(inputs) > 1 else inputs[0]
            for place, kernel in enumerate(kernels):
                y = w.act(w.conv(y, 32, kernel, name=f"conv{place}"), name=f"act{place}")
        return y

    x = w.conv(w.op("Placeholder", name="x"), 32, 7, name="stem")
    y = block(3, *(block(number, x) for number in range(3)), kernels=(3, 1, 5))
    w.op("Mean", y, w.constant(2, dtype=3))
    assert heights(load(w.graph)) == [3]


def chain_of_unlike_blocks(count: int, form: str) -> GraphDef:
    """Residual blocks of three convolutions each, no two alike."""
    w, chance = Writer("scopes", random.Random(3)), random.Random(1)
    w.style, w.width = "const", 32
    x = w.op("Placeholder", name="x")
    for number in range(count):
        with w.scope(f"block_{number}"):
            y = x
            for place in range(3):
                kernel = chance.randint(2, 30) if place else 3
                activation = chance.choice(("Relu", "Tanh", "Elu", "Selu", "Sigmoid"))
                y = w.op(activation, w.conv(y, 32, kernel, name=f"conv{place}"), name=f"act{place}")
            x = w.add(x, y)
    w.op("Mean", x, w.constant(2, dtype=3))
    return formed(w.graph, form, random.Random(4))


@pytest.mark.parametrize("form", ["scopes", "nameless"])
def test_twice_as_many_unlike_blocks_take_twice_the_effort(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    for owner, name in ((repeats, "holds_stack"), (OpTypes, "type_counts")):
        whole = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, whole=whole: asked.append(1) or whole(*args))
    efforts = []
    for count in (60, 120):
        asked.clear()
        assert max(heights(load(chain_of_unlike_blocks(count, form)))) == count
        efforts.append(len(asked))
    assert efforts[1] < 2.3 * efforts[0]
