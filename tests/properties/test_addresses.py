"""Names that look like addresses: each address means one place, and finds it."""

from __future__ import annotations

import json
from collections import defaultdict
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from graphviz_tb import Model, diff, load
from graphviz_tb.model.paths import Path, address, child_path
from graphviz_tb.proto import GraphDef
from graphviz_tb.view.select import split_address
from tests.fuzz.families import graphs


def places(model: Model, deepest: int = 4) -> dict[str, list[Path]]:
    """Every place of a model by its address, through calls as far as they are nested `deepest` times."""
    found: dict[str, list[Path]] = defaultdict(list)
    waiting: list[Path] = [(0,)]
    while waiting:
        path = waiting.pop()
        for row in model.metagraph(path).children:
            child = child_path(model.hierarchy, path, row)
            found[address(model.hierarchy, child)].append(child)
            if model.hierarchy.opens(row) and len(child) < deepest:
                waiting.append(child)
    return found


def without_twins(graph: GraphDef) -> GraphDef:
    """The same without nodes whose name was there before: those share an address by right."""
    seen: set[str] = set()
    kept = [node for node in graph.node if node.name not in seen and not seen.add(node.name)]  # type: ignore[func-returns-value]
    made = GraphDef(library=graph.library)
    made.node.extend(kept)
    return made


@given(st.integers(0, 10**6), st.sampled_from([graphs.odd_names, graphs.numbered]))
def test_an_address_is_one_place_and_finds_it(seed: int, make: graphs.Maker) -> None:
    model = load(without_twins(make(Random(seed))))
    for where, paths in places(model).items():
        assert len(paths) == 1, where
        assert model.names.find(where) == paths, where


@given(
    st.lists(
        st.text("a:/", min_size=1, max_size=6).filter(lambda text: not text.startswith(":") and not text.endswith(":")),
        min_size=1,
    )
)
def test_names_with_colons_are_split_as_they_were_joined(names: list[str]) -> None:
    assert split_address("::".join(name.replace("::", "::::") for name in names)) == names


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([graphs.odd_names, graphs.numbered]))
def test_the_names_of_the_json_are_found_and_open_that_group(seed: int, make: graphs.Maker) -> None:
    """A diff with itself finds the graph the same."""
    graph = without_twins(make(Random(seed)))
    model = load(graph)
    nodes = [node["name"] for node in json.loads(model.render("json"))["nodes"] if node["name"]]
    found = {name: model.names.find(name) for name in nodes}
    assert [name for name, paths in found.items() if len(paths) != 1] == []
    groups = [(name, path[-1]) for name, (path,) in found.items() if model.hierarchy.opens(path[-1])]
    for name, row in groups[:3]:
        boxes = model.picture(open=(name,), depth=0).scene.boxes
        assert [box.row for box in boxes if box.open][-1] == row, name
    assert diff(graph, graph).same


def test_a_name_that_reads_like_the_address_of_another_place_leaves_it_that_place() -> None:
    graph = GraphDef(node=[{"name": name, "op": "Relu"} for name in ("x::y", "x::::y", "f::x", "f::::x", "f::z")])
    graph.node.add(name="f", op="F")
    graph.library.function.add(signature={"name": "F"}, node_def=[{"name": "x", "op": "Neg"}])
    model = load(graph)
    found = places(model)
    assert {"x::::y", "x::::::::y", "f::::x", "f::::::::x", "f::::z", "f", "f::x"} <= set(found)
    assert {where: model.names.find(where) for where in found} == found
    # What is no address is a name as it stands.
    (named,) = model.names.find("f::z")
    assert model.names.find("f::::z") == [named]
