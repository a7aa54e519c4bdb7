"""The results of `tbgraph review` for each model, and their report: lines for a terminal, a comment for a pull
request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphviz_tb.api.checked import assertion_lines, verdict
from graphviz_tb.commands.costs_text import amount
from graphviz_tb.commands.diff_codes import DIFFERENT, SAME, TOP, code_of
from graphviz_tb.commands.diff_folders import TABLE, row
from graphviz_tb.diff.report.explain import escaped, headline, in_code, markdown, printable
from graphviz_tb.limits import COMMENT
from graphviz_tb.model.units import counted

if TYPE_CHECKING:
    from graphviz_tb.api.checked import CheckedModel
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.errors import TbGraphError
    from graphviz_tb.pipeline import Model

WORD = {
    "new": "new", "removed": "removed", "unread": "not compared", "broken": "cannot be read", "same": "no change",
    "changed": "changed",
}  # fmt: skip
CUT = "\n\n…\n"


@dataclass(frozen=True, slots=True)
class Reviewed:
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

    def code(self, fail_on: str) -> int:
        """Return the exit code for this result: a new model is no difference."""
        failed = self.checked is not None and not self.checked
        if self.error is not None and (fail_on != "none" or self.state == "broken"):
            return self.error.exit_code
        gone = self.state == "removed" and fail_on != "none"
        differs = self.changes is not None and code_of(self.changes, fail_on) != SAME
        return DIFFERENT if failed or gone or differs else SAME


def terminal_lines(one: Reviewed) -> str:
    """Return lines for a terminal."""
    said = [f"{printable(one.path)}: {printable(state_words(one))}"]
    if one.changes is not None and one.state == "changed":
        said = [f"{printable(one.path)}: {one.changes.explain('text', TOP).rstrip()}"]
    if one.checked is not None:
        said += [*assertion_lines(one.checked), verdict(one.checked)]
    return "\n".join([*said, *(f"written: {name}" for name in one.files), ""])


def state_words(one: Reviewed) -> str:
    """Return the state of a model, in a line."""
    if one.error is not None:
        where = "" if one.state == "broken" else f" with {one.base}"
        return f"{WORD[one.state]}{where}: {' '.join(one.error.message.split())}"
    where = (
        f" (not in {one.base})" if one.state == "new" else f" (it is in {one.base})" if one.state == "removed" else ""
    )
    size = f"; {size_words(one.model)}" if one.model is not None else ""
    return f"{WORD[one.state]}{where}{size}"


def size_words(model: Model) -> str:
    """Return the size of a model: `271 ops, 7.37 k parameters, at least 1.63 M FLOPs`."""
    ops, cost = model.hierarchy.ops(0), model.cost.under(0)
    said = [counted(ops, "op")]
    said += [f"{amount(cost, 'parameters')} parameters"] if cost.parameters or cost.unsized else []
    return ", ".join([*said, f"{amount(cost, 'flops')} FLOPs"] if cost.flops else said)


def comment(title: str, done: Sequence[Reviewed]) -> str:
    """Return the comment; its invisible first line identifies it for updates."""
    head = [f"<!-- tbgraph review: {re.sub(r'[^A-Za-z0-9 ._]', '_', title)} -->", f"## {escaped(title)}", ""]
    if len(done) > 1:
        head += [*TABLE, *map(table_row, done), ""]
    said = "\n".join(head)
    for one in done:
        part = "\n" + section(one)
        # The first lines say most: the rest is in the files.
        if len(said) + len(part) > COMMENT - len(CUT):
            return said + part[: max(0, COMMENT - len(CUT) - len(said))].rsplit("\n", 1)[0] + CUT
        said += part
    return said


def table_row(one: Reviewed) -> str:
    """Return the row of one of several models."""
    return row(
        one.path, headline(one.changes) if one.state == "changed" and one.changes else WORD[one.state], one.changes
    )


def section(one: Reviewed) -> str:
    """Return the section of a comment about one model."""
    if one.state == "changed" and one.changes is not None:
        said = [markdown(one.changes).rstrip()]
    else:
        said = [f"### `{in_code(one.path)}`: {escaped(state_words(one))}"]
    if one.checked is not None:
        said += ["", f"**{verdict(one.checked)}**", ""]
        said += [assertion_line(line) for line in assertion_lines(one.checked)]
    if one.files:
        said += ["", f"Pictures: {', '.join(f'`{in_code(name)}`' for name in one.files)}"]
    return "\n".join([*said, ""])


def assertion_line(line: str) -> str:
    """Return a line of assertion results as a list item."""
    return f"  - {escaped(line.strip())}" if line.startswith(" ") else f"- {escaped(line)}"
