"""`tbgraph open`: the page in a browser, from a server for as long as it is looked at, or as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from graphviz_tb.commands.habits import refuse_second_model
from graphviz_tb.commands.options import (
    GroupedCommand,
    collect_options,
    reading_options,
    view_of_command,
    view_options,
    without_choices,
)
from graphviz_tb.commands.serve import SERVER_PACKAGES, following_options, run_server, server_options
from graphviz_tb.commands.terminal import print_message
from graphviz_tb.extras import how_to_install
from graphviz_tb.options import Options

# Options that imply a server, with or without a display.
SERVER_ONLY_OPTIONS = (
    "port",
    "host",
    "bind_all",
    "no_token",
    "allow_host",
    "allow_frame",
    "path_prefix",
    "poll",
    "memory",
)
GRAPH_CHOICES = ("run", "tag", "kind", "tag_set")  # options that choose a graph
READ_OPTIONS = (*GRAPH_CHOICES, "max_bytes", "strict", "title")


@click.command(
    "open", cls=GroupedCommand, epilog="Exit codes: 0 done, 2 request, 3 file, 4 graph, 5 machine, 130 Ctrl-C."
)
@click.argument("models", metavar="MODEL", nargs=-1, required=True)
@click.option("--file", "as_file", is_flag=True, help="Write MODEL.html instead of starting a server.")
@server_options
@following_options
@view_options
@reading_options
@click.option("-q", "--quiet", is_flag=True, help="Print only the address or the path.")
@click.pass_context
def open_page(context: click.Context, /, models: tuple[str, ...], as_file: bool, quiet: bool, **values: Any) -> None:
    """Show MODEL, a graph or a log directory, in the browser.

    Start a server for this machine, as `serve` does; Ctrl-C ends it. Without a display, without the extra `serve`, or
    with a choice of a graph (--run, --tag …), write the page as MODEL.html to the current folder instead and print its
    path. `tbgraph MODEL` does the same.

    \b
    tbgraph model.pb
    tbgraph open saved_model/
    tbgraph open ./logs --port 7007
    tbgraph open ./logs --run train --file
    """
    from graphviz_tb.serve.settings import has_display

    refuse_second_model(models)
    model = models[0]
    wants_server = any(
        context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in SERVER_ONLY_OPTIONS
    )
    chosen = any(values[name] is not None for name in GRAPH_CHOICES)
    screen = has_display()
    if not as_file and (wants_server or (screen and not chosen and model != "-")) and _can_serve(wants_server):
        run_server(model, values, browser=screen, quiet=quiet)
        return
    path = _write_page(model, values, quiet)
    print(path)
    if screen and not as_file:
        click.launch(path)
    elif not quiet and _is_log(model):
        print_message("hint", f"tbgraph serve {model} follows it while it is written", "cyan")


def _is_log(model: str) -> bool:
    """Return whether a model is a log directory: a folder that is not a SavedModel."""
    from graphviz_tb.sources.walk import saved_model_file

    return os.path.isdir(model) and saved_model_file(Path(model)) is None  # noqa: PTH112 - never raises, for any name


def _can_serve(wanted: bool) -> bool:
    """Return whether the packages of the server are installed; if not, and a file takes its place, print how to install
    them."""
    from importlib.util import find_spec

    if wanted or all(map(find_spec, SERVER_PACKAGES[:3])):
        return True
    print_message(
        "note", f"the page is a file and stays as it is; live, as a server has it: {how_to_install('serve')}", "yellow"
    )
    return False


def _write_page(model: str, values: dict[str, Any], quiet: bool) -> str:
    """Write the page of a model or a log; return the path of the file."""
    from graphviz_tb.output.default_names import default_output, keep_foreign_files
    from graphviz_tb.output.files import check_inputs_kept, check_outputs_writable, write_outputs

    target = default_output(model, ".html")
    check_outputs_writable([target])
    check_inputs_kept((model,), [target])
    keep_foreign_files([target])
    view = view_of_command(model, values)
    said = {name: value for name, value in values.items() if name in READ_OPTIONS}
    options = collect_options(said, dict(view.choices) if view else {})
    write_outputs([(target, _page_of_source(model, options, values, quiet))])
    return os.path.abspath(target)  # noqa: PTH100 - a link stays a link


def _page_of_source(model: str, options: Options, values: dict[str, Any], quiet: bool) -> bytes:
    """Return the page of the chosen graph, of the first of several, or of a log without a graph."""
    from graphviz_tb.commands.session import open_model
    from graphviz_tb.page.log import page_of_source

    view = without_choices(view_of_command(model, values))

    def draw(options: Options, said: str) -> bytes:
        if said and not quiet:
            print_message("notice", f"{said}: `tbgraph info {model}` lists all", "yellow")
        with open_model(model, options, quiet=quiet, view=view) as session:
            return session.encode_formats(["html"])[0]

    return page_of_source(model, options, draw)
