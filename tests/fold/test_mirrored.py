"""Stacks that are the legs of a U are shown member by member, with and without names."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.commands.tree import _tree_lines
from graphviz_tb.fold.series import mirrored_series
from graphviz_tb.model.hierarchy import SERIES_ROW
from tests.fold.networks import network


@pytest.mark.parametrize("form", ["flat", "nameless"])
def test_the_stages_of_a_unet_are_no_stack(form: str) -> None:
    graph, counts = network(0, form, "unet")
    hierarchy = load(graph).hierarchy
    assert len(hierarchy.legs) >= 2 * (counts[0] - 1)
    assert not mirrored_series(hierarchy)
    stacked = [row for row in hierarchy.children(0).tolist() if hierarchy.kind[row] == SERIES_ROW]
    assert all(int(hierarchy.parent[row]) not in stacked for row in hierarchy.legs)


@pytest.mark.parametrize("form", ["flat", "nameless"])
def test_json_and_tree_count_the_stages_of_a_unet(form: str) -> None:
    graph, counts = network(0, form, "unet")
    model = load(graph)
    stacks = [row["id"] for row in model.to_json()["nodes"] if row["kind"] == "series"]
    heights = Counter(row["parent"] for row in model.to_json()["nodes"] if row["parent"] in stacks)
    assert [*heights.values()].count(counts[0]) == 2
    assert f"×{counts[0]}" in "\n".join(_tree_lines(model.with_all_stacks, None, None, False, False))
    assert load(network(0, "scopes", "encoder_decoder")[0]).hierarchy.stacked is None


def test_json_of_a_unet_infers_shapes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    first = TensorDecoder.__init__

    def counting(decoder: TensorDecoder, *given: Any) -> None:
        made.append(decoder)
        first(decoder, *given)

    monkeypatch.setattr(TensorDecoder, "__init__", counting)
    model = load(network(0, "flat", "unet")[0])
    model.picture()
    assert model.cost
    assert model.with_all_stacks is not model
    assert model.to_json()["nodes"][0]["cost"]
    assert len(made) == 1


def test_layers_of_a_transformer_stay_a_stack() -> None:
    graph, _ = network(0, "scopes", "encoder_decoder")
    hierarchy = load(graph).hierarchy
    assert not hierarchy.legs
    assert (hierarchy.kind == SERIES_ROW).any()
