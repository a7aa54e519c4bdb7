"""`tbgraph diff`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.diff_codes import MAX_REPORTED_CHANGES, diff_exit_code, parse_conditions
from graphviz_tb.commands.diff_git import is_called_by_git, report_for_git
from graphviz_tb.commands.options import (
    combine_options,
    direction_option,
    limit_option,
    size_options,
    theme_option,
    view_options,
)
from graphviz_tb.commands.views import view_of_command
from graphviz_tb.formats import RENDERERS, output_format

if TYPE_CHECKING:
    from graphviz_tb.diff.options import ReportStyle
    from graphviz_tb.diff.picture.both import Both
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.model.saved_view import SavedView
    from graphviz_tb.options import PictureOptions

PICTURE_OPTION_NAMES = ("open", "theme", "direction", "title", "scale", "width")  # options
PICTURE_FORMATS = tuple(word for word, row in RENDERERS.items() if row.uses)  # JSON is the report
side_options = combine_options(
    click.option("--run", metavar="RUN", multiple=True, help="The run of a log directory; twice: one for each side."),
    click.option("--tag", metavar="TAG", multiple=True, help="The tag in a run; twice: one for each side."),
    click.option("--kind", metavar="KIND", multiple=True, help="op or conceptual; twice: one for each side."),
    click.option("--tag-set", metavar="TAGS", multiple=True, help="The MetaGraph of a SavedModel, such as serve."),
    limit_option,
    click.option("--strict", is_flag=True, help="Make every notice an error."),
)

diff_picture_options = combine_options(
    click.option("--open", metavar="NAME", multiple=True, help="In the picture: open this group, not those changed."),
    theme_option,
    direction_option,
    click.option("--title", metavar="TEXT", help="The title of the picture; '' for none."),
    size_options,
    view_options,
)


@click.command(epilog="Exit codes: 0 same, 1 different, 2 request, 3 file, 4 graph, 5 machine.")
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
@click.option("--all", "everything", is_flag=True, help=f"Tell all changes, not the first {MAX_REPORTED_CHANGES}.")
@click.option(
    "--include", metavar="WHAT", multiple=True, help="Count shapes, devices, colocation, versions, constants, or all."
)
@click.option(
    "--fail-on",
    metavar="WHAT",
    default="any",
    help="Exit with 1 for any, signature, structure, attributes, none, or a condition: 'gone:*Normalization' [any].",
)
@click.option("--git", is_flag=True, help="Called by git: as external diff, or with one FILE as textconv.")
@side_options
@diff_picture_options
@click.option("-q", "--quiet", is_flag=True, help="Print nothing: the exit code says it.")
def diff(sources: tuple[str, ...], **values: Any) -> int:
    """Say what changed between two graphs.

    OLD and NEW are anything that render takes; one of them may be -. With one log directory, --run twice. Names,
    order and numbers that TensorFlow gives are no changes; a new scope, a rename, a move is one.

    \b
    tbgraph diff old.pb new.pb                      # all changes, the most severe first
    tbgraph diff old.pb new.pb -o diff.svg          # one picture of both
    tbgraph diff old/ new/ --format markdown        # for a pull request
    tbgraph diff logdir --run a --run b --fail-on signature
    tbgraph diff models/ models.new/                # every model of two folders, paired by path
    git config diff.tbgraph.command "tbgraph diff --git"  # with *.pb diff=tbgraph in .gitattributes
    """
    from graphviz_tb.diff.folders import collections
    from graphviz_tb.diff.options import DiffOptions
    from graphviz_tb.errors import RequestError
    from graphviz_tb.output import check_inputs_kept

    parse_conditions(values["fail_on"])
    style = report_style(values["format_"])
    options = DiffOptions.including(values["include"])
    check_inputs_kept(sources, (*values["outputs"], "-"))
    if values["git"] or is_called_by_git(sources):
        if values["outputs"]:
            raise RequestError("-o writes one diff, and git asks for many", hint="compare two files")
        return report_for_git(sources, lambda old, new: compare_sources(old, new, options, side_choices(values)), style)
    check_diff_outputs(values["outputs"])
    check_picture_options(values)
    old, new = pick_sides(sources, values["run"])
    read = side_choices(values)
    if (both := collections(old, new)) is not None:
        from graphviz_tb.commands.diff_folders import report_folders

        return report_folders(*both, lambda before, after: compare_sources(before, after, options, read), style, values)
    view = view_of_command(new, values) if any(not is_report_file(target) for target in values["outputs"]) else None
    changes = compare_sources(old, new, options, read)
    if values["outputs"]:
        write_diff_outputs(changes, values, view)
    if not values["quiet"]:
        print_changes(changes, style, values)
    return diff_exit_code(changes, values["fail_on"])


def report_style(word: str | None) -> ReportStyle:
    """Return the style of the report."""
    from graphviz_tb.diff.options import STYLES
    from graphviz_tb.errors import UnknownChoice

    # The member of the table, not the word, has the type of a style.
    for style in STYLES:
        if style == ("text" if word is None else word):
            return style
    raise UnknownChoice.among("format", word or "", STYLES)


def check_diff_outputs(targets: tuple[str, ...]) -> None:
    """Refuse outputs of an unknown format or in an unwritable place, before anything is read."""
    from graphviz_tb.diff.options import REPORTS
    from graphviz_tb.errors import UnknownChoice
    from graphviz_tb.output import check_outputs_writable

    drawn = [RENDERERS[word].suffix for word in PICTURE_FORMATS]
    legal = ", ".join([*drawn, *REPORTS])
    for target in targets:
        if Path(target).suffix.lower() not in (*REPORTS, *drawn):
            raise UnknownChoice(f"output {target!r} has no suffix that says its format; use one of {legal}")
    check_outputs_writable(targets)


def check_picture_options(values: dict[str, Any]) -> None:
    """Refuse unknown picture options, and options that no output uses."""
    from graphviz_tb.errors import RequestError
    from graphviz_tb.formats import check_options_used

    asked = [name for name in (*PICTURE_OPTION_NAMES, "view", "hide") if values[name] not in (None, ())]
    drawn = [output_format(target) for target in values["outputs"] if not is_report_file(target)]
    checked_picture_options(values)
    if asked and not drawn:
        raise RequestError(f"--{asked[0]} changes nothing: no picture is written", hint="write one: -o diff.svg")
    check_options_used(asked, drawn, {name: f"--{name}" for name in asked})


def pick_sides(sources: tuple[str, ...], runs: tuple[str, ...]) -> tuple[str, str]:
    """Return the two sources: two words, or one log directory with two runs."""
    from graphviz_tb.errors import RequestError

    # Two runs of one log directory: the same source on both sides.
    if len(sources) == 1 and len(runs) == 2:
        return sources[0], sources[0]
    if len(sources) != 2:
        given = "one source" if len(sources) == 1 else f"{len(sources)} sources"
        raise RequestError(f"{given} given; two are needed", hint="tbgraph diff OLD NEW, or LOGDIR --run A --run B")
    if sources == ("-", "-"):
        raise RequestError("only one side can be standard input")
    return sources[0], sources[1]


def side_choices(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options of reading; an option given twice is a pair, one for each side."""
    from graphviz_tb.errors import RequestError

    chosen: dict[str, Any] = {"strict": values["strict"], "max_bytes": values["max_bytes"]}
    for name in ("run", "tag", "kind", "tag_set"):
        said = values[name]
        if len(said) > 2:
            raise RequestError(f"--{name.replace('_', '-')} given {len(said)} times; there are two sides")
        if said:
            chosen[name] = said[0] if len(said) == 1 else said
    return chosen


