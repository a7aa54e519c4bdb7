"""`tbgraph diff OLD_DIR NEW_DIR`: every model of two folders, paired by path."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphviz_tb.commands.diff_codes import EXIT_DIFFERENT, EXIT_SAME, MAX_REPORTED_CHANGES, diff_exit_code

# The head of the table of models.
MODEL_TABLE_HEAD = ("| model | verdict | Δ parameters | Δ FLOPs |", "|---|---|---:|---:|")

if TYPE_CHECKING:
    from pathlib import Path

    from graphviz_tb.diff.folders import Collection, ModelPair
    from graphviz_tb.diff.options import ReportStyle
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.errors import TbGraphError


def report_folders(
    old: Collection, new: Collection, compare: Callable[[str, str], Changes], style: ReportStyle, values: dict[str, Any]
) -> int:
    """Print the changes of each pair; an unpaired model, or a folder that cannot be read, is one line."""
    from graphviz_tb.commands.terminal import print_notices, print_report
    from graphviz_tb.diff.folders import pairs
    from graphviz_tb.errors import NOT_STRICT_HINT, Ambiguous, ReadError, RequestError, TbGraphError
    from graphviz_tb.output import check_inputs_kept

    if values["outputs"]:
        raise RequestError("-o writes one diff, and these are folders of models", hint="compare one pair of files")
    notices, unread = (*old.notices, *new.notices), {**new.unread, **old.unread}
    if values["strict"] and (unread or notices):
        why = next(iter(unread.values()), None) or notices[0].message
        raise ReadError(why, hint=NOT_STRICT_HINT)
    sections = [unpaired_section(path, f"not compared: {why}", style) for path, why in sorted(unread.items())]
    rows = [model_table_row(path, f"not compared: {why}") for path, why in sorted(unread.items())]
    code, refused = ReadError.exit_code if unread else EXIT_SAME, []
    paired = pairs(old, new)
    check_inputs_kept([path for pair in paired for path in (pair.old, pair.new)], ["-"])
    for pair in paired:
        try:
            words, differs, line = pair_section(pair, compare, style, values)
        except TbGraphError as error:
            words, differs = uncomparable_pair(pair, error, style)
            line = model_table_row(pair.path, f"not compared: {error.message.splitlines()[0]}")
            if isinstance(error, RequestError) and not isinstance(error, Ambiguous):
                refused.append(error.with_traceback(None))  # a traceback would keep the graphs of the pair alive
        sections.append(words)
        rows.append(line)
        code = max(code, differs)
    # A request refused for every pair is wrong as a whole.
    if refused and len(refused) == sum(None not in (pair.old, pair.new) for pair in paired):
        raise refused[0]
    if not values["quiet"]:
        # In a comment, equal and unpaired models are only in the table.
        told = [*(["\n".join([*MODEL_TABLE_HEAD, *rows, ""])] if style == "markdown" else []), *filter(None, sections)]
        print_report("[\n" + ",\n".join(told) + "\n]\n" if style == "json" else "\n".join(told))
        print_notices(notices)
    return code


def pair_section(
    pair: ModelPair, compare: Callable[[str, str], Changes], style: ReportStyle, values: dict[str, Any]
) -> tuple[str, int, str]:
    """Return one pair in words, its exit code, and its row of the table."""
    from graphviz_tb.diff.report.explain import headline, printable

    if pair.old is None or pair.new is None:
        word = "added" if pair.old is None else "removed"
        differs = EXIT_DIFFERENT if values["fail_on"] != "none" else EXIT_SAME
        return (
            "" if style == "markdown" else unpaired_section(pair.path, word, style),
            differs,
            model_table_row(pair.path, word),
        )
    changes = compare(str(pair.old), str(pair.new))
    code, line = diff_exit_code(changes, values["fail_on"]), model_table_row(pair.path, headline(changes), changes)
    if style == "json":
        return json.dumps({"path": pair.path, **changes.to_json()}, indent=1), code, line
    if style == "markdown" and changes.same:
        return "", code, line
    text = changes.explain(style, None if values["everything"] else MAX_REPORTED_CHANGES)
    path = printable(pair.path)
    head = f"## {path}\n\n" if style == "markdown" else f"{path}: "
    return head + text, code, line


def model_table_row(path: str, verdict: str, changes: Changes | None = None) -> str:
    """Return a row of the table: the model, the verdict, the differences of parameters and FLOPs."""
    from graphviz_tb.diff.report.explain import escaped

    numbers = changes.numbers if changes is not None else {}
    unseen = changes.left_out if changes is not None and changes.same else ()
    cells = [escaped(path), escaped(f"{verdict}; not in this form: {', '.join(unseen)}" if unseen else verdict)]
    for word in ("parameters", "flops"):
        old, new = numbers.get(word, (None, None))
        cells.append(f"{new - old:+,}" if old is not None and new is not None and old != new else "")
    return f"| {' | '.join(cells)} |"


def uncomparable_pair(pair: ModelPair, error: TbGraphError, style: ReportStyle) -> tuple[str, int]:
    """Return the words and the exit code for a pair that cannot be compared: the other pairs still are."""
    from graphviz_tb.errors import ReadError

    # Files that only have the suffix of a model, as other JSON files, are reported but are no difference.
    none = isinstance(error, ReadError) and not any(path and is_model_file(path) for path in (pair.old, pair.new))
    first, *listed = map(str.strip, error.message.splitlines() or [""])
    why = f"{first} {', '.join(listed)}" if listed else first
    return unpaired_section(pair.path, f"not compared: {why}", style), EXIT_SAME if none else error.exit_code


def is_model_file(path: Path) -> bool:
    """Return whether a file is of a form that contains a model, damaged or not."""
    from graphviz_tb.errors import NoGraph, ReadError, UnknownFormat
    from graphviz_tb.read import list_contents

    try:
        list_contents(path)
    except (NoGraph, UnknownFormat):
        return False
    except ReadError:
        pass
    return True


def unpaired_section(path: str, word: str, style: ReportStyle) -> str:
    """Report a file that has no pair, or is not a model."""
    from graphviz_tb.diff.report.explain import printable

    if style == "json":
        return json.dumps({"path": path, "state": word})
    path, word = printable(path), printable(word)
    return f"## {path}\n\n{word}\n" if style == "markdown" else f"{path}: {word}\n"
