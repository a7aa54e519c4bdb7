"""Certificates of small graphs: equal exactly for graphs that are one but for the order of their nodes."""

from __future__ import annotations

from random import Random

import networkx as nx
import pytest
from networkx.algorithms.isomorphism import categorical_edge_match, categorical_node_match

from graphviz_tb.group.canonical import canonical

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
    found, complete = canonical(graph[0], sorted(graph[1]))
    assert complete
    return found


def of_networkx(graph: Graph) -> nx.DiGraph:
    """The graph of another library."""
    made = nx.DiGraph()
    made.add_nodes_from((node, {"color": color}) for node, color in enumerate(graph[0]))
    made.add_edges_from((source, target, {"flag": flag}) for source, target, flag in graph[1])
    return made


@pytest.mark.parametrize("seed", range(20))
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


@pytest.mark.parametrize(("rounds", "complete"), [(1, False), (2, True)])
def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch, rounds: int, complete: bool) -> None:
    # a ring of seven: one is singled out, and that tells all others apart
    monkeypatch.setattr("graphviz_tb.group.canonical.MAX_INDIVIDUALISATIONS", rounds)
    assert canonical([1] * 7, [(node, (node + 1) % 7, 1) for node in range(7)])[1] is complete
