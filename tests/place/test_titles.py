"""The name of an open group stands at the upper left of its frame, whatever crosses the bar."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.model.view import NodeLabel
from graphviz_tb.place.titles import CLEAR, LEFT, RIGHT, title

names = st.text("abcdefg_0123456789", min_size=1, max_size=60)


@given(names, st.sampled_from(["", "12 ops", "12 345 ops"]), st.lists(st.integers(1, 600)), st.integers(20, 700))
def test_the_name_is_first_and_nothing_touches(name: str, second: str, crossing: list[int], wide: int) -> None:
    made = title(NodeLabel(1, name, "scope", name, name), second, crossing, wide)
    assert made.texts[0].x == LEFT
    ends = [(text.x, text.x + text.width) for text in made.texts]
    for x in crossing:
        assert all(stop + CLEAR <= x + made.shift or x + made.shift + CLEAR <= start for start, stop in ends)
    assert ends == sorted(ends)
    assert max(stop for _, stop in ends) + RIGHT <= made.width
    assert made.width >= wide + made.shift


def test_the_content_moves_no_further_than_the_name_needs() -> None:
    node_label = NodeLabel(1, "encoder", "scope", "encoder", "encoder")
    assert title(node_label, "12 ops", [300], 400).shift == 0
    made = title(node_label, "12 ops", [40], 400)
    assert 40 + made.shift == LEFT + made.texts[0].width + CLEAR
    assert [text.role for text in made.texts] == ["title", "count"]
    assert made.texts[1].x == 40 + made.shift + CLEAR
