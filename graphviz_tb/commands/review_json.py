"""The JSON document of `tbgraph review`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphviz_tb.commands.check import check_values
from graphviz_tb.commands.diff import MAX_REPORTED_CHANGES
from graphviz_tb.model.formatting import document_header

if TYPE_CHECKING:
    from graphviz_tb.commands.review import ReviewedModel


def review_document(done: Sequence[ReviewedModel], base: str) -> dict[str, Any]:
    """Return what became of each model as plain values: its state, changes, assertions and files."""
    return {**document_header("tbgraph-review"), "base": base, "models": [_reviewed_entry(one) for one in done]}


def _reviewed_entry(one: ReviewedModel) -> dict[str, Any]:
    """Return one model as plain values; what is not known of it is null."""
    return {
        "path": one.path,
        "base": one.base,
        "state": one.state,
        "error": None if one.error is None else one.error.message,
        "changes": None if one.changes is None else one.changes.to_json(),
        "checked": None if one.checked is None else check_values(one.checked, MAX_REPORTED_CHANGES),
        "files": list(one.files),
    }
