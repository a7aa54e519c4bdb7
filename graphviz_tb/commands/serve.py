"""`tbgraph serve`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from graphviz_tb.commands.options import (
    FiniteRange,
    GroupedCommand,
    collect_options,
    combine_options,
    facts_of_command,
    facts_options,
    fold_options,
    view_of_command,
    view_options,
    without_choices,
)
from graphviz_tb.commands.render import color_by_option, layout_options, mark_options, open_options, stats_option
from graphviz_tb.commands.terminal import print_message
from graphviz_tb.errors import ReadError, RequestError, ToolMissing
from graphviz_tb.extras import how_to_install

# Options of TensorBoard that are ignored, and why.
IGNORED_OPTIONS = {
    "reload_interval": "files are followed as they grow (--poll sets how often to look where the system does not tell)",
    "reload_multifile": "all files of a run are followed",
    "samples_per_plugin": "every point is kept",
    "load_fast": "there is one way to read, and it is fast",
    "purge_orphaned_data": "nothing is deleted; --restarts keep shows what a restarted run wrote again",
    "reload_task": "files are followed in the same process",
    "max_reload_threads": "one thread reads fast enough",
    "detect_file_replacement": "a file that is replaced is read again",
    "generic_data": "there is one way to read",
    "whatif_use_unsafe_custom_prediction": "there is no such tool",
}
MEMORY_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SERVER_PACKAGES = ("starlette", "uvicorn", "watchfiles", "anyio", "h11")


class MemoryType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An amount of memory: 500M, 2G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,9})([kmgt]?)(?:i?b)?", str(value).lower())
        amount = int(found[1]) * MEMORY_UNITS[found[2]] if found else 0
        if not amount:
            self.fail(f"{str(value)[:40]!r} is not an amount of memory such as 500M or 2G", param, ctx)
        return amount


ignored_options = combine_options(
    *(
        click.option(f"--{name}", f"--{name.replace('_', '-')}", name, hidden=True, metavar="X")
        for name in IGNORED_OPTIONS
    )
)


# Options of every server, also that of `open`.
server_options = combine_options(
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        metavar="N",
        default=6006,
        help="Port, or the next free one; 0 for any [6006].",
    ),
    click.option("--host", metavar="NAME", help="Listen on this address [127.0.0.1]."),
    click.option("--bind-all", "--bind_all", is_flag=True, help="Listen on all addresses; requires a token."),
    click.option("--no-token", is_flag=True, help="Allow access from other machines without a token."),
    click.option("--allow-host", metavar="NAME", multiple=True, help="Accept this host name; * for any."),
    click.option("--allow-frame", metavar="ORIGIN", multiple=True, help="Let this origin embed the page."),
    click.option("--path-prefix", "--path_prefix", metavar="/P", default="", help="Serve below this path."),
    click.option("--title", "--window-title", "--window_title", metavar="TEXT", help="Title of the page."),
    heading="Server",
)
following_options = combine_options(
    click.option(
        "--restarts",
        type=click.Choice(["last", "keep"]),
        default="last",
        metavar="WHAT",
        help="last drops points that a restarted run wrote again; keep shows them [last].",
    ),
    click.option(
        "--poll", type=FiniteRange(0.1, 3600), metavar="SECONDS", default=1.0, help="Look for changes this often [1]."
    ),
    click.option(
        "--memory", type=MemoryType(), metavar="SIZE", default="2G", help="Memory for series and graphs [2G]."
    ),
    click.option("--checksum", is_flag=True, help="Check the payload of every record."),
    ignored_options,
    heading="Log",
)

# Options of the first picture of the page; the reader changes the others in the page.
drawing_options = combine_options(
    open_options,
    combine_options(color_by_option, stats_option, heading="Colours"),
    combine_options(layout_options, mark_options, heading="Layout and look"),
    fold_options,
)


def _option_names(options: Any) -> tuple[str, ...]:
    params = options(lambda: None).__click_params__
    return tuple(param.name for param in params)


@click.command(cls=GroupedCommand, epilog="Exit codes: 2 request, 3 file, 5 machine, 130 Ctrl-C.")
@click.argument("path", required=False)
@click.option("--logdir", "--log", "logdir", metavar="PATH", help="Same as PATH, for users of TensorBoard.")
@server_options
@click.option("--browser", is_flag=True, help="Open the page in a browser.")
@following_options
@view_options
@facts_options
@drawing_options
@click.option("-q", "--quiet", is_flag=True, help="Print only the address.")
def serve(path: str | None, logdir: str | None, browser: bool, quiet: bool, **values: Any) -> None:
    """Serve PATH as a page in the browser, and follow it live.

    PATH is a log directory or any other input of render. The page shows the graph and all logged data, with new points
    within two seconds. Ctrl-C ends the server.

    \b
    tbgraph serve ./logs
    tbgraph serve --logdir ./logs --port 7007
    tbgraph serve model.pb --browser
    tbgraph serve ./logs --bind-all   # on a machine of a cluster
    tbgraph serve ./logs --open 'encoder/**' --color-by device
    """
    given = [source for source in (path, logdir) if source is not None]
    if len(given) != 1:
        raise RequestError("no PATH given" if not given else "PATH is given twice", hint="tbgraph serve ./logs")
    run_server(given[0], values, browser, quiet)


def run_server(path: str, values: dict[str, Any], browser: bool, quiet: bool) -> None:
    """Serve `path` until Control-C. Raises `ToolMissing` if the packages of the extra are not installed."""
    try:
        from graphviz_tb.serve.server import run_server as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in SERVER_PACKAGES:
            raise
        raise ToolMissing("tbgraph serve needs a server", hint=how_to_install("serve")) from None
    if not quiet:
        for name in IGNORED_OPTIONS:
            if values[name] is not None:
                print_message("note", f"--{name} does nothing here: {IGNORED_OPTIONS[name]}", "yellow")
    settings = _server_settings(path, values)
    shown = 1 if quiet else None
    run(settings, lambda lines: print(*lines[:shown], sep="\n", flush=True), click.launch if browser else None)


def _server_settings(path: str, values: dict[str, Any]) -> Any:
    """Return the settings of a command line. Raises `RequestError` or `ReadError`."""
    from graphviz_tb.serve.settings import Settings, new_token

    if not Path(path).exists():
        if Path(path).suffix:
            raise ReadError(f"no file or folder {path!r}", hint="give the folder that the training writes its logs to")
        print_message("note", f"no folder {path!r} yet: it is shown as soon as a training writes to it", "yellow")
    if values["host"] and values["bind_all"]:
        raise RequestError("--host and --bind-all exclude each other")
    prefix = "/" + values["path_prefix"].strip("/") if values["path_prefix"].strip("/") else ""
    if not re.fullmatch(r"[\w./~-]*", prefix, re.ASCII) or {".", ".."} & {*prefix.split("/")}:
        raise RequestError(
            f"--path-prefix {values['path_prefix'][:40]!r} is not a path of letters, digits, _ ~ - . and /"
        )
    view = view_of_command(path, values)
    drawing = {name: values[name] for name in _option_names(drawing_options) if name in values}
    facts = facts_of_command(values) if "facts" in values else None
    settings = Settings(
        source=path,
        host="0.0.0.0" if values["bind_all"] else values["host"] or "127.0.0.1",
        port=values["port"],
        allowed_hosts=values["allow_host"],
        allowed_frames=values["allow_frame"],
        prefix=prefix,
        title=values["title"],
        restarts=values["restarts"],
        poll=values["poll"],
        memory=values["memory"],
        checksum=values["checksum"],
        view=without_choices(view),
        options=collect_options(drawing, dict(view.choices) if view else {}),
        facts=None if facts is None else (facts.file, facts.column, facts.color),
    )
    if settings.is_local:
        return settings
    if values["no_token"]:
        print_message("warning", "everybody who reaches this machine can see all that is logged", "red")
        return settings
    return replace(settings, token=new_token())
