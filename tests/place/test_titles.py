"""The name of an open group stands at the upper left of its frame, whatever crosses the bar."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.model.view import NodeLabel
from graphviz_tb.place.boxes import TITLE_CLEARANCE, TITLE_LEFT, TITLE_RIGHT, lay_out_title

names = st.text("abcdefg_0123456789", min_size=1, max_size=60)


@given(names, st.sampled_from(["", "12 ops", "12 345 ops"]), st.lists(st.integers(1, 600)), st.integers(20, 700))
def test_the_name_is_first_and_nothing_touches(name: str, second: str, crossing: list[int], wide: int) -> None:
    made = lay_out_title(NodeLabel(1, name, "scope", name, name), second, crossing, wide)
    assert made.texts[0].x == TITLE_LEFT
    ends = [(text.x, text.x + text.width) for text in made.texts]
    for x in crossing:
        assert all(
            stop + TITLE_CLEARANCE <= x + made.shift or x + made.shift + TITLE_CLEARANCE <= start
            for start, stop in ends
        )
    assert ends == sorted(ends)
    assert max(stop for _, stop in ends) + TITLE_RIGHT <= made.width
    assert made.width >= wide + made.shift


def test_the_content_moves_no_further_than_the_name_needs() -> None:
    node_label = NodeLabel(1, "encoder", "scope", "encoder", "encoder")
    assert lay_out_title(node_label, "12 ops", [300], 400).shift == 0
    made = lay_out_title(node_label, "12 ops", [40], 400)
    assert 40 + made.shift == TITLE_LEFT + made.texts[0].width + TITLE_CLEARANCE
    assert [text.role for text in made.texts] == ["title", "count"]
    assert made.texts[1].x == 40 + made.shift + TITLE_CLEARANCE
