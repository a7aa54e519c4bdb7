"""Certificates of small graphs: equal exactly for graphs that are one but for the order of their nodes."""

from __future__ import annotations

from random import Random

import networkx as nx
import pytest
from networkx.algorithms.isomorphism import categorical_edge_match, categorical_node_match

from graphviz_tb.graphs.canonical import canonical_certificate
from tests.each import each

Edges = set[tuple[int, int, int]]
Graph = tuple[list[int], Edges]


def drawn(luck: Random) -> Graph:
    """A graph of few colours: random edges; or rings of one or several colours, which only a search tells apart."""
    count = luck.randrange(1, 9)
    colors = [luck.choice((1, 1, 1, 5)) for _ in range(count)]
    if luck.random() < 0.4:
        around, each = luck.randrange(2, 5), luck.randrange(2, 4)
        lines = {
            (color * each + node, (color + 1) % around * each + other, 1)
            for color in range(around)
            for node, other in enumerate(luck.sample(range(each), each))
        }
        return [color for color in range(around) for _ in range(each)], lines
    if luck.random() < 0.4:
        turned = luck.sample(range(count), count)
        return [1] * count, {(node, turned[node], 1) for node in range(count)}
    pairs = {(luck.randrange(count), luck.randrange(count)) for _ in range(luck.randrange(2 * count))}
    return colors, {(*pair, luck.choice((1, 1, 2, 3))) for pair in pairs}


def shuffled(graph: Graph, luck: Random) -> Graph:
    """The same graph, its nodes in another order."""
    colors, edges = graph
    order = luck.sample(range(len(colors)), len(colors))
    place = {node: at for at, node in enumerate(order)}
    return [colors[node] for node in order], {(place[source], place[target], flag) for source, target, flag in edges}


def certificate(graph: Graph) -> bytes:
    """That of a graph which the search gets to the end of."""
    found, complete = canonical_certificate(graph[0], sorted(graph[1]))
    assert complete
    return found


def of_networkx(graph: Graph) -> nx.DiGraph:
    """The graph of another library."""
    made = nx.DiGraph()
    made.add_nodes_from((node, {"color": color}) for node, color in enumerate(graph[0]))
    made.add_edges_from((source, target, {"flag": flag}) for source, target, flag in graph[1])
    return made


@each("seed", range(20))
def test_certificates_are_equal_exactly_where_another_library_finds_the_graphs_equal(seed: int) -> None:
    luck = Random(seed)
    graphs = [drawn(luck) for _ in range(12)]
    graphs += [shuffled(graph, luck) for graph in graphs]
    known = [certificate(graph) for graph in graphs]
    assert known[:12] == known[12:]
    same = {"node_match": categorical_node_match("color", 0), "edge_match": categorical_edge_match("flag", 0)}
    for one in range(12):
        for two in range(one):
            equal = nx.is_isomorphic(of_networkx(graphs[one]), of_networkx(graphs[two]), **same)
            assert (known[one] == known[two]) is equal


@pytest.mark.parametrize(("refinements", "complete"), [(1, False), (8, False), (9, True)])
def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch, refinements: int, complete: bool) -> None:
    # a ring of seven: each is singled out to see what that gives, then one, and that tells all others apart
    assert 1 + 7 + 1 == 9
    monkeypatch.setattr("graphviz_tb.graphs.canonical.MAX_REFINEMENTS", refinements)
    assert canonical_certificate([1] * 7, [(node, (node + 1) % 7, 1) for node in range(7)])[1] is complete


def pairs(*ends: tuple[int, int]) -> Edges:
    """Edges in both directions."""
    return {(*pair, 1) for one, other in ends for pair in ((one, other), (other, one))}


SEEN_ALIKE = {
    "rings of two and of three, whose nodes all lead to both of two others": (
        [3] * 5 + [7] * 2,
        pairs((0, 1)) | {(2, 3, 1), (3, 4, 1), (4, 2, 1)} | {(node, end, 1) for node in range(5) for end in (5, 6)},
    ),
    "a pair, and a row of four, whose nodes all lead to both of another pair": (
        [2, 2, 0, 0, 1, 1, 1, 1],
        pairs((0, 1), (2, 3), (4, 5), (5, 6), (6, 7)) | {(node, end, 1) for node in range(2, 8) for end in (0, 1)},
    ),
}


@pytest.mark.parametrize("graph", SEEN_ALIKE.values(), ids=SEEN_ALIKE)
def test_the_order_of_nodes_that_see_the_same_does_not_matter(graph: Graph) -> None:
    luck = Random(7)
    assert {certificate(shuffled(graph, luck)) for _ in range(20)} == {certificate(graph)}
