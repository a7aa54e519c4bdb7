"""Names that look like addresses: each address means one place, and finds it."""

from __future__ import annotations

import json
from collections import defaultdict
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws import levels

from graphviz_tb import Model, diff, load
from graphviz_tb.api.pipeline import Picture
from graphviz_tb.errors import UnknownNode
from graphviz_tb.model.paths import RowPath, child_path, join_address, path_address, scopes_inside_alone, split_address
from graphviz_tb.proto import GraphDef
from tests.effort import examples
from tests.fuzz.families import addressed, graphs


def places(model: Model, deepest: int = 4) -> dict[str, list[RowPath]]:
    """Every place of a model by its address, through calls as far as they are nested `deepest` times."""
    found: dict[str, list[RowPath]] = defaultdict(list)
    found[path_address(model.hierarchy, (0,))].append((0,))
    waiting: list[RowPath] = [(0,)]
    while waiting:
        path = waiting.pop()
        if path == (0,):  # functions of the library, shown by themselves
            waiting += [(row,) for row in model.hierarchy.function_rows]
            for row in model.hierarchy.function_rows:
                found[path_address(model.hierarchy, (row,))].append((row,))
        for row in model.metagraph(path).children:
            child = child_path(model.hierarchy, path, row)
            found[path_address(model.hierarchy, child)].append(child)
            if model.hierarchy.can_open(row) and len(child) < deepest:
                waiting.append(child)
    return found


def without_twins(graph: GraphDef) -> GraphDef:
    """The same without nodes whose name was there before: those share an address by right."""
    seen: set[str] = set()
    kept = [node for node in graph.node if node.name not in seen and not seen.add(node.name)]  # type: ignore[func-returns-value]
    made = GraphDef(library=graph.library)
    made.node.extend(kept)
    return made


def opens_last(picture: Picture, path: RowPath) -> bool:
    """Whether the innermost open box shows what a group contains: it is that group's, or that of the outermost of
    scopes that contain nothing else."""
    model = picture.model
    box = [box for box in picture.scene.boxes if box.open][-1]
    (frame,) = model.names.find_paths(box.address)
    shown = list(levels(picture))[-1][1].metagraph.row
    return shown == path[-1] and box.row == frame[-1] and path in (frame, *scopes_inside_alone(model.hierarchy, frame))


@given(st.integers(0, 10**6), st.sampled_from([graphs.odd_names, graphs.numbered, addressed.named_as_addresses]))
def test_an_address_is_one_place_and_finds_it(seed: int, make: graphs.Maker) -> None:
    model = load(without_twins(make(Random(seed))))
    for where, paths in places(model).items():
        assert len(paths) == 1, where
        assert model.names.find_paths(where) == paths, where


@given(st.lists(st.text("a:/\\", max_size=6), min_size=1))
@example(["\\"]).via("a name of nothing but what guards")
@example(["\\\\"]).via("the same twice")
def test_names_with_colons_are_split_as_they_were_joined(names: list[str]) -> None:
    assert split_address(join_address(names)) == names


NAMES = st.lists(st.text("a:/\\(", min_size=1, max_size=5), min_size=1, max_size=5, unique=True)


@given(NAMES, NAMES, st.text("a:\\", max_size=3))
def test_names_at_the_borders_of_calls(outside: list[str], inside: list[str], function: str) -> None:
    """A call `a` of a function with `:b`, beside a call `a:` of one with `b`."""
    graph = GraphDef(node=[{"name": name, "op": function or "f"} for name in outside])
    body = [{"name": name, "op": "Neg"} for name in inside]
    graph.library.function.add(signature={"name": function or "f"}, node_def=body)
    model = load(graph)
    for where, paths in places(model).items():
        assert len(paths) == 1, where
        assert model.names.find_paths(where) == paths, where


def test_a_function_that_is_called_like_a_node() -> None:
    graph = GraphDef(node=[{"name": name, "op": "Neg"} for name in ("f", "f/x")])
    graph.library.function.add(signature={"name": "f"}, node_def=[{"name": "x", "op": "Neg"}])
    model = load(graph)
    assert set(places(model)) == {"", "f", "f/(f)", "f/x", "::f", "::f::x"}
    with pytest.raises(UnknownNode):
        model.names.find_paths("::g")


def test_a_function_without_a_name_is_not_the_whole_graph() -> None:
    graph = GraphDef(node=[{"name": "a", "op": "Neg"}])
    graph.library.function.add(node_def=[{"name": "x", "op": "Neg"}])
    model = load(graph)
    found = places(model)
    assert set(found) == {"", "a", "::\\", "::\\::x"}
    assert {where: model.names.find_paths(where) for where in found} == found
    assert model.names.find_paths("") == [(0,)]


def test_a_scope_without_a_name_is_not_the_whole_graph() -> None:
    # /a/f ─▶ /a/g ─▶ /h/x; a node called as that scope is, and one called as that node is
    names = ("/a/f", "/a/g", "/h/x", "\\", "\\\\", "\\b")
    nodes = [{"name": name, "op": "Neg", "input": names[max(0, at - 1) : at]} for at, name in enumerate(names)]
    model = load(GraphDef(node=nodes))
    row = {name: row for row, name in enumerate(model.hierarchy.name) if row}
    assert path_address(model.hierarchy, (0,)) == ""
    wanted = {"": 0, "\\": row[""], "\\\\\\": row["\\"], "\\\\": row["\\\\"], "\\" * 4: row["\\\\"], "\\b": row["\\b"]}
    assert {where: model.names.find_paths(where) for where in wanted} == {
        where: [(row,)] for where, row in wanted.items()
    }
    assert {where for where, (path,) in places(model).items() if path[0] in wanted.values()} == {*wanted} - {"\\" * 2}
    # Where nothing is without a name, a backslash is a name as it stands.
    alone = load(GraphDef(node=[{"name": "\\", "op": "Neg"}]))
    assert alone.names.find_paths("\\") == alone.names.find_paths("\\\\\\") == [(1,)]
    with pytest.raises(UnknownNode):
        load(GraphDef(node=[{"name": "a", "op": "Neg"}])).names.find_paths("\\")


