"""Names that a shell completes from the source on the command line: runs, tags, and nodes level by level.

A shell may complete at every key press, so large sources are not read, and no error is shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


SOURCE_ARGUMENTS = ("model", "logdir", "path", "models", "sources")  # names of arguments, in order of preference
MAX_COMPLETED_BYTES = 30_000_000  # larger sources are not read
MAX_COMPLETED_NAMES = 500  # names
NODE_OPTIONS = ("open", "select", "main", "aux", "under", "ungroup")  # that take names of nodes


class NamesFromSource(click.types.StringParamType):
    """A text, completed to the names that `names` finds in the source on the command line."""

    def __init__(self, names: Callable[[str, Mapping[str, Any], str], Iterable[str]]) -> None:
        self.names = names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with the letters typed so far."""
        return _completion_items(ctx, incomplete, self.names)


def _completion_items(
    context: click.Context, incomplete: str, names: Callable[[str, Mapping[str, Any], str], Iterable[str]]
) -> list[CompletionItem]:
    """Return the names of the source in `context` that begin with `incomplete`; none if it cannot be read."""
    from click.shell_completion import CompletionItem

    # If the last word is an option without a value, click does not parse the arguments.
    source = _source_of_line(context.params) or next((word for word in reversed(context.args) if word != "-"), None)
    if source is None or not _is_quick(source):
        return []
    with suppress(Exception):  # the command itself reports errors of the source
        found = dict.fromkeys(name for name in names(source, context.params, incomplete) if name.startswith(incomplete))
        return [CompletionItem(name) for name in list(found)[:MAX_COMPLETED_NAMES]]
    return []


def complete_runs(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the runs of a log for an option whose values are patterns."""
    return _completion_items(context, incomplete, _logged_runs)


def complete_tags(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the tags of scalars for an option whose values are patterns."""
    return _completion_items(context, incomplete, _logged_tags)


def _source_of_line(params: Mapping[str, Any]) -> str | None:
    """Return the source named by the previous words; None if there is none yet.

    >>> _source_of_line({"model": "a.pb"}), _source_of_line({"sources": ("old.pb", "new.pb")}), _source_of_line({})
    ('a.pb', 'new.pb', None)
    """
    for name in SOURCE_ARGUMENTS:
        value = params.get(name)
        value = next(reversed(value), None) if isinstance(value, tuple) else value  # of a diff the new one
        if isinstance(value, str) and value != "-":
            return value
    return None


def _is_quick(source: str) -> bool:
    """Return whether a source exists and is small enough to be read while the user types."""
    total = 0
    for path in _files_of(source):
        with suppress(OSError):
            total += os.stat(path).st_size  # noqa: PTH116 - pathlib takes longer to import than this to run
        if total > MAX_COMPLETED_BYTES:
            return False
    return total > 0


def _files_of(path: str) -> Iterator[str]:
    if not os.path.isdir(path):  # noqa: PTH112 - as above
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (f"{folder}/{name}" for name in names)


def _run_names(source: str, said: Mapping[str, Any], typed: str) -> Iterator[str]:
    """Yield the runs of a log directory that hold a graph, then the others."""
    from graphviz_tb.read.source import list_contents

    with suppress(Exception):
        yield from (entry.run for entry in list_contents(source) if entry.run is not None)
    yield from _logged_runs(source, said, typed)


def _tag_names(source: str, said: Mapping[str, Any], typed: str) -> Iterator[str]:
    """Yield the tags of graphs, of the run that is chosen or of all."""
    from graphviz_tb.read.source import list_contents

    run = said.get("run")
    yield from (entry.tag for entry in list_contents(source) if entry.tag is not None and run in (None, (), entry.run))


def _logged_runs(source: str, said: Mapping[str, Any], typed: str) -> list[str]:
    from graphviz_tb.logs.log import open_log

    return open_log(source).runs


def _logged_tags(source: str, said: Mapping[str, Any], typed: str) -> list[str]:
    from graphviz_tb.logs.log import open_log

    return open_log(source).tags("scalar")


def node_names(source: str, said: Mapping[str, Any], typed: str) -> Iterator[str]:
    """Yield the names of one level; if only one group fits, its content too."""
    import graphviz_tb

    read = {name: said[name] for name in ("run", "tag", "kind", "tag_set", "signature") if said.get(name)}
    hierarchy = graphviz_tb.load(source, **read).hierarchy
    names = hierarchy.name[1 : int(hierarchy.end[0])]
    yield from _segments_after([name for name in names if name.startswith(typed)], typed)


def _segments_after(names: Iterable[str], typed: str) -> list[str]:
    """Return names up to the first "/" after the typed text; if they are a single scope, the next level too.

    >>> _segments_after(["conv1/w", "conv1/x/y", "conv2"], "con"), _segments_after(["conv1/w", "conv1/x/y"], "con")
    (['conv1', 'conv2'], ['conv1', 'conv1/w', 'conv1/x'])
    """
    names = list(names)
    found: list[str] = []
    while True:
        level = list(dict.fromkeys(name[:end] if (end := name.find("/", len(typed))) >= 0 else name for name in names))
        found += [name for name in level if name not in found[-1:]]
        if len(level) != 1 or all(name == level[0] for name in names):
            return found
        typed = level[0] + "/"
        names = [name for name in names if name.startswith(typed)]


# Name of a value in the help → function that finds its names.
COMPLETED_BY_METAVAR = {"RUN": _run_names, "TAG": _tag_names}
