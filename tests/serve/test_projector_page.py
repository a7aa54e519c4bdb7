"""The page of embeddings in a real browser: points that are labelled wrongly are found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.project.digits import TRUE, write_digits
from tests.serve.test_person import told_by


@pytest.mark.machine
def test_a_mislabelled_cluster_is_found(
    require: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("chromium", "node", "playwright-core")
    digits = write_digits(tmp_path)
    monkeypatch.setenv("ROW", str(np.flatnonzero(digits == TRUE)[0]))
    told = told_by("projector.js", tmp_path)
    failed = {name: faults for name, faults in told if faults}
    assert len(told) == 6, told
    assert not failed, json.dumps(failed, indent=1)
