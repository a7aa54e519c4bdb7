"""The command: what it prints, what it writes, how it exits."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.commands import _run_command_line
from graphviz_tb.diff.picture import overlay
from tests.diff.pairs import FIXTURES, chain

REAL = FIXTURES / "real"


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    """A pair that differs in one op type."""
    paths = []
    for name, op in (("old", "Relu"), ("new", "Gelu")):
        path = tmp_path / f"{name}.pb"
        path.write_bytes(chain("Placeholder", op, "Softmax").SerializeToString())
        paths.append(str(path))
    return paths


def test_exit_codes(pair: list[str], tmp_path: Path, capfd: Any) -> None:
    old, new = pair
    assert _run_command_line(["diff", old, old]) == 0
    assert _run_command_line(["diff", old, new]) == 1
    assert _run_command_line(["diff", old, new, "-q"]) == 1
    assert _run_command_line(["diff", old, str(tmp_path / "missing.pb")]) == 3
    assert _run_command_line(["diff", old, str(FIXTURES / "broken" / "truncated.pb")]) == 3
    assert _run_command_line(["diff", old]) == 2
    assert _run_command_line(["diff", "-", "-"]) == 2
    assert _run_command_line(["diff", old, new, "--include", "everything"]) == 2
    assert _run_command_line(["diff", old, new, "--format", "yaml"]) == 2
    assert _run_command_line(["diff", old, new, "-o", "picture.gif"]) == 2
    capfd.readouterr()


@pytest.mark.parametrize(
    ("word", "code"), [("any", 1), ("attributes", 1), ("structure", 1), ("signature", 0), ("none", 0), ("some", 2)]
)
def test_fail_on(pair: list[str], word: str, code: int, capfd: Any) -> None:
    assert _run_command_line(["diff", *pair, "--fail-on", word]) == code
    capfd.readouterr()


def test_what_is_printed(pair: list[str], capfd: Any) -> None:
    _run_command_line(["diff", *pair])
    told = capfd.readouterr().out
    assert told == "1 change: 1 changed; 3 ops\n\nOps\n  ~ n1  op Relu → Gelu\n"
    _run_command_line(["diff", *pair, "--format", "json"])
    assert json.loads(capfd.readouterr().out)["changes"][0]["detail"] == {"key": "op", "old": "Relu", "new": "Gelu"}
    _run_command_line(["diff", *pair, "-q"])
    assert capfd.readouterr().out == ""


def test_what_is_written(pair: list[str], tmp_path: Path, capfd: Any) -> None:
    targets = [str(tmp_path / f"diff.{suffix}") for suffix in ("svg", "png", "json", "md", "txt")]
    assert _run_command_line(["diff", *pair, "-q", *[word for target in targets for word in ("-o", target)]]) == 1
    starts = [Path(target).read_bytes()[:4] for target in targets]
    assert starts == [b"<svg", b"\x89PNG", b'{\n "', b"### ", b"1 ch"]
    capfd.readouterr()


def test_two_runs_of_one_directory(tmp_path: Path, capfd: Any) -> None:
    source = next((FIXTURES / "logdirs" / "xor_filewriter").glob("events*"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / source.name).write_bytes(source.read_bytes())
    assert _run_command_line(["diff", str(tmp_path), "--run", "a", "--run", "b"]) == 0
    assert _run_command_line(["diff", str(tmp_path), str(tmp_path), "--run", "a", "--run", "b"]) == 0
    assert _run_command_line(["diff", str(tmp_path), "--run", "a", "--run", "c"]) == 2
    capfd.readouterr()


def test_standard_input_and_gzip(pair: list[str], tmp_path: Path) -> None:
    packed = tmp_path / "new.pb.gz"
    packed.write_bytes(gzip.compress(Path(pair[1]).read_bytes()))
    command = [sys.executable, "-m", "graphviz_tb", "diff", "-", str(packed)]
    done = subprocess.run(command, input=Path(pair[0]).read_bytes(), capture_output=True, check=False)
    assert done.returncode == 1
    assert "Relu → Gelu" in done.stdout.decode()


def test_a_saved_model_has_a_signature(capfd: Any) -> None:
    assert (
        _run_command_line(["diff", str(FIXTURES / "containers" / "saved_model"), str(REAL / "savedmodel_small.pb")])
        == 1
    )
    assert "serving_default" in capfd.readouterr().out


def test_a_model_that_cannot_be_read_among_others(tmp_path: Path, capfd: Any) -> None:
    """It is no difference, and no model that is the same."""
    whole = (FIXTURES / "real/gan_scopes.pb").read_bytes()
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, number in ((old, 1), (new, 2)):
        folder.mkdir()
        (folder / "same.pb").write_bytes(whole)
        (folder / "settings.json").write_text(f'{{"number": {number}}}')  # no model on either side
    assert _run_command_line(["diff", str(old), str(new)]) == 0
    assert "settings.json: not compared" in capfd.readouterr().out
    (new / "same.pb").write_bytes(whole[:20_000])
    assert _run_command_line(["diff", str(old), str(new), "--quiet"]) == 3
    assert _run_command_line(["diff", str(new), str(old), "--format", "json"]) == 3
    assert "cut short" in json.loads(capfd.readouterr().out)[0]["state"]


def test_an_output_where_git_asks(pair: list[str], capfd: Any) -> None:
    assert _run_command_line(["diff", "--git", *pair, "-o", "a.svg"]) == 2
    assert "-o writes one diff" in capfd.readouterr().err


def test_what_git_hands_over(pair: list[str], capfd: Any) -> None:
    assert _run_command_line(["diff", "m.pb", pair[0], "0" * 40, "100644", pair[1], "1" * 40, "100644"]) == 0
    told = capfd.readouterr().out.splitlines()
    assert told[:2] == ["diff --tbgraph m.pb", "1 change: 1 changed; 3 ops"]
    assert _run_command_line(["diff", "m.pb", "/dev/null", ".", ".", pair[1], "1" * 40, "100644"]) == 0
    assert "1 added; 0 → 3 ops" in capfd.readouterr().out
    dense = str(Path(__file__).parents[2] / "fixtures/edits/base.frozen.pb")
    assert _run_command_line(["diff", "m.pb", "/dev/null", ".", ".", dense, "1" * 40, "100644"]) == 0
    assert "0 → 159 parameters (+159)" in capfd.readouterr().out
    assert (
        _run_command_line(["diff", "m.pb", pair[0], "0", "1", pair[0], "0", "1", "n.pb", "similarity index 100%"]) == 0
    )
    assert capfd.readouterr().out.startswith("diff --tbgraph m.pb → n.pb\nsame")


@pytest.mark.parametrize("count", [3, 7, 9])
def test_a_list_of_files_is_not_taken_for_what_git_hands_over(count: int, pair: list[str], capfd: Any) -> None:
    assert _run_command_line(["diff", *(pair * 5)[:count]]) == 2
    assert f"{count} sources given; two are needed" in capfd.readouterr().err


def test_a_picture_is_drawn_once_however_many_formats_it_is_written_in(
    pair: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def counting(*words: Any) -> Any:
        drawn.append(words)
        return draw(*words)

    draw = overlay.first_picture
    monkeypatch.setattr(overlay, "first_picture", counting)
    targets = [tmp_path / f"a.{suffix}" for suffix in ("svg", "pdf", "html", "dot", "md")]
    assert _run_command_line(["diff", "-q", *pair, *(word for target in targets for word in ("-o", str(target)))]) == 1
    assert len(drawn) == 1
    assert all(target.stat().st_size for target in targets)
