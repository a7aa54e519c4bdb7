"""What a shell is told to complete."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete

from graphviz_tb.commands import cli
from tests.each import each

# What was typed before, and of the word → what it is completed to: words, or names of files.
CASES = {
    ("", "re"): ["render", "review"],
    ("render", "--them"): ["--theme"],
    ("render --theme", "d"): ["dark"],
    ("render model.pb --direction", ""): ["BT", "TB", "LR", "RL"],
    ("render", "mod"): "file",
    ("render model.pb --run-metadata", "st"): "file",
    ("check", "mod"): "file",
    ("check a.pb", "b"): "file",
    ("diff old.pb", ""): "file",
    ("review model.pb -o", ""): "file",
    ("find model.pb", "op"): [],
    ("check model.pb --assert", "pa"): [],
}


@each("typed", CASES, ids=" ".join)
def test_what_completes(typed: tuple[str, str]) -> None:
    before, word = typed
    found = BashComplete(cli, {}, "tbgraph", "_TBGRAPH_COMPLETE").get_completions(before.split(), word)
    wanted = CASES[typed]
    if wanted == "file":
        assert [item.type for item in found] == ["file"]
    else:
        assert [item.value for item in found] == wanted


@pytest.mark.machine
def test_bash_takes_it() -> None:
    words = {**os.environ, "_TBGRAPH_COMPLETE": "bash_complete", "COMP_WORDS": "tbgraph re", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-m", "graphviz_tb"], env=words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, ["plain,render", "plain,review"], "")
