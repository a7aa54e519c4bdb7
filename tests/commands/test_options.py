"""Every option of the command line is an option of the library, and the other way round."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from graphviz_tb.commands import _run_command_line, cli
from graphviz_tb.commands.options import NEGATED_FLAGS, collect_options, given_options
from graphviz_tb.commands.render import render
from graphviz_tb.options import MIN_VALUES, Options
from tests.each import each

# Of a run, not of a graph.
OWN = {
    "model",
    "files",
    "outputs",
    "format_",
    "timing",
    "quiet",
    "preset",
    "help",
    "view",
    "no_view",
    "hide",
    "facts",
    "fact",
}
# Settled by a preset, or of use only to programs.
PYTHON_ONLY = {
    *("tensorboard", "scope_series", "lenient_numbers", "max_children"),
    *("min_nodes", "min_degree", "max_control_degree", "max_bridge_degree", "sink_types", "max_annotations"),
}


def of_commands() -> set[str]:
    return {NEGATED_FLAGS.get(param.name or "", param.name or "") for param in render.params} - OWN


def of_library() -> set[str]:
    return {field.name for group in fields(Options) for field in fields(getattr(Options(), group.name))}


def test_the_command_line_has_every_option_and_no_others() -> None:
    assert of_commands() - of_library() == set()
    assert of_library() - of_commands() == PYTHON_ONLY


SETTABLE = [param for param in render.params if param.name not in OWN]


@each("param", SETTABLE, ids=lambda param: param.name)
def test_what_is_not_said_is_not_asked(param: click.Parameter) -> None:
    unsaid = render.make_context("render", ["model.pb", "-o", "x.svg"], **cli.context_settings).params
    unsaid = {name: value for name, value in unsaid.items() if name not in OWN}
    assert given_options(unsaid) == {}
    assert collect_options(unsaid) == Options()
    said = {**unsaid, param.name or "": True}
    assert set(given_options(said)) == {NEGATED_FLAGS.get(param.name or "", param.name or "")}


def test_nought_is_said() -> None:
    assert given_options({"depth": 0, "open": (), "legend": None}) == {"depth": 0}


@pytest.mark.parametrize(
    "line", [["--color-by", "memory"], ["--depth", "2"], ["--no-legend"], ["--open", "a"], ["--against", "old.pb"]]
)
def test_what_changes_nothing_is_named_as_it_was_written(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "graph.json"
    assert _run_command_line(["render", "model.pb", "-o", str(target), *line]) == 2
    assert f"error: {line[0]} changes nothing in json" in capsys.readouterr().err
    assert not target.exists()


def test_every_number_has_a_least() -> None:
    free = {"max_control_degree", "max_bridge_degree", "at"}  # below 1 they mean that none is drawn; a step may be
    for group in fields(Options):
        for field in fields(getattr(Options(), group.name)):
            if {"int", "float"} & set(re.findall(r"\w+", str(field.type))):
                assert (field.name in MIN_VALUES) != (field.name in free), field.name
