"""Two traces of one graph: the difference as colour, on the second line, in the tooltip."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import make_colouring
from graphviz_tb.color.measured import LESS_RAMPS, MORE_RAMPS, DifferenceColouring
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import MissingFacts
from graphviz_tb.proto import GraphDef, RunMetadata

#  a ─▶ b ─▶ c, d: a takes longer now, b is faster, c as before, d was never measured
GRAPH = GraphDef(
    node=[
        {"name": "a", "op": "Relu"},
        {"name": "b", "op": "Abs", "input": ["a"]},
        {"name": "c", "op": "Neg", "input": ["b"]},
        {"name": "d", "op": "Exp", "input": ["b"]},
    ]
)


def trace(**times: int) -> RunMetadata:
    entries = [
        {"node_name": name, "all_start_micros": 10, "all_end_rel_micros": time, "op_end_rel_micros": time}
        for name, time in times.items()
    ]
    return RunMetadata(step_stats={"dev_stats": [{"device": "/device:CPU:0", "node_stats": entries}]})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    made = {
        "graph.pb": GRAPH,
        "new.pb": trace(a=300, b=50, c=20),
        "old.pb": trace(a=100, b=100, c=20),
    }
    for name, message in made.items():
        (tmp_path / name).write_bytes(message.SerializeToString())
    return {name: str(tmp_path / name) for name in made}


def compared(files: dict[str, str], **choices: Any) -> Model:
    return load(files["graph.pb"], run_metadata=files["new.pb"], against=files["old.pb"], **choices)


def test_the_scale_runs_from_none_to_the_largest_difference(files: dict[str, str]) -> None:
    model = compared(files)
    found = make_colouring(model.hierarchy, model.facts, "compute-time", "light")
    assert isinstance(found, DifferenceColouring)
    scale = replace(found, top=4.0)
    for sign, ramp in ((1, MORE_RAMPS["light"]), (-1, LESS_RAMPS["light"])):
        assert scale.shade_of(sign * 4.0).fill.upper() == ramp[-1] == scale.shade_of(sign * 9.0).fill.upper()
        assert scale.shade_of(sign * 0.5).fill.upper() not in (ramp[0], ramp[-1])
        assert replace(found, top=0.0).shade_of(sign * 1.0).fill.upper() == ramp[0]
    assert scale.shade_of(0.0).fill.upper() == LESS_RAMPS["light"][0]


def test_what_was_measured_once_cannot_be_compared(tmp_path: Path) -> None:
    made = {"graph.pb": GRAPH, "new.pb": trace(a=300, b=50), "old.pb": trace(b=50, c=20)}
    for name, message in made.items():
        (tmp_path / name).write_bytes(message.SerializeToString())
    model = compared({name: str(tmp_path / name) for name in made})
    found = make_colouring(model.hierarchy, model.facts, "compute-time", "light")
    known = {name: not found.fill_of((row,)).hatch for row, name in enumerate(model.hierarchy.name) if name}
    assert known == {"a": False, "b": True, "c": False, "d": False}


def test_more_is_red_less_is_blue_and_the_same_is_neither(files: dict[str, str]) -> None:
    picture = compared(files).picture(color_by="compute-time")
    fills = {box.address: fill for box, fill in zip(picture.scene.boxes, picture.paint.boxes, strict=True)}
    assert fills["a"].fill.upper() == MORE_RAMPS["light"][-1]  # the largest difference: 300 - 100
    assert fills["c"].fill.upper() == LESS_RAMPS["light"][0]
    red, blue = (int(fills["b"].fill[at : at + 2], 16) for at in (1, 5))
    assert red < blue
    assert fills["d"].hatch


def test_the_second_line_and_the_tooltip_say_it_in_numbers(files: dict[str, str]) -> None:
    model = compared(files)
    scheme = model.picture(color_by="compute-time")
    seconds = {node_label.address: node_label.second for node_label in scheme.view.node_labels}
    assert (seconds["a"], seconds["b"], seconds["c"]) == ("+200 µs · 300 µs", "−50 µs · 50 µs", "±0 µs · 20 µs")
    accounts = dict(zip((box.address for box in scheme.scene.boxes), scheme.paint.accounts, strict=True))
    assert accounts["a"] == "300 µs, before 100 µs (+200%)"
    assert [row.label for row in scheme.paint.legend] == [
        *("−200 µs", "−50 µs", "±0 µs", "+50 µs", "+200 µs"),
        "not measured twice",
    ]
    assert scheme.caption.title.endswith("new.pb, against old.pb")


def test_a_pickle_keeps_both(files: dict[str, str]) -> None:
    model = compared(files)
    again = pickle.loads(pickle.dumps(model))
    assert again.render("svg", color_by="compute-time") == model.render("svg", color_by="compute-time")


def test_the_page_has_the_difference_too(files: dict[str, str]) -> None:
    plain = load(files["graph.pb"], run_metadata=files["new.pb"])
    assert compared(files).render("html") != plain.render("html")


def test_on_the_command_line_the_colour_follows(files: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "out.svg"
    words = ["render", files["graph.pb"], "--run-metadata", files["new.pb"], "--against", files["old.pb"]]
    assert _run_command_line([*words, "-o", str(target), "-q"]) == 0
    assert "+200 µs" in target.read_text()


def test_nothing_to_compare_is_said(files: dict[str, str]) -> None:
    with pytest.raises(MissingFacts, match="none of this graph"):
        load(files["graph.pb"], against=files["old.pb"])


def test_where_nothing_changed_nothing_is_coloured(files: dict[str, str]) -> None:
    model = load(files["graph.pb"], run_metadata=files["new.pb"], against=files["new.pb"])
    picture = model.picture(color_by="compute-time")
    assert {fill.fill.upper() for fill in picture.paint.boxes if not fill.hatch} == {LESS_RAMPS["light"][0]}
    assert model.picture(color_by="memory").paint.legend[0].label == "±0 B"


def test_several_steps_tell_how_they_differ(files: dict[str, str]) -> None:
    both = load(files["graph.pb"], run_metadata=(files["old.pb"], files["new.pb"]))
    stats = both.facts.stats
    assert stats is not None
    (row,) = both.names.find_paths("a")[0]
    entry = stats.json_entry(row)["steps"]
    assert (entry["count"], entry["compute_us_least"], entry["compute_us_median"], entry["compute_us_greatest"]) == (
        *(2, 100, (100 + 300) / 2),
        300,
    )
    picture = both.picture(color_by="compute-time")
    assert "median of 2 steps, old.pb … new.pb" in picture.caption.title
    accounts = dict(zip((box.address for box in picture.scene.boxes), picture.paint.accounts, strict=True))
    assert accounts["a"] == "median 200 µs, from 100 µs to 300 µs, in 2 of 2 steps"
    assert "median of" not in both.picture().caption.title  # nothing measured is shown
    assert "steps" not in load(files["graph.pb"], run_metadata=files["new.pb"]).facts.stats.json_entry(row)  # type: ignore[union-attr]
