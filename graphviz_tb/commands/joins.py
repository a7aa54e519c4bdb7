"""Joins of log tags with graph nodes, for `tbgraph info --joins`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphviz_tb.commands.session import open_model
from graphviz_tb.commands.source_contents import open_run_log
from graphviz_tb.commands.table import format_table, output_style, print_lines, terminal_width
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.formatting import document_header, plural_noun
from graphviz_tb.model.joins import JoinRule, TagJoin

if TYPE_CHECKING:
    from graphviz_tb.api.pipeline import Model
    from graphviz_tb.options import Options

MAX_JOINED_NODES = 3  # names in a line of text
JOIN_RULE_WORDS = {
    JoinRule.SUMMARY_OP: "summary op",
    JoinRule.SCOPE_ABOVE: "scope above",
    JoinRule.SEVERAL: "several fit: not joined",
    JoinRule.RUN: "of the run",
}


def print_joins(source: str, options: Options, as_json: bool, quiet: bool) -> None:
    """Print the tags of a log with their nodes, as text or JSON. Raises `MissingFacts` without a log."""
    log = open_run_log(source)
    if log is None:
        raise MissingFacts(
            f"{one_line(source)} has no tags to join: nothing was logged there", hint="give a log directory"
        )
    with open_model(source, options, quiet=quiet) as session:
        model = session.model
        joins = model.joins(tag for tag in log.tags() if tag not in log.tags("graph"))
        if as_json:
            print(json.dumps(_joins_document(model, joins), indent=1))
        else:
            print_lines(_join_lines(model, joins))


def _joins_document(model: Model, joins: Sequence[TagJoin]) -> dict[str, object]:
    """Return the joins for JSON."""
    return {
        **document_header("tbgraph-joins"),
        "label": model.name,
        "joins": [
            {
                "tag": each.tag,
                "rule": each.rule.value,
                "aspect": each.aspect.value,
                "rows": list(each.rows),
                "nodes": [model.hierarchy.name[row] for row in each.rows],
            }
            for each in joins
        ],
    }


def _join_lines(model: Model, joins: Sequence[TagJoin]) -> list[str]:
    """Return a line a tag, and a line of totals."""
    rows = [("tag", "of", "rule", "nodes")]
    for each in joins:
        names = [one_line(model.hierarchy.name[row]) for row in each.rows]
        said = ", ".join(
            [*names[:MAX_JOINED_NODES], *[f"+{len(names) - MAX_JOINED_NODES} more"] * (len(names) > MAX_JOINED_NODES)]
        )
        rows.append((one_line(each.tag), each.aspect.value, JOIN_RULE_WORDS.get(each.rule, each.rule.value), said))
    lines = format_table(rows, terminal_width(), gives=(0, 3), header=True, look=output_style())
    counts = Counter(each.rule for each in joins if each.is_joined)
    several = sum(each.rule is JoinRule.SEVERAL for each in joins)
    said = ", ".join(
        f"{count} by {JOIN_RULE_WORDS.get(rule, rule.value)}" for rule in JoinRule if (count := counts[rule])
    )
    total = f"{counts.total()} of {len(joins)} {plural_noun(len(joins), 'tag')} joined"
    rest = len(joins) - counts.total() - several
    ends = [f"{total}: {said}" if said else total, *[f"{several} fit several nodes"] * bool(several)]
    return [*lines, "", "; ".join([*ends, *[f"{rest} of the run"] * bool(rest)])]
