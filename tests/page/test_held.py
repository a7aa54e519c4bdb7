"""What a page has room for."""

from __future__ import annotations

import json

import pytest

from graphviz_tb import load
from graphviz_tb.arrange import plain_rows
from graphviz_tb.options import PictureOptions
from graphviz_tb.page import levels as held
from graphviz_tb.page.build import page_data
from graphviz_tb.proto import GraphDef


def chains(count: int) -> GraphDef:
    """Scopes `s0`, `s1`, … in a row, each of three unlike ops."""
    graph = GraphDef()
    for number in range(count):
        before = f"s{number - 1}/c" if number else ""
        graph.node.add(name=f"s{number}/a", op=f"Op{number}", input=[before] if before else [])
        graph.node.add(name=f"s{number}/b", op="Exp", input=[f"s{number}/a"])
        graph.node.add(name=f"s{number}/c", op="Neg", input=[f"s{number}/b"])
    return graph


def levels(graph: GraphDef, **choices: float) -> tuple[list[str], int]:
    """The keys of the levels of a page, and how many groups were left out."""
    model = load(graph, folds=False)
    head, blocks = page_data(model, PictureOptions(**choices))  # type: ignore[arg-type]
    index = next(block for block in blocks if block.name == "levels")
    return sorted(json.loads(index.data)), head["left"]


def test_a_page_has_every_level_that_it_has_room_for() -> None:
    keys, left = levels(chains(20))
    assert (len(keys), left) == (21, 0)


def test_lines_and_boxes_are_counted_beside_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "ITEMS_PER_MEGABYTE", 7.6)  # for 25 megabytes: 190 lines and boxes
    keys, left = levels(chains(20))
    # The graph itself has 20 boxes and 19 lines, the first and the second scope three boxes and three or four lines;
    # each of the three levels counts as four more, and all of it three times: 129, 30 and 33. The third scope is drawn
    # like the second.
    assert (len(keys), left) == (3, 18)


def test_levels_drawn_alike_count_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "ITEMS_PER_MEGABYTE", 25)
    alike, unlike = chains(20), chains(20)
    for number in range(20):
        for graph, count in ((alike, 10), (unlike, number)):
            for more in range(count):
                graph.node.add(name=f"s{number}/more{more}", op="Neg")
    assert levels(alike)[1] < levels(unlike)[1]


def test_a_level_in_plain_rows_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = chains(20)
    for number in range(20):
        graph.node.add(name=f"x{number}", op=f"Op{number}", input=["init"])
    graph.node.add(name="init", op="NoOp")
    usual = levels(graph)[0]
    monkeypatch.setattr(plain_rows, "MAX_LEVEL_ITEMS", 10)
    assert "0+" in usual
    assert "0" in (plain := levels(graph)[0])
    assert "0+" not in plain


def test_a_larger_page_has_more_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "ITEMS_PER_MEGABYTE", 8)
    assert levels(chains(20), page_max=50.0)[1] < levels(chains(20))[1]


def test_the_first_picture_is_there_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "ITEMS_PER_MEGABYTE", 0)
    assert levels(chains(20))[0] == ["0"]
