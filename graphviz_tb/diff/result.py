"""Result of a diff: a comparison that explains, draws and saves itself."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import PurePath
from types import NoneType
from typing import TYPE_CHECKING, Any

from graphviz_tb.api.rendered import CELL_PAGE_MB, CELL_PAGE_OPS, Drawable, NotebookFrame
from graphviz_tb.diff.comparison import Comparison
from graphviz_tb.errors import require_type
from graphviz_tb.options import REPORT_SUFFIXES, ReportStyle

if TYPE_CHECKING:
    import pandas
    import polars

    from graphviz_tb.api.picture import Picture
    from graphviz_tb.model.change import Change

CHANGE_COLUMNS = ("kind", "severity", "name", "old", "new", "ops", "places", "consequences", "detail")


def _change_row(change: Change) -> tuple[Any, ...]:
    """Return a change as the row of a data frame; its kind-specific content is JSON text."""
    values = change.to_json()
    detail = json.dumps(values["detail"], ensure_ascii=False, default=str)
    counts = change.ops, change.place_count, len(change.consequences)
    return change.kind, change.severity, change.name, change.old, change.new, *counts, detail


class Changes(Drawable, Comparison):
    """All changes between two graphs: a sequence that counts, filters and explains itself."""

    def __repr__(self) -> str:
        from graphviz_tb.diff.report.explain import verdict
        from graphviz_tb.model.formatting import printable

        return f"<{type(self).__name__} {printable(self.old_name)} → {printable(self.new_name)}: {verdict(self)}>"

    def to_json(self) -> dict[str, Any]:
        """Return all changes as plain values (docs/diff.md)."""
        from graphviz_tb.diff.report.explain import json_document

        return json_document(self)

    def to_markdown(self) -> str:
        """Return all changes as a comment for a pull request, the verdict first."""
        return self.explain("markdown")

    def picture(self, view: Any = None, **choices: Any) -> Picture:
        """Return one picture of both graphs. `choices` are options of a picture (`theme`, `open`, …); of the view file
        `view`, hidden nodes and titles apply, for example."""
        from graphviz_tb.api.choices import validate_picture_options
        from graphviz_tb.api.view_files import as_saved_view
        from graphviz_tb.diff.picture.overlay import Both, picture_options

        saved = as_saved_view(view)
        wanted = picture_options(saved, choices)
        validate_picture_options(wanted)
        return Both(self, saved).picture(wanted)

    def to_pandas(self) -> pandas.DataFrame:
        """Return all changes as the rows of a `pandas.DataFrame`. Raises `ToolMissing` if pandas is not installed."""
        from graphviz_tb.api.nodes import pandas_frame

        return pandas_frame(map(_change_row, self), CHANGE_COLUMNS)

    def to_polars(self) -> polars.DataFrame:
        """Return all changes as the rows of a `polars.DataFrame`. Raises `ToolMissing` if polars is not installed."""
        from graphviz_tb.api.nodes import polars_frame

        return polars_frame(map(_change_row, self), CHANGE_COLUMNS)

    def html(self, **choices: Any) -> str:
        """Return the HTML page of both graphs and the list of changes; `choices` are options of a picture."""
        from graphviz_tb.api.choices import validate_picture_options
        from graphviz_tb.diff.picture.overlay import Both, picture_options
        from graphviz_tb.page.changes import changes_html

        wanted = picture_options(None, choices)
        validate_picture_options(wanted)
        return changes_html(Both(self, None), wanted).decode()

    def show(self, height: int = 640, **choices: Any) -> NotebookFrame:
        """Return the page for a notebook cell, `height` pixels high."""
        return NotebookFrame(self.html(**choices).encode(), height)

    def _small_page(self) -> bytes | None:
        if self.source is None or self.matched > CELL_PAGE_OPS:
            return None
        return self.html(page_max=CELL_PAGE_MB).encode()

    def _repr_svg_(self) -> str:
        return self.picture()._repr_svg_()

    def save(self, target: str | PathLike[str], **choices: Any) -> None:
        """Write a picture (`.svg`, `.png`, …), or the report (`.json`, `.md`, `.txt`)."""
        from graphviz_tb.output.files import check_inputs_kept, write_output

        check_inputs_kept(self.inputs, [target])
        # Reports come first: `.json` is the list of changes, not a picture as JSON.
        style = REPORT_SUFFIXES.get(PurePath(target).suffix.lower())
        if style is None:
            self.picture(**choices).save(target)
        else:
            write_output(target, self.explain(style, None).encode("utf-8", "replace"))

    def explain(self, style: ReportStyle = "text", limit: int | None = 40, colour: bool = False) -> str:
        """Return the report as "text", "json" or "markdown". The text lists up to `limit` changes."""
        from graphviz_tb.diff.report.explain import explain

        require_type("style", style, str)
        require_type("limit", limit, int, NoneType)
        return explain(self, style, limit, colour)
