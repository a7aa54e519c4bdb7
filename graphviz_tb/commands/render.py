"""`tbgraph render`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import click

from graphviz_tb.commands.habits import names_picture, path_exists, refuse_second_model
from graphviz_tb.commands.options import (
    GroupedCommand,
    WordOption,
    collect_options,
    combine_options,
    direction_option,
    facts_of_command,
    facts_options,
    fold_options,
    given_options,
    input_options,
    option_spellings,
    size_options,
    theme_option,
    view_of_command,
    view_options,
    without_choices,
)
from graphviz_tb.commands.terminal import print_message
from graphviz_tb.errors import NoGraph, RequestError, short_repr
from graphviz_tb.options import COLOR_BY_LOGGED, LOGGED_COLOR_OPTIONS, MAX_OPTION_INT, Options


class DepthType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A whole number from 0, or auto."""

    name = "depth"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Literal["auto"]:
        if value == "auto":
            return "auto"
        # `isdigit` alone takes digits of other scripts; more than twenty digits are never meant.
        if str(value).isascii() and str(value).isdigit() and len(str(value)) < 20 and int(value) <= MAX_OPTION_INT:
            return int(value)
        return self.fail(
            f"{short_repr(value)} is neither a whole number from 0 to {MAX_OPTION_INT} nor auto", param, ctx
        )


open_options = combine_options(
    click.option("--open", metavar="NAME", multiple=True, help="Open this group; * ** ? are wildcards."),
    click.option("--depth", type=DepthType(), metavar="N", help="Open N levels; 0 closes all [auto: 8 to 40 boxes]."),
    click.option("--open-all", is_flag=True, default=None, help="Open everything, up to --max-open."),
    click.option("--all-members", is_flag=True, help="List the members of open stacks."),
    click.option("--max-open", type=click.IntRange(1), metavar="N", help="Open at most N boxes, up to 10000 [5000]."),
    heading="Open groups",
)
color_by_option = click.option(
    "--color-by",
    metavar="WHAT",
    cls=WordOption,
    table="color:SCHEMES",
    help="Colour by {} [structure].",
)
stats_option = click.option("--stats", is_flag=True, default=None, help="Show time and memory in any colouring.")
colour_options = combine_options(
    color_by_option,
    click.option("--logged", metavar="PATTERN", help="Colour by tags of the log, with * [gradients]."),
    click.option(
        "--measure",
        metavar="M",
        cls=WordOption,
        table="chart.measures:MEASURES",
        help="Measure of --logged: {} [rms, or last for scalars].",
    ),
    click.option("--at", type=int, metavar="STEP", help="Step of --logged [the last]."),
    click.option("--logged-run", metavar="RUN", help="Run of --logged [that of the graph]."),
    click.option("--against-run", metavar="RUN", help="Colour by the difference to this run."),
    stats_option,
    click.option("--against", metavar="FILE", multiple=True, help="Colour by the difference to an earlier trace."),
    facts_options,
    heading="Colours",
)
layout_options = combine_options(
    click.option(
        "--engine", metavar="NAME", cls=WordOption, table="arrange.level:ENGINES", help="Layout engine: {} [layered]."
    ),
    click.option("--no-wrap", is_flag=True, help="Keep long chains in one column."),
    direction_option,
    theme_option,
)
mark_options = combine_options(
    click.option("--select", metavar="NAME", multiple=True, help="Highlight this node."),
    click.option("--no-legend", is_flag=True, help="Draw no legend."),
)
look_options = combine_options(
    layout_options,
    click.option("--title", metavar="TEXT", help="Title of the picture; '' for none."),
    mark_options,
    click.option("--paper", is_flag=True, help="Draw a figure to print: no buttons, no file name, text of 7 pt."),
    click.option("--width-mm", type=click.IntRange(20, 2000), metavar="MM", help="Width with --paper [178]."),
    size_options,
    click.option("--page-max", type=float, metavar="MB", help="Largest page; the deepest groups are left out [25]."),
    click.option("--font-file", "font_files", metavar="FILE", multiple=True, help="Font for letters that Arimo lacks."),
    heading="Layout and look",
)


