"""Help of commands: options in groups, each under its heading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

DEFAULT_HEADING = "Options"  # heading of options without a group
_GROUP_OF: dict[click.Parameter, str] = {}


def group_options(heading: str, decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator of options that puts those without a group under a heading of the help."""

    def apply(function: Any) -> Any:
        before = len(getattr(function, "__click_params__", ()))
        function = decorator(function)
        for param in function.__click_params__[before:]:
            _GROUP_OF.setdefault(param, heading)
        return function

    return apply


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
