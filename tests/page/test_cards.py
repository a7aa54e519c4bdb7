"""Cards: what an op's attributes say in few letters, whatever a file holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.page.cards import AttributeTexts
from graphviz_tb.proto import TensorProto
from graphviz_tb.words.attributes import _tensor_value_text, attribute_texts
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_halves_are_read_from_their_bits() -> None:
    assert _tensor_value_text(TensorProto(dtype=19, half_val=[0x3C00, 0xC000])) == "float16 scalar: 1, -2"


@pytest.mark.parametrize("bits", [65536 + 0x3C00, -65536 + 0x3C00, 2**31 - 2**16 + 0x3C00])
def test_bits_beyond_those_of_a_half_are_left_out(bits: int) -> None:
    assert _tensor_value_text(TensorProto(dtype=19, half_val=[bits])) == "float16 scalar: 1"


@each("name", ["real/colocate.pb", "real/func_library_v2.pb", "real/keras2_mnist.pb", "shapes/DenseNet121.pb.gz"])
def test_nodes_of_equal_definitions_have_their_own_colocation(name: str) -> None:
    model = load(FIXTURES / name)
    graph = model.hierarchy.graph
    texts = AttributeTexts(model.hierarchy, model.facts)
    words = [attribute_texts(graph, node, {}) for node in range(len(graph))]
    assert [json.loads(texts.card_attributes(node)) for node in range(len(graph))] == words
    assert texts.names == {name for listed in words for name, *_ in listed}
