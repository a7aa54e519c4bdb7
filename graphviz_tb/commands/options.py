"""Options that several commands share, and the view file and facts that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from graphviz_tb.commands.completion import COMPLETED_BY_METAVAR, NODE_OPTIONS, NamesFromSource, node_names
from graphviz_tb.errors import RequestError
from graphviz_tb.options import Options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from graphviz_tb.model.facts import SavedView


# Options whose help lists the words of a table. The table is loaded when the help is shown, not before.


class WordOption(click.Option):
    """An option that takes one word of a table ("module:NAME"); `{}` in its help becomes the words."""

    def __init__(self, *args: Any, table: str, **kwargs: Any) -> None:
        self.table = table
        super().__init__(*args, **kwargs)

    @property
    def words(self) -> Iterable[str]:
        module, _, name = self.table.partition(":")
        words: Iterable[str] = getattr(import_module(f"graphviz_tb.{module}"), name)
        return words

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the words of the table that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]

    @property
    def help(self) -> str:
        """The help with the words in it."""
        return self.template.format(_choice_words(self.words))

    @help.setter
    def help(self, template: str | None) -> None:
        self.template = template or ""


def _choice_words(words: Iterable[str]) -> str:
    """Return words as a choice.

    >>> _choice_words(["svg"]), _choice_words(["BT", "TB", "LR"])
    ('svg', 'BT, TB or LR')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


# Completions of a shell besides commands and options: names of files, runs, tags and nodes, words of tables.

FILE_METAVARS = ("FILE", "FOLDER")  # metavars of options that take a file
NON_FILE_ARGUMENTS = ("queries",)  # arguments that take none


