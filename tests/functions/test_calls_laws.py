"""Laws of calls: with any calls open every op shows once in each place, and no edge is lost or made."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.expand.bridges import EdgeIndex, open_group_crossings
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.model.paths import RowPath, child_path, parent_path, path_address
from graphviz_tb.open.groups import opens_without_recursion
from graphviz_tb.proto import GraphDef
from tests.effort import examples
from tests.functions.strategies import Instances, graphs

MOST = 60


def every_group(model: Model, most: int = MOST) -> list[RowPath]:
    """Groups and calls in all places, nearest first, no function inside itself."""
    found: list[RowPath] = [(0,)]
    for path in found:
        for row in model.metagraph(path).children:
            child = child_path(model.hierarchy, path, row)
            if model.hierarchy.can_open(row) and opens_without_recursion(model.hierarchy, child) and len(found) < most:
                found.append(child)
    return found


def contexts(model: Model, groups: list[RowPath]) -> list[tuple[RowPath, int]]:
    """The bodies that are shown in some place: `(calls around, row of the function)`."""
    found: dict[tuple[RowPath, int], None] = {((), 0): None}
    for path in groups:
        for _, body in model.hierarchy.calls.get(path[-1], ()):
            found[path, body] = None
    return list(found)


@given(graphs())
@examples(60)
def test_bridges_are_the_edges_that_cross(graph: GraphDef) -> None:
    model = load(graph)
    groups = every_group(model)
    instances = Instances(model.hierarchy, contexts(model, groups))
    files = EdgeIndex(model.hierarchy)
    for path in groups[1:]:
        found = open_group_crossings(model.hierarchy, files, path)
        counted = Counter(zip(found.edge.tolist(), found.inner.tolist(), found.inbound.tolist(), strict=True))
        assert counted == instances.crossing(path), path_address(model.hierarchy, path)
        level = model.metagraph(path)
        assert sum(bridge.tensors + bridge.control for bridge in level.bridges) == len(found.edge)
        ends = dict(zip(level.children, (model.hierarchy.end[row] for row in level.children), strict=True))
        inner = Counter(next(row for row in ends if row <= one < ends[row]) for one in found.inner.tolist())
        drawn: Counter[int] = Counter()
        for bridge in level.bridges:
            drawn[level.children[bridge.child]] += bridge.tensors + bridge.control
        assert drawn == inner


@given(graphs())
@examples(60)
def test_levels_hold_the_edges_of_their_body(graph: GraphDef) -> None:
    model = load(graph)
    for path in every_group(model):
        level = model.metagraph(path)
        bodies = model.hierarchy.calls.get(path[-1], ((None, path[-1]),))
        if len(bodies) > 1:
            assert not level.edges
            continue
        shown = sum(edge.tensors + edge.control for edge in level.edges) + sum(count for _, count in level.loops)
        assert shown == len(model.hierarchy.owned_edges(bodies[0][1]))


@given(graphs())
@examples(40)
def test_every_op_shows_once_in_each_place(graph: GraphDef) -> None:
    model = load(graph)
    hierarchy = model.hierarchy
    groups = every_group(model)
    opened = set(groups[::2]) | {(0,)}
    opened = {path for path in opened if around_are_open(model, path, opened)}
    shown: Counter[RowPath] = Counter()
    for path in opened:
        for row in model.metagraph(path).children:
            child = child_path(hierarchy, path, row)
            if child not in opened:
                below = range(row, int(hierarchy.end[row]))
                shown.update((*child[:-1], one) for one in below if hierarchy.kind[one] == RowKind.OP)
    open_bodies = {(path, body) for path in opened for _, body in hierarchy.calls.get(path[-1], ())} | {((), 0)}
    expected = Counter(
        (*calls, row)
        for calls, body in open_bodies
        for row in range(body, int(hierarchy.end[body]))
        if hierarchy.kind[row] == RowKind.OP and (*calls, row) not in opened
    )
    library = set(range(hierarchy.function_rows[0], len(hierarchy)))
    assert {path: count for path, count in shown.items() if not (len(path) == 1 and path[0] in library)} == expected


def around_are_open(model: Model, path: RowPath, opened: set[RowPath]) -> bool:
    """Whether every group around `path` is open."""
    around = parent_path(model.hierarchy, path)
    while around is not None:
        if around not in opened:
            return False
        around = parent_path(model.hierarchy, around)
    return True


@given(graphs(recursive=True))
@examples(60)
def test_recursion_is_legal_and_lazy(graph: GraphDef) -> None:
    model = load(graph)
    for path in every_group(model, 25):
        level = model.metagraph(path)
        assert all(model.hierarchy.parent[row] >= -1 for row in level.children)
    picture = model.picture(open_all=True, max_open=60)
    assert picture.render("svg").startswith(b"<svg")


@given(graphs(recursive=True))
@examples(60)
def test_an_address_leads_back(graph: GraphDef) -> None:
    model = load(graph)
    for path in every_group(model, 25)[1:]:
        assert path in model.names.find_paths(path_address(model.hierarchy, path))


@given(graphs())
@examples(40)
def test_counts_through_calls_are_those_of_the_places(graph: GraphDef) -> None:
    """Counted by walking every place: an op counts 1, a call what is in its functions."""
    model = load(graph)
    hierarchy, ops = model.hierarchy, OpCounter(model.hierarchy)

    def walk(row: int) -> int:
        return sum(
            sum(walk(body) for body in {body for _, body in hierarchy.calls[one]}) if one in hierarchy.calls else 1
            for one in range(row, int(hierarchy.end[row]))
            if hierarchy.kind[one] == RowKind.OP and not hierarchy.mark[one]
        )

    for row in range(len(hierarchy)):
        if hierarchy.kind[row] != RowKind.OP or row in hierarchy.calls:
            assert ops(row) == walk(row), hierarchy.name[row]
