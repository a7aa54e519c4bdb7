"""TensorFlow Lite: networks against what Keras says of them, programs with functions and states, damaged files."""

from __future__ import annotations

import gzip
import json
import random
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import diff, load
from graphviz_tb.errors import MalformedProto, ReadError, TbGraphError, TooLarge, UnknownChoice, UnknownFormat
from graphviz_tb.formats import tflite_file
from graphviz_tb.words.paper import PaperWords
from tests.effort import part

LITE = Path(__file__).resolve().parents[2] / "fixtures/lite"
TABLE: dict[str, dict[str, Any]] = json.loads((LITE / "truth.json").read_text())


@cache
def model_of(name: str) -> Any:
    return load(LITE / f"{name}.tflite.gz")


def plain(name: str) -> bytes:
    return gzip.decompress((LITE / f"{name}.tflite.gz").read_bytes())


def without_ones(shape: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(-1 if size is None else size for size in shape if size != 1)


def types_of(model: Any) -> set[str]:
    return {model.hierarchy.graph.op_types[op] for op in model.hierarchy.graph.op.tolist()}


def test_parameters_and_multiply_adds_are_those_of_keras() -> None:
    for name in part(sorted(TABLE), 3):
        cost, told = model_of(name).cost.under(0), TABLE[name]
        assert cost.parameters == told["folded"], name
        exact = abs(cost.macs - told["macs"]) <= 0.02 * told["macs"]
        assert exact or (cost.macs < told["macs"] and cost.is_lower_bound("macs")), name


def test_parameters_are_about_right_where_the_converter_folds_or_adds_biases() -> None:
    for name in part(sorted(TABLE), 3):
        cost, told = model_of(name).cost.under(0), TABLE[name]
        assert cost.bound_word("parameters") == ("" if told["folded"] == told["parameters"] else "about "), name


def test_layers_are_scopes_with_the_shapes_and_the_words_of_keras() -> None:
    asked = 0
    for name in part(sorted(TABLE), 3):
        model = model_of(name)
        hierarchy, shapes, paper = model.hierarchy, model.shapes(), PaperWords(model.hierarchy)
        rows = {scope.rpartition("/")[2]: row for row, scope in enumerate(hierarchy.name) if hierarchy.can_open(row)}
        for layer, told in TABLE[name]["layers"].items():
            row = rows.get(f"{layer}_1")  # the exporter of Keras 3 enters each scope twice
            if row is None or not told["shape"]:
                continue
            inside = [shape for (node, _), shape in shapes.items() if node.startswith(f"{hierarchy.name[row]}/")]
            wanted = without_ones(told["shape"])  # a convolution along a line is one of an image of one row
            known = [without_ones(shape or ()) for shape in inside]
            assert wanted in known or told["class"] in ("Reshape", "InputLayer"), (name, layer, wanted, known)
            said = paper.words_of_row(row) or ""
            if told["class"] == "Conv2D" and max(told["strides"]) > 1:
                size, step = told["kernel_size"][0], told["strides"][0]
                assert said.startswith(f"{size}×{size}, {told['filters']}, /{step}"), (name, layer, said)
                asked += 1
            elif told["class"] == "MultiHeadAttention":
                assert said.startswith(f"{told['num_heads']} heads"), (name, layer, said)
                asked += 1
            elif told["class"] == "Embedding":
                assert said == f"{told['input_dim']} × {told['output_dim']}", (name, layer, said)
                asked += 1
    assert asked


def test_convolutions_over_a_row_say_one_size_and_how_far_apart_they_take() -> None:
    hierarchy = model_of("wavenet").hierarchy
    paper = PaperWords(hierarchy)
    rows = {scope.rpartition("/")[2]: row for row, scope in enumerate(hierarchy.name) if hierarchy.can_open(row)}
    words = {
        name: paper.words_of_row(rows[name]) for name in ("stem_1", "layer0_gate_1", "layer3_skip_1", "layer4_filter_1")
    }
    assert words == {
        "stem_1": "k1, 24",
        "layer0_gate_1": "k2, 24 · sigmoid",
        "layer3_skip_1": "k1, 24",
        "layer4_filter_1": "k2, 24, d16 · tanh",
    }


def test_blocks_are_as_many_as_the_network_has() -> None:
    for name in part(sorted(TABLE), 3):
        hierarchy = model_of(name).hierarchy
        for stage, count in TABLE[name]["stages"].items():
            series = [row for row in range(len(hierarchy)) if hierarchy.name[row].rpartition("/")[2].startswith(stage)]
            assert len(series) >= count, (name, stage)


def test_loops_and_branches_open_as_functions() -> None:
    graph = model_of("branches").hierarchy.graph
    assert {call.attr for call in graph.calls} == {"cond", "body", "then_branch", "else_branch"}
    assert len(graph.functions) == 4
    assert model_of("lstm").cost.under(0).macs == TABLE["lstm"]["macs"]  # all ten rounds, and the weights in the body


def test_a_signature_can_be_chosen() -> None:
    decoder, encoder = (load(LITE / "signatures.tflite.gz", signature=each) for each in ("decode", "encode"))
    assert "tfl::LOGISTIC" in types_of(decoder)
    assert "tfl::LOGISTIC" not in types_of(encoder)
    with pytest.raises(UnknownChoice, match="decode"):
        load(LITE / "signatures.tflite.gz", signature="train")


def test_quantised_numbers_are_said() -> None:
    model = model_of("quantised_int8")
    graph = model.hierarchy.graph
    said = {
        graph.name[node]: graph.node_def(node).attr["quantization"].s.decode()
        for node in range(len(graph))
        if graph.node_def(node) is not None and "quantization" in graph.node_def(node).attr
    }
    assert said["small_1/conv1_1/kernel"].startswith("int8, 16 scales")
    assert any("zero point" in text for text in said.values())
    assert model.cost.under(0).parameters == model_of("quantised_weights").cost.under(0).parameters
    assert model_of("half_weights").cost.under(0).parameters == model_of("quantised_weights").cost.under(0).parameters


def test_states_are_no_parameters() -> None:
    assert model_of("variables").cost.under(0).parameters == 0


def test_variables_that_never_change_are_parameters_whatever_reads_them() -> None:
    """An `EinsumDense` of 8 to 2 × 5 with a bias, a convolution to 4 channels without one, to which the converter gave
    zeros, a norm, and a `Dense` of 3."""
    cost = model_of("kept_variables").cost.under(0)
    kernels, rest, zeros = 8 * 2 * 5 + 3 * 10 * 4 + 4 * 3, 2 * 5 + 4 * 4 + 3, 4
    assert (cost.parameters, cost.bound_word("parameters")) == (kernels + rest + zeros, "about ")


def test_variables_that_only_loops_read_are_parameters() -> None:
    """A `SimpleRNN` of 4 to 8 with a bias, a `GRU` of 8 to 6 without."""
    cost = model_of("looped_variables").cost.under(0)
    assert (cost.parameters, cost.bound_word("parameters")) == (8 * (4 + 8 + 1) + 3 * 6 * (8 + 6), "")


def test_kernels_in_variables_say_their_heads() -> None:
    hierarchy = model_of("kept_variables").hierarchy
    paper = PaperWords(hierarchy)
    said = {paper.words_of_row(row) for row in range(len(hierarchy))}
    assert {"8 → 2×5", "1×3, 4", "4 → 3"} <= said


def test_statistics_of_norms_are_no_parameters() -> None:
    """4 norms of 8, of which 2 have a factor and 2 a shift; the numbers of the others are means and variances alone."""
    assert model_of("norms").cost.under(0).parameters == 8 * (2 + 2)


def test_ops_of_tensorflow_keep_their_type_and_custom_ops_their_name() -> None:
    assert {"MatrixInverse", "tfl::Erfinv", "tfl::ADD"} <= types_of(model_of("lacking_ops"))


def test_another_setting_of_a_custom_op_is_told() -> None:
    """The settings of an op of TensorFlow are its whole node, which only TensorFlow reads."""
    data = plain("lacking_ops")
    at = data.index(b"MatrixInverse")  # in the settings; the type of the op is written behind
    assert not diff(data, data[:at] + b"MatrixInverze" + data[at + 13 :]).same


def test_the_same_file_is_the_same_and_another_activation_is_told() -> None:
    data = plain("quantised_weights")
    assert diff(data, data).same
    assert not diff(data, plain("quantised_int8")).same


@pytest.mark.parametrize("name", part(["lstm", "variables", "quantised_int8", "branches"], 4))
def test_damaged_files_end_in_a_sentence(name: str) -> None:
    data = plain(name)
    luck = random.Random(name)
    for cut in part([8, 16, 64, len(data) // 2, len(data) - 4], 2):
        check(data[:cut])
    for _ in range(40 if name == "lstm" else 120):
        hurt = bytearray(data)
        for _ in range(luck.randrange(1, 4)):
            at = luck.randrange(8, min(len(hurt), 4000) - 4)
            hurt[at : at + 4] = luck.choice(
                [b"\0\0\0\0", b"\xff\xff\xff\xff", struct.pack("<I", luck.randrange(len(data))), luck.randbytes(4)]
            )
        check(bytes(hurt))


def check(data: bytes) -> None:
    with suppress(TbGraphError):  # whatever is wrong: no other error
        load(data)


def test_lists_that_are_used_again_and_again_are_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tflite_file, "FREE_FLATBUFFER_VALUES", 100)
    monkeypatch.setattr(tflite_file, "VALUES_PER_BYTE", 0)
    with pytest.raises(TooLarge, match="bomb"):
        load(plain("branches"))


def test_a_file_that_is_too_new_is_refused_with_a_sentence() -> None:
    data = bytearray(plain("branches"))
    root = struct.unpack_from("<I", data)[0]
    slots = root - struct.unpack_from("<i", data, root)[0]
    struct.pack_into("<I", data, root + struct.unpack_from("<H", data, slots + 4)[0], 9)
    with pytest.raises(UnknownFormat, match="schema 9"):
        load(bytes(data))


def test_a_tensor_that_the_file_lacks_is_said() -> None:
    with pytest.raises((MalformedProto, ReadError)):
        load(plain("branches")[:900])
