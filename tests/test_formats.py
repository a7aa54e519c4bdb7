"""Every format of the table: it writes any graph, its options are those that change it, and no others are taken."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.options import LOGGED_COLOR_OPTIONS, PictureOptions
from graphviz_tb.output.renderers import RENDERERS, output_format
from tests.each import each
from tests.effort import part

ROOT = Path(__file__).parents[1]
REAL = ROOT / "fixtures" / "real"
# A value of each option of a picture that changes a picture of `model`.
OTHER: dict[str, Any] = {
    "open": ("conv1",),
    "depth": 1,
    "open_all": True,
    "all_members": True,  # of a stack that is open
    "max_open": 1,  # with open_all
    "engine": "dot",
    "wrap": False,  # of `chain`
    "color_by": "op-type",
    "direction": "LR",
    "theme": "dark",
    "title": "another",
    "legend": False,
    "paper": True,
    "width_mm": 84,  # of a figure to print
    "select": ("conv1",),
    "stats": True,
    "max_annotations": 1,
    "scale": 1.0,
    "width": 300,
    "font_files": (),
    "page_max": 0.3,
}


@pytest.fixture(scope="module")
def model(fixtures: Path) -> Model:
    traced = (str(fixtures / "run_metadata/mnist_cnn_step099.pb"),)
    return graphviz_tb.load(REAL / "mnist_cnn.pbtxt", run_metadata=traced)


@pytest.fixture(scope="module")
def chain() -> Model:
    """n0 ─▶ n1 ─▶ … ─▶ n23, of thirteen op types: longer than a page is tall."""
    nodes = ((f'node {{ name: "n{at}" op: "Op{at * 7 % 13}" ', f'input: "n{at - 1}" ' * (at > 0)) for at in range(24))
    return graphviz_tb.load("".join(f"{head}{tail}}}" for head, tail in nodes).encode())


@each("format", part(RENDERERS, 3))
def test_it_writes_hostile_and_empty_graphs(format: str) -> None:
    for source in (REAL / "odd_names.pbtxt", b'node { name: "x" }'):
        drawn = graphviz_tb.load(source)
        assert drawn.render(format)
        assert drawn.picture().render(format) == drawn.render(format)


@each("format", RENDERERS)
def test_what_it_uses_are_options_of_a_picture(format: str) -> None:
    assert RENDERERS[format].uses <= {field.name for field in fields(PictureOptions)}


def test_every_option_of_a_picture_is_used_by_a_format() -> None:
    used = set().union(*(row.uses for row in RENDERERS.values()))
    assert (
        {field.name for field in fields(PictureOptions)} == used == {*OTHER, *LOGGED_COLOR_OPTIONS}
    )  # those of logs: tests/color/test_logged.py


@each("name", part([name for name in OTHER if name not in ("engine", "font_files")], 18))
@each("format", RENDERERS)
def test_an_option_changes_the_file_or_is_refused(model: Model, chain: Model, format: str, name: str) -> None:
    model = chain if name == "wrap" else model
    alone: dict[str, Any] = {}
    conv1 = {"open": ("conv1",)}
    beside = {"max_open": {"open_all": True}, "max_annotations": {"depth": 2}, "select": conv1, "all_members": conv1}
    beside["width_mm"] = {"paper": True}
    more = beside.get(name, alone)
    write, plain = RENDERERS[format].render, PictureOptions(**more)
    same = name not in RENDERERS[format].uses
    if same:
        with pytest.raises(RequestError, match=f"{name} changes nothing in {format}"):
            model.render(format, **{name: OTHER[name]})
    assert (write(model, replace(plain, **{name: OTHER[name]})) == written(format, model, plain)) == same


@cache
def written(format: str, model: Model, options: PictureOptions) -> str | bytes:
    return RENDERERS[format].render(model, options)


@each("format", RENDERERS)
def test_its_suffix_is_its_own(format: str, tmp_path: Path) -> None:
    suffix = RENDERERS[format].suffix
    assert output_format(f"a/b{suffix}") == output_format(f"B{suffix.upper()}") == format
    assert _run_command_line(["render", str(REAL / "hidden_scope.pbtxt"), "-o", str(tmp_path / f"x{suffix}")]) == 0
    assert (tmp_path / f"x{suffix}").read_bytes() == graphviz_tb.load(REAL / "hidden_scope.pbtxt").render(format)


def test_an_unknown_format_lists_the_legal_ones() -> None:
    with pytest.raises(UnknownChoice, match="svg"):
        graphviz_tb.load(b'node { name: "x" }').render("gif")
    with pytest.raises(UnknownChoice, match=r"\.svg"):
        output_format("a.gif")


def test_what_changes_no_output_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.json"
    with pytest.raises(RequestError, match="depth changes nothing"):
        graphviz_tb.load(REAL / "hidden_scope.pbtxt").save(target, depth=1)
    assert _run_command_line(["render", "nowhere.pb", "-o", str(target), "--depth", "0"]) == 2
    assert "it is for svg" in capsys.readouterr().err
    assert (
        _run_command_line(
            [
                "render",
                str(REAL / "hidden_scope.pbtxt"),
                "-o",
                str(target),
                "-o",
                str(tmp_path / "x.svg"),
                "--depth",
                "0",
            ]
        )
        == 0
    )


def test_a_picture_is_drawn_once_for_all_its_formats(model: Model) -> None:
    picture = model.picture(depth=1)
    assert model.picture(depth=1) is picture
    assert model.picture(depth=0) is not picture


def test_every_renderer_is_in_the_table() -> None:
    """A function of `render/` that makes a file of a subject or a drawing is a row."""
    table = (ROOT / "graphviz_tb" / "output" / "renderers.py").read_text(encoding="utf-8")
    for path in sorted((ROOT / "graphviz_tb" / "render").glob("*.py")):
        module = import_module(f"graphviz_tb.render.{path.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            makes = inspect.signature(function)
            if makes.return_annotation == "bytes" and [*makes.parameters][:1] in (["subject"], ["drawing"]):
                assert name in table, f"{name} of render/{path.name} is in no row of RENDERERS"
