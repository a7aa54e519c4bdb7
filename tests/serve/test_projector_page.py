"""The page of embeddings in a real browser: points that are labelled wrongly are found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphviz_tb.commands import _run_command_line
from tests.project.digits import TRUE, write_looked_up
from tests.serve.test_person import told_by


@pytest.mark.machine
def test_a_mislabelled_cluster_is_found(
    require: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("chromium", "node", "playwright-core")
    digits = write_looked_up(tmp_path / "log")
    monkeypatch.setenv("ROW", str(np.flatnonzero(digits == TRUE)[0]))
    page = tmp_path / "run.html"
    assert _run_command_line(["render", "-q", str(tmp_path / "log"), "-o", str(page)]) == 0
    monkeypatch.setenv("PAGE", page.as_uri())
    told = told_by("projector.js", tmp_path / "log")
    failed = {name: faults for name, faults in told if faults}
    assert len(told) == 8, told
    assert not failed, json.dumps(failed, indent=1)
