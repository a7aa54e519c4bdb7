"""A short, boxed run of the fuzzer over files and command lines; `make fuzz` goes on for as long as you like."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from graphviz_tb.commands import cli
from tests.fuzz.cases import FAMILIES, cases
from tests.fuzz.command_lines import command_lines, furnish
from tests.fuzz.option_values import COMMANDS
from tests.fuzz.outputs import is_whole, printed_wrong
from tests.fuzz.trial import attempt

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 7])
def test_nothing_is_found_in_half_a_minute(seed: int, tmp_path: Path) -> None:
    words = ["--seed", str(seed), "--count", "60", "--minutes", "0.5", "--keep", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 with faults" in done.stdout


@pytest.mark.slow
def test_guided_by_coverage_nothing_is_found_in_half_a_minute(require: Callable[..., None], tmp_path: Path) -> None:
    require("atheris")
    words = ["--minutes", "0.5", "--keep", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.guided", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Done " in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_same_seed_makes_the_same_files_and_lines() -> None:
    few = len(FAMILIES)
    assert list(cases(5, few)) == list(cases(5, few))
    assert list(command_lines(5, 40)) == list(command_lines(5, 40))
    assert [line.words for line in command_lines(5, 40)] != [line.words for line in command_lines(6, 40)]
    assert {case.family for case in cases(5, few)} == set(FAMILIES)
    assert {line.family for line in command_lines(5, 40)} == set(COMMANDS)


def test_lines_are_made_of_every_command() -> None:
    assert {line.family for line in command_lines(77, 10 * len(COMMANDS))} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_tried(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = {word for one in command.params for word in (*one.opts, *one.secondary_opts) if word.startswith("--")}
    assert options - {"--quiet", "--output", "--format"} <= set(COMMANDS[name])


def test_what_is_printed_and_drawn_is_judged(tmp_path: Path) -> None:
    assert printed_wrong(["info"], "a \x1b[31m", "b \u202e") == [r"'\x1b' on stdout", r"'\u202e' on stderr"]
    assert printed_wrong(["render", "-o", "-"], "a \x1b[31m", "notice: é\n") == []
    assert printed_wrong(["info"], "", "a.py:1: RuntimeWarning: overflow") == ["a warning of Python"]
    drawn = {
        "<svg><script/></svg>": False,
        '<svg><a href="http://a"/></svg>': False,
        '<svg><rect onload="a"/></svg>': False,
        '<svg><rect x="nan"/></svg>': False,
        '<svg><rect x="1"/><a href="#b"/></svg>': True,
    }
    for text, whole in drawn.items():
        (tmp_path / "a.svg").write_text(text)
        assert is_whole(tmp_path / "a.svg") is whole, text


def test_the_memory_of_a_trial_is_its_own(tmp_path: Path) -> None:
    """A parent that once held much, such as an input that it made, does not hide what a trial takes."""
    folder = tmp_path / "work"
    folder.mkdir()
    furnish(folder)
    held = bytearray(200_000_000)
    held[::4096] = bytes([1]) * len(held[::4096])
    del held
    assert attempt(["info", "-q", "good.pbtxt"], folder).megabytes > 0
