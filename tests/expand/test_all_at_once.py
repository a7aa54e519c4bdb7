"""The lines of all groups, found in one pass, are those that each group finds for itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.expand import Expander
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.proto import GraphDef
from tests.effort import examples
from tests.properties.graphs import graph_defs, openable

FIXTURES = Path(__file__).parents[2] / "fixtures"


def told(level: Metagraph) -> list[Any]:
    """A level with its flat edges and tensors, which do not count when metagraphs are compared."""
    lines = [*level.edges, *level.bridges]
    edges = [None if line.flat_edges is None else line.flat_edges.tolist() for line in lines]
    return [level, edges, [line.carried_tensors.outputs for line in lines]]


def one_by_one_and_all(model: Model, paths: list[tuple[int, ...]]) -> tuple[list[Any], list[Any]]:
    """Every level in both ways."""
    single = Expander(model.hierarchy, model.facts, model.options.expand)
    whole = Expander(model.hierarchy, model.facts, model.options.expand)
    whole.bundle_all_levels()
    return [told(single.metagraph(path)) for path in paths], [told(whole.metagraph(path)) for path in paths]


@examples(60)
@given(graph_defs(most=30))
@pytest.mark.parametrize("preset", ["default", "tensorboard"])
def test_all_groups_at_once_are_the_same(preset: str, graph: GraphDef) -> None:
    model = load(graph, preset=preset, series_min=2)
    rows = [row for row in range(len(model.hierarchy)) if model.hierarchy.can_open(row)]
    paths = [*((row,) for row in rows), *openable(model)]
    single, whole = one_by_one_and_all(model, paths)
    assert single == whole


def renamed(level: Metagraph, row: int, names: dict[int, int]) -> list[Any]:
    """A level with other rows, and the tensors of its lines."""
    return [
        row,
        [names[child] for child in level.children],
        *(level.units, level.edges, level.mask, level.automatic, level.functions, level.loops),
        [replace(bridge, other=names[bridge.other]) for bridge in level.bridges],
        [replace(note, other=names[note.other]) for note in level.annotations],
        [list(edge.carried_tensors) for edge in level.edges],
    ]


def differing(model: Model) -> tuple[list[int], int]:
    """The groups whose level is not what the first of its form says, and how many levels have a form of another."""
    single = Expander(model.hierarchy, model.facts, model.options.expand)
    whole = Expander(model.hierarchy, model.facts, model.options.expand)
    whole.bundle_all_levels()
    wrong, copied = [], 0
    for row in range(len(model.hierarchy)):
        formed = whole.level_form(row)
        if formed is None:
            continue
        form, rows = formed
        copied += form.first != row
        first, own = single.metagraph((form.first,)), single.metagraph((row,))
        names = dict(zip(form.rows, rows, strict=True))
        if renamed(first, row, names) != renamed(own, row, dict(zip(rows, rows, strict=True))):
            wrong.append(row)
    return wrong, copied


@examples(60)
@given(graph_defs(most=30))
def test_levels_of_one_form_differ_in_their_rows_alone(graph: GraphDef) -> None:
    assert differing(load(graph, series_min=2))[0] == []


@pytest.mark.parametrize("name", ["real/while_v1.pb", "real/lstm_static_unrolled.pb", "shapes/DenseNet121.pb.gz"])
def test_most_levels_of_a_real_graph_are_like_another(name: str) -> None:
    model = load(FIXTURES / name)
    wrong, copied = differing(model)
    assert wrong == []
    assert copied > 0


def test_what_levels_depend_on_is_in_their_form() -> None:
    text = (
        'node { name: "a/x" op: "Relu" } node { name: "a/y" op: "Relu" input: "a/x" }'
        'node { name: "b/x" op: "Relu" } node { name: "b/y" op: "Relu" input: "b/x" }'
        'node { name: "c/x" op: "Relu" } node { name: "c/y" op: "NoOp" input: "^c/x" }'
        'node { name: "d/x" op: "Relu" } node { name: "d/y" op: "Relu" input: "d/x" input: "d/x" }'
    )
    model = load(text.encode(), folds=False)
    model.expander.bundle_all_levels()
    rows = [row for row in range(len(model.hierarchy)) if model.hierarchy.name[row] in "abcd" and row]
    firsts = [formed[0].first for row in rows if (formed := model.expander.level_form(row)) is not None]
    assert firsts == [rows[0], rows[0], rows[2], rows[3]]
