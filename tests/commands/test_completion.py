"""What a shell is told to complete."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete

from graphviz_tb.commands import cli
from tests.conftest import FIXTURES
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
    (f"render {FIXTURES}/logdirs/mnist_runs --run", ""): ["train", "test"],
    (f"{FIXTURES}/logdirs/mnist_runs --run", "t"): ["train", "test"],
    (f"info {FIXTURES}/logdirs/torch_pair --run", "x"): [],
    (f"scalars {FIXTURES}/logged/tf2_summaries --tag", "epoch"): ["epoch_loss"],
    (f"scalars {FIXTURES}/logged/tf2_summaries --run", ""): ["train", "validation"],
    (f"render {FIXTURES}/real/mnist_cnn.pbtxt --open", "con"): ["conv[1-2]", "conv1", "conv2"],
    (f"tree {FIXTURES}/real/mnist_cnn.pbtxt --under", "conv1/Wx"): [
        "conv1/Wx_plus_b", "conv1/Wx_plus_b/Conv2D", "conv1/Wx_plus_b/add", "conv1/Wx_plus_b/pre_activations",
    ],
    (f"diff a.pb {FIXTURES}/real/mnist_cnn.pbtxt --open", "con"): ["conv[1-2]", "conv1", "conv2"],
    (f"render {FIXTURES}/real/no.pbtxt --open", "con"): [],
    ("render gs://bucket/model --open", "con"): [],
}  # fmt: skip


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
