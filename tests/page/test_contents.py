"""What cards say of constants, of ops and of layers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import graphviz_tb
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.build import page_data
from graphviz_tb.page.cards import CONSTANT_BINS, _measure_constant
from graphviz_tb.proto import GraphDef, NodeDef, TensorProto

FIXTURES = Path(__file__).parents[2] / "fixtures"


def tensor(numbers: np.ndarray) -> TensorProto:
    """A float32 tensor of some numbers."""
    proto = TensorProto(dtype=1, tensor_content=numbers.astype("<f4").tobytes())
    proto.tensor_shape.dim.add(size=len(numbers))
    return proto


def blocks(source: Any) -> dict[str, Any]:
    """What the cards of a source say."""
    found = page_data(graphviz_tb.load(source), PictureOptions())[1]
    return {
        block.name: json.loads(block.data)
        for block in found
        if block.name.startswith(("meanings", "layers", "contents"))
    }


def test_range_mean_zeros_and_histogram() -> None:
    numbers = np.concatenate([np.zeros(10), np.arange(1, 91)])
    told = _measure_constant(tensor(numbers), 100)
    assert told is not None
    count, least, most, mean, zeros, odd, bins = told
    assert (count, least, most, zeros, odd) == (100, 0, 90, 10, 0)
    assert math.isclose(mean, sum(range(91)) / 100)
    assert len(bins) == CONSTANT_BINS
    assert sum(bins) == 100


def test_elements_that_are_no_numbers_are_counted_apart() -> None:
    told = _measure_constant(tensor(np.array([np.nan, np.inf, -1, 3] * 4)), 16)
    assert told is not None
    assert told[:6] == [16, -1, 3, 1, 0, 8]
    nothing = _measure_constant(tensor(np.array([np.nan] * 9)), 9)
    assert nothing == [9, None, None, None, 0, 9, []]
    json.dumps([told, nothing], allow_nan=False)


def test_one_element_for_all_of_them_is_counted_as_all() -> None:
    proto = TensorProto(dtype=1, float_val=[0.5])
    assert _measure_constant(proto, 10**8) == [10**8, 0.5, 0.5, 0.5, 0, 0, []]
    proto.float_val[:] = [1, 2, 3, 4, 5, 6, 7, 0]
    told = _measure_constant(proto, 80)
    assert told is not None
    assert told[:6] == [80, 0, 7, sum(range(8)) / 80, 73, 0]
    assert sum(told[6]) == 80
    assert told[6][0] == 73


def test_what_claims_more_than_any_file_holds_is_not_made() -> None:
    graph = GraphDef()
    node = graph.node.add(name="c", op="Const")
    node.attr["value"].tensor.dtype = 1
    node.attr["value"].tensor.tensor_shape.dim.add(size=1 << 50)
    assert "contents/0" not in blocks(graph)


def test_a_page_explains_the_ops_that_it_has_and_no_others() -> None:
    told = blocks(FIXTURES / "real" / "frozen_mlp.pb")
    assert set(told["meanings"]["ops"]) >= {"Conv2D", "BiasAdd", "MaxPool"}
    assert "LSTM" not in told["meanings"]["ops"]
    assert all(len(line) == 2 and all(line) for part in told["meanings"].values() for line in part.values())
    assert len(told["contents/0"]) >= 4


def test_a_layer_has_its_whole_configuration() -> None:
    told = blocks(FIXTURES / "models" / "keras3" / "cnn.json")
    layers = {name: dict(pair[:2] for pair in pairs) for name, pairs in told["layers"].values()}
    assert layers["Dense"]["units"] == "10"
    assert layers["Conv2D"]["kernel_size"] == "[3, 3]"


def test_groups_of_an_exported_program_say_their_lines() -> None:
    model = graphviz_tb.load(FIXTURES / "exported/gpt.pt2")
    found = {block.name: block for block in page_data(model, PictureOptions())[1]}
    told = json.loads(found["program"].data)
    attention = model.hierarchy.name.index("GPT/GPTBlock[h.0]/SelfAttention[attn]")
    call, inside = told["rows"][str(attention)]
    assert told["lines"][call] == "exported_models.py:191 x = x + self.attn(self.ln_1(x))"
    # Of q, k and v a product, a reshape and a transposition each; the attention; three ops behind it.
    assert [ops for _, ops in inside] == [3, 3, 3, 1, 3]
    assert told["lines"][inside[0][0]].startswith("exported_models.py:164 q = self.q_proj(x)")
    whole = model.hierarchy.name.index("GPT")
    assert told["rows"][str(whole)][0] == -1
    assert "program" not in {
        block.name
        for block in page_data(graphviz_tb.load(GraphDef(node=[NodeDef(name="x", op="NoOp")])), PictureOptions())[1]
    }
