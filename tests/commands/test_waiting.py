"""What takes longer than a second says so on a terminal, and leaves nothing half-written."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.commands import progress_bar as module
from graphviz_tb.commands.progress_bar import ProgressBar, WaitingLine, waiting
from graphviz_tb.logs.log import open_log
from graphviz_tb.progress import advance, listening
from tests.conftest import FIXTURES


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_long_wait_is_said_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(module, "REDRAW_SECONDS", 0.01)
    stream = Terminal()
    with waiting("read runs", stream=stream):
        advance("read runs", 3, 12)
        time.sleep(0.3)
    shown = stream.getvalue()
    assert "━━━━━━╌" in shown
    assert "read runs  3 of 12" in shown
    assert shown.endswith("\r\x1b[K")


@pytest.mark.parametrize("quiet", [False, True])
def test_a_short_wait_and_a_file_show_nothing(quiet: bool) -> None:
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
            time.sleep(0.2)
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
@pytest.mark.parametrize("words", [["render", "{}", "big.svg"], ["open", "--file", "{}"], ["render", "{}"]])
def test_control_c_leaves_nothing(words: list[str], tmp_path: Path) -> None:
    lines = (
        f'node {{ name: "a{n % 50}/b{n}" op: "Add" input: "a{(n - 1) % 50}/b{n - 1}" }}\n' for n in range(1, 60_000)
    )
    (tmp_path / "big.pbtxt").write_text('node { name: "a0/b0" op: "Placeholder" }\n' + "".join(lines))
    command = [sys.executable, "-m", "graphviz_tb", *(word.format("big.pbtxt") for word in words)]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, env={**os.environ, "DISPLAY": ""})
    time.sleep(2.5)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130, told
    assert b"Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["big.pbtxt"]


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
