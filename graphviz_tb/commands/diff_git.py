"""`tbgraph diff --git`: as git's external diff and as its textconv. It never ends git's run: exit code 0, always."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphviz_tb.commands.diff_codes import SAME, TOP

if TYPE_CHECKING:
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.diff.styles import Style

RENAMED = 9  # arguments where the file was renamed; seven else


def for_git(sources: tuple[str, ...], compare: Callable[[str, str], Changes], style: Style) -> int:
    """Print the graph of one file in lines, else the changes of the two that git hands over."""
    from graphviz_tb.commands.terminal import print_report
    from graphviz_tb.diff.report.explain import printable
    from graphviz_tb.errors import TbGraphError

    # path old-file old-hex old-mode new-file new-hex new-mode [new-path, similarity]
    first = "" if len(sources) < 7 else header(sources)
    try:
        if len(sources) == 1:
            from graphviz_tb.diff.report.lines import lines_of

            print_report(lines_of(sources[0]))
            return SAME
        old, new = (sources[1], sources[4]) if len(sources) >= 7 else (sources[0], sources[-1])
        print_report(first + compare(old, new).explain(style, TOP))
    # An error would end git's whole run; the next file may be a graph.
    except TbGraphError as error:
        print_report(f"{first}no graph: {printable(' '.join(str(error).split()))}\n")
    return SAME


def header(sources: tuple[str, ...]) -> str:
    """The line that names the file, as other diffs print it."""
    from graphviz_tb.diff.report.explain import printable

    return printable(f"diff --tbgraph {sources[0]}" + (f" → {sources[7]}" if len(sources) == RENAMED else "")) + "\n"
