"""Joins: the rows of a hierarchy to which a logged tag belongs, the rule that found them, and the measured property."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy


class JoinRule(StrEnum):
    """The reason why a tag belongs to rows, in the order in which rules are tried."""

    SUMMARY_OP = "summary-op"  # the graph has the op that writes the tag
    VARIABLE = "variable"  # the tag is the name of a variable; it belongs to the ops that use it
    NAME = "name"  # the tag is the name of an op or a scope
    PATH = "path"  # the tag contains the path of a layer or module
    SCOPE_ABOVE = "scope-above"  # as PATH, after removing more parts from the end of the tag
    SEVERAL = "several"  # several rows fit equally: not joined
    RUN = "run"  # no row fits: the tag belongs to the run


class MeasuredAspect(StrEnum):
    """The measured property of a row."""

    GRADIENT = "gradient"
    WEIGHT = "weight"
    ACTIVATION = "activation"
    LOSS = "loss"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TagJoin:
    """A tag and its rows: the rows of all calls of its layer; or, for the rule `SEVERAL`, equally good candidates,
    which are not joined."""

    tag: str
    rule: JoinRule
    rows: tuple[int, ...] = ()
    aspect: MeasuredAspect = MeasuredAspect.OTHER

    @property
    def is_joined(self) -> bool:
        """Return whether the tag is joined to its rows."""
        return self.rule not in (JoinRule.SEVERAL, JoinRule.RUN)


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """Rows found for a tag by one rule; `several` if they are equally good candidates, which are not joined."""

    rows: tuple[int, ...]
    aspect: MeasuredAspect | None = None
    several: bool = False


def nearest_box_row(hierarchy: Hierarchy, row: int) -> int:
    """Return the nearest row that is drawn as a box: the row itself, or the group that contains a mark. A mark outside
    of all groups is shown as a separate box."""
    box = row
    while box > 0 and hierarchy.mark[box]:
        box = int(hierarchy.parent[box])
    return box if box > 0 else row


def box_rows_of_nodes(hierarchy: Hierarchy, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return the rows at which nodes are shown, without duplicates, in hierarchy order."""
    rows = {nearest_box_row(hierarchy, int(hierarchy.row_of_node[node])) for node in nodes}
    return tuple(sorted(row for row in rows if row > 0))
