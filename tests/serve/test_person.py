"""The page of a server as a person uses it, in a real browser, while runs are written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.logs.bad_training import write_log, write_training
from tests.serve.slow_step import write_slow_step
from tests.serve.writing import Writer, chain

ROOT = Path(__file__).parents[2]


def told_by(script: str, logs: Path) -> list[tuple[str, list[str]]]:
    """The faults of each test of a script that looks at the page of a server of some logs."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    shots = os.environ.get("TBGRAPH_SHOTS", "")  # a folder: what the page looked like
    more = {"PYTHON": sys.executable, "ROOT": str(ROOT), "LOGS": str(logs), "SHOTS": shots, "PYTHONPATH": str(ROOT)}
    command = ["node", str(Path(__file__).with_name(script))]
    environment = {**os.environ, **more, "TBGRAPH_BROWSER_PATH": program}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.stdout, done.stderr[-3000:]
    return [(name, faults) for name, faults in json.loads(done.stdout)]


@pytest.mark.machine
def test_as_a_person_uses_it(require: Callable[..., None], logs: Path) -> None:
    require("chromium", "node", "playwright-core")
    Writer(logs / "valid").graph(chain("x", "y"))
    told = told_by("person.js", logs)
    failed = {name: faults for name, faults in told if faults}
    assert len(told) > 10, told
    assert not failed, json.dumps(failed, indent=1)


@pytest.mark.machine
def test_eight_tasks_at_a_training_that_goes_wrong(require: Callable[..., None], tmp_path: Path) -> None:
    require("chromium", "node", "playwright-core")
    write_training(tmp_path)
    write_log(tmp_path / "other")
    told = told_by("training.js", tmp_path)
    failed = {name: faults for name, faults in told if faults}
    assert len(told) == 8, told
    assert not failed, json.dumps(failed, indent=1)


@pytest.mark.machine
def test_the_slow_op_of_a_step_is_found_from_the_table_and_from_the_graph(
    require: Callable[..., None], tmp_path: Path
) -> None:
    require("chromium", "node", "playwright-core")
    write_slow_step(tmp_path)
    told = told_by("profile.js", tmp_path)
    failed = {name: faults for name, faults in told if faults}
    assert len(told) == 9, told
    assert not failed, json.dumps(failed, indent=1)
