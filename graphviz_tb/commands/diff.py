"""`tbgraph diff`."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.options import (
    GroupedCommand,
    combine_options,
    direction_option,
    limit_option,
    size_options,
    strict_option,
    theme_option,
    view_of_command,
    view_options,
)
from graphviz_tb.commands.progress_bar import waiting
from graphviz_tb.commands.terminal import print_notices, print_report, takes_colours
from graphviz_tb.errors import (
    NOT_STRICT_HINT,
    Ambiguous,
    NoGraph,
    ReadError,
    RequestError,
    TbGraphError,
    UnknownChoice,
    UnknownFormat,
    check_choice,
)
from graphviz_tb.options import REPORT_STYLES, REPORT_SUFFIXES, DiffOptions, PictureOptions, ReportStyle
from graphviz_tb.output.renderers import RENDERERS, check_options_used, output_format

if TYPE_CHECKING:
    from graphviz_tb.diff.picture.overlay import Both
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.model.change import Change
    from graphviz_tb.model.facts import SavedView
    from graphviz_tb.sources.walk import Collection, ModelPair

    Condition = tuple[tuple[str, str], ...]  # field and pattern of each part

# The exit codes of `tbgraph diff`, and the number of changes in a short report.

EXIT_SAME, EXIT_DIFFERENT = 0, 1  # as in `diff` and `git diff --exit-code`
MAX_REPORTED_CHANGES = 40  # changes in a short report: about a screenful
# Word of `--fail-on` → the severities that count as different.
FAILING_SEVERITIES: dict[str, tuple[str, ...]] = {
    "none": (),
    "signature": ("signature",),
    "structure": ("signature", "op", "wiring"),
    "attributes": ("signature", "op", "wiring", "attribute"),
    "any": ("signature", "op", "wiring", "attribute", "rename", "cosmetic"),
}

CONDITION_FIELDS = ("class", "gone", "new", "in", "kind")  # other fields of a condition


def diff_exit_code(changes: Changes, fail_on: str) -> int:
    """Return the exit code; `fail_on` was checked by `parse_conditions` before."""
    differs = any(
        all(_meets_condition_part(changes, change, field, pattern) for field, pattern in condition)
        for change in changes
        for condition in parse_conditions(fail_on)
    )
    return EXIT_DIFFERENT if differs else EXIT_SAME


def parse_conditions(fail_on: str) -> list[Condition]:
    """Parse the conditions of `--fail-on`: any one is enough, and all parts of one must hold.

    >>> parse_conditions("signature, gone:*Normalization in:encoder/**")
    [(('is', 'signature'),), (('gone', '*Normalization'), ('in', 'encoder/**'))]
    """
    found = [tuple(map(_parse_condition_part, words.split())) for words in fail_on.split(",")]
    if not all(found):
        raise RequestError(f"--fail-on {fail_on!r} has an empty condition", hint="write structure,gone:*Normalization")
    legal = (*FAILING_SEVERITIES, *(f"{name}:" for name in CONDITION_FIELDS))
    for field, word in (each for condition in found for each in condition):
        if (said := word if field == "is" else f"{field}:") not in legal:
            raise UnknownChoice.among("--fail-on", said, legal)
    return found


def _parse_condition_part(word: str) -> tuple[str, str]:
    """Return one part of a condition: the field, and the pattern to compare with."""
    field, colon, pattern = word.partition(":")
    return (field, pattern) if colon else ("is", word)


def _meets_condition_part(changes: Changes, change: Change, field: str, pattern: str) -> bool:
    from graphviz_tb.search.names import NamePattern

    if field == "is":
        return change.severity in FAILING_SEVERITIES[pattern]
    matches = NamePattern(pattern).matches_name
    if field == "kind":
        return matches(change.kind)
    layers = changes.layers_of(change)
    if field == "in":
        return any(matches(layer["name"]) for layer in (*layers["old"], *layers["new"]))
    old, new = (Counter(layer["class"] for layer in layers[side]) for side in ("old", "new"))
    # A class with an equal count on both sides is neither new nor gone.
    classes = {"class": old | new, "gone": old - new, "new": new - old}[field]
    return any(map(matches, classes))


# `tbgraph diff OLD_DIR NEW_DIR`: every model of two folders, paired by path.

# The head of the table of models.
MODEL_TABLE_HEAD = ("| model | verdict | Δ parameters | Δ FLOPs |", "|---|---|---:|---:|")


def _report_folders(
    old: Collection, new: Collection, compare: Callable[[str, str], Changes], style: ReportStyle, values: dict[str, Any]
) -> int:
    """Print the changes of each pair; an unpaired model, or a folder that cannot be read, is one line."""
    from graphviz_tb.output.files import check_inputs_kept
    from graphviz_tb.sources.walk import model_pairs

    if values["outputs"]:
        raise RequestError("-o writes one diff, and these are folders of models", hint="compare one pair of files")
    notices, unread = (*old.notices, *new.notices), {**new.unread, **old.unread}
    if values["strict"] and (unread or notices):
        why = next(iter(unread.values()), None) or notices[0].message
        raise ReadError(why, hint=NOT_STRICT_HINT)
    sections = [_unpaired_section(path, f"not compared: {why}", style) for path, why in sorted(unread.items())]
    rows = [model_table_row(path, f"not compared: {why}") for path, why in sorted(unread.items())]
    code, refused = ReadError.exit_code if unread else EXIT_SAME, []
    paired = model_pairs(old, new)
    check_inputs_kept([path for pair in paired for path in (pair.old, pair.new)], ["-"])
    for pair in paired:
        try:
            section, exit_code, row = _pair_section(pair, compare, style, values)
        except TbGraphError as error:
            section, exit_code = _uncomparable_pair(pair, error, style)
            row = model_table_row(pair.path, f"not compared: {error.message.splitlines()[0]}")
            if isinstance(error, RequestError) and not isinstance(error, Ambiguous):
                refused.append(error.with_traceback(None))  # a traceback would keep the graphs of the pair alive
        sections.append(section)
        rows.append(row)
        code = max(code, exit_code)
    # A request refused for every pair is wrong as a whole.
    if refused and len(refused) == sum(None not in (pair.old, pair.new) for pair in paired):
        raise refused[0]
    if not values["quiet"]:
        # In a comment, equal and unpaired models are only in the table.
        parts = [
            *(["\n".join([*MODEL_TABLE_HEAD, *rows, ""])] if style == "markdown" else []),
            *filter(None, sections),
        ]
        print_report("[\n" + ",\n".join(parts) + "\n]\n" if style == "json" else "\n".join(parts))
        print_notices(notices)
    return code


def _pair_section(
    pair: ModelPair, compare: Callable[[str, str], Changes], style: ReportStyle, values: dict[str, Any]
) -> tuple[str, int, str]:
    """Return the section of one pair, its exit code, and its row of the table."""
    from graphviz_tb.diff.report.explain import headline
    from graphviz_tb.model.formatting import printable

    if pair.old is None or pair.new is None:
        word = "added" if pair.old is None else "removed"
        code = EXIT_DIFFERENT if values["fail_on"] != "none" else EXIT_SAME
        section = "" if style == "markdown" else _unpaired_section(pair.path, word, style)
        return section, code, model_table_row(pair.path, word)
    changes = compare(str(pair.old), str(pair.new))
    code, line = diff_exit_code(changes, values["fail_on"]), model_table_row(pair.path, headline(changes), changes)
    if style == "json":
        return json.dumps({"path": pair.path, **changes.to_json()}, indent=1), code, line
    if style == "markdown" and changes.same:
        return "", code, line
    text = changes.explain(style, None if values["everything"] else MAX_REPORTED_CHANGES)
    path = printable(pair.path)
    heading = f"## {path}\n\n" if style == "markdown" else f"{path}: "
    return heading + text, code, line


def model_table_row(path: str, verdict: str, changes: Changes | None = None) -> str:
    """Return a row of the table: the model, the verdict, the differences of parameters and FLOPs."""
    from graphviz_tb.diff.report.explain import escape_markdown

    numbers = changes.numbers if changes is not None else {}
    unseen = changes.left_out if changes is not None and changes.same else ()
    cells = [
        escape_markdown(path),
        escape_markdown(f"{verdict}; not in this form: {', '.join(unseen)}" if unseen else verdict),
    ]
    for word in ("parameters", "flops"):
        old, new = numbers.get(word, (None, None))
        cells.append(f"{new - old:+,}" if old is not None and new is not None and old != new else "")
    return f"| {' | '.join(cells)} |"


def _uncomparable_pair(pair: ModelPair, error: TbGraphError, style: ReportStyle) -> tuple[str, int]:
    """Return the words and the exit code for a pair that cannot be compared: the other pairs still are."""
    # Files with only the suffix of a model, such as other JSON files, are reported but are not a difference.
    none = isinstance(error, ReadError) and not any(path and _is_model_file(path) for path in (pair.old, pair.new))
    first, *listed = map(str.strip, error.message.splitlines() or [""])
    why = f"{first} {', '.join(listed)}" if listed else first
    return _unpaired_section(pair.path, f"not compared: {why}", style), EXIT_SAME if none else error.exit_code


def _is_model_file(path: Path) -> bool:
    """Return whether a file is of a form that contains a model, damaged or not."""
    from graphviz_tb.read.source import list_contents

    try:
        list_contents(path)
    except (NoGraph, UnknownFormat):
        return False
    except ReadError:
        pass
    return True


def _unpaired_section(path: str, word: str, style: ReportStyle) -> str:
    """Report a file that has no pair, or is not a model."""
    from graphviz_tb.model.formatting import printable

    if style == "json":
        return json.dumps({"path": path, "state": word})
    path, word = printable(path), printable(word)
    return f"## {path}\n\n{word}\n" if style == "markdown" else f"{path}: {word}\n"


# `tbgraph diff --git`: git's external diff and textconv. The exit code is always 0, so that it never stops git.

GIT_ARGUMENTS, GIT_RENAME_ARGUMENTS = 7, 9  # number of arguments of an external diff, and for a renamed file
GIT_HASH, GIT_MODE = re.compile(r"[0-9a-f]+|\."), re.compile(r"[0-7]+|\.")  # a dot if there is no file


def _is_called_by_git(sources: tuple[str, ...]) -> bool:
    """Return whether the arguments are those of git to an external diff, and not seven files given by a user.

    >>> _is_called_by_git(("m.pb", "/tmp/a", "5f3e", "100644", "m.pb", "0000", "100644"))
    True
    >>> _is_called_by_git(("a.pb", "b.pb", "c.pb", "d.pb", "e.pb", "f.pb", "g.pb"))
    False
    """
    # path old-file old-hex old-mode new-file new-hex new-mode [new-path, similarity]
    if len(sources) not in (GIT_ARGUMENTS, GIT_RENAME_ARGUMENTS):
        return False
    hashes, modes = (sources[2], sources[5]), (sources[3], sources[6])
    return all(map(GIT_HASH.fullmatch, hashes)) and all(map(GIT_MODE.fullmatch, modes))


def _report_for_git(sources: tuple[str, ...], compare: Callable[[str, str], Changes], style: ReportStyle) -> int:
    """Print the graph of one file as lines, else the changes between the two files from git."""
    from graphviz_tb.model.formatting import printable

    header = "" if len(sources) < GIT_ARGUMENTS else _git_header(sources)
    try:
        if len(sources) == 1:
            from graphviz_tb.diff.baseline import lines_of

            print_report(lines_of(sources[0]))
            return EXIT_SAME
        # The old and the new file as git passes them (`_is_called_by_git`), or as a person does.
        old, new = (sources[1], sources[4]) if len(sources) >= GIT_ARGUMENTS else (sources[0], sources[-1])
        print_report(header + compare(old, new).explain(style, MAX_REPORTED_CHANGES))
    # An error would stop git; the next file may be a graph.
    except TbGraphError as error:
        print_report(f"{header}no graph: {printable(' '.join(str(error).split()))}\n")
    return EXIT_SAME


def _git_header(sources: tuple[str, ...]) -> str:
    """Return the line that names the file, as other diffs print it."""
    from graphviz_tb.model.formatting import printable

    renamed = f" → {sources[7]}" if len(sources) == GIT_RENAME_ARGUMENTS else ""
    return printable(f"diff --tbgraph {sources[0]}{renamed}") + "\n"


PICTURE_OPTION_NAMES = ("open", "theme", "direction", "title", "scale", "width")  # options
PICTURE_FORMATS = tuple(word for word, row in RENDERERS.items() if row.uses)  # JSON is the report
side_options = combine_options(
    click.option("--run", metavar="RUN", multiple=True, help="Use this run; twice for the two sides."),
    click.option("--tag", metavar="TAG", multiple=True, help="Use this tag; twice for the two sides."),
    click.option("--kind", metavar="KIND", multiple=True, help="Use op or conceptual; twice for the two sides."),
    click.option("--tag-set", metavar="TAGS", multiple=True, help="Use this MetaGraph of a SavedModel, such as serve."),
    heading="Choice of the graphs",
)

diff_picture_options = combine_options(
    click.option("--open", metavar="NAME", multiple=True, help="Open this group, not those with changes."),
    theme_option,
    direction_option,
    click.option("--title", metavar="TEXT", help="Title of the picture; '' for none."),
    size_options,
    heading="Picture",
)


@click.command(cls=GroupedCommand, epilog="Exit codes: 0 same, 1 different, 2 request, 3 file, 4 graph, 5 machine.")
@click.argument("sources", nargs=-1, required=True, metavar="OLD NEW")
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="A picture (.svg .png .pdf .dot), a page (.html), or the report (.json .md .txt).",
)
@click.option("-f", "--format", "format_", metavar="FORMAT", help="text, json or markdown [text].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as --format json.")
@click.option("--all", "everything", is_flag=True, help=f"List all changes, not only the first {MAX_REPORTED_CHANGES}.")
@click.option(
    "--include", metavar="WHAT", multiple=True, help="Include shapes, devices, colocation, versions, constants, or all."
)
@click.option(
    "--fail-on",
    metavar="WHAT",
    default="any",
    help="Exit with 1 for any, signature, structure, attributes, none, or a condition: 'gone:*Normalization' [any].",
)
@click.option("--git", is_flag=True, help="Run as external diff of git, or with one FILE as textconv.")
@side_options
@diff_picture_options
@view_options
@limit_option
@strict_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; use the exit code.")
def diff(sources: tuple[str, ...], **values: Any) -> int:
    """Report the changes between two graphs.

    OLD and NEW are any inputs of render; one may be -. To compare two runs of one log directory, give --run twice.
    Order, and names and numbers that TensorFlow chose, do not count. A new scope, a rename or a move is one change.

    \b
    tbgraph diff old.pb new.pb                # all changes, the most severe first
    tbgraph diff old.pb new.pb -o diff.svg    # one picture of both
    tbgraph diff old/ new/ --format markdown  # for a pull request
    tbgraph diff logdir --run a --run b --fail-on signature
    tbgraph diff models/ models.new/          # all models of two folders, by path
    git config diff.tbgraph.command "tbgraph diff --git"  # docs/diff.md: Git
    """
    from graphviz_tb.output.files import check_inputs_kept
    from graphviz_tb.sources.walk import collection_pair

    parse_conditions(values["fail_on"])
    if values["as_json"] and values["format_"] not in (None, "json"):
        raise click.UsageError(f"--json is --format json, and --format {values['format_']} was given; choose one")
    style = _report_style("json" if values["as_json"] else values["format_"])
    options = DiffOptions.including(values["include"])
    check_inputs_kept(sources, (*values["outputs"], "-"))
    if values["git"] or _is_called_by_git(sources):
        if values["outputs"]:
            raise RequestError("-o writes one diff, and git asks for many", hint="compare two files")
        return _report_for_git(
            sources, lambda old, new: _compare_sources(old, new, options, _side_choices(values)), style
        )
    _check_diff_outputs(values["outputs"])
    _check_picture_options(values)
    old, new = _pick_sides(sources, values["run"])
    read = _side_choices(values)
    if (folders := collection_pair(old, new)) is not None:
        return _report_folders(
            *folders, lambda before, after: _compare_sources(before, after, options, read), style, values
        )
    view = view_of_command(new, values) if any(not _is_report_file(target) for target in values["outputs"]) else None
    with waiting("compare", values["quiet"]):
        changes = _compare_sources(old, new, options, read)
    if values["outputs"]:
        with waiting("draw", values["quiet"]):
            _write_diff_outputs(changes, values, view)
    if not values["quiet"]:
        _print_changes(changes, style, values)
    return diff_exit_code(changes, values["fail_on"])


def _report_style(word: str | None) -> ReportStyle:
    # The member of the table, not the word, has the type of a style.
    for style in REPORT_STYLES:
        if style == ("text" if word is None else word):
            return style
    raise UnknownChoice.among("format", word or "", REPORT_STYLES)


def _check_diff_outputs(targets: tuple[str, ...]) -> None:
    """Refuse outputs of an unknown format or in an unwritable place, before anything is read."""
    from graphviz_tb.output.default_names import nearest_output
    from graphviz_tb.output.files import check_outputs_writable

    drawn = [RENDERERS[word].suffix for word in PICTURE_FORMATS]
    legal = ", ".join([*drawn, *REPORT_SUFFIXES])
    for target in targets:
        if Path(target).suffix.lower() not in (*REPORT_SUFFIXES, *drawn):
            what = f"output {target!r} has no known suffix; use one of {legal}"
            raise UnknownChoice(what, hint=nearest_output(target))
    check_outputs_writable(targets)


def _check_picture_options(values: dict[str, Any]) -> None:
    """Refuse unknown picture options, and options that no output uses."""
    asked = [name for name in (*PICTURE_OPTION_NAMES, "view", "hide") if values[name] not in (None, ())]
    drawn = [output_format(target) for target in values["outputs"] if not _is_report_file(target)]
    _checked_picture_options(values)
    if asked and not drawn:
        raise RequestError(f"--{asked[0]} changes nothing: no picture is written", hint="write one: -o diff.svg")
    check_options_used(asked, drawn, {name: f"--{name}" for name in asked})


def _pick_sides(sources: tuple[str, ...], runs: tuple[str, ...]) -> tuple[str, str]:
    """Return the two sources: two words, or one log directory with two runs."""
    # Two runs of one log directory: the same source on both sides.
    if len(sources) == 1 and len(runs) == 2:
        return sources[0], sources[0]
    if len(sources) != 2:
        given = "one source" if len(sources) == 1 else f"{len(sources)} sources"
        raise RequestError(f"{given} given; two are needed", hint="tbgraph diff OLD NEW, or LOGDIR --run A --run B")
    if sources == ("-", "-"):
        raise RequestError("only one side can be standard input")
    return sources[0], sources[1]


def _side_choices(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options of reading; an option given twice is a pair, one for each side."""
    chosen: dict[str, Any] = {"strict": values["strict"], "max_bytes": values["max_bytes"]}
    for name in ("run", "tag", "kind", "tag_set"):
        said = values[name]
        if len(said) > 2:
            raise RequestError(f"--{name.replace('_', '-')} given {len(said)} times; there are two sides")
        if said:
            chosen[name] = said[0] if len(said) == 1 else said
    return chosen


