"""How long a page may take to find the order of its levels."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from graphviz_tb import load
from graphviz_tb.arrange import Around, Arrangements, ArrangeOptions, arrange
from graphviz_tb.options import PictureOptions
from graphviz_tb.page import laying
from graphviz_tb.page.build import data
from graphviz_tb.proto import GraphDef
from tests.arrange.test_few_crossings import crossings, random_level

SCOPES = 3


def tangles(like: bool) -> GraphDef:
    """Scopes in a row, each with lines to and fro, the same ones or not."""
    graph = GraphDef()
    for scope in range(SCOPES):
        draw = Random(0 if like else scope)
        for at in range(12):
            inputs = {f"s{scope}/n{draw.randrange(at)}" for _ in range(2)} if at else set()
            graph.node.add(name=f"s{scope}/n{at}", op=f"Op{at}", input=sorted(inputs))
    return graph


def said(graph: GraphDef) -> list[str]:
    """What a page says of quick levels."""
    head, _ = data(load(graph, folds=False), PictureOptions())
    return [text for text in head["notices"] if "quickly" in text]


def test_a_page_says_when_levels_are_ordered_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tangles(like=False)) == []
    monkeypatch.setattr(laying, "BENDS", 0)
    levels = SCOPES - 1  # the whole has no bend, nor has what comes before the first scope
    assert said(tangles(like=False))[0].startswith(f"{levels} deeper levels of the page are ordered quickly")


def test_a_level_like_one_before_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "BENDS", 0)
    assert said(tangles(like=True)) == []


def test_a_better_order_that_is_known_serves_where_a_quick_one_was_asked_for() -> None:
    known, quick = Arrangements(), ArrangeOptions(quick=True)
    level = next(one for one in map(random_level, range(24)) if unlike(one))
    better = arrange(level, replace(quick, quick=False), Around(), known)
    assert arrange(level, quick, Around(), known) == better
    assert known.made == 1
    assert known.bends == len(better.waypoint)


def unlike(level: object) -> bool:
    """Whether the quick order of a level is a worse one."""
    first, second = (crossings(arrange(level, ArrangeOptions(quick=quick))) for quick in (False, True))  # type: ignore[arg-type]
    return first < second