def compare_sources(old: str, new: str, options: Any, read: dict[str, Any]) -> Changes:
    """Return the changes; git's /dev/null is an empty graph."""
    from graphviz_tb.diff import diff as run
    from graphviz_tb.diff.run import DiffInput
    from graphviz_tb.flatten import flatten
    from graphviz_tb.proto import GraphDef

    # Git's name for a missing file.
    before, after = (DiffInput(flatten(GraphDef()), "nothing") if path == "/dev/null" else path for path in (old, new))
    return run(before, after, options=options, **read)


def print_changes(changes: Changes, style: ReportStyle, values: dict[str, Any]) -> None:
    """Print the report on standard output."""
    from graphviz_tb.commands.terminal import print_report, takes_colours

    print_report(
        changes.explain(style, None if values["everything"] else MAX_REPORTED_CHANGES, takes_colours(sys.stdout))
    )


def write_diff_outputs(changes: Changes, values: dict[str, Any], view: SavedView | None) -> None:
    """Write all outputs, or none."""
    from graphviz_tb.commands.terminal import print_notices
    from graphviz_tb.diff.picture.both import Both
    from graphviz_tb.output import write_outputs

    both, options = Both(changes, view), checked_picture_options(values, view)
    write_outputs([(target, encode_diff_output(both, target, options)) for target in values["outputs"]])
    if not values["quiet"] and any(is_static_picture(target) for target in values["outputs"]):
        print_notices(both.picture(options).notices)


def is_static_picture(target: str) -> bool:
    """Return whether an output is a static picture, which has no place for notices."""
    return not is_report_file(target) and Path(target).suffix.lower() != ".html"


def is_report_file(target: str) -> bool:
    """Return whether an output is the report in words."""
    from graphviz_tb.diff.options import REPORTS

    return Path(target).suffix.lower() in REPORTS


def encode_diff_output(both: Both, target: str, options: PictureOptions) -> bytes:
    """Return a picture, or the report, in the format of the target's suffix."""
    from graphviz_tb.diff.options import REPORTS
    from graphviz_tb.diff.report.explain import explain

    suffix = Path(target).suffix.lower()
    if suffix in REPORTS:
        return explain(both.changes, REPORTS[suffix], None, colour=False).encode("utf-8", "replace")
    if suffix == ".html":
        from graphviz_tb.page.compared import changes_html

        return changes_html(both, options)
    return both.picture(options).render(output_format(target))


def checked_picture_options(values: dict[str, Any], view: SavedView | None = None) -> PictureOptions:
    """Return the options of the picture. Raises `UnknownChoice` for an unknown word."""
    from graphviz_tb.diff.picture.both import picture_options
    from graphviz_tb.errors import UnknownChoice
    from graphviz_tb.model.scene import DIRECTIONS
    from graphviz_tb.model.theme import THEMES

    # An empty title is a given value, unlike None and ().
    said = {name: values[name] for name in PICTURE_OPTION_NAMES if values[name] not in (None, ())}
    options = picture_options(view, said)
    for what, word, legal in (
        ("theme", options.theme, tuple(THEMES)),
        ("direction", options.direction, DIRECTIONS),
    ):
        if word not in legal:
            raise UnknownChoice.among(what, word, legal)
    return options
