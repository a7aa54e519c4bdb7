"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import click

from graphviz_tb.commands.help import group_options
from graphviz_tb.commands.parameters import WordOption
from graphviz_tb.errors import RequestError
from graphviz_tb.options import Options

F = TypeVar("F", bound=Callable[..., Any])


def combine_options(*decorators: Callable[[Any], Any], heading: str = "") -> Callable[[F], F]:
    """Return several click options as one decorator, listed in this order, and under a heading of the help if any."""

    def apply(function: F) -> F:
        # Decorators apply from the last to the first.
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return group_options(heading, apply) if heading else apply


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
