"""Join the tags of a log to the rows of a hierarchy.

RULES are tried in order; the first that finds rows counts. A tag that none finds belongs to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphviz_tb.join.modules import by_path, by_scope_above
from graphviz_tb.join.names import by_name
from graphviz_tb.join.summary_ops import by_summary_op
from graphviz_tb.join.tags import LookedUpTag, tag_of
from graphviz_tb.join.variables import by_variable
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.joins import Aspect, FoundRows, Join, JoinRule

RULES: tuple[tuple[JoinRule, Callable[[Hierarchy, Sequence[LookedUpTag]], dict[str, FoundRows]]], ...] = (
    (JoinRule.SUMMARY_OP, by_summary_op),
    (JoinRule.VARIABLE, by_variable),
    (JoinRule.NAME, by_name),
    (JoinRule.PATH, by_path),
    (JoinRule.SCOPE_ABOVE, by_scope_above),
)

__all__ = ["RULES", "join"]


def join(hierarchy: Hierarchy, names: Iterable[str]) -> tuple[Join, ...]:
    """Return the join of each tag, in the order of the names, with the rule that made it."""
    waiting = [tag_of(name) for name in dict.fromkeys(names)]
    order = {tag.name: number for number, tag in enumerate(waiting)}
    joins: list[Join] = []
    for rule, look_up in RULES:
        found = look_up(hierarchy, waiting) if waiting else {}
        joins += [join_of(tag, rule, found[tag.name]) for tag in waiting if tag.name in found]
        waiting = [tag for tag in waiting if tag.name not in found]
    joins += [Join(tag.name, JoinRule.RUN, aspect=tag.aspect or Aspect.OTHER) for tag in waiting]
    return tuple(sorted(joins, key=lambda each: order[each.tag]))


def join_of(tag: LookedUpTag, rule: JoinRule, found: FoundRows) -> Join:
    """Join a tag with the rows that a rule found. The aspect in the tag's words overrides that of the rows."""
    aspect = tag.aspect or found.aspect or Aspect.OTHER
    return Join(tag.name, JoinRule.SEVERAL if found.several else rule, found.rows, aspect)
