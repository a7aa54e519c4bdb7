"""What takes longer than a second says so on a terminal, and leaves nothing half-written."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.commands import progress_bar as module
from graphviz_tb.commands.progress_bar import ProgressBar, WaitingLine, waiting
from graphviz_tb.logs.log import open_log
from graphviz_tb.progress import advance, listening
from tests.conftest import FIXTURES
from tests.each import each

ROOT = FIXTURES.parent
PATIENCE = 600.0  # seconds to wait for a thread: a machine may be busy with something else


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        count = super().write(text)
        self._drawn.set()
        return count

    def wait_for(self, text: str) -> None:
        """Wait until the thread that draws has written a text, however slow the machine."""
        stop = time.monotonic() + PATIENCE
        while text not in self.getvalue():
            assert time.monotonic() < stop
            assert self._drawn.wait(PATIENCE)
            self._drawn.clear()


def test_a_long_wait_is_said_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(module, "REDRAW_SECONDS", 0.01)
    stream = Terminal()
    with waiting("read runs", stream=stream):
        advance("read runs", 3, 12)
        stream.wait_for("read runs  3 of 12")
    shown = stream.getvalue()
    assert "━━━━━━╌" in shown
    assert shown.endswith("\r\x1b[K")


@pytest.mark.parametrize("quiet", [False, True])
def test_a_short_wait_and_a_file_show_nothing(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", PATIENCE)
    stream = Terminal()
    with waiting("read runs", quiet, stream):
        advance("read runs", 1, 2)
    plain = io.StringIO()
    with waiting("read runs", stream=plain):
        pass
    assert (stream.getvalue(), plain.getvalue()) == ("", "")


def test_an_error_takes_the_line_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.01)
    stream = Terminal()

    def fail() -> None:
        with waiting("compare", stream=stream):
            stream.wait_for("compare")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_the_line_says_how_much_is_left() -> None:
    line = WaitingLine("read runs", Terminal())
    assert line.text(2).endswith("read runs  2 s")
    line.advance("read runs", 1, 4)
    assert line.text(2).endswith("read runs  1 of 4  2 s, about 6 s left")


def test_the_bar_of_stages_counts_them_and_bytes() -> None:
    stream = Terminal()
    bar = ProgressBar(("read", "group", "render"), stream=stream)
    bar.show_progress(1_500_000, 3_000_000)
    assert stream.getvalue().endswith("read  1 of 3, 1.43 MB of 2.86 MB")
    bar("group")
    assert stream.getvalue().endswith("group  2 of 3")


def test_logs_say_how_far_they_are() -> None:
    said: list[tuple[str, int, int]] = []
    with listening(lambda *step: said.append(step)):
        open_log(FIXTURES / "logged/tf2_summaries")
    assert said == [("read runs", 0, 2), ("read runs", 1, 2)]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="of other systems")
@pytest.mark.parametrize("command", ["render", "open --file", "render -o new.svg"])
@each("stage", ["read", "group", "place", "render"])
def test_control_c_leaves_nothing(command: str, stage: str, tmp_path: Path) -> None:
    """At the beginning of a stage, however long the machine takes until then."""
    shutil.copy(FIXTURES / "real/hidden_scope.pbtxt", tmp_path / "graph.pbtxt")
    code = (
        "import os, signal, sys\n"
        "from graphviz_tb.__main__ import main\n"
        "from graphviz_tb.commands.progress_bar import ProgressBar\n"
        "class Interrupted(ProgressBar):\n"
        "    def __call__(self, stage):\n"
        "        super().__call__(stage)\n"
        f"        if stage == {stage!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "import graphviz_tb.commands.session as session\n"
        "session.ProgressBar = Interrupted\n"
        f"sys.argv = ['tbgraph', *{command.split()}, 'graph.pbtxt']\n"
        "main()"
    )
    environment = {**os.environ, "DISPLAY": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 130, done.stderr
    assert b"Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["graph.pbtxt"]


def test_a_stage_shows_how_far_it_is() -> None:
    stream = Terminal()
    bar = ProgressBar(("read", "render"), stream=stream)
    bar("render")
    with listening(bar.show_steps):
        advance("bands", 3, 12)
        advance("bands", 4, 12)  # at once: a terminal is not written to for each step
    assert "render  2 of 2, 3 of 12 bands" in stream.getvalue()
    assert "4 of 12" not in stream.getvalue()


def test_groups_of_a_page_are_steps() -> None:
    told: list[tuple[str, int, int]] = []
    model = load(FIXTURES / "real/mnist_cnn.pbtxt")
    with listening(lambda *step: told.append(step)):
        model.picture().html()
    assert {what for what, _, _ in told} == {"groups"}
    assert all(0 < done <= total for _, done, total in told)
