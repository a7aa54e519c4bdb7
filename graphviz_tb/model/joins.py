"""Joins: at which rows of a hierarchy a tag of a log belongs, by which rule, and what of the row it measures."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy


class JoinRule(StrEnum):
    """Why a tag belongs to rows; the order is that in which the rules are tried."""

    SUMMARY_OP = "summary-op"  # the graph has the op that writes the tag
    VARIABLE = "variable"  # the tag is the name of a variable: the ops that use it
    NAME = "name"  # the tag is the name of an op or a scope
    PATH = "path"  # the tag holds the path of a layer or module
    SCOPE_ABOVE = "scope-above"  # the tag holds that path with more parts cut from its end
    SEVERAL = "several"  # several rows fit equally: not joined
    RUN = "run"  # no row fits: the tag is of the run


class Aspect(StrEnum):
    """The property of a row that a tag measures."""

    GRADIENT = "gradient"
    WEIGHT = "weight"
    ACTIVATION = "activation"
    LOSS = "loss"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Join:
    """A tag and the rows at which it belongs: those of all calls of its layer, or, by the rule `SEVERAL`, the rows that
    fit equally and are not joined."""

    tag: str
    rule: JoinRule
    rows: tuple[int, ...] = ()
    aspect: Aspect = Aspect.OTHER

    @property
    def joined(self) -> bool:
        """Whether the tag is joined to its rows."""
        return self.rule not in (JoinRule.SEVERAL, JoinRule.RUN)


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The rows that one rule found for a tag; `several` rows that fit equally are not joined."""

    rows: tuple[int, ...]
    aspect: Aspect | None = None
    several: bool = False


def drawn_row(hierarchy: Hierarchy, row: int) -> int:
    """Return the nearest row that is drawn as a box: the row itself, or the group that holds a mark. A mark outside of
    all groups is shown alone."""
    box = row
    while box > 0 and hierarchy.mark[box]:
        box = int(hierarchy.parent[box])
    return box if box > 0 else row


def rows_of_nodes(hierarchy: Hierarchy, nodes: Iterable[int]) -> tuple[int, ...]:
    """The rows at which nodes are shown, each once, in the order of the hierarchy."""
    rows = {drawn_row(hierarchy, int(hierarchy.row_of_node[node])) for node in nodes}
    return tuple(sorted(row for row in rows if row > 0))
