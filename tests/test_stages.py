"""The stages have one list: what runs, `--timing`, the progress bar and CONTRIBUTING name the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.progress import STAGE_NAMES, StageReport

ROOT = Path(__file__).parents[1]


def test_all_stages_run_for_a_picture_and_no_others() -> None:
    begun: list[str] = []
    report = StageReport(begun.append)
    graphviz_tb.load(b'node { name: "a/x" } node { name: "a/y" }', report=report).picture(depth=1).render()
    assert list(dict.fromkeys(begun)) == list(STAGE_NAMES)
    assert set(report.seconds) == set(STAGE_NAMES)


def test_what_runs_within_a_stage_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # open begins at 0 and ends at 5, expand in it at 1 and at 4
    monkeypatch.setattr("graphviz_tb.progress.perf_counter", iter((0.0, 1.0, 4.0, 5.0)).__next__)
    report = StageReport()
    with report.stage("open"), report.stage("expand"):
        pass
    assert (report.seconds["open"][0], report.seconds["expand"][0]) == (5 - 3, 4 - 1)


def test_the_architecture_names_them_in_order() -> None:
    """Stages of a file and of a group are arrows to what they make; those of a picture a list."""
    told = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = told[told.index("```text") :].partition("\n```\n")[0]
    assert re.findall(r"─(\w+)▶", drawn)[:5] == [*STAGE_NAMES[:5]]
    assert set(STAGE_NAMES) <= set(re.findall(r"\w+", drawn))
