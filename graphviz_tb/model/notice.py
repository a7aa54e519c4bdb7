"""Notices: oddities that need not stop the program."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """One kind of oddity in the input: reported once at the end, an error with `--strict`.

    `code` is a stable word for machines, `where` the first place, `count` how many places. `strict` is false where it
    says something about what was asked for, not about the file: then `--strict` lets it pass.
    """

    code: str
    message: str
    where: str = ""
    count: int = 1
    strict: bool = True
