"""The model summary of `tbgraph info` as lines."""

from __future__ import annotations

from graphviz_tb.commands.costs import CostReport, ScopeCost
from graphviz_tb.commands.table import TextStyle, bar, clip_end, table
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.model.costs import Cost
from graphviz_tb.model.units import format_bytes, format_count, plural

BAR = 10  # places
HEAD = ("", "ops", "parameters", "FLOPs", "activations", "")


def cost_lines(report: CostReport | None, top: int, width: int, look: TextStyle) -> list[str]:
    """Totals, by role where there is more than one; then a line for each scope, with its share of the FLOPs."""
    if report is None:
        return []
    whole = report.whole
    rows = [
        ("parameters", at_least(whole.parameters, whole.unsized), parameters_note(whole)),
        ("FLOPs", at_least(whole.flops, whole.uncounted), flops_note(report)),
        ("activations", format_bytes(whole.activation_bytes), "outputs of all ops together"),
        *(("  " + role, format_count(cost.flops), "FLOPs") for role, cost in spread(report).items()),
    ]
    lines = table([row for row in rows if row[1] != "0"], width, gives=(1, 2))
    if report.uncounted:
        named = ", ".join(f"{one_line(op)} {count:,}" for op, count in list(report.uncounted.items())[:top])
        lines += table([("not counted", named)], width, gives=(1,))
    if not report.scopes:
        return lines
    body = [scope_row(scope, report.whole) for scope in report.scopes[:top]]
    left = len(report.scopes) - len(body)
    more = [clip_end(f"  and {left:,} more", width)] if left else []
    return [*lines, "", *table([HEAD, *body], width, right=(1, 2, 3, 4), header=True, look=look), *more]


def at_least(count: int, missing: int) -> str:
    """A number, and that it is a part where something is missing in it.

    >>> at_least(1200, 0), at_least(1200, 3), at_least(0, 3)
    ('1.2 k', 'at least 1.2 k', 'unknown')
    """
    return format_count(count) if not missing else f"at least {format_count(count)}" if count else "unknown"


def parameters_note(whole: Cost) -> str:
    """Bytes, what is missing, and what was not counted again."""
    missing = f"{whole.unsized:,} {plural(whole.unsized, 'weight')} of unknown size" if whole.unsized else ""
    copied = f"{format_count(whole.copied)} more in averages and copies" if whole.copied else ""
    size = format_bytes(whole.weight_bytes) if whole.weight_bytes else ""
    return "; ".join(word for word in (size, missing, copied) if word)


def flops_note(report: CostReport) -> str:
    """Multiply-adds, and of how many ops nobody knows the operations."""
    whole = report.whole
    missing = f"; {whole.uncounted:,} {plural(whole.uncounted, 'op')} not counted" if whole.uncounted else ""
    return f"{format_count(whole.macs)} multiply-adds, batch {report.batch}{missing}"


def spread(report: CostReport) -> dict[str, Cost]:
    """The roles, where there are several."""
    roles = {role: cost for role, cost in report.roles.items() if cost.flops}
    return roles if len(roles) > 1 else {}


def scope_row(scope: ScopeCost, whole: Cost) -> tuple[str, ...]:
    """One line of the summary."""
    cost = scope.cost
    share = cost.flops / whole.flops if whole.flops else 0.0
    return (
        one_line(scope.name),
        f"{scope.ops:,}",
        format_count(cost.parameters) if cost.parameters else "",
        format_count(cost.flops) if cost.flops else "",
        format_bytes(cost.activation_bytes) if cost.activation_bytes else "",
        bar(share, BAR),
    )
