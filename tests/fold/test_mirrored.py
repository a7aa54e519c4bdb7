"""Stacks that are the legs of a U are shown member by member, with and without names."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.fold.mirrored import mirrored_series
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


def test_layers_of_a_transformer_stay_a_stack() -> None:
    graph, _ = network(0, "scopes", "encoder_decoder")
    hierarchy = load(graph).hierarchy
    assert not hierarchy.legs
    assert (hierarchy.kind == SERIES_ROW).any()
