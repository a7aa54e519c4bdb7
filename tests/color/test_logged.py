"""Colouring by what a run logged: which layers, since when; in pictures, pages and on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.chart.measures import MEASURES, tag_values
from graphviz_tb.color.logged import LoggedColouring, logged_colouring
from graphviz_tb.commands import cli
from graphviz_tb.errors import MissingFacts, RequestError, UnknownChoice, UnknownNode
from graphviz_tb.logs.log import open_log
from graphviz_tb.model.joins import JoinRule, TagJoin
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.build import page_data
from tests.each import each
from tests.event_files import event, field, scalar, write
from tests.logs.bad_training import STEPS, graph, write_log

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(write_log(tmp_path_factory.mktemp("bad")))


def coloured(model: Model, theme: str = "light", **choices: object) -> LoggedColouring:
    facts = model.facts_for_picture(PictureOptions(color_by="logged", **choices))  # type: ignore[arg-type]
    return logged_colouring(model.hierarchy, THEMES[theme], facts)


def said(model: Model, name: str, **choices: object) -> str | None:
    return coloured(model, **choices).second_line((model.hierarchy.name.index(name),))


def test_the_picture_says_which_layers_and_since_when(bad: Model) -> None:
    assert said(bad, "head", at=250) == "≈\N{THIN SPACE}0.1"
    assert said(bad, "head", at=450) == "2 of 2 NaN since step 300"
    assert said(bad, "head/dense_1", at=450) == "NaN since step 300"
    assert said(bad, "wide", at=150) == "≈\N{THIN SPACE}0.02"
    assert said(bad, "wide/dense_3", at=450) == "exploded since step 200"
    assert said(bad, "dead", at=450) == "3 of 3 zero since step 100"
    assert said(bad, "encoder", at=450) == "5e-13 to 0.05 · 1 of 12 vanished"
    assert said(bad, "encoder/dense_1", at=0) == "vanished since step 0"
    assert said(bad, "encoder/dense_5", at=450) == "≈\N{THIN SPACE}5e-9"


def test_words_and_signs_say_it_without_colour(bad: Model) -> None:
    for theme in THEMES:
        colouring = coloured(bad, theme, at=450)
        rows = {name: (bad.hierarchy.name.index(name),) for name in ("head", "wide", "dead", "encoder")}
        assert [colouring.fill_of(path).badge for path in rows.values()] == ["!", "↑", "0", "↓"]
        labels = [row.label for row in colouring.legend_rows(list(rows.values()))]
        assert {"NaN or infinite", "zero", "≈ estimated from buckets"} <= set(labels)


def test_one_scale_for_all_steps(bad: Model) -> None:
    early, late = coloured(bad, at=0), coloured(bad, at=450)
    assert (early.values.low, early.values.high) == (late.values.low, late.values.high)
    row = (bad.hierarchy.name.index("encoder/dense_7"),)
    assert early.fill_of(row) == late.fill_of(row)


def test_the_same_in_svg_and_page(bad: Model) -> None:
    svg = bad.render("svg", color_by="logged", at=450).decode()
    assert "NaN since step 300" in svg
    assert "Root mean square of gradients, step 450, log scale" in svg
    assert svg == bad.render("svg", color_by="logged", at=450).decode()
    assert b"logged" in bad.render("html", color_by="logged")


def test_a_page_has_the_steps_at_which_anything_was_logged(bad: Model) -> None:
    head, blocks = page_data(bad, PictureOptions(color_by="logged"))
    assert head["steps"] == [str(step) for step in STEPS]
    names = {block.name for block in blocks}
    assert {f"colour/logged@{number}" for number in range(len(STEPS))} < names
    assert "logged" in head["schemes"]
    assert page_data(bad, PictureOptions())[0]["steps"] == []


def test_layers_that_logged_nothing_are_hatched_and_said(tmp_path: Path) -> None:
    values = [scalar("grad_norm/encoder/dense_1/kernel", 2.0), scalar("params/encoder/dense_2/kernel", 1.0)]
    first = b"\x09" + bytes(8) + field(4, graph().SerializeToString())
    model = load(write(tmp_path / "events.out.tfevents.1.host", first, event(3, *values)).parent)
    choices = {"logged": "grad_norm*"}
    assert said(model, "encoder", **choices) == "2 · 1 of 2 layers"
    silent = (model.hierarchy.name.index("encoder/dense_2/MatMul"),)
    colouring = coloured(model, **choices)
    assert colouring.fill_of(silent).hatch
    assert colouring.second_line(silent) == "not logged by step 3"
    assert not colouring.fill_of((model.hierarchy.name.index("join"),)).hatch


def test_groups_gather_by_their_rule(tmp_path: Path) -> None:
    values = [scalar(f"grad_norm/encoder/dense_{number}/kernel", value) for number, value in ((1, 3.0), (2, 4.0))]
    first = b"\x09" + bytes(8) + field(4, graph().SerializeToString())
    model = load(write(tmp_path / "events.out.tfevents.1.host", first, event(3, *values)).parent)
    expected = {"norm": "5", "last": "3.5", "mean": "+3.5", "largest": "4", "nonfinite": "0\N{THIN SPACE}%"}
    for measure, word in expected.items():
        assert said(model, "encoder", measure=measure) == word, measure


@each("name", ["fixtures/logged/tf1_filewriter/train", "fixtures/logged/tf2_summaries/train"])
def test_sums_of_histograms_are_those_of_their_buckets(name: str) -> None:
    """Written sums of version 1 and estimates of version 2 agree with what buckets allow."""
    log = open_log(FIXTURES.parent / name)
    found = 0
    for series in (log.series(log.runs[0], tag) for tag in log.tags("histogram")):
        join = TagJoin(series.tag, JoinRule.PATH, (1,))
        rms, norm, largest = (tag_values(join, series, measure) for measure in ("rms", "norm", "largest"))
        assert rms is not None
        assert norm is not None
        assert largest is not None
        fine = (rms.number > 0) & np.isfinite(norm.value)
        assert np.allclose((rms.value * np.sqrt(rms.number))[fine], norm.value[fine])
        assert np.all(rms.value[fine] <= largest.value[fine] * (1 + 1e-9))
        found += int(fine.sum())
    assert found


def test_every_measure_of_a_real_log() -> None:
    model = load(FIXTURES / "logged/torch_layers")
    for measure in MEASURES:
        tags = "grad_norm/*" if measure == "last" else None
        colouring = coloured(model, measure=measure, logged=tags)
        assert colouring.values.rows, measure
        assert colouring.legend_rows([(0,)])
    ratio = coloured(model, measure="ratio").values
    assert ratio.low < 0.1 < ratio.high < 10


def test_another_run_is_compared(tmp_path: Path) -> None:
    first = b"\x09" + bytes(8) + field(4, graph().SerializeToString())
    for run, value in (("a", 1.0), ("b", 100.0)):
        norm = scalar("grad_norm/encoder/dense_1/kernel", value)
        write(tmp_path / run / "events.out.tfevents.1.host", *([first] * (run == "a")), event(3, norm))
    model = load(tmp_path, run="a")
    assert said(model, "encoder", measure="norm", against_run="b") == "× 0.01"
    assert said(model, "encoder", against_run="b") == "−99"
    assert said(model, "encoder", logged_run="b") == "100"


def test_what_cannot_be_shown_is_said(bad: Model) -> None:
    for choices, error, word in (
        ({"logged": "nothing*"}, UnknownNode, "nothing*"),
        ({"measure": "median"}, UnknownChoice, "median"),
        ({"at": -1}, RequestError, "the first step is 0"),
        ({"measure": "last"}, RequestError, "last cannot be taken"),
        ({"against_run": "x"}, UnknownChoice, "'x'"),
    ):
        with pytest.raises(error, match=word.replace("*", r"\*")):
            coloured(bad, **choices)
    with pytest.raises(MissingFacts, match="needs a log"):
        coloured(load(b'node { name: "a" op: "NoOp" }'))


def test_options_of_logs_change_every_format_that_has_colours(bad: Model) -> None:
    for format in ("svg", "html", "dot"):
        plain = bad.render(format, color_by="logged")
        assert bad.render(format, color_by="logged", at=0) != plain
        assert bad.render(format, color_by="logged", measure="largest") != plain
    with pytest.raises(RequestError, match="measure changes nothing in colours by device"):
        bad.render("svg", color_by="device", measure="rms")


def test_the_command_line_colours_by_what_it_asks_for(tmp_path: Path) -> None:
    target = tmp_path / "graph.svg"
    words = [str(FIXTURES / "logged/torch_layers"), "-o", str(target), "--logged", "grad/*", "--at", "2"]
    assert CliRunner().invoke(cli, ["render", *words]).exit_code == 0
    assert "Root mean square of grad/*, step 2, log scale" in target.read_text()
