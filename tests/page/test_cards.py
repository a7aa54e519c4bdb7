"""Cards: what an op's attributes say in few letters, whatever a file holds."""

from __future__ import annotations

import pytest

from graphviz_tb.proto import TensorProto
from graphviz_tb.view.attribute_words import tensor_word


def test_halves_are_read_from_their_bits() -> None:
    assert tensor_word(TensorProto(dtype=19, half_val=[0x3C00, 0xC000])) == "float16 scalar: 1, -2"


@pytest.mark.parametrize("bits", [65536 + 0x3C00, -65536 + 0x3C00, 2**31 - 2**16 + 0x3C00])
def test_bits_beyond_those_of_a_half_are_left_out(bits: int) -> None:
    assert tensor_word(TensorProto(dtype=19, half_val=[bits])) == "float16 scalar: 1"
