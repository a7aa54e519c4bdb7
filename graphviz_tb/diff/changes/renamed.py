"""One scope or node that has another name, and what it is called on either side."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.paths import last_segment


@dataclass(frozen=True, slots=True)
class NameChange:
    """One matched scope or node whose own name (not that of a scope around it) is another.

    `moved` says that the scope around it is another too.
    """

    old: int
    new: int
    scope: bool
    moved: bool
    block: int


def leaf(m: Matching, renamed: NameChange, old: bool) -> str:
    """The last segment of the old or the new name."""
    return last_segment(name(m, renamed, old))


def name(m: Matching, renamed: NameChange, old: bool) -> str:
    """The whole name."""
    side, row_or_node = (m.a, renamed.old) if old else (m.b, renamed.new)
    return side.scopes.name[row_or_node] if renamed.scope else side.graph.name[row_or_node]


def scope_around(m: Matching, renamed: NameChange, old: bool) -> int:
    """The row of the scope around it."""
    scopes, row_or_node = (m.a.scopes, renamed.old) if old else (m.b.scopes, renamed.new)
    return int(scopes.parent[row_or_node] if renamed.scope else scopes.of_node[row_or_node])
