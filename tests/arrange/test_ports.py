"""The ports of a frame: one for each neighbour, up to eight on a side, then one for all the rest."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.proto import GraphDef


def fed_by(count: int) -> tuple[Model, Skeleton]:
    """g/x has so many inputs from outside; the last two bring two tensors each."""
    sources = [{"name": f"s{chr(97 + number)}", "op": f"S{number}"} for number in range(count)]
    names = [source["name"] for source in sources]
    inside = [
        {"name": "g/x", "op": "AddN", "input": names},
        {"name": "g/y", "op": "Relu", "input": ["g/x", f"{names[-1]}:1", f"{names[-2]}:1"]},
    ]
    model = graphviz_tb.load(GraphDef(node=[*sources, *inside]), folds=False)
    (path,) = model.names.find_paths("g")
    return model, model.skeleton(path)


@pytest.mark.parametrize(("neighbours", "ports"), [(2, [1] * 2), (8, [1] * 8), (9, [1] * 8 + [1]), (10, [1] * 8 + [2])])
def test_past_eight_neighbours_the_rest_share_a_port(neighbours: int, ports: list[int]) -> None:
    _, skeleton = fed_by(neighbours)
    assert [len(port.others) for port in skeleton.ports] == ports


def test_neighbours_with_most_edges_have_a_port_of_their_own() -> None:
    model, skeleton = fed_by(12)
    name = model.hierarchy.name
    own = {name[port.others[0][0]] for port in skeleton.ports if len(port.others) == 1}
    assert {"sk", "sl"} <= own
    assert len(own) == 8


# x ─▶ [a ─▶ b] ─┬─▶ c ─▶ sum
#                 └────────▲
RESIDUAL = {"x": "", "g/a": "x", "g/b": "g/a", "c": "g/b", "sum": "c g/b"}


def test_neighbours_that_take_the_same_tensor_share_a_port_and_the_line_parts_behind_it() -> None:
    nodes = [{"name": name, "op": f"Op{name[-1]}", "input": inputs.split()} for name, inputs in RESIDUAL.items()]
    model = graphviz_tb.load(GraphDef(node=nodes), folds=False)
    (path,) = model.names.find_paths("g")
    skeleton = model.skeleton(path)
    assert [len(port.others) for port in skeleton.ports] == [1, 2]
    scene = model.picture(open=("g",), depth=0).scene
    leaving = [route for route in scene.routes if scene.boxes[route.source].open]
    assert len(leaving) == 2
    assert len({route.points[0] for route in leaving}) == len({route.source_port for route in leaving}) == 1
    assert [route.main for route in leaving if route.parting is not None] == [False]


def test_neighbours_that_take_different_tensors_have_a_port_each() -> None:
    nodes = [
        {"name": "g/a", "op": "Split", "input": []},
        {"name": "b", "op": "B", "input": ["g/a"]},
        {"name": "c", "op": "C", "input": ["g/a:1"]},
    ]
    model = graphviz_tb.load(GraphDef(node=nodes), folds=False)
    (path,) = model.names.find_paths("g")
    assert [len(port.others) for port in model.skeleton(path).ports] == [1, 1]
