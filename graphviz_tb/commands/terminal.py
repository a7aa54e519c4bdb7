"""Printing for people: errors, notices, the progress bar and times on standard error, reports on standard output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO, cast

import click

if TYPE_CHECKING:
    from graphviz_tb.model.notice import Notice
    from graphviz_tb.place.quality import SceneQuality


def takes_colours(stream: TextIO) -> bool:
    """Return whether `stream` supports colours: a terminal, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_message(word: str, message: str, color: str, is_multiline: bool = False) -> None:
    """Print `word: message` on standard error, in one line, or with its line breaks if `is_multiline`."""
    from graphviz_tb.limits import MAX_MESSAGE_LETTERS  # imported late: help prints no message
    from graphviz_tb.model.formatting import printable
    from graphviz_tb.model.measure import truncate_middle

    head = click.style(f"{word}:", fg=color, bold=True) if takes_colours(sys.stderr) else f"{word}:"
    safe = "\n".join(map(printable, message.split("\n"))) if is_multiline else printable(message)
    print(f"{head} {truncate_middle(safe, MAX_MESSAGE_LETTERS)}", file=sys.stderr)


def print_notices(notices: Iterable[Notice]) -> None:
    """Print one line for each kind of notice."""
    for notice in notices:
        more = f" (and {notice.count - 1:,} more)" if notice.count > 1 else ""
        print_message("notice", notice.message + more, "yellow")


def print_times(seconds: Mapping[str, tuple[float, float]]) -> None:
    """Print a table of the stages: wall and CPU milliseconds."""
    print(f"{'stage':<10}{'wall ms':>10}{'CPU ms':>10}", file=sys.stderr)
    rows = [*seconds.items(), ("total", tuple(map(sum, zip(*seconds.values(), strict=True))))]
    for stage, (wall, cpu) in rows:
        print(f"{stage:<10}{wall * 1000:>10.1f}{cpu * 1000:>10.1f}", file=sys.stderr)


def print_quality(quality: SceneQuality) -> None:
    """Print the quality of the arrangement, in the measures of its benchmark."""
    straight = f"{quality.straight} of {quality.steps} steps straight" if quality.steps else "none"
    words = (
        f"{quality.crossings:,} crossings, {quality.bends:,} bends, {straight}, {quality.width:,}×{quality.height:,} px"
    )
    print(f"{'drawn':<10}{words}", file=sys.stderr)


def replace_closed_streams() -> None:
    """Replace closed standard streams: input is empty, output fails on writing, messages are dropped.

    Standard output escapes characters that its encoding lacks.
    """
    # Python has None for a stream that was closed before it began.
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        # Opened for reading: writing fails, as it should.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = MessageStream(os.fdopen(os.open(os.devnull, os.O_WRONLY), "wb"), "utf-8")
    elif isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = MessageStream.wrap_stream(sys.stderr)
    if isinstance(sys.stdout, io.TextIOWrapper):
        if isinstance(sys.stdout.buffer, io.RawIOBase):
            sys.stdout = _buffered_stream(sys.stdout)
        if sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="backslashreplace")


def _buffered_stream(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream that writes everything or fails: with PYTHONUNBUFFERED, writes to a full disk would be lost
    silently."""
    encoding, errors = stream.encoding, stream.errors
    return io.TextIOWrapper(io.BufferedWriter(cast("io.RawIOBase", stream.detach())), encoding, errors)


class MessageStream(io.TextIOWrapper):
    """Standard error that ignores failed writes, as on a full disk: they change no exit code."""

    before: io.TextIOWrapper | None = None  # kept alive: it would close the buffer that both write to

    @classmethod
    def wrap_stream(cls, stream: io.TextIOWrapper) -> MessageStream:
        """Wrap a stream so that messages which cannot be written are dropped."""
        made = cls(stream.buffer, stream.encoding, "backslashreplace", line_buffering=True)
        made.before = stream
        return made

    def write(self, text: str) -> int:
        """Write as far as possible."""
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flush as far as possible."""
        with suppress(OSError):
            super().flush()


def detach_stdout() -> None:
    """Redirect standard output to nowhere: unwritten text is dropped."""
    with suppress(OSError, ValueError):  # not a system file, as in tests
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_report(text: str) -> None:
    """Print on standard output; a reader that closes the pipe does not change the exit code."""
    # As bytes, so that the encoding of the terminal does not change a piped report.
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        detach_stdout()
