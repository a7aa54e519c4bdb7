"""Lines to what trains a model are drawn where they say something."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.expand.training_lines import BOOKKEEPING, TRAINS, mark_training_lines
from graphviz_tb.model.metagraph import IMPLIED_LINE, Metaedge

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def _implied(edges: list[Metaedge], roles: list[int], layers: set[int]) -> list[tuple[int, int]]:
    marked = mark_training_lines(edges, roles, [child in layers for child in range(len(roles))])
    return [(edge.source, edge.target) for edge in marked if edge.training & IMPLIED_LINE]


def test_single_ops_hand_on_their_results_without_a_line_but_the_last_one_and_groups_have_theirs() -> None:
    # op 0 ─▶ group 1 ─▶ loss 2, all ─▶ gradients 3 ─▶ updates 4
    edges = [Metaedge(a, b, 1, 0, 0) for a, b in [(0, 1), (1, 2), (0, 3), (1, 3), (2, 3), (3, 4)]]
    assert _implied(edges, [0, 0, 0, TRAINS, TRAINS], {1}) == [(0, 3)]


def test_two_losses_have_a_line_each() -> None:
    edges = [Metaedge(a, b, 1, 0, 0) for a, b in [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]]
    assert _implied(edges, [0, 0, 0, TRAINS], set()) == [(0, 3)]


def test_bookkeeping_has_no_line_at_all() -> None:
    edges = [Metaedge(a, b, 1, 0, 0) for a, b in [(0, 1), (0, 2), (1, 2), (2, 1)]]
    assert _implied(edges, [0, TRAINS, BOOKKEEPING], {0, 1, 2}) == [(0, 2), (1, 2), (2, 1)]


def test_updates_wait_for_a_model_without_a_line_unless_nothing_else_joins_them() -> None:
    data, control = Metaedge(0, 1, 1, 0, 0), Metaedge(0, 2, 0, 1, 0)
    assert _implied([data, Metaedge(1, 2, 1, 0, 0), control], [0, TRAINS, TRAINS], {0}) == [(0, 2)]
    assert _implied([data, control], [0, TRAINS, TRAINS], {0}) == []


def test_a_group_without_weights_hands_on_its_results_without_a_line() -> None:
    level = graphviz_tb.load(REAL / "mnist_cnn.pbtxt").metagraph((0,))
    names = graphviz_tb.load(REAL / "mnist_cnn.pbtxt").hierarchy.name
    drawn = {
        names[level.children[edge.source]] for edge in level.edges if edge.training and not edge.training & IMPLIED_LINE
    }
    assert {"fc1", "fc2", "cross_entropy"} < drawn
    assert drawn.isdisjoint({"dropout", "input"})


def test_a_loop_of_the_model_ends() -> None:
    edges = [Metaedge(a, b, 1, 0, 0) for a, b in [(0, 1), (1, 0), (0, 2), (1, 2)]]
    assert _implied(edges, [0, 0, TRAINS], {0, 1}) == []


@pytest.mark.parametrize("name", ["keras2_mnist.pb", "gan_scopes.pb", "saver_meta.pb"])
def test_lines_that_go_without_saying_are_neither_lines_nor_stubs(name: str) -> None:
    model = graphviz_tb.load(REAL / name)
    level = model.metagraph((0,))
    implied = [index for index, edge in enumerate(level.edges) if edge.training & IMPLIED_LINE]
    assert implied
    assert level.mask.stubbed.issuperset(implied)
    assert not any(stub.kind == "shortcut" and not stub.training for stub in level.annotations)
    scene = model.picture(depth=0).scene
    assert not any(stub.kind == "shortcut" for stub in scene.stubs)


def test_the_preset_of_tensorboard_draws_all_lines() -> None:
    level = graphviz_tb.load(REAL / "saver_meta.pb", preset="tensorboard").metagraph((0,))
    assert not level.training
    assert not any(edge.training for edge in level.edges)


def test_what_is_left_out_is_in_the_facts_of_a_box() -> None:
    model = graphviz_tb.load(REAL / "keras2_mnist.pb")
    assert model["bookkeeping"].inputs
