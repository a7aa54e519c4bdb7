"""Edits of exported programs: the text of each says the edit in few changes; a rebuild is the same."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.diff import diff
from graphviz_tb.formats.onnx_messages import GraphValue, NodeValue
from tests.diff.pairs import copied
from tests.effort import part
from tests.formats.test_onnx import bytes_of, floats, value

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ARCHIVES = {network: f"exported_edits/{network}.tar.xz" for network in ("cnn", "decoder")}
ARCHIVES["lite"] = "lite_edits/lite.tar.xz"

# network.edit.form: the words of the text; with ` | `, all of them.
ONE_CHANGE = {
    "cnn.kernel.pt2": "Conv2d[stem]  kernel 3×3 → 5×5 | padding [1, 1] → [2, 2]",
    "cnn.stride.pt2": "Conv2d[stem]  stride [1, 1] → [2, 2]",
    "cnn.dilation.pt2": "Conv2d[stem]  dilation [1, 1] → [2, 2]",
    "cnn.channels.pt2": "filters 8 → 12 | and 4 other places",
    "cnn.gelu.pt2": "op ReLU → GELU | and 2 other places",
    "cnn.third_block.pt2": "+ Block  CNN/Block[blocks.2]",
    "cnn.group_norm.pt2": "op BatchNorm2d → GroupNorm | and 1 other place",
    "cnn.no_norm.pt2": "− BatchNorm2d ×2",
    "cnn.average_pool.pt2": "op MaxPool2d → AvgPool2d",
    "cnn.pool_size.pt2": "MaxPool2d[pool]  kernel_size [2, 2] → [4, 4]",
    "cnn.dropout.pt2": "Dropout[drop]  p 0.1 → 0.3",
    "cnn.no_residual.pt2": "2 add | Block[blocks.1]/add → CNN/Block[blocks.1]/Conv2d[conv2]/conv2d",
    "cnn.classes.pt2": "Linear[head]  units 10 → 20",
    "cnn.renamed.pt2": "CNN/Linear[head] → CNN/Linear[classifier]  renamed",
    "cnn.batch.pt2": "float32 1×3×16×16 → float32 4×3×16×16",
    "cnn.activation_first.pt2": "BatchNorm2d[norm], ReLU[act] → ReLU[act], BatchNorm2d[norm]  in another order, in 2",
    "cnn.no_bias.pt2": "− CNN/Linear[head]/bias",
    "decoder.heads.pt2": "unflatten  sizes [4, 4] → [2, 8]",
    "decoder.inner.pt2": "Linear[fc1]  units 32 → 48 | and 1 other place",
    "decoder.words.pt2": "Embedding[embed]  input_dim 100 → 120",
    "decoder.untied.pt2": "Linear[head]  weights shared with Decoder/Embedding[embed] → its own",
    "decoder.silu.pt2": "op GELU → SiLU | and 1 other place",
    "decoder.rms_norm.pt2": "op LayerNorm → RMSNorm | and 4 other places",
    "decoder.third_block.pt2": "+ Layer  Decoder/Layer[blocks.2]",
    "decoder.half.pt2": "dtype float32 → bfloat16",
    "decoder.no_residual.pt2": "− add ×2",
    "decoder.no_positions.pt2": "− Embedding  Decoder/Embedding[positions]",
    "decoder.renamed.pt2": "blocks → layers in each name",
    "decoder.no_bias.pt2": "Attention[attn]/Linear[q]/bias | and 1 other place",
    "decoder.no_last_norm.pt2": "− LayerNorm  Decoder/LayerNorm[norm]",
    "decoder.epsilon.pt2": "eps 1e-05 → 0.001 | and 4 other places",
    "decoder.softmax.pt2": "+ softmax  Decoder/softmax",
    "decoder.scaled.pt2": "+ mul  Decoder/mul",
    "decoder.norm_after.pt2": "LayerNorm[norm1], LayerNorm[norm2]",
    "cnn.kernel.script.onnx": "stem  kernel 3×3 → 5×5",
    "cnn.stride.script.onnx": "strides [1, 1] → [2, 2]",
    "cnn.third_block.script.onnx": "blocks.2",
    "cnn.average_pool.script.onnx": "op MaxPool → AveragePool",
    "cnn.channels.script.onnx": "filters 8 → 12",
    "cnn.no_residual.script.onnx": "2 Add",
    "cnn.renamed.script.onnx": "head → classifier  renamed",
    "decoder.softmax.script.onnx": "+ Softmax",
    "decoder.epsilon.script.onnx": "epsilon 1e-05 → 0.001",
    "decoder.scaled.script.onnx": "+ Mul",
    "decoder.no_last_norm.script.onnx": "norm",
    "decoder.inner.script.onnx": "units 32 → 48",
    "cnn.groups.dynamo.onnx": "Conv2d[conv1]  group 1 → 2",
    "cnn.padding.dynamo.onnx": "pads [1, 1, 1, 1] → [0, 0, 0, 0]",
    "cnn.dilation.dynamo.onnx": "dilations [1, 1] → [2, 2]",
    "cnn.gelu.dynamo.onnx": "op ReLU → GELU",
    "cnn.pool_size.dynamo.onnx": "kernel_shape [2, 2] → [4, 4]",
    "cnn.classes.dynamo.onnx": "weights 10×8 → 20×8",
    "cnn.no_bias.dynamo.onnx": "− CNN/Linear[head]/bias",
    "lite.kernel.tflite": "small_1/stem_1  kernel 3×3 → 5×5",
    "lite.strides.tflite": "strides [1, 1, 1, 1] → [1, 2, 2, 1]",
    "lite.dilation.tflite": "dilations [1, 1, 1, 1] → [1, 2, 2, 1]",
    "lite.filters.tflite": "filters 8 → 12",
    "lite.relu6.tflite": "activation Relu → Relu6 | and 2 other places",
    "lite.tanh.tflite": "activation Relu → Tanh | and 2 other places",
    "lite.average_pool.tflite": "op MAX_POOL_2D → AVERAGE_POOL_2D",
    "lite.third_block.tflite": "block2_conv1_1",
    "lite.no_residual.tflite": "2 ADD",
    "lite.classes.tflite": "small_1/head_1  units 10 → 20",
    "lite.padding.tflite": "padding SAME → VALID",
    "lite.renamed.tflite": "head_1 → small_1/classifier_1  renamed",
}
TWO_CHANGES = {
    "cnn.half.pt2": "dtype float32 → float16",
    "cnn.half.script.onnx": "dtype float32 → float16",
    "decoder.length.pt2": "int64 1×8 → int64 1×12",
    "decoder.words.script.onnx": "input_dim 100 → 120 | units 100 → 120",
    "lite.no_norm.tflite": "activation nothing → Relu | − small_1/block0_norm_1",
}
# Exporters of ONNX fold a norm into the convolution before it, leave dropout out, and transpose a shared table.
SAME = (
    *("cnn.rebuilt.pt2", "cnn.rebuilt.script.onnx", "cnn.rebuilt.dynamo.onnx", "decoder.rebuilt.pt2"),
    *("decoder.rebuilt.script.onnx", "decoder.rebuilt.dynamo.onnx", "lite.rebuilt.tflite"),
    *("cnn.no_norm.script.onnx", "cnn.dropout.script.onnx", "decoder.untied.script.onnx"),
)
# torch.export writes an argument of its default value only where a later one is not.
DEFAULTS = {
    "cnn.groups.pt2": ("groups 1 → 2", "dilation"),
    "cnn.padding.pt2": ("padding [1, 1] → [0, 0]", "stride"),
    "decoder.not_causal.pt2": ("is_causal true → false", "dropout_p"),
}


@cache
def members(network: str) -> dict[str, bytes]:
    with tarfile.open(FIXTURES / ARCHIVES[network]) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]


@cache
def base(network: str, form: str) -> Any:
    return load(members(network)[f"base.{form}"])


def edited(pair: str) -> Any:
    network, edit, form = pair.split(".", 2)
    return diff(base(network, form), load(members(network)[f"{edit}.{form}"]))


@pytest.mark.parametrize(
    ("pair", "most"), part([*((pair, 1) for pair in ONE_CHANGE), *((pair, 2) for pair in TWO_CHANGES)], 4)
)
def test_an_edit_is_said_in_few_changes(pair: str, most: int) -> None:
    changes = edited(pair)
    text = changes.explain()
    assert [words for words in {**ONE_CHANGE, **TWO_CHANGES}[pair].split(" | ") if words not in text] == []
    assert len(list(changes)) <= most


@pytest.mark.parametrize("turned", [False, True])
def test_weights_that_are_shared_no_longer_are_an_edit_beside_another(turned: bool) -> None:
    untied, other = (load(members("decoder")[f"{edit}.pt2"]) for edit in ("untied", "silu"))
    text = (diff(other, untied) if turned else diff(untied, other)).explain()
    own, shared = "its own", "shared with Decoder/Embedding[embed]"
    assert f"Linear[head]  weights {' → '.join((shared, own) if turned else (own, shared))}" in text
    assert "SiLU" in text


@pytest.mark.parametrize("turned", [False, True])
def test_a_bias_that_went_is_an_edit_beside_another(turned: bool) -> None:
    pair = [load(members("cnn")[f"{edit}.pt2"]) for edit in ("no_bias", "third_block")]
    text = diff(*(reversed(pair) if turned else pair)).explain()
    assert f"{'−' if turned else '+'} CNN/Linear[head]/bias" in text
    assert "CNN/Block[blocks.2]" in text


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_parameters_that_are_not_trained_any_more_are_an_edit(turned: bool, kept: bool) -> None:
    old = base("cnn", "pt2").hierarchy.graph.graph_def.whole_message()
    new = copied(old)
    for node in new.node:
        if node.op == "Parameter" and ("stem" in node.name or not kept):
            node.attr["_trainable"].b = False
    changes = diff(new, old) if turned else diff(old, new)
    (change,) = changes
    assert (change.key, change.setting.old, change.setting.new) == ("trainable", not turned, turned)
    assert {name for name, _ in change.places} >= {"CNN/Conv2d[stem]"}
    assert (len(change.places) == 1) == kept
    assert "which layers are trained" not in changes.explain()


@pytest.mark.parametrize("pair", SAME)
def test_a_rebuild_and_what_an_exporter_folds_anyway_are_the_same(pair: str) -> None:
    assert not list(edited(pair))


@pytest.mark.parametrize("pair", DEFAULTS)
def test_a_default_that_is_written_is_no_edit(pair: str) -> None:
    words, other = DEFAULTS[pair]
    text = edited(pair).explain()
    assert words in text
    assert other not in text.replace("not in this form: dropout", "")


@pytest.mark.parametrize("turned", [False, True])
def test_exporters_that_name_modules_in_two_ways_give_the_same_network(turned: bool) -> None:
    forms = ("dynamo.onnx", "script.onnx") if turned else ("script.onnx", "dynamo.onnx")
    assert not list(diff(*(base("cnn", form) for form in forms)))


def test_an_edit_between_two_exporters_is_said_alone() -> None:
    changes = diff(base("cnn", "script.onnx"), load(members("cnn")["kernel.dynamo.onnx"]))
    assert "kernel 3×3 → 5×5" in changes.explain()
    assert len(list(changes)) == 1


def test_networks_of_other_modules_keep_their_names() -> None:
    text = diff(base("cnn", "script.onnx"), base("decoder", "dynamo.onnx")).explain()
    assert "CNN" not in text
    assert "stem" in text


def test_what_an_exporter_folds_in_a_large_network_is_all_that_differs() -> None:
    forms = [load(FIXTURES / f"exported/resnet.{form}.onnx.gz") for form in ("script", "dynamo")]
    text = diff(*forms).explain()
    assert "GlobalAveragePool → ReduceMean" in text
    assert "renamed" not in text
    assert "moved" not in text


@pytest.mark.parametrize("turned", [False, True])
def test_the_result_op_of_another_output_follows_from_the_signature(turned: bool) -> None:
    """x ─▶ fc ─▶ act ─▶ y, which one program returns, ─▶ head ─▶ z"""
    nodes = (
        NodeValue(name="fc", op_type="MatMul", inputs=("x", "w"), outputs=("f",)),
        NodeValue(name="act", op_type="Relu", inputs=("f",), outputs=("y",)),
        NodeValue(name="head", op_type="MatMul", inputs=("y", "h"), outputs=("z",)),
    )
    ends = (value("z", 2, 2),), (value("z", 2, 2), value("y", 2, 8))
    weights, inputs = (floats("w", 4, 8), floats("h", 8, 2)), (value("x", 2, 4),)
    pair = [bytes_of(GraphValue("g", nodes, weights, inputs=inputs, outputs=outputs)) for outputs in ends]
    (change,) = diff(*(pair[::-1] if turned else pair))
    assert change.kind == "signature-changed"
    assert [behind.kind for behind in change.consequences] == ["removed" if turned else "added"]


@pytest.mark.parametrize("names", [("scores", "boxes"), ("145", "143")])  # of a tracer, or the author's
@pytest.mark.parametrize("edit", ["", "act", "size"])
def test_outputs_in_another_order_are_an_edit_beside_any_other(edit: str, names: tuple[str, str]) -> None:
    """x ─▶ act ─▶ scores of 5 and boxes of 6 numbers, returned the other way round"""

    def network(act: str, size: int, *order: int) -> bytes:
        nodes = (
            NodeValue(name="act", op_type=act, inputs=("x",), outputs=("f",)),
            *(
                NodeValue(name=f"head{i}", op_type="MatMul", inputs=("f", f"w{i}"), outputs=(name,))
                for i, name in enumerate(names)
            ),
        )
        sizes = size, 6
        outputs = tuple(value(names[i], 2, sizes[i]) for i in order)
        weights = tuple(floats(f"w{i}", 4, each) for i, each in enumerate(sizes))
        return bytes_of(GraphValue("g", nodes, weights, inputs=(value("x", 2, 4),), outputs=outputs))

    old, new = network("Relu", 5, 0, 1), network("Tanh" if edit == "act" else "Relu", 7 if edit == "size" else 5, 1, 0)
    changes = diff(old, new)
    order = f"{', '.join(names)} → {', '.join(names[::-1])}  in another order"
    words = [order, *{"act": ["Relu → onnx::Tanh"], "size": ["units 5 → 7"]}.get(edit, [])]
    text = changes.explain()
    assert [each for each in words if each not in text] == []
    assert len(list(changes)) == len(words)


@pytest.mark.parametrize("turned", [False, True])
def test_a_shape_is_an_edit_unless_it_is_computed_from_the_sizes_of_its_inputs(turned: bool) -> None:
    old, new = (copied(base("decoder", "pt2").hierarchy.graph.graph_def.whole_message()) for _ in range(2))
    for graph, sizes, activation in ((old, [1, 4, -1, 4], "gelu"), (new, [1, 8, -1, 4], "silu")):
        for node in graph.node:
            if node.name.endswith("blocks.0]/Attention[attn]/unflatten"):
                node.op = "aten::view"
                node.attr["size"].list.i[:] = sizes
            node.op = node.op.replace("aten::gelu", f"aten::{activation}")
    text = (diff(new, old) if turned else diff(old, new)).explain()
    sizes = "[1, 8, -1, 4] → [1, 4, -1, 4]" if turned else "[1, 4, -1, 4] → [1, 8, -1, 4]"
    assert text.startswith("2 changes")
    assert f"~ Decoder/Layer[blocks.0]/Attention[attn]/unflatten  size {sizes}" in text
    assert f"op {'aten::silu → aten::gelu' if turned else 'aten::gelu → aten::silu'}" in text
