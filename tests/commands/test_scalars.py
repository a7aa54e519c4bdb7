"""`tbgraph scalars`, and what `tbgraph info` says of logs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import Result

from graphviz_tb import TbGraphError, open_log
from tests.event_files import event, scalar, write

LOGGED = Path(__file__).parents[2] / "fixtures" / "logged"


def run(*words: str) -> Result:
    from click.testing import CliRunner

    from graphviz_tb.commands import cli

    return CliRunner().invoke(cli, ["scalars", *words])


def code(result: Result) -> int:
    """The exit code of an error of ours, which `main` would give."""
    assert isinstance(result.exception, TbGraphError)
    return result.exception.exit_code


def test_the_table_names_every_series() -> None:
    result = run(str(LOGGED / "restart_without_mark"))
    head, loss, rare = result.stdout.splitlines()
    assert head.split() == ["run", "tag", "points", "first", "last", "best"]
    assert loss.split()[:5] == [".", "loss", "38", "(8", "superseded)"]
    assert ("129" in loss, "127" in rare) == (True, True)


def test_tags_that_differ_look_different_where_they_are_cut(tmp_path: Path) -> None:
    tags = [f"{'before/' * 4}{name}{'/behind' * 4}" for name in ("accuracy", "loss", "recall")]
    write(tmp_path / "events.out.tfevents.1.x", *(event(1, scalar(tag, 0.5)) for tag in tags))
    shown = [line.split()[1] for line in run(str(tmp_path)).stdout.splitlines()[1:]]
    assert all("…" in tag for tag in shown)
    assert len(set(shown)) == 3, shown


def test_csv_has_every_point_exactly() -> None:
    result = run(str(LOGGED / "odd_numbers"), "--csv", "--tag", "^v1$")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert result.stdout_bytes.startswith(b"run,tag,step,wall_time,value,superseded\r\n.,v1,0,1600000000.0,1.0,0\r\n")
    assert [row[4] for row in rows[1:5]] == ["1.0", "NaN", "Infinity", "-Infinity"]
    assert float(rows[6][4]) == 3.4028234663852886e38


def test_csv_keeps_hostile_names() -> None:
    rows = list(csv.reader(io.StringIO(run(str(LOGGED / "odd_names"), "--csv").stdout, newline="")))
    assert {row[1] for row in rows} >= {"<img src=x onerror=alert(1)>", "a\nb", "", "손실/훈련", "x" * 2000}


def test_json_is_the_same() -> None:
    document = json.loads(run(str(LOGGED / "restart_without_mark"), "--json").stdout)
    assert (document["format"], document["version"]) == ("tbgraph-scalars", 1)
    series = document["series"][0]
    log = open_log(LOGGED / "restart_without_mark").series(".", "loss")
    assert series["step"] == log.step.tolist()
    assert series["superseded"] == log.superseded.astype(int).tolist()
    assert sum(series["superseded"]) == 8


def test_keep_marks_nothing() -> None:
    document = json.loads(run(str(LOGGED / "restart_without_mark"), "--json", "--restarts", "keep").stdout)
    assert not any(sum(series["superseded"]) for series in document["series"])


@pytest.mark.parametrize("option", ["--run", "--tag"])
def test_a_pattern_that_is_none(option: str) -> None:
    result = run(str(LOGGED / "torn"), option, "(")
    assert result.exit_code == 2
    assert "'(' is not a regular expression" in result.stderr


def test_a_log_without_scalars_is_a_header(tmp_path: Path) -> None:
    write(tmp_path / "events.out.tfevents.1")
    result = run(str(tmp_path), "--csv")
    assert (result.exit_code, result.stdout_bytes) == (0, b"run,tag,step,wall_time,value,superseded\r\n")
    assert "holds no scalars" in result.stderr


def test_curves_fit_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(str(LOGGED / "tf2_summaries"), "--curves", "--tag", "loss").stdout.splitlines()
    assert max(map(len, lines)) <= 60
    assert any("⠉" in line or "⣀" in line for line in lines)


def test_a_chart_has_the_tags_and_runs(tmp_path: Path) -> None:
    target = tmp_path / "loss.svg"
    assert run(str(LOGGED / "tf2_summaries"), "--tag", "epoch_loss", "-o", str(target)).exit_code == 0
    text = target.read_text()
    assert all(word in text for word in ("epoch_loss", "train", "validation"))
    assert code(run(str(LOGGED / "tf2_summaries"), "-o", str(tmp_path / "loss.gif"))) == 2


def test_folders_without_logs(tmp_path: Path) -> None:
    assert code(run(str(tmp_path))) == 3
    assert code(run(str(tmp_path / "nothing"))) == 3
    (tmp_path / "text").write_text("no events")
    assert code(run(str(tmp_path / "text"))) == 3


def test_info_names_runs_without_a_graph(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from graphviz_tb.commands import cli

    write(
        tmp_path / "train" / "events.out.tfevents.1",
        *(event(step, scalar("loss", 1 / (1 + step))) for step in range(9)),
    )
    said = CliRunner().invoke(cli, ["info", str(tmp_path)]).stdout
    assert ("train" in said, "loss 0.1111" in said, " 8 " in said) == (True, True, True)
    document = json.loads(CliRunner().invoke(cli, ["info", str(tmp_path), "--json"]).stdout)
    assert document["runs"][0]["last_step"] == 8
