"""Text in terminal columns: widths as displayed, clipping, small bars, tables.

Nothing here prints except `print_lines`, and only `TextStyle` knows colours.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

import click
import wcwidth

from graphviz_tb.commands.terminal import takes_colours
from graphviz_tb.limits import MAX_TERMINAL_WIDTH

BAR_SIGNS = " ▏▎▍▌▋▊▉█"
# For encodings without these signs.
ASCII_SUBSTITUTES = str.maketrans("█▉▊▋▌▍▎▏▁▂▃▄▅▆▇…×·─━│├┤└→↑↓−∞", "########_.,-=+*~x---|||`>^v-8")
JSON_CHUNK_LETTERS = 1 << 20  # characters in a printed chunk
MIN_COLUMN_WIDTH = 6  # least width of a column that shrinks
BAR_WIDTH = 16  # columns of a bar if there is room
SHORT_BAR_WIDTH = 10  # columns of a bar in a table with many columns: tenths are readable


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Colours, or none."""

    on: bool = False

    def head(self, text: str) -> str:
        return click.style(text, bold=True) if self.on else text

    def dim(self, text: str) -> str:
        """Something less important."""
        return click.style(text, dim=True) if self.on else text

    def bar(self, text: str) -> str:
        return click.style(text, fg="cyan") if self.on else text


def terminal_width() -> int:
    """Return the width of a line: COLUMNS, the terminal, else 80."""
    return max(1, min(MAX_TERMINAL_WIDTH, shutil.get_terminal_size((80, 24)).columns))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output, escaping characters that its encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(as_encodable(line, encoding))


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document as indented JSON."""
    print_lines(json_lines(document))


def json_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a document as indented JSON, in chunks, since the whole text can take gigabytes.

    >>> print(*json_lines({"nodes": [1]}))
    {
     "nodes": [
      1
     ]
    }
    """
    pieces: list[str] = []
    letters = 0
    for piece in json.JSONEncoder(indent=1).iterencode(document):
        pieces.append(piece)
        letters += len(piece)
        # Between two items: JSON has no line break within a text.
        if letters > JSON_CHUNK_LETTERS and piece.startswith(",\n"):
            pieces.pop()
            yield "".join([*pieces, ","])
            pieces, letters = [piece[2:]], 0
    yield "".join(pieces)


def as_encodable(line: str, encoding: str) -> str:
    """Return the line with plain substitutes or escapes for characters that `encoding` lacks.

    >>> as_encodable("├─ ██ 층", "ascii")
    '|- ## \\\\uce35'
    """
    try:
        line.encode(encoding)
    except UnicodeEncodeError:
        return line.translate(ASCII_SUBSTITUTES).encode(encoding, "backslashreplace").decode(encoding)
    return line


def output_style() -> TextStyle:
    return TextStyle(takes_colours(sys.stdout))


def shown_width(text: str) -> int:
    """Return the display width of `text`: wide characters take two columns, combining ones none, joined ones as many as
    a single one.

    >>> shown_width("abc"), shown_width("층"), shown_width("e\\u0301"), shown_width("👩\\u200d👧")
    (3, 2, 1, 2)
    """
    return wcwidth.width(text, control_codes="ignore")


