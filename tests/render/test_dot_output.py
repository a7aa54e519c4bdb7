"""DOT that Graphviz takes, with the nodes and edges of the picture."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pydot
import pytest

import graphviz_tb
from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_DOT_DEPTH, MAX_DOT_TEXT_LETTERS
from graphviz_tb.render.dot import _dot_string

REAL = Path(__file__).parents[2] / "fixtures" / "real"


@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "odd_names.pbtxt", "func_library_nested.pb", "while_v1.pb"])
def test_graphviz_takes_it(name: str, require: Callable[..., None]) -> None:
    require("dot")
    model = graphviz_tb.load(REAL / name)
    for choices in ({"depth": 0}, {"depth": 1, "direction": "LR", "theme": "dark"}):
        data = model.picture(**choices).render("dot")
        done = subprocess.run(["dot", "-Tsvg"], input=data, capture_output=True, check=True, timeout=600)
        assert not done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the parser that pydot uses
def test_clusters_points_and_edges_are_those_of_the_scene() -> None:
    picture = graphviz_tb.load(REAL / "mnist_cnn.pbtxt").picture(open=("conv1", "conv2"))
    (graph,) = pydot.graph_from_dot_data(picture.render("dot").decode())
    clusters = graph.get_subgraphs()
    for cluster in clusters:  # it grows as it is walked: clusters in clusters
        clusters += cluster.get_subgraphs()
    assert len(clusters) == sum(box.open for box in picture.scene.boxes) >= 2
    assert len(graph.get_edges()) >= len(picture.scene.routes)
    named = {node.get_name() for part in (graph, *clusters) for node in part.get_nodes()}
    for edge in graph.get_edges():
        assert {edge.get_source(), edge.get_destination()} <= named


def test_graphviz_takes_it_as_its_own(require: Callable[..., None]) -> None:
    require("dot")
    picture = graphviz_tb.load(REAL / "mnist_cnn.pbtxt").picture()
    assert picture.to_graphviz().pipe("svg").count(b"<svg") == 1


def test_groups_open_too_deep_for_dot_are_refused() -> None:
    """Scopes in scopes: as many as are allowed are written, more are an error that says so."""

    def written(levels: int) -> bytes:
        # each scope holds an op as well: scopes that hold nothing but one another are one frame
        names = ("/".join(["s"] * depth) for depth in range(1, levels + 1))
        return (
            graphviz_tb.load("".join(f'node {{ name: "{name}/a" op: "X" }} ' for name in names).encode())
            .picture(open_all=True, max_open=5000)
            .render("dot")
        )

    assert written(MAX_DOT_DEPTH).count(b"subgraph") == MAX_DOT_DEPTH
    with pytest.raises(RequestError, match="1,000 groups are open one within another"):
        written(1000)


def test_a_text_that_graphviz_would_refuse_is_cut() -> None:
    assert MAX_DOT_TEXT_LETTERS == 1500
    assert _dot_string("x" * MAX_DOT_TEXT_LETTERS) == f'"{"x" * MAX_DOT_TEXT_LETTERS}"'
    assert len(_dot_string("x" * (MAX_DOT_TEXT_LETTERS + 1))) == MAX_DOT_TEXT_LETTERS + 2