def _compare_sources(old: str, new: str, options: Any, read: dict[str, Any]) -> Changes:
    """Return the changes; git's /dev/null is an empty graph."""
    from graphviz_tb.diff import diff as run
    from graphviz_tb.diff.exporters import DiffInput
    from graphviz_tb.flatten import flatten
    from graphviz_tb.proto import GraphDef

    # Git's name for a missing file.
    before, after = (DiffInput(flatten(GraphDef()), "nothing") if path == "/dev/null" else path for path in (old, new))
    return run(before, after, options=options, **read)


def _print_changes(changes: Changes, style: ReportStyle, values: dict[str, Any]) -> None:
    print_report(
        changes.explain(style, None if values["everything"] else MAX_REPORTED_CHANGES, takes_colours(sys.stdout))
    )


def _write_diff_outputs(changes: Changes, values: dict[str, Any], view: SavedView | None) -> None:
    from graphviz_tb.diff.picture.overlay import Both
    from graphviz_tb.output.files import write_outputs

    both, options = Both(changes, view), _checked_picture_options(values, view)
    write_outputs([(target, encode_diff_output(both, target, options)) for target in values["outputs"]])
    # A page shows its notices itself, and a report has none.
    has_picture = any(Path(target).suffix.lower() not in (".html", *REPORT_SUFFIXES) for target in values["outputs"])
    if has_picture and not values["quiet"]:
        print_notices(both.picture(options).notices)