def clip_middle(text: str, width: int) -> str:
    """Return `text` in at most `width` columns, cut in the middle so that its end is kept.

    >>> (
    ...     clip_middle("encoder/layer_12/output", 14),
    ...     clip_middle("층층층층", 5),
    ...     clip_middle("abc", 3),
    ...     clip_middle("abc", 0),
    ... )
    ('encoder…output', '층…층', 'abc', '')
    """
    if shown_width(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]  # room for the sign only
    # The end first: the last segment of a path is the most informative.
    tail = "".join(reversed(_take_graphemes(wcwidth.iter_graphemes_reverse(text), (width - 1) // 2)))
    return "".join(_take_graphemes(wcwidth.iter_graphemes(text), width - 1 - shown_width(tail))) + "…" + tail


def _take_graphemes(graphemes: Iterable[str], width: int) -> list[str]:
    """Return as many of the first graphemes as fit."""
    taken, room = [], width
    for grapheme in graphemes:
        room -= shown_width(grapheme)
        if room < 0:
            break
        taken.append(grapheme)
    return taken


def pad_text(text: str, width: int, right: bool = False) -> str:
    """Return `text` in exactly `width` columns.

    >>> pad_text("층", 4) + "|", pad_text("7", 3, right=True)
    ('층  |', '  7')
    """
    text = clip_middle(text, width)
    gap = " " * (width - shown_width(text))
    return gap + text if right else text + gap


def bar_text(share: float, width: int) -> str:
    """Return a bar that fills `share` of `width` columns, in eighths; any positive share is visible.

    >>> bar_text(0.5, 4), bar_text(0.001, 4), bar_text(0, 4)
    ('██', '▏', '')
    """
    eighths = round(min(1.0, max(0.0, share)) * width * 8)  # of a place: BLOCKS has a sign for each
    # Show a positive share as a thin bar.
    if not eighths:
        eighths = 1 if share > 0 and width else 0
    return "█" * (eighths // 8) + BAR_SIGNS[eighths % 8].strip()


def format_table(
    rows: Sequence[Sequence[str]],
    width: int,
    right: Sequence[int] = (),
    shrinking: Sequence[int] = (0,),
    indent: int = 2,
    header: bool = False,
    look: TextStyle = TextStyle(),
) -> list[str]:
    """Return rows of cells in columns, no line wider than `width`.

    `right` are the right-aligned columns, `shrinking` those that shrink, widest first, if there is no room; with
    `header` the first row is dimmed.

    >>> format_table([("conv1/weights", "12"), ("fc", "3")], 14, right=(1,))
    ['  conv…hts  12', '  fc         3']
    """
    if not rows:
        return []
    # Each column is as wide as its widest cell; then the widest of `shrinking` shrink.
    widths = [max(shown_width(row[index]) for row in rows) for index in range(len(rows[0]))]
    widths = _shrink_columns(widths, shrinking, width - indent - 2 * (len(widths) - 1))
    columns = [_clip_cells(column, wide) for column, wide in zip(zip(*rows, strict=True), widths, strict=True)]
    lines = []
    for index, row in enumerate(zip(*columns, strict=True)):
        cells = [pad_text(cell, widths[column], column in right) for column, cell in enumerate(row)]
        line = clip_end(" " * indent + "  ".join(cells).rstrip(), width)
        lines.append(look.dim(line) if header and index == 0 else line)
    return lines


def _clip_cells(cells: Sequence[str], width: int) -> list[str]:
    """Return the cells of a column in at most `width` columns. Different cells that would look alike lose their common
    words.

    >>> _clip_cells(["eval_accuracy_vs_iterations", "eval_loss_vs_iterations", "lr"], 9)
    ['…accu…ons', '…loss…ons', 'lr']
    """
    clipped = {cell: clip_middle(cell, width) for cell in cells}
    cells_by_text: dict[str, list[str]] = {}
    for cell, text in clipped.items():
        cells_by_text.setdefault(text, []).append(cell)
    for alike in (cells for cells in cells_by_text.values() if len(cells) > 1):
        start = len(commonprefix(alike))  # noqa: RUF071 (letters are meant)
        while start and alike[0][start - 1].isalnum():  # cut between words
            start -= 1
        if start:
            clipped.update({cell: clip_end("…" + clip_middle(cell[start:], width - 1), width) for cell in alike})
    return [clipped[cell] for cell in cells]


def _shrink_columns(widths: list[int], gives: Sequence[int], room: int) -> list[int]:
    widths = list(widths)
    while sum(widths) > room:
        widest = max(gives, key=lambda column: widths[column])
        if widths[widest] <= MIN_COLUMN_WIDTH:
            break
        # Shrink to the next widest in one step: no loop over single columns.
        others = sorted((widths[column] for column in gives if column != widest), reverse=True)
        step = widths[widest] - max(
            MIN_COLUMN_WIDTH, others[0] if others and others[0] < widths[widest] else MIN_COLUMN_WIDTH
        )
        widths[widest] -= max(1, min(step, sum(widths) - room))
    return widths


def clip_end(line: str, width: int) -> str:
    """Return a line cut at its end.

    >>> clip_end("abcdef", 4)
    'abc…'
    """
    return (
        line if shown_width(line) <= width else "".join(_take_graphemes(wcwidth.iter_graphemes(line), width - 1)) + "…"
    )


def join_fitting(words: Sequence[str], width: int, more: bool = False) -> str:
    """Return as many words as fit, at least the first, and a sign if there are more.

    >>> join_fitting(["conv1", "conv2", "conv3"], 15), join_fitting(["conv1", "conv2"], 15)
    ('conv1, conv2 …', 'conv1, conv2')
    """
    # Every word takes two columns at least, which limits their number; there may be tens of thousands.
    for count in range(min(len(words), max(1, width)), 0, -1):
        text = ", ".join(words[:count]) + (" …" if more or count < len(words) else "")
        if shown_width(text) <= width:
            return text
    return clip_middle(words[0], width) if words else ""


def wrap_text(text: str, width: int, indent: int = 2, more: int = 2) -> list[str]:
    """Return `text` in lines at most `width` wide; those after the first are indented by `more`. A word longer than a
    line is cut.

    >>> wrap_text("an input names no node", 14)
    ['  an input', '    names no', '    node']
    """
    first, others = " " * indent, " " * (indent + more)
    words = " ".join(clip_middle(word, max(1, width - len(others))) for word in text.split(" "))
    lines = wcwidth.wrap(words, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
    return [clip_end(line, width) for line in lines or [first]]


def bar_width(width: int) -> int:
    """Return the width of a bar, smaller on narrow terminals."""
    return max(4, min(BAR_WIDTH, width // 5))


def color_bars(lines: list[str], look: TextStyle) -> list[str]:
    """Colour the bar at the end of each line."""
    if not look.on:
        return lines
    # The bar is the end of a line: the colour begins with its blocks.
    cut = [len(line.rstrip("█▉▊▋▌▍▎▏")) for line in lines]
    return [line[:start] + look.bar(line[start:]) for line, start in zip(lines, cut, strict=True)]


def format_percent(share: float) -> str:
    """Format a share; 100 % and 0 % only if exact.

    >>> format_percent(1.0), format_percent(0.9999), format_percent(0.0001), format_percent(0.123)
    ('100 %', '99.9 %', '<0.1 %', '12.3 %')
    """
    if 0 < share < 0.001:
        return "<0.1 %"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(share, 0.999) * 100:.1f} %"  # 99.96 % is not all
