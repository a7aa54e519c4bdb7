"""Groups without a name of their own that are called the same are told apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from graphviz_tb import load
from graphviz_tb.words.view import _sibling_numbers
from tests.open.test_nameless import chain

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def test_equal_members_of_a_series_have_numbers() -> None:
    # ten times Conv2D ─▶ Relu, whose ops have no names
    model = load(chain(10))
    series = next(row for row, text in model.hierarchy.labels.items() if text == "Conv2D · Relu")
    scene = model.picture(depth=0, open=(model.hierarchy.name[series],), all_members=True).scene
    labels = [text.content for text in scene.texts if text.role in ("label", "title")]
    assert {"Conv2D · Relu #1", "Conv2D · Relu #2"} <= set(labels)


def test_no_two_of_a_level_are_called_the_same_by_us() -> None:
    for name in ("gan_scopes.pb", "keras2_functional.pb", "lstm_static_unrolled.pb"):
        hierarchy = load(REAL / name).hierarchy
        for parent in [row for row in range(len(hierarchy)) if hierarchy.can_open(row)]:
            rows = [row for row in hierarchy.children(parent).tolist() if row in hierarchy.labels]
            numbers = _sibling_numbers(hierarchy, parent)
            labels = Counter(hierarchy.display_label(row) + numbers.get(row, "") for row in rows)
            assert not [label for label, count in labels.items() if count > 1], hierarchy.name[parent]
