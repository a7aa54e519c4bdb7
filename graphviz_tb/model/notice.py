"""Notices: oddities in the input that need not stop the program."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """One kind of oddity in the input: reported once at the end, an error with `--strict`.

    `code` is a stable identifier for machines, `where` the first place, `count` the number of places. `strict` is false
    if the notice is about the request, not about the file: `--strict` ignores it.
    """

    code: str
    message: str
    where: str = ""
    count: int = 1
    strict: bool = True
