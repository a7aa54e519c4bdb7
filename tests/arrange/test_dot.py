"""The engine `dot_ranks` gives a sound skeleton, and says so when it cannot."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given

import graphviz_tb
from graphviz_tb.api.picture import Picture
from graphviz_tb.arrange.component import Component, Ranks
from graphviz_tb.arrange.dot import _run_dot, dot_ranks
from graphviz_tb.arrange.layered import layered_ranks
from graphviz_tb.arrange.level import ENGINES, ArrangeOptions, arrange
from graphviz_tb.errors import ToolFailed, ToolMissing
from graphviz_tb.limits import MAX_DOT_ITEMS
from graphviz_tb.model.metagraph import Metaedge, Metagraph
from graphviz_tb.proto import GraphDef
from tests.arrange.levels import check, levels
from tests.effort import examples

needs_dot = pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")


@needs_dot
@examples(30)
@given(levels())
def test_every_skeleton_is_sound(level: Metagraph) -> None:
    check(level, arrange(level, ArrangeOptions("dot")))


@needs_dot
def test_past_the_limit_layered_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.arrange.dot._run_dot", lambda text, limit: None)
    level = Metagraph(0, (1, 2), (2, 2), (Metaedge(0, 1, 1, 0, 0),), ())
    found = arrange(level, ArrangeOptions("dot"))
    assert [len(part) for part in found.parts] == [2]
    assert [notice.code for notice in found.notices] == ["engine-limit"]


@pytest.mark.slow
def test_a_level_that_the_program_cannot_lay_out_in_time_is_not_given_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("graphviz_tb.arrange.dot._run_dot", lambda text, limit: asked.append(text))
    count = MAX_DOT_ITEMS // 2
    chain = Component(count, tuple((box, box + 1) for box in range(count - 1)))
    dot_ranks([chain], ArrangeOptions("dot"))
    assert len(asked) == 1
    (laid,) = dot_ranks([chain, Component(2, ((0, 1),))], ArrangeOptions("dot"))[:1]
    assert len(asked) == 1
    assert len(laid.ranks) == count
    assert ["dot would take more than 10 s" in notice.message for notice in laid.notices] == [True]


@needs_dot
def test_a_second_picture_says_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.arrange.dot._run_dot", lambda text, limit: None)
    model = graphviz_tb.load(b'node { name: "a" } node { name: "b" input: "a" }')
    for theme in ("light", "dark"):
        notices = model.picture(engine="dot", theme=theme).notices
        assert [notice.code for notice in notices] == ["engine-limit"]


def test_without_the_program_the_hint_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing) as caught:
        _run_dot("digraph{}", 5)
    assert "install Graphviz" in str(caught.value.hint)


@pytest.mark.slow
def test_of_very_many_levels_the_deeper_ones_are_left_to_layered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def engine(parts: Sequence[Component], options: ArrangeOptions) -> list[Ranks]:
        asked.extend([True] * (not options.quick))
        return layered_ranks(parts, options)

    monkeypatch.setitem(ENGINES, "dot", engine)
    picture = levels_unlike(500)
    assert 200 < len(asked) < 300
    assert {notice.code for notice in picture.notices} == {"quick-levels"}


def test_after_a_level_that_takes_too_long_the_program_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr("graphviz_tb.arrange.dot._run_dot", lambda text, limit: asked.append(limit))
    picture = levels_unlike(9)
    assert asked == [10]  # seconds
    assert {notice.code for notice in picture.notices} == {"engine-limit", "quick-levels"}


def levels_unlike(scopes: int) -> Picture:
    """Everything open in a graph of scopes no two of which are alike: a chain of eleven ops, and shortcuts where the
    number of the scope has a bit."""
    made = GraphDef()
    for scope in range(scopes):
        for at in range(11):
            inputs = [at - 1] * (at > 0) + [at - 2] * (at > 1 and scope >> at - 2 & 1)
            word = "".join(chr(ord("a") + int(digit)) for digit in str(scope))
            made.node.add(name=f"{word}s/x{at}", op=f"Op{at}", input=[f"{word}s/x{one}" for one in inputs])
    return graphviz_tb.load(made, folds=False).picture(engine="dot", open_all=True, max_open=100_000)


@pytest.mark.parametrize("printed", ["", "hello\n\nworld", r"\377"])
def test_another_program_of_that_name_is_told(printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\nprintf '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ToolFailed, match="Graphviz"):
        graphviz_tb.load(b'node { name: "a" } node { name: "b" input: "a" }').picture(engine="dot")
