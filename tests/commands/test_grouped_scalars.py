"""`tbgraph scalars --group-by` and `--wide`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from graphviz_tb.commands import _run_command_line
from tests.chart.test_run_groups import write_seeds


def test_a_table_has_a_line_a_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_seeds(tmp_path, 3, 4)
    assert _run_command_line(["scalars", str(tmp_path), "--group-by", "differs", "-q"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["group", "tag", "runs", "step", "mean", "std", "least", "greatest"]
    assert line.split()[:8] == ["seed*", "loss", "3", "1", "11", "1", "10", "12"]


def test_csv_and_json_have_every_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_seeds(tmp_path, 3, 4)
    assert _run_command_line(["scalars", str(tmp_path), "--group-by", "seed*", "--csv", "-q"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["step"], row["runs"], row["mean"]) for row in rows] == [
        ("0", "3", "1.0"), ("1", "3", "11.0"), ("2", "2", "20.5"), ("3", "2", "30.5"),
    ]  # fmt: skip
    assert _run_command_line(["scalars", str(tmp_path), "--group-by", "seed*", "--json", "-q"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert (group["runs"], group["count"]) == (["seed0", "seed1", "seed2"], [3, 3, 2, 2])


def test_a_wide_file_has_a_row_a_step_and_a_column_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_seeds(tmp_path, 2, 4)
    assert _run_command_line(["scalars", str(tmp_path), "--csv", "--wide", "-q"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == "step,seed0,seed1"
    assert rows == ["0,0.0,1.0", "1,10.0,11.0", "2,20.0,", "3,30.0,"]


@pytest.mark.parametrize("options", [["--wide"], ["--group-by", "none"], ["--group-by", "differs", "--curves"]])
def test_what_cannot_be_done_says_so(tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    write_seeds(tmp_path, 2, 4)
    assert _run_command_line(["scalars", str(tmp_path), *options]) == 2
    assert capsys.readouterr().err.startswith("error: ")
