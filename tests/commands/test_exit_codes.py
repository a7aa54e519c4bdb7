"""Exit codes of odd requests: 2 for what was asked, 3 for the file, 5 for the machine, 130 for Ctrl-C; never 70."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphviz_tb import diff, load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import CannotWrite
from tests.each import each
from tests.effort import part

ROOT = Path(__file__).parents[2]
GOOD = str(ROOT / "fixtures/real/hidden_scope.pbtxt")
SAVED = str(ROOT / "fixtures/containers/saved_model")


@each(
    ("line", "code"),
    [
        (["render", GOOD, "-o", "x.svg", "--step", "3"], 2),
        (["render", GOOD, "-o", "x.svg", "--depth", "1", "--open-all"], 2),
        (["render", GOOD, "-o", "x.svg", "--step", "9" * 5000], 2),
        (["render", GOOD, "-o", "x.svg", "--depth", "9" * 5000], 2),
        (["render", GOOD, "-o", "x.svg", "--max-bytes", "9" * 5000], 2),
        *(
            (["render", GOOD, "-o", "x.svg", option, "9" * 400], 2)
            for option in ("--depth", "--max-open", "--max-bytes")
        ),
        *((["info", GOOD, option, "9" * 400], 2) for option in ("--series-min", "--batch")),
        (["render", GOOD, "-o", "x.html", "--page-max", "9" * 400], 2),
        (["render", GOOD, "-o", "x.html", "--page-max", "1e300"], 2),
        (["render", GOOD, "-o", "x.svg", "--signature", "serving_default"], 2),
        (["render", SAVED, "-o", "x.svg", "--signature", "nowhere"], 2),
        (["render", "x" * 300, "-o", "x.svg"], 3),
        (["render", "y/" * 3000, "-o", "x.svg"], 3),
        (["render", GOOD, "-o", "x" * 300 + ".svg"], 5),
        (["info", "x" * 300], 3),
        (["info", GOOD, "--run-metadata", GOOD], 3),
        (["render", GOOD, "-o", "x.svg", "--run-metadata", GOOD], 3),
        (["render", GOOD, "-o", "-", "-o", "-", "--format", "svg"], 2),
        (["tree", f"{GOOD}/x"], 3),
    ],
    ids=lambda word: " ".join(word)[-30:] if isinstance(word, list) else str(word),
)
def test_exit_codes(
    line: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_command_line(line) == code, capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    part(
        [
            "render GOOD -o /dev/stdout -f svg | head -c 4",
            "render GOOD -o >(head -c 4) -f svg; wait",
            "render GOOD -o /proc/self/fd/1 -f svg | head -c 4",
            "render GOOD -o /dev/fd/7 -f svg 7>&1 | head -c 4",
        ],
        3,
    ),
)
def test_a_pipe_may_have_any_name(line: str, tmp_path: Path) -> None:
    line = f"{sys.executable} -m graphviz_tb {line.replace('GOOD', GOOD)}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "<svg", done.stderr
    assert done.stderr == ""


def test_the_folder_of_a_device_need_not_be_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root may write in `/dev`, and all may write to `/dev/null`."""
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith("/dev"))
    assert _run_command_line(["render", GOOD, "-o", "/dev/null", "-f", "svg"]) == 0


def test_no_file_has_a_nul_in_its_name(tmp_path: Path) -> None:
    for save in (load(GOOD).save, load(GOOD).picture().save, diff(GOOD, GOOD).save):
        with pytest.raises(CannotWrite, match="null"):
            save(tmp_path / "a\0b.svg")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    line = f"{sys.executable} -m graphviz_tb render <(cat {GOOD}) -o x.svg --step 3"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "no run statistics" in done.stderr) == (2, True), done.stderr


def test_function_names_of_thousands_of_digits(tmp_path: Path) -> None:
    names = ["f_" + "7" * 5000, "f_" + "7" * 4999 + "8"]
    text = "".join(
        f'library {{ function {{ signature {{ name: "{name}" }} node_def {{ name: "x" op: "A" }} }} }}'
        for name in names
    )
    (tmp_path / "a.pbtxt").write_text(f'node {{ name: "c" op: "{names[0]}" }} {text}')
    (tmp_path / "b.pbtxt").write_text(f'node {{ name: "c" op: "{names[1]}" }} {text}')
    for words in (["info", "a"], ["tree", "a"], ["diff", "a", "a"], ["diff", "a", "b"]):
        paths = [str(tmp_path / f"{word}.pbtxt") for word in words[1:]]
        assert _run_command_line([words[0], *paths, "-q"]) in (0, 1)


@pytest.mark.parametrize(
    "words", part(["info .", "render . -o x.svg", "tree nowhere", f"render {GOOD} -o x.svg", f"diff . {GOOD}"], 3)
)
def test_a_working_directory_that_was_deleted(words: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {gone}; {sys.executable} -P -m graphviz_tb {words}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", line], cwd=gone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (3, 5), done.stderr
    assert "Traceback" not in done.stderr
    assert "standard output" not in done.stderr


@pytest.mark.parametrize("module", ["click", "graphviz_tb.commands", "numpy"])
def test_control_c_while_importing(module: str) -> None:
    """A module that interrupts the import of itself, as the signal would."""
    code = (
        "import sys, signal, os\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        f"sys.meta_path.insert(0, Finder()); sys.argv = ['tbgraph', 'info', {GOOD!r}]\n"
        "from graphviz_tb.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
