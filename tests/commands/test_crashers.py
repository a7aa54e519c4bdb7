"""Files that once ended in a fault: each command ends soon, with the right code, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb.commands import _run_command_line
from tests.each import each
from tests.effort import everything, part

FIXTURES = Path(__file__).parents[2] / "fixtures"
CRASHERS = sorted((FIXTURES / "crashers").iterdir())
REFUSED = {
    *("deep_value.json", "number_of_digits.json", "torn_bzip2.keras", "torn_lzma.keras", "unfolds.keras"),
    "weights_unfold.keras",
}
LARGEST = 20_000  # bytes
LONG = {"doubling_calls.pb", "deep_name.pb"}  # seconds each


@each("path", part((path for path in CRASHERS if everything() or path.name not in LONG), 2), ids=lambda path: path.name)
@each("command", part(["render", "info", "tree", "diff"], 3))
def test_each_command_on_each_file(
    command: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["-o", str(tmp_path / "a.svg"), "-o", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.html")]
    more = {"render": out, "diff": [str(path), *out]}.get(command, [])
    refused = path.name in REFUSED
    assert _run_command_line([command, str(path), *more, "-q"]) == (3 if refused else 0), capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) == (0 if refused or not more else 3)


def test_they_are_small() -> None:
    assert all(path.stat().st_size <= LARGEST for path in CRASHERS)
    assert {path.name for path in CRASHERS} >= REFUSED