@click.command(cls=GroupedCommand, epilog="Exit codes: 0 done, 2 request, 3 file, 4 graph, 5 machine.")
@click.argument("model")
@click.argument("files", nargs=-1, metavar="[FILE]…")
@click.option(
    "-o", "--output", "outputs", metavar="FILE", multiple=True, help="Write to FILE; - is stdout [MODEL.svg]."
)
@click.option(
    *("-f", "--format", "format_"),
    metavar="FORMAT",
    cls=WordOption,
    table="output.renderers:RENDERERS",
    help="{} [the suffix of FILE].",
)
@open_options
@colour_options
@look_options
@view_options
@fold_options
@input_options
@click.option("--timing", is_flag=True, help="Print how long each stage took.")
@click.option("-q", "--quiet", is_flag=True, help="Print no notices and no progress bar.")
def render(
    model: str,
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    format_: str | None,
    timing: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Draw the graph in MODEL.

    The picture is folded to a readable size: name scopes are boxes, numbered runs are stacks, hubs move to an
    auxiliary area on the right. FILE is an output, as with -o; its suffix sets the format. Without one, the picture is
    MODEL.svg in the current folder. Only -o replaces a file that tbgraph did not write.

    \b
    tbgraph render model.pbtxt
    tbgraph render model.pb graph.svg graph.png
    tbgraph render model.pbtxt -o graph.svg
    tbgraph render model.pb -o graph.svg -o graph.png --open 'conv1/**'
    tbgraph render model.pb -o graph.html
    tbgraph render saved_model/ -o graph.json
    tbgraph render logdir -o graph.svg --step all --color-by compute-time
    tbgraph render logdir -o gradients.svg --logged 'grad*' --at 300
    cat model.pb | tbgraph render - -o - --format svg > graph.svg
    """
    from graphviz_tb.commands.session import open_model
    from graphviz_tb.output.files import write_outputs
    from graphviz_tb.output.renderers import output_format

    refuse_second_model([model, *(file for file in files if not names_picture(file) and path_exists(file))])
    option_outputs = outputs
    outputs = (*outputs, *files) or _default_outputs(model, format_)
    spellings = option_spellings(click.get_current_context().command)
    _choose_implied_colouring(values, spellings)
    view = view_of_command(model, values)
    options = collect_options(values, dict(view.choices) if view else {})
    facts = facts_of_command(values)
    formats = [output_format(target, format_) for target in outputs]
    _check_options(values, formats, spellings)
    _check_outputs(model, options, outputs, option_outputs)
    try:
        with open_model(model, options, timing, quiet, without_choices(view), facts) as session:
            write_outputs(zip(outputs, session.encode_formats(formats), strict=True))
    except NoGraph as error:
        write_outputs(zip(outputs, _log_pages_or_raise(error, model, formats, options), strict=True))
    if not (option_outputs or files or quiet):
        _say_written(outputs)


def _check_options(values: dict[str, Any], formats: Sequence[str], written: dict[str, str]) -> None:
    """Refuse options that change nothing."""
    from graphviz_tb.output.renderers import check_options_used

    check_options_used(given_options(values), formats, written)
    if {"depth", "open_all"} <= set(given_options(values)):
        raise RequestError(f"{written['depth']} changes nothing beside {written['open_all']}", hint="leave out one")


def _check_outputs(model: str, options: Options, outputs: Sequence[str], named: Sequence[str]) -> None:
    """Refuse outputs that cannot be written, and files of others that are not `named`, before a byte is read."""
    from graphviz_tb.output.default_names import keep_foreign_files
    from graphviz_tb.output.files import check_inputs_kept, check_outputs_writable

    check_outputs_writable(outputs)
    fonts = filter(os.path.isfile, options.picture.font_files)  # a folder is refused without a walk
    check_inputs_kept((model, *options.read.run_metadata, *options.read.against, *fonts), outputs)
    keep_foreign_files(target for target in outputs if target not in named)


def _choose_implied_colouring(values: dict[str, Any], written: dict[str, str]) -> None:
    """Unless --color-by is given, colour by compute time for --against, and by logged values for their options."""
    logged = next((name for name in LOGGED_COLOR_OPTIONS if values[name] is not None), "")
    if values["color_by"] is None and values["against"]:
        values["color_by"], written["color_by"] = "compute-time", written["against"]
    elif values["color_by"] is None and logged:
        values["color_by"], written["color_by"] = COLOR_BY_LOGGED, written[logged]


def _default_outputs(model: str, format_: str | None) -> tuple[str, ...]:
    """Return the output that nobody named; a model from standard input goes to standard output, unless a terminal."""
    from graphviz_tb.output.default_names import default_output
    from graphviz_tb.output.renderers import find_renderer

    if model == "-" and not sys.stdout.isatty():
        return ("-",)
    return (default_output(model, find_renderer(format_ or "svg").suffix),)


def _say_written(outputs: Iterable[str]) -> None:
    """Report the files that were written without being named."""
    for target in outputs:
        if target != "-":
            print_message("wrote", target, "green")


def _log_pages_or_raise(error: NoGraph, source: str, formats: list[str], options: Options) -> list[bytes]:
    """Return the page of a log that has no graph, for each output; else raise the error, with a hint for a log."""
    from graphviz_tb.page.log import open_source_log, page_of_log

    if set(formats) == {"html"} and (page := page_of_log(source, options.picture)) is not None:
        return [page] * len(formats)
    if open_source_log(source) is None:
        raise error from None
    hint = f"tbgraph {source} shows what it logged; tbgraph scalars {source} -o curves.svg draws its curves"
    raise type(error)(error.message, hint=hint) from None
