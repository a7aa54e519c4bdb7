"""Types of options: words of a table, loaded when the help is shown, and completed file names."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.completion import COMPLETED_BY_METAVAR, NODE_OPTIONS, NamesFromSource, node_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# Options whose help lists the words of a table. The table is loaded when the help is shown, not before.


class WordOption(click.Option):
    """An option that takes one word of a table ("module:NAME"); `{}` in its help becomes the words."""

    def __init__(self, *args: Any, table: str, **kwargs: Any) -> None:
        self.table = table
        super().__init__(*args, **kwargs)

    @property
    def words(self) -> Iterable[str]:
        """The words of the table."""
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

        typing = ctx is not None and ctx.resilient_parsing  # a shell completes: nothing is downloaded
        if URL_SEPARATOR not in str(value) or typing or not isinstance(param, click.Argument):
            return super().convert(value, param, ctx)
        from graphviz_tb.commands.progress_bar import waiting
        from graphviz_tb.sources.inputs import localize_source

        with waiting("copy"):
            return localize_source(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell, which knows the files."""
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
