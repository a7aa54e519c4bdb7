"""Shell completion of file names. `Listed` completes the words of tables, click commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FILE_METAVARS = ("FILE", "FOLDER")  # metavars of options that take a file
NON_FILE_ARGUMENTS = ("queries",)  # arguments that take none


class FileNameType(click.types.StringParamType):
    """A text that is most likely a file name, or `-`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text; for an argument that is a remote address, the name of a local copy."""
        from graphviz_tb.model.sources import URL_SEPARATOR

        if URL_SEPARATOR not in str(value) or not isinstance(param, click.Argument):
            return super().convert(value, param, ctx)
        from graphviz_tb.read.inputs import localize_source

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
    return command
