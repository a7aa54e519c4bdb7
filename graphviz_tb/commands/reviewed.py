"""What `tbgraph review` finds of one model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphviz_tb.commands.diff_codes import DIFFERENT, SAME, code_of

if TYPE_CHECKING:
    from graphviz_tb.api.checked import CheckedModel
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.errors import TbGraphError
    from graphviz_tb.pipeline import Model


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of one model since the base.

    `state` is "same", "changed", "new", "removed", "unread" where `error` says why the base could not be read, or
    "broken" where the model itself could not; `base` is the name of the base, `files` are the pictures that were
    written.
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
        """The exit code that it calls for: what is new is no difference."""
        failed = self.checked is not None and not self.checked
        if self.error is not None and (fail_on != "none" or self.state == "broken"):
            return self.error.exit_code
        gone = self.state == "removed" and fail_on != "none"
        differs = self.changes is not None and code_of(self.changes, fail_on) != SAME
        return DIFFERENT if failed or gone or differs else SAME
