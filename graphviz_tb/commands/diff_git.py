"""`tbgraph diff --git`: git's external diff and textconv. The exit code is always 0, so that it never stops git."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from graphviz_tb.commands.diff_codes import EXIT_SAME, MAX_REPORTED_CHANGES

if TYPE_CHECKING:
    from graphviz_tb.diff.options import ReportStyle
    from graphviz_tb.diff.result import Changes

GIT_ARGUMENTS, GIT_RENAME_ARGUMENTS = 7, 9  # number of arguments of an external diff, and for a renamed file
GIT_HASH, GIT_MODE = re.compile(r"[0-9a-f]+|\."), re.compile(r"[0-7]+|\.")  # a dot if there is no file


def is_called_by_git(sources: tuple[str, ...]) -> bool:
    """Return whether the arguments are those of git to an external diff, and not seven files given by a user.

    >>> is_called_by_git(("m.pb", "/tmp/a", "5f3e", "100644", "m.pb", "0000", "100644"))
    True
    >>> is_called_by_git(("a.pb", "b.pb", "c.pb", "d.pb", "e.pb", "f.pb", "g.pb"))
    False
    """
    # path old-file old-hex old-mode new-file new-hex new-mode [new-path, similarity]
    if len(sources) not in (GIT_ARGUMENTS, GIT_RENAME_ARGUMENTS):
        return False
    hashes, modes = (sources[2], sources[5]), (sources[3], sources[6])
    return all(map(GIT_HASH.fullmatch, hashes)) and all(map(GIT_MODE.fullmatch, modes))


def report_for_git(sources: tuple[str, ...], compare: Callable[[str, str], Changes], style: ReportStyle) -> int:
    """Print the graph of one file as lines, else the changes between the two files from git."""
    from graphviz_tb.commands.terminal import print_report
    from graphviz_tb.diff.report.explain import printable
    from graphviz_tb.errors import TbGraphError

    first = "" if len(sources) < GIT_ARGUMENTS else git_header(sources)
    try:
        if len(sources) == 1:
            from graphviz_tb.diff.report.lines import lines_of

            print_report(lines_of(sources[0]))
            return EXIT_SAME
        old, new = (sources[1], sources[4]) if len(sources) >= GIT_ARGUMENTS else (sources[0], sources[-1])
        print_report(first + compare(old, new).explain(style, MAX_REPORTED_CHANGES))
    # An error would stop git; the next file may be a graph.
    except TbGraphError as error:
        print_report(f"{first}no graph: {printable(' '.join(str(error).split()))}\n")
    return EXIT_SAME


def git_header(sources: tuple[str, ...]) -> str:
    """Return the line that names the file, as other diffs print it."""
    from graphviz_tb.diff.report.explain import printable

    return (
        printable(f"diff --tbgraph {sources[0]}" + (f" → {sources[7]}" if len(sources) == GIT_RENAME_ARGUMENTS else ""))
        + "\n"
    )
