"""The laws of pictures, for arbitrary graphs and for every real one."""

from __future__ import annotations

from pathlib import Path

from graphs import foldings, graph_defs, openable, wide_levels
from hypothesis import given
from hypothesis import strategies as st
from laws import narrow, obeys, well_formed

import graphviz_tb
from graphviz_tb.model.paths import path_address
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.effort import part

REAL = sorted((Path(__file__).parents[2] / "fixtures/real").iterdir())
directions = st.sampled_from(["BT", "TB", "LR", "RL"])


@given(graph_defs(), foldings)
def test_the_hierarchy_is_well_formed(graph: GraphDef, folding: dict) -> None:
    model = graphviz_tb.load(graph, **folding)
    well_formed(model.hierarchy)


@given(wide_levels(), st.sampled_from([30, 40]))
def test_no_level_is_too_wide(graph: GraphDef, most: int) -> None:
    model = graphviz_tb.load(graph, max_children=most)
    well_formed(model.hierarchy)
    narrow(model.hierarchy, most)


@given(graph_defs(), foldings, directions, st.data())
def test_every_picture_obeys_the_laws(graph: GraphDef, folding: dict, direction: str, data: st.DataObject) -> None:
    model = graphviz_tb.load(graph, **folding)
    groups = openable(model)
    chosen = data.draw(st.lists(st.sampled_from(groups), unique=True, max_size=5)) if groups else []
    names = tuple(path_address(model.hierarchy, path) for path in chosen)
    obeys(model.picture(open=names, direction=direction))
    obeys(model.picture(open_all=True, max_open=200, direction=direction))


@each("path", part(REAL, 20), ids=lambda path: path.name)
@each("preset", ["default", "tensorboard"])
def test_real_graphs_obey_them(path: Path, preset: str) -> None:
    model = graphviz_tb.load(path, preset=preset)
    well_formed(model.hierarchy)
    if preset == "default":
        narrow(model.hierarchy, 40)
    for choices in ({"depth": 0}, {"depth": 1}, {"open_all": True, "max_open": 1500}):
        obeys(model.picture(**choices))
