"""Where a stack of blocks begins, and the smallest that is one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.model.paths import repeated_rows
from graphviz_tb.proto import GraphDef
from tests.fold.nameless import Export
from tests.fold.networks import Writer, bottleneck, formed, inverted, shifted, squeezed
from tests.fold.stage_reader import score


def heights(model: Model) -> list[int]:
    """The numbers of members of all stacks, along the rows."""
    hierarchy = model.hierarchy
    return [len(hierarchy.children(row)) for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]


@pytest.mark.parametrize("form", ["flat", "nameless"])
def test_convolutions_that_halve_lead_to_the_first_block_and_are_none(form: str) -> None:
    w = Writer(form, random.Random(3))
    w.width = 8
    x = w.op("Placeholder", name="x")
    for number, width in enumerate((16, 32)):
        x = w.act(w.norm(w.conv(x, width, 3, 2, f"down{number}"), f"bn{number}"), name=f"act{number}")
    for number in range(9):
        with w.scope(f"block{number}"):
            y = w.norm(w.conv(w.act(w.norm(w.conv(x, 32), "bn1")), 32, name="conv2"), "bn2")
            x = w.add(x, y)
    found = heights(load(formed(w.graph, form, random.Random(4))))
    assert 9 in found
    assert 10 not in found


@pytest.mark.parametrize("form", ["flat", "nameless"])
def test_two_convolutions_that_halve_are_no_block_without_its_shortcut(form: str) -> None:
    w = Writer(form, random.Random(3))
    w.style, w.width = "const", 8
    x = w.op("Placeholder", name="x")

    def pair(x: str, widths: tuple[int, int], stride: int) -> str:
        x = w.act(w.norm(w.conv(x, widths[0], 3, stride, "conv1"), "bn1"), name="act1")
        return w.norm(w.conv(x, widths[1], 3, stride, "conv2"), "bn2")

    with w.scope("down"):
        x = w.act(pair(x, (16, 32), 2), name="act2")
    for number in range(6):
        with w.scope(f"block{number}"):
            x = w.add(x, pair(x, (32, 32), 1))
    assert score(load(formed(w.graph, form, random.Random(4))), [2, 6]) == (2, 2)


@pytest.mark.parametrize(
    ("stem", "stacks"),
    [
        (((32, 3, 2), (32, 3, 1), (64, 3, 1)), []),  # (channels, kernel, step)
        (((32, 1, 1), (48, 3, 1), (64, 5, 1)), []),
        (((16, 3, 2), (32, 3, 2), (64, 3, 2)), [3]),  # only channels grow
        (((32, 3, 1), (32, 3, 1), (32, 3, 1)), [3]),
        (((8, 1, 1), (16, 3, 1), (24, 5, 1), (32, 7, 1), (40, 9, 1)), [5]),  # many
    ],
)
def test_a_few_layers_of_which_each_has_its_own_kernel_or_step_are_no_stack(
    stem: tuple[tuple[int, int, int], ...], stacks: list[int]
) -> None:
    w = Writer("flat", random.Random(3))
    w.style, w.width = "const", 8
    x = w.op("Placeholder", name="x")
    for number, (channels, kernel, step) in enumerate(stem):
        x = w.act(w.norm(w.conv(x, channels, kernel, step, f"conv{number}"), f"bn{number}"), name=f"act{number}")
    assert heights(load(formed(w.graph, "flat", random.Random(4)))) == stacks


def test_a_module_and_what_takes_larger_steps_behind_it_lead_to_a_stage_and_are_none_of_its_modules() -> None:
    """As the stem of Inception v4 (Szegedy et al. 2016)."""
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 48
    x = w.op("Placeholder", name="x")

    def module(x: str, *branches: tuple[int, ...], stride: int = 1) -> str:
        ends = [w.op(f"{way}Pool", x, ksize=[1, 3, 3, 1], strides=[1, stride, stride, 1]) for way in pools[stride]]
        for kernels in branches:
            w.width, y = 96, ends.pop() if kernels == (1,) and ends else x
            for kernel in kernels:
                y = w.act(w.conv(y, 24, kernel, stride))
            ends.append(y)
        return w.op("ConcatV2", *ends, w.constant(3, dtype=3))

    pools: dict[int, list[str]] = {1: [], 2: ["Max"]}
    x = module(module(x, (1, 3), (1, 3, 3, 3)), (3,), stride=2)
    pools[1] = ["Avg"]
    for _ in range(4):
        x = module(x, (1,), (1,), (1, 3), (1, 3, 3))
    found = heights(load(formed(w.graph, "nameless", random.Random(4))))
    assert [height for height in found if height > 3] == [4]


def test_the_last_of_a_stage_takes_the_larger_steps() -> None:
    # As in a ResNet of version 2: its channels are those of the blocks before it.
    w = Writer("nameless", random.Random(7))
    w.style, w.width = "const", 16
    x = w.op("Placeholder", name="x")
    for stage, (width, count) in enumerate(((64, 3), (128, 4), (256, 3))):
        for block in range(count):
            stride = 2 if block == count - 1 and stage < 2 else 1
            before, y = w.width, x
            for kernel, wide in ((1, width // 4), (3, width // 4)):
                y = w.act(w.norm(w.conv(y, wide, kernel, stride if kernel == 3 else 1)))
            y = w.norm(w.conv(y, width, 1))
            if block == 0:
                w.width = before
                x = w.norm(w.conv(x, width, 1))
            elif stride > 1:
                x = w.op("MaxPool", x, ksize=[1, 1, 1, 1], strides=[1, 2, 2, 1])
            x = w.act(w.add(x, y))
    w.op("Mean", x, w.constant(2, dtype=3))
    found = heights(load(formed(w.graph, "nameless", random.Random(8))))
    assert [height for height in found if height > 2] == [3, 4, 3]


@pytest.mark.parametrize(("kernels", "expected"), [((3, 5, 7, 9), [4]), ((3, 3, 3, 5, 5), [3, 2])])
def test_blocks_of_which_each_has_its_own_kernel_are_one_stack(kernels: tuple[int, ...], expected: list[int]) -> None:
    # As the blocks of a QuartzNet, or the strided convolutions of an audio codec. A kernel of several parts stages.
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 16
    x = w.conv(w.op("Placeholder", name="x"), 16, 1)
    for kernel in kernels:
        x = w.act(w.add(x, w.norm(w.conv(w.act(w.norm(w.depthwise(x, kernel))), 16, 1))))
    w.op("Softmax", x)
    assert heights(load(formed(w.graph, "nameless", random.Random(4)))) == expected


@pytest.mark.parametrize("known", [True, False])  # whether the weights have shapes
def test_equal_blocks_in_a_chain_part_where_channels_change(known: bool) -> None:
    # As in MobileNet: nothing but channels and steps tells its stages apart. What grows with each block is one stack.
    for widths, expected in (((16, 32, 32, *[64] * 5, 128, 128), [2, 5, 2]), ((16, 32, 64, 128), [4])):
        w = Writer("nameless", random.Random(2))
        w.style, w.bias, w.width = "const" if known else "argument", False, 8
        x = w.op("Placeholder", name="x")
        for at, width in enumerate(widths):
            x = w.act(w.norm(w.depthwise(x, 3, 2 if at and width > widths[at - 1] else 1)), "Relu6")
            x = w.act(w.norm(w.conv(x, width, 1)))
        w.op("Mean", x, w.constant(2, dtype=3))
        for node in () if known else w.graph.node:
            node.attr.pop("shape", None)
        assert heights(load(formed(w.graph, "nameless", random.Random(2)))) == expected


@pytest.mark.parametrize("widths", [(8, 8, 16, 16, 16), (8, 16, 32, 64)])
def test_a_first_block_whose_scales_are_computed_counts(widths: tuple[int, ...]) -> None:
    # A frozen norm computes its scale from weights alone: in the first block that comes before the input.
    w = Writer("nameless", random.Random(3))
    w.style, w.bias, w.width = "const", False, 3
    x = w.op("Placeholder", name="x")
    for at, width in enumerate(widths):
        x = w.conv(x, width, 3, 2 if width > (0, *widths)[at] else 1)
        scale = w.op("Rsqrt", w.op("AddV2", w.weight("variance", width), w.constant(name="epsilon")))
        scale = w.op("Mul", scale, w.weight("gamma", width))
        shift = w.op("Sub", w.weight("beta", width), w.op("Mul", w.weight("mean", width), scale))
        x = w.op("Relu", w.op("AddV2", w.op("Mul", x, scale), shift))
    w.op("Mean", x, w.constant(2, dtype=3))
    found = heights(load(formed(w.graph, "nameless", random.Random(3))))
    assert [height for height in found if height > 1] == ([4] if widths[1] > 8 else [2, 3])


def test_a_stage_of_a_block_and_one_with_its_shortcut() -> None:
    # No other stage has blocks like these.
    w = Writer("nameless", random.Random(9))
    w.style, w.width = "const", 16
    x = w.conv(w.op("Placeholder", name="x"), 16, 3, 2)
    for block in range(2):
        x = inverted(w, x, 24, 1 if block else 2, not block)
    for block in range(3):
        x = bottleneck(w, x, 64, 1 if block else 2, not block)
    assert [height for height in heights(load(formed(w.graph, "nameless", random.Random(9)))) if height > 1] == [2, 3]


def test_a_block_that_halves_begins_its_stage_where_weights_have_no_shape() -> None:
    w = Writer("flat", random.Random(9))
    w.style, w.width = "argument", 16
    x, number = w.conv(w.op("Placeholder", name="x"), 16, 3, 2, "stem"), 0
    for width, count in ((24, 2), (32, 3), (64, 4), (96, 3)):
        for block in range(count):
            number += 1
            with w.scope(f"block_{number}"):
                y = x if block else w.op("Pad", x, w.constant(2, dtype=3, name="sizes"), name="pad")
                x = inverted(w, y, width, 1 if block else 2, not block)
                for kind in ("Tanh", "Elu", "Selu", "Sigmoid", "Sin", "Cos", "Exp", "Log1p", "Erf", "Square"):
                    x = w.act(x, kind)  # the padding is less than a tenth of a block
    for node in w.graph.node:
        node.attr.pop("shape", None)
    assert heights(load(formed(w.graph, "flat", random.Random(9)))) == [2, 3, 4, 3]


@pytest.mark.parametrize("style", ["const", "argument"])  # the weights have shapes, or none
def test_stages_of_a_block_with_a_projection_and_one_without_stand_side_by_side(style: str) -> None:
    w = Writer("nameless", random.Random(5))
    w.style = style
    w.width = 16
    x = w.op("Placeholder", name="x")
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            x = bottleneck(w, x, width, 1 + (stage > 0 and not block), not block)
    model = load(formed(w.graph, "nameless", random.Random(6)))
    assert score(model, [2, 2, 2, 2]) == (4, 4)
    assert 4 not in heights(model)


@pytest.mark.parametrize(("kind", "times", "expected"), [("LSTM", 3, [3]), ("LSTM", 2, []), ("Dense", 5, [5])])
def test_a_layer_with_its_dropout_is_a_stack_from_three_on(
    kind: str, times: int, expected: list[int], tmp_path: Path
) -> None:
    layers = [{"class_name": "InputLayer", "config": {"name": "x"}}]
    for number in range(times):
        layers += [{"class_name": name, "config": {"name": f"{name}_{number}"}} for name in (kind, "Dropout")]
    layers.append({"class_name": "Flatten", "config": {"name": "last"}})
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"class_name": "Sequential", "config": {"name": "net", "layers": layers}}))
    assert heights(load(path)) == expected


def keras_heights(path: Path, *layers: tuple[str, dict[str, object]]) -> list[int]:
    """The numbers of members of all stacks of a sequential model of Keras."""
    held = [{"class_name": "InputLayer", "config": {"name": "x"}}]
    held += [{"class_name": kind, "config": {"name": f"l{n}", **config}} for n, (kind, config) in enumerate(layers)]
    path.write_text(json.dumps({"class_name": "Sequential", "config": {"name": "net", "layers": held}}))
    return heights(load(path))


def test_the_last_layer_of_a_stack_may_lack_its_dropout(tmp_path: Path) -> None:
    def recurrent(units: int) -> tuple[str, dict[str, object]]:
        return "Bidirectional", {"layer": {"class_name": "LSTM", "config": {"name": "lstm", "units": units}}}

    dropout: tuple[str, dict[str, object]] = ("Dropout", {"rate": 0.5})
    path, turns = tmp_path / "net.json", [recurrent(8), dropout] * 3
    assert keras_heights(path, *turns, recurrent(8), ("Flatten", {})) == [4]
    assert keras_heights(path, *turns, recurrent(4), ("Flatten", {})) == [3]


def keras_layer(kind: str, name: str, *inputs: str, **config: object) -> dict[str, object]:
    """A layer of a functional model of Keras."""
    tensors = [
        {
            "class_name": "__keras_tensor__",
            "config": {"shape": [None, 8, 8, 8], "dtype": "float32", "keras_history": [each, 0, 0]},
        }
        for each in inputs
    ]
    nodes = [{"args": [tensors if len(inputs) > 1 else tensors[0]], "kwargs": {}}] if inputs else []
    return {"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": nodes}


def functional_heights(path: Path, layers: list[dict[str, object]]) -> list[int]:
    """The numbers of members of all stacks of a functional model of Keras, from its first layer to its last."""
    ends = {"input_layers": [[layers[0]["name"], 0, 0]], "output_layers": [[layers[-1]["name"], 0, 0]]}
    path.write_text(json.dumps({"class_name": "Functional", "config": {"name": "net", "layers": layers, **ends}}))
    return heights(load(path))


def test_the_first_block_that_a_long_shortcut_leaves_counts_too(tmp_path: Path) -> None:
    conv = {"filters": 8, "kernel_size": [3, 3], "padding": "same"}
    layers = [
        keras_layer("InputLayer", "x", batch_shape=[None, 8, 8, 8]),
        keras_layer("Conv2D", "stem", "x", filters=8, kernel_size=[5, 5]),
    ]
    last = "stem"
    for at in range(5):
        layers += [keras_layer("Conv2D", f"conv2d_{2 * at}", last, **conv)]
        layers.append(keras_layer("Conv2D", f"conv2d_{2 * at + 1}", f"conv2d_{2 * at}", **conv))
        layers.append(keras_layer("Add", f"add_{at}", last, f"conv2d_{2 * at + 1}"))
        last = f"add_{at}"
    layers += [keras_layer("Conv2D", "conv2d_10", last, **conv), keras_layer("Add", "sum", "conv2d_10", "stem")]
    assert functional_heights(tmp_path / "net.json", layers) == [5]


def test_a_block_without_its_shortcut_drops_no_result(tmp_path: Path) -> None:
    # As in EfficientNet: what is added to the input is dropped at times.
    layers = [keras_layer("InputLayer", "l0", batch_shape=[None, 8, 8, 8])]

    def add(kind: str, *more: str, **config: object) -> str:
        layers.append(keras_layer(kind, f"l{len(layers)}", *(more or (str(layers[-1]["name"]),)), **config))
        return str(layers[-1]["name"])

    for stage, count in enumerate((5, 3, 4)):
        for block in range(count):
            source = str(layers[-1]["name"])
            for filters, kernel, steps in ((64 << stage, 1, 1), (64 << stage, 3, 2 - bool(block)), (16 << stage, 1, 1)):
                add("Conv2D", filters=filters, kernel_size=[kernel, kernel], strides=[steps, steps])
                add("BatchNormalization")
                if kernel == 3 or filters > 32 << stage:
                    add("ReLU")
            if block:
                add("Add", add("Dropout", rate=0.2), source)
    add("GlobalAveragePooling2D")
    assert functional_heights(tmp_path / "net.json", layers) == [5, 3, 4]


def test_three_layers_of_a_decoder_read_one_memory(tmp_path: Path) -> None:
    layers = [keras_layer("InputLayer", name, batch_shape=[None, 8, 8, 8]) for name in ("x", "y")]
    layers += [keras_layer("Embedding", f"embedding_of_{name}", name) for name in ("x", "y")]
    last = {name: f"embedding_of_{name}" for name in ("x", "y")}
    for at in range(4):
        layers.append(keras_layer("Encoder", f"encoder_{at}", last["x"]))
        last["x"] = f"encoder_{at}"
    for at in range(3):
        layers.append(keras_layer("Decoder", f"decoder_{at}", last["y"], last["x"]))
        last["y"] = f"decoder_{at}"
    layers.append(keras_layer("Dense", "head", last["y"]))
    assert functional_heights(tmp_path / "net.json", layers) == [4, 3]


def test_the_last_norm_of_a_stack_and_one_behind_it_are_no_stack(tmp_path: Path) -> None:
    w = Writer("nameless", random.Random(1))
    w.style, w.width = "const", 16
    x = w.op("Placeholder", name="x")
    for _ in range(5):
        x = w.layer_norm(w.add(x, w.attention(x)))
        x = w.layer_norm(w.add(x, w.feed_forward(x)))
    w.dense(w.layer_norm(x), 10)
    found = heights(load(formed(w.graph, "nameless", random.Random(1))))
    assert [height for height in found if height > 3] == [5]


def test_half_a_block_behind_its_stack_is_none(tmp_path: Path) -> None:
    conv: list[tuple[str, dict[str, object]]] = [("Conv2D", {"filters": 8, "kernel_size": [3, 3]})]
    half = [*conv, ("BatchNormalization", {}), ("ReLU", {})]
    block = [*half, *conv, ("LayerNormalization", {}), ("Dropout", {})]
    assert keras_heights(tmp_path / "net.json", *block * 4, *half, ("Flatten", {})) == [4]


def test_layers_of_keras_with_other_kernels_or_channels_are_no_repetition(tmp_path: Path) -> None:
    def conv(filters: int, kernel: int) -> list[tuple[str, dict[str, object]]]:
        settings = {"filters": filters, "kernel_size": [kernel, kernel]}
        return [("Conv2D", settings), ("BatchNormalization", {}), ("ReLU", {})]

    path = tmp_path / "net.json"
    assert keras_heights(path, *conv(8, 3), *conv(8, 3), *conv(8, 3), ("Flatten", {})) == [3]
    assert keras_heights(path, *conv(8, 7), *conv(8, 3), *conv(8, 3), ("Flatten", {})) == [2]


def test_a_stack_of_weights_is_parted_into_ranges_and_one_of_blocks_is_not() -> None:
    w = Writer("nameless", random.Random(1))
    w.style, w.bias, w.width = "const", True, 16
    for at in range(60):
        handle = w.op("VarHandleOp", name=f"a{at}")
        value = w.op("RandomUniform", w.constant(2, name=f"b{at}", dtype=3), name=f"c{at}")
        scaled = w.op("Mul", value, w.constant(name=f"d{at}"), name=f"e{at}")
        w.op("AssignVariableOp", handle, w.op("AddV2", scaled, w.constant(name=f"f{at}"), name=f"g{at}"), name=f"h{at}")
    x = w.op("Placeholder", name="x")
    for _ in range(60):
        x = w.add(x, w.act(w.conv(x, 16)))
    hierarchy = load(formed(w.graph, "nameless", random.Random(1))).hierarchy
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    assert {len(repeated_rows(hierarchy, row)) for row in stacks} >= {60}
    held = sorted(len(hierarchy.children(row)) for row in stacks if len(repeated_rows(hierarchy, row)) == 60)
    assert held[0] <= 40
    assert held[-1] == 60


@pytest.mark.parametrize("seed", [5, 6])  # without and with the sizes of weights
def test_first_blocks_that_all_project_are_parted_by_their_stages(seed: int) -> None:
    # Two stages of one block, then the first of a third: three equal blocks of other channels each.
    w = Writer("nameless", random.Random(seed))
    w.width = 8
    x = w.act(w.norm(w.conv(w.op("Placeholder", name="x"), 8, 3, 2)))
    counts = [1, 1, 4, 7]
    for number, count in enumerate(counts):
        for place in range(count):
            x = squeezed(w, x, 16 << number, 1 + (place == 0), place == 0)
    assert score(load(formed(w.graph, "nameless", random.Random(4))), counts) == (2, 2)


@pytest.mark.parametrize("counts", [(4, 6, 3), (3, 4, 6, 3)])
def test_no_block_of_a_backbone_below_a_pyramid_holds_a_border_of_widths(
    counts: tuple[int, ...],
) -> None:
    """A detector: bottlenecks, a pyramid with two levels more, and two heads on each level."""
    net = Export()

    def conv(x: str, before: int, width: int, window: int = 3) -> str:
        return net.conv(x, net.weight(width, before, window, window))

    x, given = net.op("onnx::Relu", conv(net.op("Placeholder", dtype={"type": 1}), 3, 16, 7)), 16
    results: list[tuple[str, int]] = []
    for stage, count in enumerate(counts):
        width = 16 << stage
        for block in range(count):
            y = net.op("onnx::Relu", conv(x, given, width, 1))
            y = conv(net.op("onnx::Relu", conv(y, width, width)), width, 4 * width, 1)
            x = net.op("onnx::Relu", net.op("onnx::Add", y, x if block else conv(x, given, 4 * width, 1)))
            given = 4 * width
        results.append((x, given))
    top, levels = "", []
    for x, given in results[len(counts) - 3 :][::-1]:
        side = conv(x, given, 32, 1)
        top = net.op("onnx::Add", side, net.op("onnx::Resize", top)) if top else side
        levels.append(conv(top, 32, 32))
    levels.append(conv(levels[-1], 32, 32))
    levels.append(conv(net.op("onnx::Relu", levels[-1]), 32, 32))
    for head in range(2):
        ends = []
        for level in levels:
            for _ in range(2):
                level = net.op("onnx::Relu", conv(level, 32, 32))
            ends.append(net.op("onnx::Reshape", net.op("onnx::Transpose", conv(level, 32, 4 + head))))
        net.op("onnx::Concat", *ends)
    hierarchy = load(GraphDef(node=net.nodes)).hierarchy  # type: ignore[arg-type]
    stacks = [
        row for row, kind in enumerate(hierarchy.kind.tolist()) if kind == SERIES_ROW and hierarchy.connected[row]
    ]
    end = hierarchy.graph.name.index(results[-1][0])  # of the backbone; levels of the pyramid are a stack, too
    backbone = [row for row in stacks if max(hierarchy.node[row : hierarchy.end[row]].tolist()) <= end]
    assert tuple(len(hierarchy.children(row)) for row in backbone if hierarchy.op_count(row) > 14) == counts


def test_a_layer_behind_the_last_sum_is_no_block_that_lacks_something() -> None:
    """Of EDSR (Lim et al. 2017): blocks, a layer whose result is added to what the first takes, layers that enlarge."""
    net = Export()

    def conv(x: str) -> str:
        return net.op("onnx::BatchNormalization", net.conv(x, net.weight(8, 8, 3, 3)))

    first = x = conv(net.op("Placeholder", dtype={"type": 1}))
    for _ in range(16):
        x = net.op("onnx::Add", x, conv(net.op("onnx::Relu", conv(x))))
    x = net.op("onnx::Add", first, conv(x))
    for _ in range(2):
        x = net.op("onnx::Resize", conv(x))
    conv(x)
    hierarchy = load(GraphDef(node=net.nodes)).hierarchy  # type: ignore[arg-type]
    stacks = [row for row, kind in enumerate(hierarchy.kind.tolist()) if kind == SERIES_ROW]
    assert max(len(hierarchy.children(row)) for row in stacks) == 16


@pytest.mark.parametrize("counts", [(2, 2, 6, 2), (2, 4, 4, 2)])
def test_blocks_in_turn_are_one_stack_where_a_last_stage_has_only_one_kind(counts: tuple[int, ...]) -> None:
    """As windows of Swin (Liu et al. 2021) that the last stage does not shift: it has no more than one."""
    w = Writer("nameless", random.Random(3))
    w.width = 32
    x = w.conv(w.op("Placeholder", name="x"), 32, 4, 4)
    for stage, count in enumerate(counts):
        if stage:
            parts = [w.op("StridedSlice", x, w.constant(3, dtype=3)) for _ in range(4)]
            x = w.dense(w.layer_norm(w.op("ConcatV2", *parts, w.constant(dtype=3))), 32 << stage)
            w.width = 32 << stage
        for block in range(count):
            x = shifted(w, x, w.width, 1, stage == 3 or block % 2 == 0)
    w.op("Mean", w.layer_norm(x), w.constant(2, dtype=3))
    found = heights(load(formed(w.graph, "nameless", random.Random(3))))
    assert [height for height in found if height > 1] == list(counts)


def test_a_group_of_blocks_is_one_of_its_like_where_a_long_shortcut_leaves_it() -> None:
    """As residual groups of RCAN (Zhang et al. 2018): the first group takes what a sum behind the last one adds."""
    net = Export()

    def conv(x: str) -> str:
        return net.conv(x, net.weight(8, 8, 3, 3))

    first = x = conv(net.op("Placeholder", dtype={"type": 1}))
    for _ in range(4):
        group = x
        for _ in range(5):
            y = conv(net.op("onnx::Relu", conv(x)))
            weighed = net.op("onnx::Sigmoid", conv(net.op("onnx::Relu", conv(net.op("onnx::GlobalAveragePool", y)))))
            x = net.op("onnx::Add", x, net.op("onnx::Mul", y, weighed))
        x = net.op("onnx::Add", group, conv(x))
    conv(net.op("onnx::Add", first, conv(x)))
    found = heights(load(GraphDef(node=net.nodes)))  # type: ignore[arg-type]
    assert [height for height in found if height > 3] == [4, 5, 5, 5, 5]


def test_a_convolution_of_other_channels_that_halves_leads_to_a_stage_of_equal_ones() -> None:
    # As in EfficientNetV2: the blocks of its first stage are one convolution each, like the stem.
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 3
    w.bias = True

    def convolution(x: str, width: int, stride: int = 1) -> str:
        x = w.norm(w.conv(x, width, 3, stride))
        for kind in ("Tanh", "Elu", "Selu", "Sin", "Cos", "Exp", "Erf", "Relu"):  # a tenth is more than a sum
            x = w.act(x, kind)
        return x

    x = convolution(w.op("Placeholder", name="x"), 40, 2)
    for width, count in ((16, 2), (64, 3)):
        for block in range(count):
            before, y = w.width, convolution(x, width, 2 if width > 16 and not block else 1)
            y = y if width == 16 else w.norm(w.conv(y, width, 1))
            x = w.add(x, y) if before == width else y
    w.op("Mean", x, w.constant(2, dtype=3))
    assert [height for height in heights(load(formed(w.graph, "nameless", random.Random(4)))) if height > 1] == [2, 3]


def test_a_stage_of_two_blocks_may_keep_the_resolution_of_the_stem() -> None:
    w = Writer("nameless", random.Random(9))
    w.style, w.width = "const", 3
    x = w.act(w.norm(w.conv(w.op("Placeholder", name="x"), 40, 3, 2)), "Relu6")
    for block in range(2):
        y = w.act(w.norm(w.depthwise(x)), "Relu6")
        y = w.norm(w.conv(y, 24, 1))
        x = w.add(x, y) if block else y
    for width, count in ((32, 3), (48, 3)):
        for block in range(count):
            x = inverted(w, x, width, 1 if block else 2, not block)
    w.op("Mean", x, w.constant(2, dtype=3))
    found = heights(load(formed(w.graph, "nameless", random.Random(9))))
    assert [height for height in found if height > 1] == [2, 3, 3]


@pytest.mark.parametrize(("form", "counts"), [("nameless", (3, 6, 4)), ("scopes", (1, 2, 6, 2))])
def test_a_stage_of_layers_begins_with_the_attention_that_widens(form: str, counts: tuple[int, ...]) -> None:
    # As in Hiera: the first layer of a stage projects a norm of its input, and its attention rearranges less.
    w = Writer(form, random.Random(4))
    w.style, w.bias, w.eps, w.width = "const", True, True, 64
    x, number = w.dense(w.op("Placeholder", name="x"), 64), 0
    for stage, count in enumerate(counts):
        for block in range(count):
            with w.scope(f"block_{number}"):
                y = w.layer_norm(x)
                if stage and not block:
                    x = w.op("Max", w.dense(y, 2 * w.width), w.constant(1, dtype=3))
                    for kind in ("Tanh", "Elu", "Selu", "Sin", "Cos", "Exp"):  # more than a tenth of a layer
                        x = w.op(kind, x)
                for at in range(0 if stage and not block else 2 + stage):
                    y = w.op(("Reshape", "Transpose")[at % 2], y, w.constant(3, dtype=3))
                x = w.add(x, w.attention(y))
                x = w.add(x, w.feed_forward(w.layer_norm(x)))
            number += 1
    w.op("Mean", x, w.constant(1, dtype=3))
    found = heights(load(formed(w.graph, form, random.Random(4))))
    assert [height for height in found if height > 1] == [count for count in counts if count > 1]


def test_a_reduction_behind_a_module_is_no_module_of_the_next_stage() -> None:
    """Inception v4: what ends its stem has the layers of a module, and then takes larger steps on two ways."""
    net = Export()

    def layers(x: str, width: int, count: int, stride: int = 1) -> str:
        for place in range(count):
            steps = {"strides": {"list": {"i": [stride, stride]}}} if place == count - 1 else {}
            weight = net.weight(width, width, 3, 3)
            x = net.op("onnx::Relu", net.op("onnx::Conv", x, weight, **steps))
        return x

    def module(x: str, width: int, *counts: int) -> str:
        ways = [layers(x, width, count) for count in counts]
        return net.op("onnx::Concat", layers(net.op("onnx::AveragePool", x), width, 1), *ways)

    def reduction(x: str, width: int, *counts: int) -> str:
        pool = net.op("onnx::MaxPool", x, strides={"list": {"i": [2, 2]}})
        return net.op("onnx::Concat", pool, *(layers(x, width, count, 2) for count in counts))

    x = reduction(layers(net.op("Placeholder", dtype={"type": 1}), 32, 3), 96, 1)
    x = reduction(net.op("onnx::Concat", layers(x, 96, 2), layers(x, 96, 4)), 96, 1)
    for width, ways, stage, ends in ((96, (1, 2, 3), 4, (1, 3)), (128, (1, 3, 5), 7, (2, 4)), (256, (1, 4, 4), 3, ())):
        for _ in range(stage):
            x = module(x, width, *ways)
        x = reduction(x, width, *ends) if ends else net.op("onnx::GlobalAveragePool", x)
    hierarchy = load(GraphDef(node=net.nodes)).hierarchy  # type: ignore[arg-type]
    stacks = [row for row, kind in enumerate(hierarchy.kind.tolist()) if kind == SERIES_ROW]
    assert [len(hierarchy.children(row)) for row in stacks if hierarchy.op_count(row) > 40] == [4, 7, 3]


def test_the_first_unit_of_a_stage_may_split_nothing() -> None:
    # As ShuffleNet v2: a unit works on half of the channels, the first of a stage with larger steps on all, twice.
    net = Export()

    def conv(x: str, width: int, stride: int = 1, window: int = 1) -> str:
        weight = net.weight(width, width, window, window)
        return net.op("onnx::Conv", x, weight, strides={"list": {"i": [stride, stride]}})

    def branch(x: str, width: int, stride: int) -> str:
        x = conv(net.op("onnx::Relu", conv(x, width)), width, stride, 3)
        return net.op("onnx::Relu", conv(x, width))

    x = net.op("onnx::Relu", conv(net.op("Placeholder", dtype={"type": 1}), 24, 2, 3))
    for width, count in ((58, 4), (116, 8), (232, 4)):
        for unit in range(count):
            if unit:
                middle = net.op("onnx::Mul", net.weight(1), net.weight(1))
                kept, x = (net.op("onnx::Slice", x, middle, net.weight(1)) for _ in range(2))
            else:
                kept = net.op("onnx::Relu", conv(conv(x, width, 2, 3), width))
            x = net.op("onnx::Concat", kept, branch(x, width, 1 if unit else 2))
            x = net.op("onnx::Reshape", net.op("onnx::Transpose", net.op("onnx::Reshape", x)))
    net.op("onnx::GlobalAveragePool", x)
    found = heights(load(GraphDef(node=net.nodes)))  # type: ignore[arg-type]
    assert [height for height in found if height > 1] == [4, 8, 4]


def test_the_first_block_that_makes_what_all_are_given_is_of_their_stage() -> None:
    # As in an exported diffusion U-Net: the first of three blocks holds the activation of the time, once for all.
    w = Writer("scopes", random.Random(3))
    w.style, w.width = "const", 16
    x, time = w.conv(w.op("Placeholder", name="x"), 16), w.op("Placeholder", name="time")
    for number in range(3):
        with w.scope(f"down_0_{number}"):
            time = w.act(time, "Sigmoid", "silu") if not number else time
            y = w.act(w.norm(w.conv(w.act(w.norm(x, "bn1")), 16, 3, 1, "conv1"), "bn2"), name="act2")
            given = w.op("MatMul", time, w.weight("given", 16, 16))
            x = w.add(x, w.conv(w.op("BiasAdd", y, given), 16, 3, 1, "conv2"))
    w.op("Softmax", w.conv(x, 32, 3, 2, "down"))
    assert heights(load(w.graph)) == [3]


@pytest.mark.parametrize("form", ["flat", "nameless"])
def test_layers_with_another_kernel_behind_the_last_sum_are_no_block(form: str) -> None:
    w = Writer(form, random.Random(3))
    w.style, w.width = "const", 32
    x = w.op("Placeholder", name="x")

    def inverted_layers(x: str, kernel: int) -> str:
        x = w.act(w.norm(w.conv(x, 64, 1, 1, "expand"), "bn1"), name="act1")
        x = w.act(w.norm(w.depthwise(x, kernel), "bn2"), name="act2")
        return w.norm(w.conv(x, 32, 1, 1, "project"), "bn3")

    for number in range(4):
        with w.scope(f"block{number}"):
            x = w.add(x, inverted_layers(x, 3))
    with w.scope("head"):
        x = inverted_layers(x, 7)
    w.dense(x, 10)
    found = heights(load(formed(w.graph, form, random.Random(4))))
    assert 4 in found
    assert 5 not in found
