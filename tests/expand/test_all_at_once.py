"""The lines of all groups, found in one pass, are those that each group finds for itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from graphviz_tb import load
from graphviz_tb.expand import Expander
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.pipeline import Model
from graphviz_tb.proto import GraphDef
from tests.effort import examples
from tests.properties.graphs import graph_defs, openable


def told(level: Metagraph) -> list[Any]:
    """A level with its flat edges and tensors, which do not count when metagraphs are compared."""
    lines = [*level.edges, *level.bridges]
    edges = [None if line.edges is None else line.edges.tolist() for line in lines]
    return [level, edges, [line.carried.outputs for line in lines]]


def one_by_one_and_all(model: Model, paths: list[tuple[int, ...]]) -> tuple[list[Any], list[Any]]:
    """Every level in both ways."""
    single = Expander(model.hierarchy, model.facts, model.options.expand)
    whole = Expander(model.hierarchy, model.facts, model.options.expand)
    whole.expect_all()
    return [told(single.metagraph(path)) for path in paths], [told(whole.metagraph(path)) for path in paths]


@examples(60)
@given(graph_defs(most=30))
@pytest.mark.parametrize("preset", ["default", "tensorboard"])
def test_all_groups_at_once_are_the_same(preset: str, graph: GraphDef) -> None:
    model = load(graph, preset=preset, series_min=2)
    rows = [row for row in range(len(model.hierarchy)) if model.hierarchy.opens(row)]
    paths = [*((row,) for row in rows), *openable(model)]
    single, whole = one_by_one_and_all(model, paths)
    assert single == whole
