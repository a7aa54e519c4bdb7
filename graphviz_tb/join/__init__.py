"""Join the tags of a log to the rows of a hierarchy.

RULES are tried in order; the first that finds rows counts. A tag that none finds belongs to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphviz_tb.join.modules import join_by_path, join_by_scope_above
from graphviz_tb.join.names import join_by_name
from graphviz_tb.join.summary_ops import join_by_summary_op
from graphviz_tb.join.tags import LookedUpTag, parse_tag
from graphviz_tb.join.variables import join_by_variable
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.joins import JoinRule, MeasuredAspect, RuleMatch, TagJoin

JOIN_RULES: tuple[tuple[JoinRule, Callable[[Hierarchy, Sequence[LookedUpTag]], dict[str, RuleMatch]]], ...] = (
    (JoinRule.SUMMARY_OP, join_by_summary_op),
    (JoinRule.VARIABLE, join_by_variable),
    (JoinRule.NAME, join_by_name),
    (JoinRule.PATH, join_by_path),
    (JoinRule.SCOPE_ABOVE, join_by_scope_above),
)

__all__ = ["JOIN_RULES", "join_tags"]


def join_tags(hierarchy: Hierarchy, names: Iterable[str]) -> tuple[TagJoin, ...]:
    """Return the join of each tag, in the order of the names, with the rule that made it."""
    waiting = [parse_tag(name) for name in dict.fromkeys(names)]
    order = {tag.name: number for number, tag in enumerate(waiting)}
    joins: list[TagJoin] = []
    for rule, look_up in JOIN_RULES:
        found = look_up(hierarchy, waiting) if waiting else {}
        joins += [make_join(tag, rule, found[tag.name]) for tag in waiting if tag.name in found]
        waiting = [tag for tag in waiting if tag.name not in found]
    joins += [TagJoin(tag.name, JoinRule.RUN, aspect=tag.aspect or MeasuredAspect.OTHER) for tag in waiting]
    return tuple(sorted(joins, key=lambda each: order[each.tag]))


def make_join(tag: LookedUpTag, rule: JoinRule, found: RuleMatch) -> TagJoin:
    """Join a tag with the rows that a rule found. The aspect in the tag's words overrides that of the rows."""
    aspect = tag.aspect or found.aspect or MeasuredAspect.OTHER
    return TagJoin(tag.name, JoinRule.SEVERAL if found.several else rule, found.rows, aspect)