class FileNameType(click.types.StringParamType):
    """A text that is most likely a file name, or `-`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text; for an argument that is a remote address, the name of a local copy."""
        from graphviz_tb.model.sources import URL_SEPARATOR

        typing = ctx is not None and ctx.resilient_parsing  # true while a shell completes: download nothing
        if URL_SEPARATOR not in str(value) or typing or not isinstance(param, click.Argument):
            return super().convert(value, param, ctx)
        from graphviz_tb.commands.progress_bar import waiting
        from graphviz_tb.sources.streams import localize_source

        with waiting("copy"):
            return localize_source(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave the completion to the shell, which knows the files."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


def complete_file_names(command: click.Command) -> click.Command:
    """Make shells complete file names for the models, folders and files of a command; return the command."""
    for param in command.params:
        argument = isinstance(param, click.Argument) and param.name not in NON_FILE_ARGUMENTS
        if isinstance(param.type, click.types.StringParamType) and (argument or param.metavar in FILE_METAVARS):
            param.type = FileNameType()
        elif isinstance(param.type, click.types.StringParamType) and isinstance(param, click.Option):
            names = COMPLETED_BY_METAVAR.get(param.metavar or "")
            names = node_names if names is None and param.name in NODE_OPTIONS else names
            param.type = param.type if names is None else NamesFromSource(names)
    return command


# Help of commands: options in groups, each under its heading.

DEFAULT_HEADING = "Options"  # heading of options without a group
_GROUP_OF: dict[click.Parameter, str] = {}


class GroupedCommand(click.Command):
    """A command whose help lists its options in groups."""

    def options_by_heading(self) -> dict[str, list[click.Option]]:
        """Return the visible options, ungrouped ones first."""
        groups: dict[str, list[click.Option]] = {DEFAULT_HEADING: []}
        for param in self.params:
            if isinstance(param, click.Option) and not param.hidden:
                groups.setdefault(_GROUP_OF.get(param, DEFAULT_HEADING), []).append(param)
        return groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group; `--help` ends the first one."""
        groups = self.options_by_heading()
        help_option = self.get_help_option(ctx)
        if help_option is not None:
            groups[DEFAULT_HEADING].append(help_option)
        for heading, options in groups.items():
            records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=24)


F = TypeVar("F", bound=Callable[..., Any])


def combine_options(*decorators: Callable[[Any], Any], heading: str = "") -> Callable[[F], F]:
    """Return several click options as one decorator, listed in this order, and under a heading of the help if any."""

    def apply(function: F) -> F:
        before = len(getattr(function, "__click_params__", ()))
        # Decorators apply from the last to the first.
        for decorator in reversed(decorators):
            function = decorator(function)
        for param in function.__click_params__[before:] if heading else ():  # type: ignore[attr-defined]
            _GROUP_OF.setdefault(param, heading)
        return function

    return apply


class FiniteRange(click.FloatRange):
    """A number in a range, and not NaN, which click would accept."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        # NaN is not equal to itself.
        return number if number == number else self.fail(f"{value!r} is not a number", param, ctx)


view_options = combine_options(
    click.option("--view", metavar="FILE", help="Use this view file [tbgraph.toml of MODEL, or here]."),
    click.option("--no-view", is_flag=True, help="Use no view file."),
    click.option("--hide", metavar="PATTERN", multiple=True, help="Leave out a node, or the results of a query."),
    heading="View",
)

facts_options = combine_options(
    click.option("--facts", metavar="FILE", help="Attach numbers or texts to nodes: CSV, JSON, Model Explorer."),
    click.option("--fact", metavar="COLUMN", help="Colour by this column of --facts [the first]."),
)

direction_option = click.option(
    "--direction", metavar="DIR", cls=WordOption, table="model.scene:DIRECTIONS", help="Direction of the flow: {} [BT]."
)
theme_option = click.option(
    "--theme", metavar="NAME", cls=WordOption, table="model.theme:THEMES", help="Theme: {} [light]."
)

size_options = combine_options(
    click.option("--scale", type=FiniteRange(0.05, 20), metavar="X", help="Scale of a PNG [2]."),
    click.option("--width", type=click.IntRange(16, 100_000), metavar="PX", help="Width of a PNG, instead of --scale."),
)

limit_option = click.option(
    "--max-bytes", metavar="N", type=click.IntRange(1), help="Refuse larger graphs and traces [4 GiB]."
)


def input_options_with(profile: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return the options of reading a source, with a given option for profiles."""
    return combine_options(
        combine_options(*GRAPH_CHOICES, heading="Choice of the graph"),
        combine_options(*TRACE_CHOICES, profile, keep_warm_up_option, heading="Traced steps"),
        limit_option,
        strict_option,
    )


GRAPH_CHOICES = (
    click.option("--run", metavar="RUN", help="Use this run of a log directory."),
    click.option("--tag", metavar="TAG", help="Use this tag of a run with several graphs."),
    click.option("--kind", metavar="KIND", help="Use op (the ops) or conceptual (the Keras layers)."),
    click.option("--tag-set", metavar="TAGS", help="Use this MetaGraph of a SavedModel, such as serve."),
    click.option("--signature", metavar="NAME", help="Use this signature of a SavedModel."),
    click.option("--whole-file", is_flag=True, help="Read a SavedModel with its saver and initialisers."),
    click.option("--show-variables", is_flag=True, help="Show variables as ops, not as weights beside their users."),
)
TRACE_CHOICES = (
    click.option(
        "--run-metadata", metavar="FILE", multiple=True, help="Add a traced step from a file (RunMetadata, xplane.pb)."
    ),
    click.option("--step", metavar="STEP", help="Add a traced step of MODEL: its tag, its number, or all."),
)
keep_warm_up_option = click.option("--keep-warm-up", is_flag=True, help="Include a much slower first step.")
strict_option = click.option("--strict", is_flag=True, help="Make every notice an error.")
# Which graph of a source is read, and how; without signatures, statistics and profiles.
reading_options = combine_options(
    combine_options(*GRAPH_CHOICES[:4], heading="Choice of the graph"), limit_option, strict_option
)
input_options = input_options_with(
    click.option("--profile", metavar="NAME", help="Use this profile of several; info lists them.")
)

fold_options = combine_options(
    click.option(
        "--preset",
        metavar="NAME",
        default="default",
        cls=WordOption,
        table="options:PRESETS",
        help="Fold as {} does [default].",
    ),
    click.option("--series-min", metavar="N", type=click.IntRange(2), help="Least members of a series [5]."),
    click.option("--group", metavar="NAME", multiple=True, help="Make this series, however short: 'conv[1-3]'."),
    click.option("--ungroup", metavar="NAME", multiple=True, help="Show the members of this series."),
    click.option("--no-fold", is_flag=True, help="Keep wide levels flat."),
    click.option("--no-infer", is_flag=True, help="Use only shapes in the file."),
    click.option("--batch", metavar="N", type=click.IntRange(1), help="Count unknown sizes as N in costs [1]."),
    click.option("--main", metavar="NAME", multiple=True, help="Keep this node in the main area."),
    click.option("--aux", metavar="NAME", multiple=True, help="Move this node to the auxiliary area."),
    click.option("--no-extract", is_flag=True, help="Move no node to the auxiliary area."),
    click.option("--no-auto-extract", is_flag=True, help="Move no hubs to the auxiliary area, only sinks."),
    heading="Folding",
)  # fmt: skip


NEGATED_FLAGS = {
    "no_fold": "folds",
    "no_infer": "infer",
    "no_extract": "extract",
    "no_auto_extract": "auto_extract",
    "no_legend": "legend",
    "no_wrap": "wrap",
}
OPTIONS_WITHOUT_GROUP = ("view", "no_view", "hide", "facts", "fact")  # options that are not part of `Options`


def given_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options set on a command line, by name."""
    # click's values for absent options: None, False for a switch, () for a repeatable one.
    said = {
        name: value
        for name, value in values.items()
        if value is not None and value is not False and value != ()  # 0 is a given value
    }
    for name in ("preset", *OPTIONS_WITHOUT_GROUP):
        said.pop(name, None)
    # "no_fold" is `folds=False`.
    return {NEGATED_FLAGS.get(name, name): name not in NEGATED_FLAGS and value for name, value in said.items()}


def option_spellings(command: click.Command) -> dict[str, str]:
    """Return the spelling of each option of a command on its command line, by name.

    >>> option_spellings(click.Command("x", params=[click.Option(["--no-legend"]), click.Option(["-q", "--quiet"])]))
    {'legend': '--no-legend', 'quiet': '--quiet'}
    """
    options = [param for param in command.params if isinstance(param, click.Option)]
    return {NEGATED_FLAGS.get(option.name, option.name): max(option.opts, key=len) for option in options if option.name}


def collect_options(values: Mapping[str, Any], before: Mapping[str, Any] = MappingProxyType({})) -> Options:
    """Return the options of a command line; the rest is taken from `before`, or keeps its default."""
    from graphviz_tb.api.choices import with_choices

    given = given_options(values)
    try:
        return with_choices(Options.preset(values.get("preset", "default")), {**before, **given})
    except RequestError as error:
        # The library calls the option `page_max`.
        name = next((name for name in given if error.message.startswith(f"{name} is ")), None)
        if name is None:
            raise
        raise type(error)(f"--{name.replace('_', '-')}{error.message.removeprefix(name)}", hint=error.hint) from None


# `--json` and `--format json`: each command that reports takes both.

ASKED_FORMAT = "graphviz_tb.commands.options"  # key of a context for the word of --format


def json_option(help: str = "Print JSON.") -> Callable[[F], F]:
    """Return a decorator: `as_json` is true for `--json` and for `--format json`."""
    return combine_options(_format_option("text", "json"), _format_switch("json", help))


def points_format_options() -> Callable[[F], F]:
    """Return a decorator: `as_csv` and `as_json`, each by its own switch or by `--format`."""
    return combine_options(
        _format_option("text", "json", "csv"),
        _format_switch("csv", "Print every point as CSV."),
        _format_switch("json", "Print every point as JSON (docs/logged.md)."),
    )


def _format_switch(word: str, help: str) -> Callable[[Any], Any]:
    """Return the option `--WORD`, which is set by `--format WORD` too."""

    def asked_for(context: click.Context, param: click.Parameter, value: bool) -> bool:
        said = context.meta.get(ASKED_FORMAT)
        if value and said not in (None, word):
            raise click.UsageError(f"--{word} and --format {said} exclude each other")
        return value or said == word

    return click.option(f"--{word}", f"as_{word}", is_flag=True, callback=asked_for, help=help)


def _format_option(*words: str) -> Callable[[Any], Any]:
    def remember(context: click.Context, param: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta[ASKED_FORMAT] = value

    help_text = f"{', '.join(words[:-1])} or {words[-1]} [text]."
    # Eager: parsed before the switches that it sets.
    choice = click.Choice(words, case_sensitive=False)
    return click.option(
        *("-f", "--format", "_format"),
        type=choice,
        metavar="FORMAT",
        is_eager=True,
        expose_value=False,
        callback=remember,
        help=help_text,
    )


# The view file of a command: the given one, else one next to the model or in the current folder.

VIEW_FILE_NAME, PROJECT_FILE_NAME, VIEW_TABLE_HEAD = "tbgraph.toml", "pyproject.toml", b"[tool.tbgraph"


def view_of_command(source: str, values: Mapping[str, Any]) -> SavedView | None:
    """Return the view of a command line, without the settings that its options replace; None for none."""
    if values["view"] is not None and values["no_view"]:
        raise RequestError("--view and --no-view exclude each other")
    file = values["view"]
    if file is None and not values["no_view"]:
        with suppress(OSError, ValueError):  # not a possible file name: reading will refuse it
            file = _find_view_file(source)
    if file is None and not values.get("hide"):
        return None
    # Imported here: most command lines have no view.
    from graphviz_tb.api.view_files import read_view_file, without_overridden
    from graphviz_tb.model.facts import SavedView

    view = SavedView() if file is None else read_view_file(file)
    overrides = {**given_options(values), **({"hide": values["hide"]} if values.get("hide") else {})}
    return without_overridden(view, overrides)


def _find_view_file(source: str) -> Path | None:
    """Return the view file of a source: in its folder, else in the current one; None for none."""
    beside = Path(source)
    folders = [] if source == "-" else [beside, beside.parent] if beside.is_dir() else [beside.parent]
    for folder in (*folders, Path()):
        if (folder / VIEW_FILE_NAME).is_file():
            return folder / VIEW_FILE_NAME
        if (folder / PROJECT_FILE_NAME).is_file() and _has_view_table(folder / PROJECT_FILE_NAME):
            return folder / PROJECT_FILE_NAME
    return None


def _has_view_table(project: Path) -> bool:
    """Return whether a pyproject.toml has a table for this program."""
    try:
        return VIEW_TABLE_HEAD in project.read_bytes()
    except OSError:
        return False


def without_choices(view: SavedView | None) -> SavedView | None:
    """Return a view without its options, which were applied before."""
    return None if view is None else replace(view, choices=())


def facts_of_command(values: Mapping[str, Any]) -> FactsRequest | None:
    if values["fact"] is not None and values["facts"] is None:
        raise RequestError("--fact names a column, and no facts are given", hint="--facts FILE.csv")
    if values["facts"] is None:
        return None
    return FactsRequest(values["facts"], values["fact"], values["color_by"] is None)


class FactsRequest(NamedTuple):
    """A file of facts, the column for the colours (None: the first), and whether to colour by it: unless --color-by is
    given."""

    file: str
    column: str | None
    color: bool
