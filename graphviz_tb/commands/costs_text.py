"""The model summary of `tbgraph info` as lines."""

from __future__ import annotations

from graphviz_tb.commands.costs import CostReport, ScopeCost
from graphviz_tb.commands.table import TextStyle, bar, clip_end, table
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.model.costs import Cost
from graphviz_tb.model.units import format_bytes, format_count

BAR = 10  # places
HEAD = ("", "ops", "parameters", "FLOPs", "activations", "")


def cost_lines(report: CostReport | None, top: int, width: int, look: TextStyle) -> list[str]:
    """Totals, by role where there is more than one; then a line for each scope, with its share of the FLOPs."""
    if report is None:
        return []
    whole = report.whole
    rows = [
        ("parameters", format_count(whole.parameters), format_bytes(whole.weight_bytes)),
        ("FLOPs", format_count(whole.flops), f"{format_count(whole.macs)} multiply-adds, batch {report.batch}"),
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
