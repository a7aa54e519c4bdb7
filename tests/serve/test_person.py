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

from tests.serve.writing import Writer, chain

ROOT = Path(__file__).parents[2]


@pytest.mark.machine
def test_as_a_person_uses_it(require: Callable[..., None], logs: Path, tmp_path: Path) -> None:
    require("chromium", "node", "playwright-core")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    Writer(logs / "valid").graph(chain("x", "y"))
    shots = os.environ.get("TBGRAPH_SHOTS", "")  # a folder: what the page looked like
    more = {"PYTHON": sys.executable, "ROOT": str(ROOT), "LOGS": str(logs), "SHOTS": shots, "PYTHONPATH": str(ROOT)}
    command = ["node", str(Path(__file__).with_name("person.js"))]
    environment = {**os.environ, **more, "TBGRAPH_BROWSER_PATH": program}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.stdout, done.stderr[-3000:]
    told = json.loads(done.stdout)
    failed = {name: faults for name, faults in told if faults}
    assert len(told) > 10, told
    assert not failed, json.dumps(failed, indent=1)
