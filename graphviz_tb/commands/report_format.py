"""`--json` and `--format json`: each command that reports takes both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from graphviz_tb.commands.options import combine_options

F = TypeVar("F", bound=Callable[..., Any])
ASKED_FORMAT = "graphviz_tb.commands.report_format"  # where a context remembers the word of --format


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

    said = f"{', '.join(words[:-1])} or {words[-1]} [text]."
    # Eager: it is read before the switches that it sets.
    choice = click.Choice(words, case_sensitive=False)
    return click.option(
        *("-f", "--format", "_format"),
        type=choice,
        metavar="FORMAT",
        is_eager=True,
        expose_value=False,
        callback=remember,
        help=said,
    )
