"""`tbgraph diff OLD_DIR NEW_DIR`: every model of two folders, paired by path."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphviz_tb.commands.diff_codes import DIFFERENT, SAME, TOP, code_of

if TYPE_CHECKING:
    from pathlib import Path

    from graphviz_tb.diff.folders import Pair
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.diff.styles import Style


def folders(old: str, new: str, compare: Callable[[str, str], Changes], style: Style, values: dict[str, Any]) -> int:
    """Print what changed in each pair; what came or went is a line."""
    from graphviz_tb.commands.terminal import print_report
    from graphviz_tb.diff.folders import pairs
    from graphviz_tb.errors import RequestError
    from graphviz_tb.output import keep_inputs

    if values["outputs"]:
        raise RequestError("-o writes one diff, and these are folders of models", hint="compare one pair of files")
    sections, code = [], SAME
    paired = pairs(old, new)
    keep_inputs([path for pair in paired for path in (pair.old, pair.new)], ["-"])
    for pair in paired:
        words, differs = section(pair, compare, style, values)
        sections.append(words)
        code = max(code, differs)
    if not values["quiet"]:
        print_report("[\n" + ",\n".join(sections) + "\n]\n" if style == "json" else "\n".join(sections))
    return code


def section(
    pair: Pair, compare: Callable[[str, str], Changes], style: Style, values: dict[str, Any]
) -> tuple[str, int]:
    """One pair in words, and the exit code that it calls for."""
    from graphviz_tb.diff.report.explain import printable
    from graphviz_tb.errors import ReadError

    if pair.old is None or pair.new is None:
        word = "added" if pair.old is None else "removed"
        return lone(pair.path, word, style), DIFFERENT if values["fail_on"] != "none" else SAME
    try:
        changes = compare(str(pair.old), str(pair.new))
    except ReadError as error:
        # Files that only end like models, as other JSON does, are said and no difference.
        code = error.exit_code if is_model(pair.old) or is_model(pair.new) else SAME
        return lone(pair.path, f"not compared: {error}", style), code
    if style == "json":
        return json.dumps({"path": pair.path, **changes.to_json()}, indent=1), code_of(changes, values["fail_on"])
    text = changes.explain(style, None if values["everything"] else TOP)
    path = printable(pair.path)
    head = f"## {path}\n\n" if style == "markdown" else f"{path}: "
    return head + text, code_of(changes, values["fail_on"])


def is_model(path: Path) -> bool:
    """Whether a file is of a form that holds a model, damaged or not."""
    from graphviz_tb.errors import NoGraph, ReadError, UnknownFormat
    from graphviz_tb.read import contents

    try:
        contents(path)
    except (NoGraph, UnknownFormat):
        return False
    except ReadError:
        pass
    return True


def lone(path: str, word: str, style: Style) -> str:
    """A model that has no pair, or is none."""
    from graphviz_tb.diff.report.explain import printable

    if style == "json":
        return json.dumps({"path": path, "state": word})
    path, word = printable(path), printable(word)
    return f"## {path}\n\n{word}\n" if style == "markdown" else f"{path}: {word}\n"
