"""Progress on a terminal: a bar of the stages of a picture, a line for other work that takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from graphviz_tb.progress import listening

PATIENCE_SECONDS = 1.0  # a shorter wait shows no line
REDRAW_SECONDS = 0.25
STEPS_REDRAW_SECONDS = 0.1  # least time between two shown steps of a stage
BAR_PLACES = 24  # it leaves room for a stage and its bytes on 80 columns


def _bar_of_share(share: float) -> str:
    full = int(BAR_PLACES * share)
    return "━" * full + "╌" * (BAR_PLACES - full)


def _replace_line(stream: TextIO, text: str) -> None:
    # \r: back to the left; ESC [ K: clear to the end of the line.
    stream.write(f"\r\x1b[K{text}")
    stream.flush()


class ProgressBar:
    """A bar of the stages on a terminal; silent if standard error is not a terminal, or with `quiet`."""

    def __init__(self, stages: tuple[str, ...], quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stages = stages
        self.stream = stream or sys.stderr
        self.shown = not quiet and self.stream.isatty()
        self.stage = stages[0]
        self.detail = ""  # how far the stage is, in words
        self.drawn = 0.0  # when steps were shown last

    def __call__(self, stage: str) -> None:
        """Begin a stage. The bar never goes back: an earlier stage within a later one is not shown."""
        if self.stages.index(stage) >= self.stages.index(self.stage):
            self.stage, self.detail = stage, ""
            self.draw_bar(0.0)

    def show_progress(self, done: int, total: int | None) -> None:
        """Show the progress of the stage, in bytes."""
        if total:
            from graphviz_tb.model.formatting import format_bytes

            self.detail = f", {format_bytes(min(done, total))} of {format_bytes(total)}"
            self.draw_bar(min(1.0, done / total))

    def show_steps(self, what: str, done: int, total: int) -> None:
        """Show the progress of a stage that counts its own steps."""
        now = time.monotonic()
        if total and now - self.drawn >= STEPS_REDRAW_SECONDS:
            self.drawn, self.detail = now, f", {done:,} of {total:,} {what}"
            self.draw_bar(min(1.0, done / total))

    def clear(self) -> None:
        """Erase the bar."""
        if self.shown:
            _replace_line(self.stream, "")

    def draw_bar(self, share: float) -> None:
        if self.shown:
            done, count = self.stages.index(self.stage), len(self.stages)
            bar = _bar_of_share((done + share) / count)
            _replace_line(self.stream, f"{bar} {self.stage}  {done + 1} of {count}{self.detail}")


@contextmanager
def waiting(what: str, quiet: bool = False, stream: TextIO | None = None) -> Iterator[None]:
    """Run a block; on a terminal, show its progress once it takes longer than a second."""
    stream = stream or sys.stderr
    if quiet or not stream.isatty():
        yield
        return
    line = WaitingLine(what, stream)
    with listening(line.advance):
        line.start()
        try:
            yield
        finally:
            line.stop()


class WaitingLine:
    """A line that its own thread redraws until it is stopped and cleared."""

    def __init__(self, what: str, stream: TextIO) -> None:
        self._what, self._stream = what, stream
        self._done, self._total = 0, 0
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._draw_until_stopped, daemon=True)

    def advance(self, what: str, done: int, total: int) -> None:
        """Record the progress of the work."""
        self._what, self._done, self._total = what, done, total

    def start(self) -> None:
        """Begin to wait."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and clear the line."""
        self._ended.set()
        self._thread.join()

    def text(self, seconds: float) -> str:
        """Return the line after so many seconds."""
        share = self._done / self._total if self._total else 0.0
        bar = _bar_of_share(min(1.0, share))
        count = f"  {self._done:,} of {self._total:,}" if self._total else ""
        left = seconds / share - seconds if share >= 0.1 else 0.0
        return f"{bar} {self._what}{count}  {seconds:.0f} s{f', about {left:.0f} s left' if left >= 1 else ''}"

    def _draw_until_stopped(self) -> None:
        drawn = False
        wait = PATIENCE_SECONDS
        while not self._ended.wait(wait):
            _replace_line(self._stream, self.text(time.monotonic() - self._began))
            drawn, wait = True, REDRAW_SECONDS
        if drawn:
            _replace_line(self._stream, "")
