"""The results of `tbgraph review` for each model, and their report: lines for a terminal, a comment for a pull
request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphviz_tb.api.checked import assertion_lines, assertions_verdict
from graphviz_tb.commands.costs_text import cost_amount
from graphviz_tb.commands.diff_codes import EXIT_DIFFERENT, EXIT_SAME, MAX_REPORTED_CHANGES, diff_exit_code
from graphviz_tb.commands.diff_folders import MODEL_TABLE_HEAD, model_table_row
from graphviz_tb.diff.report.explain import escaped, headline, in_code, markdown, printable
from graphviz_tb.limits import MAX_COMMENT_LETTERS
from graphviz_tb.model.units import format_counted_noun

if TYPE_CHECKING:
    from graphviz_tb.api.checked import CheckedModel
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.errors import TbGraphError
    from graphviz_tb.pipeline import Model

STATE_WORDS = {
    "new": "new", "removed": "removed", "unread": "not compared", "broken": "cannot be read", "same": "no change",
    "changed": "changed",
}  # fmt: skip
CUT_MARK = "\n\n…\n"


@dataclass(frozen=True, slots=True)
class ReviewedModel:
    """The result for one model.

    `state` is "same", "changed", "new", "removed", "unread" if the base could not be read (see `error`), or "broken" if
    the model itself could not; `base` is the name of the base, `files` are the pictures written.
    """

    path: str
    base: str
    state: str
    model: Model | None = None
    changes: Changes | None = None
    checked: CheckedModel | None = None
    error: TbGraphError | None = None
    files: tuple[str, ...] = ()

    def review_exit_code(self, fail_on: str) -> int:
        """Return the exit code for this result: a new model is no difference."""
        failed = self.checked is not None and not self.checked
        if self.error is not None and (fail_on != "none" or self.state == "broken"):
            return self.error.exit_code
        gone = self.state == "removed" and fail_on != "none"
        differs = self.changes is not None and diff_exit_code(self.changes, fail_on) != EXIT_SAME
        return EXIT_DIFFERENT if failed or gone or differs else EXIT_SAME


def review_text(one: ReviewedModel) -> str:
    """Return lines for a terminal."""
    said = [f"{printable(one.path)}: {printable(model_state_words(one))}"]
    if one.changes is not None and one.state == "changed":
        said = [f"{printable(one.path)}: {one.changes.explain('text', MAX_REPORTED_CHANGES).rstrip()}"]
    if one.checked is not None:
        said += [*assertion_lines(one.checked), assertions_verdict(one.checked)]
    return "\n".join([*said, *(f"written: {name}" for name in one.files), ""])


def model_state_words(one: ReviewedModel) -> str:
    """Return the state of a model, in a line."""
    if one.error is not None:
        where = "" if one.state == "broken" else f" with {one.base}"
        return f"{STATE_WORDS[one.state]}{where}: {' '.join(one.error.message.split())}"
    where = (
        f" (not in {one.base})" if one.state == "new" else f" (it is in {one.base})" if one.state == "removed" else ""
    )
    size = f"; {model_size_words(one.model)}" if one.model is not None else ""
    return f"{STATE_WORDS[one.state]}{where}{size}"


def model_size_words(model: Model) -> str:
    """Return the size of a model: `271 ops, 7.37 k parameters, at least 1.63 M FLOPs`."""
    ops, cost = model.hierarchy.op_count(0), model.cost.under(0)
    said = [format_counted_noun(ops, "op")]
    said += [f"{cost_amount(cost, 'parameters')} parameters"] if cost.parameters or cost.unsized else []
    return ", ".join([*said, f"{cost_amount(cost, 'flops')} FLOPs"] if cost.flops else said)


def review_comment(title: str, done: Sequence[ReviewedModel]) -> str:
    """Return the comment; its invisible first line identifies it for updates."""
    head = [f"<!-- tbgraph review: {re.sub(r'[^A-Za-z0-9 ._]', '_', title)} -->", f"## {escaped(title)}", ""]
    if len(done) > 1:
        head += [*MODEL_TABLE_HEAD, *map(review_table_row, done), ""]
    said = "\n".join(head)
    for one in done:
        part = "\n" + comment_section(one)
        # The first lines say most: the rest is in the files.
        if len(said) + len(part) > MAX_COMMENT_LETTERS - len(CUT_MARK):
            return said + part[: max(0, MAX_COMMENT_LETTERS - len(CUT_MARK) - len(said))].rsplit("\n", 1)[0] + CUT_MARK
        said += part
    return said


def review_table_row(one: ReviewedModel) -> str:
    """Return the row of one of several models."""
    return model_table_row(
        one.path,
        headline(one.changes) if one.state == "changed" and one.changes else STATE_WORDS[one.state],
        one.changes,
    )


def comment_section(one: ReviewedModel) -> str:
    """Return the section of a comment about one model."""
    if one.state == "changed" and one.changes is not None:
        said = [markdown(one.changes).rstrip()]
    else:
        said = [f"### `{in_code(one.path)}`: {escaped(model_state_words(one))}"]
    if one.checked is not None:
        said += ["", f"**{assertions_verdict(one.checked)}**", ""]
        said += [assertion_item(line) for line in assertion_lines(one.checked)]
    if one.files:
        said += ["", f"Pictures: {', '.join(f'`{in_code(name)}`' for name in one.files)}"]
    return "\n".join([*said, ""])


def assertion_item(line: str) -> str:
    """Return a line of assertion results as a list item."""
    return f"  - {escaped(line.strip())}" if line.startswith(" ") else f"- {escaped(line)}"
