"""The view file of a command: the given one, else one next to the model or in the current folder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphviz_tb.commands.options import given_options
from graphviz_tb.errors import RequestError

if TYPE_CHECKING:
    from graphviz_tb.model.facts import SavedView

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
    said = {**given_options(values), **({"hide": values["hide"]} if values.get("hide") else {})}
    return without_overridden(view, said)


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
