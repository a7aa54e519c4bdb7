"""Labels of lines: every line of the main path has its own beside it."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphviz_tb
from graphviz_tb.model.paths import stack_around
from graphviz_tb.model.scene import Point
from graphviz_tb.place.frames import list_open_groups
from graphviz_tb.place.labels import LABEL_CELL_PX, LineLabel, cells_of_run, place_labels
from graphviz_tb.place.picture import lead_main_path
from tests.effort import part
from tests.place.geometry import run_touches_rect
from tests.timing import within

REAL = Path(__file__).parents[2] / "fixtures" / "real"
NAMES = ["mnist_cnn.pbtxt", "gan_scopes.pb", "saver_meta.pb", "xor.pbtxt", "transformer_block_v2.pb"]


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_the_main_path_has_its_label_near_it(name: str) -> None:
    scene = graphviz_tb.load(REAL / name).picture(depth=0).scene
    said = {text.full: text for text in scene.texts if text.role == "edge"}
    shaped = [route for route in scene.routes if route.main and "×" in route.title]
    assert shaped
    for route in shaped:
        text = said[route.title]
        aside = min(abs(text.x - x) for x, _ in route.points)
        assert aside - text.width // 2 <= 12 + route.thickness // 20, route.title


@pytest.mark.parametrize("direction", ["BT", "LR"])
def test_a_plain_chain_has_all_its_labels(direction: str) -> None:
    text = ""
    for at in range(4):
        shape = (
            'attr{key:"_output_shapes" value{list{shape{dim{size:8} dim{size:16}}}}} attr{key:"T" value{type:DT_FLOAT}}'
        )
        text += f'node{{name:"n{at}" op:"Op{at}" ' + (f'input:"n{at - 1}" ' if at else "") + shape + "}"
    scene = graphviz_tb.load(text.encode(), folds=False).picture(direction=direction).scene
    assert [one.content for one in scene.texts if one.role == "edge"] == ["8×16"] * 3
    assert all(one.y >= one.size - 2 for one in scene.texts)


@pytest.mark.parametrize(("direction", "most"), [("BT", 0), ("LR", 1)])
def test_every_line_of_a_main_path_has_its_label_in_a_first_picture(direction: str, most: int) -> None:
    paths = sorted(path for path in REAL.iterdir() if path.suffix in (".pb", ".pbtxt"))
    # Where the flow runs aside a long line may pass between two others that leave no room for words.
    assert len([one for path in part(paths, 3) for one in silent(graphviz_tb.load(path), direction)]) <= most


def silent(model: graphviz_tb.Model, direction: str) -> list[str]:
    """Lines of main paths without their label, unless the level outside says the same of them, or what they are for all
    members of a stack that shows one."""
    picture = model.picture(direction=direction)
    said = Counter(text.full for text in picture.scene.texts if text.role == "edge")
    found = []
    for group in lead_main_path(list_open_groups(picture.view)):
        view = group.view
        for wire in view.drawn_lines():
            words, bridge = view.words.lines[wire], view.skeleton.wires[wire].bridge
            if wire not in view.skeleton.main_path or not words.label:
                continue
            if bridge >= 0:
                one = view.metagraph.bridges[bridge]
                outside = group.outside.get((one.other, one.inbound))
                if outside == words.label or (outside and stack_around(model.hierarchy, view.path)):
                    continue
            said[words.title] -= 1
            if said[words.title] < 0:
                found.append(words.title)
    return found


def test_names_are_cut_where_they_agree() -> None:
    texts = shown_names([f"encoderOfTheWholeNetworkLayer_{at}_attention_output_projection" for at in (1, 2, 12)])
    assert texts == ["encoderOfTheWhol…1…jection", "encoderOfTheWhol…2…jection", "encoderOfTheWh…12…ection"]


def test_names_that_differ_at_their_end_show_it() -> None:
    texts = shown_names([f"a_name_that_is_much_longer_than_its_box/{end}_gradient_of_all" for end in ("left", "right")])
    assert [text.endswith(end) for text, end in zip(texts, ("left", "right"), strict=True)]


def shown_names(names: list[str]) -> list[str]:
    """What ops of one level are called on their boxes."""
    text = "".join(f'node{{name:"{name}" op:"Op{at}"}}' for at, name in enumerate(names))
    scene = graphviz_tb.load(text.encode(), folds=False).picture().scene
    return [one.content for one in scene.texts if one.role == "label"]


def test_a_label_stays_clear_of_a_thick_line() -> None:
    thin, thick = [(50, 0), (50, 60)], [(84, 0), (84, 60)]
    found = [
        place_labels({0: thin, 1: thick}, {0: LineLabel((24, 12))}, [], (0, 0, 99, 60), None, {1: at})
        for at in (10, 60)
    ]
    assert found == [{0: (67, 30)}, {0: (33, 30)}]


@pytest.mark.slow
@pytest.mark.parametrize("count", [3_000, 10_000])
def test_thousands_of_long_lines_leave_no_time_for_labels(count: int) -> None:
    """Every line passes the places of every label: the work is bounded, what was placed stays, the rest is left out."""
    lines = {wire: [(0, wire % 50), (20_000, 40 + wire % 50)] for wire in range(count)}
    labels = {wire: LineLabel((40, 12)) for wire in lines}
    start = time.process_time()
    assert len(place_labels(lines, labels, [], (0, -100, 20_000, 200))) < 1000
    assert within(time.process_time() - start, 20)  # minutes, without a bound


COORDINATE = st.integers(-400, 400)


@given(st.tuples(COORDINATE, COORDINATE), st.tuples(COORDINATE, COORDINATE), st.fractions(0, 1))
def test_a_run_passes_all_its_squares_and_no_others(start: Point, stop: Point, part: Fraction) -> None:
    run = (start, stop)
    squares = cells_of_run(run)
    x, y = (start[axis] + (stop[axis] - start[axis]) * part for axis in (0, 1))
    assert (x // LABEL_CELL_PX, y // LABEL_CELL_PX) in squares
    assert all(
        run_touches_rect(run, (c * LABEL_CELL_PX, r * LABEL_CELL_PX, (c + 1) * LABEL_CELL_PX, (r + 1) * LABEL_CELL_PX))
        for c, r in squares
    )
    assert len(set(squares)) == len(squares)


def test_the_squares_of_a_long_line_aslant_grow_with_its_length() -> None:
    assert len(cells_of_run(((0, 0), (64_000, 64_000)))) < 4_000  # its rectangle touches a million
