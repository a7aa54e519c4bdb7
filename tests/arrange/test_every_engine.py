"""What holds for every engine of the table: a sound order of any level, the same each time, and lawful pictures."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given

import graphviz_tb
from graphviz_tb.arrange.level import ENGINES, ArrangeOptions, arrange
from graphviz_tb.model.metagraph import Metagraph
from tests.arrange.levels import check, levels
from tests.each import each
from tests.effort import examples
from tests.properties.laws import obeys

RULES = Path(__file__).parents[2] / "fixtures" / "rules"
INSTALLED = [
    pytest.param(engine, marks=pytest.mark.skipif(engine == "dot" and not shutil.which("dot"), reason="no Graphviz"))
    for engine in ENGINES
]


@pytest.mark.parametrize("engine", INSTALLED)
@examples(20)
@given(levels())
def test_every_skeleton_is_sound_and_the_same_each_time(engine: str, level: Metagraph) -> None:
    skeleton = arrange(level, ArrangeOptions(engine))
    check(level, skeleton)
    assert arrange(level, ArrangeOptions(engine)) == skeleton


@examples(20)
@given(levels())
def test_a_quick_order_is_sound_and_the_same_each_time(level: Metagraph) -> None:
    skeleton = arrange(level, ArrangeOptions(quick=True))
    check(level, skeleton)
    assert arrange(level, ArrangeOptions(quick=True)) == skeleton


@pytest.mark.parametrize("engine", INSTALLED)
@each("name", ["bridges", "edge_kinds", "scope_cycle", "separate_parts"])
def test_every_picture_obeys_the_laws(engine: str, name: str) -> None:
    obeys(graphviz_tb.load(RULES / f"{name}.pbtxt").picture(engine=engine, open_all=True))
