"""How long a page or a picture may take to find the order of its levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from graphviz_tb import load
from graphviz_tb.arrange import picture as laying
from graphviz_tb.arrange.component import Component, Ranks
from graphviz_tb.arrange.layered import layered_ranks
from graphviz_tb.arrange.level import ENGINES, ArrangeOptions, SkeletonCache, arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.build import page_data
from graphviz_tb.proto import GraphDef
from tests.arrange.test_few_crossings import crossings, random_level
from tests.timing import seconds

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
    head, _ = page_data(load(graph, folds=False), PictureOptions())
    return [text for text in head["notices"] if "quickly" in text]


def test_a_page_says_when_levels_are_ordered_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tangles(like=False)) == []
    monkeypatch.setattr(laying, "MAX_TRIED_BENDS", 0)
    levels = SCOPES - 1  # the whole has no bend, nor has what comes before the first scope
    assert said(tangles(like=False))[0].startswith(f"{levels} deeper levels are ordered quickly")


def test_a_level_like_one_before_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "MAX_TRIED_BENDS", 0)
    assert said(tangles(like=True)) == []


def test_what_other_pictures_found_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    level = next(one for one in map(random_level, range(24)) if unlike(one))
    known = SkeletonCache()
    better = arrange(level, ArrangeOptions(), known=known)
    assert laying.LevelArranger(ArrangeOptions(), known)(level) == better
    assert known.made == 1
    monkeypatch.setattr(laying, "MAX_TRIED_BENDS", -1)
    lay = laying.LevelArranger(ArrangeOptions(), known)
    quick = lay(level)
    assert quick == arrange(level, ArrangeOptions(quick=True)) != better
    assert lay(level) == quick
    assert lay.distinct_level_count == 1
    assert len(lay.notices()) == 1


def unlike(level: Metagraph) -> bool:
    """Whether the quick order of a level is a worse one."""
    first, second = (crossings(arrange(level, ArrangeOptions(quick=quick))) for quick in (False, True))
    return first < second


def test_a_picture_says_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "MAX_TRIED_BENDS", 0)
    picture = load(tangles(like=False), folds=False).picture(open_all=True)
    assert [notice.code for notice in picture.notices] == ["quick-levels"]


def test_levels_past_all_that_lines_may_pass_are_in_plain_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "MAX_PASSED_RANKS", 0)
    level = next(one for one in map(random_level, range(24)) if unlike(one))
    lay = laying.LevelArranger(ArrangeOptions(), SkeletonCache())
    first, second = lay(level), lay(level)  # what is drawn counts, found before or not
    assert not first.plain
    assert second.plain
    assert [notice.code for notice in lay.notices()] == ["plain-levels"]
    assert lay.notices()[0].message.startswith("1 deeper level is drawn in plain rows")


@pytest.mark.slow
def test_calls_of_a_dense_function_end() -> None:
    """Each of 80 calls draws 1,770 lines past 34,000 ranks, of a function of 17 kB: 80 s."""
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = "f"
    for at in range(60):
        function.node_def.add(name=f"n{at}", op=f"Op{at % 7}", input=[f"n{other}:o:0" for other in range(at)])
    for call in range(80):
        graph.node.add(name=f"c{call}", op="PartitionedCall").attr["f"].func.name = "f"
    picture = load(graph, folds=False).picture(open_all=True)
    with seconds(15):
        picture.render("svg")
    assert any("plain rows" in notice.message for notice in picture.notices)


def test_levels_after_one_that_took_too_long_are_ordered_quickly_whatever_the_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = Notice("engine-limit", "dot took too long", strict=False)
    quick: list[bool] = []

    def engine(parts: Sequence[Component], options: ArrangeOptions) -> list[Ranks]:
        quick.append(options.quick)
        return [replace(each, notices=(late,) if len(quick) == 2 else ()) for each in layered_ranks(parts, options)]

    monkeypatch.setitem(ENGINES, "slow", engine)
    lay = laying.LevelArranger(ArrangeOptions(engine="slow"), SkeletonCache())
    for level in list(map(random_level, range(5))):
        lay(level)
    assert quick == [False, False, True, True, True]
    assert [notice.message.split()[0] for notice in lay.notices() if notice.code == "quick-levels"] == ["3"]