def _is_report_file(target: str) -> bool:
    return Path(target).suffix.lower() in REPORT_SUFFIXES


def encode_diff_output(both: Both, target: str, options: PictureOptions) -> bytes:
    """Return a picture, or the report, in the format of the target's suffix."""
    from graphviz_tb.diff.report.explain import explain

    suffix = Path(target).suffix.lower()
    if suffix in REPORT_SUFFIXES:
        return explain(both.changes, REPORT_SUFFIXES[suffix], None, colour=False).encode("utf-8", "replace")
    if suffix == ".html":
        from graphviz_tb.page.changes import changes_html

        return changes_html(both, options)
    return both.picture(options).render(output_format(target))


def _checked_picture_options(values: dict[str, Any], view: SavedView | None = None) -> PictureOptions:
    """Return the options of the picture. Raises `UnknownChoice` for an unknown word."""
    from graphviz_tb.diff.picture.overlay import picture_options
    from graphviz_tb.model.scene import DIRECTIONS
    from graphviz_tb.model.theme import THEMES

    # An empty title is a given value, unlike None and ().
    given = {name: values[name] for name in PICTURE_OPTION_NAMES if values[name] not in (None, ())}
    options = picture_options(view, given)
    check_choice("theme", options.theme, THEMES)
    check_choice("direction", options.direction, DIRECTIONS)
    return options
