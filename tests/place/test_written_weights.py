"""A line in the colour of references leads from what writes weights to the box that owns them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.arrange.rank_neighbours import gather_training, join_labels, join_written_weights
from graphviz_tb.model.metagraph import IMPLIED_LINE, WRITTEN_WEIGHTS, Metaedge, Metagraph, bundle_of_tensors
from graphviz_tb.model.skeleton import BOTH_ENDS_TRAIN, TARGET_TRAINS, Skeleton, Wire, first_tie
from graphviz_tb.model.tensors import Tensor

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def test_a_layer_owns_the_weights_that_an_optimizer_writes() -> None:
    model = graphviz_tb.load(REAL / "cifar10_shapes.pb")
    level, names = model.metagraph((0,)), model.hierarchy.name
    written = {names[level.children[edge.source]]: edge.reference for edge in level.edges if edge.writes}
    assert written == dict.fromkeys(["conv1", "conv2", "local3", "local4", "softmax_linear"], 2)
    assert {names[level.children[edge.target]] for edge in level.edges if edge.writes} == {"updates"}


def test_weights_passed_to_a_call_are_written_by_it() -> None:
    level = graphviz_tb.load(REAL / "keras2_mnist.pb").metagraph((0,))
    assert [edge.reference for edge in level.edges if edge.writes] == [4]


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
@pytest.mark.parametrize("depth", [0, "auto"])
def test_the_line_is_straight_and_ends_at_the_owner(direction: str, depth: str | int) -> None:
    scene = graphviz_tb.load(REAL / "keras2_mnist.pb").picture(direction=direction, depth=depth).scene
    (line,) = (route for route in scene.routes if route.kind == "reference")
    assert [scene.boxes[end].address for end in (line.source, line.target)] == ["sequential", "Adam"]
    assert line.arrow
    assert not line.back
    assert len({point[1 if direction in ("BT", "TB") else 0] for point in line.points}) == 1
    assert "4 weights written" in line.title
    assert "4 weights" in [text.content for text in scene.texts]


def test_the_label_stands_clear_of_the_rule() -> None:
    scene = graphviz_tb.load(REAL / "keras2_mnist.pb").picture().scene
    (label,) = (text for text in scene.texts if text.content == "4 weights")
    (rule,) = (rule for rule in scene.rules if rule.x1 == rule.x2)
    assert label.x + label.width // 2 <= rule.x1 or label.x - label.width // 2 >= rule.x1


def test_who_writes_weights_of_many_says_so_in_its_tooltip() -> None:
    scene = graphviz_tb.load(REAL / "gan_scopes.pb").picture(depth=0).scene
    (updates,) = (box for box in scene.boxes if box.address == "updates")
    assert "writes 16 weights of generator, discriminator" in updates.title
    assert not [route for route in scene.routes if route.kind == "reference"]


def test_a_file_of_the_graph_holds_no_edge_for_them() -> None:
    model = graphviz_tb.load(REAL / "keras2_mnist.pb")
    written = [edge for edge in model.metagraph((0,)).edges if edge.writes]
    children = model.metagraph((0,)).children
    text = model.render("json").decode()
    assert written
    assert not any(
        f'"from":{children[edge.source]},"to":{children[edge.target]},"tensors":0' in text for edge in written
    )


# model 0 ─▶ loss 1 ─▶ gradients 2 ─▶ updates 3, which write weights of 0
EDGES = (
    Metaedge(0, 1, 1, 0, 0),
    Metaedge(1, 2, 1, 0, 0, training=TARGET_TRAINS),
    Metaedge(2, 3, 1, 0, 0, training=BOTH_ENDS_TRAIN),
    Metaedge(0, 3, 0, 0, 5, training=TARGET_TRAINS | IMPLIED_LINE | WRITTEN_WEIGHTS),
)


def _laid(edges: tuple[Metaedge, ...], rows: tuple[tuple[int, ...], ...], passing: bool = False) -> Skeleton:
    wires = [Wire(0, -1, (0, 1)), Wire(1, -1, (1, 2)), Wire(2, -1, (2, 3), True)]
    wires += [Wire(4, -1, (4, 5, 1))] if passing else []
    children = 5 if passing else 4
    level = Metagraph(0, tuple(range(1, children + 1)), (4,) * children, edges, (), training=(2, 3))
    return join_written_weights(level, Skeleton(children, (), tuple(wires), (3,) * passing, (rows,), ((0,),)))


def test_what_writes_moves_to_the_rank_of_the_owner() -> None:
    skeleton = _laid(EDGES, ((0,), (1, 3), (2,)))
    assert skeleton.parts == (((0, 3), (1, 4), (2,)),)
    assert [wire.chain for wire in skeleton.wires] == [(0, 1), (1, 2), (2, 4, 3), (0, 3)]
    assert first_tie(skeleton) == 3
    for wire in skeleton.wires[:3]:
        ranks = [next(r for r, row in enumerate(skeleton.parts[0]) if item in row) for item in wire.chain]
        assert {abs(a - b) for a, b in pairwise(ranks)} == {1}


def test_nothing_moves_past_the_line_of_another_box_or_for_few_of_the_weights() -> None:
    other = (*EDGES, Metaedge(4, 1, 1, 0, 0))
    rows = ((4,), (0, 5), (1, 3), (2,))
    assert _laid(other, rows, passing=True).parts == (rows,)
    shared = (*EDGES, Metaedge(1, 3, 0, 0, 4, training=TARGET_TRAINS | IMPLIED_LINE | WRITTEN_WEIGHTS))
    assert _laid(shared, ((0,), (1, 3), (2,))).parts == (((0,), (1, 3), (2,)),)


def _with_labels(labels: Tensor, *more: Metaedge) -> Skeleton:
    """The model 0, its loss 1 and gradients 2, and labels 3 that go to the loss."""
    edges = (
        Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor((8,), "float32"))),
        Metaedge(1, 2, 1, 0, 0, training=TARGET_TRAINS),
        Metaedge(3, 1, 1, 0, 0, bundle_of_tensors(labels)),
        *more,
    )
    wires = tuple(Wire(number, -1, (edge.source, edge.target)) for number, edge in enumerate(edges))
    rows = ((3, 0), (1,), (2,))
    skeleton = Skeleton(4, (), wires, (), (rows,), ((0,),), main_path=(0,))
    return join_labels(Metagraph(0, (1, 2, 3, 4), (4,) * 4, edges, (), training=(2,)), skeleton)


def test_labels_stand_beside_their_loss() -> None:
    assert _with_labels(Tensor((8,), "int32")).parts == (((0,), (3, 1), (2,)),)


def test_data_and_what_feeds_others_too_stand_before_the_loss() -> None:
    before = (((3, 0), (1,), (2,)),)
    assert _with_labels(Tensor((8,), "float32")).parts == before
    assert _with_labels(Tensor((8,), "int32"), Metaedge(3, 2, 1, 0, 0)).parts == before


def test_labels_and_gradients_are_beside_the_model() -> None:
    """A line to the labels' loss is level, and lines to gradients leave their boxes at the right."""
    scene = graphviz_tb.load(REAL / "keras2_mnist.pb").picture().scene
    training = [box for box in scene.boxes if box.x > next(rule.x1 for rule in scene.rules if rule.x1 == rule.x2)]
    lines = [route for route in scene.routes if route.kind == "data" and scene.boxes[route.target] in training]
    sources = [scene.boxes[route.source] for route in lines if scene.boxes[route.source] not in training]
    assert sources
    for route, source in zip(lines, sources, strict=False):
        assert route.points[0][0] == source.x + source.width
        assert route.points[0][1] == route.points[1][1]


def test_bookkeeping_stands_in_the_column_of_the_rest_of_a_training() -> None:
    # 0 ─▶ 1 ─▶ gradients 2 in the second column, bookkeeping 3 below the first
    wires = (Wire(0, -1, (0, 1)), Wire(1, -1, (1, 2)))
    skeleton = Skeleton(4, (), wires, (), (((0, 3), (1,), (2,)),), ((0,),), breaks=((1,),))
    level = Metagraph(0, (1, 2, 3, 4), (4,) * 4, EDGES[:2], (), training=(2, 3))
    assert gather_training(level, skeleton).parts == (((0,), (1, 3), (2,)),)
    unbroken = Skeleton(4, (), wires, (), skeleton.parts, ((0,),))
    assert gather_training(level, unbroken) == unbroken
