"""A line for work that takes longer than a second: what is done, how much is left, since when."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from graphviz_tb.progress import listening

PATIENCE_SECONDS = 1.0  # a shorter wait shows nothing
REDRAW_SECONDS = 0.25
BAR_PLACES = 24  # of the bar, as that of the stages


@contextmanager
def waiting(what: str, quiet: bool = False, stream: TextIO | None = None) -> Iterator[None]:
    """Run a block, and on a terminal draw how far it is when it takes longer than a second."""
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
        """Note how far the work is."""
        self._what, self._done, self._total = what, done, total

    def start(self) -> None:
        """Begin to wait."""
        self._thread.start()

    def stop(self) -> None:
        """Take the line away."""
        self._ended.set()
        self._thread.join()

    def text(self, seconds: float) -> str:
        """Return the line after so many seconds."""
        share = self._done / self._total if self._total else 0.0
        full = int(BAR_PLACES * min(1.0, share))
        bar = "━" * full + "╌" * (BAR_PLACES - full)
        count = f"  {self._done:,} of {self._total:,}" if self._total else ""
        left = seconds / share - seconds if share >= 0.1 else 0.0
        return f"{bar} {self._what}{count}  {seconds:.0f} s{f', about {left:.0f} s left' if left >= 1 else ''}"

    def _draw_until_stopped(self) -> None:
        drawn = False
        wait = PATIENCE_SECONDS
        while not self._ended.wait(wait):
            # \r: back to the left; ESC [ K: clear to the end of the line.
            self._stream.write(f"\r\x1b[K{self.text(time.monotonic() - self._began)}")
            self._stream.flush()
            drawn, wait = True, REDRAW_SECONDS
        if drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