@pytest.mark.parametrize("more", [[], ["a/(a)"], ["a/(a)/c"], ["a/(a)", "a/((a))/d"]])
def test_an_op_in_the_scope_of_its_name_beside_what_is_called_so(more: list[str]) -> None:
    found = places(load(GraphDef(node=[{"name": name, "op": "Neg"} for name in ("a", "a/b", *more)])))
    assert all(len(paths) == 1 for paths in found.values())
    assert {"a", "a/b", *more} <= set(found)


@examples(25)
@given(st.integers(0, 10**6))
@example(136863)  # an op with the name of a scope that is called twice
@example(42413)  # scopes that hold nothing but one another
def test_an_address_opens_that_place_and_what_is_around_it(seed: int) -> None:
    graph = without_twins(addressed.named_as_addresses(Random(seed)))
    model = load(graph)
    groups = [(where, path) for where, (path,) in places(model).items() if where and model.hierarchy.can_open(path[-1])]
    for where, path in groups[:: len(groups) // 4 + 1]:
        assert opens_last(model.picture(open=(where,), depth=0, all_members=True), path), where


@examples(25)
@given(st.integers(0, 10**6), st.sampled_from([graphs.odd_names, graphs.numbered, addressed.named_as_addresses]))
@example(618025, addressed.named_as_addresses)  # a node of the main graph that is called like an address in a function
def test_the_addresses_of_the_json_are_found_and_open_that_group(seed: int, make: graphs.Maker) -> None:
    """A diff with itself finds the graph the same."""
    graph = without_twins(make(Random(seed)))
    model = load(graph)
    nodes = [node.get("address", node["name"]) for node in json.loads(model.render("json"))["nodes"]]
    found = {name: model.names.find_paths(name) for name in nodes}
    assert found == {name: [(row,)] for row, name in enumerate(nodes)}
    main = int(model.hierarchy.end[0])
    assert [model.names.find_main_row(name) for name in nodes] == [
        row if 0 < row < main else -1 for row in range(len(nodes))
    ]
    del found[""]
    groups = [(name, path) for name, (path,) in found.items() if model.hierarchy.can_open(path[-1])]
    for name, path in groups[:3]:
        assert opens_last(model.picture(open=(name,), depth=0, all_members=True), path), name
    assert diff(graph, graph).same


def test_a_name_that_reads_like_the_address_of_another_place_leaves_it_that_place() -> None:
    graph = GraphDef(node=[{"name": name, "op": "Relu"} for name in ("x::y", "x::::y", "f::x", "f::::x", "f::z")])
    graph.node.add(name="f", op="F")
    graph.library.function.add(signature={"name": "F"}, node_def=[{"name": "x", "op": "Neg"}])
    model = load(graph)
    found = places(model)
    assert {"x::::y", "x::::::::y", "f::::x", "f::::::::x", "f::::z", "f", "f::x"} <= set(found)
    assert {where: model.names.find_paths(where) for where in found} == found
    # What is no address is a name as it stands.
    (named,) = model.names.find_paths("f::z")
    assert model.names.find_paths("f::::z") == [named]


def test_what_stays_or_goes_is_read_as_what_is_opened() -> None:
    # x::y ─▶ x::::y ─▶ x::z ─▶ c ─▶ the same two with numbers; c calls f, which holds x
    names = ["x::y", "x::::y", "x::z", "c", *(f"{stem}_{at}" for stem in ("x::y", "x::::y") for at in (1, 2))]
    nodes = [{"name": name, "op": "Relu", "input": names[max(0, at - 1) : at]} for at, name in enumerate(names)]
    graph = GraphDef(node=[node | {"op": "f"} if node["name"] == "c" else node for node in nodes])
    graph.library.function.add(signature={"name": "f"}, node_def=[{"name": "x", "op": "Neg"}])
    for asked, meant in (("x::::y", "x::y"), ("x::::::::y", "x::::y"), ("x::z", "x::z"), ("x::::z", "x::z")):
        model = load(graph, aux=(asked,))
        level = model.metagraph()
        assert [model.hierarchy.name[level.children[child]] for child in level.mask.extracted_children] == [meant], (
            asked
        )
        assert [model.hierarchy.name[row] for ((row,),) in [model.names.find_paths(asked)]] == [meant], asked
    for asked, named in (("x::::y_[1-2]", "x::y"), ("x::::::::y_[1-2]", "x::::y"), ("x::y_[1-2]", "x::y")):
        hierarchy = load(graph, group=(asked,)).hierarchy
        stack = hierarchy.name.index(f"{named}_[1-2]")
        assert [hierarchy.name[row] for row in hierarchy.children(stack)] == [f"{named}_1", f"{named}_2"]
    series = GraphDef(node=[{"name": f"x::y_{at}", "op": "Relu"} for at in range(5)])
    assert "x::y_[0-4]" in load(series).hierarchy.name
    for asked in ("x::::y_[0-4]", "x::y_[0-4]", "x::::y_2", "x::y_2"):
        assert "x::y_[0-4]" not in load(series, ungroup=(asked,)).hierarchy.name, asked
    for nowhere in ("", "c::x", "f::x", "f"):  # nothing inside a function
        with pytest.raises(UnknownNode):
            load(graph, main=(nowhere,))
