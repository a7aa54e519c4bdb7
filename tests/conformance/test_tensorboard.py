"""Under its preset we fold as TensorBoard does: equality with what its own code computed, aspect by aspect."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from facts import LIBRARY, Facts, load, of_document

import graphviz_tb
from graphviz_tb.model.graph import Mark
from tests.each import each
from tests.effort import part

EXPECTED = Path(__file__).parent / "expected"
REAL = Path(__file__).parents[2] / "fixtures/real"
GRAPHS = sorted(path.name.partition(".")[0] for path in EXPECTED.glob("*.json.gz"))


@cache
def model(name: str) -> graphviz_tb.Model:
    return graphviz_tb.load(next(REAL.glob(f"{name}.pb*")), preset="tensorboard")


@cache
def ours(name: str) -> Facts:
    return of_document(model(name).to_json())


@cache
def theirs(name: str) -> Facts:
    return load(EXPECTED / f"{name}.json.gz")


def differences(found: Any, wanted: Any) -> Any:
    """Where two dictionaries or lists differ: `(found, wanted)`."""
    if isinstance(found, dict):
        keys = [key for key in sorted({*found, *wanted}) if found.get(key) != wanted.get(key)]
        return {key: (found.get(key), wanted.get(key)) for key in keys}
    return [one for one in found if one not in wanted], [one for one in wanted if one not in found]


def test_every_graph_that_tensorboard_takes_is_here() -> None:
    real = {path.name.partition(".")[0] for path in REAL.iterdir()}
    assert real - set(GRAPHS) == {"odd_names"}  # TensorBoard: "Failed Building the data structure"


@each("name", GRAPHS)
@each("aspect", part(["nodes", "histograms", "cardinality", "edges", "extracts"], 2))
def test_equal(name: str, aspect: str) -> None:
    found, wanted = ours(name)[aspect], theirs(name)[aspect]
    assert found == wanted, differences(found, wanted)


@each("name", GRAPHS)
def test_annotations_are_equal(name: str) -> None:
    """All names, and the kinds of the five that TensorBoard shows."""
    wanted = {tuple(note[:3]): note[3] for note in theirs(name)["annotations"]}
    found = {tuple(note[:3]): note[3] for note in ours(name)["annotations"]}
    assert len(found) == len(ours(name)["annotations"])  # none is said twice
    seen = {note: found[note] if kind and note in found else kind for note, kind in wanted.items()}
    assert found.keys() == wanted.keys()
    assert seen == wanted


@each("name", GRAPHS)
def test_extracts_are_equal_with_hubs_left_where_they_are(name: str) -> None:
    path = next(REAL.glob(f"{name}.pb*"))
    document = graphviz_tb.load(path, preset="tensorboard", auto_extract=False).to_json()
    assert of_document(document)["extracts"] == theirs(name)["extracts without hubs"]


@each("name", GRAPHS)
def test_flat_ops_and_edges_are_equal(name: str) -> None:
    hierarchy = model(name).hierarchy
    graph = hierarchy.graph

    def called(node: int) -> str:
        at = int(graph.function[node])
        body = f"{LIBRARY}{graph.functions[at].name}/" if at >= 0 else ""
        return body + hierarchy.name[hierarchy.row_of_node[node]]

    ops = (graph.kept & (graph.mark == Mark.NONE)).sum()
    edges = [
        [called(source), called(target), graph.keys[key], control]
        for source, target, key, control in zip(
            *(column.tolist() for column in (graph.source, graph.target, graph.key, graph.control)), strict=True
        )
    ]
    assert ops == theirs(name)["flat ops"]
    assert sorted(edges) == theirs(name)["flat edges"]
